#include "exchange/alpaca/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/rest_call.h"
#include "exchange/net/budget.h"
#include "exchange/net/clock.h"
#include "exchange/net/url.h"

enum {
    WHY_MAX = VENUE_DETAIL_MAX + 64, /* a detail, and how often it was tried */
    IN_FLIGHT_MAX = 4,
    ATTEMPTS_MAX = 5,
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    BACKOFF_MIN_MS = SECOND_MS,
    BACKOFF_MAX_MS = 30 * SECOND_MS,
    LIMITED_MS = MINUTE_MS, /* after a 429 that does not say for how long */
    SHARE_PERCENT = 80,     /* of the limit: other programs may share the keys */
    LEFT_MIN = 100 - SHARE_PERCENT,
    MESSAGE_MAX = 120,
};

struct alpaca_rest {
    struct net_context *net;
    char *data, *trading; /* hosts */
    struct alpaca_settings settings;
    char feed[16], crypto[16];
    struct net_header headers[2];
    size_t n_headers;
    struct venue_rest_status status;
    struct venue_ban ban;
    int attempts_max;
    int64_t backoff_min_ms, backoff_max_ms, timeout_ms;
    struct backoff random; /* seeds each call's own */
    struct budget budget;  /* calls of the last minute */
    uv_timer_t timer;
    struct alpaca_call *calls, **last;
    bool destroyed;
    void (*tap)(void *tap_user, const char *path, const char *body, size_t len);
    void *tap_user;
    struct alpaca_levels levels; /* of the reply that is read */
};

static void on_timer(uv_timer_t *timer);

static void wake_in(struct alpaca_rest *rest, int64_t delay_ms)
{
    uv_update_time(rest->timer.loop);
    uv_timer_start(&rest->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

static void unlink_call(struct alpaca_rest *rest, struct alpaca_call *call)
{
    for (struct alpaca_call **p = &rest->calls; *p; p = &(*p)->next) {
        if (*p != call)
            continue;
        *p = call->next;
        if (!*p)
            rest->last = p;
        return;
    }
}

/* Hands a reply over. The call is gone after its last one. */
static void deliver(struct alpaca_call *call, struct venue_reply *reply)
{
    struct alpaca_rest *rest = call->rest;
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
        alpaca_call_free(call);
    if (!rest->destroyed)
        wake_in(rest, 0);
}

static void fail(struct alpaca_call *call, int error, const char *why, const struct http_reply *http)
{
    struct alpaca_rest *rest = call->rest;
    char text[VENUE_DETAIL_MAX + 2 + WHY_MAX], title[VENUE_DETAIL_MAX];
    alpaca_call_title(call, title);
    snprintf(text, sizeof(text), "%s: %s", title, why);
    snprintf(rest->status.detail, sizeof(rest->status.detail), "%.*s", VENUE_DETAIL_MAX - 1, text);
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

static void pause_until(struct alpaca_rest *rest, int64_t until_ms)
{
    if (until_ms > rest->status.paused_until_ms)
        rest->status.paused_until_ms = until_ms;
}

/* Tries again later, or gives up. */
static void retry(struct alpaca_call *call, const char *why, const struct http_reply *http)
{
    struct alpaca_rest *rest = call->rest;
    if (++call->attempts >= rest->attempts_max) {
        char text[WHY_MAX];
        snprintf(text, sizeof(text), "%s (%d attempts)", why, call->attempts);
        fail(call, -EIO, text, http);
        return;
    }
    snprintf(rest->status.detail, sizeof(rest->status.detail), "%s", why);
    call->not_before_ms = clock_now_ms() + backoff_next(&call->backoff);
    wake_in(rest, 0);
}

/* How long until the venue counts anew; -1 where it does not say. */
static int64_t until_reset_ms(const struct http_reply *http)
{
    if (http->rate_reset_s < 0)
        return -1;
    int64_t now_s = http->date_s >= 0 ? http->date_s : clock_wall_ns() / 1000000000;
    int64_t wait_ms = (http->rate_reset_s - now_s + 1) * SECOND_MS;
    return wait_ms < 0 ? 0 : wait_ms < HOUR_MS ? wait_ms : HOUR_MS;
}

static void note_limits(struct alpaca_rest *rest, const struct http_reply *http)
{
    if (http->rate_limit > 0)
        rest->status.weight_limit = http->rate_limit;
    if (http->rate_left < 0)
        return;
    rest->status.used_weight = rest->status.weight_limit - http->rate_left;
    int64_t wait_ms = until_reset_ms(http);
    if (http->rate_left * 100 < rest->status.weight_limit * LEFT_MIN && wait_ms > 0)
        pause_until(rest, clock_now_ms() + (wait_ms < MINUTE_MS + SECOND_MS ? wait_ms : MINUTE_MS));
}

static void refused(struct alpaca_call *call, const struct http_reply *http)
{
    struct alpaca_rest *rest = call->rest;
    struct json_text said;
    char why[VENUE_DETAIL_MAX];
    if (alpaca_parse_refusal(http->body, http->len, &said))
        snprintf(why, sizeof(why), "HTTP %d: %.*s", http->status,
                 (int)(said.len < MESSAGE_MAX ? said.len : MESSAGE_MAX), said.data);
    else
        snprintf(why, sizeof(why), "HTTP %d", http->status);
    if (http->status == 429) {
        int64_t wait_ms = http->retry_after_ms >= 0 ? http->retry_after_ms : until_reset_ms(http);
        if (wait_ms < 0)
            wait_ms = LIMITED_MS;
        pause_until(rest, clock_now_ms() + wait_ms);
        if (rest->ban.told)
            rest->ban.told(rest->ban.user, clock_wall_ns() + wait_ms * 1000000, why);
        retry(call, why, http);
    } else if (http->status >= 500 || http->status < 400) {
        retry(call, why, http);
    } else if (http->status == 401 || http->status == 403 || http->status == 451) {
        fail(call, -EACCES, why, http);
    } else {
        fail(call, http->status == 404 ? -ENOENT : -EPROTO, why, http);
    }
}

static void on_reply(void *user, const struct http_reply *http)
{
    struct alpaca_call *call = user;
    struct alpaca_rest *rest = call->rest;
    call->http = NULL;
    rest->status.in_flight--;
    if (!http->error)
        note_limits(rest, http);
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
    char *path = rest->tap ? alpaca_call_url(call, "", "", &rest->settings) : NULL;
    if (path)
        rest->tap(rest->tap_user, path, http->body, http->len);
    free(path);
    void *storage;
    int r = alpaca_call_take(call, http->body, http->len, &rest->settings, &rest->levels, &reply, &storage);
    if (r < 0) {
        rest->status.failures++;
        fail(call, r, r == -ENOMEM ? "out of memory" : "the reply is malformed", http);
        return;
    }
    call->attempts = 0;
    backoff_reset(&call->backoff);
    if (r == 0)
        deliver(call, &reply);
    else
        wake_in(rest, 0);
    free(storage);
}

static bool send_call(struct alpaca_rest *rest, struct alpaca_call *call)
{
    char *url = alpaca_call_url(call, rest->data, rest->trading, &rest->settings);
    const struct http_request request = {
        .url = url,
        .timeout_ms = rest->timeout_ms,
        .headers = rest->headers,
        .n_headers = rest->n_headers,
    };
    int r = url ? http_get(rest->net, &request, on_reply, call, &call->http) : -ENOMEM;
    free(url);
    if (r < 0) {
        call->not_before_ms = clock_now_ms() + rest->backoff_min_ms;
        return false;
    }
    rest->status.in_flight++;
    rest->status.requests++;
    return true;
}

/* Sends what may be sent, in order, and wakes when more may. */
static void on_timer(uv_timer_t *timer)
{
    struct alpaca_rest *rest = timer->data;
    int64_t now = clock_now_ms(), next_ms = INT64_MAX;
    if (rest->status.paused_until_ms > 0 && now >= rest->status.paused_until_ms)
        rest->status.paused_until_ms = 0;
    for (struct alpaca_call *call = rest->calls; call; call = call->next) {
        if (call->http || call->delivering)
            continue;
        if (alpaca_call_is_nothing(call, &rest->settings)) {
            struct venue_reply reply = {.status = 200, .body = ""};
            deliver(call, &reply); /* wakes us again */
            return;
        }
        if (rest->status.in_flight >= IN_FLIGHT_MAX)
            return; /* a reply wakes us */
        int64_t at_ms = call->not_before_ms;
        if (at_ms < rest->status.paused_until_ms)
            at_ms = rest->status.paused_until_ms;
        if (at_ms <= now) {
            at_ms = budget_next_ms(&rest->budget, now);
            if (at_ms <= now && budget_take(&rest->budget, now)) {
                if (send_call(rest, call))
                    continue;
                at_ms = call->not_before_ms;
            }
        }
        if (at_ms < next_ms)
            next_ms = at_ms;
    }
    if (next_ms < INT64_MAX)
        wake_in(rest, next_ms - now);
}

static int check_url(const char *text)
{
    struct url url;
    int r = url_parse(text, &url);
    return r < 0 ? r : strcmp(url.scheme, "https") == 0 ? 0 : -EPROTONOSUPPORT;
}

int alpaca_rest_create(const struct venue_rest_config *config, struct alpaca_rest **ret)
{
    struct alpaca_settings settings = alpaca_settings(config->settings, config->n_settings);
    const char *data = config->rest_url ? config->rest_url : ALPACA_REST_URL;
    const char *trading = settings.trading_url[0] ? settings.trading_url
                          : config->rest_url      ? config->rest_url
                                                  : ALPACA_TRADING_URL;
    int r = check_url(data);
    if (r == 0)
        r = check_url(trading);
    if (r < 0)
        return r;
    struct alpaca_rest *rest = calloc(1, sizeof(*rest));
    if (!rest)
        return -ENOMEM;
    rest->data = strdup(data);
    rest->trading = strdup(trading);
    if (!rest->data || !rest->trading || uv_timer_init(net_context_loop(config->net), &rest->timer) < 0) {
        free(rest->data);
        free(rest->trading);
        free(rest);
        return -ENOMEM;
    }
    snprintf(rest->feed, sizeof(rest->feed), "%s", settings.feed);
    snprintf(rest->crypto, sizeof(rest->crypto), "%s", settings.crypto);
    rest->settings = (struct alpaca_settings){.feed = rest->feed, .crypto = rest->crypto};
    if (config->keys.id && config->keys.secret) {
        rest->headers[0] = (struct net_header){"APCA-API-KEY-ID", config->keys.id};
        rest->headers[1] = (struct net_header){"APCA-API-SECRET-KEY", config->keys.secret};
        rest->n_headers = 2;
    }
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
    rest->status.weight_limit = ALPACA_CALLS_PER_MINUTE;
    rest->status.used_weight = -1;
    backoff_init(&rest->random, rest->backoff_min_ms, rest->backoff_max_ms, config->jitter_seed);
    budget_init(&rest->budget, ALPACA_CALLS_PER_MINUTE * SHARE_PERCENT / 100, MINUTE_MS);
    if (config->ban.until_ns > 0)
        alpaca_rest_hold(rest, config->ban.until_ns, "the venue's limit, as known from before");
    *ret = rest;
    return 0;
}

void alpaca_rest_hold(struct alpaca_rest *rest, int64_t until_ns, const char *why)
{
    if (until_ns <= clock_wall_ns())
        return;
    pause_until(rest, clock_ms_of_wall(until_ns));
    snprintf(rest->status.detail, sizeof(rest->status.detail), "%s", why);
    wake_in(rest, 0);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct alpaca_rest *rest = handle->data;
    free(rest->data);
    free(rest->trading);
    free(rest);
}

void alpaca_rest_cancel(struct alpaca_rest *rest, struct alpaca_call *call)
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
        alpaca_call_free(call);
    if (!rest->destroyed)
        wake_in(rest, 0);
}

void alpaca_rest_destroy(struct alpaca_rest *rest)
{
    if (!rest || rest->destroyed)
        return;
    rest->destroyed = true;
    while (rest->calls)
        alpaca_rest_cancel(rest, rest->calls);
    uv_close((uv_handle_t *)&rest->timer, on_timer_closed);
}

const struct venue_rest_status *alpaca_rest_status(const struct alpaca_rest *rest)
{
    return &rest->status;
}

static struct alpaca_call *new_call(struct alpaca_rest *rest, enum venue_reply_kind kind,
                                    venue_reply_done *done, void *user)
{
    struct alpaca_call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    call->rest = rest;
    call->kind = kind;
    call->done = done;
    call->user = user;
    call->before_ns = INT64_MIN;
    backoff_init(&call->backoff, rest->backoff_min_ms, rest->backoff_max_ms,
                 (uint64_t)backoff_jitter(&rest->random, INT64_MAX));
    return call;
}

static int queue_call(struct alpaca_call *call, struct alpaca_call **ret)
{
    struct alpaca_rest *rest = call->rest;
    *rest->last = call;
    rest->last = &call->next;
    rest->status.queued++;
    wake_in(rest, 0);
    if (ret)
        *ret = call;
    return 0;
}

int alpaca_rest_time(struct alpaca_rest *rest, venue_reply_done *done, void *user, struct alpaca_call **ret)
{
    struct alpaca_call *call = new_call(rest, VENUE_REPLY_TIME, done, user);
    return call ? queue_call(call, ret) : -ENOMEM;
}

/* A call about these names. */
static int named_call(struct alpaca_rest *rest, enum venue_reply_kind kind, const char *const *names,
                      size_t n, venue_reply_done *done, void *user, struct alpaca_call **ret)
{
    if (n == 0 || n > SYMBOLS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!names[i][0] || strlen(names[i]) >= SYMBOL_NAME_MAX)
            return -EINVAL;
    struct alpaca_call *call = new_call(rest, kind, done, user);
    if (call)
        call->wanted = calloc(n, sizeof(*call->wanted));
    if (!call || !call->wanted) {
        free(call);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        if (kind == VENUE_REPLY_SYMBOLS || !alpaca_is_crypto(names[i]))
            memcpy(call->wanted[call->n_wanted++].name, names[i], strlen(names[i]) + 1);
    *ret = call;
    return 0;
}

int alpaca_rest_symbols(struct alpaca_rest *rest, const char *const *names, size_t n, venue_reply_done *done,
                        void *user, struct alpaca_call **ret)
{
    struct alpaca_call *call;
    int r = named_call(rest, VENUE_REPLY_SYMBOLS, names, n, done, user, &call);
    if (r < 0)
        return r;
    call->crypto_list = true; /* alone, where no stock is wanted */
    for (size_t i = 0; i < n; i++)
        call->crypto_list &= alpaca_is_crypto(names[i]);
    return queue_call(call, ret);
}

int alpaca_rest_bars(struct alpaca_rest *rest, const struct venue_bars_request *request,
                     venue_reply_done *done, void *user, struct alpaca_call **ret)
{
    const int64_t minute_ns = 60000000000;
    if (request->interval_ns <= 0 || request->interval_ns % minute_ns != 0 ||
        !bar_interval_name(request->interval_ns) || request->end_ns < request->start_ns)
        return -EINVAL;
    struct alpaca_call *call = new_call(rest, VENUE_REPLY_BARS, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *request->symbol;
    call->bars = *request;
    call->bars.symbol = &call->symbol;
    bool own = request->interval_ns <= 60 * minute_ns; /* what the venue has itself */
    call->limit = own && request->max > 0 && request->max < ALPACA_BARS_MAX ? request->max : ALPACA_BARS_MAX;
    return queue_call(call, ret);
}

int alpaca_rest_book(struct alpaca_rest *rest, const struct symbol *symbol, venue_reply_done *done,
                     void *user, struct alpaca_call **ret)
{
    if (!alpaca_is_crypto(symbol->name))
        return -EINVAL;
    struct alpaca_call *call = new_call(rest, VENUE_REPLY_BOOK, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *symbol;
    return queue_call(call, ret);
}

int alpaca_rest_days(struct alpaca_rest *rest, int64_t from_ns, int64_t to_ns, venue_reply_done *done,
                     void *user, struct alpaca_call **ret)
{
    if (from_ns < 0 || to_ns < from_ns)
        return -EINVAL;
    struct alpaca_call *call = new_call(rest, VENUE_REPLY_DAYS, done, user);
    if (!call)
        return -ENOMEM;
    call->from_ns = from_ns;
    call->to_ns = to_ns;
    return queue_call(call, ret);
}

int alpaca_rest_actions(struct alpaca_rest *rest, const char *const *names, size_t n, int64_t from_ns,
                        int64_t to_ns, venue_reply_done *done, void *user, struct alpaca_call **ret)
{
    struct alpaca_call *call;
    if (from_ns < 0 || to_ns < from_ns)
        return -EINVAL;
    int r = named_call(rest, VENUE_REPLY_ACTIONS, names, n, done, user, &call);
    if (r < 0)
        return r;
    call->from_ns = from_ns;
    call->to_ns = to_ns;
    return queue_call(call, ret);
}
