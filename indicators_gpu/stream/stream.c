/* Streams: a row's memory (step/), and a second one for peek(). */
#include <errno.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/plugin_rows.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/bar.h"
#include "indicators_gpu/step/dispatch.h"
#include "indicators_gpu/stream/memory.h"

struct indicator_stream {
    struct indicator_spec spec;
    uint64_t bars, refused;
    size_t state_bytes;
    unsigned char *ahead; /* peek()'s copy of the state, after it */
    alignas(max_align_t) unsigned char state[];
};

/* A stream and both its memories. */
static size_t stream_bytes(size_t state_bytes)
{
    return sizeof(struct indicator_stream) + 2 * state_bytes;
}

static size_t state_bytes(const struct indicator_spec *spec)
{
    return spec->row->plugin ? indicator_plugin_bytes(spec) : step_bytes(spec->row->id, spec->options);
}

/* Takes a finite bar into a memory of the stream's, after `before` others. */
static bool next(const struct indicator_stream *s, void *state, uint64_t before,
                 const struct indicator_bar *bar, double out[INDICATOR_OUTPUTS_MAX])
{
    return s->spec.row->plugin ? indicator_plugin_next(&s->spec, state, before, bar, out)
                               : step_next(s->spec.row->id, state, bar, out);
}

size_t indicator_stream_bytes(const struct indicator_spec *spec)
{
    return stream_bytes(state_bytes(spec));
}

int indicator_stream_open(const struct indicator_spec *spec, struct indicator_stream **ret)
{
    if (!indicator_spec_valid(spec))
        return -EINVAL;
    size_t bytes = state_bytes(spec);
    struct indicator_stream *s = calloc(1, stream_bytes(bytes));
    if (!s)
        return -ENOMEM;
    s->spec = *spec;
    s->state_bytes = bytes;
    s->ahead = s->state + bytes;
    if (!spec->row->plugin)
        step_start(spec->row->id, s->state, s->spec.options);
    *ret = s;
    return 0;
}

bool indicator_stream_update(struct indicator_stream *s, const struct indicator_bar *bar,
                             double out[INDICATOR_OUTPUTS_MAX])
{
    enum bar_kind kind = bar_kind(s->spec.row->inputs, bar);
    if (kind != BAR_FINITE) {
        if (kind == BAR_HAS_INFINITY || s->bars > 0)
            s->refused++;
        return false;
    }
    return next(s, s->state, s->bars++, bar, out);
}

bool indicator_stream_peek(const struct indicator_stream *s, const struct indicator_bar *bar,
                           double out[INDICATOR_OUTPUTS_MAX])
{
    if (bar_kind(s->spec.row->inputs, bar) != BAR_FINITE)
        return false;
    memcpy(s->ahead, s->state, s->state_bytes);
    return next(s, s->ahead, s->bars, bar, out);
}

int indicator_stream_clone(const struct indicator_stream *s, struct indicator_stream **ret)
{
    struct indicator_stream *copy = malloc(stream_bytes(s->state_bytes));
    if (!copy)
        return -ENOMEM;
    memcpy(copy, s, sizeof(*s) + s->state_bytes);
    copy->ahead = copy->state + copy->state_bytes;
    *ret = copy;
    return 0;
}

void indicator_stream_visit(struct indicator_stream *s, const struct indicator_stream_fields *fields)
{
    fields->count(fields->ctx, &s->bars, UINT64_MAX);
    fields->count(fields->ctx, &s->refused, UINT64_MAX);
    if (s->spec.row->plugin)
        indicator_plugin_visit(&s->spec, s->state, &s->bars, fields);
    else
        s->spec.row->code->visit(s->state, fields);
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

void stream_memory_get(const struct indicator_stream *s, uint64_t *ret_bars, uint64_t *ret_refused,
                       void *state)
{
    *ret_bars = s->bars;
    *ret_refused = s->refused;
    memcpy(state, s->state, s->state_bytes);
}

void stream_memory_set(struct indicator_stream *s, uint64_t bars, uint64_t refused, const void *state)
{
    s->bars = bars;
    s->refused = refused;
    memcpy(s->state, state, s->state_bytes);
}
