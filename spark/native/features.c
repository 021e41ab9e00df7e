/* Features by streams. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/stream.h"
#include "spark/native/run.h"

struct features {
    struct feature_set *set;
    struct feature_plan *plan;
    struct feature_stream *stream;
    const char **names; /* [set->n], of the set */
    float *row;         /* [set->n] */
    int64_t interval_s;
};

static void close_features(void *ctx)
{
    struct features *f = ctx;
    feature_stream_close(f->stream);
    feature_plan_destroy(f->plan);
    feature_set_destroy(f->set);
    free(f->names);
    free(f->row);
    free(f);
}

static int start(void *ctx)
{
    struct features *f = ctx;
    struct feature_stream *fresh;
    int r = feature_stream_open(f->plan, &fresh);
    if (r < 0)
        return r;
    feature_stream_close(f->stream);
    f->stream = fresh;
    return 0;
}

static int fail_values(const struct features *f, int r, char *err, size_t err_cap)
{
    if (r == -EINVAL)
        return fail_with(
            r, err, err_cap,
            "bars of whole seconds, %lld s or more after the one before, are needed by timeframes",
            (long long)f->interval_s);
    return fail_with(r, err, err_cap,
                     "a feature that had values has none that is finite and within float32: its formula does "
                     "not fit these prices");
}

static int take_bar(void *ctx, const struct indicator_bar *bar, struct spark_columns *columns, int64_t row,
                    char *err, size_t err_cap)
{
    struct features *f = ctx;
    int r = feature_stream_update(f->stream, bar, f->row);
    if (r < 0)
        return fail_values(f, r, err, err_cap);
    if (!columns)
        return 0;
    if (columns->cells) {
        memcpy(columns->cells + (size_t)row * f->set->n, f->row, f->set->n * sizeof(*f->row));
        return 0;
    }
    for (size_t k = 0; k < f->set->n; k++)
        if (!isnan(f->row[k]))
            spark_columns_float(columns, k, row, f->row[k]);
    return 0;
}

static void visit(void *ctx, const struct indicator_stream_fields *fields)
{
    struct features *f = ctx;
    feature_stream_visit(f->stream, fields);
}

static int warmup(void *ctx, int64_t *ret, char *err, size_t err_cap)
{
    struct features *f = ctx;
    int64_t most = 0;
    for (size_t k = 0; k < f->set->n; k++) {
        const struct feature *feature = &f->set->features[k];
        size_t bars = feature->spec.row ? indicator_warmup(&feature->spec, INDICATOR_F64) : 1;
        if (bars == INDICATOR_FOREVER)
            return spark_run_forever(feature->name, err, err_cap);
        /* A higher bar more: the one that the warm-up begins in is left out. */
        int64_t lower = feature->timeframe_s ? ((int64_t)bars + 1) * (feature->timeframe_s / f->interval_s)
                                             : (int64_t)bars;
        most = lower > most ? lower : most;
    }
    *ret = most;
    return 0;
}

static int open_features(struct features *f, const char *set, char *err, size_t err_cap)
{
    int r = feature_set_builtin(set, &f->set);
    if (r == -ENOENT)
        r = feature_set_parse(set, &f->set, err, err_cap);
    if (r < 0)
        return r;
    if (!f->set->fitted)
        return fail_with(
            -EINVAL, err, err_cap,
            "set %s is not fitted: its scalings need papertape_spark.fit() on the bars that may be "
            "known, or a policy's own set",
            f->set->name);
    r = feature_plan_create(f->set, f->interval_s, &f->plan, err, err_cap);
    if (r < 0)
        return r;
    f->names = calloc(f->set->n + 1, sizeof(*f->names));
    f->row = calloc(f->set->n + 1, sizeof(*f->row));
    if (!f->names || !f->row)
        return -ENOMEM;
    for (size_t k = 0; k < f->set->n; k++)
        f->names[k] = f->set->features[k].name;
    return start(f);
}

int papertape_spark_features(const char *set, int64_t interval_s, struct papertape_spark **ret, char *err,
                             size_t err_cap)
{
    struct features *f = calloc(1, sizeof(*f));
    if (!f)
        return spark_run_memory(-ENOMEM, err, err_cap);
    f->interval_s = interval_s;
    int r = open_features(f, set, err, err_cap);
    char *text = r == 0 ? feature_set_text(f->set) : NULL;
    if (!text) {
        close_features(f);
        return spark_run_memory(r < 0 ? r : -ENOMEM, err, err_cap);
    }
    const struct spark_computation computation = {
        .width = f->set->n,
        .names = f->names,
        .start = start,
        .bar = take_bar,
        .visit = visit,
        .warmup = warmup,
        .close = close_features,
        .meaning = spark_meaning(text) + (uint64_t)interval_s,
    };
    free(text);
    return spark_run_memory(spark_run_create(&computation, f, ret), err, err_cap);
}
