/* NaN and refusals: rewards that are NaN or too large skip minibatches and then end the training; a world
 * that refuses an action, and parameters that do not fit the world, say so. */
#include <errno.h>

#include "tests/check.h"
#include "tests/trainer/ppo/script.h"
#include "trainer/ppo/learner.h"

static char err[PPO_ERROR_MAX];

static struct ppo_params small(void)
{
    struct ppo_params params;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.net = (struct net_shape){.n_pi = 1, .pi = {8}, .n_vf = 1, .vf = {8}, .activation = NET_TANH};
    params.copies = 4;
    params.steps = 8;
    params.minibatch = 8;
    params.epochs = 2;
    params.threads = 2;
    params.bad_updates = 20;
    return params;
}

static struct learner *learner_of(const struct ppo_params *params, struct script *script)
{
    struct learner *l = NULL;
    script->copies = params->copies;
    script->actions = 2;
    const struct ppo_world world = script_world(script);
    CHECK_INT(ppo_learner_create_cpu(params, &world, &l, err), 0);
    if (!l)
        exit(EXIT_FAILURE);
    return l;
}

static void snapshot(struct learner *l, float *params, float *normaliser)
{
    const struct ppo_snapshot to = {params, normaliser, normaliser + SCRIPT_OBS};
    CHECK_INT(ppo_learner_snapshot(l, &to, err), 0);
}

static bool all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* From the second rollout on copy 0's rewards are lies. */
static void test_lies(float lie, bool normalise)
{
    struct ppo_params params = small();
    params.normalise_rewards = normalise;
    struct script script = {.lie = lie, .lie_from = 8};
    struct learner *l = learner_of(&params, &script);
    float before[1024], after[1024], normaliser[2 * SCRIPT_OBS];
    const size_t n = l->layout.n_params;
    struct ppo_update update;
    CHECK(n <= 1024);
    CHECK_INT(ppo_learner_iterate(l, &update, err), 0);
    CHECK_INT(update.skipped, 0);
    CHECK_INT(update.minibatches, 8);
    snapshot(l, before, normaliser);
    /* Eight rows of 32 are lies: nearly every minibatch has some, and those are skipped. */
    int rc = ppo_learner_iterate(l, &update, err);
    CHECK_INT(rc, 0);
    CHECK(update.skipped > 0);
    CHECK_INT(update.minibatches + update.skipped, 8);
    CHECK_INT(update.skipped_total, update.skipped);
    snapshot(l, after, normaliser);
    CHECK(all_finite(after, n) && all_finite(normaliser, 2 * SCRIPT_OBS));
    CHECK((update.minibatches == 0) == (memcmp(before, after, n * sizeof *after) == 0));
    int iterations = 2;
    for (; rc == 0 && iterations < 20; iterations++)
        rc = ppo_learner_iterate(l, &update, err);
    CHECK_INT(rc, -EDOM);
    CHECK(strstr(err, "not finite") != NULL && strstr(err, "20 minibatches") != NULL);
    CHECK(strchr(err, '\n') == NULL);
    snapshot(l, after, normaliser);
    CHECK(all_finite(after, n));
    ppo_learner_destroy(l);
}

/* The learner survives a single false value: every figure stays a number. */
static void test_one_lie(void)
{
    struct ppo_params params = small();
    struct script script = {.lie = NAN, .lie_from = 8};
    struct learner *l = learner_of(&params, &script);
    struct ppo_update update;
    CHECK_INT(ppo_learner_iterate(l, &update, err), 0);
    CHECK_INT(ppo_learner_iterate(l, &update, err), 0);
    const int64_t skipped = update.skipped;
    CHECK(skipped > 0);
    script.lie = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(ppo_learner_iterate(l, &update, err), 0);
        CHECK_INT(update.skipped, 0);
        CHECK_INT(update.skipped_total, skipped);
        CHECK_INT(update.minibatches, 8);
        CHECK(isfinite(update.loss) && isfinite(update.grad_norm) && isfinite(update.explained_variance));
    }
    ppo_learner_destroy(l);
}

/* Too large a learning rate: what the networks say is no number any more. */
static void test_diverges(void)
{
    struct ppo_params params = small();
    params.net.activation = NET_RELU;
    params.learning_rate = 10;
    params.max_grad_norm = 0;
    params.normalise_rewards = false;
    struct script script = {.lie = 1e30f, .lie_from = 0};
    struct learner *l = learner_of(&params, &script);
    struct ppo_update update;
    int rc = 0;
    for (int i = 0; rc == 0 && i < 200; i++)
        rc = ppo_learner_iterate(l, &update, err);
    CHECK(rc == -EDOM || rc == -EINVAL); /* the loss, or before it the actions */
    CHECK(err[0] && !strchr(err, '\n'));
    ppo_learner_destroy(l);
}

static int refuse(void *ctx, const struct env_io *io, char msg[static ENV_ERROR_MAX])
{
    (void)io;
    (void)ctx;
    snprintf(msg, ENV_ERROR_MAX, "action 1: a number is right");
    return -EINVAL;
}

static void test_world(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        struct ppo_params params = small();
        struct script script = {.copies = params.copies, .actions = 2};
        struct ppo_world world = script_world(&script);
        struct learner *l;
        struct ppo_update update = {.iteration = 77};
        world.step = refuse;
        params.threads = threads;
        CHECK_INT(ppo_learner_create_cpu(&params, &world, &l, err), 0);
        CHECK_INT(ppo_learner_iterate(l, &update, err), -EINVAL);
        CHECK(strstr(err, "a number is right") != NULL);
        CHECK_INT(update.iteration, 77);
        ppo_learner_destroy(l);
    }
}

static void cannot(const struct ppo_params *params, const struct ppo_world *world, const char *says)
{
    struct learner *l = (struct learner *)&err;
    err[0] = '\0';
    CHECK_INT(ppo_learner_create_cpu(params, world, &l, err), -EINVAL);
    CHECK(strstr(err, says) != NULL);
    CHECK(l == (struct learner *)&err);
}

static void test_create(void)
{
    struct ppo_params params = small();
    struct script script = {.copies = 4, .actions = 2};
    struct ppo_world world = script_world(&script);
    world.copies = 5;
    cannot(&params, &world, "copies: 4: 5 is right");
    world.copies = 4;
    world.observation = 0;
    cannot(&params, &world, "observation");
    world.observation = SCRIPT_OBS;
    params.minibatch = 33;
    cannot(&params, &world, "minibatch: 33: at most 32");
    params = small();
    params.steps = 1 << 20;
    world.observation = NET_OBSERVATION_MAX;
    struct learner *l = NULL;
    CHECK_INT(ppo_learner_create_cpu(&params, &world, &l, err), -ENOMEM); /* a terabyte */
    CHECK(strstr(err, "fewer") != NULL && l == NULL);
}

static void test_bytes(void)
{
    struct ppo_params params = small();
    struct script script = {.lie_from = INT64_MAX};
    struct learner *l = learner_of(&params, &script);
    const size_t bytes = ppo_learner_bytes_cpu(&l->params, &l->layout);
    CHECK(bytes >
          l->layout.n_params * 5 * sizeof(float)); /* parameters, Adam's two, two threads' gradients */
    CHECK_INT(l->ops->bytes(l), bytes);
    struct ppo_params more = l->params;
    more.steps *= 10;
    CHECK(ppo_learner_bytes_cpu(&more, &l->layout) > bytes);
    ppo_learner_destroy(l);

    /* 2 (3*8 + 8*2) + 2 (3*8 + 8*1) a row forward; three times that, less the first layers' 2 (24 + 24). */
    struct net_layout layout;
    struct net_shape shape = {.observation = 3, .actions = 2, .n_pi = 1, .pi = {8}, .n_vf = 1, .vf = {8}};
    CHECK_INT(policy_net_layout_init(&layout, &shape, err), 0);
    CHECK(ppo_work_of(&layout).rollout == 144);
    CHECK(ppo_work_of(&layout).update == 3 * 144 - 96);
    shape.shared = true;
    shape.recurrent = 16;
    CHECK_INT(policy_net_layout_init(&layout, &shape, err), 0);
    const double forward = 2.0 * (3 * 8 + 8 * 32 + 16 * 2 + 16 * 1);
    CHECK(ppo_work_of(&layout).rollout == forward);
    CHECK(ppo_work_of(&layout).update == 3 * forward - 48);
}

int main(void)
{
    test_lies(NAN, true);
    test_lies(NAN, false);
    test_lies(3e38f, false);
    test_lies(INFINITY, false);
    test_one_lie();
    test_diverges();
    test_world();
    test_create();
    test_bytes();
    return check_done("trainer/ppo/refused");
}
