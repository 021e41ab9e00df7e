/* Binance's market messages as JSON text: the data objects of the streams. `unit`
 * is STREAM_MS or STREAM_US: of the times in it. */
#ifndef EXCHANGE_REPLAY_RENDER_H
#define EXCHANGE_REPLAY_RENDER_H

#include "exchange/replay/tape.h"
#include "exchange/text.h"

void replay_render_trade(struct text *out, int unit, const char *symbol, const struct tape_trade *trade);

void replay_render_agg_trade(struct text *out, int unit, const char *symbol, const struct tape_trade *trade,
                             int64_t agg_id, int64_t first_id, int64_t last_id, int64_t qty);

void replay_render_kline(struct text *out, int unit, const char *symbol, int64_t event_ns, int interval,
                         const struct candle *candle, bool closed);

void replay_render_quote(struct text *out, const char *symbol, uint64_t id, int64_t bid, int64_t bid_qty,
                         int64_t ask, int64_t ask_qty);

void replay_render_depth(struct text *out, int unit, const char *symbol, int64_t event_ns, uint64_t first_id,
                         uint64_t last_id, const struct level *bids, size_t n_bids, const struct level *asks,
                         size_t n_asks);

void replay_render_mini_ticker(struct text *out, int unit, const char *symbol, int64_t event_ns,
                               const struct candle *day);

/* [["price","qty"],…]: `n` levels from levels[0] on, in steps of `step` (1 or -1). */
void replay_render_levels(struct text *out, const struct level *levels, size_t n, int step);

/* REST's array of twelve. */
void replay_render_kline_row(struct text *out, int interval, const struct candle *candle);

#endif
