/* Features a group at a time: their indicators as columns, then their values bar by bar. */
#ifndef INDICATORS_GPU_FEATURES_GROUP_H
#define INDICATORS_GPU_FEATURES_GROUP_H

#include "indicators_gpu/features/features.h"

/* Higher bars from lower ones, and which of them is closed at each. */

/* The bars of one timeframe. */
struct feature_timeframe {
    int64_t seconds;
    size_t n;      /* higher bars, closed ones only */
    double *cells; /* the columns' memory */
    struct indicator_columns columns;
    uint32_t *closed; /* [bars->n]: how many of them are closed when bar i is; the newest is closed[i] - 1 */
};

/* Builds one. A higher bar has all bars of its interval: open of the first, close of the last, extremes and
 * sums between. History has gaps, and every row needs its features: without such a bar the one before it
 * would count for a whole interval longer. Bars with a NaN before the first complete one do not count.
 * Returns 0; -EINVAL and a sentence: bars that begin less than an interval after the one before or at no
 * whole second, a later bar that is not finite, a column that is missing, an interval that does not divide
 * the timeframe; -ENOMEM. */
int feature_timeframe_build(int64_t seconds, const struct feature_bars *bars, struct feature_timeframe *ret,
                            char *err, size_t err_cap);

void feature_timeframe_finish(struct feature_timeframe *frame);

enum { GROUP_MAX = 8, FEATURE_ERROR_MAX = 320 };

/* The bars and the timeframes of a set. */
struct feature_market {
    const struct feature_bars *bars;
    bool exact; /* by indicator_reference() */
    struct feature_timeframe *frames;
    size_t n_frames;
};

/* Builds the timeframes that the set has. Returns 0, or as feature_matrix(). */
int feature_market_open(struct feature_market *market, const struct feature_set *set,
                        const struct feature_bars *bars, bool exact, char *err, size_t err_cap);
void feature_market_close(struct feature_market *market);

/* Features [begin, begin + n) of a set. */
struct feature_group {
    size_t begin, n;
    const struct feature *features;
    const double *values[GROUP_MAX]; /* [bars of the feature's timeframe] */
    double *cells;                   /* borrowed: feature_group_cells() */
};

size_t feature_group_count(const struct feature_set *set);
struct feature_group feature_group_at(const struct feature_set *set, size_t index, double *cells);

/* Memory for one group's columns, to be freed; NULL without. */
double *feature_group_cells(const struct feature_market *market);

/* Computes the columns. Returns 0, or as feature_matrix(). */
int feature_group_compute(const struct feature_market *market, struct feature_group *group, char *err,
                          size_t err_cap);

/* Converts n values of bars to a form; reads the bars' closes where it needs them. */
void feature_form_apply(enum feature_form form, const double *close, size_t n, double *x);

/* Values of feature k of the group at bars [begin, begin + n), in its form; NaN where it has none yet. */
void feature_group_values(const struct feature_market *market, const struct feature_group *group, size_t k,
                          size_t begin, size_t n, double x[]);

/* Sets *first, SIZE_MAX before, to the first of bars begin… that has a value. Returns 0, or -EINVAL and a
 * sentence when a later one is not finite. */
int feature_group_check(const struct feature *feature, const double x[], size_t begin, size_t n,
                        size_t *first, char *err, size_t err_cap);

/* The text of a built-in set, or NULL. */
const char *feature_builtin_text(const char *name);

#endif
