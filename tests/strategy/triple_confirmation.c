/* Averages, RSI and MACD: when they agree, when two have turned. */
#include "tests/strategy/ask.h"

/* Up, neutral and down for each of the three. */
enum { DOWN = -1, EVEN, UP };

static size_t bar(struct ask *a, int averages, double rsi, int macd)
{
    return ASK_BAR(a, 10 + averages, 10, rsi, 7 + macd, 7, macd, 2);
}

static struct ask apart(void)
{
    struct ask a = ask_new("triple-confirmation");
    CHECK_INT(bar(&a, DOWN, 40, DOWN), 0);
    return a;
}

static void test_entry(void)
{
    struct ask a = apart();
    CHECK_INT(bar(&a, UP, 60, DOWN), 0);
    CHECK_INT(bar(&a, UP, 60, UP), 1);
    ask_wants(&a, INTENT_ENTER, "all three agree");
    CHECK(a.intents[0].stop == 96 && a.intents[0].profit == 108);
    CHECK_NEAR(a.intents[0].fraction, 0.25, 1e-15); /* 1 % over 4 of 100 */
    CHECK_INT(bar(&a, UP, 60, UP), 0);              /* once */

    static const struct {
        int averages;
        double rsi;
        int macd;
        size_t expected;
    } cases[] = {{UP, 50, UP, 1},     {UP, 70, UP, 1},    {UP, 49.999, UP, 0}, {UP, 70.001, UP, 0},
                 {EVEN, 60, UP, 0},   {DOWN, 60, UP, 0},  {UP, 60, EVEN, 0},   {UP, 60, DOWN, 0},
                 {DOWN, 60, DOWN, 0}, {EVEN, 50, EVEN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a = apart();
        CHECK_INT(bar(&a, cases[i].averages, cases[i].rsi, cases[i].macd), cases[i].expected);
    }

    a = ask_new("triple-confirmation"); /* agreeing from the first bar on: no coming to agree was seen */
    CHECK_INT(bar(&a, UP, 60, UP), 0);
    CHECK_INT(bar(&a, UP, 60, UP), 0);

    a = apart(); /* a hole forgets nothing */
    CHECK_INT(ASK_BAR(&a, 11, 10, 60, 8, NAN, 1, 2), 0);
    CHECK_INT(bar(&a, UP, 60, UP), 1);

    a = apart();
    a.input.positions = 3;
    CHECK_INT(bar(&a, UP, 60, UP), 0);
    a.input.positions = 0;
    CHECK_INT(bar(&a, UP, 60, UP), 0); /* that coming is past */

    a = apart();
    CHECK_INT(ASK_BAR(&a, 11, 10, 60, 8, 7, 1, 0), 0); /* no range: nothing to size by */
    a = apart();
    ask_set(&a, "profit_atr", "0");
    CHECK_INT(bar(&a, UP, 60, UP), 1);
    CHECK(a.intents[0].profit == 0);
}

static void test_exit(void)
{
    static const struct {
        int averages;
        double rsi;
        int macd;
        size_t expected;
    } cases[] = {{DOWN, 49, DOWN, 1}, {DOWN, 49, UP, 1},   {DOWN, 60, DOWN, 1}, {UP, 49, DOWN, 1},
                 {DOWN, 50, UP, 0},   {UP, 49, UP, 0},     {UP, 60, DOWN, 0},   {UP, 99, UP, 0},
                 {EVEN, 49, EVEN, 0}, {EVEN, 10, DOWN, 1}, {DOWN, 99, EVEN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask a = apart();
        a.input.qty = 1;
        a.input.positions = 9;
        CHECK_INT(bar(&a, cases[i].averages, cases[i].rsi, cases[i].macd), cases[i].expected);
        if (cases[i].expected)
            ask_wants(&a, INTENT_EXIT, "two of three turned");
    }
    struct ask a = apart();
    a.input.qty = 1;
    a.input.live_orders = true;
    CHECK_INT(bar(&a, DOWN, 40, DOWN), 0);
}

static void test_params(void)
{
    struct ask a = ask_new("triple-confirmation");
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    CHECK(!a.strategy->check(a.params));
    CHECK_INT(a.strategy->specs(a.params, specs), 5);
    CHECK_STR(specs[3], "macd:12,26,9");
    CHECK_STR(specs[4], "atr:14");
    ask_set(&a, "rsi_min", "70");
    CHECK_STR(a.strategy->check(a.params), "rsi_min: less than rsi_max is needed");
    ask_set(&a, "macd_slow", "12");
    CHECK_STR(a.strategy->check(a.params), "macd_fast: fewer bars than macd_slow are needed");
    ask_set(&a, "slow", "20");
    CHECK_STR(a.strategy->check(a.params), "fast: fewer bars than slow are needed");
}

int main(void)
{
    test_entry();
    test_exit();
    test_params();
    return check_done("strategy/triple_confirmation");
}
