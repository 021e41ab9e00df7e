#include <math.h>

#include "strategy/strategies.h"

enum { PERIOD, ENTER, LEAVE, STOP, FRACTION, HEDGE, PERIOD_MAX = 8000 };

static const struct strategy_param params[] = {
    [PERIOD] = {"period", "bars of both symbols that the spread's mean and deviation are of", 60, 2,
                PERIOD_MAX, true},
    [ENTER] = {"enter", "enters where the spread is so many deviations from its mean", 2, 0.1, 100, false},
    [LEAVE] = {"leave", "leaves once it is back within so many", 0.5, 0, 100, false},
    [STOP] = {"stop", "leaves, and does not enter, beyond so many; 0: never", 0, 0, 100, false},
    [FRACTION] = {"fraction", "of equity in each of the two positions", 0.4, 0.001, 1, false,
                  .opens = STRATEGY_OPENS_EACH},
    [HEDGE] = {"hedge", "how much of the second symbol's logarithm is taken off the first one's", 1, 0.01,
               100, false},
};

/* The last spreads, of the bars that both symbols have. */
struct memory {
    uint64_t n;
    double spreads[PERIOD_MAX]; /* a ring: the newest at (n - 1) % period */
};

static const char *check(const double *p)
{
    if (p[LEAVE] >= p[ENTER])
        return "leave: less than enter is needed";
    return p[STOP] > 0 && p[STOP] <= p[ENTER] ? "stop: more than enter is needed, or 0" : NULL;
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    (void)p, (void)out;
    return 0;
}

/* Deviations of the newest spread from the mean of the period, summed from the oldest on, so that it depends
 * on these bars alone; NaN: there are too few, or they do not move. */
static double score(const struct memory *memory, uint64_t period)
{
    double sum = 0, squares = 0;
    if (memory->n < period)
        return NAN;
    for (uint64_t i = memory->n - period; i < memory->n; i++)
        sum += memory->spreads[i % period];
    double mean = sum / (double)period;
    for (uint64_t i = memory->n - period; i < memory->n; i++) {
        double off = memory->spreads[i % period] - mean;
        squares += off * off;
    }
    double deviation = sqrt(squares / (double)period);
    return deviation > 0 ? (memory->spreads[(memory->n - 1) % period] - mean) / deviation : NAN;
}

static size_t leave(const struct strategy_peer *peers, const char *why, struct intent *intents)
{
    size_t n = 0;
    for (int k = 0; k < 2; k++)
        if (peers[k].qty != 0)
            intents[n++] = (struct intent){.kind = INTENT_EXIT, .symbol = k, .why = why};
    return n;
}

static size_t held(const double *p, const struct strategy_peer *peers, double z, struct intent *intents)
{
    double off = peers[0].qty > 0 ? -z : z; /* how far it is on the side that it was entered on */
    if (peers[0].qty * peers[1].qty >= 0)
        return leave(peers, "leg is alone", intents);
    if (off <= p[LEAVE])
        return leave(peers, "spread is back", intents);
    return p[STOP] > 0 && off >= p[STOP] ? leave(peers, "spread runs away", intents) : 0;
}

/* The leg that is sold first: its proceeds buy nothing, but what it may cost is known then. */
static size_t enter(const double *p, const struct strategy_peer *peers, double z, struct intent *intents)
{
    int sold = z > 0 ? 0 : 1;
    if (!(fabs(z) >= p[ENTER]) || (p[STOP] > 0 && fabs(z) >= p[STOP]) || !peers[sold].shorts)
        return 0;
    intents[0] = (struct intent){
        .kind = INTENT_SHORT, .symbol = sold, .fraction = p[FRACTION], .why = "spread is wide"};
    intents[1] = (struct intent){
        .kind = INTENT_ENTER, .symbol = 1 - sold, .fraction = p[FRACTION], .why = "spread is wide"};
    return 2;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct memory *memory = state;
    const struct strategy_peer *peers = input->peers;
    uint64_t period = (uint64_t)p[PERIOD];
    if (input->n_peers < 2 || !peers[0].fresh || !peers[1].fresh || !(peers[0].close > 0) ||
        !(peers[1].close > 0))
        return 0;
    memory->spreads[memory->n++ % period] = log(peers[0].close) - p[HEDGE] * log(peers[1].close);
    double z = score(memory, period);
    if (peers[0].live_orders || peers[1].live_orders || isnan(z))
        return 0;
    return peers[0].qty != 0 || peers[1].qty != 0 ? held(p, peers, z, intents) : enter(p, peers, z, intents);
}

_Static_assert(sizeof(struct memory) <= STRATEGY_STATE_MAX, "the state of pairs");

STRATEGY_ROW(pairs) = {
    .name = "pairs",
    .summary =
        "sells the dearer of the account's first two symbols short and buys the other, when their spread is "
        "wide, and leaves once it is back",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .needs_shorts = true,
    .together = true,
    .symbols_min = 2,
    .check = check,
    .specs = specs,
    .state_size = sizeof(struct memory),
    .on_bar = on_bar,
};
