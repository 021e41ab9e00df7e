/* A returns matrix looked at from all sides, and its report: as JSON (papertape.validation/1), and as one
 * HTML file with SVG pictures in it: equity curves, the distribution of lambda, out-of-sample over in-sample
 * Sharpe. Used by `papertape-trainer validate`, proposals, and the dashboard's page. */
#ifndef TRAINER_STUDY_VALIDATION_H
#define TRAINER_STUDY_VALIDATION_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "trainer/study/overfit.h"

enum { VALIDATION_ERROR_MAX = 512 };

struct returns_matrix {
    size_t rows, columns;
    double *values;                 /* [rows][columns] */
    char **names;                   /* [columns]: "trial 29" */
    int64_t *open_ns;               /* [rows]; NULL: not known */
    double *holding, *equal_weight; /* [rows] benchmarks; NULL: none */
};

/* A CSV: a header of names; columns timestamp_ns (or timestamp, date: passed over otherwise), holding and
 * equal_weight are known by name, all others are trials. -EINVAL names line and column. */
int returns_read_csv(const char *path, struct returns_matrix *ret, char err[static VALIDATION_ERROR_MAX]);
/* Of a study's trials: FOLDER/N/returns.csv of each, the mean of its paths a bar; those whose rows differ
 * from the others' are left out and counted. */
int returns_of_study(const char *folder, const int *numbers, int n, struct returns_matrix *ret,
                     int *ret_left_out, char err[static VALIDATION_ERROR_MAX]);
void returns_finish(struct returns_matrix *returns);

/* `periods_per_year` 0: by the rows' times, else not annualised. A new reference. */
int validation_json(const struct returns_matrix *returns, int blocks, double periods_per_year, json_t **ret,
                    char err[static VALIDATION_ERROR_MAX]);
/* The HTML file, whole or not at all. `title` is escaped. */
int validation_report(const struct returns_matrix *returns, const json_t *validation, const char *title,
                      const char *path, char err[static VALIDATION_ERROR_MAX]);

#endif
