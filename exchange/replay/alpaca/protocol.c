#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "exchange/calendar_file.h"
#include "exchange/fail.h"
#include "exchange/replay/alpaca/alpaca.h"
#include "exchange/replay/alpaca/file_bars.h"
#include "exchange/replay/alpaca/orders.h"
#include "exchange/replay/alpaca/recorded.h"
#include "exchange/replay/alpaca/render.h"
#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/alpaca/subscriber.h"
#include "exchange/replay/candles.h"
#include "exchange/replay/lines.h"
#include "exchange/replay/serve.h"

#define TOGETHER_NS    250000 /* events within so long go in one frame */
#define SIP_DELAY_NS   (15 * MADE_MINUTE)
#define TRADING_STREAM "/stream"
#define FIRST_NS       (883612800 * MADE_SECOND)  /* 1998: what sessions.h has rules for */
#define LAST_NS        (7258118400 * MADE_SECOND) /* 2200 */

static const char *const header_names[] = {
    [HEADER_KEY] = "apca-api-key-id:",
    [HEADER_SECRET] = "apca-api-secret-key:",
    [HEADER_CONTENT_TYPE] = "content-type:",
    NULL,
};

static struct alpaca *of(struct protocol *protocol)
{
    return (struct alpaca *)protocol;
}

static struct alpaca *of_source(struct replay_source *source)
{
    return (struct alpaca *)((char *)source - offsetof(struct alpaca, source));
}

/* NULL: no such path. */
static struct replay_endpoint *replay_alpaca_endpoint(struct alpaca *alpaca, const char *path)
{
    for (int i = 0; i < ALPACA_ENDPOINTS; i++)
        if (strcmp(alpaca->endpoints[i].path, path) == 0)
            return &alpaca->endpoints[i];
    return NULL;
}

bool replay_alpaca_revoked(const struct alpaca *alpaca, const char *id)
{
    const char *revoked = alpaca->base.server->faults->revoked;
    return *revoked && strcmp(revoked, id) == 0;
}

bool replay_alpaca_keys_good(const struct alpaca *alpaca, const char *id, const char *secret)
{
    if (replay_alpaca_revoked(alpaca, id))
        return false;
    if (!alpaca->key_id)
        return *id && *secret;
    return strcmp(id, alpaca->key_id) == 0 && strcmp(secret, alpaca->secret) == 0;
}

void replay_alpaca_run(struct alpaca *alpaca, struct replay_endpoint *endpoint)
{
    bool listened = false;
    for (const struct alpaca_subscriber *s = endpoint->subscribers; s; s = s->next)
        listened |= s->client->listening;
    if (listened && !endpoint->flow.running && !alpaca->recorded)
        replay_flow_start(&endpoint->flow, alpaca->now_ns);
    else if (!listened)
        replay_flow_stop(&endpoint->flow);
    replay_server_recount(alpaca->base.server);
    if (listened)
        replay_play_start(&alpaca->base.server->play);
}

/* The endpoint with the next event, or NULL when time itself comes first. */
static struct replay_endpoint *next(struct alpaca *alpaca, int64_t *ret_due_ns)
{
    struct replay_endpoint *first = NULL;
    *ret_due_ns = alpaca->beat_ns;
    for (int i = 0; i < ALPACA_ENDPOINTS; i++) {
        int64_t due_ns = replay_flow_due(&alpaca->endpoints[i].flow);
        if (due_ns < *ret_due_ns) {
            *ret_due_ns = due_ns;
            first = &alpaca->endpoints[i];
        }
    }
    return first;
}

static int64_t market_due(struct replay_source *source)
{
    int64_t due_ns;
    if (of_source(source)->recorded)
        due_ns = replay_recorded_due(of_source(source)->recorded);
    else
        next(of_source(source), &due_ns);
    return due_ns < of_source(source)->to_ns ? due_ns : INT64_MAX;
}

static int64_t due(struct replay_source *source)
{
    const int64_t market_ns = market_due(source),
                  order_ns = replay_alpaca_orders_due(of_source(source)->orders);
    return order_ns < market_ns ? order_ns : market_ns;
}

/* Renders an event at most once for each encoding, and only for subscribers that use it. */
struct rendering {
    struct replay_endpoint *endpoint;
    const struct flow_event *event;
    const struct made_book *sent;
    struct text made[2][2]; /* msgpack; whole book */
    bool done[2][2];
};

static const struct text *rendered(struct rendering *r, bool msgpack, bool whole)
{
    struct text *text = &r->made[msgpack][whole];
    if (!r->done[msgpack][whole]) {
        struct wire wire = wire_to(text, msgpack);
        replay_render_event(&wire, r->endpoint->flow.made, r->event, whole ? NULL : r->sent);
        r->done[msgpack][whole] = true;
    }
    return text;
}

static void send_event(struct replay_endpoint *endpoint, const struct flow_event *event)
{
    struct flow_symbol *symbol = &endpoint->flow.symbols[event->symbol];
    struct made_book now;
    struct rendering r = {.endpoint = endpoint, .event = event};
    bool changed = true;
    if (event->kind == FLOW_BOOK) {
        replay_made_book(endpoint->flow.made, event->symbol, &event->tick, &now);
        r.sent = symbol->has_book ? &symbol->book : NULL;
        changed = !r.sent || replay_render_book_differs(r.sent, &now);
    }
    for (struct alpaca_subscriber *s = endpoint->subscribers; s; s = s->next) {
        if (!s->wants[event->kind][event->symbol])
            continue;
        if (replay_subscriber_silenced(s, event->kind, endpoint->flow.made->symbols[event->symbol].name)) {
            s->has_book[event->symbol] &= event->kind != FLOW_BOOK; /* it is sent the whole one afterwards */
            continue;
        }
        bool whole = event->kind == FLOW_BOOK && !(s->has_book[event->symbol] && r.sent);
        if (!whole && !changed)
            continue;
        replay_subscriber_put(s, rendered(&r, s->msgpack, whole));
        s->has_book[event->symbol] |= whole;
    }
    if (event->kind == FLOW_BOOK) {
        symbol->book = now;
        symbol->book_ns = event->due_ns;
        symbol->has_book = true;
    }
    for (int i = 0; i < 4; i++)
        text_finish(&r.made[i / 2][i % 2]);
}

static int step(struct replay_source *source)
{
    struct alpaca *alpaca = of_source(source);
    int64_t due_ns = replay_alpaca_orders_due(alpaca->orders);
    if (due_ns < market_due(source)) {
        alpaca->now_ns = due_ns > alpaca->now_ns ? due_ns : alpaca->now_ns;
        replay_alpaca_orders_arrive(alpaca->orders);
        return 0;
    }
    if (alpaca->recorded)
        return replay_recorded_step(alpaca, source->error);
    struct replay_endpoint *endpoint = next(alpaca, &due_ns);
    alpaca->now_ns = due_ns;
    if (!endpoint) {
        alpaca->beat_ns += MADE_SECOND;
        return 0;
    }
    do {
        struct flow_event event;
        replay_flow_take(&endpoint->flow, &event);
        alpaca->now_ns = event.due_ns + endpoint->flow.delay_ns;
        send_event(endpoint, &event);
    } while (replay_flow_due(&endpoint->flow) - due_ns < TOGETHER_NS);
    for (struct alpaca_subscriber *s = endpoint->subscribers; s; s = s->next)
        replay_subscriber_flush(s);
    if (alpaca->beat_ns <= alpaca->now_ns)
        alpaca->beat_ns = (alpaca->now_ns / MADE_SECOND + 1) * MADE_SECOND;
    snprintf(source->error, sizeof(source->error), "out of memory");
    return endpoint->flow.failed ? -ENOMEM : 0;
}

static void nothing(struct replay_source *source)
{
    (void)source; /* it is a part of the protocol */
}

static int64_t now_ns(const struct protocol *protocol)
{
    return ((const struct alpaca *)protocol)->now_ns;
}

static void answer(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct alpaca *alpaca = of(protocol);
    if (!alpaca->recorded) /* time passes between the market's steps, too */
        alpaca->now_ns = replay_play_clock(&protocol->server->play, alpaca->now_ns);
    replay_alpaca_rest(alpaca, request, response);
}

static bool admit(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    if (replay_alpaca_limits(of(protocol), response))
        return false;
    if (strcmp(request->path, TRADING_STREAM) == 0 || replay_alpaca_endpoint(of(protocol), request->path))
        return true;
    response->status = 404;
    text_str(&response->body, "{\"message\":\"Not Found\"}");
    return false;
}

static void enter(struct protocol *protocol, struct client *client, const struct replay_request *request)
{
    struct alpaca *alpaca = of(protocol);
    struct replay_endpoint *endpoint = replay_alpaca_endpoint(alpaca, request->path);
    struct alpaca_subscriber *s = replay_subscriber_create(alpaca, endpoint, client, request);
    client->state = s;
    if (!s) {
        replay_client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    struct alpaca_subscriber **list = endpoint ? &endpoint->subscribers : &alpaca->traders;
    s->next = *list;
    *list = s;
}

static void leave(struct protocol *protocol, struct client *client)
{
    struct alpaca *alpaca = of(protocol);
    struct alpaca_subscriber *s = client->state;
    if (!s)
        return;
    struct alpaca_subscriber **at = s->endpoint ? &s->endpoint->subscribers : &alpaca->traders;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->endpoint)
        replay_alpaca_run(alpaca, s->endpoint);
    replay_subscriber_destroy(s);
    client->state = NULL;
}

static void receive(struct protocol *protocol, struct client *client, const char *data, size_t len,
                    bool binary)
{
    struct alpaca_subscriber *s = client->state;
    (void)protocol, (void)binary;
    if (s->endpoint)
        replay_subscriber_receive(s, data, len);
    else
        replay_trader_receive(s, data, len);
}

static void beat(struct protocol *protocol)
{
    struct alpaca *alpaca = of(protocol);
    for (int i = 0; i < ALPACA_ENDPOINTS; i++)
        for (struct alpaca_subscriber *s = alpaca->endpoints[i].subscribers; s; s = s->next)
            replay_subscriber_beat(s);
    for (struct alpaca_subscriber *s = alpaca->traders; s; s = s->next)
        replay_trader_beat(s);
    replay_alpaca_orders_beat(alpaca->orders);
}

static void destroy(struct protocol *protocol)
{
    struct alpaca *alpaca = of(protocol);
    for (int i = 0; i < ALPACA_ENDPOINTS; i++)
        replay_flow_finish(&alpaca->endpoints[i].flow);
    for (int i = 0; i < 2; i++)
        text_finish(&alpaca->scratch[i]);
    replay_sessions_use(NULL);
    calendar_file_close(alpaca->calendar);
    for (size_t i = 0; i < alpaca->n_files; i++)
        replay_file_bars_close(alpaca->files[i]);
    replay_updates_finish(&alpaca->updates);
    replay_alpaca_orders_destroy(alpaca->orders);
    replay_recorded_close(alpaca->recorded);
    free((char *)(uintptr_t)alpaca->key_id);
    free(alpaca);
}

/* A minute's bars on each endpoint, and what follows them until the next minute: so that no client
 * has a bar when another one is a minute on, and bars of stocks and of coins come in one order. */
static int64_t stage(struct protocol *protocol)
{
    struct alpaca *alpaca = of(protocol);
    int64_t due_ns;
    if (alpaca->recorded)
        return 0;
    const struct replay_endpoint *endpoint = next(alpaca, &due_ns);
    int64_t minute = due_ns / MADE_MINUTE, after_ns = due_ns % MADE_MINUTE;
    int64_t part = after_ns < FLOW_BAR_AFTER_NS                ? 0
                   : after_ns > FLOW_BAR_AFTER_NS || !endpoint ? ALPACA_ENDPOINTS + 1
                                                               : 1 + (endpoint - alpaca->endpoints);
    return minute * (ALPACA_ENDPOINTS + 2) + part;
}

static int check_faults(const struct faults *faults, char error[static PROTOCOL_ERROR_MAX])
{
    return faults->gap_book || faults->teapot.ns || faults->ban_after || faults->shutdown || faults->age_ns
               ? fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                           "not of this venue: --fault gap@book, 418, ban, shutdown, age: leave them out")
               : 0;
}

static const struct protocol_ops ops = {
    .headers = header_names,
    .check_faults = check_faults,
    .now_ns = now_ns,
    .answer = answer,
    .admit = admit,
    .enter = enter,
    .leave = leave,
    .receive = receive,
    .beat = beat,
    .stage = stage,
    .destroy = destroy,
};

static const struct source_ops source_ops = {.due = due, .step = step, .destroy = nothing};

static int bad(char error[static PROTOCOL_ERROR_MAX], const char *what, const char *value, const char *right)
{
    return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX, "%s %.60s: %s", what, value, right);
}

/* One of its own options. 0 or -EINVAL. */
static int set(struct alpaca *alpaca, const struct option_given *given, char error[static PROTOCOL_ERROR_MAX])
{
    static const char codes[] = "402 406 409 411 500";
    const char *value = given->value, *colon = strchr(value, ':');
    if (strcmp(given->name, "zone") == 0 || strcmp(given->name, "straddle") == 0)
        return 0; /* of the files: reading_of() */
    if (strcmp(given->name, "action") == 0)
        return replay_made_action_add(&alpaca->made[0], value, error);
    if (strcmp(given->name, "asset") == 0)
        return replay_made_deny(&alpaca->made[0], value, error);
    if (strcmp(given->name, "partial-fills") == 0) {
        char *end;
        const long percent = strtol(value, &end, 10);
        alpaca->partial_percent = (int)percent;
        return value[0] >= '0' && value[0] <= '9' && *end == '\0' && percent <= 100
                   ? 0
                   : bad(error, "bad share: --partial-fills", value, "percent of the fills, 0 to 100");
    }
    if (strcmp(given->name, "plan") == 0) {
        alpaca->free_plan = strcmp(value, "free") == 0;
        return 0;
    }
    if (strcmp(given->name, "refuse") == 0) {
        char code[4] = "";
        const char *after = strchr(value, '@');
        int64_t seconds = 0;
        snprintf(code, sizeof(code), "%.3s", value);
        alpaca->refuse = atoi(code);
        bool good = strspn(code, "0123456789") == 3 && strstr(codes, code) &&
                    (value[3] == '\0' || after == value + 3);
        if (good && after) {
            size_t len = strlen(after + 1);
            good = len > 1 && len < 10 && after[len] == 's' &&
                   decimal_parse(after + 1, len - 1, 0, &seconds) == 0 && seconds >= 0;
        }
        alpaca->refuse_after_ns = good ? seconds * MADE_SECOND : 0;
        return good ? 0
                    : bad(error, "unknown error: --refuse", value, "one of 402 406 409 411 500, or 402@30s");
    }
    if (strcmp(given->name, "limit") == 0) {
        const char *number = strncmp(value, "requests=", 9) == 0 ? value + 9 : "";
        return decimal_parse(number, strlen(number), 0, &alpaca->calls_most) == 0 && alpaca->calls_most > 0
                   ? 0
                   : bad(error, "unknown limit: --limit", value, "requests=N, above 0");
    }
    const char *rights = colon ? strchr(colon + 1, ':') : NULL;
    if (!colon || colon == value || !colon[1] || rights == colon + 1 ||
        (rights && strcmp(rights, ":read-only") != 0))
        return bad(error, "bad keys:", "--keys",
                   "ID:SECRET or ID:SECRET:read-only"); /* the value is secret */
    free((char *)(uintptr_t)alpaca->key_id);
    char *copy = strdup(value);
    alpaca->key_id = copy;
    if (!copy)
        return bad(error, "out of memory:", "--keys", "a free machine");
    alpaca->secret = copy + (colon - value) + 1;
    alpaca->secret[-1] = '\0';
    alpaca->read_only = rights != NULL;
    alpaca->secret[strcspn(alpaca->secret, ":")] = '\0';
    return 0;
}

/* A symbol's change as --fault asks for it, at a time since the start. */
static int change(struct alpaca *alpaca, const struct faults *faults, size_t at,
                  char error[static PROTOCOL_ERROR_MAX])
{
    const struct fault_change *c = &faults->changes[at];
    int64_t to_ns = INT64_MAX;
    int rc = 0;
    if (c->kind == FAULT_STATUS && strcmp(c->word, "TRADING") == 0)
        return 0; /* ends the halt before it */
    for (size_t i = at + 1; i < faults->n_changes && to_ns == INT64_MAX; i++)
        if (strcmp(faults->changes[i].symbol, c->symbol) == 0)
            to_ns = alpaca->now_ns + faults->changes[i].at_ns;
    for (int i = 0; i < ALPACA_MARKETS && rc == 0; i++) {
        if (c->kind == FAULT_DELIST)
            rc = replay_made_end_add(&alpaca->made[i], c->symbol, alpaca->now_ns + c->at_ns);
        else if (c->kind == FAULT_STATUS && strcmp(c->word, "HALT") == 0)
            rc = replay_made_halt_add(&alpaca->made[i], c->symbol, alpaca->now_ns + c->at_ns, to_ns);
        else
            rc = -EINVAL;
    }
    if (rc < 0)
        snprintf(error, PROTOCOL_ERROR_MAX,
                 "no such change: --fault of %.24s: delist@30s:AAPL of a symbol that is listed, or "
                 "status@30s:AAPL=HALT and =TRADING of a stock in its session",
                 c->symbol);
    return rc;
}

static void init_endpoints(struct alpaca *alpaca)
{
    static const struct {
        const char *path, *feed;
        enum made_class class;
        enum made_feed is;
        int64_t delay_ns;
        int market;
    } rows[ALPACA_ENDPOINTS] = {
        {"/v2/sip", "sip", MADE_STOCK, MADE_FEED_ALL, 0, 0},
        {"/v2/iex", "iex", MADE_STOCK, MADE_FEED_IEX, 0, 0},
        {"/v2/delayed_sip", "delayed_sip", MADE_STOCK, MADE_FEED_ALL, SIP_DELAY_NS, 0},
        {"/v2/test", "test", MADE_TEST, MADE_FEED_ALL, 0, 0},
        {"/v1beta3/crypto/us", "us", MADE_CRYPTO, MADE_FEED_ALL, 0, ALPACA_COINS},
        {"/v1beta3/crypto/us-1", "us-1", MADE_CRYPTO, MADE_FEED_ALL, 0, ALPACA_COINS + 1},
        {"/v1beta3/crypto/eu-1", "eu-1", MADE_CRYPTO, MADE_FEED_ALL, 0, ALPACA_COINS + 2},
    };
    for (int i = 0; i < ALPACA_ENDPOINTS; i++) {
        struct replay_endpoint *endpoint = &alpaca->endpoints[i];
        *endpoint = (struct replay_endpoint){.path = rows[i].path, .feed = rows[i].feed};
        replay_flow_init(&endpoint->flow, &alpaca->made[rows[i].market], rows[i].class, rows[i].is,
                         rows[i].delay_ns);
    }
}

/* All places of the venue play the same files. */
static int add_file(struct alpaca *alpaca, const char *path, int64_t interval_ns,
                    const struct file_bars_reading *reading, char error[static PROTOCOL_ERROR_MAX])
{
    struct file_bars *file;
    if (alpaca->n_files == MADE_SYMBOLS_MAX / 2)
        return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX, "too many files: --bars: at most %d",
                         MADE_SYMBOLS_MAX / 2);
    int rc = replay_file_bars_open(path, interval_ns, reading, &file, error);
    if (rc < 0)
        return rc;
    alpaca->files[alpaca->n_files++] = file;
    for (int i = 0; i < ALPACA_MARKETS; i++)
        if (replay_made_file_add(&alpaca->made[i], file) < 0)
            return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                             "symbol twice: %.200s: one bars file a symbol", path);
    return 0;
}

static struct file_bars_reading reading_of(const struct alpaca *alpaca, const struct options *options)
{
    struct file_bars_reading reading = {.calendar = calendar_file_view(alpaca->calendar)};
    for (size_t i = 0; i < options->n_given; i++) {
        const struct option_given *given = &options->given[i];
        if (strcmp(given->name, "zone") == 0)
            reading.zone = given->value;
        else if (strcmp(given->name, "straddle") == 0)
            reading.keep_straddling = strcmp(given->value, "keep") == 0;
    }
    return reading;
}

/* Reads the files; the play begins with their first bar at or after --from, and ends a minute after the last.
 */
static int add_files(struct alpaca *alpaca, const struct options *options,
                     char error[static PROTOCOL_ERROR_MAX])
{
    const struct file_bars_reading reading = reading_of(alpaca, options);
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < options->n_bars; i++) {
        int64_t from_ns, to_ns;
        int rc = add_file(alpaca, options->bars[i],
                          options->interval >= 0 ? replay_candle_interval_ns(options->interval) : 0, &reading,
                          error);
        if (rc < 0)
            return rc;
        replay_file_bars_range(alpaca->files[i], &from_ns, &to_ns);
        if (options->from_ns > from_ns)
            from_ns = replay_file_bars_next(alpaca->files[i], options->from_ns);
        start_ns = from_ns < start_ns ? from_ns : start_ns;
        end_ns = to_ns > end_ns ? to_ns : end_ns;
    }
    if (options->n_bars == 0)
        return 0;
    if (start_ns >= options->to_ns || start_ns == INT64_MAX)
        return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                         "nothing to play: %.200s: bars between --from and --to", options->bars[0]);
    alpaca->now_ns = start_ns;
    alpaca->to_ns = options->to_ns < end_ns + MADE_MINUTE ? options->to_ns : end_ns + MADE_MINUTE;
    return 0;
}

/* What the options say of symbols: of files' once they are read. */
static int apply(struct alpaca *alpaca, const struct options *options, bool symbols,
                 char error[static PROTOCOL_ERROR_MAX])
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && symbols && i < options->schedule.now.n_changes; i++)
        rc = change(alpaca, &options->schedule.now, i, error);
    for (size_t i = 0; rc == 0 && i < options->n_given; i++) {
        const char *name = options->given[i].name;
        if (symbols || (strcmp(name, "action") != 0 && strcmp(name, "asset") != 0))
            rc = set(alpaca, &options->given[i], error);
    }
    return rc;
}

static int begin(struct alpaca *alpaca, const struct options *options, bool read,
                 char error[static PROTOCOL_ERROR_MAX])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < ALPACA_MARKETS; i++)
        replay_made_init(&alpaca->made[i], options->seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
    for (int i = ALPACA_COINS + 1; i < ALPACA_MARKETS; i++) /* each location's own quotes, near the others' */
        alpaca->made[i].path_seed = alpaca->made[ALPACA_COINS].seed;
    init_endpoints(alpaca);
    alpaca->base.ops = &ops;
    alpaca->base.source = &alpaca->source;
    alpaca->source.ops = &source_ops;
    alpaca->now_ns = options->from_ns != INT64_MIN ? options->from_ns : (int64_t)now.tv_sec * MADE_SECOND;
    alpaca->to_ns = options->to_ns;
    alpaca->calls_most = ALPACA_CALLS_PER_MINUTE;
    int rc = read ? add_files(alpaca, options, error) : 0;
    if (rc < 0)
        return rc;
    alpaca->beat_ns = alpaca->began_ns = alpaca->now_ns;
    return apply(alpaca, options, read || options->n_bars == 0, error);
}

/* As the options say; bars files that they name are read if `read` is set. */
static int make(const struct options *options, bool read, struct alpaca **ret,
                char error[static PROTOCOL_ERROR_MAX])
{
    struct alpaca *alpaca = calloc(1, sizeof(*alpaca));
    if (!alpaca)
        return fail_with(-ENOMEM, error, PROTOCOL_ERROR_MAX, "out of memory");
    char text[CALENDAR_ERROR_MAX];
    int rc = calendar_file_open("nyse", &alpaca->calendar, text);
    if (rc == 0) {
        replay_sessions_use(calendar_file_view(alpaca->calendar));
        rc = begin(alpaca, options, read, error);
    } else {
        snprintf(error, PROTOCOL_ERROR_MAX, "%s", text);
    }
    if (rc < 0)
        destroy(&alpaca->base);
    else
        *ret = alpaca;
    return rc;
}

/* A journal is a recorded market, a file of lines a recording of the trading stream. */
static int read_recordings(struct alpaca *alpaca, const struct options *options,
                           char error[static PROTOCOL_ERROR_MAX])
{
    const char **journals = calloc(options->n_recordings + 1, sizeof(*journals));
    size_t n = 0;
    int rc = 0;
    if (!journals)
        return fail_with(-ENOMEM, error, PROTOCOL_ERROR_MAX, "out of memory");
    for (size_t i = 0; rc == 0 && i < options->n_recordings; i++) {
        if (replay_lines_is_journal(options->recordings[i]))
            journals[n++] = options->recordings[i];
        else
            rc = replay_updates_read(&alpaca->updates, options->recordings[i], error);
    }
    if (rc == 0 && n > 0)
        rc = replay_recorded_open(journals, n, options->from_ns, &alpaca->recorded, error);
    if (rc == 0 && n > 0)
        alpaca->now_ns = alpaca->began_ns = replay_recorded_due(alpaca->recorded);
    free(journals);
    return rc;
}

static int create(const struct options *options, struct protocol **ret, char error[static PROTOCOL_ERROR_MAX])
{
    struct alpaca *alpaca = NULL;
    int rc = make(options, true, &alpaca, error);
    if (rc < 0)
        return rc;
    rc = read_recordings(alpaca, options, error);
    if (rc == 0 && !(alpaca->orders = replay_alpaca_orders_create(alpaca)))
        rc = fail_with(-ENOMEM, error, PROTOCOL_ERROR_MAX, "out of memory");
    if (rc < 0)
        destroy(&alpaca->base);
    else
        *ret = &alpaca->base;
    return rc;
}

static int check(const struct options *options, char error[static PROTOCOL_ERROR_MAX])
{
    struct alpaca *alpaca = NULL;
    struct faults faults;
    replay_fault_schedule_all(&options->schedule, &faults);
    if (check_faults(&faults, error) < 0)
        return -EINVAL;
    if (options->symbols || options->rate > 0)
        return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                         "not of this venue: --symbols, --rate: leave them out");
    if (options->from_ns != INT64_MIN && (options->from_ns < FIRST_NS || options->from_ns > LAST_NS))
        return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                         "no market then: --from: a time from 1998 to 2200");
    int rc = make(options, false, &alpaca, error);
    if (rc == 0)
        destroy(&alpaca->base);
    return rc;
}

static const char *const own_options[] = {"plan", "keys",     "action", "asset",         "refuse",
                                          "zone", "straddle", "limit",  "partial-fills", NULL};

const struct protocol_row replay_alpaca_protocol = {
    .name = "alpaca", .options = own_options, .trades = true, .check = check, .create = create};
