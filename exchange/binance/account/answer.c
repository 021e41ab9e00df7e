/* What the answer to a request says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/binance/rest.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/clock.h"

static struct binance_account *account_of(const struct binance_request *request)
{
    return (struct binance_account *)request->base.calls;
}

/* Is it what was asked for? */
static bool is_of(const struct binance_request *request)
{
    const struct venue_order *order = request->base.lists.orders;
    return request->base.lists.n_orders == 1 && order->symbol == request->base.symbol &&
           strcmp(order->client_id, request->base.client_id) == 0;
}

static int parse(struct binance_request *request, struct json json)
{
    const struct venue_symbols *symbols = &request->base.calls->symbols;
    struct venue_lists *lists = &request->base.lists;
    int r;
    switch (request->base.ask) {
    case ACCOUNT_PLACE:
    case ACCOUNT_CANCEL:
    case ACCOUNT_QUERY:
        r = binance_parse_order(json, symbols, lists);
        return r == 0 && !is_of(request) ? -EBADMSG : r;
    case ACCOUNT_OPEN:
    case ACCOUNT_RECENT:
        return binance_parse_open(json, symbols, lists);
    case ACCOUNT_FILLS:
        return binance_parse_trades(json, symbols, request->base.symbol, request->base.order_id, lists);
    default:
        return binance_parse_balances(json, symbols, lists);
    }
}

/* A good answer's result. */
static void take_result(struct binance_request *request, struct json json)
{
    const size_t before = request->base.lists.n_fills;
    int r = parse(request, json);
    if (r < 0) { /* it was done, and not as what is known */
        net_account_call_end(&request->base, VENUE_UNKNOWN, 0,
                             r == -ENOMEM ? "out of memory" : "the venue's answer cannot be read");
        return;
    }
    if (request->base.ask == ACCOUNT_FILLS && request->base.lists.n_fills - before == BINANCE_TRADES_PAGE) {
        binance_request_next_page(request);
        return;
    }
    net_account_call_end(&request->base, VENUE_DONE, 0, "");
}

/* The wait that a refusal asks for, as a monotonic time, which others must keep, too; 0: none. */
static int64_t take_wait(struct binance_request *request, const struct binance_refusal *refusal,
                         enum venue_outcome outcome, int64_t wait_ms, const char *why)
{
    struct binance_account *account = account_of(request);
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
    struct binance_account *account = account_of(request);
    const enum venue_outcome outcome = binance_outcome(request->base.ask, refusal);
    const bool of_address = binance_refusal_of_address(refusal);
    if (refusal->msg.len > 0)
        binance_copy_words(refusal->msg, request->base.text, sizeof(request->base.text));
    else
        snprintf(request->base.text, sizeof(request->base.text), "the venue answered HTTP %d",
                 refusal->status);
    char why[VENUE_DETAIL_MAX + 64];
    snprintf(why, sizeof(why), of_address ? "the venue limits this address (HTTP %d): %s" : "HTTP %d: %s",
             refusal->status, request->base.text);
    int64_t until_ms = take_wait(request, refusal, outcome, wait_ms, why);
    request->base.answer.retry_ms = until_ms;
    net_account_call_end(&request->base, outcome, (int)refusal->code, request->base.text);
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

void binance_request_take_http(struct account_call *call, const struct http_reply *http)
{
    struct binance_request *request = (struct binance_request *)call;
    struct json json;
    take_weight(account_of(request), http);
    json_init(&json, http->body, http->len);
    struct json whole = json; /* syntax to its end */
    if (http->status == 200) {
        if (json_skip(&whole) && json_done(&whole))
            take_result(request, json);
        else
            net_account_call_end(call, VENUE_UNKNOWN, 0, "the venue's answer cannot be read");
        return;
    }
    struct binance_refusal refusal = {.status = http->status, .msg = {"", 0}};
    if (!binance_parse_error(http->body, http->len, &refusal.code, &refusal.msg))
        refusal.code = 0;
    take_refusal(request, &refusal, http->retry_after_ms);
}

void binance_requests_take(struct binance_account *account, const struct binance_message *message)
{
    struct binance_request *request = (struct binance_request *)account->calls.list;
    while (request && (request->message_id != message->id || request->message_id == 0))
        request = (struct binance_request *)request->base.next;
    if (!request)
        return; /* too late */
    request->message_id = 0;
    if (message->refusal.status == 200 && message->has_result)
        take_result(request, message->result);
    else
        take_refusal(request, &message->refusal, message->wait_ms);
}
