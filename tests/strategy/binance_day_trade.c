/* The EMA cross both ways: entries, exits, turns and sizes, on bars made by hand, with an account that may be
 * short and one that may not. */
#include "tests/strategy/ask.h"

/* Below, then above, with an ATR of 4. */
static struct ask below(bool shorts)
{
    struct ask a = ask_new("binance-day-trade");
    a.input.shorts = shorts;
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 0);
    return a;
}

static struct ask above(bool shorts)
{
    struct ask a = ask_new("binance-day-trade");
    a.input.shorts = shorts;
    CHECK_INT(ASK_BAR(&a, 11, 10, 4), 0); /* from the first bar on: no cross was seen */
    return a;
}

static void test_entries(void)
{
    struct ask a = below(true);
    CHECK_INT(ASK_BAR(&a, 10, 10, 4), 0); /* touching is no cross */
    CHECK_INT(ASK_BAR(&a, 11, 10, 4), 1);
    ask_wants(&a, INTENT_ENTER, "cross up");
    CHECK(a.intents[0].stop == 94 && a.intents[0].profit == 112 && a.intents[0].limit == 0);
    CHECK_NEAR(a.intents[0].fraction, 0.01 * 100 / 6, 1e-15); /* 1 % of equity over 6 of 100 at stake */
    CHECK_INT(ASK_BAR(&a, 12, 10, 4), 0);                     /* the cross is past */

    a = above(true);
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 1);
    ask_wants(&a, INTENT_SHORT, "cross down");
    CHECK(a.intents[0].stop == 106 && a.intents[0].profit == 88 && a.intents[0].limit == 0);
    CHECK_NEAR(a.intents[0].fraction, 0.01 * 100 / 6, 1e-15);

    a = above(true); /* no more than the account has */
    CHECK_INT(ASK_BAR(&a, 9, 10, 0.25), 1);
    CHECK(a.intents[0].fraction == 1 && a.intents[0].stop == 100.375 && a.intents[0].profit == 99.25);
    a = below(true);
    CHECK_INT(ASK_BAR(&a, 11, 10, 0.25), 1);
    CHECK(a.intents[0].fraction == 1);

    a = above(true); /* a profit that is never reached is left out */
    CHECK_INT(ASK_BAR(&a, 9, 10, 40), 1);
    CHECK(a.intents[0].stop == 160 && a.intents[0].profit == 0);
    a = above(true);
    ask_set(&a, "profit_atr", "0");
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 1);
    CHECK(a.intents[0].profit == 0);

    static const double nothing[] = {0, 1e-16, INFINITY};
    for (size_t i = 0; i < 3; i++) { /* nothing to size by */
        a = above(true);
        CHECK_INT(ASK_BAR(&a, 9, 10, nothing[i]), 0);
        a = below(true);
        CHECK_INT(ASK_BAR(&a, 11, 10, nothing[i]), 0);
    }
}

static void test_turns(void)
{
    struct ask a = above(true);
    a.input.qty = 3;
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 2);
    ask_wants(&a, INTENT_EXIT, "cross down");
    CHECK_INT(a.intents[1].kind, INTENT_SHORT);
    CHECK_STR(a.intents[1].why, "cross down");
    CHECK_INT(ASK_BAR(&a, 8, 10, 4), 1); /* still held: still to be left, but the cross is past */
    ask_wants(&a, INTENT_EXIT, "cross down");
    a.input.qty = -3;
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 0);
    CHECK_INT(ASK_BAR(&a, 10, 10, 4), 0); /* equal: on the side where it was */
    CHECK_INT(ASK_BAR(&a, 11, 10, 4), 2);
    ask_wants(&a, INTENT_EXIT, "cross up");
    CHECK_INT(a.intents[1].kind, INTENT_ENTER);

    a = above(true); /* nothing to size by: out, and not in */
    a.input.qty = 3;
    CHECK_INT(ASK_BAR(&a, 9, 10, 0), 1);
    ask_wants(&a, INTENT_EXIT, "cross down");

    a = above(true); /* a cross under a live order is past, but not forgotten */
    a.input.live_orders = true;
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 0);
    a.input.live_orders = false;
    CHECK_INT(ASK_BAR(&a, 8, 10, 4), 0);
    CHECK_INT(ASK_BAR(&a, 11, 10, 4), 1);

    a = above(true); /* a hole forgets nothing */
    CHECK_INT(ASK_BAR(&a, NAN, 10, 4), 0);
    CHECK_INT(ASK_BAR(&a, 9, 10, NAN), 0);
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 1);
}

static void test_long_only(void)
{
    struct ask a = above(false);
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 0);
    CHECK_INT(ASK_BAR(&a, 11, 10, 4), 1);
    ask_wants(&a, INTENT_ENTER, "cross up");
    a.input.qty = 3;
    CHECK_INT(ASK_BAR(&a, 9, 10, 4), 1);
    ask_wants(&a, INTENT_EXIT, "cross down");
    CHECK(a.strategy->shorts);
}

static void test_params(void)
{
    struct ask a = ask_new("binance-day-trade");
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    CHECK_INT(a.strategy->specs(a.params, specs), 3);
    CHECK_STR(specs[0], "ema:8");
    CHECK_STR(specs[1], "ema:21");
    CHECK_STR(specs[2], "atr:14");
    CHECK(!a.strategy->check(a.params));
    ask_set(&a, "slow", "8");
    CHECK_STR(a.strategy->check(a.params), "fast: fewer bars than slow are needed");
}

int main(void)
{
    test_entries();
    test_turns();
    test_long_only();
    test_params();
    return check_done("strategy/binance_day_trade");
}
