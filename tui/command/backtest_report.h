/* What one account's backtest came to, in numbers. */
#ifndef TUI_COMMAND_BACKTEST_REPORT_H
#define TUI_COMMAND_BACKTEST_REPORT_H

#include "engine/backtest/backtest.h"
#include "strategy/metrics.h"

enum { REPORT_DRAWDOWNS = 5 };

struct account_report {
    struct metrics metrics;
    struct metrics_tails tails;
    struct metrics_against against; /* the benchmark, held; NaN without enough rows */
    struct metrics_trades trades;
    struct metrics_trade_ratios ratios;
    struct metrics_drawdown drawdowns[REPORT_DRAWDOWNS]; /* deepest first */
    size_t n_drawdowns;
    struct metrics_month *months; /* owned */
    size_t n_months;
    double start, final;   /* equity */
    double exposure;       /* share of rows at whose close something was held */
    double fees, turnover; /* currency; sums over fills */
    double fee_share;      /* fees / profit before fees; NaN where that is not above 0 */
    double turns;          /* turnover / the mean equity */
    size_t open_trades;    /* not over at the end */
    uint64_t refused;
};

/* What holding a symbol over rows [from, to) came to, as closes: what `against` is against. */
struct benchmark {
    const double *closes; /* [to - from] */
    double start;         /* the close before the first of them, or its open */
};
struct benchmark benchmark_of(const struct market *market, int symbol, size_t from, size_t to);

/* 0 with *ret, for account_report_finish(); -ENOMEM. */
int account_report_make(const struct market *market, const struct backtest *backtest, int account,
                        const struct account_spec *spec, const struct benchmark *benchmark,
                        struct account_report *ret);
void account_report_finish(struct account_report *report);

#endif
