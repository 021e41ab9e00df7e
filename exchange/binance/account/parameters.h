/* The parameters of a signed request, as a URL's query and as the params of a WebSocket API's message, and
 * those of an order. Pure. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_PARAMETERS_H
#define EXCHANGE_BINANCE_ACCOUNT_PARAMETERS_H

#include "exchange/binance/account/sign.h"
#include "exchange/order.h"
#include "exchange/text.h"
#include "exchange/venue_account.h"

enum {
    BINANCE_PARAMETERS_MAX = 16,
    BINANCE_PARAMETER_MAX = VENUE_CLIENT_ID_MAX, /* of a value, with its NUL */
    BINANCE_RECV_WINDOW_MS = 5000,               /* how long after its timestamp a request is taken */
};

struct binance_parameter {
    const char *name; /* a constant */
    bool number;      /* without quotes in a message */
    char value[BINANCE_PARAMETER_MAX];
};

struct binance_parameters {
    struct binance_parameter list[BINANCE_PARAMETERS_MAX];
    int n;
    bool failed; /* one did not fit */
};

void binance_parameter_add(struct binance_parameters *params, const char *name, const char *value);
void binance_parameter_add_int(struct binance_parameters *params, const char *name, int64_t value);

/* recvWindow and timestamp: what each signed request has. */
void binance_parameters_date(struct binance_parameters *params, int64_t timestamp_ms);

/* What makes a new order: all but the time. NULL, or in one line what of it the venue does not have. */
const char *binance_parameters_of_order(struct binance_parameters *params, const struct symbol *symbol,
                                        const struct order *order, const char *client_id);

/* "a=1&b=2", percent-encoded, in their order, and behind it the signature of just that. False: it cannot be
 * signed. */
bool binance_parameters_query(const struct binance_parameters *params, const struct binance_signer *signer,
                              struct text *out);

/* What the WebSocket API signs: by name, not encoded. Sorts them. */
void binance_parameters_payload(struct binance_parameters *params, struct text *out);

/* {"id":ID,"method":"METHOD","params":{…}} with the key's id and its signature where there is a signer, NULL:
 * the session has logged on, or the method takes none. False: it cannot be signed. */
bool binance_parameters_message(struct binance_parameters *params, const struct binance_signer *signer,
                                int64_t id, const char *method, struct text *out);

#endif
