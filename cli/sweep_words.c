/* What of a sweep's or a ranking's best is luck, in words: for the terminal and for the page. */
#include <math.h>
#include <stdio.h>

#include "cli/sweep_run.h"

const char *cli_sweep_stopped_text(const struct sweep_results *runs, char ret[static SWEEP_WORDS_MAX])
{
    bool screened = runs->widened > 0;
    snprintf(ret, SWEEP_WORDS_MAX, "stopped: %zu of %zu sets are %s", screened ? runs->exact : runs->n,
             runs->combinations, screened ? "run exactly" : "done");
    return ret;
}

const char *cli_sweep_verdict_text(const struct sweep_results *runs, char ret[static SWEEP_WORDS_MAX])
{
    char stopped[SWEEP_WORDS_MAX];
    switch (backtest_luck_verdict(runs)) {
    case BACKTEST_VERDICT_MORE:
        snprintf(ret, SWEEP_WORDS_MAX,
                 "More than luck: the best has a deflated Sharpe ratio of %.4f, above %.2f.",
                 runs->results[0].dsr, DEFLATE_LUCK_LEVEL);
        break;
    case BACKTEST_VERDICT_LUCK:
        snprintf(
            ret, SWEEP_WORDS_MAX,
            "No more than luck: the best has a deflated Sharpe ratio of %.4f; above %.2f it would be more.",
            runs->results[0].dsr, DEFLATE_LUCK_LEVEL);
        break;
    case BACKTEST_VERDICT_STOPPED:
        snprintf(ret, SWEEP_WORDS_MAX,
                 "No verdict: %.100s, and the figures here, the order too, are of these alone.",
                 cli_sweep_stopped_text(runs, stopped));
        break;
    default:
        snprintf(ret, SWEEP_WORDS_MAX, "No verdict: no run has %zu trades and a Sharpe ratio.",
                 runs->min_trades);
    }
    return ret;
}

const char *cli_sweep_expected_text(const struct sweep_results *runs, const struct backtest_luck *luck,
                                    const char *what, double years, char ret[static SWEEP_WORDS_MAX])
{
    char best[32] = "none";
    if (runs->n > luck->few)
        snprintf(best, sizeof best, "%.2f", runs->results[0].metrics[SWEEP_SHARPE]);
    snprintf(ret, SWEEP_WORDS_MAX,
             "Of %zu %s without skill the best would be expected to show a Sharpe of %.2f\n"
             "over %.2f years; the best here shows %s.",
             luck->trials, what, luck->expected, years, best);
    return ret;
}

const char *cli_sweep_pbo_text(const struct backtest_luck *luck, char ret[static SWEEP_WORDS_MAX])
{
    bool coin = luck->pbo >= BACKTEST_LUCK_PBO, loses = luck->loss >= BACKTEST_LUCK_PBO;
    int n = snprintf(
        ret, SWEEP_WORDS_MAX,
        "PBO %.1f %%: so often what was best in one half of the rows was below the median in the other%s.\n"
        "It lost there in %.1f %% of all halves",
        100 * luck->pbo, coin ? ", as a coin would be" : "", 100 * luck->loss);
    if (loses && !coin)
        snprintf(ret + n, SWEEP_WORDS_MAX - (size_t)n, ": the order may last, but the best loses.");
    else
        snprintf(ret + n, SWEEP_WORDS_MAX - (size_t)n, ".");
    return isnan(luck->pbo) ? NULL : ret;
}
