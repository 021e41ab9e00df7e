/* The probes: what the learner finds against the values that are known (trainer/ppo/worlds/game.h). Each
 * shows one thing: that values are fitted, that they see the observation, that they are discounted, that
 * actions are preferred, that truncation bootstraps. */
#include "tests/check.h"
#include "tests/trainer/ppo/learn/learned.h"

static const double discount = 0.9, tolerance = 0.05;

struct expected {
    float observation;
    double value;
};

static void learn(const char *name, uint64_t seed, const struct expected *expected, int n, int level)
{
    char err[PPO_ERROR_MAX];
    struct ppo_params params;
    struct ppo_world world;
    struct learned learned;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.net = (struct net_shape){.n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}};
    params.copies = 8;
    params.steps = 64;
    params.minibatch = 128;
    params.epochs = 4;
    params.gamma = discount;
    params.learning_rate = 5e-3;
    params.normalise_observations = params.normalise_rewards = false;
    params.device = PPO_CPU;
    params.threads = 1;
    params.seed = seed;
    params.total_steps = 30 * 1024;
    if (ppo_world_builtin(name, (size_t)params.copies, seed, &world, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    learned_train(&params, &world, &learned);
    printf("%s: seed %llu:", name, (unsigned long long)seed);
    for (int i = 0; i < n; i++) {
        double value = learned_value(&learned, &expected[i].observation);
        printf(" V(%g) = %.3f, %.3f is right;", (double)expected[i].observation, value, expected[i].value);
        CHECK_NEAR(value, expected[i].value, tolerance * fmax(1, fabs(expected[i].value)));
    }
    float action;
    learned_act(&learned, &expected[0].observation, &action);
    if (level >= 0) {
        printf(" level %g;", (double)action);
        CHECK_INT(action, level);
    }
    printf(" %.2f s\n", learned.seconds);
    learned_finish(&learned);
    ppo_world_destroy(&world);
}

int main(void)
{
    const struct expected constant[] = {{0, 1}}, observation[] = {{1, 1}, {-1, -1}};
    const struct expected delayed[] = {{0, discount}, {1, 1}}, truncated[] = {{0, 1 / (1 - discount)}};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        learn("probe-constant", seed, constant, 1, -1);
        learn("probe-observation", seed, observation, 2, -1);
        learn("probe-delayed", seed, delayed, 2, -1);
        learn("probe-action", seed, constant, 1, 1);
        learn("probe-truncated", seed, truncated, 1, -1);
    }
    return check_done("probes");
}
