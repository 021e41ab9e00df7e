#include "exchange/alpaca/message.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define MINUTE_NS 60000000000LL

static void copy_text(struct json_text text, char *ret, size_t size)
{
    size_t len = text.len < size ? text.len : size - 1;
    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xc0) == 0x80)
        len--; /* no half of a UTF-8 character */
    if (len > 0)
        memcpy(ret, text.data, len);
    ret[len] = '\0';
}

/* What a trade's conditions say. */
struct conditions {
    bool odd[2];
    enum market_auction auction; /* of whichever exchange */
};

/* Sale conditions that by themselves change no last price: the CTA's and UTP's tables of "consolidated
 * processing", with those that would only be the first or only price of a day (G, P, R, Z, 3, 4). Form T
 * (extended hours) is not among them: outside of the session it is all there is. */
static bool condition_is_odd(struct json_text condition, char tape)
{
    static const char both[] = "CGHIMNPQRUVWZ3479"; /* cash, bunched sold, price variation, odd lot, official
        close, next day, prior reference price, official open, seller, extended hours out of sequence,
        contingent, average, out of sequence, stopped out of sequence, derivatively priced, qualified
        contingent, corrected close */
    if (condition.len != 1)
        return false;
    char c = *condition.data;
    return memchr(both, c, sizeof(both) - 1) || (c == 'B' && tape != 'C' && tape != 'O'); /* there: average */
}

/* An exchange's own opening (O, Q: the official one) or closing (6, M): the same letters on all tapes. */
static enum market_auction auction_of(struct json_text condition)
{
    bool opening = json_is(condition, "O") || json_is(condition, "Q");
    bool closing = json_is(condition, "6") || json_is(condition, "M");
    return opening ? MARKET_OPENING : closing ? MARKET_CLOSING : MARKET_NO_AUCTION;
}

/* Is it the exchange that lists the symbol? Where that is not said: by the tape, of which A is NYSE's, C
 * Nasdaq's and B the others'. */
static bool is_primary(char exchange, char primary, char tape)
{
    if (primary != '\0')
        return exchange == primary;
    return tape == 'A'   ? exchange == 'N'
           : tape == 'C' ? exchange == 'Q'
           : tape == 'B' ? exchange == 'P' || exchange == 'A' || exchange == 'Z'
                         : false;
}

/* odd[0]: by the CTA's table, odd[1]: by UTP's; the tape may stand behind. */
static bool read_conditions(struct reader *reader, struct conditions *ret)
{
    struct json_text condition;
    if (alpaca_reader_peek(reader) == 'n')
        return alpaca_reader_skip(reader);
    if (!alpaca_reader_enter_array(reader))
        return false;
    while (alpaca_reader_element(reader)) {
        if (!alpaca_reader_maybe_text(reader, &condition))
            return false;
        ret->odd[0] |= condition_is_odd(condition, 'A');
        ret->odd[1] |= condition_is_odd(condition, 'C');
        if (ret->auction == MARKET_NO_AUCTION)
            ret->auction = auction_of(condition);
    }
    return !reader_failed(reader);
}

/* ---- fields ---- */

enum value {
    COUNT, /* of the event, each >= 0: int64_t */
    PRICE,
    TRADED, /* > 0 */
    QTY,
    VOLUME, /* int128_t */
    TIME,
    BIDS, /* their number */
    ASKS,
    AVERAGE, /* of struct extra */
    TEXT,
    TEXT_OR_NULL,
    FLAG,
    CONDITIONS,
};

/* One of a message's: where its value goes in the event (a bar's: in the bar; a level's: in the level) or in
 * struct extra. */
struct field {
    const char *key;
    enum value value;
    size_t at;
};

/* Further values of a message, apart from its event's numbers. */
struct extra {
    struct json_text code, said, why, reason, side, tape, exchange, update;
    int64_t average;
    struct conditions conditions;
    bool whole;
    struct alpaca_levels *levels;
};

#define FIELD(key, value, member) \
    { \
        key, value, offsetof(struct market_event, member) \
    }
#define EXTRA(key, value, member) \
    { \
        key, value, offsetof(struct extra, member) \
    }
#define FIELDS(list) list, sizeof(list) / sizeof(list)[0]

static bool read_levels(struct reader *reader, const struct symbol *symbol, struct book_level *levels,
                        uint32_t *ret_n);

static bool read_field(struct reader *reader, const struct symbol *symbol, const struct field *field,
                       void *ret, struct extra *extra)
{
    void *at = field->value < AVERAGE ? (char *)ret + field->at : (char *)extra + field->at;
    switch (field->value) {
    case COUNT:
        return alpaca_reader_int(reader, at) && *(int64_t *)at >= 0;
    case PRICE:
        return alpaca_reader_amount(reader, symbol->price_scale, at);
    case TRADED:
        return alpaca_reader_amount(reader, symbol->price_scale, at) && *(int64_t *)at > 0;
    case QTY:
        return alpaca_reader_amount(reader, symbol->qty_scale, at);
    case VOLUME:
        return alpaca_reader_wide(reader, symbol->qty_scale, at);
    case TIME:
        return alpaca_reader_time(reader, at);
    case AVERAGE:
        return alpaca_reader_rough(reader, symbol->price_scale, at);
    case TEXT:
        return alpaca_reader_text(reader, at);
    case TEXT_OR_NULL:
        return alpaca_reader_maybe_text(reader, at);
    case FLAG:
        return alpaca_reader_bool(reader, at);
    case CONDITIONS:
        return read_conditions(reader, at);
    case BIDS:
        return read_levels(reader, symbol, extra->levels->bids, at);
    case ASKS:
        return read_levels(reader, symbol, extra->levels->asks, at);
    }
    return false;
}

/* The rest of the map that was entered; the first `needed` of the n fields must be there. */
static bool read_fields(struct reader *reader, const struct symbol *symbol, const struct field *fields,
                        size_t n, unsigned needed, void *ret, struct extra *extra)
{
    struct json_text key;
    uint32_t seen = 0, wanted = (1u << needed) - 1;
    while (alpaca_reader_member(reader, &key)) {
        size_t i = 0;
        while (i < n && !json_text_is(key, fields[i].key))
            i++;
        if (i < n ? !read_field(reader, symbol, &fields[i], ret, extra) : !alpaca_reader_skip(reader))
            return false;
        seen |= i < n ? 1u << i : 0;
    }
    return (seen & wanted) == wanted;
}

static bool read_levels(struct reader *reader, const struct symbol *symbol, struct book_level *levels,
                        uint32_t *ret_n)
{
    static const struct field fields[] = {{"p", TRADED, offsetof(struct book_level, price)},
                                          {"s", QTY, offsetof(struct book_level, qty)}};
    uint32_t n = 0;
    *ret_n = 0;
    if (alpaca_reader_peek(reader) == 'n')
        return alpaca_reader_skip(reader);
    if (!alpaca_reader_enter_array(reader))
        return false;
    for (; alpaca_reader_element(reader); n++)
        if (n == ALPACA_LEVELS_MAX || !alpaca_reader_enter_map(reader) ||
            !read_fields(reader, symbol, FIELDS(fields), 2, &levels[n], NULL))
            return false;
    *ret_n = n;
    return !reader_failed(reader);
}

/* ---- bars ---- */

/* A bar's fields alone. */
static bool alpaca_read_bar(struct reader *reader, bool old, const struct symbol *symbol, struct bar *ret)
{
    static const struct field fields[] = {
        {"o", PRICE, offsetof(struct bar, open)},    {"h", PRICE, offsetof(struct bar, high)},
        {"l", TRADED, offsetof(struct bar, low)},    {"c", PRICE, offsetof(struct bar, close)},
        {"v", VOLUME, offsetof(struct bar, volume)}, {"t", TIME, offsetof(struct bar, open_ns)},
        {"n", COUNT, offsetof(struct bar, trades)},  EXTRA("vw", AVERAGE, average)};
    struct bar bar = {.first_trade_id = -1, .last_trade_id = -1};
    struct extra extra = {0};
    if (!alpaca_reader_enter_map(reader) ||
        !read_fields(reader, symbol, FIELDS(fields), old ? 6 : 8, &bar, &extra) || reader_failed(reader) ||
        bar.open < bar.low || bar.open > bar.high || bar.close < bar.low || bar.close > bar.high ||
        __builtin_mul_overflow(bar.volume, (int128_t)extra.average, &bar.quote_volume))
        return false;
    *ret = bar;
    return true;
}

static bool read_kline(struct reader *reader, char type, bool old, const struct symbol *symbol,
                       struct market_event *event)
{
    struct bar bar;
    if (!alpaca_read_bar(reader, old, symbol, &bar))
        return false;
    if (type == 'd') {
        event->kind = MARKET_TICKER;
        event->event_ns = old ? bar.open_ns : 0; /* REST sends several days */
        event->ticker = (struct market_ticker){bar.open, bar.high, bar.low, bar.close, bar.volume};
        return true;
    }
    event->kind = type == 'b' ? MARKET_KLINE : MARKET_REVISION;
    event->event_ns = type == 'b' ? bar.open_ns + MINUTE_NS : 0;
    event->kline = (struct market_kline){.interval_ns = MINUTE_NS, .bar = bar, .closed = true};
    return bar.open_ns % MINUTE_NS == 0;
}

/* The tapes' codes: CTA's 2 halt, 3 resume; UTP's H halt, P volatility pause, Q quotes only, T resume. What
 * else they send (price indications, imbalances, short sale rules) halts nothing. D as the reason: deleted.
 */
static bool trading_of(struct json_text code, struct json_text why, enum market_trading *ret)
{
    if (json_is(code, "2") || json_is(code, "H") || json_is(code, "P") || json_is(code, "Q"))
        *ret = json_is(why, "D") ? MARKET_ENDED : MARKET_HALTED;
    else if (json_is(code, "3") || json_is(code, "T"))
        *ret = MARKET_TRADES;
    else
        return false;
    return true;
}

/* ---- messages ---- */

static const struct field trade[] = {
    FIELD("i", COUNT, trade.id),    FIELD("p", TRADED, trade.price),    FIELD("s", QTY, trade.qty),
    FIELD("t", TIME, trade.ts_ns),  EXTRA("tks", TEXT_OR_NULL, side),   EXTRA("c", CONDITIONS, conditions),
    EXTRA("z", TEXT_OR_NULL, tape), EXTRA("x", TEXT_OR_NULL, exchange), EXTRA("u", TEXT_OR_NULL, update),
};
static const struct field quote[] = {
    FIELD("bp", PRICE, quote.bid),   FIELD("bs", QTY, quote.bid_qty), FIELD("ap", PRICE, quote.ask),
    FIELD("as", QTY, quote.ask_qty), FIELD("t", TIME, event_ns),
};
static const struct field correction[] = {
    FIELD("oi", COUNT, correction.id),     FIELD("op", PRICE, correction.old_price),
    FIELD("os", QTY, correction.old_qty),  FIELD("ci", COUNT, correction.new_id),
    FIELD("cp", TRADED, correction.price), FIELD("cs", QTY, correction.qty),
    FIELD("t", TIME, correction.ts_ns),
};
static const struct field cancel[] = {
    FIELD("i", COUNT, correction.id),   FIELD("p", PRICE, correction.price), FIELD("s", QTY, correction.qty),
    FIELD("t", TIME, correction.ts_ns), EXTRA("a", TEXT_OR_NULL, code),
};
static const struct field bands[] = {FIELD("u", PRICE, bands.up), FIELD("d", PRICE, bands.down),
                                     FIELD("t", TIME, event_ns)};
static const struct field imbalance[] = {FIELD("p", PRICE, imbalance_price), FIELD("t", TIME, event_ns)};
static const struct field status[] = {
    EXTRA("sc", TEXT, code),        FIELD("t", TIME, event_ns),        EXTRA("sm", TEXT_OR_NULL, said),
    EXTRA("rc", TEXT_OR_NULL, why), EXTRA("rm", TEXT_OR_NULL, reason),
};
static const struct field book[] = {FIELD("b", BIDS, depth.n_bids), FIELD("a", ASKS, depth.n_asks),
                                    FIELD("t", TIME, event_ns), EXTRA("r", FLAG, whole)};

static const struct message {
    char type;
    enum market_kind kind;
    const struct field *fields;
    size_t n;
    unsigned needed;
    size_t size; /* of the event's member, which all begin at the same place */
} messages[] = {
#define SIZE(member) sizeof((struct market_event *)NULL)->member
    {'t', MARKET_TRADE, FIELDS(trade), 4, SIZE(trade)},
    {'q', MARKET_QUOTE, FIELDS(quote), 5, SIZE(quote)},
    {'c', MARKET_CORRECTION, FIELDS(correction), 7, SIZE(correction)},
    {'x', MARKET_CANCEL, FIELDS(cancel), 4, SIZE(correction)},
    {'l', MARKET_BANDS, FIELDS(bands), 3, SIZE(bands)},
    {'i', MARKET_IMBALANCE, FIELDS(imbalance), 2, SIZE(imbalance_price)},
    {'s', MARKET_STATUS, FIELDS(status), 2, SIZE(status)},
    {'o', MARKET_DEPTH, FIELDS(book), 3, SIZE(depth)},
#undef SIZE
};

/* What follows from the fields. 0, or 1: a status that changes nothing, or a trade that does not count any
 * more. `primary`: struct symbol's. */
static int finish(const struct extra *extra, char primary, struct market_event *event)
{
    struct market_trade *traded = &event->trade;
    struct market_correction *corrected = &event->correction;
    bool nasdaq = json_is(extra->tape, "C") || json_is(extra->tape, "O");
    switch (event->kind) {
    case MARKET_TRADE:
        traded->buyer_maker = json_is(extra->side, "S");
        traded->odd = extra->conditions.odd[nasdaq];
        if (extra->exchange.len == 1 &&
            is_primary(*extra->exchange.data, primary, extra->tape.len == 1 ? *extra->tape.data : '\0'))
            traded->auction = extra->conditions.auction;
        traded->first_id = traded->last_id = traded->id;
        event->event_ns = traded->ts_ns;
        return json_is(extra->update, "canceled") || json_is(extra->update, "incorrect") ? 1 : 0;
    case MARKET_CANCEL:
        corrected->new_id = corrected->id;
        corrected->old_price = corrected->price;
        corrected->old_qty = corrected->qty;
        copy_text(extra->code, corrected->code, sizeof(corrected->code));
        event->event_ns = corrected->ts_ns;
        break;
    case MARKET_CORRECTION:
        event->event_ns = corrected->ts_ns;
        break;
    case MARKET_STATUS:
        copy_text(extra->code, event->status.code, sizeof(event->status.code));
        copy_text(extra->reason.len > 0 ? extra->reason : extra->said, event->status.reason,
                  sizeof(event->status.reason));
        return trading_of(extra->code, extra->why, &event->status.trading) ? 0 : 1;
    case MARKET_DEPTH:
        event->kind = extra->whole ? MARKET_BOOK : MARKET_DEPTH;
        event->depth.bids = extra->levels->bids;
        event->depth.asks = extra->levels->asks;
        break;
    default:
        break;
    }
    return 0;
}

int alpaca_read_message(struct reader *reader, char type, bool old, const struct symbol *symbol,
                        struct alpaca_levels *levels, struct market_event *ret)
{
    const struct message *message = messages, *end = messages + sizeof(messages) / sizeof(messages[0]);
    struct extra extra = {.levels = levels};
    ret->event_ns = 0;
    if (type == 'b' || type == 'u' || type == 'd')
        return read_kline(reader, type, old, symbol, ret) ? 0 : -EBADMSG;
    while (message < end && message->type != type)
        message++;
    if (message == end)
        return alpaca_reader_skip(reader) ? 1 : -EBADMSG;
    ret->kind = message->kind;
    memset(&ret->trade, 0, message->size);
    if (!alpaca_reader_enter_map(reader) ||
        !read_fields(reader, symbol, message->fields, message->n, message->needed, ret, &extra) ||
        reader_failed(reader))
        return -EBADMSG;
    return finish(&extra, symbol->primary, ret);
}
