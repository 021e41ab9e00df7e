/* Two symbols of which one is bought, by a limit with a stop, while it is cheap against the other, by the
 * last ratios of their closes: it sees the other's bar, and remembers. */
#include <papertape/strategy.h>

enum { WINDOW = 8 };

struct memory {
    uint64_t n;
    double ratios[WINDOW];
};

static double mean_of(const struct memory *memory)
{
    double sum = 0;
    for (uint64_t i = memory->n - WINDOW; i < memory->n; i++)
        sum += memory->ratios[i % WINDOW];
    return sum / WINDOW;
}

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    struct memory *memory = (struct memory *)state;
    const struct papertape_peer *other = bar->peers[1 - bar->self];
    (void)p;
    if (other->ts_ns == 0)
        return 0;
    double ratio = bar->close / other->close, mean;
    memory->ratios[memory->n++ % WINDOW] = ratio;
    if (memory->n < WINDOW || bar->live_orders)
        return 0;
    mean = mean_of(memory);
    if (bar->qty > 0 && ratio > mean * 1.0004) {
        intents[0].kind = PAPERTAPE_EXIT;
        intents[0].why = "dear";
        return 1;
    }
    if (bar->qty > 0 || ratio >= mean * 0.9996)
        return 0;
    intents[0].kind = PAPERTAPE_ENTER;
    intents[0].fraction = 0.3;
    intents[0].limit = bar->close * 0.9998;
    intents[0].stop = bar->close * 0.997;
    intents[0].good_ns = bar->ts_ns + 3 * bar->interval_ns;
    intents[0].why = "cheap";
    return 1;
}

static const struct papertape_strategy table = {
    .size = sizeof table,
    .version = PAPERTAPE_STRATEGY_VERSION,
    .name = "spread",
    .summary = "the cheaper one of two symbols",
    .param_size = sizeof(struct papertape_param),
    .state_size = sizeof(struct memory),
    .on_bar = on_bar,
    .peers = 1,
    .symbols_min = 2,
};

const struct papertape_strategy *papertape_strategy_v1(void)
{
    return &table;
}
