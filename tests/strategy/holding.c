/* Buying to hold, and equal weights. */
#include "tests/strategy/ask.h"

#define MINUTE_NS 60000000000LL

static size_t bar(struct ask *a)
{
    size_t n = ask_values(a, 0, NULL);
    a->input.ts_ns += MINUTE_NS;
    return n;
}

static void test_hold(void)
{
    struct ask a = ask_new("buy-and-hold");
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_ENTER, "buy to hold");
    CHECK(a.intents[0].fraction == 1 && a.intents[0].stop == 0 && a.intents[0].profit == 0 &&
          a.intents[0].limit == 0);
    CHECK_INT(bar(&a), 1); /* it was refused: again */
    a.input.live_orders = true;
    CHECK_INT(bar(&a), 0);
    a.input.live_orders = false;
    a.input.qty = 2;
    CHECK_INT(bar(&a), 0);
    a.input.qty = 0; /* sold by hand: it stays sold */
    a.record.losses = 1;
    CHECK_INT(bar(&a), 0);
    a.record = (struct strategy_record){.wins = 1};
    CHECK_INT(bar(&a), 0);

    a = ask_new("buy-and-hold");
    ask_set(&a, "fraction", "0.6");
    a.input.symbols = 3;
    CHECK_INT(bar(&a), 1);
    CHECK_NEAR(a.intents[0].fraction, 0.2, 1e-15);
    a.input.qty = -1;
    CHECK_INT(bar(&a), 0);
}

static struct ask weight(const char *every, const char *drift)
{
    struct ask a = ask_new("equal-weight");
    ask_set(&a, "fraction", "0.8");
    ask_set(&a, "every", every);
    ask_set(&a, "drift", drift);
    a.input.symbols = 4;
    return a;
}

static void test_period(void)
{
    struct ask a = weight("5", "0");
    a.input.ts_ns = 1000 * MINUTE_NS;
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "first share");
    CHECK_NEAR(a.intents[0].fraction, 0.2, 1e-15);
    a.input.qty = 20; /* exactly its share */
    for (int i = 1; i <= 17; i++) {
        CHECK_INT(bar(&a), i % 5 == 0);
        if (i % 5 == 0)
            ask_wants(&a, INTENT_TARGET, "time to rebalance");
    }
    a.input.ts_ns +=
        5 * MINUTE_NS; /* bars 18 to 22 are missing: the period of 20 ends at 23, and keeps time */
    CHECK_INT(bar(&a), 1);
    CHECK_INT(bar(&a), 0);
    CHECK_INT(bar(&a), 1);
    a.input.live_orders = true;
    for (int i = 0; i < 5; i++)
        CHECK_INT(bar(&a), 0);
    a.input.live_orders = false; /* the interval ended under a live order: at the next bar */
    CHECK_INT(bar(&a), 1);
    CHECK_INT(bar(&a), 0);

    a.input.qty = 0; /* sold by hand: the interval restarts */
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "first share");
    a.input.qty = 20;
    for (int i = 1; i <= 5; i++)
        CHECK_INT(bar(&a), i == 5);
}

/* The longest period of the longest bars ends after all times there are: it never comes. */
static void test_endless_period(void)
{
    struct ask a = weight("1000000", "0");
    a.input.interval_ns = 7 * 24 * 60 * MINUTE_NS;
    a.input.ts_ns = 2600 * a.input.interval_ns;
    CHECK_INT(bar(&a), 1);
    a.input.qty = 20;
    for (int i = 0; i < 500; i++) {
        a.input.ts_ns += a.input.interval_ns;
        CHECK_INT(bar(&a), 0);
    }
}

static void test_drift(void)
{
    struct ask a = weight("0", "0.25");
    CHECK_INT(bar(&a), 1);
    a.input.qty = 20;
    for (int i = 0; i < 100; i++)
        CHECK_INT(bar(&a), 0); /* no period ends */
    a.input.close = 125;
    CHECK_INT(bar(&a), 0); /* a share of 0.25 is 0.25 too much: at the bound */
    a.input.close = 125.01;
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "share has drifted");
    CHECK_NEAR(a.intents[0].fraction, 0.2, 1e-15);
    a.input.close = 75.01;
    CHECK_INT(bar(&a), 0);
    a.input.close = 74.99;
    CHECK_INT(bar(&a), 1);
    a.input.qty = -1; /* short by hand: far off */
    CHECK_INT(bar(&a), 1);
    a.input.equity = 0;
    CHECK_INT(bar(&a), 0);
    a.input.equity = -10;
    CHECK_INT(bar(&a), 0);

    a = weight("10", "0.25"); /* drift does not move the period */
    bar(&a);
    a.input.qty = 20;
    for (int i = 1; i <= 30; i++) {
        a.input.close = i == 7 ? 150 : 100;
        CHECK_INT(bar(&a), i == 7 || i % 10 == 0);
    }
    a = weight("0", "0");
    CHECK_INT(bar(&a), 1);
    a.input.qty = 1;
    CHECK_INT(bar(&a), 0);
}

static struct ask short_of(const char *strategy)
{
    struct ask a = ask_new(strategy);
    ask_set(&a, "direction", "short");
    return a;
}

/* Sold short, where the account may be; what both holds is long, as nothing turns it. */
static void test_hold_short(void)
{
    struct ask a = short_of("buy-and-hold");
    CHECK_INT(bar(&a), 0); /* it may not be short */
    a.input.shorts = true;
    ask_set(&a, "fraction", "0.5");
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_SHORT, "sell short to hold");
    CHECK(a.intents[0].fraction == 0.5 && a.intents[0].stop == 0 && a.intents[0].profit == 0);
    a.input.qty = -50;
    CHECK_INT(bar(&a), 0);
    a.input.qty = 0; /* bought back by hand */
    a.record.wins = 1;
    CHECK_INT(bar(&a), 0);

    a = ask_new("buy-and-hold");
    ask_set(&a, "direction", "both");
    a.input.shorts = true;
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_ENTER, "buy to hold");
}

static void test_weight_short(void)
{
    struct ask a = short_of("equal-weight");
    ask_set(&a, "fraction", "0.8");
    ask_set(&a, "every", "5");
    a.input.symbols = 4;
    CHECK_INT(bar(&a), 0); /* it may not be short: and the period has not started */
    a.input.shorts = true;
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "first share");
    CHECK_NEAR(a.intents[0].fraction, -0.2, 1e-15);
    a.input.qty = -20; /* exactly its share */
    for (int i = 1; i <= 4; i++)
        CHECK_INT(bar(&a), 0);
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "time to rebalance");
    a.input.close = 125;
    CHECK_INT(bar(&a), 0); /* a quarter too much: at the bound */
    a.input.close = 125.01;
    CHECK_INT(bar(&a), 1);
    ask_wants(&a, INTENT_TARGET, "share has drifted");
    a.input.close = 74.99;
    CHECK_INT(bar(&a), 1);
    a.input.close = 75.01;
    CHECK_INT(bar(&a), 0);
}

int main(void)
{
    test_hold();
    test_hold_short();
    test_weight_short();
    test_period();
    test_endless_period();
    test_drift();
    return check_done("strategy/holding");
}
