/* Of the module whose device is the CPU (cpu_device.h): the device, the indicators' batches and streams. */
#include <stdio.h>
#include <string.h>

#include "indicators_gpu/cuda/plan.h"
#include "indicators_gpu/cuda/streams.h"
#include "tests/indicators_gpu/cpu_device.h"

enum { GUARD = 8 };

struct gpu_device_streams {
    struct gpu_indicators *g;
    struct streams_view view;
    struct gpu_stream_spec *specs;
    size_t bytes;
};

extern const struct gpu_indicators_api papertape_gpu_indicators;

void *cpu_allocate(struct gpu_indicators *g, size_t bytes)
{
    if (g->limit > 0 && (g->held > g->limit || bytes > g->limit - g->held))
        return NULL;
    if (cpu_fails(CPU_FAIL_ALLOCATION) || !cpu_memory_take(bytes))
        return NULL;
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        cpu_memory_give(bytes);
        return NULL;
    }
    memset(p, 0xff, bytes ? bytes : 1); /* NaN in every double and float */
    g->held += bytes;
    return p;
}

void cpu_release(struct gpu_indicators *g, void *p, size_t bytes)
{
    if (!p)
        return;
    g->held -= bytes;
    cpu_memory_give(bytes);
    free(p);
}

int cpu_none_left(char *reason, size_t cap)
{
    snprintf(reason, cap, "out of memory");
    return -ENOMEM;
}

bool cpu_reversed(void)
{
    const char *reversed = getenv("BLOCKS_REVERSED");
    return reversed && strcmp(reversed, "1") == 0;
}

static int cpu_identify(char ret[GPU_DEVICE_ID_MAX])
{
    char reason[64];
    int r = cpu_setup_read(reason, sizeof reason);
    return r < 0 ? r : cpu_memory_identify(ret);
}

static int cpu_open(struct gpu_indicators **ret, char *reason, size_t cap)
{
    int r = cpu_setup_read(reason, cap);
    if (r == 0)
        r = cpu_alive(reason, cap);
    if (r == 0)
        r = cpu_memory_open(reason, cap);
    if (r < 0)
        return r;
    struct gpu_indicators *g = calloc(1, sizeof(*g));
    if (!g) {
        cpu_memory_close();
        return cpu_none_left(reason, cap);
    }
    *ret = g;
    return 0;
}

static void release_batch(struct gpu_indicators *g)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        cpu_release(g, g->columns[c], g->column_bytes[c]);
        g->columns[c] = NULL;
    }
    cpu_release(g, g->out, g->out_bytes);
    g->out = NULL;
    g->n_columns = 0;
}

static void cpu_close(struct gpu_indicators *g)
{
    release_batch(g);
    if (g->held != 0)
        abort(); /* streams outlive the device */
    free(g);
    cpu_memory_close();
}

static const char *cpu_device(const struct gpu_indicators *g)
{
    (void)g;
    return "the CPU";
}

static void cpu_limit(struct gpu_indicators *g, size_t bytes)
{
    g->limit = bytes;
}

static bool is_float(const struct gpu_indicators *g, size_t c)
{
    return g->precision == INDICATOR_F32 && 1u << c != INDICATOR_TIME;
}

static void put(void *to, bool narrow, size_t i, double value)
{
    if (narrow)
        ((float *)to)[i] = (float)value;
    else
        ((double *)to)[i] = value;
}

static double get(const void *from, bool narrow, size_t i)
{
    return narrow ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static int cpu_load(struct gpu_indicators *g, enum indicator_precision precision,
                    const double *const columns[], size_t n_series, size_t n_bars, char *reason, size_t cap)
{
    int r = cpu_wait(reason, cap);
    if (r < 0)
        return r;
    release_batch(g);
    g->precision = precision;
    g->n_series = n_series;
    g->n_bars = n_bars;
    g->stride = n_bars + GUARD;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        g->column_bytes[c] = n_series * g->stride * (is_float(g, c) ? sizeof(float) : sizeof(double));
        g->columns[c] = cpu_allocate(g, g->column_bytes[c]);
        if (!g->columns[c])
            return cpu_none_left(reason, cap);
        for (size_t s = 0; s < n_series; s++)
            for (size_t i = 0; i < n_bars && columns[s * INDICATOR_COLUMNS + c]; i++)
                put(g->columns[c], is_float(g, c), s * g->stride + i, columns[s * INDICATOR_COLUMNS + c][i]);
    }
    return 0;
}

static void run_block(enum gpu_kernel kernel, unsigned block, const struct gpu_view *v)
{
    struct fused_shared *fused = malloc(sizeof(*fused));
    struct walk_shared *walk = malloc(sizeof(*walk));
    if (!fused || !walk)
        abort();
    memset(fused, 0xff, sizeof(*fused));
    memset(walk, 0xff, sizeof(*walk));
    switch (kernel) {
    case GPU_KERNEL_FUSED:
        block_fused(v, v->f32, fused);
        break;
    case GPU_KERNEL_WALK:
        block_walk(v, block, walk);
        break;
    case GPU_KERNEL_VERIFY:
        block_verify(v, block);
        break;
    }
    free(fused);
    free(walk);
}

static int launch(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v)
{
    (void)context;
    cpu_launch();
    for (unsigned i = 0; i < blocks; i++)
        run_block(kernel, block_reversed ? blocks - 1 - i : i, v);
    return 0;
}

static void check_guards(const struct gpu_indicators *g)
{
    bool narrow = g->precision == INDICATOR_F32;
    for (size_t k = 0; k < g->n_columns; k++)
        for (size_t i = g->n_bars; i < g->stride; i++)
            if (get(g->out, narrow, k * g->stride + i) != (narrow ? (double)INFINITY : 1e300))
                abort();
}

static int cpu_compute(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                       size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
    bool narrow = g->precision == INDICATOR_F32;
    struct gpu_plan plan;
    cpu_release(g, g->out, g->out_bytes);
    g->n_columns = 0;
    g->out_bytes = n_columns * g->stride * (narrow ? sizeof(float) : sizeof(double));
    g->out = cpu_allocate(g, g->out_bytes);
    if (!g->out || gpu_plan_make(&plan, method, jobs, n_jobs, g->n_bars) < 0)
        return cpu_none_left(reason, cap);
    g->n_columns = n_columns;
    for (size_t i = 0; i < n_columns * g->stride; i++)
        put(g->out, narrow, i, 1e300);

    size_t n_flags = 1 + plan.n_groups * plan.n_tiles;
    size_t sizes[] = {plan.memory, plan.n_marks, plan.n_fused * plan.n_tiles * FUSED_DIMS * sizeof(double),
                      n_flags * sizeof(uint32_t)};
    void *rooms[4];
    bool all = true;
    for (size_t i = 0; i < 4; i++)
        all &= (rooms[i] = cpu_allocate(g, sizes[i])) != NULL;
    if (all) {
        struct gpu_view v = {
            .out = g->out,
            .n_bars = g->n_bars,
            .stride = g->stride,
            .f32 = narrow,
            .walks = plan.walks,
            .memory = rooms[0],
            .marks = rooms[1],
            .rules = plan.rules,
            .fused = plan.fused,
            .groups = plan.groups,
            .carry = rooms[2],
            .ticket = rooms[3],
            .flags = (uint32_t *)rooms[3] + 1,
        };
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            v.columns[c] = g->columns[c];
        memset(v.ticket, 0, n_flags * sizeof(uint32_t));
        block_reversed = cpu_reversed();
        gpu_run(&plan, &v, launch, NULL);
        block_reversed = false;
        check_guards(g);
    }
    for (size_t i = 0; i < 4; i++)
        cpu_release(g, rooms[i], sizes[i]);
    gpu_plan_free(&plan);
    *ret_ms = 0;
    return all ? cpu_wait(reason, cap) : cpu_none_left(reason, cap);
}

static int cpu_fetch(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap)
{
    if (column >= g->n_columns) {
        snprintf(reason, cap, "output column %zu was not computed", column);
        return -EINVAL;
    }
    for (size_t i = 0; i < g->n_bars; i++)
        out[i] = get(g->out, g->precision == INDICATOR_F32, column * g->stride + i);
    return cpu_wait(reason, cap);
}

static int cpu_copy_rate(struct gpu_indicators *g, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap)
{
    if (g->limit > 0 && bytes > g->limit)
        return cpu_none_left(reason, cap);
    *ret_bytes_per_s = 1e9;
    return cpu_wait(reason, cap);
}

static void streams_destroy(struct gpu_device_streams *s)
{
    cpu_release(s->g, s->view.memory, s->bytes);
    cpu_release(s->g, s->view.ahead, s->bytes);
    free(s->specs);
    free(s);
}

static int streams_create(struct gpu_indicators *g, size_t n_symbols, size_t symbol_bytes,
                          const struct gpu_stream_spec specs[], size_t n_specs,
                          struct gpu_device_streams **ret, char *reason, size_t cap)
{
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct gpu_device_streams *s = calloc(1, sizeof(*s));
    if (!s)
        return cpu_none_left(reason, cap);
    s->g = g;
    s->bytes = n_symbols * symbol_bytes;
    s->specs = malloc(n_specs * sizeof(*specs));
    s->view = (struct streams_view){
        .memory = cpu_allocate(g, s->bytes),
        .ahead = cpu_allocate(g, s->bytes),
        .symbol_bytes = symbol_bytes,
        .specs = s->specs,
        .n_symbols = (unsigned)n_symbols,
        .n_specs = (unsigned)n_specs,
    };
    if (!s->specs || !s->view.memory || !s->view.ahead) {
        streams_destroy(s);
        return cpu_none_left(reason, cap);
    }
    memcpy(s->specs, specs, n_specs * sizeof(*specs));
    for (size_t k = 0; k < n_specs; k++)
        s->view.n_outputs += specs[k].outputs;
    memset(s->view.memory, 0, s->bytes);
    for (unsigned block = 0; block < streams_blocks(n_symbols, n_specs); block++)
        block_streams_start(&s->view, block);
    *ret = s;
    return 0;
}

static int streams_write(struct gpu_device_streams *s, size_t first, size_t n, const void *memory,
                         char *reason, size_t cap)
{
    memcpy(s->view.memory + first * s->view.symbol_bytes, memory, n * s->view.symbol_bytes);
    return cpu_wait(reason, cap);
}

static int streams_read(struct gpu_device_streams *s, size_t first, size_t n, void *memory, char *reason,
                        size_t cap)
{
    memcpy(memory, s->view.memory + first * s->view.symbol_bytes, n * s->view.symbol_bytes);
    return cpu_wait(reason, cap);
}

static int streams_step_all(struct gpu_device_streams *s, const struct gpu_stream_bar bars[], size_t n,
                            bool commit, double out[], uint8_t ready[], char *reason, size_t cap)
{
    struct streams_view v = s->view;
    cpu_launch();
    v.bars = bars;
    v.n_bars = (unsigned)n;
    v.commit = commit;
    v.out = out;
    v.ready = ready;
    block_reversed = cpu_reversed();
    unsigned blocks = streams_blocks(n, v.n_specs);
    for (unsigned i = 0; i < blocks; i++)
        block_streams_step(&v, block_reversed ? blocks - 1 - i : i);
    block_reversed = false;
    return cpu_wait(reason, cap);
}

__attribute__((visibility("default"))) const struct gpu_indicators_api papertape_gpu_indicators = {
    .abi = GPU_INDICATORS_ABI,
    .identify = cpu_identify,
    .open = cpu_open,
    .close = cpu_close,
    .device = cpu_device,
    .limit = cpu_limit,
    .load = cpu_load,
    .compute = cpu_compute,
    .fetch = cpu_fetch,
    .copy_rate = cpu_copy_rate,
    .streams_create = streams_create,
    .streams_destroy = streams_destroy,
    .streams_write = streams_write,
    .streams_read = streams_read,
    .streams_step = streams_step_all,
};
