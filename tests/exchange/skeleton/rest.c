/* The example venue's requests: the queue, tries and waits are those of exchange/net/requests.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/market.h"
#include "exchange/net/requests.h"
#include "exchange/text.h"
#include "tests/exchange/skeleton/skeleton.h"

static const char *const paths[VENUE_REPLY_TRADES + 1] = {[VENUE_REPLY_TIME] = "time",
                                                          [VENUE_REPLY_SYMBOLS] = "symbols",
                                                          [VENUE_REPLY_BARS] = "bars",
                                                          [VENUE_REPLY_LATEST] = "latest"};

static int prepare(struct venue_call *call)
{
    bool latest = call->latest == MARKET_TRADE || call->latest == MARKET_QUOTE;
    bool minutes = call->bars.interval_ns == SKELETON_MINUTE_NS;
    bool has = call->kind == VENUE_REPLY_BARS ? minutes : call->kind == VENUE_REPLY_LATEST ? latest : true;
    return has && paths[call->kind] ? 0 : -EINVAL;
}

static void title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX])
{
    snprintf(ret, VENUE_DETAIL_MAX, "%s%s%s", paths[call->kind], call->symbol.name[0] ? " " : "",
             call->symbol.name);
}

static size_t limit_of(const struct venue_call *call)
{
    return call->bars.max > 0 && call->bars.max < SKELETON_PAGE ? call->bars.max : SKELETON_PAGE;
}

static char *url(const struct venue_call *call, bool whole)
{
    struct text text = {0};
    if (whole)
        text_str(&text, call->rest->url);
    text_format(&text, "/%s%s", paths[call->kind], call->symbol.name[0] ? "?symbol=" : "");
    text_url(&text, call->symbol.name);
    if (call->kind == VENUE_REPLY_BARS)
        text_format(&text, "&from=%lld&to=%lld&limit=%zu", (long long)call->bars.start_ns,
                    (long long)call->bars.end_ns, limit_of(call));
    else if (call->kind == VENUE_REPLY_LATEST)
        text_str(&text, call->latest == MARKET_TRADE ? "&of=trade" : "&of=quote");
    return text_take(&text);
}

static int take_bars(struct venue_call *call, struct json *json, struct venue_reply *reply, struct bar *bars)
{
    struct venue_bars_request *ask = &call->bars;
    size_t n = 0, limit = limit_of(call);
    for (json_enter_array(json); json_element(json); n++) {
        if (n == limit || !skeleton_bar(json, &bars[n]) || bars[n].open_ns < ask->start_ns ||
            bars[n].open_ns > ask->end_ns || bars[n].open_ns % ask->interval_ns != 0)
            return -EBADMSG;
        ask->start_ns = bars[n].open_ns + ask->interval_ns; /* of the next one, here or on the next page */
        reply->bars.n_closed += ask->start_ns <= ask->now_ns;
    }
    reply->bars.list = bars;
    reply->bars.n = n;
    reply->more = n == SKELETON_PAGE && ask->max != n && ask->start_ns <= ask->end_ns;
    ask->max -= ask->max > 0 ? n : 0;
    return 0;
}

static int take_latest(struct venue_call *call, struct json *json, struct venue_reply *reply,
                       struct market_event *events)
{
    struct json_text name;
    size_t n = 0;
    for (json_enter_array(json); json_element(json); n++)
        if (n == SKELETON_PAGE || !skeleton_message(json, &name, &events[n]) ||
            events[n].kind != call->latest || !json_text_is(name, call->symbol.name))
            return -EBADMSG;
    reply->latest.list = events;
    reply->latest.n = n;
    return 0;
}

static int take(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                void **storage)
{
    struct json json;
    int r;
    if (call->kind == VENUE_REPLY_SYMBOLS) {
        r = skeleton_format.list_parse(body, len, call->wanted, call->n_wanted);
        net_requests_fill_symbols(call, reply);
        return r;
    }
    bool bars = call->kind == VENUE_REPLY_BARS;
    void *rows = *storage = calloc(SKELETON_PAGE, bars ? sizeof(struct bar) : sizeof(struct market_event));
    json_init(&json, body, len);
    r = !rows                                ? -ENOMEM
        : bars                               ? take_bars(call, &json, reply, rows)
        : call->kind != VENUE_REPLY_TIME     ? take_latest(call, &json, reply, rows)
        : json_int(&json, &reply->server_ns) ? 0
                                             : -EBADMSG;
    r = r == 0 && !json_done(&json) ? -EBADMSG : r;
    if (r < 0)
        free(rows);
    return r;
}

/* ["error", WORDS] */
static bool words(const struct http_reply *http, char ret[static REQUESTS_WORDS_MAX])
{
    struct json_text text;
    return skeleton_error(http->body, http->len, &text) && json_text_copy(text, ret, REQUESTS_WORDS_MAX);
}

int skeleton_rest_create(const struct venue_rest_config *config, struct venue_rest **ret)
{
    static const struct requests_venue requests = {
        .prepare = prepare, .url = url, .title = title, .take = take, .words = words};
    return net_requests_create(&requests, config, skeleton_venue.rest_url, ret);
}
