/* Networks of random parameters, for tests and benchmarks of inference. */
#ifndef TESTS_STRATEGY_POLICY_NETWORKS_H
#define TESTS_STRATEGY_POLICY_NETWORKS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "strategy/policy/trained.h"
#include "tests/random.h"

static inline float network_uniform(struct random *random)
{
    return (float)((double)(random_next(random) >> 11) * 0x1p-53 * 2 - 1);
}

/* For net_model_destroy(). Ends the program where there is no memory, or no such network. */
static inline struct net_model *network_made(struct random *random, const struct net_shape *shape,
                                             enum net_isa isa, struct net_layout *ret_layout)
{
    char err[NET_ERROR_MAX] = "";
    struct net_model *model = NULL;
    if (net_layout_init(ret_layout, shape, err) < 0) {
        fprintf(stderr, "%s\n", err);
        abort();
    }
    size_t n = (size_t)shape->observation;
    float *params = calloc(ret_layout->n_params, sizeof(float)), *mean = calloc(n, sizeof(float)),
          *scale = calloc(n, sizeof(float));
    if (!params || !mean || !scale)
        abort();
    for (int t = 0; t < ret_layout->n_tensors; t++) {
        const struct net_tensor *tensor = &ret_layout->tensors[t];
        float size = tensor->kind == NET_WEIGHT ? 1.7f / (float)sqrt(tensor->rows) : 0.5f;
        for (int i = 0; i < tensor->rows; i++)
            for (int k = 0; k < tensor->cols; k++)
                params[tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)k] =
                    size * network_uniform(random) + (tensor->kind == NET_NORM_WEIGHT ? 1 : 0);
    }
    for (size_t i = 0; i < n; i++) {
        mean[i] = network_uniform(random);
        scale[i] = 1 + 0.5f * network_uniform(random);
    }
    if (net_model_create(ret_layout, params, mean, scale, 3, isa, &model) < 0)
        abort();
    free(params);
    free(mean);
    free(scale);
    return model;
}

#endif
