#include "daemon/arena/days.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics.h"

static int push(struct arena_days *days, double equity)
{
    if (days->n == days->cap) {
        size_t cap = days->cap ? 2 * days->cap : 16;
        struct arena_day *more = reallocarray(days->day, cap, sizeof *more);
        if (!more)
            return -ENOMEM;
        days->day = more;
        days->cap = cap;
    }
    days->day[days->n++] = (struct arena_day){.equity = equity};
    return 0;
}

/* Adds days up to that one, each with the equity of the one before. */
static int reach(struct arena_days *days, int64_t day)
{
    int r = 0;
    while (r == 0 && days->first + (int64_t)days->n <= day)
        r = push(days, days->n > 0 ? days->day[days->n - 1].equity : days->start);
    return r;
}

int arena_days_add(struct arena_days *days, int64_t ts_ns, double equity)
{
    int64_t day = ts_ns / ARENA_DAY_NS;
    if (days->n == 0) {
        days->first = day;
        days->start = equity;
        days->start_ns = ts_ns;
    }
    int r = reach(days, day);
    if (r == 0 && day == days->first + (int64_t)days->n - 1) {
        days->day[days->n - 1].equity = equity;
        days->day[days->n - 1].seen = true;
    }
    return r;
}

/* NULL: of before the first point, or without memory. */
static struct arena_day *day_at(struct arena_days *days, int64_t ts_ns, int *ret_error)
{
    int64_t day = ts_ns / ARENA_DAY_NS;
    *ret_error = 0;
    if (days->n == 0 || ts_ns <= days->start_ns || (*ret_error = reach(days, day)) < 0)
        return NULL;
    return &days->day[day - days->first];
}

int arena_days_flow(struct arena_days *days, int64_t ts_ns, double amount)
{
    int r;
    struct arena_day *day = day_at(days, ts_ns, &r);
    if (day) {
        day->flow += amount;
        day->moved += fabs(amount);
    }
    return r;
}

int arena_days_reset(struct arena_days *days, int64_t ts_ns)
{
    int r;
    struct arena_day *day = day_at(days, ts_ns, &r);
    if (day)
        day->reset = true;
    return r;
}

static int add_days(struct arena_days *days, const struct arena_days *more)
{
    int r = 0;
    for (size_t i = 0; i < more->n && r == 0; i++)
        if (more->day[i].seen)
            r = arena_days_add(days, (more->first + (int64_t)i) * ARENA_DAY_NS, more->day[i].equity);
    return r;
}

int arena_days_merge(struct arena_days *days, uint64_t *newest, struct arena_days *more,
                     const struct arena_flow *flows, size_t n_flows)
{
    int r = 0;
    if (days->n == 0) {
        arena_days_finish(days);
        *days = *more;
        *more = (struct arena_days){0};
    } else {
        r = add_days(days, more);
    }
    for (size_t i = 0; i < n_flows && r == 0; i++) {
        const struct arena_flow *flow = &flows[i];
        if (flow->id <= *newest)
            continue;
        r = flow->reset ? arena_days_reset(days, flow->ts_ns)
                        : arena_days_flow(days, flow->ts_ns, flow->amount);
        *newest = r == 0 ? flow->id : *newest;
    }
    return r;
}

int64_t arena_days_from(const struct arena_days *days)
{
    return days->n > 0 ? (days->first + (int64_t)days->n - 1) * ARENA_DAY_NS : 0;
}

static double return_of(const struct arena_days *days, size_t i)
{
    const struct arena_day *day = &days->day[i];
    double before = i > 0 ? days->day[i - 1].equity : days->start;
    if (!day->seen || day->reset || !(before > 0))
        return NAN;
    return (day->equity - day->flow) / before - 1;
}

double arena_days_return(const struct arena_days *days, int64_t day)
{
    int64_t i = day - days->first;
    if (i <= 0 || i >= (int64_t)days->n || days->day[i].moved > ARENA_DAYS_MOVED * days->day[i - 1].equity)
        return NAN;
    return return_of(days, (size_t)i);
}

double arena_days_sharpe(const struct arena_days *days)
{
    double *worth = days->n >= 2 ? calloc(days->n, sizeof *worth) : NULL, now = 1;
    struct metrics metrics;
    if (!worth)
        return NAN;
    for (size_t i = 0; i < days->n; i++) {
        double gain = return_of(days, i);
        now *= isfinite(gain) ? 1 + gain : 1;
        worth[i] = now;
    }
    struct metrics_series series = metrics_equity(1, worth, days->n);
    metrics_compute(&series, metrics_periods_per_year(ARENA_DAY_NS), &metrics);
    free(worth);
    return isfinite(metrics.sharpe) ? metrics.sharpe : NAN;
}

void arena_days_finish(struct arena_days *days)
{
    free(days->day);
    *days = (struct arena_days){0};
}
