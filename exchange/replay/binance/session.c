/* Requests of the WebSocket API: sessions, user data, and what REST has, too. */
#include "exchange/replay/binance/session.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/protocol.h"

#define NS_PER_MS 1000000LL

enum { OK = 200, BAD_REQUEST = 400, UNAUTHORIZED = 401, DIGITS = 15 /* of a number: as clients write it */ };

struct binance_session *replay_session_open(struct binance_orders *orders, struct client *client,
                                            const char *unit, const char *limits)
{
    struct binance_session *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->orders = orders;
    s->client = client;
    s->caller.clock = replay_orders_clock(orders, unit);
    s->hides_limits = limits && strcmp(limits, "false") == 0;
    s->opened_ns = orders->source->tape->now_ns;
    s->next = orders->sessions;
    orders->sessions = s;
    return s;
}

void replay_session_close(struct binance_session *session)
{
    if (!session)
        return;
    struct binance_session **at = &session->orders->sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    replay_user_data_end(session, SESSION_ALL, NULL);
    free(session->subscriptions);
    free(session);
}

/* ---- A request. ---- */

struct api_request {
    struct binance_session *session;
    const char *method;
    struct order_params params;
    char *texts[PARAMS_MAX]; /* of numbers and flags, as they were written; freed with it */
    int n_texts;
    struct text body;
    struct text after; /* events that follow the answer, a line each */
    struct order_outcome outcome;
};

static int refuse(struct api_request *r, int status, int code, const char *msg)
{
    replay_rest_error(&r->body, code, msg);
    return status;
}

/* Strings as they are, all else as JSON has it. */
static void take_params(struct api_request *r, json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach(params, name, value)
    {
        if (r->params.n == PARAMS_MAX)
            break;
        char *made = json_is_string(value)
                         ? NULL
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
        if (made)
            r->texts[r->n_texts++] = made;
        r->params.names[r->params.n] = name;
        r->params.values[r->params.n++] = made ? made : json_is_string(value) ? json_string_value(value) : "";
    }
}

static int by_name(const void *a, const void *b, void *params)
{
    const struct order_params *of = params;
    return strcmp(of->names[*(const int *)a], of->names[*(const int *)b]);
}

/* What is signed: all parameters but the signature, by name, not encoded. */
static void write_payload(const struct api_request *r, struct text *out)
{
    int order[PARAMS_MAX], n = r->params.n;
    bool first = true;
    for (int i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, (size_t)n, sizeof(*order), by_name, (void *)&r->params);
    for (int i = 0; i < n; i++) {
        const int at = order[i];
        if (strcmp(r->params.names[at], "signature") == 0)
            continue;
        text_str(out, first ? "" : "&");
        text_str(out, r->params.names[at]);
        text_lit(out, "=");
        text_str(out, r->params.values[at]);
        first = false;
    }
}

/* 0, or the status of the refusal. */
static int admit(struct api_request *r, bool changes, struct order_caller *ret)
{
    struct binance_session *s = r->session;
    const char *key = replay_params_get(&r->params, "apiKey");
    struct text payload = {0};
    ret->clock = s->caller.clock;
    if (!key && s->key[0])
        return replay_orders_admit(s->orders, &r->params, s->key, NULL, 0, changes, &r->body, ret);
    write_payload(r, &payload);
    int status = payload.failed
                     ? refuse(r, 500, -1000, "out of memory")
                     : replay_orders_admit(s->orders, &r->params, key, payload.data ? payload.data : "",
                                           payload.len, changes, &r->body, ret);
    text_finish(&payload);
    return status;
}

/* ---- Sessions. ---- */

static void write_session(struct api_request *r)
{
    const struct binance_session *s = r->session;
    text_lit(&r->body, "{\"apiKey\":");
    text_str(&r->body, s->key[0] ? "\"" : "null");
    text_str(&r->body, s->key);
    text_str(&r->body, s->key[0] ? "\"" : "");
    text_lit(&r->body, ",\"authorizedSince\":");
    if (s->key[0])
        text_int(&r->body, order_clock_time(&s->caller.clock, s->since_ns));
    else
        text_lit(&r->body, "null");
    text_lit(&r->body, ",\"connectedSince\":");
    text_int(&r->body, order_clock_time(&s->caller.clock, s->opened_ns));
    text_str(&r->body, s->hides_limits ? ",\"returnRateLimits\":false" : ",\"returnRateLimits\":true");
    text_lit(&r->body, ",\"serverTime\":");
    text_int(&r->body, order_clock_time(&s->caller.clock, s->orders->source->tape->now_ns));
    text_str(&r->body, s->n_subscriptions > 0 ? ",\"userDataStream\":true}" : ",\"userDataStream\":false}");
}

static int log_on(struct api_request *r)
{
    struct binance_session *s = r->session;
    const char *key = replay_params_get(&r->params, "apiKey");
    const struct replay_key *known = key ? replay_keys_find(&s->orders->keys, key) : NULL;
    if (known && !known->public)
        return refuse(r, BAD_REQUEST, -4056, "HMAC_SHA256 API key is not supported.");
    int status = admit(r, false, &s->caller);
    if (status != 0)
        return status;
    memcpy(s->key, key, strlen(key) + 1);
    s->since_ns = s->orders->source->tape->now_ns;
    write_session(r);
    return OK;
}

static int status_of(struct api_request *r)
{
    write_session(r);
    return OK;
}

/* ---- User data. ---- */

static int log_out(struct api_request *r)
{
    r->session->key[0] = '\0';
    replay_user_data_end(r->session, SESSION_LOGON, &r->after);
    write_session(r);
    return OK;
}

/* One subscription an account and connection. */
static int subscribe(struct api_request *r)
{
    struct binance_session *s = r->session;
    const bool by_logon = strcmp(r->method, "userDataStream.subscribe") == 0;
    struct order_caller caller = s->caller;
    if (by_logon && !s->key[0])
        return refuse(r, UNAUTHORIZED, -2014, "API-key format invalid.");
    int status = by_logon ? 0 : admit(r, false, &caller);
    return status != 0 ? status : replay_user_data_begin(s, caller.account, by_logon, &r->body);
}

static int unsubscribe(struct api_request *r)
{
    const char *text = replay_params_get(&r->params, "subscriptionId");
    if (text && (strlen(text) > 9 || strspn(text, "0123456789") != strlen(text)))
        return refuse(
            r, BAD_REQUEST, -1100,
            "Illegal characters found in parameter 'subscriptionId'; legal range is '^[0-9]{1,20}$'.");
    if (replay_user_data_end(r->session, text ? atoi(text) : SESSION_ALL, &r->after) == 0 && text)
        return refuse(r, BAD_REQUEST, -2036, "User Data Stream subscription not active.");
    text_lit(&r->body, "{}");
    return OK;
}

static int list_subscriptions(struct api_request *r)
{
    replay_user_data_list(r->session, &r->body);
    return OK;
}

/* ---- Calls that REST has, too. ---- */

static const struct {
    const char *method, *http, *path;
} calls[] = {
    {"ping", "GET", "/api/v3/ping"},
    {"time", "GET", "/api/v3/time"},
    {"exchangeInfo", "GET", "/api/v3/exchangeInfo"},
    {"depth", "GET", "/api/v3/depth"},
    {"klines", "GET", "/api/v3/klines"},
    {"trades.recent", "GET", "/api/v3/trades"},
    {"trades.aggregate", "GET", "/api/v3/aggTrades"},
    {"avgPrice", "GET", "/api/v3/avgPrice"},
    {"ticker.24hr", "GET", "/api/v3/ticker/24hr"},
    {"ticker.price", "GET", "/api/v3/ticker/price"},
    {"ticker.book", "GET", "/api/v3/ticker/bookTicker"},
    {"order.place", "POST", "/api/v3/order"},
    {"order.test", "POST", "/api/v3/order/test"},
    {"order.status", "GET", "/api/v3/order"},
    {"order.cancel", "DELETE", "/api/v3/order"},
    {"order.cancelReplace", "POST", "/api/v3/order/cancelReplace"},
    {"order.amend.keepPriority", "PUT", "/api/v3/order/amend/keepPriority"},
    {"order.amendments", "GET", "/api/v3/order/amendments"},
    {"openOrders.status", "GET", "/api/v3/openOrders"},
    {"openOrders.cancelAll", "DELETE", "/api/v3/openOrders"},
    {"allOrders", "GET", "/api/v3/allOrders"},
    {"myTrades", "GET", "/api/v3/myTrades"},
    {"account.status", "GET", "/api/v3/account"},
    {"account.commission", "GET", "/api/v3/account/commission"},
    {"orderList.place", "POST", "/api/v3/order/oco"},
    {"orderList.place.oco", "POST", "/api/v3/orderList/oco"},
    {"orderList.place.oto", "POST", "/api/v3/orderList/oto"},
    {"orderList.place.otoco", "POST", "/api/v3/orderList/otoco"},
    {"orderList.place.opo", "POST", "/api/v3/orderList/opo"},
    {"orderList.place.opoco", "POST", "/api/v3/orderList/opoco"},
    {"orderList.status", "GET", "/api/v3/orderList"},
    {"orderList.cancel", "DELETE", "/api/v3/orderList"},
    {"allOrderLists", "GET", "/api/v3/allOrderList"},
    {"openOrderLists.status", "GET", "/api/v3/openOrderList"},
    {"sor.order.place", "POST", "/api/v3/sor/order"},
    {"sor.order.test", "POST", "/api/v3/sor/order/test"},
    {"myFilters", "GET", "/api/v3/myFilters"},
    {"account.rateLimits.orders", "GET", "/api/v3/rateLimit/order"},
};

static int call_market(struct api_request *r, const char *path)
{
    struct replay_request request = {.method = "GET", .path = path, .body = ""};
    request.headers[REPLAY_HEADER_TIME_UNIT] =
        r->session->caller.clock.unit_ns == 1000 ? "MICROSECOND" : NULL;
    char *args[PARAMS_MAX];
    int status = 500;
    for (int i = 0; i < r->params.n && i < REQUEST_ARGS_MAX; i++) {
        struct text arg = {0};
        text_format(&arg, "%s=%s", r->params.names[i], r->params.values[i]);
        char *made = text_take(&arg);
        if (made) {
            args[request.n_args] = made;
            request.args[request.n_args++] = made;
        }
    }
    status = replay_rest_answer(r->session->orders->source, r->session->orders->faults->clock_skew_ns,
                                r->session->orders->limits, &request, &r->body, &r->outcome.weight);
    for (int i = 0; i < request.n_args; i++)
        free(args[i]);
    return status;
}

static int call(struct api_request *r)
{
    static const struct {
        const char *method;
        int (*answer)(struct api_request *r);
    } own[] = {
        {"session.logon", log_on},
        {"session.status", status_of},
        {"session.logout", log_out},
        {"session.subscriptions", list_subscriptions},
        {"userDataStream.subscribe", subscribe},
        {"userDataStream.subscribe.signature", subscribe},
        {"userDataStream.unsubscribe", unsubscribe},
    };
    struct order_caller caller;
    r->outcome.weight = 2;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strcmp(own[i].method, r->method) == 0)
            return own[i].answer(r);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (strcmp(calls[i].method, r->method) != 0)
            continue;
        if (!replay_orders_serves(calls[i].path))
            return call_market(r, calls[i].path);
        int status = admit(r, replay_orders_changes(calls[i].http, calls[i].path), &caller);
        return status != 0 ? status
                           : replay_orders_call(r->session->orders, calls[i].http, calls[i].path, &r->params,
                                                &caller, &r->body, &r->outcome);
    }
    return refuse(r, BAD_REQUEST, -1000, "Unknown method.");
}

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / NS_PER_MS);
}

/* The limits are the address's, of REST and these requests together. 0, or the status of the refusal. */
static int limit(struct api_request *r, int status, int64_t wait_s)
{
    if (status == 0)
        return 0;
    text_clear(&r->body);
    text_format(
        &r->body,
        "{\"code\":-1003,\"msg\":\"Too much request weight used; current limit is %lld request weight per 1 "
        "MINUTE.\",\"data\":{\"retryAfter\":%lld}}",
        (long long)replay_limits_weight(r->session->orders->limits),
        (long long)((r->session->orders->source->tape->now_ns + r->session->orders->faults->clock_skew_ns) /
                        NS_PER_MS +
                    wait_s * 1000));
    return status;
}

/* With -1015: when the next order may be placed, in the venue's time. */
static void add_retry(struct api_request *r)
{
    const int64_t now_ns =
        r->session->orders->source->tape->now_ns + r->session->orders->faults->clock_skew_ns;
    if (r->outcome.wait_ns == 0 || r->body.len == 0 || memmem(r->body.data, r->body.len, "\"data\":", 7))
        return;
    r->body.len--;
    text_format(&r->body, ",\"data\":{\"serverTime\":%lld,\"retryAfter\":%lld}}",
                (long long)(now_ns / NS_PER_MS), (long long)((now_ns + r->outcome.wait_ns) / NS_PER_MS));
}

static int call_within_limits(struct api_request *r)
{
    struct limits *limits = r->session->orders->limits;
    int64_t wait_s = 0;
    int status = limit(r, replay_limits_request(limits, now_ms(), &wait_s), wait_s);
    if (status != 0)
        return status;
    status = call(r);
    add_retry(r);
    const int over = limit(r, replay_limits_charge(limits, now_ms(), r->outcome.weight, &wait_s), wait_s);
    return over != 0 ? over : status;
}

static bool shows_limits(const struct api_request *r)
{
    const char *wanted = replay_params_get(&r->params, "returnRateLimits");
    return wanted ? strcmp(wanted, "false") != 0 : !r->session->hides_limits;
}

static void write_limits(const struct api_request *r, struct text *out)
{
    text_lit(out, ",\"rateLimits\":[");
    if (r->outcome.counted) {
        replay_order_limits_write(out, r->session->orders, r->outcome.account);
        text_lit(out, ",");
    }
    text_format(
        out,
        "{\"rateLimitType\":\"REQUEST_WEIGHT\",\"interval\":\"MINUTE\",\"intervalNum\":1,\"limit\":%lld,"
        "\"count\":%lld}]",
        (long long)replay_limits_weight(r->session->orders->limits),
        (long long)replay_limits_used(r->session->orders->limits, now_ms()));
}

static void say_after(const struct api_request *r)
{
    const char *at = r->after.data, *end = at + r->after.len, *line;
    for (; at && at < end && (line = memchr(at, '\n', (size_t)(end - at))); at = line + 1)
        replay_client_say(r->session->client, at, (size_t)(line - at));
}

static void answer(struct api_request *r, const json_t *id, int status)
{
    struct text out = {0};
    char *id_text = json_dumps(id, JSON_ENCODE_ANY);
    text_lit(&out, "{\"id\":");
    text_str(&out, id_text ? id_text : "null");
    text_lit(&out, ",\"status\":");
    text_int(&out, status);
    text_str(&out, status == OK ? ",\"result\":" : ",\"error\":");
    if (r->body.len > 0)
        text_bytes(&out, r->body.data, r->body.len);
    else
        text_lit(&out, "{}");
    if (shows_limits(r))
        write_limits(r, &out);
    text_lit(&out, "}");
    if (text_ok(&out) && !r->body.failed)
        replay_client_say(r->session->client, out.data, out.len);
    else
        replay_client_close(r->session->client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    text_finish(&out);
    free(id_text);
}

void replay_session_request(struct binance_session *session, const char *text, size_t len)
{
    struct api_request r = {.session = session};
    json_error_t error;
    json_t *message = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    r.method = json_string_value(json_object_get(message, "method"));
    int status;
    if (!json_is_object(message) || !r.method ||
        !(json_is_integer(id) || json_is_string(id) || json_is_null(id)))
        status =
            refuse(&r, BAD_REQUEST, -1135, "Invalid JSON request: an object with id and method is needed.");
    else if (params && !json_is_object(params))
        status = refuse(&r, BAD_REQUEST, -1135, "Invalid JSON request: params is an object.");
    else {
        take_params(&r, params);
        status = call_within_limits(&r);
    }
    if (status > 0)
        answer(&r, id, status);
    say_after(&r);
    for (int i = 0; i < r.n_texts; i++)
        free(r.texts[i]);
    text_finish(&r.body);
    text_finish(&r.after);
    json_decref(message);
}
