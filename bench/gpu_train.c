/* PPO on the GPU (trainer/ppo/device.h); one JSON line a figure (see bench/run for the keys). Without a
 * device: exit 77.
 *
 * Five assets over 100,000 generated bars, random starts, episodes of 700 bars. Every case is trained for
 * some iterations after two that warm up (the first runs as it is, the second records the graphs), and prints
 * - NAME-environment: steps/s of the environment alone, observations written, actions on the device;
 * - NAME-matrix: the rate of the update's largest matrix product, by the same plan: the reference for the
 * rest, measured in the same run (FLOP/s, bf16);
 * - NAME: steps/s of whole iterations, rollout to update, by the host's clock. `flop` is what a step needs
 *   (ppo_work_of(): one forward of both networks, and 4 epochs forward and back), `limit` the steps/s that
 *   the matrix rate would give for these;
 * - NAME-utilisation: the device's time between an iteration's first and last piece of work, by its events,
 *   over the host's; goal 0.97. What idles between two kernels counts as busy: nsys shows the difference;
 * - NAME-waits: times that the host waited for the device in an iteration, counted: two, both at its end, for
 *   the figures and for the environment's check of actions. To see that nothing else synchronises:
 *       nsys profile -t cuda -o train BUILD/bench/gpu_train BUILD/papertape-gpu.so 64x64
 *       nsys stats -r cuda_api_sum train.nsys-rep
 *   where cudaStreamSynchronize is called once an iteration for the learner and once for the environment's
 *   check of actions, and cudaDeviceSynchronize, cudaEventSynchronize and cudaMemcpy are not there.
 *
 * Predictions for an H100 (620 TFLOP/s measured in bf16, 3 TB/s), a row of the rollout counted once:
 *
 * 2048x1024x512, D = 350 (352 padded), 16,384 copies of 32 steps, minibatch 32,768, 4 epochs, ReLU: both nets
 * have 6.7 MFLOP forward each, 18.7 forward and back without the first layer's input: 163 MFLOP a step. A
 * minibatch: 1.22 TFLOP of products at 85 % of the largest one's rate 2.3 ms; gather, loss 80 MB, Adam 230
 * MB, the rest 100 MB: 0.15 ms; 35 kernels' ends 0.1 ms: 2.55 ms, 64 of them 163 ms. A rollout's step: 110
 * GFLOP 0.2 ms, environment and observations 0.06, small kernels 0.03: 0.29 ms, 32 of them 9 ms. Values: 0.43
 * ms a pass, 17 of them 7 ms. 524,288 steps in 180 ms: 2.9 M/s, 76 % of the matrix rate. With tanh activation
 * and its gradient are passes of their own: 2.3 GB a minibatch, 0.75 ms more: 2.3 M/s. 64x64, D = 36: 60
 * kernels of a minibatch on two lanes, 2 to 4 us each, 120 MB: 0.13 ms, 64 of them 8.3 ms; a rollout's step
 * 50 us, 1.6 ms; values 0.5 ms: 524,288 steps in 10.5 ms: 50 M/s. reference-4080 (32 copies of 4096 steps,
 * minibatch 1024): a step is 15 kernels one after the other, 65 us, 0.27 s of them; a minibatch 38 GFLOP at
 * 250 TFLOP/s 0.15 ms, Adam 0.08, ends 0.07: 0.3 ms, 128 an epoch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/generated.h"
#include "bench/measure.h"
#include "trainer/ppo/device.h"

enum { EXIT_SKIP = 77, WARM_UP = 2, ENVIRONMENT_STEPS = 16, MATRIX_ROUNDS = 40 };

static const double GOAL_UTILISATION = 0.97;

static char err[ENV_ERROR_MAX];
_Static_assert((int)ENV_ERROR_MAX >= (int)PPO_ERROR_MAX, "one text for both");

struct bench_case {
    const char *name, *preset;
    int n_widths, widths[3];
    enum net_activation activation;
    int lookback, features;               /* features 0: closes and volumes, ten */
    int copies, steps, minibatch, epochs; /* 0: the preset's */
    int iterations;
    double goal_steps, goal_of_limit; /* 0: none */
};

static const struct bench_case cases[] = {
    {"2048x1024x512", "default", 3, {2048, 1024, 512}, NET_RELU, 8, 43, 16384, 32, 32768, 4, 6, 2.7e6, 0.6},
    {"2048x1024x512-tanh", "default", 3, {2048, 1024, 512}, NET_TANH, 8, 43, 16384, 32, 32768, 4, 6, 0, 0},
    {"64x64", "default", 2, {64, 64}, NET_TANH, 3, 0, 16384, 32, 32768, 4, 40, 20e6, 0},
    {"reference-4080", "reference-4080", 0, {0}, NET_TANH, 8, 43, 0, 0, 0, 0, 2, 0, 0},
};

static int fails(const char *what)
{
    fprintf(stderr, "gpu_train: %s: %s\n", what, err);
    return -1;
}

/* A market, an environment, both on the device, and the learner. */
struct place {
    struct env_params env_params;
    struct ppo_params params;
    struct env_market *market;
    struct env *env;
    struct env_device_market *on_device;
    struct learner *learner;
};

static void close_place(struct place *p)
{
    ppo_learner_destroy(p->learner);
    env_device_market_destroy(p->on_device);
    env_destroy(p->env);
    env_market_destroy(p->market);
}

static int set_params(struct place *p, const struct bench_case *c)
{
    if (ppo_params_preset(c->preset, &p->params, err) < 0 ||
        env_params_preset("reference", &p->env_params, err) < 0)
        return fails("preset");
    struct net_shape *net = &p->params.net;
    if (c->n_widths > 0) {
        net->n_pi = net->n_vf = c->n_widths;
        memcpy(net->pi, c->widths, (size_t)c->n_widths * sizeof(int));
        memcpy(net->vf, c->widths, (size_t)c->n_widths * sizeof(int));
        net->activation = c->activation;
        p->params.copies = c->copies;
        p->params.steps = c->steps;
        p->params.minibatch = c->minibatch;
        p->params.epochs = c->epochs;
    }
    p->params.precision = PPO_BF16;
    p->params.normalise_observations = p->params.normalise_rewards = true;
    p->env_params.autoreset = ENV_SAME_STEP;
    p->env_params.random_start = true;
    p->env_params.episode_bars = 700;
    p->env_params.lookback = c->lookback;
    return 0;
}

static int open_place(struct place *p, struct gpu_module *module, const struct bench_case *c)
{
    uint64_t seed = 1;
    *p = (struct place){0};
    if (set_params(p, c) < 0)
        return -1;
    struct env_options options = {.copies = (size_t)p->params.copies, .seed = 1};
    if (generated_market(&p->env_params, c->features, &seed, &p->market, err) < 0)
        return fails("market");
    if (env_create(&p->env_params, p->market, &options, &p->env, err) < 0)
        return fails("environment");
    if (env_device_market_create(module, p->market, &p->on_device, err) < 0)
        return fails("market on the device");
    return 0;
}

/* Steps a second, each with an observation. */
static int environment_rate(const struct place *p, double *ret)
{
    struct env_device *device = NULL;
    uint64_t seed = 2;
    float ms = 0;
    size_t n = ENVIRONMENT_STEPS * env_copies(p->env) * (size_t)env_action_size(p->env);
    float *actions = bench_room(n, sizeof(float));
    for (size_t i = 0; i < n; i++)
        actions[i] = (float)(2 * bench_uniform(&seed) - 1);
    int r = env_device_create(p->on_device, p->env, &device, err);
    if (r == 0)
        r = env_device_actions(device, actions, ENVIRONMENT_STEPS, false, err);
    for (int i = 0; i < 3 && r == 0; i++) /* the first ones warm up */
        r = env_device_run(device, ENVIRONMENT_STEPS, true, NULL, &ms, err);
    *ret = (double)ENVIRONMENT_STEPS * (double)env_copies(p->env) / (ms * 1e-3);
    env_device_destroy(device);
    free(actions);
    return r < 0 ? fails("environment alone") : 0;
}

static double middle_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), bench_by_value);
    return values[n / 2];
}

static int measure(struct gpu_module *module, const struct bench_case *c)
{
    struct place p;
    struct ppo_update u = {0};
    double environment = 0, matrix = 0, seconds[64], busy[64], phases[3] = {0};
    int r = open_place(&p, module, c);
    if (r == 0)
        r = environment_rate(&p, &environment);
    if (r == 0 && ppo_learner_create_device(&p.params, module, p.on_device, p.env, &p.learner, err) < 0)
        r = fails("learner");
    uint64_t waits = 0;
    for (int i = -WARM_UP; i < c->iterations && r == 0; i++) {
        const uint64_t waited = ppo_learner_device_waits(p.learner);
        const double begin = bench_seconds();
        if (ppo_learner_iterate(p.learner, &u, err) < 0)
            r = fails("iteration");
        if (i < 0)
            continue;
        seconds[i] = bench_seconds() - begin;
        busy[i] = (u.seconds_rollout + u.seconds_advantage + u.seconds_update) / seconds[i];
        waits = ppo_learner_device_waits(p.learner) - waited > waits
                    ? ppo_learner_device_waits(p.learner) - waited
                    : waits;
        phases[0] += u.seconds_rollout / c->iterations;
        phases[1] += u.seconds_advantage / c->iterations;
        phases[2] += u.seconds_update / c->iterations;
    }
    if (r == 0 && ppo_learner_device_matrix_rate(p.learner, MATRIX_ROUNDS, &matrix, err) < 0)
        r = fails("matrix rate");
    if (r == 0) {
        const struct ppo_work work = ppo_work_of(&p.learner->layout);
        const double flop = work.rollout + p.params.epochs * work.update;
        const double rate = (double)p.params.copies * p.params.steps / middle_of(seconds, c->iterations);
        const char *bench = "{\"bench\":\"gpu_train\",\"case\":\"";
        printf("%s%s-environment\",\"value\":%.6g,\"unit\":\"steps/s\"}\n", bench, c->name, environment);
        printf("%s%s-matrix\",\"value\":%.6g,\"unit\":\"FLOP/s\"}\n", bench, c->name, matrix);
        printf("%s%s\",\"value\":%.6g,\"unit\":\"steps/s\",\"limit\":%.6g,\"of_limit\":%.4g,\"flop\":%.6g,"
               "\"rollout_s\":%.4g,\"advantage_s\":%.4g,\"update_s\":%.4g,\"bytes\":%zu",
               bench, c->name, rate, matrix / flop, rate * flop / matrix, flop, phases[0], phases[1],
               phases[2], p.learner->ops->bytes(p.learner));
        if (c->goal_steps > 0)
            printf(",\"goal\":%.6g", c->goal_steps);
        if (c->goal_of_limit > 0)
            printf(",\"goal_of_limit\":%.2g", c->goal_of_limit);
        printf("}\n%s%s-utilisation\",\"value\":%.4g,\"unit\":\"share\",\"goal\":%.2g}\n", bench, c->name,
               middle_of(busy, c->iterations), GOAL_UTILISATION);
        printf("%s%s-waits\",\"value\":%llu,\"unit\":\"waits/iteration\",\"goal\":2}\n", bench, c->name,
               (unsigned long long)waits);
        fflush(stdout);
        if (!isfinite(u.loss) || u.skipped_total > 0) {
            fprintf(stderr, "gpu_train: %s: loss %g, %lld minibatches skipped\n", c->name, u.loss,
                    (long long)u.skipped_total);
            r = -1;
        }
    }
    close_place(&p);
    return r;
}

/* Arguments: the module's path; the name of one case, or all. */
int main(int argc, char **argv)
{
    struct gpu_module *module = NULL;
    int r = 0;
    if (gpu_module_open(argc > 1 ? argv[1] : NULL, &module, err, sizeof(err)) < 0) {
        fprintf(stderr, "gpu_train: %s\n", err);
        return EXIT_SKIP;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && r == 0; i++)
        if (argc < 3 || strcmp(argv[2], cases[i].name) == 0)
            r = measure(module, &cases[i]);
    gpu_module_close(module);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
