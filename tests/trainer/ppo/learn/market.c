/* What the learner makes of markets whose best is known. Where the volume predicts the next bar's drift,
 * the policy must come near the computable optimum; where it predicts nothing, there are only fees to
 * lose, and it must learn not to trade. It is trained on one generated market and judged on another.
 *
 *     ppo-market signal|noise [SEEDS] */
#include "tests/check.h"
#include "tests/random.h"
#include "tests/trainer/ppo/learn/generated.h"
#include "tests/trainer/ppo/learn/learned.h"

enum { ROWS = 32768, EPISODES = 60, SEEDS = 5 };

/* Of log wealth. Unavoidable losses: orders leave 1 % of cash unspent, and the volume is sometimes wrong.
 */
static const double share_of_optimum = 0.9;
/* On noise: of wealth; and of the fees that actions at random pay, by the policy's mean, and as it is drawn
 * from while it learns, which is what it has unlearned: a policy's first mean trades hardly anything. */
static const double band = 0.001, share_of_random_fees = 0.01, share_as_drawn = 0.05;

struct result {
    double growth, fees; /* means over episodes: log wealth, fees as a share of the initial capital */
};

static void set_ppo(struct ppo_params *params, uint64_t seed)
{
    char err[PPO_ERROR_MAX];
    if (ppo_params_preset("default", params, err) < 0)
        exit(EXIT_FAILURE);
    params->net = (struct net_shape){.n_pi = 2, .pi = {32, 32}, .n_vf = 2, .vf = {32, 32}};
    params->copies = 16;
    params->steps = 128;
    params->minibatch = 512;
    params->epochs = 4;
    params->gamma = 0.95;
    params->gae_lambda = 0.9;
    params->learning_rate = 1e-3;
    params->lr_schedule = PPO_LINEAR;
    params->device = PPO_CPU;
    params->threads = 1;
    params->seed = seed;
    params->total_steps = 200 * 2048;
}

static size_t start_of(int episode)
{
    return (size_t)episode * (GENERATED_EPISODE + 2);
}

enum how { BY_MEAN, AS_DRAWN /* as in training */, AT_RANDOM /* evenly from -1 to 1 */ };

static double normal(struct random *random)
{
    double u = (double)((random_next(random) >> 11) + 1) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * ((double)(random_next(random) >> 11) * 0x1p-53));
}

/* Every episode once, side by side. */
static struct result play(const struct generated *market, const struct learned *learned, enum how how,
                          uint64_t seed)
{
    enum { WIDTH = 2 + GENERATED_FEATURES };
    char err[ENV_ERROR_MAX] = "";
    struct env *env = generated_env(market, EPISODES, seed, false);
    struct random random = {seed};
    static float obs[EPISODES * WIDTH], actions[EPISODES], rewards[EPISODES];
    uint8_t terminated[EPISODES], truncated[EPISODES];
    int64_t starts[EPISODES], bars[EPISODES];
    const struct env_io io = {
        .actions = actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    for (int i = 0; i < EPISODES; i++) {
        starts[i] = (int64_t)start_of(i);
        bars[i] = market->params.episode_bars;
    }
    CHECK_INT(env_windows(env, starts, bars, err), 0);
    CHECK_STR(err, "");
    env_reset(env, NULL);
    CHECK_INT(env_observation_size(env), WIDTH);
    for (int step = 0; step < GENERATED_EPISODE; step++) {
        env_observe(env, obs);
        for (int i = 0; i < EPISODES; i++) {
            learned_act(learned, obs + i * WIDTH, &actions[i]);
            if (how == AS_DRAWN)
                actions[i] += (float)(learned->last.std * normal(&random));
            else if (how == AT_RANDOM)
                actions[i] = (float)random_between(&random, -1000, 1000) / 1000;
        }
        CHECK_INT(env_step(env, &io, err), 0);
        for (int i = 0; i < EPISODES; i++)
            CHECK_INT(truncated[i], step == GENERATED_EPISODE - 1);
    }
    double equity[EPISODES], fees[EPISODES], capital = market->params.initial_capital.low;
    const struct env_episode ended = {.equity = equity, .fees = fees};
    env_episode(env, &ended);
    struct result ret = {0, mean_of(fees, EPISODES) / capital};
    for (int i = 0; i < EPISODES; i++)
        ret.growth += log(equity[i] / capital) / EPISODES;
    env_destroy(env);
    return ret;
}

static void train(const struct generated *market, uint64_t seed, struct learned *ret)
{
    char err[ENV_ERROR_MAX];
    struct ppo_params params;
    struct ppo_world world;
    set_ppo(&params, seed);
    struct env *env = generated_env(market, (size_t)params.copies, seed, true);
    if (ppo_world_trading(env, &world, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    learned_train(&params, &world, ret);
    ppo_world_destroy(&world);
}

static double percent(double growth)
{
    return 100 * expm1(growth);
}

static void check_signal(uint64_t seed)
{
    struct generated seen, fresh;
    struct learned learned;
    struct generated_rule rule = generated_best();
    generated_create(ROWS, true, seed, &seen);
    generated_create(ROWS, true, 1000 + seed, &fresh);
    train(&seen, seed, &learned);
    struct result ours = play(&fresh, &learned, BY_MEAN, seed);
    struct result drawn = play(&fresh, &learned, AS_DRAWN, seed),
                  random = play(&fresh, &learned, AT_RANDOM, seed);
    double best = 0, hindsight = 0;
    for (int i = 0; i < EPISODES; i++) {
        best += log(generated_follow(&fresh, &rule, start_of(i), GENERATED_EPISODE)) / EPISODES;
        hindsight += log(generated_hindsight(&fresh, start_of(i), GENERATED_EPISODE)) / EPISODES;
    }
    printf("| signal | %llu | %+.2f %% | %+.2f %% | %.0f %% | %+.2f %% | %+.2f %% | %+.2f %% | %.1f s |\n",
           (unsigned long long)seed, percent(ours.growth), percent(best), 100 * ours.growth / best,
           percent(drawn.growth), percent(hindsight), percent(random.growth), learned.seconds);
    CHECK(best > 0.1 && hindsight > best);
    CHECK(ours.growth >= share_of_optimum * best);
    CHECK(random.growth < share_of_optimum / 2 * best);
    learned_finish(&learned);
    generated_destroy(&seen);
    generated_destroy(&fresh);
}

static void check_noise(uint64_t seed)
{
    struct generated seen, fresh;
    struct learned learned;
    generated_create(ROWS, false, seed, &seen);
    generated_create(ROWS, false, 1000 + seed, &fresh);
    train(&seen, seed, &learned);
    struct result ours = play(&fresh, &learned, BY_MEAN, seed);
    struct result drawn = play(&fresh, &learned, AS_DRAWN, seed),
                  random = play(&fresh, &learned, AT_RANDOM, seed);
    printf(
        "| noise | %llu | %+.3f %% | 0 %% | %.4f %% | %+.2f %% | %.2f %% | %+.2f %% | %.2f %% | %.1f s |\n",
        (unsigned long long)seed, percent(ours.growth), 100 * ours.fees, percent(drawn.growth),
        100 * drawn.fees, percent(random.growth), 100 * random.fees, learned.seconds);
    CHECK_NEAR(ours.growth, 0, band);
    CHECK(ours.fees <= share_of_random_fees * random.fees);
    CHECK(drawn.fees <= share_as_drawn * random.fees);
    CHECK(random.growth < -10 * band);
    learned_finish(&learned);
    generated_destroy(&seen);
    generated_destroy(&fresh);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    bool signal = strcmp(argv[1], "signal") == 0;
    int seeds = argc > 2 ? atoi(argv[2]) : SEEDS;
    if (signal)
        puts("| market | seed | return | optimum | share | as drawn | with hindsight | at random | training "
             "|");
    else
        puts("| market | seed | return | optimum | fees | as drawn | its fees | at random | its fees | "
             "training |");
    for (int seed = 1; seed <= seeds; seed++) {
        if (signal)
            check_signal((uint64_t)seed);
        else
            check_noise((uint64_t)seed);
    }
    CHECK(seeds > 0);
    return check_done("market");
}
