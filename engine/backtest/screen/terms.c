/* Which accounts a screen covers, and what all of its sets have. */
#include <math.h>

#include "engine/backtest/screen/internal.h"
#include "engine/backtest/sim.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"

const char *backtest_screen_covers(const struct backtest_config *config, const struct account_spec *account)
{
    const struct risk_limits *risk = &account->rules.risk;
    const char *why = backtest_sim_covers(config, account);
    if (why)
        return why;
    if (!backtest_screen_rule(account->strategy))
        return "its strategy has no rule for many sets side by side";
    if (config->market->n_symbols != 1)
        return "several symbols share its cash";
    if (backtest_run_calendar(config) || config->market->open_ns)
        return "it trades by sessions";
    if (config->venue || config->latency_ns >= config->market->interval_ns || config->way == BACKTEST_ENGINE)
        return "its orders follow other rules than those of bars";
    if (risk->exposure_symbol > 0 || risk->exposure_account > 0 || risk->orders_per_second > 0 ||
        risk->price_band > 0 || risk->cooldown_ns > 0 || risk->positions > 0)
        return "it has limits of risk";
    if (config->market->series[0].symbol.quote_scale != account->currency_scale)
        return "its symbol counts money in other digits";
    if (config->to > UINT32_MAX / 2)
        return "there are too many bars";
    return NULL;
}

struct screen_terms backtest_screen_terms(const struct screen *screen)
{
    const struct account_spec *account = screen->account;
    const struct symbol symbol = backtest_run_symbol(screen->config, 0);
    const struct symbol_filters *filters = &symbol.filters;
    const struct fee_rates *fees = account_fees(&account->rules, &symbol);
    int64_t lowest = filters->price_min > 0 ? filters->price_min : filters->tick > 0 ? filters->tick : 1;
    double unit = (double)filter_notional_unit(&symbol);
    return (struct screen_terms){
        .cash = (double)account->cash,
        .money_units = (double)decimal_pow10(account->currency_scale),
        .unit = unit,
        .per_unit = 1 / unit,
        .price_units = (double)decimal_pow10(symbol.price_scale),
        .slippage_e6 = screen->config->slippage_e6,
        .price_min = (double)filters->price_min,
        .tick = (double)filters->tick,
        .lowest = (double)lowest,
        .maker_e6 = fees->maker_e6,
        .taker_e6 = fees->taker_e6,
        .most_e6 = fee_rates_most_e6(fees),
        .product_min = filters->notional_min_market ? (double)filters->notional_min * unit : 0,
        .product_max = filters->notional_max_market && filters->notional_max > 0
                           ? (double)filters->notional_max * unit
                           : INFINITY,
        .price_max = filters->price_max > 0 ? (double)filters->price_max : INFINITY,
        .target_most = filters->ask_up_e4 > 0 ? 1e-4 * (double)filters->ask_up_e4 : INFINITY,
        .lot = filter_lot(&symbol),
    };
}
