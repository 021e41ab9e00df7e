#include "exchange/alpaca/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/message.h"
#include "exchange/bar_join.h"
#include "exchange/symbol_table.h"

#define MINUTE_NS 60000000000LL
#define HOUR_NS   (60 * MINUTE_NS)

static const int64_t intervals[] = {
    3 * MINUTE_NS, 5 * MINUTE_NS, 15 * MINUTE_NS, 30 * MINUTE_NS, HOUR_NS,      2 * HOUR_NS,
    4 * HOUR_NS,   6 * HOUR_NS,   8 * HOUR_NS,    12 * HOUR_NS,   24 * HOUR_NS,
};

enum { INTERVALS = sizeof intervals / sizeof *intervals };

/* The parser's memory of a symbol. */
struct known_symbol {
    uint64_t id;      /* of its last quote or book */
    uint64_t book_id; /* of its last book */
    struct bar_join joins[INTERVALS];
};

struct alpaca_parser {
    struct symbol_table symbols;
    struct known_symbol *known;

    /* Long bars that the message at pending_pos closed; the next one follows at pending_next. */
    struct market_event pending[INTERVALS * BAR_JOIN_MAX];
    int n_pending, next_pending;
    size_t pending_pos, pending_next;

    struct trading_calendar calendar; /* of stocks; its days are the parser's own */
    struct alpaca_levels levels;
};

int alpaca_parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret)
{
    struct alpaca_parser *parser = calloc(1, sizeof(*parser));
    if (!parser)
        return -ENOMEM;
    parser->symbols.symbols = symbols;
    int r = alpaca_parser_grow((struct venue_parser *)parser, n);
    if (r < 0)
        alpaca_parser_destroy((struct venue_parser *)parser);
    else
        *ret = (struct venue_parser *)parser;
    return r;
}

int alpaca_parser_grow(struct venue_parser *venue, size_t n)
{
    struct alpaca_parser *parser = (struct alpaca_parser *)venue;
    const size_t before = parser->symbols.n;
    struct known_symbol *known = calloc(n > 0 ? n : 1, sizeof(*known));
    int r = known ? symbol_table_grow(&parser->symbols, n) : -ENOMEM;
    if (r < 0) {
        free(known);
        return r;
    }
    if (before > 0)
        memcpy(known, parser->known, before * sizeof(*known));
    for (size_t i = before; i < n; i++)
        for (int k = 0; k < INTERVALS; k++)
            bar_join_init(&known[i].joins[k], intervals[k]);
    free(parser->known);
    parser->known = known;
    return 0;
}

void alpaca_parser_destroy(struct venue_parser *venue)
{
    struct alpaca_parser *parser = (struct alpaca_parser *)venue;
    if (!parser)
        return;
    trading_calendar_forget(&parser->calendar);
    free(parser->known);
    free(parser);
}

int alpaca_parser_calendar(struct venue_parser *venue, const struct trading_calendar *calendar)
{
    struct alpaca_parser *parser = (struct alpaca_parser *)venue;
    struct trading_calendar taken;
    int r = trading_calendar_copy(calendar, &taken);
    if (r < 0)
        return r;
    trading_calendar_forget(&parser->calendar);
    parser->calendar = taken;
    return 0;
}

/* A new connection: what came before may have holes. */
static void interrupt(struct alpaca_parser *parser)
{
    for (size_t i = 0; i < parser->symbols.n; i++)
        for (int k = 0; k < INTERVALS; k++)
            bar_join_interrupt(&parser->known[i].joins[k]);
}

static const struct trading_calendar *calendar_of(const struct alpaca_parser *parser, int symbol)
{
    static const struct trading_calendar always = {0};
    return strcmp(parser->symbols.symbols[symbol].calendar, parser->calendar.name) == 0 ? &parser->calendar
                                                                                        : &always;
}

static void join_bars(struct alpaca_parser *parser, const struct market_event *event)
{
    struct known_symbol *known = &parser->known[event->symbol];
    const struct trading_calendar *calendar = calendar_of(parser, event->symbol);
    parser->n_pending = parser->next_pending = 0;
    for (int k = 0; k < INTERVALS; k++) {
        struct bar closed[BAR_JOIN_MAX];
        int n = bar_join_add(&known->joins[k], calendar, &event->kline.bar, MINUTE_NS, closed);
        for (int i = 0; i < n; i++) {
            struct market_event *pending = &parser->pending[parser->n_pending++];
            *pending = *event;
            pending->kline.interval_ns = intervals[k];
            pending->kline.bar = closed[i];
        }
    }
}

static void number_event(struct known_symbol *known, struct market_event *event)
{
    uint64_t us = (uint64_t)(event->event_ns / 1000);
    if (event->kind == MARKET_QUOTE) {
        if (us > known->id)
            known->id = us;
        event->quote.update_id = known->id;
        return;
    }
    uint64_t next = known->book_id + 1;
    known->id = us > known->id ? us : known->id;
    known->id = next > known->id ? next : known->id;
    event->depth.first_id = event->kind == MARKET_BOOK || known->book_id == 0 ? known->id : next;
    event->depth.last_id = known->book_id = known->id;
}

/* The message's type and symbol; T and S come first, so this costs little. */
static bool read_head(struct reader reader, struct json_text *ret_type, struct json_text *ret_symbol,
                      struct json_text *ret_said)
{
    struct json_text key;
    *ret_type = *ret_symbol = *ret_said = (struct json_text){0};
    if (!alpaca_reader_enter_map(&reader))
        return false;
    while ((!ret_type->data || !ret_symbol->data) && alpaca_reader_member(&reader, &key)) {
        bool ok = json_is(key, "T")   ? alpaca_reader_text(&reader, ret_type)
                  : json_is(key, "S") ? alpaca_reader_text(&reader, ret_symbol)
                  : json_is(key, "msg") && alpaca_reader_peek(&reader) == '"'
                      ? alpaca_reader_text(&reader, ret_said)
                      : alpaca_reader_skip(&reader);
        if (!ok)
            return false;
    }
    return ret_type->data != NULL;
}

/* Parses the message at the reader and moves past it, however malformed; if that cannot be done the reader
 * is in error. */
static int read_message(struct alpaca_parser *parser, struct reader *reader, struct market_event *ret)
{
    struct reader behind = *reader;
    struct json_text type, symbol, said;
    int r = -EBADMSG;
    if (read_head(*reader, &type, &symbol, &said)) {
        int index = symbol.data ? symbol_table_find(&parser->symbols, symbol.data, symbol.len) : -1;
        if (json_is(type, "success") && json_is(said, "connected"))
            interrupt(parser);
        if (symbol.data && index < 0) {
            r = type.len == 1 ? -ENOENT : 1;
        } else if (!symbol.data || type.len != 1) {
            r = type.len == 1 && strchr("tqbduclxsio", *type.data) ? -EBADMSG : 1;
        } else {
            ret->symbol = index;
            r = alpaca_read_message(reader, *type.data, false, &parser->symbols.symbols[index],
                                    &parser->levels, ret);
            if (r >= 0)
                return r;
        }
    }
    *reader = behind;
    alpaca_reader_skip(reader);
    return r;
}

/* Moves past the message: to the next one, or to the end, which must be where the frame says. */
static bool step_on(struct reader *reader, bool listed, const char *frame, size_t len, size_t *pos)
{
    const char *p = alpaca_reader_at(reader), *end = frame + len;
    *pos = len;
    if (reader_failed(reader))
        return false;
    if (reader->packed) { /* begin() saw to the end */
        *pos = (size_t)(p - frame);
        return true;
    }
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    if (listed) {
        if (p == end || (*p != ',' && *p != ']'))
            return false;
        if (*p++ == ',') {
            *pos = (size_t)(p - frame);
            return p < end;
        }
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
            p++;
    }
    return p == end;
}

/* At the frame's first byte: enters the array, if it is one. 0; 1 for one without messages; -EBADMSG, also
 * for msgpack that is not as long as its lengths say: the whole is checked before any of it is used. */
static int begin(struct reader *reader, bool *ret_listed)
{
    struct reader look = *reader;
    *ret_listed = alpaca_reader_peek(reader) == '[';
    if (reader->packed && (!alpaca_reader_skip(&look) || look.p != look.end))
        return -EBADMSG;
    if (!*ret_listed)
        return 0;
    if (!alpaca_reader_enter_array(reader))
        return -EBADMSG;
    if (reader->packed)
        return reader->left[0] > 0 ? 0 : 1;
    look = *reader;
    if (alpaca_reader_element(&look))
        return 0;
    return json_done(&look.json) ? 1 : -EBADMSG;
}

int alpaca_parse(struct venue_parser *venue, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret)
{
    struct alpaca_parser *parser = (struct alpaca_parser *)venue;
    if (*pos > 0 && parser->next_pending < parser->n_pending && *pos == parser->pending_pos) {
        *ret = parser->pending[parser->next_pending++];
        if (parser->next_pending == parser->n_pending)
            *pos = parser->pending_next;
        return 0;
    }
    parser->n_pending = parser->next_pending = 0;
    struct reader reader;
    bool packed = alpaca_reader_is_packed(frame, len), listed = true;
    alpaca_reader_init(&reader, packed, frame + *pos, len - *pos);
    if (*pos == 0) {
        int r = begin(&reader, &listed);
        if (r != 0) {
            *pos = len;
            return r;
        }
        alpaca_reader_init(&reader, packed, alpaca_reader_at(&reader),
                           (size_t)(frame + len - alpaca_reader_at(&reader)));
    }
    size_t start = (size_t)(alpaca_reader_at(&reader) - frame);
    int r = read_message(parser, &reader, ret);
    if (!step_on(&reader, listed, frame, len, pos))
        return -EBADMSG;
    if (r != 0)
        return r;
    if (ret->kind == MARKET_QUOTE || ret->kind == MARKET_DEPTH || ret->kind == MARKET_BOOK)
        number_event(&parser->known[ret->symbol], ret);
    if (ret->kind == MARKET_KLINE) {
        join_bars(parser, ret);
        if (parser->n_pending > 0 && listed) {
            parser->pending_pos = start;
            parser->pending_next = *pos;
            *pos = start;
        }
    }
    return 0;
}
