/* The deflated Sharpe ratio: is the best of many more than luck? Bailey, López de Prado, "The Deflated Sharpe
 * Ratio" (2014). Pure; nothing is annualised.
 *
 * PSR(x) = Phi((sharpe - x) * sqrt(n - 1) / sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe^2)), skew
 * and kurtosis (3 of a normal distribution) by population moments; psr = PSR(0), dsr = PSR(expected), with
 * expected = sqrt(variance) * ((1 - g) * q(1 - 1 / trials) + g * q(1 - 1 / (trials * e))), g Euler's 0.5772…,
 * q the normal quantile. */
#ifndef STRATEGY_METRICS_DEFLATE_H
#define STRATEGY_METRICS_DEFLATE_H

#include <stddef.h>

/* A probability, `dsr` of many or `psr` of one, from which on a result is called more than luck, and the
 * closed trades below which no verdict is given. */
#define DEFLATE_LUCK_LEVEL 0.99
enum { DEFLATE_LUCK_TRADES = 10 };

struct deflated {
    double sharpe;   /* of the best, a row's */
    double expected; /* the highest that luck alone would show among so many trials */
    double psr,
        dsr;      /* probabilities that the true Sharpe is above 0; above `expected`; NaN of equal returns */
    double scale; /* PSR(x) = Phi((sharpe - x) * scale); NaN of equal returns */
};

/* What of the trials' variance of Sharpes (a row's, each of `rows` returns) luck can be: at most 1 / (rows -
 * 1), that of a trial without skill. A variance above it is skill that some have and others lack, or costs,
 * and `expected` of it would be no luck. docs/studies.md, Gates. */
double overfit_luck_variance(double variance, size_t rows);

/* `expected` of so many trials, whose Sharpes (a row's) vary by `variance`; 0 of one. */
double overfit_expected_sharpe(size_t trials, double variance);

/* Of a series of n returns with these moments: Sharpe (ddof 1, a row's), skew and kurtosis (population
 * moments, 3 of a normal distribution). What is not finite gives NaN. */
struct deflated overfit_deflated_moments(double sharpe, double skew, double kurtosis, size_t n,
                                         double expected);

/* Of one series of n returns that was the best of `trials`, whose Sharpes (a row's) vary by `variance`.
 * trials 1: expected 0. -EINVAL: n < 3, no trial, a number that is not finite, variance < 0. */
int overfit_deflated_sharpe(const double *returns, size_t n, size_t trials, double variance,
                            struct deflated *ret);

#endif
