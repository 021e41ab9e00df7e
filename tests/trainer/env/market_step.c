/* The environment on the paper exchange, computed by hand. A coin is 100 quanta, prices and money are in
 * cents, so price * quanta / 100 is money. Prices are 100.00 where nothing else is said, the account has
 * 1,000.00, an action of 1 is 100.00 worth: 100 quanta. */
#include "strategy/policy/symbol.h"
#include "tests/check.h"
#include "trainer/env/internal.h"
#include "trainer/env/scalar/market.h"

enum { ROWS = 24, ASSETS = 2, REPORTED_MAX = 16 };

static struct scene {
    struct env_params params;
    struct symbol symbol;
    double bars[ASSETS][4][ROWS], volume[ROWS];
    uint64_t present[ASSETS];
    struct env_market *market;
    struct env *env;
    struct env_trade reported[REPORTED_MAX]; /* of the last step */
    int n_reported;
    float reward;
    uint8_t terminated, truncated;
} scene;

static void bar(int asset, int row, double open, double high, double low, double close)
{
    scene.bars[asset][0][row] = open;
    scene.bars[asset][1][row] = high;
    scene.bars[asset][2][row] = low;
    scene.bars[asset][3][row] = close;
}

static void missing(int asset, int row)
{
    scene.present[asset] &= ~(UINT64_C(1) << row);
}

static void new_scene(void)
{
    char err[ENV_ERROR_MAX];
    memset(&scene, 0, sizeof scene);
    for (int i = 0; i < ASSETS; i++) {
        scene.present[i] = UINT64_MAX;
        for (int row = 0; row < ROWS; row++)
            bar(i, row, 100, 100, 100, 100);
    }
    scene.symbol = (struct symbol){.name = "COINUSD",
                                   .base = "COIN",
                                   .quote = "USD",
                                   .price_scale = 2,
                                   .qty_scale = 3,
                                   .quote_scale = 2,
                                   .trading = true};
    scene.symbol.filters = (struct symbol_filters){.price_min = 5,
                                                   .tick = 5,
                                                   .qty_min = 10,
                                                   .step = 10,
                                                   .notional_min = 500,
                                                   .notional_min_market = true};
    CHECK_INT(env_params_preset("cappuccino", &scene.params, err), 0);
    scene.params.autoreset = ENV_NO_RESET;
    scene.params.lookback = 1;
    scene.params.norm_action = 10;
    scene.params.initial_capital = (struct env_range){1000, 1000};
    scene.params.buy_cost_pct = scene.params.sell_cost_pct = (struct env_range){0.001, 0.001};
    scene.params.slippage_pct = (struct env_range){0, 0};
    scene.params.trailing_stop_pct = scene.params.max_position_pct = scene.params.min_cash_reserve = 0;
    scene.params.forced_exit_bars = scene.params.cooldown_bars = 0;
    scene.params.concentration_penalty = 0;
    scene.params.ruin = 0;
}

static void on_reported(void *ctx, size_t copy, const struct env_trade *trade)
{
    (void)ctx;
    CHECK_INT(copy, 0);
    CHECK(scene.n_reported < REPORTED_MAX);
    if (scene.n_reported < REPORTED_MAX)
        scene.reported[scene.n_reported++] = *trade;
}

static void open_scene(int n)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_asset_source assets[ASSETS];
    for (int i = 0; i < n; i++)
        assets[i] = (struct env_asset_source){.name = "COIN",
                                              .symbol = &scene.symbol,
                                              .open = scene.bars[i][0],
                                              .high = scene.bars[i][1],
                                              .low = scene.bars[i][2],
                                              .close = scene.bars[i][3],
                                              .volume = scene.volume,
                                              .present = &scene.present[i]};
    const struct env_market_source source = {
        .rows = ROWS, .n_assets = n, .assets = assets, .interval_ns = 60000000000};
    const struct env_options options = {.copies = 1, .backend = ENV_SCALAR};
    if (env_market_create(&source, &scene.params, &scene.market, err) < 0 ||
        env_create(&scene.params, scene.market, &options, &scene.env, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    CHECK_INT(env_trades(scene.env, on_reported, NULL), 0);
}

static void close_scene(void)
{
    env_destroy(scene.env);
    env_market_destroy(scene.market);
}

static void step2(float first, float second)
{
    char err[ENV_ERROR_MAX];
    const float actions[ASSETS] = {first, second};
    scene.n_reported = 0;
    CHECK_INT(env_step(scene.env,
                       &(struct env_io){.actions = actions,
                                        .rewards = &scene.reward,
                                        .terminated = &scene.terminated,
                                        .truncated = &scene.truncated},
                       err),
              0);
}

static void step(float action)
{
    step2(action, 0);
}

static double money(const void *column)
{
    return *(const double *)column;
}

#define CASH              money(scene.env->view.state.cash)
#define EQUITY            money(scene.env->view.state.equity)
#define FEES              money(scene.env->view.state.fees)
#define OF(column, asset) scene.env->view.state.column[(size_t)(asset)*scene.env->view.state.stride]

/* Cents and quanta, as they are counted. */
static void traded(int k, int row, int asset, double quanta, double cents, double fee, bool at_open)
{
    CHECK(k < scene.n_reported);
    if (k >= scene.n_reported)
        return;
    const struct env_trade *trade = &scene.reported[k];
    CHECK_INT(trade->row, row);
    CHECK_INT(trade->asset, asset);
    CHECK_INT(llround(trade->qty * 100), quanta);
    CHECK_INT(llround(trade->price * 100), cents);
    CHECK_INT(llround(trade->fee * 100), fee);
    CHECK_INT(trade->at_open, at_open);
}

static void has(double cash, double lots)
{
    CHECK_INT(CASH, cash);
    CHECK_INT(OF(lots, 0), lots);
}

static void test_orders(void)
{
    new_scene();
    bar(0, 1, 101, 103, 100, 102);
    bar(0, 2, 102.53, 103, 102, 102.01);
    open_scene(1);
    has(100000, 0);
    CHECK_INT(OF(m_scale, 0), 100); /* 100000 cents * 100 / (10000 * 10) */
    step(2);
    /* 200 * 10100 / 100 = 20200; the fee ceil(20.2) = 21 */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 1, 0, 200, 10100, 21, true);
    has(79779, 200);
    CHECK_INT(EQUITY, 79779 + 20400);
    step(-0.37f);
    /* 0.37 in float is 0.37000000477: 37.0000005, floored to 37 quanta; floor(37 * 10253 / 100 = 3793.61) =
     * 3793, the fee ceil(3.793) = 4 */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 2, 0, -37, 10253, 4, true);
    has(79779 + 3793 - 4, 163);
    CHECK_INT(EQUITY, 83568 + 16627); /* floor(163 * 10201 / 100 = 16627.63) */
    CHECK_INT(FEES, 25);
    CHECK_INT(scene.env->view.state.buys[0], 1);
    CHECK_INT(scene.env->view.state.sells[0], 1);
    step(-1000); /* no more than is held: 163 * 100 = 16300, less ceil(16.3) = 17 */
    has(83568 + 16283, 0);
    step(-1000);
    CHECK_INT(scene.n_reported, 0);
    close_scene();
}

static void test_slippage(void)
{
    new_scene();
    bar(0, 1, 100.01, 100.01, 100.01, 100.01);
    bar(0, 2, 100.01, 100.01, 100.01, 100.01);
    scene.params.slippage_pct = (struct env_range){0.003, 0.003};
    scene.params.buy_cost_pct = (struct env_range){0.002, 0.002};
    open_scene(1);
    step(1); /* 10001 * 0.003 = 30.003, up to 31: 10032, up to the tick of 5: 10035; fee ceil(20.07) */
    traded(0, 1, 0, 100, 10035, 21, true);
    step(-1); /* 10001 - 31 = 9970, which is on the tick; fee ceil(9.97) */
    traded(0, 2, 0, -100, 9970, 10, true);
    has(100000 - 10035 - 21 + 9970 - 10, 0);
    close_scene();
}

/* A coin bought at row 1, where the close is 110: the stop of 5 % rests at 104.50 from row 2 on. */
static void hold_a_coin(void)
{
    new_scene();
    scene.params.trailing_stop_pct = 0.05;
    bar(0, 1, 100, 110, 50, 110); /* nothing rests yet that the low could reach */
}

static void held_a_coin(int n)
{
    open_scene(n);
    step(1);
    CHECK_INT(scene.n_reported, 1);
    has(100000 - 10010, 100);
    CHECK_INT(OF(stop, 0), 0);
}

static void test_stop_inside(void)
{
    hold_a_coin();
    bar(0, 2, 109, 112, 104.55, 108); /* a tick above; the peak is of closes: it stays 110 */
    bar(0, 3, 106, 107, 104.5, 105);
    held_a_coin(1);
    step(0);
    CHECK_INT(OF(stop, 0), 10450);
    CHECK_INT(OF(stop_qty, 0), 100);
    CHECK_INT(scene.n_reported, 0);
    step(0);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 3, 0, -100, 10450, 11, false);
    has(89990 + 10450 - 11, 0);
    CHECK_INT(OF(stop, 0), 0);
    close_scene();
}

static void test_stop_at_the_open(void)
{
    hold_a_coin();
    bar(0, 2, 103, 120, 101, 115); /* a gap through it: the open, however good the rest */
    held_a_coin(1);
    step(-0.5f); /* the older stop sells all; the sale of 50 finds nothing */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 2, 0, -100, 10300, 11, true);
    has(89990 + 10300 - 11, 0);
    CHECK_INT(OF(waiting, 0), 0);
    CHECK_INT(scene.env->view.state.sells[0], 1);
    close_scene();

    hold_a_coin();
    bar(0, 2, 104.5, 105, 104, 105); /* reached exactly; a waiting purchase starts a new position after it */
    held_a_coin(1);
    step(0.5f);
    CHECK_INT(scene.n_reported, 2);
    traded(0, 2, 0, -100, 10450, 11, true);
    traded(1, 2, 0, 50, 10450, 6, true); /* 5225, ceil(5.225) */
    close_scene();
}

static void test_stop_and_sale(void)
{
    hold_a_coin();
    bar(0, 2, 108, 108, 104, 104.2);
    held_a_coin(1);
    step(-0.4f); /* 40 at the open, then the low finds the stop: what is left, not the 100 it was for */
    CHECK_INT(scene.n_reported, 2);
    traded(0, 2, 0, -40, 10800, 5, true);
    traded(1, 2, 0, -60, 10450, 7, false);
    has(89990 + 4320 - 5 + 6270 - 7, 0);
    close_scene();

    hold_a_coin();
    bar(0, 2, 108, 108, 104, 104.2);
    held_a_coin(1);
    step(1); /* a hundred more at the open: the stop is for the first hundred */
    CHECK_INT(scene.n_reported, 2);
    traded(0, 2, 0, 100, 10800, 11, true);
    traded(1, 2, 0, -100, 10450, 11, false);
    has(89990 - 10811 + 10439, 100);
    CHECK_INT(OF(stop, 0), 0);
    /* the close of 104.20 is below where the stop of the rest belongs: it is sold at market */
    bar(0, 3, 100, 100, 100, 100);
    step(5);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 3, 0, -100, 10000, 10, true);
    close_scene();
}

static void test_stop_follows(void)
{
    hold_a_coin();
    bar(0, 2, 110, 120.33, 110, 120.33); /* 12033 * 0.95 = 11431.35, floored to the tick: 11430 */
    bar(0, 3, 118, 118, 116, 116);
    bar(0, 4, 116, 116, 114.3, 115);
    held_a_coin(1);
    step(0);
    step(0);
    CHECK_INT(OF(stop, 0), 11430);
    step(0);
    traded(0, 4, 0, -100, 11430, 12, false);
    close_scene();
}

/* A stop beyond the venue's largest price leaves the one that rests; market orders have no price. */
static void test_largest_price(void)
{
    hold_a_coin();
    scene.symbol.filters.price_max = 11425;
    bar(0, 2, 110, 120.33, 110, 120.33);
    bar(0, 3, 118, 118, 104.55, 116);
    held_a_coin(1);
    step(0);
    CHECK_INT(OF(stop, 0), 10450);
    step(0.1f); /* the stop would be at 114.30 */
    CHECK_INT(OF(stop, 0), 10450);
    CHECK_INT(OF(stop_qty, 0), 100);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 3, 0, 10, 11800, 2, true);
    close_scene();
}

static void test_cut(void)
{
    new_scene();
    bar(0, 1, 105, 105, 105, 105);
    open_scene(1);
    /* 100000 * 0.99 / 1.001 / 100 = 989.01 quanta are asked for. At 105.00: 100000 / 1.001 = 99900 in whole
     * cents, * 100 / 10500 = 951.4; 951 cost 99855 and ceil(99.855) = 100. */
    step(1000);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 1, 0, 951, 10500, 100, true);
    has(100000 - 99955, 951);
    close_scene();
}

static void test_missing(void)
{
    new_scene();
    missing(0, 1);
    missing(0, 2);
    bar(0, 1, 1, 1, 1, 1); /* not read */
    bar(0, 3, 90, 90, 90, 90);
    open_scene(2);
    step2(3, 9);
    /* the first asset's 300 wait, with 30000 + 30 in reserve; of 69970 the second asks for 69970 * 0.99 /
     * 1.001 / 100 = 692.01 */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 1, 1, 692, 10000, 70, true);
    CHECK_INT(OF(waiting, 0), 300);
    CHECK_INT(OF(reserved, 0), 30030);
    CHECK_INT(CASH, 100000 - 69270);
    CHECK_INT(env_market_mask(&scene.env->view, 0, 0), 0); /* it waits */
    CHECK_INT(env_market_mask(&scene.env->view, 0, 1), 3);
    step2(5, 9); /* nothing is decided of it; the second may spend 700 * 0.99 / 1.001 / 100: 6.92 */
    CHECK_INT(OF(waiting, 0), 300);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 2, 1, 6, 10000, 1, true);
    step2(-1, 0); /* the bar is back; the order is the one that waited */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 3, 0, 300, 9000, 27, true);
    CHECK_INT(CASH, 100000 - 69270 - 601 - 27027);
    CHECK_INT(OF(reserved, 0), 0);
    CHECK_INT(EQUITY, CASH + 300 * 90 + 698 * 100);
    close_scene();
}

static void test_missing_stop(void)
{
    hold_a_coin();
    missing(0, 3);
    bar(0, 3, 1, 1, 1, 1);
    bar(0, 4, 105, 105, 104.5, 104.6);
    for (int row = 2; row < 4; row++)
        bar(0, row, 110, 110, 110, row == 3 ? 1 : 110);
    held_a_coin(1);
    step(0);
    step(-1); /* asked for at row 2, before the gap: 100 at the open of row 4; flat, the stop ends */
    CHECK_INT(scene.n_reported, 0);
    CHECK_INT(OF(stop, 0), 10450);
    CHECK_INT(EQUITY, 89990 + 11000); /* at the last close */
    CHECK_INT(OF(m_held, 0), 2);
    step(0);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 4, 0, -100, 10500, 11, true);
    CHECK_INT(OF(stop, 0), 0);
    close_scene();
}

static void test_notional(void)
{
    new_scene();
    open_scene(1);
    step(0.051f); /* 5 quanta, 5.00: the rule wants a cent more than the venue */
    CHECK_INT(scene.n_reported, 0);
    step(0.061f);
    traded(0, 2, 0, 6, 10000, 1, true);
    step(-0.051f);
    CHECK_INT(scene.n_reported, 0);
    has(100000 - 601, 6);
    close_scene();
}

static void test_dust(void)
{
    new_scene();
    scene.symbol.filters.notional_min = 499;
    scene.params.trailing_stop_pct = 0.05;
    scene.params.max_position_pct = 1;
    bar(0, 2, 100, 100, 60, 60);
    for (int row = 3; row < ROWS; row++)
        bar(0, row, 60, 60, 60, 60);
    open_scene(1);
    step(0.051f); /* 5 quanta: 500 */
    has(100000 - 501, 5);
    /* the stop would be at 95.00, worth 475: less than the venue takes; so none rests */
    step(0);
    CHECK_INT(OF(stop, 0), 0);
    CHECK_INT(scene.n_reported, 0);
    has(99499, 5);
    /* at 60.00 it is dust: it is below where its stop belongs, but cannot be sold, and bars nothing */
    CHECK_INT(env_market_mask(&scene.env->view, 0, 0), 1);
    step(-1);
    CHECK_INT(scene.n_reported, 0);
    step(1);
    traded(0, 4, 0, 100, 6000, 6, true);
    CHECK_INT(OF(m_peak, 0), 6000); /* a new purchase restarts it */
    step(0);
    CHECK_INT(scene.n_reported, 0);
    CHECK_INT(OF(stop, 0), 5700);
    CHECK_INT(OF(stop_qty, 0), 105);
    close_scene();
}

static void test_cooldown(void)
{
    new_scene();
    scene.params.cooldown_bars = 2;
    open_scene(1);
    step(1);
    step(-1); /* flat from row 2 on, seen at its close */
    has(100000 - 20, 0);
    step(1); /* decided at row 2: not yet */
    CHECK_INT(env_market_mask(&scene.env->view, 0, 0), 0);
    step(1); /* at row 3: not yet */
    CHECK_INT(scene.n_reported, 0);
    CHECK_INT(env_market_mask(&scene.env->view, 0, 0), 1);
    step(1);
    CHECK_INT(scene.n_reported, 1);
    close_scene();
}

static void test_cap(void)
{
    new_scene();
    scene.params.max_position_pct = 0.3;
    open_scene(1);
    step(10); /* 30 % of 100000 are 300 quanta */
    CHECK_INT(OF(lots, 0), 300);
    step(10); /* equity is 99970: 299.91 - 300 is less than nothing */
    CHECK_INT(scene.n_reported, 0);
    close_scene();
}

static void test_reserve(void)
{
    new_scene();
    scene.params.min_cash_reserve = 0.4;
    open_scene(1);
    step(10); /* 60000 * 0.99 / 1.001 / 100 = 593.4 */
    CHECK_INT(OF(lots, 0), 593);
    close_scene();
}

static void test_forced_exit(void)
{
    new_scene();
    scene.params.forced_exit_bars = 3;
    scene.params.forced_exit_pct = 0.25;
    open_scene(1);
    step(4); /* held at the closes of rows 1, 2, 3: then a quarter goes at row 4's open */
    step(0);
    step(0);
    CHECK_INT(OF(lots, 0), 400);
    step(0);
    CHECK_INT(scene.n_reported, 1);
    traded(0, 4, 0, -100, 10000, 10, true);
    step(0); /* the count restarts: 1, 2, 3 at rows 4, 5, 6 */
    step(0);
    CHECK_INT(OF(lots, 0), 300);
    step(1); /* a purchase of the same bar nets with it: 100 - 75 */
    CHECK_INT(scene.n_reported, 1);
    traded(0, 7, 0, 25, 10000, 3, true);
    close_scene();
}

/* Alpha, absolute gain and cash bonus of docs/environment.md by its formulas. */
static void test_reward(void)
{
    new_scene();
    bar(0, 1, 100, 100, 90, 90);
    scene.params.norm_reward = 4;
    scene.params.time_decay_floor = 1;
    scene.params.weight_alpha = 0.5;
    scene.params.weight_absolute = 0.3;
    scene.params.weight_cash = 0.2;
    open_scene(1);
    double before = money(scene.env->view.state.benchmark), bought = 1000 / 1.001;
    CHECK_NEAR(before, 100 * bought, 1e-6);
    step(2);
    /* equity 100000 - 20020 + 200 * 90 = 97980, which is 20.20 less; the benchmark loses a tenth */
    CHECK_INT(EQUITY, 97980);
    double alpha = (-20.20 + 0.1 * bought) * 4, absolute = -20.20 / 1000 * 4;
    double bonus = 0.1 * (79980.0 / 97980) * 4 * 0.1;
    CHECK_NEAR(scene.reward, 0.5 * alpha + 0.3 * absolute + 0.2 * bonus, 1e-4);
    CHECK_NEAR(scene.env->view.state.drawdown[0], 0.0202, 1e-7);
    close_scene();
}

/* Of 1000.00 a loss of 20.20, then a gain: by 2 and 5 * norm 4 * capital 1000. */
static void test_risk(void)
{
    new_scene();
    bar(0, 1, 100, 100, 90, 90);
    bar(0, 2, 95, 95, 95, 95);
    scene.params.norm_reward = 4;
    scene.params.weight_alpha = scene.params.weight_absolute = scene.params.weight_cash = 0;
    scene.params.drawdown_penalty = 2;
    scene.params.volatility_penalty = 5;
    open_scene(1);
    step(2);
    CHECK_INT(EQUITY, 97980);
    CHECK_NEAR(scene.reward, -8000 * 0.0202 - 20000 * 0.0202 * 0.0202, 1e-4);
    step(0);
    CHECK_INT(EQUITY, 98980);
    CHECK_NEAR(scene.reward, -20000 * (1000.0 / 97980) * (1000.0 / 97980), 1e-6);
    close_scene();
}

static void test_ruin(void)
{
    new_scene();
    bar(0, 2, 40, 40, 40, 40);
    scene.params.ruin = 0.5;
    open_scene(1);
    step(1000);
    CHECK(!scene.terminated);
    step(0);
    CHECK(scene.terminated && !scene.truncated);
    double cash = CASH;
    step(1); /* it rests */
    CHECK_INT(CASH, cash);
    CHECK(!scene.terminated && scene.reward == 0);
    close_scene();
}

/* 1e9 times the price: what is held is beyond exact numbers, and the episode is over. */
static void test_too_much(void)
{
    new_scene();
    bar(0, 2, 1e11, 1e11, 1e11, 1e11);
    scene.params.initial_capital = (struct env_range){1e6, 1e6};
    open_scene(1);
    step(5);
    CHECK(!scene.terminated);
    step(0);
    CHECK(scene.terminated);
    CHECK(EQUITY >= POLICY_EXACT_MAX);
    close_scene();
}

int main(void)
{
    test_orders();
    test_slippage();
    test_stop_inside();
    test_stop_at_the_open();
    test_stop_and_sale();
    test_stop_follows();
    test_largest_price();
    test_cut();
    test_missing();
    test_missing_stop();
    test_notional();
    test_dust();
    test_cooldown();
    test_cap();
    test_reserve();
    test_forced_exit();
    test_reward();
    test_risk();
    test_ruin();
    test_too_much();
    return check_done("market_step");
}
