#include <string.h>

#include "strategy/direction.h"
#include "strategy/mask.h"
#include "strategy/record.h"
#include "strategy/strategies.h"

enum { FRACTION, DIRECTION };

static const struct strategy_param params[] = {
    [FRACTION] = {"fraction", "of equity in all symbols together, the same in each", 1, 0.001, 1, false,
                  .opens = STRATEGY_OPENS_ALL},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    (void)p, (void)out;
    return 0;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    (void)state; /* the trade record replaces memory, so that history before trading began does not count */
    if (input->live_orders || input->qty != 0 || input->record->wins + input->record->losses > 0)
        return 0;
    int side = direction_trades(p[DIRECTION], 1) ? 1 : -1; /* nothing ever turns it: both is long */
    if (!direction_opens(p[DIRECTION], side, input))
        return 0;
    intents[0] = (struct intent){.kind = direction_entry(side),
                                 .fraction = p[FRACTION] / input->symbols,
                                 .why = side > 0 ? "buy to hold" : "sell short to hold"};
    return 1;
}

/* Flat, each bar may open; holding, no bar does anything. */
static void scan(const double *p, const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    (void)p;
    size_t whole = columns->n / MASK_BITS, rest = columns->n % MASK_BITS;
    memset(marks->flat, 0xff, whole * sizeof *marks->flat);
    if (rest > 0)
        marks->flat[whole] = (UINT64_C(1) << rest) - 1;
}

STRATEGY_ROW(buy_and_hold) = {
    .name = "buy-and-hold",
    .summary = "buys each symbol at its first bar, or sells it short, and holds that",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
};
