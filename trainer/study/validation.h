/* The validation of a returns matrix, and its report: as JSON (papertape.validation/1), and as one HTML file
 * with SVG pictures in it: equity curves, the distribution of lambda, out-of-sample over in-sample Sharpe.
 * Used by `papertape-trainer validate`, proposals, and the dashboard's page. */
#ifndef TRAINER_STUDY_VALIDATION_H
#define TRAINER_STUDY_VALIDATION_H

#include <jansson.h>
#include <stddef.h>

#include "trainer/study/returns.h"

enum { VALIDATION_ERROR_MAX = RETURNS_ERROR_MAX, VALIDATION_BLOCKS = 14 /* the paper's */ };

/* papertape.validation/1 (docs/studies.md has every key), a new reference. `periods_per_year` 0: by the rows'
 * times, else not annualised. Errors of overfit_compute(). */
int validation_json(const struct returns_matrix *returns, int blocks, double periods_per_year, json_t **ret,
                    char err[static VALIDATION_ERROR_MAX]);
/* From `deflated`, which is of what is proposed: where that is no column its figures are null. Sets a
 * proposal's pbo, probability_of_loss, slope, intercept, deflated_sharpe, expected_sharpe and skill.
 */
void validation_figures(const json_t *validation, json_t *proposal);
/* The HTML file, whole or not at all: its figures are `validation`'s, its curves `returns`'. `title` is
 * escaped (report/page.h). */
int validation_report(const struct returns_matrix *returns, const json_t *validation, const char *title,
                      const char *path, char err[static VALIDATION_ERROR_MAX]);

/* The deflated Sharpe ratio: is the best of many more than luck? Bailey, López de Prado, "The Deflated Sharpe
 * Ratio" (2014). Pure; nothing is annualised. */

/* PSR(x) = Phi((sharpe - x) * sqrt(n - 1) / sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe^2)), skew
 * and kurtosis (3 of a normal distribution) by population moments; psr = PSR(0), dsr = PSR(expected), with
 * expected = sqrt(variance) * ((1 - g) * q(1 - 1 / trials) + g * q(1 - 1 / (trials * e))), g Euler's 0.5772…,
 * q the normal quantile. */
struct deflated {
    double sharpe;   /* of the best, a row's */
    double expected; /* the highest that luck alone would show among so many trials */
    double psr,
        dsr;      /* probabilities that the true Sharpe is above 0; above `expected`; NaN of equal returns */
    double scale; /* PSR(x) = Phi((sharpe - x) * scale); NaN of equal returns */
};
/* What of the trials' variance of Sharpes (a row's, each of `rows` returns) luck can be: at most 1 / (rows -
 * 1), that of a trial without skill. A variance above it is skill that some have and others lack, and
 * `expected` of it would be no luck. docs/studies.md, Gates. */
double overfit_luck_variance(double variance, size_t rows);

/* Of one series of n returns that was the best of `trials`, whose Sharpes (a row's) vary by `variance`.
 * trials 1: expected 0. -EINVAL: n < 3, no trial, a number that is not finite, variance < 0. */
int overfit_deflated_sharpe(const double *returns, size_t n, size_t trials, double variance,
                            struct deflated *ret);

#endif
