/* A recorded policy's insides, shared by its own files only. */
#ifndef STRATEGY_POLICY_RECORDED_INTERNAL_H
#define STRATEGY_POLICY_RECORDED_INTERNAL_H

#include "exchange/fail.h"
#include "strategy/policy/recorded.h"

struct recorded_text {
    char *bytes; /* owned, a '\0' behind */
    size_t len;
};

struct policy_recorded {
    struct policy policy; /* first: the callers' handle */
    struct policy_asset *assets;
    double *first_closes; /* NULL: PARAMS.json has none */
    int64_t bars;         /* rows of the episode */
    float *actions;       /* [n_rows][n_assets]; row 0 is t = lookback */
    size_t n_rows;
    struct recorded_text texts[2]; /* params, actions */
};

/* recorded_params.c: reads PARAMS.json. 0, -EINVAL or -ENOMEM. */
int policy_recorded_read_params(const char *path, struct policy_recorded *recorded,
                                char err[static POLICY_ERROR_MAX]);
/* recorded_actions.c: the rows, once the assets are known. */
int policy_recorded_read_actions(const char *path, struct policy_recorded *recorded,
                                 char err[static POLICY_ERROR_MAX]);

/* Writes "PATH: …"; returns -EINVAL. */
#define policy_recorded_refuse(err, path, ...) fail_line(-EINVAL, err, POLICY_ERROR_MAX, path, __VA_ARGS__)

#endif
