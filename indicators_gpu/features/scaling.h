/* Scalings: fitted on a column of values, applied to cells. */
#ifndef INDICATORS_GPU_FEATURES_SCALING_H
#define INDICATORS_GPU_FEATURES_SCALING_H

#include "indicators_gpu/features/features.h"

/* Fits on n values; NaN does not count. Sorts `values` where quantiles need it. Returns how many counted; 0
 * leaves the feature unchanged. */
size_t feature_scaling_fit(struct feature *feature, double *values, size_t n);

/* Keeps of n values those that it is fitted on, in place: for quantiles at most 65536, evenly spaced; else
 * all. Returns how many. */
size_t feature_scaling_thin(const struct feature *feature, double *values, size_t n);

/* The values that FEATURE_NORMAL's knots map to. */
void feature_scaling_normal_quantiles(double z[FEATURE_KNOTS]);

/* A feature's scaling, ready to be applied. */
struct feature_scaler {
    enum feature_scaling scaling;
    double offset, scale;
    double knots[FEATURE_KNOTS], z[FEATURE_KNOTS];
    double slope[FEATURE_KNOTS - 1]; /* from a knot to the next */
};

/* `z` is from feature_scaling_normal_quantiles(). */
void feature_scaler_prepare(const struct feature *feature, const double z[FEATURE_KNOTS],
                            struct feature_scaler *ret);

/* Scales n values and rounds them to float32; NaN stays NaN. */
void feature_scaler_apply(const struct feature_scaler *s, const double *values, size_t n, float *out);

#endif
