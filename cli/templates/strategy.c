/* @NAME@: a strategy for papertape. `make` builds @NAME@.so, `make test` tries it.
 *
 * It buys when the fast average crosses above the slow one, with a stop, and sells when it is below. Change
 * on_bar() first; papertape/strategy.h explains every member. */
#include <math.h>
#include <papertape/strategy.h>
#include <stdio.h>

enum { FAST, SLOW, FRACTION, STOP };

/* Users set them as @NAME@.so:fast=12,slow=40; sweeps vary them within their ranges. */
static const struct papertape_param params[] = {
    [FAST] = {.name = "fast",
              .summary = "bars of the fast average",
              .fallback = 10,
              .min = 1,
              .max = 1000,
              .integer = 1},
    [SLOW] = {.name = "slow",
              .summary = "bars of the slow average",
              .fallback = 30,
              .min = 2,
              .max = 5000,
              .integer = 1},
    [FRACTION] = {.name = "fraction",
                  .summary = "of equity in each position",
                  .fallback = 0.25,
                  .min = 0.001,
                  .max = 1},
    [STOP] = {.name = "stop",
              .summary = "loss at which it is sold, of the price",
              .fallback = 0.03,
              .min = 0.001,
              .max = 0.9},
};

/* What it remembers of each symbol between bars. It is zeroed at the start, and saved as bytes: no pointers.
 */
struct memory {
    int side; /* of the fast average: -1 below the slow one, 1 above, 0 not known yet */
};

static const char *check(const double *p)
{
    return p[FAST] < p[SLOW] ? NULL : "fast: fewer bars than slow are needed";
}

/* The indicators that it reads, in the order of input->indicators: `papertape indicators --list` has them
 * all. */
static size_t specs(const double *p, char out[][PAPERTAPE_SPEC_TEXT])
{
    snprintf(out[0], PAPERTAPE_SPEC_TEXT, "sma:%d", (int)p[FAST]);
    snprintf(out[1], PAPERTAPE_SPEC_TEXT, "sma:%d", (int)p[SLOW]);
    return 2;
}

/* Called once at each closed bar of each symbol. Returns how many intents it wrote. */
static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    struct memory *memory = state;
    double fast = bar->indicators[0], slow = bar->indicators[1];
    if (isnan(fast) || isnan(slow)) /* they are warming up */
        return 0;
    int before = memory->side;
    memory->side = fast > slow ? 1 : fast < slow ? -1 : before;
    if (bar->live_orders) /* one of its orders is on its way */
        return 0;
    if (bar->qty > 0 && memory->side < 0) {
        intents[0].kind = PAPERTAPE_EXIT;
        intents[0].why = "cross down";
        return 1;
    }
    if (bar->qty == 0 && before < 0 && memory->side > 0) {
        intents[0].kind = PAPERTAPE_ENTER;
        intents[0].fraction = p[FRACTION];
        intents[0].stop = bar->close * (1 - p[STOP]);
        intents[0].why = "cross up";
        return 1;
    }
    return 0;
}

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static const struct papertape_strategy table = {
        .size = sizeof table,
        .version = PAPERTAPE_STRATEGY_VERSION,
        .name = "@NAME@",
        .summary = "buys when the fast average crosses above the slow one, sells when it is below",
        .params = params,
        .n_params = sizeof params / sizeof *params,
        .param_size = sizeof *params,
        .state_size = sizeof(struct memory),
        .check = check,
        .specs = specs,
        .on_bar = on_bar,
    };
    return &table;
}
