/* Columns of numbers out of a CSV. Used by returns.c alone. */
#ifndef TRAINER_STUDY_RETURNS_CSV_H
#define TRAINER_STUDY_RETURNS_CSV_H

#include <stdbool.h>

#include "trainer/study/returns.h"

struct csv_columns {
    size_t columns, rows;
    char **names;     /* [columns], those of times without */
    double *values;   /* [rows][columns]; NaN where a cell is empty, and may be */
    int64_t *open_ns; /* [rows]; NULL: not known */
};

/* `holes`: of a trial, whose cells may be empty. Else these are refused, and what is below -1: nobody loses
 * more than all, it is in per cent, or no return. 0 or -errno with "what: where: what would be right". */
int returns_csv_read(const char *path, bool holes, struct csv_columns *ret,
                     char err[static RETURNS_ERROR_MAX]);
void returns_csv_finish(struct csv_columns *columns); /* fine on a zeroed one */

#endif
