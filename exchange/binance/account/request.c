/* Requests: how each is sent. */
#include <stdlib.h>

#include "exchange/binance/account/account.h"
#include "exchange/binance/variant.h"
#include "exchange/clock.h"

#define NS_PER_MS 1000000LL

enum { RECENT_ORDERS = 500 };

static const struct {
    const char *http, *path; /* of REST */
    const char *method;      /* of the WebSocket API; NULL: by REST always */
} ways[ACCOUNT_ASKS] = {
    [ACCOUNT_PLACE] = {"POST", "order", "order.place"},
    [ACCOUNT_CANCEL] = {"DELETE", "order", "order.cancel"},
    [ACCOUNT_QUERY] = {"GET", "order", "order.status"},
    [ACCOUNT_OPEN] = {"GET", "openOrders", NULL},
    [ACCOUNT_FILLS] = {"GET", "myTrades", NULL},
    [ACCOUNT_BALANCES] = {"GET", "account", NULL},
    [ACCOUNT_RECENT] = {"GET", "allOrders", NULL},
};

static struct binance_account *account_of(const struct binance_request *request)
{
    return (struct binance_account *)request->base.calls;
}

static void date(struct binance_request *request, struct binance_parameters *params)
{
    const struct venue_lists *lists = &request->base.lists;
    const int64_t now_ms = binance_account_now_ms(account_of(request));
    *params = request->params;
    if (lists->n_fills > 0) { /* the next page, from the trade behind the last one */
        char *end;
        long long last = strtoll(lists->fills[lists->n_fills - 1].trade_id, &end, 10);
        binance_parameter_add_int(params, "fromId", last + 1);
    }
    binance_parameters_date(params, now_ms);
    request->settled_ns = (now_ms + BINANCE_RECV_WINDOW_MS + BINANCE_ENGINE_MS) * NS_PER_MS;
}

static void put_path(struct binance_request *request, struct text *path)
{
    struct binance_parameters params;
    struct text query = {0};
    date(request, &params);
    text_format(path, "/api/v3/%s?", ways[request->base.ask].path);
    path->failed |= !binance_parameters_query(&params, account_of(request)->signer, &query);
    text_bytes(path, query.data, query.len);
    text_finish(&query);
}

/* The next page, from within an answer. */
void binance_request_next_page(struct binance_request *request)
{
    struct text path = {0};
    put_path(request, &path);
    net_account_call_continue(&request->base, "GET", &path, VENUE_UNKNOWN);
}

/* By the WebSocket API, if it is there. False: it is not, and nothing was sent. */
static bool send_message(struct binance_request *request)
{
    struct binance_account *account = account_of(request);
    const char *method = ways[request->base.ask].method;
    struct binance_parameters params;
    if (!account->by_websocket || !method)
        return false;
    date(request, &params);
    if (binance_user_stream_send(&account->stream, method, &params, &request->message_id,
                                 &request->connection) < 0)
        return false;
    request->deadline_ms = clock_now_ms() + account->calls.timeout_ms;
    binance_account_wake(account);
    return true;
}

/* What is asked; or why it is not. */
static const char *put_parameters(struct binance_request *request, const struct order *order)
{
    struct binance_parameters *params = &request->params;
    const struct account_call *call = &request->base;
    if (order)
        return binance_parameters_of_order(params, call->symbol, order, call->client_id);
    if (call->symbol)
        binance_parameter_add(params, "symbol", call->symbol->name);
    if (call->order_id[0])
        binance_parameter_add(params, "orderId", call->order_id);
    else if (call->client_id[0])
        binance_parameter_add(params, "origClientOrderId", call->client_id);
    if (call->ask == ACCOUNT_FILLS) {
        binance_parameter_add_int(params, "limit", BINANCE_TRADES_PAGE);
    } else if (call->ask == ACCOUNT_RECENT) {
        binance_parameter_add_int(params, "limit", RECENT_ORDERS);
    } else if (call->ask == ACCOUNT_BALANCES) {
        binance_parameter_add(params, "omitZeroBalances", "true");
    }
    return NULL;
}

static int send_call(struct account_call *call, const struct order *order)
{
    struct binance_request *request = (struct binance_request *)call;
    const struct binance_account *account = account_of(request);
    const bool reads = call->ask != ACCOUNT_PLACE && call->ask != ACCOUNT_CANCEL;
    const int64_t now_ms = clock_now_ms();
    struct text path = {0};
    request->connection = -1;
    const char *why = put_parameters(request, order);
    if (why)
        net_account_call_end_later(call, VENUE_REFUSED, 0, 0, why);
    else if (now_ms < call->calls->hold_ms)
        net_account_call_end_later(call, VENUE_NOT_SENT, 0, call->calls->hold_ms, call->calls->why);
    else if (call->ask == ACCOUNT_PLACE && now_ms < account->orders_hold_ms)
        net_account_call_end_later(call, VENUE_NOT_SENT, 0, account->orders_hold_ms,
                                   "the venue takes no more new orders of this account for now");
    else if (reads && now_ms < account->reads_hold_ms)
        net_account_call_end_later(call, VENUE_NOT_SENT, 0, account->reads_hold_ms,
                                   "the venue's limit of requests is nearly used up");
    if (call->due || send_message(request))
        return 0;
    put_path(request, &path);
    return net_account_call_send(call, ways[call->ask].http, &path, NULL);
}

static void settle(struct account_call *call)
{
    const bool changes = call->ask == ACCOUNT_PLACE || call->ask == ACCOUNT_CANCEL;
    struct venue_answer *answer = &call->answer;
    answer->ts_ns = answer->outcome == VENUE_DONE && changes ? call->lists.ts_ns : 0;
    if (answer->outcome == VENUE_UNKNOWN && call->ask == ACCOUNT_PLACE)
        answer->settled_ns = ((struct binance_request *)call)->settled_ns;
}

const struct account_calls_venue binance_account_calls = {.call_size = sizeof(struct binance_request),
                                                          .banned_before = BINANCE_BANNED_BEFORE,
                                                          .send = send_call,
                                                          .take = binance_request_take_http,
                                                          .settle = settle};

/* ---- By the WebSocket API. ---- */

static struct binance_request *first(const struct binance_account *account)
{
    return (struct binance_request *)account->calls.list;
}

static struct binance_request *next(const struct binance_request *request)
{
    return (struct binance_request *)request->base.next;
}

static void give_up(struct binance_request *request, const char *why)
{
    request->message_id = 0;
    net_account_call_end_later(&request->base, VENUE_UNKNOWN, 0, 0, why);
}

void binance_requests_lost(struct binance_account *account, int connection, const char *why)
{
    for (struct binance_request *request = first(account); request; request = next(request))
        if (request->message_id != 0 && request->connection == connection)
            give_up(request, why);
}

int64_t binance_requests_expire(struct binance_account *account, int64_t now_ms)
{
    int64_t at_ms = INT64_MAX;
    for (struct binance_request *request = first(account); request; request = next(request)) {
        if (request->message_id == 0)
            continue;
        if (now_ms >= request->deadline_ms)
            give_up(request, "the venue does not answer");
        else if (request->deadline_ms < at_ms)
            at_ms = request->deadline_ms;
    }
    return at_ms;
}

bool binance_requests_wait(const struct binance_account *account, int connection)
{
    for (const struct binance_request *request = first(account); request; request = next(request))
        if (request->message_id != 0 && request->connection == connection)
            return true;
    return false;
}
