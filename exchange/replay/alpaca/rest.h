/* REST: the trading API's clock, calendar, assets and account, and the market data of stocks and coins. */
#ifndef EXCHANGE_REPLAY_ALPACA_REST_H
#define EXCHANGE_REPLAY_ALPACA_REST_H

#include "exchange/replay/alpaca/alpaca.h"
#include "exchange/replay/alpaca/wire.h"

/* One call while it is answered. */
struct rest_call {
    struct alpaca *alpaca;
    const struct replay_request *request;
    struct response *response;
    struct wire wire; /* into the response */
};

void replay_alpaca_rest(struct alpaca *alpaca, const struct replay_request *request,
                        struct response *response);

/* Counts a request, or an attempt to connect. True: the fault 429 answers it. */
bool replay_alpaca_limits(struct alpaca *alpaca, struct response *response);

/* {"code":…,"message":…} with an HTTP status; what was written is dropped. code 0: none. */
void replay_rest_refuse(struct rest_call *call, int status, int64_t code, const char *message);

/* Each answers what lies below its path (`rest` begins behind it) and returns false for a path that it has
 * not. */
bool replay_rest_trading(struct rest_call *call, const char *rest); /* /v2/ */
bool replay_rest_stocks(struct rest_call *call, const char *rest);  /* /v2/stocks/ */
bool replay_rest_crypto(struct rest_call *call, const char *rest);  /* /v1beta3/crypto/ */
bool replay_rest_actions(struct rest_call *call, const char *rest); /* /v1/corporate-actions */

#endif
