/* Binance on loopback: its market-data streams and its keyless REST. */
#ifndef EXCHANGE_REPLAY_BINANCE_PROTOCOL_H
#define EXCHANGE_REPLAY_BINANCE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/binance/subscriber.h"
#include "exchange/replay/fault.h"
#include "exchange/replay/options.h"
#include "exchange/replay/protocol.h"
#include "exchange/replay/source.h"
#include "exchange/replay/tape.h"
#include "exchange/text.h"

struct limits;

extern const struct protocol_row replay_binance_protocol;

enum { REPLAY_HEADER_TIME_UNIT, REPLAY_HEADER_API_KEY }; /* in struct replay_request */

/* Binance's keyless REST: a request becomes a status and a body. No sockets here. */

/* Answers into `body` (cleared first); the clock in replies is `skew_ns` ahead. Returns the HTTP status;
 * *ret_weight is what is charged, by `limits`. */
int replay_rest_answer(struct replay_source *source, int64_t skew_ns, const struct limits *limits,
                       const struct replay_request *request, struct text *body, int *ret_weight);

/* {"code":…,"msg":…} */
void replay_rest_error(struct text *body, int code, const char *msg);

/* exchangeInfo, with filters as Binance has them. */

/* The whole reply for the symbols that are marked; symbols[i] goes with tape->symbols[i]. Price and quantity
 * steps are the venue's own for BTCUSDT and ETHUSDT, else as fine as the digits that the data shows. */
void replay_exchange_info_write(struct text *out, const struct tape *tape, const bool *symbols,
                                const struct limits *limits);

/* myFilters: those of the exchange, of that symbol, and of its assets. */
void replay_exchange_info_filters(struct text *out, const struct tape_symbol *symbol,
                                  const struct symbol *listed, const struct limits *limits);

/* Changes of symbols while they are played: --fault status@, filters@ and delist@, at their market time. A
 * synthetic market pauses while its status is not TRADING; of a recording the trades, quotes and
 * differences of that time are left out. */

/* Applies what is due `played_ns` of market time after the start of play and was not applied yet. */
void replay_changes_apply(struct tape *tape, const struct faults *faults, int64_t played_ns);

/* Is a stream of that kind silent for now? */
bool replay_changes_silence(const struct tape_symbol *symbol, enum stream_kind kind);

/* Opens the source that the options name, ready to play into a tape. */

/* 0, or a negative errno with an error in one line. */
int replay_open_source(const struct options *options, struct tape *tape, struct replay_source **ret,
                       char error[static SOURCE_ERROR_MAX]);

/* Requests of websocket clients: SUBSCRIBE, UNSUBSCRIBE, LIST_SUBSCRIPTIONS, SET_PROPERTY, GET_PROPERTY. */

/* The streams of a URL: names between slashes. */
int replay_subscribe_list(struct binance_subscriber *subscriber, const char *names);

/* Drops all subscriptions, as before the client goes. */
void replay_subscribe_drop(struct binance_subscriber *subscriber);

/* Answers one request. */
void replay_subscribe_request(struct binance_subscriber *subscriber, const char *text, size_t len);

#endif
