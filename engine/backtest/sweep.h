/* A sweep: one strategy with every combination of a grid, or a sample of it, on one market, and the figures
 * of each. */
#ifndef ENGINE_BACKTEST_SWEEP_H
#define ENGINE_BACKTEST_SWEEP_H

#include "engine/backtest/backtest.h"
#include "engine/backtest/sets.h"
#include "engine/backtest/sweep_metric.h"

const char *backtest_sweep_metric_name(enum sweep_metric metric); /* "sharpe", "max_drawdown" … "dsr" */
int backtest_sweep_metric_parse(const char *name);                /* or -EINVAL */

struct sweep_result {
    size_t combination;            /* of the sets */
    double metrics[SWEEP_METRICS]; /* shares, not percent; NaN where undefined */
    double final_equity, fees, exposure;
    size_t trades, fills;
    uint64_t refused;
    bool exact; /* of a run; else of a screen, to its error */
    /* Of the rows' returns: population moments, 3 of a normal distribution; NaN as struct metrics'. */
    double skew, kurtosis;
    /* overfit_block() of each block of the returns, without the first rows mod SWEEP_BLOCKS; 0 where the
     * results' block_rows is 0. */
    double block_mean[SWEEP_BLOCKS], block_squares[SWEEP_BLOCKS];
    /* backtest_luck()'s: the probability that the true Sharpe ratio is above what luck alone would show, and
     * the same in standard errors, by which rows are ordered; NaN where equity never moved. */
    double dsr, dsr_errors;
};

/* All zero is an empty one. */
struct sweep_results {
    size_t combinations;          /* distinct sets that there are; of them: */
    size_t skipped, too_short;    /* that contradict themselves; that need more bars than there are */
    struct sweep_result *results; /* [n], owned: by combination */
    size_t n;                     /* 0: nothing could be run */
    size_t known;                 /* of them, that were there already */
    size_t block_rows;            /* rows of a block; 0: too few for blocks */
    size_t exact;                 /* of them, that are of a run: n without a screen */
    double widened; /* by how much the screen's error had to be widened: 1, or more; 0 without a screen */
    bool stopped;   /* progress() ended it: some sets are missing, or are not exact though they should be */
    size_t min_trades;               /* the caller's: runs with fewer are the last ones in order */
    struct backtest_account refused; /* of all but the known: only what counts refused orders */
};

struct gpu_module;

struct backtest_sweep {
    /* What every combination has; its accounts, progress and ctx are the sweep's to set. */
    const struct backtest_config *config;
    const struct account_spec *account; /* the strategy, and the parameters that no axis moves */
    const struct backtest_grid *grid;
    const struct backtest_sets *sets; /* of that grid; NULL: every combination */
    /* NULL, or called now and then with the share of the sets that is done, what is known already and what
     * contradicts itself among them; false: stop. Not while keep() is. */
    bool (*progress)(void *ctx, double share);
    /* NULL, or called after the first `tried` sets, with how many are left to run and how many seconds one
     * takes of those that ran last: the first few wait for threads and memory, too, which
     * behind a screen are those. False: -ECANCELED. Once,
     * but behind a screen again where more must be run than was thought. More sets than BACKTEST_GRID_MOST
     * are refused after it. */
    bool (*started)(void *ctx, size_t tried, size_t left, double set_s);
    /* NULL, or the results that are known already, at most `cap`, in any order; how many: */
    size_t (*known)(void *ctx, struct sweep_result *rows, size_t cap);
    /* NULL, or called with new ones on any thread, one call at a time: what took long at once, the rest
     * several times a second, and all that ended of a sweep that is stopped or fails. */
    void (*keep)(void *ctx, const struct sweep_result *rows, size_t n);
    void *ctx;
    /* Not 0: a screen goes first, where it covers the account, and of all combinations those alone are run
     * exactly that can be among the best `top` by `metric`, in backtest_sweep_sort()'s order with
     * `min_trades`: these are then the same ones, in the same order, as without it. Known results are taken
     * for such runs, but do not decide which these are. */
    size_t top, min_trades;
    enum sweep_metric metric;
    bool (*screening)(void *ctx, double share); /* progress() of the screen; 1: it is done, runs follow */
    /* NULL, or where the screen runs, not the runs. What the screen does not cover is then -ENOTSUP, as is a
     * set that it does not. */
    struct gpu_module *device;
};

/* Runs all combinations, many accounts at once. 0 with *ret, to be finished by the caller, also where
 * progress() stopped it, which has every set that ended; -EINVAL for more than BACKTEST_GRID_MOST; errors of
 * backtest_run(); err: one sentence. */
int backtest_sweep_run(const struct backtest_sweep *sweep, struct sweep_results *ret, char *err,
                       size_t err_size);
void backtest_sweep_finish(struct sweep_results *results);

/* sweep_screen.c: backtest_sweep_run() with a screen. -ENOTSUP, with nothing done: the account, or a set, is
 * not covered. */
int backtest_sweep_screen(const struct backtest_sweep *sweep, const struct backtest_sets *sets,
                          struct sweep_results *ret, char *err, size_t err_size);

/* Runs some combinations, none of which contradicts itself, into rows [n], and keeps them; `returns`: NULL,
 * or [n][to - from] of each the rows' returns. -ECANCELED; errors of backtest_run(): rows that did not end
 * are then zero. */
int backtest_sweep_some(const struct backtest_sweep *sweep, const size_t *combinations, size_t n,
                        struct sweep_result *rows, double *returns, char *err, size_t err_size);

/* Best first: by the metric, those without it at the end, and behind them those with fewer trades than
 * min_trades; of equals the earlier combination. */
void backtest_sweep_sort(struct sweep_results *results, enum sweep_metric metric);

/* Of a run: everything of the row but what luck is. `rows`: to - from. Also its returns, each at least -1, 0
 * once nothing is left; returns: [rows]. 0 or -ENOMEM. */
int backtest_sweep_row(const struct backtest_config *config, const struct backtest *backtest, int account,
                       size_t combination, double *returns, struct sweep_result *ret);
/* The same of a report that there is already; returns NULL: they are not wanted. */
struct backtest_report;
int backtest_sweep_row_of(const struct backtest_report *report, const struct backtest_account *ran,
                          size_t combination, double *returns, struct sweep_result *ret);

/* SHA-256 of what a sweep's results follow from: the market, the terms, the account but the parameters that
 * axes move, the sets, and the program, which the caller identifies by some bytes. 0 or -ENOMEM. */
enum { SWEEP_KEY = 32 };
int backtest_sweep_key(const struct backtest_sweep *sweep, const void *program, size_t program_len,
                       uint8_t ret[static SWEEP_KEY]);

#endif
