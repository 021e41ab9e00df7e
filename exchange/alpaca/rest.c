#include "exchange/alpaca/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/rest_call.h"
#include "exchange/alpaca/settings.h"
#include "exchange/clock.h"
#include "exchange/net/link.h"
#include "exchange/net/url.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    SHARE_PERCENT = 80, /* of the limit: other programs may share the keys */
    LEFT_MIN = 100 - SHARE_PERCENT,
    MESSAGE_MAX = 120,
};

static struct alpaca_rest *alpaca(struct venue_rest *rest)
{
    return (struct alpaca_rest *)rest;
}

static void finish(struct venue_rest *rest)
{
    free(alpaca(rest)->trading);
}

/* When so little is used of the limit that the background may send: `now` or before, or then it is looked at
 * again. */
static int64_t background_ms(struct venue_rest *rest, int64_t now)
{
    const struct alpaca_rest *own = alpaca(rest);
    const struct venue_rest_status *status = &rest->status;
    bool much = status->used_weight * 100 >= status->weight_limit * VENUE_BACKGROUND_PERCENT;
    uint32_t most = ALPACA_CALLS_PER_MINUTE * VENUE_BACKGROUND_PERCENT / 100;
    if (much && own->reset_ms > now)
        return own->reset_ms;
    return !own->past && net_budget_used(&own->budget, now) >= most ? now + SECOND_MS : now;
}

static int64_t room_ms(struct venue_rest *rest, struct venue_call *call, int64_t now)
{
    struct budget *budget = &alpaca(rest)->budget;
    int64_t share_ms = net_requests_rank(call) == REQUESTS_BACKGROUND ? background_ms(rest, now) : now;
    if (share_ms > now)
        return share_ms;
    if (alpaca(rest)->past)
        return now;
    int64_t at_ms = net_budget_next_ms(budget, now);
    if (at_ms <= now)
        net_budget_take(budget, now);
    return at_ms;
}

/* How long until the venue's count starts again; -1 where it does not say. */
static int64_t until_reset_ms(const struct http_reply *http)
{
    if (http->rate_reset_s < 0)
        return -1;
    int64_t now_s = http->date_s >= 0 ? http->date_s : clock_wall_ns() / 1000000000;
    int64_t wait_ms = (http->rate_reset_s - now_s + 1) * SECOND_MS;
    return wait_ms < 0 ? 0 : wait_ms < HOUR_MS ? wait_ms : HOUR_MS;
}

static void note(struct venue_rest *rest, const struct http_reply *http)
{
    if (http->error)
        return;
    if (http->rate_limit > 0)
        rest->status.weight_limit = http->rate_limit;
    if (http->rate_left < 0)
        return;
    rest->status.used_weight = rest->status.weight_limit - http->rate_left;
    int64_t wait_ms = until_reset_ms(http);
    alpaca(rest)->reset_ms = clock_now_ms() + (wait_ms >= 0 && wait_ms < MINUTE_MS ? wait_ms : MINUTE_MS);
    if (http->rate_left * 100 < rest->status.weight_limit * LEFT_MIN && wait_ms > 0)
        net_requests_pause(rest, clock_now_ms() + (wait_ms < MINUTE_MS + SECOND_MS ? wait_ms : MINUTE_MS));
}

static bool words(const struct http_reply *http, char ret[static REQUESTS_WORDS_MAX])
{
    struct json_text said;
    if (!alpaca_parse_refusal(http->body, http->len, &said))
        return false;
    json_text_cut(said, ret, MESSAGE_MAX + 1);
    return true;
}

static int64_t limited_ms(const struct http_reply *http, char why[static VENUE_DETAIL_MAX])
{
    (void)why;
    if (http->status != 429)
        return -1;
    return net_link_wait_ms(LINK_LIMITED, until_reset_ms(http));
}

static int refused(struct venue_call *call, const struct http_reply *http)
{
    (void)call;
    return http->status == 404 ? -ENOENT : -EPROTO;
}

int64_t alpaca_bars_late_ns(const struct symbol *symbol, const struct venue_setting *settings, size_t n)
{
    bool late = strcmp(alpaca_settings(settings, n).feed, "delayed_sip") == 0;
    return late && !alpaca_is_crypto(symbol->name) ? ALPACA_DELAY_NS : 0;
}

static const struct requests_venue requests = {
    .size = sizeof(struct alpaca_rest),
    .call_size = sizeof(struct alpaca_call),
    .weight_limit = ALPACA_CALLS_PER_MINUTE,
    .prepare = alpaca_call_prepare,
    .finish_call = alpaca_call_finish,
    .finish = finish,
    .is_nothing = alpaca_call_is_nothing,
    .url = alpaca_call_url,
    .title = alpaca_call_title,
    .room_ms = room_ms,
    .note = note,
    .take = alpaca_call_take,
    .words = words,
    .limited_ms = limited_ms,
    .refused = refused,
};

int alpaca_rest_create(const struct venue_rest_config *config, struct venue_rest **ret)
{
    struct alpaca_settings settings = alpaca_settings(config->settings, config->n_settings);
    const char *trading = settings.trading_url[0] ? settings.trading_url
                          : config->rest_url      ? config->rest_url
                                                  : ALPACA_TRADING_URL;
    struct url url;
    int r = net_url_parse_as(trading, "https", &url);
    char *copy = r == 0 ? strdup(trading) : NULL;
    if (!copy)
        return r < 0 ? r : -ENOMEM;
    r = net_requests_create(&requests, config, ALPACA_REST_URL, ret);
    if (r < 0) {
        free(copy);
        return r;
    }
    struct alpaca_rest *rest = alpaca(*ret);
    rest->trading = copy;
    snprintf(rest->feed, sizeof(rest->feed), "%s", settings.feed);
    snprintf(rest->crypto, sizeof(rest->crypto), "%s", settings.crypto);
    if (config->keys.id && config->keys.secret) {
        rest->base.headers[0] = (struct net_header){"APCA-API-KEY-ID", config->keys.id};
        rest->base.headers[1] = (struct net_header){"APCA-API-SECRET-KEY", config->keys.secret};
        rest->base.n_headers = 2;
    }
    rest->past = config->past;
    net_budget_init(&rest->budget, ALPACA_CALLS_PER_MINUTE * SHARE_PERCENT / 100, MINUTE_MS);
    return 0;
}
