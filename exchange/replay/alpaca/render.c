#include "exchange/replay/alpaca/render.h"

#define VWAP_DIGITS 1000 /* of stocks: six digits after the point */

static const char letters[FLOW_KINDS] = {
    [FLOW_TRADE] = 't',      [FLOW_QUOTE] = 'q',  [FLOW_BAR] = 'b',   [FLOW_UPDATED] = 'u',
    [FLOW_DAY] = 'd',        [FLOW_STATUS] = 's', [FLOW_BANDS] = 'l', [FLOW_IMBALANCE] = 'i',
    [FLOW_CORRECTION] = 'c', [FLOW_CANCEL] = 'x', [FLOW_BOOK] = 'o',
};

enum { HEAD = 2 }; /* members that a message has before its fields */

static void begin(struct wire *wire, size_t members, const struct made_symbol *symbol, enum flow_kind kind)
{
    replay_wire_map(wire, members + HEAD);
    replay_wire_key(wire, "T");
    replay_wire_letter(wire, letters[kind]);
    replay_wire_key(wire, "S");
    replay_wire_str(wire, symbol->name);
}

static void put_str(struct wire *wire, const char *key, const char *value)
{
    replay_wire_key(wire, key);
    replay_wire_str(wire, value);
}

static void put_letter(struct wire *wire, const char *key, char value)
{
    replay_wire_key(wire, key);
    replay_wire_letter(wire, value);
}

static void put_e9(struct wire *wire, const char *key, int64_t value)
{
    replay_wire_key(wire, key);
    replay_wire_e9(wire, value);
}

static void put_int(struct wire *wire, const char *key, int64_t value)
{
    replay_wire_key(wire, key);
    replay_wire_int(wire, value);
}

/* Shares are whole numbers but where a file has parts of them, coins are not. */
static void put_size(struct wire *wire, const char *key, const struct made_symbol *symbol, int64_t size)
{
    replay_wire_key(wire, key);
    if (symbol->class == MADE_CRYPTO || size % MADE_E9 != 0)
        replay_wire_e9(wire, size);
    else
        replay_wire_whole(wire, size);
}

static void put_time(struct wire *wire, int64_t ns)
{
    replay_wire_key(wire, "t");
    replay_wire_time(wire, ns);
}

static void put_conditions(struct wire *wire, const char *key, const struct made_symbol *symbol,
                           const struct made_trade *trade)
{
    replay_wire_key(wire, key);
    replay_wire_array(wire, 1u + trade->opening + trade->closing + trade->extended + trade->odd);
    replay_wire_str(wire, symbol->tape == 'A' || symbol->tape == 'B' ? " " : "@");
    if (trade->opening)
        replay_wire_str(wire, "O");
    if (trade->closing)
        replay_wire_str(wire, "M");
    if (trade->extended)
        replay_wire_str(wire, "T");
    if (trade->odd)
        replay_wire_str(wire, "I");
    replay_wire_array_end(wire);
}

static void put_trade(struct wire *wire, const struct made_symbol *symbol, const struct made_trade *trade)
{
    put_int(wire, "i", trade->id);
    if (symbol->class != MADE_CRYPTO)
        put_letter(wire, "x", trade->exchange);
    put_e9(wire, "p", trade->price);
    put_size(wire, "s", symbol, trade->size);
    if (symbol->class == MADE_CRYPTO) {
        put_letter(wire, "tks", trade->buy ? 'B' : 'S');
    } else {
        put_conditions(wire, "c", symbol, trade);
        put_letter(wire, "z", symbol->tape);
    }
    put_time(wire, trade->ts_ns);
}

static size_t trade_members(const struct made_symbol *symbol)
{
    return symbol->class == MADE_CRYPTO ? 5 : 7;
}

static void put_quote(struct wire *wire, const struct made_symbol *symbol, const struct made_tick *tick)
{
    bool crypto = symbol->class == MADE_CRYPTO;
    if (!crypto)
        put_letter(wire, "ax", tick->ask_exchange);
    put_e9(wire, "ap", tick->ask);
    put_size(wire, "as", symbol, tick->ask_size);
    if (!crypto)
        put_letter(wire, "bx", tick->bid_exchange);
    put_e9(wire, "bp", tick->bid);
    put_size(wire, "bs", symbol, tick->bid_size);
    if (!crypto) {
        replay_wire_key(wire, "c");
        replay_wire_array(wire, 1);
        replay_wire_str(wire, "R");
        replay_wire_array_end(wire);
        put_letter(wire, "z", symbol->tape);
    }
    put_time(wire, tick->ts_ns);
}

static size_t quote_members(const struct made_symbol *symbol)
{
    return symbol->class == MADE_CRYPTO ? 5 : 9;
}

enum { BAR_MEMBERS = 8 };

static void put_bar(struct wire *wire, const struct made_symbol *symbol, const struct tally *bar)
{
    int64_t vwap = replay_tally_vwap(bar);
    if (symbol->class != MADE_CRYPTO)
        vwap = (vwap + VWAP_DIGITS / 2) / VWAP_DIGITS * VWAP_DIGITS;
    put_e9(wire, "o", bar->open);
    put_e9(wire, "h", bar->high);
    put_e9(wire, "l", bar->low);
    put_e9(wire, "c", bar->close);
    put_size(wire, "v", symbol, bar->volume);
    put_time(wire, bar->begin_ns);
    put_int(wire, "n", bar->count);
    put_e9(wire, "vw", vwap);
}

static void put_level(struct wire *wire, int64_t price, int64_t size)
{
    replay_wire_map(wire, 2);
    put_e9(wire, "p", price);
    put_e9(wire, "s", size);
    replay_wire_map_end(wire);
}

/* Both sides are sorted, best first: `sign` 1 for bids, whose prices fall. With `wire` NULL they are only
 * counted. */
static size_t side_changes(struct wire *wire, const struct made_level *sent, const struct made_level *now,
                           int sign)
{
    size_t n = 0, i = 0, j = 0;
    while (i < MADE_LEVELS || j < MADE_LEVELS) {
        int64_t order = i == MADE_LEVELS ? 1 : j == MADE_LEVELS ? -1 : (now[j].price - sent[i].price) * sign;
        const struct made_level *level = NULL;
        struct made_level removed;
        if (order < 0) { /* it is there no more */
            removed = (struct made_level){sent[i++].price, 0};
            level = &removed;
        } else if (order > 0) {
            level = &now[j++];
        } else {
            if (sent[i].size != now[j].size)
                level = &now[j];
            i++;
            j++;
        }
        if (level && wire)
            put_level(wire, level->price, level->size);
        n += level != NULL;
    }
    return n;
}

static void put_whole_side(struct wire *wire, const struct made_level *levels)
{
    replay_wire_array(wire, MADE_LEVELS);
    for (int i = 0; i < MADE_LEVELS; i++)
        put_level(wire, levels[i].price, levels[i].size);
    replay_wire_array_end(wire);
}

static void put_side(struct wire *wire, const struct made_level *sent, const struct made_level *now, int sign)
{
    if (!sent) {
        put_whole_side(wire, now);
        return;
    }
    replay_wire_array(wire, side_changes(NULL, sent, now, sign));
    side_changes(wire, sent, now, sign);
    replay_wire_array_end(wire);
}

static void put_book(struct wire *wire, const struct made_book *sent, const struct made_book *now, int64_t ns)
{
    put_time(wire, ns);
    replay_wire_key(wire, "b");
    put_side(wire, sent ? sent->bids : NULL, now->bids, 1);
    replay_wire_key(wire, "a");
    put_side(wire, sent ? sent->asks : NULL, now->asks, -1);
}

bool replay_render_book_differs(const struct made_book *sent, const struct made_book *now)
{
    return side_changes(NULL, sent->bids, now->bids, 1) + side_changes(NULL, sent->asks, now->asks, -1) > 0;
}

static void put_status(struct wire *wire, const struct made_symbol *symbol, const struct flow_event *event)
{
    bool utp = symbol->tape == 'C', resumes = event->status.resumes;
    put_str(wire, "sc", utp ? (resumes ? "T" : "H") : (resumes ? "3" : "2"));
    put_str(wire, "sm", resumes ? (utp ? "Trading Resumption" : "Resume") : "Trading Halt");
    put_str(wire, "rc", event->status.code);
    put_str(wire, "rm", event->status.reason);
    put_time(wire, event->due_ns);
    put_letter(wire, "z", symbol->tape);
}

static void put_correction(struct wire *wire, const struct made_symbol *symbol,
                           const struct made_trade *trade)
{
    put_letter(wire, "x", trade->exchange);
    put_int(wire, "oi", trade->id);
    put_e9(wire, "op", trade->price);
    put_size(wire, "os", symbol, trade->size);
    put_conditions(wire, "oc", symbol, trade);
    put_int(wire, "ci", trade->new_id);
    put_e9(wire, "cp", trade->new_price);
    put_size(wire, "cs", symbol, trade->new_size);
    put_conditions(wire, "cc", symbol, trade);
    put_time(wire, trade->revised_ns);
    put_letter(wire, "z", symbol->tape);
}

static void put_cancel(struct wire *wire, const struct made_symbol *symbol, const struct made_trade *trade)
{
    put_int(wire, "i", trade->id);
    put_letter(wire, "x", trade->exchange);
    put_e9(wire, "p", trade->price);
    put_size(wire, "s", symbol, trade->size);
    put_letter(wire, "a", 'C');
    put_time(wire, trade->revised_ns);
    put_letter(wire, "z", symbol->tape);
}

void replay_render_event(struct wire *wire, const struct made *made, const struct flow_event *event,
                         const struct made_book *sent)
{
    const struct made_symbol *symbol = &made->symbols[event->symbol];
    struct made_book now;
    switch (event->kind) {
    case FLOW_TRADE:
        begin(wire, trade_members(symbol), symbol, event->kind);
        put_trade(wire, symbol, &event->tick.trade);
        break;
    case FLOW_QUOTE:
        begin(wire, quote_members(symbol), symbol, event->kind);
        put_quote(wire, symbol, &event->tick);
        break;
    case FLOW_BAR:
    case FLOW_UPDATED:
    case FLOW_DAY:
        begin(wire, BAR_MEMBERS, symbol, event->kind);
        put_bar(wire, symbol, &event->bar);
        break;
    case FLOW_STATUS:
        begin(wire, 6, symbol, event->kind);
        put_status(wire, symbol, event);
        break;
    case FLOW_BANDS:
        begin(wire, 5, symbol, event->kind);
        put_e9(wire, "u", event->bands.up);
        put_e9(wire, "d", event->bands.down);
        put_str(wire, "i", "B");
        put_time(wire, event->due_ns);
        put_letter(wire, "z", symbol->tape);
        break;
    case FLOW_IMBALANCE:
        begin(wire, 3, symbol, event->kind);
        put_e9(wire, "p", event->price);
        put_letter(wire, "z", symbol->tape);
        put_time(wire, event->due_ns);
        break;
    case FLOW_CORRECTION:
        begin(wire, 11, symbol, event->kind);
        put_correction(wire, symbol, &event->tick.trade);
        break;
    case FLOW_CANCEL:
        begin(wire, 7, symbol, event->kind);
        put_cancel(wire, symbol, &event->tick.trade);
        break;
    case FLOW_BOOK:
        replay_made_book(made, event->symbol, &event->tick, &now);
        begin(wire, sent ? 3 : 4, symbol, event->kind);
        put_book(wire, sent, &now, event->tick.ts_ns);
        if (!sent) {
            replay_wire_key(wire, "r");
            replay_wire_bool(wire, true);
        }
        break;
    case FLOW_KINDS:
        break;
    }
    replay_wire_map_end(wire);
}

void replay_render_trade_object(struct wire *wire, const struct made_symbol *symbol,
                                const struct made_trade *trade, int64_t as_of_ns)
{
    struct made_trade sent = *trade;
    bool revised = trade->revision != MADE_STANDS && trade->revised_ns <= as_of_ns;
    bool corrected = revised && trade->revision == MADE_CORRECTED;
    if (corrected) {
        sent.id = trade->new_id;
        sent.price = trade->new_price;
        sent.size = trade->new_size;
    }
    replay_wire_map(wire, trade_members(symbol) + revised);
    put_trade(wire, symbol, &sent);
    if (revised)
        put_str(wire, "u", corrected ? "corrected" : "canceled");
    replay_wire_map_end(wire);
}

void replay_render_quote_object(struct wire *wire, const struct made_symbol *symbol,
                                const struct made_tick *tick)
{
    replay_wire_map(wire, quote_members(symbol));
    put_quote(wire, symbol, tick);
    replay_wire_map_end(wire);
}

void replay_render_bar_object(struct wire *wire, const struct made_symbol *symbol, const struct tally *bar)
{
    replay_wire_map(wire, BAR_MEMBERS);
    put_bar(wire, symbol, bar);
    replay_wire_map_end(wire);
}

void replay_render_book_object(struct wire *wire, const struct made_book *book, int64_t ns)
{
    replay_wire_map(wire, 3);
    put_book(wire, NULL, book, ns);
    replay_wire_map_end(wire);
}
