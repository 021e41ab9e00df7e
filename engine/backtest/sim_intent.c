/* What a strategy sees, and its order intents, as engine/runner.c and engine/intent.c have it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/backtest/columns.h"
#include "engine/backtest/find.h"
#include "engine/backtest/sim.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/margin.h"
#include "exchange/order_rules.h"
#include "exchange/sizing.h"
#include "indicators_gpu/indicators.h"
#include "strategy/external.h"
#include "strategy/intent.h"

enum { OUTPUTS_MAX = STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX };

/* ---- orders that work already ---- */

static bool exits(const struct sim_symbol *symbol, const struct sim_order *order)
{
    return order->side == sim_closing_side(symbol) && order->state != ORDER_HELD;
}

static bool works(const struct sim_order *order)
{
    return !order_is_stop(order->type) && order->parent == 0;
}

static void look_at_orders(const struct sim_symbol *symbol, struct strategy_input *input)
{
    for (int i = symbol->n_live; i-- > 0;) { /* the first one counts */
        const struct sim_order *order = &symbol->live[i];
        input->live_orders |= works(order);
        input->orders += order->parent == 0 && !(order->type == ORDER_STOP && order->reduce_only);
        if (!exits(symbol, order))
            continue;
        if (order->type == ORDER_STOP)
            input->stop = sim_number(order->stop_price, symbol->price_units);
        else if (order->type == ORDER_LIMIT && order->parent != 0)
            input->profit = sim_number(order->price, symbol->price_units);
    }
}

/* ---- intents ---- */

/* Every field is named, here and where a strategy's input is made: the compiler would clear omitted fields
 * first, by an instruction that takes longer than all the rest. */
static struct sim_order order_of(enum order_side side, enum order_type type, int64_t qty, const char *tag)
{
    return (struct sim_order){.id = 0,
                              .group = 0,
                              .parent = 0,
                              .qty = qty,
                              .filled = 0,
                              .cost = 0,
                              .price = 0,
                              .stop_price = 0,
                              .reserved = 0,
                              .effective_ns = 0,
                              .updated_ns = 0,
                              .expires_ns = 0,
                              .ends_ns = 0,
                              .tag = tag,
                              .amends = 0,
                              .side = (uint8_t)side,
                              .type = (uint8_t)type,
                              .tif = ORDER_GTC,
                              .state = ORDER_PENDING,
                              .reduce_only = false,
                              .triggered = false,
                              .emulated = false,
                              .shrinks = false};
}

/* `turns`: the exit of a position the other way round was ordered at the same bar. */
static int64_t free_cash(const struct sim *sim, const struct sim_symbol *symbol, bool turns)
{
    return sim->lends ? backtest_sim_spendable(sim, symbol, turns) : sim->cash - sim->reserved;
}

static struct sizing sizing_of(const struct sim *sim, const struct sim_symbol *symbol, int64_t equity,
                               bool turns)
{
    int64_t available = free_cash(sim, symbol, turns);
    return (struct sizing){.symbol = symbol->listed,
                           .fees = *symbol->fees,
                           .equity = equity,
                           .available = available > 0 ? available : 0};
}

static enum intent_fault enter(struct sim *sim, struct sim_symbol *symbol, const struct intent *intent,
                               int64_t equity, bool turns)
{
    int64_t limit = 0, stop = 0, profit = 0;
    bool sells = intent->kind == INTENT_SHORT;
    enum order_side side = sells ? ORDER_SELL : ORDER_BUY, back = sells ? ORDER_BUY : ORDER_SELL;
    if (intent->limit > 0 && !sizing_price(symbol->listed, intent->limit, sells, &limit))
        return INTENT_BAD_LIMIT;
    if (intent->stop > 0 && !sizing_price(symbol->listed, intent->stop, sells, &stop))
        return INTENT_BAD_STOP;
    if (intent->profit > 0 && !sizing_price(symbol->listed, intent->profit, !sells, &profit))
        return INTENT_BAD_PROFIT;
    struct sizing sizing = sizing_of(sim, symbol, equity, turns);
    if (sells)
        sizing.available = margin_short_budget(sizing.available, sim->spec->rules.collateral_e4);
    int64_t qty = sizing_entry(&sizing, intent->fraction, limit > 0 ? limit : symbol->last);
    if (sells && order_rules_of(symbol->listed)) /* whole shares are lent */
        qty -= qty % order_rules_whole(symbol->listed);
    if (!sells && limit == 0 && stop == 0 && profit == 0 && backtest_sim_plain_submit(sim, symbol, true, qty))
        return INTENT_FITS;
    struct sim_order legs[ORDER_LEGS_MAX];
    int n = 1;
    legs[0] = order_of(side, limit > 0 ? ORDER_LIMIT : ORDER_MARKET, qty, intent->why);
    legs[0].price = limit;
    if (limit > 0 && intent->good_ns != 0) {
        legs[0].tif = ORDER_GTD;
        legs[0].expires_ns = intent->good_ns;
    }
    if (stop > 0) {
        legs[n] = order_of(back, ORDER_STOP, qty, "stop");
        legs[n++].stop_price = stop;
    }
    if (profit > 0) {
        legs[n] = order_of(back, ORDER_LIMIT, qty, "profit");
        legs[n++].price = profit;
    }
    backtest_sim_submit(sim, symbol, legs, n);
    return INTENT_FITS;
}

/* Closes so much of what is held; `shrinks`: it is a share. */
static enum order_reason close_qty(struct sim *sim, struct sim_symbol *symbol, int64_t held, bool shrinks,
                                   const char *why)
{
    int64_t qty = filter_floor_qty(symbol->listed, ORDER_MARKET, held);
    qty = qty > 0 ? qty : held;
    if (!shrinks && backtest_sim_plain_submit(sim, symbol, false, qty)) /* nothing is lent: nothing turns */
        return ORDER_OK;
    struct sim_order order = order_of(sim_closing_side(symbol), ORDER_MARKET, qty, why);
    order.reduce_only = true;
    order.shrinks = shrinks;
    return backtest_sim_submit(sim, symbol, &order, 1);
}

static void leave_share(struct sim *sim, struct sim_symbol *symbol, double share, const char *why)
{
    int64_t held = symbol->qty < 0 ? -symbol->qty : symbol->qty;
    close_qty(sim, symbol, (int64_t)((double)held * share), true, why);
}

static enum order_reason leave(struct sim *sim, struct sim_symbol *symbol, const char *why)
{
    return close_qty(sim, symbol, symbol->qty < 0 ? -symbol->qty : symbol->qty, false, why);
}

static enum intent_fault protect(struct sim *sim, struct sim_symbol *symbol, const struct intent *intent)
{
    enum order_side side = sim_closing_side(symbol);
    int64_t bare = sim_reducible(symbol, side), price;
    bool moved = true;
    if (!sizing_price(symbol->listed, intent->stop, side == ORDER_BUY, &price))
        return INTENT_BAD_STOP;
    for (int i = 0; i < symbol->n_live; i++) {
        struct sim_order *stop = &symbol->live[i];
        if (stop->type != ORDER_STOP || !exits(symbol, stop))
            continue;
        bare -= stop->qty - stop->filled;
        if (stop->stop_price != price && !stop->triggered)
            moved &= backtest_sim_amend(sim, symbol, stop, price);
    }
    int64_t qty = bare > 0 ? filter_floor_qty(symbol->listed, ORDER_STOP, bare) : 0;
    if (qty > 0) {
        struct sim_order order = order_of(side, ORDER_STOP, qty, intent->why);
        order.stop_price = price;
        order.reduce_only = true;
        backtest_sim_submit(sim, symbol, &order, 1);
    }
    return moved ? INTENT_FITS : INTENT_STOP_STAYS;
}

/* The quantity on order to be bought, less what is to be sold, stops and profits apart. */
static int64_t on_order(const struct sim_symbol *symbol)
{
    int64_t sum = 0;
    for (int i = 0; i < symbol->n_live; i++) {
        const struct sim_order *order = &symbol->live[i];
        int64_t left = order->qty - order->filled;
        sum += !works(order) ? 0 : order->side == ORDER_BUY ? left : -left;
    }
    return sum;
}

/* A target of a short: a long is closed first; what is on order against the position is waited for. */
static void reach_short(struct sim *sim, struct sim_symbol *symbol, const struct intent *intent,
                        int64_t equity, int64_t held)
{
    const struct intent entry = {.kind = INTENT_SHORT, .fraction = -intent->fraction, .why = intent->why};
    if (held > 0) {
        if (symbol->qty > 0 && leave(sim, symbol, intent->why) == ORDER_OK)
            enter(sim, symbol, &entry, equity, true);
        return;
    }
    struct sizing sizing = sizing_of(sim, symbol, equity, false);
    sizing.available = margin_short_budget(sizing.available, sim->spec->rules.collateral_e4);
    int64_t qty = sizing_target(&sizing, entry.fraction, -held, symbol->last, symbol->last);
    if (qty > 0 && order_rules_of(symbol->listed)) /* whole shares are lent */
        qty -= qty % order_rules_whole(symbol->listed);
    if (qty == 0)
        return;
    struct sim_order order =
        order_of(qty > 0 ? ORDER_SELL : ORDER_BUY, ORDER_MARKET, qty > 0 ? qty : -qty, intent->why);
    order.reduce_only = qty < 0;
    backtest_sim_submit(sim, symbol, &order, 1);
}

static void reach(struct sim *sim, struct sim_symbol *symbol, const struct intent *intent, int64_t equity)
{
    int64_t held = symbol->qty + on_order(symbol);
    if (intent->fraction == 0) {
        if (symbol->qty != 0 && held != 0)
            leave(sim, symbol, intent->why);
        return;
    }
    if (intent->fraction < 0) {
        reach_short(sim, symbol, intent, equity, held);
        return;
    }
    struct sizing sizing = sizing_of(sim, symbol, equity, false);
    int64_t qty = sizing_target(&sizing, intent->fraction, held, symbol->last, symbol->last);
    if (qty == 0 || backtest_sim_plain_submit(sim, symbol, qty > 0, qty > 0 ? qty : -qty))
        return;
    struct sim_order order =
        order_of(qty > 0 ? ORDER_BUY : ORDER_SELL, ORDER_MARKET, qty > 0 ? qty : -qty, intent->why);
    order.reduce_only = qty < 0;
    backtest_sim_submit(sim, symbol, &order, 1);
}

/* What the exits of the same bar came to. */
enum leaving { STAYS, LEAVES, CANNOT_LEAVE };

static enum intent_fault carry_out(struct sim *sim, struct sim_symbol *symbol,
                                   const struct strategy_input *input, const struct intent *intent,
                                   int64_t equity, enum leaving *leaving)
{
    bool against = false;
    enum intent_fault fault = intent_check(intent, input);
    if (fault != INTENT_FITS)
        return fault;
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        if (symbol->lends)
            against = intent->kind == INTENT_SHORT ? symbol->qty > 0 : symbol->qty < 0;
        if (against && *leaving == CANNOT_LEAVE)
            break;
        return enter(sim, symbol, intent, equity, against && *leaving == LEAVES);
    case INTENT_EXIT:
        if (intent->fraction > 0 && intent->fraction < 1)
            leave_share(sim, symbol, intent->fraction, intent->why);
        else
            *leaving = leave(sim, symbol, intent->why) == ORDER_OK ? LEAVES : CANNOT_LEAVE;
        break;
    case INTENT_STOP:
        return protect(sim, symbol, intent);
    case INTENT_TARGET:
        reach(sim, symbol, intent, equity);
        break;
    case INTENT_ORDER:
    case INTENT_CANCEL:
        sim->failed = -ENOTSUP;
        break;
    case INTENT_KINDS:
        break;
    }
    return INTENT_FITS;
}

/* ---- the decision ---- */

/* The outputs at a bar: fetched for several marked bars at once, so that their cache misses overlap. */
static const double *look_ahead(struct sim *sim, struct sim_symbol *symbol, size_t bar)
{
    const struct sim_bars *bars = &symbol->bars;
    size_t i = 0;
    while (i < symbol->n_ahead && symbol->ahead[i] != bar)
        i++;
    if (i < symbol->n_ahead)
        return symbol->ahead_outputs + i * sim->n_outputs;
    size_t n = 0;
    /* Without marks the next bars, once one has followed another. */
    bool follows = symbol->n_ahead > 0 && symbol->ahead[symbol->n_ahead - 1] + 1 == bar;
    for (size_t next = bar; n < SIM_AHEAD && next < bars->n;
         next = bars->flat ? find_mark(bars->flat, next + 1, bars->n)
                : follows  ? next + 1
                           : bars->n) {
        size_t row = bars->rows ? bars->rows[next] : bars->first + next;
        __builtin_prefetch(symbol->series->open + row);
        __builtin_prefetch(symbol->series->high + row);
        __builtin_prefetch(symbol->series->low + row);
        __builtin_prefetch(symbol->series->volume + row);
        symbol->ahead[n++] = next;
    }
    symbol->n_ahead = n;
    sim->outputs(sim->outputs_ctx, sim_index(sim, symbol), symbol->ahead, n, symbol->ahead_outputs);
    return symbol->ahead_outputs;
}

/* At the bar of a row, with the account as it is now. */
static void observe(struct sim *sim, const struct sim_symbol *symbol, size_t row, int64_t equity,
                    struct strategy_input *ret)
{
    const struct market *market = sim->config->market;
    const struct market_series *series = symbol->series;
    const struct session_span session = backtest_sim_session(sim, symbol, market_open_ns(market, row));
    *ret = (struct strategy_input){
        .ts_ns = market_open_ns(market, row) + market->interval_ns,
        .interval_ns = market->interval_ns,
        .open = series->open[row],
        .high = series->high[row],
        .low = series->low[row],
        .close = series->close[row],
        .volume = sim_volume(series->volume[row], series->symbol.qty_scale),
        .indicators = NULL,
        .qty = sim_number(symbol->qty, symbol->qty_units),
        .entry = symbol->qty != 0 ? sim_number(symbol->cost, sim->money_units) /
                                        fabs(sim_number(symbol->qty, symbol->qty_units))
                                  : 0,
        .equity = sim_number(equity, sim->money_units),
        .cash = sim_number(free_cash(sim, symbol, false), sim->money_units),
        .live_orders = false,
        .orders = 0,
        .shorts = symbol->lends,
        .leverage = 1,
        .stop = 0,
        .profit = 0,
        .positions = sim->entered,
        .symbols = sim->n_symbols,
        .session_open_ns = session.open_ns,
        .session_close_ns = session.close_ns,
        .record = &symbol->keeper.record,
        .peers = NULL,
        .n_peers = 0,
        .self = 0,
    };
    look_at_orders(symbol, ret);
}

static void carry_out_all(struct sim *sim, struct sim_symbol *symbol, const struct strategy_input *input,
                          const struct intent *intents, size_t n, int64_t equity)
{
    enum leaving leaving = STAYS;
    for (size_t i = 0; i < n; i++) {
        if (symbol->plain.id != 0) /* of an earlier intent: it is now an ordinary order among others */
            backtest_sim_plain_end(sim, symbol);
        enum intent_fault fault = carry_out(sim, symbol, input, &intents[i], equity, &leaving);
        sim->ret->intents[fault] += fault != INTENT_FITS;
    }
}

/* What is sound of it waits for the next session; the rest is refused now. */
static void keep(struct sim *sim, struct sim_symbol *symbol, const struct strategy_input *input,
                 const struct intent *intents, size_t n)
{
    symbol->n_kept = 0;
    symbol->kept_row = sim->row;
    for (size_t i = 0; i < n; i++) {
        enum intent_fault fault = intent_check(&intents[i], input);
        if (fault == INTENT_FITS)
            symbol->kept[symbol->n_kept++] = intents[i];
        else
            sim->ret->intents[fault]++;
    }
}

static void take_outputs(const struct sim *sim, const struct sim_bars *bars, size_t bar, double *ret)
{
    const struct columns_sparse *sparse = bars->sparse;
    for (size_t k = 0; k < sim->n_outputs; k++)
        ret[k] = sparse && sparse[k].values ? columns_sparse_at(&sparse[k], bar) : bars->outputs[k][bar];
}

void backtest_sim_decide(struct sim *sim, struct sim_symbol *symbol, size_t bar, bool act)
{
    int64_t equity = backtest_sim_equity(sim, symbol);
    double outputs[OUTPUTS_MAX];
    struct strategy_input input;
    observe(sim, symbol, sim->row, equity, &input);
    input.indicators = symbol->bars.outputs ? outputs : look_ahead(sim, symbol, bar);
    if (symbol->bars.outputs)
        take_outputs(sim, &symbol->bars, bar, outputs);

    struct intent intents[INTENTS_ROOM];
    size_t n = strategy_on_bar(sim->spec->strategy, sim->spec->params, symbol->memory, &input, intents);
    backtest_sim_idle_take(sim, symbol, &input, n);
    if (n == 0 || !act)
        return;
    if (sim->config->decided)
        sim->config->decided(sim->config->ctx, sim->account, sim_index(sim, symbol), sim->row, intents,
                             n < STRATEGY_INTENTS_MAX ? n : STRATEGY_INTENTS_MAX);
    if (n > STRATEGY_INTENTS_MAX) {
        sim->ret->intents[INTENT_TOO_MANY]++;
        return;
    }
    if (backtest_sim_waits(sim, &input))
        keep(sim, symbol, &input, intents, n);
    else
        carry_out_all(sim, symbol, &input, intents, n, equity);
}

/* Does it still make sense: an exit of what is held, an entry of what is not, or is left first? */
static bool stands(const struct sim *sim, const struct sim_symbol *symbol, const struct intent *intent,
                   bool left)
{
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        return (left || (symbol->qty == 0 && symbol->n_entering == 0)) &&
               (intent->good_ns == 0 || intent->good_ns > sim->now_ns);
    case INTENT_EXIT:
    case INTENT_STOP:
        return symbol->qty != 0;
    default:
        return true;
    }
}

void backtest_sim_kept(struct sim *sim, struct sim_symbol *symbol)
{
    int64_t equity = backtest_sim_equity(sim, symbol);
    struct intent intents[STRATEGY_INTENTS_MAX];
    struct strategy_input input;
    size_t n = 0;
    bool left = false;
    for (size_t i = 0; i < symbol->n_kept; i++) {
        const struct intent *intent = &symbol->kept[i];
        if (!stands(sim, symbol, intent, left))
            continue;
        left |= intent->kind == INTENT_EXIT;
        intents[n++] = *intent;
    }
    observe(sim, symbol, symbol->kept_row, equity, &input);
    carry_out_all(sim, symbol, &input, intents, n, equity);
}
