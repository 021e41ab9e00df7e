/* Of the module whose device is the CPU (tests/indicators_gpu/cpu_device.h): the learner's queue
 * (trainer/ppo/cuda/queue.h) in plain loops. Operands of products are rounded to bfloat16 (or TF32) as a
 * device takes them, sums are float32, in order. The arena begins as NaN where the sequence has not written,
 * except what ppo_queue_arena() promises (zeros); behind it lie guard cells, which must keep their value.
 *
 * Repeated work is recorded as a device does it, with nothing done meanwhile; a launch of the graph does it,
 * and must do with the same operands what was recorded.
 *
 * Products are planned by trainer/ppo/cuda/product_plan.h as a device's are, from timings in $QUEUE_TIMES:
 * the seconds of a product's algorithms, those of the product without its epilogue behind a semicolon,
 * "3,2;1", with $QUEUE_PLANS as the cache's file. Without it there is one algorithm, whose time is not known.
 *
 * $QUEUE_NO_SKIPS=1: graphs have no condition. $QUEUE_CAPTURE_FAILS=begin, work, end,
 * launch: there each recording fails, the last for want of memory; condition: only one with a condition. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/indicators_gpu/cpu_device.h"
#include "trainer/ppo/cuda/product_plan.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/cuda/repeat.h"

enum { GUARD = 64, GUARD_BYTE = 0x5a, PINNED_MAX = 8, REASON_MAX = 256 };

struct ppo_queue {
    struct gpu_indicators *g;
    unsigned char *arena;
    size_t arena_bytes;
    struct queue_product planned[QUEUE_PRODUCTS_MAX]; /* behind the last: the one that is being planned */
    enum queue_epilogue asked[QUEUE_PRODUCTS_MAX];
    struct product_choice choices[QUEUE_PRODUCTS_MAX];
    int n_planned;
    struct product_planner planner;
    struct product_cache cache;
    const struct queue_use *use; /* of that one */
    bool filled;                 /* the arena, with numbers */
    double clock;
    void *pinned[PINNED_MAX];
    int n_pinned;
    struct repeats repeats;
    struct repeat_work repeated;                /* that ppo_queue_repeat() is about */
    uint64_t said;                              /* what is recorded */
    uint64_t recorded[QUEUE_GRAPHS];            /* and was: a graph must do the same ever after */
    const uint32_t *stop, *stops[QUEUE_GRAPHS]; /* likewise */
    const char *fails;
    uint64_t waits;
    double marks[QUEUE_MARKS];
    int error;
    char reason[REASON_MAX];
};

void ppo_queue_fail(struct ppo_queue *q, int error, const char *reason)
{
    if (q->error || ppo_repeat_failed(&q->repeats, error, reason))
        return;
    q->error = error;
    snprintf(q->reason, sizeof(q->reason), "%s", reason);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

/* ---- graphs ---- */

static int fail_at(const struct ppo_queue *q, const char *where, int error, char *reason, size_t cap)
{
    if (!q->fails || strcmp(q->fails, where) != 0)
        return 0;
    snprintf(reason, cap, "injected: %s", where);
    return error;
}

static int graph_begin(void *ctx, const uint32_t *stop, char *reason, size_t cap)
{
    struct ppo_queue *q = ctx;
    int r = fail_at(q, "begin", -EIO, reason, cap);
    if (r == 0 && cpu_fails(CPU_FAIL_CAPTURE)) { /* the device itself works on */
        snprintf(reason, cap, "CUDA graph: $CPU_DEVICE made its recording fail");
        r = -EIO;
    }
    if (r == 0 && stop)
        r = fail_at(q, "condition", -ENOTSUP, reason, cap);
    if (r < 0)
        return r;
    q->stop = stop;
    q->said = 0;
    q->g->said = &q->said;
    cpu_recording = true;
    return 0;
}

static int graph_end(void *ctx, int graph, bool failed, char *reason, size_t cap)
{
    struct ppo_queue *q = ctx;
    cpu_recording = false;
    q->g->said = NULL;
    q->recorded[graph] = q->said;
    q->stops[graph] = q->stop;
    if (!failed && !cpu_memory_take_code()) {
        snprintf(reason, cap, "CUDA graph: out of memory");
        return -ENOMEM;
    }
    return failed ? 0 : fail_at(q, "end", -EIO, reason, cap);
}

static int graph_launch(void *ctx, int graph, char *reason, size_t cap)
{
    struct ppo_queue *q = ctx;
    uint64_t said = 0;
    int r = fail_at(q, "launch", -ENOMEM, reason, cap);
    if (r < 0)
        return r;
    if (q->stops[graph] && *q->stops[graph] != 0) {
        cpu_counts.skipped++;
        return 0;
    }
    q->g->said = &said;
    q->repeated.work(q->repeated.ctx);
    q->g->said = NULL;
    if (!q->error && q->recorded[graph] != said)
        abort(); /* a graph would have done something else */
    return 0;
}

static void graph_drop(void *ctx, int graph)
{
    (void)ctx;
    (void)graph;
}

static const struct repeat_calls graph_calls = {false, graph_begin, graph_end, graph_launch, graph_drop},
                                 skipping_calls = {true, graph_begin, graph_end, graph_launch, graph_drop};

void ppo_queue_repeat(struct ppo_queue *q, int graph, const uint32_t *stop, void (*work)(void *ctx),
                      void *ctx)
{
    char reason[REASON_MAX];
    if (q->error)
        return;
    q->repeated = (struct repeat_work){work, ctx, stop};
    int r = ppo_repeat(&q->repeats, graph, &q->repeated, reason, sizeof(reason));
    if (r < 0)
        ppo_queue_fail(q, r, reason);
}

bool ppo_queue_skips(const struct ppo_queue *q, int graph)
{
    return q->repeats.graphs[graph].how == REPEAT_SKIPS;
}

const char *ppo_queue_notice(const struct ppo_queue *q)
{
    return q->repeats.notice;
}

void ppo_queue_forget(struct ppo_queue *q)
{
    ppo_repeat_forget(&q->repeats);
}

/* ---- the planner's device ---- */

static double product_now(void *ctx)
{
    return ((struct ppo_queue *)ctx)->clock;
}

/* Where the seconds of a variant begin, or NULL. */
static const char *times_of(const struct queue_product *product, const struct ppo_queue *q)
{
    const char *times = getenv("QUEUE_TIMES");
    const bool apart = queue_epilogue_of(product) != q->asked[q->n_planned];
    return times && apart ? strchr(times, ';') : times;
}

static int product_list(void *ctx, const struct queue_product *product)
{
    const struct ppo_queue *q = ctx;
    const bool fused = product->relu || (product->kind == QUEUE_WEIGHT && product->bias);
    if (is_set("QUEUE_PLAIN") && fused)
        return 0;
    if (!q->planner.measured)
        return 1;
    const char *at = times_of(product, q);
    int n = at != NULL;
    for (; at && *++at && *at != ';';)
        n += *at == ',';
    return n < PRODUCT_HEURISTICS ? n : PRODUCT_HEURISTICS;
}

/* Does it, too, so that operands that are none would be noticed. */
static double product_time(void *ctx, const struct queue_product *product, int i)
{
    struct ppo_queue *q = ctx;
    const char *at = times_of(product, q);
    for (at += *at == ';'; i > 0; i--)
        at = strchr(at, ',') + 1;
    if (!q->filled)
        memset(q->arena, 0x3f, q->arena_bytes);
    q->filled = true;
    q->planned[q->n_planned] = *product;
    ppo_queue_product(q, 0, q->n_planned, &q->use->operands);
    q->use->rest(q->use->ctx, product, NULL);
    q->clock += 1e-4;
    return strtod(at, NULL);
}

static const struct product_calls product_calls = {product_now, product_list, product_time};

/* ---- life and memory ---- */

static void say(struct ppo_queue *q, uint64_t what)
{
    cpu_say(q->g, what);
}

int ppo_queue_create(struct gpu_indicators *g, void *stream, bool measured, struct ppo_queue **ret,
                     char *reason, size_t cap)
{
    (void)stream;
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct ppo_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return cpu_none_left(reason, cap);
    q->g = g;
    q->fails = getenv("QUEUE_CAPTURE_FAILS");
    q->planner = (struct product_planner){.calls = &product_calls,
                                          .ctx = q,
                                          .measured = measured && getenv("QUEUE_TIMES"),
                                          .cache = &q->cache,
                                          .device = "the CPU"};
    if (getenv("QUEUE_PLANS"))
        ppo_product_cache_open(&q->cache, getenv("QUEUE_PLANS"));
    ppo_repeat_init(&q->repeats, is_set("QUEUE_NO_SKIPS") ? &graph_calls : &skipping_calls, q);
    *ret = q;
    return 0;
}

void ppo_queue_destroy(struct ppo_queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; q->arena && i < GUARD; i++)
        if (q->arena[q->arena_bytes + i] != GUARD_BYTE)
            abort();
    if (q->arena)
        cpu_release(q->g, q->arena, q->arena_bytes + GUARD);
    for (int i = 0; i < q->n_pinned; i++)
        free(q->pinned[i]);
    ppo_product_cache_finish(&q->cache);
    free(q);
}

int ppo_queue_memory(struct gpu_indicators *g, struct queue_memory *ret, char *reason, size_t cap)
{
    struct cpu_memory_figures m = {
        .total = g->limit ? g->limit : cpu_setup()->total, .held = g->held, .driver = cpu_setup()->code};
    m.free = m.total - m.held;
    if (cpu_memory_is_shared())
        cpu_memory_count(&m);
    *ret = (struct queue_memory){m.total, m.free, m.held, m.context, m.driver};
    return cpu_alive(reason, cap);
}

int ppo_queue_arena(struct ppo_queue *q, size_t bytes, void **ret, char *reason, size_t cap)
{
    q->arena = cpu_allocate(q->g, bytes + GUARD);
    if (!q->arena)
        return cpu_none_left(reason, cap);
    q->arena_bytes = bytes;
    memset(q->arena, 0, bytes);
    memset(q->arena + bytes, GUARD_BYTE, GUARD);
    *ret = q->arena;
    return 0;
}

int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, const struct queue_use *use,
                   int *ret_id, char *reason, size_t cap)
{
    const int id = q->n_planned;
    if (id + 1 == QUEUE_PRODUCTS_MAX) {
        snprintf(reason, cap, "more than %d matrix products", QUEUE_PRODUCTS_MAX - 1);
        return -ENOTSUP;
    }
    q->asked[id] = queue_epilogue_of(product);
    q->use = use;
    if (ppo_product_choose(&q->planner, product, use->lanes, &q->choices[id]) < 0) {
        snprintf(reason, cap, "no such product");
        return -ENOTSUP;
    }
    q->planned[id] = *product;
    *ret_id = q->n_planned++;
    return 0;
}

int ppo_queue_plan_end(struct ppo_queue *q, char *reason, size_t cap)
{
    if (q->filled)
        memset(q->arena, 0, q->arena_bytes);
    return ppo_queue_wait(q, reason, cap);
}

size_t ppo_queue_records(const struct ppo_queue *q, struct queue_record *ret, size_t n)
{
    for (size_t i = 0; i < n && i < (size_t)q->n_planned; i++)
        ret[i] = queue_record_of(&q->planned[i], q->asked[i], &q->choices[i]);
    return (size_t)q->n_planned;
}

static float from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float ret;
    memcpy(&ret, &wide, sizeof(ret));
    return ret;
}

/* To the nearest, ties to even. */
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float to_tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (!isfinite(value))
        return value;
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~(uint32_t)0x1fff;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float get(const void *at, size_t i, enum queue_type type)
{
    return type == QUEUE_BF16 ? from_bf16(((const uint16_t *)at)[i]) : ((const float *)at)[i];
}

static float operand(const struct queue_product *p, const void *at, size_t i)
{
    float value = get(at, i, p->operands);
    return p->tf32 ? to_tf32(value) : value;
}

static void put(void *at, size_t i, enum queue_type type, float value)
{
    if (type == QUEUE_BF16)
        ((uint16_t *)at)[i] = to_bf16(value);
    else
        ((float *)at)[i] = value;
}

/* c [m][n] = a [m][k] b [k][n] in float32; row by row, so that the compiler vectorises it. */
static void multiply(float *c, const float *a, const float *b, size_t m, size_t n, size_t k)
{
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++) {
            float x = a[i * k + l];
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += x * b[l * n + j];
        }
}

/* [rows][cols] of `at` as the product takes it, or its transpose. */
static float *taken(const struct queue_product *p, const void *at, size_t rows, size_t cols, int stride,
                    bool transposed)
{
    float *ret = malloc(rows * cols * sizeof(*ret));
    if (!ret)
        abort();
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            ret[transposed ? j * rows + i : i * cols + j] = operand(p, at, i * (size_t)stride + j);
    return ret;
}

static void set_bit(unsigned char *mask, size_t row, size_t col, int width, bool on)
{
    unsigned char *byte = mask + row * queue_mask_bytes(width) + col / 8, bit = (unsigned char)(1 << col % 8);
    *byte = (unsigned char)(on ? *byte | bit : *byte & ~bit);
}

static bool has_bit(const unsigned char *mask, size_t row, size_t col, int width)
{
    return mask[row * queue_mask_bytes(width) + col / 8] >> col % 8 & 1;
}

void ppo_queue_product(struct ppo_queue *q, int lane, int id, const struct queue_operands *o)
{
    if (q->error)
        return;
    const struct queue_product *p = &q->planned[id];
    size_t in = (size_t)p->in, out = (size_t)p->out;
    say(q, (uint64_t)lane << 32 | (uint64_t)id);
    say(q, (uint64_t)(uintptr_t)o->x);
    say(q, (uint64_t)(uintptr_t)o->y);
    say(q, (uint64_t)(uintptr_t)o->w);
    if (cpu_recording)
        return;
    cpu_counts.products++;
    size_t m = p->kind == QUEUE_WEIGHT ? in : p->rows, n = p->kind == QUEUE_INPUT ? in : out;
    size_t k = p->kind == QUEUE_FORWARD ? in : p->kind == QUEUE_INPUT ? out : p->rows;
    const void *left = p->kind == QUEUE_INPUT ? o->y : o->x, *right = p->kind == QUEUE_WEIGHT ? o->y : o->w;
    int left_stride = p->kind == QUEUE_INPUT ? p->y_stride : p->x_stride;
    int right_stride = p->kind == QUEUE_WEIGHT ? p->y_stride : p->w_stride;
    float *a = p->kind == QUEUE_WEIGHT ? taken(p, left, k, m, left_stride, true)
                                       : taken(p, left, m, k, left_stride, false);
    float *b = p->kind == QUEUE_INPUT ? taken(p, right, n, k, right_stride, true)
                                      : taken(p, right, k, n, right_stride, false);
    float *c = calloc(m * n, sizeof(*c));
    if (!c)
        abort();
    multiply(c, a, b, m, n, k);
    void *to = p->kind == QUEUE_FORWARD ? o->y : p->kind == QUEUE_INPUT ? o->x : o->w;
    size_t stride = (size_t)(p->kind == QUEUE_FORWARD ? p->y_stride
                             : p->kind == QUEUE_INPUT ? p->x_stride
                                                      : p->w_stride);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float value = c[i * n + j];
            if (p->kind == QUEUE_FORWARD && p->bias)
                value += get(o->bias, j, p->result);
            if (p->kind == QUEUE_FORWARD && p->relu) {
                if (p->keep)
                    set_bit(o->mask, i, j, p->out, value > 0);
                value = value > 0 || isnan(value) ? value : 0;
            }
            if (p->add)
                value += get(to, i * stride + j, p->result);
            if (p->kind == QUEUE_INPUT && p->relu && !has_bit(o->mask, i, j, p->in))
                value = 0;
            put(to, i * stride + j, p->result, value);
        }
    if (p->kind == QUEUE_WEIGHT && p->bias)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += b[l * n + j];
            ((float *)o->bias)[j] = sum;
        }
    free(a);
    free(b);
    free(c);
}

void ppo_queue_upload(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    if (!q->error && !cpu_recording && bytes > 0)
        memcpy(to, from, bytes);
}

void ppo_queue_download(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    ppo_queue_upload(q, to, from, bytes);
}

void ppo_queue_copy(struct ppo_queue *q, int lane, void *to, const void *from, size_t bytes)
{
    (void)lane;
    say(q, (uint64_t)(uintptr_t)to);
    say(q, (uint64_t)(uintptr_t)from);
    ppo_queue_upload(q, to, from, bytes);
}

void ppo_queue_zero(struct ppo_queue *q, int lane, void *at, size_t bytes)
{
    (void)lane;
    say(q, (uint64_t)(uintptr_t)at);
    if (!q->error && !cpu_recording && bytes > 0)
        memset(at, 0, bytes);
}

void *ppo_queue_pinned(struct ppo_queue *q, size_t bytes)
{
    void *at = q->n_pinned < PINNED_MAX ? malloc(bytes) : NULL;
    if (at)
        q->pinned[q->n_pinned++] = at;
    return at;
}

void ppo_queue_fork(struct ppo_queue *q)
{
    say(q, 1);
}

void ppo_queue_join(struct ppo_queue *q)
{
    say(q, 2);
}

void *ppo_queue_stream(struct ppo_queue *q, int lane)
{
    (void)q;
    (void)lane;
    return NULL;
}

void ppo_queue_launched(struct ppo_queue *q)
{
    char reason[REASON_MAX];
    int r = cpu_alive(reason, sizeof reason);
    if (r == 0 && cpu_recording)
        r = fail_at(q, "work", -EIO, reason, sizeof(reason));
    if (r < 0)
        ppo_queue_fail(q, r, reason);
    say(q, 3);
}

void ppo_queue_mark(struct ppo_queue *q, int mark)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    q->marks[mark] = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double ppo_queue_seconds(struct ppo_queue *q, int from, int to)
{
    return q->marks[to] - q->marks[from];
}

static void wait_for(struct ppo_queue *q)
{
    char reason[REASON_MAX];
    int r = cpu_wait(reason, sizeof reason);
    q->waits++;
    if (r < 0)
        ppo_queue_fail(q, r, reason);
}

void ppo_queue_await(struct ppo_queue *q, int mark)
{
    (void)mark; /* everything is done at once */
    wait_for(q);
}

int ppo_queue_wait(struct ppo_queue *q, char *reason, size_t cap)
{
    wait_for(q);
    if (q->error)
        snprintf(reason, cap, "%s", q->reason);
    return q->error;
}

uint64_t ppo_queue_waits(const struct ppo_queue *q)
{
    return q->waits;
}
