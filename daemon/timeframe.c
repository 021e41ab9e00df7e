#include "daemon/timeframe.h"

#define DAY_NS (86400 * INT64_C(1000000000))

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

/* The higher bar that a lower one is part of. */
struct part_of {
    int64_t open_ns, end_ns;
    int64_t from_ns; /* a lower bar that opens later is not its first */
};

static bool in_session(const struct trading_calendar *calendar, int64_t ns)
{
    enum bar_session session = trading_session_of(calendar, ns, ns + 1);
    return session == BAR_SESSION_PRE || session == BAR_SESSION_REGULAR || session == BAR_SESSION_POST;
}

static bool find_days(const struct timeframe *tf, const struct trading_calendar *calendar, int64_t ns,
                      struct part_of *ret)
{
    struct session_span day;
    struct long_span span;
    if (!trading_span_at(calendar, SESSION_REGULAR, ns, &day) ||
        (tf->lower_ns < DAY_NS && ns < day.open_ns) ||
        !trading_long_span(calendar, tf->interval_ns, day.day, &span))
        return false;
    *ret = (struct part_of){span.open_ns, span.till_ns, span.from_ns};
    return true;
}

/* False: it is part of none. */
static bool find(const struct timeframe *tf, const struct trading_calendar *calendar, const struct bar *lower,
                 struct part_of *ret)
{
    int64_t ns = lower->open_ns;
    *ret = (struct part_of){ns, ns + 1, ns};
    if (is_itself(tf))
        return true; /* the next one may open at any time */
    if (calendar->n > 0 && tf->interval_ns >= DAY_NS)
        return find_days(tf, calendar, ns, ret);
    trading_bar_span(calendar, tf->interval_ns, ns, &ret->open_ns, &ret->end_ns);
    ret->from_ns = ret->open_ns;
    return calendar->n == 0 || in_session(calendar, ns);
}

/* Everything since then was seen. */
static int64_t seen_since(const struct timeframe *tf, const struct bar *lower)
{
    return tf->next_ns == INT64_MIN ? lower->open_ns : tf->next_ns;
}

static bool forms(const struct timeframe *tf, const struct part_of *part)
{
    return tf->have_forming && tf->forming.open_ns == part->open_ns;
}

/* The higher bar with one lower bar more, and whether it is whole. */
static bool joined(const struct timeframe *tf, const struct part_of *part, bool by_session,
                   const struct bar *lower, struct bar *ret)
{
    bool same = forms(tf, part);
    *ret = same ? tf->forming : *lower;
    ret->open_ns = part->open_ns;
    if (same)
        merge(ret, lower);
    if (by_session)
        return same ? tf->whole : seen_since(tf, lower) <= part->from_ns;
    return same ? tf->whole && lower->open_ns == tf->last_ns + tf->lower_ns : lower->open_ns == part->open_ns;
}

/* Its lower bar is a later one's. What formed is over where it is a session's; else its last lower bar never
 * came. */
static int leave(struct timeframe *tf, const struct bar *lower, struct bar *ret)
{
    bool over = tf->by_session && tf->whole && tf->end_ns <= lower->open_ns;
    tf->have_forming = false;
    tf->left_out += !over;
    if (over)
        *ret = tf->forming;
    return over;
}

/* A lower bar that is part of no higher one; a week's next day may follow it. */
static void pass(struct timeframe *tf, const struct bar *lower)
{
    tf->last_ns = lower->open_ns;
    if (!tf->have_forming)
        tf->next_ns = lower->open_ns + 1;
}

/* A session's, of which the start was missed, takes no further lower bar. */
static int64_t next_of(const struct timeframe *tf, const struct part_of *part)
{
    return tf->have_forming && (tf->whole || !tf->by_session) ? part->open_ns : part->end_ns;
}

int daemon_timeframe_take(struct timeframe *tf, const struct trading_calendar *calendar,
                          const struct bar *lower, struct bar ret[static TIMEFRAME_CLOSED_MAX])
{
    struct part_of part;
    struct bar higher;
    int n = 0;
    if (comes_late(tf, lower))
        return 0;
    bool any = find(tf, calendar, lower, &part);
    if (tf->have_forming && (any ? !forms(tf, &part) : tf->end_ns <= lower->open_ns))
        n = leave(tf, lower, ret);
    if (!any) {
        pass(tf, lower);
        return n;
    }
    tf->whole = joined(tf, &part, calendar->n > 0, lower, &higher);
    tf->last_ns = lower->open_ns;
    tf->forming = higher;
    tf->by_session = calendar->n > 0;
    tf->end_ns = part.end_ns;
    tf->have_forming = trading_bar_end(calendar, tf->lower_ns, lower->open_ns) < part.end_ns;
    tf->next_ns = next_of(tf, &part);
    if (tf->have_forming)
        return n;
    tf->left_out += !tf->whole;
    if (tf->whole)
        ret[n++] = higher;
    return n;
}

bool daemon_timeframe_peek(const struct timeframe *tf, const struct trading_calendar *calendar,
                           const struct bar *lower, struct bar *ret)
{
    struct part_of part;
    return !comes_late(tf, lower) && find(tf, calendar, lower, &part) &&
           joined(tf, &part, calendar->n > 0, lower, ret);
}

bool daemon_timeframe_forming(const struct timeframe *tf, struct bar *ret)
{
    if (!tf->have_forming || !tf->whole)
        return false;
    *ret = tf->forming;
    return true;
}

bool daemon_timeframe_opens(const struct timeframe *tf, const struct trading_calendar *calendar,
                            int64_t open_ns)
{
    int64_t begin_ns, end_ns;
    if (is_itself(tf) || calendar->n == 0 || !trading_calendar_covers(calendar, open_ns, open_ns + 1))
        return true;
    trading_bar_span(calendar, tf->interval_ns, open_ns, &begin_ns, &end_ns);
    return begin_ns == open_ns && (tf->interval_ns >= DAY_NS || in_session(calendar, open_ns));
}
