#include "trainer/study/returns.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

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

enum returns_column { COLUMN_TRIAL, COLUMN_HOLDING, COLUMN_EQUAL_WEIGHT };

static enum returns_column column_of(const char *name)
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
        enum returns_column column = column_of(csv->names[i]);
        double **benchmark = column == COLUMN_HOLDING ? &to->holding : &to->equal_weight;
        if (column == COLUMN_TRIAL) {
            done = take_column(csv, i, to->values + n, to->columns);
            to->names[n++] = csv->names[i];
            csv->names[i] = NULL;
        } else {
            free(*benchmark); /* the second of two such columns counts */
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
    int r = returns_csv_read(path, false, &csv, err);
    if (r < 0)
        return r;
    if (!sort_columns(&csv, &returns)) {
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %zu rows: fewer rows or trials", path,
                 csv.rows);
        r = -ENOMEM;
    }
    returns_csv_finish(&csv);
    if (r < 0)
        returns_finish(&returns);
    else
        *ret = returns;
    return r;
}

/* ---- a study ---- */

/* What was read of one trial. Of those that have the same times the first alone keeps them. */
struct trial_returns {
    char *folder; /* and number: whose; owned */
    int number;
    char *unread; /* why it could not be read, owned; NULL: it was read */
    size_t rows, like;
    int64_t *open_ns;                      /* NULL: those of `like` */
    double *mean, *holding, *equal_weight; /* [rows]; NaN where no path has it; benchmarks NULL: none */
};

struct returns_kept {
    struct trial_returns *trials;
    size_t n, cap;
};

static void trial_returns_finish(struct trial_returns *trial)
{
    free(trial->folder);
    free(trial->unread);
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
    struct trial_returns trial = {0};
    if (snprintf(path, sizeof path, "%s/%d/returns.csv", from->folder, from->number) >= (int)sizeof path)
        return fail_with(-ENAMETOOLONG, err, RETURNS_ERROR_MAX, "%.200s: a shorter path is right",
                         from->folder);
    int r = returns_csv_read(path, true, &csv, err);
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
    returns_csv_finish(&csv);
    return r;
}

/* If an earlier trial has the same times, uses that one's rows, and its benchmarks if it has any. */
static void share_rows(struct returns_kept *kept, struct trial_returns *trial)
{
    trial->like = (size_t)(trial - kept->trials);
    for (size_t i = 0; i < trial->like && trial->open_ns; i++) {
        const struct trial_returns *first = &kept->trials[i];
        if (!first->open_ns || first->rows != trial->rows ||
            memcmp(first->open_ns, trial->open_ns, trial->rows * sizeof *trial->open_ns) != 0)
            continue;
        trial->like = i;
        free(trial->open_ns);
        trial->open_ns = NULL;
        if (first->holding && first->equal_weight) {
            free(trial->holding);
            free(trial->equal_weight);
            trial->holding = trial->equal_weight = NULL;
        }
    }
}

/* NULL: it was not read yet. */
static const struct trial_returns *find_trial(const struct returns_kept *kept,
                                              const struct returns_trial *trial)
{
    for (size_t i = 0; i < kept->n; i++)
        if (kept->trials[i].number == trial->number && strcmp(kept->trials[i].folder, trial->folder) == 0)
            return &kept->trials[i];
    return NULL;
}

struct returns_kept *returns_kept_create(void)
{
    return calloc(1, sizeof(struct returns_kept));
}

void returns_kept_destroy(struct returns_kept *kept)
{
    for (size_t i = 0; kept && i < kept->n; i++)
        trial_returns_finish(&kept->trials[i]);
    if (kept)
        free(kept->trials);
    free(kept);
}

static int read_one(struct returns_kept *kept, const struct returns_trial *from)
{
    char err[RETURNS_ERROR_MAX] = "";
    struct trial_returns trial = {0};
    if (kept->n == kept->cap) {
        size_t cap = kept->cap ? 2 * kept->cap : 64;
        struct trial_returns *moved = reallocarray(kept->trials, cap, sizeof *moved);
        if (!moved)
            return -ENOMEM;
        kept->trials = moved;
        kept->cap = cap;
    }
    int r = read_trial(from, &trial, err);
    if (r == -ENOMEM)
        return r;
    trial.folder = strdup(from->folder);
    trial.number = from->number;
    trial.unread = r < 0 ? strdup(err) : NULL;
    if (!trial.folder || (r < 0 && !trial.unread)) {
        trial_returns_finish(&trial);
        return -ENOMEM;
    }
    kept->trials[kept->n] = trial;
    share_rows(kept, &kept->trials[kept->n++]);
    return 1;
}

int returns_kept_read(struct returns_kept *kept, const struct returns_trial *trials, int n)
{
    for (int i = 0; i < n; i++)
        if (!find_trial(kept, &trials[i]))
            return read_one(kept, &trials[i]);
    return 0;
}

int returns_kept_count(const struct returns_kept *kept, const struct returns_trial *trials, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += find_trial(kept, &trials[i]) != NULL;
    return found;
}

/* What was read of the requested trials. */
struct found {
    const struct trial_returns **trials; /* [n] */
    const char **names;                  /* of their columns, borrowed */
    size_t n;
};

/* Joins those with the same rows as `like`; leaves out rows that no trial traded in. Benchmarks are those of
 * the first that has them. */
static int join(const struct returns_kept *kept, const struct found *found, size_t like,
                struct returns_matrix *ret)
{
    const int64_t *open_ns = kept->trials[like].open_ns;
    const double *holding = kept->trials[like].holding, *equal_weight = kept->trials[like].equal_weight;
    struct returns_matrix to = {0};
    size_t rows = kept->trials[like].rows, column = 0;
    for (size_t i = 0; i < found->n; i++)
        if (found->trials[i]->like == like) {
            to.columns++;
            holding = holding ? holding : found->trials[i]->holding;
            equal_weight = equal_weight ? equal_weight : found->trials[i]->equal_weight;
        }
    to.values = calloc(rows * to.columns + 1, sizeof *to.values);
    to.names = calloc(to.columns + 1, sizeof *to.names);
    to.open_ns = calloc(rows + 1, sizeof *to.open_ns);
    to.holding = holding ? calloc(rows + 1, sizeof *to.holding) : NULL;
    to.equal_weight = equal_weight ? calloc(rows + 1, sizeof *to.equal_weight) : NULL;
    bool done = to.values && to.names && to.open_ns && !(holding && !to.holding) &&
                !(equal_weight && !to.equal_weight);
    const struct trial_returns **with = done ? calloc(to.columns + 1, sizeof *with) : NULL;
    for (size_t i = 0; with && i < found->n; i++)
        if (found->trials[i]->like == like) {
            to.names[column] = strdup(found->names[i]);
            done = done && to.names[column];
            with[column++] = found->trials[i];
        }
    for (size_t row = 0; with && row < rows; row++) {
        bool traded = false;
        for (size_t c = 0; c < to.columns; c++) {
            double x = with[c]->mean[row];
            traded = traded || !isnan(x);
            to.values[to.rows * to.columns + c] = isnan(x) ? 0 : x;
        }
        if (!traded)
            continue;
        to.open_ns[to.rows] = open_ns[row];
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

static size_t count_like(const struct found *found, size_t like)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++)
        n += found->trials[i]->like == like;
    return n;
}

int returns_kept_join(const struct returns_kept *kept, const struct returns_trial *trials, int n, int like,
                      struct returns_matrix *ret, int *ret_left_out, char err[static RETURNS_ERROR_MAX])
{
    size_t cap = (size_t)(n > 0 ? n : 0) + 1, rows = 0, most = 0;
    struct found found = {calloc(cap, sizeof *found.trials), calloc(cap, sizeof *found.names), 0};
    const char *why = "no trial that is complete: two or more are right";
    int r = found.trials && found.names ? 0 : -ENOMEM;
    bool wanted = false;
    for (int i = 0; r == 0 && i < n; i++) {
        const struct trial_returns *trial = find_trial(kept, &trials[i]);
        why = trial && trial->unread ? trial->unread : why;
        if (!trial || trial->unread)
            continue;
        found.trials[found.n] = trial;
        found.names[found.n++] = trials[i].name;
        if (i == like) {
            wanted = true;
            rows = trial->like;
        }
    }
    for (size_t i = 0; !wanted && i < found.n; i++) {
        size_t same = count_like(&found, found.trials[i]->like);
        if (same > most) {
            most = same;
            rows = found.trials[i]->like;
        }
    }
    most = found.n > 0 ? count_like(&found, rows) : 0;
    if (r == 0 && most >= 2)
        r = join(kept, &found, rows, ret);
    else if (r == 0) {
        snprintf(err, RETURNS_ERROR_MAX,
                 "%.120s: returns of %zu trials: two or more with the same rows are right (%.240s)",
                 n > 0 ? trials[0].folder : "a study", most,
                 found.n > 0 ? "no two trials have rows of the same times" : why);
        r = -EINVAL;
    }
    if (r == -ENOMEM)
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %d trials",
                 n > 0 ? trials[0].folder : "a study", n);
    if (r == 0)
        *ret_left_out = n - (int)most;
    free(found.trials);
    free(found.names);
    return r;
}

int returns_of_trials(const struct returns_trial *trials, int n, int like, struct returns_matrix *ret,
                      int *ret_left_out, char err[static RETURNS_ERROR_MAX])
{
    struct returns_kept *kept = returns_kept_create();
    int r = kept ? 0 : -ENOMEM;
    for (int i = 0; r == 0 && i < n; i++)
        r = read_one(kept, &trials[i]) < 0 ? -ENOMEM : 0;
    if (r == 0)
        r = returns_kept_join(kept, trials, n, like, ret, ret_left_out, err);
    else
        snprintf(err, RETURNS_ERROR_MAX, "%.200s: no memory for %d trials",
                 n > 0 ? trials[0].folder : "a study", n);
    returns_kept_destroy(kept);
    return r;
}
