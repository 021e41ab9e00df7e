/* The bar model's rules, case by case: each order type against a bar, on both sides of every boundary. */
#include "exchange/bar_rules.h"
#include "tests/check.h"
#include "tests/random.h"

/* Mirrors a case: what a purchase does on the way down a sale does on the way up. */
enum { MIRROR = 20000 };

struct rule_case {
    const char *what;
    struct bar_order order;
    struct bar_prices bar;
    enum bar_step step;
    struct bar_effect effect;
};

static const struct rule_case cases[] = {
    /* {side, type, price, stop_price, triggered, arrives}, {open, high, low, close} */
    {"market at the open", {ORDER_BUY, ORDER_MARKET}, {100, 110, 90, 105}, BAR_AT_OPEN, {BAR_TAKES, 100}},

    {"stop above the open",
     {ORDER_SELL, ORDER_STOP, 0, 101},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"stop at the open",
     {ORDER_SELL, ORDER_STOP, 0, 100},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"stop below the open", {ORDER_SELL, ORDER_STOP, 0, 99}, {100, 110, 90, 105}, BAR_AT_OPEN, {BAR_WAITS}},
    {"stop above the low", {ORDER_SELL, ORDER_STOP, 0, 91}, {100, 110, 90, 105}, BAR_STOPS, {BAR_TAKES, 91}},
    {"stop at the low", {ORDER_SELL, ORDER_STOP, 0, 90}, {100, 110, 90, 105}, BAR_STOPS, {BAR_TAKES, 90}},
    {"stop below the low", {ORDER_SELL, ORDER_STOP, 0, 89}, {100, 110, 90, 105}, BAR_STOPS, {BAR_WAITS}},
    {"stop is no profit", {ORDER_SELL, ORDER_STOP, 0, 95}, {100, 110, 90, 105}, BAR_PROFITS, {BAR_WAITS}},
    {"stop does not trail", {ORDER_SELL, ORDER_STOP, 0, 108}, {109, 110, 109, 105}, BAR_TRAILS, {BAR_WAITS}},
    {"stop that waits for liquidity",
     {ORDER_SELL, ORDER_STOP, 0, 50, true},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},

    {"profit below the open",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 99},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"profit at the open",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 100},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"profit above the open",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 101},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_WAITS}},
    {"profit at the high",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 110},
     {100, 110, 90, 105},
     BAR_PROFITS,
     {BAR_TAKES, 110}},
    {"profit above the high",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 111},
     {100, 110, 90, 105},
     BAR_PROFITS,
     {BAR_WAITS}},
    {"profit is no stop",
     {ORDER_SELL, ORDER_TAKE_PROFIT, 0, 105},
     {100, 110, 90, 105},
     BAR_STOPS,
     {BAR_WAITS}},

    {"new limit above the open",
     {ORDER_BUY, ORDER_LIMIT, 101, 0, false, true},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"new limit at the open",
     {ORDER_BUY, ORDER_LIMIT, 100, 0, false, true},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 100}},
    {"new limit below the open",
     {ORDER_BUY, ORDER_LIMIT, 99, 0, false, true},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_WAITS}},
    {"limit that the open went through",
     {ORDER_BUY, ORDER_LIMIT, 101},
     {100, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_MAKES, 101}},
    {"limit at the open", {ORDER_BUY, ORDER_LIMIT, 100}, {100, 110, 90, 105}, BAR_AT_OPEN, {BAR_WAITS}},
    {"limit gone through", {ORDER_BUY, ORDER_LIMIT, 91}, {100, 110, 90, 105}, BAR_PROFITS, {BAR_MAKES, 91}},
    {"limit touched", {ORDER_BUY, ORDER_LIMIT, 90}, {100, 110, 90, 105}, BAR_PROFITS, {BAR_WAITS}},
    {"limit is no stop", {ORDER_BUY, ORDER_LIMIT, 95}, {100, 110, 90, 105}, BAR_STOPS, {BAR_WAITS}},

    {"stop limit that crosses the open",
     {ORDER_SELL, ORDER_STOP_LIMIT, 100, 102},
     {101, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 101}},
    {"stop limit that the open is beyond",
     {ORDER_SELL, ORDER_STOP_LIMIT, 102, 102},
     {101, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TRIGGERS, 101}},
    {"stop limit inside",
     {ORDER_SELL, ORDER_STOP_LIMIT, 94, 95},
     {101, 110, 90, 105},
     BAR_STOPS,
     {BAR_TAKES, 95}},
    {"stop limit above its stop",
     {ORDER_SELL, ORDER_STOP_LIMIT, 96, 95},
     {101, 110, 90, 105},
     BAR_STOPS,
     {BAR_TRIGGERS, 95}},
    {"stop limit that works as a limit",
     {ORDER_SELL, ORDER_STOP_LIMIT, 109, 95, true},
     {101, 110, 90, 105},
     BAR_PROFITS,
     {BAR_MAKES, 109}},
    {"a triggered one stops no more",
     {ORDER_SELL, ORDER_STOP_LIMIT, 109, 95, true},
     {101, 110, 90, 105},
     BAR_STOPS,
     {BAR_WAITS}},
    {"profit limit inside",
     {ORDER_SELL, ORDER_TAKE_PROFIT_LIMIT, 107, 108},
     {101, 110, 90, 105},
     BAR_PROFITS,
     {BAR_TAKES, 108}},
    {"profit limit gone through farther",
     {ORDER_SELL, ORDER_TAKE_PROFIT_LIMIT, 109, 108},
     {101, 110, 90, 105},
     BAR_PROFITS,
     {BAR_MAKES, 109}},
    {"profit limit touched",
     {ORDER_SELL, ORDER_TAKE_PROFIT_LIMIT, 110, 108},
     {101, 110, 90, 105},
     BAR_PROFITS,
     {BAR_TRIGGERS, 108}},

    {"trailing without a peak",
     {ORDER_SELL, ORDER_TRAILING_STOP},
     {101, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_WAITS}},
    {"trailing at the open",
     {ORDER_SELL, ORDER_TRAILING_STOP, 0, 101},
     {101, 110, 90, 105},
     BAR_AT_OPEN,
     {BAR_TAKES, 101}},
    {"trailing at the low",
     {ORDER_SELL, ORDER_TRAILING_STOP, 0, 90},
     {101, 110, 90, 105},
     BAR_STOPS,
     {BAR_TAKES, 90}},
    {"trailing at the close",
     {ORDER_SELL, ORDER_TRAILING_STOP, 0, 105},
     {101, 110, 90, 105},
     BAR_TRAILS,
     {BAR_TAKES, 105}},
    {"trailing below the close",
     {ORDER_SELL, ORDER_TRAILING_STOP, 0, 104},
     {101, 110, 90, 105},
     BAR_TRAILS,
     {BAR_WAITS}},
};

static int64_t mirrored(int64_t price)
{
    return price > 0 ? MIRROR - price : 0;
}

static void check_case(const struct rule_case *c, const char *how)
{
    struct bar_effect effect = bar_rule(&c->order, &c->bar, c->step);
    bool trades = c->effect.act == BAR_TAKES || c->effect.act == BAR_MAKES;
    check_count++;
    if (effect.act != c->effect.act || (trades && effect.price != c->effect.price)) {
        check_failures++;
        fprintf(stderr, "%s, %s: act %d at %jd, not %d at %jd\n", c->what, how, (int)effect.act,
                (intmax_t)effect.price, (int)c->effect.act, (intmax_t)c->effect.price);
    }
}

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_case c = cases[i];
        check_case(&c, "as written");
        c.order.side = c.order.side == ORDER_BUY ? ORDER_SELL : ORDER_BUY;
        c.order.price = mirrored(c.order.price);
        c.order.stop_price = mirrored(c.order.stop_price);
        c.effect.price = mirrored(c.effect.price);
        c.bar = (struct bar_prices){mirrored(c.bar.open), mirrored(cases[i].bar.low),
                                    mirrored(cases[i].bar.high), mirrored(c.bar.close)};
        check_case(&c, "mirrored");
    }
}

static void test_times(void)
{
    CHECK(bar_takes_part(60, 60, 60, 120));
    CHECK(bar_takes_part(60, 119, 60, 120));
    CHECK(!bar_takes_part(60, 120, 60, 120));
    CHECK(!bar_takes_part(61, 61, 60, 120));
    CHECK(bar_takes_part(60, 60, 180, 240));
    CHECK_INT(bar_fill_ns(BAR_AT_OPEN, 60, 120), 60);
    for (int step = BAR_STOPS; step < BAR_STEPS; step++)
        CHECK_INT(bar_fill_ns((enum bar_step)step, 60, 120), 119);
    CHECK_INT(bar_peak(ORDER_SELL, 0, 50), 50);
    CHECK_INT(bar_peak(ORDER_SELL, 50, 51), 51);
    CHECK_INT(bar_peak(ORDER_SELL, 50, 49), 50);
    CHECK_INT(bar_peak(ORDER_BUY, 0, 50), 50);
    CHECK_INT(bar_peak(ORDER_BUY, 50, 49), 49);
    CHECK_INT(bar_peak(ORDER_BUY, 50, 51), 50);
}

static void check_rest(enum order_side side, enum order_type type, int64_t price, int64_t high, int64_t low)
{
    const struct bar_prices bar = {100, 110, 90, 104};
    struct bar_prices rest = bar_rest(side, type, price, &bar);
    CHECK_INT(rest.open, price);
    CHECK_INT(rest.high, high);
    CHECK_INT(rest.low, low);
    CHECK_INT(rest.close, bar.close);
}

static void test_rest(void)
{
    check_rest(ORDER_BUY, ORDER_LIMIT, 95, 104,
               90); /* on the way down: the low is yet to come, the high may be over */
    check_rest(ORDER_BUY, ORDER_TAKE_PROFIT, 95, 104, 90);
    check_rest(ORDER_SELL, ORDER_STOP, 95, 104, 90);
    check_rest(ORDER_BUY, ORDER_STOP, 106, 110, 104); /* on the way up */
    check_rest(ORDER_SELL, ORDER_LIMIT, 106, 110, 104);
    check_rest(ORDER_BUY, ORDER_STOP, 102, 110, 102);
    check_rest(ORDER_SELL, ORDER_TRAILING_STOP, 105, 105, 90);
}

static void test_slipped(void)
{
    /* price, slippage, lowest price and tick, limit */
    CHECK_INT(fill_slipped(ORDER_BUY, 10001, 0, 1, 5, 0), 10001); /* as it is, off the tick or not */
    CHECK_INT(fill_slipped(ORDER_BUY, 10000, 500, 1, 1, 0), 10005);
    CHECK_INT(fill_slipped(ORDER_BUY, 10001, 500, 1, 1, 0), 10007); /* 10006.0005 */
    CHECK_INT(fill_slipped(ORDER_SELL, 10001, 500, 1, 1, 0), 9995); /* 9995.9995 */
    CHECK_INT(fill_slipped(ORDER_BUY, 10000, 500, 10, 10, 0), 10010);
    CHECK_INT(fill_slipped(ORDER_SELL, 10000, 500, 10, 10, 0), 9990);
    CHECK_INT(fill_slipped(ORDER_SELL, 10000, 500, 3, 10, 0), 9993); /* ticks count from the lowest price */
    CHECK_INT(fill_slipped(ORDER_BUY, 10000, 500, 10, 10, 10002), 10002);
    CHECK_INT(fill_slipped(ORDER_BUY, 10000, 500, 10, 10, 10000), 10000);
    CHECK_INT(fill_slipped(ORDER_SELL, 10000, 500, 10, 10, 9998), 9998);
    CHECK_INT(fill_slipped(ORDER_SELL, 2, 999999, 0, 0, 0), 1);
    CHECK_INT(fill_slipped(ORDER_SELL, 12, 900000, 10, 10, 0), 10);
    CHECK_INT(fill_slipped(ORDER_SELL, 5, 900000, 10, 10, 0), 5); /* below the lowest as it was */
    CHECK_INT(fill_slipped(ORDER_BUY, INT64_MAX, 999999, 0, 0, 0), INT64_MAX);
}

/* All that a balance could buy, tried one by one. */
static int64_t slowly(int64_t cash, int64_t price, int64_t qty, int64_t unit, int32_t fee_e6,
                      const struct fill_lot *lot)
{
    for (int64_t q = qty; q > 0; q--) {
        int64_t notional = (price * q + unit - 1) / unit, fee = (notional * fee_e6 + 999999) / 1000000;
        bool whole = q == qty || (q >= lot->min && (q - lot->min) % lot->step == 0 && q >= lot->market_min);
        if (whole && notional + fee <= cash)
            return q;
    }
    return 0;
}

static void test_affordable(void)
{
    struct random random = random_seeded("exchange/bar_rules", 61);
    for (int i = 0; i < 20000; i++) {
        struct fill_lot lot = {.min = random_between(&random, 1, 9),
                               .step = random_between(&random, 1, 7),
                               .market_min = random_between(&random, 0, 12)};
        int64_t price = random_between(&random, 1, 400), qty = random_between(&random, 1, 300);
        int64_t unit = random_chance(&random, 50) ? 1 : 10, cash = random_between(&random, 0, 20000);
        int32_t fee_e6 = (int32_t)random_between(&random, 0, 30000);
        CHECK_INT(fill_affordable(cash, price, qty, unit, fee_e6, &lot),
                  slowly(cash, price, qty, unit, fee_e6, &lot));
    }
    const struct fill_lot lot = {.min = 1, .step = 1};
    CHECK_INT(fill_affordable(-1, 1, 1, 1, 0, &lot), 0);
    CHECK_INT(fill_affordable(100, 1, 0, 1, 0, &lot), 0);
    CHECK_INT(fill_affordable(FILL_MONEY_MAX, INT64_MAX, INT64_MAX, 1, 0, &lot), 0);
    CHECK_INT(fill_purchase(INT64_MAX, INT64_MAX, 1, 0), INT64_MAX);
}

int main(void)
{
    test_cases();
    test_times();
    test_rest();
    test_slipped();
    test_affordable();
    return check_done("exchange/bar_rules");
}
