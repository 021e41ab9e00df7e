/* An environment on a device beside the host's scalar one: from identical states and actions every column,
 * reward, end and observation must have the same bits. For blocks.c, where the device is the CPU, and
 * device.c, where it is one.
 *
 * Markets are random walks with bars that are missing; parameters are drawn, all options among them. */
#ifndef TESTS_TRAINER_ENV_DEVICE_TRY_H
#define TESTS_TRAINER_ENV_DEVICE_TRY_H

#include <errno.h>

#include "exchange/symbol.h"
#include "tests/check.h"
#include "tests/random.h"
#include "trainer/env/device.h"

enum { TRY_ASSETS = 6, TRY_ROWS = 3000, TRY_COPIES = 65, TRY_COMPARE = 16, TRY_ALIVE = 600, TRY_MANY = 20 };

static const struct {
    enum env_execution execution;
    enum env_task task;
} try_kinds[] = {{ENV_REFERENCE, ENV_PORTFOLIO},
                 {ENV_MARKET, ENV_PORTFOLIO},
                 {ENV_REFERENCE, ENV_DAY_TRADE},
                 {ENV_MARKET, ENV_DAY_TRADE}};
enum { TRY_KINDS = sizeof(try_kinds) / sizeof(try_kinds[0]) };

/* One environment in both places, and what a step gives in each. */
struct try_pair {
    struct env_market *market, *whole; /* whole: NULL, or what `market` is blocks of */
    struct env_device_market *on_device;
    struct env *host, *other; /* `other`: where the device's state is looked at */
    struct env_device *device;
    size_t copies, actions, observations, masks, state;
    float *action, *reward[2], *obs[2], *final_obs[2];
    uint8_t *ends[2], *mask[2], *saved[2]; /* ends: [2][copies] */
    bool by_column;
};

static inline double try_uniform(struct random *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) * 0x1p-53;
}

static inline float try_float(struct random *random, double low, double high)
{
    return (float)try_uniform(random, low, high);
}

static inline void *try_room(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* ---- Markets ---- */

static inline struct symbol try_symbol(struct random *random, int asset)
{
    struct symbol s = {.price_scale = 2, .qty_scale = 6, .quote_scale = 8, .trading = true};
    snprintf(s.name, sizeof(s.name), "A%dUSDT", asset);
    snprintf(s.base, sizeof(s.base), "A%d", asset);
    snprintf(s.quote, sizeof(s.quote), "USDT");
    s.filters = (struct symbol_filters){.price_min = 1, .tick = 1, .qty_min = 100, .step = 100};
    s.filters.notional_min = random_chance(random, 50) ? 500000000 : 0;
    s.filters.notional_min_market = true;
    return s;
}

/* Whole price units, so that ENV_MARKET takes them. */
static inline double try_tick(double price)
{
    return (double)(int64_t)(price * 100.0 + 0.5) / 100.0;
}

static inline struct env_market *try_market(struct random *random, const struct env_params *params, int n)
{
    static double columns[TRY_ASSETS][5][TRY_ROWS];
    static uint64_t present[TRY_ASSETS][(TRY_ROWS + 63) / 64];
    struct symbol symbols[TRY_ASSETS];
    struct env_asset_source assets[TRY_ASSETS];
    bool gaps = params->execution == ENV_MARKET;
    memset(present, 0, sizeof(present));
    for (int i = 0; i < n; i++) {
        double price = try_uniform(random, 5, 2000);
        for (int row = 0; row < TRY_ROWS; row++) {
            double open = try_tick(price), close = try_tick(price * (1 + try_uniform(random, -0.02, 0.0201)));
            double top = open > close ? open : close, low = open < close ? open : close;
            columns[i][0][row] = open;
            columns[i][1][row] = try_tick(top * (1 + try_uniform(random, 0, 0.01)));
            columns[i][2][row] = try_tick(low * (1 - try_uniform(random, 0, 0.01)));
            columns[i][3][row] = close;
            columns[i][4][row] = try_uniform(random, 1, 100);
            price = close > 2 ? close : 5;
            if (!gaps || row < 64 || !random_chance(random, 3))
                present[i][row / 64] |= (uint64_t)1 << row % 64;
        }
        symbols[i] = try_symbol(random, i);
        assets[i] = (struct env_asset_source){.name = symbols[i].name,
                                              .min_order_qty = 0.0001,
                                              .symbol = &symbols[i],
                                              .open = columns[i][0],
                                              .high = columns[i][1],
                                              .low = columns[i][2],
                                              .close = columns[i][3],
                                              .volume = columns[i][4],
                                              .present = gaps ? present[i] : NULL};
    }
    struct env_market_source source = {.rows = TRY_ROWS,
                                       .n_assets = n,
                                       .assets = assets,
                                       .start_ns = 1700000000LL * 1000000000,
                                       .interval_ns = 300LL * 1000000000};
    struct env_market *market = NULL;
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_market_create(&source, params, &market, err), 0);
    CHECK_STR(err, "");
    return market;
}

static inline bool try_coin(struct random *random)
{
    return random_chance(random, 50);
}

/* All options by chance. */
static inline struct env_params try_params(struct random *random, enum env_execution execution,
                                           enum env_task task)
{
    struct env_params p;
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_params_preset("reference", &p, err), 0);
    p.execution = execution;
    p.task = task;
    p.actions = random_chance(random, 30) ? ENV_DISCRETE : ENV_CONTINUOUS;
    p.levels = 11;
    p.action_span = 40;
    p.autoreset = (enum env_autoreset)random_between(random, ENV_NEXT_STEP, ENV_NO_RESET);
    p.float32 = execution == ENV_REFERENCE && random_chance(random, 30);
    p.lookback = random_chance(random, 20) ? 50 : (int)random_between(random, 1, 7);
    p.episode_bars = random_between(random, 2 * p.lookback + 20, 400);
    p.random_start = try_coin(random);
    p.start = random_chance(random, 60) ? 0 : random_between(random, 1, 50);
    p.initial_capital = (struct env_range){5e4, try_coin(random) ? 5e4 : 2e6};
    p.buy_cost_pct = (struct env_range){0.001, try_coin(random) ? 0.001 : 0.003};
    p.sell_cost_pct = p.buy_cost_pct;
    p.slippage_pct = (struct env_range){0, try_coin(random) ? 0 : 0.002};
    p.trailing_stop_pct = try_coin(random) ? 0.03 : 0;
    p.max_position_pct = try_coin(random) ? 0.4 : 0;
    p.min_cash_reserve = try_coin(random) ? 0.1 : 0;
    p.concentration_penalty = try_coin(random) ? 0.5 : 0;
    p.drawdown_penalty = try_coin(random) ? 0.7 : 0;
    p.volatility_penalty = try_coin(random) ? 8 : 0;
    p.forced_exit_bars = try_coin(random) ? 12 : 0;
    p.forced_exit_pct = 0.05;
    p.cooldown_bars = try_coin(random) ? 5 : 0;
    p.time_decay_floor = try_coin(random) ? 0.2 : 0;
    p.final_return = try_coin(random);
    p.ruin = try_coin(random) ? 0.95 : 0;
    p.shorts = task == ENV_DAY_TRADE && execution == ENV_REFERENCE && try_coin(random);
    if (task == ENV_PORTFOLIO && execution == ENV_MARKET && try_coin(random))
        p.limits = (struct policy_limits){.exposure = try_coin(random) ? 0.6 : 0,
                                          .exposure_symbol = try_coin(random) ? 0.3 : 0,
                                          .daily_loss = try_coin(random) ? 0.02 : 0,
                                          .stop_loss = try_coin(random) ? 0.02 : 0,
                                          .trailing_stop = try_coin(random) ? 0.02 : 0,
                                          .portfolio_trailing_stop = 0.03,
                                          .cooldown_s = try_coin(random) ? 3000 : 0,
                                          .take_profit = {0.02, 0.5}};
    return p;
}

/* ---- Pairs ---- */

/* Some blocks of it instead of all; the first of them has room for an episode. */
static inline bool try_within(struct try_pair *t, struct random *random, const struct env_params *params)
{
    const struct env_market_view *view = env_market_view(t->market);
    char err[ENV_ERROR_MAX] = "";
    struct env_block blocks[3];
    int32_t at = view->first_row;
    for (int i = 0; i < 3; i++) {
        int32_t length = i == 0 ? (int32_t)params->episode_bars + 5 : (int32_t)random_between(random, 1, 150);
        blocks[i].from = at + (int32_t)random_between(random, 0, 20);
        blocks[i].to = blocks[i].from + length;
        at = blocks[i].to;
    }
    int n = 3;
    while (n > 1 && blocks[n - 1].to > (int32_t)view->rows)
        n--;
    t->whole = t->market;
    t->market = NULL;
    CHECK_INT(env_market_blocks(t->whole, blocks, n, &t->market, err), 0);
    CHECK_STR(err, "");
    return t->market != NULL;
}

static inline bool try_open(struct try_pair *t, struct gpu_module *module, struct random *random,
                            const struct env_params *params, int n, size_t copies)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_options options = {.copies = copies, .seed = random_next(random), .backend = ENV_SCALAR};
    *t = (struct try_pair){.copies = copies, .by_column = try_coin(random)};
    t->market = try_market(random, params, n);
    if (!t->market)
        return false;
    if (params->start == 0 && try_coin(random) && !try_within(t, random, params))
        return false;
    CHECK_INT(env_create(params, t->market, &options, &t->host, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(env_create(params, t->market, &options, &t->other, err), 0);
    if (!t->host || !t->other)
        return false;
    t->actions = copies * (size_t)env_action_size(t->host);
    t->observations = copies * (size_t)env_observation_size(t->host);
    t->masks = t->actions * (params->actions == ENV_DISCRETE ? (size_t)params->levels : 1);
    t->state = env_state_bytes(t->host);
    t->action = try_room(t->actions, sizeof(float));
    for (int i = 0; i < 2; i++) {
        t->reward[i] = try_room(copies, sizeof(float));
        t->obs[i] = try_room(t->observations, sizeof(float));
        t->final_obs[i] = try_room(t->observations, sizeof(float));
        t->ends[i] = try_room(copies, 2);
        t->mask[i] = try_room(t->masks, 1);
        t->saved[i] = try_room(t->state, 1);
    }
    if (!t->whole && try_coin(random)) {
        int64_t *starts = try_room(copies, sizeof(*starts)), *bars = try_room(copies, sizeof(*bars));
        for (size_t e = 0; e < copies; e++) {
            starts[e] = random_between(random, 0, 500);
            bars[e] = random_between(random, 2 * params->lookback + 1, 600);
        }
        bool lengths = try_coin(random);
        CHECK_INT(env_windows(t->host, starts, lengths ? bars : NULL, err), 0);
        CHECK_INT(env_windows(t->other, starts, lengths ? bars : NULL, err), 0);
        env_reset(t->host, NULL);
        free(starts);
        free(bars);
    }
    CHECK_INT(env_device_market_create(module, t->market, &t->on_device, err), 0);
    CHECK_STR(err, "");
    if (!t->on_device)
        return false;
    CHECK_INT(env_device_create(t->on_device, t->host, &t->device, err), 0);
    CHECK_STR(err, "");
    return t->device != NULL;
}

static inline void try_close(struct try_pair *t)
{
    env_device_destroy(t->device);
    env_device_market_destroy(t->on_device);
    env_destroy(t->host);
    env_destroy(t->other);
    env_market_destroy(t->market);
    env_market_destroy(t->whole);
    free(t->action);
    for (int i = 0; i < 2; i++) {
        free(t->reward[i]);
        free(t->obs[i]);
        free(t->final_obs[i]);
        free(t->ends[i]);
        free(t->mask[i]);
        free(t->saved[i]);
    }
}

/* Some of them far too large, many 0. */
static inline void try_actions(struct random *random, const struct env_params *params, float *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (params->actions == ENV_DISCRETE)
            ret[i] = (float)random_between(random, 0, params->levels - 1);
        else if (params->task == ENV_DAY_TRADE)
            ret[i] = try_float(random, -1, 1);
        else
            ret[i] =
                random_chance(random, 40) ? 0 : try_float(random, -60, random_chance(random, 5) ? 5e3 : 60);
    }
}

/* The same bits in states, observations and masks? */
static inline void try_compare(struct try_pair *t)
{
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_device_store(t->device, t->other, err), 0);
    env_save(t->host, t->saved[0]);
    env_save(t->other, t->saved[1]);
    CHECK(memcmp(t->saved[0], t->saved[1], t->state) == 0);
    memset(t->obs[1], 0x7f, t->observations * sizeof(float));
    env_observe(t->host, t->obs[0]);
    CHECK_INT(env_device_observe(t->device, t->obs[1], err), 0);
    CHECK(memcmp(t->obs[0], t->obs[1], t->observations * sizeof(float)) == 0);
    env_masks(t->host, t->mask[0]);
    CHECK_INT(env_device_masks(t->device, t->mask[1], err), 0);
    CHECK(memcmp(t->mask[0], t->mask[1], t->masks) == 0);
}

static inline void try_step(struct try_pair *t)
{
    char err[ENV_ERROR_MAX] = "";
    for (int i = 0; i < 2; i++) {
        struct env_io io = {t->action,  t->by_column,           t->reward[i],
                            t->ends[i], t->ends[i] + t->copies, t->final_obs[i]};
        int r = i ? env_device_step(t->device, &io, err) : env_step(t->host, &io, err);
        CHECK_INT(r, 0);
        CHECK_STR(err, "");
    }
    CHECK(memcmp(t->reward[0], t->reward[1], t->copies * sizeof(float)) == 0);
    CHECK(memcmp(t->ends[0], t->ends[1], t->copies * 2) == 0);
    CHECK(memcmp(t->final_obs[0], t->final_obs[1], t->observations * sizeof(float)) == 0);
}

/* Steps with drawn actions; some copies are reset by hand now and then. What was tried must have happened:
 * episodes end and orders trade. */
static inline void try_steps(struct try_pair *t, struct random *random, const struct env_params *params,
                             size_t steps)
{
    char err[ENV_ERROR_MAX] = "";
    size_t ended = 0, traded = 0;
    int32_t *buys = try_room(t->copies, 2 * sizeof(*buys)), *sells = buys + t->copies;
    for (size_t i = 0; i < steps; i++) {
        try_actions(random, params, t->action, t->actions);
        try_step(t);
        for (size_t e = 0; e < t->copies; e++)
            ended += t->ends[0][e] || t->ends[0][t->copies + e];
        env_info(t->host, &(struct env_info){.buys = buys, .sells = sells});
        for (size_t e = 0; e < t->copies; e++)
            traded += buys[e] > 0 && sells[e] > 0;
        if (i % TRY_COMPARE == 0)
            try_compare(t);
        if (i % 100 == 99) {
            uint8_t *some = try_room(t->copies, 1);
            for (size_t e = 0; e < t->copies; e++)
                some[e] = random_chance(random, 20);
            env_reset(t->host, some);
            CHECK_INT(env_device_reset(t->device, some, err), 0);
            free(some);
        }
    }
    try_compare(t);
    free(buys);
    CHECK(steps < TRY_ALIVE || (ended > 0 && traded > 0));
}

/* Many steps in one call, with and without observations, are those steps; every step's results are kept, or
 * none. */
static inline void try_run(struct try_pair *t, struct random *random, const struct env_params *params,
                           size_t steps)
{
    char err[ENV_ERROR_MAX] = "";
    float *actions = try_room(steps * t->actions, sizeof(float)), ms;
    float *rewards[2] = {try_room(steps * t->copies, sizeof(float)),
                         try_room(steps * t->copies, sizeof(float))};
    size_t n = steps * t->copies;
    uint8_t *ends[2] = {try_room(n, 2), try_room(n, 2)};
    for (int way = 0; way < 4; way++) {
        bool observe = way & 1, keep = way & 2;
        memset(rewards[1], 0x7f, n * sizeof(float));
        memset(ends[1], 0x7f, n * 2);
        memset(t->final_obs[0], 0x7f, t->observations * sizeof(float));
        memset(t->final_obs[1], 0x7f, t->observations * sizeof(float));
        try_actions(random, params, actions, steps * t->actions);
        for (size_t i = 0; i < steps; i++) {
            struct env_io io = {.actions = actions + i * t->actions,
                                .actions_by_column = t->by_column,
                                .rewards = rewards[0] + i * t->copies,
                                .terminated = ends[0] + i * t->copies,
                                .truncated = ends[0] + n + i * t->copies,
                                .final_obs = i + 1 < steps ? NULL : t->final_obs[0]};
            CHECK_INT(env_step(t->host, &io, err), 0);
        }
        struct env_device_results ret = {rewards[1], ends[1], ends[1] + n, t->final_obs[1]};
        CHECK_INT(env_device_actions(t->device, actions, steps, t->by_column, err), 0);
        CHECK_INT(env_device_run(t->device, steps, observe, keep ? &ret : NULL, &ms, err), 0);
        if (keep) {
            CHECK(memcmp(rewards[0], rewards[1], n * sizeof(float)) == 0);
            CHECK(memcmp(ends[0], ends[1], n * 2) == 0);
            CHECK(memcmp(t->final_obs[0], t->final_obs[1], t->observations * sizeof(float)) == 0);
        }
        if (observe) {
            env_observe(t->host, t->obs[0]);
            memset(t->obs[1], 0x7f, t->observations * sizeof(float));
            CHECK_INT(env_device_run_observations(t->device, t->obs[1], err), 0);
            CHECK(memcmp(t->obs[0], t->obs[1], t->observations * sizeof(float)) == 0);
        }
        try_compare(t);
    }
    CHECK_INT(env_device_run(t->device, steps + 1, false, NULL, &ms, err), -EINVAL);
    CHECK(strstr(err, "are loaded, not of"));
    free(actions);
    for (int i = 0; i < 2; i++) {
        free(rewards[i]);
        free(ends[i]);
    }
}

/* Queued steps, whose actions and results stay on the device, are those steps too: on the environment's
 * stream and on CUDA's own two, which have fixed handles (the tests' CPU has none); every step's results
 * waited for, or the last one's only. */
static inline void try_queue(struct try_pair *t, struct random *random, const struct env_params *params,
                             size_t steps)
{
    char err[ENV_ERROR_MAX] = "";
    void *streams[] = {NULL, NULL, (void *)1, (void *)2}; /* cudaStreamLegacy, cudaStreamPerThread */
    float *actions = try_room(steps * t->actions, sizeof(float));
    struct env_device_io own, io;
    struct env_device_results ret = {t->reward[1], t->ends[1], t->ends[1] + t->copies, t->final_obs[1]};
    try_actions(random, params, actions, steps * t->actions);
    CHECK_INT(env_device_actions(t->device, actions, steps, t->by_column, err), 0);
    CHECK_INT(env_device_buffers(t->device, &own, &streams[0], err), 0);
    CHECK(own.actions && own.rewards && own.terminated && own.truncated && own.observations && own.masks);
    CHECK(own.actions_by_column == t->by_column);
    CHECK(!own.final_obs == (params->autoreset != ENV_SAME_STEP));
    memset(t->final_obs[0], 0x7f, t->observations * sizeof(float));
    memset(t->final_obs[1], 0x7f, t->observations * sizeof(float));
    for (size_t i = 0; i < steps; i++) {
        bool wait = i >= steps / 2;
        struct env_io host = {NULL,       t->by_column,           t->reward[0],
                              t->ends[0], t->ends[0] + t->copies, wait ? t->final_obs[0] : NULL};
        host.actions = actions + i * t->actions;
        CHECK_INT(env_step(t->host, &host, err), 0);
        io = own;
        io.actions = (const float *)own.actions + i * t->actions;
        if (i % 3 == 1)
            io.observations = io.masks = NULL;
        CHECK_INT(env_device_queue(t->device, &io, streams[i % 4], err), 0);
        if (!wait)
            continue;
        CHECK_INT(env_device_wait(t->device, &ret, err), 0);
        CHECK(memcmp(t->reward[0], t->reward[1], t->copies * sizeof(float)) == 0);
        CHECK(memcmp(t->ends[0], t->ends[1], t->copies * 2) == 0);
        CHECK(memcmp(t->final_obs[0], t->final_obs[1], t->observations * sizeof(float)) == 0);
        if (io.observations) {
            env_observe(t->host, t->obs[0]);
            CHECK_INT(env_device_run_observations(t->device, t->obs[1], err), 0);
            CHECK(memcmp(t->obs[0], t->obs[1], t->observations * sizeof(float)) == 0);
        }
    }
    try_compare(t);

    io = (struct env_device_io){.observations = own.observations};
    CHECK_INT(env_device_queue(t->device, &io, streams[2], err), 0);
    memset(t->obs[1], 0x7f, t->observations * sizeof(float));
    CHECK_INT(env_device_run_observations(t->device, t->obs[1], err), 0);
    CHECK(memcmp(t->obs[0], t->obs[1], t->observations * sizeof(float)) == 0);
    try_compare(t); /* nothing was stepped */

    io = own;
    io.truncated = NULL;
    CHECK_INT(env_device_queue(t->device, &io, NULL, err), -EINVAL);
    CHECK(strstr(err, "truncated"));

    actions[2 * t->actions] = (float)NAN;
    CHECK_INT(env_device_actions(t->device, actions, 3, t->by_column, err), 0);
    for (size_t i = 0; i < 3; i++) {
        io = own;
        io.actions = (const float *)own.actions + i * t->actions;
        CHECK_INT(env_device_queue(t->device, &io, NULL, err), 0);
    }
    CHECK_INT(env_device_wait(t->device, NULL, err), -EINVAL);
    CHECK(strstr(err, "step 2: copy 0: the action of asset 0 "));
    CHECK_INT(env_device_wait(t->device, NULL, err), 0);
    CHECK_INT(env_device_load(t->device, t->host, err), 0);
    free(actions);
}

/* A state of another seed continues with that seed's draws; bytes that are no state of this environment are
 * refused. */
static inline void try_load(struct try_pair *t, struct random *random, const struct env_params *params)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_options options = {.copies = t->copies, .seed = random_next(random), .backend = ENV_SCALAR};
    struct env *env = NULL;
    CHECK_INT(env_create(params, t->market, &options, &env, err), 0);
    env_save(env, t->saved[0]);
    CHECK_INT(env_device_load(t->device, env, err), 0);
    CHECK_INT(env_load(t->host, t->saved[0], err), 0);
    CHECK_INT(env_load(t->other, t->saved[0], err), 0); /* its windows */
    try_compare(t);
    env_reset(t->host, NULL);
    CHECK_INT(env_device_reset(t->device, NULL, err), 0);
    try_compare(t);
    env_destroy(env);

    struct env_params other = *params;
    other.cooldown_bars++;
    CHECK_INT(env_create(&other, t->market, &options, &env, err), 0);
    CHECK_INT(env_device_load(t->device, env, err), -EINVAL);
    CHECK(strstr(err, "cooldown_bars"));
    CHECK_INT(env_device_store(t->device, env, err), -EINVAL);
    CHECK(strstr(err, "cooldown_bars"));
    env_destroy(env);

    struct env_market *market = try_market(random, params, env_market_view(t->market)->n);
    CHECK_INT(env_create(params, market, &options, &env, err), 0);
    CHECK_INT(env_device_load(t->device, env, err), -EINVAL);
    CHECK(strstr(err, "another market"));
    env_destroy(env);
    env_market_destroy(market);
    try_compare(t);
}

/* An invalid action leaves its copy where it is, and no other. */
static inline void try_fault(struct try_pair *t, struct random *random, const struct env_params *params)
{
    char err[ENV_ERROR_MAX] = "", reported[64];
    size_t size = t->actions / t->copies, copy = t->copies / 2, asset = size - 1;
    size_t at = t->by_column ? asset * t->copies + copy : copy * size + asset;
    uint8_t *before = try_room(t->state, 1);
    float ms;
    CHECK_INT(env_device_store(t->device, t->other, err), 0);
    env_save(t->other, before);
    try_actions(random, params, t->action, t->actions);
    t->action[at] = (float)NAN;
    struct env_io io = {t->action, t->by_column, t->reward[1], t->ends[1], t->ends[1] + t->copies, NULL};
    CHECK_INT(env_device_step(t->device, &io, err), -EINVAL);
    snprintf(reported, sizeof(reported), "copy %zu", copy);
    CHECK(strstr(err, reported));
    CHECK_INT(env_device_store(t->device, t->other, err), 0);
    env_save(t->other, t->saved[1]);
    CHECK(memcmp(before, t->saved[1], t->state) == 0);

    t->action[at] = params->actions == ENV_DISCRETE ? 2.5f : (float)INFINITY;
    CHECK_INT(env_device_actions(t->device, t->action, 1, t->by_column, err), 0);
    CHECK_INT(env_device_run(t->device, 1, false, NULL, &ms, err), -EINVAL);
    CHECK(strstr(err, reported) && strstr(err, "step 0"));
    CHECK_INT(env_device_store(t->device, t->other, err), 0);
    int32_t *rows = try_room(t->copies, 2 * sizeof(*rows));
    env_info(t->host, &(struct env_info){.row = rows});
    env_info(t->other, &(struct env_info){.row = rows + t->copies});
    CHECK_INT(rows[t->copies + copy], rows[copy]);
    t->action[at] = 0;
    io.rewards = t->reward[0];
    CHECK_INT(env_step(t->host, &io, err), 0);
    env_info(t->host, &(struct env_info){.row = rows});
    for (size_t e = 0; e < t->copies; e++)
        CHECK(e == copy || rows[e] == rows[t->copies + e]);
    free(rows);
    free(before);
    CHECK_INT(env_device_load(t->device, t->host, err), 0);
    try_compare(t);
}

/* Exhausted memory is reported, and everything continues to work. */
static inline void try_memory(struct gpu_module *module, struct random *random)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_params params = try_params(random, ENV_REFERENCE, ENV_PORTFOLIO);
    struct try_pair t;
    if (!try_open(&t, module, random, &params, 3, TRY_COPIES))
        return;
    struct env_device_market *market = NULL;
    struct env_device *device = NULL;
    gpu_module_limit(module, 1);
    CHECK_INT(env_device_market_create(module, t.market, &market, err), -ENOMEM);
    CHECK(strstr(err, "memory"));
    CHECK_INT(env_device_create(t.on_device, t.host, &device, err), -ENOMEM);
    CHECK(strstr(err, "memory"));
    CHECK(!market && !device);
    gpu_module_limit(module, 0);
    try_steps(&t, random, &params, 20);
    try_close(&t);
}

/* One execution and task with drawn options. */
static inline void try_one(struct gpu_module *module, struct random *random, enum env_execution execution,
                           enum env_task task, size_t copies, size_t steps)
{
    struct env_params params = try_params(random, execution, task);
    int n = task == ENV_DAY_TRADE ? 1 : (int)random_between(random, 1, TRY_ASSETS);
    struct try_pair t;
    if (try_open(&t, module, random, &params, n, copies)) {
        try_compare(&t);
        try_steps(&t, random, &params, steps);
        try_run(&t, random, &params, steps < TRY_MANY ? steps : TRY_MANY);
        try_queue(&t, random, &params, steps < TRY_MANY ? steps : TRY_MANY);
        try_fault(&t, random, &params);
        try_load(&t, random, &params);
    }
    try_close(&t);
}

#endif
