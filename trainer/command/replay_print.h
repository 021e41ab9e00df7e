/* What env-replay writes. */
#ifndef TRAINER_COMMAND_REPLAY_PRINT_H
#define TRAINER_COMMAND_REPLAY_PRINT_H

#include <stdio.h>

#include "trainer/env/env.h"

/* The columns of the CSV, and room for a row. */
struct replay_row {
    int n_assets, n_actions;
    const char *const *assets, *const *actions; /* names */
    bool exact;    /* cash, quantities, worths and fees read back to the same doubles; else nine digits */
    int32_t first; /* the market's row that `t` counts from */
    double *qty, *held, *peak; /* [n_assets] each; owned */
};

/* False without memory; finish it in any case. */
bool trainer_replay_row_init(struct replay_row *row, const char *const assets[], int n_assets,
                             const char *const actions[], int n_actions, bool exact);
void trainer_replay_row_finish(struct replay_row *row);

void trainer_replay_print_header(FILE *out, const struct replay_row *row);

/* The account after a step of the environment's only copy. */
void trainer_replay_print_row(FILE *out, struct replay_row *row, const struct env *env, const float *actions,
                              float reward, bool done);

/* --json: the observations before the first step and after the last, and what stepped. 0 or -EIO, -ENOMEM. */
struct replay_summary {
    const char *backend;
    size_t steps;
    bool done;
    int observation_size;
    const float *first, *last;
    double reward; /* the sum */
};
int trainer_replay_print_json(FILE *out, const struct replay_summary *summary);

#endif
