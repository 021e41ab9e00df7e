/* Features of one symbol bar by bar, from streams: rows with the bits of feature_matrix() by FEATURE_EXACT on
 * the same bars, at every bar. As there, a missing bar is left out: the next one follows directly.
 *
 * All streams of a set share a plan: each indicator once, however many features it has, and the
 * scalings ready to be applied. It is read only, so that threads share it. A stream belongs to one thread at
 * a time. */
#ifndef INDICATORS_GPU_FEATURES_STREAM_H
#define INDICATORS_GPU_FEATURES_STREAM_H

#include "indicators_gpu/features/features.h"

struct feature_plan;

/* `interval_s` of one bar; 0 where no feature has a timeframe. The set must be fitted and outlive the plan.
 * 0, for feature_plan_destroy(); -EINVAL and a sentence: the set is not fitted, a timeframe is no multiple of
 * the interval above it; -ENOMEM. */
int feature_plan_create(const struct feature_set *set, int64_t interval_s, struct feature_plan **ret,
                        char *err, size_t err_cap);
void feature_plan_destroy(struct feature_plan *plan);       /* NULL is fine */
size_t feature_plan_width(const struct feature_plan *plan); /* features of a row */

struct feature_stream;

/* One that has seen no bar; the plan must outlive it. 0, for feature_stream_close(), or -ENOMEM. */
int feature_stream_open(const struct feature_plan *plan, struct feature_stream **ret);
void feature_stream_close(struct feature_stream *s); /* NULL is fine */

/* Takes a closed bar, all six values, and writes its row [feature_plan_width()], NaN where a feature has no
 * value yet. 1 when all have one, 0 before; -ERANGE where a feature that had values has none that is finite
 * and within float32, which feature_matrix() would refuse: that cell is NaN, and the stream continues;
 * -EINVAL for a bar that is not finite, or, with timeframes, not whole seconds or nearer than an interval to
 * the one before: the stream is unchanged and nothing is written. */
int feature_stream_update(struct feature_stream *s, const struct indicator_bar *bar, float *ret);

/* An independent copy. 0, or -ENOMEM. */
int feature_stream_clone(const struct feature_stream *s, struct feature_stream **ret);

/* Visits every field, as indicator_stream_visit(): reading them of one stream and setting them in another,
 * just opened by a plan of the same set and interval, makes a clone. */
void feature_stream_visit(struct feature_stream *s, const struct indicator_stream_fields *fields);

#endif
