#include "exchange/alpaca/account/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange/clock.h"
#include "exchange/utf8.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    AGAIN_MS = SECOND_MS, /* after a connection that could not be made */
    HTTP_LIMITED = 429,
    HTTP_MISSING = 404,
    HTTP_INVALID = 422,
    HTTP_FORBIDDEN = 403,
    HTTP_UNAUTHORIZED = 401,
};

struct paper_call *alpaca_account_call_create(struct paper_requests *requests, venue_answer_done *done,
                                              void *user)
{
    struct paper_call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    call->requests = requests;
    call->done = done;
    call->user = user;
    struct paper_call **last = &requests->calls;
    while (*last)
        last = &(*last)->next;
    *last = call;
    return call;
}

static void unlink_call(struct paper_call *call)
{
    struct paper_call **at = &call->requests->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

static void free_call(struct paper_call *call)
{
    http_cancel(call->http);
    free(call->orders.list);
    free(call->fills.list);
    free(call->balances.list);
    free(call);
}

void alpaca_account_call_destroy(struct paper_call *call)
{
    unlink_call(call);
    free_call(call);
}

/* ---- Answers. ---- */

static void deliver(struct paper_call *call)
{
    struct venue_answer *answer = &call->answer;
    answer->text = call->text;
    if (answer->outcome == VENUE_DONE) {
        answer->text = "";
        answer->orders = call->has_order ? &call->order : call->orders.list;
        answer->n_orders = call->has_order ? 1 : call->orders.n;
        answer->fills = call->fills.list;
        answer->n_fills = call->fills.n;
        answer->balances = call->balances.list;
        answer->n_balances = call->balances.n;
    }
    unlink_call(call); /* the caller may destroy the account */
    call->done(call->user, answer);
    free_call(call);
}

static void settle(struct paper_call *call, enum venue_outcome outcome, int code, const char *text)
{
    if (outcome == VENUE_UNKNOWN && call->cancels && call->step != STEP_END)
        outcome = VENUE_NOT_SENT;
    if (outcome == VENUE_NOT_SENT && call->answer.retry_ms == 0)
        call->answer.retry_ms = clock_now_ms() + AGAIN_MS;
    call->answer.outcome = outcome;
    call->answer.code = code;
    if (text != call->text)
        snprintf(call->text, sizeof(call->text), "%s", text);
}

void alpaca_account_call_finish(struct paper_call *call, enum venue_outcome outcome, int code,
                                const char *text)
{
    settle(call, outcome, code, text);
    deliver(call);
}

static void on_timer(uv_timer_t *timer)
{
    struct paper_requests *requests = timer->data;
    for (struct paper_call *call = requests->calls; call; call = call->next) {
        if (!call->due)
            continue;
        if (uv_timer_start(timer, on_timer, 0, 0) < 0) /* for the next one: this may be the account's end */
            return;
        deliver(call);
        return;
    }
}

void alpaca_account_call_finish_later(struct paper_call *call, enum venue_outcome outcome, const char *text)
{
    settle(call, outcome, 0, text);
    call->due = true;
    uv_timer_start(&call->requests->timer, on_timer, 0, 0);
}

/* ---- What an answer says. ---- */

static bool has(struct json_text text, const char *words)
{
    size_t len = strlen(words);
    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.data + i, words, len) == 0)
            return true;
    return false;
}

/* Codes are of eight digits and begin with a status: 40410000. */
static bool is_refusal(int code)
{
    return code >= 40000000 && code < 50000000;
}

enum venue_outcome alpaca_account_outcome(enum paper_step step, int status, const char *body, size_t len,
                                          int *ret_code, struct json_text *ret_words)
{
    *ret_code = 0;
    *ret_words = (struct json_text){"", 0};
    if (status >= 200 && status < 300)
        return VENUE_DONE;
    bool said = alpaca_parse_error(body, len, ret_code, ret_words);
    bool coded = said && is_refusal(*ret_code);
    if (status == HTTP_LIMITED)
        return VENUE_NOT_SENT;
    if (status < 400 || status >= 500 || !said)
        return VENUE_UNKNOWN;
    if (status == HTTP_UNAUTHORIZED || (status == HTTP_FORBIDDEN && !coded))
        return VENUE_DENIED;
    if (!coded)
        return VENUE_UNKNOWN;
    if (status == HTTP_MISSING && (step == STEP_FIND || step == STEP_END))
        return VENUE_ABSENT;
    if (status == HTTP_INVALID && step == STEP_END)
        return VENUE_ABSENT;
    if (status == HTTP_INVALID && step == STEP_PLACE && has(*ret_words, "client_order_id"))
        return VENUE_EXISTS;
    return VENUE_REFUSED;
}

/* ---- Requests. ---- */

void alpaca_requests_hold(struct paper_requests *requests, int64_t until_ms, const char *why)
{
    if (until_ms <= requests->hold_ms || until_ms <= clock_now_ms())
        return;
    requests->hold_ms = until_ms;
    snprintf(requests->why, sizeof(requests->why), "%s", why);
}

/* As the reply says; else a minute. */
static int64_t limit_ms(const struct http_reply *reply)
{
    int64_t now_s = reply->date_s >= 0 ? reply->date_s : clock_wall_ns() / 1000000000;
    int64_t reset_ms = reply->rate_reset_s >= 0 ? (reply->rate_reset_s - now_s + 1) * SECOND_MS : -1;
    int64_t wait_ms = reply->retry_after_ms >= 0 ? reply->retry_after_ms : reset_ms;
    return wait_ms <= 0 || wait_ms > MINUTE_MS ? MINUTE_MS : wait_ms;
}

static void limited(struct paper_call *call, const struct http_reply *reply)
{
    struct paper_requests *requests = call->requests;
    int64_t wait_ms = limit_ms(reply);
    snprintf(call->text, sizeof(call->text), "the venue limits its requests (HTTP %d): waiting %lld s",
             reply->status, (long long)((wait_ms + SECOND_MS - 1) / SECOND_MS));
    alpaca_requests_hold(requests, clock_now_ms() + wait_ms, call->text);
    call->answer.retry_ms = requests->hold_ms;
    settle(call, VENUE_NOT_SENT, call->answer.code, call->text);
    call->due = true; /* the callback of the ban may destroy the account, and the call with it */
    uv_timer_start(&requests->timer, on_timer, 0, 0);
    if (requests->ban.reported)
        requests->ban.reported(requests->ban.user, clock_wall_ns() + wait_ms * 1000000, requests->why);
}

static void on_reply(void *user, const struct http_reply *reply)
{
    struct paper_call *call = user;
    struct json_text words;
    int code;
    call->http = NULL;
    if (reply->error) {
        alpaca_account_call_finish(call, reply->sent ? VENUE_UNKNOWN : VENUE_NOT_SENT, 0, reply->error);
        return;
    }
    call->answer.ts_ns = reply->date_s > 0 ? reply->date_s * 1000000000 : 0;
    enum venue_outcome outcome =
        alpaca_account_outcome(call->step, reply->status, reply->body, reply->len, &code, &words);
    if (outcome == VENUE_DONE) {
        if (!call->take(call, reply))
            alpaca_account_call_finish(call, VENUE_UNKNOWN, 0, "the venue's answer cannot be read");
        return;
    }
    call->answer.code = code;
    if (reply->status == HTTP_LIMITED) {
        limited(call, reply);
        return;
    }
    if (words.len > 0)
        snprintf(call->text, sizeof(call->text), "%.*s", (int)words.len, words.data);
    else
        snprintf(call->text, sizeof(call->text), "the venue answers HTTP %d", reply->status);
    utf8_clean(call->text); /* also where it is cut */
    alpaca_account_call_finish(call, outcome, code, call->text);
}

/* Is it to wait? Then it is answered, from the loop. */
static bool waits(struct paper_call *call)
{
    struct paper_requests *requests = call->requests;
    int64_t now = clock_now_ms(), next_ms = net_budget_next_ms(&requests->budget, now);
    if (requests->hold_ms > now) {
        call->answer.retry_ms = requests->hold_ms;
        alpaca_account_call_finish_later(call, VENUE_NOT_SENT, requests->why);
        return true;
    }
    if (next_ms > now) {
        call->answer.retry_ms = next_ms;
        alpaca_account_call_finish_later(call, VENUE_NOT_SENT,
                                         "as many requests as the venue allows in a minute");
        return true;
    }
    net_budget_take(&requests->budget, now);
    return false;
}

int alpaca_account_call_send(struct paper_call *call, enum paper_step step, struct text *path,
                             const char *body, paper_take *take)
{
    static const char *const methods[] = {
        [STEP_READ] = "GET", [STEP_FIND] = "GET", [STEP_PLACE] = "POST", [STEP_END] = "DELETE"};
    struct paper_requests *requests = call->requests;
    struct text url = {0};
    text_str(&url, requests->base);
    text_bytes(&url, path->data ? path->data : "", path->len);
    url.failed |= path->failed;
    text_finish(path);
    char *whole = text_take(&url);
    if (!whole)
        return -ENOMEM;
    call->step = step;
    call->take = take;
    if (waits(call)) {
        free(whole);
        return 0;
    }
    const struct net_header headers[] = {
        requests->headers[0], requests->headers[1], {"Content-Type", "application/json"}};
    const struct http_request request = {
        .method = methods[step],
        .url = whole,
        .timeout_ms = requests->timeout_ms,
        .headers = headers,
        .n_headers = body ? 3 : 2,
        .body = body,
        .body_len = body ? strlen(body) : 0,
    };
    int r = http_send(requests->net, &request, on_reply, call, &call->http);
    free(whole);
    requests->sent += r == 0;
    return r < 0 ? -ENOMEM : 0;
}

void alpaca_account_call_continue(struct paper_call *call, enum paper_step step, struct text *path,
                                  paper_take *take)
{
    if (alpaca_account_call_send(call, step, path, NULL, take) == 0)
        return;
    alpaca_account_call_finish(call, VENUE_NOT_SENT, 0, "out of memory");
}
