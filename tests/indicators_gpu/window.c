/* The cpu backend's windows against plain loops, for one instruction set: every period up to 130 and some
 * that are longer than a block, in parts of any length. */
#define FAST_SET test
#ifndef FAST_F32
#define FAST_F32 0
#endif
#include "indicators_gpu/fast/moments.h"
#include "indicators_gpu/fast/range.h"
#include "indicators_gpu/fast/running.h"
#include "indicators_gpu/fast/sums.h"
#include "tests/check.h"
#include "tests/random.h"

/* Parts are whole vectors long, but the last. */
enum { LEAST_RUNNING = 9, PART_OF = 16 };
enum { BARS = 3000, BEFORE = 2560, AFTER = 64 };

struct windows {
    struct extremes_ladder high, low;
    struct sums sum;
    struct moments moments;
    struct running mean, line;
};

struct results {
    double high[BARS], low[BARS], sum[BARS], above[BARS], squares[BARS], mean[BARS + AFTER],
        line[BARS + AFTER];
};

/* The mean with weights 1 to p, and the rise of the least-squares line. */
static size_t windows_layout(struct windows *w, size_t period)
{
    double p = (double)period;
    size_t used = window_begin(sizeof(*w));
    w->mean = (struct running){.period = period, .of_base = 1.0, .of_weighted = 2.0 / (p * (p + 1.0))};
    w->line = (struct running){.period = period, .of_weighted = 12.0 / (p * (p * p - 1.0))};
    w->line.of_sum = -0.5 * (p + 1.0) * w->line.of_weighted;
    used = extremes_layout(&w->high, used, period, period);
    used = extremes_layout(&w->low, used, period, period);
    used = sums_layout(&w->sum, used, period);
    return moments_layout(&w->moments, used, period);
}

static void windows_part(void *state, size_t period, const double *x, size_t at, size_t n, struct results *to)
{
    static double scratch[WINDOW_BARS];
    static struct moments_scratch moments;
    struct windows *w = state;
    struct extremes_rungs extremes;
    size_t bytes = n * sizeof(double);

    extremes_climb(state, &w->high, x + at, n, true, &extremes);
    struct extremes_two two = extremes_of(&extremes, period);
    for (size_t i = 0; i < n; i++)
        to->high[at + i] = extremes_highest(two, i);
    extremes_climb(state, &w->low, x + at, n, false, &extremes);
    two = extremes_of(&extremes, period);
    for (size_t i = 0; i < n; i++)
        to->low[at + i] = extremes_lowest(two, i);

    sums_of(state, &w->sum, x + at, n, 1.0, scratch);
    memcpy(to->sum + at, scratch, bytes);

    moments_of(state, &w->moments, x + at, n, &moments);
    memcpy(to->above + at, moments.above, bytes);
    memcpy(to->squares + at, moments.squares, bytes);

    if (period >= LEAST_RUNNING) {
        running_next(&w->mean, x + at, n, to->mean + at, false);
        running_next(&w->line, x + at, n, to->line + at, false);
    }
}

/* The first bar of which something is off, or SIZE_MAX. */
static size_t first_wrong(const double *x, size_t period, size_t n, const struct results *r)
{
    const double rounding = 0x1p-52 * (double)(window_log2(period) + 2);
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fabs(x[i]) > top ? fabs(x[i]) : top;
    for (size_t i = period - 1; i < n; i++) {
        const double *window = x + i - (period - 1);
        double high = window[0], low = window[0], size = 0;
        long double sum = 0, squares = 0, tilt = 0;
        for (size_t t = 0; t < period; t++) {
            high = window[t] > high ? window[t] : high;
            low = window[t] < low ? window[t] : low;
            sum += (long double)window[t] - window[0];
            size += fabs(window[t]);
            tilt +=
                ((long double)t - 0.5L * (long double)(period - 1)) * ((long double)window[t] - window[0]);
        }
        long double mean = sum / period, above = mean - ((long double)window[period - 1] - window[0]);
        sum += (long double)period * window[0];
        for (size_t t = 0; t < period; t++) {
            long double off = ((long double)window[t] - window[0]) - mean;
            squares += off * off;
        }

        double spread = (double)sqrtl(squares / period), count = (double)period, carried = 1e-13 * top;
        double sum_rounding = fmax(rounding, SUMS_SHORT * 0x1p-53);
        double squares_rounding = period <= MOMENTS_SHORT ? 0x1p-52 * count * count : 16 * rounding;
        long double p = (long double)period, mean_all = sum / p;
        if (r->high[i] != high || r->low[i] != low || !(fabsl(r->sum[i] - sum) <= sum_rounding * size) ||
            !(fabsl(r->above[i] - above) <= 16 * rounding * (high - low)) ||
            !(fabsl(r->squares[i] - squares) <= squares_rounding * count * spread * spread) ||
            (period >= LEAST_RUNNING &&
             (!(fabsl(r->mean[i] - (mean_all + 2.0L * tilt / (p * (p + 1)))) <= carried) ||
              !(fabsl(r->line[i] - 12.0L * tilt / (p * (p * p - 1))) <= carried))))
            return i;
    }
    return SIZE_MAX;
}

enum kind { WALK, FLAT, TINY, CALM, ALTERNATING, HUGE_STEPS, KINDS };

static void fill(double *x, size_t n, enum kind kind, struct random *random)
{
    double price = 50000.1;
    for (size_t i = 0; i < n; i++) {
        double step = (double)random_between(random, -1000, 1000) * 1e-6;
        price *= kind == FLAT ? 1.0 : 1.0 + step;
        if (kind == TINY)
            x[i] = 1e-9 * price;
        else if (kind == CALM)
            x[i] = 50000.1 + 1e-6 * step;
        else if (kind == ALTERNATING)
            x[i] = i & 1 ? -price : price;
        else if (kind == HUGE_STEPS)
            x[i] = i / 300 & 1 ? 1e15 * price : price;
        else
            x[i] = price;
    }
}

static void period_check(size_t period, const double *x, size_t n, enum kind kind, struct random *random)
{
    static struct results results;
    struct windows layout;
    size_t bytes = windows_layout(&layout, period);
    char *state = aligned_alloc(PAST_UNIT, bytes);
    if (!state)
        abort();
    memset(state, 0, bytes);
    windows_layout((struct windows *)state, period);
    for (size_t at = 0, take; at < n; at += take) {
        take = (size_t)random_between(random, 1, WINDOW_BARS / PART_OF) * PART_OF;
        if (random_chance(random, 50))
            take = WINDOW_BARS;
        if (take > n - at)
            take = n - at;
        windows_part(state, period, x, at, take, &results);
    }
    size_t bar = first_wrong(x, period, n, &results);
    if (bar != SIZE_MAX)
        fprintf(stderr, "  period %zu, series %d, bar %zu\n", period, (int)kind, bar);
    CHECK(bar == SIZE_MAX);
    free(state);
}

int main(void)
{
#if defined(__x86_64__)
#if defined(__AVX512F__)
    if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return CHECK_SKIP;
#elif defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return CHECK_SKIP;
#endif
#endif
    static const size_t long_periods[] = {255, 256, 257, 500, 511, 512, 1000, 1023, 1025, 2047, 2500};
    static double cells[BEFORE + BARS + AFTER], *x = cells + BEFORE;
    struct random random = random_seeded("window", 5);

    for (int kind = 0; kind < KINDS; kind++) {
        fill(x, BARS, (enum kind)kind, &random);
        for (size_t period = 1; period <= 130; period++)
            period_check(period, x, 700, (enum kind)kind, &random);
        for (size_t i = 0; i < sizeof(long_periods) / sizeof(long_periods[0]); i++)
            period_check(long_periods[i], x, BARS, (enum kind)kind, &random);
    }
    return check_done("indicators_gpu/window");
}
