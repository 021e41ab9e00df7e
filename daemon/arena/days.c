#include "daemon/arena/days.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics.h"

static const int64_t DAY_NS = 86400 * INT64_C(1000000000);

static int push(struct arena_days *days, double equity)
{
    if (days->n == days->cap) {
        size_t cap = days->cap ? 2 * days->cap : 16;
        double *more = reallocarray(days->equity, cap, sizeof *more);
        if (!more)
            return -ENOMEM;
        days->equity = more;
        days->cap = cap;
    }
    days->equity[days->n++] = equity;
    return 0;
}

int arena_days_add(struct arena_days *days, int64_t ts_ns, double equity)
{
    int64_t day = ts_ns / DAY_NS;
    int r = 0;
    if (days->n == 0) {
        days->first = day;
        days->start = equity;
    }
    while (r == 0 && days->first + (int64_t)days->n <= day)
        r = push(days, days->n > 0 ? days->equity[days->n - 1] : equity);
    if (r == 0 && day == days->first + (int64_t)days->n - 1)
        days->equity[days->n - 1] = equity;
    return r;
}

int64_t arena_days_from(const struct arena_days *days)
{
    return days->n > 0 ? (days->first + (int64_t)days->n - 1) * DAY_NS : 0;
}

double arena_days_sharpe(const struct arena_days *days)
{
    struct metrics_series series = metrics_equity(days->start, days->equity, days->n);
    struct metrics metrics;
    if (days->n < 2)
        return NAN;
    metrics_compute(&series, metrics_periods_per_year(DAY_NS), &metrics);
    return isfinite(metrics.sharpe) ? metrics.sharpe : NAN;
}

void arena_days_finish(struct arena_days *days)
{
    free(days->equity);
    *days = (struct arena_days){0};
}
