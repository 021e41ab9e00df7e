/* Binance's keyless REST: what is asked for becomes a status and a body. No sockets here. */
#ifndef EXCHANGE_REPLAY_BINANCE_REST_H
#define EXCHANGE_REPLAY_BINANCE_REST_H

#include <stddef.h>

#include "exchange/replay/protocol.h"
#include "exchange/replay/source.h"
#include "exchange/text.h"

/* Answers into `body` (cleared first); the clock that is told is `skew_ns` ahead. Returns the HTTP status;
 * *ret_weight is what the venue charges. */
int replay_rest_answer(struct replay_source *source, int64_t skew_ns, const struct replay_request *request,
                       struct text *body, int *ret_weight);

/* {"code":…,"msg":…} */
void replay_rest_error(struct text *body, int code, const char *msg);

#endif
