/* The day-trade task by hand, and what holds of it whatever is done: tests/trainer/oracle/day_trade.py has
 * the rules a second time. */
#include <errno.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/env/env.h"

enum { ROWS_MAX = 400 };

static char err[ENV_ERROR_MAX];

/* One copy on closes that open at `start_ns`, 5 minutes each. */
struct stage {
    struct env_params params;
    struct env_market *market;
    struct env *env;
    double equity, cash, benchmark, fees, qty, held, peak;
    int32_t row, buys, sells;
    float reward;
    uint8_t terminated, truncated;
};

static const int64_t minute = 60000000000;

static void defaults(struct env_params *params)
{
    CHECK_INT(env_params_preset("day-trade", params, err), 0);
    params->lookback = 1;
    params->norm_reward = 1;
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){0, 0};
    params->forced_exit_bars = 0;
    params->autoreset = ENV_NO_RESET;
    params->session_close_s = 86400;
    snprintf(params->session_zone, sizeof params->session_zone, "UTC");
}

static int open_market(const struct env_params *params, const double *closes, size_t rows, int64_t start_ns,
                       int n_assets, int64_t interval_ns, struct env_market **ret)
{
    struct env_asset_source assets[2] = {{.name = "A", .close = closes, .volume = closes},
                                         {.name = "B", .close = closes, .volume = closes}};
    const struct env_market_source source = {.rows = rows,
                                             .n_assets = n_assets,
                                             .assets = assets,
                                             .start_ns = start_ns,
                                             .interval_ns = interval_ns};
    return env_market_create(&source, params, ret, err);
}

static void look(struct stage *stage)
{
    const struct env_info info = {.equity = &stage->equity,
                                  .cash = &stage->cash,
                                  .benchmark = &stage->benchmark,
                                  .fees = &stage->fees,
                                  .row = &stage->row,
                                  .buys = &stage->buys,
                                  .sells = &stage->sells};
    env_info(stage->env, &info);
    env_positions(stage->env, 0, &stage->qty, &stage->held, &stage->peak);
}

static bool begin(struct stage *stage, const double *closes, size_t rows, int64_t start_ns)
{
    const struct env_options options = {.copies = 1, .backend = ENV_SCALAR};
    stage->market = NULL;
    stage->env = NULL;
    int r = open_market(&stage->params, closes, rows, start_ns, 1, 5 * minute, &stage->market);
    if (r == 0)
        r = env_create(&stage->params, stage->market, &options, &stage->env, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    return r == 0;
}

static void end(struct stage *stage)
{
    env_destroy(stage->env);
    env_market_destroy(stage->market);
}

static void step(struct stage *stage, float direction, float size)
{
    const float action[2] = {direction, size};
    const struct env_io io = {.actions = action,
                              .rewards = &stage->reward,
                              .terminated = &stage->terminated,
                              .truncated = &stage->truncated};
    CHECK_INT(env_step(stage->env, &io, err), 0);
    look(stage);
}

/* Half of the equity, up and out, without fees. */
static void test_long(void)
{
    static const double closes[] = {100, 100, 110, 121, 121, 121};
    struct stage s;
    defaults(&s.params);
    s.params.weight_trend = 0;
    if (!begin(&s, closes, 6, 0))
        return;
    step(&s, 1, 0.5f); /* at 100: 500 of 1000 */
    CHECK(s.qty == 5 && s.cash == 500 && s.equity == 1000 && s.buys == 1 && s.held == 0 && s.peak == 100);
    CHECK(s.reward == 0);
    step(&s, 0.3f, 1); /* not beyond the threshold */
    CHECK(s.qty == 5 && s.equity == 1050 && s.held == 1);
    CHECK_NEAR(s.reward, 0.05, 1e-8);
    step(&s, -1, 0.55f); /* at 121, equity 1105: 607.75 of it is more than the 605 that are held */
    CHECK(s.qty < 0 && s.sells == 2 && s.buys == 1); /* sold, and 2.75 / 121 short */
    CHECK_NEAR(s.qty, -2.75 / 121, 1e-6);
    CHECK_NEAR(s.reward, 1105.0 / 1050 - 1 + 105.0 / 1000, 1e-7);
    step(&s, 0, 1);
    CHECK(s.truncated && !s.terminated);
    end(&s);
}

/* What is not held is not sold where the account has no shorts. */
static void test_no_shorts(void)
{
    static const double closes[] = {100, 100, 100, 100, 100, 100};
    struct stage s;
    defaults(&s.params);
    s.params.shorts = false;
    if (!begin(&s, closes, 6, 0))
        return;
    step(&s, -1, 1);
    CHECK(s.qty == 0 && s.sells == 0);
    step(&s, 1, 0.25f);
    CHECK(s.qty == 2.5);
    step(&s, -1, 1);
    CHECK(s.qty == 0 && s.sells == 1 && s.cash == 1000 && s.held == 0 && s.peak == 0);
    end(&s);
}

/* Interest, margin calls, and a jump that the collateral does not cover. */
static void test_short(void)
{
    static const double closes[] = {100, 100, 100, 120, 140, 140, 1000, 1000, 1000};
    struct stage s;
    defaults(&s.params);
    s.params.borrow_rate = 10;
    if (!begin(&s, closes, 9, 0))
        return;
    const double each = 10.0 * 5 / (60 * 8760);
    step(&s, -1, 0.5f);
    CHECK(s.qty == -5 && s.cash == 1500 && s.equity == 1000 && s.sells == 1);
    step(&s, 0, 0);
    CHECK_NEAR(s.fees, 500 * each, 1e-9);
    CHECK_NEAR(s.equity, 1000 - 500 * each, 1e-9);
    step(&s, 0, 0); /* 1500 covers 125 % of 600 */
    CHECK(s.qty == -5 && s.held == 2);
    double equity = s.equity;
    step(&s, -1, 1); /* at 140 the equity is 100 less, and its worth is less than what 1.5 allows: 450 / 70 */
    CHECK_NEAR(s.qty, -5 - (equity - 100 - 700 * each) / 140, 1e-5);
    CHECK(s.cash > 1.5 * -s.qty * 140);
    step(&s, -1, 1); /* now 1.5 allows less than the equity's worth: 0.99 of it */
    CHECK_NEAR(s.cash, 1.5 * -s.qty * 140 + 0.01 * 70 * 0.6, 1);
    CHECK(s.qty < -11);
    double cash = s.cash;
    step(&s, 0, 1); /* 1000: the liability is more than the account has */
    CHECK(s.qty < 0 && s.cash >= 0 && s.cash < 0.02 * cash && s.equity < 0);
    CHECK(s.terminated && !s.truncated);
    end(&s);

    defaults(&s.params);
    if (!begin(&s, closes, 9, 0))
        return;
    step(&s, -1, 1); /* at most 0.99 * 1000 / 50 */
    CHECK(s.qty == (float)(0.99 * 1000 / 50) * -1.0 || s.qty == -10);
    CHECK(s.qty == -10); /* a size of 1 is the equity's worth */
    step(&s, 0, 0);
    step(&s, 0, 0); /* 120: 2000 covers 1.5 times 1200 */
    CHECK(s.qty == -10);
    step(&s, -1, 0); /* 140: 125 % of 1400 are 1750 */
    CHECK(s.qty == -10);
    step(&s, 0.5f, 0.25f); /* equity 600: 150 of 1400 are bought back */
    CHECK_NEAR(s.qty, -10 + 150.0 / 140, 1e-5);
    CHECK(s.qty < 0 && s.held == 0 && s.buys == 1);
    end(&s);
}

/* At 170 a short of 10 at 100 is below the maintenance: 2000 < 1.25 * 1700. */
static void test_margin_call(void)
{
    static const double closes[] = {100, 100, 159, 170, 170, 170};
    struct stage s;
    defaults(&s.params);
    if (!begin(&s, closes, 6, 0))
        return;
    step(&s, -1, 1);
    step(&s, 0, 0);
    CHECK(s.qty == -10);
    step(&s, 0, 0);
    CHECK(s.qty == 0 && s.cash == 300 && s.buys == 1 && s.equity == 300);
    end(&s);
}

/* Flat in the session's last bar, and the action is not looked at; the day's term. */
static void test_session(void)
{
    static double closes[12] = {100, 100, 110, 110, 120, 121, 130, 130, 130, 130, 130, 130};
    struct stage s;
    defaults(&s.params);
    s.params.session_close_s = 16 * 3600;
    s.params.weight_return = s.params.weight_step = s.params.weight_trend = 0;
    s.params.weight_day = 2;
    /* Row 5 ends at 16:00. */
    if (!begin(&s, closes, 12, (15 * 60 + 30) * minute))
        return;
    step(&s, 1, 0.5f);
    step(&s, 0, 0);
    step(&s, 0, 0);
    step(&s, 0, 0);
    CHECK(s.qty == 5 && s.reward == 0);
    step(&s, 1, 1); /* row 5, at 121 */
    CHECK(s.row == 5 && s.qty == 0 && s.cash == 1105 && s.sells == 1 && s.buys == 1);
    CHECK_NEAR(s.reward, 2 * (1105.0 / 1000 - 1), 1e-7);
    step(&s, 1, 0.1f); /* the next session's first */
    CHECK_NEAR(s.qty, 110.5 / 130, 1e-6);
    CHECK(s.reward == 0);
    end(&s);

    if (access("/usr/share/zoneinfo/America/New_York", R_OK) != 0) {
        printf("no zone files: package tzdata\n");
        return;
    }
    /* 16:00 in New York is 21:00 UTC in winter: 2025-03-07, day 20154. On the 10th it is 20:00. */
    snprintf(s.params.session_zone, sizeof s.params.session_zone, "America/New_York");
    const int days[] = {20154, 20157}, hours[] = {20, 19};
    for (int k = 0; k < 2; k++) {
        if (!begin(&s, closes, 12, (((int64_t)days[k] * 24 + hours[k]) * 60 + 30) * minute))
            return;
        for (int row = 1; row <= 4; row++)
            step(&s, 1, 0.5f);
        CHECK(s.qty > 0);
        step(&s, 1, 0.5f);
        CHECK(s.row == 5 && s.qty == 0);
        end(&s);
    }
}

/* The trend's term: with the trend only, of what was carried. */
static void test_trend(void)
{
    static const double closes[] = {100, 100, 110, 121, 100, 90, 80, 80, 80};
    struct stage s;
    defaults(&s.params);
    s.params.weight_return = s.params.weight_step = s.params.weight_day = 0;
    s.params.trend_bars = 2;
    if (!begin(&s, closes, 9, 0))
        return;
    step(&s, 1, 0.5f);
    CHECK(s.reward == 0); /* nothing was carried */
    step(&s, 0, 0);
    CHECK_NEAR(s.reward, 550.0 / 1050 * 0.1, 1e-7);
    step(&s, -1, 1); /* 121: carried 5, turned */
    CHECK_NEAR(s.reward, 605.0 / 1105 * 0.21, 1e-7);
    CHECK(s.qty < 0);
    step(&s, 0, 0); /* 100 after 110 */
    CHECK_NEAR(s.reward, s.qty * 100 / s.equity * (100.0 / 110 - 1), 1e-7);
    CHECK(s.reward > 0);
    end(&s);
}

/* The penalties on risk are shares, as the task's own terms; a short may lose more than there is. */
static void test_risk(void)
{
    static const double closes[] = {100, 100, 110, 90, 90, 90}, jump[] = {100, 100, 1000, 1000, 1000};
    struct stage s;
    defaults(&s.params);
    s.params.weight_return = s.params.weight_step = s.params.weight_trend = s.params.weight_day = 0;
    s.params.drawdown_penalty = 3;
    s.params.volatility_penalty = 7;
    if (!begin(&s, closes, 6, 0))
        return;
    step(&s, 1, 0.5f);
    CHECK(s.qty == 5 && s.reward == 0);
    step(&s, 0, 0);
    CHECK_NEAR(s.reward, -7 * 0.05 * 0.05, 1e-8);
    step(&s, 0, 0);
    CHECK(s.equity == 950);
    CHECK_NEAR(s.reward, -3 * (100.0 / 1050) - 7 * (100.0 / 1050) * (100.0 / 1050), 1e-7);
    end(&s);

    if (!begin(&s, jump, 5, 0))
        return;
    step(&s, -1, 0.5f);
    step(&s, 0, 0);
    CHECK(s.equity < -1000 && s.terminated);
    CHECK_NEAR(s.reward, -3 * (1000 - s.equity) / 1000 - 7, 1e-5);
    end(&s);
}

static void test_stops(void)
{
    static const double up[] = {100, 100, 110, 104, 104, 104, 104}, down[] = {100, 100, 90, 96, 96, 96, 96};
    struct stage s;
    for (int k = 0; k < 2; k++) {
        defaults(&s.params);
        s.params.trailing_stop_pct = 0.05;
        s.params.cooldown_bars = 2;
        if (!begin(&s, k ? down : up, 7, 0))
            return;
        float side = k ? -1.0f : 1.0f;
        step(&s, side, 0.5f);
        CHECK(s.qty == (k ? -5 : 5) && s.peak == 100);
        step(&s, 0, 0);
        CHECK(s.peak == (k ? 90 : 110));
        step(&s, side, 0.5f); /* stopped; purchases and sales wait */
        CHECK(s.qty == 0 && s.peak == 0 && s.cash == (k ? 1020 : 1020));
        step(&s, side, 0.5f);
        CHECK(s.qty == 0);
        step(&s, side, 0.5f);
        CHECK(s.qty != 0);
        end(&s);
    }
}

/* Least quantities, the cap on a position, the reserve, slippage, forced exits, levels. */
static void test_limits(void)
{
    static const double closes[] = {100, 100, 100, 100, 100, 100, 100, 100};
    struct stage s;
    defaults(&s.params);
    s.params.max_position_pct = 0.4;
    s.params.min_cash_reserve = 0.7;
    if (!begin(&s, closes, 8, 0))
        return;
    step(&s, 1, 1); /* 0.99 of 300 */
    CHECK(s.qty == (double)(float)(300.0 / 100 * 0.99));
    step(&s, -1, 0.1f);
    CHECK_NEAR(s.qty, 1.97, 1e-6);
    step(&s, -1, 1);
    CHECK_NEAR(s.qty, -4, 1e-5); /* sold, and short to the cap */
    end(&s);

    defaults(&s.params);
    s.params.slippage_pct = (struct env_range){0.01, 0.01};
    s.params.buy_cost_pct = (struct env_range){0.1, 0.1};
    s.params.forced_exit_bars = 2;
    s.params.forced_exit_pct = 0.5;
    if (!begin(&s, closes, 8, 0))
        return;
    step(&s, 1, 0.5f);
    CHECK(s.qty == 5);
    CHECK_NEAR(s.cash, 1000 - 505 * 1.1, 1e-4);
    CHECK_NEAR(s.fees, 50.5, 1e-4);
    step(&s, 0, 0);
    step(&s, 0, 0);
    CHECK(s.qty == 2.5 && s.held == 0 && s.sells == 1);
    CHECK_NEAR(s.cash, 1000 - 505 * 1.1 + 2.5 * 99, 1e-4);
    end(&s);

    defaults(&s.params);
    s.params.actions = ENV_DISCRETE;
    s.params.levels = 5;
    s.params.action_span = 1;
    if (!begin(&s, closes, 8, 0))
        return;
    step(&s, 4, 2); /* direction 1, size 0.5 */
    CHECK(s.qty == 5);
    step(&s, 2, 4); /* direction 0 */
    CHECK(s.qty == 5);
    step(&s, 0, 1); /* direction -1, size 0.25 */
    CHECK(s.qty == 2.5);
    end(&s);
}

static uint8_t mask(const struct stage *stage)
{
    uint8_t masks[2];
    env_masks(stage->env, masks);
    CHECK_INT(masks[1], 3); /* the size is free */
    return masks[0];
}

static void test_masks(void)
{
    static double closes[12] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    struct stage s;
    for (int shorts = 0; shorts < 2; shorts++) {
        defaults(&s.params);
        s.params.shorts = shorts;
        s.params.cooldown_bars = 2;
        s.params.session_close_s = 16 * 3600; /* row 7 ends it */
        if (!begin(&s, closes, 12, (15 * 60 + 20) * minute))
            return;
        CHECK_INT(mask(&s), shorts ? 3 : 1);
        step(&s, 1, 0.5f);
        CHECK_INT(mask(&s), 3);
        step(&s, -1, 0.5f);
        CHECK(s.qty == 0);
        CHECK_INT(mask(&s), 0); /* the next step is within the cooldown, the one after is not */
        step(&s, 1, 1);
        CHECK(s.qty == 0);
        CHECK_INT(mask(&s), shorts ? 3 : 1);
        step(&s, shorts ? -1 : 1, 0.5f);
        CHECK(s.qty == (shorts ? -5 : 5));
        CHECK_INT(mask(&s), 3);
        step(&s, 0, 0);
        CHECK_INT(s.row, 5);
        step(&s, 0, 0);
        CHECK_INT(mask(&s), 0); /* the session ends in the next bar */
        step(&s, 1, 1);
        CHECK(s.qty == 0);
        end(&s);
    }
}

static void refused(const struct env_params *params, int n_assets, int64_t interval_ns, const char *words)
{
    static double closes[64];
    struct env_market *market = NULL;
    for (int r = 0; r < 64; r++)
        closes[r] = 1;
    CHECK_INT(open_market(params, closes, 64, 0, n_assets, interval_ns, &market), -EINVAL);
    bool said = strstr(err, words) != NULL;
    CHECK(said && !market);
    if (!said)
        fprintf(stderr, "\"%s\" is not in: %s\n", words, err);
}

static void test_refused(void)
{
    struct env_params params;
    defaults(&params);
    refused(&params, 2, 5 * minute, "one asset");
    refused(&params, 1, 24 * 60 * minute, "bars of a day");
    params.threshold = 1.5;
    refused(&params, 1, 5 * minute, "threshold");
    defaults(&params);
    params.collateral = 0.5;
    refused(&params, 1, 5 * minute, "collateral");
    defaults(&params);
    snprintf(params.session_zone, sizeof params.session_zone, "Mars/Olympus");
    refused(&params, 1, 5 * minute, "session_zone: Mars/Olympus");
    defaults(&params);
    params.session_close_s = 86401;
    refused(&params, 1, 5 * minute, "session_close_s");
    defaults(&params);
    params.execution = ENV_MARKET;
    refused(&params, 1, 5 * minute, "shorts");
}

/* ---- Whatever is done. ---- */

static void add_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    double *spent = ctx;
    (void)copy;
    spent[0] += trade->qty * trade->price;
    spent[1] += trade->fee;
    spent[2] += trade->qty;
}

static double choose(struct random *random, double a, double b, double c)
{
    int64_t k = random_between(random, 0, 2);
    return k == 0 ? a : k == 1 ? b : c;
}

static void draw_params(struct random *random, struct env_params *params)
{
    defaults(params);
    params->lookback = (int)random_between(random, 1, 5);
    params->session_close_s = (int)random_between(random, 0, 86400);
    params->shorts = random_chance(random, 70);
    params->float32 = random_chance(random, 30);
    params->borrow_rate = choose(random, 0, 0.05, 10);
    params->collateral = choose(random, 1, 1.5, 4);
    params->threshold = choose(random, 0, 0.3, 1);
    params->trailing_stop_pct = choose(random, 0, 0.01, 0.2);
    params->max_position_pct = choose(random, 0, 0.2, 1);
    params->min_cash_reserve = choose(random, 0, 0.1, 0.9);
    params->cooldown_bars = (int)random_between(random, 0, 3);
    params->forced_exit_bars = (int)random_between(random, 0, 5);
    params->forced_exit_pct = choose(random, 0, 0.05, 1);
    params->slippage_pct = (struct env_range){0, choose(random, 0, 0.001, 0.5)};
    params->buy_cost_pct = (struct env_range){0, choose(random, 0, 0.001, 0.5)};
    params->sell_cost_pct = (struct env_range){0, choose(random, 0, 0.001, 0.5)};
    params->ruin = choose(random, 0, 0.1, 0.5);
    params->trend_bars = (int)choose(random, 1, 20, 1000);
    params->autoreset = random_chance(random, 50) ? ENV_NEXT_STEP : ENV_SAME_STEP;
}

static float draw_action(struct random *random)
{
    static const float odd[] = {0, -0.0f, 1, -1, 0.3f, 1e30f, -1e30f, 1e-40f};
    return random_chance(random, 10) ? odd[random_between(random, 0, 7)]
                                     : (float)random_between(random, -1500, 1500) / 1000;
}

static unsigned long test_random(struct random *random)
{
    static double closes[ROWS_MAX];
    struct stage s;
    double volatility = choose(random, 0.001, 0.05, 0.6), price = 100;
    size_t rows = (size_t)random_between(random, 30, ROWS_MAX);
    for (size_t r = 0; r < rows; r++) {
        price *= exp(volatility * (double)random_between(random, -1000, 1000) / 1000);
        closes[r] = price = fmin(fmax(price, 1e-3), 1e6);
    }
    draw_params(random, &s.params);
    if (!begin(&s, closes, rows, random_between(random, 0, 1 << 20) * minute))
        return 0;
    double spent[3];
    CHECK_INT(env_trades(s.env, add_trade, spent), 0);
    look(&s);
    unsigned long wrong = 0, n = 0;
    for (int i = 0; i < 500; i++, n++) {
        double cash = s.cash, fees = s.fees, qty = s.qty;
        int32_t buys = s.buys + s.sells;
        memset(spent, 0, sizeof spent);
        step(&s, draw_action(random), draw_action(random));
        bool over = s.terminated || s.truncated || s.buys + s.sells < buys || s.fees < fees;
        wrong += !isfinite((double)s.reward) || !isfinite(s.equity) || !isfinite(s.cash) || !isfinite(s.qty);
        wrong += s.cash < 0 || (!s.params.shorts && s.qty < 0) || s.fees < 0 || s.held < 0;
        if (over) /* another episode may have started */
            continue;
        /* Nothing comes and goes but by trades, their fees and interest. */
        double scale = 1 + fabs(spent[0]) + cash + s.cash + s.fees + fabs(s.equity);
        double close_to = scale * (s.params.float32 ? 0x1p-23 : 1e-12); /* float32 columns round once each */
        wrong += !(fabs(cash - spent[0] - (s.fees - fees) - s.cash) <= close_to);
        wrong += !(s.fees - fees >= spent[1] - close_to);
        wrong += !(fabs(qty + spent[2] - s.qty) <= 1e-6 * (1 + fabs(qty) + fabs(s.qty)));
        wrong += !(fabs(s.cash + s.qty * (double)(float)closes[s.row] - s.equity) <= close_to);
    }
    if (wrong)
        fprintf(stderr, "%lu wrong of %lu steps\n", wrong, n);
    CHECK_INT(wrong, 0);
    end(&s);
    return n;
}

int main(void)
{
    struct random random = random_seeded("env_day_trade", 20261122);
    test_long();
    test_no_shorts();
    test_short();
    test_margin_call();
    test_session();
    test_trend();
    test_risk();
    test_stops();
    test_limits();
    test_masks();
    test_refused();
    unsigned long steps = 0;
    for (int run = getenv("PAPERTAPE_LONG") ? 2000 : 200; run > 0; run--)
        steps += test_random(&random);
    printf("%lu random steps\n", steps);
    return check_done("env_day_trade");
}
