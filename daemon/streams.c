#include "daemon/streams.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_MAX = 64,      /* bars of a series that the device has taken and the host has not */
    MEMORY_VERSION = 1, /* raised when a row's definition, or what it remembers, changes */
};

struct kept_bars {
    struct indicator_bar bars[KEPT_MAX];
    int n;
};

struct streams {
    struct indicator_spec *specs;
    size_t n_specs, n_series, outputs;
    struct indicator_stream **all; /* [series * n_specs + spec]: the host's */
    struct gpu_streams *device;    /* NULL: the host's are the streams */
    struct kept_bars *kept;        /* [n_series] */
    uint8_t *ready;                /* [n_series * n_specs], for one call */
    char failure[GPU_REASON_MAX];
};

static struct indicator_stream **of(const struct streams *s, uint32_t series)
{
    return s->all + (size_t)series * s->n_specs;
}

/* Opens those of the series from n_series on; a failure closes what was opened. */
static int open_series(struct streams *s, size_t n_series)
{
    size_t first = s->n_specs * s->n_series, end = s->n_specs * n_series, i = first;
    int r = 0;
    while (i < end && r == 0) {
        r = indicator_stream_open(&s->specs[i % s->n_specs], &s->all[i]);
        i += r == 0;
    }
    while (r < 0 && i > first)
        indicator_stream_close(s->all[--i]);
    if (r == 0)
        s->n_series = n_series;
    return r;
}

int daemon_streams_create(const struct indicator_spec *specs, size_t n_specs, size_t n_series,
                          struct streams **ret)
{
    struct streams *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->n_specs = n_specs;
    s->specs = calloc(n_specs + 1, sizeof *s->specs);
    s->all = calloc(n_specs * n_series + 1, sizeof(struct indicator_stream *));
    int r = s->specs && s->all ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n_specs; i++) {
        s->specs[i] = specs[i];
        s->outputs += specs[i].row->n_outputs;
    }
    if (r == 0)
        r = open_series(s, n_series);
    if (r < 0) {
        daemon_streams_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* Stops using the device's streams. */
static void leave(struct streams *s)
{
    gpu_streams_destroy(s->device);
    free(s->kept);
    free(s->ready);
    s->device = NULL;
    s->kept = NULL;
    s->ready = NULL;
}

void daemon_streams_destroy(struct streams *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->all && i < s->n_specs * s->n_series; i++)
        indicator_stream_close(s->all[i]);
    leave(s);
    free(s->all);
    free(s->specs);
    free(s);
}

size_t daemon_streams_outputs(const struct streams *s)
{
    return s->outputs;
}

/* Closed bars change the host's streams; others leave them as they are. */
static void step(struct streams *s, uint32_t series, const struct indicator_bar *bar, bool closed,
                 double *out)
{
    for (size_t i = 0; i < s->n_specs; i++) {
        struct indicator_stream *stream = of(s, series)[i];
        double values[INDICATOR_OUTPUTS_MAX];
        bool ready = closed ? indicator_stream_update(stream, bar, values)
                            : indicator_stream_peek(stream, bar, values);
        for (size_t k = 0; k < s->specs[i].row->n_outputs; k++)
            *out++ = ready ? values[k] : NAN;
    }
}

/* ---- the device ---- */

/* The host's streams continue from where they are, with the bars that the device had taken. */
static void fall_back(struct streams *s)
{
    double ignored[INDICATOR_OUTPUTS_MAX];
    for (size_t series = 0; series < s->n_series; series++) {
        struct kept_bars *kept = &s->kept[series];
        for (int i = 0; i < kept->n; i++)
            for (size_t k = 0; k < s->n_specs; k++)
                indicator_stream_update(of(s, (uint32_t)series)[k], &kept->bars[i], ignored);
    }
    leave(s);
}

int daemon_streams_to_device(struct streams *s, struct gpu_module *module, char *reason, size_t cap)
{
    s->failure[0] = '\0';
    s->kept = calloc(s->n_series, sizeof *s->kept);
    s->ready = calloc(s->n_series * s->n_specs + 1, sizeof *s->ready);
    int r = s->kept && s->ready ? 0 : -ENOMEM;
    if (r < 0)
        snprintf(reason, cap, "out of memory");
    if (r == 0)
        r = gpu_streams_create(module, s->n_series, s->specs, s->n_specs, &s->device, reason, cap);
    if (r == 0)
        r = gpu_streams_load(s->device, 0, s->n_series, (const struct indicator_stream *const *)s->all,
                             reason, cap);
    if (r < 0)
        leave(s);
    return r;
}

/* A sync that fails half way leaves clones of some streams and older memory of others: neither fits the
 * kept bars. gpu_streams_save() writes only after it has read everything. */
static bool sync_streams(struct streams *s)
{
    bool behind = false;
    for (size_t i = 0; i < s->n_series && !behind; i++)
        behind = s->kept[i].n > 0;
    if (!behind)
        return true;
    if (gpu_streams_save(s->device, 0, s->n_series, s->all, s->failure, sizeof s->failure) < 0) {
        fall_back(s);
        return false;
    }
    for (size_t i = 0; i < s->n_series; i++)
        s->kept[i].n = 0;
    return true;
}

/* Updates the host's streams from the device's, before several are saved; else daemon_streams_save() does
 * it. */
static void daemon_streams_sync(struct streams *s)
{
    if (s->device)
        sync_streams(s);
}

bool daemon_streams_to_host(struct streams *s)
{
    if (!s->device)
        return true;
    bool synced = sync_streams(s);
    if (synced)
        leave(s);
    return synced;
}

bool daemon_streams_are_on_device(const struct streams *s)
{
    return s->device != NULL;
}

const char *daemon_streams_failure(const struct streams *s)
{
    return s->failure;
}

int daemon_streams_grow(struct streams *s, size_t n_series)
{
    if (n_series <= s->n_series)
        return 0;
    daemon_streams_to_host(s);
    struct indicator_stream **all =
        realloc(s->all, (s->n_specs * n_series + 1) * sizeof(struct indicator_stream *));
    if (!all)
        return -ENOMEM;
    s->all = all;
    return open_series(s, n_series);
}

void daemon_streams_update(struct streams *s, size_t n, const uint32_t series[],
                           const struct indicator_bar bars[], double out[])
{
    bool full = false;
    for (size_t i = 0; s->device && i < n; i++)
        full |= s->kept[series[i]].n == KEPT_MAX;
    if (full)
        sync_streams(s);
    if (s->device &&
        gpu_streams_update(s->device, series, bars, n, out, s->ready, s->failure, sizeof s->failure) == 0) {
        for (size_t i = 0; i < n; i++) {
            struct kept_bars *kept = &s->kept[series[i]];
            kept->bars[kept->n++] = bars[i];
        }
        return;
    }
    if (s->device)
        fall_back(s);
    for (size_t i = 0; i < n; i++)
        step(s, series[i], &bars[i], true, out + i * s->outputs);
}

void daemon_streams_peek(struct streams *s, size_t n, const uint32_t series[],
                         const struct indicator_bar bars[], double out[])
{
    if (s->device &&
        gpu_streams_peek(s->device, series, bars, n, out, s->ready, s->failure, sizeof s->failure) == 0)
        return;
    if (s->device)
        fall_back(s);
    for (size_t i = 0; i < n; i++)
        step(s, series[i], &bars[i], false, out + i * s->outputs);
}

/* ---- memory as bytes: a version, a count of streams, the fields of each; eight bytes a number ---- */

struct bytes {
    unsigned char *data;
    size_t n, cap;
    bool failed;
};

static void put_u64(struct bytes *b, uint64_t value)
{
    if (b->n + 8 > b->cap && !b->failed) {
        size_t cap = b->cap ? 2 * b->cap : 1024;
        unsigned char *data = realloc(b->data, cap);
        b->failed = !data;
        if (data) {
            b->data = data;
            b->cap = cap;
        }
    }
    if (b->failed)
        return;
    for (int i = 0; i < 8; i++)
        b->data[b->n++] = (unsigned char)(value >> 8 * i);
}

static void save_number(void *ctx, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    put_u64(ctx, bits);
}

static void save_count(void *ctx, uint64_t *value, uint64_t most)
{
    (void)most;
    put_u64(ctx, *value);
}

int daemon_streams_save(struct streams *s, uint32_t series, void **ret, size_t *ret_size)
{
    struct bytes bytes = {0};
    const struct indicator_stream_fields fields = {&bytes, save_number, save_count};
    daemon_streams_sync(s);
    put_u64(&bytes, MEMORY_VERSION);
    put_u64(&bytes, s->n_specs);
    for (size_t i = 0; i < s->n_specs; i++)
        indicator_stream_visit(of(s, series)[i], &fields);
    if (bytes.failed) {
        free(bytes.data);
        return -ENOMEM;
    }
    *ret = bytes.data;
    *ret_size = bytes.n;
    return 0;
}

struct reading {
    const unsigned char *at;
    size_t left;
    bool failed;
};

static uint64_t take_u64(struct reading *r)
{
    uint64_t value = 0;
    if (r->left < 8) {
        r->failed = true;
        return 0;
    }
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += 8;
    r->left -= 8;
    return value;
}

static void load_number(void *ctx, double *value)
{
    uint64_t bits = take_u64(ctx);
    memcpy(value, &bits, sizeof bits);
}

static void load_count(void *ctx, uint64_t *value, uint64_t most)
{
    struct reading *r = ctx;
    uint64_t count = take_u64(r);
    r->failed |= count > most;
    *value = count > most ? most : count;
}

/* Replaces a series' streams by ones that have seen no bar. */
static int restart_series(struct streams *s, uint32_t series)
{
    for (size_t i = 0; i < s->n_specs; i++) {
        struct indicator_stream *fresh;
        int r = indicator_stream_open(&s->specs[i], &fresh);
        if (r < 0)
            return r;
        indicator_stream_close(of(s, series)[i]);
        of(s, series)[i] = fresh;
    }
    return 0;
}

int daemon_streams_load(struct streams *s, uint32_t series, const void *bytes, size_t size)
{
    struct reading reading = {.at = bytes, .left = size};
    const struct indicator_stream_fields fields = {&reading, load_number, load_count};
    daemon_streams_to_host(s);
    int r = restart_series(s, series);
    if (r < 0)
        return r;
    uint64_t version = take_u64(&reading), n_specs = take_u64(&reading);
    reading.failed |= version != MEMORY_VERSION || n_specs != s->n_specs;
    for (size_t i = 0; i < s->n_specs && !reading.failed; i++)
        indicator_stream_visit(of(s, series)[i], &fields);
    if (!reading.failed && reading.left == 0)
        return 0;
    r = restart_series(s, series);
    return r < 0 ? r : -EINVAL;
}
