#include "daemon/timeframe.h"

void daemon_timeframe_init(struct timeframe *tf, int64_t interval_ns, int64_t lower_ns)
{
    *tf = (struct timeframe){
        .interval_ns = interval_ns, .lower_ns = lower_ns, .last_ns = INT64_MIN, .next_ns = INT64_MIN};
}

static void merge(struct bar *into, const struct bar *lower)
{
    if (lower->high > into->high)
        into->high = lower->high;
    if (lower->low < into->low)
        into->low = lower->low;
    into->close = lower->close;
    into->volume += lower->volume;
    into->quote_volume += lower->quote_volume;
    into->trades += lower->trades;
    if (lower->first_trade_id >= 0) {
        if (into->first_trade_id < 0)
            into->first_trade_id = lower->first_trade_id;
        into->last_trade_id = lower->last_trade_id;
    }
}

static bool comes_late(const struct timeframe *tf, const struct bar *lower)
{
    return lower->open_ns <= tf->last_ns || lower->open_ns < tf->next_ns;
}

/* A lower bar is the higher one itself, which then may open and end with a session. */
static bool is_itself(const struct timeframe *tf)
{
    return tf->interval_ns == tf->lower_ns;
}

/* The higher bar with one lower bar more, and whether it is whole. */
static bool joined(const struct timeframe *tf, const struct bar *lower, struct bar *ret)
{
    int64_t open_ns = is_itself(tf) ? lower->open_ns : bar_open_time(lower->open_ns, tf->interval_ns);
    bool same = tf->have_forming && tf->forming.open_ns == open_ns;
    *ret = same ? tf->forming : *lower;
    ret->open_ns = open_ns;
    if (same)
        merge(ret, lower);
    return same ? tf->whole && lower->open_ns == tf->last_ns + tf->lower_ns : lower->open_ns == open_ns;
}

bool daemon_timeframe_take(struct timeframe *tf, const struct bar *lower, struct bar *ret)
{
    struct bar higher;
    if (comes_late(tf, lower))
        return false;
    bool whole = joined(tf, lower, &higher);
    if (tf->have_forming && tf->forming.open_ns != higher.open_ns)
        tf->left_out++; /* its last lower bar never came */
    tf->last_ns = lower->open_ns;
    tf->forming = higher;
    tf->whole = whole;
    tf->have_forming = lower->open_ns + tf->lower_ns < higher.open_ns + tf->interval_ns;
    tf->next_ns = is_itself(tf)      ? lower->open_ns + 1
                  : tf->have_forming ? higher.open_ns
                                     : higher.open_ns + tf->interval_ns;
    if (tf->have_forming)
        return false;
    tf->left_out += !whole;
    if (whole)
        *ret = higher;
    return whole;
}

bool daemon_timeframe_peek(const struct timeframe *tf, const struct bar *lower, struct bar *ret)
{
    return !comes_late(tf, lower) && joined(tf, lower, ret);
}
