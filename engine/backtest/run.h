/* A backtest's internals, shared by the files of this folder only: what both ways of running fill in. */
#ifndef ENGINE_BACKTEST_RUN_H
#define ENGINE_BACKTEST_RUN_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "engine/backtest/backtest.h"

enum { RUN_ERROR_MAX = 320 };

/* The state that all threads of a run share. */
struct backtest_run {
    const struct backtest_config *config;
    struct backtest *ret;
    size_t work;               /* rows to simulate, over all jobs */
    atomic_size_t done;        /* of them */
    atomic_bool stopped;       /* by the caller */
    atomic_bool failed;        /* some job failed */
    char error[RUN_ERROR_MAX]; /* of the first that failed, */
    int result;                /* and what it returned */
    atomic_flag reported;      /* both are set */
};

struct run_thread {
    struct backtest_run *run;
    bool reports;                 /* it is the caller's thread, which reports progress */
    int helpers;                  /* threads that it may use, itself among them */
    double busy[BACKTEST_STAGES]; /* seconds */
};

/* The calendar whose sessions count: none for bars of a day or more, which have none. */
static inline const struct trading_calendar *backtest_run_calendar(const struct backtest_config *config)
{
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    bool counts = config->calendar && config->calendar->n > 0 && config->market->interval_ns < day_ns;
    return counts ? config->calendar : NULL;
}

/* Does the symbol trade by it? Its first bar has a session, or it names a calendar. */
static inline bool backtest_run_sessions(const struct backtest_config *config, int symbol)
{
    const struct market_series *series = &config->market->series[symbol];
    return backtest_run_calendar(config) &&
           (series->symbol.calendar[0] != '\0' || market_session(series, series->first) != BAR_SESSION_NONE);
}

/* The symbol as both ways have it: with the run's calendar, if its bars have sessions, and its venue, if its
 * class is known. */
static inline struct symbol backtest_run_symbol(const struct backtest_config *config, int symbol)
{
    struct symbol ret = config->market->series[symbol].symbol;
    memset(ret.calendar, 0, sizeof ret.calendar);
    bool sessions = backtest_run_sessions(config, symbol);
    if (sessions)
        snprintf(ret.calendar, sizeof ret.calendar, "%s", config->calendar->name);
    if (config->class_by_calendar && ret.asset == ASSET_UNKNOWN)
        ret.asset = sessions ? ASSET_US_EQUITY : ASSET_CRYPTO;
    if (config->venue && ret.asset != ASSET_UNKNOWN)
        snprintf(ret.venue, sizeof ret.venue, "%s", config->venue);
    return ret;
}

/* Counts rows as done and reports progress to the caller; false: stop now, because the caller said so or
 * another job failed. */
bool backtest_run_progress(struct run_thread *thread, size_t rows);
/* Keeps the sentence of the first failure; returns r. */
int backtest_run_fail(struct run_thread *thread, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Room for one more of n: the array as it is or moved, NULL without memory, which leaves it as it was. */
void *backtest_run_room(void *array, size_t n, size_t *cap, size_t size);

/* ---- curve.c: the equity, by the same arithmetic in both ways of running ---- */

/* An account's holdings as plain numbers, and its equity up to the row where they last changed. */
struct curve {
    const struct market *market;
    double *equity; /* [to - from] */
    size_t from, next, to;
    double cash;
    double *qty; /* [n_symbols]; of symbols in another currency always 0 */
    int held;    /* of them that are not 0 */
    size_t exposed;
};
int backtest_curve_open(struct curve *curve, const struct market *market, size_t from, size_t to);
void backtest_curve_close(struct curve *curve); /* leaves the equity, which then is the caller's */
/* Writes the equity of the rows before `row` that it lacks, all with the present holdings. */
void backtest_curve_to(struct curve *curve, size_t row);
void backtest_curve_hold(struct curve *curve, int symbol, double qty);

/* ---- shortage.c ---- */

struct run_refusal {
    const struct symbol *listed;
    int symbol;
    int64_t last; /* its last price; 0: none yet */
    int64_t free_cash;
    const struct account_spec *spec;
};
/* Counts n refused orders (a group's legs), by reason, and for those of a bad quantity whether cash or lot
 * was the cause. */
void backtest_run_refused(struct backtest_account *account, enum order_reason reason, int n,
                          const struct run_refusal *refusal);

/* ---- check.c ---- */

/* 0, or -EINVAL with one sentence. */
int backtest_check_config(const struct backtest_config *config, char *err, size_t err_size);

/* ---- vectorised.c ---- */

/* Runs one account, vectorised. 0; -ENOTSUP: the account needs more than is covered, and nothing is left
 * behind; -EINVAL, -ECANCELED, -ENOMEM (backtest_run_fail() was called). */
int backtest_vectorised(struct run_thread *thread, int account);

/* ---- by_engine.c ---- */

/* Runs accounts [first, first + n) in one engine. 0; -EINVAL, -ECANCELED, -ENOMEM (backtest_run_fail() was
 * called). */
int backtest_by_engine(struct run_thread *thread, int first, int n);

#endif
