/* Requests: how each is sent, and what its answer says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/utf8.h"

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
    binance_parsed_free(&request->parsed);
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
static void finish(struct binance_request *request)
{
    struct venue_answer *answer = &request->answer;
    take_out(request);
    answer->text = answer->outcome == VENUE_DONE ? "" : request->text;
    if (answer->outcome == VENUE_DONE) {
        const struct binance_parsed *parsed = &request->parsed;
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
        finish(ready);
    }
}

/* At once: from the loop. */
static void answer_now(struct binance_request *request, enum venue_outcome outcome, int64_t retry_ms,
                       const char *text)
{
    request->answer = (struct venue_answer){.outcome = outcome, .retry_ms = retry_ms};
    fail_line(0, request->text, sizeof(request->text), NULL, "%s", text);
    finish(request);
}

/* ---- Answers. ---- */

static void send_page(struct binance_request *request);

/* Is it what was asked for? */
static bool is_of(const struct binance_request *request)
{
    const struct venue_order *order = request->parsed.orders;
    return request->parsed.n_orders == 1 && order->symbol == request->symbol &&
           strcmp(order->client_id, request->client_id) == 0;
}

static int parse(struct binance_request *request, struct json json)
{
    const struct binance_symbols *symbols = &request->account->symbols;
    struct binance_parsed *parsed = &request->parsed;
    int r;
    switch (request->kind) {
    case BINANCE_PLACE:
    case BINANCE_CANCEL:
    case BINANCE_QUERY:
        r = binance_parse_order(json, symbols, parsed);
        return r == 0 && !is_of(request) ? -EBADMSG : r;
    case BINANCE_OPEN:
        return binance_parse_open(json, symbols, parsed);
    case BINANCE_FILLS:
        return binance_parse_trades(json, symbols, request->symbol, request->order_id, parsed);
    default:
        return binance_parse_balances(json, symbols, parsed);
    }
}

/* A good answer's result. */
static void take_result(struct binance_request *request, struct json json)
{
    const size_t before = request->parsed.n_fills;
    int r = parse(request, json);
    if (r < 0) { /* it was done, and not as what is known */
        answer_now(request, VENUE_UNKNOWN, 0,
                   r == -ENOMEM ? "out of memory" : "the venue's answer cannot be read");
        return;
    }
    if (request->kind == BINANCE_FILLS && request->parsed.n_fills - before == BINANCE_TRADES_PAGE) {
        send_page(request);
        return;
    }
    request->answer = (struct venue_answer){.outcome = VENUE_DONE};
    finish(request);
}

/* The wait that a refusal asks for, as a monotonic time, which others must keep, too; 0: none. */
static int64_t take_wait(struct binance_request *request, const struct binance_refusal *refusal,
                         enum venue_outcome outcome, int64_t wait_ms, const char *why)
{
    struct binance_account *account = request->account;
    const bool of_address = binance_refusal_of_address(refusal);
    if (!of_address && outcome != VENUE_NOT_SENT)
        return 0;
    int64_t until_ms = clock_now_ms() + (wait_ms >= 0 ? wait_ms : binance_refusal_wait_ms(refusal));
    if (refusal->code == BINANCE_CODE_TOO_MANY_ORDERS && !of_address)
        account->orders_hold_ms = until_ms > account->orders_hold_ms ? until_ms : account->orders_hold_ms;
    else
        binance_account_hold(account, until_ms, why, of_address);
    return until_ms;
}

static void take_refusal(struct binance_request *request, const struct binance_refusal *refusal,
                         int64_t wait_ms)
{
    struct venue_answer *answer = &request->answer;
    const enum venue_outcome outcome = binance_outcome(request->kind, refusal);
    if (refusal->msg.len > 0)
        binance_copy_words(refusal->msg, request->text, sizeof(request->text));
    else
        snprintf(request->text, sizeof(request->text), "the venue answered HTTP %d", refusal->status);
    char why[VENUE_DETAIL_MAX + 64];
    snprintf(why, sizeof(why), "the venue limits this address (HTTP %d): %s", refusal->status, request->text);
    int64_t until_ms = take_wait(request, refusal, outcome, wait_ms, why);
    *answer = (struct venue_answer){.outcome = outcome, .code = (int)refusal->code};
    if (outcome == VENUE_NOT_SENT)
        answer->retry_ms = until_ms;
    finish(request);
}

static void on_http(void *user, const struct http_reply *http)
{
    struct binance_request *request = user;
    struct binance_account *account = request->account;
    struct json json;
    request->http = NULL;
    if (http->error && !http->sent) {
        answer_now(request, VENUE_NOT_SENT, clock_now_ms() + net_backoff_next(&account->backoff),
                   http->error);
        return;
    }
    if (http->error) {
        answer_now(request, VENUE_UNKNOWN, 0, http->error);
        return;
    }
    net_backoff_reset(&account->backoff);
    json_init(&json, http->body, http->len);
    struct json whole = json; /* syntax to its end */
    if (http->status == 200) {
        if (json_skip(&whole) && json_done(&whole))
            take_result(request, json);
        else
            answer_now(request, VENUE_UNKNOWN, 0, "the venue's answer cannot be read");
        return;
    }
    struct binance_refusal refusal = {.status = http->status, .msg = {"", 0}};
    if (!binance_parse_error(http->body, http->len, &refusal.code, &refusal.msg))
        refusal.code = 0;
    take_refusal(request, &refusal, http->retry_after_ms);
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
    int r = http_send(account->net, &http, on_http, request, &request->http);
    free(whole);
    if (r == 0)
        account->status.sent++;
    return r < 0 ? -ENOMEM : 0;
}

/* The next page, from within an answer. */
static void send_page(struct binance_request *request)
{
    if (send_http(request) < 0)
        answer_now(request, VENUE_UNKNOWN, 0, "out of memory");
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

void binance_requests_take(struct binance_account *account, const struct binance_message *message)
{
    struct binance_request *request = account->requests;
    while (request && (request->message_id != message->id || request->message_id == 0))
        request = request->next;
    if (!request)
        return; /* too late */
    request->message_id = 0;
    if (message->refusal.status == 200 && message->has_result)
        take_result(request, message->result);
    else
        take_refusal(request, &message->refusal, message->wait_ms);
}

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
