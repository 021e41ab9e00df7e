/* Gradients: the sums of tiles, their norm, and Adam's step (trainer/nn/adam.h). */
#ifndef TRAINER_PPO_CUDA_BLOCKS_ADAM_H
#define TRAINER_PPO_CUDA_BLOCKS_ADAM_H

#include "trainer/ppo/cuda/blocks/number.h"

enum { ADD_COLUMNS = 32, ADD_LANES = KERNEL_THREADS / ADD_COLUMNS, ADAM_FLOATS = 4 /* of a thread */ };
#define CLIP_EPSILON 1e-6

struct four {
    float at[ADAM_FLOATS];
} __attribute__((aligned(16)));

struct four_halves {
    uint32_t word[ADAM_FLOATS / 2];
} __attribute__((aligned(8)));

static inline uint32_t add_sums_blocks(const struct kernel_add *k)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->n; i++)
        most = k->jobs[i].padded > most ? k->jobs[i].padded : most;
    return kernel_tiles(most, ADD_COLUMNS);
}

/* x: columns, y: job. */
BLOCK_FN void block_add_sums(const struct kernel_add *k, unsigned x, unsigned y, void *shared)
{
    double *lanes = (double *)shared; /* [ADD_LANES][ADD_COLUMNS] */
    const struct kernel_job *job = &k->jobs[y];
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = x * ADD_COLUMNS + t % ADD_COLUMNS;
        double sum = 0;
        for (uint32_t tile = t / ADD_COLUMNS; column < job->cols && tile < job->tiles; tile += ADD_LANES)
            sum += job->from[(size_t)tile * job->stride + column];
        lanes[t] = sum;
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = x * ADD_COLUMNS + t;
        double sum = 0;
        if (t >= ADD_COLUMNS || column >= job->padded)
            continue;
        for (unsigned lane = 0; lane < ADD_LANES; lane++)
            sum += lanes[lane * ADD_COLUMNS + t];
        job->to[column] = (float)sum;
    }
}

BLOCK_FN void block_grad_squares(const struct kernel_adam *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared; /* [KERNEL_THREADS] */
    (void)y;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t first = (size_t)x * KERNEL_FLAT_TILE;
        double sum = 0;
        for (size_t i = first + t * ADAM_FLOATS; i < first + KERNEL_FLAT_TILE && i < k->n_params;
             i += KERNEL_THREADS * ADAM_FLOATS) {
            struct four g = *(const struct four *)(k->grads + i);
            BLOCK_UNROLL
            for (int j = 0; j < ADAM_FLOATS; j++)
                sum += (double)g.at[j] * g.at[j];
        }
        sums[t] = sum;
    }
    block_add(sums, 1, KERNEL_THREADS);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t == 0)
            k->partials[x] = sums[0];
    }
}

/* Prepares Adam's next step, or decides to skip it. */
BLOCK_FN void grad_decide(const struct kernel_adam *k, double norm)
{
    struct kernel_clock *clock = k->clock;
    struct kernel_figures *f = k->figures;
    if (clock->skip)
        return;
    if (!number_finite(norm)) {
        clock->skip = 1;
        f->skipped += 1;
        clock->bad_in_row += 1;
        if (clock->bad_in_row >= k->bad_updates)
            f->bad = clock->stop = 1;
        return;
    }
    double scale = k->max_grad_norm > 0 ? k->max_grad_norm / (norm + CLIP_EPSILON) : 1;
    clock->bad_in_row = 0;
    clock->adam_step += 1;
    clock->scale = (float)(scale < 1 ? scale : 1);
    clock->rate = (float)(k->rates->learning_rate / (1 - pow(k->beta1, (double)clock->adam_step)));
    clock->root_correction2 = (float)(1 / sqrt(1 - pow(k->beta2, (double)clock->adam_step)));
    f->minibatches += 1;
    f->policy_loss += clock->policy;
    f->value_loss += clock->value;
    f->entropy_loss += clock->entropy;
    f->loss += clock->loss;
    f->old_kl += clock->old_kl;
    f->kl += clock->kl;
    f->clip_fraction += clock->clipped;
    f->grad_norm += norm;
}

BLOCK_FN void block_grad_step(const struct kernel_adam *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared;
    (void)x;
    (void)y;
    block_add_tiles(k->partials, (uint32_t)((k->n_params + KERNEL_FLAT_TILE - 1) / KERNEL_FLAT_TILE), 1,
                    sums);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        struct kernel_clock *clock = k->clock;
        if (t > 0)
            continue;
        grad_decide(k, sqrt(sums[0]));
        clock->minibatch += 1;
        if (clock->minibatch == k->order.minibatches || clock->stop) { /* what follows may be left out */
            clock->epoch += clock->started;
            clock->minibatch = clock->started = 0;
            clock->shuffle = ppo_shuffle_make(k->order.seed, clock->epoch, k->order.sequences);
        }
    }
}

BLOCK_FN struct four_halves four_halve(const struct four *x)
{
    struct four_halves ret;
    BLOCK_UNROLL
    for (int j = 0; j < ADAM_FLOATS / 2; j++)
        ret.word[j] = (uint32_t)number_half(x->at[2 * j]) | (uint32_t)number_half(x->at[2 * j + 1]) << 16;
    return ret;
}

BLOCK_FN void block_adam(const struct kernel_adam *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t i = ((size_t)x * KERNEL_THREADS + t) * ADAM_FLOATS;
        if (i >= k->n_params || k->clock->skip)
            continue;
        float scale = k->clock->scale, rate = k->clock->rate, root = k->clock->root_correction2;
        float beta1 = (float)k->beta1, beta2 = (float)k->beta2, epsilon = (float)k->epsilon;
        float rest1 = (float)(1 - k->beta1), rest2 = (float)(1 - k->beta2);
        struct four p = *(const struct four *)(k->params + i), g = *(const struct four *)(k->grads + i);
        struct four m = *(const struct four *)(k->m + i), v = *(const struct four *)(k->v + i);
        BLOCK_UNROLL
        for (int j = 0; j < ADAM_FLOATS; j++) {
            float grad = g.at[j] * scale;
            m.at[j] = beta1 * m.at[j] + rest1 * grad;
            v.at[j] = beta2 * v.at[j] + rest2 * grad * grad;
            p.at[j] -= rate * m.at[j] / (sqrtf(v.at[j]) * root + epsilon);
            size_t at = i + (size_t)j - k->log_std_first;
            if (at < k->n_log_std) /* wraps below the first */
                p.at[j] = number_clip(p.at[j], k->log_std_min, k->log_std_max);
        }
        *(struct four *)(k->params + i) = p;
        *(struct four *)(k->m + i) = m;
        *(struct four *)(k->v + i) = v;
        if (k->half)
            *(struct four_halves *)(k->half + i) = four_halve(&p);
    }
}

BLOCK_FN void block_halve(const struct kernel_halve *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t i = ((size_t)x * KERNEL_THREADS + t) * ADAM_FLOATS;
        if (i >= k->n)
            continue;
        struct four from = *(const struct four *)(k->from + i);
        *(struct four_halves *)(k->to + i) = four_halve(&from);
    }
}

#endif
