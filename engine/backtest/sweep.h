/* A sweep: one strategy with every combination of a grid on one market, and the figures of each. */
#ifndef ENGINE_BACKTEST_SWEEP_H
#define ENGINE_BACKTEST_SWEEP_H

#include "engine/backtest/backtest.h"
#include "engine/backtest/grid.h"

/* Metrics by which a combination is ranked: more is better of each. */
enum sweep_metric {
    SWEEP_SHARPE,
    SWEEP_SORTINO,
    SWEEP_CALMAR,
    SWEEP_CAGR,
    SWEEP_RETURN,
    SWEEP_MAX_DRAWDOWN,
    SWEEP_OMEGA,
    SWEEP_PROFIT_FACTOR,
    SWEEP_EXPECTANCY,
    SWEEP_SQN,
    SWEEP_WIN_RATE,
    SWEEP_METRICS,
};
const char *backtest_sweep_metric_name(enum sweep_metric metric); /* "sharpe", "max_drawdown" … */
int backtest_sweep_metric_parse(const char *name);                /* or -EINVAL */

struct sweep_result {
    size_t combination;
    double metrics[SWEEP_METRICS]; /* shares, not percent; NaN where undefined */
    double final_equity, fees, exposure;
    size_t trades, fills;
    uint64_t refused;
};

struct backtest_sweep {
    /* What every combination has; its accounts, progress and ctx are the sweep's to set. */
    const struct backtest_config *config;
    const struct account_spec *account; /* the strategy, and the parameters that no axis moves */
    const struct backtest_grid *grid;
    bool (*progress)(void *ctx, double share); /* NULL, or called now and then; false: stop, -ECANCELED */
    void (*started)(void *ctx, size_t tried);  /* NULL, or called once, after the first few of more */
    void *ctx;
};

/* All zero is an empty one. */
struct sweep_results {
    size_t combinations;             /* all that there are; of them: */
    size_t skipped, too_short;       /* that contradict themselves; that need more bars than there are */
    struct sweep_result *results;    /* [n], owned: by combination */
    size_t n;                        /* 0: nothing could be run */
    struct backtest_account refused; /* of all: only what counts refused orders */
};

/* Runs all combinations, many accounts at once. 0 with *ret, to be finished by the caller; -EINVAL for more
 * than BACKTEST_GRID_MOST; errors of backtest_run(); err: one sentence. */
int backtest_sweep_run(const struct backtest_sweep *sweep, struct sweep_results *ret, char *err,
                       size_t err_size);
void backtest_sweep_finish(struct sweep_results *results);

/* Best first: by the metric, those without it at the end; of equals the earlier combination. */
void backtest_sweep_sort(struct sweep_results *results, enum sweep_metric metric);

#endif
