/* The trading environment on the GPU against its CPU and the device's own copy rate; one JSON line a figure
 * (see bench/run for the keys). Without a device: exit 77.
 *
 * Five assets over 20,000 generated bars, random starts, episodes of 700 bars, actions that lie on the
 * device. First the same steps on the CPU, scalar, which must have given the same bits. Cases:
 * - EXECUTION[-options]-COPIES: steps/s without observations, many in one launch. `options` turns on all that
 *   costs: trailing stop, cap, reserve, concentration penalty, cooldown. The limit is the goal, 5e9.
 * - EXECUTION-observe-FLOATS-COPIES: with an observation of so many floats after each step, written to
 *   memory. The limit is what must go there or come from there (`bytes` a step): the observations written,
 *   the market's features read once a call, at the copy rate measured in the same run. Apart from it, and no
 *   share of the limit: `moved_bytes` a step has actions, results, and all that a step reads and writes of
 *   its columns too, which may stay in the L2; `moved_of_copy` is what that would be of the copy rate.
 *
 * Bytes of a step of `reference` with five assets, columns read and written: of a copy 189 (row, window and
 * flags 17, trades 16, money 72, drawn costs 20, sums, peak and drawdown 64), of an asset 32 (with a stop
 * 40), actions 20, results 6: 367. Predictions for an H100 are in docs/gpu-results.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "exchange/symbol.h"
#include "indicators_gpu/module.h"
#include "trainer/env/device.h"

enum { EXIT_SKIP = 77, ASSETS = 5, ROWS = 20000, EQUAL_COPIES = 4096, EQUAL_STEPS = 200 };
enum { ROUNDS = 15, COPY_STEP_BYTES = 189 + 20 + 6, ASSET_BYTES = 40, MARKET_ASSET_BYTES = 184 };

static const double GOAL_STEPS = 5e9, GOAL_OF_COPY = 0.6;
static const size_t COPY_BYTES = (size_t)1 << 30;

static char err[ENV_ERROR_MAX];

static int fails(const char *what)
{
    fprintf(stderr, "gpu_env: %s: %s\n", what, err);
    return -1;
}

struct shape {
    enum env_execution execution;
    bool options;
    int lookback;
    size_t copies, steps; /* steps of a call */
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
static int compare(struct gpu_module *module, enum env_execution execution)
{
    struct shape shape = {execution, true, 3, EQUAL_COPIES, EQUAL_STEPS};
    struct place p;
    float ms, *rewards = bench_room(EQUAL_COPIES, sizeof(float));
    uint8_t *ends = bench_room(EQUAL_COPIES, 2);
    void *saved[2] = {NULL, NULL};
    int r = open_place(&p, module, &shape);
    for (size_t i = 0; i < EQUAL_STEPS && r == 0; i++) {
        struct env_io io = {.actions = p.actions + i * EQUAL_COPIES * ASSETS,
                            .rewards = rewards,
                            .terminated = ends,
                            .truncated = ends + EQUAL_COPIES};
        r = env_step(p.env, &io, err);
    }
    if (r == 0 && env_device_run(p.device, EQUAL_STEPS, false, NULL, &ms, err) < 0)
        r = fails("steps");
    if (r == 0) {
        size_t bytes = env_state_bytes(p.env);
        for (int i = 0; i < 2 && r == 0; i++) {
            saved[i] = bench_room(bytes, 1);
            env_save(p.env, saved[i]);
            if (i == 0)
                r = env_device_store(p.device, p.env, err);
        }
        if (r == 0 && memcmp(saved[0], saved[1], bytes) != 0) {
            fprintf(stderr, "gpu_env: %d copies after %d steps are not the CPU's\n", EQUAL_COPIES,
                    EQUAL_STEPS);
            r = -1;
        }
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
    double begin = bench_seconds(), passed = 0;
    size_t steps = 0;
    for (; passed < 0.3; passed = bench_seconds() - begin, steps++) {
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

static int measure(struct gpu_module *module, const struct shape *shape, bool observe, double copy_rate)
{
    struct place p;
    double rate = 0;
    int r = open_place(&p, module, shape);
    if (r == 0)
        r = gpu_rate(&p, shape, observe, &rate);
    if (r == 0) {
        size_t size = (size_t)env_observation_size(p.env);
        float *obs = observe ? bench_room(shape->copies * size, sizeof(float)) : NULL;
        double peer = cpu_rate(&p, shape, obs);
        const char *name = shape->execution == ENV_MARKET ? "market" : "reference";
        size_t asset = shape->execution == ENV_MARKET ? MARKET_ASSET_BYTES : ASSET_BYTES;
        size_t n_features = (size - 1 - ASSETS) / (size_t)shape->lookback;
        double features =
            (double)(ROWS * n_features * sizeof(float)) / (double)(shape->steps * shape->copies);
        double bytes = (double)(size * sizeof(float)) + features;
        double moved = bytes + (double)(COPY_STEP_BYTES + ASSETS * asset);
        double limit = observe ? copy_rate / bytes : GOAL_STEPS;
        printf("{\"bench\":\"gpu_env\",\"case\":\"%s%s", name, shape->options ? "-options" : "");
        if (observe)
            printf("-observe-%zu", size);
        printf("-%zu\",\"value\":%.6g,\"unit\":\"steps/s\",\"peer\":\"CPU, one core\",\"peer_value\":%.6g,"
               "\"ratio\":%.4g,\"limit\":%.6g,\"of_limit\":%.4g,\"goal_of_limit\":%.2g",
               shape->copies, rate, peer, rate / peer, limit, rate / limit, observe ? GOAL_OF_COPY : 1.0);
        if (observe)
            printf(",\"bytes\":%.4g,\"moved_bytes\":%.4g,\"moved_of_copy\":%.4g", bytes, moved,
                   rate * moved / copy_rate);
        printf("}\n");
        fflush(stdout);
        free(obs);
    }
    close_place(&p);
    return r;
}

int main(int argc, char **argv)
{
    static const struct shape plain[] = {
        {ENV_REFERENCE, false, 3, 4096, 256},  {ENV_REFERENCE, false, 3, 65536, 64},
        {ENV_REFERENCE, false, 3, 262144, 32}, {ENV_REFERENCE, false, 3, 1048576, 8},
        {ENV_REFERENCE, true, 3, 65536, 64},   {ENV_REFERENCE, true, 3, 262144, 32},
        {ENV_MARKET, false, 3, 65536, 64},     {ENV_MARKET, true, 3, 262144, 32},
    };
    static const struct shape seen[] = {
        {ENV_REFERENCE, true, 3, 65536, 32},
        {ENV_REFERENCE, true, 21, 65536, 32},
        {ENV_REFERENCE, true, 21, 262144, 16},
        {ENV_MARKET, true, 21, 65536, 32},
    };
    struct gpu_module *module = NULL;
    double copy_rate;
    if (gpu_module_open(argc > 1 ? argv[1] : NULL, &module, err, sizeof(err)) < 0) {
        fprintf(stderr, "gpu_env: %s\n", err);
        return EXIT_SKIP;
    }
    int r = gpu_module_copy_rate(module, COPY_BYTES, &copy_rate, err, sizeof(err));
    if (r < 0)
        fails("copy rate");
    if (r == 0)
        r = compare(module, ENV_REFERENCE);
    if (r == 0)
        r = compare(module, ENV_MARKET);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]) && r == 0; i++)
        r = measure(module, &plain[i], false, copy_rate);
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]) && r == 0; i++)
        r = measure(module, &seen[i], true, copy_rate);
    gpu_module_close(module);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
