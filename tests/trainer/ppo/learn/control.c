/* Classic control by the example configurations: the mean return of 100 episodes that are played by what was
 * learned, none of them seen in training, against what is asked of each.
 *
 *     ppo-control EXAMPLES WORLD [SEEDS] */
#include "tests/check.h"
#include "tests/trainer/ppo/learn/learned.h"
#include "trainer/config.h"

enum { EPISODES = 100, SEEDS = 3, EVALUATION_SEED = 1000000 };

static const struct {
    const char *name;
    double goal;
    int64_t most_steps; /* 0: as many as the example says */
} worlds[] = {
    {"cartpole", 475, 100000},
    {"acrobot", -100, 0},
    {"pendulum", -200, 0},
};

static void make(const char *name, size_t copies, uint64_t seed, struct ppo_world *ret)
{
    char err[ENV_ERROR_MAX];
    if (ppo_world_builtin(name, copies, seed, ret, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
}

static void learn(const char *name, double goal, const struct ppo_params *params)
{
    struct ppo_world world, fresh;
    struct learned learned;
    double returns[EPISODES], least = INFINITY;
    make(name, (size_t)params->copies, params->seed, &world);
    learned_train(params, &world, &learned);
    make(name, EPISODES, EVALUATION_SEED + params->seed, &fresh);
    learned_play(&learned, &fresh, returns);
    for (int i = 0; i < EPISODES; i++)
        least = fmin(least, returns[i]);
    double mean = mean_of(returns, EPISODES);
    printf("| %s | %llu | %lld | %.1f | %.1f | %.1f | %g | %.1f s |\n", name,
           (unsigned long long)params->seed, (long long)learned.last.steps, mean,
           deviation_of(returns, EPISODES), least, goal, learned.seconds);
    CHECK(mean >= goal);
    learned_finish(&learned);
    ppo_world_destroy(&world);
    ppo_world_destroy(&fresh);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int seeds = argc > 3 ? atoi(argv[3]) : SEEDS, found = 0;
    printf("| world | seed | steps | mean of %d episodes | deviation | least | goal | training |\n",
           EPISODES);
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        char path[4096], err[CONFIG_ERROR_MAX];
        static struct train_config config;
        if (strcmp(worlds[i].name, argv[2]) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s.ini", argv[1], worlds[i].name);
        if (train_config_read(path, &config, err) < 0) {
            fprintf(stderr, "%s\n", err);
            return EXIT_FAILURE;
        }
        CHECK_STR(config.world, worlds[i].name);
        CHECK(worlds[i].most_steps == 0 || config.ppo.total_steps <= worlds[i].most_steps);
        for (config.ppo.seed = 1; config.ppo.seed <= (uint64_t)seeds; config.ppo.seed++, found++)
            learn(worlds[i].name, worlds[i].goal, &config.ppo);
    }
    CHECK(found == seeds && seeds > 0);
    return check_done("control");
}
