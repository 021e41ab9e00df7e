#include "exchange/replay/alpaca/page.h"

#include <ctype.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/file_bars.h"
#include "exchange/replay/alpaca/render.h"

enum {
    BACK_MINUTES_MAX = 14 * 24 * 60,
    WORK_MINUTES_MAX = 40000, /* that a page examines: it may hold less than its limit, and a token */
    MONDAY = 1,
    DAYS_OF_WEEK = 7,
};

struct page {
    const struct page_query *query;
    struct wire *wire;
    enum page_of what;
    size_t n;
    bool more;
    int open; /* the symbol whose list is open; -1: none */
    int last; /* the symbol that was examined last, and how far */
    int64_t last_ns;
    int64_t minutes_left; /* of work */
};

/* Examines more of them: false when the page ends here, `ns` being the last that it covers. */
static bool work(struct page *page, int64_t minutes, int symbol, int64_t ns)
{
    page->minutes_left -= minutes;
    if (page->minutes_left > 0)
        return true;
    page->more = true;
    page->last = symbol;
    page->last_ns = ns;
    return false;
}

/* Room for one more? Its list is open then. */
static bool begin_item(struct page *page, int symbol, int64_t ns)
{
    const struct page_query *q = page->query;
    if (page->n == q->limit) {
        page->more = true;
        return false;
    }
    if (page->open != symbol && !q->alone) {
        if (page->open >= 0)
            replay_wire_array_end(page->wire);
        replay_wire_key(page->wire, q->made->symbols[symbol].name);
        replay_wire_array(page->wire, 0);
    }
    page->open = page->last = symbol;
    page->last_ns = ns;
    page->n++;
    return true;
}

static bool put_tick(struct page *page, int symbol, const struct made_tick *tick, int64_t start_ns,
                     int64_t end_ns)
{
    const struct page_query *q = page->query;
    const struct made_symbol *s = &q->made->symbols[symbol];
    bool trades = page->what == PAGE_TRADES;
    int64_t ns = trades ? tick->trade.ts_ns : tick->ts_ns,
            reported_ns = trades ? tick->trade.reported_ns : tick->ts_ns;
    if ((trades && !tick->traded) || (q->feed == MADE_FEED_IEX && !tick->iex) || ns < start_ns ||
        ns > end_ns || reported_ns > q->now_ns)
        return true;
    if (!begin_item(page, symbol, ns))
        return false;
    if (trades)
        replay_render_trade_object(page->wire, s, &tick->trade, q->now_ns);
    else
        replay_render_quote_object(page->wire, s, tick);
    return true;
}

/* One minute's; false when the page is full. */
static bool put_minute(struct page *page, int symbol, int64_t minute, int64_t start_ns, int64_t end_ns)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    size_t n = replay_made_minute(page->query->made, symbol, minute, ticks);
    for (size_t i = 0; i < n; i++)
        if (!put_tick(page, symbol, &ticks[page->query->falls ? n - 1 - i : i], start_ns, end_ns))
            return false;
    return true;
}

static bool put_ticks(struct page *page, int symbol, int64_t start_ns, int64_t end_ns)
{
    int64_t first = start_ns / MADE_MINUTE, last = end_ns / MADE_MINUTE;
    for (int64_t i = 0; i <= last - first; i++) {
        int64_t minute = page->query->falls ? last - i : first + i;
        if (!put_minute(page, symbol, minute, start_ns, end_ns) ||
            !work(page, 1, symbol, (minute + !page->query->falls) * MADE_MINUTE - !page->query->falls))
            return false;
    }
    return true;
}

/* The first moment of a date in the symbol's own time. */
static int64_t date_begin(const struct made *made, int symbol, int64_t date)
{
    if (made->symbols[symbol].class == MADE_STOCK)
        return replay_eastern_utc_s(date, 0) * MADE_SECOND;
    return date * EASTERN_DAY_S * MADE_SECOND;
}

static int64_t date_of(const struct made *made, int symbol, int64_t ns)
{
    if (made->symbols[symbol].class == MADE_STOCK)
        return replay_eastern_date(ns);
    return ns / (EASTERN_DAY_S * MADE_SECOND);
}

/* The period that holds `ns`. */
static void period_at(const struct page_query *q, int symbol, int64_t ns, int64_t *ret_begin,
                      int64_t *ret_end)
{
    int64_t date = date_of(q->made, symbol, ns), next = date + 1;
    int year, month, day;
    if (q->unit == PAGE_MINUTES) {
        int64_t day_ns = date_begin(q->made, symbol, date), day_end_ns = date_begin(q->made, symbol, next);
        int64_t length = q->length * MADE_MINUTE;
        *ret_begin = day_ns + (ns - day_ns) / length * length;
        *ret_end = *ret_begin + length < day_end_ns ? *ret_begin + length : day_end_ns;
        return;
    }
    if (q->unit == PAGE_WEEKS) {
        date -= (replay_eastern_weekday(date) - MONDAY + DAYS_OF_WEEK) % DAYS_OF_WEEK;
        next = date + DAYS_OF_WEEK;
    } else if (q->unit == PAGE_MONTHS) {
        replay_eastern_civil(date, &year, &month, &day);
        int first = (month - 1) / (int)q->length * (int)q->length + 1, after = first + (int)q->length;
        date = replay_eastern_days(year, first, 1);
        next =
            after > 12 ? replay_eastern_days(year + 1, after - 12, 1) : replay_eastern_days(year, after, 1);
    }
    *ret_begin = date_begin(q->made, symbol, date);
    *ret_end = date_begin(q->made, symbol, next);
}

/* Before its file's first bar there is nothing to examine. */
static int64_t first_of(const struct page *page, int symbol)
{
    const struct file_bars *bars = page->query->made->symbols[symbol].bars;
    int64_t from_ns, to_ns, begin_ns;
    if (!bars)
        return INT64_MIN;
    replay_file_bars_range(bars, &from_ns, &to_ns);
    begin_ns = from_ns / MADE_MINUTE * MADE_MINUTE;
    if (page->what == PAGE_BARS)
        period_at(page->query, symbol, from_ns, &begin_ns, &to_ns);
    return begin_ns;
}

static bool put_bars(struct page *page, int symbol, int64_t start_ns, int64_t end_ns)
{
    const struct page_query *q = page->query;
    int64_t begin, end;
    period_at(q, symbol, q->falls ? end_ns : start_ns, &begin, &end);
    if (!q->falls && begin < start_ns)
        period_at(q, symbol, end, &begin, &end);
    while (begin <= end_ns && begin >= start_ns) {
        struct tally bar;
        if (replay_tally_span(q->made, symbol, begin, end, q->feed, q->adjust, q->now_ns, &bar)) {
            if (!begin_item(page, symbol, begin))
                return false;
            replay_render_bar_object(page->wire, &q->made->symbols[symbol], &bar);
        }
        if (!work(page, (end - begin) / MADE_MINUTE, symbol, begin))
            return false;
        period_at(q, symbol, q->falls ? begin - 1 : end, &begin, &end);
    }
    return true;
}

static void write_token(struct page *page)
{
    replay_wire_key(page->wire, "next_page_token");
    if (!page->more) {
        replay_wire_null(page->wire);
        return;
    }
    char plain[64];
    unsigned char token[PAGE_TOKEN_MAX];
    int len = snprintf(plain, sizeof(plain), "%s|%" PRId64, page->query->made->symbols[page->last].name,
                       page->last_ns);
    EVP_EncodeBlock(token, (const unsigned char *)plain, len);
    replay_wire_str(page->wire, (const char *)token);
}

bool replay_page_token_read(const char *token, const struct made *made, int *ret_symbol, int64_t *ret_ns)
{
    char plain[PAGE_TOKEN_MAX];
    size_t len = strlen(token);
    if (len == 0 || len >= PAGE_TOKEN_MAX)
        return false;
    int n = EVP_DecodeBlock((unsigned char *)plain, (const unsigned char *)token, (int)len);
    if (n < 0)
        return false;
    plain[n] = '\0';
    char *bar = strchr(plain, '|');
    if (!bar)
        return false;
    *bar = '\0';
    *ret_symbol = replay_made_find(made, plain);
    return *ret_symbol >= 0 && decimal_parse_str(bar + 1, 0, ret_ns) == 0;
}

void replay_page_write(const struct page_query *q, enum page_of what, const char *name, struct wire *wire)
{
    struct page page = {.query = q, .wire = wire, .what = what, .open = -1, .minutes_left = WORK_MINUTES_MAX};
    bool skip = q->token_symbol >= 0;
    replay_wire_key(wire, name);
    if (q->alone)
        replay_wire_array(wire, 0);
    else
        replay_wire_map(wire, 0);
    for (int i = 0; i < q->n_symbols; i++) {
        int symbol = q->symbols[i];
        int64_t start_ns = q->start_ns, end_ns = q->end_ns < q->now_ns ? q->end_ns : q->now_ns;
        if (skip && symbol != q->token_symbol)
            continue;
        const int64_t first_ns = first_of(&page, symbol);
        start_ns = first_ns > start_ns ? first_ns : start_ns;
        if (skip && q->falls && q->token_ns - 1 < end_ns)
            end_ns = q->token_ns - 1;
        else if (skip && !q->falls && q->token_ns + 1 > start_ns)
            start_ns = q->token_ns + 1;
        skip = false;
        if (start_ns > end_ns)
            continue;
        if (!(what == PAGE_BARS ? put_bars(&page, symbol, start_ns, end_ns)
                                : put_ticks(&page, symbol, start_ns, end_ns)))
            break;
    }
    if (q->alone) {
        replay_wire_array_end(wire);
    } else {
        if (page.open >= 0)
            replay_wire_array_end(wire);
        replay_wire_map_end(wire);
    }
    write_token(&page);
}

bool replay_page_timeframe(const char *text, enum page_unit *ret_unit, int64_t *ret_length)
{
    static const struct {
        const char *name;
        enum page_unit unit;
        int64_t minutes, max;
    } units[] = {
        {"Min", PAGE_MINUTES, 1, 59}, {"T", PAGE_MINUTES, 1, 59}, {"Hour", PAGE_MINUTES, 60, 23},
        {"H", PAGE_MINUTES, 60, 23},  {"Day", PAGE_DAYS, 0, 1},   {"D", PAGE_DAYS, 0, 1},
        {"Week", PAGE_WEEKS, 0, 1},   {"W", PAGE_WEEKS, 0, 1},    {"Month", PAGE_MONTHS, 0, 12},
        {"M", PAGE_MONTHS, 0, 12},
    };
    char *end;
    long n = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strcmp(end, units[i].name) != 0 || n < 1 || n > units[i].max)
            continue;
        *ret_unit = units[i].unit;
        *ret_length = units[i].minutes ? n * units[i].minutes : n;
        return units[i].unit != PAGE_MONTHS || 12 % n == 0;
    }
    return false;
}

bool replay_page_last_tick(struct made *made, int symbol, enum made_feed feed, int64_t now_ns, bool traded,
                           struct made_tick *ret)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    int64_t minute = now_ns / MADE_MINUTE;
    for (int i = 0; i < BACK_MINUTES_MAX; i++, minute--) {
        for (size_t n = replay_made_minute(made, symbol, minute, ticks); n > 0; n--) {
            const struct made_tick *tick = &ticks[n - 1];
            bool gone = traded && tick->trade.revision == MADE_CANCELLED && tick->trade.revised_ns <= now_ns;
            if ((feed == MADE_FEED_IEX && !tick->iex) || (traded && !tick->traded) || gone ||
                (traded ? tick->trade.reported_ns : tick->ts_ns) > now_ns)
                continue;
            *ret = *tick;
            return true;
        }
    }
    return false;
}

bool replay_page_last_minute(struct made *made, int symbol, enum made_feed feed, int64_t now_ns,
                             struct tally *ret)
{
    int64_t minute = now_ns / MADE_MINUTE - 1;
    for (int i = 0; i < BACK_MINUTES_MAX; i++, minute--)
        if (replay_tally_minute(made, symbol, minute, feed, now_ns, ret))
            return true;
    return false;
}
