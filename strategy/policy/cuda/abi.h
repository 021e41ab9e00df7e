/* Inference in the GPU module: plain C on both sides, no CUDA header. The loader is strategy/policy/device.c;
 * nothing else includes this file except the module, its tests and the block functions.
 *
 * Every call returns 0 or a negative errno and then leaves a sentence in `reason`, as those of
 * indicators_gpu/cuda/abi.h. One thread at a time. */
#ifndef STRATEGY_POLICY_CUDA_ABI_H
#define STRATEGY_POLICY_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

struct gpu_indicators; /* the opened device: indicators_gpu/cuda/abi.h */

/* Raised whenever anything in this file, or a bit of what is computed, changes. */
enum { GPU_POLICY_ABI = 1 };

/* What the module exports, a struct gpu_policy_api. */
#define GPU_POLICY_SYMBOL "papertape_gpu_policy"

enum gpu_policy_kind {
    GPU_POLICY_OBSERVE, /* to = clip((from - a) b) to +-limit; a: means, b: scales */
    GPU_POLICY_LAYER,   /* to = a + from w: a the bias, w packed as strategy/policy/infer.h says */
    GPU_POLICY_NORM,    /* layer normalisation of `to` in place; a the weight, b the bias */
    GPU_POLICY_GATE,    /* to = (1 - sigmoid(z)) to + sigmoid(z) c; `from`: z, then c, of `out` units each */
};
enum gpu_policy_activation { GPU_POLICY_IDENTITY, GPU_POLICY_TANH, GPU_POLICY_RELU, GPU_POLICY_SILU };

/* One step of a forward pass; the next one begins when it has ended. Places are in floats. */
struct gpu_policy_step {
    uint32_t kind, activation; /* of LAYER and NORM: applied to the results */
    uint32_t in, out;          /* out: of LAYER a multiple of NET_LANES */
    uint64_t from, to;         /* among the values */
    uint64_t weight, a, b;     /* among the parameters */
    float limit;
};

/* The values begin with the heads [outputs], the recurrent state [hidden], the observation [observation],
 * each rounded up to NET_LANES: the first two are results, the last two are inputs. */
struct gpu_policy_setup {
    const float *floats; /* [n_floats] the parameters; copied */
    size_t n_floats, n_values;
    const struct gpu_policy_step *steps; /* [n_steps]; copied */
    size_t n_steps;
    size_t outputs, hidden, observation;
};

struct gpu_policy; /* a model on the device */

struct gpu_policy_api {
    uint32_t abi;
    /* Uploads it, and runs it once, so that no later call loads code. */
    int (*create)(struct gpu_indicators *g, const struct gpu_policy_setup *setup, struct gpu_policy **ret,
                  char *reason, size_t cap);
    void (*destroy)(struct gpu_policy *p);
    /* One forward pass: hidden [hidden] before it and after it. Waits for the device. */
    int (*heads)(struct gpu_policy *p, const float *observation, float *hidden, float *ret_heads,
                 char *reason, size_t cap);
};

#endif
