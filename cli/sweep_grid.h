/* The combinations of a sweep: every value of each --grid with every one of the others. */
#ifndef CLI_SWEEP_GRID_H
#define CLI_SWEEP_GRID_H

#include <stddef.h>

#include "cli/strategy_args.h"

struct grid_axis {
    int param; /* index of the strategy's parameters */
    size_t n;
    double *values; /* [n], owned */
};

/* Zeroed at first. The first axis moves slowest. */
struct grid {
    struct grid_axis axes[STRATEGY_PARAMS_MAX];
    int n_axes;
};

enum { GRID_MOST = 1000000 }; /* combinations */

/* Adds an axis: "key=lo:hi:step" or "key=a,b,c". EXIT_OK, or EXIT_USAGE with its line on stderr. */
int cli_sweep_grid_add(const char *verb, const char *text, const struct strategy_choice *choice,
                       struct grid *grid);

/* How many combinations there are; at most GRID_MOST + 1. */
size_t cli_sweep_grid_count(const struct grid *grid);

/* Sets the parameters of combination i; false where they contradict each other. */
bool cli_sweep_grid_set(const struct grid *grid, size_t i, struct strategy_choice *choice);

void cli_sweep_grid_finish(struct grid *grid);

#endif
