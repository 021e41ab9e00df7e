#include "engine/backtest/report.h"
#include "record/print.h"

typedef struct backtest_report ROW;

static const struct record_field fields[] = {
    PRINT_PERCENT(metrics.total_return, "return_pct"),
    PRINT_PERCENT(metrics.cagr, "cagr_pct"),
    PRINT_PERCENT(metrics.volatility, "volatility_pct"),
    PRINT_PERCENT(metrics.downside, "downside_pct"),
    PRINT_AS(REAL, OPTIONAL, metrics.sharpe, "sharpe"),
    PRINT_AS(REAL, OPTIONAL, metrics.sortino, "sortino"),
    PRINT_AS(REAL, OPTIONAL, metrics.calmar, "calmar"),
    PRINT_AS(REAL, OPTIONAL, metrics.omega, "omega"),
    PRINT_PERCENT(metrics.max_drawdown, "max_drawdown_pct"),
    PRINT_AS(REAL, OPTIONAL, metrics.skew, "skew"),
    PRINT_AS(REAL, OPTIONAL, metrics.kurtosis, "kurtosis"),
    PRINT_PERCENT(tails.value_at_risk, "value_at_risk_pct"),
    PRINT_PERCENT(tails.conditional_value_at_risk, "conditional_value_at_risk_pct"),
    PRINT_AS(REAL, OPTIONAL, tails.tail_ratio, "tail_ratio"),
    PRINT_PERCENT(against.alpha, "alpha_pct"),
    PRINT_AS(REAL, OPTIONAL, against.beta, "beta"),
    PRINT_PERCENT(ratios.win_rate, "win_rate_pct"),
    PRINT_AS(REAL, OPTIONAL, ratios.profit_factor, "profit_factor"),
    PRINT_AS(REAL, OPTIONAL, ratios.expectancy, "expectancy"),
    PRINT_AS(REAL, OPTIONAL, ratios.sqn, "sqn"),
    PRINT_AS(REAL, OPTIONAL, ratios.average_win, "average_win"),
    PRINT_AS(REAL, OPTIONAL, ratios.average_loss, "average_loss"),
    PRINT_AS(REAL, OPTIONAL, ratios.payoff, "payoff"),
    PRINT_REAL(average_held_s),
    PRINT_PERCENT(exposure, "exposure_pct"),
    PRINT_REAL(turnover),
    PRINT_REAL(turnover_year),
    PRINT_REAL(fees),
    PRINT_PERCENT(fees_of_gross_profit, "fees_of_gross_profit_pct"),
    PRINT_PERCENT(fees_of_turnover, "fees_of_turnover_pct"),
    PRINT_REAL(open_profit),
    PRINT_REAL(stability),
    PRINT_PERCENT(benchmark.total_return, "benchmark_return_pct"),
    PRINT_AS(REAL, OPTIONAL, benchmark.sharpe, "benchmark_sharpe"),
    PRINT_PERCENT(benchmark.max_drawdown, "benchmark_max_drawdown_pct"),
};

const struct record backtest_figures = RECORD_OF("", fields);
