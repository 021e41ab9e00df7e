/* Requests: how each is sent, and what its answer says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/clock.h"

#define NS_PER_MS 1000000LL

static const struct {
    const char *http, *path; /* of REST */
    const char *method;      /* of the WebSocket API; NULL: by REST always */
} ways[BINANCE_CALL_KINDS] = {
    [BINANCE_PLACE] = {"POST", "order", "order.place"},
    [BINANCE_CANCEL] = {"DELETE", "order", "order.cancel"},
    [BINANCE_QUERY] = {"GET", "order", "order.status"},
    [BINANCE_OPEN] = {"GET", "openOrders", NULL},
    [BINANCE_FILLS] = {"GET", "myTrades", NULL},
    [BINANCE_BALANCES] = {"GET", "account", NULL},
};

/* ---- Their life. ---- */

struct binance_request *binance_request_new(struct binance_account *account, enum binance_call_kind kind,
                                            venue_answer_done *done, void *user)
{
    struct binance_request *request = calloc(1, sizeof(*request)), **last = &account->requests;
    if (!request)
        return NULL;
    request->account = account;
    request->kind = kind;
    request->done = done;
    request->user = user;
    request->connection = -1;
    while (*last)
        last = &(*last)->next;
    *last = request;
    return request;
}

static void take_out(struct binance_request *request)
{
    struct binance_request **at = &request->account->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
}

static void free_request(struct binance_request *request)
{
    http_cancel(request->http);
    venue_lists_free(&request->parsed);
    free(request);
}

void binance_requests_free(struct binance_account *account)
{
    while (account->requests) {
        struct binance_request *request = account->requests;
        account->requests = request->next;
        free_request(request);
    }
}

/* From the loop. The caller's callback may do anything, destroy the account too. */
void binance_request_finish(struct binance_request *request)
{
    struct venue_answer *answer = &request->answer;
    take_out(request);
    answer->text = answer->outcome == VENUE_DONE ? "" : request->text;
    if (answer->outcome == VENUE_DONE) {
        const struct venue_lists *parsed = &request->parsed;
        answer->orders = parsed->orders;
        answer->n_orders = parsed->n_orders;
        answer->fills = parsed->fills;
        answer->n_fills = parsed->n_fills;
        answer->balances = parsed->balances;
        answer->n_balances = parsed->n_balances;
        answer->ts_ns = request->kind == BINANCE_PLACE || request->kind == BINANCE_CANCEL ? parsed->ts_ns : 0;
    } else if (answer->outcome == VENUE_UNKNOWN && request->kind == BINANCE_PLACE) {
        answer->settled_ns = request->settled_ns;
    }
    request->done(request->user, answer);
    free_request(request);
}

void binance_request_answer(struct binance_request *request, enum venue_outcome outcome, int64_t retry_ms,
                            const char *text)
{
    request->answer = (struct venue_answer){.outcome = outcome, .retry_ms = retry_ms};
    fail_line(0, request->text, sizeof(request->text), NULL, "%s", text);
    request->ready = true;
    binance_account_wake(request->account);
}

void binance_requests_deliver(struct binance_account *account)
{
    size_t n = 0; /* what a callback adds is for the next turn */
    for (const struct binance_request *request = account->requests; request; request = request->next)
        n += request->ready;
    for (; n > 0 && !account->destroyed; n--) {
        struct binance_request *ready = account->requests;
        while (ready && !ready->ready)
            ready = ready->next;
        if (!ready)
            return;
        binance_request_finish(ready);
    }
}

/* At once: from the loop. */
void binance_request_end(struct binance_request *request, enum venue_outcome outcome, int64_t retry_ms,
                         const char *text)
{
    request->answer = (struct venue_answer){.outcome = outcome, .retry_ms = retry_ms};
    fail_line(0, request->text, sizeof(request->text), NULL, "%s", text);
    binance_request_finish(request);
}

/* ---- Sending. ---- */

static void date(struct binance_request *request, struct binance_parameters *params)
{
    const int64_t now_ms = binance_account_now_ms(request->account);
    *params = request->params;
    if (request->parsed.n_fills > 0) { /* the next page, from the trade behind the last one */
        char *end;
        long long last = strtoll(request->parsed.fills[request->parsed.n_fills - 1].trade_id, &end, 10);
        binance_parameter_add_int(params, "fromId", last + 1);
    }
    binance_parameters_date(params, now_ms);
    request->settled_ns = (now_ms + BINANCE_RECV_WINDOW_MS + BINANCE_ENGINE_MS) * NS_PER_MS;
}

/* 0; -ENOMEM. */
static int send_http(struct binance_request *request)
{
    struct binance_account *account = request->account;
    struct binance_parameters params;
    struct text url = {0}, query = {0};
    date(request, &params);
    text_format(&url, "%s/api/v3/%s?", account->rest_base, ways[request->kind].path);
    if (!binance_parameters_query(&params, account->signer, &query))
        url.failed = true;
    text_bytes(&url, query.data, query.len);
    text_finish(&query);
    char *whole = text_take(&url);
    if (!whole)
        return -ENOMEM;
    const struct net_header key = {"X-MBX-APIKEY", binance_signer_id(account->signer)};
    const struct http_request http = {
        .method = ways[request->kind].http,
        .url = whole,
        .timeout_ms = account->timeout_ms,
        .headers = &key,
        .n_headers = 1,
    };
    int r = http_send(account->net, &http, binance_request_take_http, request, &request->http);
    free(whole);
    if (r == 0)
        account->status.sent++;
    return r < 0 ? -ENOMEM : 0;
}

/* The next page, from within an answer. */
void binance_request_next_page(struct binance_request *request)
{
    if (send_http(request) < 0)
        binance_request_end(request, VENUE_UNKNOWN, 0, "out of memory");
}

/* By the WebSocket API, if it is there. False: it is not, and nothing was sent. */
static bool send_message(struct binance_request *request)
{
    struct binance_account *account = request->account;
    struct binance_parameters params;
    if (!account->by_websocket || !ways[request->kind].method)
        return false;
    date(request, &params);
    int r = binance_user_stream_send(&account->stream, ways[request->kind].method, &params,
                                     &request->message_id, &request->connection);
    if (r < 0)
        return false;
    request->deadline_ms = clock_now_ms() + account->timeout_ms;
    binance_account_wake(account);
    return true;
}

int binance_request_send(struct binance_request *request)
{
    const struct binance_account *account = request->account;
    const int64_t now_ms = clock_now_ms();
    if (now_ms < account->hold_ms) {
        binance_request_answer(request, VENUE_NOT_SENT, account->hold_ms, account->hold_why);
        return 0;
    }
    if (request->kind == BINANCE_PLACE && now_ms < account->orders_hold_ms) {
        binance_request_answer(request, VENUE_NOT_SENT, account->orders_hold_ms,
                               "the venue takes no more new orders of this account for now");
        return 0;
    }
    if (request->kind != BINANCE_PLACE && request->kind != BINANCE_CANCEL &&
        now_ms < account->reads_hold_ms) {
        binance_request_answer(request, VENUE_NOT_SENT, account->reads_hold_ms,
                               "the venue's limit of requests is nearly used up");
        return 0;
    }
    if (send_message(request))
        return 0;
    int r = send_http(request);
    if (r < 0) {
        take_out(request);
        free_request(request);
    }
    return r;
}

/* ---- By the WebSocket API. ---- */

void binance_requests_lost(struct binance_account *account, int connection, const char *why)
{
    for (struct binance_request *request = account->requests; request; request = request->next) {
        if (request->message_id == 0 || request->connection != connection)
            continue;
        request->message_id = 0;
        binance_request_answer(request, VENUE_UNKNOWN, 0, why);
    }
}

int64_t binance_requests_expire(struct binance_account *account, int64_t now_ms)
{
    int64_t at_ms = INT64_MAX;
    for (struct binance_request *request = account->requests; request; request = request->next) {
        if (request->message_id == 0)
            continue;
        if (now_ms < request->deadline_ms) {
            at_ms = request->deadline_ms < at_ms ? request->deadline_ms : at_ms;
            continue;
        }
        request->message_id = 0;
        binance_request_answer(request, VENUE_UNKNOWN, 0, "the venue does not answer");
    }
    return at_ms;
}

bool binance_requests_wait(const struct binance_account *account, int connection)
{
    for (const struct binance_request *request = account->requests; request; request = request->next)
        if (request->message_id != 0 && request->connection == connection)
            return true;
    return false;
}
