/* A feature set fitted on one symbol's bars. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/fail.h"
#include "indicators_gpu/features/features.h"
#include "spark/native/run.h"

struct fit {
    struct feature_set *set;
    int64_t interval_s;
    size_t n, cap;
    double *columns[INDICATOR_COLUMNS]; /* [cap] each */
};

static void close_fit(void *ctx)
{
    struct fit *fit = ctx;
    feature_set_destroy(fit->set);
    for (int c = 0; c < INDICATOR_COLUMNS; c++)
        free(fit->columns[c]);
    free(fit);
}

static int start(void *ctx)
{
    ((struct fit *)ctx)->n = 0;
    return 0;
}

static bool grow(struct fit *fit)
{
    size_t cap = fit->cap ? 2 * fit->cap : 4096;
    for (int c = 0; c < INDICATOR_COLUMNS; c++) {
        double *grown = reallocarray(fit->columns[c], cap, sizeof(double));
        if (!grown)
            return false;
        fit->columns[c] = grown;
    }
    fit->cap = cap;
    return true;
}

static int keep(void *ctx, const struct indicator_bar *bar, struct spark_columns *columns, int64_t row,
                char *err, size_t err_cap)
{
    struct fit *fit = ctx;
    const double values[INDICATOR_COLUMNS] = {bar->open,  bar->high,   bar->low,
                                              bar->close, bar->volume, bar->time};
    (void)columns;
    (void)row;
    if (fit->n == fit->cap && !grow(fit))
        return fail_with(-EINVAL, err, err_cap, "out of memory: fit on fewer bars");
    for (int c = 0; c < INDICATOR_COLUMNS; c++)
        fit->columns[c][fit->n] = values[c];
    fit->n++;
    return 0;
}

int papertape_spark_fit(const char *set, int64_t interval_s, struct papertape_spark **ret, char *err,
                        size_t err_cap)
{
    struct fit *fit = calloc(1, sizeof(*fit));
    if (!fit)
        return spark_run_memory(-ENOMEM, err, err_cap);
    fit->interval_s = interval_s;
    int r = feature_set_builtin(set, &fit->set);
    if (r == -ENOENT)
        r = feature_set_parse(set, &fit->set, err, err_cap);
    if (r < 0) {
        close_fit(fit);
        return spark_run_memory(r, err, err_cap);
    }
    const struct spark_computation computation = {.start = start, .bar = keep, .close = close_fit};
    return spark_run_memory(spark_run_create(&computation, fit, ret), err, err_cap);
}

/* The first bar at or after `ns`. */
static size_t bars_before(const struct fit *fit, int64_t ns)
{
    size_t from = 0, to = fit->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (fit->columns[INDICATOR_COLUMNS - 1][middle] < (double)ns / 1e9)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Bars of a synthetic series, for feature_columns_create(); to be freed. */
static double *series(size_t n, int64_t interval_s, struct feature_bars *ret)
{
    double *c = malloc(INDICATOR_COLUMNS * n * sizeof(*c));
    for (size_t i = 0; c && i < n; i++) {
        double close = 100 + 10 * sin((double)i * 0.1) + (double)(i % 7);
        c[i] = c[3 * n + i] = close;
        c[n + i] = close + 1;
        c[2 * n + i] = close - 1;
        c[4 * n + i] = 1 + (double)(i % 5);
        c[5 * n + i] = (double)((int64_t)i * (interval_s ? interval_s : 60));
    }
    if (c)
        *ret = (struct feature_bars){.columns = {c, c + n, c + 2 * n, c + 3 * n, c + 4 * n, c + 5 * n},
                                     .n = n,
                                     .interval_s = interval_s};
    return c;
}

/* How many bars the set needs, until each of its features has a value; 0: not known. */
static size_t bars_needed(const struct fit *fit)
{
    enum { LEAST = 1024, MOST = 1 << 17 };
    char err[200];
    for (size_t n = LEAST; n <= MOST; n *= 8) {
        struct feature_columns *columns = NULL;
        struct feature_bars bars;
        double *cells = series(n, fit->interval_s, &bars);
        int r = cells ? feature_columns_create(fit->set, &bars, FEATURE_EXACT, &columns, err, sizeof(err))
                      : -ENOMEM;
        size_t first = r == 0 ? feature_columns_first(columns) : n;
        feature_columns_destroy(columns);
        free(cells);
        if (r < 0)
            return 0;
        if (first < n)
            return first + 1;
    }
    return 0;
}

/* Fits on the bars [from, to), or says how many there are, and are needed. */
static int fit_on(struct fit *fit, size_t from, size_t to, char *err, size_t err_cap)
{
    double **c = fit->columns;
    const struct feature_bars bars = {
        .columns = {c[0], c[1], c[2], c[3], c[4], c[5]}, .n = fit->n, .interval_s = fit->interval_s};
    char wrong[300] = "out of memory";
    if (fit->n == 0)
        return fail_with(-EINVAL, err, err_cap, "there are no bars to fit on");
    if (from >= to)
        return fail_with(
            -EINVAL, err, err_cap,
            "it has %zu bars, none of which is within since and until: bars to fit on are needed", fit->n);
    int r = feature_set_fit(fit->set, &bars, from, to, wrong, sizeof(wrong));
    if (r == 0)
        return 0;
    size_t needed = bars_needed(fit);
    if (r != -EINVAL || needed <= to)
        return fail_with(r, err, err_cap, "%s", wrong);
    return fail_with(r, err, err_cap, "it has %zu bars to fit on, and the set needs %zu: %s", to, needed,
                     wrong);
}

int papertape_spark_fitted(struct papertape_spark *run, int64_t from_ns, int64_t to_ns, char **ret, char *err,
                           size_t err_cap)
{
    struct fit *fit = spark_run_ctx(run);
    char wrong[400];
    int r = fit_on(fit, bars_before(fit, from_ns), bars_before(fit, to_ns), wrong, sizeof(wrong));
    char *text = r == 0 ? feature_set_text(fit->set) : NULL;
    if (!text) {
        const char *symbol = spark_run_symbol(run);
        return fail_with(r < 0 ? r : -ENOMEM, err, err_cap, "%s: %s", symbol ? symbol : "", wrong);
    }
    *ret = text;
    return 0;
}

void papertape_spark_free(char *text)
{
    free(text);
}

int papertape_spark_interval(const char *interval, int64_t *ret_ns, char *err, size_t err_cap)
{
    if (bar_interval_parse(interval, ret_ns) == 0)
        return 0;
    return fail_with(-EINVAL, err, err_cap, "%s: an interval is needed: %s", interval, BAR_INTERVAL_NAMES);
}
