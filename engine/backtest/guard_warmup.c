#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/guard_bars.h"
#include "engine/backtest/guard_run.h"
#include "engine/specs.h"
#include "exchange/fail.h"
#include "strategy/intent.h"

enum { WINDOW_LEAST = 64, WINDOW_MOST = 2048, ROWS_LEAST = 16 * WINDOW_LEAST };

/* One place where decisions are compared: `rows` bars from a row on, flat at first. */
struct warmup_window {
    size_t start;
    struct guard_run full; /* with all history before it */
};

struct probe {
    const struct guard_config *config;
    struct warmup_window windows[GUARD_WINDOWS];
    size_t rows, most, runs_expected;
    size_t *there, n_there; /* with a calendar: the rows that have a bar; NULL: all count */
    struct guard_warmup *to;
    char *err;
    size_t err_size;
};

/* In bars of the market: the part of an own bar that history may start in, and the whole ones. */
static size_t in_bars(size_t own, size_t times)
{
    if (own == INDICATOR_FOREVER || times == 1)
        return own;
    return (own + 1) * times;
}

int backtest_guard_history(const struct strategy *strategy, const double *params, int64_t interval_ns,
                           size_t *ret_warmup, size_t *ret_lookback, char *err, size_t err_size)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why_not[SPECS_ERROR_MAX];
    size_t n, warmup = 0, lookback = 0;
    int r = engine_runner_specs(strategy, params, interval_ns, specs, &n, why_not);
    if (r == 0)
        r = engine_runner_specs_of_bars(strategy, specs, n, why_not);
    if (r < 0) {
        snprintf(err, err_size, "%s", why_not);
        return r;
    }
    for (size_t i = 0; i < n; i++) {
        size_t times = specs[i].frame_ns > 0 ? (size_t)(specs[i].frame_ns / interval_ns) : 1;
        size_t warm = in_bars(indicator_warmup(&specs[i].indicator, INDICATOR_F64), times);
        size_t look = in_bars(indicator_lookback(&specs[i].indicator), times);
        warmup = warm > warmup ? warm : warmup;
        lookback = look > lookback ? look : lookback;
    }
    *ret_warmup = warmup;
    *ret_lookback = lookback;
    return 0;
}

/* ---- history in bars: nights are rows, and none of it ---- */

static int find_bars(struct probe *probe)
{
    const struct market *market = probe->config->market;
    if (!probe->config->calendar)
        return 0;
    probe->there = malloc(market->rows * sizeof *probe->there);
    if (!probe->there)
        return fail_with(-ENOMEM, probe->err, probe->err_size, "out of memory");
    for (size_t row = 0; row < market->rows; row++)
        if (market_any_present(market, row))
            probe->there[probe->n_there++] = row;
    return 0;
}

static size_t bars_before(const struct probe *probe, size_t row)
{
    size_t low = 0, high = probe->n_there;
    if (!probe->there)
        return row;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (probe->there[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row that lies so many bars, of those that there are, before another. */
static size_t row_before(const struct probe *probe, size_t row, size_t bars)
{
    if (!probe->there || bars == 0)
        return row - bars;
    return probe->there[bars_before(probe, row) - bars];
}

/* The row after so many bars from another on, which are there. */
static size_t row_after(const struct probe *probe, size_t row, size_t bars)
{
    if (!probe->there)
        return row + bars;
    return probe->there[bars_before(probe, row) + bars - 1] + 1;
}

/* One window with history from row `from` on. */
static int run_window(const struct probe *probe, size_t start, size_t from, struct guard_run *ret)
{
    struct guard_bars bars;
    if (backtest_guard_bars_copy(probe->config->market, from, row_after(probe, start, probe->rows), &bars) <
        0) {
        snprintf(probe->err, probe->err_size, "out of memory");
        return -ENOMEM;
    }
    probe->to->runs++;
    int r = backtest_guard_run_make(probe->config, &bars.market, probe->config->calendar, start - from,
                                    BACKTEST_AUTO, ret, probe->err, probe->err_size);
    backtest_guard_bars_finish(&bars);
    return r;
}

/* 1: with that much history all windows have the decisions of full history; 0: one does not, and its
 * difference is kept; or an error. */
static int suffices(struct probe *probe, size_t history)
{
    const struct market *market = probe->config->market;
    const struct guard_config *config = probe->config;
    for (size_t w = 0; w < GUARD_WINDOWS; w++) {
        struct warmup_window *window = &probe->windows[w];
        struct guard_run run = {0};
        struct guard_difference found = {.change = GUARD_CUT, .way = BACKTEST_AUTO};
        double share = (double)probe->to->runs / (double)probe->runs_expected;
        if (config->progress && !config->progress(config->ctx, share < 1 ? share : 1))
            return -ECANCELED;
        size_t from = row_before(probe, window->start, history);
        int r = run_window(probe, window->start, from, &run);
        if (r < 0)
            return r;
        found.cut = row_after(probe, window->start, probe->rows) - 1;
        found.cut_ns = market_open_ns(market, found.cut + 1);
        struct guard_shift shift = {.rows = -(int64_t)from};
        bool differs = backtest_guard_run_differ(&window->full, market, &run, shift, found.cut, &found);
        backtest_guard_run_finish(&run);
        if (differs && history >= probe->to->last_bars) {
            probe->to->last = found;
            probe->to->last_bars = history;
        }
        if (differs)
            return 0;
    }
    return 1;
}

/* Also tries the longest history with one bar more and with one less: a strategy that counts bars may agree
 * once by chance. */
static int settles(struct probe *probe)
{
    for (size_t less = 0; less < 3; less++) {
        int r = suffices(probe, probe->most - less);
        if (r != 1)
            return r;
    }
    return 1;
}

/* Narrows from the longest history down to one that does not suffice, then bisects between the two. */
static int narrow(struct probe *probe)
{
    size_t enough = probe->most - 2, short_of = enough / 2;
    for (;;) {
        int r = suffices(probe, short_of);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        enough = short_of;
        if (short_of == 0) {
            probe->to->bars = 0;
            return 0;
        }
        short_of /= 2;
    }
    while (enough - short_of > 1) {
        size_t middle = short_of + (enough - short_of) / 2;
        int r = suffices(probe, middle);
        if (r < 0)
            return r;
        if (r == 1)
            enough = middle;
        else
            short_of = middle;
    }
    probe->to->bars = enough;
    return 0;
}

/* Does the decision take a position? */
static bool enters(const struct guard_decision *decision)
{
    for (size_t i = 0; i < decision->n_intents; i++)
        if (intent_enters(decision->intents[i].kind) || decision->intents[i].kind == INTENT_TARGET ||
            (decision->intents[i].kind == INTENT_ORDER && !decision->intents[i].reduce_only))
            return true;
    return false;
}

/* Every other window starts where a run over the second half enters, if it does: there history matters at
 * once. */
static int place_windows(struct probe *probe, size_t half)
{
    const struct market *market = probe->config->market;
    size_t last = row_before(probe, market->rows, probe->rows), n = 0;
    struct guard_run run = {0};
    int r = backtest_guard_run_make(probe->config, market, probe->config->calendar, half, BACKTEST_AUTO, &run,
                                    probe->err, probe->err_size);
    if (r < 0)
        return r;
    probe->to->runs++;
    for (size_t i = 0; i < run.n_decisions; i++)
        if (enters(&run.decisions[i]) && run.decisions[i].row <= last)
            run.decisions[n++] = run.decisions[i];
    for (size_t w = 0; w < GUARD_WINDOWS; w++) {
        probe->windows[w].start = half + (last - half) * w / (GUARD_WINDOWS - 1);
        if (w % 2 == 1 && n > 0)
            probe->windows[w].start = run.decisions[(n - 1) * w / (GUARD_WINDOWS - 1)].row;
    }
    backtest_guard_run_finish(&run);
    return 0;
}

/* Windows lie in the second half; the longest history tried is half of what the first of them has. */
static int lay_out(struct probe *probe, size_t first)
{
    size_t bars = bars_before(probe, probe->config->market->rows) - bars_before(probe, first);
    size_t half = row_after(probe, first, bars / 2);
    probe->rows = bars / 16 > WINDOW_MOST ? WINDOW_MOST : bars / 16;
    probe->most = bars / 2 / 2;
    probe->runs_expected = 4 * GUARD_WINDOWS;
    for (size_t n = probe->most; n > 0; n /= 2)
        probe->runs_expected += GUARD_WINDOWS;
    int r = place_windows(probe, half);
    for (size_t w = 0; w < GUARD_WINDOWS && r == 0; w++) {
        struct warmup_window *window = &probe->windows[w];
        r = run_window(probe, window->start, 0, &window->full);
        if (r == 0)
            probe->to->decisions += window->full.n_decisions;
    }
    return r;
}

static int check_length(const struct probe *probe, size_t first, char *err, size_t err_size)
{
    const struct guard_warmup *to = probe->to;
    size_t rows = bars_before(probe, probe->config->market->rows) - bars_before(probe, first);
    size_t needed = ROWS_LEAST;
    size_t history = to->predicted == INDICATOR_FOREVER ? to->lookback : to->predicted;
    if (8 * history + ROWS_LEAST > needed)
        needed = 8 * history + ROWS_LEAST;
    if (rows >= needed)
        return 0;
    return fail_with(
        -EINVAL, err, err_size,
        "%zu bars that all symbols have are too few: its indicators want %zu bars of history, and %zu "
        "bars are needed to see whether that is enough",
        rows, history, needed);
}

int backtest_guard_warmup(const struct guard_config *config, struct guard_warmup *ret, char *err,
                          size_t err_size)
{
    struct guard_warmup verdict = {.windows = GUARD_WINDOWS};
    struct probe probe = {.config = config, .to = &verdict, .err = err, .err_size = err_size};
    size_t first = 0;
    for (int s = 0; s < config->market->n_symbols; s++)
        if (config->market->series[s].first > first)
            first = config->market->series[s].first;
    int r = backtest_guard_history(config->account->strategy, config->account->params,
                                   config->market->interval_ns, &verdict.predicted, &verdict.lookback, err,
                                   err_size);
    if (r == 0)
        r = find_bars(&probe);
    if (r == 0)
        r = check_length(&probe, first, err, err_size);
    if (r == 0)
        r = lay_out(&probe, first);
    verdict.window_rows = probe.rows;
    verdict.most = probe.most;
    if (r == 0)
        r = settles(&probe);
    verdict.settles = r == 1 && verdict.decisions > 0;
    if (r == 1)
        r = verdict.settles ? narrow(&probe) : 0;
    for (size_t w = 0; w < GUARD_WINDOWS; w++)
        backtest_guard_run_finish(&probe.windows[w].full);
    free(probe.there);
    if (r == 0)
        *ret = verdict;
    return r;
}
