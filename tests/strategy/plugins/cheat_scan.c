/* A cheat: scan() sees all rows of a vectorised backtest at once, so it marks the bars before a rise, and
 * on_bar() buys wherever it is called while flat. `papertape lookahead` must find it. */
#include <papertape/strategy.h>

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    (void)p, (void)state;
    if (bar->live_orders)
        return 0;
    intents[0].kind = bar->qty > 0 ? PAPERTAPE_EXIT : PAPERTAPE_ENTER;
    intents[0].fraction = bar->qty > 0 ? 0 : 0.5;
    intents[0].why = "it was marked";
    return 1;
}

static void scan(const double *p, const struct papertape_columns *columns,
                 const struct papertape_marks *marks)
{
    (void)p;
    for (uint64_t i = 0; i + 1 < columns->n; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (columns->close[i + 1] > columns->close[i])
            marks->flat[i / 64] |= bit;
        else
            marks->holding[i / 64] |= bit;
    }
}

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static const struct papertape_strategy table = {.size = sizeof table,
                                                    .version = PAPERTAPE_STRATEGY_VERSION,
                                                    .name = "cheat-scan",
                                                    .summary = "marks by what comes next",
                                                    .param_size = sizeof(struct papertape_param),
                                                    .on_bar = on_bar,
                                                    .scan = scan};
    return &table;
}
