/* REST answers from a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/replay/alpaca/recorded_internal.h"

enum { VALUE_MAX = 1024, NOT_FOUND = 404 };

/* The value of a URL's argument, decoded. False: it has none, or a longer one. */
static bool url_arg(const char *url, const char *name, char ret[static VALUE_MAX])
{
    size_t len = strlen(name), n = 0;
    const char *at = strchr(url, '?');
    while (at && !(strncmp(at + 1, name, len) == 0 && at[1 + len] == '='))
        at = strchr(at + 1, '&');
    if (!at)
        return false;
    for (at += len + 2; *at && *at != '&' && n < VALUE_MAX - 1; at++) {
        char hex[3] = {at[0], at[0] ? at[1] : '\0', '\0'};
        ret[n] = *at;
        if (*at == '%' && at[1] && at[2]) {
            hex[0] = at[1];
            hex[1] = at[2];
            ret[n] = (char)strtol(hex, NULL, 16);
            at += 2;
        }
        n++;
    }
    ret[n] = '\0';
    return !*at || *at == '&';
}

/* ---- the first reading ---- */

int replay_recorded_keep_bar(struct replay_recorded *r, const struct recorded_bar *bar)
{
    if ((r->n_bars & (r->n_bars - 1)) == 0) {
        void *grown = reallocarray(r->bars, r->n_bars ? 2 * r->n_bars : 1, sizeof *r->bars);
        if (!grown)
            return -ENOMEM;
        r->bars = grown;
    }
    r->bars[r->n_bars] = *bar;
    r->bars[r->n_bars].order = r->n_bars;
    json_incref(bar->bar);
    r->n_bars++;
    return 0;
}

static int64_t length_ns(const char *timeframe)
{
    int64_t minutes = strtol(timeframe, NULL, 10);
    return minutes * MADE_MINUTE * (strstr(timeframe, "Day") ? 1440 : strstr(timeframe, "Hour") ? 60 : 1);
}

static int keep_bars(struct replay_recorded *r, const char *url, const json_t *body)
{
    char timeframe[VALUE_MAX], adjustment[VALUE_MAX];
    const char *symbol;
    json_t *list;
    int rc = 0;
    if (!url_arg(url, "timeframe", timeframe) || strlen(timeframe) >= sizeof r->bars->timeframe)
        return 0;
    bool adjusted = url_arg(url, "adjustment", adjustment) && strcmp(adjustment, "raw") != 0;
    json_object_foreach(json_object_get(body, "bars"), symbol, list)
    {
        for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
            struct recorded_bar bar = {.adjusted = adjusted, .bar = json_array_get(list, i)};
            if (strlen(symbol) >= sizeof bar.symbol ||
                replay_recorded_time(json_object_get(bar.bar, "t"), &bar.open_ns) < 0)
                continue;
            strcpy(bar.symbol, symbol);
            strcpy(bar.timeframe, timeframe);
            bar.known_ns = bar.open_ns + length_ns(timeframe);
            rc = replay_recorded_keep_bar(r, &bar);
        }
    }
    return rc;
}

int replay_recorded_keep_reply(struct replay_recorded *r, const struct frame_line *line)
{
    json_t *body = json_loadb(line->frame.data, line->frame.len, 0, NULL);
    struct recorded_reply *grown = reallocarray(r->replies, r->n_replies + 1, sizeof *grown);
    int rc = body && grown ? 0 : body ? -ENOMEM : -EBADMSG;
    if (grown)
        r->replies = grown;
    if (rc == 0) {
        struct recorded_reply *reply = &r->replies[r->n_replies++];
        *reply = (struct recorded_reply){line->ts_ns, strndup(line->url.data, line->url.len),
                                         malloc(line->frame.len), line->frame.len};
        if (!reply->url || !reply->body) {
            rc = -ENOMEM;
        } else {
            memcpy(reply->body, line->frame.data, line->frame.len);
            rc = keep_bars(r, reply->url, body);
        }
    }
    json_decref(body);
    return rc;
}

static int by_time(const void *one, const void *other)
{
    const struct recorded_bar *a = one, *b = other;
    int c = strcmp(a->symbol, b->symbol);
    if (c == 0)
        c = strcmp(a->timeframe, b->timeframe);
    if (c == 0)
        c = (a->open_ns > b->open_ns) - (a->open_ns < b->open_ns);
    if (c == 0)
        c = (a->known_ns > b->known_ns) - (a->known_ns < b->known_ns);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

void replay_recorded_sort(struct replay_recorded *r)
{
    if (r->n_bars > 0)
        qsort(r->bars, r->n_bars, sizeof *r->bars, by_time);
}

/* ---- answers ---- */

struct bars_query {
    const char *timeframe;
    bool adjusted;
    int64_t start_ns, end_ns, now_ns;
};

static bool fits(const struct recorded_bar *bar, const struct bars_query *q)
{
    return strcmp(bar->timeframe, q->timeframe) == 0 && bar->open_ns >= q->start_ns &&
           bar->open_ns <= q->end_ns && bar->known_ns <= q->now_ns &&
           (bar->streamed || bar->adjusted == q->adjusted);
}

/* A streamed message without the fields that only the stream has. */
static void put_bar(struct wire *wire, const json_t *bar)
{
    const char *key;
    json_t *value;
    replay_wire_map(wire, 0);
    json_object_foreach((json_t *)(uintptr_t)bar, key, value)
    {
        if (strcmp(key, "T") != 0 && strcmp(key, "S") != 0)
            replay_recorded_put(wire, key, value);
    }
    replay_wire_map_end(wire);
}

/* The newest of each time. */
static void put_bars(struct wire *wire, const struct replay_recorded *r, const char *symbol,
                     const struct bars_query *q)
{
    const struct recorded_bar *last = NULL;
    bool any = false;
    for (size_t i = 0; i < r->n_bars; i++) {
        const struct recorded_bar *bar = &r->bars[i];
        if (strcmp(bar->symbol, symbol) != 0 || !fits(bar, q))
            continue;
        if (!any) {
            replay_wire_key(wire, symbol);
            replay_wire_array(wire, 0);
            any = true;
        }
        if (last && last->open_ns != bar->open_ns)
            put_bar(wire, last->bar);
        last = bar;
    }
    if (last)
        put_bar(wire, last->bar);
    if (any)
        replay_wire_array_end(wire);
}

static void answer_bars(struct rest_call *call)
{
    const char *symbols = replay_request_arg(call->request, "symbols"),
               *adjustment = replay_request_arg(call->request, "adjustment"),
               *start = replay_request_arg(call->request, "start"),
               *end = replay_request_arg(call->request, "end");
    struct bars_query q = {.timeframe = replay_request_arg(call->request, "timeframe"),
                           .adjusted = adjustment && strcmp(adjustment, "raw") != 0,
                           .end_ns = INT64_MAX,
                           .now_ns = call->alpaca->now_ns};
    if (!symbols || !q.timeframe || (start && bars_time_parse(start, strlen(start), &q.start_ns) < 0) ||
        (end && bars_time_parse(end, strlen(end), &q.end_ns) < 0)) {
        replay_rest_refuse(call, 400, 0, "symbols and timeframe are required, start and end are times");
        return;
    }
    replay_wire_map(&call->wire, 2);
    replay_wire_key(&call->wire, "bars");
    replay_wire_map(&call->wire, 0);
    while (*symbols) {
        char name[SYMBOL_NAME_MAX];
        size_t len = strcspn(symbols, ",");
        if (len < sizeof name) {
            memcpy(name, symbols, len);
            name[len] = '\0';
            put_bars(&call->wire, call->alpaca->recorded, name, &q);
        }
        symbols += len + (symbols[len] == ',');
    }
    replay_wire_map_end(&call->wire);
    replay_wire_key(&call->wire, "next_page_token");
    replay_wire_null(&call->wire);
    replay_wire_map_end(&call->wire);
}

static bool same_arg(const struct replay_request *request, const char *url, const char *name)
{
    char value[VALUE_MAX];
    const char *asked = replay_request_arg(request, name);
    bool has = url_arg(url, name, value);
    return asked ? has && strcmp(asked, value) == 0 : !has;
}

/* The newest reply to that request up to the position; the first one when all came later. The requested
 * range of actions changes by the day: the latest reply answers. */
static const struct recorded_reply *find_reply(const struct rest_call *call)
{
    const struct replay_recorded *r = call->alpaca->recorded;
    const struct replay_request *request = call->request;
    const struct recorded_reply *found = NULL;
    bool actions = strcmp(request->path, "/v1/corporate-actions") == 0;
    size_t len = strlen(request->path);
    for (size_t i = 0; i < r->n_replies; i++) {
        const struct recorded_reply *reply = &r->replies[i];
        bool same = strncmp(reply->url, request->path, len) == 0 &&
                    (reply->url[len] == '?' || reply->url[len] == '\0') &&
                    same_arg(request, reply->url, "asset_class") &&
                    (actions || same_arg(request, reply->url, "symbols"));
        if (same && (!found || reply->ts_ns <= call->alpaca->now_ns))
            found = reply;
    }
    return found;
}

bool replay_recorded_answer(struct rest_call *call)
{
    static const char *const made[] = {"/v2/clock", "/v2/calendar", "/v2/account", "/v2/orders",
                                       "/v2/positions"};
    const char *path = call->request->path, *last = strrchr(path, '/');
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strcmp(path, made[i]) == 0)
            return false;
    if (strcmp(last, "/bars") == 0) {
        answer_bars(call);
        return true;
    }
    const struct recorded_reply *reply = find_reply(call);
    if (reply)
        text_bytes(&call->response->body, reply->body, reply->len);
    else
        replay_rest_refuse(call, NOT_FOUND, 0, "the recording holds no answer to it");
    return true;
}
