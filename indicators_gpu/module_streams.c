/* Streams on the device, from the host's side: the layout of a symbol's memory, and copies from and to
 * streams of the host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/module_internal.h"
#include "indicators_gpu/step/dispatch.h"
#include "indicators_gpu/stream/memory.h"

struct gpu_streams {
    const struct gpu_indicators_api *api;
    struct gpu_device_streams *device;
    size_t n_symbols, n_specs, n_outputs, symbol_bytes;
    struct indicator_spec *specs;   /* [n_specs] */
    struct gpu_stream_spec *layout; /* [n_specs] */
    struct gpu_stream_bar *bars;    /* [n_symbols], for one call */
    uint32_t *call_of;              /* [n_symbols]: the last call that had a bar of the symbol */
    uint32_t call;
};

static int out_of_memory(char *reason, size_t cap)
{
    snprintf(reason, cap, "out of memory");
    return -ENOMEM;
}

/* Where each spec's record and outputs lie. */
static int lay_out(struct gpu_streams *s, char *reason, size_t cap)
{
    for (size_t k = 0; k < s->n_specs; k++) {
        const struct indicator_spec *spec = &s->specs[k];
        if (!indicator_spec_valid(spec)) {
            snprintf(reason, cap, "%s: an option is out of its range", spec->row->name);
            return -EINVAL;
        }
        if (spec->row->plugin) {
            snprintf(reason, cap, "%s is of a shared object, which has no kernels", spec->row->name);
            return -ENOTSUP;
        }
        struct gpu_stream_spec *l = &s->layout[k];
        *l = (struct gpu_stream_spec){
            .kernel = (uint32_t)spec->row->id,
            .inputs = spec->row->inputs,
            .outputs = (uint32_t)spec->row->n_outputs,
            .out = (uint32_t)s->n_outputs,
            .record = s->symbol_bytes,
            .bytes = step_bytes(spec->row->id, spec->options),
        };
        memcpy(l->options, spec->options, sizeof(l->options));
        s->n_outputs += l->outputs;
        s->symbol_bytes += sizeof(struct gpu_stream_head) + l->bytes;
    }
    return 0;
}

int gpu_streams_create(struct gpu_module *m, size_t n_symbols, const struct indicator_spec specs[],
                       size_t n_specs, struct gpu_streams **ret, char *reason, size_t cap)
{
    if (n_symbols == 0 || n_specs == 0 || n_symbols > UINT32_MAX || n_specs > UINT16_MAX) {
        snprintf(reason, cap, "%zu symbols of %zu streams: at least one of each, and fewer", n_symbols,
                 n_specs);
        return -EINVAL;
    }
    struct gpu_streams *s = calloc(1, sizeof(*s));
    if (!s)
        return out_of_memory(reason, cap);
    s->api = m->api;
    s->n_symbols = n_symbols;
    s->n_specs = n_specs;
    s->specs = calloc(n_specs, sizeof(*s->specs));
    s->layout = calloc(n_specs, sizeof(*s->layout));
    s->bars = calloc(n_symbols, sizeof(*s->bars));
    s->call_of = calloc(n_symbols, sizeof(*s->call_of));
    int r = 0;
    if (!s->specs || !s->layout || !s->bars || !s->call_of) {
        r = out_of_memory(reason, cap);
    } else {
        memcpy(s->specs, specs, n_specs * sizeof(*specs));
        r = lay_out(s, reason, cap);
    }
    if (r == 0)
        r = m->api->streams_create(m->device, n_symbols, s->symbol_bytes, s->layout, n_specs, &s->device,
                                   reason, cap);
    if (r < 0) {
        gpu_streams_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

void gpu_streams_destroy(struct gpu_streams *s)
{
    if (!s)
        return;
    if (s->device)
        s->api->streams_destroy(s->device);
    free(s->specs);
    free(s->layout);
    free(s->bars);
    free(s->call_of);
    free(s);
}

size_t gpu_streams_outputs(const struct gpu_streams *s)
{
    return s->n_outputs;
}

/* Do the host's streams fit the device's? NULL ones do. *ret_all: each is there. */
static int check_streams(const struct gpu_streams *s, size_t first, size_t n_symbols,
                         const struct indicator_stream *const streams[], bool *ret_all, char *reason,
                         size_t cap)
{
    bool all = true;
    if (first > s->n_symbols || n_symbols > s->n_symbols - first) {
        snprintf(reason, cap, "symbols %zu to %zu of %zu", first, first + n_symbols, s->n_symbols);
        return -EINVAL;
    }
    for (size_t i = 0; i < n_symbols * s->n_specs; i++) {
        if (!streams[i]) {
            all = false;
            continue;
        }
        const struct indicator_spec *own = &s->specs[i % s->n_specs],
                                    *its = indicator_stream_spec(streams[i]);
        if (its->row != own->row || memcmp(its->options, own->options, sizeof(own->options)) != 0) {
            snprintf(reason, cap, "symbol %zu: its stream %zu is another %s than the device's %s",
                     first + i / s->n_specs, i % s->n_specs, its->row->name, own->row->name);
            return -EINVAL;
        }
    }
    *ret_all = all;
    return 0;
}

int gpu_streams_load(struct gpu_streams *s, size_t first, size_t n_symbols,
                     const struct indicator_stream *const streams[], char *reason, size_t cap)
{
    bool all;
    int r = check_streams(s, first, n_symbols, streams, &all, reason, cap);
    if (r < 0 || n_symbols == 0)
        return r;
    unsigned char *memory = calloc(n_symbols, s->symbol_bytes);
    if (!memory)
        return out_of_memory(reason, cap);
    if (!all)
        r = s->api->streams_read(s->device, first, n_symbols, memory, reason, cap);
    for (size_t i = 0; i < n_symbols * s->n_specs && r == 0; i++) {
        if (!streams[i])
            continue;
        struct gpu_stream_head *head =
            (void *)(memory + i / s->n_specs * s->symbol_bytes + s->layout[i % s->n_specs].record);
        stream_memory_get(streams[i], &head->bars, &head->refused, head + 1);
    }
    if (r == 0)
        r = s->api->streams_write(s->device, first, n_symbols, memory, reason, cap);
    free(memory);
    return r;
}

int gpu_streams_save(struct gpu_streams *s, size_t first, size_t n_symbols,
                     struct indicator_stream *const streams[], char *reason, size_t cap)
{
    bool all;
    int r = check_streams(s, first, n_symbols, (const struct indicator_stream *const *)streams, &all, reason,
                          cap);
    if (r < 0 || n_symbols == 0)
        return r;
    unsigned char *memory = malloc(n_symbols * s->symbol_bytes);
    if (!memory)
        return out_of_memory(reason, cap);
    r = s->api->streams_read(s->device, first, n_symbols, memory, reason, cap);
    for (size_t i = 0; i < n_symbols * s->n_specs && r == 0; i++) {
        if (!streams[i])
            continue;
        const struct gpu_stream_head *head =
            (const void *)(memory + i / s->n_specs * s->symbol_bytes + s->layout[i % s->n_specs].record);
        stream_memory_set(streams[i], head->bars, head->refused, head + 1);
    }
    free(memory);
    return r;
}

static int step(struct gpu_streams *s, const uint32_t symbols[], const struct indicator_bar bars[], size_t n,
                bool commit, double out[], uint8_t ready[], char *reason, size_t cap)
{
    if (++s->call == 0) { /* once in four thousand million calls */
        memset(s->call_of, 0, s->n_symbols * sizeof(*s->call_of));
        s->call = 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (symbols[i] >= s->n_symbols || s->call_of[symbols[i]] == s->call) {
            snprintf(reason, cap, "symbol %u is %s", symbols[i],
                     symbols[i] < s->n_symbols ? "there twice" : "none of the streams'");
            return -EINVAL;
        }
        s->call_of[symbols[i]] = s->call;
        s->bars[i] = (struct gpu_stream_bar){symbols[i], bars[i]};
    }
    return n == 0 ? 0 : s->api->streams_step(s->device, s->bars, n, commit, out, ready, reason, cap);
}

int gpu_streams_update(struct gpu_streams *s, const uint32_t symbols[], const struct indicator_bar bars[],
                       size_t n, double out[], uint8_t ready[], char *reason, size_t cap)
{
    return step(s, symbols, bars, n, true, out, ready, reason, cap);
}

int gpu_streams_peek(struct gpu_streams *s, const uint32_t symbols[], const struct indicator_bar bars[],
                     size_t n, double out[], uint8_t ready[], char *reason, size_t cap)
{
    return step(s, symbols, bars, n, false, out, ready, reason, cap);
}
