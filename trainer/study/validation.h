/* A returns matrix looked at from all sides, and its report: as JSON (papertape.validation/1), and as one
 * HTML file with SVG pictures in it: equity curves, the distribution of lambda, out-of-sample over in-sample
 * Sharpe. Used by `papertape-trainer validate`, proposals, and the dashboard's page. */
#ifndef TRAINER_STUDY_VALIDATION_H
#define TRAINER_STUDY_VALIDATION_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "trainer/study/overfit.h"

enum { VALIDATION_ERROR_MAX = 512, VALIDATION_BLOCKS = 14 /* the paper's */ };

struct returns_matrix {
    size_t rows, columns;
    double *values;                 /* [rows][columns] */
    char **names;                   /* [columns]: "trial 29" */
    int64_t *open_ns;               /* [rows]; NULL: not known */
    double *holding, *equal_weight; /* [rows] benchmarks; NULL: none */
    size_t tried;                   /* trials that there were, pruned ones too; 0: `columns` */
    const char *proposed; /* the name of what is proposed, borrowed; NULL: that with the best Sharpe */
};

/* A CSV: a header of names; columns timestamp_ns, holding and equal_weight are known by name; timestamp,
 * date, time and one without a name are times where all of a column's are, and passed over otherwise; all
 * others are trials. Names may stand in quotes. -EINVAL names line and column. For returns_finish(). */
int returns_read_csv(const char *path, struct returns_matrix *ret, char err[static VALIDATION_ERROR_MAX]);
/* Of trials, which may be of several studies: FOLDER/N/returns.csv of each, the mean of its columns path_1 …
 * a row. An empty cell is a row that the path did not trade in: a row that no path has is 0 of this trial,
 * and left out where no trial has it. Trials whose rows' times differ from those of trial `like` (-1, or
 * where that cannot be read: from those of most), or whose file cannot be read, are left out and counted.
 * -EINVAL where fewer than two are left, with the reason of the last. */
struct returns_trial {
    const char *folder, *name; /* name: of its column */
    int number;
};
int returns_of_trials(const struct returns_trial *trials, int n, int like, struct returns_matrix *ret,
                      int *ret_left_out, char err[static VALIDATION_ERROR_MAX]);
/* The same of one study, by the rows of most; columns are called "trial N". */
int returns_of_study(const char *folder, const int *numbers, int n, struct returns_matrix *ret,
                     int *ret_left_out, char err[static VALIDATION_ERROR_MAX]);
void returns_finish(struct returns_matrix *returns); /* fine on a zeroed one */

/* papertape.validation/1 (docs/studies.md has every key), a new reference. `periods_per_year` 0: by the rows'
 * times, else not annualised. Errors of overfit_compute(). */
int validation_json(const struct returns_matrix *returns, int blocks, double periods_per_year, json_t **ret,
                    char err[static VALIDATION_ERROR_MAX]);
/* From `deflated`, which is of what is proposed: where that is no column its figures are null. Sets a
 * proposal's pbo, probability_of_loss, slope, intercept, deflated_sharpe, expected_sharpe and skill.
 */
void validation_figures(const json_t *validation, json_t *proposal);
/* The HTML file, whole or not at all: its figures are `validation`'s, its curves `returns`'. `title` is
 * escaped. It loads nothing and runs nothing. */
int validation_report(const struct returns_matrix *returns, const json_t *validation, const char *title,
                      const char *path, char err[static VALIDATION_ERROR_MAX]);

#endif
