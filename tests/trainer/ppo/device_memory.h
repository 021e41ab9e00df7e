/* A learner's memory on a device: fewer copies where there is too little, and what is held beside the plan.
 */
#ifndef TESTS_TRAINER_PPO_DEVICE_MEMORY_H
#define TESTS_TRAINER_PPO_DEVICE_MEMORY_H

#include "tests/trainer/ppo/device_parts.h"

enum { DRIVER = 1 << 20 }; /* of the tests' device */

static char reported[4][PPO_ERROR_MAX];
static int n_reported;

static void report(void *ctx, const char *sentence)
{
    (void)ctx;
    if (n_reported < 4)
        snprintf(reported[n_reported++], sizeof(reported[0]), "%s", sentence);
}

/* With a learner that a ladder left with fewer copies: it continues with as many, on either backend. */
static void try_fewer(const struct ppo_params *params, struct learner_source source, int copies)
{
    struct learner_stack stack = {0};
    struct place_pieces pieces;
    struct ppo_update update, other;
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_learner_create_auto(params, &source, &stack, err), 0);
    if (!stack.learner)
        return;
    CHECK_INT(stack.learner->params.copies, copies);
    place_iterate(stack.learner, &update);
    place_save(stack.learner, &pieces);
    place_iterate(stack.learner, &update);
    ppo_learner_stack_destroy(&stack);
    struct ppo_params fewer = *params;
    fewer.copies = copies;
    source.all_copies = true;
    for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
        if (on_cpu)
            source.module_limit = (size_t)32 << 20;
        n_reported = 0;
        CHECK_INT(ppo_learner_create_auto(&fewer, &source, &stack, err), 0);
        CHECK_STR(err, "");
        if (!stack.learner)
            break;
        CHECK_INT(stack.learner->params.copies, copies);
        CHECK((stack.module == NULL) == on_cpu);
        CHECK_INT(n_reported, on_cpu); /* the CPU; no fewer copies before */
        place_load(stack.learner, &pieces);
        place_iterate(stack.learner, &other);
        if (on_cpu)
            place_compare_figures(&other, &update, 1e-4);
        else
            CHECK(other.loss == update.loss && other.kl == update.kl);
        ppo_learner_stack_destroy(&stack);
    }
    place_drop(&pieces);
}

/* The same rung for a device of that memory that is only planned for: no module is opened. */
static void climb_planned(const struct ppo_params *params, const struct learner_source *source,
                          const struct learner_prediction *here, int reports)
{
    const struct learner_memory memory = {source->module_limit, DRIVER};
    struct learner_source nowhere = *source;
    struct learner_prediction planned = {0};
    char err[PPO_ERROR_MAX] = "";
    nowhere.module_path = "/nowhere/papertape-gpu.so";
    n_reported = 0;
    CHECK_INT(ppo_learner_predict(params, &nowhere, &memory, &planned, err), 0);
    CHECK_INT(n_reported, reports);
    CHECK_INT(planned.copies, here->copies);
    CHECK_INT(planned.device_bytes, here->device_bytes);
    CHECK_INT(planned.of.learner, here->of.learner);
    CHECK_INT(planned.of.environment, here->of.environment);
    CHECK_INT(planned.of.market, here->of.market);
    CHECK_INT(planned.of.driver, here->of.driver);
    CHECK_INT(planned.of.learner + planned.of.environment + planned.of.market + planned.of.driver,
              planned.device_bytes);
}

static void climb(const struct ppo_params *params, const struct learner_source *source, int copies,
                  const char *backend)
{
    struct learner_stack stack = {0};
    struct learner_prediction predicted = {0};
    struct ppo_update update;
    char err[PPO_ERROR_MAX] = "";
    n_reported = 0;
    CHECK_INT(ppo_learner_predict(params, source, NULL, &predicted, err), 0);
    int n_predicted = n_reported;
    n_reported = 0;
    CHECK_INT(ppo_learner_create_auto(params, source, &stack, err), 0);
    CHECK_STR(err, "");
    if (!stack.learner)
        return;
    if (place_is_cpu() || source->module_limit == 0) { /* a real one's memory is more than its limit */
        CHECK_INT(predicted.copies, copies);
        CHECK_INT(n_predicted, n_reported);
        CHECK_INT(predicted.device_bytes, stack.module ? stack.learner->ops->bytes(stack.learner) : 0);
    }
    if (place_is_cpu() && source->module_limit > 0)
        climb_planned(params, source, &predicted, n_predicted);
    CHECK_INT(stack.learner->params.copies, copies);
    CHECK(strncmp(stack.learner->ops->backend, backend, strlen(backend)) == 0);
    place_iterate(stack.learner, &update);
    CHECK_INT(update.steps, (int64_t)copies * params->steps);
    ppo_learner_stack_destroy(&stack);
}

/* What a limit must leave: the tests' device counts its driver's part among it. */
static size_t bytes_of(const struct place *p, const struct ppo_params *params, int copies)
{
    struct ppo_params other = *params;
    struct env_options options = {.copies = (size_t)copies, .seed = 3};
    const struct learner_source source = {
        .env_params = &p->env_params, .market = p->market, .module_path = place_path};
    struct learner_prediction predicted = {0};
    struct env *env = NULL;
    char err[PPO_ERROR_MAX] = "";
    struct learner_room room = {0};
    other.copies = copies;
    CHECK_INT(env_create(&p->env_params, p->market, &options, &env, err), 0);
    CHECK_INT(ppo_learner_check_device(&other, place_module, env, true, false, &room, err), 0);
    CHECK_INT(ppo_learner_predict(&other, &source, NULL, &predicted, err), 0);
    CHECK_INT(predicted.copies, copies);
    CHECK_INT(predicted.device_bytes, room.all);
    const size_t allocated = ppo_learner_bytes_device(&other, &p->device->layout, env);
    CHECK(allocated > 0 && room.all > allocated);
    env_destroy(env);
    return place_is_cpu() ? room.all : allocated;
}

/* What the tests' device has given out for a learner is within 5 % of its plan, part by part. */
static void try_held(struct random *random)
{
    static const struct {
        int copies, steps, minibatch, recurrent;
        enum ppo_precision precision;
    } shapes[] = {{512, 24, 64, 0, PPO_FLOAT32}, {64, 32, 512, 0, PPO_BF16}, {96, 16, 128, 16, PPO_BF16}};
    const struct gpu_indicators *g = gpu_module_handle(place_module);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && place_is_cpu(); i++) {
        struct ppo_params params = place_ppo(shapes[i].copies, shapes[i].steps, shapes[i].minibatch);
        struct learner_memory memory = ppo_learner_memory((size_t)12 << 30);
        struct learner_bytes of = {0};
        struct place p = {0};
        char err[PPO_ERROR_MAX] = "";
        params.precision = shapes[i].precision;
        params.net.recurrent = shapes[i].recurrent;
        params.sequence = shapes[i].recurrent ? 8 : params.sequence;
        const size_t before = g->held;
        if (place_open(&p, random, &params, i % 2, 40, false)) {
            const double held = (double)(g->held - before);
            CHECK_INT(ppo_learner_check_memory(&params, &memory, p.env, &of, err), 0);
            CHECK_NEAR(held, (double)(of.learner + of.environment + of.market), 0.05 * held);
            CHECK(of.learner > of.environment && of.market > 0 && of.driver == memory.driver);
            memory.total = (size_t)650 << 20; /* 0.8 of it is less than the driver's */
            CHECK_INT(ppo_learner_check_memory(&params, &memory, p.env, &of, err), -ENOMEM);
            CHECK(strstr(err, "of the device's 650 MiB memory_cap 0.8 is 520 MiB"));
        }
        place_close(&p);
        CHECK_INT(g->held, before);
    }
}

static void try_ladder(struct random *random)
{
    struct ppo_params params = place_ppo(512, 24, 64);
    struct place p;
    params.memory_cap = 1;
    if (!place_open(&p, random, &params, false, 40, false)) {
        place_close(&p);
        return;
    }
    struct learner_source source = {
        .env_params = &p.env_params, .market = p.market, .module_path = place_path, .warned = report};
    const size_t whole = bytes_of(&p, &params, 512), half = bytes_of(&p, &params, 256),
                 quarter = bytes_of(&p, &params, 128);
    CHECK(quarter < half && half < whole);

    climb(&params, &source, 512, "cuda: ");
    CHECK_INT(n_reported, 0);
    source.module_limit = half + (half - quarter) / 2; /* with what the environment holds */
    climb(&params, &source, 256, "cuda: ");
    CHECK_INT(n_reported, 1);
    CHECK(strstr(reported[0], "512 copies") && strstr(reported[0], ": 256 are used") &&
          strstr(reported[0], "out of memory"));
    try_fewer(&params, source, 256);
    source.module_limit = quarter + (quarter - bytes_of(&p, &params, 64)) / 2;
    climb(&params, &source, 128, "cuda: ");
    CHECK_INT(n_reported, 1);
    CHECK(strstr(reported[0], "), nor 256: 128 are used"));
    source.module_limit = (size_t)32 << 20; /* less than the products' workspace */
    params.copies = 8;
    climb(&params, &source, 8, "cpu");
    CHECK_INT(n_reported, 1); /* with 4 copies a rollout still has a minibatch, with 2 not */
    CHECK(strstr(reported[0], "training on the CPU: 8 copies do not fit on the device (") &&
          strstr(reported[0], "), nor 4: the CPU trains 8"));
    params.device = PPO_CUDA;
    climb(&params, &source, 8, "cpu");
    params.device = PPO_CPU;
    climb(&params, &source, 8, "cpu");
    CHECK_INT(n_reported, 0);

    /* The cap, of all that the device has: the tests' has its limit. */
    params.device = PPO_AUTO;
    if (place_is_cpu()) {
        source.module_limit = bytes_of(&p, &params, 8) * 4;
        params.memory_cap = 0.2;
        climb(&params, &source, 8, "cpu");
        CHECK(n_reported == 1 && strstr(reported[0], "memory_cap 0.2"));
        params.memory_cap = 0.5;
        climb(&params, &source, 8, "cuda");
        CHECK_INT(n_reported, 0);
    }
    source.module_limit = 0;
    params.memory_cap = 0.8;

    /* No device. */
    struct learner_stack stack = {0};
    char err[PPO_ERROR_MAX] = "";
    params.device = PPO_CUDA;
    source.module_path = "/nowhere/papertape-gpu.so";
    CHECK_INT(ppo_learner_create_auto(&params, &source, &stack, err), -ENOENT);
    params.device = PPO_AUTO;
    climb(&params, &source, 8, "cpu");
    CHECK(n_reported == 1 && strstr(reported[0], "on the CPU"));
    place_close(&p);
}

static void device_try_memory(struct random *random)
{
    if (!place_small)
        try_ladder(random);
    try_held(random);
}

#endif
