#include "exchange/bar.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "exchange/clock.h"
#include "exchange/trading_calendar.h"

#define SECOND_NS          1000000000LL

#define ROW(name, seconds) {name, (seconds)*SECOND_NS},
const struct bar_interval bar_intervals[BAR_INTERVALS] = {BAR_INTERVAL_LIST(ROW, ROW)};

const char *const bar_session_names[BAR_SESSIONS] = {"none", "pre", "regular", "post", "closed", "mixed"};

int bar_interval_parse(const char *text, int64_t *ret_ns)
{
    for (size_t i = 0; i < BAR_INTERVALS; i++) {
        if (strcmp(text, bar_intervals[i].name) == 0) {
            *ret_ns = bar_intervals[i].ns;
            return 0;
        }
    }
    return -EINVAL;
}

int bar_interval_parse_any(const char *text, int64_t *ret_ns)
{
    if (strcmp(text, BAR_MONTH_NAME) != 0 && strcmp(text, BAR_MONTH_REST) != 0)
        return bar_interval_parse(text, ret_ns);
    *ret_ns = BAR_MONTH_NS;
    return 0;
}

const char *bar_interval_name(int64_t interval_ns)
{
    if (interval_ns == BAR_MONTH_NS)
        return BAR_MONTH_NAME;
    for (size_t i = 0; i < BAR_INTERVALS; i++)
        if (bar_intervals[i].ns == interval_ns)
            return bar_intervals[i].name;
    return NULL;
}

/* The beginning of the month that holds the time, or of one so many months later. */
static int64_t month_begin(int64_t ts_ns, int later)
{
    const time_t seconds = (time_t)clock_whole_s(ts_ns);
    struct tm date;
    if (!gmtime_r(&seconds, &date)) /* no year that an int holds: not within int64_t nanoseconds */
        return ts_ns;
    struct tm first = {.tm_year = date.tm_year, .tm_mon = date.tm_mon + later, .tm_mday = 1};
    return (int64_t)timegm(&first) * SECOND_NS;
}

int64_t bar_end_time(int64_t open_ns, int64_t interval_ns)
{
    return interval_ns == BAR_MONTH_NS ? month_begin(open_ns, 1) : open_ns + interval_ns;
}

int64_t bar_open_time(int64_t ts_ns, int64_t interval_ns)
{
    if (interval_ns == BAR_MONTH_NS)
        return month_begin(ts_ns, 0);
    /* 1970-01-01 was a Thursday: the first Monday came four days later. */
    int64_t origin = interval_ns == 7 * BAR_DAY_NS ? 4 * BAR_DAY_NS : 0;
    int64_t since = ts_ns - origin, into = since % interval_ns;
    if (into < 0)
        into += interval_ns;
    return ts_ns - into;
}

void bar_builder_init(struct bar_builder *builder, int64_t interval_ns)
{
    *builder = (struct bar_builder){.interval_ns = interval_ns, .last_trade_id = -1, .closed_ns = INT64_MIN};
}

/* The opening of the interval that holds the time. */
static int64_t interval_of(const struct bar_builder *builder, int64_t ts_ns)
{
    int64_t open_ns, end_ns;
    if (!builder->calendar)
        return bar_open_time(ts_ns, builder->interval_ns);
    trading_bar_span(builder->calendar, builder->interval_ns, ts_ns, &open_ns, &end_ns);
    return open_ns;
}

static void count(struct bar_builder *builder, int64_t price, int64_t qty)
{
    struct bar *bar = &builder->forming;
    bar->volume += qty;
    bar->trades++;
    if (__builtin_add_overflow(bar->quote_volume, (int128_t)price * qty, &bar->quote_volume))
        builder->complete = false; /* no market is that large: a bar with such a sum is malformed */
}

static void stretch(struct bar *bar, int64_t price)
{
    if (price > bar->high)
        bar->high = price;
    if (price < bar->low)
        bar->low = price;
}

static enum bar_built close_forming(struct bar_builder *builder, struct bar *ret)
{
    *ret = builder->forming;
    builder->closed_ns = builder->forming.open_ns;
    builder->have_forming = false;
    return builder->complete && !builder->first_unknown ? BAR_CLOSED : BAR_INCOMPLETE;
}

/* Adds the odd trades that came before the trade that opens its interval. */
static void take_odd(struct bar_builder *builder, struct bar *bar)
{
    if (builder->odd_trades > 0 && builder->odd_open_ns > bar->open_ns)
        return;
    if (builder->odd_trades > 0 && builder->odd_open_ns == bar->open_ns) {
        bar->volume = builder->odd_volume;
        bar->quote_volume = builder->odd_quote_volume;
        bar->trades = builder->odd_trades;
    }
    builder->odd_open_ns = builder->odd_trades = 0;
    builder->odd_volume = builder->odd_quote_volume = 0;
}

/* False for an id that was seen; else it is the newest now. */
static bool takes_id(struct bar_builder *builder, int64_t id, bool *ret_first_ever, bool *ret_jump)
{
    bool first_ever = builder->last_trade_id < 0;
    if (!builder->loose && !first_ever && id <= builder->last_trade_id)
        return false;
    *ret_first_ever = first_ever;
    *ret_jump = !builder->loose && !first_ever && id != builder->last_trade_id + 1;
    builder->gaps += *ret_jump;
    builder->last_trade_id = id;
    return true;
}

enum bar_built bar_builder_trade(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                 int64_t qty, struct bar *ret)
{
    struct bar *bar = &builder->forming;
    int64_t open_ns = interval_of(builder, ts_ns);
    bool first_ever, jump;
    if (!takes_id(builder, id, &first_ever, &jump))
        return BAR_STALE;
    if (open_ns <= builder->closed_ns || (builder->have_forming && open_ns < bar->open_ns)) {
        builder->complete &= !jump;
        return BAR_STALE;
    }

    enum bar_built built = BAR_NONE;
    if (builder->have_forming && open_ns > bar->open_ns) {
        /* The missed trades may have belonged to either side of the boundary. */
        builder->complete &= !jump;
        built = close_forming(builder, ret);
    }
    if (!builder->have_forming) {
        *bar = (struct bar){
            .open_ns = open_ns, .open = price, .high = price, .low = price, .first_trade_id = id};
        take_odd(builder, bar);
        builder->have_forming = true;
        builder->complete = !jump;
        builder->first_unknown = first_ever;
    }
    builder->complete &= !jump;
    stretch(bar, price);
    bar->close = price;
    count(builder, price, qty);
    bar->last_trade_id = id;
    return built;
}

enum bar_built bar_builder_late(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                                int64_t qty)
{
    bool first_ever, jump;
    if (!takes_id(builder, id, &first_ever, &jump))
        return BAR_STALE;
    builder->complete &= !jump;
    if (!builder->have_forming || interval_of(builder, ts_ns) != builder->forming.open_ns)
        return BAR_STALE;
    stretch(&builder->forming, price);
    count(builder, price, qty);
    return BAR_NONE;
}

enum bar_built bar_builder_odd(struct bar_builder *builder, int64_t ts_ns, int64_t id, int64_t price,
                               int64_t qty)
{
    struct bar *bar = &builder->forming;
    int64_t open_ns = interval_of(builder, ts_ns);
    bool first_ever, jump;
    if (!takes_id(builder, id, &first_ever, &jump))
        return BAR_STALE;
    builder->complete &= !jump;
    if (first_ever)
        builder->last_trade_id = -1; /* it opens no bar: whether the next one does is still not known */
    if (open_ns <= builder->closed_ns || (builder->have_forming && open_ns < bar->open_ns))
        return BAR_STALE;
    if (builder->have_forming && open_ns == bar->open_ns) {
        count(builder, price, qty);
        return BAR_NONE;
    }
    if (builder->odd_trades > 0 && builder->odd_open_ns > open_ns)
        return BAR_STALE;
    if (builder->odd_trades == 0 || builder->odd_open_ns != open_ns) {
        builder->odd_open_ns = open_ns;
        builder->odd_trades = 0;
        builder->odd_volume = builder->odd_quote_volume = 0;
    }
    builder->odd_trades++;
    builder->odd_volume += qty;
    if (__builtin_add_overflow(builder->odd_quote_volume, (int128_t)price * qty, &builder->odd_quote_volume))
        builder->odd_quote_volume = 0;
    return BAR_NONE;
}

void bar_builder_confirm_first(struct bar_builder *builder, int64_t open_ns, int64_t first_trade_id)
{
    if (!builder->have_forming || builder->forming.open_ns != open_ns || first_trade_id < 0)
        return;
    builder->first_unknown = false;
    if (builder->forming.first_trade_id != first_trade_id)
        builder->complete = false;
}

enum bar_built bar_builder_close(struct bar_builder *builder, int64_t now_ns, struct bar *ret)
{
    if (!builder->have_forming || now_ns < builder->forming.open_ns + builder->interval_ns)
        return BAR_NONE;
    return close_forming(builder, ret);
}

void bar_builder_interrupt(struct bar_builder *builder)
{
    builder->complete = false;
    builder->last_trade_id = -1;
}
