/* Lists of an account's orders and trades. */
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_text.h"
#include "exchange/replay/retime.h"

#define NS_PER_MS 1000000LL
#define DAY_NS    (24 * 3600 * 1000000000LL)

enum { LIST_MAX = 1000, LIST_USUAL = 500, ALL_WEIGHT = 80, ORDER_WEIGHT = 5 };

/* What of a list is asked for: from an id or a time on the first ones, else the last ones, up to a time. */
struct page {
    int64_t from_id, from_ns, to_ns, limit;
    bool last;
    size_t first, end; /* indices of what it has */
};

static int bad_combination(struct order_call *c)
{
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1128, "Combination of optional parameters invalid.");
}

/* To the end of its ms or µs. -1: not sent. */
static int read_time(struct order_call *c, const char *name, bool end, int64_t *ret_ns)
{
    int64_t value, next_ns;
    int status = replay_order_number(c, name, -1, &value);
    *ret_ns = -1;
    if (status != 0 || value < 0)
        return status;
    if (!replay_retime_ns(value, ret_ns) || !replay_retime_ns(value + 1, &next_ns))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1130, "Data sent for a time is not valid.");
    if (end)
        *ret_ns = next_ns - 1;
    *ret_ns -= c->caller->clock.skew_ns;
    *ret_ns = *ret_ns < 0 ? 0 : *ret_ns;
    return 0;
}

static int read_page(struct order_call *c, const char *id_name, struct page *ret)
{
    int status = replay_order_number(c, id_name, -1, &ret->from_id);
    if (status == 0)
        status = replay_order_number(c, "limit", LIST_USUAL, &ret->limit);
    if (status == 0)
        status = read_time(c, "startTime", false, &ret->from_ns);
    if (status == 0)
        status = read_time(c, "endTime", true, &ret->to_ns);
    if (status != 0)
        return status;
    if (ret->from_ns >= 0 && ret->to_ns >= 0 && ret->from_ns > ret->to_ns)
        return bad_combination(c);
    if (ret->from_ns >= 0 && ret->to_ns >= 0 &&
        ret->to_ns / NS_PER_MS - ret->from_ns / NS_PER_MS > DAY_NS / NS_PER_MS)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1127,
                                   "More than 24 hours between startTime and endTime.");
    ret->last = ret->from_id < 0 && ret->from_ns < 0;
    ret->limit = ret->limit < LIST_MAX ? ret->limit : LIST_MAX;
    return 0;
}

static bool has(const struct page *page, int64_t id, int64_t ns)
{
    return id >= page->from_id && ns >= page->from_ns && (page->to_ns < 0 || ns <= page->to_ns);
}

/* Of `n` in order of time: where the page begins and ends. */
static void find_page(const struct order_call *c, struct page *page, size_t n,
                      bool (*in_page)(const struct order_call *c, const struct page *page, size_t at))
{
    int64_t found = 0;
    page->first = page->last ? n : 0;
    page->end = page->last ? n : 0;
    if (page->last)
        for (size_t i = n; i-- > 0 && found < page->limit; page->first = i)
            found += in_page(c, page, i);
    else
        for (size_t i = 0; i < n && found < page->limit; page->end = ++i)
            found += in_page(c, page, i);
}

/* ---- Orders. ---- */

static bool is_mine(const struct order_call *c, const struct broker_order *order, int symbol)
{
    return order->terms.account == c->caller->account && (symbol < 0 || order->terms.symbol == symbol);
}

static void write_order(struct order_call *c, const struct broker_order *order, bool cancelled)
{
    struct symbol listed;
    if (!order || !replay_orders_symbol(c->o, order->terms.symbol, &listed))
        return;
    if (c->body->data[c->body->len - 1] != '[')
        text_lit(c->body, ",");
    if (cancelled)
        replay_order_text_cancelled(c->body, &c->caller->clock, order, &listed);
    else
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
        write_order(
            c, cancel ? replay_broker_cancel(c->o->broker, c->caller->account, all[i].id, NULL) : &all[i],
            cancel);
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

static bool order_in_page(const struct order_call *c, const struct page *page, size_t at)
{
    size_t n;
    const struct broker_order *order = &replay_broker_orders(c->o->broker, &n)[at];
    return is_mine(c, order, c->symbol) && has(page, order->id, order->time_ns);
}

int replay_order_all_list(struct order_call *c)
{
    struct page page;
    size_t n;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = read_page(c, "orderId", &page);
    if (status != 0)
        return status;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    find_page(c, &page, n, order_in_page);
    text_lit(c->body, "[");
    for (size_t i = page.first; i < page.end && text_ok(c->body); i++)
        if (order_in_page(c, &page, i))
            write_order(c, &all[i], false);
    text_lit(c->body, "]");
    return ORDER_CALL_OK;
}

/* ---- Trades. ---- */

struct trades_page {
    struct page page;
    int64_t order_id; /* -1: of all orders */
};

static bool trade_in_page(const struct order_call *c, const struct page *page, size_t at)
{
    size_t n;
    const struct broker_fill *fill = &replay_broker_fills(c->o->broker, &n)[at];
    const int64_t order_id = ((const struct trades_page *)page)->order_id;
    return fill->account == c->caller->account && fill->symbol == c->symbol &&
           (order_id < 0 || fill->order_id == order_id) && has(page, fill->id, fill->time_ns);
}

static void write_trades(struct order_call *c, const struct trades_page *of)
{
    size_t n;
    const struct broker_fill *all = replay_broker_fills(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = of->page.first; i < of->page.end && text_ok(c->body); i++) {
        if (!trade_in_page(c, &of->page, i))
            continue;
        if (c->body->data[c->body->len - 1] != '[')
            text_lit(c->body, ",");
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
        status = read_page(c, "fromId", &of.page);
    if (status == 0)
        status = replay_order_number(c, "orderId", -1, &of.order_id);
    if (status != 0)
        return status;
    if (of.order_id >= 0)
        c->outcome->weight = ORDER_WEIGHT;
    const bool timed = of.page.from_ns >= 0 || of.page.to_ns >= 0;
    if (timed && (of.page.from_id >= 0 || of.order_id >= 0))
        return bad_combination(c);
    replay_broker_fills(c->o->broker, &n);
    find_page(c, &of.page, n, trade_in_page);
    write_trades(c, &of);
    return ORDER_CALL_OK;
}
