/* The screen in the module: memory, copies to and from the host, and the launches. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/screen/cuda/abi.h"
#include "engine/backtest/screen/cuda/blocks.h"
#include "indicators_gpu/cuda/device.h"

enum screen_use {
    USE_PRICES,
    USE_ROUNDED,
    USE_REAL,
    USE_ROWS,
    USE_PERIODS,
    USE_COLUMNS,
    USE_WIDE,
    USE_TAKES,
    USE_CASES,
    USE_FIGURES,
    USE_LUCK,
    USE_RANKED,
    SCREEN_USES
};

struct gpu_screen {
    struct gpu_indicators *g;
    struct device_memory memory[SCREEN_USES];
    size_t n_bars, n_columns, n_wide, n_sets;
    bool has_rows;
};

/* Registers of a thread: 512 threads a processor where a rule has brackets, whose prices are registers too,
 * else 640. */
template <enum screen_rule RULE> constexpr int blocks_held = RULE == SCREEN_CROSS ? 5 : 4;

template <enum screen_rule RULE>
static __global__ void __launch_bounds__(SCREEN_THREADS, blocks_held<RULE>)
    screen_walk_kernel(const __grid_constant__ struct screen_launch l)
{
    __shared__ struct screen_tile tile;
    block_screen_walk(&l, RULE, blockIdx.x, &tile);
}

static __global__ void __launch_bounds__(AVERAGE_THREADS)
    screen_averages_kernel(const __grid_constant__ struct screen_averaging l)
{
    block_screen_averages(&l, blockIdx.x);
}

static __global__ void __launch_bounds__(TAKE_THREADS)
    screen_take_kernel(const __grid_constant__ struct screen_taking l)
{
    __shared__ struct screen_take_shared sh;
    block_screen_take(&l, blockIdx.x, &sh);
}

static __global__ void __launch_bounds__(RANK_THREADS)
    screen_order_kernel(const __grid_constant__ struct screen_order l)
{
    __shared__ struct screen_order_shared sh;
    block_screen_order(&l, blockIdx.x, &sh);
}

static void launch_walk(const struct screen_launch *l, cudaStream_t stream)
{
    const unsigned blocks = screen_blocks_of(l->n, SCREEN_THREADS);
    switch (l->rule) {
    case SCREEN_CROSS:
        screen_walk_kernel<SCREEN_CROSS><<<blocks, SCREEN_THREADS, 0, stream>>>(*l);
        break;
    case SCREEN_CROSS_RSI:
        screen_walk_kernel<SCREEN_CROSS_RSI><<<blocks, SCREEN_THREADS, 0, stream>>>(*l);
        break;
    case SCREEN_CROSS_RISK:
        screen_walk_kernel<SCREEN_CROSS_RISK><<<blocks, SCREEN_THREADS, 0, stream>>>(*l);
        break;
    default:
        screen_walk_kernel<SCREEN_TRIPLE><<<blocks, SCREEN_THREADS, 0, stream>>>(*l);
        break;
    }
}

/* ---- memory ---- */

static int reserve(struct gpu_screen *s, enum screen_use use, size_t n, size_t each, char *reason, size_t cap)
{
    return gpu_device_reserve(s->g, &s->memory[use], n, each, "device memory for a screen", reason, cap);
}

static int up(struct gpu_screen *s, enum screen_use use, const void *from, size_t n, size_t each,
              char *reason, size_t cap)
{
    int r = reserve(s, use, n, each, reason, cap);
    if (r == 0 && n > 0)
        r = gpu_device_check(
            s->g, cudaMemcpyAsync(s->memory[use].at, from, n * each, cudaMemcpyHostToDevice, s->g->stream),
            "copy to the device", reason, cap);
    return r;
}

static int down(struct gpu_screen *s, void *to, const void *from, size_t bytes, char *reason, size_t cap)
{
    int r = gpu_device_check(s->g, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s->g->stream),
                             "copy from the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaStreamSynchronize(s->g->stream), "copy from the device", reason, cap);
    return r;
}

static int begin(struct gpu_screen *s, char *reason, size_t cap)
{
    return gpu_device_check(s->g, cudaEventRecord(s->g->begin, s->g->stream), "CUDA event", reason, cap);
}

/* Waits for what was launched since begin(). */
static int end(struct gpu_screen *s, float *ret_ms, char *reason, size_t cap)
{
    int r = gpu_device_check(s->g, cudaGetLastError(), "kernel launch", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaEventRecord(s->g->end, s->g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaEventSynchronize(s->g->end), "kernel", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaEventElapsedTime(ret_ms, s->g->begin, s->g->end), "CUDA event", reason,
                             cap);
    return r;
}

static void gpu_screen_destroy(struct gpu_screen *s)
{
    if (!s)
        return;
    for (int i = 0; i < SCREEN_USES; i++)
        gpu_device_release(s->g, &s->memory[i]);
    free(s);
}

static int gpu_screen_create(struct gpu_indicators *g, const struct gpu_screen_bars *bars,
                             struct gpu_screen **ret, char *reason, size_t cap)
{
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    struct gpu_screen *s = (struct gpu_screen *)calloc(1, sizeof(*s));
    if (!s) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    s->g = g;
    s->n_bars = bars->n;
    s->has_rows = bars->rows != NULL;
    r = up(s, USE_PRICES, bars->prices, 4 * bars->n, sizeof(double), reason, cap);
    if (r == 0)
        r = up(s, USE_ROUNDED, bars->rounded, 2 * bars->n, sizeof(float), reason, cap);
    if (r == 0)
        r = up(s, USE_REAL, bars->real, bars->n, sizeof(double), reason, cap);
    if (r == 0 && s->has_rows)
        r = up(s, USE_ROWS, bars->rows, bars->n, sizeof(uint32_t), reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    if (r < 0)
        gpu_screen_destroy(s);
    else
        *ret = s;
    return r;
}

/* ---- the steps ---- */

static int gpu_screen_columns(struct gpu_screen *s, size_t n_columns, size_t n_wide, const uint32_t periods[],
                              float *ret_ms, char *reason, size_t cap)
{
    const size_t n = screen_averages_of(periods, n_columns);
    int r = gpu_device_alive(s->g, reason, cap);
    if (r == 0)
        r = reserve(s, USE_COLUMNS, n_columns * (s->n_bars + 1), sizeof(float), reason, cap);
    if (r == 0)
        r = reserve(s, USE_WIDE, n_wide * s->n_bars, sizeof(double), reason, cap);
    if (r == 0)
        r = up(s, USE_PERIODS, periods, n_columns, sizeof(uint32_t), reason, cap);
    if (r == 0)
        r = begin(s, reason, cap);
    if (r < 0)
        return r;
    s->n_columns = n_columns;
    s->n_wide = n_wide;
    const struct screen_averaging l = {
        (const double *)s->memory[USE_REAL].at,      s->n_bars, n_columns,
        (const uint32_t *)s->memory[USE_PERIODS].at, n,         (float *)s->memory[USE_COLUMNS].at};
    if (n > 0)
        screen_averages_kernel<<<screen_blocks_of(s->n_bars, AVERAGE_THREADS), AVERAGE_THREADS, 0,
                                 s->g->stream>>>(l);
    return end(s, ret_ms, reason, cap);
}

static int gpu_screen_take(struct gpu_screen *s, const struct screen_take takes[], size_t n, char *reason,
                           size_t cap)
{
    float ms;
    int r = gpu_device_alive(s->g, reason, cap);
    for (size_t i = 0; i < n && r == 0; i++)
        if (takes[i].from >= s->g->n_columns || s->g->n_bars != s->n_bars ||
            s->g->precision != INDICATOR_F64 ||
            takes[i].to >= (takes[i].kind == TAKE_WIDE ? s->n_wide : s->n_columns)) {
            snprintf(reason, cap, "column %u of output %u: there is none", takes[i].to, takes[i].from);
            r = -EINVAL;
        }
    if (r == 0)
        r = up(s, USE_TAKES, takes, n, sizeof(*takes), reason, cap);
    if (r == 0)
        r = begin(s, reason, cap);
    if (r < 0 || n == 0)
        return r;
    struct screen_taking l = {(const struct screen_take *)s->memory[USE_TAKES].at,
                              n,
                              s->n_bars,
                              (const double *)s->g->memory[DEVICE_OUT].at,
                              s->g->stride,
                              (const double *)s->memory[USE_REAL].at,
                              (float *)s->memory[USE_COLUMNS].at,
                              s->n_columns,
                              (double *)s->memory[USE_WIDE].at};
    screen_take_kernel<<<screen_take_blocks(l.n_bars, n), TAKE_THREADS, 0, s->g->stream>>>(l);
    return end(s, &ms, reason, cap);
}

static struct screen_bars bars_of(const struct gpu_screen *s)
{
    const size_t n = s->n_bars;
    struct screen_bars bars;
    memset(&bars, 0, sizeof(bars));
    bars.n = n;
    bars.open = (const double *)s->memory[USE_PRICES].at;
    bars.high = bars.open + n;
    bars.low = bars.open + 2 * n;
    bars.close = bars.open + 3 * n;
    bars.highs = (const float *)s->memory[USE_ROUNDED].at;
    bars.lows = bars.highs + n;
    bars.real = (const double *)s->memory[USE_REAL].at;
    bars.periods = (const uint32_t *)s->memory[USE_PERIODS].at;
    bars.rows = s->has_rows ? (const uint32_t *)s->memory[USE_ROWS].at : NULL;
    bars.columns = (const float *)s->memory[USE_COLUMNS].at;
    bars.column_step = 1;
    bars.bar_step = s->n_columns;
    bars.wide = (const double *)s->memory[USE_WIDE].at;
    bars.wide_step = n;
    return bars;
}

static int gpu_screen_walk(struct gpu_screen *s, const struct screen_launch *launch,
                           const struct screen_case cases[], size_t n, float *ret_ms, char *reason,
                           size_t cap)
{
    struct screen_launch l = *launch;
    int r = gpu_device_alive(s->g, reason, cap);
    s->n_sets = 0;
    if (r == 0)
        r = up(s, USE_CASES, cases, n, sizeof(*cases), reason, cap);
    if (r == 0)
        r = reserve(s, USE_FIGURES, n, sizeof(struct screen_row), reason, cap);
    if (r == 0)
        r = begin(s, reason, cap);
    if (r < 0 || n == 0)
        return r;
    l.bars = bars_of(s);
    l.n = n;
    l.cases = (const struct screen_case *)s->memory[USE_CASES].at;
    l.rows = (struct screen_row *)s->memory[USE_FIGURES].at;
    launch_walk(&l, s->g->stream);
    r = end(s, ret_ms, reason, cap);
    s->n_sets = r == 0 ? n : 0;
    return r;
}

/* Adds the blocks' luck, in their order. */
static int take_luck(struct gpu_screen *s, unsigned blocks, struct screen_luck *ret, char *reason, size_t cap)
{
    struct screen_luck *each = (struct screen_luck *)calloc(blocks + 1, sizeof(*each)), sum = {0, 0, 0};
    if (!each) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    int r = down(s, each, s->memory[USE_LUCK].at, blocks * sizeof(*each), reason, cap);
    for (unsigned i = 0; i < blocks && r == 0; i++) {
        sum.n += each[i].n;
        sum.sum += each[i].sum;
        sum.squares += each[i].squares;
    }
    free(each);
    if (r == 0)
        *ret = sum;
    return r;
}

static int take_ranked(struct gpu_screen *s, unsigned blocks, size_t keep, size_t top,
                       struct screen_ranked *ret, size_t *ret_n, char *reason, size_t cap)
{
    struct screen_ranked *all = (struct screen_ranked *)malloc(blocks * keep * sizeof(*all) + 1);
    if (!all) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    int r = down(s, all, s->memory[USE_RANKED].at, blocks * keep * sizeof(*all), reason, cap);
    if (r == 0)
        *ret_n = screen_merge(all, blocks * keep, top, ret);
    free(all);
    return r;
}

static int gpu_screen_rank(struct gpu_screen *s, const struct screen_ranking *by, size_t top,
                           struct screen_ranked *ret, size_t *ret_n, struct screen_luck *ret_luck,
                           float *ret_ms, char *reason, size_t cap)
{
    const unsigned blocks = screen_blocks_of(s->n_sets, RANK_ROWS);
    const size_t keep = top < RANK_ROWS ? top : RANK_ROWS;
    int r = gpu_device_alive(s->g, reason, cap);
    if (r == 0)
        r = reserve(s, USE_LUCK, blocks, sizeof(struct screen_luck), reason, cap);
    if (r == 0 && ret)
        r = reserve(s, USE_RANKED, blocks * keep, sizeof(struct screen_ranked), reason, cap);
    if (r == 0)
        r = begin(s, reason, cap);
    if (r < 0)
        return r;
    struct screen_order l = {*by,
                             (const struct screen_row *)s->memory[USE_FIGURES].at,
                             s->n_sets,
                             keep,
                             (struct screen_luck *)s->memory[USE_LUCK].at,
                             ret ? (struct screen_ranked *)s->memory[USE_RANKED].at : NULL};
    if (blocks > 0)
        screen_order_kernel<<<blocks, RANK_THREADS, 0, s->g->stream>>>(l);
    r = end(s, ret_ms, reason, cap);
    if (r == 0)
        r = take_luck(s, blocks, ret_luck, reason, cap);
    return r == 0 && ret ? take_ranked(s, blocks, keep, top, ret, ret_n, reason, cap) : r;
}

static int gpu_screen_rows(struct gpu_screen *s, size_t first, size_t n, struct screen_row *ret, char *reason,
                           size_t cap)
{
    int r = gpu_device_alive(s->g, reason, cap);
    if (r == 0 && (first > s->n_sets || n > s->n_sets - first)) {
        snprintf(reason, cap, "sets from %zu on, %zu of them: %zu were walked", first, n, s->n_sets);
        r = -EINVAL;
    }
    if (r < 0 || n == 0)
        return r;
    return down(s, ret, (const struct screen_row *)s->memory[USE_FIGURES].at + first, n * sizeof(*ret),
                reason, cap);
}

extern "C" {
extern const struct gpu_screen_api papertape_gpu_screen __attribute__((visibility("default")));
const struct gpu_screen_api papertape_gpu_screen = {
    GPU_SCREEN_ABI,  gpu_screen_create, gpu_screen_destroy, gpu_screen_columns,
    gpu_screen_take, gpu_screen_walk,   gpu_screen_rank,    gpu_screen_rows,
};
}
