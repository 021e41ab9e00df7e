/* A set's values before they are scaled, which all fits of the same bars share. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/group.h"
#include "indicators_gpu/features/scaling.h"

enum { TILE = 256 };

struct feature_columns {
    size_t n, rows;
    double *values; /* [n][rows] */
    size_t *first;  /* [n]: the first row with a value; rows where there is none */
    double *time;   /* [rows], seconds; NULL: the bars had none */
    double interval_s;
};

static int compute(struct feature_columns *columns, const struct feature_set *set,
                   const struct feature_market *market, char *err, size_t err_cap)
{
    double *cells = feature_group_cells(market);
    int r = cells ? 0 : -ENOMEM;
    for (size_t index = 0; index < feature_group_count(set) && r == 0; index++) {
        struct feature_group group = feature_group_at(set, index, cells);
        r = feature_group_compute(market, &group, err, err_cap);
        for (size_t k = 0; k < group.n && r == 0; k++) {
            size_t at = group.begin + k, first = SIZE_MAX;
            double *x = columns->values + at * columns->rows;
            feature_group_values(market, &group, k, 0, columns->rows, x);
            r = feature_group_check(&group.features[k], x, 0, columns->rows, &first, err, err_cap);
            columns->first[at] = first < columns->rows ? first : columns->rows;
        }
    }
    free(cells);
    return r;
}

int feature_columns_create(const struct feature_set *set, const struct feature_bars *bars,
                           enum feature_backend backend, struct feature_columns **ret, char *err,
                           size_t err_cap)
{
    struct feature_columns *columns = calloc(1, sizeof(*columns));
    struct feature_market market;
    if (!columns)
        return -ENOMEM;
    *columns = (struct feature_columns){.n = set->n,
                                        .rows = bars->n,
                                        .values = malloc((set->n * bars->n + 1) * sizeof(double)),
                                        .first = calloc(set->n, sizeof(size_t)),
                                        .interval_s = (double)bars->interval_s};
    if (bars->columns.time)
        columns->time = malloc((bars->n + 1) * sizeof(double));
    int r = columns->values && columns->first && (!bars->columns.time || columns->time) ? 0 : -ENOMEM;
    if (r == 0 && columns->time)
        memcpy(columns->time, bars->columns.time, bars->n * sizeof(double));
    if (r == 0)
        r = feature_market_open(&market, set, bars, backend == FEATURE_EXACT, err, err_cap);
    if (r == 0) {
        r = compute(columns, set, &market, err, err_cap);
        feature_market_close(&market);
    }
    if (r < 0) {
        feature_columns_destroy(columns);
        return r;
    }
    *ret = columns;
    return 0;
}

void feature_columns_destroy(struct feature_columns *columns)
{
    if (!columns)
        return;
    free(columns->values);
    free(columns->first);
    free(columns->time);
    free(columns);
}

size_t feature_columns_first(const struct feature_columns *columns)
{
    size_t first = 0;
    for (size_t f = 0; f < columns->n; f++)
        first = columns->first[f] > first ? columns->first[f] : first;
    return first;
}

/* The blocks' values one after the other. */
static size_t gather(const double *values, const struct feature_rows *blocks, size_t n_blocks, double *x)
{
    size_t n = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        size_t rows = blocks[b].to - blocks[b].from;
        memcpy(x + n, values + blocks[b].from, rows * sizeof(*x));
        n += rows;
    }
    return n;
}

static int check_blocks(const struct feature_columns *columns, const struct feature_set *set,
                        const struct feature_rows *blocks, size_t n_blocks, char *err, size_t err_cap)
{
    size_t end = 0;
    for (size_t b = 0; b < n_blocks; end = blocks[b++].to)
        if (blocks[b].from < end || blocks[b].to <= blocks[b].from || blocks[b].to > columns->rows)
            return fail_with(-EINVAL, err, err_cap,
                             "bars %zu to %zu cannot be fitted on: rising ones are right, of %zu",
                             blocks[b].from, blocks[b].to, columns->rows);
    if (n_blocks > 0 && set->n == columns->n)
        return 0;
    return fail_with(-EINVAL, err, err_cap,
                     "set %s: it has to be fitted on bars, with the features that were computed", set->name);
}

int feature_columns_fit(const struct feature_columns *columns, struct feature_set *set,
                        const struct feature_rows *blocks, size_t n_blocks, char *err, size_t err_cap)
{
    int r = check_blocks(columns, set, blocks, n_blocks, err, err_cap);
    if (r < 0)
        return r;
    struct feature *fitted = malloc(set->n * sizeof(*fitted));
    double *x = malloc((columns->rows + 1) * sizeof(*x));
    r = fitted && x ? 0 : -ENOMEM;
    if (r == 0)
        memcpy(fitted, set->features, set->n * sizeof(*fitted));
    for (size_t f = 0; f < set->n && r == 0; f++) {
        if (fitted[f].scaling == FEATURE_UNSCALED)
            continue;
        size_t n = feature_scaling_thin(&fitted[f], x,
                                        gather(columns->values + f * columns->rows, blocks, n_blocks, x));
        if (feature_scaling_fit(&fitted[f], x, n) > 0)
            continue;
        snprintf(err, err_cap, "%s has no value in the bars to be fitted on: it begins at bar %zu",
                 fitted[f].name, columns->first[f]);
        r = -EINVAL;
    }
    free(x);
    if (r < 0) {
        free(fitted);
        return r;
    }
    free(set->features);
    set->features = fitted;
    set->fitted = true;
    const double *time = columns->time;
    set->fitted_from_s = time ? time[blocks[0].from] : 0;
    set->fitted_to_s = time ? time[blocks[n_blocks - 1].to - 1] + columns->interval_s : 0;
    return 0;
}

/* One feature into its place of every row. */
static int scale_one(const struct feature_columns *columns, const struct feature_set *set, size_t f,
                     const double z[FEATURE_KNOTS], float *out, char *err, size_t err_cap)
{
    const double *x = columns->values + f * columns->rows;
    struct feature_scaler scaler;
    float scaled[TILE];
    feature_scaler_prepare(&set->features[f], z, &scaler);
    for (size_t begin = 0; begin < columns->rows; begin += TILE) {
        size_t n = columns->rows - begin < TILE ? columns->rows - begin : TILE;
        feature_scaler_apply(&scaler, x + begin, n, scaled);
        for (size_t i = 0; i < n; i++) {
            if (fabsf(scaled[i]) > FLT_MAX)
                return fail_with(-EINVAL, err, err_cap, "%s at bar %zu is %g: more than a float32 holds",
                                 set->features[f].name, begin + i, x[begin + i]);
            out[(begin + i) * set->n + f] = scaled[i];
        }
    }
    return 0;
}

int feature_columns_scale(const struct feature_columns *columns, const struct feature_set *set, float *out,
                          size_t *ret_first, char *err, size_t err_cap)
{
    double z[FEATURE_KNOTS];
    if (!set->fitted || set->n != columns->n)
        return fail_with(-EINVAL, err, err_cap, "set %s is not fitted: feature_columns_fit() first",
                         set->name);
    feature_scaling_normal_quantiles(z);
    for (size_t f = 0; f < set->n; f++) {
        int r = scale_one(columns, set, f, z, out, err, err_cap);
        if (r < 0)
            return r;
    }
    if (ret_first)
        *ret_first = feature_columns_first(columns);
    return 0;
}
