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

#endif
