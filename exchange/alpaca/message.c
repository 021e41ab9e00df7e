#include "exchange/alpaca/message.h"

#include <errno.h>
#include <string.h>

#define MINUTE_NS 60000000000LL

static bool is(struct json_text text, const char *word)
{
    size_t len = strlen(word);
    return text.len == len && memcmp(text.data, word, len) == 0;
}

static void copy_text(struct json_text text, char *ret, size_t size)
{
    size_t len = text.len < size ? text.len : size - 1;
    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xc0) == 0x80)
        len--; /* no half of a UTF-8 character */
    memcpy(ret, text.data, len);
    ret[len] = '\0';
}

/* Null, as Go writes what is empty, is skipped: `ret` stays. */
static bool maybe_text(struct reader *reader, struct json_text *ret)
{
    return alpaca_reader_peek(reader) == 'n' ? alpaca_reader_skip(reader) : alpaca_reader_text(reader, ret);
}

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

/* odd[0]: by the CTA's table, odd[1]: by UTP's; the tape may stand behind. */
static bool read_conditions(struct reader *reader, bool odd[2])
{
    struct json_text condition;
    if (alpaca_reader_peek(reader) == 'n')
        return alpaca_reader_skip(reader);
    if (!alpaca_reader_enter_array(reader))
        return false;
    while (alpaca_reader_element(reader)) {
        if (!maybe_text(reader, &condition))
            return false;
        odd[0] |= condition_is_odd(condition, 'A');
        odd[1] |= condition_is_odd(condition, 'C');
    }
    return !reader_failed(reader);
}

static bool read_trade(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct market_trade *trade = &event->trade;
    struct json_text key, text = {"", 0};
    bool odd[2] = {false, false}, nasdaq = false;
    uint32_t seen = 0;
    *trade = (struct market_trade){0};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "i")) {
            seen |= 1;
            ok = alpaca_reader_int(reader, &trade->id) && trade->id >= 0;
        } else if (is(key, "p")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &trade->price) && trade->price > 0;
        } else if (is(key, "s")) {
            seen |= 4;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &trade->qty);
        } else if (is(key, "t")) {
            seen |= 8;
            ok = alpaca_reader_time(reader, &trade->ts_ns);
        } else if (is(key, "tks")) {
            ok = maybe_text(reader, &text);
            trade->buyer_maker = ok && is(text, "S");
        } else if (is(key, "c")) {
            ok = read_conditions(reader, odd);
        } else if (is(key, "z")) {
            ok = maybe_text(reader, &text);
            nasdaq = ok && (is(text, "C") || is(text, "O"));
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    trade->odd = odd[nasdaq];
    trade->first_id = trade->last_id = trade->id;
    event->event_ns = trade->ts_ns;
    return seen == 15;
}

static bool read_quote(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct market_quote *quote = &event->quote;
    struct json_text key;
    uint32_t seen = 0;
    *quote = (struct market_quote){0};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "bp")) {
            seen |= 1;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &quote->bid);
        } else if (is(key, "bs")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &quote->bid_qty);
        } else if (is(key, "ap")) {
            seen |= 4;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &quote->ask);
        } else if (is(key, "as")) {
            seen |= 8;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &quote->ask_qty);
        } else if (is(key, "t")) {
            seen |= 16;
            ok = alpaca_reader_time(reader, &event->event_ns);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    return seen == 31;
}

bool alpaca_read_bar(struct reader *reader, bool old, const struct symbol *symbol, struct bar *ret)
{
    struct bar bar = {.first_trade_id = -1, .last_trade_id = -1};
    struct json_text key;
    int64_t average = 0;
    uint32_t seen = 0;
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "o")) {
            seen |= 1;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &bar.open);
        } else if (is(key, "h")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &bar.high);
        } else if (is(key, "l")) {
            seen |= 4;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &bar.low) && bar.low > 0;
        } else if (is(key, "c")) {
            seen |= 8;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &bar.close);
        } else if (is(key, "v")) {
            seen |= 16;
            ok = alpaca_reader_wide(reader, symbol->qty_scale, &bar.volume);
        } else if (is(key, "t")) {
            seen |= 32;
            ok = alpaca_reader_time(reader, &bar.open_ns);
        } else if (is(key, "n")) {
            seen |= 64;
            ok = alpaca_reader_int(reader, &bar.trades) && bar.trades >= 0;
        } else if (is(key, "vw")) {
            seen |= 128;
            ok = alpaca_reader_rough(reader, symbol->price_scale, &average);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    if (reader_failed(reader) || (seen & 63) != 63 || (!old && seen != 255) || bar.open < bar.low ||
        bar.open > bar.high || bar.close < bar.low || bar.close > bar.high ||
        __builtin_mul_overflow(bar.volume, (int128_t)average, &bar.quote_volume))
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
        event->event_ns = old ? bar.open_ns : 0; /* REST tells of several days */
        event->ticker = (struct market_ticker){bar.open, bar.high, bar.low, bar.close, bar.volume};
        return true;
    }
    event->kind = type == 'b' ? MARKET_KLINE : MARKET_REVISION;
    event->event_ns = type == 'b' ? bar.open_ns + MINUTE_NS : 0;
    event->kline = (struct market_kline){.interval_ns = MINUTE_NS, .bar = bar, .closed = true};
    return bar.open_ns % MINUTE_NS == 0;
}

static bool read_correction(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct market_correction *correction = &event->correction;
    struct json_text key;
    uint32_t seen = 0;
    *correction = (struct market_correction){0};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "oi")) {
            seen |= 1;
            ok = alpaca_reader_int(reader, &correction->id) && correction->id >= 0;
        } else if (is(key, "op")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &correction->old_price);
        } else if (is(key, "os")) {
            seen |= 4;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &correction->old_qty);
        } else if (is(key, "ci")) {
            seen |= 8;
            ok = alpaca_reader_int(reader, &correction->new_id) && correction->new_id >= 0;
        } else if (is(key, "cp")) {
            seen |= 16;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &correction->price) &&
                 correction->price > 0;
        } else if (is(key, "cs")) {
            seen |= 32;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &correction->qty);
        } else if (is(key, "t")) {
            seen |= 64;
            ok = alpaca_reader_time(reader, &correction->ts_ns);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    event->event_ns = correction->ts_ns;
    return seen == 127;
}

static bool read_cancel(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct market_correction *cancel = &event->correction;
    struct json_text key, text = {"", 0};
    uint32_t seen = 0;
    *cancel = (struct market_correction){0};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "i")) {
            seen |= 1;
            ok = alpaca_reader_int(reader, &cancel->id) && cancel->id >= 0;
        } else if (is(key, "p")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &cancel->price);
        } else if (is(key, "s")) {
            seen |= 4;
            ok = alpaca_reader_amount(reader, symbol->qty_scale, &cancel->qty);
        } else if (is(key, "t")) {
            seen |= 8;
            ok = alpaca_reader_time(reader, &cancel->ts_ns);
        } else if (is(key, "a")) {
            ok = maybe_text(reader, &text);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    cancel->new_id = cancel->id;
    cancel->old_price = cancel->price;
    cancel->old_qty = cancel->qty;
    copy_text(text, cancel->code, sizeof(cancel->code));
    event->event_ns = cancel->ts_ns;
    return seen == 15;
}

static bool read_bands(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct json_text key;
    uint32_t seen = 0;
    event->bands = (struct market_bands){0};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "u")) {
            seen |= 1;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &event->bands.up);
        } else if (is(key, "d")) {
            seen |= 2;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &event->bands.down);
        } else if (is(key, "t")) {
            seen |= 4;
            ok = alpaca_reader_time(reader, &event->event_ns);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    return seen == 7;
}

static bool read_imbalance(struct reader *reader, const struct symbol *symbol, struct market_event *event)
{
    struct json_text key;
    uint32_t seen = 0;
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "p")) {
            seen |= 1;
            ok = alpaca_reader_amount(reader, symbol->price_scale, &event->imbalance_price);
        } else if (is(key, "t")) {
            seen |= 2;
            ok = alpaca_reader_time(reader, &event->event_ns);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    return seen == 3;
}

/* The tapes' codes: CTA's 2 halt, 3 resume; UTP's H halt, P volatility pause, Q quotes only, T resume. What
 * else they send (price indications, imbalances, short sale rules) halts nothing. D as the reason: deleted.
 */
static bool trading_of(struct json_text code, struct json_text why, enum market_trading *ret)
{
    if (is(code, "2") || is(code, "H") || is(code, "P") || is(code, "Q"))
        *ret = is(why, "D") ? MARKET_ENDED : MARKET_HALTED;
    else if (is(code, "3") || is(code, "T"))
        *ret = MARKET_TRADES;
    else
        return false;
    return true;
}

static int read_status(struct reader *reader, struct market_event *event)
{
    struct json_text key, code = {0}, said = {"", 0}, why = {"", 0}, reason = {"", 0};
    bool timed = false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "sc")) {
            ok = alpaca_reader_text(reader, &code);
        } else if (is(key, "sm")) {
            ok = maybe_text(reader, &said);
        } else if (is(key, "rc")) {
            ok = maybe_text(reader, &why);
        } else if (is(key, "rm")) {
            ok = maybe_text(reader, &reason);
        } else if (is(key, "t")) {
            timed = ok = alpaca_reader_time(reader, &event->event_ns);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return -EBADMSG;
    }
    if (!code.data || !timed)
        return -EBADMSG;
    event->status = (struct market_status){0};
    copy_text(code, event->status.code, sizeof(event->status.code));
    copy_text(reason.len > 0 ? reason : said, event->status.reason, sizeof(event->status.reason));
    return trading_of(code, why, &event->status.trading) ? 0 : 1;
}

static bool read_levels(struct reader *reader, const struct symbol *symbol, struct book_level *levels,
                        uint32_t *ret_n)
{
    struct json_text key;
    uint32_t n = 0;
    *ret_n = 0;
    if (alpaca_reader_peek(reader) == 'n')
        return alpaca_reader_skip(reader);
    if (!alpaca_reader_enter_array(reader))
        return false;
    while (alpaca_reader_element(reader)) {
        uint32_t seen = 0;
        if (n == ALPACA_LEVELS_MAX || !alpaca_reader_enter_map(reader))
            return false;
        while (alpaca_reader_member(reader, &key)) {
            bool ok;
            if (is(key, "p")) {
                seen |= 1;
                ok = alpaca_reader_amount(reader, symbol->price_scale, &levels[n].price) &&
                     levels[n].price > 0;
            } else if (is(key, "s")) {
                seen |= 2;
                ok = alpaca_reader_amount(reader, symbol->qty_scale, &levels[n].qty);
            } else {
                ok = alpaca_reader_skip(reader);
            }
            if (!ok)
                return false;
        }
        if (seen != 3)
            return false;
        n++;
    }
    *ret_n = n;
    return !reader_failed(reader);
}

static bool read_book(struct reader *reader, const struct symbol *symbol, struct alpaca_levels *levels,
                      struct market_event *event)
{
    struct json_text key;
    uint32_t seen = 0;
    bool whole = false;
    event->depth = (struct market_depth){.bids = levels->bids, .asks = levels->asks};
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (is(key, "b")) {
            seen |= 1;
            ok = read_levels(reader, symbol, levels->bids, &event->depth.n_bids);
        } else if (is(key, "a")) {
            seen |= 2;
            ok = read_levels(reader, symbol, levels->asks, &event->depth.n_asks);
        } else if (is(key, "t")) {
            seen |= 4;
            ok = alpaca_reader_time(reader, &event->event_ns);
        } else if (is(key, "r")) {
            ok = alpaca_reader_bool(reader, &whole);
        } else {
            ok = alpaca_reader_skip(reader);
        }
        if (!ok)
            return false;
    }
    event->kind = whole ? MARKET_BOOK : MARKET_DEPTH;
    return seen == 7;
}

int alpaca_read_message(struct reader *reader, char type, bool old, const struct symbol *symbol,
                        struct alpaca_levels *levels, struct market_event *ret)
{
    bool ok;
    int r = 0;
    ret->event_ns = 0;
    if (type == 'b' || type == 'u' || type == 'd')
        return read_kline(reader, type, old, symbol, ret) ? 0 : -EBADMSG;
    if (type == '\0' || !strchr("tqcxlsio", type))
        return alpaca_reader_skip(reader) ? 1 : -EBADMSG;
    if (!alpaca_reader_enter_map(reader))
        return -EBADMSG;
    switch (type) {
    case 't':
        ret->kind = MARKET_TRADE;
        ok = read_trade(reader, symbol, ret);
        break;
    case 'q':
        ret->kind = MARKET_QUOTE;
        ok = read_quote(reader, symbol, ret);
        break;
    case 'c':
        ret->kind = MARKET_CORRECTION;
        ok = read_correction(reader, symbol, ret);
        break;
    case 'x':
        ret->kind = MARKET_CANCEL;
        ok = read_cancel(reader, symbol, ret);
        break;
    case 'l':
        ret->kind = MARKET_BANDS;
        ok = read_bands(reader, symbol, ret);
        break;
    case 'i':
        ret->kind = MARKET_IMBALANCE;
        ok = read_imbalance(reader, symbol, ret);
        break;
    case 's':
        ret->kind = MARKET_STATUS;
        r = read_status(reader, ret);
        ok = r >= 0;
        break;
    default:
        ok = read_book(reader, symbol, levels, ret);
    }
    return ok && !reader_failed(reader) ? r : -EBADMSG;
}
