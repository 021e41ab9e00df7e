/* A strategy that ends the process that called it, at its fiftieth bar: by exit(0), or by a signal. */
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
