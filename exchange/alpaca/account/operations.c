/* What may be asked of an account: the steps of each kind of call. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/account/call.h"
#include "exchange/alpaca/number.h"

enum {
    OPEN_PAGE = 500,  /* orders; the venue's most */
    FILLS_PAGE = 100, /* likewise */
    PAGES_MAX = 100,
};

#define SECOND_NS 1000000000LL

static bool finish(struct paper_call *call)
{
    net_account_call_end(&call->base, VENUE_DONE, 0, "");
    return true;
}

/* An order that was asked for by its client id. */
static bool take_own(struct paper_call *call, const struct http_reply *reply, struct alpaca_order *ret_raw)
{
    return alpaca_parse_order(&call->base.calls->symbols, reply->body, reply->len, &call->order, ret_raw) ==
               0 &&
           strcmp(call->order.client_id, call->base.client_id) == 0;
}

static bool finish_with_order(struct paper_call *call)
{
    struct venue_order *order = venue_lists_order(&call->base.lists);
    if (!order)
        return false;
    *order = call->order;
    call->base.lists.n_orders = 1;
    return finish(call);
}

/* ---- Place. ---- */

static bool take_placed(struct paper_call *call, const struct http_reply *reply)
{
    return take_own(call, reply, NULL) && call->order.symbol == call->base.symbol && finish_with_order(call);
}

/* NULL: the venue has such orders. */
static const char *place_refusal(const struct order *order)
{
    return !alpaca_type_words[order->type] ? "Alpaca is sent market, limit, stop and stop-limit orders only"
           : !alpaca_tif_words[order->tif] ? "Alpaca is sent orders with day, gtc, ioc, fok, opg and cls only"
           : order->post_only              ? "Alpaca has no post-only orders"
                                           : NULL;
}

static void put_decimal(json_t *object, const char *key, int64_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    json_object_set_new(object, key, json_string(text));
}

static char *order_body(const struct order *order, const struct symbol *symbol, const char *client_id)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "symbol", symbol->name, "side",
                  order->side == ORDER_BUY ? "buy" : "sell", "type", alpaca_type_words[order->type],
                  "time_in_force", alpaca_tif_words[order->tif], "client_order_id", client_id);
    put_decimal(object, "qty", order->qty, symbol->qty_scale);
    if (order_has_limit(order->type))
        put_decimal(object, "limit_price", order->price, symbol->price_scale);
    if (order_is_stop(order->type))
        put_decimal(object, "stop_price", order->stop_price, symbol->price_scale);
    if (order->extended_hours)
        json_object_set_new(object, "extended_hours", json_true());
    char *body = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return body;
}

static int place(struct paper_call *call, const struct order *order)
{
    const char *refusal = place_refusal(order);
    if (refusal) {
        net_account_call_end_later(&call->base, VENUE_REFUSED, 0, 0, refusal);
        return 0;
    }
    char *body = order_body(order, call->base.symbol, call->base.client_id);
    if (!body) {
        net_account_call_free(&call->base);
        return -ENOMEM;
    }
    struct text path = {0};
    text_lit(&path, "/v2/orders");
    int r = alpaca_account_call_start(call, STEP_PLACE, &path, body, take_placed);
    free(body);
    return r;
}

/* ---- Query, cancel. ---- */

static bool take_queried(struct paper_call *call, const struct http_reply *reply)
{
    return take_own(call, reply, NULL) && finish_with_order(call);
}

static bool take_ended(struct paper_call *call, const struct http_reply *reply)
{
    (void)reply;
    return finish(call);
}

static bool take_found(struct paper_call *call, const struct http_reply *reply)
{
    struct alpaca_order raw;
    if (!take_own(call, reply, &raw))
        return false;
    if (json_is(raw.status, "pending_cancel")) /* the DELETE would be refused */
        return take_ended(call, reply);
    if (call->order.state > VENUE_ORDER_PARTIAL) {
        net_account_call_end(&call->base, VENUE_ABSENT, 0, "the order has ended");
        return true;
    }
    struct text path = {0};
    text_lit(&path, "/v2/orders/");
    text_url(&path, call->order.id);
    alpaca_account_call_continue(call, STEP_END, &path, take_ended);
    return true;
}

static void find_path(struct text *path, const char *client_id)
{
    text_lit(path, "/v2/orders:by_client_order_id?client_order_id=");
    text_url(path, client_id);
}

/* ---- Open orders. ---- */

static bool take_open(struct paper_call *call, const struct http_reply *reply);

static void open_path(struct text *path, int64_t after_ns)
{
    text_format(path, "/v2/orders?status=open&direction=asc&nested=false&limit=%d", OPEN_PAGE);
    if (after_ns == 0)
        return;
    char time[ALPACA_TIME_TEXT_MAX];
    alpaca_time_text(after_ns, time);
    text_lit(path, "&after=");
    text_url(path, time);
}

/* Pages are by the time of submission, from just before the last one of the page before: several may share
 * it. */
static bool take_open(struct paper_call *call, const struct http_reply *reply)
{
    struct venue_lists *lists = &call->base.lists;
    size_t before = lists->n_orders, n;
    int64_t last_ns;
    if (alpaca_parse_orders(&call->base.calls->symbols, reply->body, reply->len, lists, &n, &last_ns) < 0)
        return false;
    if (n < OPEN_PAGE)
        return finish(call);
    if (last_ns <= 1 || lists->n_orders == before || ++call->pages == PAGES_MAX)
        return false;
    struct text path = {0};
    open_path(&path, last_ns - 1);
    alpaca_account_call_continue(call, STEP_READ, &path, take_open);
    return true;
}

/* ---- Fills. ---- */

static bool finish_fills(struct paper_call *call)
{
    struct venue_lists *lists = &call->base.lists;
    if (!alpaca_fills_settle(lists, call->order.filled)) {
        net_account_call_end(&call->base, VENUE_UNKNOWN, 0,
                             "the venue's fills of the order do not add up yet");
        return true;
    }
    for (size_t i = 0; i < lists->n_fills; i++)
        memcpy(lists->fills[i].client_id, call->order.client_id, sizeof(call->order.client_id));
    return finish(call);
}

static bool take_fills(struct paper_call *call, const struct http_reply *reply);

/* Of the order, for which the venue has had a filter since July 2026, and oldest first; where it ignores
 * that, from the order's submission on. */
static void ask_fills(struct paper_call *call, int64_t submitted_ns, const char *token)
{
    struct text path = {0};
    text_format(&path, "/v2/account/activities/FILL?direction=asc&page_size=%d&order_id=", FILLS_PAGE);
    text_url(&path, call->base.order_id);
    if (submitted_ns > SECOND_NS) {
        char time[ALPACA_TIME_TEXT_MAX];
        alpaca_time_text((submitted_ns / SECOND_NS - 1) * SECOND_NS, time);
        text_lit(&path, "&after=");
        text_url(&path, time);
    }
    if (*token) {
        text_lit(&path, "&page_token=");
        text_url(&path, token);
    }
    alpaca_account_call_continue(call, STEP_READ, &path, take_fills);
}

static bool take_fills(struct paper_call *call, const struct http_reply *reply)
{
    char last[VENUE_TRADE_ID_MAX];
    size_t n;
    if (alpaca_parse_fills(call->base.symbol, call->base.order_id, reply->body, reply->len, &call->base.lists,
                           &n, last) < 0)
        return false;
    if (n < FILLS_PAGE)
        return finish_fills(call);
    if (++call->pages == PAGES_MAX)
        return false;
    ask_fills(call, call->submitted_ns, last);
    return true;
}

static bool take_order_of_fills(struct paper_call *call, const struct http_reply *reply)
{
    struct alpaca_order raw;
    if (alpaca_parse_order(&call->base.calls->symbols, reply->body, reply->len, &call->order, &raw) < 0 ||
        call->order.symbol != call->base.symbol || strcmp(call->order.id, call->base.order_id) != 0)
        return false;
    call->submitted_ns = raw.submitted_ns;
    if (call->order.filled == 0)
        return finish_fills(call);
    ask_fills(call, call->submitted_ns, "");
    return true;
}

/* ---- Balances. ---- */

static bool take_positions(struct paper_call *call, const struct http_reply *reply)
{
    if (alpaca_parse_positions(&call->base.calls->symbols, reply->body, reply->len, &call->base.lists) < 0)
        return false;
    return finish(call);
}

static bool take_cash(struct paper_call *call, const struct http_reply *reply)
{
    if (alpaca_parse_cash(&call->base.calls->symbols, reply->body, reply->len, &call->base.lists) < 0)
        return false;
    struct text path = {0};
    text_lit(&path, "/v2/positions");
    alpaca_account_call_continue(call, STEP_READ, &path, take_positions);
    return true;
}

/* ---- The first steps. ---- */

int alpaca_account_send(struct account_call *base, const struct order *order)
{
    struct paper_call *call = (struct paper_call *)base;
    struct text path = {0};
    switch (base->ask) {
    case ACCOUNT_PLACE:
        return place(call, order);
    case ACCOUNT_CANCEL:
    case ACCOUNT_QUERY:
        find_path(&path, base->client_id);
        return alpaca_account_call_start(call, STEP_FIND, &path, NULL,
                                         base->ask == ACCOUNT_CANCEL ? take_found : take_queried);
    case ACCOUNT_OPEN:
        open_path(&path, 0);
        return alpaca_account_call_start(call, STEP_READ, &path, NULL, take_open);
    case ACCOUNT_FILLS:
        text_lit(&path, "/v2/orders/");
        text_url(&path, base->order_id);
        return alpaca_account_call_start(call, STEP_FIND, &path, NULL, take_order_of_fills);
    default:
        text_lit(&path, "/v2/account");
        return alpaca_account_call_start(call, STEP_READ, &path, NULL, take_cash);
    }
}
