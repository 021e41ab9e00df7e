/* A sweep's runs and their results, for its printers. */
#ifndef CLI_SWEEP_RUN_H
#define CLI_SWEEP_RUN_H

#include <stdio.h>

#include "cli/run_args.h"
#include "cli/sweep_grid.h"
#include "engine/backtest/report.h"

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
const char *cli_sweep_metric_name(enum sweep_metric metric); /* "sharpe", "max_drawdown" … */
int cli_sweep_metric_parse(const char *name);                /* or -EINVAL */

struct sweep_result {
    size_t combination;
    double metrics[SWEEP_METRICS]; /* shares, not percent; NaN where undefined */
    double final_equity, fees, exposure;
    size_t trades, fills;
    uint64_t refused;
};

struct sweep {
    struct run_args run;
    struct grid grid;
    enum sweep_metric metric;
    int64_t top; /* so many are listed */
    const char *csv;

    size_t combinations;          /* all that there are; of them: */
    size_t skipped, too_short;    /* that contradict themselves; that need more bars than there are */
    struct sweep_result *results; /* [n_results], owned: by combination, then sorted, best first */
    size_t n_results;
    struct market *market;
    struct market_load load;
    size_t from, to;
    double seconds, load_seconds;
};

/* Loads the bars and runs all combinations, on all cores; an estimate of the time goes to stderr. An exit
 * status, with its line on stderr. */
int cli_sweep_run(struct sweep *sweep);

/* Best first: by the metric, those without it at the end; of equals the earlier combination. */
void cli_sweep_sort(struct sweep *sweep);

/* sweep_print.c. Exit statuses. */
void cli_sweep_print(const struct sweep *sweep);
int cli_sweep_print_json(const struct sweep *sweep);
void cli_sweep_write_csv(const struct sweep *sweep, FILE *out);

#endif
