/* Whole iterations of a learner on a device beside the CPU's, and its state over a checkpoint. */
#ifndef TESTS_TRAINER_PPO_DEVICE_ITERATIONS_H
#define TESTS_TRAINER_PPO_DEVICE_ITERATIONS_H

#include "tests/trainer/ppo/device_parts.h"

static void compare_params(struct learner *a, struct learner *b, double tolerance)
{
    struct place_pieces of_a, of_b;
    size_t n;
    place_save(a, &of_a);
    place_save(b, &of_b);
    const float *pa = place_give(&of_a, "params", &n), *pb = place_give(&of_b, "params", &n);
    double off = 0;
    for (size_t i = 0; i < a->layout.n_params; i++) {
        double d = fabs((double)pa[i] - pb[i]);
        off = isnan(off) || d <= off ? off : d;
    }
    CHECK_NEAR(off, 0, tolerance);
    const struct ppo_moments *ma = place_give(&of_a, "normaliser", &n),
                             *mb = place_give(&of_b, "normaliser", &n);
    for (int i = 0; i <= a->layout.shape.observation; i++) {
        CHECK_NEAR(ma[i].count, mb[i].count, 0);
        CHECK_NEAR(ma[i].mean, mb[i].mean, tolerance * (1 + fabs(mb[i].mean)));
        CHECK_NEAR(ma[i].m2, mb[i].m2, tolerance * (1 + mb[i].m2));
    }
    const struct ppo_counters *ca = place_give(&of_a, "counters", &n),
                              *cb = place_give(&of_b, "counters", &n);
    CHECK(memcmp(ca, cb, sizeof(*ca)) == 0);
    const struct ppo_copy *ea = place_give(&of_a, "copies", &n), *eb = place_give(&of_b, "copies", &n);
    for (int i = 0; i < a->params.copies; i++) {
        CHECK_INT(ea[i].length, eb[i].length);
        CHECK_NEAR(ea[i].reward, eb[i].reward, tolerance * (1 + fabs(eb[i].reward)));
        CHECK_NEAR(ea[i].running, eb[i].running, tolerance * (1 + fabs(eb[i].running)));
    }
    place_drop(&of_a);
    place_drop(&of_b);
}

/* What a learner says that it goes into. */
struct course {
    enum ppo_phase phases[32];
    int n;
};

static void take_phase(void *ctx, enum ppo_phase phase)
{
    struct course *course = ctx;
    CHECK(course->n < 32);
    course->phases[course->n++ % 32] = phase;
}

static bool alternates(const struct course *course, int iterations)
{
    bool right = course->n == 2 * iterations;
    for (int i = 0; i < course->n && right; i++)
        right = course->phases[i] == (i % 2 == 0 ? PPO_ROLLOUT : PPO_UPDATE);
    return right;
}

/* The same draws, minibatches and environment as the CPU's. Episodes of 7 steps: several of a copy end in a
 * rollout of 24. */
static void try_iterations(struct random *random, const struct ppo_params *params, bool discrete)
{
    struct place p;
    struct course there = {0}, here = {0};
    if (place_open(&p, random, params, discrete, 13, true))
        for (int i = 0; i < (place_small ? 1 : 4); i++) {
            struct ppo_update device, cpu;
            ppo_learner_watch(p.cpu, take_phase, &here);
            ppo_learner_watch(p.device, i < 2 ? NULL : take_phase,
                              &there); /* a watched learner waits again */
            if (!place_iterate(p.device, &device) || !place_iterate(p.cpu, &cpu))
                break;
            place_compare_figures(&device, &cpu, 1e-5);
            CHECK_INT(ppo_learner_device_waits(p.device), 2 * (i + 1) + (i < 2 ? 0 : i - 1));
            CHECK(alternates(&here, i + 1) && alternates(&there, i < 2 ? 0 : i - 1));
        }
    if (p.device && p.cpu)
        compare_params(p.device, p.cpu, 1e-5);
    place_close(&p);
}

static void all_iterations(struct random *random)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3; /* so that what is 0 except for rounding makes no step of either sign */
    try_iterations(random, &params, false);
    params.epochs = 4;
    params.learning_rate = 0.003;
    params.target_kl = 0.002;
    params.lr_schedule = PPO_LINEAR;
    params.clip_range_final = 0.1;
    params.net.activation = NET_RELU;
    try_iterations(random, &params, false);
    params.normalise_rewards = false;
    params.target_kl = 0;
    params.net.shared = true;
    try_iterations(random, &params, true);

    params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3;
    params.net.pi[0] = 150; /* a rollout's products */
    try_iterations(random, &params, false);
    params.net.activation = NET_RELU;
    params.net.shared = true;
    try_iterations(random, &params, true);

    params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3;
    params.net.recurrent = 16;
    params.sequence = 8;
    try_iterations(random, &params, false);
    params.net.n_pi = 0;
    params.sequence = 4;
    params.net.shared = true;
    try_iterations(random, &params, true);
}

/* A line a product, as reports have them. */
static void try_products(struct random *random)
{
    static const bool plain_has[QUEUE_EPILOGUES] = {true, true};
    struct queue_record records[QUEUE_PRODUCTS_MAX];
    struct ppo_params params = place_ppo(11, 24, 64);
    const char *plain = getenv("QUEUE_PLAIN");
    struct place p;
    params.net.activation = NET_RELU;
    if (place_open(&p, random, &params, false, 13, false)) {
        const size_t n = ppo_learner_device_products(p.device, records, QUEUE_PRODUCTS_MAX);
        bool asked[QUEUE_EPILOGUES] = {false}, had[QUEUE_EPILOGUES] = {false};
        CHECK(n > 0 && n <= QUEUE_PRODUCTS_MAX);
        CHECK_INT(ppo_learner_device_products(p.device, NULL, 0), n);
        for (size_t i = 0; i < n; i++) {
            const struct queue_record *r = &records[i];
            asked[r->asked] = true;
            had[r->got] = true;
            CHECK(r->m > 0 && r->n > 0 && r->k > 0);
            CHECK(r->got == r->asked || r->got == QUEUE_EPILOGUE_NONE || r->got == QUEUE_EPILOGUE_BIAS);
            if (place_is_cpu()) /* which fuses all, or with QUEUE_PLAIN no more than the bias */
                CHECK(plain ? plain_has[r->got] : r->got == r->asked);
            CHECK(r->kind != QUEUE_WEIGHT || r->k == 64);
        }
        for (int i = 0; i < QUEUE_EPILOGUES; i++) /* from there on asked for where the one before is had */
            CHECK(asked[i] || (i >= QUEUE_EPILOGUE_RELU_BACK && !had[i - 1]));
    }
    place_close(&p);
}

/* ---- state ---- */

/* Each ran, and runs again, which an update does not notice. */
static void time_products(struct learner *l)
{
    char err[PPO_ERROR_MAX] = "";
    double seconds = 0;
    for (size_t id = 0; id < ppo_learner_device_products(l, NULL, 0); id++) {
        CHECK_INT(ppo_learner_device_product_seconds(l, (int)id, 2, &seconds, err), 0);
        CHECK(seconds > 0);
    }
}

/* Saved and continued, loaded and continued, where another environment was trained in and products are timed
 * in between: the same bits. */
static void try_resume(struct random *random, enum ppo_precision precision, int recurrent)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.net.recurrent = recurrent;
    params.sequence = 8;
    struct place p;
    struct place_pieces middle, end, again;
    struct ppo_update update, other;
    struct env *env = NULL;
    struct learner *second = NULL;
    params.precision = precision;
    if (place_open(&p, random, &params, false, 40, false) && place_learner(&p, &params, 4, &env, &second) &&
        place_iterate(p.device, &update)) {
        place_save(p.device, &middle);
        for (int i = 0; i < 2; i++)
            place_iterate(p.device, &update);
        place_save(p.device, &end);
        place_iterate(second, &other);
        place_iterate(second, &other);
        place_load(second, &middle);
        for (int i = 0; i < 2; i++) {
            time_products(second);
            place_iterate(second, &other);
        }
        place_save(second, &again);
        place_compare_pieces(&end, &again);
        CHECK(update.loss == other.loss && update.reward == other.reward && update.kl == other.kl);
        place_drop(&middle);
        place_drop(&end);
        place_drop(&again);
    }
    ppo_learner_destroy(second);
    env_destroy(env);
    place_close(&p);
}

/* The CPU's checkpoint on the device, and the device's on the CPU. */
static void try_exchange(struct random *random, int recurrent)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.net.recurrent = recurrent;
    params.sequence = 8;
    struct place p;
    struct place_pieces from_cpu, on_device, back;
    struct ppo_update update, other;
    char err[PPO_ERROR_MAX] = "";
    if (place_open(&p, random, &params, false, 40, true)) {
        place_iterate(p.cpu, &update);
        place_save(p.cpu, &from_cpu);
        place_load(p.device, &from_cpu);
        place_save(p.device, &on_device);
        place_compare_pieces(&from_cpu, &on_device);
        place_iterate(p.cpu, &update);
        place_iterate(p.device, &other);
        place_compare_figures(&other, &update, 1e-5);
        place_drop(&on_device);
        place_save(p.device, &on_device);
        place_load(p.cpu, &on_device);
        place_save(p.cpu, &back);
        place_compare_pieces(&on_device, &back);

        /* Pieces that are missing or of other shapes change nothing. */
        from_cpu.bytes[0] -= 4;
        CHECK_INT(ppo_learner_load(p.device, &(struct ppo_source){&from_cpu, place_give}, err), -EINVAL);
        CHECK(strstr(err, from_cpu.names[0]) != NULL && strstr(err, "bytes") != NULL);
        from_cpu.bytes[0] += 4;
        from_cpu.names[from_cpu.n - 1][0] = 'X';
        CHECK_INT(ppo_learner_load(p.device, &(struct ppo_source){&from_cpu, place_give}, err), -EINVAL);
        place_drop(&back);
        place_save(p.device, &back);
        place_compare_pieces(&on_device, &back);

        float *weights = place_room(p.device->layout.n_params, sizeof(float)), *scaling[4];
        for (int i = 0; i < 4; i++)
            scaling[i] = place_room((size_t)p.device->layout.shape.observation, sizeof(float));
        size_t n, bytes = (size_t)p.device->layout.shape.observation * sizeof(float);
        CHECK_INT(
            ppo_learner_snapshot(p.device, &(struct ppo_snapshot){weights, scaling[0], scaling[1]}, err), 0);
        CHECK(memcmp(weights, place_give(&back, "params", &n), p.device->layout.n_params * sizeof(float)) ==
              0);
        CHECK_INT(ppo_learner_snapshot(p.cpu, &(struct ppo_snapshot){weights, scaling[2], scaling[3]}, err),
                  0);
        CHECK(memcmp(scaling[0], scaling[2], bytes) == 0 && memcmp(scaling[1], scaling[3], bytes) == 0);
        free(weights);
        for (int i = 0; i < 4; i++)
            free(scaling[i]);
        place_drop(&from_cpu);
        place_drop(&on_device);
        place_drop(&back);
    }
    place_close(&p);
}

/* Values that are no numbers: every minibatch is skipped, and the training ends. */
static void try_bad(struct random *random)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place p;
    struct place_pieces pieces;
    struct ppo_update update;
    char err[PPO_ERROR_MAX] = "";
    params.bad_updates = 3;
    if (place_open(&p, random, &params, false, 40, false)) {
        const struct net_layout *layout = &p.device->layout;
        size_t n;
        place_save(p.device, &pieces);
        float *weights = (float *)(uintptr_t)place_give(&pieces, "params", &n);
        weights[layout->tensors[layout->chains[NET_VF].head.bias].offset] = NAN;
        place_load(p.device, &pieces);
        CHECK_INT(ppo_learner_iterate(p.device, &update, err), -EDOM);
        CHECK(strstr(err, "3 minibatches in a row") != NULL);
        weights[layout->tensors[layout->chains[NET_PI].head.bias].offset] = NAN;
        place_load(p.device, &pieces);
        CHECK_INT(ppo_learner_iterate(p.device, &update, err), -EINVAL);
        CHECK(strstr(err, "not finite") != NULL);
        place_drop(&pieces);
    }
    place_close(&p);
}

static void device_try_iterations(struct random *random)
{
    all_iterations(random);
    try_products(random);
    for (int precision = PPO_FLOAT32; precision <= PPO_BF16; precision++)
        for (int recurrent = 0; recurrent <= 16; recurrent += 16)
            try_resume(random, (enum ppo_precision)precision, recurrent);
    try_exchange(random, 0);
    try_exchange(random, 16);
    try_bad(random);
}

#endif
