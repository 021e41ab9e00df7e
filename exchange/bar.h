/* Bars (candles): one interval's open, high, low, close and volume, in exact integers. */
#ifndef EXCHANGE_BAR_H
#define EXCHANGE_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"

struct trading_calendar;

#define BAR_DAY_NS (86400 * INT64_C(1000000000))

enum bar_source {
    BAR_VENUE,  /* the venue's closed kline, by stream or REST */
    BAR_TRADES, /* built here from trades */
};

/* In which part of its market's day a bar is: exchange/trading_calendar.h. */
enum bar_session {
    BAR_SESSION_NONE, /* its market trades at all times, or it is not known */
    BAR_SESSION_PRE,
    BAR_SESSION_REGULAR,
    BAR_SESSION_POST,
    BAR_SESSION_CLOSED,
    BAR_SESSION_MIXED, /* it begins in one and ends in another */
    BAR_SESSIONS,
};
extern const char *const bar_session_names[BAR_SESSIONS]; /* "none", "pre", "regular" … */

struct bar {
    int64_t open_ns;                /* first nanosecond of the interval, UTC */
    int64_t open, high, low, close; /* price_scale */
    enum bar_session session;
    int128_t volume;       /* base asset, qty_scale */
    int128_t quote_volume; /* price_scale + qty_scale when built here or parsed */
    int64_t trades;
    int64_t first_trade_id, last_trade_id; /* -1 when there was none or the source does not say */
};

/* The intervals of a fixed length, shortest first: name and seconds. A month has none and is not among them.
 */
#define BAR_INTERVAL_LIST(FIRST, NEXT) \
    FIRST("1s", 1) \
    NEXT("1m", 60) \
    NEXT("3m", 180) \
    NEXT("5m", 300) \
    NEXT("15m", 900) \
    NEXT("30m", 1800) \
    NEXT("1h", 3600) \
    NEXT("2h", 7200) \
    NEXT("4h", 14400) \
    NEXT("6h", 21600) \
    NEXT("8h", 28800) \
    NEXT("12h", 43200) \
    NEXT("1d", 86400) \
    NEXT("3d", 259200) \
    NEXT("1w", 604800)
#define BAR_INTERVAL_FIRST_(name, seconds) name
#define BAR_INTERVAL_NEXT_(name, seconds)  " " name
#define BAR_INTERVAL_ONE_(name, seconds)   +1

/* Their names with blanks between: "1s 1m 3m …". */
#define BAR_INTERVAL_NAMES BAR_INTERVAL_LIST(BAR_INTERVAL_FIRST_, BAR_INTERVAL_NEXT_)
enum { BAR_INTERVALS = 0 BAR_INTERVAL_LIST(BAR_INTERVAL_ONE_, BAR_INTERVAL_ONE_) };
struct bar_interval {
    const char *name;
    int64_t ns;
};
extern const struct bar_interval bar_intervals[BAR_INTERVALS];

/* A calendar month of UTC, in place of an interval's length: a mark, longer than any month and no whole
 * number of microseconds, so that it is no bar's length. What takes it asks bar_open_time() and
 * bar_end_time(), and adds no interval to a time. Its name is that of archives, and REST calls it 1M: files
 * of 1m and 1M would have one name on a disk that does not know the case of letters. */
#define BAR_MONTH_NS   (31 * 86400 * 1000000000LL + 1)
#define BAR_MONTH_NAME "1mo"
#define BAR_MONTH_REST "1M"

/* By its name, of those of a fixed length. Returns 0 and nanoseconds, or -EINVAL. */
int bar_interval_parse(const char *text, int64_t *ret_ns);

/* The same, or a month by either of its names: BAR_MONTH_NS. */
int bar_interval_parse_any(const char *text, int64_t *ret_ns);

/* The interval's name, or NULL when `interval_ns` is none of the above. */
const char *bar_interval_name(int64_t interval_ns);

/* The open time of the interval that holds `ts_ns`. Weeks open on Monday, as the venue's do. */
int64_t bar_open_time(int64_t ts_ns, int64_t interval_ns);

/* When the interval that opens at `open_ns` is over. */
int64_t bar_end_time(int64_t open_ns, int64_t interval_ns);

/* Builds bars of one symbol and interval from its trades, in order of their ids.
 *
 * A bar is complete when every trade of its interval was seen: ids are consecutive on the venue, so a jump,
 * or a start in the middle of an interval, makes the bar incomplete, and an incomplete bar is never
 * returned as a complete one. Whether the very first trade seen opened its interval is only known from the
 * venue's kline (its first trade id): bar_builder_confirm_first(). */
struct bar_builder {
    int64_t interval_ns;
    /* Borrowed for the length of a call; NULL: bars are by the clock. Else by its sessions
     * (trading_bar_span() of exchange/trading_calendar.h). */
    const struct trading_calendar *calendar;
    bool loose; /* ids are not consecutive: missing ones are not detected, and each is taken */
    struct bar forming;
    bool have_forming;  /* `forming` holds at least one trade */
    bool complete;      /* no trade of `forming` was missed, as far as ids show */
    bool first_unknown; /* `forming` started with the first trade ever seen */
    int64_t last_trade_id;
    int64_t closed_ns; /* open time of the last bar returned: trades up to its end come too late */
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

/* Adds one trade. When it opens a later interval, the bar before is closed into *ret. Intervals without
 * trades get no bar: the next bar's open time shows them. */
enum bar_built bar_builder_trade(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                 int64_t qty, struct bar *ret);

/* Adds one trade that makes no price: it counts only in its interval's volume and number of trades, once a
 * trade has opened it; of intervals that no trade has opened those of the latest are remembered. BAR_NONE
 * or BAR_STALE. */
enum bar_built bar_builder_odd(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                               int64_t qty);

/* Adds one trade that was before others of the forming bar, and comes after them: it makes neither close
 * nor open. BAR_NONE, or BAR_STALE where its interval is not the forming one. */
enum bar_built bar_builder_late(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                int64_t qty);

/* The venue says that the interval opening at `open_ns` began with trade `first_trade_id`. */
void bar_builder_confirm_first(struct bar_builder *builder, int64_t open_ns, int64_t first_trade_id);

/* Closes the forming bar if its interval ends at or before `now_ns`. Same results as above. */
enum bar_built bar_builder_close(struct bar_builder *builder, int64_t now_ns, struct bar *ret);

/* The stream was interrupted: the forming bar can no longer be complete, and ids may continue anywhere, so
 * that a venue that once sent wrong ids is trusted again. */
void bar_builder_interrupt(struct bar_builder *builder);

#endif
