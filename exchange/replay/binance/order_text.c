#include "exchange/replay/binance/order_text.h"

#include <string.h>

#include "exchange/replay/binance/orders.h"
#include "exchange/replay/keyed.h"

#define RATE "0.00100000"

const char *replay_orders_state(const struct broker_order *order)
{
    static const char *const names[] = {"NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "EXPIRED"};
    return order->terms.held && order->state == BROKER_NEW ? "PENDING_NEW" : names[order->state];
}

/* The order list that it is of; -1: none. */
static int64_t list_of(const struct broker_order *order)
{
    return order->terms.list ? order->terms.list : -1;
}

static void write_iceberg(struct text *out, const struct broker_order *order)
{
    if (order->terms.iceberg)
        keyed_e8(out, "icebergQty", order->terms.iceberg);
}

static void begin(struct text *out, const struct symbol *listed)
{
    text_lit(out, "{\"symbol\":\"");
    text_str(out, listed->name);
    text_lit(out, "\"");
}

/* What a stop trails by, and since when; -1: not yet. */
static void write_trail(struct text *out, const struct order_clock *clock, const struct broker_order *order)
{
    if (!broker_trails(&order->terms.trail))
        return;
    keyed_int(out, "trailingDelta", order->terms.trail.share_e6 / 100);
    keyed_int(out, "trailingTime", order->trail_ns ? order_clock_time(clock, order->trail_ns) : -1);
}

/* price to side: what all answers have of an order. */
static void write_state(struct text *out, const struct order_clock *clock, const struct broker_order *order)
{
    const struct broker_terms *terms = &order->terms;
    keyed_e8(out, "price", terms->price);
    keyed_e8(out, "origQty", terms->qty);
    keyed_e8(out, "executedQty", order->filled);
    keyed_e8(out, "origQuoteOrderQty", terms->quote);
    keyed_e16(out, "cummulativeQuoteQty", order->quote);
    keyed_str(out, "status", replay_orders_state(order));
    keyed_str(out, "timeInForce", order_tif_name(terms->tif));
    keyed_str(out, "type", replay_orders_type(terms));
    keyed_str(out, "side", terms->side == ORDER_BUY ? "BUY" : "SELL");
    if (terms->stop)
        keyed_e8(out, "stopPrice", terms->stop);
    write_trail(out, clock, order);
}

/* When it came to the book; -1: not yet. */
static int64_t working_time(const struct order_clock *clock, const struct broker_order *order)
{
    return order->working_ns ? order_clock_time(clock, order->working_ns) : -1;
}

static void write_fills(struct text *out, const struct broker_order *order, const struct symbol *listed,
                        const struct broker_fill *fills, size_t n)
{
    text_lit(out, ",\"fills\":[");
    for (size_t i = 0; i < n; i++) {
        text_str(out, i > 0 ? ",{\"price\":" : "{\"price\":");
        text_e8(out, fills[i].price);
        keyed_e8(out, "qty", fills[i].qty);
        keyed_e8(out, "commission", fills[i].commission);
        keyed_str(out, "commissionAsset", order->terms.side == ORDER_BUY ? listed->base : listed->quote);
        keyed_int(out, "tradeId", fills[i].id);
        text_lit(out, "}");
    }
    text_lit(out, "]");
}

void replay_order_text_placed(struct text *out, const struct order_clock *clock,
                              const struct broker_order *order, const struct symbol *listed, char how,
                              const struct broker_fill *fills, size_t n)
{
    begin(out, listed);
    keyed_int(out, "orderId", order->id);
    keyed_int(out, "orderListId", list_of(order));
    keyed_str(out, "clientOrderId", order->terms.client_id);
    keyed_int(out, "transactTime", order_clock_time(clock, order->time_ns));
    if (how != 'A') {
        write_state(out, clock, order);
        write_iceberg(out, order);
        keyed_int(out, "workingTime", working_time(clock, order));
        keyed_str(out, "selfTradePreventionMode", "EXPIRE_MAKER");
    }
    if (how == 'F')
        write_fills(out, order, listed, fills, n);
    text_lit(out, "}");
}

void replay_order_text_queried(struct text *out, const struct order_clock *clock,
                               const struct broker_order *order, const struct symbol *listed)
{
    begin(out, listed);
    keyed_int(out, "orderId", order->id);
    keyed_int(out, "orderListId", list_of(order));
    keyed_str(out, "clientOrderId", order->terms.client_id);
    write_state(out, clock, order);
    if (!order->terms.stop)
        keyed_e8(out, "stopPrice", 0);
    keyed_e8(out, "icebergQty", order->terms.iceberg);
    keyed_int(out, "time", order_clock_time(clock, order->time_ns));
    keyed_int(out, "updateTime", order_clock_time(clock, order->updated_ns));
    keyed_bool(out, "isWorking", !order->waits && !order->terms.held);
    keyed_int(out, "workingTime", working_time(clock, order));
    keyed_str(out, "selfTradePreventionMode", "EXPIRE_MAKER");
    text_lit(out, "}");
}

void replay_order_text_cancelled(struct text *out, const struct order_clock *clock,
                                 const struct broker_order *order, const struct symbol *listed)
{
    begin(out, listed);
    keyed_str(out, "origClientOrderId", order->terms.client_id);
    keyed_int(out, "orderId", order->id);
    keyed_int(out, "orderListId", list_of(order));
    keyed_str(out, "clientOrderId", order->cancel_id);
    keyed_int(out, "transactTime", order_clock_time(clock, order->updated_ns));
    write_state(out, clock, order);
    write_iceberg(out, order);
    keyed_str(out, "selfTradePreventionMode", "EXPIRE_MAKER");
    text_lit(out, "}");
}

void replay_order_text_amended(struct text *out, const struct order_clock *clock,
                               const struct broker_order *order, const struct symbol *listed,
                               const char *client_id)
{
    begin(out, listed);
    keyed_int(out, "orderId", order->id);
    keyed_int(out, "orderListId", list_of(order));
    keyed_str(out, "origClientOrderId", client_id);
    keyed_str(out, "clientOrderId", order->terms.client_id);
    keyed_e8(out, "price", order->terms.price);
    keyed_e8(out, "qty", order->terms.qty);
    keyed_e8(out, "executedQty", order->filled);
    keyed_e8(out, "preventedQty", 0);
    keyed_e8(out, "quoteOrderQty", order->terms.quote);
    keyed_e16(out, "cumulativeQuoteQty", order->quote);
    keyed_str(out, "status", replay_orders_state(order));
    keyed_str(out, "timeInForce", order_tif_name(order->terms.tif));
    keyed_str(out, "type", replay_orders_type(&order->terms));
    keyed_str(out, "side", order->terms.side == ORDER_BUY ? "BUY" : "SELL");
    keyed_int(out, "workingTime", working_time(clock, order));
    keyed_str(out, "selfTradePreventionMode", "EXPIRE_MAKER");
    text_lit(out, "}");
}

void replay_order_text_trade(struct text *out, const struct order_clock *clock,
                             const struct broker_fill *fill, const struct broker_order *order,
                             const struct symbol *listed)
{
    const bool buys = order->terms.side == ORDER_BUY;
    begin(out, listed);
    keyed_int(out, "id", fill->id);
    keyed_int(out, "orderId", fill->order_id);
    keyed_int(out, "orderListId", list_of(order));
    keyed_e8(out, "price", fill->price);
    keyed_e8(out, "qty", fill->qty);
    keyed_e16(out, "quoteQty", (int128_t)fill->price * fill->qty);
    keyed_e8(out, "commission", fill->commission);
    keyed_str(out, "commissionAsset", buys ? listed->base : listed->quote);
    keyed_int(out, "time", order_clock_time(clock, fill->time_ns));
    keyed_bool(out, "isBuyer", buys);
    keyed_bool(out, "isMaker", fill->maker);
    text_lit(out, ",\"isBestMatch\":true}");
}

void replay_orders_balance(struct text *out, const struct broker_balance *balance, const char *asset,
                           const char *free_name, const char *locked_name)
{
    text_lit(out, "{\"");
    text_str(out, asset);
    text_lit(out, "\":\"");
    text_str(out, balance->asset);
    text_lit(out, "\"");
    keyed_e16(out, free_name, balance->free);
    keyed_e16(out, locked_name, balance->locked);
    text_lit(out, "}");
}

void replay_order_text_account(struct text *out, const struct order_clock *clock,
                               const struct broker_account *account, int uid, bool omit_zeros)
{
    bool first = true;
    text_lit(out,
             "{\"makerCommission\":10,\"takerCommission\":10,\"buyerCommission\":0,\"sellerCommission\":0,"
             "\"commissionRates\":{\"maker\":\"" RATE "\",\"taker\":\"" RATE
             "\",\"buyer\":\"0.00000000\",\"seller\":\"0.00000000\"},\"canTrade\":true,\"canWithdraw\":"
             "false,\"canDeposit\":false,\"brokered\":false,\"requireSelfTradePrevention\":false,"
             "\"preventSor\":false");
    keyed_int(out, "updateTime", order_clock_time(clock, account->updated_ns));
    text_lit(out, ",\"accountType\":\"SPOT\",\"balances\":[");
    for (size_t i = 0; i < account->n_balances; i++) {
        const struct broker_balance *balance = &account->balances[i];
        if (omit_zeros && balance->free == 0 && balance->locked == 0)
            continue;
        text_str(out, first ? "" : ",");
        replay_orders_balance(out, balance, "asset", "free", "locked");
        first = false;
    }
    text_lit(out, "],\"permissions\":[\"SPOT\"]");
    keyed_int(out, "uid", 1000 + uid);
    text_lit(out, "}");
}

/* Three kinds of rates, of which only the first is not zero, and the discount. */
static void write_rates(struct text *out, const char *suffix, const char *sides)
{
    static const char *const kinds[] = {"standardCommission", "specialCommission", "taxCommission"};
    for (int i = 0; i < 3; i++) {
        const char *rate = i == 0 ? RATE : "0.00000000";
        text_format(out, "\"%s%s\":{\"maker\":\"%s\",\"taker\":\"%s\"%s},", kinds[i], suffix, rate, rate,
                    sides);
    }
    text_lit(out, "\"discount\":{\"enabledForAccount\":false,\"enabledForSymbol\":false,\"discountAsset\":"
                  "\"BNB\",\"discount\":\"0.75000000\"}}");
}

void replay_order_text_rates(struct text *out)
{
    text_lit(out, "{");
    write_rates(out, "ForOrder", "");
}

void replay_order_text_commission(struct text *out, const char *symbol)
{
    text_format(out, "{\"symbol\":\"%s\",", symbol);
    write_rates(out, "", ",\"buyer\":\"0.00000000\",\"seller\":\"0.00000000\"");
}
