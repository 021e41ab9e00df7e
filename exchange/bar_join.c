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

static int close_bar(struct bar_join *join, struct bar *ret)
{
    int n = 0;
    if (join->have && join->whole)
        ret[n++] = join->bar;
    if (join->have)
        join->end_ns = join->bar.open_ns + join->interval_ns;
    join->have = false;
    return n;
}

int bar_join_add(struct bar_join *join, const struct bar *part, int64_t part_ns,
                 struct bar ret[static BAR_JOIN_MAX])
{
    int64_t open_ns = bar_open_time(part->open_ns, join->interval_ns);
    int n = 0;
    if (part->open_ns < join->end_ns || (join->have && open_ns < join->bar.open_ns))
        return 0;
    if (join->have && open_ns > join->bar.open_ns)
        n = close_bar(join, ret);
    if (!join->have)
        join->whole = join->following || part->open_ns == open_ns;
    if (!join->have)
        join->bar.open_ns = open_ns;
    bar_join_merge(&join->bar, part, !join->have);
    join->have = join->following = true;
    if (part->open_ns + part_ns >= open_ns + join->interval_ns)
        n += close_bar(join, ret + n);
    return n;
}
