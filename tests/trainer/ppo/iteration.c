/* Whole iterations of a small learner against the same computed again in float64 (again.h): actions, every
 * figure, every parameter, normalisers. */
#include "tests/trainer/ppo/again.h"

#include "tests/check.h"

static char err[PPO_ERROR_MAX];

static struct ppo_params tiny(void)
{
    struct ppo_params params;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.net = (struct net_shape){.n_pi = 2, .pi = {7, 6}, .n_vf = 1, .vf = {5}, .activation = NET_TANH};
    params.policy_gain = 1;
    params.copies = 2;
    params.steps = 8;
    params.minibatch = 5; /* 16 rows: one is left out */
    params.epochs = 3;
    params.learning_rate = 0.02;
    params.lr_schedule = PPO_LINEAR;
    params.adam_epsilon = 1e-2; /* so that a gradient of about 0 is a small step in float32, too */
    params.clip_range_final = 0.1;
    params.total_steps = 64;
    params.seed = 5;
    params.threads = 1;
    return params;
}

static void near(const char *what, double value, double expected, double tolerance)
{
    check_count++;
    if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected)))) {
        check_failures++;
        fprintf(stderr, "%s is %.9g, not %.9g\n", what, value, expected);
    }
}

static void compare_figures(const struct ppo_update *got, const struct ppo_update *is)
{
    const double within = 2e-4;
    near("policy_loss", got->policy_loss, is->policy_loss, within);
    near("value_loss", got->value_loss, is->value_loss, within);
    near("entropy_loss", got->entropy_loss, is->entropy_loss, within);
    near("loss", got->loss, is->loss, within);
    near("old_kl", got->old_kl, is->old_kl, within);
    near("kl", got->kl, is->kl, within);
    near("clip_fraction", got->clip_fraction, is->clip_fraction, 1e-9);
    near("grad_norm", got->grad_norm, is->grad_norm, within);
    near("explained_variance", got->explained_variance, is->explained_variance, within);
    near("episode_return", got->episode_return, is->episode_return, 1e-6);
    near("episode_return_std", got->episode_return_std, is->episode_return_std, 1e-6);
    near("episode_length", got->episode_length, is->episode_length, 1e-12);
    near("reward", got->reward, is->reward, 1e-6);
    CHECK_INT(got->episodes, is->episodes);
    CHECK_INT(got->minibatches, is->minibatches);
    CHECK_INT(got->epochs, is->epochs);
    CHECK_INT(got->kl_stop, is->kl_stop);
    CHECK_INT(got->skipped, 0);
}

/* Four iterations. */
static void test_learner(const char *what, const struct ppo_params *params, int levels)
{
    static struct again again;
    static struct script_step log[AGAIN_ROLLOUTS * AGAIN_ROWS];
    struct script script = {
        .copies = params->copies, .actions = 2, .levels = levels, .lie_from = INT64_MAX, .log = log};
    script.log_room = sizeof log / sizeof *log;
    const struct ppo_world world = script_world(&script);
    struct learner *l = NULL;
    const unsigned long before = check_failures;
    CHECK_INT(ppo_learner_create_cpu(params, &world, &l, err), 0);
    float theta[AGAIN_PARAMS], mean[SCRIPT_OBS], scale[SCRIPT_OBS], raw[SCRIPT_COPIES_MAX * SCRIPT_OBS];
    const struct ppo_snapshot snapshot = {theta, mean, scale};
    CHECK(l->layout.n_params <= AGAIN_PARAMS);
    CHECK_INT(ppo_learner_snapshot(l, &snapshot, err), 0);
    again_start(&again, params, &l->layout, &script, theta);
    double furthest = 0;
    int stops = 0;
    for (int i = 0; i < 4; i++) {
        struct ppo_update figures;
        CHECK_INT(ppo_learner_iterate(l, &figures, err), 0);
        script_observe(&script, raw);
        again_rollout(&again, raw);
        again_update(&again);
        compare_figures(&figures, &again.figures);
        near("learning_rate", figures.learning_rate, params->learning_rate * (1 - 0.9 * i * 16 / 64.0),
             1e-12);
        near("clip_range", figures.clip_range, 0.2 - 0.1 * i * 16 / 64.0, 1e-12);
        CHECK_INT(figures.steps, 16 * (i + 1));
        stops += figures.kl_stop;
        if (params->bounded && params->value_bound < 1) { /* such a bound is reached */
            near("bounded value_loss", figures.value_loss, params->value_bound, 1e-12);
            near("bounded entropy_loss", figures.entropy_loss, -params->entropy_bound, 1e-12);
        }
        CHECK_INT(ppo_learner_snapshot(l, &snapshot, err), 0);
        for (size_t k = 0; k < l->layout.n_params; k++)
            furthest = fmax(furthest, fabs(theta[k] - again.theta[k]));
        for (int k = 0; k < SCRIPT_OBS; k++) {
            const bool on = params->normalise_observations;
            near("mean", mean[k], on ? again.mean[k] : 0, 1e-6);
            near("scale", scale[k], on ? 1 / again.deviation[k] : 1, 1e-6);
        }
    }
    CHECK_INT(script.logged, again.read);
    CHECK_INT(stops > 0, params->target_kl > 0);
    if (params->log_std_max < 1)
        CHECK(theta[l->layout.tensors[l->layout.log_std].offset] == (float)params->log_std_max);
    printf("%s: parameters within %.2g, actions within %.2g of float64's\n", what, furthest,
           again.action_error);
    CHECK_NEAR(furthest, 0, 1e-5);
    CHECK_NEAR(again.action_error, 0, 1e-5);
    if (check_failures > before)
        fprintf(stderr, "%s\n", what);
    ppo_learner_destroy(l);
}

int main(void)
{
    struct ppo_params p = tiny();
    test_learner("continuous", &p, 0);
    test_learner("discrete", &p, 3);
    p.threads = 3;
    test_learner("three threads", &p, 0);
    p = tiny();
    p.normalise_observations = p.normalise_rewards = p.normalise_advantages = false;
    p.clip_range_vf = 0.3;
    test_learner("without normalisation, values clipped", &p, 0);
    p = tiny();
    p.bounded = true;
    p.ent_coef = 0.05;
    p.ent_coef_final = 0.005;
    p.entropy_bound = 2.2; /* 2 ln 3 = 2.197: not reached */
    test_learner("entropy, discrete", &p, 3);
    p.entropy_bound = 1;
    p.value_bound = 0.05;
    test_learner("bounds reached", &p, 0);
    p = tiny();
    p.ent_coef = p.ent_coef_final = 0.5;
    p.log_std_max = 0.01;
    test_learner("ceiling of log_std", &p, 0);
    p = tiny();
    p.max_grad_norm = 0.05;
    p.clip_observations = 1;
    p.clip_rewards = 0.5;
    test_learner("everything clipped", &p, 0);
    p = tiny();
    p.target_kl = 0.002;
    test_learner("target_kl", &p, 0);
    p = tiny();
    p.gamma = 0.5;
    p.gae_lambda = 0;
    test_learner("lambda 0", &p, 0);
    p.gae_lambda = 1;
    test_learner("lambda 1", &p, 0);
    return check_done("trainer/ppo/iteration");
}
