/* A GPU module without a GPU: the streams' own block functions, run on the CPU, behind the module's
 * interface; and what goes wrong with a device, by environment variables:
 *
 *   FAKE_GPU_EVENTS=F      appends a line to F for each thing that happens: "open", "begin N", "end N" …
 *   FAKE_GPU_STALL_MS=T    every update takes so long
 *   FAKE_GPU_GATE=F        every update waits until the file F is there
 *   FAKE_GPU_OPEN_GATE=F   so does opening it
 *   FAKE_GPU_FAIL=WHAT     memory (-ENOMEM), error (-EIO from then on) or create (streams cannot be made)
 *   FAKE_GPU_FAIL_AFTER=N  that many updates and looks ahead succeed before */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "indicators_gpu/cuda/streams.h"

struct gpu_indicators {
    int steps;
    bool lost;
};

struct gpu_device_streams {
    struct gpu_indicators *g;
    struct streams_view view;
    struct gpu_stream_spec *specs;
};

static void log_line(const char *what, int number)
{
    const char *path = getenv("FAKE_GPU_EVENTS");
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    if (number > 0)
        fprintf(file, "%s %d\n", what, number);
    else
        fprintf(file, "%s\n", what);
    fclose(file);
}

static void nap(long ms)
{
    const struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static void wait_at(const char *variable)
{
    const char *gate = getenv(variable);
    while (gate && access(gate, F_OK) != 0)
        nap(5);
}

static void stall(void)
{
    const char *ms = getenv("FAKE_GPU_STALL_MS");
    if (ms)
        nap(atol(ms));
    wait_at("FAKE_GPU_GATE");
}

static bool fails_by(const char *what)
{
    const char *how = getenv("FAKE_GPU_FAIL");
    return how && strcmp(how, what) == 0;
}

static int fails(struct gpu_indicators *g, char *reason, size_t cap)
{
    const char *after = getenv("FAKE_GPU_FAIL_AFTER");
    bool due = g->steps++ >= (after ? atoi(after) : 0);
    if (due && fails_by("memory")) {
        snprintf(reason, cap, "out of memory: the fake device has had enough");
        return -ENOMEM;
    }
    g->lost |= due && fails_by("error");
    if (g->lost)
        snprintf(reason, cap, "an illegal memory access was encountered by the fake device");
    return g->lost ? -EIO : 0;
}

static int fake_identify(char ret[GPU_DEVICE_ID_MAX])
{
    ret[0] = '\0';
    return 0;
}

static int fake_open(struct gpu_indicators **ret, char *reason, size_t cap)
{
    *ret = calloc(1, sizeof **ret);
    if (!*ret)
        snprintf(reason, cap, "out of memory");
    log_line("open", 0);
    wait_at("FAKE_GPU_OPEN_GATE");
    return *ret ? 0 : -ENOMEM;
}

static void fake_close(struct gpu_indicators *g)
{
    log_line("close", 0);
    free(g);
}

static const char *fake_device(const struct gpu_indicators *g)
{
    (void)g;
    return "Fake H100";
}

static void fake_destroy(struct gpu_device_streams *s)
{
    if (!s)
        return;
    free(s->view.memory);
    free(s->view.ahead);
    free(s->specs);
    free(s);
}

static int fake_create(struct gpu_indicators *g, size_t n_symbols, size_t symbol_bytes,
                       const struct gpu_stream_spec specs[], size_t n_specs, struct gpu_device_streams **ret,
                       char *reason, size_t cap)
{
    struct gpu_device_streams *s = fails_by("create") ? NULL : calloc(1, sizeof *s);
    if (!s) {
        snprintf(reason, cap, "out of memory: %zu bytes for streams", n_symbols * symbol_bytes);
        return -ENOMEM;
    }
    s->g = g;
    s->specs = calloc(n_specs, sizeof *s->specs);
    s->view = (struct streams_view){.memory = calloc(n_symbols, symbol_bytes),
                                    .ahead = calloc(n_symbols, symbol_bytes),
                                    .symbol_bytes = symbol_bytes,
                                    .specs = s->specs,
                                    .n_symbols = (unsigned)n_symbols,
                                    .n_specs = (unsigned)n_specs};
    if (!s->specs || !s->view.memory || !s->view.ahead) {
        snprintf(reason, cap, "out of memory");
        fake_destroy(s);
        return -ENOMEM;
    }
    memcpy(s->specs, specs, n_specs * sizeof *specs);
    for (size_t k = 0; k < n_specs; k++)
        s->view.n_outputs += specs[k].outputs;
    for (unsigned b = 0; b < streams_blocks(n_symbols, n_specs); b++)
        block_streams_start(&s->view, b);
    log_line("streams", (int)n_symbols);
    *ret = s;
    return 0;
}

static int fake_write(struct gpu_device_streams *s, size_t first, size_t n, const void *memory, char *reason,
                      size_t cap)
{
    (void)reason;
    (void)cap;
    memcpy(s->view.memory + first * s->view.symbol_bytes, memory, n * s->view.symbol_bytes);
    return 0;
}

static int fake_read(struct gpu_device_streams *s, size_t first, size_t n, void *memory, char *reason,
                     size_t cap)
{
    if (s->g->lost)
        return fails(s->g, reason, cap);
    memcpy(memory, s->view.memory + first * s->view.symbol_bytes, n * s->view.symbol_bytes);
    return 0;
}

static int fake_step(struct gpu_device_streams *s, const struct gpu_stream_bar bars[], size_t n, bool commit,
                     double out[], uint8_t ready[], char *reason, size_t cap)
{
    int number = s->g->steps + 1;
    if (commit) {
        log_line("begin", number);
        stall();
    }
    int r = fails(s->g, reason, cap);
    struct streams_view view = s->view;
    view.bars = bars;
    view.n_bars = (unsigned)n;
    view.commit = commit;
    view.out = out;
    view.ready = ready;
    for (unsigned b = 0; b < streams_blocks(n, view.n_specs); b++)
        block_streams_step(&view, b);
    for (size_t i = 0; r < 0 && i < n * view.n_outputs; i++)
        out[i] = -1e300; /* a failed call leaves nothing of use, here and in the memories */
    if (commit)
        log_line(r < 0 ? "failed" : "end", number);
    return r;
}

__attribute__((visibility("default"))) extern const struct gpu_indicators_api papertape_gpu_indicators;
const struct gpu_indicators_api papertape_gpu_indicators = {
    .abi = GPU_INDICATORS_ABI,
    .identify = fake_identify,
    .open = fake_open,
    .close = fake_close,
    .device = fake_device,
    .streams_create = fake_create,
    .streams_destroy = fake_destroy,
    .streams_write = fake_write,
    .streams_read = fake_read,
    .streams_step = fake_step,
};
