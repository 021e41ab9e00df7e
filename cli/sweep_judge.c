/* What stands beside the best runs of a sweep: their neighbours, and what they earn at other costs. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"

enum { SHARE_E6 = 1000000 };

static int32_t times(int32_t rate_e6)
{
    return rate_e6 > SHARE_E6 / SWEEP_FEES_TIMES ? SHARE_E6 : rate_e6 * SWEEP_FEES_TIMES;
}

static void raise_fees(struct account_rules *rules)
{
    struct fee_rates *const of[] = {&rules->fees, &rules->crypto_fees, &rules->us_equity_fees};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        *of[i] = (struct fee_rates){times(of[i]->maker_e6), times(of[i]->taker_e6)};
}

static int run_again(struct sweep *sweep, int costs, const struct backtest_config *config,
                     const struct account_spec *base, const size_t *which)
{
    struct backtest_config changed = *config;
    struct account_spec account = *base;
    struct backtest_sweep again = {
        .config = &changed, .account = &account, .grid = &sweep->grid, .sets = &sweep->sets};
    char err[512] = "out of memory";
    if (costs == SWEEP_COSTS_FEES)
        raise_fees(&account.rules);
    else
        changed.slippage_e6 += (int32_t)(SWEEP_SLIPPAGE * SHARE_E6);
    sweep->costs[costs] = calloc(sweep->shown + 1, sizeof *sweep->costs[costs]);
    if (!sweep->costs[costs] ||
        backtest_sweep_some(&again, which, sweep->shown, sweep->costs[costs], NULL, err, sizeof err) < 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", err);
    return EXIT_OK;
}

int cli_sweep_judge(struct sweep *sweep, const struct backtest_config *config,
                    const struct account_spec *base)
{
    size_t *which = calloc(sweep->shown + 1, sizeof *which);
    sweep->beside = calloc(sweep->shown + 1, sizeof *sweep->beside);
    int status = EXIT_OK;
    if (!which || !sweep->beside ||
        backtest_luck_beside(&sweep->runs, &sweep->sets, sweep->shown, sweep->beside) < 0)
        status = cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
    for (size_t i = 0; status == EXIT_OK && i < sweep->shown; i++)
        which[i] = sweep->runs.results[i].combination;
    for (int costs = 0; status == EXIT_OK && !sweep->runs.stopped && costs < SWEEP_COSTS; costs++)
        status = run_again(sweep, costs, config, base, which);
    free(which);
    return status;
}
