/* Synthetic markets and random parameters for the tests without fixed expected results: random walks of any
 * number of assets, for all executions. */
#ifndef TESTS_TRAINER_ENV_WALKS_H
#define TESTS_TRAINER_ENV_WALKS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/symbol.h"
#include "tests/random.h"
#include "trainer/env/env.h"
#include "trainer/env/internal.h"

enum { WALKS_ASSETS = 20, WALKS_COLUMNS = 5 };

struct walks {
    struct env_market_source source;
    struct env_asset_source assets[WALKS_ASSETS];
    struct symbol symbols[WALKS_ASSETS];
    double *columns[WALKS_ASSETS][WALKS_COLUMNS]; /* open, high, low, close, volume */
    uint64_t *present[WALKS_ASSETS];
};

static inline double walks_share(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static inline double walks_cents(double price)
{
    return fmax(rint(price * 100) / 100, 0.01);
}

static inline void walks_asset(struct walks *walks, struct random *random, int i, bool gaps)
{
    size_t rows = walks->source.rows;
    for (int k = 0; k < WALKS_COLUMNS; k++)
        walks->columns[i][k] = calloc(rows, sizeof(double));
    walks->present[i] = calloc(rows / 64 + 1, sizeof(uint64_t));
    double price = walks_cents(pow(10, 1 + 4 * walks_share(random)));
    for (size_t r = 0; r < rows; r++) {
        double open = walks_cents(price * (1 + 0.002 * (walks_share(random) - 0.5)));
        price = walks_cents(fmax(open * (1 + 0.03 * (walks_share(random) - 0.5)), 1));
        walks->columns[i][0][r] = open;
        walks->columns[i][1][r] = walks_cents(fmax(open, price) * (1 + 0.01 * walks_share(random)));
        walks->columns[i][2][r] = walks_cents(fmin(open, price) * (1 - 0.01 * walks_share(random)));
        walks->columns[i][3][r] = price;
        walks->columns[i][4][r] = rint(1e5 * walks_share(random)) / 100;
        if (!gaps || !random_chance(random, 3))
            walks->present[i][r / 64] |= (uint64_t)1 << (r % 64);
    }
    struct symbol *symbol = &walks->symbols[i];
    *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
    snprintf(symbol->name, sizeof symbol->name, "WALK%dUSDT", i);
    snprintf(symbol->base, sizeof symbol->base, "WALK%d", i);
    snprintf(symbol->quote, sizeof symbol->quote, "USDT");
    symbol->filters = (struct symbol_filters){.price_min = 1000000,
                                              .price_max = 100000000000000,
                                              .tick = 1000000,
                                              .qty_min = 1000,
                                              .qty_max = 900000000000000,
                                              .step = 1000,
                                              .notional_min = random_chance(random, 50) ? 500000000 : 0,
                                              .notional_min_market = true};
    walks->assets[i] = (struct env_asset_source){
        .name = symbol->base,
        .min_order_qty = random_chance(random, 30) ? 0 : 1 / walks->columns[i][3][0],
        .symbol = symbol,
        .open = walks->columns[i][0],
        .high = walks->columns[i][1],
        .low = walks->columns[i][2],
        .close = walks->columns[i][3],
        .volume = walks->columns[i][4],
        .present = gaps ? walks->present[i] : NULL};
}

/* `gaps`: some bars are missing. *ret does not move afterwards: its source points into it. */
static inline void walks_make(struct walks *ret, struct random *random, size_t rows, int n, bool gaps)
{
    *ret = (struct walks){0};
    ret->source = (struct env_market_source){.rows = rows,
                                             .n_assets = n,
                                             .assets = ret->assets,
                                             .start_ns = 1735689600000000000,
                                             .interval_ns = 300000000000};
    for (int i = 0; i < n; i++)
        walks_asset(ret, random, i, gaps);
}

static inline void walks_finish(struct walks *walks)
{
    for (int i = 0; i < WALKS_ASSETS; i++) {
        for (int k = 0; k < WALKS_COLUMNS; k++)
            free(walks->columns[i][k]);
        free(walks->present[i]);
    }
}

static inline double walks_between(struct random *random, double low, double high)
{
    return low + (high - low) * walks_share(random);
}

static inline struct env_range walks_range(struct random *random, double low, double high)
{
    double a = walks_between(random, low, high),
           b = random_chance(random, 50) ? a : walks_between(random, low, high);
    return (struct env_range){fmin(a, b), fmax(a, b)};
}

/* Any parameters: each option is off in half of the draws. */
static inline struct env_params walks_params(struct random *random, enum env_execution execution,
                                             enum env_task task)
{
    char err[ENV_ERROR_MAX];
    struct env_params p;
    static const char *const presets[] = {"reference", "cappuccino", "day-trade"};
    env_params_preset(presets[task == ENV_DAY_TRADE ? 2 : execution == ENV_MARKET], &p, err);
    p.execution = execution;
    p.task = task;
    p.shorts = task == ENV_DAY_TRADE && execution == ENV_REFERENCE && random_chance(random, 50);
    p.float32 = execution == ENV_REFERENCE && random_chance(random, 30);
    p.actions = random_chance(random, 30) ? ENV_DISCRETE : ENV_CONTINUOUS;
    p.levels = 3 + 2 * (int)random_between(random, 0, 9);
    p.action_span = task == ENV_DAY_TRADE ? 1 : walks_between(random, 0.5, 100);
    p.autoreset = (enum env_autoreset)random_between(random, ENV_NEXT_STEP, ENV_SAME_STEP);
    p.lookback = (int)random_between(random, 1, 6);
    p.random_start = random_chance(random, 50);
    p.episode_bars = random_between(random, 2 * p.lookback + 1, 120);
    p.start = random_between(random, 0, 20);
    p.initial_capital = walks_range(random, 100, 20000);
    p.buy_cost_pct = walks_range(random, 0, 0.01);
    p.sell_cost_pct = walks_range(random, 0, 0.01);
    if (random_chance(random, 50))
        p.slippage_pct = walks_range(random, 0, 0.005);
    if (random_chance(random, 50))
        p.trailing_stop_pct = walks_between(random, 0.001, 0.1);
    if (random_chance(random, 50))
        p.max_position_pct = walks_between(random, 0.05, 0.9);
    if (random_chance(random, 50))
        p.min_cash_reserve = walks_between(random, 0, 0.5);
    if (random_chance(random, 50))
        p.concentration_penalty = walks_between(random, 0.01, 1);
    if (random_chance(random, 50))
        p.drawdown_penalty = walks_between(random, 0.01, 10);
    if (random_chance(random, 50))
        p.volatility_penalty = walks_between(random, 0.1, 100);
    if (random_chance(random, 50))
        p.cooldown_bars = (int)random_between(random, 1, 10);
    p.forced_exit_bars = random_chance(random, 50) ? (int)random_between(random, 1, 20) : 0;
    p.forced_exit_pct = walks_between(random, 0.01, 1);
    if (random_chance(random, 50))
        p.time_decay_floor = walks_share(random);
    if (random_chance(random, 30))
        p.ruin = walks_between(random, 0.5, 0.99);
    p.final_return = random_chance(random, 50);
    if (random_chance(random, 10)) { /* the costs of a bad day */
        p.buy_cost_pct = p.sell_cost_pct = walks_range(random, 0, 0.5);
        p.slippage_pct = walks_range(random, 0, 0.5);
    }
    if (execution == ENV_REFERENCE && random_chance(random, 10)) {
        p.initial_capital.high = pow(10, walks_between(random, -3, 12));
        p.initial_capital.low = p.initial_capital.high / (random_chance(random, 50) ? 1 : 2);
        p.initial_capital.low = fmax(p.initial_capital.low, 1e-3);
        p.norm_action = pow(10, walks_between(random, -2, 4));
    }
    return p;
}

/* Actions of all copies: small and large, none, beyond the clip; [copies * size]. */
static inline void walks_actions(struct random *random, const struct env_params *p, float *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p->actions == ENV_DISCRETE) {
            ret[i] = (float)random_between(random, 0, p->levels - 1);
            continue;
        }
        double a = 2 * walks_share(random) - 1;
        int kind = (int)random_between(random, 0, 9);
        ret[i] = (float)(p->task == ENV_DAY_TRADE ? a
                         : kind == 0              ? 0
                         : kind == 1              ? a * 3000
                         : kind < 5               ? a * 100
                                                  : a * 20);
    }
}

/* The market and the environment, or what was wrong with them, printed. */
static inline bool walks_env(const struct walks *walks, const struct env_params *params,
                             const struct env_options *options, struct env_market **ret_market,
                             struct env **ret_env)
{
    char err[ENV_ERROR_MAX];
    if (env_market_create(&walks->source, params, ret_market, err) < 0) {
        fprintf(stderr, "market: %s\n", err);
        return false;
    }
    if (env_create(params, *ret_market, options, ret_env, err) < 0) {
        fprintf(stderr, "env: %s\n", err);
        env_market_destroy(*ret_market);
        return false;
    }
    return true;
}

#endif
