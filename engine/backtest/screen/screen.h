/* A screen of many parameter sets: each is backtested approximately, sixteen side by side, so that a sweep
 * runs exactly those alone that may be among the best (backtest_sweep_screen()).
 *
 * What is approximate. Indicators are the reference's, in doubles, rounded to floats as distances from the
 * close; averages that are then equal are compared again as doubles. Fills, cash, fees and lots follow the
 * exact rules in doubles, which may differ from integers where a unit of money decides. Equity at each close
 * and its returns are floats, counted from the equity before a stretch of 256 bars, and summed in doubles
 * after it. So a set trades as it does exactly, and its ratios differ by some 1e-6, as long as no bar moves
 * by more than a tenth.
 *
 * What is covered: sma-cross, sma-cross-rsi, sma-cross-rsi-risk and triple-confirmation on one symbol, by an
 * account that the vectorised backtest covers (sim.h), without limits of risk, sessions, or a venue's rules
 * of orders, with a latency below one bar. */
#ifndef ENGINE_BACKTEST_SCREEN_SCREEN_H
#define ENGINE_BACKTEST_SCREEN_SCREEN_H

#include "engine/backtest/screen/row.h"
#include "engine/backtest/sweep.h"
#include "indicators_gpu/indicators.h"

#define SCREEN_CERTAIN 1e4
/* Of skew and kurtosis: so much, and that part of them. */
#define SCREEN_MOMENTS_ERROR 1e-3

struct screen_set;
struct gpu_module;

/* What a device finds the best, by the rows as they are: the first `top` that have enough trades. */
struct screen_best {
    enum sweep_metric metric;
    size_t min_trades, top;
    size_t *sets; /* [top], n of them */
    size_t n;
};

struct screen {
    const struct backtest_config *config;
    const struct account_spec
        *account; /* strategy, cash, fees; its parameters are the fallback of each set */
    size_t n;     /* sets */
    /* Writes the parameters of a set; false: they contradict each other. Called by one thread at a time. */
    bool (*get)(void *ctx, size_t set, double params[static STRATEGY_PARAMS_MAX]);
    void *ctx;
    int threads;                  /* 0: one a core */
    enum indicator_isa isa;       /* INDICATOR_ISA_BEST, except to compare two */
    const struct screen_set *set; /* NULL, except to compare another kernel (bench/sweep_lean.c) */
    bool (*progress)(void *progress_ctx, double share); /* NULL, or called now and then; false: stop */
    void *progress_ctx;
    struct gpu_module *device; /* NULL: the CPU; else the sets are screened there (device.h) */
    struct screen_best *best;  /* NULL, or written by a device */
};

/* NULL, or why sets of this account must be run exactly: a clause. */
const char *backtest_screen_covers(const struct backtest_config *config, const struct account_spec *account);

/* Screens all sets into rows[n]. Memory beside the rows: 400 MiB at most, whatever n is. 0; -ENOTSUP for what
 * is not covered, -ECANCELED, -ENOMEM; with a device also errors of indicators_gpu/module.h; err: one
 * sentence. */
int backtest_screen_run(const struct screen *screen, struct screen_row *rows, char *err, size_t err_size);

/* Is it the ratio of something to next to nothing, which a rounding decides? Such a set must be run exactly.
 */
static inline bool backtest_screen_uncertain(double value)
{
    return !(value < SCREEN_CERTAIN && value > -SCREEN_CERTAIN) && value == value;
}

/* The error of a screened metric of this value that is assumed: see docs/backtest.md. */
double backtest_screen_error(enum sweep_metric metric, double value);

#endif
