#include "strategy/policy/rows.h"

#include "exchange/zone.h"

/* No clock is set back by as much. */
static const int64_t SET_BACK_NS = 3 * INT64_C(3600000000000);

struct policy_rows policy_rows_of(const struct policy *policy, const struct trading_calendar *calendar)
{
    bool apart = calendar && calendar->n > 0 && policy->session != SESSION_ALL;
    return (struct policy_rows){.calendar = apart ? calendar : NULL,
                                .session = apart ? policy->session : SESSION_ALL,
                                .interval_ns = policy->interval_ns};
}

int64_t policy_rows_between(const struct policy_rows *rows, int64_t from_ns, int64_t to_ns)
{
    if (!rows->calendar)
        return (to_ns - from_ns) / rows->interval_ns;
    if (to_ns < from_ns)
        return -policy_rows_between(rows, to_ns, from_ns);
    int64_t n = trading_bars_between(rows->calendar, rows->session, rows->interval_ns, from_ns, to_ns);
    return n >= 0 ? n : to_ns > from_ns;
}

int64_t policy_rows_next(const struct policy_rows *rows, int64_t open_ns)
{
    int64_t next_ns = open_ns + rows->interval_ns;
    if (rows->calendar)
        trading_next_bar(rows->calendar, rows->session, rows->interval_ns, open_ns, &next_ns);
    return next_ns;
}

int64_t policy_rows_after(const struct policy_rows *rows, int64_t open_ns, int64_t n)
{
    if (!rows->calendar)
        return open_ns + n * rows->interval_ns;
    while (n-- > 0)
        open_ns = policy_rows_next(rows, open_ns);
    return open_ns;
}

bool policy_rows_begins(const struct policy_rows *rows, int64_t before_ns, int64_t open_ns)
{
    struct session_span before, now;
    return rows->calendar && trading_span_at(rows->calendar, rows->session, before_ns, &before) &&
           trading_span_at(rows->calendar, rows->session, open_ns, &now) && before.open_ns < now.open_ns;
}

/* The session, counted in days, that the row belongs to: a clock that is set back reopens none. */
static int64_t session_of(const struct policy *policy, int64_t open_ns)
{
    int64_t session = INT64_MIN;
    for (int64_t ns = open_ns - SET_BACK_NS / policy->interval_ns * policy->interval_ns; ns <= open_ns;
         ns += policy->interval_ns) {
        int64_t its = zone_session(policy->zone, policy->session_close_s, ns + policy->interval_ns);
        session = its > session ? its : session;
    }
    return session;
}

bool policy_rows_leaves(const struct policy_rows *rows, const struct policy *policy, int64_t open_ns)
{
    int64_t next_ns = policy_rows_next(rows, open_ns);
    if (rows->calendar)
        return trading_is_last(rows->calendar, rows->session, next_ns, rows->interval_ns);
    return policy->zone && session_of(policy, next_ns) != session_of(policy, next_ns + policy->interval_ns);
}
