/* The day-trade task on the paper exchange: what is ordered, that sessions end flat, and the reward from the
 * trades as they are reported. */
#include "exchange/symbol.h"
#include "tests/check.h"
#include "tests/random.h"
#include "trainer/env/env.h"

enum { ROWS = 500 };

static char err[ENV_ERROR_MAX];
static const int64_t minute = 60000000000;
static double prices[4][ROWS], volume[ROWS];
static uint64_t present[(ROWS + 63) / 64];

/* As symbol_default() has them; lots of 0.001, a least notional of 5. */
static struct symbol make_symbol(void)
{
    struct symbol symbol = {.name = "AUSDT",
                            .base = "A",
                            .quote = "USDT",
                            .price_scale = 8,
                            .qty_scale = 8,
                            .quote_scale = 8,
                            .trading = true};
    symbol.filters.price_min = symbol.filters.tick = 1000000;
    symbol.filters.qty_min = symbol.filters.step = 100000;
    symbol.filters.notional_min = 500000000;
    symbol.filters.notional_min_market = true;
    return symbol;
}

static void draw_bars(struct random *random, int gap_percent)
{
    double price = 10000; /* cents */
    memset(present, 0, sizeof present);
    for (int r = 0; r < ROWS; r++) {
        double open = price, close = price + (double)random_between(random, -60, 60);
        close = fmax(close, 500);
        prices[0][r] = open / 100;
        prices[1][r] = (fmax(open, close) + (double)random_between(random, 0, 30)) / 100;
        prices[2][r] = (fmin(open, close) - (double)random_between(random, 0, 30)) / 100;
        prices[3][r] = close / 100;
        volume[r] = 1;
        price = close;
        if (!random_chance(random, gap_percent))
            present[r / 64] |= UINT64_C(1) << (r % 64);
    }
    present[0] |= 1;
}

static bool is_there(int row)
{
    return present[row / 64] >> (row % 64) & 1;
}

/* Quantity and money of a step's trades. */
struct reported {
    int n;
    double qty, entry, realised, bought;
    double first_price;
};

static void add_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct reported *reported = ctx;
    (void)copy;
    if (trade->qty > 0) {
        reported->entry = (reported->entry * reported->qty + trade->qty * trade->price + trade->fee) /
                          (reported->qty + trade->qty);
        reported->bought += trade->qty;
    } else {
        reported->realised += -trade->qty * trade->price - trade->fee + trade->qty * reported->entry;
    }
    reported->first_price = reported->n++ == 0 ? trade->price : reported->first_price;
    reported->qty += trade->qty;
    if (!(reported->qty > 1e-9))
        reported->qty = reported->entry = 0;
}

struct account {
    double equity, cash, fees, qty;
    int32_t row;
};

static void look(const struct env *env, struct account *ret)
{
    const struct env_info info = {
        .equity = &ret->equity, .cash = &ret->cash, .fees = &ret->fees, .row = &ret->row};
    env_info(env, &info);
    env_positions(env, 0, &ret->qty, NULL, NULL);
}

static void draw_params(struct random *random, struct env_params *params)
{
    CHECK_INT(env_params_preset("day-trade", params, err), 0);
    params->execution = ENV_MARKET;
    params->shorts = false;
    params->lookback = 1;
    params->norm_reward = 1;
    params->autoreset = ENV_NO_RESET;
    params->trailing_stop_pct = random_chance(random, 40) ? 0.01 : 0;
    params->slippage_pct.low = params->slippage_pct.high = random_chance(random, 50) ? 0.0005 : 0;
    params->forced_exit_bars = random_chance(random, 30) ? 3 : 0;
    params->max_position_pct = random_chance(random, 30) ? 0.5 : 0;
    params->trend_bars = 5;
    params->session_close_s = 5 * 3600;
    params->weight_trend = 2;
    params->weight_step = 3;
}

static void test_run(struct random *random, int gap_percent, unsigned long *ret_sessions,
                     unsigned long *ret_trades)
{
    struct symbol symbol = make_symbol();
    struct env_params params;
    struct env_market *market = NULL;
    struct env *env = NULL;
    draw_params(random, &params);
    draw_bars(random, gap_percent);
    const struct env_asset_source asset = {.name = "A",
                                           .symbol = &symbol,
                                           .open = prices[0],
                                           .high = prices[1],
                                           .low = prices[2],
                                           .close = prices[3],
                                           .volume = volume,
                                           .present = present};
    const struct env_market_source source = {
        .rows = ROWS, .n_assets = 1, .assets = &asset, .interval_ns = 5 * minute};
    const struct env_options options = {.copies = 1, .backend = ENV_SCALAR};
    CHECK_INT(env_market_create(&source, &params, &market, err), 0);
    if (market)
        CHECK_INT(env_create(&params, market, &options, &env, err), 0);
    if (!env) {
        fprintf(stderr, "%s\n", err);
        env_market_destroy(market);
        return;
    }
    struct reported reported = {0};
    struct account before, now;
    double day_equity = 1000;
    float reward, action[2] = {0, 0};
    uint8_t terminated = 0, truncated = 0;
    unsigned long wrong = 0;
    CHECK_INT(env_trades(env, add_trade, &reported), 0);
    look(env, &now);
    while (!terminated && !truncated) {
        before = now;
        if (random_chance(random, 30)) {
            action[0] = (float)random_between(random, -1000, 1000) / 1000;
            action[1] = (float)random_between(random, 0, 1000) / 1000;
        }
        reported = (struct reported){.qty = reported.qty, .entry = reported.entry};
        double held = reported.qty;
        const struct env_io io = {
            .actions = action, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
        CHECK_INT(env_step(env, &io, err), 0);
        look(env, &now);
        int64_t end_s = ((int64_t)now.row + 1) * 300;
        bool ends = end_s % 86400 == 5 * 3600; /* UTC, from 1970 on */
        double close = 0;
        for (int r = now.row; r >= 0 && close == 0; r--)
            close = is_there(r) ? prices[3][r] : 0;
        if (ends && is_there(now.row) && is_there(now.row - 1)) { /* sold at its open, except dust */
            wrong += now.qty * close >= 5.1 ||
                     (reported.n > 0 && held > 0.1 && reported.first_price > prices[0][now.row] * 1.0001);
            ++*ret_sessions;
        }
        if (reported.bought > 0 &&
            is_there(before.row)) { /* not more than was asked for, nor than there was */
            double price = prices[3][before.row], wanted = (double)action[1] * before.equity / price;
            wrong += !(action[0] > 0.3f) || reported.bought > wanted + 1e-9;
            wrong += reported.bought > before.cash / (1.0025 * price) + 1e-9;
            if (reported.n == 1 && params.max_position_pct == 0 && params.forced_exit_bars == 0 &&
                wanted < 0.9 * before.cash / price)
                wrong += reported.bought < wanted - 0.0010001;
        }
        wrong += fabs(reported.qty - now.qty) > 1e-9 || now.cash < 0;
        *ret_trades += (unsigned long)reported.n;
        int back = now.row < 5 ? now.row : 5;
        double past = 0;
        for (int r = now.row - back; r >= 0 && past == 0; r--)
            past = is_there(r) ? prices[3][r] : 0;
        double trend = held * close / now.equity * ((double)(float)close / (double)(float)past - 1);
        double expected = now.equity / before.equity - 1 + 3 * reported.realised / 1000 + 2 * fmax(trend, 0);
        expected += ends ? now.equity / day_equity - 1 : 0;
        if (!(fabs(expected - (double)reward) <= 1e-6 * fabs(expected) + 1e-8)) {
            fprintf(stderr, "row %d: reward %.9g, not %.9g\n", now.row, (double)reward, expected);
            wrong++;
        }
        day_equity = ends ? now.equity : day_equity;
    }
    CHECK_INT(wrong, 0);
    env_destroy(env);
    env_market_destroy(market);
}

int main(void)
{
    struct random random = random_seeded("env_day_market", 20261122);
    unsigned long sessions = 0, trades = 0;
    for (int run = getenv("PAPERTAPE_LONG") ? 400 : 40; run > 0; run--)
        test_run(&random, run % 2 ? 0 : 10, &sessions, &trades);
    printf("%lu ends of sessions, %lu trades\n", sessions, trades);
    CHECK(sessions > 40 && trades > 400);
    return check_done("env_day_market");
}
