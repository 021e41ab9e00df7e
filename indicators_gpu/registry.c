#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "indicators_gpu/plugin_rows.h"
#include "indicators_gpu/plugin_watch.h"
#include "indicators_gpu/registry.h"

/* Sorted by name, as the list is. */
static const struct indicator *const rows[] = {
#define INDICATOR_LISTED(number, ID, row, kernels) &indicator_##row,
    INDICATOR_ROWS(INDICATOR_LISTED)
#undef INDICATOR_LISTED
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct indicator *const *indicator_rows(size_t *ret_n)
{
    *ret_n = N_ROWS;
    return rows;
}

const struct indicator *indicator_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcasecmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

size_t indicator_lookback(const struct indicator_spec *spec)
{
    const struct indicator_plugin *plugin = spec->row->plugin;
    return plugin ? INDICATOR_PLUGIN_CALL(plugin->file, plugin->table.lookback(spec->options))
                  : spec->row->lookback(spec->options);
}

size_t indicator_warmup(const struct indicator_spec *spec, enum indicator_precision precision)
{
    const struct indicator_plugin *plugin = spec->row->plugin;
    if (!plugin)
        return spec->row->warmup(spec->options, precision);
    if (!plugin->table.warmup)
        return indicator_lookback(spec);
    return INDICATOR_PLUGIN_CALL(plugin->file, plugin->table.warmup(spec->options));
}

size_t indicator_bytes(const struct indicator_spec *spec, enum indicator_precision precision)
{
    size_t cell = precision == INDICATOR_F32 ? sizeof(float) : sizeof(double), bytes = 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (spec->row->inputs & 1u << c)
            bytes += 1u << c == INDICATOR_TIME ? sizeof(double) : cell;
    return bytes + spec->row->n_outputs * cell;
}

bool indicator_spec_valid(const struct indicator_spec *spec)
{
    for (size_t i = 0; i < spec->row->n_options; i++) {
        const struct indicator_option *option = &spec->row->options[i];
        double value = spec->options[i];
        if (!(value >= option->min && value <= option->max) || (option->whole && value != floor(value)))
            return false;
    }
    return true;
}

size_t indicator_lookback_window(const double options[])
{
    return (size_t)options[0] - 1;
}

size_t indicator_lookback_changes(const double options[])
{
    return (size_t)options[0];
}

size_t indicator_warmup_window(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return indicator_lookback_window(options);
}

size_t indicator_warmup_changes(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return indicator_lookback_changes(options);
}

size_t indicator_warmup_never(const double options[], enum indicator_precision precision)
{
    (void)options, (void)precision;
    return INDICATOR_FOREVER;
}

size_t indicator_warmup_decay(double k, enum indicator_precision precision)
{
    double digits = precision == INDICATOR_F32 ? 24.0 : 53.0;
    return k >= 1.0 ? 1 : (size_t)ceil(digits * M_LN2 / -log1p(-k));
}

/* The columns that the row reads, packed. Returns their number, or 0 when one is missing. */
static size_t needed(const struct indicator *row, const struct indicator_columns *in,
                     const double *ret[INDICATOR_COLUMNS])
{
    const double *all[INDICATOR_COLUMNS] = {in->open, in->high, in->low, in->close, in->volume, in->time};
    size_t n = 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        if (!(row->inputs & 1u << c))
            continue;
        if (!all[c])
            return 0;
        ret[n++] = all[c];
    }
    return n;
}

int indicator_check(const struct indicator *row, const struct indicator_columns *in, size_t n,
                    size_t *ret_start, size_t *ret_bad)
{
    const double *columns[INDICATOR_COLUMNS];
    size_t n_columns = n > 0 ? needed(row, in, columns) : 0, start = n;

    for (size_t i = 0; i < n; i++) {
        bool has_nan = false, has_infinity = false;
        for (size_t c = 0; c < n_columns; c++) {
            has_nan |= isnan(columns[c][i]);
            has_infinity |= isinf(columns[c][i]);
        }
        if (has_infinity || (has_nan && start < n)) {
            *ret_bad = i;
            return -EINVAL;
        }
        if (!has_nan && start == n)
            start = i;
    }
    *ret_start = start;
    return 0;
}

static bool overlap(const double *a, const double *b, size_t n)
{
    uintptr_t from_a = (uintptr_t)a, from_b = (uintptr_t)b, bytes = n * sizeof(double);
    return from_a < from_b + bytes && from_b < from_a + bytes;
}

static bool aligned(const double *column)
{
    return column && (uintptr_t)column % _Alignof(double) == 0;
}

/* Does the reference's memory overlap nowhere? */
static bool memory_is_sound(const double *const columns[], size_t n_columns, double *const out[],
                            size_t n_outputs, size_t n)
{
    for (size_t c = 0; c < n_columns; c++)
        if (!aligned(columns[c]))
            return false;
    for (size_t k = 0; k < n_outputs; k++) {
        if (!aligned(out[k]))
            return false;
        for (size_t c = 0; c < n_columns; c++)
            if (overlap(out[k], columns[c], n))
                return false;
        for (size_t before = 0; before < k; before++)
            if (overlap(out[k], out[before], n))
                return false;
    }
    return true;
}

int indicator_reference(const struct indicator_spec *spec, const struct indicator_columns *in, size_t n,
                        double *const out[])
{
    const struct indicator *row = spec->row;
    const double *columns[INDICATOR_COLUMNS];
    size_t start, bad, n_columns;

    if (!indicator_spec_valid(spec))
        return -EINVAL;
    if (n == 0)
        return 0;
    n_columns = needed(row, in, columns);
    if (n_columns == 0 || !memory_is_sound(columns, n_columns, out, row->n_outputs, n))
        return -EINVAL;
    int r = indicator_check(row, in, n, &start, &bad);
    if (r < 0)
        return r;

    size_t lookback = indicator_lookback(spec);
    bool any = n - start > lookback;
    size_t first = any ? start + lookback : n;
    double *from_start[INDICATOR_OUTPUTS_MAX] = {NULL};
    for (size_t k = 0; k < row->n_outputs; k++) {
        for (size_t i = 0; i < first; i++)
            out[k][i] = NAN;
        from_start[k] = any ? out[k] + start : NULL;
    }
    if (any) {
        struct indicator_columns shifted = {
            .open = in->open ? in->open + start : NULL,
            .high = in->high ? in->high + start : NULL,
            .low = in->low ? in->low + start : NULL,
            .close = in->close ? in->close + start : NULL,
            .volume = in->volume ? in->volume + start : NULL,
            .time = in->time ? in->time + start : NULL,
        };
        r = row->plugin ? indicator_plugin_reference(spec, &shifted, n - start, from_start)
                        : row->code->reference(spec->options, &shifted, n - start, from_start);
    }
    return r;
}
