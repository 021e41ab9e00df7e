/* Of the module whose device is the CPU (tests/indicators_gpu/cpu_device.h): the screen. Behind each piece of
 * memory lie guard cells, which must keep their value (else it aborts). */
#include "engine/backtest/screen/cuda/blocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/screen/cuda/abi.h"
#include "tests/indicators_gpu/cpu_device.h"

enum { GUARD = 64, GUARD_BYTE = 0x5a };

enum cpu_use {
    CPU_PRICES,
    CPU_ROUNDED,
    CPU_REAL,
    CPU_ROWS,
    CPU_PERIODS,
    CPU_COLUMNS,
    CPU_WIDE,
    CPU_CASES,
    CPU_FIGURES,
    CPU_USES
};

struct cpu_piece {
    unsigned char *at;
    size_t bytes; /* the guard's not counted */
};

struct gpu_screen {
    struct gpu_indicators *g;
    struct cpu_piece memory[CPU_USES];
    size_t n_bars, n_columns, n_wide, n_sets;
    bool has_rows;
};

extern const struct gpu_screen_api papertape_gpu_screen;

static void let_go(struct gpu_screen *s, enum cpu_use use)
{
    struct cpu_piece *piece = &s->memory[use];
    for (size_t k = 0; piece->at && k < GUARD; k++)
        if (piece->at[piece->bytes + k] != GUARD_BYTE)
            abort();
    if (piece->at)
        cpu_release(s->g, piece->at, piece->bytes + GUARD);
    *piece = (struct cpu_piece){NULL, 0};
}

/* Poisoned. */
static int reserve(struct gpu_screen *s, enum cpu_use use, size_t n, size_t each, char *reason, size_t cap)
{
    struct cpu_piece *piece = &s->memory[use];
    let_go(s, use);
    piece->at = cpu_allocate(s->g, n * each + GUARD);
    if (!piece->at)
        return cpu_none_left(reason, cap);
    piece->bytes = n * each;
    memset(piece->at + piece->bytes, GUARD_BYTE, GUARD);
    return 0;
}

static int up(struct gpu_screen *s, enum cpu_use use, const void *from, size_t n, size_t each, char *reason,
              size_t cap)
{
    int r = reserve(s, use, n, each, reason, cap);
    if (r == 0 && n > 0)
        memcpy(s->memory[use].at, from, n * each);
    return r;
}

static void screen_destroy(struct gpu_screen *s)
{
    for (int i = 0; s && i < CPU_USES; i++)
        let_go(s, (enum cpu_use)i);
    free(s);
}

static int screen_create(struct gpu_indicators *g, const struct gpu_screen_bars *bars,
                         struct gpu_screen **ret, char *reason, size_t cap)
{
    int r = cpu_alive(reason, cap);
    struct gpu_screen *s = r == 0 ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return r < 0 ? r : cpu_none_left(reason, cap);
    s->g = g;
    s->n_bars = bars->n;
    s->has_rows = bars->rows != NULL;
    r = up(s, CPU_PRICES, bars->prices, 4 * bars->n, sizeof(double), reason, cap);
    if (r == 0)
        r = up(s, CPU_ROUNDED, bars->rounded, 2 * bars->n, sizeof(float), reason, cap);
    if (r == 0)
        r = up(s, CPU_REAL, bars->real, bars->n, sizeof(double), reason, cap);
    if (r == 0 && bars->rows)
        r = up(s, CPU_ROWS, bars->rows, bars->n, sizeof(uint32_t), reason, cap);
    if (r < 0)
        screen_destroy(s);
    else
        *ret = s;
    return r;
}

/* The block of a launch that is run as the i-th. */
static unsigned turn(unsigned i, unsigned blocks)
{
    return block_reversed ? blocks - 1 - i : i;
}

static int screen_columns(struct gpu_screen *s, size_t n_columns, size_t n_wide, const uint32_t periods[],
                          float *ret_ms, char *reason, size_t cap)
{
    int r = reserve(s, CPU_COLUMNS, n_columns * (s->n_bars + 1), sizeof(float), reason, cap);
    if (r == 0)
        r = reserve(s, CPU_WIDE, n_wide * s->n_bars, sizeof(double), reason, cap);
    if (r == 0)
        r = up(s, CPU_PERIODS, periods, n_columns, sizeof(uint32_t), reason, cap);
    if (r < 0)
        return r;
    s->n_columns = n_columns;
    s->n_wide = n_wide;
    const struct screen_averaging l = {.real = (const double *)s->memory[CPU_REAL].at,
                                       .n_bars = s->n_bars,
                                       .n_columns = n_columns,
                                       .periods = (const uint32_t *)s->memory[CPU_PERIODS].at,
                                       .n = screen_averages_of(periods, n_columns),
                                       .columns = (float *)s->memory[CPU_COLUMNS].at};
    unsigned blocks = l.n > 0 ? screen_blocks_of(s->n_bars, AVERAGE_THREADS) : 0;
    cpu_launch();
    block_reversed = cpu_reversed();
    for (unsigned i = 0; i < blocks; i++)
        block_screen_averages(&l, turn(i, blocks));
    block_reversed = false;
    *ret_ms = 0;
    return cpu_wait(reason, cap);
}

static int screen_take_columns(struct gpu_screen *s, const struct screen_take takes[], size_t n, char *reason,
                               size_t cap)
{
    struct screen_take_shared shared;
    const struct screen_taking l = {.takes = takes,
                                    .n = n,
                                    .n_bars = s->n_bars,
                                    .outputs = s->g->out,
                                    .stride = s->g->stride,
                                    .real = (const double *)s->memory[CPU_REAL].at,
                                    .columns = (float *)s->memory[CPU_COLUMNS].at,
                                    .n_columns = s->n_columns,
                                    .wide = (double *)s->memory[CPU_WIDE].at};
    unsigned blocks = screen_take_blocks(s->n_bars, n);
    for (size_t i = 0; i < n; i++)
        if (takes[i].from >= s->g->n_columns || s->g->n_bars != s->n_bars || s->g->precision != INDICATOR_F64)
            abort();
    cpu_launch();
    block_reversed = cpu_reversed();
    for (unsigned i = 0; i < blocks; i++) {
        memset(&shared, 0xff, sizeof shared);
        block_screen_take(&l, turn(i, blocks), &shared);
    }
    block_reversed = false;
    return cpu_wait(reason, cap);
}

static void walk_block(const struct screen_launch *l, unsigned block)
{
    struct screen_tile tile;
    memset(&tile, 0xff, sizeof tile);
    switch (l->rule) {
    case SCREEN_CROSS:
        block_screen_walk(l, SCREEN_CROSS, block, &tile);
        break;
    case SCREEN_CROSS_RSI:
        block_screen_walk(l, SCREEN_CROSS_RSI, block, &tile);
        break;
    case SCREEN_CROSS_RISK:
        block_screen_walk(l, SCREEN_CROSS_RISK, block, &tile);
        break;
    default:
        block_screen_walk(l, SCREEN_TRIPLE, block, &tile);
        break;
    }
}

static struct screen_bars bars_of(const struct gpu_screen *s)
{
    const double *prices = (const double *)s->memory[CPU_PRICES].at;
    const float *rounded = (const float *)s->memory[CPU_ROUNDED].at;
    const size_t n = s->n_bars;
    return (struct screen_bars){.n = n,
                                .open = prices,
                                .high = prices + n,
                                .low = prices + 2 * n,
                                .close = prices + 3 * n,
                                .highs = rounded,
                                .lows = rounded + n,
                                .real = (const double *)s->memory[CPU_REAL].at,
                                .periods = (const uint32_t *)s->memory[CPU_PERIODS].at,
                                .rows = s->has_rows ? (const uint32_t *)s->memory[CPU_ROWS].at : NULL,
                                .columns = (const float *)s->memory[CPU_COLUMNS].at,
                                .column_step = 1,
                                .bar_step = s->n_columns,
                                .wide = (const double *)s->memory[CPU_WIDE].at,
                                .wide_step = n};
}

static int screen_walk_all(struct gpu_screen *s, const struct screen_launch *launch,
                           const struct screen_case cases[], size_t n, float *ret_ms, char *reason,
                           size_t cap)
{
    struct screen_launch l = *launch;
    int r = up(s, CPU_CASES, cases, n, sizeof *cases, reason, cap);
    if (r == 0)
        r = reserve(s, CPU_FIGURES, n, sizeof(struct screen_row), reason, cap);
    s->n_sets = 0;
    if (r < 0)
        return r;
    l.bars = bars_of(s);
    l.n = n;
    l.cases = (const struct screen_case *)s->memory[CPU_CASES].at;
    l.rows = (struct screen_row *)s->memory[CPU_FIGURES].at;
    unsigned blocks = screen_blocks_of(n, SCREEN_THREADS);
    cpu_launch();
    block_reversed = cpu_reversed();
    for (unsigned i = 0; i < blocks; i++)
        walk_block(&l, turn(i, blocks));
    block_reversed = false;
    s->n_sets = n;
    *ret_ms = 0;
    return cpu_wait(reason, cap);
}

static void order_all(const struct screen_order *l, unsigned blocks, struct screen_luck *ret_luck)
{
    struct screen_order_shared *shared = malloc(sizeof *shared);
    struct screen_luck sum = {0, 0, 0};
    if (!shared)
        abort();
    block_reversed = cpu_reversed();
    for (unsigned i = 0; i < blocks; i++) {
        memset(shared, 0xff, sizeof *shared);
        block_screen_order(l, turn(i, blocks), shared);
    }
    block_reversed = false;
    for (unsigned i = 0; i < blocks; i++) {
        sum.n += l->luck[i].n;
        sum.sum += l->luck[i].sum;
        sum.squares += l->luck[i].squares;
    }
    free(shared);
    *ret_luck = sum;
}

static int screen_rank(struct gpu_screen *s, const struct screen_ranking *by, size_t top,
                       struct screen_ranked *ret, size_t *ret_n, struct screen_luck *ret_luck, float *ret_ms,
                       char *reason, size_t cap)
{
    const unsigned blocks = screen_blocks_of(s->n_sets, RANK_ROWS);
    const size_t keep = top < RANK_ROWS ? top : RANK_ROWS;
    struct screen_luck *luck = malloc((blocks + 1) * sizeof *luck);
    struct screen_ranked *ranked = malloc((blocks * keep + 1) * sizeof *ranked);
    if (!luck || !ranked)
        abort();
    const struct screen_order l = {.by = *by,
                                   .rows = (const struct screen_row *)s->memory[CPU_FIGURES].at,
                                   .n = s->n_sets,
                                   .keep = keep,
                                   .luck = luck,
                                   .ranked = ret ? ranked : NULL};
    cpu_launch();
    order_all(&l, blocks, ret_luck);
    if (ret)
        *ret_n = screen_merge(ranked, blocks * keep, top, ret);
    free(luck);
    free(ranked);
    *ret_ms = 0;
    return cpu_wait(reason, cap);
}

static int screen_rows(struct gpu_screen *s, size_t first, size_t n, struct screen_row *ret, char *reason,
                       size_t cap)
{
    if (first > s->n_sets || n > s->n_sets - first)
        abort();
    memcpy(ret, s->memory[CPU_FIGURES].at + first * sizeof *ret, n * sizeof *ret);
    return cpu_wait(reason, cap);
}

__attribute__((visibility("default"))) const struct gpu_screen_api papertape_gpu_screen = {
    .abi = GPU_SCREEN_ABI,
    .create = screen_create,
    .destroy = screen_destroy,
    .columns = screen_columns,
    .take = screen_take_columns,
    .walk = screen_walk_all,
    .rank = screen_rank,
    .rows = screen_rows,
};
