/* What of a sweep's best is luck: the deflated Sharpe ratio of each run among all, the probability of
 * backtest overfitting, and what the neighbours of a run say. docs/metrics.md, Luck. */
#ifndef ENGINE_BACKTEST_LUCK_H
#define ENGINE_BACKTEST_LUCK_H

#include "engine/backtest/sweep.h"
#include "strategy/metrics/deflate.h"

#define BACKTEST_LUCK_PBO 0.5 /* from which on choosing the best is called overfitting */

struct backtest_luck {
    size_t trials; /* distinct sets that were run, whatever their trades */
    size_t few;    /* of them with fewer trades than the results' min_trades */
    /* Sharpe ratios, a year: the deviation of all trials', what of that is luck's, and the highest that so
     * many without skill would be expected to show. */
    double deviation, deviation_luck, expected;
    /* Probability of backtest overfitting by splits of SWEEP_BLOCKS blocks into halves, and the share of
     * halves in which what was best in the other one lost; NaN below two trials, or rows for blocks. */
    double pbo, loss;
    size_t splits;
};

/* Sets each row's dsr and dsr_errors; rows [to - from] of a year of so many, at least one result. Trials
 * whose equity never moved have a Sharpe ratio of 0. The deviation that counts as luck is at most that of a
 * trial without skill (overfit_luck_variance()). 0 or -ENOMEM. */
int backtest_luck(struct sweep_results *results, size_t rows, double periods_per_year,
                  struct backtest_luck *ret);

enum backtest_verdict {
    BACKTEST_VERDICT_UNKNOWN, /* no run has both enough trades and a deflated Sharpe ratio */
    BACKTEST_VERDICT_LUCK,
    BACKTEST_VERDICT_STOPPED, /* some sets are missing: whatever the others say */
    BACKTEST_VERDICT_MORE,    /* the best one's deflated Sharpe ratio is above DEFLATE_LUCK_LEVEL */
};
/* Of the first row in order. */
enum backtest_verdict backtest_luck_verdict(const struct sweep_results *results);
const char *
backtest_luck_word(enum backtest_verdict verdict); /* "unknown", "luck", "stopped", "more_than_luck" */

/* Of the sets beside a run's that were run: those whose Sharpe ratio is above 0 and at least half of the
 * run's. share: NaN where n is 0. */
struct backtest_beside {
    size_t n, hold;
    double share;
};
/* For each of the first `top` rows in order, into ret [top]. 0 or -ENOMEM. */
int backtest_luck_beside(const struct sweep_results *results, const struct backtest_sets *sets, size_t top,
                         struct backtest_beside *ret);

#endif
