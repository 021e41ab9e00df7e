/* Bars (candles): one interval's open, high, low, close and volume, in exact integers. */
#ifndef EXCHANGE_BAR_H
#define EXCHANGE_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"

enum bar_source {
    BAR_VENUE,  /* the venue's closed kline, by stream or REST */
    BAR_TRADES, /* built here from trades */
};

struct bar {
    int64_t open_ns;                       /* first nanosecond of the interval, UTC */
    int64_t open, high, low, close;        /* price_scale */
    int128_t volume;                       /* base asset, qty_scale */
    int128_t quote_volume;                 /* price_scale + qty_scale when built here or parsed */
    int64_t trades;                        /* number of trades */
    int64_t first_trade_id, last_trade_id; /* -1 when there was none or the source does not say */
};

/* Intervals by their names: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w (1M has no fixed
 * length and is refused). Returns 0 and nanoseconds, or -EINVAL. */
int bar_interval_parse(const char *text, int64_t *ret_ns);

/* The interval's name, or NULL when `interval_ns` is none of the above. */
const char *bar_interval_name(int64_t interval_ns);

/* The open time of the interval that holds `ts_ns`. Weeks open on Monday, as the venue's do. */
int64_t bar_open_time(int64_t ts_ns, int64_t interval_ns);

/* Builds bars of one symbol and interval from its trades, in order of their ids.
 *
 * A bar is complete when every trade of its interval was seen: ids are consecutive on the venue, so
 * a jump, or a start in the middle of an interval, makes the bar incomplete, and an incomplete bar is
 * never handed out as one. Whether the very first trade seen opened its interval is only known from
 * the venue's kline (its first trade id); bar_builder_confirm_first() tells. */
struct bar_builder {
    int64_t interval_ns;
    bool loose; /* ids do not count up one by one: none is known to be missing, and each is taken */
    struct bar forming;
    bool have_forming;  /* `forming` holds at least one trade */
    bool complete;      /* no trade of `forming` was missed, as far as ids tell */
    bool first_unknown; /* `forming` began with the first trade ever seen */
    int64_t last_trade_id;
    int64_t closed_ns; /* open time of the last bar handed out: trades up to its end come too late */
    uint64_t gaps;     /* jumps in trade ids */
    /* Trades that make no price, of an interval that no trade has opened yet. */
    int64_t odd_open_ns, odd_trades;
    int128_t odd_volume, odd_quote_volume;
};

enum bar_built {
    BAR_NONE,       /* the trade went into the forming bar */
    BAR_CLOSED,     /* *ret is a complete bar */
    BAR_INCOMPLETE, /* *ret closed, but trades of it were missed: fetch it instead */
    BAR_STALE,      /* the trade's id or interval is behind: ignored */
};

void bar_builder_init(struct bar_builder *builder, int64_t interval_ns);

/* Feeds one trade. When it opens a later interval, the bar before is closed into *ret. Intervals
 * without trades are not invented: the next bar's open time tells. */
enum bar_built bar_builder_trade(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                 int64_t qty, struct bar *ret);

/* Feeds one trade that makes no price: it counts in its interval's volume and number of trades only, once a
 * trade has opened it; of intervals that none has opened those of the latest are remembered. BAR_NONE or
 * BAR_STALE. */
enum bar_built bar_builder_odd(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                               int64_t qty);

/* Feeds one trade that was before others of the forming bar, and comes after them: it makes neither close nor
 * open. BAR_NONE, or BAR_STALE where its interval is not the forming one. */
enum bar_built bar_builder_late(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                int64_t qty);

/* The venue says that the interval opening at `open_ns` began with trade `first_trade_id`. */
void bar_builder_confirm_first(struct bar_builder *builder, int64_t open_ns, int64_t first_trade_id);

/* Closes the forming bar if its interval ends at or before `now_ns`. Same results as above. */
enum bar_built bar_builder_close(struct bar_builder *builder, int64_t now_ns, struct bar *ret);

/* The stream was interrupted: what is forming can no longer be complete, and ids may go on anywhere, so that
 * a venue that sent nonsense once is believed again. */
void bar_builder_interrupt(struct bar_builder *builder);

#endif
