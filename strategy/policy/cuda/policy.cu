/* Inference in the module: a model's parameters on the device, and a forward pass as a launch a step. A step
 * takes some microseconds of launching and of reading its weights; only the observation, the heads and the
 * recurrent state are copied, through pinned memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/device.h"
#include "strategy/policy/cuda/abi.h"
#include "strategy/policy/cuda/blocks.h"

enum { LANES = 16 /* NET_LANES */ };

struct gpu_policy {
    struct gpu_indicators *g;
    struct device_memory floats, values;
    struct gpu_policy_step *steps;
    size_t n_steps, outputs, hidden, observation; /* the last three rounded up */
    size_t n_hidden, n_outputs, n_observation;
    float *pinned; /* heads, recurrent state, observation */
};

static __global__ void __launch_bounds__(POLICY_THREADS) policy_kernel(const struct policy_launch l)
{
    __shared__ struct policy_shared shared;
    block_policy(&l, blockIdx.x, &shared);
}

static size_t padded(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

static void policy_destroy(struct gpu_policy *p)
{
    gpu_device_release(p->g, &p->floats);
    gpu_device_release(p->g, &p->values);
    if (p->pinned)
        gpu_device_let_go(cudaFreeHost(p->pinned));
    free(p->steps);
    free(p);
}

static int policy_heads(struct gpu_policy *p, const float *observation, float *hidden, float *ret_heads,
                        char *reason, size_t cap)
{
    struct gpu_indicators *g = p->g;
    float *values = (float *)p->values.at, *state = p->pinned + p->outputs;
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    memcpy(state, hidden, p->n_hidden * sizeof(float));
    memcpy(state + p->hidden, observation, p->n_observation * sizeof(float));
    r = gpu_device_check(g,
                         cudaMemcpyAsync(values + p->outputs, state,
                                         (p->hidden + p->observation) * sizeof(float), cudaMemcpyHostToDevice,
                                         g->stream),
                         "copy to the device", reason, cap);
    for (size_t i = 0; i < p->n_steps && r == 0; i++) {
        const struct policy_launch l = {(const float *)p->floats.at, values, p->steps[i]};
        policy_kernel<<<policy_blocks(&l.step), POLICY_THREADS, 0, g->stream>>>(l);
        r = gpu_device_check(g, cudaGetLastError(), "kernel launch", reason, cap);
    }
    if (r == 0)
        r = gpu_device_check(g,
                             cudaMemcpyAsync(p->pinned, values, (p->outputs + p->hidden) * sizeof(float),
                                             cudaMemcpyDeviceToHost, g->stream),
                             "copy from the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "kernel", reason, cap);
    if (r < 0)
        return r;
    memcpy(ret_heads, p->pinned, p->n_outputs * sizeof(float));
    memcpy(hidden, state, p->n_hidden * sizeof(float));
    return 0;
}

static int fill(struct gpu_policy *p, const struct gpu_policy_setup *setup, char *reason, size_t cap)
{
    struct gpu_indicators *g = p->g;
    const size_t n_pinned = p->outputs + p->hidden + p->observation;
    int r = gpu_device_reserve(g, &p->floats, setup->n_floats, sizeof(float), "device memory for a policy",
                               reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &p->values, setup->n_values, sizeof(float), "device memory for a policy",
                               reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaMallocHost((void **)&p->pinned, n_pinned * sizeof(float)),
                             "pinned memory", reason, cap);
    if (r < 0)
        return r;
    memset(p->pinned, 0, n_pinned * sizeof(float));
    r = gpu_device_check(g,
                         cudaMemcpyAsync(p->floats.at, setup->floats, setup->n_floats * sizeof(float),
                                         cudaMemcpyHostToDevice, g->stream),
                         "copy to the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaMemsetAsync(p->values.at, 0, setup->n_values * sizeof(float), g->stream),
                             "device memory for a policy", reason, cap);
    return r < 0 ? r
                 : gpu_device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
}

static int policy_create(struct gpu_indicators *g, const struct gpu_policy_setup *setup,
                         struct gpu_policy **ret, char *reason, size_t cap)
{
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    struct gpu_policy *p = (struct gpu_policy *)calloc(1, sizeof(*p));
    float *zeros = (float *)calloc(setup->observation + setup->hidden + setup->outputs + 1, sizeof(float));
    if (p)
        p->steps = (struct gpu_policy_step *)malloc(setup->n_steps * sizeof(*p->steps));
    if (!p || !p->steps || !zeros) {
        free(p ? p->steps : NULL);
        free(p);
        free(zeros);
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    p->g = g;
    memcpy(p->steps, setup->steps, setup->n_steps * sizeof(*p->steps));
    p->n_steps = setup->n_steps;
    p->n_outputs = setup->outputs;
    p->n_hidden = setup->hidden;
    p->n_observation = setup->observation;
    p->outputs = padded(setup->outputs);
    p->hidden = padded(setup->hidden);
    p->observation = padded(setup->observation);
    r = fill(p, setup, reason, cap);
    if (r == 0) /* the first launch loads the code */
        r = policy_heads(p, zeros, zeros + setup->observation, zeros + setup->observation + setup->hidden,
                         reason, cap);
    free(zeros);
    if (r < 0) {
        policy_destroy(p);
        return r;
    }
    *ret = p;
    return 0;
}

extern "C" {
extern const struct gpu_policy_api papertape_gpu_policy __attribute__((visibility("default")));
const struct gpu_policy_api papertape_gpu_policy = {
    GPU_POLICY_ABI,
    policy_create,
    policy_destroy,
    policy_heads,
};
}
