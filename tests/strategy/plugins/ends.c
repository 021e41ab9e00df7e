/* A strategy that ends the process that called it, at its fiftieth bar: by exit(0), or by a signal. And an
 * indicator, at the fiftieth question after its lookback. */
#include <papertape/indicator.h>
#include <papertape/strategy.h>
#include <stdlib.h>

static const struct papertape_param params[] = {
    {"way", "how it ends the process", 0, 0, 1, 1, 0, "exit crash"}};

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    uint64_t *bars = state;
    (void)bar, (void)intents;
    if (++*bars < 50)
        return 0;
    if (p[0] == 0)
        exit(0);
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
    return 0;
}

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static const struct papertape_strategy table = {.size = sizeof table,
                                                    .version = PAPERTAPE_STRATEGY_VERSION,
                                                    .name = "ends",
                                                    .summary = "ends the process that called it",
                                                    .params = params,
                                                    .n_params = 1,
                                                    .param_size = sizeof(struct papertape_param),
                                                    .state_size = sizeof(uint64_t),
                                                    .on_bar = on_bar};
    return &table;
}

static size_t lookback(const double *options)
{
    static int times;
    (void)options;
    if (++times == 50)
        exit(0);
    return 1;
}

static size_t state_size(const double *options)
{
    (void)options;
    return 0;
}

static void update(const double *options, void *state, const struct papertape_bar *bar, double *outputs)
{
    (void)options, (void)state;
    outputs[0] = bar->close;
}

const struct papertape_indicator *papertape_indicator_v1(void)
{
    static const char *const only[] = {""};
    static const struct papertape_indicator table = {.size = sizeof table,
                                                     .version = PAPERTAPE_INDICATOR_VERSION,
                                                     .name = "ends",
                                                     .summary = "ends the process that called it",
                                                     .inputs = PAPERTAPE_CLOSE,
                                                     .n_outputs = 1,
                                                     .outputs = only,
                                                     .lookback = lookback,
                                                     .state_size = state_size,
                                                     .update = update};
    return &table;
}
