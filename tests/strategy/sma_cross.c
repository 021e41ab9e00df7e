/* The plain cross and the one with risk: entries, exits, sizes, on bars made by hand. The cross with the RSI
 * is strategy.c's. */
#include "tests/strategy/ask.h"

static void test_plain(void)
{
    struct ask a = ask_new("sma-cross");
    CHECK_INT(ASK_BAR(&a, NAN, NAN), 0);
    CHECK_INT(ASK_BAR(&a, 11, NAN), 0);
    CHECK_INT(ASK_BAR(&a, 11, 10), 0); /* above from the first bar on: no cross was seen */
    CHECK_INT(ASK_BAR(&a, 9, 10), 0);
    CHECK_INT(ASK_BAR(&a, 10, 10), 0); /* touching is no cross */
    CHECK_INT(ASK_BAR(&a, 11, 10), 1);
    ask_wants(&a, INTENT_ENTER, "cross up");
    CHECK(a.intents[0].fraction == 1 && a.intents[0].stop == 0 && a.intents[0].profit == 0 &&
          a.intents[0].limit == 0);
    a.input.qty = 3;
    CHECK_INT(ASK_BAR(&a, 12, 10), 0);
    CHECK_INT(ASK_BAR(&a, 10, 10), 0); /* equal: on the side where it was */
    CHECK_INT(ASK_BAR(&a, 9, 10), 1);
    ask_wants(&a, INTENT_EXIT, "cross down");
    a.input.live_orders = true;
    CHECK_INT(ASK_BAR(&a, 8, 10), 0);
    a.input.live_orders = false;
    CHECK_INT(ASK_BAR(&a, 10, 10), 1); /* still held: still wanted */

    a = ask_new("sma-cross"); /* a cross under a live order is past, but not forgotten */
    ASK_BAR(&a, 9, 10);
    a.input.live_orders = true;
    CHECK_INT(ASK_BAR(&a, 11, 10), 0);
    a.input.live_orders = false;
    CHECK_INT(ASK_BAR(&a, 12, 10), 0);

    a = ask_new("sma-cross"); /* equal from the start, then up: which side it came from is not known */
    ASK_BAR(&a, 10, 10);
    CHECK_INT(ASK_BAR(&a, 11, 10), 0);

    a = ask_new("sma-cross"); /* short by hand: not its position */
    ASK_BAR(&a, 9, 10);
    a.input.qty = -1;
    CHECK_INT(ASK_BAR(&a, 11, 10), 0);
    CHECK_INT(ASK_BAR(&a, 9, 10), 0);
}

static void test_plain_params(void)
{
    struct ask a = ask_new("sma-cross");
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    ask_set(&a, "fast", "1");
    ask_set(&a, "slow", "2");
    CHECK(!a.strategy->check(a.params));
    CHECK_INT(a.strategy->specs(a.params, specs), 2);
    CHECK_STR(specs[0], "sma:1");
    CHECK_STR(specs[1], "sma:2");
    ask_set(&a, "fast", "2");
    CHECK_STR(a.strategy->check(a.params), "fast: fewer bars than slow are needed");
    ask_set(&a, "slow", "5000");
    ask_set(&a, "fraction", "0.125");
    ASK_BAR(&a, 9, 10);
    CHECK_INT(ASK_BAR(&a, 11, 10), 1);
    CHECK(a.intents[0].fraction == 0.125);
}

static struct ask risk_below(void)
{
    struct ask a = ask_new("sma-cross-rsi-risk");
    CHECK_INT(ASK_BAR(&a, 9, 10, 50, 3), 0);
    return a;
}

static void test_risk_sizes(void)
{
    struct ask a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 3), 1);
    ask_wants(&a, INTENT_ENTER, "cross up");
    CHECK(a.intents[0].stop == 94 && a.intents[0].profit == 109 && a.intents[0].limit == 0);
    /* 1 % of equity over 6 of 100 at stake. */
    CHECK_NEAR(a.intents[0].fraction, 1.0 / 6, 1e-15);
    CHECK_NEAR(a.intents[0].fraction * a.input.equity / 100 * (100 - 94), 0.01 * a.input.equity, 1e-9);

    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 0.5), 1); /* 1 at stake: all of the equity, up to the limit */
    CHECK(a.intents[0].fraction == 0.5 && a.intents[0].stop == 99 && a.intents[0].profit == 101.5);

    a = risk_below();
    ask_set(&a, "fraction_max", "1");
    ask_set(&a, "risk", "0.03");
    ask_set(&a, "stop_atr", "4");
    ask_set(&a, "profit_atr", "0");
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 1), 1);
    CHECK(a.intents[0].fraction == 0.75 && a.intents[0].stop == 96 && a.intents[0].profit == 0);

    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 0), 0); /* flat bars: nothing to size by */
    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 50), 0); /* the stop would be at 0 */
    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 49.9), 1);
    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, 1e-16), 0); /* too small for a stop that differs from the close */
    a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70, INFINITY), 0);
}

static void test_risk_rules(void)
{
    struct ask a = risk_below();
    CHECK_INT(ASK_BAR(&a, 11, 10, 70.001, 3), 0);
    CHECK_INT(ASK_BAR(&a, 12, 10, 50, 3), 0); /* the cross is past */

    a = risk_below();
    a.input.positions = 3;
    CHECK_INT(ASK_BAR(&a, 11, 10, 50, 3), 0);
    a = risk_below();
    a.input.positions = 2;
    CHECK_INT(ASK_BAR(&a, 11, 10, 50, 3), 1);

    a.input.qty = 1;
    a.input.positions = 3; /* no bar to leaving */
    CHECK_INT(ASK_BAR(&a, 9, 10, 50, 3), 1);
    ask_wants(&a, INTENT_EXIT, "cross down");

    a = risk_below(); /* a hole in any of the four forgets nothing */
    CHECK_INT(ASK_BAR(&a, 11, 10, 50, NAN), 0);
    CHECK_INT(ASK_BAR(&a, 11, 10, NAN, 3), 0);
    CHECK_INT(ASK_BAR(&a, 11, 10, 50, 3), 1);

    CHECK(!a.strategy->check(a.params));
    ask_set(&a, "fast", "30");
    CHECK_STR(a.strategy->check(a.params), "fast: fewer bars than slow are needed");
}

int main(void)
{
    test_plain();
    test_plain_params();
    test_risk_sizes();
    test_risk_rules();
    return check_done("strategy/sma_cross");
}
