/* What an order that was refused for an account's balance or margin needs, and what there is: the figures of
 * reserve.c's and margin.c's checks, for the words of the refusal. */
#include "engine/match.h"
#include "exchange/decimal.h"

static void in_balance(const struct balance *balance, struct engine_lack *ret)
{
    ret->asset = balance->asset;
    ret->scale = balance->scale;
}

static void of_quote(const struct engine *engine, const struct order *order, struct engine_lack *ret)
{
    const struct account *account = &engine->accounts[order->account];
    in_balance(&account->assets[account->pairs[order->symbol].quote], ret);
}

static void of_purchase(const struct engine *engine, const struct order *order, struct engine_lack *ret)
{
    int account = order->account;
    of_quote(engine, order, ret);
    if (engine_margin_lends(engine, account, order->symbol)) {
        int64_t back = engine_match_reducible(engine, account, order->symbol, ORDER_BUY);
        engine_margin_bill(engine, order, order->qty > back ? order->qty - back : 0, 0, ret);
        return;
    }
    ret->needed = engine_reserve_purchase(engine, account, order->symbol, engine_reserve_price(engine, order),
                                          order->qty);
    ret->available = engine_reserve_to_open(engine, order);
    ret->unsettled = engine_settle_barred(engine, account);
    ret->refused = ret->needed > ret->available;
}

static void of_sale(const struct engine *engine, const struct order *order, struct engine_lack *ret)
{
    const struct account *account = &engine->accounts[order->account];
    in_balance(&account->assets[account->pairs[order->symbol].base], ret);
    ret->needed = order->qty;
    ret->available = engine_reserve_sellable(engine, order->account, order->symbol);
    ret->refused = ret->needed > ret->available;
}

static void of_short(const struct engine *engine, const struct order *order, struct engine_lack *ret)
{
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, ORDER_SELL);
    of_quote(engine, order, ret);
    if (order->qty > held)
        engine_reserve_cover(engine, order, engine_reserve_price(engine, order), order->qty,
                             order->qty - held, ret);
}

static void of_day_trader(const struct engine *engine, int index, struct engine_lack *ret)
{
    const struct account *account = &engine->accounts[index];
    in_balance(&account->assets[account->currency_at], ret);
    ret->needed = MARGIN_DAY_TRADER_EQUITY * decimal_pow10(account->currency_scale);
    ret->available = engine_equity(engine, index);
    ret->refused = ret->needed > ret->available;
}

static bool of_leg(const struct engine *engine, enum order_reason reason, const struct order *order,
                   struct engine_lack *ret)
{
    bool sale = order->side == ORDER_SELL;
    *ret = (struct engine_lack){0};
    switch (reason) {
    case ORDER_DAY_TRADER_EQUITY:
        of_day_trader(engine, order->account, ret);
        break;
    case ORDER_NO_SHORTS:
        of_sale(engine, order, ret);
        break;
    case ORDER_INSUFFICIENT_BALANCE:
        (sale ? of_sale : of_purchase)(engine, order, ret);
        break;
    case ORDER_COLLATERAL:
    case ORDER_INITIAL_MARGIN:
    case ORDER_INTRADAY_MARGIN:
    case ORDER_DAY_TRADING_POWER:
    case ORDER_MARGIN_EQUITY:
    case ORDER_UNSETTLED_CASH:
        (sale ? of_short : of_purchase)(engine, order, ret);
        break;
    default:
        break;
    }
    return ret->refused;
}

/* With the quantity of an amount. */
static struct order in_quantity(const struct engine *engine, const struct order *leg)
{
    struct order order = *leg;
    int64_t price = engine_reserve_price(engine, leg);
    int128_t qty = leg->qty;
    if (leg->notional > 0 && price > 0)
        qty = (int128_t)leg->notional * engine->markets[leg->symbol].notional_unit / price;
    order.qty = qty > MONEY_MAX ? MONEY_MAX : (int64_t)qty;
    return order;
}

bool engine_lack(const struct engine *engine, enum order_reason reason, const struct order *legs, int n_legs,
                 struct engine_lack *ret)
{
    for (int i = 0; i < n_legs; i++) {
        const struct order order = in_quantity(engine, &legs[i]);
        if (!order.reduce_only && of_leg(engine, reason, &order, ret))
            return true;
    }
    return false;
}

bool engine_lack_of_cash(const struct engine *engine, enum order_reason reason, int index, int64_t amount,
                         struct engine_lack *ret)
{
    const struct account *account = &engine->accounts[index];
    if (reason != ORDER_INSUFFICIENT_BALANCE && reason != ORDER_UNSETTLED_CASH)
        return false;
    int64_t unreserved = engine_loan_unreserved(engine, index),
            settled = account->assets[account->currency_at].total - engine_settle_unsettled(engine, index),
            spendable = engine_loan_spendable(engine, index),
            most = settled < spendable ? settled : spendable;
    *ret = (struct engine_lack){.needed = amount, .available = unreserved < most ? unreserved : most};
    if (reason == ORDER_UNSETTLED_CASH)
        ret->unsettled = unreserved - ret->available;
    in_balance(&account->assets[account->currency_at], ret);
    return ret->refused = amount > ret->available;
}
