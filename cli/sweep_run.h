/* A sweep's runs and their results, for its printers. */
#ifndef CLI_SWEEP_RUN_H
#define CLI_SWEEP_RUN_H

#include <stdio.h>

#include "cli/run_args.h"
#include "engine/backtest/sweep.h"

struct sweep {
    struct run_args run;
    struct backtest_grid grid;
    enum sweep_metric metric;
    int64_t top; /* so many are listed */
    const char *csv;

    struct sweep_results runs; /* by combination, then sorted, best first */
    struct market *market;
    struct market_load load;
    size_t from, to;
    double seconds, load_seconds;
};

/* Loads the bars and runs all combinations, on all cores; an estimate of the time goes to stderr. An exit
 * status, with its line on stderr. */
int cli_sweep_run(struct sweep *sweep);

/* sweep_print.c. Exit statuses. */
void cli_sweep_print(const struct sweep *sweep);
int cli_sweep_print_json(const struct sweep *sweep);
void cli_sweep_write_csv(const struct sweep *sweep, FILE *out);

#endif
