/* The example venue on loopback: the protocol of a papertape-replay of its own, built from this file and the
 * replay's library. Its market is a function of the trade's number: stream and REST agree by themselves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/json.h"
#include "exchange/replay/chance.h"
#include "exchange/replay/serve.h"

enum { SYMBOLS = 3, TRADES_MINUTE = 60, PAGE = 500, LATEST = 20 };
#define TRADE_NS  1000000000LL /* between two of a symbol */
#define MINUTE_NS (TRADES_MINUTE * TRADE_NS)

static const char *const names[SYMBOLS] = {"AAA-USD", "BBB-USD", "CCC-USD"};
static const char *const kinds[] = {"trade", "quote", "bar"};
enum { TRADE, QUOTE, BAR, KINDS };

struct skeleton {
    struct protocol base;
    struct replay_source source;
    uint64_t seed;
    int64_t next; /* trade of each symbol; it is at next * TRADE_NS */
    int64_t asked, first_asked_ns;
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

static void answer(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct skeleton *s = (struct skeleton *)protocol;
    struct text *body = &response->body;
    const char *path = request->path, *name = replay_request_arg(request, "symbol");
    const char *of_what = replay_request_arg(request, "of");
    int symbol = 0;
    if (!allowed(s, path, response))
        return;
    while (name && symbol < SYMBOLS && strcmp(names[symbol], name) != 0)
        symbol++;
    if (symbol == SYMBOLS) {
        refuse(response, 404, "unknown symbol");
        return;
    }
    if (strcmp(path, "/time") == 0) {
        text_int(body, now_ns(protocol) + s->base.server->faults->clock_skew_ns);
        return;
    }
    text_lit(body, "[");
    for (int i = 0; i < SYMBOLS && strcmp(path, "/symbols") == 0; i++)
        text_format(body, "%s[\"%s\",\"%.3s\",\"USD\",\"0.01\",\"0.001\"]", i > 0 ? "," : "", names[i],
                    names[i]);
    if (strcmp(path, "/bars") == 0)
        answer_bars(s, request, symbol, body);
    else if (strcmp(path, "/latest") == 0)
        answer_latest(s, of_what && strcmp(of_what, kinds[TRADE]) == 0, symbol, body);
    text_lit(body, "]");
}

static bool admit(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    (void)request;
    return allowed((struct skeleton *)protocol, NULL, response);
}

/* It is open, or gone: without subscriptions. */
static void enter(struct protocol *protocol, struct client *client, const struct replay_request *request)
{
    (void)protocol;
    (void)request;
    client->state = NULL;
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
    json_init(&json, data, len);
    json_enter_array(&json);
    while (json_element(&json) && json_read_string(&json, &text))
        for (int i = 0; i < KINDS * SYMBOLS; i++) {
            snprintf(name, sizeof name, "%s:%s", kinds[i / SYMBOLS], names[i % SYMBOLS]);
            if (text.len == strlen(name) && memcmp(text.data, name, text.len) == 0)
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
    free(protocol);
}

static int create(const struct options *options, struct protocol **ret, char error[static PROTOCOL_ERROR_MAX])
{
    static const char *const headers[] = {NULL};
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
