/* Who calls: keys, times, signatures; order_calls.c has what each call does. */
#include "exchange/replay/binance/orders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"
#include "exchange/replay/binance/session.h"

#define E8        100000000LL
#define NS_PER_MS 1000000LL

enum { FEE_E6 = 1000, WINDOW_MS = 5000, WINDOW_MAX_MS = 60000, AHEAD_MS = 1000 };

/* What an account begins with, of scale 8. */
static const int64_t QUOTE_E8 = 1000000 * E8, BASE_E8 = 1000 * E8;

const char *replay_params_get(const struct order_params *params, const char *name)
{
    for (int i = 0; i < params->n; i++)
        if (strcmp(params->names[i], name) == 0)
            return params->values[i];
    return NULL;
}

/* ---- The market that the broker trades in. ---- */

static void keep_listing(void *user, const struct symbol *symbol)
{
    struct binance_orders *o = user;
    int at = replay_tape_symbol_find(o->source->tape, symbol->name, strlen(symbol->name));
    if (at >= 0 && at < o->n_listed)
        o->listed[at] = *symbol;
}

/* As exchangeInfo has them: read back from what is sent. */
static void list_symbols(struct binance_orders *o)
{
    const struct tape *tape = o->source->tape;
    struct binance_info info;
    struct text text = {0};
    bool *all = malloc((size_t)tape->n_symbols + 1);
    struct symbol *listed = calloc((size_t)tape->n_symbols + 1, sizeof(*listed));
    if (all && listed) {
        free(o->listed);
        o->listed = listed;
        listed = NULL;
        o->n_listed = tape->n_symbols;
        o->n_changed = tape->n_changed;
        memset(all, true, (size_t)tape->n_symbols + 1);
        replay_exchange_info_write(&text, tape, all, o->limits);
        if (text_ok(&text))
            binance_parse_info(text.data, text.len, "binance", keep_listing, o, &info);
    }
    free(all);
    free(listed);
    text_finish(&text);
}

bool replay_orders_symbol(struct binance_orders *o, int symbol, struct symbol *ret)
{
    const struct tape *tape = o->source->tape;
    if (o->n_listed != tape->n_symbols || o->n_changed != tape->n_changed)
        list_symbols(o);
    if (symbol < 0 || symbol >= o->n_listed || !o->listed[symbol].name[0] || tape->symbols[symbol].delisted)
        return false;
    *ret = o->listed[symbol];
    return true;
}

static bool market_symbol(void *user, int symbol, struct symbol *ret)
{
    return replay_orders_symbol(user, symbol, ret);
}

static bool market_book(void *user, int symbol, struct source_book *ret)
{
    static const struct replay_ladder none;
    struct binance_orders *o = user;
    if (!o->source->ops->book || !o->source->ops->book(o->source, symbol, ret)) /* not played yet */
        *ret = (struct source_book){&none, &none, 0};
    return true;
}

static int64_t market_now(void *user)
{
    return ((struct binance_orders *)user)->source->tape->now_ns;
}

static int market_fee(void *user, int symbol, bool maker)
{
    (void)user, (void)symbol, (void)maker;
    return FEE_E6;
}

static struct broker_planted market_planted(void *user)
{
    const struct faults *faults = ((struct binance_orders *)user)->faults;
    return (struct broker_planted){faults->fill_latency_ns, faults->fill_slippage_e6};
}

static void order_changed(void *user, const struct broker_order *order, const struct broker_fill *fill)
{
    if (fill && order->filled == fill->qty)
        replay_order_count(user, order->terms.account, -1);
    replay_user_data_changed(user, order, fill);
}

static void list_changed(void *user, const struct broker_list *list, enum broker_list_event event)
{
    replay_user_data_list_changed(user, list, event);
}

static void traded(void *user, int symbol, const struct tape_trade *trade)
{
    struct binance_orders *o = user;
    replay_broker_trade(o->broker, symbol, trade->price, trade->qty, trade->buyer_maker);
}

struct order_clock replay_orders_clock(const struct binance_orders *o, const char *unit)
{
    return (struct order_clock){unit && strcasecmp(unit, "MICROSECOND") == 0 ? 1000 : NS_PER_MS,
                                o->faults->clock_skew_ns};
}

int replay_orders_init(struct binance_orders *o, struct replay_source *source, const char *keys_file,
                       const struct faults *faults, struct limits *limits,
                       char error[static PROTOCOL_ERROR_MAX])
{
    const struct broker_calls calls = {market_symbol,  market_book,   market_now, market_fee,
                                       market_planted, order_changed, o,          8};
    o->source = source;
    o->faults = o->order_faults.faults = faults;
    o->limits = limits;
    _Static_assert((int)KEYS_ERROR_MAX <= (int)PROTOCOL_ERROR_MAX, "an error's room");
    if (keys_file) {
        int r = replay_keys_read(keys_file, &o->keys, error);
        if (r < 0)
            return r;
    }
    o->broker = replay_broker_create(&calls);
    if (!o->broker) {
        snprintf(error, PROTOCOL_ERROR_MAX, "out of memory");
        return -ENOMEM;
    }
    replay_broker_on_list(o->broker, list_changed, o);
    source->tape->traded = traded;
    source->tape->traded_user = o;
    return 0;
}

void replay_orders_wipe(struct binance_orders *o)
{
    replay_broker_wipe(o->broker);
    o->amendments.n = 0;
}

void replay_orders_finish(struct binance_orders *o)
{
    replay_broker_faults_finish(&o->order_faults);
    replay_broker_destroy(o->broker);
    replay_keys_finish(&o->keys);
    free(o->listed);
    free(o->amendments.all);
}

/* ---- Who calls. ---- */

/* A time of the parameters in ms, or -1. */
static double time_ms(const char *text)
{
    char *end;
    double ms = strtod(text, &end);
    if (*end || end == text || !(ms >= 0))
        return -1;
    return ms > 1e14 ? ms / 1000 : ms; /* microseconds */
}

static int check_time(const struct binance_orders *o, const struct order_params *params, struct text *body)
{
    const char *stamp = replay_params_get(params, "timestamp"),
               *window = replay_params_get(params, "recvWindow");
    const double sent = stamp ? time_ms(stamp) : -1, open_ms = window ? time_ms(window) : WINDOW_MS;
    const double now = (double)(o->source->tape->now_ns + o->faults->clock_skew_ns) / NS_PER_MS;
    if (sent < 0)
        return replay_order_missing(body, "timestamp");
    if (open_ms < 0)
        return replay_order_missing(body, "recvWindow");
    if (open_ms > WINDOW_MAX_MS)
        return replay_order_refuse(body, ORDER_CALL_BAD, -1131, "recvWindow must be less than 60000.");
    if (sent >= now + AHEAD_MS)
        return replay_order_refuse(body, ORDER_CALL_BAD, -1021,
                                   "Timestamp for this request was 1000ms ahead of the server's time.");
    if (now - sent > open_ms)
        return replay_order_refuse(body, ORDER_CALL_BAD, -1021,
                                   "Timestamp for this request is outside of the recvWindow.");
    return 0;
}

int64_t replay_orders_good_until(const struct binance_orders *o, const struct order_params *params)
{
    const char *stamp = replay_params_get(params, "timestamp"),
               *window = replay_params_get(params, "recvWindow");
    if (o->keys.n == 0 || !stamp)
        return INT64_MAX;
    return (int64_t)((time_ms(stamp) + (window ? time_ms(window) : WINDOW_MS)) * NS_PER_MS);
}

int replay_orders_admit(struct binance_orders *o, const struct order_params *params, const char *api_key,
                        const char *payload, size_t len, bool changes, struct text *body,
                        struct order_caller *ret)
{
    static const char denied[] = "Invalid API-key, IP, or permissions for action.";
    const char *signature = replay_params_get(params, "signature");
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (!api_key || !*api_key || strlen(api_key) >= BROKER_KEY_MAX ||
        strspn(api_key, legal) != strlen(api_key))
        return replay_order_refuse(body, ORDER_CALL_UNAUTHORIZED, -2014, "API-key format invalid.");
    ret->key = NULL;
    if (o->keys.n > 0) {
        int status;
        ret->key = replay_keys_find(&o->keys, api_key);
        if (!ret->key)
            return replay_order_refuse(body, ORDER_CALL_UNAUTHORIZED, -2015, denied);
        if (payload && (!signature || !*signature))
            return replay_order_missing(body, "signature");
        if ((status = check_time(o, params, body)) != 0)
            return status;
        if (payload && !replay_key_has_signed(ret->key, payload, len, signature))
            return replay_order_refuse(body, ORDER_CALL_BAD, -1022,
                                       "Signature for this request is not valid.");
        if (changes && !ret->key->trades)
            return replay_order_refuse(body, ORDER_CALL_UNAUTHORIZED, -2015, denied);
    }
    const struct broker_funds funds = {o->source->tape->n_symbols, QUOTE_E8, BASE_E8};
    ret->account = replay_broker_account(o->broker, api_key, &funds);
    return ret->account < 0 ? replay_order_refuse(body, ORDER_CALL_UNAUTHORIZED, -2015, denied) : 0;
}

/* ---- REST. ---- */

static void add_param(struct order_params *params, const char *name, const char *value)
{
    if (params->n == PARAMS_MAX)
        return;
    params->names[params->n] = name;
    params->values[params->n++] = value;
}

/* What was signed is the query and the body as they came, without the signature. libwebsockets has decoded
 * the query, so it is encoded again, as clients do it. */
static void take_query(const struct replay_request *request, struct text *names, struct text *payload,
                       struct order_params *params, size_t at[])
{
    for (int i = 0; i < request->n_args; i++) {
        const char *equals = strchr(request->args[i], '=');
        if (!equals)
            continue;
        at[i] = names->len;
        text_bytes(names, request->args[i], (size_t)(equals - request->args[i]));
        text_bytes(names, "", 1);
        if (strncmp(request->args[i], "signature=", 10) == 0)
            continue;
        if (payload->len > 0)
            text_lit(payload, "&");
        text_bytes(payload, request->args[i], (size_t)(equals - request->args[i]) + 1);
        text_url(payload, equals + 1);
    }
    for (int i = 0; i < request->n_args && text_ok(names); i++)
        if (strchr(request->args[i], '='))
            add_param(params, names->data + at[i], strchr(request->args[i], '=') + 1);
}

/* In place, up to a code that is none. */
static void decode(char *text)
{
    lws_urldecode(text, text, (int)strlen(text) + 1);
}

/* A form: NAME=VALUE&…; `copy` is cut into pieces. */
static void take_form(char *copy, struct text *payload, struct order_params *params)
{
    char *rest = NULL;
    bool first = true;
    for (char *piece = strtok_r(copy, "&", &rest); piece; piece = strtok_r(NULL, "&", &rest)) {
        char *equals = strchr(piece, '=');
        if (!equals)
            continue;
        if (strncmp(piece, "signature=", 10) != 0) {
            text_str(payload, first ? "" : "&");
            text_str(payload, piece);
            first = false;
        }
        *equals = '\0';
        decode(piece);
        decode(equals + 1);
        add_param(params, piece, equals + 1);
    }
}

int replay_orders_answer(struct binance_orders *o, const struct replay_request *request, const char *api_key,
                         struct text *body, struct order_outcome *ret)
{
    struct order_params params = {.n = 0};
    struct order_caller caller;
    struct text names = {0}, payload = {0};
    size_t at[REQUEST_ARGS_MAX];
    char *form = strndup(request->body, request->body_len);
    take_query(request, &names, &payload, &params, at);
    params.n_query = params.n;
    if (form && strcmp(request->method, "GET") != 0)
        take_form(form, &payload, &params);
    *ret = (struct order_outcome){.weight = 1};
    int status = 404;
    if (!form || names.failed || payload.failed)
        body->failed = true;
    else if (!replay_orders_has(request->method, request->path))
        replay_rest_error(body, -1000, "Path not found: papertape-replay(1) has what is served.");
    else
        status = replay_orders_admit(o, &params, api_key, payload.data ? payload.data : "", payload.len,
                                     replay_orders_changes(request->method, request->path), body, &caller);
    caller.clock = replay_orders_clock(o, request->headers[REPLAY_HEADER_TIME_UNIT]);
    if (status == 0)
        status = replay_orders_call(o, request->method, request->path, &params, &caller, body, ret);
    text_finish(&names);
    text_finish(&payload);
    free(form);
    return status;
}
