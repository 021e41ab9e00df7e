/* A matrix of returns: rows time, columns trials; out of a CSV, or of what a study's trials left. */
#ifndef TRAINER_STUDY_RETURNS_H
#define TRAINER_STUDY_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RETURNS_ERROR_MAX = 512 };

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
 * date, time and one without a name are times where all of a column's are, and passed over otherwise, as
 * where it counts rows from 0 or 1; all others are trials. Names may stand in quotes. Where the first line is
 * of numbers, other than 0, 1, 2 … (pandas' names), there is no header: it is a row, and the names are these
 * numbers. Returns are shares: -EINVAL names line and column, also below -1. For returns_finish(). */
int returns_read_csv(const char *path, struct returns_matrix *ret, char err[static RETURNS_ERROR_MAX]);
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
                      int *ret_left_out, char err[static RETURNS_ERROR_MAX]);
/* Reads the same trials a file at a time, each once, for a caller that repeats this as more trials end and
 * has other work meanwhile. */
struct returns_kept;
struct returns_kept *returns_kept_create(void); /* NULL without memory */
void returns_kept_destroy(struct returns_kept *kept);
/* Reads the first of these trials that was not tried yet, readable or not. 1: there may be more; 0: all were
 * tried; -ENOMEM. */
int returns_kept_read(struct returns_kept *kept, const struct returns_trial *trials, int n);
/* How many of these trials were tried. */
int returns_kept_count(const struct returns_kept *kept, const struct returns_trial *trials, int n);
/* returns_of_trials() of the files read so far; other trials are left out. */
int returns_kept_join(const struct returns_kept *kept, const struct returns_trial *trials, int n, int like,
                      struct returns_matrix *ret, int *ret_left_out, char err[static RETURNS_ERROR_MAX]);
void returns_finish(struct returns_matrix *returns); /* fine on a zeroed one */

/* Columns of numbers out of a CSV. Used by returns.c alone. */

struct csv_columns {
    size_t columns, rows;
    char **names;     /* [columns], those of times without */
    double *values;   /* [rows][columns]; NaN where a cell is empty, and may be */
    int64_t *open_ns; /* [rows]; NULL: not known */
};

/* `holes`: a trial's file, whose cells may be empty. Else empty cells are refused, and values below -1: a
 * loss of more than all is a value in per cent, or no return. 0 or -errno with "what: where: what would be
 * right". */
int returns_csv_read(const char *path, bool holes, struct csv_columns *ret,
                     char err[static RETURNS_ERROR_MAX]);
void returns_csv_finish(struct csv_columns *columns); /* fine on a zeroed one */

#endif
