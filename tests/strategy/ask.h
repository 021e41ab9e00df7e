/* A strategy asked bar by bar: its parameters, its memory between guards, what it sees, what it answers. */
#ifndef TESTS_STRATEGY_ASK_H
#define TESTS_STRATEGY_ASK_H

#include <string.h>

#include "exchange/order.h"
#include "strategy/intent.h"
#include "strategy/record.h"
#include "strategy/strategy.h"
#include "tests/check.h"

enum { ASK_VALUES_MAX = 16, ASK_GUARD = 32, ASK_POISON = 0xA5 };

struct ask {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    bool loose; /* indicators make no sense: nor need the intents */
    struct strategy_record record;
    struct strategy_input input; /* its indicators and record are set by ask_values() */
    double values[ASK_VALUES_MAX];
    struct intent intents[STRATEGY_INTENTS_MAX];
    _Alignas(8) unsigned char state[STRATEGY_STATE_SIZE + ASK_GUARD];
};

static inline void ask_set(struct ask *ask, const char *name, const char *text)
{
    CHECK_INT(strategy_set(ask->strategy, ask->params, name, text, NULL), 0);
}

/* With the defaults; flat, 10000 of equity, one symbol, bars of a minute that close at 100. */
static inline struct ask ask_new(const char *strategy)
{
    struct ask ask = {.strategy = strategy_find(strategy),
                      .input = {.ts_ns = 60000000000,
                                .interval_ns = 60000000000,
                                .open = 100,
                                .high = 100,
                                .low = 100,
                                .close = 100,
                                .equity = 10000,
                                .cash = 10000,
                                .symbols = 1}};
    memset(ask.state + STRATEGY_STATE_SIZE, ASK_POISON, ASK_GUARD);
    strategy_defaults(ask.strategy, ask.params);
    return ask;
}

/* One bar with these indicators. Intents that no engine would carry out fail the test. */
static inline size_t ask_values(struct ask *ask, size_t n_values, const double *values)
{
    for (size_t i = 0; i < n_values; i++)
        ask->values[i] = values[i];
    ask->input.indicators = ask->values;
    ask->input.record = &ask->record;
    memset(ask->intents, ASK_POISON, sizeof ask->intents);
    size_t n = ask->strategy->on_bar(ask->params, ask->state, &ask->input, ask->intents);
    CHECK(n <= STRATEGY_INTENTS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (!ask->loose)
            CHECK_STR(intent_fault_name(intent_check(&ask->intents[i], &ask->input)), "");
        CHECK(ask->intents[i].why && ask->intents[i].why[0]);
        CHECK(strlen(ask->intents[i].why) < ORDER_TAG_MAX); /* it is recorded whole */
    }
    for (size_t i = 0; i < ASK_GUARD; i++)
        CHECK(ask->state[STRATEGY_STATE_SIZE + i] == ASK_POISON);
    return n;
}

#define ASK_BAR(ask, ...) \
    ask_values(ask, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static inline void ask_wants(const struct ask *ask, enum intent_kind kind, const char *why)
{
    CHECK_INT(ask->intents[0].kind, kind);
    CHECK_STR(ask->intents[0].why, why);
}

#endif
