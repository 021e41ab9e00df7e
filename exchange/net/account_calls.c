#include "exchange/net/account_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/link.h"
#include "exchange/utf8.h"

enum { UNSENT_MIN_MS = 1000, UNSENT_MAX_MS = 5 * 1000 /* a cancel may wait for it */ };

/* ---- Their life. ---- */

static void unlink_call(struct account_call *call)
{
    struct account_call **at = &call->calls->list;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

static void free_call(struct account_call *call)
{
    http_cancel(call->http);
    venue_lists_free(&call->lists);
    free(call);
}

void net_account_call_free(struct account_call *call)
{
    unlink_call(call);
    free_call(call);
}

void net_account_calls_init(struct account_calls *calls, const struct account_calls_venue *venue,
                            const struct venue_account_config *config, const char *rest_url,
                            void (*closed)(void *user), void *user)
{
    size_t len = strlen(rest_url);
    len -= len > 0 && rest_url[len - 1] == '/';
    snprintf(calls->base, sizeof(calls->base), "%.*s", (int)len, rest_url);
    calls->venue = venue;
    calls->net = config->net;
    calls->symbols = (struct venue_symbols){config->symbols, config->n_symbols};
    calls->timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : VENUE_TIMEOUT_MS;
    calls->ban = config->ban;
    calls->closed = closed;
    calls->user = user;
    calls->timer.data = calls;
    net_backoff_init(&calls->backoff, UNSENT_MIN_MS, UNSENT_MAX_MS, config->jitter_seed);
    uv_timer_init(net_context_loop(config->net), &calls->timer); /* it cannot fail */
    net_account_calls_hold(calls, clock_ms_of_wall(config->ban.until_ns),
                           venue->banned_before ? venue->banned_before : LINK_LIMITED_BEFORE);
}

static void on_closed(uv_handle_t *handle)
{
    struct account_calls *calls = handle->data;
    calls->closed(calls->user);
}

void net_account_calls_close(struct account_calls *calls)
{
    while (calls->list)
        net_account_call_free(calls->list);
    uv_close((uv_handle_t *)&calls->timer, on_closed);
}

void net_account_calls_hold(struct account_calls *calls, int64_t until_ms, const char *why)
{
    if (until_ms <= calls->hold_ms || until_ms <= clock_now_ms())
        return;
    calls->hold_ms = until_ms;
    snprintf(calls->why, sizeof(calls->why), "%s", why);
}

/* ---- Answers. ---- */

static void deliver(struct account_call *call)
{
    struct venue_answer *answer = &call->answer;
    answer->text = call->text;
    if (answer->outcome == VENUE_DONE) {
        answer->text = "";
        answer->orders = call->lists.orders;
        answer->n_orders = call->lists.n_orders;
        answer->fills = call->lists.fills;
        answer->n_fills = call->lists.n_fills;
        answer->balances = call->lists.balances;
        answer->n_balances = call->lists.n_balances;
    }
    unlink_call(call); /* the caller may destroy the account */
    call->done(call->user, answer);
    free_call(call);
}

/* When to try again what did not leave: the calls that fail before then share one pause. */
static int64_t unsent_until(struct account_calls *calls)
{
    int64_t now = clock_now_ms();
    if (now >= calls->unsent_ms)
        calls->unsent_ms = now + net_backoff_next(&calls->backoff);
    return calls->unsent_ms;
}

static void settle(struct account_call *call, enum venue_outcome outcome, int code, int64_t retry_ms,
                   const char *text)
{
    struct venue_answer *answer = &call->answer;
    char line[sizeof(call->text)]; /* the text may be the call's own */
    answer->outcome = outcome;
    answer->code = code;
    fail_line(0, line, sizeof(line), NULL, "%s", text);
    utf8_clean(line); /* also where it is cut */
    memcpy(call->text, line, sizeof(line));
    if (call->calls->venue->settle)
        call->calls->venue->settle(call);
    retry_ms = retry_ms > 0 ? retry_ms : answer->retry_ms;
    if (answer->outcome == VENUE_NOT_SENT && retry_ms == 0)
        retry_ms = unsent_until(call->calls);
    answer->retry_ms = answer->outcome == VENUE_NOT_SENT ? retry_ms : 0;
}

void net_account_call_end(struct account_call *call, enum venue_outcome outcome, int code, const char *text)
{
    settle(call, outcome, code, 0, text);
    deliver(call);
}

static void on_timer(uv_timer_t *timer)
{
    struct account_calls *calls = timer->data;
    for (struct account_call *call = calls->list; call; call = call->next) {
        if (!call->due)
            continue;
        uv_timer_start(timer, on_timer, 0, 0); /* for the next one: this may be the account's end */
        deliver(call);
        return;
    }
}

void net_account_call_end_later(struct account_call *call, enum venue_outcome outcome, int code,
                                int64_t retry_ms, const char *text)
{
    settle(call, outcome, code, retry_ms, text);
    call->due = true;
    uv_timer_start(&call->calls->timer, on_timer, 0, 0);
}

void net_account_call_limited(struct account_call *call, int code, int64_t wait_ms, const char *text)
{
    struct account_calls *calls = call->calls;
    net_account_calls_hold(calls, clock_now_ms() + wait_ms, text);
    /* Not now: the callback of the ban may destroy the account, and the call with it. */
    net_account_call_end_later(call, VENUE_NOT_SENT, code, calls->hold_ms, text);
    if (calls->ban.reported)
        calls->ban.reported(calls->ban.user, clock_wall_ns() + wait_ms * 1000000, calls->why);
}

static void on_reply(void *user, const struct http_reply *reply)
{
    struct account_call *call = user;
    call->http = NULL;
    if (reply->error) {
        net_account_call_end(call, reply->sent ? VENUE_UNKNOWN : VENUE_NOT_SENT, 0, reply->error);
        return;
    }
    net_backoff_reset(&call->calls->backoff);
    call->answer.ts_ns = reply->date_s > 0 ? reply->date_s * 1000000000 : 0;
    call->calls->venue->take(call, reply);
}

/* ---- Requests. ---- */

/* Is it to wait? Then it is answered, from the loop. */
static bool waits(struct account_call *call)
{
    struct account_calls *calls = call->calls;
    int64_t now = clock_now_ms();
    int64_t next_ms = calls->budget ? net_budget_next_ms(calls->budget, now) : now;
    if (calls->hold_ms > now)
        net_account_call_end_later(call, VENUE_NOT_SENT, 0, calls->hold_ms, calls->why);
    else if (next_ms > now)
        net_account_call_end_later(call, VENUE_NOT_SENT, 0, next_ms,
                                   "as many requests as the venue allows in a minute");
    else if (calls->budget)
        net_budget_take(calls->budget, now);
    return call->due;
}

static int send_call(struct account_call *call, const char *method, struct text *path, const char *body)
{
    struct account_calls *calls = call->calls;
    struct net_header headers[ACCOUNT_HEADERS_MAX + 1];
    struct text url = {0};
    text_str(&url, calls->base);
    text_bytes(&url, path->data ? path->data : "", path->len);
    url.failed |= path->failed;
    text_finish(path);
    char *whole = text_take(&url);
    if (!whole)
        return -ENOMEM;
    if (waits(call)) {
        free(whole);
        return 0;
    }
    for (size_t i = 0; i < calls->n_headers; i++)
        headers[i] = calls->headers[i];
    headers[calls->n_headers] = (struct net_header){"Content-Type", "application/json"};
    const struct http_request request = {
        .method = method,
        .url = whole,
        .timeout_ms = calls->timeout_ms,
        .headers = headers,
        .n_headers = calls->n_headers + (body != NULL),
        .body = body,
        .body_len = body ? strlen(body) : 0,
    };
    int r = http_send(calls->net, &request, on_reply, call, &call->http);
    free(whole);
    calls->sent += r == 0;
    return r < 0 ? -ENOMEM : 0;
}

int net_account_call_send(struct account_call *call, const char *method, struct text *path, const char *body)
{
    int r = send_call(call, method, path, body);
    if (r < 0)
        net_account_call_free(call);
    return r;
}

void net_account_call_continue(struct account_call *call, const char *method, struct text *path,
                               enum venue_outcome outcome)
{
    if (send_call(call, method, path, NULL) < 0)
        net_account_call_end(call, outcome, 0, "out of memory");
}

/* Begins a call about a symbol (by its number; -1: none), and about an order by its client id or the venue's
 * (NULL: none), which are checked. 0; -ENOMEM: then there is none. */
static int begin(struct venue_account *account, enum account_ask ask, int symbol, const char *client_id,
                 const char *order_id, const struct order *order, venue_answer_done *done, void *user)
{
    struct account_calls *calls = (struct account_calls *)account;
    struct account_call *call = calloc(1, calls->venue->call_size), **last = &calls->list;
    if (!call)
        return -ENOMEM;
    call->calls = calls;
    call->ask = ask;
    call->done = done;
    call->user = user;
    while (*last)
        last = &(*last)->next;
    *last = call;
    bool known = symbol < 0 || ((size_t)symbol < calls->symbols.n && calls->symbols.list[symbol].name[0]);
    if (!known || (order_id && (!*order_id || strlen(order_id) >= sizeof(call->order_id)))) {
        net_account_call_end_later(call, VENUE_REFUSED, 0, 0, "the account has no such symbol or order");
        return 0;
    }
    if (client_id && (!*client_id || strlen(client_id) >= sizeof(call->client_id))) {
        net_account_call_end_later(call, VENUE_REFUSED, 0, 0, "a client id has 1 to 36 characters");
        return 0;
    }
    call->symbol = symbol < 0 ? NULL : &calls->symbols.list[symbol];
    strcpy(call->client_id, client_id ? client_id : "");
    strcpy(call->order_id, order_id ? order_id : "");
    return calls->venue->send(call, order);
}

int net_account_place(struct venue_account *account, const struct order *order, const char *client_id,
                      venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_PLACE, order->symbol, client_id, NULL, order, done, user);
}

int net_account_cancel(struct venue_account *account, int symbol, const char *client_id,
                       venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_CANCEL, symbol, client_id, NULL, NULL, done, user);
}

int net_account_query(struct venue_account *account, int symbol, const char *client_id, const char *venue_id,
                      venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_QUERY, symbol, client_id, *venue_id ? venue_id : NULL, NULL, done, user);
}

int net_account_recent(struct venue_account *account, int symbol, venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_RECENT, symbol, NULL, NULL, NULL, done, user);
}

int net_account_open(struct venue_account *account, venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_OPEN, -1, NULL, NULL, NULL, done, user);
}

int net_account_fills(struct venue_account *account, int symbol, const char *order_id,
                      venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_FILLS, symbol, NULL, order_id, NULL, done, user);
}

int net_account_balances(struct venue_account *account, venue_answer_done *done, void *user)
{
    return begin(account, ACCOUNT_BALANCES, -1, NULL, NULL, NULL, done, user);
}
