/* What a shared object's indicator computes, behind the rules of all indicators. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/plugin_rows.h"
#include "indicators_gpu/plugin_watch.h"

enum { STATE_ALIGNMENT = 16 };

size_t indicator_plugin_bytes(const struct indicator_spec *spec)
{
    const struct indicator_plugin *plugin = spec->row->plugin;
    size_t bytes = INDICATOR_PLUGIN_CALL(plugin->file, plugin->table.state_size(spec->options));
    return (bytes + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;
}

static double number_or_nan(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

/* Only what it reads: what it may not see is 0. */
static struct papertape_bar visible(unsigned inputs, const struct indicator_bar *bar)
{
    return (struct papertape_bar){.open = inputs & INDICATOR_OPEN ? bar->open : 0,
                                  .high = inputs & INDICATOR_HIGH ? bar->high : 0,
                                  .low = inputs & INDICATOR_LOW ? bar->low : 0,
                                  .close = inputs & INDICATOR_CLOSE ? bar->close : 0,
                                  .volume = inputs & INDICATOR_VOLUME ? bar->volume : 0,
                                  .time = inputs & INDICATOR_TIME ? bar->time : 0};
}

bool indicator_plugin_next(const struct indicator_spec *spec, void *state, uint64_t before,
                           const struct indicator_bar *bar, double out[INDICATOR_OUTPUTS_MAX])
{
    const struct papertape_indicator *table = &spec->row->plugin->table;
    const struct papertape_bar seen = visible(spec->row->inputs, bar);
    double values[INDICATOR_OUTPUTS_MAX] = {NAN, NAN, NAN, NAN};
    indicator_plugin_running = spec->row->plugin->file->path;
    table->update(spec->options, state, &seen, values);
    indicator_plugin_running = NULL;
    if (before < indicator_lookback(spec))
        return false;
    for (size_t k = 0; k < spec->row->n_outputs; k++)
        out[k] = number_or_nan(values[k]);
    return true;
}

void indicator_plugin_visit(const struct indicator_spec *spec, void *state, uint64_t *bars,
                            const struct indicator_stream_fields *fields)
{
    uint64_t own = indicator_plugin_bytes(spec) / sizeof(uint64_t), n = own, *words = state;
    fields->count(fields->ctx, &n, INDICATOR_PLUGIN_STATE_MAX / sizeof(uint64_t));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t other = 0;
        fields->count(fields->ctx, n == own ? &words[i] : &other, UINT64_MAX);
    }
    if (n != own) {
        memset(state, 0, own * sizeof(uint64_t));
        *bars = 0;
    }
}

static int bar_by_bar(const struct indicator_spec *spec, const struct indicator_columns *in, size_t n,
                      double *const out[])
{
    void *state = calloc(1, indicator_plugin_bytes(spec) + 1);
    if (!state)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct indicator_bar bar = {in->open ? in->open[i] : 0,     in->high ? in->high[i] : 0,
                                          in->low ? in->low[i] : 0,       in->close ? in->close[i] : 0,
                                          in->volume ? in->volume[i] : 0, in->time ? in->time[i] : 0};
        double values[INDICATOR_OUTPUTS_MAX];
        bool ready = indicator_plugin_next(spec, state, i, &bar, values);
        for (size_t k = 0; k < spec->row->n_outputs && ready; k++)
            out[k][i] = values[k];
    }
    free(state);
    return 0;
}

int indicator_plugin_reference(const struct indicator_spec *spec, const struct indicator_columns *in,
                               size_t n, double *const out[])
{
    const struct papertape_indicator *table = &spec->row->plugin->table;
    unsigned inputs = spec->row->inputs;
    if (!table->batch)
        return bar_by_bar(spec, in, n, out);
    const struct papertape_bars bars = {.open = inputs & INDICATOR_OPEN ? in->open : NULL,
                                        .high = inputs & INDICATOR_HIGH ? in->high : NULL,
                                        .low = inputs & INDICATOR_LOW ? in->low : NULL,
                                        .close = inputs & INDICATOR_CLOSE ? in->close : NULL,
                                        .volume = inputs & INDICATOR_VOLUME ? in->volume : NULL,
                                        .time = inputs & INDICATOR_TIME ? in->time : NULL};
    indicator_plugin_running = spec->row->plugin->file->path;
    table->batch(spec->options, &bars, n, out);
    indicator_plugin_running = NULL;
    const size_t first = indicator_lookback(spec);
    for (size_t k = 0; k < spec->row->n_outputs; k++)
        for (size_t i = first; i < n; i++)
            out[k][i] = number_or_nan(out[k][i]);
    return 0;
}

/* ---- a spec of a request ---- */

static int compute_f32(const struct indicator_request *request, const struct indicator_spec *spec,
                       const struct indicator_columns *in, void *const *out, size_t n)
{
    const double *const *columns = &in->open;
    double *wide[INDICATOR_COLUMNS] = {NULL}, *values[INDICATOR_OUTPUTS_MAX] = {NULL};
    bool memory = true;
    for (size_t c = 0; c < INDICATOR_COLUMNS && memory; c++)
        if (columns[c] && 1u << c != INDICATOR_TIME) {
            memory = (wide[c] = malloc(n * sizeof *wide[c])) != NULL;
            for (size_t i = 0; i < n && memory; i++)
                wide[c][i] = (double)((const float *)request->columns[c].values)[i];
        }
    for (size_t k = 0; k < spec->row->n_outputs && memory; k++)
        memory = (values[k] = malloc(n * sizeof *values[k])) != NULL;
    const struct indicator_columns widened = {wide[0], wide[1], wide[2], wide[3], wide[4], in->time};
    int r = memory ? indicator_reference(spec, &widened, n, values) : -ENOMEM;
    for (size_t k = 0; k < spec->row->n_outputs; k++) {
        for (size_t i = 0; i < n && r == 0; i++)
            ((float *)out[k])[i] = (float)values[k][i];
        free(values[k]);
    }
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        free(wide[c]);
    return r;
}

int indicator_plugin_compute(const struct indicator_request *request, size_t spec, void *const *out, size_t n,
                             size_t *ret_bad)
{
    const struct indicator_spec *asked = &request->specs[spec];
    const double *columns[INDICATOR_COLUMNS];
    double *values[INDICATOR_OUTPUTS_MAX];
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        columns[c] = asked->row->inputs & 1u << c ? request->columns[c].values : NULL;
    const struct indicator_columns in = {columns[0], columns[1], columns[2],
                                         columns[3], columns[4], columns[5]};
    if (request->precision == INDICATOR_F32)
        return compute_f32(request, asked, &in, out, n);
    size_t start;
    int r = indicator_check(asked->row, &in, n, &start, ret_bad);
    for (size_t k = 0; k < asked->row->n_outputs; k++)
        values[k] = out[k];
    return r < 0 ? r : indicator_reference(asked, &in, n, values);
}
