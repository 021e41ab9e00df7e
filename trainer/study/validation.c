/* papertape.validation/1. */
#include "trainer/study/validation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "record/json.h"
#include "strategy/metrics.h"
#include "strategy/metrics/deflate.h"
#include "strategy/metrics/overfit.h"

enum { BINS = 24 /* even: 0 is between two */, POINTS_MAX = 4000 };

/* By the clock, from the first row's time to the last's: nights and weekends without rows count, as in a
 * backtest's. 0: it is not known. */
static double periods_of(const struct returns_matrix *returns)
{
    int64_t all_ns;
    if (!returns->open_ns || returns->rows < 2)
        return 0;
    int64_t n = (int64_t)returns->rows - 1;
    if (__builtin_sub_overflow(returns->open_ns[n], returns->open_ns[0], &all_ns) || all_ns < n)
        return 0;
    return metrics_periods_per_year(all_ns / n);
}

/* ---- one column ---- */

static json_t *figures_json(const double *returns, size_t n, double periods)
{
    const struct metrics_series series = metrics_returns(returns, n);
    struct metrics m;
    metrics_compute(&series, periods > 0 ? periods : 1, &m);
    return json_pack("{s:o, s:o, s:o}", "sharpe",
                     record_json_real(overfit_sharpe(returns, n, 1) * (periods > 0 ? sqrt(periods) : 1)),
                     "return_pct", record_json_real(100 * m.total_return), "drawdown_pct",
                     record_json_real(100 * m.max_drawdown));
}

/* Every trial's, and which is the best of all rows, and the middle one. */
struct ranking {
    double *sharpes, *column; /* [columns], a row's; [rows] */
    size_t *order;            /* best first */
};

static int by_sharpe(const void *a, const void *b, void *ctx)
{
    const double *sharpes = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    if (sharpes[i] != sharpes[k])
        return sharpes[i] > sharpes[k] ? -1 : 1;
    return (i > k) - (i < k);
}

static bool rank(const struct returns_matrix *returns, struct ranking *ret)
{
    size_t n = returns->columns;
    ret->sharpes = malloc(n * sizeof *ret->sharpes);
    ret->column = malloc(returns->rows * sizeof *ret->column);
    ret->order = malloc(n * sizeof *ret->order);
    if (!ret->sharpes || !ret->column || !ret->order)
        return false;
    for (size_t c = 0; c < n; c++) {
        ret->sharpes[c] = overfit_sharpe(returns->values + c, returns->rows, n);
        ret->order[c] = c;
    }
    qsort_r(ret->order, n, sizeof *ret->order, by_sharpe, ret->sharpes);
    return true;
}

static void ranking_finish(struct ranking *ranking)
{
    free(ranking->sharpes);
    free(ranking->column);
    free(ranking->order);
}

static void take(const struct returns_matrix *returns, size_t column, double *to)
{
    for (size_t row = 0; row < returns->rows; row++)
        to[row] = returns->values[row * returns->columns + column];
}

static json_t *trials_json(const struct returns_matrix *returns, const struct overfit *overfit,
                           const struct ranking *ranking, double periods)
{
    size_t *chosen = calloc(returns->columns, sizeof *chosen);
    json_t *list = chosen ? json_array() : NULL;
    for (size_t i = 0; list && i < overfit->splits; i++)
        chosen[overfit->chosen[i]]++;
    for (size_t i = 0; list && i < returns->columns; i++) {
        size_t c = ranking->order[i];
        take(returns, c, ranking->column);
        json_t *trial = figures_json(ranking->column, returns->rows, periods);
        json_object_set_new(trial, "name", json_string(returns->names[c]));
        json_object_set_new(trial, "column", json_integer((json_int_t)c));
        json_object_set_new(trial, "chosen_pct",
                            json_real(100 * (double)chosen[c] / (double)overfit->splits));
        json_array_append_new(list, trial);
    }
    free(chosen);
    return list;
}

/* ---- the splits ---- */

/* Lambda reaches from -ln N to ln N. A bin is open below: 0 belongs to those that overfit. */
static json_t *lambda_json(const struct overfit *overfit, size_t columns)
{
    double high = log((double)columns), width = 2 * high / BINS;
    json_t *counts = json_array();
    size_t bins[BINS] = {0};
    for (size_t i = 0; i < overfit->splits; i++) {
        double at = ceil((overfit->lambda[i] + high) / width) - 1;
        at = overfit->lambda[i] <= 0 && at >= BINS / 2 ? BINS / 2 - 1 : at; /* regardless of rounding */
        at = overfit->lambda[i] > 0 && at < BINS / 2 ? BINS / 2 : at;
        bins[at < 0 ? 0 : at >= BINS ? BINS - 1 : (int)at]++;
    }
    for (int i = 0; i < BINS; i++)
        json_array_append_new(counts, json_integer((json_int_t)bins[i]));
    return json_pack("{s:f, s:f, s:o}", "low", -high, "high", high, "counts", counts);
}

/* In-sample and out-of-sample Sharpe of each split; of very many every so many. */
static json_t *points_json(const struct overfit *overfit, double scale)
{
    json_t *list = json_array();
    size_t every = (overfit->splits + POINTS_MAX - 1) / POINTS_MAX;
    for (size_t i = 0; i < overfit->splits; i += every)
        json_array_append_new(list, json_pack("[o, o]", record_json_real(overfit->in_sample[i] * scale),
                                              record_json_real(overfit->out_of_sample[i] * scale)));
    return list;
}

/* What a trial's returns are beyond holding's: less beta times those. */
static void subtract_holding(const double *holding, size_t rows, double *column)
{
    const struct metrics_series of = metrics_returns(column, rows), held = metrics_returns(holding, rows);
    struct metrics_against against;
    metrics_against(&of, &held, 1, &against);
    for (size_t row = 0; isfinite(against.beta) && row < rows; row++)
        column[row] -= against.beta * holding[row];
}

/* Of all trials' Sharpes. */
static double variance_of(const double *sharpes, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t c = 0; c < n; c++)
        mean += sharpes[c] / (double)n;
    for (size_t c = 0; c < n; c++)
        squares += (sharpes[c] - mean) * (sharpes[c] - mean);
    return squares / (double)(n - 1);
}

/* What luck depends on: the number of trials, and the spread of their Sharpes, as they are and less what
 * holding explains (NaN where that is not known). */
struct luck {
    size_t tried;
    double variance, beyond;
};

static struct luck luck_of(const struct returns_matrix *returns, struct ranking *ranking)
{
    size_t n = returns->columns;
    double *sharpes = returns->holding ? malloc(n * sizeof *sharpes) : NULL;
    struct luck luck = {returns->tried > n ? returns->tried : n, variance_of(ranking->sharpes, n), NAN};
    for (size_t c = 0; sharpes && c < n; c++) {
        take(returns, c, ranking->column);
        subtract_holding(returns->holding, returns->rows, ranking->column);
        sharpes[c] = overfit_sharpe(ranking->column, returns->rows, 1);
    }
    if (sharpes)
        luck.beyond = variance_of(sharpes, n);
    free(sharpes);
    return luck;
}

/* The column of that name; `columns` where no column has it. */
static size_t find_column(const struct returns_matrix *returns, const char *name)
{
    size_t c = 0;
    while (c < returns->columns && strcmp(returns->names[c], name) != 0)
        c++;
    return c;
}

/* Of one column, called `name`; without one only the luck figures are known. */
static json_t *deflated_json(const struct returns_matrix *returns, struct ranking *ranking,
                             const struct luck *luck, size_t column, const char *name, double scale)
{
    size_t rows = returns->rows;
    bool there = column < returns->columns;
    struct deflated deflated = {NAN, NAN, NAN, NAN}, capped = deflated, beyond = deflated;
    if (there) {
        take(returns, column, ranking->column);
        overfit_deflated_sharpe(ranking->column, rows, luck->tried, luck->variance, &deflated);
        overfit_deflated_sharpe(ranking->column, rows, luck->tried,
                                overfit_luck_variance(luck->variance, rows), &capped);
    }
    if (there && isfinite(luck->beyond)) {
        subtract_holding(returns->holding, rows, ranking->column);
        overfit_deflated_sharpe(ranking->column, rows, luck->tried, overfit_luck_variance(luck->beyond, rows),
                                &beyond);
    }
    double skill = returns->holding && !(capped.dsr <= beyond.dsr) ? beyond.dsr : capped.dsr;
    return json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", name, "column",
                     there ? json_integer((json_int_t)column) : json_null(), "trials",
                     (json_int_t)luck->tried, "sharpe", record_json_real(deflated.sharpe * scale),
                     "sharpe_deviation", record_json_real(sqrt(luck->variance) * scale), "expected_sharpe",
                     record_json_real(deflated.expected * scale), "probabilistic_sharpe",
                     record_json_real(deflated.psr), "deflated_sharpe", record_json_real(deflated.dsr),
                     "expected_capped", record_json_real(capped.expected * scale), "deflated_capped",
                     record_json_real(capped.dsr), "deflated_beyond_holding", record_json_real(beyond.dsr),
                     "skill", record_json_real(skill));
}

/* `deflated` is of what is proposed, or else of the best; `deflated_best` of the best. */
static void judge(const struct returns_matrix *returns, struct ranking *ranking, const json_t *trials,
                  double scale, json_t *object)
{
    const struct luck luck = luck_of(returns, ranking);
    size_t best = ranking->order[0], column = best, i;
    const char *name = returns->proposed ? returns->proposed : returns->names[best];
    json_t *trial, *proposed = NULL;
    if (returns->proposed)
        column = find_column(returns, name);
    json_array_foreach(trials, i, trial) if (returns->proposed && ranking->order[i] == column) proposed =
        trial;
    json_object_set_new(object, "deflated", deflated_json(returns, ranking, &luck, column, name, scale));
    json_object_set_new(object, "deflated_best",
                        deflated_json(returns, ranking, &luck, best, returns->names[best], scale));
    json_object_set_new(object, "proposed", proposed ? json_incref(proposed) : json_null());
}

/* ---- all of it ---- */

static json_t *benchmark_json(const double *returns, size_t rows, double periods)
{
    return returns ? figures_json(returns, rows, periods) : json_null();
}

static json_t *whole_json(const struct returns_matrix *returns, const struct overfit *overfit,
                          struct ranking *ranking, int blocks, double periods)
{
    double scale = periods > 0 ? sqrt(periods) : 1;
    size_t rows = returns->rows, median = (returns->columns - 1) / 2;
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:i, s:I, s:o, s:o, s:o}", "schema", "papertape.validation/1", "rows",
        (json_int_t)rows, "dropped_rows", (json_int_t)(rows % (size_t)blocks), "trials",
        (json_int_t)returns->columns, "blocks", blocks, "splits", (json_int_t)overfit->splits, "first_ns",
        returns->open_ns ? json_integer((json_int_t)returns->open_ns[0]) : json_null(), "last_ns",
        returns->open_ns ? json_integer((json_int_t)returns->open_ns[rows - 1]) : json_null(),
        "periods_per_year", periods > 0 ? json_real(periods) : json_null());
    json_t *trials = trials_json(returns, overfit, ranking, periods);
    if (!object || !trials) {
        json_decref(object);
        json_decref(trials);
        return NULL;
    }
    json_object_set_new(object, "pbo", json_real(overfit->pbo));
    json_object_set_new(object, "probability_of_loss", json_real(overfit->probability_of_loss));
    json_object_set_new(object, "slope", record_json_real(overfit->slope));
    json_object_set_new(object, "intercept", record_json_real(overfit->intercept * scale));
    json_object_set_new(object, "r2", record_json_real(overfit->r2));
    judge(returns, ranking, trials, scale, object);
    json_object_set(object, "best", json_array_get(trials, 0));
    json_object_set(object, "median", json_array_get(trials, median));
    json_object_set_new(object, "holding", benchmark_json(returns->holding, rows, periods));
    json_object_set_new(object, "equal_weight", benchmark_json(returns->equal_weight, rows, periods));
    json_object_set_new(object, "lambda", lambda_json(overfit, returns->columns));
    json_object_set_new(object, "points", points_json(overfit, scale));
    json_object_set_new(object, "columns", trials);
    return object;
}

int validation_json(const struct returns_matrix *returns, int blocks, double periods_per_year, json_t **ret,
                    char err[static VALIDATION_ERROR_MAX])
{
    struct overfit overfit = {0};
    struct ranking ranking = {0};
    double periods = periods_per_year > 0 ? periods_per_year : periods_of(returns);
    int r = overfit_compute(returns->values, returns->rows, returns->columns, blocks, &overfit, err);
    if (r < 0)
        return r;
    json_t *object =
        rank(returns, &ranking) ? whole_json(returns, &overfit, &ranking, blocks, periods) : NULL;
    ranking_finish(&ranking);
    overfit_finish(&overfit);
    if (!object)
        return fail_with(-ENOMEM, err, VALIDATION_ERROR_MAX,
                         "validation: no memory for %zu trials: fewer are right", returns->columns);
    *ret = object;
    return 0;
}

void validation_figures(const json_t *validation, json_t *proposal)
{
    static const char *const keys[] = {"pbo", "probability_of_loss", "slope", "intercept"};
    static const char *const of_it[] = {"deflated_sharpe", "expected_sharpe", "skill"};
    const json_t *deflated = json_object_get(validation, "deflated");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(proposal, keys[i], json_object_get(validation, keys[i]));
    for (size_t i = 0; i < sizeof of_it / sizeof *of_it; i++)
        json_object_set(proposal, of_it[i], json_object_get(deflated, of_it[i]));
}
