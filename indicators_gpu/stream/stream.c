#include "indicators_gpu/stream.h"

#include <errno.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/stream/classes.h"

struct indicator_stream {
    struct indicator_spec spec;
    uint64_t bars, refused;
    size_t state_bytes;
    alignas(max_align_t) unsigned char state[];
};

int indicator_stream_open(const struct indicator_spec *spec, struct indicator_stream **ret)
{
    const struct indicator *row = spec->row;
    for (size_t i = 0; i < row->n_options; i++) {
        const struct indicator_option *option = &row->options[i];
        double value = spec->options[i];
        if (!(value >= option->min && value <= option->max) || (option->whole && value != floor(value)))
            return -EINVAL;
    }

    size_t bytes = row->stream->bytes(spec->options);
    struct indicator_stream *s = calloc(1, sizeof(*s) + bytes);
    if (!s)
        return -ENOMEM;
    s->spec = *spec;
    s->state_bytes = bytes;
    row->stream->start(s->state, s->spec.options);
    *ret = s;
    return 0;
}

enum bar_kind { BAR_FINITE, BAR_HAS_NAN, BAR_HAS_INFINITY };

static enum bar_kind kind_of(unsigned inputs, const struct indicator_bar *bar)
{
    const double values[INDICATOR_COLUMNS] = {bar->open, bar->high, bar->low, bar->close, bar->volume};
    enum bar_kind kind = BAR_FINITE;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        if (!(inputs & 1u << c) || isfinite(values[c]))
            continue;
        if (isnan(values[c]))
            return BAR_HAS_NAN;
        kind = BAR_HAS_INFINITY;
    }
    return kind;
}

bool indicator_stream_update(struct indicator_stream *s, const struct indicator_bar *bar,
                             double out[INDICATOR_OUTPUTS_MAX])
{
    enum bar_kind kind = kind_of(s->spec.row->inputs, bar);
    if (kind != BAR_FINITE) {
        if (kind == BAR_HAS_INFINITY || s->bars > 0)
            s->refused++;
        return false;
    }
    s->bars++;
    return s->spec.row->stream->update(s->state, bar, out);
}

bool indicator_stream_peek(const struct indicator_stream *s, const struct indicator_bar *bar,
                           double out[INDICATOR_OUTPUTS_MAX])
{
    return kind_of(s->spec.row->inputs, bar) == BAR_FINITE && s->spec.row->stream->peek(s->state, bar, out);
}

int indicator_stream_clone(const struct indicator_stream *s, struct indicator_stream **ret)
{
    size_t bytes = sizeof(*s) + s->state_bytes;
    struct indicator_stream *copy = malloc(bytes);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, s, bytes);
    *ret = copy;
    return 0;
}

void indicator_stream_visit(struct indicator_stream *s, const struct indicator_stream_fields *fields)
{
    fields->count(fields->ctx, &s->bars, UINT64_MAX);
    fields->count(fields->ctx, &s->refused, UINT64_MAX);
    s->spec.row->stream->visit(s->state, fields);
}

void indicator_stream_close(struct indicator_stream *s)
{
    free(s);
}

uint64_t indicator_stream_bars(const struct indicator_stream *s)
{
    return s->bars;
}

uint64_t indicator_stream_refused(const struct indicator_stream *s)
{
    return s->refused;
}

const struct indicator_spec *indicator_stream_spec(const struct indicator_stream *s)
{
    return &s->spec;
}
