/* Random venues and bars for the environment on the paper exchange: symbols with every kind of filter, prices
 * that jump over stops, bars that are missing. */
#ifndef TESTS_TRAINER_ENV_EXCHANGE_BARS_H
#define TESTS_TRAINER_ENV_EXCHANGE_BARS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/symbol.h"
#include "strategy/policy/symbol.h"
#include "tests/random.h"
#include "trainer/env/env.h"

enum { MADE_ASSETS = 5, MADE_ROWS = 400 };

#define MADE_UNIT     INT64_C(100000000)
#define MADE_INTERVAL (60 * INT64_C(1000000000))
#define MADE_START    (INT64_C(1723161240) * 1000000000)

/* Prices are integers at the symbols' scale of 8; the columns are the same in currency. */
struct made {
    int n;
    size_t rows;
    struct symbol symbols[MADE_ASSETS];
    int64_t bars[MADE_ASSETS][MADE_ROWS][4]; /* open, high, low, close */
    double columns[MADE_ASSETS][5][MADE_ROWS];
    uint64_t present[MADE_ASSETS][(MADE_ROWS + 63) / 64];
    double least[MADE_ASSETS];
    struct env_asset_source assets[MADE_ASSETS];
    struct env_market_source source;
};

static inline bool made_there(const struct made *made, int asset, size_t row)
{
    return made->present[asset][row / 64] >> (row % 64) & 1;
}

static inline void made_symbol(struct random *random, struct symbol *symbol, int asset)
{
    static const int64_t steps[] = {1, 1000, 100000, 3000, 12345};
    int64_t step = steps[random_between(random, 0, 4)];
    *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
    snprintf(symbol->name, sizeof symbol->name, "A%dUSDT", asset);
    snprintf(symbol->base, sizeof symbol->base, "A%d", asset);
    snprintf(symbol->quote, sizeof symbol->quote, "USDT");
    symbol->filters.step = step;
    symbol->filters.qty_min = random_chance(random, 60) ? step : step * random_between(random, 1, 9) + 17;
    if (random_chance(random, 20))
        symbol->filters.qty_max = symbol->filters.qty_min + step * random_between(random, 100, 10000);
    if (random_chance(random, 30)) {
        symbol->filters.market_qty_min = symbol->filters.qty_min + step * random_between(random, 0, 3);
        symbol->filters.market_step = step * random_between(random, 1, 3);
    } else if (random_chance(random, 20)) { /* counted from below all orders' least */
        symbol->filters.qty_min += step * random_between(random, 1, 50);
        symbol->filters.market_qty_min = symbol->filters.qty_min % step;
        symbol->filters.market_step = step * random_between(random, 20, 60);
    }
    symbol->filters.tick = random_chance(random, 20) ? 0 : MADE_UNIT / 100;
    symbol->filters.price_min = random_chance(random, 50) ? symbol->filters.tick : 0;
    if (random_chance(random, 70)) {
        symbol->filters.notional_min = random_between(random, 1, 10) * MADE_UNIT;
        symbol->filters.notional_min_market = random_chance(random, 80);
    }
    if (random_chance(random, 20)) {
        symbol->filters.notional_max = random_between(random, 200, 5000) * MADE_UNIT;
        symbol->filters.notional_max_market = random_chance(random, 70);
    }
}

/* A step of the walk: mostly small, now and then a jump through stops. */
static inline int64_t made_move(struct random *random, int64_t price, int e4)
{
    if (random_chance(random, 3))
        e4 *= 12;
    int64_t moved = price + price / 10000 * random_between(random, -e4, e4);
    return moved < MADE_UNIT / 20 ? MADE_UNIT / 20 : moved;
}

static inline void synthetic_bars(struct random *random, struct made *made, int asset, int missing_percent)
{
    int64_t price = random_between(random, 1, 60000) * MADE_UNIT / 10;
    bool ticks = random_chance(random, 70);
    for (size_t row = 0; row < made->rows; row++) {
        int64_t bar[4] = {made_move(random, price, 30), 0, 0, 0};
        bar[3] = made_move(random, bar[0], 80);
        if (random_chance(random, 10))
            bar[3] = bar[0];
        int64_t high = bar[0] > bar[3] ? bar[0] : bar[3], low = bar[0] < bar[3] ? bar[0] : bar[3];
        bar[1] = high + high / 10000 * random_between(random, 0, 60);
        bar[2] = low - low / 10000 * random_between(random, 0, 60);
        for (int k = 0; k < 4; k++) {
            bar[k] -= ticks ? bar[k] % (MADE_UNIT / 100) : 0;
            made->bars[asset][row][k] = bar[k];
            made->columns[asset][k][row] = (double)bar[k] / (double)MADE_UNIT;
        }
        made->columns[asset][4][row] = (double)random_between(random, 0, 1000);
        price = bar[3];
        if (row == 0 || !random_chance(random, missing_percent))
            made->present[asset][row / 64] |= UINT64_C(1) << (row % 64);
    }
}

static inline int64_t made_any_price(struct random *random)
{
    int bits = (int)random_between(random, 0, 49);
    return (INT64_C(1) << bits) + (int64_t)(random_next(random) & ((UINT64_C(1) << bits) - 1));
}

/* Prices of every size, from a unit to 2^50 of them, without a memory. */
static inline void made_wild(struct random *random, struct made *made)
{
    for (int i = 0; i < made->n; i++)
        for (size_t row = 0; row < made->rows; row++) {
            int64_t open = made_any_price(random),
                    close = random_chance(random, 50) ? open : made_any_price(random);
            int64_t bar[4] = {open, open > close ? open : close, open > close ? close : open, close};
            for (int k = 0; k < 4; k++) {
                made->bars[i][row][k] = bar[k];
                made->columns[i][k][row] = (double)bar[k] / (double)MADE_UNIT;
            }
        }
}

static inline void synthetic_market(struct random *random, struct made *made, int n, size_t rows)
{
    memset(made, 0, sizeof *made);
    made->n = n;
    made->rows = rows;
    int missing = random_chance(random, 50) ? 0 : (int)random_between(random, 1, 30);
    for (int i = 0; i < n; i++) {
        made_symbol(random, &made->symbols[i], i);
        synthetic_bars(random, made, i, missing);
        if (random_chance(random, 20)) /* of stops: somewhere near the first close */
            made->symbols[i].filters.price_max = made->bars[i][0][3] / 100 * random_between(random, 97, 103);
        made->least[i] = random_chance(random, 50) ? 0 : (double)random_between(random, 1, 100000) / 1e6;
        made->assets[i] = (struct env_asset_source){
            .name = made->symbols[i].base,
            .min_order_qty = made->least[i],
            .symbol = &made->symbols[i],
            .open = made->columns[i][0],
            .high = made->columns[i][1],
            .low = made->columns[i][2],
            .close = made->columns[i][3],
            .volume = made->columns[i][4],
            .present = made->present[i],
        };
    }
    made->source = (struct env_market_source){.rows = rows,
                                              .n_assets = n,
                                              .assets = made->assets,
                                              .start_ns = MADE_START,
                                              .interval_ns = MADE_INTERVAL};
}

static inline double made_share(struct random *random, int64_t low_e6, int64_t high_e6)
{
    return (double)random_between(random, low_e6, high_e6) / 1e6;
}

/* Every rule of the policy's, on and off. */
static inline void made_params(struct random *random, struct env_params *params)
{
    params->execution = ENV_MARKET;
    params->autoreset = ENV_NO_RESET;
    params->lookback = (int)random_between(random, 1, 6);
    params->norm_action = (double)random_between(random, 2, 60);
    params->trailing_stop_pct = random_chance(random, 30) ? 0 : made_share(random, 100, 50000);
    params->max_position_pct = random_chance(random, 50) ? 0 : made_share(random, 100000, 900000);
    params->min_cash_reserve = random_chance(random, 50) ? 0 : made_share(random, 10000, 400000);
    params->forced_exit_bars = random_chance(random, 40) ? 0 : (int)random_between(random, 1, 20);
    params->forced_exit_pct = made_share(random, 10000, 1000000);
    params->cooldown_bars = random_chance(random, 50) ? 0 : (int)random_between(random, 1, 8);
    double capital = (double)random_between(random, 1000, 5000000) / 100;
    double fee = random_chance(random, 20) ? 0 : made_share(random, 1, 20000);
    double slippage = random_chance(random, 40) ? 0 : made_share(random, 1, 5000);
    params->initial_capital = (struct env_range){capital, capital};
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){fee, fee};
    params->slippage_pct = (struct env_range){slippage, slippage};
    params->ruin = 0;
}

#endif
