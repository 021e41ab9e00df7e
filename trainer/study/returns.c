#include "trainer/study/returns.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/returns_csv.h"

void returns_finish(struct returns_matrix *returns)
{
    for (size_t i = 0; returns->names && i < returns->columns; i++)
        free(returns->names[i]);
    free(returns->names);
    free(returns->values);
    free(returns->open_ns);
    free(returns->holding);
    free(returns->equal_weight);
    *returns = (struct returns_matrix){0};
}

/* ---- one file ---- */

enum column { COLUMN_TRIAL, COLUMN_HOLDING, COLUMN_EQUAL_WEIGHT };

static enum column column_of(const char *name)
{
    return strcmp(name, "holding") == 0        ? COLUMN_HOLDING
           : strcmp(name, "equal_weight") == 0 ? COLUMN_EQUAL_WEIGHT
                                               : COLUMN_TRIAL;
}

static bool take_column(const struct csv_columns *csv, size_t from, double *to, size_t stride)
{
    for (size_t row = 0; to && row < csv->rows; row++)
        to[row * stride] = csv->values[row * csv->columns + from];
    return to != NULL;
}

static bool sort_columns(struct csv_columns *csv, struct returns_matrix *to)
{
    size_t n = 0, rows = csv->rows;
    bool done = true;
    for (size_t i = 0; i < csv->columns; i++)
        to->columns += column_of(csv->names[i]) == COLUMN_TRIAL;
    to->rows = rows;
    to->values = calloc(rows * to->columns + 1, sizeof *to->values);
    to->names = calloc(to->columns + 1, sizeof *to->names);
    done = to->values && to->names;
    for (size_t i = 0; i < csv->columns && done; i++) {
        enum column column = column_of(csv->names[i]);
        double **benchmark = column == COLUMN_HOLDING ? &to->holding : &to->equal_weight;
        if (column == COLUMN_TRIAL) {
            done = take_column(csv, i, to->values + n, to->columns);
            to->names[n++] = csv->names[i];
            csv->names[i] = NULL;
        } else {
            free(*benchmark); /* the last of two counts */
            *benchmark = calloc(rows + 1, sizeof **benchmark);
            done = take_column(csv, i, *benchmark, 1);
        }
    }
    to->open_ns = csv->open_ns;
    csv->open_ns = NULL;
    return done;
}

int returns_read_csv(const char *path, struct returns_matrix *ret, char err[static RETURNS_ERROR_MAX])
{
    struct csv_columns csv;
    struct returns_matrix returns = {0};
    int r = csv_columns_read(path, false, &csv, err);
    if (r < 0)
        return r;
    if (!sort_columns(&csv, &returns)) {
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %zu rows: fewer rows or trials", path,
                 csv.rows);
        r = -ENOMEM;
    }
    csv_columns_finish(&csv);
    if (r < 0)
        returns_finish(&returns);
    else
        *ret = returns;
    return r;
}

/* ---- a study ---- */

struct trial_returns {
    const char *name;  /* borrowed */
    size_t rows, same; /* same: how many have the same times, itself among them */
    int64_t *open_ns;
    double *mean, *holding, *equal_weight; /* [rows]; NaN where no path has it; benchmarks NULL: none */
};

static void trial_returns_finish(struct trial_returns *trial)
{
    free(trial->open_ns);
    free(trial->mean);
    free(trial->holding);
    free(trial->equal_weight);
}

static bool take_benchmark(const struct csv_columns *csv, const char *name, double **ret)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->names[i], name) == 0) {
            free(*ret);
            *ret = malloc((csv->rows + 1) * sizeof **ret);
            if (!take_column(csv, i, *ret, 1))
                return false;
        }
    return true;
}

static bool take_mean(const struct csv_columns *csv, double **ret)
{
    double *mean = malloc((csv->rows + 1) * sizeof *mean);
    for (size_t row = 0; mean && row < csv->rows; row++) {
        const double *values = csv->values + row * csv->columns;
        double sum = 0;
        int n = 0;
        for (size_t i = 0; i < csv->columns; i++)
            if (column_of(csv->names[i]) == COLUMN_TRIAL && !isnan(values[i])) {
                sum += values[i];
                n++;
            }
        mean[row] = n ? sum / n : NAN;
    }
    *ret = mean;
    return mean != NULL;
}

static int read_trial(const struct returns_trial *from, struct trial_returns *ret,
                      char err[static RETURNS_ERROR_MAX])
{
    char path[PATH_MAX];
    struct csv_columns csv = {0};
    struct trial_returns trial = {.name = from->name};
    if (snprintf(path, sizeof path, "%s/%d/returns.csv", from->folder, from->number) >= (int)sizeof path) {
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: a shorter path is right", from->folder);
        return -ENAMETOOLONG;
    }
    int r = csv_columns_read(path, true, &csv, err);
    if (r == 0 && !csv.open_ns) {
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no times: a column timestamp_ns is right", path);
        r = -EINVAL;
    }
    if (r == 0 && !(take_mean(&csv, &trial.mean) && take_benchmark(&csv, "holding", &trial.holding) &&
                    take_benchmark(&csv, "equal_weight", &trial.equal_weight))) {
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %zu rows", path, csv.rows);
        r = -ENOMEM;
    }
    if (r == 0) {
        trial.rows = csv.rows;
        trial.open_ns = csv.open_ns;
        csv.open_ns = NULL;
        *ret = trial;
    } else {
        trial_returns_finish(&trial);
    }
    csv_columns_finish(&csv);
    return r;
}

static bool same_rows(const struct trial_returns *a, const struct trial_returns *b)
{
    return a->rows == b->rows && memcmp(a->open_ns, b->open_ns, a->rows * sizeof *a->open_ns) == 0;
}

/* Puts those with the rows of `most` together; a row that nobody traded in is left out. Benchmarks are those
 * of the first that has them. */
static int join(const struct trial_returns *trials, int n, const struct trial_returns *most,
                struct returns_matrix *ret)
{
    struct returns_matrix to = {.columns = most->same};
    const double *holding = NULL, *equal_weight = NULL;
    for (int i = 0; i < n; i++)
        if (same_rows(&trials[i], most)) {
            holding = holding ? holding : trials[i].holding;
            equal_weight = equal_weight ? equal_weight : trials[i].equal_weight;
        }
    size_t cells = most->rows * to.columns + 1, rows = most->rows + 1, column = 0;
    to.values = calloc(cells, sizeof *to.values);
    to.names = calloc(to.columns + 1, sizeof *to.names);
    to.open_ns = calloc(rows, sizeof *to.open_ns);
    to.holding = holding ? calloc(rows, sizeof *to.holding) : NULL;
    to.equal_weight = equal_weight ? calloc(rows, sizeof *to.equal_weight) : NULL;
    bool done = to.values && to.names && to.open_ns && !(holding && !to.holding) &&
                !(equal_weight && !to.equal_weight);
    const struct trial_returns **with = done ? calloc(to.columns, sizeof *with) : NULL;
    for (int i = 0; with && i < n; i++)
        if (same_rows(&trials[i], most)) {
            to.names[column] = strdup(trials[i].name);
            done = done && to.names[column];
            with[column++] = &trials[i];
        }
    for (size_t row = 0; with && row < most->rows; row++) {
        bool traded = false;
        for (size_t c = 0; c < to.columns; c++) {
            double x = with[c]->mean[row];
            traded = traded || !isnan(x);
            to.values[to.rows * to.columns + c] = isnan(x) ? 0 : x;
        }
        if (!traded)
            continue;
        to.open_ns[to.rows] = most->open_ns[row];
        if (to.holding)
            to.holding[to.rows] = isnan(holding[row]) ? 0 : holding[row];
        if (to.equal_weight)
            to.equal_weight[to.rows] = isnan(equal_weight[row]) ? 0 : equal_weight[row];
        to.rows++;
    }
    done = done && with;
    free(with);
    if (done)
        *ret = to;
    else
        returns_finish(&to);
    return done ? 0 : -ENOMEM;
}

int returns_of_trials(const struct returns_trial *of, int n, int like, struct returns_matrix *ret,
                      int *ret_left_out, char err[static RETURNS_ERROR_MAX])
{
    struct trial_returns *trials = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *trials);
    const struct trial_returns *most = NULL;
    int found = 0, wanted = -1, r = trials ? 0 : -ENOMEM;
    snprintf(err, RETURNS_ERROR_MAX, "no trial that is complete: two or more are right");
    for (int i = 0; r == 0 && i < n; i++) {
        r = read_trial(&of[i], &trials[found], err);
        if (r == 0) {
            for (int k = 0; k < found; k++)
                if (same_rows(&trials[k], &trials[found]))
                    trials[found].same = ++trials[k].same;
            trials[found].same += trials[found].same == 0;
            wanted = i == like ? found : wanted;
            found++;
        }
        r = r == -ENOMEM ? r : 0;
    }
    for (int i = 0; i < found; i++)
        most = !most || trials[i].same > most->same ? &trials[i] : most;
    most = wanted >= 0 ? &trials[wanted] : most;
    if (r == 0 && most && most->same >= 2)
        r = join(trials, found, most, ret);
    else if (r == 0) {
        char why[RETURNS_ERROR_MAX];
        snprintf(why, sizeof why, "%.300s", found > 0 ? "no two trials have rows of the same times" : err);
        snprintf(err, RETURNS_ERROR_MAX,
                 "%.120s: returns of %zu trials: two or more with the same rows are right (%.240s)",
                 n > 0 ? of[0].folder : "a study", most ? most->same : 0, why);
        r = -EINVAL;
    }
    if (r == -ENOMEM)
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %d trials", n > 0 ? of[0].folder : "a study",
                 n);
    if (r == 0)
        *ret_left_out = n - (int)most->same;
    for (int i = 0; trials && i < found; i++)
        trial_returns_finish(&trials[i]);
    free(trials);
    return r;
}

int returns_of_study(const char *folder, const int *numbers, int n, struct returns_matrix *ret,
                     int *ret_left_out, char err[static RETURNS_ERROR_MAX])
{
    size_t wanted = (size_t)(n > 0 ? n : 0) + 1;
    struct returns_trial *trials = calloc(wanted, sizeof *trials);
    char(*names)[24] = calloc(wanted, sizeof *names);
    int r = trials && names ? 0 : -ENOMEM;
    for (int i = 0; r == 0 && i < n; i++) {
        snprintf(names[i], sizeof names[i], "trial %d", numbers[i]);
        trials[i] = (struct returns_trial){folder, names[i], numbers[i]};
    }
    if (r == 0)
        r = returns_of_trials(trials, n, -1, ret, ret_left_out, err);
    else
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %d trials", folder, n);
    free(trials);
    free(names);
    return r;
}
