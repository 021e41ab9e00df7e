/* How a device's work is queued: graphs, whose recording may fail and which may be left out, the launches of
 * a rollout's step, and products that are planned by measuring. On the tests' device, which counts. */
#ifndef TESTS_TRAINER_PPO_DEVICE_GRAPHS_H
#define TESTS_TRAINER_PPO_DEVICE_GRAPHS_H

#include "tests/scratch.h"
#include "tests/trainer/ppo/device_parts.h"

/* What the tests' device counts; NULL: another device. */
static const struct cpu_counts *counts(void)
{
    void *library = place_is_cpu() ? dlopen(place_path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, "cpu_counts") : NULL;
}

static char notice[PPO_ERROR_MAX];
static int n_notices;

static void take_notice(void *ctx, const char *sentence)
{
    CHECK(ctx == notice);
    n_notices++;
    snprintf(notice, sizeof(notice), "%s", sentence);
}

/* Three iterations, and the state after them. `waits`: in iterations. */
static void run_iterations(const struct ppo_params *params, const char *fails, struct place_pieces *ret,
                           struct ppo_update *ret_last, uint64_t *ret_waits)
{
    struct random random = {20261124};
    struct place p;
    if (fails)
        setenv("QUEUE_CAPTURE_FAILS", fails, 1);
    n_notices = 0;
    if (place_open(&p, &random, params, false, 13, false)) {
        p.device->warned = take_notice;
        p.device->warned_ctx = notice;
        for (int i = 0; i < 3; i++)
            place_iterate(p.device, ret_last);
        place_save(p.device, ret);
        *ret_waits = ppo_learner_device_waits(p.device);
    }
    place_close(&p);
    unsetenv("QUEUE_CAPTURE_FAILS");
}

/* A graph that cannot be recorded: the same bits by launches, said once; the device is not lost. */
static void try_captures(void)
{
    static const char *const where[] = {"begin", "work", "end", "launch"};
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place_pieces right, other;
    struct ppo_update update;
    uint64_t waits = 0;
    if (!place_is_cpu())
        return;
    run_iterations(&params, NULL, &right, &update, &waits);
    CHECK_INT(n_notices, 0);
    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
        run_iterations(&params, where[i], &other, &update, &waits);
        place_compare_pieces(&right, &other);
        CHECK_INT(n_notices, 1);
        CHECK(strstr(notice, where[i]) && strstr(notice, "launched one by one"));
        CHECK_INT(waits, 2 * 3);
        place_drop(&other);
    }
    place_drop(&right);
}

/* target_kl ends every iteration in its first epoch: of the other epochs no product is done. Where graphs
 * have no condition, the host looks before each epoch, which takes a wait, and the epoch that stopped is
 * launched to its end. The bits are the same, as those without any of that. */
static void try_early_stop(void)
{
    enum { MINIBATCHES = 4, EPOCHS = 5, ITERATIONS = 3 };
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place_pieces pieces[4];
    struct ppo_update update;
    uint64_t waits = 0, products[4], skipped[4];
    const struct cpu_counts *done = counts();
    if (!done)
        return;
    params.epochs = EPOCHS;
    params.learning_rate = 0.02;
    for (int kind = 0; kind < 4; kind++) { /* no stop; a condition; none; none that can be recorded */
        const struct cpu_counts before = *done;
        params.target_kl = kind == 0 ? 0 : 1e-9;
        if (kind == 2)
            setenv("QUEUE_NO_SKIPS", "1", 1);
        run_iterations(&params, kind == 3 ? "condition" : NULL, &pieces[kind], &update, &waits);
        unsetenv("QUEUE_NO_SKIPS");
        products[kind] = done->products - before.products;
        skipped[kind] = done->skipped - before.skipped;
        CHECK_INT(update.kl_stop, kind > 0);
        CHECK_INT(update.epochs, kind == 0 ? EPOCHS : 1);
        CHECK_INT(waits, (uint64_t)ITERATIONS * (kind < 2 ? 2 : 3));
        CHECK_INT(n_notices, 0);
    }
    /* A stopped iteration's minibatches: the one that stopped it ran, the rest did not. */
    const uint64_t each = (products[0] - products[2]) / (ITERATIONS * (EPOCHS - 1) * MINIBATCHES);
    printf("target_kl in the first epoch: products of %d iterations: %" PRIu64 " without it, %" PRIu64
           " with a condition, %" PRIu64 " with the host's look\n",
           ITERATIONS, products[0], products[1], products[2]);
    CHECK(each >= 10 && (products[0] - products[2]) % each == 0);
    CHECK_INT(skipped[0], 0);
    CHECK(skipped[1] > (uint64_t)ITERATIONS * (EPOCHS - 1) * MINIBATCHES);
    CHECK_INT(products[1], products[0] - skipped[1] * each);
    CHECK_INT(skipped[2], 0);
    CHECK_INT(products[2], products[3]);
    place_compare_pieces(&pieces[1], &pieces[2]);
    place_compare_pieces(&pieces[1], &pieces[3]);
    for (int kind = 0; kind < 4; kind++)
        place_drop(&pieces[kind]);
}

/* Launches of an iteration of `steps` steps with 4 minibatches: kernels, products and the environment's. */
static uint64_t launches_of(struct ppo_params params, int steps, int *ret_predicted)
{
    const struct cpu_counts *done = counts();
    struct random random = {20261124};
    struct place p;
    struct ppo_update update;
    uint64_t ret = 0;
    params.steps = steps;
    params.minibatch = params.copies * steps / 4;
    params.normalise_observations = false; /* else there is a rehearsal */
    if (place_open(&p, &random, &params, false, 13, false)) {
        const struct cpu_counts before = *done;
        *ret_predicted = ppo_learner_launches(&params, &p.device->layout);
        place_iterate(p.device, &update);
        ret = done->kernels - before.kernels + done->products - before.products + done->steps - before.steps;
    }
    place_close(&p);
    return ret;
}

/* Of a rollout's step: a narrow network with the actions, the environment's, what follows the step. A wide
 * one has a product a layer and the head, a kernel a layer whose activation the product does not do, and the
 * actions. With a recurrent layer there are its product and scan, and the 8 launches of the step's values. */
static void try_launches(void)
{
    static const struct {
        enum net_activation activation;
        int layers, width, recurrent, right, plain;
        bool norm, shared;
    } cases[] = {{NET_TANH, 2, 37, 0, 3, 3},
                 {NET_RELU, 2, 37, 0, 3, 3},
                 {NET_SILU, 2, 37, 0, 3, 3},
                 {NET_TANH, 2, 200, 0, 8, 8},
                 {NET_RELU, 2, 200, 0, 6, 8},
                 {NET_SILU, 2, 200, 0, 8, 8},
                 {NET_RELU, 3, 200, 0, 7, 10},
                 {NET_TANH, 2, 37, 16, 18, 18},
                 {NET_TANH, 3, 200, 0, 10, 10},
                 {NET_RELU, 2, 37, 0, 8, 8, .norm = true},
                 {NET_TANH, 2, 37, 0, 3, 3, .shared = true},
                 {NET_RELU, 2, 200, 0, 6, 8, .shared = true}};
    struct ppo_params params = place_ppo(8, 24, 64);
    if (!counts())
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        params.net.activation = cases[i].activation;
        params.net.n_pi = cases[i].layers;
        params.net.pi[0] = params.net.pi[2] = cases[i].width;
        params.net.recurrent = cases[i].recurrent;
        params.net.layer_norm = cases[i].norm;
        params.net.shared = cases[i].shared;
        params.sequence = 4;
        int predicted = 0;
        const uint64_t few = launches_of(params, 8, &predicted), many = launches_of(params, 24, &predicted);
        CHECK_INT((many - few) % 16, 0);
        CHECK_INT((many - few) / 16, getenv("QUEUE_PLAIN") ? cases[i].plain : cases[i].right);
        CHECK_INT(predicted, cases[i].right);
        printf("launches of a rollout's step: %s, %d layers %d wide%s%s%s: %" PRIu64 "\n",
               policy_net_activation_name(cases[i].activation), cases[i].layers, cases[i].width,
               cases[i].recurrent ? ", recurrent" : "", cases[i].norm ? ", layer norm" : "",
               cases[i].shared ? ", shared" : "", (many - few) / 16);
    }
}

/* ---- plans by measuring ---- */

/* With timings (NULL: none) and a cache's file (NULL: none). */
static void run_measured(const struct ppo_params *params, const char *times, const char *plans,
                         struct place_pieces *ret)
{
    struct ppo_update update;
    uint64_t waits = 0;
    if (times)
        setenv("QUEUE_TIMES", times, 1);
    if (plans)
        setenv("QUEUE_PLANS", plans, 1);
    run_iterations(params, NULL, ret, &update, &waits);
    CHECK_INT(waits, 2 * 3);
    unsetenv("QUEUE_TIMES");
    unsetenv("QUEUE_PLANS");
}

/* What a learner's products say of themselves: those with an epilogue to take apart, and the others. */
static void check_records(const struct ppo_params *params, const char *times, bool apart, double seconds,
                          int tried, int tried_plain)
{
    struct queue_record records[QUEUE_PRODUCTS_MAX];
    struct random random = {20261124};
    struct place p;
    setenv("QUEUE_TIMES", times, 1);
    if (place_open(&p, &random, params, false, 13, false)) {
        const size_t n = ppo_learner_device_products(p.device, records, QUEUE_PRODUCTS_MAX);
        for (size_t i = 0; i < n; i++) {
            const struct queue_record *r = &records[i];
            const bool parts = r->asked > QUEUE_EPILOGUE_BIAS;
            CHECK_INT(r->got == r->asked, !(apart && parts));
            CHECK(r->tried == 0 || r->tried == (parts ? tried : tried_plain)); /* 0: another's of its shape */
            if (parts)
                CHECK(isnan(seconds) ? isnan(r->seconds) : r->seconds == seconds);
        }
    }
    place_close(&p);
    unsetenv("QUEUE_TIMES");
}

/* The fastest is taken, with the bits of its kind; the arena that it was measured in is as it was; a file of
 * choices keeps them though the timings are others. */
static void try_measured(void)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    const char *plans = scratch_path("plans");
    if (!place_is_cpu() || getenv("QUEUE_PLAIN"))
        return;
    params.net.activation = NET_RELU;
    check_records(&params, "3,2;2.5,4", false, 2, 4, 2);
    check_records(&params, "3,nan,2;1", true, 1, 4, 3);
    check_records(&params, "nan,-1;nan", false, NAN, 3, 2);
    check_records(&params, "inf,3;2", true, 2, 3, 2);
    params.product_plans = PPO_FIRST;
    check_records(&params, "3,2;1", false, NAN, 0, 0);
    params.product_plans = PPO_MEASURED;
    for (int kind = 0; kind < 3; kind++) { /* apart; a shared trunk; recurrent */
        struct place_pieces fused, parts, other;
        params.net.shared = kind == 1;
        params.net.recurrent = kind == 2 ? 16 : 0;
        params.sequence = 8;
        run_measured(&params, NULL, NULL, &fused);
        setenv("QUEUE_PLAIN", "1", 1);
        run_measured(&params, NULL, NULL, &parts);
        unsetenv("QUEUE_PLAIN");
        run_measured(&params, "3,2;4,5", NULL, &other);
        place_compare_pieces(&fused, &other);
        place_drop(&other);
        for (int again = 0; again < 2; again++) {
            run_measured(&params, again ? "1;2" : "2;1", plans, &other);
            place_compare_pieces(&parts, &other);
            place_drop(&other);
        }
        place_drop(&fused);
        place_drop(&parts);
    }
    CHECK_INT(unlink(plans), 0);
}

static void device_try_graphs(void)
{
    try_captures();
    try_early_stop();
    try_measured();
    try_launches();
}

#endif
