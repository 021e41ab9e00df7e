#include <math.h>

#include "strategy/direction.h"
#include "strategy/strategies.h"

enum { FRACTION, EVERY, DRIFT, DIRECTION };

static const struct strategy_param params[] = {
    [FRACTION] = {"fraction", "of equity in all symbols together, the same in each", 0.95, 0.001, 1, false,
                  .opens = STRATEGY_OPENS_ALL},
    [EVERY] = {"every", "bars from one rebalancing to the next; 0: by drift only", 1440, 0, 1000000, true},
    [DRIFT] = {"drift", "rebalances a share that is off by more than this part of itself; 0: never", 0.25, 0,
               10, false},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

struct memory {
    int64_t due_ns; /* of the next rebalancing */
};

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    (void)p, (void)out;
    return 0;
}

/* The rhythm starts with the first share, and missing bars do not shift it; a due time beyond int64 never
 * comes. */
static bool is_due(const double *p, struct memory *memory, const struct strategy_input *input)
{
    int64_t every = (int64_t)p[EVERY];
    if (every == 0)
        return false;
    if (input->qty == 0)
        memory->due_ns = input->ts_ns;
    if (input->ts_ns < memory->due_ns)
        return false;
    int64_t bars = ((input->ts_ns - memory->due_ns) / input->interval_ns / every + 1) * every;
    bool comes = bars <= (INT64_MAX - memory->due_ns) / input->interval_ns;
    memory->due_ns = comes ? memory->due_ns + bars * input->interval_ns : INT64_MAX;
    return true;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    int side = direction_trades(p[DIRECTION], 1) ? 1 : -1; /* nothing ever turns it: both is long */
    if (input->live_orders || !(input->equity > 0) || !direction_opens(p[DIRECTION], side, input))
        return 0;
    double share = side * p[FRACTION] / input->symbols, held = input->qty * input->close / input->equity;
    bool due = is_due(p, state, input);
    const char *why = NULL;
    if (input->qty == 0)
        why = "first share";
    else if (due)
        why = "time to rebalance";
    else if (p[DRIFT] > 0 && fabs(held - share) > p[DRIFT] * fabs(share))
        why = "share has drifted";
    if (!why)
        return 0;
    intents[0] = (struct intent){.kind = INTENT_TARGET, .fraction = share, .why = why};
    return 1;
}

/* Until its time comes, or its share has drifted. */
static void idle(const double *p, const void *state, const struct strategy_input *input,
                 struct strategy_idle *ret)
{
    const struct memory *memory = state;
    int side = direction_trades(p[DIRECTION], 1) ? 1 : -1;
    if (input->live_orders || !direction_opens(p[DIRECTION], side, input))
        return;
    if (!(input->equity > 0))
        ret->until_ns = input->ts_ns;
    else if (p[EVERY] > 0)
        ret->until_ns = memory->due_ns;
    if (p[DRIFT] > 0) {
        double share = side * p[FRACTION] / input->symbols, drift = p[DRIFT] * fabs(share);
        ret->share_low = share - drift;
        ret->share_high = share + drift;
    }
}

STRATEGY_ROW(equal_weight) = {
    .name = "equal-weight",
    .summary =
        "holds the same share of equity in each symbol, or is short of it, rebalanced every so many bars and "
        "when a share has drifted",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .specs = specs,
    .on_bar = on_bar,
    .idle = idle,
};
