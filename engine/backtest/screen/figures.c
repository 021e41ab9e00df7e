#include "engine/backtest/screen/figures.h"

#include "engine/backtest/screen/internal.h"
#include "strategy/metrics.h"

_Static_assert(SWEEP_BLOCKS == (int)SCREEN_BLOCKS, "the kernel's blocks are the sweep's");

struct screen_span backtest_screen_span(const struct backtest_config *config,
                                        const struct screen_history *history)
{
    size_t n = history->bars.n;
    return (struct screen_span){.rows = (double)(config->to - config->from),
                                .per_year = metrics_periods_per_year(config->market->interval_ns),
                                .to = (uint32_t)config->to,
                                .last = n > 0 ? history->prices[4 * n - 1] : 0};
}

void backtest_screen_figures(const struct screen_terms *terms, const struct screen_span *span,
                             struct screen_group *g, struct screen_row *rows)
{
    for (int lane = 0; lane < SCREEN_LANES; lane++)
        if (g->active >> lane & 1)
            screen_figures(terms, span, g, lane, &rows[g->set[lane]]);
}
