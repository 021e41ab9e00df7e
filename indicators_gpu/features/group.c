#include "indicators_gpu/features/group.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

int feature_market_open(struct feature_market *market, const struct feature_set *set,
                        const struct feature_bars *bars, bool exact, char *err, size_t err_cap)
{
    struct feature_market m = {.bars = bars, .exact = exact};
    bool needs_close = false;
    for (size_t f = 0; f < set->n; f++)
        needs_close |=
            set->features[f].form == FEATURE_PER_CLOSE || set->features[f].form == FEATURE_OF_CLOSE;
    if (needs_close && !bars->columns.close && bars->n > 0)
        return fail_with(-EINVAL, err, err_cap, "column close is missing");
    m.frames = calloc(set->n, sizeof(*m.frames));
    int r = m.frames ? 0 : -ENOMEM;
    for (size_t f = 0; f < set->n && r == 0; f++) {
        size_t k = 0;
        while (k < m.n_frames && m.frames[k].seconds != set->features[f].timeframe_s)
            k++;
        if (set->features[f].timeframe_s == 0 || k < m.n_frames)
            continue;
        r = feature_timeframe_build(set->features[f].timeframe_s, bars, &m.frames[k], err, err_cap);
        m.n_frames += r == 0;
    }
    if (r < 0)
        feature_market_close(&m);
    else
        *market = m;
    return r;
}

void feature_market_close(struct feature_market *market)
{
    for (size_t k = 0; k < market->n_frames; k++)
        feature_timeframe_finish(&market->frames[k]);
    free(market->frames);
    *market = (struct feature_market){0};
}

size_t feature_group_count(const struct feature_set *set)
{
    return (set->n + GROUP_MAX - 1) / GROUP_MAX;
}

struct feature_group feature_group_at(const struct feature_set *set, size_t index, double *cells)
{
    size_t begin = index * GROUP_MAX, left = set->n - begin;
    return (struct feature_group){.begin = begin,
                                  .n = left < GROUP_MAX ? left : GROUP_MAX,
                                  .features = set->features + begin,
                                  .cells = cells};
}

double *feature_group_cells(const struct feature_market *market)
{
    size_t bytes = GROUP_MAX * INDICATOR_OUTPUTS_MAX * (market->bars->n + 1) * sizeof(double);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* The bars of a feature's indicator: the bars' own, or those of a timeframe. */
struct source {
    const struct feature_timeframe *frame; /* NULL: the bars' own */
    const struct indicator_columns *columns;
    size_t n;
};

static struct source source_of(const struct feature_market *market, const struct feature *feature)
{
    for (size_t k = 0; k < market->n_frames && feature->timeframe_s != 0; k++)
        if (market->frames[k].seconds == feature->timeframe_s)
            return (struct source){&market->frames[k], &market->frames[k].columns, market->frames[k].n};
    return (struct source){NULL, &market->bars->columns, market->bars->n};
}

static const double *column_at(const struct indicator_columns *columns, unsigned place)
{
    const double *const all[INDICATOR_COLUMNS] = {columns->open,  columns->high,   columns->low,
                                                  columns->close, columns->volume, columns->time};
    return all[place];
}

static bool same_spec(const struct feature *a, const struct feature *b)
{
    return a->spec.row == b->spec.row && a->timeframe_s == b->timeframe_s &&
           memcmp(a->spec.options, b->spec.options, a->spec.row->n_options * sizeof(a->spec.options[0])) == 0;
}

static int compute_one(const struct feature_market *market, const struct feature *feature,
                       double *const out[], char *err, size_t err_cap)
{
    struct source source = source_of(market, feature);
    size_t start, bad;
    const struct indicator *row = feature->spec.row;
    for (size_t c = 0; c < INDICATOR_COLUMNS && source.n > 0; c++)
        if ((row->inputs & 1u << c) && !column_at(source.columns, (unsigned)c))
            return fail_with(-EINVAL, err, err_cap, "%s: a column that %s reads is missing", feature->name,
                             row->name);
    if (market->exact) {
        int r = indicator_reference(&feature->spec, source.columns, source.n, out);
        if (r == -EINVAL && indicator_check(row, source.columns, source.n, &start, &bad) < 0)
            snprintf(err, err_cap, "%s: bar %zu is not finite", feature->name, bad);
        return r;
    }
    struct indicator_request request = {
        .precision = INDICATOR_F64, .n_specs = 1, .specs = &feature->spec, .out = (void *const *)out};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (column_at(source.columns, (unsigned)c))
            request.columns[c] = (struct indicator_column){column_at(source.columns, (unsigned)c), source.n};
    char why[FEATURE_ERROR_MAX - FEATURE_NAME_MAX - 8] = "";
    int r = indicator_compute(&request, why, sizeof(why));
    if (r == -EINVAL)
        snprintf(err, err_cap, "%s: %s", feature->name, why);
    return r;
}

int feature_group_compute(const struct feature_market *market, struct feature_group *group, char *err,
                          size_t err_cap)
{
    double *cells = group->cells;
    for (size_t k = 0; k < group->n; k++) {
        const struct feature *feature = &group->features[k];
        if (!feature->spec.row) {
            group->values[k] = column_at(source_of(market, feature).columns, feature->output);
            if (!group->values[k] && market->bars->n > 0)
                return fail_with(-EINVAL, err, err_cap, "%s: the column is missing", feature->name);
            continue;
        }
        size_t of = 0; /* an earlier feature of the group with other outputs of the same indicator */
        while (of < k && !(group->features[of].spec.row && same_spec(&group->features[of], feature)))
            of++;
        size_t stride = market->bars->n + 1;
        if (of < k) {
            unsigned before = group->features[of].output;
            group->values[k] =
                group->values[of] + ((ptrdiff_t)feature->output - (ptrdiff_t)before) * (ptrdiff_t)stride;
            continue;
        }
        double *out[INDICATOR_OUTPUTS_MAX] = {NULL};
        for (size_t o = 0; o < feature->spec.row->n_outputs; o++, cells += stride)
            out[o] = cells;
        int r = compute_one(market, feature, out, err, err_cap);
        if (r < 0)
            return r;
        group->values[k] = out[feature->output];
    }
    return 0;
}

void feature_form_apply(enum feature_form form, const double *close, size_t n, double *x)
{
    switch (form) {
    case FEATURE_RAW:
        break;
    case FEATURE_PER_CLOSE:
        for (size_t i = 0; i < n; i++)
            x[i] /= close[i];
        break;
    case FEATURE_OF_CLOSE:
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] / close[i] - 1.0;
        break;
    case FEATURE_PERCENT:
        for (size_t i = 0; i < n; i++)
            x[i] *= 0.01;
        break;
    case FEATURE_LOG1P:
        for (size_t i = 0; i < n; i++)
            x[i] = log1p(x[i]);
        break;
    }
}

void feature_group_values(const struct feature_market *market, const struct feature_group *group, size_t k,
                          size_t begin, size_t n, double x[])
{
    const struct feature *feature = &group->features[k];
    const double *values = group->values[k];
    struct source source = source_of(market, feature);
    for (size_t i = 0; i < n && source.frame; i++) {
        uint32_t closed = source.frame->closed[begin + i];
        x[i] = closed > 0 ? values[closed - 1] : NAN;
    }
    if (!source.frame)
        memcpy(x, values + begin, n * sizeof(*x));
    if (feature->form == FEATURE_RAW || feature->form == FEATURE_PERCENT || feature->form == FEATURE_LOG1P)
        feature_form_apply(feature->form, NULL, n, x);
    else
        feature_form_apply(feature->form, market->bars->columns.close + begin, n, x);
}

int feature_group_check(const struct feature *feature, const double x[], size_t begin, size_t n,
                        size_t *first, char *err, size_t err_cap)
{
    size_t i = 0;
    if (*first == SIZE_MAX) {
        while (i < n && isnan(x[i]))
            i++;
        if (i == n)
            return 0;
        *first = begin + i;
    }
    unsigned bad = 0;
    for (size_t k = i; k < n; k++)
        bad |= !(fabs(x[k]) <= DBL_MAX);
    if (bad == 0)
        return 0;
    while (isfinite(x[i]))
        i++;
    return fail_with(
        -EINVAL, err, err_cap,
        "%s has no finite value at bar %zu: a price or an indicator of 0, or below -1 under log1p",
        feature->name, begin + i);
}
