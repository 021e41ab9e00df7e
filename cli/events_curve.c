#include "cli/events_curve.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

enum { ROWS_MOST = 1 << 26 };

void cli_events_curves_bar(struct events_curves *curves, int symbol, const struct bar *bar)
{
    int64_t *last_ns = &curves->last_open_ns[symbol], step_ns = bar->open_ns - *last_ns;
    if (*last_ns > 0 && step_ns > 0 && (curves->interval_ns == 0 || step_ns < curves->interval_ns))
        curves->interval_ns = step_ns;
    *last_ns = bar->open_ns;
}

static struct events_curve *curve_of(struct events_curves *curves, int account)
{
    if (account >= curves->n) {
        struct events_curve *moved = realloc(curves->accounts, (size_t)(account + 1) * sizeof *moved);
        if (!moved)
            return NULL;
        memset(moved + curves->n, 0, (size_t)(account + 1 - curves->n) * sizeof *moved);
        curves->accounts = moved;
        curves->n = account + 1;
    }
    return &curves->accounts[account];
}

void cli_events_curves_point(struct events_curves *curves, const struct account *account,
                             const struct equity_point *point)
{
    struct events_curve *curve = curve_of(curves, point->account);
    if (curve && curve->n == curve->cap) {
        size_t cap = curve->cap ? 2 * curve->cap : 256;
        struct events_point *moved = realloc(curve->points, cap * sizeof *moved);
        if (moved) {
            curve->points = moved;
            curve->cap = cap;
        }
    }
    if (!curve || curve->n == curve->cap) {
        curves->no_memory = true;
        return;
    }
    if (curve->n == 0)
        curve->deposits = account->deposits;
    curve->moved |= account->deposits != curve->deposits;
    curve->points[curve->n++] =
        (struct events_point){point->ts_ns, decimal_to_double(point->equity, account->currency_scale)};
}

bool cli_events_curves_metrics(const struct events_curves *curves, int account, struct metrics *ret)
{
    const struct events_curve *curve = account < curves->n ? &curves->accounts[account] : NULL;
    int64_t step_ns = curves->interval_ns;
    if (!curve || curve->n == 0 || curve->moved || step_ns == 0 || curves->no_memory)
        return false;
    int64_t first = curve->points[0].ts_ns / step_ns,
            rows = curve->points[curve->n - 1].ts_ns / step_ns - first;
    if (rows < 3 || rows > ROWS_MOST)
        return false;
    double *equity = malloc((size_t)rows * sizeof *equity);
    if (!equity)
        return false;
    size_t next = 0;
    double now = curve->points[0].equity;
    for (int64_t row = 0; row < rows; row++) {
        for (; next < curve->n && curve->points[next].ts_ns <= (first + row + 1) * step_ns; next++)
            now = curve->points[next].equity;
        equity[row] = now;
    }
    struct metrics_series series = metrics_equity(curve->points[0].equity, equity, (size_t)rows);
    metrics_compute(&series, metrics_periods_per_year(step_ns), ret);
    free(equity);
    return true;
}

void cli_events_curves_finish(struct events_curves *curves)
{
    for (int a = 0; a < curves->n; a++)
        free(curves->accounts[a].points);
    free(curves->accounts);
    *curves = (struct events_curves){0};
}
