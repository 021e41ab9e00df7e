/* What the answer to a request says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/binance/rest.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/clock.h"

/* Is it what was asked for? */
static bool is_of(const struct binance_request *request)
{
    const struct venue_order *order = request->parsed.orders;
    return request->parsed.n_orders == 1 && order->symbol == request->symbol &&
           strcmp(order->client_id, request->client_id) == 0;
}

static int parse(struct binance_request *request, struct json json)
{
    const struct venue_symbols *symbols = &request->account->symbols;
    struct venue_lists *parsed = &request->parsed;
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
        binance_request_end(request, VENUE_UNKNOWN, 0,
                            r == -ENOMEM ? "out of memory" : "the venue's answer cannot be read");
        return;
    }
    if (request->kind == BINANCE_FILLS && request->parsed.n_fills - before == BINANCE_TRADES_PAGE) {
        binance_request_next_page(request);
        return;
    }
    request->answer = (struct venue_answer){.outcome = VENUE_DONE};
    binance_request_finish(request);
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
        binance_account_hold(account, until_ms, why);
    return until_ms;
}

static void take_refusal(struct binance_request *request, const struct binance_refusal *refusal,
                         int64_t wait_ms)
{
    struct binance_account *account = request->account;
    struct venue_answer *answer = &request->answer;
    const enum venue_outcome outcome = binance_outcome(request->kind, refusal);
    const bool of_address = binance_refusal_of_address(refusal);
    if (refusal->msg.len > 0)
        binance_copy_words(refusal->msg, request->text, sizeof(request->text));
    else
        snprintf(request->text, sizeof(request->text), "the venue answered HTTP %d", refusal->status);
    char why[VENUE_DETAIL_MAX + 64];
    snprintf(why, sizeof(why), of_address ? "the venue limits this address (HTTP %d): %s" : "HTTP %d: %s",
             refusal->status, request->text);
    int64_t until_ms = take_wait(request, refusal, outcome, wait_ms, why);
    *answer = (struct venue_answer){.outcome = outcome, .code = (int)refusal->code};
    if (outcome == VENUE_NOT_SENT)
        answer->retry_ms = until_ms;
    binance_request_finish(request);
    if (outcome == VENUE_BAD_TIMESTAMP)
        binance_account_report_bad_timestamp(account);
    if (of_address) /* behind the answer: either callback may end the account */
        binance_account_report_ban(account, until_ms, why);
}

/* The weight is the address's, of all that use it, counted by the venue's minute, which its Date shows to the
 * second. */
static void take_weight(struct binance_account *account, const struct http_reply *http)
{
    const int64_t second = http->date_s >= 0 ? http->date_s % 60 : 0;
    if (http->used_weight * 100 >= (int64_t)BINANCE_WEIGHT_LIMIT_DEFAULT * BINANCE_READS_PERCENT)
        account->reads_hold_ms = clock_now_ms() + (60 - second + 1) * 1000;
}

void binance_request_take_http(void *user, const struct http_reply *http)
{
    struct binance_request *request = user;
    struct binance_account *account = request->account;
    struct json json;
    request->http = NULL;
    if (http->error && !http->sent) {
        binance_request_end(request, VENUE_NOT_SENT, clock_now_ms() + net_backoff_next(&account->backoff),
                            http->error);
        return;
    }
    if (http->error) {
        binance_request_end(request, VENUE_UNKNOWN, 0, http->error);
        return;
    }
    net_backoff_reset(&account->backoff);
    take_weight(account, http);
    json_init(&json, http->body, http->len);
    struct json whole = json; /* syntax to its end */
    if (http->status == 200) {
        if (json_skip(&whole) && json_done(&whole))
            take_result(request, json);
        else
            binance_request_end(request, VENUE_UNKNOWN, 0, "the venue's answer cannot be read");
        return;
    }
    struct binance_refusal refusal = {.status = http->status, .msg = {"", 0}};
    if (!binance_parse_error(http->body, http->len, &refusal.code, &refusal.msg))
        refusal.code = 0;
    take_refusal(request, &refusal, http->retry_after_ms);
}

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
