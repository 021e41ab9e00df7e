#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/symbol.h"
#include "strategy/strategies.h"

enum { LOOKBACK, HOLD, EVERY, FRACTION, ONLY };
enum { ONLY_RISING, ONLY_ANY };

static const struct strategy_param params[] = {
    [LOOKBACK] = {"lookback", "bars of the return that symbols are ranked by", 60, 1, 5000, true},
    [HOLD] = {"hold", "symbols that are held: the best", 3, 1, 1000, true},
    [EVERY] = {"every", "bars from one ranking to the next, counted from 1970", 24, 1, 100000, true},
    [FRACTION] = {"fraction", "of equity in all of them, the same in each", 0.95, 0.001, 1, false},
    [ONLY] = {"only", "which are ranked: those whose return is above 0, or any", ONLY_RISING, 0, ONLY_ANY,
              true, "rising any"},
};

struct memory {
    uint64_t chosen[SYMBOLS_MAX / 64]; /* of the last ranking, by the peer's place */
    uint64_t ranked;                   /* there was one */
};

struct candidate {
    double gain;
    int at;
};

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    snprintf(out[0], STRATEGY_SPEC_TEXT, "roc:%.0f", p[LOOKBACK]);
    return 1;
}

/* The best first; of equal ones the first. */
static int by_gain(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->gain != y->gain ? (x->gain > y->gain ? -1 : 1) : x->at - y->at;
}

static void rank(const double *p, const struct strategy_input *input, struct memory *memory)
{
    struct candidate candidates[SYMBOLS_MAX];
    int n = 0;
    for (int k = 0; k < input->n_peers; k++) {
        double gain = input->peers[k].indicators[0];
        if (input->peers[k].fresh && !isnan(gain) && (p[ONLY] == ONLY_ANY || gain > 0))
            candidates[n++] = (struct candidate){gain, k};
    }
    qsort(candidates, (size_t)n, sizeof *candidates, by_gain);
    *memory = (struct memory){.ranked = 1};
    for (int i = 0; i < n && i < p[HOLD]; i++)
        memory->chosen[candidates[i].at / 64] |= UINT64_C(1) << candidates[i].at % 64;
}

static bool is_chosen(const struct memory *memory, int k)
{
    return memory->chosen[k / 64] >> k % 64 & 1;
}

/* What is not among the best any more; *ret_left: some of it is still held, or being sold. */
static size_t leave(const struct strategy_input *input, const struct memory *memory, struct intent *intents,
                    bool *ret_left)
{
    size_t n = 0;
    bool left = false;
    for (int k = 0; k < input->n_peers; k++) {
        const struct strategy_peer *peer = &input->peers[k];
        if (is_chosen(memory, k) || (peer->qty == 0 && !peer->live_orders))
            continue;
        left = true;
        if (peer->qty != 0 && peer->fresh && !peer->live_orders)
            intents[n++] = (struct intent){.kind = INTENT_EXIT, .symbol = k, .why = "out of the best"};
    }
    *ret_left = left;
    return n;
}

static size_t enter(const double *p, const struct strategy_input *input, const struct memory *memory,
                    struct intent *intents)
{
    size_t n = 0;
    for (int k = 0; k < input->n_peers; k++) {
        const struct strategy_peer *peer = &input->peers[k];
        if (is_chosen(memory, k) && peer->qty == 0 && peer->fresh && !peer->live_orders)
            intents[n++] = (struct intent){.kind = INTENT_ENTER,
                                           .symbol = k,
                                           .fraction = p[FRACTION] / p[HOLD],
                                           .why = "among the best"};
    }
    return n;
}

/* Rankings are at times that depend on the clock alone, so that where the history starts does not matter.
 * What is bought is paid by what was sold: it waits until that is done. */
static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct memory *memory = state;
    bool left;
    if (input->n_peers > SYMBOLS_MAX)
        return 0;
    if (input->ts_ns / input->interval_ns % (int64_t)p[EVERY] == 0)
        rank(p, input, memory);
    if (!memory->ranked)
        return 0;
    size_t n = leave(input, memory, intents, &left);
    return left ? n : enter(p, input, memory, intents);
}

STRATEGY_ROW(rank_momentum) = {
    .name = "rank-momentum",
    .summary =
        "holds the best of the account's symbols by their return over so many bars, ranked every so many",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .together = true,
    .symbols_min = 2,
    .specs = specs,
    .state_size = sizeof(struct memory),
    .on_bar = on_bar,
};
