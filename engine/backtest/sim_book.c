/* The books of a vectorised account: fills, ledger rows, cash, positions. */
#include <errno.h>
#include <string.h>

#include "engine/backtest/sim.h"
#include "exchange/fill_rules.h"

/* Amounts like this do not occur; the engine's rules for them are not repeated here. */
#define MONEY_NEAR_END (FILL_MONEY_MAX / 8)

static void post(struct sim *sim, const char *asset, int scale, enum ledger_kind kind, int64_t amount,
                 int64_t balance, uint64_t order_id, uint64_t fill_id)
{
    if (amount == 0)
        return;
    sim->last_ledger++;
    if (!sim->config->ledger)
        return;
    struct ledger_row *rows =
        backtest_run_room(sim->ret->ledger, sim->ret->n_ledger, &sim->cap_ledger, sizeof *sim->ret->ledger);
    if (!rows) {
        sim->failed = -ENOMEM;
        return;
    }
    sim->ret->ledger = rows;
    struct ledger_row *row = &rows[sim->ret->n_ledger++];
    *row = (struct ledger_row){.id = sim->last_ledger,
                               .ts_ns = sim->now_ns,
                               .account = sim->account,
                               .scale = scale,
                               .kind = kind,
                               .amount = amount,
                               .balance = balance,
                               .order_id = order_id,
                               .fill_id = fill_id};
    memcpy(row->asset, asset, sizeof row->asset);
    if (ledger_row_chain(row, sim->hash) < 0)
        sim->failed = -ENOMEM;
    memcpy(sim->hash, row->hash, sizeof sim->hash);
}

static void post_cash(struct sim *sim, enum ledger_kind kind, int64_t amount, uint64_t order_id,
                      uint64_t fill_id)
{
    sim->cash += amount;
    post(sim, sim->spec->currency, sim->spec->currency_scale, kind, amount, sim->cash, order_id, fill_id);
}

void backtest_sim_begin(struct sim *sim, int64_t ts_ns)
{
    if (sim->started)
        return;
    sim->started = true;
    sim->now_ns = ts_ns;
    post_cash(sim, LEDGER_DEPOSIT, sim->spec->cash, 0, 0);
}

void backtest_sim_entering(struct sim *sim, struct sim_symbol *symbol, int change)
{
    bool before = symbol->qty != 0 || symbol->n_entering > 0;
    symbol->n_entering += change;
    sim->entered += (symbol->qty != 0 || symbol->n_entering > 0) - before;
}

void backtest_sim_pay_interest(struct sim *sim, int64_t amount)
{
    post_cash(sim, LEDGER_INTEREST, -amount, 0, 0);
}

static int64_t above_zero(int64_t qty)
{
    return qty > 0 ? qty : 0;
}

/* The ledger's rows of a fill: what is borrowed, base, quote, fee, what is given back. */
static void post_fill(struct sim *sim, const struct sim_symbol *symbol, const struct fill *fill, int64_t held)
{
    const struct symbol *listed = symbol->listed;
    bool buy = fill->side == ORDER_BUY;
    int64_t lent = above_zero(-symbol->qty) - above_zero(-held); /* below 0: given back */
    int64_t owned = above_zero(held) + above_zero(lent);
    post(sim, listed->base, listed->qty_scale, LEDGER_BORROW, above_zero(lent), owned, fill->order_id,
         fill->id);
    owned += buy ? fill->qty : -fill->qty;
    post(sim, listed->base, listed->qty_scale, LEDGER_TRADE, buy ? fill->qty : -fill->qty, owned,
         fill->order_id, fill->id);
    post_cash(sim, LEDGER_TRADE, buy ? -fill->notional : fill->notional, fill->order_id, fill->id);
    post_cash(sim, LEDGER_FEE, -fill->fee, fill->order_id, fill->id);
    post(sim, listed->base, listed->qty_scale, LEDGER_BORROW, -above_zero(-lent), owned - above_zero(-lent),
         fill->order_id, fill->id);
}

static int64_t share(int64_t whole, int64_t part, int64_t of)
{
    return part == of ? whole : (int64_t)((int128_t)whole * part / of);
}

/* The cost of what is held after a fill that closes, as position_apply(): through zero it closes, then opens.
 * `against`: what it could close. */
static int64_t cost_closed(const struct sim_symbol *symbol, const struct fill *fill, int64_t against)
{
    int64_t closed = against < fill->qty ? against : fill->qty;
    int64_t opening = fill->notional - share(fill->notional, closed, fill->qty);
    return symbol->cost - share(symbol->cost, closed, against) + opening;
}

static inline void continue_curve(struct sim *sim)
{
    backtest_curve_to(&sim->curve, sim->row);
    sim->curve.cash = sim_number(sim->cash - sim->unpaid, sim->money_units);
}

void backtest_sim_curve(struct sim *sim)
{
    continue_curve(sim);
}

static void apply(struct sim *sim, struct sim_symbol *symbol, const struct fill *fill)
{
    int64_t held = symbol->qty;
    bool buy = fill->side == ORDER_BUY;
    symbol->qty += buy ? fill->qty : -fill->qty;
    if (sim->config->ledger)
        post_fill(sim, symbol, fill, held);
    else
        sim->cash += (buy ? -fill->notional : fill->notional) - fill->fee;
    strategy_record_fill(&symbol->keeper, fill->side, fill->qty, fill->notional, fill->fee, held,
                         symbol->listed->quote_scale, NULL);
    int64_t against = buy ? -held : held;
    if (against <= 0)
        symbol->cost += fill->notional;
    else if (fill->qty == against)
        symbol->cost = 0;
    else
        symbol->cost = cost_closed(symbol, fill, against);
    if (against > 0 && fill->qty >= against)
        symbol->closed_ns = fill->ts_ns;
    sim->entered += symbol->n_entering == 0 ? (symbol->qty != 0) - (held != 0) : 0;
    if (sim->lends)
        backtest_sim_loan_moved(sim, symbol, held);
    sim_choose_marks(symbol);
    continue_curve(sim);
    backtest_curve_hold(&sim->curve, sim_index(sim, symbol), sim_number(symbol->qty, symbol->qty_units));
}

int64_t backtest_sim_book(struct sim *sim, struct sim_symbol *symbol, uint64_t order_id, enum order_side side,
                          int64_t price, int64_t qty, bool maker)
{
    const struct fee_rates *fees = symbol->fees;
    struct backtest_account *ret = sim->ret;
    if (ret->n_fills == sim->cap_fills) {
        struct fill *fills = backtest_run_room(ret->fills, ret->n_fills, &sim->cap_fills, sizeof *fills);
        if (!fills) {
            sim->failed = -ENOMEM;
            return 0;
        }
        ret->fills = fills;
    }
    struct fill *fill = &ret->fills[ret->n_fills++];
    *fill = (struct fill){
        .id = ++sim->last_fill,
        .order_id = order_id,
        .account = sim->account,
        .symbol = sim_index(sim, symbol),
        .side = side,
        .ts_ns = sim->now_ns,
        .price = price,
        .qty = qty,
        .notional = fill_notional(side, price, qty, symbol->unit),
        .fee = 0,
        .fee_e6 = maker ? fees->maker_e6 : fees->taker_e6,
        .maker = maker,
        .input_seq = sim->seq,
    };
    fill->fee = fill_fee(fill->notional, fill->fee_e6);
    if (fill->notional > MONEY_NEAR_END || sim->cash > MONEY_NEAR_END)
        sim->failed = -ENOTSUP;
    apply(sim, symbol, fill);
    return fill->notional;
}

/* Updates the fields of an order that may change. */
static void renew(struct order *kept, const struct sim_order *order, enum order_reason reason)
{
    kept->state = order->state;
    kept->reason = reason;
    kept->qty = order->qty;
    kept->filled = order->filled;
    kept->cost = order->cost;
    kept->stop_price = order->stop_price;
    kept->triggered = order->triggered;
    kept->effective_ns = order->effective_ns;
    kept->updated_ns = order->updated_ns;
    kept->amends = order->amends;
}

void backtest_sim_report_new(struct sim *sim, const struct sim_symbol *symbol, const struct sim_order *order,
                             enum order_reason reason)
{
    if (!sim->config->orders)
        return;
    struct order *orders =
        backtest_run_room(sim->ret->orders, sim->ret->n_orders, &sim->cap_orders, sizeof *orders);
    if (!orders) {
        sim->failed = -ENOMEM;
        return;
    }
    sim->ret->orders = orders;
    struct order *kept = &orders[sim->ret->n_orders++];
    *kept = (struct order){.id = order->id,
                           .account = sim->account,
                           .symbol = sim_index(sim, symbol),
                           .side = order->side,
                           .type = order->type,
                           .tif = order->tif,
                           .price = order->price,
                           .reduce_only = order->reduce_only,
                           .emulated = order->emulated,
                           .group = order->group,
                           .parent = order->parent,
                           .created_ns = sim->now_ns,
                           .expires_ns = order->expires_ns,
                           .input_seq = sim->seq};
    if (order->tag)
        memcpy(kept->tag, order->tag, strnlen(order->tag, sizeof kept->tag - 1));
    renew(kept, order, reason);
}

void backtest_sim_report_ended(struct sim *sim, const struct sim_order *order, enum order_reason reason)
{
    if (sim->config->orders && sim->failed == 0)
        renew(&sim->ret->orders[order->id - 1], order, reason);
}
