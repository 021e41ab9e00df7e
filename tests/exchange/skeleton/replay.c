/* The example venue on loopback: the protocol of a papertape-replay of its own, built from this file and the
 * replay's library. Its market is a function of the trade's number: stream and REST agree by themselves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/json.h"
#include "exchange/replay/broker/broker.h"
#include "exchange/replay/broker/faults.h"
#include "exchange/replay/chance.h"
#include "exchange/replay/serve.h"

enum { SYMBOLS = 3, TRADES_MINUTE = 60, PAGE = 500, LATEST = 20, LEVELS = 5, FEE_E6 = 1000 };
#define TRADE_NS  1000000000LL /* between two of a symbol */
#define MINUTE_NS (TRADES_MINUTE * TRADE_NS)
#define TICK      1000000LL
#define ONE       100000000LL
#define USER \
    ((uintptr_t)1 << 16) /* of a client's state: it gets user data, of the account above that bit \
                          */

static const char *const names[SYMBOLS] = {"AAA-USD", "BBB-USD", "CCC-USD"};
static const char *const kinds[] = {"trade", "quote", "bar"};
enum { TRADE, QUOTE, BAR, KINDS };

struct skeleton {
    struct protocol base;
    struct replay_source source;
    uint64_t seed;
    int64_t next; /* trade of each symbol; it is at next * TRADE_NS */
    int64_t asked, first_asked_ns;
    struct broker *broker;
    struct broker_faults faults;     /* of orders */
    struct replay_ladder bids, asks; /* as they are looked at */
};

static struct skeleton *of(const struct replay_source *source)
{
    return (struct skeleton *)((char *)(uintptr_t)source - offsetof(struct skeleton, source));
}

static int64_t chance_of(const struct skeleton *s, int symbol, int64_t id)
{
    struct chance chance = {s->seed + (uint64_t)symbol * 0x9e3779b9 + (uint64_t)id * 0x51ed2701};
    return chance_range(&chance, 0, 199);
}

static int64_t price_of(const struct skeleton *s, int symbol, int64_t id)
{
    return (symbol + 1) * 10000000000 + chance_of(s, symbol, id) * 1000000;
}

static int64_t qty_of(const struct skeleton *s, int symbol, int64_t id)
{
    return (1 + chance_of(s, symbol, id) % 7) * 100000;
}

static void amount(struct text *text, int64_t units)
{
    text_lit(text, ",");
    text_e8(text, units);
}

/* Of the minute, as far as trades are before `end`. */
static void write_bar(const struct skeleton *s, struct text *text, int symbol, int64_t minute, int64_t end)
{
    int64_t first = minute * TRADES_MINUTE, last = first, low = INT64_MAX, high = 0, volume = 0;
    for (int64_t id = first; id < first + TRADES_MINUTE && id < end; last = id++) {
        int64_t price = price_of(s, symbol, id);
        low = price < low ? price : low;
        high = price > high ? price : high;
        volume += qty_of(s, symbol, id);
    }
    text_format(text, "[%lld", minute * MINUTE_NS);
    amount(text, price_of(s, symbol, first));
    amount(text, high);
    amount(text, low);
    amount(text, price_of(s, symbol, last));
    amount(text, volume);
    text_format(text, ",%lld]", (long long)(last - first + 1));
}

/* ---- Orders: exchange/replay/broker/ has accounts and matching. ---- */

static bool listed(void *user, int symbol, struct symbol *ret)
{
    (void)user;
    *ret = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
    snprintf(ret->name, sizeof ret->name, "%s", names[symbol]);
    snprintf(ret->base, sizeof ret->base, "%.3s", names[symbol]);
    strcpy(ret->quote, "USD");
    ret->filters.tick = TICK;
    return true;
}

static bool book(void *user, int symbol, struct source_book *ret)
{
    struct skeleton *s = user;
    int64_t price = price_of(s, symbol, s->next - 1);
    s->bids.n = s->asks.n = 0;
    for (int i = 1; i <= LEVELS; i++) {
        int64_t qty = i < LEVELS ? ONE / 4 : 1000000 * ONE;
        if (replay_ladder_set(&s->bids, price - i * TICK, qty) < 0 ||
            replay_ladder_set(&s->asks, price + i * TICK, qty) < 0)
            return false;
    }
    *ret = (struct source_book){&s->bids, &s->asks, 0};
    return true;
}

static int64_t market_ns(void *user)
{
    return ((struct skeleton *)user)->next * TRADE_NS;
}

static int fee_e6(void *user, int symbol, bool maker)
{
    (void)user;
    (void)symbol;
    (void)maker;
    return FEE_E6;
}

static struct broker_planted planted(void *user)
{
    const struct faults *faults = ((struct skeleton *)user)->base.server->faults;
    return (struct broker_planted){faults->fill_latency_ns, faults->fill_slippage_e6};
}

static const char *const sides[] = {"buy", "sell"}, *const types[] = {"market", "limit"};

static void write_order(struct text *text, const struct broker_order *order)
{
    static const char *const states[] = {"new", "partial", "filled", "canceled", "expired"};
    const struct broker_terms *terms = &order->terms;
    text_format(text, "[\"order\",\"%s\",\"%lld\",\"%s\",%lld,\"%s\",\"%s\",\"%s\"", terms->client_id,
                (long long)order->id, names[terms->symbol], (long long)order->updated_ns, sides[terms->side],
                types[terms->type], states[order->state]);
    amount(text, terms->qty);
    amount(text, terms->price);
    amount(text, order->filled);
    text_lit(text, "]");
}

static void write_fill(struct text *text, const struct broker_order *order, const struct broker_fill *fill,
                       int64_t cumulative)
{
    text_format(text, "[\"fill\",\"%s\",\"%lld\",\"%s\",%lld,\"%s\",\"%lld\"", order->terms.client_id,
                (long long)order->id, names[fill->symbol], (long long)fill->time_ns, sides[order->terms.side],
                (long long)fill->id);
    amount(text, fill->price);
    amount(text, fill->qty);
    amount(text, cumulative);
    amount(text, fill->commission);
    text_str(text, fill->maker ? ",true]" : ",false]");
}

/* All that are not 0. */
static void write_balances(struct text *text, const struct broker_account *account)
{
    for (size_t i = 0; i < account->n_balances; i++) {
        const struct broker_balance *balance = &account->balances[i];
        text_format(text, "%s[\"balance\",\"%s\",", i > 0 ? "," : "", balance->asset);
        text_sum(text, balance->free, 16);
        text_lit(text, ",");
        text_sum(text, balance->locked, 16);
        text_lit(text, "]");
    }
}

/* User data. */
static void changed(void *user, const struct broker_order *order, const struct broker_fill *fill)
{
    struct skeleton *s = user;
    struct text text = {0};
    text_lit(&text, "[");
    if (fill)
        write_fill(&text, order, fill, order->filled);
    text_str(&text, fill ? "," : "");
    write_order(&text, order);
    text_lit(&text, ",");
    write_balances(&text, replay_broker_account_of(s->broker, order->terms.account));
    text_lit(&text, "]");
    for (struct client *c = s->base.server->clients; c && text_ok(&text); c = c->next)
        if ((uintptr_t)c->state == USER * (1 + 2 * (uintptr_t)order->terms.account))
            replay_client_say(c, text.data, text.len);
    text_finish(&text);
}

static void write_message(const struct skeleton *s, struct text *text, int kind, int symbol, int64_t id)
{
    text_format(text, "[\"%s\",\"%s\",%lld,", kinds[kind], names[symbol], id * TRADE_NS);
    if (kind == BAR) {
        text_lit(text, "true,");
        write_bar(s, text, symbol, id / TRADES_MINUTE - 1, INT64_MAX);
    } else {
        text_int(text, id);
        amount(text, price_of(s, symbol, id) - (kind == QUOTE) * 1000000);
        amount(text, qty_of(s, symbol, id));
        if (kind == QUOTE) {
            amount(text, price_of(s, symbol, id) + 1000000);
            amount(text, qty_of(s, symbol, id + 1));
        }
        if (kind == TRADE)
            text_str(text, chance_of(s, symbol, id) % 2 ? ",true" : ",false");
    }
    text_lit(text, "]");
}

/* A client's subscriptions: a bit each. */
static uintptr_t bit(int kind, int symbol)
{
    return (uintptr_t)1 << (kind * SYMBOLS + symbol);
}

static void publish(struct skeleton *s, int kind, int symbol)
{
    struct server *server = s->base.server;
    struct text text = {0};
    char name[64];
    snprintf(name, sizeof name, "%s:%s", kinds[kind], names[symbol]);
    write_message(s, &text, kind, symbol, s->next);
    struct message *message = text_ok(&text) ? replay_message_new(LWS_WRITE_TEXT, text.len) : NULL;
    bool silent =
        replay_fault_stream_silent(server->faults, replay_play_elapsed_ns(&server->play), name, strlen(name));
    if (message)
        memcpy(message_text(message), text.data, text.len);
    for (struct client *c = server->clients; c && message && !silent; c = c->next)
        if ((uintptr_t)c->state & bit(kind, symbol))
            replay_server_send(c, message);
    if (message)
        replay_message_unref(message);
    text_finish(&text);
}

static int64_t due(struct replay_source *source)
{
    return of(source)->next * TRADE_NS;
}

static int step(struct replay_source *source)
{
    struct skeleton *s = of(source);
    for (int symbol = 0; symbol < SYMBOLS; symbol++) {
        if (s->next % TRADES_MINUTE == 0)
            publish(s, BAR, symbol);
        publish(s, QUOTE, symbol);
        publish(s, TRADE, symbol);
        replay_broker_trade(s->broker, symbol, price_of(s, symbol, s->next), qty_of(s, symbol, s->next),
                            chance_of(s, symbol, s->next) % 2 == 0);
    }
    s->next++;
    return 0;
}

static int64_t now_ns(const struct protocol *protocol)
{
    return ((const struct skeleton *)protocol)->next * TRADE_NS;
}

static bool refuse(struct response *response, int status, const char *words)
{
    response->status = status;
    text_clear(&response->body);
    text_format(&response->body, "[\"error\",\"%s\"]", words);
    return false;
}

/* The faults 429 and 418, and of REST 5xx. */
static bool allowed(struct skeleton *s, const char *path, struct response *response)
{
    const struct faults *faults = s->base.server->faults;
    int64_t now = clock_now_ns();
    if (s->asked++ == 0)
        s->first_asked_ns = now;
    int64_t until = replay_fault_limit_ns(&faults->too_many, s->first_asked_ns);
    int64_t banned = replay_fault_limit_ns(&faults->teapot, s->first_asked_ns);
    until = banned > until ? banned : until;
    if (now < until) {
        replay_response_header_int(response, "retry-after:", (until - now + 999999999) / 1000000000);
        return refuse(response, now < banned ? 418 : 429, "too many requests");
    }
    if (path && ((faults->broken && s->asked % FAULT_BROKEN_EVERY == 0) ||
                 replay_fault_broken(faults, replay_play_elapsed_ns(&s->base.server->play), path)))
        return refuse(response, 503, "try again later");
    return true;
}

static int64_t number_of(const struct replay_request *request, const char *name)
{
    const char *value = replay_request_arg(request, name);
    return value ? strtoll(value, NULL, 10) : 0;
}

static void answer_bars(struct skeleton *s, const struct replay_request *request, int symbol,
                        struct text *body)
{
    int64_t from = (number_of(request, "from") + MINUTE_NS - 1) / MINUTE_NS,
            to = number_of(request, "to") / MINUTE_NS;
    int64_t limit = number_of(request, "limit"), end = (s->next + TRADES_MINUTE - 1) / TRADES_MINUTE;
    for (int64_t i = from; i <= to && i < end && i < from + limit && i < from + PAGE; i++) {
        text_str(body, i > from ? "," : "");
        write_bar(s, body, symbol, i, s->next);
    }
}

static void answer_latest(struct skeleton *s, bool trades, int symbol, struct text *body)
{
    for (int64_t i = trades ? s->next - LATEST : s->next - 1; i < s->next; i++) {
        write_message(s, body, trades ? TRADE : QUOTE, symbol, i);
        text_str(body, i + 1 < s->next ? "," : "");
    }
}

/* The account of the request's key; -1, and refused. */
static int account_of(struct skeleton *s, const struct replay_request *request, struct response *response)
{
    static const struct broker_funds funds = {SYMBOLS, 100000 * ONE, 100 * ONE};
    const char *key = request->headers[0];
    int account = key && request->headers[1] ? replay_broker_account(s->broker, key, &funds) : -1;
    if (account < 0)
        refuse(response, 401, "no such key");
    return account;
}

struct placing {
    struct skeleton *s;
    const struct replay_request *request;
    struct broker_terms terms;
    struct response *response;
};

static bool read_terms(struct placing *p)
{
    const char *side = replay_request_arg(p->request, "side"), *type = replay_request_arg(p->request, "type");
    struct broker_terms *terms = &p->terms;
    terms->side = side && strcmp(side, "sell") == 0 ? ORDER_SELL : ORDER_BUY;
    terms->type = type && strcmp(type, "limit") == 0 ? ORDER_LIMIT : ORDER_MARKET;
    terms->qty = number_of(p->request, "qty");
    terms->price = number_of(p->request, "price");
    if (replay_broker_find(p->s->broker, terms->account, terms->symbol, 0, terms->client_id))
        return refuse(p->response, 409, "an order has this id");
    if (terms->qty <= 0 || !terms->client_id[0] || (terms->type == ORDER_LIMIT && terms->price <= 0))
        return refuse(p->response, 422, "no such order can be");
    return true;
}

static void place(void *call)
{
    struct placing *p = call;
    const struct broker_order *order;
    if (!read_terms(p))
        return;
    if (replay_broker_place(p->s->broker, &p->terms, &order) != BROKER_TAKEN)
        refuse(p->response, 422, "the account has less, or there is no market");
    else
        write_order(&p->response->body, order);
}

static void clear(void *call)
{
    struct placing *p = call;
    text_clear(&p->response->body);
    text_lit(&p->response->body, "[");
}

static void unknown(void *call)
{
    refuse(((struct placing *)call)->response, 504, "no answer in time");
}

static bool read_late(void *call, struct broker_late *ret)
{
    struct placing *p = call;
    bool read = read_terms(p);
    ret->orders[0] = p->terms;
    return read;
}

static void arrive(void *user, const struct broker_late *late)
{
    struct skeleton *s = user;
    const struct broker_terms *terms = &late->orders[0];
    const struct broker_order *order;
    if (!replay_broker_find(s->broker, terms->account, terms->symbol, 0, terms->client_id))
        replay_broker_place(s->broker, terms, &order);
}

static void answer_lists(struct skeleton *s, const char *path, const struct broker_terms *about,
                         struct text *body)
{
    size_t n, n_written = 0;
    int64_t filled = 0, id = strtoll(about->client_id, NULL, 10);
    const struct broker_fill *fills = replay_broker_fills(s->broker, &n);
    for (size_t i = 0; i < n && strcmp(path, "/fills") == 0; i++)
        if (fills[i].order_id == id && fills[i].account == about->account) {
            text_str(body, n_written++ > 0 ? "," : "");
            filled += fills[i].qty;
            write_fill(body, replay_broker_find(s->broker, about->account, about->symbol, id, NULL),
                       &fills[i], filled);
        }
    const struct broker_order *orders = replay_broker_orders(s->broker, &n);
    for (size_t i = 0; i < n && strcmp(path, "/open") == 0; i++)
        if (orders[i].terms.account == about->account && broker_is_open(&orders[i])) {
            text_str(body, n_written++ > 0 ? "," : "");
            write_order(body, &orders[i]);
        }
    if (strcmp(path, "/balances") == 0)
        write_balances(body, replay_broker_account_of(s->broker, about->account));
}

/* /order, /open, /fills, /balances. */
static void answer_account(struct skeleton *s, const struct replay_request *request, int symbol,
                           struct response *response)
{
    const char *id = replay_request_arg(request, "id");
    struct broker_terms about = {.account = account_of(s, request, response), .symbol = symbol};
    if (about.account < 0)
        return;
    snprintf(about.client_id, sizeof about.client_id, "%s", id ? id : "");
    replay_broker_arrivals(&s->faults, 0, arrive, s);
    text_lit(&response->body, "[");
    if (strcmp(request->path, "/order") != 0) {
        answer_lists(s, request->path, &about, &response->body);
    } else if (strcmp(request->method, "POST") == 0) {
        struct placing p = {s, request, about, response};
        const struct broker_placing placing = {place, clear, unknown, read_late, &p};
        s->faults.faults = s->base.server->faults;
        response->lost = !replay_broker_place_with_faults(&s->faults, &placing);
    } else {
        const struct broker_order *order =
            replay_broker_find(s->broker, about.account, symbol, 0, about.client_id);
        if (order && strcmp(request->method, "DELETE") == 0)
            order = replay_broker_cancel(s->broker, about.account, order->id, NULL);
        if (order)
            write_order(&response->body, order);
        else
            refuse(response, 404, "no such order lives");
    }
    text_str(&response->body, response->status == 200 ? "]" : "");
}

static void answer(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct skeleton *s = (struct skeleton *)protocol;
    struct text *body = &response->body;
    const char *path = request->path, *name = replay_request_arg(request, "symbol");
    const char *of_what = replay_request_arg(request, "of");
    int symbol = 0;
    if (!allowed(s, path, response))
        return;
    while (name && *name && symbol < SYMBOLS && strcmp(names[symbol], name) != 0)
        symbol++;
    if (symbol == SYMBOLS) {
        refuse(response, 404, "unknown symbol");
        return;
    }
    if (strcmp(path, "/time") == 0) {
        text_int(body, now_ns(protocol) + s->base.server->faults->clock_skew_ns);
        return;
    }
    if (strcmp(path, "/order") == 0 || strcmp(path, "/open") == 0 || strcmp(path, "/fills") == 0 ||
        strcmp(path, "/balances") == 0) {
        answer_account(s, request, symbol, response);
        return;
    }
    text_lit(body, "[");
    for (int i = 0; i < SYMBOLS && strcmp(path, "/symbols") == 0; i++)
        text_format(body, "%s[\"%s\",\"%.3s\",\"USD\",\"0.01\",\"0.0001\"]", i > 0 ? "," : "", names[i],
                    names[i]);
    if (strcmp(path, "/bars") == 0)
        answer_bars(s, request, symbol, body);
    else if (strcmp(path, "/latest") == 0)
        answer_latest(s, of_what && strcmp(of_what, kinds[TRADE]) == 0, symbol, body);
    text_lit(body, "]");
}

static bool admit(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct skeleton *s = (struct skeleton *)protocol;
    return allowed(s, NULL, response) &&
           (strcmp(request->path, "/user") != 0 || account_of(s, request, response) >= 0);
}

/* It is open, or gone: without subscriptions. */
static void enter(struct protocol *protocol, struct client *client, const struct replay_request *request)
{
    struct response none = {0};
    bool user = request && strcmp(request->path, "/user") == 0;
    int account = user ? account_of((struct skeleton *)protocol, request, &none) : -1;
    client->state = (void *)(account < 0 ? 0 : USER * (1 + 2 * (uintptr_t)account));
}

static void leave(struct protocol *protocol, struct client *client)
{
    enter(protocol, client, NULL);
}

/* ["streams", NAME...] in place of those before; others are ignored. */
static void receive(struct protocol *protocol, struct client *client, const char *data, size_t len,
                    bool binary)
{
    uintptr_t bits = 0;
    struct json json;
    struct json_text text;
    char name[64];
    (void)binary;
    if ((uintptr_t)client->state & USER)
        return;
    json_init(&json, data, len);
    json_enter_array(&json);
    while (json_element(&json) && json_read_string(&json, &text))
        for (int i = 0; i < KINDS * SYMBOLS; i++) {
            snprintf(name, sizeof name, "%s:%s", kinds[i / SYMBOLS], names[i % SYMBOLS]);
            if (json_text_is(text, name))
                bits |= bit(i / SYMBOLS, i % SYMBOLS);
        }
    client->state = (void *)bits;
    client->listening = bits != 0;
    if (client->listening)
        replay_play_start(&protocol->server->play);
    replay_server_recount(protocol->server);
}

static void destroy_source(struct replay_source *source)
{
    (void)source;
}

static void destroy(struct protocol *protocol)
{
    struct skeleton *s = (struct skeleton *)protocol;
    replay_broker_destroy(s->broker);
    replay_broker_faults_finish(&s->faults);
    replay_ladder_finish(&s->bids);
    replay_ladder_finish(&s->asks);
    free(s);
}

static int create(const struct options *options, struct protocol **ret, char error[static PROTOCOL_ERROR_MAX])
{
    static const char *const headers[] = {"skeleton-key:", "skeleton-secret:", NULL};
    static const struct protocol_ops ops = {.headers = headers,
                                            .now_ns = now_ns,
                                            .answer = answer,
                                            .admit = admit,
                                            .enter = enter,
                                            .leave = leave,
                                            .receive = receive,
                                            .destroy = destroy};
    static const struct source_ops plays = {.due = due, .step = step, .destroy = destroy_source};
    struct skeleton *s = calloc(1, sizeof *s);
    (void)error;
    if (!s)
        return -ENOMEM;
    const struct broker_calls calls = {listed, book, market_ns, fee_e6, planted, changed, s, 8};
    s->broker = replay_broker_create(&calls);
    if (!s->broker) {
        free(s);
        return -ENOMEM;
    }
    s->bids.bid = true;
    s->source.ops = &plays;
    s->base.ops = &ops;
    s->base.source = &s->source;
    s->seed = options->seed;
    s->next = (options->from_ns > 0 ? options->from_ns : clock_wall_ns()) / TRADE_NS;
    *ret = &s->base;
    return 0;
}

/* In place of the list of exchange/replay/protocols.c: this program has one protocol. */
const struct protocol_row *replay_protocol_find(const char *name, size_t len)
{
    static const char *const options[] = {NULL};
    static const struct protocol_row row = {.name = "skeleton", .options = options, .create = create};
    (void)name;
    (void)len;
    return &row;
}
