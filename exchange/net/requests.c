#include "exchange/net/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/link.h"
#include "exchange/net/url.h"
#include "exchange/text.h"

enum {
    WHY_MAX = VENUE_DETAIL_MAX + 64, /* a detail, and how often it was tried */
    IN_FLIGHT_MAX = 4,
    ATTEMPTS_MAX = 5,
    BACKOFF_MIN_MS = 1000,
    BACKOFF_MAX_MS = 30 * 1000,
    MS_NS = 1000000,
};

static void on_timer(uv_timer_t *timer);

static void wake_in(struct venue_rest *rest, int64_t delay_ms)
{
    uv_update_time(rest->timer.loop);
    uv_timer_start(&rest->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

void net_requests_pause(struct venue_rest *rest, int64_t until_ms)
{
    if (until_ms > rest->status.paused_until_ms)
        rest->status.paused_until_ms = until_ms;
}

static void set_detail(struct venue_rest *rest, const char *why)
{
    snprintf(rest->status.detail, sizeof(rest->status.detail), "%.*s", VENUE_DETAIL_MAX - 1, why);
}

static void unlink_call(struct venue_rest *rest, struct venue_call *call)
{
    for (struct venue_call **p = &rest->calls; *p; p = &(*p)->next) {
        if (*p != call)
            continue;
        *p = call->next;
        if (!*p)
            rest->last = p;
        return;
    }
}

static void free_call(struct venue_call *call)
{
    if (call->rest->venue->finish_call)
        call->rest->venue->finish_call(call);
    trading_calendar_forget(&call->days);
    free(call->wanted);
    free(call);
}

/* Delivers a reply. The call is freed after its last one. */
static void deliver(struct venue_call *call, struct venue_reply *reply)
{
    struct venue_rest *rest = call->rest;
    bool last = !reply->more;
    reply->kind = call->kind;
    if (last) {
        unlink_call(rest, call);
        rest->status.queued--;
    }
    call->delivering = true;
    call->done(call->user, reply);
    call->delivering = false;
    if (last || call->cancelled)
        free_call(call);
    if (!rest->destroyed)
        wake_in(rest, 0);
}

static void fail(struct venue_call *call, int error, const char *why, const struct http_reply *http)
{
    char text[VENUE_DETAIL_MAX + 2 + WHY_MAX], title[VENUE_DETAIL_MAX];
    call->rest->venue->title(call, title);
    snprintf(text, sizeof(text), "%s: %s", title, why);
    set_detail(call->rest, text);
    struct venue_reply reply = {
        .error = error,
        .text = text,
        .status = http->status,
        .body = http->body ? http->body : "",
        .len = http->len,
        .elapsed_ms = http->elapsed_ms,
    };
    deliver(call, &reply);
}

/* Tries again later, or gives up. */
static void retry(struct venue_call *call, const char *why, const struct http_reply *http)
{
    struct venue_rest *rest = call->rest;
    if (++call->attempts >= rest->attempts_max) {
        char text[WHY_MAX];
        snprintf(text, sizeof(text), "%s (%d attempts)", why, call->attempts);
        rest->status.attempt = 0; /* of others their next failure counts */
        fail(call, -EIO, text, http);
        return;
    }
    set_detail(rest, why);
    call->not_before_ms = clock_now_ms() + net_backoff_next(&call->backoff);
    if (call->attempts >= rest->status.attempt) {
        rest->status.attempt = call->attempts;
        rest->status.retry_ms = call->not_before_ms;
    }
    wake_in(rest, 0);
}

static void refused(struct venue_call *call, const struct http_reply *http)
{
    struct venue_rest *rest = call->rest;
    const struct requests_venue *venue = rest->venue;
    char why[VENUE_DETAIL_MAX], reported[VENUE_DETAIL_MAX], words[REQUESTS_WORDS_MAX];
    if (venue->words(http, words))
        snprintf(why, sizeof(why), "HTTP %d: %s", http->status, words);
    else
        snprintf(why, sizeof(why), "HTTP %d", http->status);
    memcpy(reported, why, sizeof(reported));
    int64_t wait_ms = venue->limited_ms ? venue->limited_ms(http, reported)
                                        : net_link_wait_ms(net_link_failure_of(http->status, false), -1);
    if (wait_ms >= 0) {
        if (http->retry_after_ms >= 0)
            wait_ms = http->retry_after_ms;
        net_requests_pause(rest, clock_now_ms() + wait_ms);
        retry(call, why, http);
        if (!rest->destroyed && rest->ban.reported)
            rest->ban.reported(rest->ban.user, clock_wall_ns() + wait_ms * MS_NS, reported);
    } else if (http->status >= 500 || http->status < 400) {
        retry(call, why, http);
    } else if (http->status == 401 || http->status == 403 || http->status == 451) {
        if (venue->refused_wait_ms > 0)
            net_requests_pause(rest, clock_now_ms() + venue->refused_wait_ms);
        fail(call, -EACCES, why, http);
    } else {
        int r = venue->refused ? venue->refused(call, http) : http->status == 404 ? -ENOENT : -EPROTO;
        if (r < 0)
            fail(call, r, why, http);
        else
            wake_in(rest, 0);
    }
}

static void on_reply(void *user, const struct http_reply *http)
{
    struct venue_call *call = user;
    struct venue_rest *rest = call->rest;
    call->http = NULL;
    rest->status.in_flight--;
    if (rest->venue->note)
        rest->venue->note(rest, http);
    if (http->error || http->status != 200)
        rest->status.failures++;
    if (http->error) {
        retry(call, http->error, http);
        return;
    }
    if (http->status != 200) {
        refused(call, http);
        return;
    }
    struct venue_reply reply = {
        .status = http->status,
        .body = http->body,
        .len = http->len,
        .elapsed_ms = http->elapsed_ms,
    };
    bool tapped = rest->tap && net_requests_rank(call) != REQUESTS_BACKGROUND;
    char *path = tapped ? rest->venue->url(call, false) : NULL;
    if (path)
        rest->tap(rest->tap_user, path, http->body, http->len);
    free(path);
    void *storage = NULL;
    int r = rest->venue->take(call, http->body, http->len, &reply, &storage);
    if (r < 0) {
        rest->status.failures++;
        fail(call, r, r == -ENOMEM ? "out of memory" : "the reply is malformed", http);
        return;
    }
    call->attempts = rest->status.attempt = 0;
    net_backoff_reset(&call->backoff);
    if (r == 0)
        deliver(call, &reply);
    else
        wake_in(rest, 0);
    free(storage);
}

static bool send_call(struct venue_rest *rest, struct venue_call *call)
{
    char *url = rest->venue->url(call, true);
    struct net_header headers[REQUESTS_HEADERS_MAX + 1];
    memcpy(headers, rest->headers, sizeof(rest->headers));
    if (call->header)
        headers[rest->n_headers] = *call->header;
    const struct http_request request = {
        .url = url,
        .timeout_ms = rest->timeout_ms,
        .headers = headers,
        .n_headers = rest->n_headers + (call->header != NULL),
    };
    int r = url ? http_send(rest->net, &request, on_reply, call, &call->http) : -ENOMEM;
    free(url);
    if (r < 0) {
        call->not_before_ms = clock_now_ms() + rest->backoff_min_ms;
        return false;
    }
    rest->status.in_flight++;
    rest->status.requests++;
    return true;
}

enum requests_rank net_requests_rank(const struct venue_call *call)
{
    return call->kind == VENUE_REPLY_BARS && call->bars.background ? REQUESTS_BACKGROUND
           : call->kind == VENUE_REPLY_BOOK                        ? REQUESTS_BOOKS
                                                                   : REQUESTS_FIRST;
}

/* Sends what may be sent of a rank. Returns when more may be sent; INT64_MAX: a reply will say; -1: nothing
 * is left to check. */
static int64_t send_some(struct venue_rest *rest, enum requests_rank rank, int64_t now)
{
    const struct requests_venue *venue = rest->venue;
    int64_t next_ms = INT64_MAX;
    for (struct venue_call *call = rest->calls; call; call = call->next) {
        if (call->http || call->delivering || net_requests_rank(call) != rank)
            continue;
        if (venue->is_nothing && venue->is_nothing(call)) {
            struct venue_reply reply = {.status = 200, .body = ""};
            deliver(call, &reply); /* wakes us again */
            return -1;
        }
        if (rest->status.in_flight >= IN_FLIGHT_MAX)
            return -1; /* a reply wakes us */
        int64_t at_ms = call->not_before_ms;
        if (at_ms < rest->status.paused_until_ms)
            at_ms = rest->status.paused_until_ms;
        if (at_ms <= now && venue->room_ms)
            at_ms = venue->room_ms(rest, call, now);
        if (at_ms <= now) {
            if (send_call(rest, call))
                continue;
            at_ms = call->not_before_ms;
        }
        if (at_ms < next_ms)
            next_ms = at_ms;
    }
    return next_ms;
}

/* Sends what may be sent, in order, except books, which weigh most, and then the background last; and sets
 * the timer for more. */
static void on_timer(uv_timer_t *timer)
{
    struct venue_rest *rest = timer->data;
    int64_t now = clock_now_ms();
    if (rest->status.paused_until_ms > 0 && now >= rest->status.paused_until_ms)
        rest->status.paused_until_ms = 0;
    int64_t next_ms = INT64_MAX;
    for (int rank = REQUESTS_FIRST; rank < REQUESTS_RANKS && next_ms >= 0; rank++) {
        int64_t at_ms = send_some(rest, (enum requests_rank)rank, now);
        next_ms = at_ms < next_ms ? at_ms : next_ms;
    }
    if (next_ms >= 0 && next_ms < INT64_MAX)
        wake_in(rest, next_ms - now);
}

int net_requests_create(const struct requests_venue *venue, const struct venue_rest_config *config,
                        const char *own_url, struct venue_rest **ret)
{
    const char *base = config->rest_url ? config->rest_url : own_url;
    struct url url;
    struct text text = {0};
    int r = net_url_parse_as(base, "https", &url);
    struct venue_rest *rest = r < 0 ? NULL : calloc(1, venue->size > 0 ? venue->size : sizeof(*rest));
    if (!rest)
        return r < 0 ? r : -ENOMEM;
    text_base(&text, base);
    rest->url = text_take(&text);
    r = rest->url ? uv_timer_init(net_context_loop(config->net), &rest->timer) : -ENOMEM;
    if (r < 0) {
        free(rest->url);
        free(rest);
        return r;
    }
    rest->venue = venue;
    rest->net = config->net;
    rest->timer.data = rest;
    rest->last = &rest->calls;
    rest->ban = config->ban;
    rest->attempts_max = config->attempts_max > 0 ? config->attempts_max : ATTEMPTS_MAX;
    rest->backoff_min_ms = config->backoff_min_ms > 0 ? config->backoff_min_ms : BACKOFF_MIN_MS;
    rest->backoff_max_ms = config->backoff_max_ms > 0 ? config->backoff_max_ms : BACKOFF_MAX_MS;
    rest->timeout_ms = config->timeout_ms;
    rest->tap = config->tap;
    rest->tap_user = config->tap_user;
    rest->status.weight_limit = venue->weight_limit;
    rest->status.attempts_max = rest->attempts_max;
    rest->status.used_weight = -1;
    net_backoff_init(&rest->random, rest->backoff_min_ms, rest->backoff_max_ms, config->jitter_seed);
    net_requests_hold(rest, config->ban.until_ns,
                      venue->banned_before ? venue->banned_before : LINK_LIMITED_BEFORE);
    *ret = rest;
    return 0;
}

void net_requests_hold(struct venue_rest *rest, int64_t until_ns, const char *why)
{
    if (until_ns <= clock_wall_ns())
        return;
    set_detail(rest, why);
    net_requests_pause(rest, clock_ms_of_wall(until_ns));
    wake_in(rest, 0);
}

void net_requests_cancel(struct venue_rest *rest, struct venue_call *call)
{
    if (!call)
        return;
    unlink_call(rest, call);
    rest->status.queued--;
    if (call->http) {
        http_cancel(call->http);
        rest->status.in_flight--;
    }
    if (call->delivering)
        call->cancelled = true;
    else
        free_call(call);
    if (!rest->destroyed)
        wake_in(rest, 0);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct venue_rest *rest = handle->data;
    if (rest->venue->finish)
        rest->venue->finish(rest);
    free(rest->url);
    free(rest);
}

void net_requests_destroy(struct venue_rest *rest)
{
    if (!rest || rest->destroyed)
        return;
    rest->destroyed = true;
    while (rest->calls)
        net_requests_cancel(rest, rest->calls);
    uv_close((uv_handle_t *)&rest->timer, on_timer_closed);
}

const struct venue_rest_status *net_requests_status(const struct venue_rest *rest)
{
    return &rest->status;
}

static struct venue_call *new_call(struct venue_rest *rest, enum venue_reply_kind kind,
                                   venue_reply_done *done, void *user)
{
    struct venue_call *call = calloc(1, rest->venue->call_size > 0 ? rest->venue->call_size : sizeof(*call));
    if (!call)
        return NULL;
    call->rest = rest;
    call->kind = kind;
    call->done = done;
    call->user = user;
    net_backoff_init(&call->backoff, rest->backoff_min_ms, rest->backoff_max_ms,
                     (uint64_t)net_backoff_jitter(&rest->random, INT64_MAX));
    return call;
}

/* The last in the queue, or freed. */
static int queue_call(struct venue_call *call, struct venue_call **ret)
{
    struct venue_rest *rest = call->rest;
    int r = rest->venue->prepare(call);
    if (r < 0) {
        free_call(call);
        return r;
    }
    *rest->last = call;
    rest->last = &call->next;
    rest->status.queued++;
    wake_in(rest, 0);
    if (ret)
        *ret = call;
    return 0;
}

/* A call about these names. */
static int named_call(struct venue_rest *rest, enum venue_reply_kind kind, const char *const *names, size_t n,
                      venue_reply_done *done, void *user, struct venue_call **ret)
{
    if (n == 0 || n > SYMBOLS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!names[i][0] || strlen(names[i]) >= SYMBOL_NAME_MAX)
            return -EINVAL;
    struct venue_call *call = new_call(rest, kind, done, user);
    if (!call)
        return -ENOMEM;
    call->wanted = calloc(n, sizeof(*call->wanted));
    if (!call->wanted) {
        free_call(call);
        return -ENOMEM;
    }
    call->n_wanted = n;
    for (size_t i = 0; i < n; i++)
        memcpy(call->wanted[i].name, names[i], strlen(names[i]) + 1);
    *ret = call;
    return 0;
}

int net_requests_time(struct venue_rest *rest, venue_reply_done *done, void *user, struct venue_call **ret)
{
    struct venue_call *call = new_call(rest, VENUE_REPLY_TIME, done, user);
    return call ? queue_call(call, ret) : -ENOMEM;
}

int net_requests_symbols(struct venue_rest *rest, const char *const *names, size_t n, venue_reply_done *done,
                         void *user, struct venue_call **ret)
{
    struct venue_call *call;
    int r = named_call(rest, VENUE_REPLY_SYMBOLS, names, n, done, user, &call);
    return r < 0 ? r : queue_call(call, ret);
}

void net_requests_fill_symbols(const struct venue_call *call, struct venue_reply *reply)
{
    reply->symbols.list = call->wanted;
    reply->symbols.n = call->n_wanted;
    reply->symbols.n_missing = 0;
    for (size_t i = 0; i < call->n_wanted; i++)
        reply->symbols.n_missing += !call->wanted[i].found;
}

int net_requests_bars(struct venue_rest *rest, const struct venue_bars_request *request,
                      venue_reply_done *done, void *user, struct venue_call **ret)
{
    if (!bar_interval_name(request->interval_ns) || request->end_ns < request->start_ns)
        return -EINVAL;
    struct venue_call *call = new_call(rest, VENUE_REPLY_BARS, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *request->symbol;
    call->bars = *request;
    call->bars.symbol = &call->symbol;
    call->bars.calendar = &call->days;
    if (request->calendar && trading_calendar_copy(request->calendar, &call->days) < 0) {
        free_call(call);
        return -ENOMEM;
    }
    return queue_call(call, ret);
}

int net_requests_book(struct venue_rest *rest, const struct symbol *symbol, venue_reply_done *done,
                      void *user, struct venue_call **ret)
{
    struct venue_call *call = new_call(rest, VENUE_REPLY_BOOK, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *symbol;
    return queue_call(call, ret);
}

int net_requests_latest(struct venue_rest *rest, const struct venue_latest_request *request,
                        venue_reply_done *done, void *user, struct venue_call **ret)
{
    bool asked = request->kind == MARKET_TRADE || request->kind == MARKET_AGG_TRADE ||
                 request->kind == MARKET_QUOTE || request->kind == MARKET_TICKER;
    if (!asked || request->since_ns < 0)
        return -EINVAL;
    struct venue_call *call = new_call(rest, VENUE_REPLY_LATEST, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *request->symbol;
    call->latest = request->kind;
    call->from_ns = request->since_ns;
    return queue_call(call, ret);
}

int net_requests_trades(struct venue_rest *rest, const struct venue_trades_request *request,
                        venue_reply_done *done, void *user, struct venue_call **ret)
{
    if (request->start_ns < 0 || request->end_ns <= request->start_ns)
        return -EINVAL;
    struct venue_call *call = new_call(rest, VENUE_REPLY_TRADES, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *request->symbol;
    call->from_ns = request->start_ns;
    call->to_ns = request->end_ns;
    call->max = request->max;
    call->next_id = -1;
    return queue_call(call, ret);
}

int net_requests_days(struct venue_rest *rest, int64_t from_ns, int64_t to_ns, venue_reply_done *done,
                      void *user, struct venue_call **ret)
{
    if (from_ns < 0 || to_ns < from_ns)
        return -EINVAL;
    struct venue_call *call = new_call(rest, VENUE_REPLY_DAYS, done, user);
    if (!call)
        return -ENOMEM;
    call->from_ns = from_ns;
    call->to_ns = to_ns;
    return queue_call(call, ret);
}

int net_requests_actions(struct venue_rest *rest, const char *const *names, size_t n, int64_t from_ns,
                         int64_t to_ns, venue_reply_done *done, void *user, struct venue_call **ret)
{
    struct venue_call *call;
    if (from_ns < 0 || to_ns < from_ns)
        return -EINVAL;
    int r = named_call(rest, VENUE_REPLY_ACTIONS, names, n, done, user, &call);
    if (r < 0)
        return r;
    call->from_ns = from_ns;
    call->to_ns = to_ns;
    return queue_call(call, ret);
}
