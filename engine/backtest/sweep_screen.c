/* A sweep whose combinations are screened first: those alone are run exactly that can be among the best. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/sweep_bounds.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/metrics.h"

enum { FIRST = 8 /* runs that show how long the others take */ };

struct screened {
    const struct backtest_sweep *sweep;
    const struct backtest_sets *sets;
    struct sweep_bounds bounds;
    struct screen_row *rows;           /* [n] */
    const struct sweep_result **exact; /* [n]; NULL: it was not run */
    const struct sweep_result **known; /* [n]; NULL: it is not known */
    struct sweep_result *results;      /* [n + 1]: what is known, then the runs in their order */
    double *low;                       /* [n] room */
    size_t *list;                      /* [n] room */
    size_t n, n_results;
    size_t n_exact, n_known; /* of the exact ones, those that were known */
    bool all;                /* nothing less than all of them makes the order certain */
    bool stopped;
    struct screen_best best; /* a device's */
};

static bool get(void *ctx, size_t set, double params[static STRATEGY_PARAMS_MAX])
{
    const struct screened *screened = ctx;
    return backtest_sets_get(screened->sets, screened->sweep->account->strategy, set, params);
}

static bool show(void *ctx, double share)
{
    const struct screened *screened = ctx;
    return screened->sweep->screening(screened->sweep->ctx, share);
}

/* ---- which ones can be among the best ---- */

/* Fewer trades than are ranked. */
static bool is_few(const struct screened *screened, size_t i)
{
    const struct sweep_result *exact = screened->exact[i];
    return (exact ? exact->trades : screened->rows[i].trades) < screened->sweep->min_trades;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* What each of the sets has that a device found the best: the last of the best has at least as much,
 * whichever they are. NAN: there are not so many. */
static double least_found(const struct screened *screened)
{
    double least = INFINITY, low, high;
    if (screened->best.n < screened->sweep->top)
        return NAN;
    for (size_t i = 0; i < screened->best.n; i++) {
        if (is_few(screened, screened->best.sets[i]))
            return NAN;
        backtest_sweep_bounds_of(&screened->bounds, screened->best.sets[i], &low, &high);
        least = fmin(least, low);
    }
    return least;
}

/* What the last of the best has at least; -INFINITY: there are not so many. */
static double threshold(const struct screened *screened)
{
    size_t n = 0, top = screened->sweep->top;
    double high, least = least_found(screened);
    if (!isnan(least))
        return least;
    for (size_t i = 0; i < screened->n; i++)
        if (screened->rows[i].state == SCREEN_RUN && !is_few(screened, i))
            backtest_sweep_bounds_of(&screened->bounds, i, &screened->low[n++], &high);
    if (n <= top)
        return -INFINITY;
    qsort(screened->low, n, sizeof *screened->low, by_size);
    return screened->low[top - 1];
}

static bool is_candidate(const struct screened *screened, size_t i, double least)
{
    double low, high;
    if (screened->all)
        return true;
    /* What luck would show hangs on every Sharpe ratio. */
    if (screened->sweep->metric == SWEEP_DSR && backtest_sweep_bounds_unknown(&screened->rows[i]))
        return true;
    if (is_few(screened, i))
        return false;
    backtest_sweep_bounds_of(&screened->bounds, i, &low, &high);
    return high >= least;
}

static size_t candidates(struct screened *screened)
{
    size_t n = 0;
    backtest_sweep_bounds_luck(&screened->bounds);
    double least = threshold(screened);
    for (size_t i = 0; i < screened->n; i++)
        if (screened->rows[i].state == SCREEN_RUN && !screened->exact[i] && is_candidate(screened, i, least))
            screened->list[n++] = i;
    return n;
}

/* What need not be run again. */
static void take_known(struct screened *screened)
{
    const struct backtest_sweep *sweep = screened->sweep;
    size_t n = sweep->known ? sweep->known(sweep->ctx, screened->results, screened->n) : 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = screened->results[i].combination;
        if (at >= screened->n || screened->known[at])
            continue;
        screened->results[screened->n_results] = screened->results[i];
        screened->known[at] = &screened->results[screened->n_results++];
    }
}

static int run_some(struct screened *screened, const size_t *list, size_t n, char *err, size_t err_size)
{
    struct sweep_result *rows = screened->results + screened->n_results;
    int r = backtest_sweep_some(screened->sweep, list, n, rows, NULL, err, err_size);
    if (r < 0 && r != -ECANCELED)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].exact)
            continue;
        screened->exact[rows[i].combination] = &rows[i];
        screened->n_exact++;
    }
    screened->n_results += n;
    screened->stopped = r == -ECANCELED;
    return 0;
}

/* Those of the list that are not known; how many. */
static size_t take(struct screened *screened, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = screened->list[i];
        if (screened->known[at]) {
            screened->exact[at] = screened->known[at];
            screened->n_exact++;
            screened->n_known++;
        } else {
            screened->list[left++] = at;
        }
    }
    return left;
}

static int run_list(struct screened *screened, size_t n, char *err, size_t err_size)
{
    const struct backtest_sweep *sweep = screened->sweep;
    size_t first = n < FIRST ? n : FIRST;
    const double began_s = clock_now_s();
    int r = n > 0 ? run_some(screened, screened->list, first, err, err_size) : 0;
    if (r < 0 || first == n || screened->stopped)
        return r;
    const double set_s = (clock_now_s() - began_s) / (double)first;
    if (sweep->started &&
        !sweep->started(sweep->ctx, screened->n_exact - screened->n_known, n - first, set_s))
        return fail_with(-ECANCELED, err, err_size, "it was not wanted");
    return run_some(screened, screened->list + first, n - first, err, err_size);
}

/* An error beyond the stated one: half as much again is assumed from now on. */
static void widen(struct screened *screened)
{
    double most = 0;
    for (size_t i = 0; i < screened->n; i++)
        if (screened->exact[i])
            most = fmax(most, backtest_sweep_bounds_measured(&screened->bounds, i));
    if (most > screened->bounds.wide)
        screened->bounds.wide = 1.5 * most;
}

/* ---- the order by what hangs on all of them ---- */

static int by_low(const void *a, const void *b, void *ctx)
{
    const struct screened *screened = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x, y, high;
    backtest_sweep_bounds_of(&screened->bounds, i, &x, &high);
    backtest_sweep_bounds_of(&screened->bounds, k, &y, &high);
    return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* Is the best ones' order the same whatever luck would show? */
static bool order_certain(struct screened *screened)
{
    const struct sweep_bounds *bounds = &screened->bounds;
    size_t n = 0, top = screened->sweep->top;
    if (!(bounds->expected_low < bounds->expected_high))
        return true;
    for (size_t i = 0; i < screened->n; i++)
        if (screened->exact[i] && !is_few(screened, i))
            screened->list[n++] = i;
    qsort_r(screened->list, n, sizeof *screened->list, by_low, screened);
    for (size_t i = 1; i < n; i++)
        if (!backtest_sweep_bounds_before(bounds, screened->list[i < top ? i - 1 : top - 1],
                                          screened->list[i]))
            return false;
    return true;
}

/* Runs candidates exactly until there are no more: an error beyond the stated one makes more of them, and an
 * order that hangs on the screened ones makes all of them. */
static int settle(struct screened *screened, char *err, size_t err_size)
{
    for (;;) {
        size_t n = candidates(screened);
        if (n == 0 && (screened->all || screened->sweep->metric != SWEEP_DSR || order_certain(screened)))
            return 0;
        screened->all |= n == 0;
        int r = run_list(screened, take(screened, n), err, err_size);
        if (r < 0 || screened->stopped)
            return r;
        widen(screened);
    }
}

/* All of them, by combination. */
static int gather(const struct screened *screened, struct sweep_results *ret)
{
    size_t length = screened->bounds.length / SWEEP_BLOCKS;
    struct sweep_results all = {.combinations = screened->n,
                                .exact = screened->n_exact,
                                .known = screened->n_known,
                                .block_rows = length > 1 ? length : 0,
                                .stopped = screened->stopped,
                                .widened = screened->bounds.wide};
    all.results = calloc(screened->n + 1, sizeof *all.results);
    if (!all.results)
        return -ENOMEM;
    for (size_t i = 0; i < screened->n; i++) {
        const struct screen_row *row = &screened->rows[i];
        all.skipped += row->state == SCREEN_CONTRADICTS;
        all.too_short += row->state == SCREEN_TOO_SHORT;
        if (row->state == SCREEN_RUN)
            all.results[all.n++] =
                screened->exact[i] ? *screened->exact[i] : backtest_sweep_bounds_row(i, row, length);
    }
    *ret = all;
    return 0;
}

static int run(struct screened *screened, struct sweep_results *ret, char *err, size_t err_size)
{
    const struct backtest_sweep *sweep = screened->sweep;
    const struct screen screen = {.config = sweep->config,
                                  .account = sweep->account,
                                  .n = screened->n,
                                  .get = get,
                                  .ctx = screened,
                                  .threads = sweep->config->threads,
                                  .progress = sweep->screening ? show : NULL,
                                  .progress_ctx = screened,
                                  .device = sweep->device,
                                  .best = sweep->device ? &screened->best : NULL};
    int r = backtest_screen_run(&screen, screened->rows, err, err_size);
    if (r == -ECANCELED) {
        *ret = (struct sweep_results){.combinations = screened->n, .widened = 1, .stopped = true};
        return 0;
    }
    if (r == 0) {
        take_known(screened);
        r = settle(screened, err, err_size);
    }
    if (r == 0 && (r = gather(screened, ret)) < 0)
        (void)fail_with(r, err, err_size, "out of memory");
    return r;
}

int backtest_sweep_screen(const struct backtest_sweep *sweep, const struct backtest_sets *sets,
                          struct sweep_results *ret, char *err, size_t err_size)
{
    const char *why = backtest_screen_covers(sweep->config, sweep->account);
    if (why)
        return fail_with(-ENOTSUP, err, err_size, "this account must be run exactly: %s", why);
    size_t n = sets->n;
    struct screened screened = {.sweep = sweep, .sets = sets, .n = n};
    screened.rows = malloc((n + 1) * sizeof *screened.rows);
    screened.exact = calloc(n + 1, sizeof *screened.exact);
    screened.known = calloc(n + 1, sizeof *screened.known);
    screened.low = malloc((n + 1) * sizeof *screened.low);
    screened.list = malloc((n + 1) * sizeof *screened.list);
    screened.results = malloc((n + 1) * sizeof *screened.results);
    screened.best = (struct screen_best){.metric = sweep->metric,
                                         .min_trades = sweep->min_trades,
                                         .top = sweep->top < n ? sweep->top : n,
                                         .sets = malloc((n + 1) * sizeof *screened.best.sets)};
    screened.bounds =
        (struct sweep_bounds){.metric = sweep->metric,
                              .n = n,
                              .length = sweep->config->to - sweep->config->from,
                              .periods = metrics_periods_per_year(sweep->config->market->interval_ns),
                              .rows = screened.rows,
                              .exact = screened.exact,
                              .wide = 1};
    int r = -ENOMEM;
    if (screened.rows && screened.exact && screened.known && screened.low && screened.list &&
        screened.results && screened.best.sets)
        r = run(&screened, ret, err, err_size);
    else
        (void)fail_with(r, err, err_size, "out of memory");
    free(screened.rows);
    free(screened.exact);
    free(screened.known);
    free(screened.low);
    free(screened.list);
    free(screened.results);
    free(screened.best.sets);
    return r;
}
