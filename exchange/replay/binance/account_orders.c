/* Lists of an account's orders and trades. */
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_page.h"
#include "exchange/replay/binance/order_text.h"
#include "exchange/replay/keyed.h"

enum { ALL_WEIGHT = 80, ORDER_WEIGHT = 5 };

/* ---- Orders. ---- */

static bool is_mine(const struct order_call *c, const struct broker_order *order, int symbol)
{
    return order->terms.account == c->caller->account && (symbol < 0 || order->terms.symbol == symbol);
}

static void write_order(struct order_call *c, const struct broker_order *order)
{
    struct symbol listed;
    if (!replay_orders_symbol(c->o, order->terms.symbol, &listed))
        return;
    keyed_comma(c->body);
    replay_order_text_queried(c->body, &c->caller->clock, order, &listed);
}

/* Of one symbol, or of all (-1). */
static int64_t write_open(struct order_call *c, int symbol, bool cancel)
{
    size_t n;
    int64_t written = 0;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = 0; i < n && text_ok(c->body); i++) {
        if (!is_mine(c, &all[i], symbol) || !broker_is_open(&all[i]))
            continue;
        written++;
        if (!cancel) {
            write_order(c, &all[i]);
            continue;
        }
        keyed_comma(c->body);
        replay_order_end(c, &all[i], NULL);
    }
    text_lit(c->body, "]");
    return written;
}

int replay_order_open_list(struct order_call *c)
{
    const bool one = replay_order_param(c, "symbol") != NULL;
    int status = one ? replay_order_symbol(c) : 0;
    if (!one)
        c->outcome->weight = ALL_WEIGHT;
    if (status != 0)
        return status;
    write_open(c, one ? c->symbol : -1, false);
    return ORDER_CALL_OK;
}

int replay_order_open_cancel(struct order_call *c)
{
    int status = replay_order_symbol(c);
    if (status != 0)
        return status;
    return write_open(c, c->symbol, true) > 0
               ? ORDER_CALL_OK
               : replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
}

static bool order_in_page(const struct order_call *c, const struct order_page *page, size_t at)
{
    size_t n;
    const struct broker_order *order = &replay_broker_orders(c->o->broker, &n)[at];
    return is_mine(c, order, c->symbol) && replay_page_has(page, order->id, order->time_ns);
}

int replay_order_all_list(struct order_call *c)
{
    struct order_page page;
    size_t n;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_page_read(c, "orderId", &page);
    if (status != 0)
        return status;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    replay_page_find(c, &page, n, order_in_page);
    text_lit(c->body, "[");
    for (size_t i = page.first; i < page.end && text_ok(c->body); i++)
        if (order_in_page(c, &page, i))
            write_order(c, &all[i]);
    text_lit(c->body, "]");
    return ORDER_CALL_OK;
}

/* ---- Trades. ---- */

struct trades_page {
    struct order_page page;
    int64_t order_id; /* -1: of all orders */
};

static bool trade_in_page(const struct order_call *c, const struct order_page *page, size_t at)
{
    size_t n;
    const struct broker_fill *fill = &replay_broker_fills(c->o->broker, &n)[at];
    const int64_t order_id = ((const struct trades_page *)page)->order_id;
    return fill->account == c->caller->account && fill->symbol == c->symbol &&
           (order_id < 0 || fill->order_id == order_id) && replay_page_has(page, fill->id, fill->time_ns);
}

static void write_trades(struct order_call *c, const struct trades_page *of)
{
    size_t n;
    const struct broker_fill *all = replay_broker_fills(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = of->page.first; i < of->page.end && text_ok(c->body); i++) {
        if (!trade_in_page(c, &of->page, i))
            continue;
        keyed_comma(c->body);
        replay_order_text_trade(
            c->body, &c->caller->clock, &all[i],
            replay_broker_find(c->o->broker, all[i].account, all[i].symbol, all[i].order_id, NULL),
            &c->listed);
    }
    text_lit(c->body, "]");
}

int replay_order_trades_list(struct order_call *c)
{
    struct trades_page of;
    size_t n;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_page_read(c, "fromId", &of.page);
    if (status == 0)
        status = replay_order_number(c, "orderId", -1, &of.order_id);
    if (status != 0)
        return status;
    if (of.order_id >= 0)
        c->outcome->weight = ORDER_WEIGHT;
    const bool timed = of.page.from_ns >= 0 || of.page.to_ns >= 0;
    if (timed && (of.page.from_id >= 0 || of.order_id >= 0))
        return replay_page_bad(c);
    replay_broker_fills(c->o->broker, &n);
    replay_page_find(c, &of.page, n, trade_in_page);
    write_trades(c, &of);
    return ORDER_CALL_OK;
}
