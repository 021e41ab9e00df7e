/* The venue's klines of one symbol: built from trades, kept for REST, at any of the venue's intervals.
 *
 * Four base intervals are kept (1s, 1m, 1h, 1d), each bounded; every other interval is joined from the
 * largest base that divides it when it is requested. An interval without trades is a candle too: o = h = l
 * = c = the close before, no volume, ids -1. */
#ifndef EXCHANGE_REPLAY_CANDLES_H
#define EXCHANGE_REPLAY_CANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/bar.h"

enum {
    CANDLE_MONTH = BAR_INTERVALS, /* 1M */
    CANDLE_INTERVALS,
    CANDLE_TIERS = 4,
};

struct candle {
    int64_t open_ns;
    int64_t open, high, low, close;            /* scale 8 */
    int128_t volume, taker_volume;             /* base asset, scale 8; taker: of buying takers */
    int128_t quote_volume, taker_quote_volume; /* scale 16 */
    int64_t trades, first_id, last_id;         /* ids are -1 without trades */
};

struct candle_trade {
    int64_t ts_ns;
    int64_t first_id, last_id; /* equal for a plain trade */
    int64_t price, qty;
    bool buyer_maker;
};

struct candles {
    struct candle_tier {
        struct candle *bars; /* rising; the last may be forming */
        size_t n, cap;
        bool cut; /* older ones were dropped: an interval that the first is not the beginning of is partial */
    } tiers[CANDLE_TIERS];
    struct candle_tier given[CANDLE_INTERVALS]; /* recorded bars of other intervals than the bases, rising */
    int64_t last_id;                            /* of the last trade; -1 */
    bool hole;                                  /* nothing is known of the time up to the next trade */
    int whole;                                  /* a base interval of which every bar is kept; -1 */
    size_t share; /* of the bounds: one `share`-th is kept, for markets of many symbols; 1 at first */
};

/* Of bar_intervals by index, or CANDLE_MONTH: name, length (of a month BAR_MONTH_NS), index of a name (-1
 * when the venue has none such). */
const char *replay_candle_interval_name(int interval);
int64_t replay_candle_interval_ns(int interval);
int replay_candle_interval_find(const char *name, size_t len);

/* The open time of the interval that holds ts_ns; weeks open on Monday. */
int64_t replay_candle_open_time(int interval, int64_t ts_ns);

/* When the interval that opens at open_ns is over. */
int64_t replay_candle_end_time(int interval, int64_t open_ns);

void replay_candles_init(struct candles *candles);
void replay_candles_finish(struct candles *candles);

/* Appends a bar of history to the base `tier` (0 = 1s, 1m, 1h, 1d). Bars come in order of time, each later
 * than what the tier holds, and open on its grid. 0 or -ENOMEM. */
int replay_candles_append(struct candles *candles, int tier, const struct candle *bar);

/* Puts a recorded bar of the venue in place of the one of that interval and time. One that is older than
 * what its base holds is ignored; bars of other intervals than the bases are kept unchanged, and replace
 * what would be joined for their time. 0 or -ENOMEM. */
int replay_candles_put(struct candles *candles, int interval, const struct candle *bar);

/* From now on every bar of that interval is kept: of a base without a bound, of another as its bars are over
 * and replay_candles_keep() is called. 0 or -ENOMEM. */
void replay_candles_keep_all(struct candles *candles, int interval);
int replay_candles_keep(struct candles *candles, int interval, int64_t open_ns);

/* Adds a trade; one whose ids were counted already is ignored. Intervals jumped over become empty candles.
 * 0 or -ENOMEM. */
int replay_candles_trade(struct candles *candles, const struct candle_trade *trade);

/* Lets time pass without a trade: candles up to the one that holds ts_ns exist after it, if there was any
 * before. 0 or -ENOMEM. */
int replay_candles_advance(struct candles *candles, int64_t ts_ns);

/* Where no candle is known yet: an empty one holds ts_ns, at that price (scale 8). 0 or -ENOMEM. */
int replay_candles_begin(struct candles *candles, int64_t ts_ns, int64_t price);

/* Nothing is known from here to the next trade: no empty candles are made for the time between. */
void replay_candles_hole(struct candles *candles);

/* The candle of an interval that opens at open_ns; false when it is not known. */
bool replay_candles_get(const struct candles *candles, int interval, int64_t open_ns, struct candle *ret);

/* As the venue's REST: candles whose open time lies in [start_ns, end_ns], at most `limit` (<= 1000), the
 * first ones when start_ns is given (>= 0), else the last ones. end_ns < 0: no end. Writes to ret[limit],
 * returns the count. */
size_t replay_candles_query(const struct candles *candles, int interval, int64_t start_ns, int64_t end_ns,
                            size_t limit, struct candle *ret);

/* Joins `bar` to `into`, which came before it. */
void replay_candle_join(struct candle *into, const struct candle *bar);

#endif
