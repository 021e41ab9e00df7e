/* The rows of a policy's observations as times: the bars of its session, one after the other, by its market's
 * calendar; without one, and for SESSION_ALL, all times of the interval. Nights have no rows. Where the
 * calendar does not reach, two bars of different times are one row apart. */
#ifndef STRATEGY_POLICY_ROWS_H
#define STRATEGY_POLICY_ROWS_H

#include "exchange/trading_calendar.h"
#include "strategy/policy/policy.h"

struct policy_rows {
    const struct trading_calendar *calendar; /* NULL: rows lie on the clock */
    enum session_choice session;
    int64_t interval_ns;
};

/* Of a policy, in a market whose calendar is `calendar` (NULL: it has none, or it is not known). */
struct policy_rows policy_rows_of(const struct policy *policy, const struct trading_calendar *calendar);

/* How many rows open in [from_ns, to_ns), from_ns being a row's; negative where to_ns is before it. */
int64_t policy_rows_between(const struct policy_rows *rows, int64_t from_ns, int64_t to_ns);

/* When the next row opens, and the n-th after. */
int64_t policy_rows_next(const struct policy_rows *rows, int64_t open_ns);
int64_t policy_rows_after(const struct policy_rows *rows, int64_t open_ns, int64_t n);

/* Is the row the first of its day, as against the bar before it, which opened at before_ns? */
bool policy_rows_begins(const struct policy_rows *rows, int64_t before_ns, int64_t open_ns);

/* Task day-trade: is the row after this one the last of its session, so that an order of this one is the last
 * that fills before the session's end? Without a calendar by session_close_s and the zone of the policy, as
 * trainer/env/session.h has it. */
bool policy_rows_leaves(const struct policy_rows *rows, const struct policy *policy, int64_t open_ns);

#endif
