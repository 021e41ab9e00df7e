/* What a closed bar does to the orders of its symbol, step by step as engine/match_bar.c. */
#include <string.h>

#include "engine/backtest/sim.h"
#include "exchange/order_rules.h"

struct at_bar {
    struct bar_prices prices;
    enum bar_step step;
    int64_t open_ns, end_ns;
};

static bool resting(const struct sim_order *order)
{
    return order->state == ORDER_OPEN || order->state == ORDER_PARTIAL;
}

static bool takes_part(const struct sim_order *order, const struct at_bar *at)
{
    if (order->state == ORDER_PENDING)
        return at->step == BAR_AT_OPEN &&
               bar_takes_part(order->updated_ns, order->effective_ns, at->open_ns, at->end_ns);
    return resting(order) && order->updated_ns <= at->open_ns;
}

static void rest(struct sim *sim, struct sim_symbol *symbol, struct sim_order *live)
{
    if (live->state == ORDER_PENDING) {
        live->state = ORDER_OPEN;
        symbol->n_pending--;
    }
    live->updated_ns = sim->now_ns;
    backtest_sim_reserve(sim, symbol, live);
    sim_report(sim, live);
}

/* The other exit of a bracket ends as one of them trades or triggers. */
static void end_other_leg(struct sim *sim, struct sim_symbol *symbol, uint64_t id, uint64_t parent)
{
    if (parent == 0)
        return;
    for (uint64_t other = parent + 1; other < parent + ORDER_LEGS_MAX; other++) {
        const struct sim_order *live = other == id ? NULL : backtest_sim_find(symbol, other);
        if (live && live->parent == parent)
            backtest_sim_end(sim, symbol, other, ORDER_CANCELED, ORDER_OTHER_LEG);
    }
}

/* After a trade: ends reduce-only orders at the venue that have nothing left to reduce. */
static void position_changed(struct sim *sim, struct sim_symbol *symbol)
{
    for (int i = 0; (symbol->qty == 0 || symbol->lends) && i < symbol->n_live;) {
        struct sim_order *order = &symbol->live[i];
        if (!order->reduce_only || !resting(order) || sim_reducible(symbol, order->side) > 0) {
            if (symbol->lends && sim_opens(symbol, order) && order->state != ORDER_HELD)
                backtest_sim_reserve(sim, symbol, order); /* less of it buys back */
            i++;
            continue;
        }
        backtest_sim_end(sim, symbol, order->id, ORDER_CANCELED, ORDER_REDUCE_ONLY);
        i = 0;
    }
}

/* After an exit of a share traded: the others close no more than what is left. */
static void shrink(struct sim *sim, struct sim_symbol *symbol, enum order_side side)
{
    int64_t left = sim_reducible(symbol, side);
    for (int i = 0; left > 0 && i < symbol->n_live; i++) {
        struct sim_order *order = &symbol->live[i];
        int next = order_next((enum order_state)order->state, ORDER_AMENDS);
        if (order->side != side || !order->reduce_only || order->state == ORDER_HELD ||
            order->type == ORDER_MARKET || order->qty - order->filled <= left || next < 0)
            continue;
        order->state = (uint8_t)next;
        order->qty = order->filled + left;
        order->amends++;
        order->updated_ns = sim->now_ns;
        sim_report(sim, order);
    }
}

int64_t backtest_sim_affordable(const struct sim *sim, const struct sim_symbol *symbol, int64_t price,
                                int64_t qty)
{
    if ((int128_t)price * qty >= (int128_t)(FILL_MONEY_MAX - symbol->cost) * symbol->unit ||
        qty > FILL_MONEY_MAX - symbol->qty)
        return 0;
    const struct fill_lot lot = order_rules_lot(symbol->listed, qty);
    return fill_affordable(sim->cash - sim->reserved, price, qty, symbol->unit, symbol->fee_bound_e6, &lot);
}

static int64_t affordable(const struct sim *sim, const struct sim_symbol *symbol,
                          const struct sim_order *order, int64_t price, int64_t qty)
{
    if (order->reduce_only && qty > sim_reducible(symbol, order->side))
        qty = sim_reducible(symbol, order->side);
    if (sim->lends)
        return backtest_sim_loan_affordable(sim, symbol, order->side, price, qty);
    if (order->side == ORDER_SELL || qty <= 0)
        return qty > 0 ? qty : 0;
    return backtest_sim_affordable(sim, symbol, price, qty);
}

/* Why an order did not trade whole. */
static enum order_reason shortage(const struct sim_symbol *symbol, const struct sim_order *order)
{
    bool nothing = sim_reducible(symbol, order->side) == 0;
    if (order->reduce_only && nothing)
        return ORDER_REDUCE_ONLY;
    return order->side == ORDER_SELL && symbol->lends && nothing ? ORDER_COLLATERAL
                                                                 : ORDER_INSUFFICIENT_BALANCE;
}

/* Trades all that is left of it at one price, as far as the account can. */
static void fill_all(struct sim *sim, struct sim_symbol *symbol, uint64_t id, int64_t price, bool maker)
{
    struct sim_order *order = backtest_sim_find(symbol, id);
    int64_t left = order->qty - order->filled;
    const enum order_side side = (enum order_side)order->side;
    const bool shrinks = order->shrinks;
    backtest_sim_lift(sim, order);
    int64_t qty = affordable(sim, symbol, order, price, left);
    if (qty > 0) {
        symbol->n_pending -= order->state == ORDER_PENDING;
        order->cost += backtest_sim_book(sim, symbol, order->id, order->side, price, qty, maker);
        order->filled += qty;
        order->state = order->filled == order->qty ? ORDER_FILLED : ORDER_PARTIAL;
        order->updated_ns = sim->now_ns;
        end_other_leg(sim, symbol, id, order->parent);
        order = backtest_sim_find(symbol, id);
    }
    if (order->filled == order->qty)
        backtest_sim_end(sim, symbol, id, ORDER_FILLED, ORDER_OK);
    else
        backtest_sim_end(sim, symbol, id, ORDER_CANCELED, shortage(symbol, order));
    if (qty > 0)
        position_changed(sim, symbol);
    if (qty > 0 && shrinks)
        shrink(sim, symbol, side);
}

static int64_t taker_price(const struct sim *sim, const struct sim_symbol *symbol,
                           const struct sim_order *order, int64_t shown)
{
    const struct symbol_filters *filters = &symbol->listed->filters;
    return fill_slipped(order->side, shown, sim->config->slippage_e6, filters->price_min,
                        order_rules_tick(symbol->listed, shown),
                        order->type == ORDER_LIMIT ? order->price : 0);
}

/* One order in one step. Returns where the market was when it traded; 0: it did not. */
static int64_t meet(struct sim *sim, struct sim_symbol *symbol, uint64_t id, const struct at_bar *at)
{
    struct sim_order *order = backtest_sim_find(symbol, id);
    bool arrives = order->state == ORDER_PENDING;
    if (arrives && order->reduce_only && sim_reducible(symbol, order->side) == 0) {
        backtest_sim_end(sim, symbol, id, ORDER_CANCELED, ORDER_REDUCE_ONLY);
        return 0;
    }
    const struct bar_order asked = {.side = order->side,
                                    .type = order->type,
                                    .price = order->price,
                                    .stop_price = order->stop_price,
                                    .triggered = order->triggered,
                                    .arrives = arrives};
    struct bar_effect effect = bar_rule(&asked, &at->prices, at->step);
    if (effect.act == BAR_WAITS) {
        if (arrives)
            rest(sim, symbol, order);
        return 0;
    }
    if (order_is_stop(order->type) && !order->triggered) {
        order->triggered = true;
        end_other_leg(sim, symbol, id, order->parent);
        order = backtest_sim_find(symbol, id);
    }
    bool maker = effect.act == BAR_MAKES;
    fill_all(sim, symbol, id, maker ? effect.price : taker_price(sim, symbol, order, effect.price), maker);
    return effect.price;
}

/* The exits of an entry that filled inside the bar start with what is certain of the rest of it. */
static void begin_exits(struct sim *sim, struct sim_symbol *symbol, const struct sim_order *entry,
                        int64_t price, const struct at_bar *bar)
{
    static const enum bar_step steps[] = {BAR_AT_OPEN, BAR_STOPS, BAR_TRAILS};
    struct at_bar at = *bar;
    at.prices = bar_rest(entry->side, entry->type, price, &bar->prices);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (uint64_t id = entry->id + 1; id < entry->id + ORDER_LEGS_MAX; id++) {
            const struct sim_order *exit = backtest_sim_find(symbol, id);
            at.step = steps[k];
            if (exit && exit->parent == entry->id && exit->state != ORDER_HELD)
                meet(sim, symbol, id, &at);
        }
}

static void step(struct sim *sim, struct sim_symbol *symbol, struct at_bar *at, enum bar_step which)
{
    at->step = which;
    sim->now_ns = bar_fill_ns(which, at->open_ns, at->end_ns);
    for (int i = 0; i < symbol->n_live;) {
        struct sim_order order = symbol->live[i];
        int64_t price = takes_part(&order, at) ? meet(sim, symbol, order.id, at) : 0;
        if (price > 0 && which != BAR_AT_OPEN && !backtest_sim_find(symbol, order.id)) {
            if (price == order.price)
                order.type = ORDER_LIMIT;
            begin_exits(sim, symbol, &order, price, at);
        }
        for (i = 0; i < symbol->n_live && symbol->live[i].id <= order.id; i++) /* others may have ended */
            ;
    }
}

static void expire(struct sim *sim, struct sim_symbol *symbol, int64_t open_ns)
{
    for (int i = 0; i < symbol->n_live;) {
        const struct sim_order *order = &symbol->live[i];
        if (order->expires_ns > 0 && order->expires_ns <= open_ns) {
            backtest_sim_end(sim, symbol, order->id, ORDER_EXPIRED, ORDER_OK);
            i = 0;
        } else {
            i++;
        }
    }
}

static void take_amend(struct sim *sim, struct sim_symbol *symbol, const struct sim_amend *amend)
{
    struct sim_order *live = backtest_sim_find(symbol, amend->order_id);
    if (!live || live->triggered)
        return;
    live->stop_price = amend->stop_price;
    live->amends++;
    live->updated_ns = sim->now_ns;
    sim_report(sim, live);
}

static void release(struct sim *sim, struct sim_symbol *symbol, const struct at_bar *at)
{
    int kept = 0;
    for (int i = 0; i < symbol->n_amends; i++) {
        const struct sim_amend amend = symbol->amends[i];
        if (bar_takes_part(amend.created_ns, amend.effective_ns, at->open_ns, at->end_ns))
            take_amend(sim, symbol, &amend);
        else if (backtest_sim_find(symbol, amend.order_id))
            symbol->amends[kept++] = amend;
    }
    symbol->n_amends = kept;
}

void backtest_sim_bar(struct sim *sim, struct sim_symbol *symbol, const struct bar_prices *prices)
{
    const struct market *market = sim->config->market;
    struct at_bar at = {.prices = *prices, .open_ns = market_open_ns(market, sim->row)};
    at.end_ns = backtest_sim_bar_end(sim, symbol, at.open_ns);
    sim->now_ns = at.open_ns;
    expire(sim, symbol, at.open_ns);
    if (symbol->n_amends > 0)
        release(sim, symbol, &at);
    for (int k = 0; k <= BAR_PROFITS && symbol->n_live > 0; k++)
        step(sim, symbol, &at, (enum bar_step)k);
}
