/* rank-momentum as a shared object, of at most 64 symbols. */
#include <math.h>
#include <papertape/strategy.h>
#include <stdio.h>

enum { LOOKBACK, HOLD, EVERY, FRACTION };

static const struct papertape_param params[] = {
    [LOOKBACK] = {"lookback", "bars of the return", 60, 1, 5000, 1, 0, NULL},
    [HOLD] = {"hold", "symbols that are held", 3, 1, 1000, 1, 0, NULL},
    [EVERY] = {"every", "bars from one ranking to the next", 24, 1, 100000, 1, 0, NULL},
    [FRACTION] = {"fraction", "of equity in all of them", 0.95, 0.001, 1, 0, 0, NULL},
};

struct memory {
    uint64_t chosen, ranked;
};

static size_t specs(const double *p, char out[][PAPERTAPE_SPEC_TEXT])
{
    snprintf(out[0], PAPERTAPE_SPEC_TEXT, "roc:%.0f", p[LOOKBACK]);
    return 1;
}

/* How many of the peers are better; -1: it is not ranked. */
static int place_of(const struct papertape_input *bar, uint32_t k)
{
    const struct papertape_peer *own = bar->peers[k];
    int better = 0;
    if (!own->fresh || !(own->indicators[0] > 0))
        return -1;
    for (uint32_t i = 0; i < bar->n_peers; i++) {
        const struct papertape_peer *peer = bar->peers[i];
        better += peer->fresh && (peer->indicators[0] > own->indicators[0] ||
                                  (i < k && peer->indicators[0] == own->indicators[0]));
    }
    return better;
}

static void rank(const double *p, const struct papertape_input *bar, struct memory *memory)
{
    memory->chosen = 0;
    memory->ranked = 1;
    for (uint32_t k = 0; k < bar->n_peers && k < 64; k++) {
        int place = place_of(bar, k);
        if (place >= 0 && place < p[HOLD])
            memory->chosen |= UINT64_C(1) << k;
    }
}

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    struct memory *memory = (struct memory *)state;
    size_t n = 0;
    int left = 0;
    if (bar->ts_ns / bar->interval_ns % (int64_t)p[EVERY] == 0)
        rank(p, bar, memory);
    if (!memory->ranked)
        return 0;
    for (uint32_t k = 0; k < bar->n_peers && k < 64; k++) {
        const struct papertape_peer *peer = bar->peers[k];
        if ((memory->chosen >> k & 1) || (peer->qty == 0 && !peer->live_orders))
            continue;
        left = 1;
        if (peer->qty == 0 || !peer->fresh || peer->live_orders)
            continue;
        intents[n].kind = PAPERTAPE_EXIT;
        intents[n].symbol = k;
        intents[n++].why = "out of the best";
    }
    for (uint32_t k = 0; k < bar->n_peers && k < 64 && !left; k++) {
        const struct papertape_peer *peer = bar->peers[k];
        if (!(memory->chosen >> k & 1) || peer->qty != 0 || !peer->fresh || peer->live_orders)
            continue;
        intents[n].kind = PAPERTAPE_ENTER;
        intents[n].symbol = k;
        intents[n].fraction = p[FRACTION] / p[HOLD];
        intents[n++].why = "among the best";
    }
    return n;
}

static const struct papertape_strategy table = {
    .size = sizeof table,
    .version = PAPERTAPE_STRATEGY_VERSION,
    .name = "rank-momentum",
    .summary = "holds the best of the account's symbols",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .param_size = sizeof *params,
    .state_size = sizeof(struct memory),
    .specs = specs,
    .on_bar = on_bar,
    .together = 1,
    .symbols_min = 2,
};

const struct papertape_strategy *papertape_strategy_v1(void)
{
    return &table;
}
