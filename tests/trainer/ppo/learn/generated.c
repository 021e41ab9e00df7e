#include "tests/trainer/ppo/learn/generated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/symbol.h"
#include "tests/fatal.h"
#include "tests/random.h"

enum { UNIT = 100000000, LOOKBACK = 1 };

static double *column(size_t rows)
{
    return fatal_calloc(rows, sizeof(double));
}

static double evenly(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static int sign(struct random *random)
{
    return random_next(random) >> 63 ? 1 : -1;
}

static double normal(struct random *random)
{
    double radius = sqrt(-2 * log(1 - evenly(random)));
    return radius * cos(2 * M_PI * evenly(random));
}

static double on_tick(double price)
{
    return nearbyint(price * UNIT) / UNIT;
}

static void draw_bars(struct generated *g, bool signal, struct random *random)
{
    double close = 100;
    int regime = sign(random);
    for (size_t row = 0; row < g->rows; row++) {
        int drift = signal ? regime : sign(random); /* of the regime that the bar before showed */
        double change = GENERATED_DRIFT * drift + GENERATED_NOISE * (2 * evenly(random) - 1);
        g->open[row] = close;
        close = on_tick(close * (1 + change));
        g->close[row] = close;
        g->high[row] = fmax(g->open[row], close);
        g->low[row] = fmin(g->open[row], close);
        regime = evenly(random) < GENERATED_STAY ? regime : -regime;
        g->regime[row] = regime;
        g->volume[row] = exp(regime + GENERATED_VOLUME * normal(random));
    }
}

static void set_params(struct env_params *params)
{
    char err[ENV_ERROR_MAX];
    if (env_params_preset("market", params, err) < 0)
        fatal("%s", err);
    params->autoreset = ENV_SAME_STEP;
    params->lookback = LOOKBACK;
    params->episode_bars = GENERATED_EPISODE + 2 * LOOKBACK;
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){GENERATED_FEE, GENERATED_FEE};
    params->norm_action = 0.25; /* an action of 1 is worth four times the capital: all of it */
    params->norm_cash = 1e-3;
    params->norm_stocks = 0.1;
    params->norm_tech = 1;
    params->norm_reward = 1;
    params->forced_exit_bars = 0;
    params->weight_alpha = params->weight_cash = 0;
    params->weight_absolute = 1; /* the reward is the gain as a share of the initial capital */
    params->time_decay_floor = 1;
}

void generated_create(size_t rows, bool signal, uint64_t seed, struct generated *ret)
{
    char err[ENV_ERROR_MAX];
    struct random random = {seed * 2 + signal};
    *ret = (struct generated){rows,
                              column(rows),
                              column(rows),
                              column(rows),
                              column(rows),
                              column(rows),
                              fatal_calloc(rows, sizeof(int))};
    float *features = fatal_calloc(rows * GENERATED_FEATURES, sizeof *features);
    draw_bars(ret, signal, &random);
    set_params(&ret->params);
    for (size_t row = 0; row < rows; row++) {
        features[row * GENERATED_FEATURES] = (float)(100 * (ret->close[row] / ret->open[row] - 1));
        features[row * GENERATED_FEATURES + 1] = (float)log(ret->volume[row]);
    }
    /* As venues list it: hundredths of a unit, orders worth 5 or more. */
    const struct symbol symbol = {.name = "MADEUSDT",
                                  .base = "MADE",
                                  .quote = "USDT",
                                  .price_scale = 8,
                                  .qty_scale = 8,
                                  .quote_scale = 8,
                                  .trading = true,
                                  .filters = {.tick = 1,
                                              .price_min = 1,
                                              .step = UNIT / 10000,
                                              .qty_min = UNIT / 10000,
                                              .notional_min = 5 * (int64_t)UNIT,
                                              .notional_min_market = true}};
    const struct env_asset_source asset = {.name = "MADEUSDT",
                                           .symbol = &symbol,
                                           .open = ret->open,
                                           .high = ret->high,
                                           .low = ret->low,
                                           .close = ret->close,
                                           .volume = ret->volume};
    const struct env_market_source source = {.rows = rows,
                                             .n_assets = 1,
                                             .assets = &asset,
                                             .start_ns = 1700000100 * INT64_C(1000000000),
                                             .interval_ns = 300 * INT64_C(1000000000),
                                             .features = features,
                                             .n_features = GENERATED_FEATURES};
    if (env_market_create(&source, &ret->params, &ret->market, err) < 0)
        fatal("generated market: %s", err);
    free(features);
}

void generated_destroy(struct generated *generated)
{
    env_market_destroy(generated->market);
    free(generated->open);
    free(generated->high);
    free(generated->low);
    free(generated->close);
    free(generated->volume);
    free(generated->regime);
}

struct env *generated_env(const struct generated *generated, size_t copies, uint64_t seed, bool random_start)
{
    char err[ENV_ERROR_MAX];
    struct env_params params = generated->params;
    params.random_start = random_start;
    const struct env_options options = {.copies = copies, .seed = seed, .threads = 1};
    struct env *env;
    if (env_create(&params, generated->market, &options, &env, err) < 0)
        fatal("environment: %s", err);
    return env;
}

/* What changing what is held does to log wealth. */
static double cost_of(bool held, bool hold)
{
    return held == hold ? 0 : hold ? -log1p(GENERATED_FEE) : log1p(-GENERATED_FEE);
}

/* E[log(1 + r)] of a bar after regime 1 or 0. */
static double growth_of(int regime)
{
    enum { CUTS = 1000 };
    double sum = 0;
    for (int i = 0; i < CUTS; i++)
        sum += log1p((regime ? GENERATED_DRIFT : -GENERATED_DRIFT) +
                     GENERATED_NOISE * (2 * (i + 0.5) / CUTS - 1));
    return sum / CUTS;
}

struct generated_rule generated_best(void)
{
    enum { BARS = 10000 }; /* to the end: far enough for the first decision not to see it */
    struct generated_rule rule;
    double worth[2][2] = {{0}};
    const double growth[2] = {growth_of(0), growth_of(1)};
    for (int bar = 0; bar < BARS; bar++) {
        double next[2][2];
        for (int held = 0; held < 2; held++)
            for (int regime = 0; regime < 2; regime++) {
                double of[2];
                for (int hold = 0; hold < 2; hold++)
                    of[hold] = cost_of(held, hold) + hold * growth[regime] +
                               GENERATED_STAY * worth[hold][regime] +
                               (1 - GENERATED_STAY) * worth[hold][!regime];
                rule.hold[held][regime] = of[1] > of[0];
                next[held][regime] = fmax(of[0], of[1]);
            }
        for (int i = 0; i < 4; i++)
            worth[i / 2][i % 2] = next[i / 2][i % 2];
    }
    return rule;
}

double generated_follow(const struct generated *generated, const struct generated_rule *rule, size_t start,
                        size_t bars)
{
    double wealth = 0;
    bool held = false;
    for (size_t row = start; row < start + bars; row++) {
        bool hold = rule->hold[held][generated->regime[row] > 0];
        wealth += cost_of(held, hold) + hold * log(generated->close[row + 1] / generated->open[row + 1]);
        held = hold;
    }
    return exp(wealth);
}

double generated_hindsight(const struct generated *generated, size_t start, size_t bars)
{
    double flat = 0, full = -INFINITY; /* the best log wealth that ends so */
    for (size_t row = start; row < start + bars; row++) {
        double bar = log(generated->close[row + 1] / generated->open[row + 1]);
        double next = fmax(flat, full + cost_of(true, false));
        full = fmax(full, flat + cost_of(false, true)) + bar;
        flat = next;
    }
    return exp(fmax(flat, full));
}
