/* The test of a learner on a device is in parts, a header each: this is what they share. */
#ifndef TESTS_TRAINER_PPO_DEVICE_PARTS_H
#define TESTS_TRAINER_PPO_DEVICE_PARTS_H

#define NN_DOUBLE /* trainer/nn's oracle */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/indicators_gpu/cpu_device.h"
#include "tests/trainer/ppo/device_place.h"
#include "trainer/nn/train.h"
#include "trainer/ppo/cuda/abi.h"

static struct gpu_module *place_module; /* open */
static const char *place_path;          /* its file */
static bool place_small;                /* sizes that a sanitizer gets through */

/* A learner on the device, and the CPU's of the same world. */
struct place {
    struct env_params env_params;
    struct env_market *market;
    struct env_device_market *on_device;
    struct env *env, *cpu_env;
    struct ppo_world world;
    struct learner *device, *cpu;
};

static bool place_is_cpu(void)
{
    return strcmp(gpu_module_device(place_module), "the CPU") == 0;
}

static void place_close(struct place *p)
{
    ppo_learner_destroy(p->device);
    ppo_learner_destroy(p->cpu);
    env_device_market_destroy(p->on_device);
    env_destroy(p->env);
    env_destroy(p->cpu_env);
    env_market_destroy(p->market);
}

static bool place_learner(struct place *p, const struct ppo_params *params, uint64_t seed,
                          struct env **ret_env, struct learner **ret)
{
    char err[PPO_ERROR_MAX] = "";
    struct env_options options = {.copies = (size_t)params->copies, .seed = seed};
    CHECK_INT(env_create(&p->env_params, p->market, &options, ret_env, err), 0);
    CHECK_INT(ppo_learner_create_device(params, place_module, p->on_device, *ret_env, ret, err), 0);
    CHECK_STR(err, "");
    return *ret != NULL;
}

static bool place_open(struct place *p, struct random *random, const struct ppo_params *params, bool discrete,
                       int bars, bool with_cpu)
{
    char err[PPO_ERROR_MAX] = "";
    *p = (struct place){.env_params = place_params(discrete, bars)};
    p->market = place_market(random, &p->env_params);
    if (!p->market)
        return false;
    CHECK_INT(env_device_market_create(place_module, p->market, &p->on_device, err), 0);
    CHECK_STR(err, "");
    if (!p->on_device || !place_learner(p, params, 3, &p->env, &p->device))
        return false;
    if (!with_cpu)
        return true;
    struct env_options options = {.copies = (size_t)params->copies, .seed = 3};
    CHECK_INT(env_create(&p->env_params, p->market, &options, &p->cpu_env, err), 0);
    CHECK_INT(ppo_world_trading(p->cpu_env, &p->world, err), 0);
    CHECK_INT(ppo_learner_create_cpu(params, &p->world, &p->cpu, err), 0);
    CHECK_STR(err, "");
    return p->cpu != NULL;
}

static bool place_iterate(struct learner *l, struct ppo_update *ret)
{
    char err[PPO_ERROR_MAX] = "";
    int r = ppo_learner_iterate(l, ret, err);
    CHECK_INT(r, 0);
    CHECK_STR(err, "");
    return r == 0;
}

static void place_compare_figures(const struct ppo_update *a, const struct ppo_update *b, double tolerance)
{
    const double of_a[] = {a->policy_loss,   a->value_loss,         a->entropy_loss, a->loss,
                           a->clip_fraction, a->explained_variance, a->grad_norm,    a->reward};
    const double of_b[] = {b->policy_loss,   b->value_loss,         b->entropy_loss, b->loss,
                           b->clip_fraction, b->explained_variance, b->grad_norm,    b->reward};
    static const char *const names[] = {"policy_loss",   "value_loss",         "entropy_loss", "loss",
                                        "clip_fraction", "explained_variance", "grad_norm",    "reward"};
    for (size_t i = 0; i < sizeof(of_a) / sizeof(of_a[0]); i++) {
        check_count++;
        if (!(fabs(of_a[i] - of_b[i]) <= tolerance * (1 + fabs(of_b[i])))) {
            check_failures++;
            fprintf(stderr, "iteration %" PRId64 ": %s: %.9g, the CPU's %.9g\n", b->iteration, names[i],
                    of_a[i], of_b[i]);
        }
    }
    CHECK_INT(a->iteration, b->iteration);
    CHECK_INT(a->steps, b->steps);
    CHECK_INT(a->minibatches, b->minibatches);
    CHECK_INT(a->skipped, b->skipped);
    CHECK_INT(a->epochs, b->epochs);
    CHECK_INT(a->kl_stop, b->kl_stop);
    CHECK_INT(a->episodes, b->episodes);
    CHECK_NEAR(a->learning_rate, b->learning_rate, 0);
    CHECK_NEAR(a->clip_range, b->clip_range, 0);
    CHECK_NEAR(a->ent_coef, b->ent_coef, 0);
    CHECK(isnan(a->std) == isnan(b->std));
    if (!isnan(b->std))
        CHECK_NEAR(a->std, b->std, tolerance);
    if (b->episodes > 0) {
        CHECK_NEAR(a->episode_return, b->episode_return, tolerance * (1 + fabs(b->episode_return)));
        CHECK_NEAR(a->episode_return_std, b->episode_return_std, tolerance);
        CHECK_NEAR(a->episode_length, b->episode_length, 1e-9);
    }
}

static void place_compare_pieces(struct place_pieces *a, struct place_pieces *b)
{
    CHECK_INT(a->n, 7);
    CHECK_INT(b->n, 7);
    for (int i = 0; i < a->n; i++) {
        size_t n;
        const void *other = place_give(b, a->names[i], &n);
        CHECK(other != NULL);
        CHECK_INT(a->bytes[i], n);
        bool same = other && a->bytes[i] == n && memcmp(a->at[i], other, n) == 0;
        check_count++;
        if (!same) {
            check_failures++;
            fprintf(stderr, "piece %s is not the same\n", a->names[i]);
        }
    }
}

#endif
