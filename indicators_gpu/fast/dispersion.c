/* Deviations of the close from its mean. */
#include "indicators_gpu/fast/moments.h"

struct deviation {
    double share;  /* of one value in the sum of squares */
    double factor; /* of the deviation, where the row has one */
    struct moments moments;
    struct widened close;
};

static size_t deviation_layout(struct deviation *k, const double options[])
{
    k->share = 1.0 / options[0];
    k->factor = options[1];
    size_t used = moments_layout(&k->moments, window_begin(sizeof(*k)), (size_t)options[0]);
    return widened_layout(&k->close, used, (size_t)options[0]);
}

static size_t deviation_history(const double options[])
{
    return (size_t)options[0];
}

/* Returns the part's closes. */
static inline const double *deviation_part(struct deviation *k, const struct fast_block *block,
                                           const struct part *part, struct moments_scratch *result)
{
    const double *close = widened_part(k, &k->close, block, part, FAST_CLOSE);
    moments_of(k, &k->moments, close, part->n, result);
    return close;
}

static void bbands_run(void *state, const struct fast_block *block)
{
    struct deviation *k = state;
    const double share = k->share, factor = k->factor;
    for (struct part part = {0}; part_next(block, &part);) {
        struct moments_scratch of;
        const double *close = deviation_part(k, block, &part, &of);
        real *restrict upper = part_out(block, &part, 0), *restrict middle = part_out(block, &part, 1),
                       *restrict lower = part_out(block, &part, 2);
        for (size_t i = 0; i < part.n; i++) {
            double mean = close[i] + of.above[i], width = factor * sqrt(share * of.squares[i]);
            upper[i] = (real)(mean + width);
            middle[i] = (real)mean;
            lower[i] = (real)(mean - width);
        }
    }
}

WINDOW_KERNEL_BACK(bbands, deviation, deviation_history);

static void stddev_run(void *state, const struct fast_block *block)
{
    struct deviation *k = state;
    const double share = k->share, factor = k->factor;
    for (struct part part = {0}; part_next(block, &part);) {
        struct moments_scratch of;
        real *restrict out = part_out(block, &part, 0);
        deviation_part(k, block, &part, &of);
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)(factor * sqrt(share * of.squares[i]));
    }
}

WINDOW_KERNEL_BACK(stddev, deviation, deviation_history);

static void var_run(void *state, const struct fast_block *block)
{
    struct deviation *k = state;
    const double share = k->share;
    for (struct part part = {0}; part_next(block, &part);) {
        struct moments_scratch of;
        real *restrict out = part_out(block, &part, 0);
        deviation_part(k, block, &part, &of);
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)(share * of.squares[i]);
    }
}

WINDOW_KERNEL_BACK(var, deviation, deviation_history);

static void zscore_run(void *state, const struct fast_block *block)
{
    struct deviation *k = state;
    const double share = k->share;
    for (struct part part = {0}; part_next(block, &part);) {
        struct moments_scratch of;
        real *restrict out = part_out(block, &part, 0);
        deviation_part(k, block, &part, &of);
        for (size_t i = 0; i < part.n; i++) {
            double deviation = sqrt(share * of.squares[i]), score = -of.above[i] / deviation;
            out[i] = (real)(deviation == 0.0 ? 0.0 : score);
        }
    }
}

WINDOW_KERNEL_BACK(zscore, deviation, deviation_history);
