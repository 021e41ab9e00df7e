/* What an answer of the venue says of the outcome of a request: which refusals are certain, and after which
 * it may have been done. Pure. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_OUTCOME_H
#define EXCHANGE_BINANCE_ACCOUNT_OUTCOME_H

#include "exchange/json.h"
#include "exchange/venue_account.h"

/* The venue's codes that decide something. */
enum {
    BINANCE_CODE_TOO_MANY_REQUESTS = -1003,
    BINANCE_CODE_TOO_MANY_ORDERS = -1015,
    BINANCE_CODE_BAD_TIMESTAMP = -1021,
    BINANCE_CODE_BAD_SIGNATURE = -1022,
};

/* A refusal, as it came: HTTP's status or the message's, the code (0: none) and its words. */
struct binance_refusal {
    int status;
    int64_t code;
    struct json_text msg;
};

/* Of everything but a 200. What is not listed here is VENUE_UNKNOWN. */
enum venue_outcome binance_outcome(enum account_ask kind, const struct binance_refusal *refusal);

/* Does it limit or ban the address, so that everything else must wait too? -1015 is the account's. */
bool binance_refusal_of_address(const struct binance_refusal *refusal);

/* How long to wait after one that is VENUE_NOT_SENT and does not say how long. */
int64_t binance_refusal_wait_ms(const struct binance_refusal *refusal);

#endif
