#include "exchange/bar_join.h"

void bar_join_init(struct bar_join *join, int64_t interval_ns)
{
    *join = (struct bar_join){.interval_ns = interval_ns, .end_ns = INT64_MIN};
}

void bar_join_interrupt(struct bar_join *join)
{
    join->whole = false;
    join->following = false;
}

void bar_join_merge(struct bar *bar, const struct bar *part, bool first)
{
    if (first) {
        int64_t open_ns = bar->open_ns;
        *bar = *part;
        bar->open_ns = open_ns;
        return;
    }
    if (part->high > bar->high)
        bar->high = part->high;
    if (part->low < bar->low)
        bar->low = part->low;
    bar->close = part->close;
    bar->volume += part->volume;
    bar->quote_volume += part->quote_volume;
    bar->trades += part->trades;
    bar->last_trade_id = part->last_trade_id;
}

/* The forming bar ends at its own end, or where the next one begins. */
static int close_bar(struct bar_join *join, int64_t next_ns, struct bar *ret)
{
    int n = 0;
    if (join->have && join->whole)
        ret[n++] = join->bar;
    if (join->have)
        join->end_ns = join->bar_end_ns < next_ns ? join->bar_end_ns : next_ns;
    join->have = false;
    return n;
}

int bar_join_add(struct bar_join *join, const struct trading_calendar *calendar, const struct bar *part,
                 int64_t part_ns, struct bar ret[static BAR_JOIN_MAX])
{
    int64_t open_ns, end_ns;
    int n = 0;
    trading_bar_span(calendar, join->interval_ns, part->open_ns, &open_ns, &end_ns);
    if (part->open_ns < join->end_ns || (join->have && open_ns < join->bar.open_ns))
        return 0;
    if (join->have && open_ns > join->bar.open_ns)
        n = close_bar(join, open_ns, ret);
    if (!join->have)
        join->whole = join->following || part->open_ns == open_ns;
    if (!join->have)
        join->bar.open_ns = open_ns;
    join->bar_end_ns = end_ns;
    bar_join_merge(&join->bar, part, !join->have);
    join->have = join->following = true;
    if (part->open_ns + part_ns >= end_ns)
        n += close_bar(join, end_ns, ret + n);
    return n;
}
