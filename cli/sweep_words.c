/* What of a sweep's best is luck, in words: for the terminal and for the page. */
#include <math.h>
#include <stdio.h>

#include "cli/sweep_run.h"

const char *cli_sweep_stopped_text(const struct sweep *sweep, char ret[static SWEEP_WORDS_MAX])
{
    const struct sweep_results *runs = &sweep->runs;
    bool screened = runs->widened > 0;
    snprintf(ret, SWEEP_WORDS_MAX, "stopped: %zu of %zu sets are %s", screened ? runs->exact : runs->n,
             runs->combinations, screened ? "run exactly" : "done");
    return ret;
}

const char *cli_sweep_verdict_text(const struct sweep *sweep, char ret[static SWEEP_WORDS_MAX])
{
    const struct sweep_results *runs = &sweep->runs;
    char stopped[SWEEP_WORDS_MAX];
    switch (backtest_luck_verdict(runs)) {
    case BACKTEST_VERDICT_MORE:
        snprintf(ret, SWEEP_WORDS_MAX,
                 "More than luck: the best has a deflated Sharpe ratio of %.4f, above %.2f.",
                 runs->results[0].dsr, BACKTEST_LUCK_LEVEL);
        break;
    case BACKTEST_VERDICT_LUCK:
        snprintf(
            ret, SWEEP_WORDS_MAX,
            "No more than luck: the best has a deflated Sharpe ratio of %.4f; above %.2f it would be more.",
            runs->results[0].dsr, BACKTEST_LUCK_LEVEL);
        break;
    case BACKTEST_VERDICT_STOPPED:
        snprintf(ret, SWEEP_WORDS_MAX,
                 "No verdict: %.100s, and the figures here, the order too, are of these alone.",
                 cli_sweep_stopped_text(sweep, stopped));
        break;
    default:
        snprintf(ret, SWEEP_WORDS_MAX, "No verdict: no run has %zu trades and a Sharpe ratio.",
                 runs->min_trades);
    }
    return ret;
}

const char *cli_sweep_expected_text(const struct sweep *sweep, char ret[static SWEEP_WORDS_MAX])
{
    char best[32] = "none";
    if (sweep->shown > 0)
        snprintf(best, sizeof best, "%.2f", sweep->runs.results[0].metrics[SWEEP_SHARPE]);
    snprintf(ret, SWEEP_WORDS_MAX,
             "Of %zu distinct sets without skill the best would be expected to show a Sharpe of %.2f\n"
             "over %.2f years; the best here shows %s.",
             sweep->luck.trials, sweep->luck.expected, cli_sweep_years(sweep), best);
    return ret;
}

const char *cli_sweep_pbo_text(const struct sweep *sweep, char ret[static SWEEP_WORDS_MAX])
{
    const struct backtest_luck *luck = &sweep->luck;
    bool coin = luck->pbo >= BACKTEST_LUCK_PBO, loses = luck->loss >= BACKTEST_LUCK_PBO;
    snprintf(
        ret, SWEEP_WORDS_MAX,
        "PBO %.1f %%: so often what was best in one half of the rows was below the median in the other%s.\n"
        "It lost there in %.1f %% of all halves%s.",
        100 * luck->pbo, coin ? ", as a coin would be" : "", 100 * luck->loss,
        loses && !coin ? ": the order of the sets may last, but the best of them loses" : "");
    return isnan(luck->pbo) ? NULL : ret;
}
