/* Trends of two timeframes: entries at a limit, once an hour, exits, the stop that follows, pauses. */
#include "tests/strategy/ask.h"

#define MINUTE_NS 60000000000LL
#define HOUR_NS   (60 * MINUTE_NS)

static const double rising[] = {103, 102, 101, 13, 12, 11, 50, 60, 60, 4};

enum { FAST_4H, MID_4H, SLOW_4H, FAST_1H, MID_1H, SLOW_1H, RSI, SLOWK, SLOWD, ATR, OUTPUTS };

struct scene {
    struct ask ask;
    double values[OUTPUTS];
};

/* The bar before 10:00 has been seen, and did nothing. */
static struct scene scene(void)
{
    struct scene s = {.ask = ask_new("trend-4h-1h")};
    double none[OUTPUTS];
    for (size_t i = 0; i < OUTPUTS; i++)
        none[i] = NAN;
    s.ask.input.ts_ns = 10 * HOUR_NS - MINUTE_NS;
    CHECK_INT(ask_values(&s.ask, OUTPUTS, none), 0);
    s.ask.input.ts_ns = 10 * HOUR_NS;
    memcpy(s.values, rising, sizeof rising);
    return s;
}

static size_t bar(struct scene *s)
{
    size_t n = ask_values(&s->ask, OUTPUTS, s->values);
    s->ask.input.ts_ns += MINUTE_NS;
    return n;
}

static void test_entry(void)
{
    struct scene s = scene();
    CHECK_INT(bar(&s), 1);
    ask_wants(&s.ask, INTENT_ENTER, "trends of 4h and 1h agree");
    const struct intent *intent = &s.ask.intents[0];
    CHECK(intent->limit == 99 && intent->stop == 91 && intent->profit == 115);
    CHECK(intent->good_ns == 10 * HOUR_NS + 120 * MINUTE_NS);
    CHECK_NEAR(intent->fraction, 0.02 * 99 / 8, 1e-15);
    for (int i = 1; i < 60; i++)
        CHECK_INT(bar(&s), 0); /* once an hour */
    CHECK_INT(bar(&s), 1);

    s.ask.input.ts_ns = 13 * HOUR_NS + 7 * MINUTE_NS; /* the bars that began the hour are missing */
    CHECK_INT(bar(&s), 1);
    CHECK_INT(bar(&s), 0);

    s = scene();
    s.ask.input.live_orders = true;
    CHECK_INT(bar(&s), 0);
    s.ask.input.live_orders = false;
    CHECK_INT(bar(&s), 0); /* that hour is past */

    s = scene();
    ask_set(&s.ask, "limit_atr", "0");
    ask_set(&s.ask, "profit_atr", "0");
    CHECK_INT(bar(&s), 1);
    CHECK(s.ask.intents[0].limit == 0 && s.ask.intents[0].good_ns == 0);
    CHECK(s.ask.intents[0].stop == 92 && s.ask.intents[0].profit == 0);
    CHECK_NEAR(s.ask.intents[0].fraction, 0.25, 1e-15);
}

static void test_conditions(void)
{
    static const struct {
        int at;
        double value;
        size_t expected;
    } cases[] = {
        {FAST_4H, 102, 0},  {FAST_4H, 101.5, 0}, {MID_4H, 101, 0},   {SLOW_4H, 102, 0}, {FAST_1H, 12, 0},
        {FAST_1H, 12.1, 1}, {MID_1H, 11, 0},     {SLOW_1H, 12.5, 0}, {RSI, 30, 1},      {RSI, 70, 1},
        {RSI, 29.99, 0},    {RSI, 70.01, 0},     {SLOWK, 74.99, 1},  {SLOWK, 75, 0},    {SLOWD, 99, 1},
        {ATR, 0, 0},        {ATR, 44, 1},        {ATR, 50, 0},       {ATR, -1, 0},      {ATR, 1e-300, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s = scene();
        s.values[cases[i].at] = cases[i].value;
        CHECK_INT(bar(&s), cases[i].expected);
    }
    for (size_t i = 0; i < OUTPUTS; i++) {
        struct scene s = scene();
        s.values[i] = NAN;
        CHECK_INT(bar(&s), i == SLOWD);
    }
}

static void test_exit(void)
{
    struct scene s = scene();
    s.ask.input.qty = 2;
    s.ask.input.stop = 91;
    CHECK_INT(bar(&s), 0);
    s.values[FAST_4H] = 1; /* of 4h: no matter */
    CHECK_INT(bar(&s), 0);
    s.values[FAST_1H] = 12;
    CHECK_INT(bar(&s), 0);
    s.values[FAST_1H] = 11.9;
    CHECK_INT(bar(&s), 1); /* in the midst of an hour too */
    ask_wants(&s.ask, INTENT_EXIT, "trend of 1h turned");
    CHECK_INT(bar(&s), 1);
    s.ask.input.live_orders = true;
    CHECK_INT(bar(&s), 0);
}

static void test_trail(void)
{
    struct scene s = scene();
    ask_set(&s.ask, "trail_atr", "3");
    s.ask.input.qty = 2;
    s.ask.input.stop = 87;
    CHECK_INT(bar(&s), 1);
    ask_wants(&s.ask, INTENT_STOP, "stop follows the close");
    CHECK(s.ask.intents[0].stop == 88);
    CHECK_INT(bar(&s), 0); /* once an hour */
    static const struct {
        double stop, atr;
        size_t expected;
    } cases[] = {{88, 4, 0}, {88.5, 4, 0}, {0, 4, 0}, {87.9, 4, 1}, {50, 0, 0}, {50, NAN, 0}, {50, 20, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s = scene();
        ask_set(&s.ask, "trail_atr", "3");
        s.ask.input.qty = 2;
        s.ask.input.stop = cases[i].stop;
        s.values[ATR] = cases[i].atr;
        CHECK_INT(bar(&s), cases[i].expected);
    }
}

/* At 10:00, 11:00, …: is there an entry? Losses come between. */
static size_t hourly(struct scene *s, int64_t hour)
{
    s->ask.input.ts_ns = hour * HOUR_NS;
    return bar(s);
}

static void test_pause(void)
{
    struct scene s = scene();
    ask_set(&s.ask, "losses_max", "2");
    ask_set(&s.ask, "pause_hours", "3");
    CHECK_INT(hourly(&s, 10), 1);
    s.ask.record = (struct strategy_record){.losses = 1, .losing = 1};
    CHECK_INT(hourly(&s, 11), 1);
    s.ask.record = (struct strategy_record){.losses = 2, .losing = 2};
    CHECK_INT(hourly(&s, 12), 0);
    CHECK_INT(hourly(&s, 13), 0);
    CHECK_INT(hourly(&s, 14), 0);
    CHECK_INT(hourly(&s, 15), 1); /* three hours later; the record is the same */
    s.ask.record = (struct strategy_record){.losses = 3, .losing = 3};
    CHECK_INT(hourly(&s, 16), 0); /* one more begins the next */
    CHECK_INT(hourly(&s, 18), 0);
    s.ask.record = (struct strategy_record){.wins = 1, .losses = 3};
    CHECK_INT(hourly(&s, 19), 1);
    s.ask.record = (struct strategy_record){.wins = 1, .losses = 4, .losing = 1};
    CHECK_INT(hourly(&s, 20), 1);

    s = scene(); /* never */
    ask_set(&s.ask, "losses_max", "0");
    s.ask.record = (struct strategy_record){.losses = 99, .losing = 99};
    CHECK_INT(hourly(&s, 10), 1);

    s = scene(); /* a pause does not keep from selling */
    ask_set(&s.ask, "losses_max", "1");
    s.ask.record = (struct strategy_record){.losses = 1, .losing = 1};
    s.ask.input.qty = 1;
    s.values[FAST_1H] = 1;
    CHECK_INT(hourly(&s, 10), 1);
    ask_wants(&s.ask, INTENT_EXIT, "trend of 1h turned");
}

static void test_params(void)
{
    struct ask a = ask_new("trend-4h-1h");
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    static const char *const expected[] = {"ema:9@4h",  "ema:26@4h",       "ema:50@4h",
                                           "ema:9@1h",  "ema:26@1h",       "ema:50@1h",
                                           "rsi:14@1h", "stoch:14,3,3@1h", "atr:14@1h"};
    CHECK_INT(a.strategy->specs(a.params, specs), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_STR(specs[i], expected[i]);
    CHECK(!a.strategy->check(a.params));
    ask_set(&a, "rsi_max", "30");
    CHECK_STR(a.strategy->check(a.params), "rsi_min: less than rsi_max is needed");
    ask_set(&a, "slow", "26");
    CHECK_STR(a.strategy->check(a.params), "mid: fewer bars than slow are needed");
    ask_set(&a, "mid", "9");
    CHECK_STR(a.strategy->check(a.params), "fast: fewer bars than mid are needed");
}

int main(void)
{
    test_entry();
    test_conditions();
    test_exit();
    test_trail();
    test_pause();
    test_params();
    return check_done("strategy/trend_4h_1h");
}
