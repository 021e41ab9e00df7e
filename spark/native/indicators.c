/* Indicators by streams. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "spark/native/run.h"

enum { SPEC_TEXT_MAX = 160 };

struct indicators {
    size_t n, width;
    struct indicator_spec *specs;      /* [n] */
    struct indicator_stream **streams; /* [n] */
    char **names;                      /* [width] */
};

static void close_indicators(void *ctx)
{
    struct indicators *all = ctx;
    for (size_t i = 0; all->streams && i < all->n; i++)
        indicator_stream_close(all->streams[i]);
    for (size_t k = 0; all->names && k < all->width; k++)
        free(all->names[k]);
    free(all->streams);
    free(all->names);
    free(all->specs);
    free(all);
}

static int start(void *ctx)
{
    struct indicators *all = ctx;
    for (size_t i = 0; i < all->n; i++) {
        struct indicator_stream *fresh;
        int r = indicator_stream_open(&all->specs[i], &fresh);
        if (r < 0)
            return r;
        indicator_stream_close(all->streams[i]);
        all->streams[i] = fresh;
    }
    return 0;
}

static int take_bar(void *ctx, const struct indicator_bar *bar, struct spark_columns *columns, int64_t row,
                    char *err, size_t err_cap)
{
    struct indicators *all = ctx;
    size_t column = 0;
    (void)err;
    (void)err_cap;
    for (size_t i = 0; i < all->n; i++) {
        double out[INDICATOR_OUTPUTS_MAX];
        size_t n_outputs = all->specs[i].row->n_outputs;
        bool ready = indicator_stream_update(all->streams[i], bar, out);
        for (size_t k = 0; k < n_outputs && ready && columns; k++)
            spark_columns_double(columns, column + k, row, out[k]);
        column += n_outputs;
    }
    return 0;
}

static void visit(void *ctx, const struct indicator_stream_fields *fields)
{
    struct indicators *all = ctx;
    for (size_t i = 0; i < all->n; i++)
        indicator_stream_visit(all->streams[i], fields);
}

static int warmup(void *ctx, int64_t *ret, char *err, size_t err_cap)
{
    struct indicators *all = ctx;
    size_t most = 0;
    for (size_t i = 0; i < all->n; i++) {
        size_t bars = indicator_warmup(&all->specs[i], INDICATOR_F64);
        char text[SPEC_TEXT_MAX];
        indicator_spec_text(&all->specs[i], text, sizeof(text));
        if (bars == INDICATOR_FOREVER)
            return spark_run_forever(text, err, err_cap);
        most = bars > most ? bars : most;
    }
    *ret = (int64_t)most;
    return 0;
}

static int parse_line(const char *line, size_t n, struct indicator_spec *ret, char *err, size_t err_cap)
{
    char *text = strndup(line, n), wrong[300];
    if (!text)
        return -ENOMEM;
    int r = indicator_spec_parse(text, ret, wrong, sizeof(wrong));
    if (r < 0)
        (void)fail_with(r, err, err_cap, "%s: %s", text, wrong);
    free(text);
    return r;
}

int spark_specs_parse(const char *specs, struct indicator_spec **ret, size_t *ret_n, char *err,
                      size_t err_cap)
{
    size_t n = 0, most = 1;
    int r = 0;
    for (const char *c = specs; *c; c++)
        most += *c == '\n';
    struct indicator_spec *all = calloc(most, sizeof(*all));
    if (!all)
        return -ENOMEM;
    for (const char *line = specs; *line && r == 0; n++) {
        size_t length = strcspn(line, "\n");
        r = parse_line(line, length, &all[n], err, err_cap);
        line += length + (line[length] == '\n');
    }
    if (r == 0 && n == 0)
        r = fail_with(-EINVAL, err, err_cap, "no specification: at least one is needed, as sma:20");
    if (r < 0) {
        free(all);
        return r;
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

static int name_columns(struct indicators *all, char *err, size_t err_cap)
{
    size_t column = 0;
    if (!(all->names = calloc(all->width + 1, sizeof(*all->names))))
        return -ENOMEM;
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->specs[i].row->n_outputs; k++) {
            char name[SPEC_TEXT_MAX];
            indicator_spec_name(&all->specs[i], k, name, sizeof(name));
            for (size_t before = 0; before < column; before++)
                if (strcmp(all->names[before], name) == 0)
                    return fail_with(-EINVAL, err, err_cap, "%s is asked for twice: once is enough", name);
            if (!(all->names[column++] = strdup(name)))
                return -ENOMEM;
        }
    return 0;
}

/* With every option written out, so that "ema" and "ema:30" have one meaning. */
static uint64_t meaning(const struct indicators *all)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < all->n; i++) {
        char text[SPEC_TEXT_MAX];
        indicator_spec_text(&all->specs[i], text, sizeof(text));
        hash = hash * 31 + spark_meaning(text);
    }
    return hash;
}

static int open_indicators(struct indicators *all, const char *specs, char *err, size_t err_cap)
{
    int r = spark_specs_parse(specs, &all->specs, &all->n, err, err_cap);
    if (r < 0)
        return r;
    for (size_t i = 0; i < all->n; i++)
        all->width += all->specs[i].row->n_outputs;
    all->streams = calloc(all->n, sizeof(*all->streams));
    return all->streams ? name_columns(all, err, err_cap) : -ENOMEM;
}

int papertape_spark_indicators(const char *specs, struct papertape_spark **ret, char *err, size_t err_cap)
{
    struct indicators *all = calloc(1, sizeof(*all));
    if (!all)
        return spark_run_memory(-ENOMEM, err, err_cap);
    int r = open_indicators(all, specs, err, err_cap);
    if (r == 0)
        r = start(all);
    if (r < 0) {
        close_indicators(all);
        return spark_run_memory(r, err, err_cap);
    }
    const struct spark_computation computation = {
        .width = all->width,
        .names = (const char *const *)all->names,
        .wide = true,
        .start = start,
        .bar = take_bar,
        .visit = visit,
        .warmup = warmup,
        .close = close_indicators,
        .meaning = meaning(all),
    };
    return spark_run_memory(spark_run_create(&computation, all, ret), err, err_cap);
}
