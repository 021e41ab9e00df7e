/* The trading environment on the GPU against its CPU and the device's own copy rate; one JSON line a figure
 * (see bench/run for the keys), each case apart (bench/cases.h). Without a device: exit 77. Arguments: the
 * module's path; the name of one case, or all.
 *
 * Five assets over 20,000 generated bars, random starts, episodes of 700 bars, actions that lie on the
 * device. Cases:
 * - EXECUTION-equal: copies that have the CPU's bits after 200 steps with every option
 * - EXECUTION[-options]-COPIES: steps/s without observations, many in one launch. `options` turns on all that
 *   costs: trailing stop, cap, reserve, concentration penalty, cooldown. The limit is the goal, 5e9.
 * - EXECUTION-observe-FLOATS-COPIES: with an observation of so many floats after each step, written to
 *   memory. The limit is what must go there or come from there (`bytes` a step): the observations written,
 *   the market's features read once a call, at the copy rate measured in the same run. Apart from it, and no
 *   share of the limit: `moved_bytes` a step has actions, results, and all that a step reads and writes of
 *   its columns too, which may stay in the L2; `moved_of_copy` is what that would be of the copy rate.
 *
 * docs/gpu-results.md ("Environment") has where the bytes of a step's columns are from (COPY_STEP_BYTES,
 * ASSET_BYTES, MARKET_ASSET_BYTES), and the predictions for an H100. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "exchange/symbol.h"
#include "indicators_gpu/module.h"
#include "trainer/env/device.h"

enum { ASSETS = 5, ROWS = 20000, EQUAL_COPIES = 4096, EQUAL_STEPS = 200 };
enum { ROUNDS = 15, COPY_STEP_BYTES = 189 + 20 + 6, ASSET_BYTES = 40, MARKET_ASSET_BYTES = 184 };

static const double GOAL_STEPS = 5e9, GOAL_OF_COPY = 0.6, CASE_S = 15;
static const char *const bench = "gpu_env";
static const size_t COPY_BYTES = (size_t)1 << 30;

static char err[ENV_ERROR_MAX];

static int fails(const char *what)
{
    return bench_because("%s: %s", what, err);
}

struct shape {
    enum env_execution execution;
    bool options;
    int lookback;
    size_t copies, steps; /* steps of a call */
    int observation;      /* floats; 0: without */
};

/* A market, an environment on it, and the same on the device. */
struct place {
    struct env_params params;
    struct env_market *market;
    struct env *env;
    struct env_device_market *on_device;
    struct env_device *device;
    float *actions; /* [steps][copies][ASSETS] */
};

static struct symbol listed(const char *name)
{
    struct symbol s = {.price_scale = 2, .qty_scale = 6, .quote_scale = 8, .trading = true};
    snprintf(s.name, sizeof(s.name), "%s", name);
    s.filters = (struct symbol_filters){.price_min = 1, .tick = 1, .qty_min = 100, .step = 100};
    return s;
}

static struct env_market *generated(const struct env_params *params, uint64_t *seed)
{
    static const char *const names[ASSETS] = {"AUSDT", "BUSDT", "CUSDT", "DUSDT", "EUSDT"};
    struct symbol symbols[ASSETS];
    struct env_asset_source assets[ASSETS];
    double *columns[ASSETS];
    for (int i = 0; i < ASSETS; i++) {
        double *c = columns[i] = bench_room(5 * ROWS, sizeof(double)), price = 100.0 * (i + 1);
        for (size_t row = 0; row < ROWS; row++) {
            double open = price,
                   close = floor(price * (1 + 0.004 * (bench_uniform(seed) - 0.4995)) * 100) / 100;
            price = close > 1 ? close : 100;
            c[row] = open;
            c[ROWS + row] = open > close ? open : close;
            c[2 * ROWS + row] = open < close ? open : close;
            c[3 * ROWS + row] = close;
            c[4 * ROWS + row] = 1 + 100 * bench_uniform(seed);
        }
        symbols[i] = listed(names[i]);
        assets[i] = (struct env_asset_source){.name = names[i],
                                              .min_order_qty = 1e-4,
                                              .symbol = &symbols[i],
                                              .open = c,
                                              .high = c + ROWS,
                                              .low = c + 2 * ROWS,
                                              .close = c + 3 * ROWS,
                                              .volume = c + 4 * ROWS};
    }
    struct env_market_source source = {.rows = ROWS,
                                       .n_assets = ASSETS,
                                       .assets = assets,
                                       .start_ns = 1700000000LL * 1000000000,
                                       .interval_ns = 60LL * 1000000000};
    struct env_market *market = NULL;
    if (env_market_create(&source, params, &market, err) < 0)
        market = NULL;
    for (int i = 0; i < ASSETS; i++)
        free(columns[i]);
    return market;
}

static void close_place(struct place *p)
{
    env_device_destroy(p->device);
    env_device_market_destroy(p->on_device);
    env_destroy(p->env);
    env_market_destroy(p->market);
    free(p->actions);
}

static int open_place(struct place *p, struct gpu_module *module, const struct shape *shape)
{
    uint64_t seed = 20260107;
    *p = (struct place){.market = NULL};
    if (env_params_preset(shape->execution == ENV_MARKET ? "cappuccino" : "reference", &p->params, err) < 0)
        return fails("preset");
    p->params.random_start = true;
    p->params.episode_bars = 700;
    p->params.lookback = shape->lookback;
    if (shape->options) {
        p->params.trailing_stop_pct = 0.02;
        p->params.max_position_pct = 0.4;
        p->params.min_cash_reserve = 0.05;
        p->params.concentration_penalty = 0.1;
        p->params.cooldown_bars = 5;
    }
    p->market = generated(&p->params, &seed);
    if (!p->market)
        return fails("market");
    struct env_options options = {.copies = shape->copies, .seed = 7};
    if (env_create(&p->params, p->market, &options, &p->env, err) < 0)
        return fails("environment");
    if (env_device_market_create(module, p->market, &p->on_device, err) < 0 ||
        env_device_create(p->on_device, p->env, &p->device, err) < 0)
        return fails("environment on the device");
    size_t n = shape->steps * shape->copies * ASSETS;
    p->actions = bench_room(n, sizeof(float));
    for (size_t i = 0; i < n; i++)
        p->actions[i] = (float)(40 * bench_uniform(&seed) - 20);
    if (env_device_actions(p->device, p->actions, shape->steps, false, err) < 0)
        return fails("actions");
    return 0;
}

/* The CPU steps the same from the same states: 0 where all columns have the same bits. */
static int compare(struct gpu_module *module, const char *name, enum env_execution execution)
{
    const size_t copies = bench_small() ? 64 : EQUAL_COPIES;
    struct shape shape = {execution, true, 3, copies, EQUAL_STEPS, 0};
    struct place p;
    float ms, *rewards = bench_room(copies, sizeof(float));
    uint8_t *ends = bench_room(copies, 2);
    void *saved[2] = {NULL, NULL};
    int r = open_place(&p, module, &shape);
    for (size_t i = 0; i < EQUAL_STEPS && r == 0; i++) {
        struct env_io io = {.actions = p.actions + i * copies * ASSETS,
                            .rewards = rewards,
                            .terminated = ends,
                            .truncated = ends + copies};
        if (env_step(p.env, &io, err) < 0)
            r = fails("steps of the CPU");
    }
    if (r == 0 && env_device_run(p.device, EQUAL_STEPS, false, NULL, &ms, err) < 0)
        r = fails("steps");
    if (r == 0) {
        size_t bytes = env_state_bytes(p.env);
        for (int i = 0; i < 2 && r == 0; i++) {
            saved[i] = bench_room(bytes, 1);
            env_save(p.env, saved[i]);
            if (i == 0 && env_device_store(p.device, p.env, err) < 0)
                r = fails("state");
        }
        if (r == 0 && memcmp(saved[0], saved[1], bytes) != 0)
            r = bench_because("%zu copies after %d steps are not the CPU's", copies, EQUAL_STEPS);
        if (r == 0)
            bench_line_figure(bench, name, (double)copies, "copies");
    }
    free(saved[0]);
    free(saved[1]);
    free(rewards);
    free(ends);
    close_place(&p);
    return r;
}

/* Steps a second on one core, with the best that the processor has. */
static double cpu_rate(const struct place *p, const struct shape *shape, float *obs)
{
    float *rewards = bench_room(shape->copies, sizeof(float));
    uint8_t *ends = bench_room(shape->copies, 2);
    const double enough = bench_small() ? 0.01 : 0.3, begin = bench_seconds();
    double passed = 0;
    size_t steps = 0;
    for (; passed < enough; passed = bench_seconds() - begin, steps++) {
        struct env_io io = {.actions = p->actions + steps % shape->steps * shape->copies * ASSETS,
                            .rewards = rewards,
                            .terminated = ends,
                            .truncated = ends + shape->copies};
        if (env_step(p->env, &io, err) < 0)
            exit(EXIT_FAILURE);
        if (obs)
            env_observe(p->env, obs);
    }
    free(rewards);
    free(ends);
    return (double)steps * (double)shape->copies / passed;
}

/* Steps a second of the median call. */
static int gpu_rate(const struct place *p, const struct shape *shape, bool observe, double *ret)
{
    double times[ROUNDS];
    float ms;
    for (int i = -2; i < ROUNDS; i++) { /* two warm up */
        if (env_device_run(p->device, shape->steps, observe, NULL, &ms, err) < 0)
            return fails("steps");
        if (i >= 0)
            times[i] = ms * 1e-3;
    }
    qsort(times, ROUNDS, sizeof(*times), bench_by_value);
    *ret = (double)shape->steps * (double)shape->copies / times[ROUNDS / 2];
    return 0;
}

static int measure(struct gpu_module *module, const char *name, const struct shape *shape, double copy_rate)
{
    struct place p;
    const bool observe = shape->observation > 0;
    double rate = 0;
    int r = open_place(&p, module, shape);
    if (r == 0)
        r = gpu_rate(&p, shape, observe, &rate);
    if (r == 0) {
        size_t size = (size_t)env_observation_size(p.env);
        float *obs = observe ? bench_room(shape->copies * size, sizeof(float)) : NULL;
        double peer = cpu_rate(&p, shape, obs);
        size_t asset = shape->execution == ENV_MARKET ? MARKET_ASSET_BYTES : ASSET_BYTES;
        size_t n_features = (size - 1 - ASSETS) / (size_t)shape->lookback;
        double features =
            (double)(ROWS * n_features * sizeof(float)) / (double)(shape->steps * shape->copies);
        double bytes = (double)(size * sizeof(float)) + features;
        double moved = bytes + (double)(COPY_STEP_BYTES + ASSETS * asset);
        double limit = observe ? copy_rate / bytes : GOAL_STEPS;
        bench_line_value(bench, name, rate, "steps/s");
        bench_line_peer("CPU, one core", peer, rate / peer);
        bench_line_number("limit", limit);
        bench_line_number("of_limit", rate / limit);
        bench_line_number("goal_of_limit", observe ? GOAL_OF_COPY : 1.0);
        if (observe) {
            bench_line_number("bytes", bytes);
            bench_line_number("moved_bytes", moved);
            bench_line_number("moved_of_copy", rate * moved / copy_rate);
        }
        bench_line_end();
        free(obs);
        if (observe && size != (size_t)shape->observation)
            r = bench_because("an observation has %zu floats", size);
    }
    close_place(&p);
    return r;
}

/* ---- cases ---- */

static const struct shape shapes[] = {
    {ENV_REFERENCE, false, 3, 4096, 256, 0},   {ENV_REFERENCE, false, 3, 65536, 64, 0},
    {ENV_REFERENCE, false, 3, 262144, 32, 0},  {ENV_REFERENCE, false, 3, 1048576, 8, 0},
    {ENV_REFERENCE, true, 3, 65536, 64, 0},    {ENV_REFERENCE, true, 3, 262144, 32, 0},
    {ENV_MARKET, false, 3, 65536, 64, 0},      {ENV_MARKET, true, 3, 262144, 32, 0},
    {ENV_REFERENCE, true, 3, 65536, 32, 36},   {ENV_REFERENCE, true, 3, 262144, 32, 36},
    {ENV_REFERENCE, true, 21, 65536, 32, 216}, {ENV_REFERENCE, true, 21, 262144, 16, 216},
    {ENV_MARKET, true, 21, 65536, 32, 216},
};
enum { EXECUTIONS = 2, SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* A CPU in the device's place gets fewer copies. */
static struct shape shape_of(int i)
{
    struct shape ret = shapes[i - EXECUTIONS];
    if (bench_small()) {
        ret.copies = 1 + ret.copies / 65536;
        ret.steps = 2;
    }
    return ret;
}

static const char *account_execution_name(enum env_execution execution)
{
    return execution == ENV_MARKET ? "market" : "reference";
}

static enum env_execution execution_of(int i)
{
    return i == 0 ? ENV_REFERENCE : ENV_MARKET;
}

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    if (i < EXECUTIONS) {
        snprintf(ret, BENCH_CASE_MAX, "%s-equal", account_execution_name(execution_of(i)));
        return;
    }
    const struct shape *s = &shapes[i - EXECUTIONS]; /* of the device's sizes */
    char observe[32] = "";
    if (s->observation)
        snprintf(observe, sizeof(observe), "-observe-%d", s->observation);
    snprintf(ret, BENCH_CASE_MAX, "%s%s%s-%zu", account_execution_name(s->execution),
             s->options ? "-options" : "", observe, s->copies);
}

struct device {
    struct gpu_module *module;
    const char *path;
    double copy_rate;
};

static int open_device(void *ctx)
{
    struct device *d = ctx;
    int r = bench_module_open(d->path, &d->module);
    if (r != 0)
        return r;
    if (gpu_module_copy_rate(d->module, COPY_BYTES, &d->copy_rate, err, sizeof(err)) < 0) {
        fails("copy rate");
        d->copy_rate = NAN; /* the limits are unknown then, and nothing else */
    }
    return 0;
}

static void close_device(void *ctx)
{
    struct device *d = ctx;
    gpu_module_close(d->module);
}

static int run_case(void *ctx, int i)
{
    struct device *d = ctx;
    char name[BENCH_CASE_MAX];
    name_of(i, name);
    if (i < EXECUTIONS)
        return compare(d->module, name, execution_of(i));
    const struct shape shape = shape_of(i);
    return measure(d->module, name, &shape, d->copy_rate);
}

int main(int argc, char **argv)
{
    struct device device = {.path = argc > 1 ? argv[1] : NULL};
    const struct bench_cases all = {bench,    EXECUTIONS + SHAPES, CASE_S, false, name_of, open_device,
                                    run_case, close_device,        &device};
    return bench_cases_run(&all, argc, argv);
}
