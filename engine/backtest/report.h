/* A backtest's result: every metric of one account, against a benchmark, as plain structs for the programs
 * that print them. Pure: nothing here reads a clock or writes.
 *
 * Money is in the account's currency as plain numbers, shares are 0..1, rows count from the backtest's
 * `from`, times are nanoseconds UTC. What is not defined is NaN (strategy/metrics.h). */
#ifndef ENGINE_BACKTEST_REPORT_H
#define ENGINE_BACKTEST_REPORT_H

#include "engine/backtest/backtest.h"
#include "record/field.h"
#include "strategy/metrics.h"

/* Bought for all the cash at the first bar's open, at the account's taker fee, in parts of any size, and
 * held to the end. Symbols that are quoted in another currency, or have no bar, are not held; the others
 * get equal parts, each bought at its first bar, and are not rebalanced. Splits change what is held, and
 * dividends stay cash. */
enum report_benchmark {
    REPORT_BENCHMARK_FIRST, /* the first symbol that can be held */
    REPORT_BENCHMARK_EQUAL, /* all of them */
    REPORT_BENCHMARK_GIVEN, /* `given` */
    REPORT_BENCHMARK_NONE,
    REPORT_BENCHMARK_SYMBOL, /* `symbol` */
};

struct report_config {
    enum report_benchmark benchmark;
    int symbol;          /* of the market */
    const double *given; /* [to - from] an equity, or any price, at each row's close; the caller's */
    double given_start;  /* before the first row */
    size_t drawdowns;    /* the deepest so many, at most */
    bool tails;          /* also quantiles and stability, which take longer than all the rest */
};

struct backtest_report {
    size_t rows;
    int64_t start_ns, end_ns, interval_ns; /* the first row opens, the last one closes */
    double periods_per_year;
    double start_equity, final_equity, final_cash;

    struct metrics metrics;
    struct metrics_tails tails; /* NaN unless asked for */
    double stability;

    /* All NaN without a benchmark. */
    struct metrics benchmark;
    struct metrics_against against;

    struct metrics_month *months, *years; /* oldest first */
    size_t n_months, n_years;
    struct metrics_drawdown *drawdowns; /* deepest first */
    size_t n_drawdowns;

    struct metrics_trades trades; /* closed ones, profits after fees */
    struct metrics_trade_ratios ratios;
    double average_held_s; /* ratios.average_held_ns in seconds */
    size_t open_trades;
    double open_profit; /* of the open ones at the last close, after the fees so far */

    uint64_t refused;      /* orders, for any reason */
    double exposure;       /* rows at whose close something was held / rows */
    double fees, turnover; /* sums over fills: fees, notionals */
    double turnover_year;  /* turnover / mean equity / years: 2 means all of it bought and sold once a year */
    double fees_of_gross_profit; /* fees / (what was gained + fees); NaN where nothing was gained after fees,
                                    whose share they could be */
    double fees_of_turnover;     /* fees / turnover */
};

/* The figures of a struct backtest_report by the names that programs give them, shares in percent; all are
 * REALs, NaN where one is not defined. */
extern const struct record backtest_figures;

/* 0 with *ret, to be finished by the caller; -EINVAL: BENCHMARK_GIVEN without one; -ENOMEM. */
int backtest_report(const struct backtest_config *config, const struct backtest *backtest, int account,
                    const struct report_config *options, struct backtest_report *ret);
void backtest_report_finish(struct backtest_report *report);

/* The benchmark's equity at each row's close, [to - from], which starts with the account's cash: to draw
 * it, or to pass it to several reports. 0 with *ret, to be freed; -ENOENT: no symbol can be held; -EINVAL:
 * GIVEN, NONE, or no such symbol; -ENOMEM. */
int backtest_report_benchmark(const struct backtest_config *config, int account,
                              const struct report_config *options, double **ret);

#endif
