/* The rules of execution reference, computed by hand: an action of 1 is worth 100 at the first close, fees
 * are 1 %, a sale's and a purchase's numbers are written out. By each backend that this processor has. */
#include "tests/check.h"
#include "trainer/env/env.h"
#include "trainer/env/finish.h"

enum { ASSETS = 3, ROWS = 12 };

static enum env_backend backend;
static struct scene {
    double close[ASSETS][ROWS], volume[ROWS];
    struct env_asset_source assets[ASSETS];
    struct env_params params;
    struct env_market *market;
    struct env *env;
    float reward;
    uint8_t terminated, truncated;
    double cash, equity, benchmark, fees, drawdown, exposure, qty[ASSETS], held[ASSETS], peak[ASSETS];
    int32_t row, buys, sells;
} scene;

/* All closes are 10, 1000 in cash, everything optional is off. */
static void begin(void)
{
    char err[ENV_ERROR_MAX];
    scene = (struct scene){0};
    CHECK_INT(env_params_preset("reference", &scene.params, err), 0);
    struct env_params *p = &scene.params;
    p->lookback = 1;
    p->norm_action = 10;
    p->norm_reward = 1;
    p->buy_cost_pct = p->sell_cost_pct = (struct env_range){0.01, 0.01};
    p->forced_exit_bars = 0;
    p->final_return = false;
    p->autoreset = ENV_NO_RESET;
    for (int i = 0; i < ASSETS; i++) {
        for (int r = 0; r < ROWS; r++)
            scene.close[i][r] = 10;
        scene.assets[i] = (struct env_asset_source){
            .name = &"ABC"[i], .min_order_qty = 1, .close = scene.close[i], .volume = scene.volume};
    }
}

/* From `row` on. */
static void price(int asset, int row, double close)
{
    for (int r = row; r < ROWS; r++)
        scene.close[asset][r] = close;
}

static void read_account(void)
{
    struct env_info info = {.equity = &scene.equity,
                            .cash = &scene.cash,
                            .benchmark = &scene.benchmark,
                            .fees = &scene.fees,
                            .drawdown = &scene.drawdown,
                            .exposure = &scene.exposure,
                            .row = &scene.row,
                            .buys = &scene.buys,
                            .sells = &scene.sells};
    env_info(scene.env, &info);
    env_positions(scene.env, 0, scene.qty, scene.held, scene.peak);
}

static void open_scene(int n)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_market_source source = {
        .rows = ROWS, .n_assets = n, .assets = scene.assets, .interval_ns = 60000000000};
    struct env_options options = {.copies = 1, .backend = backend};
    if (env_market_create(&source, &scene.params, &scene.market, err) < 0 ||
        env_create(&scene.params, scene.market, &options, &scene.env, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    read_account();
}

static void close_scene(void)
{
    env_destroy(scene.env);
    env_market_destroy(scene.market);
}

static void step3(float a, float b, float c)
{
    char err[ENV_ERROR_MAX] = "";
    float actions[ASSETS] = {a, b, c};
    struct env_io io = {.actions = actions,
                        .rewards = &scene.reward,
                        .terminated = &scene.terminated,
                        .truncated = &scene.truncated};
    CHECK_INT(env_step(scene.env, &io, err), 0);
    read_account();
}

static void step(float action)
{
    step3(action, 0, 0);
}

static void account(double cash, double equity, double fees, int buys, int sells)
{
    CHECK_NEAR(scene.cash, cash, 1e-4);
    CHECK_NEAR(scene.equity, equity, 1e-4);
    CHECK_NEAR(scene.fees, fees, 1e-5);
    CHECK_INT(scene.buys, buys);
    CHECK_INT(scene.sells, sells);
}

static void position(int asset, double qty, double held, double peak)
{
    CHECK_NEAR(scene.qty[asset], qty, 1e-5);
    CHECK_NEAR(scene.held[asset], held, 0);
    CHECK_NEAR(scene.peak[asset], peak, 1e-5);
}

static void test_reset(void)
{
    begin();
    price(0, 1, 20); /* what an action is worth and the benchmark follow from row 0 alone */
    open_scene(2);
    account(1000, 1000, 0, 0, 0);
    CHECK_INT(scene.row, 0);
    CHECK_NEAR(scene.benchmark, 990.0990099, 1e-4); /* 2 * 500 / 10.1 * 10 */
    step(0);
    CHECK_NEAR(scene.benchmark, 1485.1485149, 1e-4);
    close_scene();
}

static void test_buy_hold_sell(void)
{
    begin();
    price(0, 4, 12);
    open_scene(1);
    step(2); /* 20 units for 200 and 2 of fees */
    account(798, 998, 2, 1, 0);
    position(0, 20, 0, 10);
    CHECK_NEAR(scene.exposure, 200.0 / 998, 1e-6);
    step(0);
    position(0, 20, 1, 10);
    step(0);
    position(0, 20, 2, 10);
    step(-1); /* 10 units at 12 for 120 less 1.2; the count begins again; without a stop there is no peak to
                 follow */
    account(916.8, 1036.8, 3.2, 1, 1);
    position(0, 10, 0, 10);
    step(1); /* more of it: neither count nor peak restarts, and the count continues */
    position(0, 20, 1, 10);
    step(-50); /* all */
    position(0, 0, 0, 0);
    account(916.8 - 121.2 + 237.6, 1033.2, 3.2 + 1.2 + 2.4, 2, 2);
    step(-1); /* nothing to sell */
    CHECK_INT(scene.sells, 2);
    close_scene();
}

static void test_least(void)
{
    begin();
    scene.assets[0].min_order_qty = 10;
    open_scene(1);
    step(1); /* 10 units are not more than 10 */
    CHECK_INT(scene.buys, 0);
    step(1.25f);
    position(0, 12.5, 0, 10);
    step(-1);
    CHECK_INT(scene.sells, 0);
    step(-1.125f);
    position(0, 1.25, 0, 10);
    step(-1.125f); /* the rest, which is less than the least */
    position(0, 0, 0, 0);
    CHECK_INT(scene.sells, 2);
    close_scene();
}

static void test_cash_is_short(void)
{
    begin();
    scene.assets[2].min_order_qty = 2;
    open_scene(3);
    step3(20, 20, 20); /* 2000 each, of 1000: 99 % of what is there, and so on */
    position(0, 98.0198020, 0, 10);
    position(1, 0, 0, 0); /* 0.98 would be below its least */
    CHECK_INT(scene.buys, 1);
    CHECK_NEAR(scene.cash, 10, 1e-4);
    close_scene();
}

static void test_later_assets_see_what_is_left(void)
{
    begin();
    scene.assets[1].min_order_qty = 0;
    open_scene(2);
    step3(20, 20, 0);
    position(0, 98.0198020, 0, 10);
    position(1, 0.98019802, 0, 10);
    CHECK_NEAR(scene.cash, 0.1, 1e-4);
    CHECK_INT(scene.buys, 2);
    step3(20, -20, 0); /* sales come first: asset 0 buys with what asset 1 brought */
    position(1, 0, 0, 0);
    CHECK_NEAR(scene.qty[0], 98.0198020,
               1e-4); /* (0.1 + 9.7039604) * 0.99 / 10.1 = 0.96098: below its least */
    CHECK_INT(scene.sells, 1);
    close_scene();
}

static void test_sales_pay_for_purchases(void)
{
    begin();
    open_scene(2);
    step3(0, 9, 0); /* 90 units: 909 of 1000 */
    CHECK_NEAR(scene.cash, 91, 1e-4);
    step3(5, -9, 0); /* 900 less 9 come in, 505 go out */
    position(0, 50, 0, 10);
    position(1, 0, 0, 0);
    CHECK_NEAR(scene.cash, 477, 1e-4);
    close_scene();
}

static void test_trailing_stop(void)
{
    begin();
    scene.params.trailing_stop_pct = 0.25;
    price(0, 2, 20);
    price(0, 3, 15); /* 20 * 0.75: not below */
    price(0, 4, 16);
    price(0, 5, 14.5);
    open_scene(1);
    step(2);
    position(0, 20, 0, 10);
    step(0);
    position(0, 20, 1, 20);
    step(0);
    position(0, 20, 2, 20);
    step(0);
    position(0, 20, 3, 20);
    step(1); /* sold at 14.5, and bought again in the same step with 10 units */
    position(0, 10, 0, 14.5);
    account(798 + 290 * 0.99 - 145 * 1.01, 938.65 + 145, 2 + 2.9 + 1.45, 2, 1);
    close_scene();
}

/* A share of a peak is a double's, which is not rounded to float32 before a close is compared with it. */
static void test_trailing_stop_at_its_price(void)
{
    static const struct {
        double share, peak, close;
        int sells;
    } ties[] = {{0.1, 10.1, 9.09, 1}, {0.05, 10.1, 9.595, 1}, {0.4, 10.2, 6.12, 0}};
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        const float peak = (float)ties[i].peak, close = (float)ties[i].close;
        const double stop = (double)peak * (1 - ties[i].share);
        CHECK_INT((double)close < stop, ties[i].sells);
        CHECK_INT(close < peak * (float)(1 - ties[i].share), !ties[i].sells);
        begin();
        scene.params.trailing_stop_pct = ties[i].share;
        price(0, 0, ties[i].peak);
        price(0, 2, ties[i].close);
        open_scene(1);
        step(2);
        step(0);
        CHECK_INT(scene.sells, ties[i].sells);
        close_scene();
    }
}

static void test_cap(void)
{
    begin();
    scene.params.max_position_pct = 0.25;
    price(0, 2, 20);
    open_scene(1);
    step(9);
    position(0, 25, 0, 10); /* 250 of 1000 */
    step(9);                /* 500 of 1247.5 is above the cap already */
    position(0, 25, 1, 10);
    CHECK_INT(scene.buys, 1);
    step(-1); /* it binds no sale */
    position(0, 15, 0, 10);
    step(9); /* cash 945.5 - 2, 300 held: 0.25 * 1243.5 = 310.875, room for 10.875 / 20 = 0.54: below the
                least */
    CHECK_INT(scene.buys, 1);
    close_scene();
}

static void test_forced_exit(void)
{
    begin();
    scene.params.forced_exit_bars = 3;
    scene.params.forced_exit_pct = 0.25;
    open_scene(1);
    step(2);
    step(0);
    step(0);
    position(0, 20, 2, 10);
    step(0); /* held 3 */
    position(0, 15, 0, 10);
    account(798 + 49.5, 997.5, 2.5, 1, 1);
    step(0);
    step(0);
    step(1); /* a purchase does not hinder it */
    position(0, 15 - 3.75 + 10, 0, 10);
    CHECK_INT(scene.sells, 2);
    close_scene();
}

/* What a share gives is rounded once, to a quantity: neither the room below the cap nor a forced exit's
 * quantity and worth are float32. */
static void test_shares_are_money(void)
{
    begin();
    scene.params.max_position_pct = 1.0 / 3;
    price(0, 0, 10.3);
    open_scene(1);
    step(9);
    const float close = (float)10.3, most = (float)(1.0 / 3 * 1000 / (double)close);
    CHECK(most != (float)(1.0 / 3 * 1000) / close);
    CHECK_NEAR(scene.qty[0], (double)most, 0);
    close_scene();

    begin();
    scene.params.forced_exit_bars = 1;
    scene.params.forced_exit_pct = 0.3;
    price(0, 0, 10.1);
    open_scene(1);
    step(2);
    const double cash = scene.cash, q = scene.qty[0], part = q * 0.3;
    const float at = (float)10.1;
    CHECK(fabs(part * (double)at - (double)((float)part * at)) > 1e-7);
    step(0);
    CHECK_INT(scene.sells, 1);
    CHECK_NEAR(scene.qty[0], (double)(float)(q - part), 0);
    CHECK_NEAR(scene.cash, cash + part * (double)at * 0.99, 1e-10);
    close_scene();
}

static void test_cooldown(void)
{
    begin();
    scene.params.cooldown_bars = 2;
    open_scene(1);
    step(2);
    step(-1); /* a part: the position continues */
    step(1);
    position(0, 20, 1, 10);
    step(-5); /* its end */
    CHECK_NEAR(scene.qty[0], 0, 0);
    step(1);
    CHECK_NEAR(scene.qty[0], 0, 0);
    step(1);
    position(0, 10, 0, 10);
    close_scene();
}

static void test_slippage(void)
{
    begin();
    scene.params.slippage_pct = (struct env_range){0.125, 0.125};
    open_scene(1);
    step(2); /* 20 units at 11.25, worth 10 each */
    account(1000 - 225 * 1.01, 972.75, 2.25, 1, 0);
    position(0, 20, 0, 10);
    step(-1); /* 10 at 8.75 */
    account(772.75 + 87.5 * 0.99, 959.375, 3.125, 1, 1);
    close_scene();
}

static void test_reserve(void)
{
    begin();
    scene.params.min_cash_reserve = 0.4;
    open_scene(1);
    step(9);
    position(0, 58.8118812, 0, 10); /* 600 * 0.99 / 10.1 */
    CHECK_NEAR(scene.cash, 406, 1e-3);
    close_scene();
}

/* A purchase of 0 is not below a least quantity of 0. */
static void test_nothing_is_free(void)
{
    begin();
    scene.params.min_cash_reserve = 1;
    scene.assets[0].min_order_qty = 0;
    open_scene(2);
    step3(1, 1, 0);
    position(0, 0, 0, 10);
    position(1, 0, 0, 0); /* below its least, 1 */
    account(1000, 1000, 0, 1, 0);
    step3(-1, 0, 0); /* there is nothing to sell */
    account(1000, 1000, 0, 1, 0);
    close_scene();
}

static void test_clip_and_levels(void)
{
    begin();
    scene.params.norm_action = 100000; /* an action of 1 is 0.01 */
    scene.assets[0].min_order_qty = 0;
    open_scene(1);
    step(5000);
    position(0, 1, 0, 10);
    step(-3000000);
    position(0, 0, 0, 0);
    close_scene();

    begin();
    scene.params.actions = ENV_DISCRETE;
    scene.params.levels = 5;
    scene.params.action_span = 3;
    open_scene(1);
    step(4);
    position(0, 30, 0, 10);
    step(2);
    position(0, 30, 1, 10);
    step(1);
    position(0, 15, 0, 10);
    step(0);
    position(0, 0, 0, 0);
    close_scene();
}

static void test_rewards(void)
{
    begin();
    price(0, 2, 11);
    price(0, 3, 10);
    open_scene(1);
    /* last = 10, begin = 0: of 10 bars the first leaves 0.9. Equity -2, benchmark 0:
     * 0.5 * -2 * 0.9 + 0.3 * -0.002 * 0.9. */
    step(2);
    CHECK_NEAR(scene.reward, -0.90054, 1e-6);
    /* Equity +20, benchmark +99.00990: (0.5 * -79.00990 + 0.3 * 0.02) * 0.8. */
    step(0);
    CHECK_NEAR(scene.reward, -31.599160, 1e-4);
    /* -20, -99.00990 of 1089.10891; cash 798 of 998: (0.5 * 79.00990 - 0.006) * 0.7
     * + 0.2 * 0.0909091 * 0.7995992 * 0.1. */
    step(0);
    CHECK_NEAR(scene.reward, 27.649266 + 0.00145382, 1e-4);
    CHECK_NEAR(scene.drawdown, 20.0 / 1018, 1e-6);
    close_scene();
}

static void test_weights_and_floor(void)
{
    begin();
    scene.params.weight_alpha = 2;
    scene.params.weight_absolute = 100;
    scene.params.weight_cash = 0;
    scene.params.time_decay_floor = 0.95;
    scene.params.norm_reward = 0.5;
    open_scene(1);
    step(2); /* (2 * -2 + 100 * -0.002) * 0.5 * 0.95 */
    CHECK_NEAR(scene.reward, -1.995, 1e-6);
    close_scene();
}

/* What cannot come about, since purchases leave the reserve: but the term is there. */
static void test_reserve_penalty(void)
{
    struct env_view view = {.params = {.norm_reward = 2, .min_cash_reserve = 0.5}};
    struct env_change change = {.equity = 900, .cash = 300, .capital = 1000, .benchmark_before = 1000};
    CHECK_NEAR(env_reward(&view, &change, 1), -0.2, 1e-7); /* (500 - 300) / 1000 * 2 * 0.5 */
    change.cash = 500;
    CHECK_NEAR(env_reward(&view, &change, 1), 0, 0);
}

static void test_cash_bonus(void)
{
    struct env_view view = {.params = {.norm_reward = 2, .weight_cash = 0.2}};
    struct env_change change = {
        .equity = 1000, .cash = 500, .capital = 1000, .benchmark_before = 1000, .benchmark_change = -10};
    CHECK_NEAR(env_reward(&view, &change, 0.3f), 0.2 * 0.01 * 0.5 * 2 * 0.1, 1e-9); /* without decay */
    change.cash = 100;
    CHECK_NEAR(env_reward(&view, &change, 1), 0, 0); /* not above 0.1 */
    change.cash = 500;
    change.benchmark_change = 10;
    CHECK_NEAR(env_reward(&view, &change, 1), 0, 0);
}

/* The coefficient by its own definition, over shares sorted ascending. */
static double gini_by_definition(const double *sorted, int n)
{
    double weighted = 0, sum = 0;
    for (int j = 1; j <= n; j++) {
        weighted += j * sorted[j - 1];
        sum += sorted[j - 1];
    }
    return 2 * weighted / (n * sum) - (n + 1.0) / n;
}

static void test_concentration_terms(void)
{
    struct env_view view = {.params = {.concentration_penalty = 2}};
    struct env_shares one = {.most = 0.6f, .count = 1, .sum = 0.6f};
    CHECK_NEAR(env_concentration(&view, &one), -2 * 0.2 - 2 * 0.5 * 2, 1e-6);
    struct env_shares none = {0};
    CHECK_NEAR(env_concentration(&view, &none), -3, 1e-6);
    static const double sorted[] = {0.1, 0.15, 0.2, 0.3};
    struct env_shares four = {.most = 0.3f, .count = 4, .sum = 0.75f, .pairs = 0.1f * 3 + 0.15f * 2 + 0.2f};
    double gini = gini_by_definition(sorted, 4);
    CHECK(gini < 0.4);
    CHECK_NEAR(env_concentration(&view, &four), 2 * 0.1 * (0.4 - gini), 1e-6);
    static const double steep[] = {0.011, 0.011, 0.011, 0.9};
    struct env_shares uneven = {.most = 0.9f, .count = 4, .sum = 0.933f, .pairs = 0.011f * 6};
    CHECK(gini_by_definition(steep, 4) > 0.4);
    CHECK_NEAR(env_concentration(&view, &uneven), -2 * 0.5, 1e-6);
}

static void test_concentration(void)
{
    begin();
    scene.params.weight_alpha = scene.params.weight_absolute = scene.params.weight_cash = 0;
    scene.params.concentration_penalty = 1;
    scene.params.buy_cost_pct = (struct env_range){0, 0};
    open_scene(3);
    step3(5, 0, 0); /* half of equity, one asset */
    CHECK_NEAR(scene.reward, -0.1 - 0.5 * 2, 1e-6);
    step3(0, 1, 2); /* 0.5, 0.1, 0.2 */
    static const double sorted[] = {0.1, 0.2, 0.5};
    CHECK_NEAR(scene.reward, -0.1 + 0.1 * (0.4 - gini_by_definition(sorted, 3)), 1e-6);
    step3(-3, 1, 0); /* three times 0.2 */
    CHECK_NEAR(scene.equity, 1000 - 3, 1e-4);
    CHECK_NEAR(scene.reward, 0.1 * 0.4, 1e-6);
    close_scene();
}

/* Peak 1038 at 12, then 978, 998 and 958: by 2 * norm 0.5 * capital 1000, what the drawdown grows by. */
static void test_drawdown_penalty(void)
{
    begin();
    scene.params.weight_alpha = scene.params.weight_absolute = scene.params.weight_cash = 0;
    scene.params.drawdown_penalty = 2;
    scene.params.norm_reward = 0.5;
    price(0, 2, 12);
    price(0, 3, 9);
    price(0, 4, 10);
    price(0, 5, 8);
    open_scene(1);
    step(2); /* 20 units, the fee is 2 of 1000 */
    CHECK_NEAR(scene.reward, -1000 * 0.002, 1e-4);
    step(0);
    CHECK_NEAR(scene.reward, 0, 0);
    step(0);
    CHECK_NEAR(scene.reward, -1000 * (60.0 / 1038 - 0.002), 1e-4);
    step(0); /* it gets better, which gives nothing back */
    CHECK_NEAR(scene.reward, 0, 0);
    step(0);
    CHECK_NEAR(scene.reward, -1000 * (20.0 / 1038), 1e-4);
    account(798, 958, 2, 1, 0);
    CHECK_NEAR(scene.drawdown, 80.0 / 1038, 1e-7);
    close_scene();
}

/* 3 * norm 2 * capital 1000 * the squared return, of ups as of downs; at most a return of 1. */
static void test_volatility_penalty(void)
{
    begin();
    scene.params.weight_alpha = scene.params.weight_absolute = scene.params.weight_cash = 0;
    scene.params.volatility_penalty = 3;
    scene.params.norm_reward = 2;
    price(0, 2, 12);
    price(0, 3, 9);
    price(0, 4, 1000);
    open_scene(1);
    step(2);
    CHECK_NEAR(scene.reward, -6000 * 0.002 * 0.002, 1e-6);
    step(0);
    CHECK_NEAR(scene.reward, -6000 * (40.0 / 998) * (40.0 / 998), 1e-4);
    step(0);
    CHECK_NEAR(scene.reward, -6000 * (60.0 / 1038) * (60.0 / 1038), 1e-4);
    step(0);
    CHECK_NEAR(scene.reward, -6000, 0);
    step(0);
    CHECK_NEAR(scene.reward, 0, 0);
    close_scene();
}

static void test_final_return(void)
{
    begin();
    scene.params.final_return = true;
    scene.params.gamma = 0.5;
    for (int r = 0; r < ROWS; r++)
        scene.close[0][r] = 10 + r % 3;
    open_scene(1);
    double sum = 0;
    int steps = 0;
    while (!scene.truncated && steps < ROWS) {
        double before = scene.equity, benchmark = scene.benchmark;
        step(steps == 0 ? 2 : 0);
        steps++;
        double d = 1 - steps / 10.0, gain = scene.equity - before, move = scene.benchmark - benchmark;
        double own = 0.5 * (gain - move) * d + 0.3 * gain / 1000 * d;
        if (move < 0)
            own += 0.2 * -move / benchmark * scene.cash / scene.equity * 0.1;
        sum = sum * 0.5 + own;
        CHECK_NEAR(scene.reward, scene.truncated ? sum : own, 1e-4);
    }
    CHECK_INT(steps, 10); /* T - 2 L */
    CHECK_INT(scene.row, ROWS - 2);
    CHECK_INT(scene.terminated, 0);
    step(1); /* it rests */
    CHECK_INT(scene.row, ROWS - 2);
    CHECK_INT(scene.buys, 1);
    CHECK_NEAR(scene.reward, 0, 0);
    close_scene();
}

static void test_ruin(void)
{
    begin();
    scene.params.ruin = 0.75;
    price(0, 3, 5);
    open_scene(1);
    step(8); /* 80 units, 808: 192 and 800 */
    step(0);
    CHECK_INT(scene.terminated, 0);
    step(0); /* 192 + 400 */
    CHECK_INT(scene.terminated, 1);
    CHECK_INT(scene.truncated, 0);
    CHECK_NEAR(scene.equity, 592, 1e-4);
    CHECK_NEAR(scene.drawdown, 0.408, 1e-6);
    close_scene();
}

/* With float cash the same, to float's digits. */
static void test_float32(void)
{
    begin();
    scene.params.float32 = true;
    price(0, 2, 12);
    open_scene(1);
    step(2);
    account(798, 998, 2, 1, 0);
    step(-1);
    account(916.8, 1036.8, 3.2, 1, 1);
    CHECK(scene.cash == (double)(float)scene.cash);
    close_scene();
}

static void test_rules(void)
{
    test_reset();
    test_buy_hold_sell();
    test_least();
    test_cash_is_short();
    test_later_assets_see_what_is_left();
    test_sales_pay_for_purchases();
    test_trailing_stop();
    test_trailing_stop_at_its_price();
    test_cap();
    test_forced_exit();
    test_shares_are_money();
    test_cooldown();
    test_slippage();
    test_reserve();
    test_nothing_is_free();
    test_clip_and_levels();
    test_rewards();
    test_weights_and_floor();
    test_reserve_penalty();
    test_cash_bonus();
    test_concentration_terms();
    test_concentration();
    test_drawdown_penalty();
    test_volatility_penalty();
    test_final_return();
    test_ruin();
    test_float32();
}

int main(void)
{
    for (backend = ENV_SCALAR; backend <= ENV_AVX512; backend++) {
        unsigned long failures = check_failures;
        if (!env_backend_works(backend))
            continue;
        test_rules();
        if (check_failures > failures)
            fprintf(stderr, "the backend: %s\n", env_backend_name(backend));
    }
    return check_done("trainer/env/rules");
}
