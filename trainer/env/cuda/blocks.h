/* The environment's kernels as block functions (indicators_gpu/cuda/block.h): one thread a copy, which calls
 * the same rules as the scalar kernels, so the bits are theirs.
 *
 * Columns are [n][stride], so the threads of a warp touch 32 neighbours of one column at a time. A copy's
 * episode depends on no other copy: several steps run in one launch without a barrier between them.
 *
 * Observations are rows, [copies][1 + n + L * features]: a block takes OBSERVE_COPIES of them, brings their
 * money and quantities through shared memory, since columns lie across rows, and then writes its rows as one
 * run, neighbours by neighbouring threads. What a row has of the market is one run there, newest first, and a
 * market of some thousand rows stays in the L2.
 *
 * A kernel elsewhere (an evaluation, a sweep) may have these functions as its own: it needs a struct
 * env_launch whose memory is the device's, a block of STEP_THREADS threads, and `kernel` as a constant, so
 * that only that kernel's code is there. block_env_steps_of() steps a block's copies and leaves them in the
 * columns without a barrier but its last; block_env_rows() then writes their rows, by any number of threads,
 * with observe_shared_bytes() of shared memory. */
#ifndef TRAINER_ENV_CUDA_BLOCKS_H
#define TRAINER_ENV_CUDA_BLOCKS_H

#include "indicators_gpu/cuda/block.h"
#include "trainer/env/cuda/launch.h"
#include "trainer/env/scalar/day_market.h"
#include "trainer/env/scalar/masks.h"
#include "trainer/env/scalar/reference.h"

/* One step of one copy, after a check of its action. */
BLOCK_FN void launch_step(const struct env_launch *l, const struct env_step_io *io, enum env_kernel kernel,
                          uint64_t step, size_t copy)
{
    const struct env_view *v = &l->view;
    ENV_FOUR
    for (int32_t k = 0; k < v->action_size; k++)
        if (!env_action_valid(v, io->actions[copy * io->copy_step + (size_t)k * io->action_step])) {
            block_least(l->fault, step << (FAULT_COPY_BITS + FAULT_ASSET_BITS) |
                                      (uint64_t)copy << FAULT_ASSET_BITS | (uint64_t)k);
            env_rest(io, copy);
            return;
        }
    if (!env_steps(v, io, copy, kernel >= ENV_KERNEL_MARKET ? ENV_MARKET : ENV_REFERENCE))
        return;
    switch (kernel) {
    case ENV_KERNEL_REFERENCE_F64:
        env_reference_f64_step(v, io, copy);
        break;
    case ENV_KERNEL_REFERENCE_F32:
        env_reference_f32_step(v, io, copy);
        break;
    case ENV_KERNEL_MARKET:
    case ENV_KERNEL_MARKET_LIMITED:
        env_market_step(v, io, copy, kernel == ENV_KERNEL_MARKET_LIMITED);
        break;
    case ENV_KERNEL_DAY_REFERENCE:
        env_day_step(v, io, copy);
        break;
    case ENV_KERNEL_DAY_MARKET:
        env_day_market_step(v, io, copy);
        break;
    }
}

/* So many steps of STEP_THREADS copies. */
BLOCK_FN void block_env_steps_of(const struct env_launch *l, enum env_kernel kernel, size_t n_steps,
                                 unsigned block)
{
    const struct env_view *v = &l->view;
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy >= v->state.copies)
            continue;
        for (size_t i = 0; i < n_steps; i++) {
            /* Found again each time: pointers that move along would occupy registers. */
            size_t result = i * l->result_step;
            struct env_step_io io = {l->actions + i * v->state.copies * (size_t)v->action_size,
                                     l->copy_step,
                                     l->action_step,
                                     l->rewards + result,
                                     l->terminated + result,
                                     l->truncated + result,
                                     l->final_obs};
            launch_step(l, &io, kernel, l->first_step + i, copy);
        }
    }
}

/* All steps of the launch. */
BLOCK_FN void block_env_steps(const struct env_launch *l, enum env_kernel kernel, unsigned block)
{
    block_env_steps_of(l, kernel, l->n_steps, block);
}

BLOCK_FN void block_env_reset(const struct env_launch *l, unsigned block)
{
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy < l->view.state.copies && (!l->mask || l->mask[copy]))
            env_begin(&l->view, copy, l->view.params.execution);
    }
}

BLOCK_FN void block_env_masks(const struct env_launch *l, unsigned block)
{
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy < l->view.state.copies)
            env_masks_copy(&l->view, copy, l->masks + copy * env_masks_size(&l->view));
    }
}

/* Rows of OBSERVE_COPIES copies from `first` on, by all threads of a block. */
BLOCK_FN void block_env_rows(const struct env_launch *l, size_t first, unsigned threads, void *shared)
{
    const struct env_view *v = &l->view;
    const float **from = (const float **)shared;
    float *head = (float *)(from + OBSERVE_COPIES);
    size_t left = v->state.copies - first;
    unsigned n_head = 1 + (unsigned)v->state.n, size = (unsigned)v->observation_size;
    unsigned here = left < OBSERVE_COPIES ? (unsigned)left : OBSERVE_COPIES;
    float *rows = l->obs + first * size;

    BLOCK_PHASE(t, threads)
    {
        for (unsigned i = t; i < (n_head + 1) * OBSERVE_COPIES; i += threads) {
            unsigned k = i / OBSERVE_COPIES, c = i % OBSERVE_COPIES;
            if (c >= here)
                continue;
            if (k == n_head)
                from[c] = env_observed_features(v, v->state.row[first + c]);
            else
                head[k * OBSERVE_STRIDE + c] =
                    k == 0 ? env_observed_cash(v, first + c) : env_observed_qty(v, first + c, (int32_t)k - 1);
        }
    }
    BLOCK_PHASE(t, threads)
    {
        unsigned c = t / size, k = t % size;
        for (size_t i = t; i < (size_t)here * size; i += threads) {
            rows[i] = k < n_head ? head[k * OBSERVE_STRIDE + c] : from[c][k - n_head];
            c += threads / size;
            k += threads % size;
            if (k >= size) {
                k -= size;
                c++;
            }
        }
    }
}

BLOCK_FN void block_env_gather(const struct env_gather *g, unsigned block)
{
    size_t first = (size_t)block * OBSERVE_COPIES, left = g->n - first;
    size_t here = left < OBSERVE_COPIES ? left : OBSERVE_COPIES;
    BLOCK_PHASE(t, OBSERVE_THREADS)
    {
        for (size_t i = t; i < here * g->size; i += OBSERVE_THREADS)
            g->ret[first * g->size + i] = g->from[g->copies[first + i / g->size] * g->size + i % g->size];
    }
}

BLOCK_FN void block_env_observe(const struct env_launch *l, unsigned block, void *shared)
{
    block_env_rows(l, (size_t)block * OBSERVE_COPIES, OBSERVE_THREADS, shared);
}

/* The launch's one step, then the rows of the same copies: while some blocks wait for their columns, others
 * write. */
BLOCK_FN void block_env_step_observe(const struct env_launch *l, enum env_kernel kernel, unsigned block,
                                     void *shared)
{
    block_env_steps_of(l, kernel, 1, block);
    size_t first = (size_t)block * STEP_THREADS;
    for (unsigned c = 0; c < STEP_THREADS && first + c < l->view.state.copies; c += OBSERVE_COPIES)
        block_env_rows(l, first + c, STEP_THREADS, shared);
}

#endif
