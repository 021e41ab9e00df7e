/* What a sweep ranks by; for host and device alike. */
#ifndef ENGINE_BACKTEST_SWEEP_METRIC_H
#define ENGINE_BACKTEST_SWEEP_METRIC_H

/* Metrics by which a combination is ranked: more is better of each. */
enum sweep_metric {
    SWEEP_SHARPE,
    SWEEP_SORTINO,
    SWEEP_CALMAR,
    SWEEP_CAGR,
    SWEEP_RETURN,
    SWEEP_MAX_DRAWDOWN,
    SWEEP_OMEGA,
    SWEEP_PROFIT_FACTOR,
    SWEEP_EXPECTANCY,
    SWEEP_SQN,
    SWEEP_WIN_RATE,
    SWEEP_METRICS,
    /* The deflated Sharpe ratio, which is not of one run but of one among all: struct sweep_result's `dsr`,
     * once backtest_luck() has looked at them. */
    SWEEP_DSR = SWEEP_METRICS,
};

/* Blocks of rows of which sums are kept, for the probability of backtest overfitting. */
enum { SWEEP_BLOCKS = 16 };

#endif
