#include "exchange/binance/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_call.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/clock.h"
#include "exchange/net/link.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    FIREWALL_MS = MINUTE_MS,   /* a 403 */
    WEIGHT_SHARE_PERCENT = 80, /* of the limit: other programs may share the address */
    BOOKS_SHARE_PERCENT = 70,
    DEEPEST_MAX = 20, /* requests that wait, up to which a book is asked for whole */
    DEEP_MAX = 100,   /* more: the fewest levels */
    MESSAGE_MAX = 120,
    UNKNOWN_SYMBOL = -1121, /* the venue's code */
};

static struct binance_rest *binance(struct venue_rest *rest)
{
    return (struct binance_rest *)rest;
}

static int prepare(struct venue_call *call)
{
    static const struct net_header microseconds = {"X-MBX-TIME-UNIT", "MICROSECOND"};
    if (call->kind == VENUE_REPLY_TRADES) {
        call->header = &microseconds; /* as in the archive's files */
        if (call->from_ns == 0)
            call->next_id = 0;
    }
    return call->kind == VENUE_REPLY_BARS && call->bars.start_ns < 0 ? -EINVAL : 0;
}

/* Where many wait each gets fewer levels. */
static int depth_limit(const struct venue_rest *rest)
{
    return rest->status.queued > DEEP_MAX      ? 500
           : rest->status.queued > DEEPEST_MAX ? 1000
                                               : BINANCE_DEPTH_LIMIT;
}

/* Without room in this minute everything waits for the next; only books and the background leave some room to
 * all else. */
static int64_t room_ms(struct venue_rest *base, struct venue_call *call, int64_t now)
{
    static const int percent[] = {[REQUESTS_FIRST] = WEIGHT_SHARE_PERCENT,
                                  [REQUESTS_BOOKS] = BOOKS_SHARE_PERCENT,
                                  [REQUESTS_BACKGROUND] = VENUE_BACKGROUND_PERCENT};
    struct binance_rest *rest = binance(base);
    enum requests_rank rank = net_requests_rank(call);
    if (rank == REQUESTS_BOOKS)
        ((struct binance_call *)call)->depth = depth_limit(base);
    int weight = binance_call_weight(call);
    if (now >= rest->minute_ends_ms) {
        rest->minute_ends_ms = now + MINUTE_MS;
        rest->weight_used = rest->weight_sent = 0;
    }
    int64_t share = base->status.weight_limit * percent[rank] / 100;
    if (rest->weight_used == 0 || rest->weight_used + weight <= share) {
        rest->weight_used += weight;
        rest->weight_sent += weight;
        return now;
    }
    if (rank != REQUESTS_FIRST)
        return rest->minute_ends_ms;
    net_requests_pause(base, rest->minute_ends_ms);
    return base->status.paused_until_ms;
}

/* The venue's minute follows from its Date, cut to the second. Its count of the weight is used unless it is
 * less than what was sent within the minute. */
static void note(struct venue_rest *base, const struct http_reply *http)
{
    struct binance_rest *rest = binance(base);
    if (http->used_weight < 0)
        return;
    int64_t now = clock_now_ms(), in_flight = 0;
    for (const struct venue_call *call = base->calls; call; call = call->next)
        if (call->http)
            in_flight += binance_call_weight(call);
    int64_t ends_ms = http->date_s >= 0          ? now + MINUTE_MS - http->date_s % 60 * SECOND_MS + SECOND_MS
                      : rest->minute_ends_ms > 0 ? rest->minute_ends_ms
                                                 : now + MINUTE_MS;
    if (now >= rest->minute_ends_ms || ends_ms > rest->minute_ends_ms + MINUTE_MS / 2) /* another minute */
        rest->weight_sent = in_flight;
    rest->minute_ends_ms = ends_ms;
    base->status.used_weight = http->used_weight;
    rest->weight_used = http->used_weight + in_flight;
    if (rest->weight_used < rest->weight_sent)
        rest->weight_used = rest->weight_sent;
}

static bool words(const struct http_reply *http, char ret[static REQUESTS_WORDS_MAX])
{
    struct json_text msg;
    int64_t code;
    if (!binance_parse_error(http->body, http->len, &code, &msg))
        return false;
    snprintf(ret, REQUESTS_WORDS_MAX, "%lld %.*s", (long long)code,
             (int)(msg.len < MESSAGE_MAX ? msg.len : MESSAGE_MAX), msg.data);
    return true;
}

/* The limit is the address's, not this program's alone. */
static int64_t limited_ms(const struct http_reply *http, char why[static VENUE_DETAIL_MAX])
{
    enum link_failure failure = net_link_failure_of(http->status, false);
    int64_t wait_ms = net_link_wait_ms(failure, -1);
    if (wait_ms >= 0)
        snprintf(why, VENUE_DETAIL_MAX, "the venue %s this address (HTTP %d)",
                 failure == LINK_BANNED ? "has banned" : "limits", http->status);
    return wait_ms;
}

static int refused(struct venue_call *base, const struct http_reply *http)
{
    struct binance_call *call = (struct binance_call *)base;
    struct json_text msg;
    int64_t code;
    if (!binance_parse_error(http->body, http->len, &code, &msg) || code != UNKNOWN_SYMBOL)
        return -EPROTO;
    if (base->kind != VENUE_REPLY_SYMBOLS || call->whole_list)
        return -ENOENT;
    call->whole_list = true;
    return 1;
}

static const struct requests_venue requests = {
    .size = sizeof(struct binance_rest),
    .call_size = sizeof(struct binance_call),
    .weight_limit = BINANCE_WEIGHT_LIMIT_DEFAULT,
    .banned_before = BINANCE_BANNED_BEFORE,
    .refused_wait_ms = FIREWALL_MS,
    .prepare = prepare,
    .url = binance_call_url,
    .title = binance_call_title,
    .room_ms = room_ms,
    .note = note,
    .take = binance_call_take,
    .words = words,
    .limited_ms = limited_ms,
    .refused = refused,
};

int binance_rest_create(const struct binance_variant *variant, const struct venue_rest_config *config,
                        struct venue_rest **ret)
{
    int r = net_requests_create(&requests, config, variant->rest_url, ret);
    if (r == 0)
        binance(*ret)->variant = variant;
    return r;
}
