/* The results of a run: float64 numbers over a curve of equity, or over a series of returns.
 *
 * Definitions are those of empyrical-reloaded 0.7.1 with Bottleneck 1.6 and SciPy 1.17, risk-free rate and
 * required return 0, whatever the input (docs/metrics.md lists each with its edge cases); numbers agree with
 * it to 1e-12. Ratios are plain shares (0.05 is 5 %), drawdowns are not more than 0, times are nanoseconds
 * UTC. What is not defined is NaN; n / 0 is an infinity, 0 / 0 is NaN. Nothing here allocates, unless it says
 * so, and nothing fails unless it returns a status. */
#ifndef STRATEGY_METRICS_H
#define STRATEGY_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns, or the equity that they are of: return i is (values[i] - before) / before, where `before` is
 * values[i - 1], and `start` for the first. NaN returns are skipped, where empyrical skips them. */
struct metrics_series {
    const double *values; /* [n], not NULL unless n is 0 */
    size_t n;             /* returns */
    bool equity;          /* values are equity, after each row; else returns */
    double start;         /* equity before the first row; not used of returns */
    /* Of equity, after metrics_look(): */
    bool regular; /* it is positive and finite throughout, its start too; false: unknown */
    double level; /* its mean, summed in lanes */
};

static inline struct metrics_series metrics_returns(const double *returns, size_t n)
{
    return (struct metrics_series){.values = returns, .n = n};
}

static inline struct metrics_series metrics_equity(double start, const double *equity, size_t n)
{
    return (struct metrics_series){.values = equity, .n = n, .equity = true, .start = start};
}

/* The rows of a year of 365 days, for a venue that never closes: 525600 of one minute. */
double metrics_periods_per_year(int64_t interval_ns);

/* One number each; `years` is n / periods_per_year. */
struct metrics {
    size_t n, missing;   /* returns, and of them NaN */
    double total_return; /* product of 1 + r, less 1 */
    double cagr;         /* (1 + total_return)^(1 / years) - 1 */
    double volatility;   /* standard deviation (ddof 1) * sqrt(periods_per_year) */
    double downside;     /* sqrt(mean(min(r, 0)^2)) * sqrt(periods_per_year) */
    double sharpe;       /* mean / deviation * sqrt(periods_per_year); deviation 0 where all are equal */
    double sortino;      /* mean * periods_per_year / downside */
    double max_drawdown; /* the least of value / highest value before - 1, the start among them */
    double calmar;       /* cagr / |max_drawdown|; NaN without a drawdown */
    double omega;        /* sum of gains / sum of losses; NaN without a loss */
    double skew;         /* m3 / m2^1.5; NaN of equal values, and with a NaN among them, as in SciPy */
    double kurtosis;     /* m4 / m2^2 - 3; NaN as skew */
    double mean;         /* of the returns, a row's */
    double best, worst;  /* return; NaN of none */
};

/* Any n. Up to METRICS_ROWS_EXACT rows, for returns, and where the equity is not positive and finite
 * throughout, sums run in empyrical's order and have its bits, except the last ones of skew and kurtosis.
 * Longer curves of equity are summed in lanes, one pass: 35 us for 100,000 rows with AVX-512. */
enum { METRICS_ROWS_EXACT = 8192 };
void metrics_compute(const struct metrics_series *series, double periods_per_year, struct metrics *ret);

/* The same for n > 0 rows of equity; stores in `curve` what speeds up later calls. */
void metrics_look(struct metrics_series *curve, double periods_per_year, struct metrics *ret);

/* The ends of the distribution, by linear interpolation as np.percentile. */
struct metrics_tails {
    double value_at_risk;             /* the 5 % quantile; NaN with a NaN among the returns */
    double conditional_value_at_risk; /* mean of the worst floor((n - 1) * 0.05) + 1 */
    double tail_ratio;                /* |95 % quantile| / |5 % quantile| */
};

/* 0, or -ENOMEM: selecting needs room for the returns. */
int metrics_tails(const struct metrics_series *series, struct metrics_tails *ret);

/* R^2 of a line through the cumulative log returns; 1 grows evenly. A logarithm a row, so apart. */
double metrics_stability(const struct metrics_series *series);

/* Compared with a benchmark: two series of as many rows, of the same times. Rows where either is NaN are left
 * out as empyrical's beta_aligned() and alpha_aligned() do. */
struct metrics_against {
    double beta;  /* cov(r, b) / var(b); NaN where var(b) < 1e-30 */
    double alpha; /* (1 + mean(r - beta * b))^periods_per_year - 1 */
};

/* benchmark->n == series->n. */
void metrics_against(const struct metrics_series *series, const struct metrics_series *benchmark,
                     double periods_per_year, struct metrics_against *ret);

/* A time under water: rows [first, end) lie below the high that was reached at row first - 1 (0: at the
 * start). */
struct metrics_drawdown {
    size_t first, trough, end; /* end: the row that regained it; n where none did */
    double depth;              /* at the trough, less than 0 */
    bool recovered;
};

/* The deepest `cap` of them, deepest first, of equals the earliest; returns how many there are in `ret`. */
size_t metrics_drawdowns(const struct metrics_series *series, struct metrics_drawdown *ret, size_t cap);

/* The return of a calendar month, or year, in UTC. */
struct metrics_month {
    int year, month; /* month 1..12; 0: the whole year */
    size_t first, rows;
    double total_return;
};

/* Row i opens at first_ns + i * interval_ns; a row belongs to the month in which it opens. Returns how many
 * there are, and writes the first `cap` of them, oldest first; months without rows do not occur. */
size_t metrics_months(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                      struct metrics_month *ret, size_t cap);
size_t metrics_years(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                     struct metrics_month *ret, size_t cap);

/* Closed trades: zero it, add each, read it. Money is in the account's currency. */
struct metrics_trades {
    size_t n, wins, losses; /* a loss is what is not more than 0 */
    double won, lost;       /* sums of wins' profits and of losses'; lost <= 0 */
    double largest_win, largest_loss;
    size_t longest_losing_run, losing; /* rows of losses: the longest, and the current one */
    double held_ns;                    /* sum */
    double mean, m2;                   /* of profits, running */
};

struct metrics_trade_ratios {
    double win_rate;      /* wins / n */
    double profit_factor; /* won / |lost| */
    double expectancy;    /* mean profit */
    double sqn;           /* sqrt(n) * mean / deviation (ddof 1) of profits; NaN below 2 trades */
    double average_win, average_loss, payoff; /* payoff: average_win / |average_loss| */
    double average_held_ns;
};

void metrics_trades_add(struct metrics_trades *trades, double profit, int64_t held_ns);
/* Adds what `more` counted to `to`, as if its trades had been added too; the runs of losses stay those of
 * `to`, whose order among the others is not known. */
void metrics_trades_merge(struct metrics_trades *to, const struct metrics_trades *more);
struct metrics_trade_ratios metrics_trade_ratios(const struct metrics_trades *trades);

#endif
