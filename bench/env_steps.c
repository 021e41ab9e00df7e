/* Times the trading environment: bench/env builds and runs it.
 *
 *   env_steps BACKEND THREADS COPIES SECONDS FEATURES [observe] [KEY=VALUE…]    steps a second, twice
 *   env_steps backends                                                        those that this processor has
 *
 * Five assets over 100,000 generated bars; FEATURES of them are seen (0: closes and volumes). The keys are
 * the parameters' (docs/environment.md), over the preset "reference"; execution=market takes the preset
 * "cappuccino". Actions are drawn evenly within +-20 units before the clock starts, four sets in turn.
 *
 * Two numbers: steps a second of wall time, and of processor time (all threads' over their number), which
 * other load on the machine disturbs less. Each is of the fastest of the repetitions, which are whole
 * episodes, so that beginnings and ends have their share. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/generated.h"
#include "bench/measure.h"
#include "trainer/env/env.h"

enum { SETS = 4, HUGE_PAGE = 2 << 20 };
static const double REPETITION_S = 0.02, ACTION_SPAN = 20;

static char err[ENV_ERROR_MAX];

static void need(int r, const char *what)
{
    if (r == 0)
        return;
    fprintf(stderr, "env_steps: %s: %s\n", what, err[0] ? err : strerror(-r));
    exit(EXIT_FAILURE);
}

/* Huge pages where the system gives them. */
static void *room(size_t bytes)
{
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, whole);
    if (!p) {
        fputs("env_steps: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, whole);
    return p;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct rates {
    double wall, processor; /* steps a second */
};

static struct rates steps_a_second(struct env *env, const struct env_params *params, size_t copies,
                                   int threads, bool observe, double seconds, uint64_t *seed)
{
    size_t n_actions = copies * (size_t)env_action_size(env);
    float *actions[SETS], *rewards = room(copies * sizeof(float));
    uint8_t *ends = room(2 * copies);
    float *obs = observe ? room(copies * (size_t)env_observation_size(env) * sizeof(float)) : NULL;
    for (int s = 0; s < SETS; s++) {
        actions[s] = room(n_actions * sizeof(float));
        for (size_t k = 0; k < n_actions; k++)
            actions[s][k] = (float)(ACTION_SPAN * (2 * bench_uniform(seed) - 1));
    }
    struct env_io io = {.rewards = rewards, .terminated = ends, .truncated = ends + copies};
    env_reset(env, NULL);
    size_t episode = (size_t)params->episode_bars - 2 * (size_t)params->lookback, steps = episode;
    struct rates best = {0, 0};
    double begin = seconds_of(CLOCK_MONOTONIC), wall = begin, used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    do {
        for (size_t t = 0; t < steps; t++) {
            io.actions = actions[t % SETS];
            need(env_step(env, &io, err), "step");
            if (observe)
                env_observe(env, obs);
        }
        double wall_now = seconds_of(CLOCK_MONOTONIC), used_now = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        double took = wall_now - wall, each = (used_now - used) / threads;
        if (took < REPETITION_S) {
            steps += episode * (size_t)(1 + REPETITION_S / (took + 1e-6));
        } else {
            best.wall = fmax(best.wall, (double)(steps * copies) / took);
            best.processor = fmax(best.processor, (double)(steps * copies) / each);
        }
        wall = wall_now;
        used = used_now;
    } while (wall - begin < seconds || best.wall == 0);
    for (int s = 0; s < SETS; s++)
        free(actions[s]);
    free(rewards);
    free(ends);
    free(obs);
    return best;
}

static int usage(void)
{
    fputs("usage: env_steps BACKEND THREADS COPIES SECONDS FEATURES [observe] [KEY=VALUE…]\n"
          "       env_steps backends\n",
          stderr);
    return 2;
}

static int backend_named(const char *name, enum env_backend *ret)
{
    for (int b = ENV_BEST; b <= ENV_AVX512; b++)
        if (strcmp(env_backend_name((enum env_backend)b), name) == 0) {
            *ret = (enum env_backend)b;
            return 0;
        }
    return -ENOENT;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "backends") == 0) {
        for (int b = ENV_SCALAR; b <= ENV_AVX512; b++)
            if (env_backend_works((enum env_backend)b))
                puts(env_backend_name((enum env_backend)b));
        return 0;
    }
    struct env_options options = {.seed = 1};
    if (argc < 6 || backend_named(argv[1], &options.backend) < 0)
        return usage();
    options.threads = atoi(argv[2]);
    options.copies = (size_t)atoi(argv[3]);
    int next = 6;
    bool observe = argc > next && strcmp(argv[next], "observe") == 0;
    next += observe;
    bool market_execution = false;
    for (int k = next; k < argc; k++)
        market_execution = market_execution || strcmp(argv[k], "execution=market") == 0;
    struct env_params params;
    need(env_params_preset(market_execution ? "cappuccino" : "reference", &params, err), "preset");
    need(env_params_set(&params, "episode_bars", "700", err), "episode_bars");
    need(env_params_set(&params, "autoreset", "same_step", err), "autoreset");
    for (; next < argc; next++) {
        char *is = strchr(argv[next], '=');
        if (!is)
            return usage();
        *is = 0;
        need(env_params_set(&params, argv[next], is + 1, err), argv[next]);
    }
    uint64_t seed = 1;
    struct env_market *market;
    struct env *env;
    need(generated_market(&params, atoi(argv[5]), &seed, &market, err), "market");
    need(env_create(&params, market, &options, &env, err), "environment");
    struct rates rates =
        steps_a_second(env, &params, options.copies, options.threads < 1 ? 1 : options.threads, observe,
                       atof(argv[4]), &seed);
    printf("%.0f %.0f\n", rates.wall, rates.processor);
    env_destroy(env);
    env_market_destroy(market);
    return 0;
}
