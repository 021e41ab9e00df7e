/* The results of trials: benchmarks, figures of a split, the objective, and their files. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"
#include "strategy/metrics.h"
#include "trainer/study/internal.h"
#include "trainer/study/stale_files.h"

/* Returns of each bar of the rows: of `holding`, bought in equal parts at the close before the first row and
 * left alone; and of equal parts of all at every close. Without fees. Either may be NULL. */
static void study_benchmarks(const struct study_market *market, struct split_rows rows, double *holding,
                             double *equal_weight)
{
    size_t n = (size_t)market->source.market->n_symbols;
    double before = 1;
    for (size_t r = rows.from; r < rows.to; r++) {
        double worth = 0, mean = 0;
        for (size_t i = 0; i < n; i++) {
            const double *close = market->closes + i * trainer_data_source(market->grid)->rows;
            worth += close[r] / close[rows.from - 1] / (double)n;
            mean += (close[r] / close[r - 1] - 1) / (double)n;
        }
        if (holding)
            holding[r - rows.from] = worth / before - 1;
        if (equal_weight)
            equal_weight[r - rows.from] = mean;
        before = worth;
    }
}

static double number_or_0(double x)
{
    return isfinite(x) ? x : 0;
}

static void compute(const struct study_market *market, const double *returns, size_t n, struct metrics *ret)
{
    const struct metrics_series series = metrics_returns(returns, n);
    metrics_compute(&series, metrics_periods_per_year(market_row_ns(market->source.market)), ret);
}

int study_figures(const struct study_market *market, const struct split_rows *blocks, int n,
                  const double *returns, const struct study_tested *tested, struct trial_split *ret)
{
    size_t rows = 0, at = 0;
    struct metrics policy, holds, equal;
    for (int i = 0; i < n; i++)
        rows += blocks[i].to - blocks[i].from;
    double *holding = malloc(2 * rows * sizeof(double));
    if (!holding)
        return -ENOMEM;
    for (int i = 0; i < n; at += blocks[i].to - blocks[i].from, i++)
        study_benchmarks(market, blocks[i], holding + at, holding + rows + at);
    compute(market, returns, rows, &policy);
    compute(market, holding, rows, &holds);
    compute(market, holding + rows, rows, &equal);
    free(holding);
    ret->sharpe = number_or_0(policy.sharpe);
    ret->holding = number_or_0(holds.sharpe);
    ret->equal_weight = number_or_0(equal.sharpe);
    ret->total_return = policy.total_return;
    ret->drawdown = fabs(policy.max_drawdown);
    ret->volatility = number_or_0(policy.volatility);
    ret->turnover = tested->steps > 0 ? tested->traded / (tested->level / (double)tested->steps) : 0;
    ret->trades = tested->trades;
    return 0;
}

static double taken_of(const struct study_settings *settings, const struct trial_split *split)
{
    return settings->objective == STUDY_RETURN   ? split->total_return
           : settings->objective == STUDY_SHARPE ? split->sharpe
                                                 : split->sharpe - split->holding;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an even number the mean of the two in the middle. */
static double median(const struct study_settings *settings, const struct trial_outcome *outcome)
{
    double taken[TRIAL_SPLITS_MAX];
    const int n = outcome->n_splits;
    for (int i = 0; i < n; i++)
        taken[i] = taken_of(settings, &outcome->splits[i]);
    qsort(taken, (size_t)n, sizeof *taken, ascending);
    return (taken[(n - 1) / 2] + taken[n / 2]) / 2;
}

double study_value(const struct study_settings *settings, const struct trial_outcome *outcome)
{
    double n = outcome->n_splits, mean = 0, squares = 0, drawdown = 0, volatility = 0;
    for (int i = 0; i < outcome->n_splits; i++) {
        mean += taken_of(settings, &outcome->splits[i]) / n;
        drawdown += outcome->splits[i].drawdown / n;
        volatility += outcome->splits[i].volatility / n;
    }
    for (int i = 0; i < outcome->n_splits; i++) {
        double off = taken_of(settings, &outcome->splits[i]) - mean;
        squares += off * off / n;
    }
    const double middle =
        settings->average == STUDY_MEDIAN && outcome->n_splits > 0 ? median(settings, outcome) : mean;
    return middle - settings->deviation_weight * sqrt(squares) - settings->drawdown_penalty * drawdown -
           settings->volatility_penalty * volatility;
}

/* ---- Files. ---- */

int study_make_folder(const char *folder, char err[static TRIAL_ERROR_MAX])
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return study_error(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
    for (char *slash = path + 1; slash; slash++) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return study_error(err, -errno, "cannot make the folder: %.300s: %s", path, strerror(errno));
        if (!slash)
            break;
        *slash = '/';
    }
    return 0;
}

static void print_rows(FILE *out, const struct study_market *market, struct split_rows rows,
                       const double *paths, int n_paths, const double *benchmarks)
{
    size_t n = rows.to - rows.from;
    fputs("timestamp_ns", out);
    for (int p = 1; p <= n_paths; p++)
        fprintf(out, ",path_%d", p);
    fputs(",holding,equal_weight\n", out);
    for (size_t r = 0; r < n; r++) {
        size_t row = trainer_data_row(market->grid, rows.from + r);
        fprintf(out, "%lld", (long long)market_open_ns(market->source.market, row));
        for (int p = 0; p < n_paths; p++)
            fprintf(out, ",%.10g", paths[(size_t)p * n + r]);
        fprintf(out, ",%.10g,%.10g\n", benchmarks[r], benchmarks[n + r]);
    }
}

char *study_returns_text(const struct study_market *market, struct split_rows rows, const double *paths,
                         int n_paths, size_t *ret_size)
{
    char *text = NULL;
    size_t n = rows.to - rows.from;
    double *benchmarks = malloc(2 * n * sizeof(double));
    FILE *out = benchmarks ? open_memstream(&text, ret_size) : NULL;
    bool good = out != NULL;
    if (out) {
        study_benchmarks(market, rows, benchmarks, benchmarks + n);
        print_rows(out, market, rows, paths, n_paths, benchmarks);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    free(benchmarks);
    if (good)
        return text;
    free(text);
    return NULL;
}

int study_write_file(const char *folder, const char *name, const void *bytes, size_t n,
                     char err[static TRIAL_ERROR_MAX])
{
    char path[PATH_MAX];
    struct whole_file file;
    int r = study_make_folder(folder, err);
    if (r < 0)
        return r;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return study_error(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
    r = whole_file_open(path, STUDY_TEMPORARY, 0644, &file);
    if (r == 0) {
        r = whole_file_put(&file, bytes, n);
        r = whole_file_close(&file, r);
    }
    return r < 0 ? study_error(err, r, "cannot write: %.300s: %s", path, strerror(-r)) : 0;
}

int study_write_returns(const struct study_market *market, struct split_rows rows, const double *paths,
                        int n_paths, const char *folder, const char *name, char err[static TRIAL_ERROR_MAX])
{
    size_t size;
    char *text = study_returns_text(market, rows, paths, n_paths, &size);
    if (!text)
        return study_error(err, -ENOMEM, "out of memory: %s", name);
    int r = study_write_file(folder, name, text, size, err);
    free(text);
    return r;
}
