#include <string.h>

#include "strategy/mask.h"
#include "strategy/record.h"
#include "strategy/strategies.h"

enum { FRACTION };

static const struct strategy_param params[] = {
    [FRACTION] = {"fraction", "of equity in all symbols together, the same in each", 1, 0.001, 1, false,
                  .opens = STRATEGY_OPENS_ALL},
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
    intents[0] =
        (struct intent){.kind = INTENT_ENTER, .fraction = p[FRACTION] / input->symbols, .why = "buy to hold"};
    return 1;
}

/* Flat, each bar may buy; holding, no bar does anything. */
static void scan(const double *p, const struct strategy_columns *columns, uint64_t *flat, uint64_t *holding)
{
    (void)p, (void)holding;
    size_t whole = columns->n / MASK_BITS, rest = columns->n % MASK_BITS;
    memset(flat, 0xff, whole * sizeof *flat);
    if (rest > 0)
        flat[whole] = (UINT64_C(1) << rest) - 1;
}

STRATEGY_ROW(buy_and_hold) = {
    .name = "buy-and-hold",
    .summary = "buys each symbol at its first bar and holds it",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
};
