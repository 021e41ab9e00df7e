/* PPO on the GPU (trainer/ppo/device.h); one JSON line a figure (see bench/run for the keys), each case apart
 * (bench/cases.h). Without a device: exit 77. Arguments: the module's path; the name of one case, or all.
 *
 * Five assets over 100,000 generated bars, random starts, episodes of 700 bars. Every case is trained for
 * some iterations after two that warm up (the first runs as it is, the second records the graphs), and prints
 * - NAME-environment: steps/s of the environment alone, observations written, actions on the device;
 * - NAME-matrix: the rate of the update's largest matrix product, by the same plan: the reference for the
 *   rest, measured in the same run (FLOP/s, bf16);
 * - NAME: steps/s of whole iterations, rollout to update, by the host's clock. `flop` is what a step needs
 *   (ppo_work_of(): one forward of both networks, and 4 epochs forward and back), `limit` the steps/s that
 *   the matrix rate would give for these;
 * - NAME-update: steps/s of the updates alone, by the device's clock, and as TFLOP/s; `limit` and `of_limit`
 *   are of PLAIN_RATE, `of_matrix` of the rate measured here;
 * - NAME-utilisation: the device's time between an iteration's first and last piece of work, by its events,
 *   over the host's; goal 0.97. What idles between two kernels counts as busy: nsys shows the difference;
 * - NAME-busy: the share of time in which a kernel runs, by NVML, in further training after BUSY_SETTLE_S;
 *   goal 0.97;
 * - NAME-memory: what the process holds (NVML, before the module was loaded and after two iterations) over
 *   what `plan --device-memory` predicts; goal within 5 %. Beside it the driver's part, what was in use on
 *   the device before the module was loaded (by NVML), after it, and after the environment, the learner, the
 *   first and the second iteration (cudaMemGetInfo, which needs the module's context);
 * - NAME-product-ID, a line for each planned matrix product [m][n] = [m][k] [k][n]: the epilogue that was
 *   asked for and the one that was fused, the library's algorithm, split-K, workspace, the microseconds of
 *   one repeated alone with the operands of its last run, as TFLOP/s, and how the plan was made;
 * - NAME-waits: times that the host waited for the device in an iteration, counted: two, both at its end, for
 *   the figures and for the environment's check of actions. To see that nothing else synchronises:
 *       nsys profile -t cuda -o train BUILD/bench/gpu_train BUILD/papertape-gpu.so 64x64
 *       nsys stats -r cuda_api_sum train.nsys-rep
 *   where cudaStreamSynchronize is called once an iteration for the learner and once for the environment's
 *   check of actions, and cudaDeviceSynchronize, cudaEventSynchronize and cudaMemcpy are not there.
 *
 * Predictions for an H100 (some 620 TFLOP/s in bf16, 3 TB/s), a row of the rollout counted once:
 *
 * 2048x1024x512, D = 350 (352 padded), 16,384 copies of 32 steps, minibatch 32,768, 4 epochs, ReLU: both nets
 * have 6.7 MFLOP forward each, 18.7 forward and back without the first layer's input: 163 MFLOP a step. A
 * minibatch: 1.22 TFLOP of products at 85 % of the largest one's rate 2.3 ms; gather, loss 80 MB, Adam 230
 * MB, the rest 100 MB: 0.15 ms; 35 kernels' ends 0.1 ms: 2.55 ms, 64 of them 163 ms. A rollout's step: 110
 * GFLOP 0.2 ms, environment and observations 0.06, small kernels 0.03: 0.29 ms, 32 of them 9 ms. Values: 0.43
 * ms a pass, 17 of them 7 ms. 524,288 steps in 180 ms: 2.9 M/s, 76 % of the matrix rate. With tanh activation
 * and its gradient are passes of their own: 2.3 GB a minibatch and 50 instructions an element, 0.85 ms more:
 * 2.2 M/s. 64x64, D = 36: 60 kernels of a minibatch on two lanes, 2 to 4 us each, 120 MB: 0.13 ms, 64 of them
 * 8.3 ms; more than 4,096 copies, so that a rollout's step has the wide policy's 8 launches, 16 us of the
 * environment's and 7 of 4 us: 44 us, 1.4 ms; values 0.5 ms: 524,288 steps in 10.2 ms: 50 M/s. reference-4080
 * (32 copies of 4096 steps, minibatch 1024): a step is 10 launches one after the other, 51 us, 0.21 s of
 * them; with ReLU 7, 36 us, 0.15 s. A minibatch: 38 GFLOP at 250 TFLOP/s 0.15 ms, Adam 0.08, ends 0.07: 0.3
 * ms, 128 an epoch, 0.15 s of updates (127 TFLOP/s, 16 % of PLAIN_RATE): 3.5e5 steps/s, with ReLU 4.3e5. */
#include "bench/gpu_train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/driver.h"
#include "bench/generated.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/device.h"

enum { WARM_UP = 2, ENVIRONMENT_STEPS = 16, MATRIX_ROUNDS = 40, PRODUCT_ROUNDS = 10 };

static const double GOAL_UTILISATION = 0.97, CASE_S = 30;

/* NVML's figure covers up to the last second: that much is trained before it is first asked for; both from
 * the beginning. */
static const double BUSY_SETTLE_S = 1, BUSY_S = 3;
static const char *const bench = "gpu_train";

static char err[ENV_ERROR_MAX];
_Static_assert((int)ENV_ERROR_MAX >= (int)PPO_ERROR_MAX, "one text for both");

static const struct bench_case cases[] = {
    {"2048x1024x512", NULL, 3, {2048, 1024, 512}, NET_RELU, 8, 43, 16384, 32, 32768, 4, 6, 2.9e6, 0.6, 0.6},
    {"2048x1024x512-tanh", NULL, 3, {2048, 1024, 512}, NET_TANH, 8, 43, 16384, 32, 32768, 4, 6, 2.3e6, 0, 0},
    {"64x64", NULL, 2, {64, 64}, NET_TANH, 3, 0, 16384, 32, 32768, 4, 40, 20e6, 0, 0},
    {"reference-4080", "reference-4080", 0, {0}, NET_TANH, 8, 43, 0, 0, 0, 0, 2, 0, 0, 0},
    {"reference-4080-relu", "reference-4080", 0, {0}, NET_RELU, 8, 43, 0, 0, 0, 0, 2, 0, 0, 0.6},
};

static int fails(const char *what)
{
    return bench_because("%s: %s", what, err);
}

static void close_place(struct place *p)
{
    ppo_learner_destroy(p->learner);
    env_device_market_destroy(p->on_device);
    env_destroy(p->env);
    env_market_destroy(p->market);
    gpu_module_close(p->module);
}

/* By the module; where that fails the figure is unknown, and no case fails for it. */
static double used(struct place *p)
{
    size_t free_bytes, total;
    if (ppo_device_memory(p->module, &free_bytes, &total, err) < 0)
        return NAN;
    p->use.total = (double)total;
    return (double)(total - free_bytes);
}

static int set_params(struct place *p, const struct bench_case *c)
{
    if (ppo_params_preset(c->preset ? c->preset : "default", &p->params, err) < 0 ||
        env_params_preset("reference", &p->env_params, err) < 0)
        return fails("preset");
    struct net_shape *net = &p->params.net;
    net->activation = c->activation;
    if (c->n_widths > 0) {
        net->n_pi = net->n_vf = c->n_widths;
        memcpy(net->pi, c->widths, (size_t)c->n_widths * sizeof(int));
        memcpy(net->vf, c->widths, (size_t)c->n_widths * sizeof(int));
        p->params.copies = c->copies;
        p->params.steps = c->steps;
        p->params.minibatch = c->minibatch;
        p->params.epochs = c->epochs;
    }
    if (bench_small()) {
        for (int k = 0; k < net->n_pi; k++)
            net->pi[k] = net->vf[k] = 16;
        p->params.copies = 8;
        p->params.steps = 8;
        p->params.minibatch = 16;
        p->params.epochs = 1;
    }
    p->params.precision = PPO_BF16;
    p->params.normalise_observations = p->params.normalise_rewards = true;
    p->env_params.autoreset = ENV_SAME_STEP;
    p->env_params.random_start = true;
    p->env_params.episode_bars = 700;
    p->env_params.lookback = c->lookback;
    return 0;
}

static int open_place(struct place *p, const char *module_path, const struct bench_case *c)
{
    uint64_t seed = 1;
    *p = (struct place){0};
    bench_driver_open(&p->driver);
    p->use.before = bench_driver_used(&p->driver);
    p->use.held = NAN;
    const int r = bench_module_open(module_path, &p->module);
    if (r != 0)
        return r;
    p->use.module = used(p);
    if (set_params(p, c) < 0)
        return -1;
    struct env_options options = {.copies = (size_t)p->params.copies, .seed = 1};
    if (generated_market(&p->env_params, c->features, &seed, &p->market, err) < 0)
        return fails("market");
    if (env_create(&p->env_params, p->market, &options, &p->env, err) < 0)
        return fails("environment");
    if (env_device_market_create(p->module, p->market, &p->on_device, err) < 0)
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

static int print_products(const struct bench_case *c, struct learner *l)
{
    struct queue_record records[QUEUE_PRODUCTS_MAX];
    const size_t n = ppo_learner_device_products(l, records, QUEUE_PRODUCTS_MAX);
    for (size_t id = 0; id < n; id++) {
        char suffix[32], name[BENCH_CASE_MAX];
        double seconds;
        snprintf(suffix, sizeof(suffix), "product-%zu", id);
        gpu_train_suffixed(c->name, suffix, name);
        if (ppo_learner_device_product_seconds(l, (int)id, PRODUCT_ROUNDS, &seconds, err) < 0)
            return fails(name);
        gpu_train_print_product(name, &records[id], seconds); /* null: it never ran */
    }
    return 0;
}

/* ---- a case ---- */

static int train(const struct bench_case *c, struct place *p, struct trained *ret)
{
    struct ppo_update u = {0};
    for (int i = -WARM_UP; i < c->iterations; i++) {
        const uint64_t before = ppo_learner_device_waits(p->learner);
        const double begin = bench_seconds();
        if (ppo_learner_iterate(p->learner, &u, err) < 0)
            return fails("iteration");
        const double passed = bench_seconds() - begin;
        if (i == -WARM_UP)
            p->use.first = used(p);
        if (i == -WARM_UP + 1) {
            p->use.second = used(p);
            p->use.held = bench_driver_used(&p->driver) - p->use.before;
        }
        if (i < 0)
            continue;
        const uint64_t waits = ppo_learner_device_waits(p->learner) - before;
        ret->seconds[i] = passed;
        ret->busy[i] = (u.seconds_rollout + u.seconds_advantage + u.seconds_update) / passed;
        ret->waits = waits > ret->waits ? waits : ret->waits;
        ret->rollout += u.seconds_rollout / c->iterations;
        ret->advantage += u.seconds_advantage / c->iterations;
        ret->update += u.seconds_update / c->iterations;
    }
    if (!isfinite(u.loss) || u.skipped_total > 0)
        return bench_because("loss %g, %lld minibatches skipped", u.loss, (long long)u.skipped_total);
    return 0;
}

/* Trains on, and takes NVML's share of time in which a kernel runs after each iteration: the mean; NaN: no
 * NVML here. */
static int train_watched(struct place *p, double *ret)
{
    const double begin = bench_seconds(), settle = bench_small() ? 0 : BUSY_SETTLE_S,
                 enough = bench_small() ? 0 : BUSY_S;
    struct ppo_update u;
    double sum = 0, passed;
    int n = 0;
    *ret = bench_driver_busy(&p->driver);
    if (!isfinite(*ret))
        return 0;
    do {
        if (ppo_learner_iterate(p->learner, &u, err) < 0)
            return fails("watched iteration");
        passed = bench_seconds() - begin;
        if (passed >= settle) {
            sum += bench_driver_busy(&p->driver);
            n++;
        }
    } while (passed < enough);
    *ret = sum / n;
    return 0;
}

/* Each figure is printed as soon as it is known: what fails later takes none along. */
static int measure(const struct bench_case *c, struct place *p)
{
    struct trained trained = {0};
    double environment = 0, matrix = NAN, busy = NAN;
    if (environment_rate(p, &environment) == 0)
        gpu_train_print_figure(c->name, "environment", environment, "steps/s", 0);
    p->use.environment = used(p);
    if (ppo_learner_create_device(&p->params, p->module, p->on_device, p->env, &p->learner, err) < 0)
        return fails("learner");
    p->use.learner = used(p);
    int r = train(c, p, &trained);
    gpu_train_print_memory(c, p);
    if (r < 0)
        return r;
    if (ppo_learner_device_matrix_rate(p->learner, MATRIX_ROUNDS, &matrix, err) < 0)
        r = fails("matrix rate");
    gpu_train_print_figure(c->name, "matrix", matrix, "FLOP/s", 0);
    gpu_train_print_rate(c, p, &trained, matrix);
    gpu_train_print_update(c, p, &trained, matrix);
    gpu_train_print_figure(c->name, "utilisation", gpu_train_middle_of(trained.busy, c->iterations), "share",
                           GOAL_UTILISATION);
    gpu_train_print_figure(c->name, "waits", (double)trained.waits, "waits/iteration", 2);
    if (train_watched(p, &busy) < 0)
        r = -1;
    gpu_train_print_figure(c->name, "busy", busy, "share", GOAL_UTILISATION);
    if (print_products(c, p->learner) < 0)
        return -1;
    return environment > 0 ? r : -1;
}

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    snprintf(ret, BENCH_CASE_MAX, "%s", cases[i].name);
}

static int run_case(void *ctx, int i)
{
    struct place p;
    struct bench_case c = cases[i];
    if (bench_small())
        c.iterations = 2;
    int r = open_place(&p, ctx, &c);
    if (r == 0)
        r = measure(&c, &p);
    close_place(&p);
    return r;
}

int main(int argc, char **argv)
{
    const struct bench_cases all = {.bench = bench,
                                    .n = sizeof(cases) / sizeof(cases[0]),
                                    .limit_s = CASE_S,
                                    .apart = true, /* memory is counted from before the module is loaded */
                                    .name = name_of,
                                    .run = run_case,
                                    .ctx = argc > 1 ? argv[1] : NULL};
    return bench_cases_run(&all, argc, argv);
}
