/* A strategy with the intents of the test, which keeps its inputs. */
#ifndef TESTS_ENGINE_PUPPET_H
#define TESTS_ENGINE_PUPPET_H

#include "strategy/strategy.h"
#include "tests/engine/harness.h"

enum { PUPPET_ASKS_MAX = STRATEGY_INTENTS_MAX + 1 };

static struct intent puppet_wants[PUPPET_ASKS_MAX];
static size_t puppet_n;
static struct strategy_input puppet_saw;
static struct strategy_record puppet_record;
static uint64_t puppet_bars;

static inline size_t puppet_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    (void)specs;
    return 0;
}

/* Wants it once. */
static inline size_t puppet_bar(const double *params, void *state, const struct strategy_input *input,
                                struct intent *intents)
{
    size_t n = puppet_n;
    (void)params;
    (void)state;
    puppet_bars++;
    puppet_saw = *input;
    puppet_record = *input->record;
    memcpy(intents, puppet_wants, n * sizeof *intents);
    puppet_n = 0;
    return n;
}

static const struct strategy puppet_strategy = {.name = "puppet",
                                                .summary = "returns the intents of the test",
                                                .specs = puppet_specs,
                                                .on_bar = puppet_bar};

static inline void puppet_want(struct intent intent)
{
    puppet_wants[0] = intent;
    puppet_n = 1;
}

/* BTCUSDT's bar of the minute, in whole prices, as it closes; what is wanted then reaches the market. */
static inline void puppet_minute(struct harness *harness, int open, int high, int low, int close)
{
    pass(harness, MINUTE_NS - harness->now_ns % MINUTE_NS + MS_NS);
    struct bar bar = flat_bar(harness->now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, close * E8);
    bar.open = open * E8;
    bar.high = high * E8;
    bar.low = low * E8;
    kline(harness, BTCUSDT, &bar);
    pass(harness, 100 * MS_NS);
}

#endif
