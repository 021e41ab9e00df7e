/* Compiled once for each instruction set: SCREEN_SET names it, indicators_gpu/fast/simd.h has the vectors of
 * the tiles. */
#include "engine/backtest/screen/set.h"
#include "indicators_gpu/fast/simd.h"

#define WALK(name, rule, brackets) \
    static void name(const struct screen_stretch *stretch, struct screen_group *g, bool traded) \
    { \
        screen_group_walk(stretch, g, traded, rule, brackets, true); \
    }

WALK(cross, SCREEN_CROSS, false)
WALK(cross_rsi, SCREEN_CROSS_RSI, true)
WALK(cross_risk, SCREEN_CROSS_RISK, true)
WALK(triple, SCREEN_TRIPLE, true)

/* ---- tiles ---- */

static void tile(const float *const columns[SCREEN_LANES], size_t n, float *to)
{
    size_t i = 0;
    for (; i + W <= n; i += W)
        for (int part = 0; part < SCREEN_LANES; part += W) {
            vec rows[W];
            for (int k = 0; k < W; k++)
                rows[k] = vec_load(columns[part + k] + i);
            vec_transpose(rows);
            for (size_t k = 0; k < W; k++)
                vec_store(to + (i + k) * SCREEN_LANES + part, rows[k]);
        }
    for (; i < n; i++)
        for (size_t k = 0; k < SCREEN_LANES; k++)
            to[i * SCREEN_LANES + k] = columns[k][i];
}

/* ---- simple averages ---- */

enum { STARTS = 64, PARTS = 8, WIDTH = STARTS / PARTS };
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

/* Means of windows that begin at bars start + 0..63 and end `period` bars later: of bar b at out[b - at]. */
static void put_means(const struct screen_averages *averages, const eight sum[PARTS], size_t start,
                      uint32_t period, float *out)
{
    size_t end = averages->at + averages->n, bar = start + period - 1;
    const double *close = averages->close + bar;
    double of = period;
    if (bar >= averages->at && bar + STARTS <= end) {
        for (int k = 0; k < PARTS; k++) {
            eight mean = sum[k] / of - *(const eight *)(close + k * WIDTH);
            *(eight_floats *)(out + (bar - averages->at) + k * WIDTH) =
                __builtin_convertvector(mean, eight_floats);
        }
        return;
    }
    for (size_t k = 0; k < STARTS; k++)
        if (bar + k >= averages->at && bar + k < end)
            out[bar + k - averages->at] = (float)(sum[k / WIDTH][k % WIDTH] / of - close[k]);
}

/* One chain of additions from each bar on has the sums of all periods, each in the reference's order. */
static void averages(const struct screen_averages *averages)
{
    size_t longest = averages->periods[averages->n_columns - 1], end = averages->at + averages->n;
    size_t start = averages->at >= longest ? averages->at - longest + 1 : 0;
    for (; start < end; start += STARTS) {
        eight sum[PARTS] = {{0}};
        size_t j = 0;
        for (size_t column = 0; column < averages->n_columns; column++) {
            uint32_t period = averages->periods[column];
            if (start + period - 1 >= end)
                break;
            for (; j < period; j++)
                for (int k = 0; k < PARTS; k++)
                    sum[k] += *(const eight *)(averages->close + start + j + k * WIDTH);
            put_means(averages, sum, start, period, averages->out + column * averages->stride);
        }
    }
}

extern const struct screen_set SCREEN_SET;
const struct screen_set SCREEN_SET = {
    .walk = {[SCREEN_CROSS] = cross,
             [SCREEN_CROSS_RSI] = cross_rsi,
             [SCREEN_CROSS_RISK] = cross_risk,
             [SCREEN_TRIPLE] = triple},
    .averages = averages,
    .tile = tile,
};
