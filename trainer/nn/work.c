#include "trainer/nn/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64,
    HUGE_PAGE = 2 << 20,
    SKEW = 5 * ALIGNMENT, /* between arrays, so that they do not all start at the same offset of a page */
    PAGE_NUMBERS = 256,   /* strides that are multiples of it crowd a few sets of the caches */
};

/* Reserves memory; without a base it only counts. */
struct work_room {
    char *base;
    size_t used;
};

static real *take(struct work_room *arena, size_t numbers)
{
    real *at = arena->base ? (real *)(void *)(arena->base + arena->used) : NULL;
    arena->used += (numbers * sizeof(real) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + SKEW;
    return at;
}

static size_t stride_of(int width)
{
    size_t stride = (size_t)nn_round(width);
    return stride % PAGE_NUMBERS ? stride : stride + NET_LANES;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void carve(struct REAL(nn_work) * work, struct work_room *arena)
{
    const struct net_layout *layout = work->layout;
    const size_t rows = work->capacity;
    size_t widest = NET_LANES, at = 0;
    for (int part = 0; part < 3; part++) {
        const struct net_chain *chain = &layout->chains[part];
        for (int i = 0; i < chain->n_hidden; i++)
            widest = larger(widest, stride_of(chain->hidden[i].out));
        if (chain->has_recurrent)
            widest = larger(widest, stride_of(chain->recurrent.out));
        if (chain->has_head)
            widest = larger(widest, stride_of(chain->head.out));
    }
    real *turns[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (work->train)
            work->delta[i] = take(arena, rows * widest);
        else
            turns[i] = take(arena, rows * widest);
    for (int part = 0; part < 3; part++) {
        const struct net_chain *chain = &layout->chains[part];
        struct nn_chain_work *mine = &work->chains[part];
        for (int i = 0; i < chain->n_hidden; i++) {
            struct nn_layer_work *layer = &mine->hidden[i];
            layer->stride = stride_of(chain->hidden[i].out);
            layer->y = work->train ? take(arena, rows * layer->stride) : turns[i % 2];
            layer->centered = layer->y;
            if (layout->shape.layer_norm) {
                layer->inverse = take(arena, rows);
                if (work->train)
                    layer->centered = take(arena, rows * layer->stride);
            }
            if (work->train && layout->shape.activation == NET_SILU)
                layer->pre = take(arena, rows * layer->stride);
        }
        if (chain->has_recurrent) {
            mine->gates_stride = stride_of(chain->recurrent.out);
            mine->state_stride = stride_of(layout->shape.recurrent);
            mine->gates = take(arena, rows * mine->gates_stride);
            mine->state = take(arena, rows * mine->state_stride);
            mine->hidden_at = at;
            at += (size_t)layout->shape.recurrent;
        }
        if (chain->has_head) {
            mine->head_stride = (size_t)nn_round(chain->head.out);
            mine->head = take(arena, rows * mine->head_stride);
        }
    }
    if (work->train) {
        work->logp = take(arena, rows);
        work->pull_logp = take(arena, rows);
        work->pull_values = take(arena, rows);
        work->head_delta = take(arena, rows * (size_t)nn_round(layout->outputs));
        work->carry = take(arena, (size_t)layout->shape.recurrent);
    }
    work->scratch = take(arena, work->kernels->scratch);
}

int REAL(nn_work_create_with)(const struct net_layout *layout, size_t rows, bool train,
                              const struct REAL(nn_kernels) * kernels, struct REAL(nn_work) * *ret)
{
    struct REAL(nn_work) *work = calloc(1, sizeof *work);
    if (!work)
        return -ENOMEM;
    *work = (struct REAL(nn_work)){.layout = layout, .kernels = kernels, .capacity = rows, .train = train};
    struct work_room arena = {NULL, 0};
    carve(work, &arena);
    const size_t unit = arena.used >= 2 * HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    const size_t bytes = (arena.used + unit - 1) / unit * unit;
    work->memory = arena.base = aligned_alloc(unit, bytes);
    if (!work->memory) {
        free(work);
        return -ENOMEM;
    }
    if (unit == HUGE_PAGE)
        madvise(work->memory, bytes, MADV_HUGEPAGE); /* only faster with it */
    memset(work->memory, 0, bytes);
    arena.used = 0;
    carve(work, &arena);
    *ret = work;
    return 0;
}

int REAL(nn_work_create)(const struct net_layout *layout, size_t rows, bool train,
                         struct REAL(nn_work) * *ret)
{
    return REAL(nn_work_create_with)(layout, rows, train, REAL(nn_kernels_best)(), ret);
}

void REAL(nn_work_destroy)(struct REAL(nn_work) * work)
{
    if (!work)
        return;
    free(work->memory);
    free(work);
}

#ifndef NN_DOUBLE
size_t nn_work_bytes(const struct net_layout *layout, size_t rows, bool train)
{
    struct nn_work_f32 work = {
        .layout = layout, .kernels = nn_kernels_best_f32(), .capacity = rows, .train = train};
    struct work_room arena = {NULL, 0};
    carve(&work, &arena);
    return sizeof work + arena.used;
}
#endif
