/* Of the module whose device is the CPU (tests/indicators_gpu/cpu_device.h): the learner's queue
 * (trainer/ppo/cuda/queue.h) in plain loops. Operands of products are rounded to bfloat16 (or TF32) as a
 * device takes them, sums are float32, in order. The arena begins as NaN where the sequence has not written,
 * except what ppo_queue_arena() promises (zeros); behind it lie guard cells, which must keep their value. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/indicators_gpu/cpu_device.h"
#include "trainer/ppo/cuda/queue.h"

enum { GUARD = 64, GUARD_BYTE = 0x5a, PINNED_MAX = 8, REASON_MAX = 256 };

struct ppo_queue {
    struct gpu_indicators *g;
    unsigned char *arena;
    size_t arena_bytes;
    struct queue_product planned[QUEUE_PRODUCTS_MAX];
    int n_planned;
    void *pinned[PINNED_MAX];
    int n_pinned;
    /* What a graph did when it was recorded: it must do the same ever after. */
    uint64_t recorded[QUEUE_GRAPHS];
    int seen[QUEUE_GRAPHS];
    uint64_t waits;
    double marks[QUEUE_MARKS];
    int error;
    char reason[REASON_MAX];
};

void ppo_queue_fail(struct ppo_queue *q, int error, const char *reason)
{
    if (q->error)
        return;
    q->error = error;
    snprintf(q->reason, sizeof(q->reason), "%s", reason);
}

static void say(struct ppo_queue *q, uint64_t what)
{
    cpu_say(q->g, what);
}

int ppo_queue_create(struct gpu_indicators *g, void *stream, struct ppo_queue **ret, char *reason, size_t cap)
{
    (void)stream;
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct ppo_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return cpu_none_left(reason, cap);
    q->g = g;
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

int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, int *ret_id, char *reason, size_t cap)
{
    const char *plain = getenv("QUEUE_PLAIN");
    if (q->n_planned == QUEUE_PRODUCTS_MAX) {
        snprintf(reason, cap, "more than %d matrix products", QUEUE_PRODUCTS_MAX);
        return -ENOTSUP;
    }
    if (plain && strcmp(plain, "1") == 0) {
        product->relu = product->keep = false;
        product->bias = product->bias && product->kind == QUEUE_FORWARD;
    }
    q->planned[q->n_planned] = *product;
    *ret_id = q->n_planned++;
    return 0;
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
    if (!q->error && bytes > 0)
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
    if (!q->error && bytes > 0)
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

/* As a graph is recorded: may the second call do that? */
static bool record(struct ppo_queue *q)
{
    if (cpu_fails(CPU_FAIL_CAPTURE)) { /* the device itself works on */
        ppo_queue_fail(q, -EIO, "CUDA graph: $CPU_DEVICE made its recording fail");
    } else if (!cpu_memory_take_code()) {
        ppo_queue_fail(q, -ENOMEM, "CUDA graph: out of memory");
    }
    return !q->error;
}

/* Calls it every time; from its second time on it must do with the same operands what it did then. */
void ppo_queue_repeat(struct ppo_queue *q, int graph, void (*work)(void *ctx), void *ctx)
{
    uint64_t said = 0;
    if (q->error)
        return;
    if (q->seen[graph] == 1 && !record(q))
        return;
    q->g->said = &said;
    work(ctx);
    q->g->said = NULL;
    if (q->seen[graph]++ == 1)
        q->recorded[graph] = said;
    if (q->seen[graph] > 2 && q->recorded[graph] != said)
        abort(); /* a graph would have done something else */
}

void ppo_queue_forget(struct ppo_queue *q)
{
    for (int i = 0; i < QUEUE_GRAPHS; i++)
        q->seen[i] = q->seen[i] > 0;
}

void ppo_queue_launched(struct ppo_queue *q)
{
    char reason[REASON_MAX];
    int r = cpu_alive(reason, sizeof reason);
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
