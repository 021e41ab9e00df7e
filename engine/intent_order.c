/* Orders that a strategy describes itself: every type, with its prices, quantity and time in force; and their
 * end. They pass the gates that orders by hand do (gate.c), and are refused with the same reasons. */
#include <math.h>

#include "engine/core.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

/* ---- those that work ---- */

/* One of its own that is neither a bracket's exit nor the protective stop, which STOP moves. */
static bool is_own(const struct live_order *live, int account, int symbol)
{
    const struct order *order = &live->order;
    return order->account == account && order->symbol == symbol && !order->by_hand && order->parent == 0 &&
           !live->cancel_queued && !(order->type == ORDER_STOP && order->reduce_only);
}

int engine_intent_orders(const struct engine *engine, int account, int symbol)
{
    int n = 0;
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++)
        n += is_own(&engine->orders[i], account, symbol);
    return n;
}

void engine_intent_cancel(struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (is_own(&engine->orders[i], account, symbol))
            engine_match_cancel(engine, engine->orders[i].order.id);
}

/* ---- a new one ---- */

/* Its prices on the tick, away from the market: what is bought below it down, above it up. */
static enum intent_fault set_prices(const struct symbol *listed, const struct intent *intent,
                                    struct order *order)
{
    bool sells = order->side == ORDER_SELL, above = order_is_profit(order->type) == sells;
    if (intent->limit > 0 && !sizing_price(listed, intent->limit, sells, &order->price))
        return INTENT_BAD_LIMIT;
    if (intent->stop > 0 && !sizing_price(listed, intent->stop, above, &order->stop_price))
        return INTENT_BAD_STOP;
    if (order->type == ORDER_TRAILING_STOP && intent->trail > 0 &&
        (decimal_from_double(intent->trail, listed->price_scale, &order->trail) < 0 || order->trail <= 0))
        return INTENT_BAD_TRAIL;
    order->trail_e6 = (int32_t)lround(intent->trail_share * 1e6);
    return INTENT_FITS;
}

/* The price that a share of equity is counted at. */
static int64_t price_of(const struct engine *engine, const struct order *order)
{
    return order->price > 0        ? order->price
           : order->stop_price > 0 ? order->stop_price
                                   : engine_intent_shown(engine, order->account, order->symbol, order->side);
}

/* What opens a position takes no more than is free; what closes one may be as large as it is. */
static int64_t qty_of_equity(struct engine *engine, const struct order *order, double fraction)
{
    bool opens = !order->reduce_only &&
                 (order->side == ORDER_BUY || engine_loan_allowed(engine, order->account, order->symbol));
    struct sizing sizing = engine_intent_sizing(engine, order->account, order->symbol, order->side, false);
    if (!opens)
        sizing.available = MONEY_MAX;
    return sizing_entry(&sizing, fraction, price_of(engine, order));
}

/* Whole lots; what is less than one is left to the filters to refuse. */
static int64_t lots(const struct symbol *listed, enum order_type type, int64_t qty)
{
    int64_t whole = filter_floor_qty(listed, type, qty);
    return whole > 0 ? whole : qty;
}

static bool set_qty(struct engine *engine, const struct intent *intent, struct order *order)
{
    const struct symbol *listed = &engine->markets[order->symbol].symbol;
    int64_t held = engine_venue_held(engine, order->account, order->symbol);
    held = held < 0 ? -held : held;
    switch (intent->size) {
    case INTENT_OF_EQUITY:
        order->qty = qty_of_equity(engine, order, intent->fraction);
        break;
    case INTENT_OF_POSITION:
        held = intent->fraction < 1 ? (int64_t)((double)held * intent->fraction) : held;
        order->qty = lots(listed, order->type, held);
        break;
    case INTENT_OF_UNITS:
        if (decimal_from_double(intent->qty, listed->qty_scale, &order->qty) < 0)
            return false;
        order->qty = lots(listed, order->type, order->qty);
        break;
    }
    return true;
}

enum intent_fault engine_intent_place(struct engine *engine, int account, int symbol,
                                      const struct intent *intent)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    struct order order = engine_intent_order(account, symbol, intent->side, intent->type, 0, intent->why);
    order.tif = intent->tif;
    order.reduce_only = intent->reduce_only;
    if (intent->tif == ORDER_GTD)
        order.expires_ns = intent->good_ns - engine_ahead_ns(engine, symbol);
    enum intent_fault fault = set_prices(listed, intent, &order);
    if (fault != INTENT_FITS)
        return fault;
    if (!set_qty(engine, intent, &order))
        return INTENT_BAD_QTY;
    if (!order_is_stop(order.type) && (order.tif == ORDER_GTC || order.tif == ORDER_GTD))
        engine_intent_extend(engine, &order);
    enum order_reason reason;
    engine_match_submit(engine, &order, &reason);
    return INTENT_FITS;
}
