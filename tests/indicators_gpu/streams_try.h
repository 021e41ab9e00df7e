/* The device's streams against the host's, bit by bit: on the CPU by device_streams.c, on a device by
 * device.c. */
#ifndef TESTS_INDICATORS_GPU_STREAMS_TRY_H
#define TESTS_INDICATORS_GPU_STREAMS_TRY_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/module.h"
#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"

struct streams_try {
    struct gpu_streams *device;
    size_t n_symbols, n_specs, n_outputs;
    struct indicator_spec specs[TEST_SPECS];
    struct indicator_stream **host; /* [symbol][spec] */
    struct indicator_bar *bars;     /* of one call */
    uint32_t *symbols;
    double *out;
    uint8_t *ready;
};

static struct streams_try streams_try_make(struct gpu_module *module, size_t n_symbols, size_t n_specs)
{
    struct streams_try t = {.n_symbols = n_symbols, .n_specs = n_specs};
    char reason[GPU_REASON_MAX] = "";
    for (size_t k = 0; k < n_specs; k++)
        t.specs[k] = test_spec(test_specs[k]);
    CHECK_INT(gpu_streams_create(module, n_symbols, t.specs, n_specs, &t.device, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
    t.n_outputs = gpu_streams_outputs(t.device);
    t.host = calloc(n_symbols * n_specs, sizeof(struct indicator_stream *));
    t.bars = calloc(n_symbols, sizeof(*t.bars));
    t.symbols = calloc(n_symbols, sizeof(*t.symbols));
    t.out = calloc(n_symbols * t.n_outputs, sizeof(*t.out));
    t.ready = calloc(n_symbols * n_specs, 1);
    if (!t.host || !t.bars || !t.symbols || !t.out || !t.ready)
        abort();
    for (size_t i = 0; i < n_symbols * n_specs; i++)
        CHECK_INT(indicator_stream_open(&t.specs[i % n_specs], &t.host[i]), 0);
    return t;
}

static void streams_try_free(struct streams_try *t)
{
    gpu_streams_destroy(t->device);
    for (size_t i = 0; i < t->n_symbols * t->n_specs; i++)
        indicator_stream_close(t->host[i]);
    free(t->host);
    free(t->bars);
    free(t->symbols);
    free(t->out);
    free(t->ready);
}

/* Gives the first n bars of the call to both, and compares. */
static void streams_try_step(struct streams_try *t, size_t n, bool commit)
{
    char reason[GPU_REASON_MAX] = "";
    size_t misses = 0;
    memset(t->ready, 2, n * t->n_specs);
    int r =
        commit
            ? gpu_streams_update(t->device, t->symbols, t->bars, n, t->out, t->ready, reason, sizeof(reason))
            : gpu_streams_peek(t->device, t->symbols, t->bars, n, t->out, t->ready, reason, sizeof(reason));
    CHECK_INT(r, 0);
    CHECK_STR(reason, "");
    for (size_t i = 0; i < n; i++) {
        const double *got = t->out + i * t->n_outputs;
        for (size_t k = 0; k < t->n_specs; k++) {
            struct indicator_stream *s = t->host[t->symbols[i] * t->n_specs + k];
            double want[INDICATOR_OUTPUTS_MAX] = {0};
            bool ready = commit ? indicator_stream_update(s, &t->bars[i], want)
                                : indicator_stream_peek(s, &t->bars[i], want);
            size_t before = misses;
            misses += t->ready[i * t->n_specs + k] != ready;
            for (size_t o = 0; o < t->specs[k].row->n_outputs; o++, got++)
                if (ready && !isnan(want[o]))
                    misses += memcmp(got, &want[o], sizeof(want[o])) != 0;
                else
                    misses += !isnan(*got);
            if (misses > before)
                fprintf(stderr, "  %s of symbol %u\n", test_specs[k], t->symbols[i]);
        }
    }
    CHECK_INT(misses, 0);
}

/* Makes the bars of one call: a random part of the symbols in a random order, some of them with a NaN or an
 * infinity. Returns how many. */
static size_t streams_try_bars(struct streams_try *t, const struct series all[], size_t bar, uint64_t *seed)
{
    size_t n = 0;
    for (size_t s = 0; s < t->n_symbols; s++) {
        double chance = series_uniform(seed);
        if (chance < 0.2)
            continue;
        size_t at = (size_t)(series_uniform(seed) * (double)(n + 1));
        memmove(&t->symbols[at + 1], &t->symbols[at], (n - at) * sizeof(*t->symbols));
        memmove(&t->bars[at + 1], &t->bars[at], (n - at) * sizeof(*t->bars));
        t->symbols[at] = (uint32_t)s;
        t->bars[at] = series_bar(&all[s], bar);
        if (chance > 0.99)
            t->bars[at].close = t->bars[at].high = t->bars[at].volume = chance > 0.995 ? NAN : INFINITY;
        n++;
    }
    return n;
}

/* The CPU takes over, continues alone, and hands back. */
static void streams_try_handover(struct streams_try *t, const struct series all[], size_t bar)
{
    char reason[GPU_REASON_MAX] = "";
    size_t n = t->n_symbols * t->n_specs, first = t->n_symbols / 3;
    struct indicator_stream **saved = calloc(n, sizeof(struct indicator_stream *));
    double a[INDICATOR_OUTPUTS_MAX], b[INDICATOR_OUTPUTS_MAX];
    if (!saved)
        abort();
    for (size_t i = 0; i < n; i++)
        if (i % 7 != 3)
            CHECK_INT(indicator_stream_open(&t->specs[i % t->n_specs], &saved[i]), 0);
    CHECK_INT(gpu_streams_save(t->device, 0, t->n_symbols, saved, reason, sizeof(reason)), 0);
    for (size_t i = 0; i < n; i++) {
        if (!saved[i])
            continue;
        CHECK(indicator_stream_bars(saved[i]) == indicator_stream_bars(t->host[i]));
        CHECK(indicator_stream_refused(saved[i]) == indicator_stream_refused(t->host[i]));
        struct indicator_bar next = series_bar(&all[i / t->n_specs], bar);
        bool ready = indicator_stream_update(t->host[i], &next, a);
        CHECK(ready == indicator_stream_update(saved[i], &next, b));
        for (size_t o = 0; ready && o < t->specs[i % t->n_specs].row->n_outputs; o++)
            CHECK(memcmp(&a[o], &b[o], sizeof(a[o])) == 0 || (isnan(a[o]) && isnan(b[o])));
    }
    /* Back, in two pieces; those that were left out stay as they are on the device. */
    const struct indicator_stream *const *from = (const struct indicator_stream *const *)saved;
    CHECK_INT(gpu_streams_load(t->device, 0, first, from, reason, sizeof(reason)), 0);
    CHECK_INT(gpu_streams_load(t->device, first, t->n_symbols - first, from + first * t->n_specs, reason,
                               sizeof(reason)),
              0);
    CHECK_STR(reason, "");
    for (size_t i = 0; i < n; i++)
        indicator_stream_close(saved[i]);
    free(saved);
}

static void streams_try_refusals(struct streams_try *t)
{
    char reason[GPU_REASON_MAX];
    struct indicator_stream *other = t->host[1];
    uint32_t symbols[2] = {0, 0};
    struct indicator_bar bars[2] = {{0}, {0}};
    CHECK_INT(gpu_streams_update(t->device, symbols, bars, 2, t->out, t->ready, reason, sizeof(reason)),
              -EINVAL);
    CHECK_STR(reason, "symbol 0 is there twice");
    symbols[1] = (uint32_t)t->n_symbols;
    CHECK_INT(gpu_streams_peek(t->device, symbols, bars, 2, t->out, t->ready, reason, sizeof(reason)),
              -EINVAL);
    CHECK(strstr(reason, "none of the streams'"));
    t->host[1] = t->host[0];
    CHECK_INT(gpu_streams_save(t->device, 0, 1, t->host, reason, sizeof(reason)), -EINVAL);
    t->host[1] = other;
    CHECK_INT(gpu_streams_save(t->device, t->n_symbols, 1, t->host, reason, sizeof(reason)), -EINVAL);
    CHECK_INT(gpu_streams_update(t->device, symbols, bars, 0, t->out, t->ready, reason, sizeof(reason)), 0);
}

/* Symbols that live through different markets, in calls for a part of them each, with looks ahead, refused
 * bars, and the CPU in between. */
static void streams_try_all(struct gpu_module *module, size_t n_symbols, size_t n_specs, size_t n_bars)
{
    struct streams_try t = streams_try_make(module, n_symbols, n_specs);
    struct series *all = calloc(n_symbols, sizeof(*all));
    uint64_t seed = 2024;
    if (!all)
        abort();
    for (size_t s = 0; s < n_symbols; s++)
        all[s] = series_make(n_bars, (enum series_kind)(s % SERIES_KINDS), 500 + s);
    streams_try_refusals(&t);
    for (size_t i = 0; i < n_bars; i++) {
        size_t n = streams_try_bars(&t, all, i, &seed);
        if (i % 3 == 0)
            streams_try_step(&t, n, false);
        streams_try_step(&t, n, true);
        if (i % 200 == 99)
            streams_try_handover(&t, all, i);
    }
    for (size_t s = 0; s < n_symbols; s++)
        series_free(&all[s]);
    free(all);
    streams_try_free(&t);
}

#endif
