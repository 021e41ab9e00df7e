/* pairs and rank-momentum, on rounds made by hand. */
#include <math.h>
#include <stdlib.h>

#include "strategy/intent.h"
#include "strategy/record.h"
#include "tests/check.h"

enum { SYMBOLS = 4 };

static const struct strategy_record record;
static struct strategy_peer peers[SYMBOLS];
static double returns[SYMBOLS];
static double params[STRATEGY_PARAMS_MAX];
static const struct strategy *strategy;
static void *state;
static int64_t ts_ns;
static struct intent intents[SYMBOLS * STRATEGY_INTENTS_MAX];

static void begin(const char *name)
{
    strategy = strategy_find(name);
    CHECK(strategy && strategy->together && strategy->symbols_min == 2);
    strategy_defaults(strategy, params);
    free(state);
    state = calloc(1, strategy_state_size(strategy));
    ts_ns = 0;
    for (int k = 0; k < SYMBOLS; k++)
        peers[k] = (struct strategy_peer){.name = "symbol",
                                          .fresh = true,
                                          .close = 100,
                                          .indicators = &returns[k],
                                          .shorts = true,
                                          .record = &record};
}

static void set(const char *name, const char *text)
{
    CHECK_INT(strategy_set(strategy, params, name, text, NULL), 0);
}

static size_t next(int n_peers)
{
    ts_ns += 60000000000;
    const struct strategy_input input = {.ts_ns = ts_ns,
                                         .interval_ns = 60000000000,
                                         .close = peers[0].close,
                                         .equity = 10000,
                                         .symbols = n_peers,
                                         .record = &record,
                                         .peers = peers,
                                         .n_peers = n_peers};
    return strategy->on_bar(params, state, &input, intents);
}

static void is(size_t at, enum intent_kind kind, int symbol, const char *why)
{
    CHECK_INT(intents[at].kind, kind);
    CHECK_INT(intents[at].symbol, symbol);
    CHECK_STR(intents[at].why, why);
}

/* Spreads of 0 but the last: its z is sqrt(n - 1) whatever its size. */
static void test_pairs(void)
{
    begin("pairs");
    set("period", "5");
    set("enter", "1.9");
    set("stop", "5");
    for (int i = 0; i < 6; i++)
        CHECK_INT(next(2), 0); /* too few, then without a deviation */
    peers[0].close = 101;
    CHECK_INT(next(2), 2);
    is(0, INTENT_SHORT, 0, "spread is wide");
    is(1, INTENT_ENTER, 1, "spread is wide");
    CHECK(intents[0].fraction == 0.4 && intents[1].fraction == 0.4);
    peers[0].qty = -1;
    peers[1].qty = 1;
    CHECK_INT(next(2), 0); /* 1.22 off */
    peers[0].close = 100;
    CHECK_INT(next(2), 2);
    is(0, INTENT_EXIT, 0, "spread is back");
    is(1, INTENT_EXIT, 1, "spread is back");
    peers[0].live_orders = true;
    CHECK_INT(next(2), 0);
    peers[0].live_orders = false;
    peers[1].qty = 0;
    CHECK_INT(next(2), 1);
    is(0, INTENT_EXIT, 0, "leg is alone");

    begin("pairs");
    set("period", "5");
    set("enter", "1.9");
    peers[1].shorts = false; /* which would be the dearer one */
    for (int i = 0; i < 5; i++)
        next(2);
    peers[1].close = 101;
    CHECK_INT(next(2), 0);
    for (int i = 0; i < 5; i++)
        next(2);
    peers[0].fresh = false; /* the spread is not moved by half a round */
    peers[1].close = 50;
    CHECK_INT(next(2), 0);
    peers[0].fresh = true;
    peers[1].close = 101;
    CHECK_INT(next(2), 0);
    peers[0].close = 102;
    CHECK_INT(next(2), 2);
    is(0, INTENT_SHORT, 0, "spread is wide");
    CHECK_INT(next(1), 0); /* one symbol is no pair */

    set("leave", "1.9");
    CHECK_STR(strategy->check(params), "leave: less than enter is needed");
    set("leave", "0");
    set("stop", "1.9");
    CHECK_STR(strategy->check(params), "stop: more than enter is needed, or 0");
}

static void test_rank(void)
{
    begin("rank-momentum");
    set("hold", "2");
    set("every", "3");
    set("fraction", "0.5");
    returns[0] = 1;
    returns[1] = 5;
    returns[2] = NAN;
    returns[3] = -2;
    CHECK(next(4) == 0 && next(4) == 0); /* not ranked yet */
    CHECK_INT(next(4), 2);
    is(0, INTENT_ENTER, 0, "among the best");
    is(1, INTENT_ENTER, 1, "among the best");
    CHECK(intents[0].fraction == 0.25 && intents[1].fraction == 0.25);
    peers[1].qty = 1;
    returns[0] = -1; /* until the next ranking it is among the best */
    CHECK_INT(next(4), 1);
    is(0, INTENT_ENTER, 0, "among the best");
    peers[0].qty = 1;
    CHECK_INT(next(4), 0);
    returns[2] = 7;
    CHECK_INT(next(4), 1); /* what it is replaced by waits for its money */
    is(0, INTENT_EXIT, 0, "out of the best");
    peers[0].live_orders = true;
    CHECK_INT(next(4), 0);
    peers[0] = (struct strategy_peer){.fresh = true, .indicators = &returns[0], .record = &record};
    peers[2].fresh = false;
    CHECK_INT(next(4), 0);
    peers[2].fresh = true;
    returns[0] = 7; /* at the ranking: of equal ones the first */
    set("hold", "1");
    CHECK_INT(next(4), 1);
    is(0, INTENT_EXIT, 1, "out of the best");
    peers[1].qty = 0;
    CHECK_INT(next(4), 1);
    is(0, INTENT_ENTER, 0, "among the best");

    set("only", "any");
    set("hold", "4");
    CHECK(next(4) == 1 && next(4) == 4); /* falling ones, too */
    returns[0] = returns[1] = returns[2] = -1;
    set("only", "rising");
    CHECK(next(4) == 4 && next(4) == 4 && next(4) == 0);
}

int main(void)
{
    test_pairs();
    test_rank();
    free(state);
    return check_done("strategy/several");
}
