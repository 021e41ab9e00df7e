/* Logarithms of prices' quotients, and their volatilities. */
#include "indicators_gpu/fast/functions.h"
#include "indicators_gpu/fast/moments.h"
#include "indicators_gpu/fast/sums.h"

/* The columns' quotients. */
static inline void log_quotients(const real *to, const real *from, size_t n, double (*odd)(double, double),
                                 double *restrict logs)
{
    double wide_to[WINDOW_BARS], wide_from[WINDOW_BARS];
    part_widen(to, n, wide_to);
    part_widen(from, n, wide_from);
    for (size_t i = n; i % WIDE != 0; i++)
        wide_to[i] = wide_from[i] = 1.0; /* else what the stack had decides how all are computed */
    function_log_quotients(wide_to, wide_from, n, odd, logs);
}

struct log_return {
    size_t bars;
};

static size_t log_return_layout(struct log_return *k, const double options[])
{
    k->bars = (size_t)options[0];
    return window_begin(sizeof(*k));
}

static size_t log_return_history(const double options[])
{
    return (size_t)options[0];
}

static void log_return_run(void *state, const struct fast_block *block)
{
    const struct log_return *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double logs[WINDOW_BARS];
        const real *close = part_in(block, &part, FAST_CLOSE);
        log_quotients(close, close - k->bars, part.n, exact_log_quotient, logs);
        part_narrow(logs, part.n, part_out(block, &part, 0));
    }
}

WINDOW_KERNEL_BACK(log_return, log_return, log_return_history);

struct realvol {
    double share; /* of one square in the variance */
    struct past changes;
    struct moments moments;
};

static size_t realvol_layout(struct realvol *k, const double options[])
{
    k->share = 1.0 / (options[0] - 1.0);
    size_t used = past_layout(&k->changes, window_begin(sizeof(*k)), (size_t)options[0], sizeof(double));
    return moments_layout(&k->moments, used, (size_t)options[0]);
}

static void realvol_run(void *state, const struct fast_block *block)
{
    struct realvol *k = state;
    const double share = k->share;
    for (struct part part = {0}; part_next(block, &part);) {
        struct moments_scratch of;
        const real *close = part_in(block, &part, FAST_CLOSE);
        real *restrict out = part_out(block, &part, 0);
        double *change = past_next(state, &k->changes, part.n * sizeof(double));
        log_quotients(close, close - 1, part.n, exact_log_quotient, change);
        moments_of(state, &k->moments, change, part.n, &of);
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)sqrt(share * of.squares[i]);
    }
}

WINDOW_KERNEL(realvol, realvol);

/* A mean of each bar's term, and its root. */
struct ranged {
    size_t period;
    struct summed terms;
};

static size_t ranged_layout(struct ranged *k, const double options[])
{
    k->period = (size_t)options[0];
    return summed_layout(&k->terms, window_begin(sizeof(*k)), k->period);
}

static void parkinson_run(void *state, const struct fast_block *block)
{
    struct ranged *k = state;
    const double share = 1.0 / (4.0 * M_LN2);
    for (struct part part = {0}; part_next(block, &part);) {
        double range[WINDOW_BARS], mean[WINDOW_BARS];
        double *restrict term = summed_next(state, &k->terms, part.n);
        real *restrict out = part_out(block, &part, 0);
        log_quotients(part_in(block, &part, FAST_HIGH), part_in(block, &part, FAST_LOW), part.n,
                      exact_log_quotient, range);
        for (size_t i = 0; i < part.n; i++)
            term[i] = range[i] * range[i];
        sums_of(state, &k->terms.sums, term, part.n, 1.0 / (double)k->period, mean);
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)sqrt(share * mean[i]);
    }
}

WINDOW_KERNEL(parkinson, ranged);

static void garman_klass_run(void *state, const struct fast_block *block)
{
    struct ranged *k = state;
    const double body_share = 2.0 * M_LN2 - 1.0;
    for (struct part part = {0}; part_next(block, &part);) {
        double range[WINDOW_BARS], body[WINDOW_BARS], mean[WINDOW_BARS];
        double *restrict term = summed_next(state, &k->terms, part.n);
        real *restrict out = part_out(block, &part, 0);
        log_quotients(part_in(block, &part, FAST_HIGH), part_in(block, &part, FAST_LOW), part.n,
                      exact_log_quotient, range);
        log_quotients(part_in(block, &part, FAST_CLOSE), part_in(block, &part, FAST_OPEN), part.n,
                      exact_log_quotient, body);
        for (size_t i = 0; i < part.n; i++)
            term[i] = 0.5 * (range[i] * range[i]) - body_share * (body[i] * body[i]);
        sums_of(state, &k->terms.sums, term, part.n, 1.0 / (double)k->period, mean);
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)sqrt(mean[i] > 0.0 ? mean[i] : 0.0);
    }
}

WINDOW_KERNEL(garman_klass, ranged);
