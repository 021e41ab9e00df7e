/* The streams' kernels: one thread a symbol and specification, the bits of indicator_stream_update() and
 * indicator_stream_peek().
 *
 * A block takes STREAM_THREADS bars and one specification, so that its threads do the same work. A symbol's
 * memory is one piece, records in the specs' order, so that it moves to the host and back in one copy; a
 * thread reads its record straight from there (the second touch of a line is in L1). Bytes of an update: 56 a
 * bar and spec in, the record in and out, the outputs. With 500 symbols that is well below a megabyte: the
 * call costs what an upload, a launch and a download cost, 15 us, and then the longest window's loads. */
#ifndef INDICATORS_GPU_CUDA_STREAMS_H
#define INDICATORS_GPU_CUDA_STREAMS_H

#include <string.h>

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/cuda/block.h"
#include "indicators_gpu/step/bar.h"
#include "indicators_gpu/step/dispatch.h"

enum { STREAM_THREADS = 32 };

struct streams_view {
    unsigned char *memory; /* [symbols][symbol_bytes] */
    unsigned char *ahead;  /* the same again, for a look ahead on a copy */
    size_t symbol_bytes;
    const struct gpu_stream_spec *specs;
    const struct gpu_stream_bar *bars;
    unsigned n_symbols, n_specs, n_outputs, n_bars;
    bool commit;
    double *out;    /* [n_bars][n_outputs] */
    uint8_t *ready; /* [n_bars][n_specs] */
};

/* Blocks of a launch for n symbols or bars; 0 where that is more than a launch can have. */
static inline unsigned streams_blocks(size_t n, size_t n_specs)
{
    size_t groups = (n + STREAM_THREADS - 1) / STREAM_THREADS;
    return n_specs > 0 && groups > INT32_MAX / n_specs ? 0 : (unsigned)(groups * n_specs);
}

/* Sets the memories, which are zero, to the state before any bar. */
BLOCK_FN void block_streams_start(const struct streams_view *v, unsigned block)
{
    const struct gpu_stream_spec *spec = &v->specs[block % v->n_specs];
    BLOCK_PHASE(t, STREAM_THREADS)
    {
        size_t symbol = (size_t)(block / v->n_specs) * STREAM_THREADS + t;
        if (symbol >= v->n_symbols)
            continue;
        unsigned char *record = v->memory + symbol * v->symbol_bytes + spec->record;
        step_start(spec->kernel, record + sizeof(struct gpu_stream_head), spec->options);
    }
}

/* As indicator_stream_update() in stream/stream.c, and with `commit` false as indicator_stream_peek(). */
BLOCK_FN bool streams_step(const struct streams_view *v, const struct gpu_stream_spec *spec,
                           const struct gpu_stream_bar *in, double out[INDICATOR_OUTPUTS_MAX])
{
    size_t at = in->symbol * v->symbol_bytes + spec->record;
    struct gpu_stream_head *head = (struct gpu_stream_head *)(v->memory + at);
    enum bar_kind kind = bar_kind(spec->inputs, &in->bar);
    void *state = head + 1;

    if (kind != BAR_FINITE) {
        if (v->commit && (kind == BAR_HAS_INFINITY || head->bars > 0))
            head->refused++;
        return false;
    }
    if (v->commit) {
        head->bars++;
    } else {
        const uint64_t *from = (const uint64_t *)state;
        uint64_t *to = (uint64_t *)(v->ahead + at + sizeof(*head));
        for (size_t i = 0; i < spec->bytes / sizeof(uint64_t); i++)
            to[i] = from[i];
        state = to;
    }
    return step_next(spec->kernel, state, &in->bar, out);
}

BLOCK_FN void block_streams_step(const struct streams_view *v, unsigned block)
{
    unsigned k = block % v->n_specs;
    const struct gpu_stream_spec *spec = &v->specs[k];
    BLOCK_PHASE(t, STREAM_THREADS)
    {
        size_t i = (size_t)(block / v->n_specs) * STREAM_THREADS + t;
        if (i >= v->n_bars)
            continue;
        double out[INDICATOR_OUTPUTS_MAX];
        bool is_ready = streams_step(v, spec, &v->bars[i], out);
        for (unsigned o = 0; o < spec->outputs; o++)
            v->out[i * v->n_outputs + spec->out + o] = is_ready ? out[o] : NAN;
        v->ready[i * v->n_specs + k] = is_ready;
    }
}

#endif
