#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/market/grid.h"
#include "engine/market/image.h"
#include "engine/market/parallel.h"
#include "engine/market/symbols.h"

struct loader {
    const char *const *paths;
    const char *const *names;
    struct market_source *sources;
    int *failed;
    char (*why)[BARS_FILE_ERROR_MAX];
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_file(void *ctx, size_t i)
{
    struct loader *l = ctx;
    struct market_source *source = &l->sources[i];
    snprintf(source->origin, sizeof(source->origin), "%s", l->paths[i]);
    l->failed[i] = bars_file_read(l->paths[i], l->names ? l->names[i] : NULL, &source->bars, l->why[i]);
    for (char *c = source->bars.symbol; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static int load(struct loader *l, size_t n, const struct market_options *options, struct market **ret,
                struct market_load *load, char err[static MARKET_ERROR_MAX])
{
    double begun = now_s();
    market_parallel(options->threads, n, read_file, l);
    for (size_t i = 0; i < n; i++) {
        if (l->failed[i] < 0) {
            snprintf(err, MARKET_ERROR_MAX, "%s", l->why[i]);
            return l->failed[i];
        }
        load->source_bytes += l->sources[i].bars.bytes;
    }
    int r = market_symbols(l->sources, (int)n, options->exchange_info, err);
    if (r < 0)
        return r;
    double read = now_s();
    if ((r = market_build(l->sources, (int)n, options, ret, err)) < 0)
        return r;
    load->read_s = read - begun;
    load->grid_s = now_s() - read;
    return 0;
}

int market_load_files(const char *const *paths, size_t n, const struct market_options *options,
                      struct market **ret, struct market_load *ret_load, char err[static MARKET_ERROR_MAX])
{
    struct loader l = {.paths = paths, .names = options->names};
    struct market_load done = {0};
    struct market *market;
    if (n < 1 || n > SYMBOLS_MAX) {
        snprintf(err, MARKET_ERROR_MAX, "number of bars files: %zu: 1 to %d", n, SYMBOLS_MAX);
        return -EINVAL;
    }
    l.sources = calloc(n, sizeof(*l.sources));
    l.failed = calloc(n, sizeof(*l.failed));
    l.why = calloc(n, sizeof(*l.why));
    int r = -ENOMEM;
    if (l.sources && l.failed && l.why)
        r = load(&l, n, options, &market, &done, err);
    else
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
    if (l.sources)
        market_sources_finish(l.sources, (int)n);
    free(l.sources);
    free(l.failed);
    free(l.why);
    if (r < 0)
        return r;
    done.bars = image_header((struct market_image *)market)->bars;
    if (ret_load)
        *ret_load = done;
    *ret = market;
    return 0;
}
