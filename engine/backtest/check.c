/* Checks a backtest's configuration against its bars. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/sim.h"
#include "engine/specs.h"
#include "engine/split.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/order_rules.h"
#include "strategy/external.h"

/* The base bars that an indicator needs for its first output. */
static size_t bars_needed(const struct runner_spec *spec, int64_t interval_ns)
{
    size_t bars = indicator_lookback(&spec->indicator) + 1;
    return spec->frame_ns > 0 ? bars * (size_t)(spec->frame_ns / interval_ns) : bars;
}

static size_t bars_there(const struct market_series *series, size_t to)
{
    size_t n = 0;
    for (size_t word = 0; word < to / 64; word++)
        n += (size_t)__builtin_popcountll(series->present[word]);
    if (to % 64 != 0)
        n += (size_t)__builtin_popcountll(series->present[to / 64] & ((UINT64_C(1) << to % 64) - 1));
    return n;
}

int backtest_needs(const struct backtest_config *config, const struct account_spec *account,
                   struct backtest_needs *ret, char *err, size_t err_size)
{
    const struct market *market = config->market;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n, longest = 0;
    char why[SPECS_ERROR_MAX];
    *ret = (struct backtest_needs){.bars = 1, .first_short = -1};
    if (account->policy) {
        ret->most_there = market->rows;
        return 0;
    }
    if (engine_runner_specs(account->strategy, account->params, market->interval_ns, specs, &n, why) < 0 ||
        engine_runner_specs_of_bars(account->strategy, specs, n, why) < 0)
        return fail_with(-EINVAL, err, err_size, "%s", why);
    int r = backtest_external_check(config->external, account->strategy, specs, n, err, err_size);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        size_t needed = bars_needed(&specs[i], market->interval_ns);
        if (needed > ret->bars) {
            ret->bars = needed;
            longest = i;
        }
    }
    if (n > 0)
        engine_runner_output_name(&specs[longest], 0, ret->output, sizeof ret->output);
    for (int s = 0; s < market->n_symbols; s++) {
        size_t bars = bars_there(&market->series[s], config->to);
        ret->most_there = bars > ret->most_there ? bars : ret->most_there;
        if (bars < ret->bars && ret->n_short++ == 0)
            ret->first_short = s;
    }
    return 0;
}

/* Some symbol must have bars enough for the strategy's indicators. */
static int check_bars(const struct backtest_config *config, const struct account_spec *account, char *err,
                      size_t err_size)
{
    struct backtest_needs needs;
    int r = backtest_needs(config, account, &needs, err, err_size);
    if (r < 0 || needs.most_there >= needs.bars)
        return r;
    if (!needs.output[0])
        return fail_with(-EINVAL, err, err_size, "%s: there is no bar to trade on", account->strategy->name);
    return fail_with(-EINVAL, err, err_size,
                     "%s: there are %zu bars, fewer than the %zu that its %s needs before it says "
                     "anything: give more bars, or shorter periods",
                     account->strategy->name, needs.most_there, needs.bars, needs.output);
}

static int check_params(const struct account_spec *account, char *err, size_t err_size)
{
    const struct strategy *strategy = account->strategy;
    const struct strategy_param *param = strategy_misfit(strategy, account->params);
    if (param)
        return fail_with(-EINVAL, err, err_size, "%s: %s is %g: it must be %s%g to %g", strategy->name,
                         param->name, account->params[param - strategy->params],
                         param->integer ? "a whole number from " : "", param->min, param->max);
    const char *why = strategy_check(strategy, account->params);
    if (!why)
        return 0;
    return fail_with(-EINVAL, err, err_size, "%s: %s", strategy->name, why);
}

/* Each symbol must have its first bar, whose close scales its actions, unless the policy itself names the
 * closes, which then are those of the bars that are there. */
static int check_first_bar(const struct market *market, const struct policy *policy,
                           const struct symbol *symbols, const char *currency,
                           char why[static POLICY_ERROR_MAX])
{
    char first[CLOCK_TEXT_MAX], from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    if (policy->runtime)
        return 0; /* wherever its features have values */
    clock_utc_text(policy->first_ns, first);
    if (policy->first_ns < market_open_ns(market, 0) && policy->first_closes)
        return 0;
    if (policy->first_ns < market_open_ns(market, 0) ||
        policy->first_ns >= market_open_ns(market, market->rows))
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                         "it begins at the bar of %s: the bars go from %s to %s", first,
                         clock_utc_text(market_open_ns(market, 0), from),
                         clock_utc_text(market_open_ns(market, market->rows), to));
    size_t row = market_store_row_at(market, policy->first_ns);
    for (int i = 0; i < policy->n_assets; i++) {
        int s = policy_find_symbol(&policy->assets[i], currency, symbols, market->n_symbols);
        const struct market_series *series = &market->series[s];
        bool there = market_present(series, row);
        if (there && policy->first_closes && series->close[row] != policy->first_closes[i])
            return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                             "first_close of %s is %.10g, and its bar of %s closes at %.10g", symbols[s].name,
                             policy->first_closes[i], first, series->close[row]);
        if (!there && !policy->first_closes) {
            snprintf(
                why, POLICY_ERROR_MAX,
                "it begins at the bar of %s, and %s has none then: one that all its symbols have is right",
                first, symbols[s].name);
            return -EINVAL;
        }
    }
    return 0;
}

static int check_policy(const struct backtest_config *config, const struct account_spec *account, char *err,
                        size_t err_size)
{
    const struct market *market = config->market;
    const struct policy *policy = account->policy;
    char why[POLICY_ERROR_MAX];
    struct symbol *symbols = calloc((size_t)market->n_symbols, sizeof *symbols);
    if (!symbols)
        return fail_with(-ENOMEM, err, err_size, "not enough memory for this backtest");
    for (int s = 0; s < market->n_symbols; s++)
        symbols[s] = backtest_run_symbol(config, s);
    bool refused =
        policy_refusal(policy, account->currency, symbols, market->n_symbols, market->interval_ns, why) ||
        check_first_bar(market, policy, symbols, account->currency, why) < 0;
    free(symbols);
    if (!refused)
        return 0;
    return fail_with(-EINVAL, err, err_size, "the policy of account %s: %s", account->name, why);
}

bool backtest_may_short(const struct backtest_config *config, const struct account_spec *account)
{
    bool may = false;
    for (int s = 0; s < config->market->n_symbols; s++) {
        const struct symbol symbol = backtest_run_symbol(config, s);
        may |= order_rules_short(&symbol) == ORDER_OK;
    }
    return may && account->rules.shorts;
}

/* The symbols that the account trades. */
static int symbols_of(const struct market *market, const struct account_spec *account)
{
    int n = 0;
    for (int s = 0; s < market->n_symbols; s++)
        n += strcmp(market->series[s].symbol.quote, account->currency) == 0;
    return n;
}

static int check_account(const struct backtest_config *config, const struct account_spec *account, char *err,
                         size_t err_size)
{
    const struct market *market = config->market;
    const char *why = account_rules_check(&account->rules);
    if (why)
        return fail_with(-EINVAL, err, err_size, "account %s: %s", account->name, why);
    if (!account->strategy == !account->policy)
        return fail_with(-EINVAL, err, err_size, "account %s has %s: a backtest trades nothing by hand",
                         account->name, account->strategy ? "a strategy and a policy" : "no strategy");
    if (account->cash <= 0)
        return fail_with(-EINVAL, err, err_size, "account %s: cash must be more than 0", account->name);
    const int n_symbols = symbols_of(market, account);
    if (n_symbols == 0)
        return fail_with(-EINVAL, err, err_size,
                         "account %s is kept in %s, and no symbol is quoted in it: %s is quoted in %s",
                         account->name, account->currency, market->series[0].symbol.name,
                         market->series[0].symbol.quote);
    if (account->policy)
        return check_policy(config, account, err, err_size);
    if (n_symbols < account->strategy->symbols_min)
        return fail_with(-EINVAL, err, err_size,
                         "%s needs %d symbols quoted in %s, and there is %d: give the bars of more",
                         account->strategy->name, account->strategy->symbols_min, account->currency,
                         n_symbols);
    int r = check_params(account, err, err_size);
    return r < 0 ? r : check_bars(config, account, err, err_size);
}

static bool is_action(const struct market *market, const struct backtest_action *of)
{
    const struct corporate_action *action = &of->action;
    const struct stock_split split = {action->shares, action->per, action->ex_ns};
    return of->symbol >= 0 && of->symbol < market->n_symbols && action->id[0] != '\0' &&
           of->at_ns >= action->ex_ns && action->pay_ns >= 0 && action->record_ns >= 0 &&
           (action->kind == ACTION_SPLIT ? engine_split_valid(&split)
                                         : action->kind == ACTION_DIVIDEND && action->cash > 0);
}

static int check_actions(const struct backtest_config *config, char *err, size_t err_size)
{
    for (size_t i = 0; i < config->n_actions; i++) {
        const struct backtest_action *a = &config->actions[i];
        if (!is_action(config->market, a))
            return fail_with(-EINVAL, err, err_size,
                             "action %zu: a split of 1 to %d shares for 1 to %d, or a dividend above 0, of a "
                             "symbol that has bars is needed",
                             i + 1, ACTION_RATIO_MAX, ACTION_RATIO_MAX);
        if (i > 0 && (a->at_ns < a[-1].at_ns ||
                      (a->at_ns == a[-1].at_ns && corporate_action_order(&a->action, &a[-1].action) < 0)))
            return fail_with(-EINVAL, err, err_size, "action %zu: it comes before that before it", i + 1);
    }
    return 0;
}

int backtest_check_config(const struct backtest_config *config, char *err, size_t err_size)
{
    const struct market *market = config->market;
    if (market->n_symbols < 1 || market->n_symbols > SYMBOLS_MAX)
        snprintf(err, err_size, "a backtest takes 1 to %d symbols, not %d", SYMBOLS_MAX, market->n_symbols);
    else if (config->n_accounts < 1 || config->n_accounts > ACCOUNTS_MAX)
        snprintf(err, err_size, "a backtest takes 1 to %d accounts, not %d", ACCOUNTS_MAX,
                 config->n_accounts);
    else if (config->from >= config->to || config->to > market->rows)
        snprintf(err, err_size, "no bar to trade on: the first must come before the last, and there are %zu",
                 market->rows);
    else if (config->way == BACKTEST_COLUMNS && config->n_accounts > 1 && (config->orders || config->ledger))
        snprintf(err, err_size, "orders and ledger of several accounts at once are the engine's way only");
    else if (config->latency_ns < 0)
        snprintf(err, err_size, "the latency is below 0");
    else if (config->slippage_e6 < 0 || config->slippage_e6 >= 1000000)
        snprintf(err, err_size, "slippage must be 0 or more, and below 100 %%");
    else {
        for (int a = 0; a < config->n_accounts; a++) {
            const char *why =
                config->way == BACKTEST_COLUMNS ? backtest_sim_covers(config, &config->accounts[a]) : NULL;
            if (why)
                return fail_with(-EINVAL, err, err_size,
                                 "account %s cannot be vectorised, for %s: leave the way open, or "
                                 "take the engine's",
                                 config->accounts[a].name, why);
            int r = check_account(config, &config->accounts[a], err, err_size);
            if (r < 0)
                return r;
        }
        return check_actions(config, err, err_size);
    }
    return -EINVAL;
}
