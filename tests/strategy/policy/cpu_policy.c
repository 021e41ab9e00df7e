/* Of the module whose device is the CPU (tests/indicators_gpu/cpu_device.h): inference. Guard cells behind
 * the values must keep their value (else it aborts). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strategy/policy/cuda/abi.h"
#include "strategy/policy/cuda/blocks.h"
#include "tests/indicators_gpu/cpu_device.h"

enum { LANES = 16, GUARD = 64 };
#define GUARD_VALUE 12345.0f

struct gpu_policy {
    struct gpu_indicators *g;
    float *floats, *values;
    struct gpu_policy_step *steps;
    size_t n_floats, n_values, n_steps, outputs, hidden, observation;
};

extern const struct gpu_policy_api papertape_gpu_policy;

static size_t padded(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

static void policy_destroy(struct gpu_policy *p)
{
    cpu_release(p->g, p->floats, p->n_floats * sizeof(float));
    cpu_release(p->g, p->values, (p->n_values + GUARD) * sizeof(float));
    free(p->steps);
    free(p);
}

static void hang(const char *fifo)
{
    char byte;
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &byte, 1) < 0)
        abort();
    close(fd);
}

static void run_step(const struct gpu_policy *p, const struct gpu_policy_step *step)
{
    const struct policy_launch l = {p->floats, p->values, *step};
    struct policy_shared *shared = malloc(sizeof *shared);
    const unsigned blocks = policy_blocks(step);
    cpu_launch();
    if (!shared)
        abort();
    for (unsigned i = 0; i < blocks; i++) {
        memset(shared, 0xff, sizeof *shared);
        block_policy(&l, block_reversed ? blocks - 1 - i : i, shared);
    }
    free(shared);
}

static int policy_heads(struct gpu_policy *p, const float *observation, float *hidden, float *ret_heads,
                        char *reason, size_t cap)
{
    const char *fails = getenv("POLICY_FAILS"), *hangs = getenv("POLICY_HANGS");
    float *state = p->values + padded(p->outputs);
    if (hangs)
        hang(hangs);
    if (fails) {
        snprintf(reason, cap, "kernel: the test makes it fail");
        return -EIO;
    }
    memcpy(state, hidden, p->hidden * sizeof(float));
    memcpy(state + padded(p->hidden), observation, p->observation * sizeof(float));
    block_reversed = cpu_reversed();
    for (size_t i = 0; i < p->n_steps; i++)
        run_step(p, &p->steps[i]);
    block_reversed = false;
    for (size_t i = 0; i < GUARD; i++)
        if (p->values[p->n_values + i] != GUARD_VALUE)
            abort();
    memcpy(ret_heads, p->values, p->outputs * sizeof(float));
    memcpy(hidden, state, p->hidden * sizeof(float));
    return cpu_wait(reason, cap);
}

static int policy_create(struct gpu_indicators *g, const struct gpu_policy_setup *setup,
                         struct gpu_policy **ret, char *reason, size_t cap)
{
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct gpu_policy *p = calloc(1, sizeof *p);
    if (!p)
        return cpu_none_left(reason, cap);
    *p = (struct gpu_policy){.g = g,
                             .n_floats = setup->n_floats,
                             .n_values = setup->n_values,
                             .n_steps = setup->n_steps,
                             .outputs = setup->outputs,
                             .hidden = setup->hidden,
                             .observation = setup->observation};
    p->floats = cpu_allocate(g, p->n_floats * sizeof(float));
    p->values = cpu_allocate(g, (p->n_values + GUARD) * sizeof(float));
    p->steps = malloc(p->n_steps * sizeof *p->steps);
    if (!p->floats || !p->values || !p->steps) {
        policy_destroy(p);
        return cpu_none_left(reason, cap);
    }
    memcpy(p->floats, setup->floats, p->n_floats * sizeof(float));
    memcpy(p->steps, setup->steps, p->n_steps * sizeof *p->steps);
    for (size_t i = 0; i < GUARD; i++)
        p->values[p->n_values + i] = GUARD_VALUE;
    *ret = p;
    return 0;
}

__attribute__((visibility("default"))) const struct gpu_policy_api papertape_gpu_policy = {
    .abi = GPU_POLICY_ABI,
    .create = policy_create,
    .destroy = policy_destroy,
    .heads = policy_heads,
};
