/* Market data over REST: bars, trades and quotes by pages; the latest of each; snapshots; books of coins. */
#include <stdio.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/replay/alpaca/page.h"
#include "exchange/replay/alpaca/render.h"
#include "exchange/replay/alpaca/rest.h"

#define SIP_DELAY_NS (15 * MADE_MINUTE)

enum { BAD_REQUEST = 400, FORBIDDEN = 403, MESSAGE_MAX = 128 };

/* The call's place in the path, and its symbols. */
struct data_call {
    struct rest_call *rest;
    bool crypto;
    struct page_query query;
};

static void refuse(struct data_call *c, const char *message)
{
    replay_rest_refuse(c->rest, BAD_REQUEST, 0, message);
}

static bool by_name(const struct made *made, int a, int b)
{
    return strcmp(made->symbols[a].name, made->symbols[b].name) < 0;
}

static void add_symbol(struct data_call *c, const char *name, size_t len)
{
    struct page_query *q = &c->query;
    char copy[32];
    if (len >= sizeof(copy))
        return;
    memcpy(copy, name, len);
    copy[len] = '\0';
    int symbol = replay_made_find(q->made, copy), at = q->n_symbols;
    if (symbol < 0 || (q->made->symbols[symbol].class == MADE_CRYPTO) != c->crypto)
        return; /* nothing is known of it: it has no data */
    for (int i = 0; i < q->n_symbols; i++)
        if (q->symbols[i] == symbol)
            return;
    for (; at > 0 && by_name(q->made, symbol, q->symbols[at - 1]); at--)
        q->symbols[at] = q->symbols[at - 1];
    q->symbols[at] = symbol;
    q->n_symbols++;
}

static bool read_symbols(struct data_call *c, const char *alone, size_t alone_len)
{
    const char *list = replay_request_arg(c->rest->request, "symbols");
    c->query.alone = alone != NULL;
    if (alone) {
        add_symbol(c, alone, alone_len);
        return true;
    }
    if (!list || !*list) {
        refuse(c, "symbols is required");
        return false;
    }
    while (*list) {
        size_t len = strcspn(list, ",");
        add_symbol(c, list, len);
        list += len + (list[len] == ',');
    }
    return true;
}

static bool read_feed(struct data_call *c)
{
    const struct alpaca *alpaca = c->rest->alpaca;
    const char *feed = c->crypto ? NULL : replay_request_arg(c->rest->request, "feed");
    bool iex = feed && *feed ? strcmp(feed, "iex") == 0 : alpaca->free_plan;
    bool delayed = feed && strcmp(feed, "delayed_sip") == 0;
    if (feed && *feed && !iex && !delayed && strcmp(feed, "sip") != 0) {
        refuse(c, "invalid feed: sip, iex or delayed_sip");
        return false;
    }
    c->query.feed = iex && !c->crypto ? MADE_FEED_IEX : MADE_FEED_ALL;
    c->query.now_ns = alpaca->now_ns - (delayed ? SIP_DELAY_NS : 0);
    return true;
}

static bool read_time(struct data_call *c, const char *name, int64_t *ns)
{
    const char *value = replay_request_arg(c->rest->request, name);
    char message[MESSAGE_MAX];
    if (!value || !*value || bars_time_parse(value, strlen(value), ns) == 0)
        return true;
    snprintf(message, sizeof(message), "invalid %s: a date as 2026-01-15 or a time as 2026-01-15T14:30:00Z",
             name);
    refuse(c, message);
    return false;
}

static bool read_limit(struct data_call *c)
{
    const char *limit = replay_request_arg(c->rest->request, "limit");
    int64_t n = PAGE_LIMIT;
    if (limit && *limit && (decimal_parse_str(limit, 0, &n) != 0 || n < 1 || n > PAGE_LIMIT_MAX)) {
        refuse(c, "invalid limit: 1 to 10000");
        return false;
    }
    c->query.limit = (size_t)n;
    return true;
}

static bool read_token(struct data_call *c)
{
    const char *token = replay_request_arg(c->rest->request, "page_token"),
               *sort = replay_request_arg(c->rest->request, "sort");
    c->query.token_symbol = -1;
    c->query.falls = sort && strcmp(sort, "desc") == 0;
    if (!token || !*token ||
        replay_page_token_read(token, c->query.made, &c->query.token_symbol, &c->query.token_ns))
        return true;
    refuse(c, "invalid page_token: that of the page before");
    return false;
}

static bool read_bars(struct data_call *c)
{
    const char *timeframe = replay_request_arg(c->rest->request, "timeframe");
    const char *adjust = c->crypto ? NULL : replay_request_arg(c->rest->request, "adjustment");
    if (!timeframe || !replay_page_timeframe(timeframe, &c->query.unit, &c->query.length)) {
        refuse(c, "invalid timeframe: [1-59]Min, [1-23]Hour, 1Day, 1Week or [1,2,3,4,6,12]Month");
        return false;
    }
    if (!adjust || !*adjust || strcmp(adjust, "raw") == 0)
        return true;
    if (strstr(adjust, "split") || strcmp(adjust, "all") == 0)
        c->query.adjust |= TALLY_SPLITS;
    if (strstr(adjust, "dividend") || strcmp(adjust, "all") == 0)
        c->query.adjust |= TALLY_DIVIDENDS;
    if (!c->query.adjust)
        refuse(c, "invalid adjustment: raw, split, dividend or all");
    return c->query.adjust != 0;
}

/* The free plan sees the consolidated tape after a quarter of an hour. */
static bool allowed(struct data_call *c, int64_t end_ns)
{
    if (c->crypto || !c->rest->alpaca->free_plan || c->query.feed == MADE_FEED_IEX ||
        end_ns <= c->rest->alpaca->now_ns - SIP_DELAY_NS)
        return true;
    replay_rest_refuse(c->rest, FORBIDDEN, 0, "subscription does not permit querying recent SIP data");
    return false;
}

static bool read_range(struct data_call *c)
{
    struct page_query *q = &c->query;
    int64_t day_end_ns;
    replay_tally_day(q->made, q->n_symbols > 0 ? q->symbols[0] : 0, q->now_ns, &q->start_ns, &day_end_ns);
    q->end_ns = q->now_ns;
    if (!read_time(c, "start", &q->start_ns) || !read_time(c, "end", &q->end_ns))
        return false;
    if (q->start_ns < 0)
        q->start_ns = 0;
    if (q->end_ns >= q->start_ns)
        return allowed(c, q->end_ns);
    refuse(c, "end should not be before start");
    return false;
}

static void get_page(struct data_call *c, enum page_of what, const char *name)
{
    struct wire *wire = &c->rest->wire;
    if (!read_limit(c) || !read_range(c) || !read_token(c) || (what == PAGE_BARS && !read_bars(c)))
        return;
    replay_wire_map(wire, 0);
    replay_page_write(&c->query, what, name, wire);
    if (c->query.alone && c->query.n_symbols > 0) {
        replay_wire_key(wire, "symbol");
        replay_wire_str(wire, c->query.made->symbols[c->query.symbols[0]].name);
    }
    replay_wire_map_end(wire);
}

/* Writes null when there is nothing. */
static void put_trade(struct data_call *c, int symbol)
{
    struct made_tick tick;
    const struct page_query *q = &c->query;
    if (replay_page_last_tick(q->made, symbol, q->feed, q->now_ns, true, &tick))
        replay_render_trade_object(&c->rest->wire, &q->made->symbols[symbol], &tick.trade, q->now_ns);
    else
        replay_wire_null(&c->rest->wire);
}

static void put_quote(struct data_call *c, int symbol)
{
    struct made_tick tick;
    const struct page_query *q = &c->query;
    if (replay_page_last_tick(q->made, symbol, q->feed, q->now_ns, false, &tick))
        replay_render_quote_object(&c->rest->wire, &q->made->symbols[symbol], &tick);
    else
        replay_wire_null(&c->rest->wire);
}

static void put_minute(struct data_call *c, int symbol)
{
    struct tally bar;
    const struct page_query *q = &c->query;
    if (replay_page_last_minute(q->made, symbol, q->feed, q->now_ns, &bar))
        replay_render_bar_object(&c->rest->wire, &q->made->symbols[symbol], &bar);
    else
        replay_wire_null(&c->rest->wire);
}

static void put_book(struct data_call *c, int symbol)
{
    struct made_tick tick;
    struct made_book book;
    const struct page_query *q = &c->query;
    if (!replay_page_last_tick(q->made, symbol, q->feed, q->now_ns, false, &tick)) {
        replay_wire_null(&c->rest->wire);
        return;
    }
    replay_made_book(q->made, symbol, &tick, &book);
    replay_render_book_object(&c->rest->wire, &book, tick.ts_ns);
}

static void key_day(struct data_call *c, const char *key, int symbol, int64_t ns)
{
    const struct page_query *q = &c->query;
    struct tally bar;
    int64_t begin, end;
    replay_tally_day(q->made, symbol, ns, &begin, &end);
    replay_wire_key(&c->rest->wire, key);
    if (replay_tally_span(q->made, symbol, begin, end, q->feed, TALLY_RAW, q->now_ns, &bar))
        replay_render_bar_object(&c->rest->wire, &q->made->symbols[symbol], &bar);
    else
        replay_wire_null(&c->rest->wire);
}

/* The day of the last minute bar, and the one that the bar before its first is of. */
static void put_snapshot_members(struct data_call *c, int symbol)
{
    const struct page_query *q = &c->query;
    struct wire *wire = &c->rest->wire;
    struct tally last;
    int64_t day_ns, day_end_ns;
    bool found = replay_page_last_minute(q->made, symbol, q->feed, q->now_ns, &last);
    replay_wire_key(wire, "latestTrade");
    put_trade(c, symbol);
    replay_wire_key(wire, "latestQuote");
    put_quote(c, symbol);
    replay_wire_key(wire, "minuteBar");
    put_minute(c, symbol);
    if (!found)
        return;
    replay_tally_day(q->made, symbol, last.begin_ns, &day_ns, &day_end_ns);
    key_day(c, "dailyBar", symbol, day_ns);
    if (replay_page_last_minute(q->made, symbol, q->feed, day_ns, &last))
        key_day(c, "prevDailyBar", symbol, last.begin_ns);
}

static void put_snapshot(struct data_call *c, int symbol)
{
    replay_wire_map(&c->rest->wire, 0);
    put_snapshot_members(c, symbol);
    replay_wire_map_end(&c->rest->wire);
}

static void put_by_symbol(struct data_call *c, void (*put)(struct data_call *c, int symbol))
{
    struct wire *wire = &c->rest->wire;
    replay_wire_map(wire, 0);
    for (int i = 0; i < c->query.n_symbols; i++) {
        replay_wire_key(wire, c->query.made->symbols[c->query.symbols[i]].name);
        put(c, c->query.symbols[i]);
    }
    replay_wire_map_end(wire);
}

/* The latest of something: {"trades":{"AAPL":{…}}}, or of one symbol {"symbol":"AAPL","trade":{…}}. */
static void get_latest(struct data_call *c, const char *many, const char *one,
                       void (*put)(struct data_call *c, int symbol))
{
    struct wire *wire = &c->rest->wire;
    if (!allowed(c, c->query.now_ns))
        return;
    if (c->query.alone && c->query.n_symbols == 0) {
        replay_rest_refuse(c->rest, 404, 0, "symbol not found");
        return;
    }
    replay_wire_map(wire, 0);
    if (c->query.alone) {
        replay_wire_key(wire, "symbol");
        replay_wire_str(wire, c->query.made->symbols[c->query.symbols[0]].name);
        replay_wire_key(wire, one);
        put(c, c->query.symbols[0]);
    } else {
        replay_wire_key(wire, many);
        put_by_symbol(c, put);
    }
    replay_wire_map_end(wire);
}

static void get_snapshots(struct data_call *c)
{
    struct wire *wire = &c->rest->wire;
    if (!allowed(c, c->query.now_ns))
        return;
    if (c->query.alone && c->query.n_symbols == 0) {
        replay_rest_refuse(c->rest, 404, 0, "symbol not found");
    } else if (c->query.alone) {
        replay_wire_map(wire, 0);
        replay_wire_key(wire, "symbol");
        replay_wire_str(wire, c->query.made->symbols[c->query.symbols[0]].name);
        put_snapshot_members(c, c->query.symbols[0]);
        replay_wire_map_end(wire);
    } else if (c->crypto) {
        replay_wire_map(wire, 0);
        replay_wire_key(wire, "snapshots");
        put_by_symbol(c, put_snapshot);
        replay_wire_map_end(wire);
    } else {
        put_by_symbol(c, put_snapshot);
    }
}

/* What is below the symbols' place in the path. */
static bool get(struct data_call *c, const char *what)
{
    static const struct {
        const char *path, *crypto_path;
        const char *many, *one;
        void (*put)(struct data_call *c, int symbol);
    } latest[] = {
        {"trades/latest", "latest/trades", "trades", "trade", put_trade},
        {"quotes/latest", "latest/quotes", "quotes", "quote", put_quote},
        {"bars/latest", "latest/bars", "bars", "bar", put_minute},
        {NULL, "latest/orderbooks", "orderbooks", "orderbook", put_book},
    };
    static const char *const pages[] = {
        [PAGE_BARS] = "bars", [PAGE_TRADES] = "trades", [PAGE_QUOTES] = "quotes"};
    for (size_t i = 0; i < sizeof(latest) / sizeof(*latest); i++) {
        const char *path = c->crypto ? latest[i].crypto_path : latest[i].path;
        if (path && strcmp(what, path) == 0) {
            get_latest(c, latest[i].many, latest[i].one, latest[i].put);
            return true;
        }
    }
    for (int i = 0; i <= PAGE_QUOTES; i++) {
        if (strcmp(what, pages[i]) == 0) {
            get_page(c, i, pages[i]);
            return true;
        }
    }
    if (strcmp(what, c->query.alone ? "snapshot" : "snapshots") != 0)
        return false;
    get_snapshots(c);
    return true;
}

/* Is it a path that names one symbol: SYMBOL/trades, …? */
static const char *after_symbol(const char *rest)
{
    static const char *const words[] = {"bars", "trades", "quotes", "snapshots"};
    size_t len = strcspn(rest, "/");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], rest, len) == 0)
            return NULL;
    return rest[len] == '/' ? rest + len + 1 : NULL;
}

bool replay_rest_stocks(struct rest_call *call, const char *rest)
{
    struct data_call c = {.rest = call, .query.made = &call->alpaca->made[0]};
    const char *what = after_symbol(rest);
    if (!read_symbols(&c, what ? rest : NULL, what ? (size_t)(what - rest - 1) : 0) || !read_feed(&c))
        return true;
    return get(&c, what ? what : rest);
}

bool replay_rest_crypto(struct rest_call *call, const char *rest)
{
    struct data_call c = {.rest = call, .crypto = true};
    size_t len = strcspn(rest, "/");
    for (int i = 0; i < ALPACA_ENDPOINTS; i++) {
        const struct replay_endpoint *e = &call->alpaca->endpoints[i];
        if (e->flow.class == MADE_CRYPTO && strlen(e->feed) == len && memcmp(e->feed, rest, len) == 0)
            c.query.made = e->flow.made;
    }
    if (!c.query.made || !rest[len])
        return false;
    if (!read_symbols(&c, NULL, 0) || !read_feed(&c))
        return true;
    return get(&c, rest + len + 1);
}
