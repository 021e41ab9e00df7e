/* The module's interface for screens of rule strategies: plain C on both sides. The loader is
 * engine/backtest/screen/device.c; the device is indicators_gpu/cuda/abi.h's, and errors are as there. */
#ifndef ENGINE_BACKTEST_SCREEN_CUDA_ABI_H
#define ENGINE_BACKTEST_SCREEN_CUDA_ABI_H

#include "engine/backtest/screen/cuda/launch.h"
#include "indicators_gpu/cuda/abi.h"

/* Raised whenever anything in this folder, or a rule of the screen, changes. */
enum { GPU_SCREEN_ABI = 1 };

/* The module's exported symbol, a struct gpu_screen_api. */
#define GPU_SCREEN_SYMBOL "papertape_gpu_screen"

/* The bars of one symbol, on the host, n of each. */
struct gpu_screen_bars {
    size_t n;
    const double *prices; /* [4][n] units: open, high, low, close */
    const float *rounded; /* [2][n]: high, low */
    const double *real;   /* closes as prices */
    const uint32_t *rows; /* NULL: bar i is row i */
};

struct gpu_screen; /* bars, columns, sets and their rows, on the device */

struct gpu_screen_api {
    uint32_t abi;

    int (*create)(struct gpu_indicators *g, const struct gpu_screen_bars *bars, struct gpu_screen **ret,
                  char *reason, size_t cap);
    void (*destroy)(struct gpu_screen *s); /* NULL is fine; before the device is closed */

    /* Room for columns: `periods` [n_columns] as struct screen_bars has them. Those before the first 0, which
     * ascend, are computed; the rest is take()'s. Waits; *ret_ms is the device's time. */
    int (*columns)(struct gpu_screen *s, size_t n_columns, size_t n_wide, const uint32_t periods[],
                   float *ret_ms, char *reason, size_t cap);

    /* Makes columns of outputs of the last batch (struct gpu_indicators_api), which was float64 and of these
     * bars. */
    int (*take)(struct gpu_screen *s, const struct screen_take takes[], size_t n, char *reason, size_t cap);

    /* Walks all bars with n sets: of the launch terms, span, cuts and rule are the caller's, the rest is set
     * here. Waits; *ret_ms is the device's time. */
    int (*walk)(struct gpu_screen *s, const struct screen_launch *launch, const struct screen_case cases[],
                size_t n, float *ret_ms, char *reason, size_t cap);

    /* The first `top` of the last walk's sets by `by` with their places in it, into ret [top]; how many of
     * them are ranked. *ret_luck: of the Sharpe ratios of all. The expected one of SWEEP_DSR is the caller's:
     * NULL for `ret` asks for the luck alone. */
    int (*rank)(struct gpu_screen *s, const struct screen_ranking *by, size_t top, struct screen_ranked *ret,
                size_t *ret_n, struct screen_luck *ret_luck, float *ret_ms, char *reason, size_t cap);

    /* Copies the rows of the last walk's sets [first, first + n) to the host. */
    int (*rows)(struct gpu_screen *s, size_t first, size_t n, struct screen_row *ret, char *reason,
                size_t cap);
};

#endif
