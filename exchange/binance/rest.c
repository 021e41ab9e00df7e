#include "exchange/binance/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "exchange/binance/rest_call.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/net/clock.h"
#include "exchange/net/url.h"

enum {
    WHY_MAX = VENUE_DETAIL_MAX + 64, /* a detail, and how often it was tried */
    IN_FLIGHT_MAX = 4,
    ATTEMPTS_MAX = 5,
    MINUTE_MS = 60 * 1000,
    SECOND_MS = 1000,
    BACKOFF_MIN_MS = 1000,
    BACKOFF_MAX_MS = 30 * 1000,
    LIMITED_MS = MINUTE_MS,    /* after a 429 that does not say for how long */
    BANNED_MS = 5 * MINUTE_MS, /* a 418, likewise */
    FIREWALL_MS = MINUTE_MS,   /* a 403 */
    WEIGHT_SHARE_PERCENT = 80, /* of the limit: other programs may share the address */
    UNKNOWN_SYMBOL = -1121,    /* the venue's code */
};

struct binance_rest {
    struct net_context *net;
    char *base;
    struct venue_rest_status status;
    int attempts_max;
    int64_t backoff_min_ms, backoff_max_ms, timeout_ms;
    struct backoff random;  /* seeds each call's own */
    int64_t minute_ends_ms; /* when the venue's count of weight starts over, at the latest */
    int64_t weight_used;    /* as the venue said, and what was sent since */
    uv_timer_t timer;
    struct binance_call *calls, **last;
    bool destroyed;
    void (*tap)(void *tap_user, const char *path, const char *body, size_t len);
    void *tap_user;
    const struct binance_variant *variant;
    struct venue_ban ban;
};

static void on_timer(uv_timer_t *timer);

static void wake_in(struct binance_rest *rest, int64_t delay_ms)
{
    uv_update_time(rest->timer.loop);
    uv_timer_start(&rest->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

static void unlink_call(struct binance_rest *rest, struct binance_call *call)
{
    for (struct binance_call **p = &rest->calls; *p; p = &(*p)->next) {
        if (*p != call)
            continue;
        *p = call->next;
        if (!*p)
            rest->last = p;
        return;
    }
}

static void free_call(struct binance_call *call)
{
    free(call->wanted);
    free(call);
}

/* Hands a reply over. The call is gone after its last one. */
static void deliver(struct binance_call *call, struct venue_reply *reply)
{
    struct binance_rest *rest = call->rest;
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

static void fail(struct binance_call *call, int error, const char *why, const struct http_reply *http)
{
    struct binance_rest *rest = call->rest;
    char text[VENUE_DETAIL_MAX + 2 + WHY_MAX], title[VENUE_DETAIL_MAX];
    binance_call_title(call, title);
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

static void pause_until(struct binance_rest *rest, int64_t until_ms)
{
    if (until_ms > rest->status.paused_until_ms)
        rest->status.paused_until_ms = until_ms;
}

/* Tries again later, or gives up. */
static void retry(struct binance_call *call, const char *why, const struct http_reply *http)
{
    struct binance_rest *rest = call->rest;
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

static void note_weight(struct binance_rest *rest, const struct http_reply *http)
{
    int64_t now = clock_now_ms();
    if (http->used_weight < 0)
        return;
    rest->status.used_weight = rest->weight_used = http->used_weight;
    for (const struct binance_call *call = rest->calls; call; call = call->next)
        if (call->http)
            rest->weight_used += binance_call_weight(call);
    int64_t into_ms = http->date_s >= 0 ? http->date_s % 60 * SECOND_MS : 0;
    rest->minute_ends_ms = now + MINUTE_MS - into_ms + SECOND_MS; /* Date is cut to the second */
}

/* The wait is the address', not this program's alone: whoever keeps it over restarts is told. */
static void tell_ban(struct binance_rest *rest, int status, int64_t wait_ms)
{
    char why[VENUE_DETAIL_MAX];
    snprintf(why, sizeof(why), "the venue %s this address (HTTP %d)", status == 429 ? "limits" : "has banned",
             status);
    if (rest->ban.told)
        rest->ban.told(rest->ban.user, clock_wall_ns() + wait_ms * 1000000, why);
}

static void refused(struct binance_call *call, const struct http_reply *http)
{
    struct binance_rest *rest = call->rest;
    struct json_text msg = {"", 0};
    char why[VENUE_DETAIL_MAX];
    int64_t code = 0;
    bool said = binance_parse_error(http->body, http->len, &code, &msg);
    if (said)
        snprintf(why, sizeof(why), "HTTP %d: %lld %.*s", http->status, (long long)code,
                 (int)(msg.len < 120 ? msg.len : 120), msg.data);
    else
        snprintf(why, sizeof(why), "HTTP %d", http->status);

    if (http->status == 429 || http->status == 418) {
        int64_t wait_ms = http->retry_after_ms >= 0 ? http->retry_after_ms
                          : http->status == 429     ? LIMITED_MS
                                                    : BANNED_MS;
        pause_until(rest, clock_now_ms() + wait_ms);
        retry(call, why, http);
        if (!rest->destroyed)
            tell_ban(rest, http->status, wait_ms);
    } else if (http->status >= 500 || http->status < 400) {
        retry(call, why, http);
    } else if (http->status == 401 || http->status == 403 || http->status == 451) {
        pause_until(rest, clock_now_ms() + FIREWALL_MS);
        fail(call, -EACCES, why, http);
    } else if (code == UNKNOWN_SYMBOL && call->kind == VENUE_REPLY_SYMBOLS && !call->whole_list) {
        call->whole_list = true;
        wake_in(rest, 0);
    } else {
        fail(call, code == UNKNOWN_SYMBOL ? -ENOENT : -EPROTO, why, http);
    }
}

static void on_reply(void *user, const struct http_reply *http)
{
    struct binance_call *call = user;
    struct binance_rest *rest = call->rest;
    call->http = NULL;
    rest->status.in_flight--;
    note_weight(rest, http);
    if (http->status != 200)
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
    char *path = rest->tap ? binance_call_url(call, "") : NULL;
    if (path)
        rest->tap(rest->tap_user, path, http->body, http->len);
    free(path);
    void *storage;
    int r = binance_call_take(call, http->body, http->len, &reply, &storage, &rest->status.weight_limit);
    if (r < 0) {
        rest->status.failures++;
        fail(call, r, r == -ENOMEM ? "out of memory" : "the reply is malformed", http);
        return;
    }
    call->attempts = 0;
    backoff_reset(&call->backoff);
    deliver(call, &reply);
    free(storage);
}

static bool send_call(struct binance_rest *rest, struct binance_call *call)
{
    char *url = binance_call_url(call, rest->base);
    const struct http_request request = {.url = url, .timeout_ms = rest->timeout_ms};
    int r = url ? http_get(rest->net, &request, on_reply, call, &call->http) : -ENOMEM;
    free(url);
    if (r < 0) {
        call->not_before_ms = clock_now_ms() + rest->backoff_min_ms;
        return false;
    }
    rest->weight_used += binance_call_weight(call);
    rest->status.in_flight++;
    rest->status.requests++;
    return true;
}

/* Is there room for `weight` in this minute? If not, pauses until the next. */
static bool weight_allows(struct binance_rest *rest, int weight, int64_t now)
{
    if (now >= rest->minute_ends_ms) {
        rest->minute_ends_ms = now + MINUTE_MS;
        rest->weight_used = 0;
    }
    int64_t share = rest->status.weight_limit * WEIGHT_SHARE_PERCENT / 100;
    if (rest->weight_used == 0 || rest->weight_used + weight <= share)
        return true;
    pause_until(rest, rest->minute_ends_ms);
    return false;
}

/* Sends what may be sent, in order, and wakes when more may. */
static void on_timer(uv_timer_t *timer)
{
    struct binance_rest *rest = timer->data;
    int64_t now = clock_now_ms(), next_ms = INT64_MAX;
    if (rest->status.paused_until_ms > 0 && now >= rest->status.paused_until_ms)
        rest->status.paused_until_ms = 0;
    for (struct binance_call *call = rest->calls; call; call = call->next) {
        if (call->http || call->delivering)
            continue;
        if (rest->status.in_flight >= IN_FLIGHT_MAX)
            return; /* a reply wakes us */
        if (rest->status.paused_until_ms == 0 && call->not_before_ms <= now &&
            weight_allows(rest, binance_call_weight(call), now) && send_call(rest, call))
            continue;
        int64_t at_ms = call->not_before_ms > rest->status.paused_until_ms ? call->not_before_ms
                                                                           : rest->status.paused_until_ms;
        if (at_ms < next_ms)
            next_ms = at_ms;
    }
    if (next_ms < INT64_MAX)
        wake_in(rest, next_ms - now);
}

int binance_rest_create(const struct binance_variant *variant, const struct venue_rest_config *config,
                        struct binance_rest **ret)
{
    const char *base = config->rest_url ? config->rest_url : variant->rest_url;
    struct url url;
    int r = url_parse(base, &url);
    if (r == 0 && strcmp(url.scheme, "https") != 0)
        r = -EPROTONOSUPPORT;
    if (r < 0)
        return r;
    struct binance_rest *rest = calloc(1, sizeof(*rest));
    if (!rest)
        return -ENOMEM;
    rest->base = strdup(base);
    if (!rest->base || uv_timer_init(net_context_loop(config->net), &rest->timer) < 0) {
        free(rest->base);
        free(rest);
        return -ENOMEM;
    }
    rest->net = config->net;
    rest->timer.data = rest;
    rest->last = &rest->calls;
    rest->attempts_max = config->attempts_max > 0 ? config->attempts_max : ATTEMPTS_MAX;
    rest->backoff_min_ms = config->backoff_min_ms > 0 ? config->backoff_min_ms : BACKOFF_MIN_MS;
    rest->backoff_max_ms = config->backoff_max_ms > 0 ? config->backoff_max_ms : BACKOFF_MAX_MS;
    rest->timeout_ms = config->timeout_ms;
    rest->tap = config->tap;
    rest->tap_user = config->tap_user;
    rest->variant = variant;
    rest->ban = config->ban;
    if (config->ban.until_ns > clock_wall_ns()) {
        rest->status.paused_until_ms = clock_ms_of_wall(config->ban.until_ns);
        snprintf(rest->status.detail, sizeof(rest->status.detail), BINANCE_BANNED_BEFORE);
    }
    rest->status.weight_limit = BINANCE_WEIGHT_LIMIT_DEFAULT;
    rest->status.used_weight = -1;
    backoff_init(&rest->random, rest->backoff_min_ms, rest->backoff_max_ms, config->jitter_seed);
    *ret = rest;
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct binance_rest *rest = handle->data;
    free(rest->base);
    free(rest);
}

void binance_rest_cancel(struct binance_rest *rest, struct binance_call *call)
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

void binance_rest_hold(struct binance_rest *rest, int64_t until_ns, const char *why)
{
    if (until_ns <= clock_wall_ns())
        return;
    snprintf(rest->status.detail, sizeof(rest->status.detail), "%s", why);
    pause_until(rest, clock_ms_of_wall(until_ns));
    wake_in(rest, 0);
}

void binance_rest_destroy(struct binance_rest *rest)
{
    if (!rest || rest->destroyed)
        return;
    rest->destroyed = true;
    while (rest->calls)
        binance_rest_cancel(rest, rest->calls);
    uv_close((uv_handle_t *)&rest->timer, on_timer_closed);
}

const struct venue_rest_status *binance_rest_status(const struct binance_rest *rest)
{
    return &rest->status;
}

static struct binance_call *new_call(struct binance_rest *rest, enum venue_reply_kind kind,
                                     venue_reply_done *done, void *user)
{
    struct binance_call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    call->rest = rest;
    call->variant = rest->variant;
    call->kind = kind;
    call->done = done;
    call->user = user;
    backoff_init(&call->backoff, rest->backoff_min_ms, rest->backoff_max_ms,
                 (uint64_t)backoff_jitter(&rest->random, INT64_MAX));
    return call;
}

static int queue_call(struct binance_call *call, struct binance_call **ret)
{
    struct binance_rest *rest = call->rest;
    *rest->last = call;
    rest->last = &call->next;
    rest->status.queued++;
    wake_in(rest, 0);
    if (ret)
        *ret = call;
    return 0;
}

int binance_rest_time(struct binance_rest *rest, venue_reply_done *done, void *user,
                      struct binance_call **ret)
{
    struct binance_call *call = new_call(rest, VENUE_REPLY_TIME, done, user);
    return call ? queue_call(call, ret) : -ENOMEM;
}

int binance_rest_symbols(struct binance_rest *rest, const char *const *names, size_t n,
                         venue_reply_done *done, void *user, struct binance_call **ret)
{
    if (n == 0 || n > SYMBOLS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!names[i][0] || strlen(names[i]) >= SYMBOL_NAME_MAX)
            return -EINVAL;
    struct binance_call *call = new_call(rest, VENUE_REPLY_SYMBOLS, done, user);
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
    return queue_call(call, ret);
}

int binance_rest_bars(struct binance_rest *rest, const struct venue_bars_request *request,
                      venue_reply_done *done, void *user, struct binance_call **ret)
{
    if (!bar_interval_name(request->interval_ns) || request->start_ns < 0 ||
        request->end_ns < request->start_ns)
        return -EINVAL;
    struct binance_call *call = new_call(rest, VENUE_REPLY_BARS, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *request->symbol;
    call->bars = *request;
    call->bars.symbol = &call->symbol;
    return queue_call(call, ret);
}

int binance_rest_book(struct binance_rest *rest, const struct symbol *symbol, venue_reply_done *done,
                      void *user, struct binance_call **ret)
{
    struct binance_call *call = new_call(rest, VENUE_REPLY_BOOK, done, user);
    if (!call)
        return -ENOMEM;
    call->symbol = *symbol;
    return queue_call(call, ret);
}
