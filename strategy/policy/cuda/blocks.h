/* Inference as block functions (indicators_gpu/cuda/block.h), with the bits of
 * strategy/policy/infer_scalar.c: a thread an output, which adds its inputs in order; each product and
 * sum is rounded once. A block has the 64 outputs of a panel, whose weights of one input lie side by side;
 * its part of x is in shared memory, a tile at a time. A thread loads POLICY_AHEAD weights at once: memory is
 * the bottleneck. */
#ifndef STRATEGY_POLICY_CUDA_BLOCKS_H
#define STRATEGY_POLICY_CUDA_BLOCKS_H

#include <math.h>

#include "indicators_gpu/cuda/block.h"
#include "strategy/policy/activation.h"
#include "strategy/policy/cuda/abi.h"

enum { POLICY_THREADS = 64 /* INFER_PANEL */, POLICY_TILE = 1024, POLICY_AHEAD = 16 };
#define POLICY_NORM_EPSILON 1e-5 /* NET_NORM_EPSILON */

struct policy_launch {
    const float *floats;
    float *values;
    struct gpu_policy_step step;
};

struct policy_shared {
    float x[POLICY_TILE];
    double mean, scale;
};

#ifdef __CUDACC__
BLOCK_FN float policy_add(float a, float b)
{
    return __fadd_rn(a, b);
}
BLOCK_FN float policy_mul(float a, float b)
{
    return __fmul_rn(a, b);
}
#else
BLOCK_FN float policy_add(float a, float b)
{
    return a + b;
}
BLOCK_FN float policy_mul(float a, float b)
{
    return a * b;
}
#endif

static inline unsigned policy_blocks(const struct gpu_policy_step *step)
{
    return step->kind == GPU_POLICY_NORM ? 1 : (step->out + POLICY_THREADS - 1) / POLICY_THREADS;
}

BLOCK_FN float policy_activate(uint32_t activation, float x)
{
    switch (activation) {
    case GPU_POLICY_TANH:
        return activation_tanh(x);
    case GPU_POLICY_RELU:
        return activation_relu(x);
    case GPU_POLICY_SILU:
        return activation_silu(x);
    default:
        return x;
    }
}

BLOCK_FN void block_policy_observe(const struct policy_launch *l, unsigned block)
{
    const struct gpu_policy_step *s = &l->step;
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        const uint32_t i = block * POLICY_THREADS + t;
        if (i >= s->out)
            continue;
        float y = policy_mul(policy_add(l->values[s->from + i], -l->floats[s->a + i]), l->floats[s->b + i]);
        y = y > s->limit ? s->limit : y;
        l->values[s->to + i] = y < -s->limit ? -s->limit : y;
    }
}

/* Continues the sum over n inputs; `weight` is the thread's of the first. */
BLOCK_FN float policy_sum(float sum, const float *weight, uint32_t width, const float *x, uint32_t n)
{
    uint32_t i = 0;
    for (; i + POLICY_AHEAD <= n; i += POLICY_AHEAD) {
        float w[POLICY_AHEAD];
        BLOCK_UNROLL
        for (uint32_t k = 0; k < POLICY_AHEAD; k++)
            w[k] = weight[(size_t)(i + k) * width];
        BLOCK_UNROLL
        for (uint32_t k = 0; k < POLICY_AHEAD; k++)
            sum = policy_add(sum, policy_mul(w[k], x[i + k]));
    }
    for (; i < n; i++)
        sum = policy_add(sum, policy_mul(weight[(size_t)i * width], x[i]));
    return sum;
}

BLOCK_FN void block_policy_layer(const struct policy_launch *l, unsigned block, struct policy_shared *shared)
{
    const struct gpu_policy_step *s = &l->step;
    const uint32_t first = block * POLICY_THREADS;
    const uint32_t width = s->out - first < POLICY_THREADS ? s->out - first : POLICY_THREADS;
    const float *panel = l->floats + s->weight + (size_t)first * s->in;
    BLOCK_OWN(float, sum, POLICY_THREADS);
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        BLOCK_MINE(sum, t) = t < width ? l->floats[s->a + first + t] : 0;
    }
    for (uint32_t done = 0; done < s->in; done += POLICY_TILE) {
        const uint32_t n = s->in - done < POLICY_TILE ? s->in - done : POLICY_TILE;
        BLOCK_PHASE(t, POLICY_THREADS)
        {
            for (uint32_t i = t; i < n; i += POLICY_THREADS)
                shared->x[i] = l->values[s->from + done + i];
        }
        BLOCK_PHASE(t, POLICY_THREADS)
        {
            if (t < width)
                BLOCK_MINE(sum, t) =
                    policy_sum(BLOCK_MINE(sum, t), panel + (size_t)done * width + t, width, shared->x, n);
        }
    }
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        if (t < width)
            l->values[s->to + first + t] = policy_activate(s->activation, BLOCK_MINE(sum, t));
    }
}

/* Sums in float64 in order, as model.c's: on one thread. */
BLOCK_FN void block_policy_norm(const struct policy_launch *l, struct policy_shared *shared)
{
    const struct gpu_policy_step *s = &l->step;
    float *x = l->values + s->to;
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        if (t > 0)
            continue;
        double mean = 0, squares = 0;
        for (uint32_t i = 0; i < s->out; i++)
            mean += (double)x[i];
        mean /= (double)s->out;
        for (uint32_t i = 0; i < s->out; i++)
            squares += ((double)x[i] - mean) * ((double)x[i] - mean);
        shared->mean = mean;
        shared->scale = 1.0 / sqrt(squares / (double)s->out + POLICY_NORM_EPSILON);
    }
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        for (uint32_t i = t; i < s->out; i += POLICY_THREADS) {
            const float y = (float)(((double)x[i] - shared->mean) * shared->scale);
            const float z = policy_add(policy_mul(y, l->floats[s->a + i]), l->floats[s->b + i]);
            x[i] = policy_activate(s->activation, z);
        }
    }
}

BLOCK_FN void block_policy_gate(const struct policy_launch *l, unsigned block)
{
    const struct gpu_policy_step *s = &l->step;
    BLOCK_PHASE(t, POLICY_THREADS)
    {
        const uint32_t i = block * POLICY_THREADS + t;
        if (i >= s->out)
            continue;
        const float z = activation_sigmoid(l->values[s->from + i]);
        const float kept = policy_mul(policy_add(1.0f, -z), l->values[s->to + i]);
        l->values[s->to + i] = policy_add(kept, policy_mul(z, l->values[s->from + s->out + i]));
    }
}

BLOCK_FN void block_policy(const struct policy_launch *l, unsigned block, struct policy_shared *shared)
{
    switch (l->step.kind) {
    case GPU_POLICY_OBSERVE:
        block_policy_observe(l, block);
        break;
    case GPU_POLICY_LAYER:
        block_policy_layer(l, block, shared);
        break;
    case GPU_POLICY_NORM:
        block_policy_norm(l, shared);
        break;
    default:
        block_policy_gate(l, block);
        break;
    }
}

#endif
