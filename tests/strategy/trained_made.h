/* Trained policies for tests: networks of random parameters, and what they say that they were made for. */
#ifndef TESTS_STRATEGY_TRAINED_MADE_H
#define TESTS_STRATEGY_TRAINED_MADE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/policy/trained.h"
#include "tests/random.h"
#include "trainer/env/params.h"

struct trained_made {
    struct trained_source source;
    struct net_layout layout;
    struct policy_asset assets[8];
    const char *sets[8];
    char environment[4096];
    float *params, *mean, *scale;
};

static inline double trained_uniform(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53 * 2 - 1;
}

/* Every key of the environment as text. */
static inline void trained_environment_text(const struct env_params *params, char *ret, size_t cap)
{
    size_t n, len = 0;
    const struct config_key *list = env_params_list(&n);
    for (size_t i = 0; i < n; i++) {
        char value[128];
        if (!env_params_get(params, list[i].name, value, sizeof value))
            abort();
        len += (size_t)snprintf(ret + len, cap - len, "%s=%s\n", list[i].name, value);
    }
}

static inline void trained_made_networks(struct trained_made *made, struct random *random,
                                         const struct net_shape *shape)
{
    char err[NET_ERROR_MAX];
    if (policy_net_layout_init(&made->layout, shape, err) < 0) {
        fprintf(stderr, "%s\n", err);
        abort();
    }
    size_t n = (size_t)shape->observation;
    made->params = calloc(made->layout.n_params, sizeof(float));
    made->mean = calloc(n, sizeof(float));
    made->scale = calloc(n, sizeof(float));
    if (!made->params || !made->mean || !made->scale)
        abort();
    for (int t = 0; t < made->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &made->layout.tensors[t];
        double size = tensor->kind == NET_WEIGHT ? 1.7 / sqrt(tensor->rows) : 0.5;
        for (int i = 0; i < tensor->rows; i++)
            for (int k = 0; k < tensor->cols; k++)
                made->params[tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)k] =
                    (float)(size * trained_uniform(random) + (tensor->kind == NET_NORM_WEIGHT));
    }
    for (size_t i = 0; i < n; i++) {
        made->mean[i] = (float)trained_uniform(random);
        made->scale[i] = (float)(1 + 0.5 * trained_uniform(random));
    }
    made->source.layout = &made->layout;
    made->source.params = made->params;
    made->source.mean = made->mean;
    made->source.scale = made->scale;
    made->source.clip = 5;
    made->source.trained_steps = random_between(random, 0, INT64_C(1) << 52);
    made->source.seed = random_next(random);
}

/* For a market of n symbols, or for a world where n is 0. `text`: their feature set; NULL: closes and
 * volumes. Observation and actions of the shape are made to fit the market, whose rows have `width` features.
 */
static inline void trained_made_open(struct trained_made *made, struct random *random, struct net_shape shape,
                                     int n, const char *text, size_t width, const struct env_params *params)
{
    *made = (struct trained_made){0};
    if (n == 0) {
        made->source.world = "cartpole";
    } else {
        shape.actions = n;
        shape.observation = 1 + n + params->lookback * (int)(text ? (size_t)n * width : 2 * (size_t)n);
        shape.levels = params->actions == ENV_DISCRETE ? params->levels : 0;
        trained_environment_text(params, made->environment, sizeof made->environment);
    }
    for (int i = 0; i < n; i++) {
        snprintf(made->assets[i].name, sizeof made->assets[i].name, "C%dUSDT", i);
        made->assets[i].least = 1e-5 * i;
        made->sets[i] = text;
    }
    made->source.n_assets = n;
    made->source.assets = made->assets;
    made->source.interval_ns = INT64_C(300000000000);
    made->source.sets = text ? made->sets : NULL;
    made->source.environment = made->environment;
    made->source.trained_from_ns = INT64_C(1745200200000000000);
    made->source.trained_to_ns = INT64_C(1755200100000000000);
    trained_made_networks(made, random, &shape);
}

static inline void trained_made_close(struct trained_made *made)
{
    free(made->params);
    free(made->mean);
    free(made->scale);
}

#endif
