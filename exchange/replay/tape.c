#include "exchange/replay/tape.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/render.h"
#include "exchange/replay/retime.h"

#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL
#define AGG_GRACE_NS \
    (100 * NS_PER_MS) /* a run of trades of one time is over when time is past it by this much */
#define KLINE_EVERY_NS (250 * NS_PER_MS) /* forming klines go out at most so often */
#define DAY_MINUTES    1440

void replay_tape_init(struct tape *tape)
{
    tape->now_ns = INT64_MIN;
    tape->aggregates_kept = TAPE_AGGREGATES_KEPT;
}

void replay_tape_finish(struct tape *tape)
{
    for (int i = 0; i < tape->n_symbols; i++) {
        replay_candles_finish(&tape->symbols[i].candles);
        replay_ladder_finish(&tape->symbols[i].slow[0]);
        replay_ladder_finish(&tape->symbols[i].slow[1]);
        free(tape->symbols[i].trades);
        free(tape->symbols[i].aggregates);
        free(tape->symbols[i].info);
    }
    for (int i = 0; i < TAPE_HASH; i++) {
        for (struct replay_stream *s = tape->hash[i], *next; s; s = next) {
            next = s->next;
            free(s->listeners);
            free(s->name);
            free(s);
        }
        tape->hash[i] = NULL;
    }
    text_finish(&tape->scratch);
    text_finish(&tape->other);
    free(tape->symbols);
    free(tape->by_name);
    tape->symbols = NULL;
    tape->by_name = NULL;
    tape->n_symbols = tape->cap_symbols = 0;
}

/* FNV-1a, of the name in lower case. */
static uint32_t hash_name(const char *name, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)tolower((unsigned char)name[i])) * 16777619u;
    return h % TAPE_HASH;
}

/* The slot of a name: its own, or the free one where it would stand. */
static int *slot(const struct tape *tape, const char *name, size_t len)
{
    uint32_t h = hash_name(name, len);
    for (;; h = (h + 1) % TAPE_HASH) {
        int at = tape->by_name[h];
        if (at == 0 || (strlen(tape->symbols[at - 1].name) == len &&
                        strncasecmp(tape->symbols[at - 1].name, name, len) == 0))
            return &tape->by_name[h];
    }
}

int replay_tape_symbol_find(const struct tape *tape, const char *name, size_t len)
{
    return tape->by_name ? *slot(tape, name, len) - 1 : -1;
}

/* Room for one more; false when memory is out. */
static bool reserve_symbol(struct tape *tape)
{
    if (!tape->by_name && !(tape->by_name = calloc(TAPE_HASH, sizeof(*tape->by_name))))
        return false;
    if (tape->n_symbols < tape->cap_symbols)
        return true;
    int cap = tape->cap_symbols ? tape->cap_symbols * 2 : 8;
    struct tape_symbol *symbols = reallocarray(tape->symbols, (size_t)cap, sizeof(*symbols));
    if (!symbols)
        return false;
    tape->symbols = symbols;
    tape->cap_symbols = cap;
    return true;
}

int replay_tape_symbol_add(struct tape *tape, const char *name, size_t len)
{
    int found = replay_tape_symbol_find(tape, name, len);
    if (found >= 0)
        return found;
    if (len == 0 || len >= SYMBOL_NAME_MAX)
        return -EINVAL;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') /* futures have one */
            return -EINVAL;
    if (tape->n_symbols == TAPE_SYMBOLS_MAX)
        return -ENOSPC;
    if (!reserve_symbol(tape))
        return -ENOMEM;
    struct tape_symbol *s = &tape->symbols[tape->n_symbols];
    *s = (struct tape_symbol){.next_close_ns = INT64_MAX, .status = "TRADING"};
    s->trades = calloc(TAPE_TRADES_KEPT, sizeof(*s->trades));
    if (!s->trades)
        return -ENOMEM;
    for (size_t i = 0; i < len; i++) {
        s->name[i] = (char)toupper((unsigned char)name[i]);
        s->lower[i] = (char)tolower((unsigned char)name[i]);
    }
    replay_candles_init(&s->candles);
    s->slow[0] = (struct replay_ladder){.bid = true, .keep_zero = true};
    s->slow[1] = (struct replay_ladder){.keep_zero = true};
    *slot(tape, name, len) = ++tape->n_symbols;
    return tape->n_symbols - 1;
}

static struct replay_stream **bucket(struct tape *tape, const char *name, size_t len)
{
    return &tape->hash[hash_name(name, len)];
}

static struct replay_stream *find_stream(struct tape *tape, const char *name, size_t len)
{
    struct replay_stream *s = *bucket(tape, name, len);
    while (s && (s->name_len != len || memcmp(s->name, name, len) != 0))
        s = s->next;
    return s;
}

struct replay_stream *replay_tape_stream(struct tape *tape, const char *name, size_t len)
{
    struct replay_stream *s = find_stream(tape, name, len);
    if (s)
        return s;
    s = calloc(1, sizeof(*s));
    if (!s || !(s->name = strndup(name, len))) {
        free(s);
        return NULL;
    }
    size_t symbol_len;
    s->name_len = len;
    s->kind = replay_stream_parse(name, len, &symbol_len, &s->interval);
    s->symbol = replay_tape_symbol_find(tape, name, symbol_len);
    if (s->symbol >= 0 && memcmp(tape->symbols[s->symbol].lower, name, symbol_len) != 0)
        s->symbol = -1; /* names of streams are in lower case */
    s->open_ns = s->last_sent_ns = INT64_MIN;
    if (s->symbol >= 0) {
        s->sibling = tape->symbols[s->symbol].streams;
        tape->symbols[s->symbol].streams = s;
    }
    struct replay_stream **at = bucket(tape, name, len);
    s->next = *at;
    *at = s;
    return s;
}

/* Frees a stream without listeners that no recording holds. */
static void drop_stream(struct tape *tape, struct replay_stream *s)
{
    struct replay_stream **at = bucket(tape, s->name, s->name_len);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->symbol >= 0) {
        at = &tape->symbols[s->symbol].streams;
        while (*at != s)
            at = &(*at)->sibling;
        *at = s->sibling;
    }
    free(s->listeners);
    free(s->name);
    free(s);
}

static void find_next_close(struct tape_symbol *sym)
{
    sym->next_close_ns = INT64_MAX;
    for (const struct replay_stream *s = sym->streams; s; s = s->sibling) {
        if (s->kind != STREAM_KLINE || s->recorded || s->n_listeners == 0 || s->open_ns == INT64_MIN)
            continue;
        int64_t close = replay_candle_end_time(s->interval, s->open_ns);
        if (close < sym->next_close_ns)
            sym->next_close_ns = close;
    }
}

/* What a stream needs of the past when its first listener comes. */
static void begin_stream(struct tape *tape, struct replay_stream *s)
{
    struct tape_symbol *sym = &tape->symbols[s->symbol];
    s->open_ns = s->last_sent_ns = INT64_MIN;
    s->changed = false;
    if (s->kind == STREAM_KLINE && sym->candles.tiers[0].n > 0)
        s->open_ns = replay_candle_open_time(s->interval, tape->now_ns);
    if (s->kind == STREAM_DEPTH) {
        sym->slow[0].n = sym->slow[1].n = 0;
        sym->slow_last_id = 0;
    }
    find_next_close(sym);
}

int replay_tape_listen(struct tape *tape, const char *name, size_t len, void *client, bool combined, int unit)
{
    struct replay_stream *s = replay_tape_stream(tape, name, len);
    if (!s)
        return -ENOMEM;
    for (size_t i = 0; i < s->n_listeners; i++)
        if (s->listeners[i].client == client)
            return 1;
    if (s->n_listeners == s->cap_listeners) {
        size_t cap = s->cap_listeners ? s->cap_listeners * 2 : 4;
        struct listener *listeners = reallocarray(s->listeners, cap, sizeof(*listeners));
        if (!listeners)
            return -ENOMEM;
        s->listeners = listeners;
        s->cap_listeners = cap;
    }
    s->listeners[s->n_listeners++] = (struct listener){client, combined, unit};
    s->n_units[unit]++;
    if (s->n_listeners == 1 && s->symbol >= 0)
        begin_stream(tape, s);
    return 0;
}

bool replay_tape_unlisten(struct tape *tape, const char *name, size_t len, void *client)
{
    struct replay_stream *s = find_stream(tape, name, len);
    for (size_t i = 0; s && i < s->n_listeners; i++) {
        if (s->listeners[i].client != client)
            continue;
        s->n_units[s->listeners[i].unit]--;
        s->listeners[i] = s->listeners[--s->n_listeners];
        int symbol = s->symbol;
        if (s->n_listeners == 0 && !s->recorded)
            drop_stream(tape, s);
        if (symbol >= 0)
            find_next_close(&tape->symbols[symbol]);
        return true;
    }
    return false;
}

/* A recorded message goes to each listener in the unit that it wants. */
static void send_recorded(struct tape *tape, struct replay_stream *s, const char *raw, size_t raw_len)
{
    for (int unit = 0; unit < STREAM_UNITS; unit++) {
        if (s->n_units[unit] == 0)
            continue;
        text_clear(&tape->other);
        if (!replay_retime(&tape->other, unit, raw, raw_len))
            tape->deliver(tape->user, s, unit, raw, raw_len);
        else if (text_ok(&tape->other))
            tape->deliver(tape->user, s, unit, tape->other.data, tape->other.len);
        else
            tape->failed = true;
    }
}

static void send_scratch(struct tape *tape, struct replay_stream *s, int unit)
{
    if (!text_ok(&tape->scratch))
        tape->failed = true;
    else if (s->n_units[unit] > 0)
        tape->deliver(tape->user, s, unit, tape->scratch.data, tape->scratch.len);
}

static bool subscribes(const struct replay_stream *s, enum stream_kind kind)
{
    return s->kind == kind && s->n_listeners > 0 && !s->recorded;
}

/* The stream of a kind, if it has listeners and is not recorded. */
static struct replay_stream *wanted(const struct tape_symbol *sym, enum stream_kind kind)
{
    for (struct replay_stream *s = sym->streams; s; s = s->sibling)
        if (subscribes(s, kind))
            return s;
    return NULL;
}

/* The same in a unit; the scratch text is empty then. */
static bool wanted_in(struct tape *tape, const struct tape_symbol *sym, enum stream_kind kind, int unit)
{
    for (const struct replay_stream *s = sym->streams; s; s = s->sibling) {
        if (subscribes(s, kind) && s->n_units[unit] > 0) {
            text_clear(&tape->scratch);
            return true;
        }
    }
    return false;
}

/* Sends the scratch text to every stream of a kind that is not recorded. */
static void send_kind(struct tape *tape, struct tape_symbol *sym, enum stream_kind kind, int unit)
{
    for (struct replay_stream *s = sym->streams; s; s = s->sibling)
        if (subscribes(s, kind))
            send_scratch(tape, s, unit);
}

/* Sends a recorded message to every stream of a kind. */
static void pass_on(struct tape *tape, struct tape_symbol *sym, enum stream_kind kind, const char *raw,
                    size_t raw_len)
{
    for (struct replay_stream *s = sym->streams; s; s = s->sibling)
        if (s->kind == kind && s->n_listeners > 0)
            send_recorded(tape, s, raw, raw_len);
}

/* ---- aggregates that REST has ---- */

/* One that a recording has twice, as of two connections, is kept once. */
static void keep_aggregate(struct tape *tape, struct tape_symbol *sym, const struct tape_aggregate *aggregate)
{
    if (sym->n_aggregates > 0 && aggregate->id <= replay_tape_aggregate(sym, sym->n_aggregates - 1)->id)
        return;
    if (sym->n_aggregates == sym->cap_aggregates && sym->cap_aggregates < tape->aggregates_kept) {
        uint64_t cap = sym->cap_aggregates ? 2 * sym->cap_aggregates : 256;
        cap = cap < tape->aggregates_kept ? cap : tape->aggregates_kept;
        struct tape_aggregate *more = reallocarray(sym->aggregates, cap, sizeof(*more));
        if (!more) {
            tape->failed = true;
            return;
        }
        sym->aggregates = more;
        sym->cap_aggregates = cap;
    }
    sym->aggregates[sym->n_aggregates++ % sym->cap_aggregates] = *aggregate;
}

static bool records_aggregates(const struct tape_symbol *sym)
{
    const struct replay_stream *s = sym->streams;
    while (s && !(s->kind == STREAM_AGG_TRADE && s->recorded))
        s = s->sibling;
    return s != NULL;
}

uint64_t replay_tape_aggregates_first(const struct tape_symbol *symbol)
{
    return symbol->n_aggregates > symbol->cap_aggregates ? symbol->n_aggregates - symbol->cap_aggregates : 0;
}

const struct tape_aggregate *replay_tape_aggregate(const struct tape_symbol *symbol, uint64_t position)
{
    return &symbol->aggregates[position % symbol->cap_aggregates];
}

uint64_t replay_tape_aggregates_from(const struct tape_symbol *symbol, bool by_time, int64_t least)
{
    uint64_t low = replay_tape_aggregates_first(symbol), high = symbol->n_aggregates;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct tape_aggregate *at = replay_tape_aggregate(symbol, middle);
        if ((by_time ? at->ts_ns : at->id) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void flush_agg(struct tape *tape, struct tape_symbol *sym)
{
    if (!sym->agg_open)
        return;
    sym->agg_open = false;
    if (!records_aggregates(sym)) /* else REST has those of the recording */
        keep_aggregate(tape, sym,
                       &(struct tape_aggregate){.ts_ns = sym->agg.ts_ns,
                                                .id = sym->agg_id,
                                                .first_id = sym->agg_first_id,
                                                .last_id = sym->agg_last_id,
                                                .price = sym->agg.price,
                                                .qty = sym->agg_qty,
                                                .buyer_maker = sym->agg.buyer_maker});
    for (int unit = 0; unit < STREAM_UNITS; unit++) {
        if (!wanted_in(tape, sym, STREAM_AGG_TRADE, unit))
            continue;
        replay_render_agg_trade(&tape->scratch, unit, sym->name, &sym->agg, sym->agg_id, sym->agg_first_id,
                                sym->agg_last_id, sym->agg_qty);
        send_kind(tape, sym, STREAM_AGG_TRADE, unit);
    }
    sym->agg_id++;
}

static void send_kline(struct tape *tape, struct tape_symbol *sym, struct replay_stream *s, bool closed)
{
    struct candle candle;
    if (!replay_candles_get(&sym->candles, s->interval, s->open_ns, &candle))
        return;
    for (int unit = 0; unit < STREAM_UNITS; unit++) {
        text_clear(&tape->scratch);
        if (s->n_units[unit] > 0)
            replay_render_kline(&tape->scratch, unit, sym->name, tape->now_ns, s->interval, &candle, closed);
        send_scratch(tape, s, unit);
    }
    s->last_sent_ns = tape->now_ns;
    s->changed = false;
}

/* Sends klines that are closed by ts_ns. */
static void send_closed(struct tape *tape, struct tape_symbol *sym, int64_t ts_ns)
{
    for (struct replay_stream *s = sym->streams; s; s = s->sibling) {
        if (s->kind != STREAM_KLINE || s->recorded || s->n_listeners == 0 || s->open_ns == INT64_MIN)
            continue;
        for (int64_t end_ns; (end_ns = replay_candle_end_time(s->interval, s->open_ns)) <= ts_ns;
             s->open_ns = end_ns)
            send_kline(tape, sym, s, true);
    }
    find_next_close(sym);
}

static void close_klines(struct tape *tape, struct tape_symbol *sym, int64_t ts_ns)
{
    if (ts_ns < sym->next_close_ns)
        return;
    if (replay_candles_advance(&sym->candles, ts_ns) < 0)
        tape->failed = true;
    send_closed(tape, sym, ts_ns);
}

static void send_ticker(struct tape *tape, int symbol)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    struct replay_stream *s = wanted(sym, STREAM_MINI_TICKER);
    struct candle day;
    if (!s || !s->changed || (s->last_sent_ns != INT64_MIN && tape->now_ns - s->last_sent_ns < NS_PER_S) ||
        !replay_tape_day(tape, symbol, &day))
        return;
    for (int unit = 0; unit < STREAM_UNITS; unit++) {
        text_clear(&tape->scratch);
        if (s->n_units[unit] > 0)
            replay_render_mini_ticker(&tape->scratch, unit, sym->name, tape->now_ns, &day);
        send_scratch(tape, s, unit);
    }
    s->last_sent_ns = tape->now_ns;
    s->changed = false;
}

void replay_tape_advance(struct tape *tape, int symbol, int64_t event_ns, int64_t grace_ns)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    if (event_ns > tape->now_ns)
        tape->now_ns = event_ns;
    if (sym->agg_open && event_ns > sym->agg.ts_ns + AGG_GRACE_NS)
        flush_agg(tape, sym);
    if (event_ns - grace_ns >= sym->next_close_ns)
        close_klines(tape, sym, event_ns - grace_ns);
    send_ticker(tape, symbol);
}

void replay_tape_pause(struct tape *tape, int symbol, int64_t end_ns)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    if (end_ns > tape->now_ns)
        tape->now_ns = end_ns;
    flush_agg(tape, sym);
    send_closed(tape, sym, end_ns);
    replay_candles_hole(&sym->candles);
}

void replay_tape_resume(struct tape *tape, int symbol, int64_t open_ns)
{
    if (replay_candles_advance(&tape->symbols[symbol].candles, open_ns) < 0)
        tape->failed = true;
}

/* Klines count the trade, after those that it closes went out. */
static void count_trade(struct tape *tape, int symbol, const struct tape_trade *trade, int64_t first_id,
                        int64_t last_id)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    struct candle_trade counted = {.ts_ns = trade->ts_ns,
                                   .first_id = first_id,
                                   .last_id = last_id,
                                   .price = trade->price,
                                   .qty = trade->qty,
                                   .buyer_maker = trade->buyer_maker};
    if (replay_candles_trade(&sym->candles, &counted) < 0)
        tape->failed = true;
    for (struct replay_stream *s = sym->streams; s; s = s->sibling) {
        if (s->kind == STREAM_KLINE && s->open_ns == INT64_MIN && !s->recorded && s->n_listeners > 0) {
            s->open_ns = replay_candle_open_time(s->interval, trade->ts_ns);
            find_next_close(sym);
        }
        s->changed = true;
    }
}

static void send_forming(struct tape *tape, struct tape_symbol *sym)
{
    for (struct replay_stream *s = sym->streams; s; s = s->sibling)
        if (s->kind == STREAM_KLINE && s->n_listeners > 0 && !s->recorded && s->open_ns != INT64_MIN &&
            (s->last_sent_ns == INT64_MIN || tape->now_ns - s->last_sent_ns >= KLINE_EVERY_NS))
            send_kline(tape, sym, s, false);
}

void replay_tape_trade(struct tape *tape, int symbol, const struct tape_trade *trade, bool run_ends,
                       const char *raw, size_t raw_len)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    bool joins = sym->agg_open && trade->price == sym->agg.price && trade->ts_ns == sym->agg.ts_ns &&
                 trade->buyer_maker == sym->agg.buyer_maker && trade->id == sym->agg_last_id + 1;
    if (trade->event_ns > tape->now_ns)
        tape->now_ns = trade->event_ns;
    if (!joins)
        flush_agg(tape, sym);
    close_klines(tape, sym, trade->ts_ns);

    if (!joins) {
        if (sym->agg_id == 0)
            sym->agg_id = trade->id;
        sym->agg_open = true;
        sym->agg = *trade;
        sym->agg_first_id = trade->id;
        sym->agg_qty = 0;
    }
    sym->agg_last_id = trade->id;
    sym->agg_qty += trade->qty;
    sym->trades[sym->n_trades++ % TAPE_TRADES_KEPT] = *trade;
    count_trade(tape, symbol, trade, trade->id, trade->id);
    if (tape->traded)
        tape->traded(tape->traded_user, symbol, trade);

    if (raw)
        pass_on(tape, sym, STREAM_TRADE, raw, raw_len);
    for (int unit = 0; unit < STREAM_UNITS && !raw; unit++) {
        if (!wanted_in(tape, sym, STREAM_TRADE, unit))
            continue;
        replay_render_trade(&tape->scratch, unit, sym->name, trade);
        send_kind(tape, sym, STREAM_TRADE, unit);
    }
    if (run_ends)
        flush_agg(tape, sym);
    send_forming(tape, sym);
    send_ticker(tape, symbol);
}

void replay_tape_agg_trade(struct tape *tape, int symbol, const struct tape_trade *trade, int64_t first_id,
                           int64_t last_id, bool count, const char *raw, size_t raw_len)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    if (trade->event_ns > tape->now_ns)
        tape->now_ns = trade->event_ns;
    close_klines(tape, sym, trade->ts_ns);
    keep_aggregate(tape, sym,
                   &(struct tape_aggregate){.ts_ns = trade->ts_ns,
                                            .id = trade->id,
                                            .first_id = first_id,
                                            .last_id = last_id,
                                            .price = trade->price,
                                            .qty = trade->qty,
                                            .buyer_maker = trade->buyer_maker});
    if (count)
        count_trade(tape, symbol, trade, first_id, last_id);
    if (count && tape->traded)
        tape->traded(tape->traded_user, symbol, trade);
    if (raw)
        pass_on(tape, sym, STREAM_AGG_TRADE, raw, raw_len);
    if (count)
        send_forming(tape, sym);
    send_ticker(tape, symbol);
}

void replay_tape_quote(struct tape *tape, int symbol, uint64_t id, int64_t bid, int64_t bid_qty, int64_t ask,
                       int64_t ask_qty, const char *raw, size_t raw_len)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    sym->bid = bid;
    sym->bid_qty = bid_qty;
    sym->ask = ask;
    sym->ask_qty = ask_qty;
    if (raw)
        pass_on(tape, sym, STREAM_BOOK_TICKER, raw, raw_len);
    for (int unit = 0; unit < STREAM_UNITS && !raw; unit++) { /* it has no times */
        if (!wanted_in(tape, sym, STREAM_BOOK_TICKER, unit))
            continue;
        replay_render_quote(&tape->scratch, sym->name, id, bid, bid_qty, ask, ask_qty);
        send_kind(tape, sym, STREAM_BOOK_TICKER, unit);
    }
}

static void flush_slow(struct tape *tape, struct tape_symbol *sym)
{
    struct replay_ladder *b = &sym->slow[0], *a = &sym->slow[1];
    struct text *out = &tape->scratch;
    /* The best stands last in a ladder and goes out first. */
    for (int side = 0; side < 2; side++) {
        struct replay_ladder *l = &sym->slow[side];
        for (size_t i = 0, j = l->n; i + 1 < j; i++) {
            struct level level = l->levels[i];
            l->levels[i] = l->levels[--j];
            l->levels[j] = level;
        }
    }
    for (int unit = 0; unit < STREAM_UNITS; unit++) {
        if (!wanted_in(tape, sym, STREAM_DEPTH, unit))
            continue;
        replay_render_depth(out, unit, sym->name, sym->slow_event_ns, sym->slow_first_id, sym->slow_last_id,
                            b->levels, b->n, a->levels, a->n);
        send_kind(tape, sym, STREAM_DEPTH, unit);
    }
    b->n = a->n = 0;
    sym->slow_last_id = 0;
}

/* Slow depth: the fast one's changes of one second of market time, joined. */
static void gather_slow(struct tape *tape, struct tape_symbol *sym, const struct level *bids, size_t n_bids,
                        const struct level *asks, size_t n_asks)
{
    for (size_t i = 0; i < n_bids; i++)
        if (replay_ladder_set(&sym->slow[0], bids[i].price, bids[i].qty) < 0)
            tape->failed = true;
    for (size_t i = 0; i < n_asks; i++)
        if (replay_ladder_set(&sym->slow[1], asks[i].price, asks[i].qty) < 0)
            tape->failed = true;
}

void replay_tape_depth(struct tape *tape, int symbol, int64_t event_ns, uint64_t first_id, uint64_t last_id,
                       const struct level *bids, size_t n_bids, const struct level *asks, size_t n_asks,
                       const char *raw, size_t raw_len)
{
    struct tape_symbol *sym = &tape->symbols[symbol];
    bool slow = wanted(sym, STREAM_DEPTH);
    if (event_ns > tape->now_ns)
        tape->now_ns = event_ns;
    bool hole = first_id > sym->slow_last_id + 1; /* that one message across it would hide */
    if (slow && sym->slow_last_id != 0 && (hole || event_ns / NS_PER_S != sym->slow_event_ns / NS_PER_S))
        flush_slow(tape, sym);
    if (raw)
        pass_on(tape, sym, STREAM_DEPTH_FAST, raw, raw_len);
    for (int unit = 0; unit < STREAM_UNITS && !raw; unit++) {
        if (!wanted_in(tape, sym, STREAM_DEPTH_FAST, unit))
            continue;
        replay_render_depth(&tape->scratch, unit, sym->name, event_ns, first_id, last_id, bids, n_bids, asks,
                            n_asks);
        send_kind(tape, sym, STREAM_DEPTH_FAST, unit);
    }
    if (slow) {
        if (sym->slow_last_id == 0)
            sym->slow_first_id = first_id;
        sym->slow_last_id = last_id;
        sym->slow_event_ns = event_ns;
        gather_slow(tape, sym, bids, n_bids, asks, n_asks);
    }
}

void replay_tape_recorded(struct tape *tape, struct replay_stream *stream, const char *raw, size_t raw_len)
{
    if (stream->n_listeners > 0)
        send_recorded(tape, stream, raw, raw_len);
}

void replay_tape_end(struct tape *tape)
{
    for (int i = 0; i < tape->n_symbols; i++) {
        flush_agg(tape, &tape->symbols[i]);
        if (tape->symbols[i].slow_last_id != 0)
            flush_slow(tape, &tape->symbols[i]);
    }
}

bool replay_tape_day(const struct tape *tape, int symbol, struct candle *ret)
{
    const struct candle_tier *minutes = &tape->symbols[symbol].candles.tiers[1];
    if (minutes->n == 0)
        return false;
    int64_t from = tape->now_ns - DAY_MINUTES * 60 * NS_PER_S;
    size_t i = minutes->n > DAY_MINUTES ? minutes->n - DAY_MINUTES : 0;
    while (i + 1 < minutes->n && minutes->bars[i].open_ns <= from)
        i++;
    *ret = minutes->bars[i];
    for (i++; i < minutes->n; i++)
        replay_candle_join(ret, &minutes->bars[i]);
    return true;
}
