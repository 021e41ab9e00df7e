#include "exchange/alpaca/rest_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/number.h"
#include "exchange/bar_join.h"
#include "exchange/text.h"

enum {
    NAMES_IN_URL_MAX = 100,
    EMPTY_PAGES_MAX = 100, /* one after another */
    DAYS_MAX = 4000,       /* sixteen years */
    ACTIONS_TOTAL_MAX = 100000,
    /* The venue looks by process date: a dividend's is near the day on which it is paid, weeks after its
     * ex-date. */
    PROCESS_DAYS_BEFORE = 7,
    PROCESS_DAYS_AFTER = 70,
};

#define MINUTE_NS    60000000000LL
#define HALF_HOUR_NS (30 * MINUTE_NS)
#define HOUR_NS      (60 * MINUTE_NS)
#define DAY_NS       (24 * HOUR_NS)

static struct alpaca_call *alpaca(struct venue_call *call)
{
    return (struct alpaca_call *)call;
}

static struct alpaca_rest *rest_of(const struct venue_call *call)
{
    return (struct alpaca_rest *)call->rest;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Are they the venue's own bars of a day? */
static bool has_days(const struct alpaca_call *call)
{
    const struct venue_bars_request *ask = &call->base.bars;
    return ask->venue_days && ask->interval_ns == DAY_NS && !alpaca_is_crypto(call->base.symbol.name);
}

/* The venue's own bars that one of the request is joined from, or it itself. The venue's are by the clock:
 * sessions begin at half hours. */
static int64_t part_ns(const struct alpaca_call *call)
{
    const struct venue_bars_request *ask = &call->base.bars;
    if (has_days(call))
        return DAY_NS;
    bool by_session = ask->calendar->n > 0 && ask->interval_ns < DAY_NS;
    return min_ns(ask->interval_ns, by_session ? HALF_HOUR_NS : HOUR_NS);
}

static void bar_span(const struct alpaca_call *call, int64_t ns, int64_t *ret_open_ns, int64_t *ret_end_ns)
{
    trading_bar_span(call->base.bars.calendar, call->base.bars.interval_ns, ns, ret_open_ns, ret_end_ns);
}

static int prepare_bars(struct venue_call *base)
{
    struct alpaca_call *call = alpaca(base);
    const struct venue_bars_request *ask = &base->bars;
    if (ask->interval_ns % MINUTE_NS != 0)
        return -EINVAL;
    bool own = part_ns(call) == ask->interval_ns;
    call->limit = own && ask->max > 0 && ask->max < ALPACA_BARS_MAX ? ask->max : ALPACA_BARS_MAX;
    call->before_ns = INT64_MIN;
    return 0;
}

int alpaca_call_prepare(struct venue_call *base)
{
    size_t n = 0, n_crypto = 0;
    switch (base->kind) {
    case VENUE_REPLY_BARS:
        return prepare_bars(base);
    case VENUE_REPLY_BOOK:
        return alpaca_is_crypto(base->symbol.name) ? 0 : -EINVAL;
    case VENUE_REPLY_LATEST:
        return base->latest != MARKET_AGG_TRADE ? 0 : -EINVAL;
    case VENUE_REPLY_TRADES:
        alpaca(base)->last_ns = base->from_ns;
        return 0;
    case VENUE_REPLY_SYMBOLS:
        for (size_t i = 0; i < base->n_wanted; i++)
            n_crypto += alpaca_is_crypto(base->wanted[i].name);
        alpaca(base)->crypto_list = n_crypto == base->n_wanted; /* alone, where no stock is wanted */
        return 0;
    case VENUE_REPLY_ACTIONS:
        for (size_t i = 0; i < base->n_wanted; i++)
            if (!alpaca_is_crypto(base->wanted[i].name))
                base->wanted[n++] = base->wanted[i];
        base->n_wanted = n;
        return 0;
    default:
        return 0;
    }
}

void alpaca_call_finish(struct venue_call *call)
{
    free(alpaca(call)->actions);
}

static void add_time(struct text *text, const char *name, int64_t ns)
{
    char time[ALPACA_TIME_TEXT_MAX];
    alpaca_time_text(ns, time);
    text_format(text, "&%s=", name);
    text_url(text, time);
}

static void add_date(struct text *text, const char *name, int32_t days)
{
    int year, month, day;
    alpaca_civil(days, &year, &month, &day);
    text_format(text, "%s=%04d-%02d-%02d", name, year, month, day);
}

/* The last open time that is asked for. */
static int64_t last_ns(const struct alpaca_call *call, bool delayed)
{
    int64_t last = call->base.bars.end_ns, open_ns, end_ns;
    if (call->base.bars.interval_ns > part_ns(call)) {
        bar_span(call, last, &open_ns, &end_ns);
        last = end_ns - part_ns(call);
    }
    return delayed ? min_ns(last, call->base.bars.now_ns - ALPACA_DELAY_NS) : last;
}

static bool is_delayed(const struct alpaca_call *call)
{
    return !alpaca_is_crypto(call->base.symbol.name) &&
           strcmp(rest_of(&call->base)->feed, "delayed_sip") == 0;
}

/* Whose trades a stock's history is of: the delayed feed's is the consolidated one. */
static const char *past_feed(const struct alpaca_call *call)
{
    const char *feed = rest_of(&call->base)->feed;
    return is_delayed(call) ? "sip" : strcmp(feed, "test") == 0 ? "iex" : feed;
}

/* All of it is too recent for the feed, or it asks for crypto's corporate actions. */
bool alpaca_call_is_nothing(const struct venue_call *base)
{
    const struct alpaca_call *call = (const struct alpaca_call *)base;
    if (call->base.kind == VENUE_REPLY_ACTIONS)
        return call->base.n_wanted == 0; /* crypto has none */
    return call->base.kind == VENUE_REPLY_BARS && last_ns(call, is_delayed(call)) < call->base.bars.start_ns;
}

static void add_bars(struct text *text, const struct alpaca_call *call)
{
    const struct alpaca_rest *rest = rest_of(&call->base);
    bool crypto = alpaca_is_crypto(call->base.symbol.name);
    bool delayed = is_delayed(call);
    if (crypto)
        text_format(text, "/v1beta3/crypto/%s/bars?symbols=", rest->crypto);
    else
        text_lit(text, "/v2/stocks/bars?symbols=");
    text_url(text, call->base.symbol.name);
    if (has_days(call))
        text_lit(text, "&timeframe=1Day");
    else if (part_ns(call) == HOUR_NS)
        text_lit(text, "&timeframe=1Hour");
    else
        text_format(text, "&timeframe=%dMin", (int)(part_ns(call) / MINUTE_NS));
    add_time(text, "start", call->base.bars.start_ns);
    add_time(text, "end", last_ns(call, delayed));
    text_format(text, "&limit=%zu&sort=asc", call->limit);
    if (!crypto)
        text_format(text, "&adjustment=%s&feed=%s", venue_adjustment_names[call->base.bars.adjustment],
                    past_feed(call));
}

static size_t names_end(const struct alpaca_call *call)
{
    size_t end = call->first + NAMES_IN_URL_MAX;
    return end < call->base.n_wanted ? end : call->base.n_wanted;
}

static void add_actions(struct text *text, const struct alpaca_call *call)
{
    text_lit(text, "/v1/corporate-actions?symbols=");
    for (size_t i = call->first; i < names_end(call); i++) {
        if (i > call->first)
            text_lit(text, "%2C");
        text_url(text, call->base.wanted[i].name);
    }
    add_date(text, "&start", alpaca_eastern_day(call->base.from_ns) - PROCESS_DAYS_BEFORE);
    add_date(text, "&end", alpaca_eastern_day(call->base.to_ns) + PROCESS_DAYS_AFTER);
    text_format(text, "&limit=%d&sort=asc", ALPACA_ACTIONS_MAX);
}

/* Trades since a time, or the newest message. A delayed feed has only the newest. */
static void add_latest(struct text *text, const struct venue_call *base)
{
    const struct alpaca_rest *rest = rest_of(base);
    bool crypto = alpaca_is_crypto(base->symbol.name), trade = base->latest == MARKET_TRADE;
    bool since = trade && base->from_ns > 0 && !is_delayed((const struct alpaca_call *)base);
    const char *what = trade ? "trades" : base->latest == MARKET_QUOTE ? "quotes" : "snapshots";
    bool newest = !since && base->latest != MARKET_TICKER;
    if (crypto)
        text_format(text, "/v1beta3/crypto/%s/%s%s?symbols=", rest->crypto, newest ? "latest/" : "", what);
    else
        text_format(text, "/v2/stocks/%s%s?symbols=", what, newest ? "/latest" : "");
    text_url(text, base->symbol.name);
    if (since) {
        add_time(text, "start", base->from_ns);
        text_format(text, "&limit=%d&sort=asc", VENUE_LATEST_MAX);
    }
    if (!crypto)
        text_format(text, "&feed=%s", strcmp(rest->feed, "test") == 0 ? "iex" : rest->feed);
}

static size_t trades_page(const struct venue_call *base)
{
    return base->max > 0 && base->max < ALPACA_TRADES_MAX ? base->max : ALPACA_TRADES_MAX;
}

/* Both times are within what the venue answers. */
static void add_trades(struct text *text, const struct venue_call *base)
{
    const struct alpaca_rest *rest = rest_of(base);
    if (alpaca_is_crypto(base->symbol.name))
        text_format(text, "/v1beta3/crypto/%s/trades?symbols=", rest->crypto);
    else
        text_lit(text, "/v2/stocks/trades?symbols=");
    text_url(text, base->symbol.name);
    add_time(text, "start", base->from_ns);
    add_time(text, "end", base->to_ns - 1);
    text_format(text, "&limit=%zu&sort=asc", trades_page(base));
    if (!alpaca_is_crypto(base->symbol.name))
        text_format(text, "&feed=%s", past_feed((const struct alpaca_call *)base));
}

/* Bars, books, trades, the newest messages and corporate actions are market data; the rest is asked of the
 * trading API. */
static const char *host(const struct venue_call *call)
{
    bool data = call->kind == VENUE_REPLY_BARS || call->kind == VENUE_REPLY_BOOK ||
                call->kind == VENUE_REPLY_ACTIONS || call->kind == VENUE_REPLY_LATEST ||
                call->kind == VENUE_REPLY_TRADES;
    return data ? call->rest->url : rest_of(call)->trading;
}

char *alpaca_call_url(const struct venue_call *base, bool whole)
{
    const struct alpaca_call *call = (const struct alpaca_call *)base;
    struct text text = {0};
    if (whole)
        text_base(&text, host(base));
    switch (base->kind) {
    case VENUE_REPLY_TIME:
        text_lit(&text, "/v2/clock");
        break;
    case VENUE_REPLY_SYMBOLS:
        text_format(&text, "/v2/assets?status=active&asset_class=%s",
                    call->crypto_list ? "crypto" : "us_equity");
        break;
    case VENUE_REPLY_DAYS:
        text_lit(&text, "/v2/calendar?");
        add_date(&text, "start", alpaca_eastern_day(base->from_ns));
        add_date(&text, "&end", alpaca_eastern_day(base->to_ns));
        break;
    case VENUE_REPLY_BARS:
        add_bars(&text, call);
        break;
    case VENUE_REPLY_BOOK:
        text_format(&text, "/v1beta3/crypto/%s/latest/orderbooks?symbols=", rest_of(base)->crypto);
        text_url(&text, base->symbol.name);
        break;
    case VENUE_REPLY_ACTIONS:
        add_actions(&text, call);
        break;
    case VENUE_REPLY_LATEST:
        add_latest(&text, base);
        break;
    case VENUE_REPLY_TRADES:
        add_trades(&text, base);
        break;
    }
    if (call->token[0]) {
        text_lit(&text, "&page_token=");
        text_url(&text, call->token);
    }
    return text_take(&text);
}

void alpaca_call_title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX])
{
    static const char *const titles[] = {
        [VENUE_REPLY_TIME] = "clock",    [VENUE_REPLY_SYMBOLS] = "assets",
        [VENUE_REPLY_BARS] = "bars",     [VENUE_REPLY_BOOK] = "order book",
        [VENUE_REPLY_DAYS] = "calendar", [VENUE_REPLY_ACTIONS] = "corporate actions",
        [VENUE_REPLY_TRADES] = "trades",
    };
    bool latest = call->kind == VENUE_REPLY_LATEST;
    bool named = call->kind == VENUE_REPLY_BARS || call->kind == VENUE_REPLY_BOOK ||
                 call->kind == VENUE_REPLY_TRADES || latest;
    snprintf(ret, VENUE_DETAIL_MAX, "%s%s%s", latest ? market_kind_name(call->latest) : titles[call->kind],
             named ? " " : "", named ? call->symbol.name : "");
}

/* Moves the call to the page of that token. False for one that cannot be the next. */
static bool next_page(struct alpaca_call *call, struct json_text token)
{
    return !json_text_is(token, call->token) && json_text_copy(token, call->token, sizeof(call->token));
}

static int take_symbols(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply)
{
    struct venue_call *base = &call->base;
    int r = alpaca_parse_assets(body, len, base->wanted, base->n_wanted);
    if (r < 0)
        return r;
    bool more = false;
    for (size_t i = 0; i < base->n_wanted && !call->crypto_list; i++)
        more |= alpaca_is_crypto(base->wanted[i].name);
    if (more) {
        call->crypto_list = true;
        return 1;
    }
    if (strcmp(rest_of(base)->feed, "test") == 0)
        alpaca_add_test_symbol(base->wanted, base->n_wanted);
    for (size_t i = 0; i < base->n_wanted; i++)
        if (base->wanted[i].found && base->wanted[i].symbol.calendar[0] != '\0')
            snprintf(base->wanted[i].symbol.feed, sizeof(base->wanted[i].symbol.feed), "%s",
                     rest_of(base)->feed);
    net_requests_fill_symbols(base, reply);
    return 0;
}

static const struct symbol *if_named(const struct symbol *symbol, struct json_text name)
{
    return json_text_is(name, symbol->name) ? symbol : NULL;
}

struct bars_page {
    struct alpaca_call *call;
    struct bar *bars;
    size_t n, parts;
};

static const struct symbol *bars_symbol(void *user, struct json_text name)
{
    const struct bars_page *page = user;
    return if_named(&page->call->base.symbol, name);
}

static void finish_partial(struct bars_page *page)
{
    struct alpaca_call *call = page->call;
    if (call->has_partial && call->partial.open_ns >= call->base.bars.start_ns)
        page->bars[page->n++] = call->partial;
    call->has_partial = false;
}

static int bars_message(void *user, const struct symbol *symbol, const struct market_event *event)
{
    struct bars_page *page = user;
    struct alpaca_call *call = page->call;
    const struct bar *part = &event->kline.bar;
    struct bar day = *part;
    (void)symbol;
    if (has_days(call)) { /* of midnight in New York */
        day.open_ns = alpaca_eastern_day(part->open_ns) * DAY_NS;
        part = &day;
    }
    if (event->kind != MARKET_KLINE || page->parts == ALPACA_BARS_MAX || part->open_ns <= call->before_ns ||
        part->open_ns < call->base.bars.start_ns || part->open_ns > last_ns(call, false) ||
        part->open_ns % part_ns(call) != 0)
        return -EBADMSG; /* not what was requested: the pages might never end */
    page->parts++;
    call->before_ns = part->open_ns;
    int64_t open_ns, end_ns;
    bar_span(call, part->open_ns, &open_ns, &end_ns);
    if (call->has_partial && call->partial.open_ns != open_ns)
        finish_partial(page);
    if (!call->has_partial)
        call->partial.open_ns = open_ns;
    bar_join_merge(&call->partial, part, !call->has_partial);
    call->has_partial = true;
    return 0;
}

static void note_odd(struct alpaca_call *call, const struct alpaca_reply *said, const char *what,
                     struct venue_reply *reply)
{
    const char *name = call->base.symbol.name;
    call->skipped.n = 0;
    if (said->odd == 0)
        return;
    alpaca_skipped_add(&call->skipped, (struct json_text){name, strlen(name)},
                       "%s: %zu of its %s cannot be read, and are left out", name, said->odd, what);
    reply->skipped = &call->skipped;
}

static int take_bars(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage)
{
    struct venue_bars_request *ask = &call->base.bars;
    struct bar *bars = malloc((ALPACA_BARS_MAX + 1) * sizeof(*bars));
    if (!bars)
        return -ENOMEM;
    struct bars_page page = {.call = call, .bars = bars};
    const struct alpaca_reply_handler handler = {bars_symbol, bars_message, &page};
    struct alpaca_reply said;
    int r = alpaca_parse_reply(body, len, &rest_of(&call->base)->levels, &handler, &said);
    call->empty_pages = page.parts > 0 ? 0 : call->empty_pages + 1;
    if (r == 0)
        note_odd(call, &said, "bars", reply);
    bool more = r == 0 && said.next_page.len > 0 && (ask->max == 0 || page.n < ask->max);
    if (r == 0 && more && (call->empty_pages > EMPTY_PAGES_MAX || !next_page(call, said.next_page)))
        r = -EBADMSG;
    if (r < 0) {
        free(bars);
        return r == -E2BIG ? -EBADMSG : r;
    }
    if (!more)
        finish_partial(&page);
    if (more && page.n == 0) {
        free(bars);
        return 1;
    }
    size_t n = ask->max > 0 && page.n > ask->max ? ask->max : page.n, closed = 0;
    for (int64_t open_ns, end_ns; closed < n; closed++) {
        bar_span(call, bars[closed].open_ns, &open_ns, &end_ns);
        if (end_ns > ask->now_ns)
            break;
    }
    *storage = bars;
    reply->bars.list = bars;
    reply->bars.n = n;
    reply->bars.n_closed = closed;
    reply->more = more;
    if (ask->max > 0)
        ask->max -= n;
    return 0;
}

struct book_page {
    const struct alpaca_call *call;
    struct market_depth depth;
    bool found;
};

static const struct symbol *book_symbol(void *user, struct json_text name)
{
    const struct book_page *page = user;
    return if_named(&page->call->base.symbol, name);
}

static int book_message(void *user, const struct symbol *symbol, const struct market_event *event)
{
    struct book_page *page = user;
    (void)symbol;
    if (event->kind != MARKET_DEPTH && event->kind != MARKET_BOOK)
        return -EBADMSG;
    page->depth = event->depth;
    page->found = true;
    return 0;
}

static int highest_first(const void *a, const void *b)
{
    int64_t x = ((const struct book_level *)a)->price, y = ((const struct book_level *)b)->price;
    return (y > x) - (y < x);
}

static int lowest_first(const void *a, const void *b)
{
    return highest_first(b, a);
}

/* Copies a side without empty levels, best first. */
static uint32_t tidy(const struct book_level *levels, uint32_t n, struct book_level *ret,
                     int (*order)(const void *, const void *))
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (levels[i].qty > 0)
            ret[kept++] = levels[i];
    qsort(ret, kept, sizeof(*ret), order);
    return kept;
}

static int take_book(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage)
{
    struct book_page page = {.call = call};
    const struct alpaca_reply_handler handler = {book_symbol, book_message, &page};
    struct alpaca_reply said;
    int r = alpaca_parse_reply(body, len, &rest_of(&call->base)->levels, &handler, &said);
    if (r == 0 && !page.found)
        r = -EBADMSG;
    if (r < 0)
        return r == -E2BIG ? -EBADMSG : r;
    const struct market_depth *depth = &page.depth;
    struct book_level *own = malloc(((size_t)depth->n_bids + depth->n_asks + 1) * sizeof(*own));
    if (!own)
        return -ENOMEM;
    reply->book.last_id = 0; /* the venue numbers nothing */
    reply->book.bids = own;
    reply->book.n_bids = tidy(depth->bids, depth->n_bids, own, highest_first);
    reply->book.asks = own + depth->n_bids;
    reply->book.n_asks = tidy(depth->asks, depth->n_asks, own + depth->n_bids, lowest_first);
    *storage = own;
    return 0;
}

struct events_page {
    struct alpaca_call *call;
    struct market_event *events;
    size_t n, room;
};

static const struct symbol *events_symbol(void *user, struct json_text name)
{
    const struct events_page *page = user;
    return if_named(&page->call->base.symbol, name);
}

/* Of a snapshot's two days the later one counts. */
static int latest_message(void *user, const struct symbol *symbol, const struct market_event *event)
{
    struct events_page *page = user;
    bool list = event->kind == MARKET_TRADE;
    (void)symbol;
    if (event->kind != page->call->base.latest || (list && page->n == page->room))
        return 0;
    if (list || page->n == 0)
        page->events[page->n++] = *event;
    else if (event->event_ns > page->events[0].event_ns)
        page->events[0] = *event;
    return 0;
}

static int take_latest(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply,
                       void **storage)
{
    struct market_event *events = malloc(VENUE_LATEST_MAX * sizeof(*events));
    if (!events)
        return -ENOMEM;
    struct events_page page = {.call = call, .events = events, .room = VENUE_LATEST_MAX};
    const struct alpaca_reply_handler handler = {events_symbol, latest_message, &page};
    struct alpaca_reply said;
    int r = alpaca_parse_reply(body, len, &rest_of(&call->base)->levels, &handler, &said);
    if (r < 0) {
        free(events);
        return r == -E2BIG ? -EBADMSG : r;
    }
    *storage = events;
    reply->latest.list = events;
    reply->latest.n = page.n;
    return 0;
}

static int trades_message(void *user, const struct symbol *symbol, const struct market_event *event)
{
    struct events_page *page = user;
    struct alpaca_call *call = page->call;
    (void)symbol;
    if (event->kind != MARKET_TRADE || page->n == page->room || event->trade.ts_ns < call->last_ns ||
        event->trade.ts_ns >= call->base.to_ns)
        return -EBADMSG; /* not what was requested: the pages might never end */
    call->last_ns = event->trade.ts_ns;
    page->events[page->n++] = *event;
    return 0;
}

static int take_trades(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply,
                       void **storage)
{
    struct events_page page = {.call = call, .room = trades_page(&call->base)};
    const struct alpaca_reply_handler handler = {events_symbol, trades_message, &page};
    struct alpaca_reply said;
    if (!(page.events = malloc(page.room * sizeof *page.events)))
        return -ENOMEM;
    int r = alpaca_parse_reply(body, len, &rest_of(&call->base)->levels, &handler, &said);
    call->empty_pages = page.n > 0 ? 0 : call->empty_pages + 1;
    bool more = r == 0 && said.next_page.len > 0 && (call->base.max == 0 || page.n == 0);
    if (r == 0)
        note_odd(call, &said, "trades", reply);
    if (r == 0 && more && (call->empty_pages > EMPTY_PAGES_MAX || !next_page(call, said.next_page)))
        r = -EBADMSG;
    if (r < 0 || (more && page.n == 0)) {
        free(page.events);
        return r < 0 ? -EBADMSG : 1;
    }
    *storage = page.events;
    reply->latest.list = page.events;
    reply->latest.n = page.n;
    reply->more = more;
    return 0;
}

static int take_days(const char *body, size_t len, struct venue_reply *reply, void **storage)
{
    struct trading_day *days = malloc(DAYS_MAX * sizeof(*days));
    size_t n;
    if (!days)
        return -ENOMEM;
    int r = alpaca_parse_calendar(body, len, days, DAYS_MAX, &n);
    if (r < 0) {
        free(days);
        return -EBADMSG;
    }
    *storage = days;
    reply->days.calendar = ALPACA_CALENDAR;
    reply->days.list = days;
    reply->days.n = n;
    return 0;
}

static int earliest_first(const void *a, const void *b)
{
    return corporate_action_order(&((const struct venue_action *)a)->action,
                                  &((const struct venue_action *)b)->action);
}

static int take_actions(struct alpaca_call *call, const char *body, size_t len, struct venue_reply *reply)
{
    if (call->n_actions + ALPACA_ACTIONS_MAX > call->cap_actions) {
        size_t cap = call->n_actions + 2 * (size_t)ALPACA_ACTIONS_MAX;
        if (cap > ACTIONS_TOTAL_MAX)
            return -EBADMSG;
        struct venue_action *actions = realloc(call->actions, cap * sizeof(*actions));
        if (!actions)
            return -ENOMEM;
        call->actions = actions;
        call->cap_actions = cap;
    }
    struct venue_action *page = call->actions + call->n_actions;
    struct json_text token;
    size_t n, rows;
    int r = alpaca_parse_actions(body, len, call->base.from_ns, call->base.to_ns, page, ALPACA_ACTIONS_MAX,
                                 &n, &rows, &token, &call->skipped);
    if (r < 0)
        return -EBADMSG;
    for (size_t i = 0; i < n; i++)
        if (page[i].action.ex_ns >= call->base.from_ns && page[i].action.ex_ns <= call->base.to_ns)
            call->actions[call->n_actions++] = page[i];
    call->empty_pages = rows > 0 ? 0 : call->empty_pages + 1;
    if (token.len > 0)
        return call->empty_pages <= EMPTY_PAGES_MAX && next_page(call, token) ? 1 : -EBADMSG;
    call->token[0] = '\0';
    call->first = names_end(call);
    if (call->first < call->base.n_wanted)
        return 1;
    qsort(call->actions, call->n_actions, sizeof(*call->actions), earliest_first);
    reply->actions.list = call->actions;
    reply->actions.n = call->n_actions;
    reply->skipped = call->skipped.n > 0 ? &call->skipped : NULL;
    return 0;
}

int alpaca_call_take(struct venue_call *base, const char *body, size_t len, struct venue_reply *reply,
                     void **storage)
{
    struct alpaca_call *call = alpaca(base);
    switch (base->kind) {
    case VENUE_REPLY_TIME:
        return alpaca_parse_clock(body, len, &reply->server_ns);
    case VENUE_REPLY_SYMBOLS:
        return take_symbols(call, body, len, reply);
    case VENUE_REPLY_BARS:
        return take_bars(call, body, len, reply, storage);
    case VENUE_REPLY_BOOK:
        return take_book(call, body, len, reply, storage);
    case VENUE_REPLY_DAYS:
        return take_days(body, len, reply, storage);
    case VENUE_REPLY_ACTIONS:
        return take_actions(call, body, len, reply);
    case VENUE_REPLY_LATEST:
        return take_latest(call, body, len, reply, storage);
    case VENUE_REPLY_TRADES:
        return take_trades(call, body, len, reply, storage);
    }
    return -EBADMSG;
}
