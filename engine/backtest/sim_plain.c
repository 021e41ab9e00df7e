/* Single market orders, in runs that keep no orders and have neither limits nor shorts: from the decision to
 * the fill without a list of orders. The most frequent case of most strategies, by the same rules. */
#include "engine/backtest/sim.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

bool backtest_sim_plain_run(const struct sim *sim)
{
    const struct backtest_config *config = sim->config;
    const struct risk_limits *risk = &sim->spec->rules.risk;
    return !config->orders && !config->ledger && config->latency_ns < config->market->interval_ns &&
           risk->exposure_symbol == 0 && risk->exposure_account == 0 && risk->orders_per_second == 0 &&
           risk->price_band == 0 && risk->cooldown_ns == 0 && risk->positions == 0;
}

bool backtest_sim_plain_submit(struct sim *sim, struct sim_symbol *symbol, bool buy, int64_t qty)
{
    if (!sim->plain || symbol->n_live > 0 || symbol->plain.id != 0)
        return false;
    const struct filter_request request = {
        .side = buy ? ORDER_BUY : ORDER_SELL, .type = ORDER_MARKET, .qty = qty, .reference = symbol->last};
    enum order_reason reason = filter_check(symbol->listed, &request);
    int64_t need = 0, available = sim->cash - sim->reserved;
    if (reason == ORDER_OK && buy) {
        need = fill_purchase(symbol->last, qty, symbol->unit, symbol->fee_bound_e6);
        reason = need <= available ? ORDER_OK : ORDER_INSUFFICIENT_BALANCE;
    } else if (reason == ORDER_OK && symbol->qty == 0) {
        reason = ORDER_REDUCE_ONLY;
    }
    sim->last_order++;
    if (reason != ORDER_OK) {
        backtest_sim_refused(sim, symbol, reason, 1);
        return true;
    }
    symbol->plain = (struct sim_plain){.id = sim->last_order,
                                       .qty = qty,
                                       .reserved = need,
                                       .ends_ns = buy ? backtest_sim_ends(sim, symbol) : 0,
                                       .buy = buy};
    sim->reserved += need;
    symbol->n_pending++;
    if (buy)
        backtest_sim_entering(sim, symbol, 1);
    return true;
}

/* Takes it off the symbol, before or while it becomes an ordinary order. */
static struct sim_plain take(struct sim *sim, struct sim_symbol *symbol)
{
    struct sim_plain plain = symbol->plain;
    symbol->plain.id = 0;
    symbol->n_pending--;
    sim->reserved -= plain.reserved;
    return plain;
}

void backtest_sim_plain_end(struct sim *sim, struct sim_symbol *symbol)
{
    struct sim_plain plain = take(sim, symbol);
    if (plain.buy)
        backtest_sim_entering(sim, symbol, -1);
    const struct sim_order order = {.id = plain.id,
                                    .qty = plain.qty,
                                    .type = ORDER_MARKET,
                                    .side = plain.buy ? ORDER_BUY : ORDER_SELL,
                                    .state = ORDER_PENDING,
                                    .reduce_only = !plain.buy,
                                    .ends_ns = plain.ends_ns,
                                    .updated_ns = sim->now_ns,
                                    .effective_ns = sim->now_ns + sim->config->latency_ns};
    backtest_sim_push(sim, symbol, &order, plain.reserved);
}

void backtest_sim_plain_drop(struct sim *sim, struct sim_symbol *symbol)
{
    take(sim, symbol);
    backtest_sim_entering(sim, symbol, -1);
}

void backtest_sim_plain_fill(struct sim *sim, struct sim_symbol *symbol, int64_t open)
{
    const struct symbol_filters *filters = &symbol->listed->filters;
    struct sim_plain plain = take(sim, symbol);
    enum order_side side = plain.buy ? ORDER_BUY : ORDER_SELL;
    int64_t price = fill_slipped(side, open, sim->config->slippage_e6, filters->price_min,
                                 order_rules_tick(symbol->listed, open), 0);
    int64_t qty = plain.qty;
    if (plain.buy)
        qty = backtest_sim_affordable(sim, symbol, price, qty);
    else if (qty > symbol->qty)
        qty = symbol->qty;
    if (qty > 0)
        backtest_sim_book(sim, symbol, plain.id, side, price, qty, false);
    if (plain.buy)
        backtest_sim_entering(sim, symbol, -1);
}
