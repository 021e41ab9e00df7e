/* A venue's later changes: corrected and cancelled trades, trades that come late, and bars reported once
 * more.
 *
 * The newest trades of symbols whose venue does so are kept, for an hour at most. A bar is computed again
 * from them, by the trades' times, while all of its own are there. What was decided stays decided: no
 * strategy sees a bar twice, and a correction fills and triggers nothing. */
#include <errno.h>
#include <stdlib.h>

#include "engine/core.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

enum { KEPT_MAX = 2048, SEEN_MAX = 32 /* a repeated trade is looked for among the newest of them */ };

/* May its trades be corrected? */
static bool engine_revise_is_kept(const struct symbol *symbol)
{
    return symbol->loose_ids || symbol->calendar[0] != '\0';
}

/* How a symbol's trades are divided into bars: trading_bar_span(). */
struct intervals {
    const struct trading_calendar *calendar;
    int64_t ns;
};

static struct intervals intervals_of(const struct engine *engine, int symbol)
{
    return (struct intervals){engine_calendar(engine, symbol), engine->interval_ns};
}

static int64_t open_of(const struct intervals *intervals, int64_t ts_ns)
{
    int64_t open_ns, end_ns;
    trading_bar_span(intervals->calendar, intervals->ns, ts_ns, &open_ns, &end_ns);
    return open_ns;
}

static int64_t end_of(const struct intervals *intervals, int64_t ts_ns)
{
    int64_t open_ns, end_ns;
    trading_bar_span(intervals->calendar, intervals->ns, ts_ns, &open_ns, &end_ns);
    return end_ns;
}

/* ---- the trades kept ---- */

static struct kept_trade *kept(const struct kept_trades *trades, uint32_t i)
{
    return &trades->trades[(trades->first + i) % trades->cap];
}

static void take_in(struct kept_trades *trades, const struct kept_trade *one, bool first)
{
    if (first)
        trades->priced = false;
    if (first || one->ts_ns > trades->newest_ns)
        trades->newest_ns = one->ts_ns;
    if (one->odd || (trades->priced && one->ts_ns < trades->priced_ns))
        return;
    trades->priced = true;
    trades->priced_ns = one->ts_ns;
}

static void find_newest(struct kept_trades *trades)
{
    trades->priced = false;
    for (uint32_t i = 0; i < trades->n; i++)
        take_in(trades, kept(trades, i), i == 0);
}

static bool is_newest_price(const struct kept_trades *trades, uint32_t at)
{
    return trades->priced && !kept(trades, at)->odd && kept(trades, at)->ts_ns == trades->priced_ns;
}

/* The first trade that may be dropped. */
static uint32_t oldest(const struct kept_trades *trades)
{
    return trades->n > 0 && is_newest_price(trades, 0);
}

static void drop_oldest(struct kept_trades *trades, const struct intervals *intervals)
{
    uint32_t at = oldest(trades);
    int64_t ts_ns = kept(trades, at)->ts_ns, whole_ns = end_of(intervals, ts_ns);
    if (whole_ns > trades->whole_ns)
        trades->whole_ns = whole_ns;
    if (at > 0)
        *kept(trades, at) = *kept(trades, 0);
    trades->first = (trades->first + 1) % trades->cap;
    trades->n--;
    if (ts_ns == trades->newest_ns)
        find_newest(trades);
}

int engine_revise_put(struct kept_trades *trades, const struct kept_trade *trade)
{
    if (trades->n == trades->cap) {
        if (trades->cap == KEPT_MAX)
            return -ENOSPC;
        uint32_t cap = trades->cap ? 2 * trades->cap : 16;
        struct kept_trade *moved = calloc(cap, sizeof *moved);
        if (!moved)
            return -ENOMEM;
        for (uint32_t i = 0; i < trades->n; i++)
            moved[i] = *kept(trades, i);
        free(trades->trades);
        trades->trades = moved;
        trades->cap = cap;
        trades->first = 0;
    }
    take_in(trades, trade, trades->n == 0);
    *kept(trades, trades->n++) = *trade;
    return 0;
}

/* A trade that comes now; `jumped`: the ids say that some before it were missed. 0 or -ENOMEM. */
static int engine_revise_keep(struct market_state *market, const struct intervals *intervals,
                              const struct kept_trade *trade, bool jumped)
{
    struct kept_trades *trades = &market->trades;
    if (!trades->started || jumped) {
        int64_t ts_ns = trades->n > 0 && trades->newest_ns > trade->ts_ns ? trades->newest_ns : trade->ts_ns;
        trades->started = true;
        trades->whole_ns = end_of(intervals, ts_ns);
    }
    for (uint32_t at; (at = oldest(trades)) < trades->n &&
                      (trades->n == KEPT_MAX || kept(trades, at)->ts_ns < trade->ts_ns - HOUR_NS);)
        drop_oldest(trades, intervals);
    return engine_revise_put(trades, trade);
}

const struct kept_trade *engine_revise_find(const struct kept_trades *trades, uint32_t i)
{
    return kept(trades, i);
}

void engine_revise_forget(struct kept_trades *trades)
{
    free(trades->trades);
    *trades = (struct kept_trades){0};
}

/* Which trade makes the last price; of several at one time, the one reported last. -1: none. */
static int64_t newest_price(const struct kept_trades *trades)
{
    for (uint32_t i = trades->n; trades->priced && i > 0; i--)
        if (is_newest_price(trades, i - 1))
            return i - 1;
    return -1;
}

/* No bar that had started is complete any more. */
void engine_revise_interrupted(struct kept_trades *trades)
{
    int64_t at = newest_price(trades);
    struct kept_trade last = at < 0 ? (struct kept_trade){0} : *kept(trades, (uint32_t)at);
    trades->first = 0;
    trades->n = at >= 0;
    trades->started = false;
    if (at < 0)
        return;
    *kept(trades, 0) = last;
    find_newest(trades);
    trades->whole_ns = INT64_MAX;
}

/* Is one of the latest trades of that number and time? `same`: with that price and quantity. */
static bool was_reported(const struct kept_trades *trades, const struct market_trade *trade, bool same)
{
    for (uint32_t i = trades->n, seen = 0; i > 0 && seen < SEEN_MAX; i--, seen++) {
        const struct kept_trade *one = kept(trades, i - 1);
        if (one->id == trade->id && one->ts_ns == trade->ts_ns &&
            (!same || (one->price == trade->price && one->qty == trade->qty)))
            return true;
    }
    return false;
}

bool engine_revise_seen(const struct kept_trades *trades, const struct market_trade *trade)
{
    return was_reported(trades, trade, true);
}

bool engine_revise_again(const struct kept_trades *trades, const struct market_trade *trade)
{
    return was_reported(trades, trade, false);
}

/* A time that is far ahead of the venue's clock is an error, and delays nothing. */
bool engine_revise_behind(const struct engine *engine, int symbol, const struct market_trade *trade)
{
    const struct market_state *market = &engine->markets[symbol];
    const struct kept_trades *trades = &market->trades;
    if (!engine_revise_is_kept(&market->symbol))
        return false;
    if (market->last_from != LAST_TRADE)
        return market->bars > 0 &&
               trade->ts_ns < engine_calendars_end(engine, symbol, market->last_bar.open_ns);
    return trades->priced && trade->ts_ns < trades->priced_ns &&
           trades->priced_ns <= engine_venue_ns(engine, symbol, engine->recv_ns) + DELAY_ALLOWED_NS;
}

void engine_revise_split(struct kept_trades *trades, const struct stock_split *split)
{
    for (uint32_t i = 0; i < trades->n; i++) {
        struct kept_trade *one = kept(trades, i);
        int64_t qty = engine_split_qty(split, one->qty);
        if (one->ts_ns >= split->ex_ns)
            continue;
        one->price = engine_split_shown(split, one->price);
        one->qty = qty < 0 ? one->qty : qty;
    }
}

/* ---- bars of them ---- */

/* The bar of an interval from its trades, by their times, without its session; false without one that makes a
 * price: then only volumes and the count are set. */
static bool rebuild(const struct kept_trades *trades, int64_t open_ns, const struct intervals *intervals,
                    struct bar *ret)
{
    int64_t first_ns = 0, last_ns = 0;
    bool priced = false;
    *ret = (struct bar){.open_ns = open_ns, .first_trade_id = -1, .last_trade_id = -1};
    for (uint32_t i = 0; i < trades->n; i++) {
        const struct kept_trade *one = kept(trades, i);
        if (open_of(intervals, one->ts_ns) != open_ns)
            continue;
        ret->volume += one->qty;
        ret->trades++;
        if (__builtin_add_overflow(ret->quote_volume, (int128_t)one->price * one->qty, &ret->quote_volume))
            ret->quote_volume = 0;
        if (one->odd)
            continue;
        if (!priced || one->ts_ns < first_ns) {
            first_ns = one->ts_ns;
            ret->open = one->price;
            ret->first_trade_id = one->id;
        }
        if (!priced || one->ts_ns >= last_ns) {
            last_ns = one->ts_ns;
            ret->close = one->price;
            ret->last_trade_id = one->id;
        }
        ret->high = !priced || one->price > ret->high ? one->price : ret->high;
        ret->low = !priced || one->price < ret->low ? one->price : ret->low;
        priced = true;
    }
    return priced;
}

static void set_odd(struct bar_builder *builder, const struct bar *bar)
{
    builder->odd_open_ns = bar->trades > 0 ? bar->open_ns : 0;
    builder->odd_trades = bar->trades;
    builder->odd_volume = bar->volume;
    builder->odd_quote_volume = bar->quote_volume;
}

/* Replaces the forming bar of an interval by the one of its trades. */
static void take_over(struct bar_builder *builder, int64_t open_ns, bool is, const struct bar *now)
{
    bool odd = builder->odd_trades > 0;
    if (builder->have_forming && builder->forming.open_ns == open_ns) {
        builder->have_forming = is;
        builder->forming = is ? *now : (struct bar){0};
        if (!is && !(odd && builder->odd_open_ns > open_ns))
            set_odd(builder, now);
    } else if (odd && builder->odd_open_ns == open_ns) {
        set_odd(builder, now);
    }
}

static const struct bar *dated(const struct engine *engine, int symbol, const struct bar *bar,
                               struct bar *ret)
{
    if (!bar)
        return NULL;
    *ret = engine_calendars_dated(engine, symbol, bar);
    return ret;
}

/* ---- trades that come late ---- */

/* Of an interval that is over. Without a bar, a trade that makes no price makes none. */
static void emit_late(struct engine *engine, int symbol, int64_t open_ns, const struct bar *before,
                      const struct bar *after)
{
    struct bar old, now;
    const struct engine_revision reported = {.kind = REVISION_BAR,
                                             .symbol = symbol,
                                             .ts_ns = engine->now_ns,
                                             .at_ns = open_ns,
                                             .old = dated(engine, symbol, before, &old),
                                             .now = dated(engine, symbol, after, &now),
                                             .source = BAR_TRADES,
                                             .applied = after != NULL};
    if (engine->sink.revision)
        engine->sink.revision(engine->sink.ctx, &reported);
}

static enum bar_built build(struct bar_builder *builder, const struct market_trade *trade, int64_t open_ns,
                            bool late, struct bar *ret)
{
    if (trade->odd)
        return bar_builder_odd(builder, trade->ts_ns, trade->id, trade->price, trade->qty);
    if (late && builder->have_forming && builder->forming.open_ns == open_ns)
        return bar_builder_late(builder, trade->ts_ns, trade->id, trade->price, trade->qty);
    return bar_builder_trade(builder, trade->ts_ns, trade->id, trade->price, trade->qty, ret);
}

enum bar_built engine_revise_build(struct engine *engine, int symbol, const struct market_trade *trade,
                                   struct bar *ret)
{
    struct market_state *market = &engine->markets[symbol];
    struct kept_trades *trades = &market->trades;
    const struct kept_trade one = {trade->ts_ns, trade->id, trade->price, trade->qty, trade->odd};
    const struct intervals intervals = intervals_of(engine, symbol);
    int64_t open_ns = open_of(&intervals, trade->ts_ns);
    bool keeps = engine_revise_is_kept(&market->symbol);
    bool late = keeps && trades->n > 0 && trade->ts_ns < trades->newest_ns;
    uint64_t gaps = market->builder.gaps;
    market->builder.calendar = intervals.calendar;
    enum bar_built made = build(&market->builder, trade, open_ns, late, ret);
    market->builder.calendar = NULL;
    struct bar before, after;
    if (!keeps)
        return made;
    bool was = late && rebuild(trades, open_ns, &intervals, &before);
    if (engine_revise_keep(market, &intervals, &one, market->builder.gaps != gaps) < 0)
        engine->out_of_memory = true;
    if (!late)
        return made;
    bool whole = open_ns >= trades->whole_ns;
    bool is = whole && rebuild(trades, open_ns, &intervals, &after);
    if (whole && made != BAR_STALE)
        take_over(&market->builder, open_ns, is, &after);
    else if (made == BAR_STALE && (is || !whole))
        emit_late(engine, symbol, open_ns, whole && was ? &before : NULL, is ? &after : NULL);
    return made;
}

/* ---- corrections ---- */

static bool matches(const struct kept_trade *one, const struct market_correction *correction, bool cancel)
{
    int64_t price = correction->old_price, qty = correction->old_qty;
    if (cancel && price == 0)
        price = correction->price;
    if (cancel && qty == 0)
        qty = correction->qty;
    return one->id == correction->id && (price == 0 || one->price == price) && (qty == 0 || one->qty == qty);
}

static void take_out(struct kept_trades *trades, uint32_t at)
{
    for (uint32_t i = at + 1; i < trades->n; i++)
        *kept(trades, i - 1) = *kept(trades, i);
    trades->n--;
    find_newest(trades);
}

/* The last price is that of the newest trade that makes one. */
static void price_again(struct market_state *market)
{
    int64_t at = newest_price(&market->trades);
    if (market->last_from != LAST_TRADE || at < 0)
        return;
    const struct kept_trade *trade = kept(&market->trades, (uint32_t)at);
    market->last = trade->price;
    market->priced_ns = trade->ts_ns;
}

static void correct(struct engine *engine, struct market_state *market, uint32_t at,
                    const struct market_event *event, struct bar *before, struct bar *after,
                    struct engine_revision *reported)
{
    struct kept_trades *trades = &market->trades;
    const struct market_correction *correction = &event->correction;
    struct kept_trade *one = kept(trades, at);
    const struct intervals intervals = intervals_of(engine, reported->symbol);
    int64_t open_ns = open_of(&intervals, one->ts_ns);
    bool whole = open_ns >= trades->whole_ns, last = newest_price(trades) == at;
    bool was = rebuild(trades, open_ns, &intervals, before);
    reported->at_ns = one->ts_ns;
    if (event->kind == MARKET_CANCEL) {
        take_out(trades, at);
    } else {
        one->id = correction->new_id;
        one->price = correction->price;
        one->qty = correction->qty;
    }
    bool is = rebuild(trades, open_ns, &intervals, after);
    if (last)
        price_again(market);
    if (whole)
        take_over(&market->builder, open_ns, is, after);
    reported->applied = whole;
    reported->old = whole && was ? dated(engine, reported->symbol, before, before) : NULL;
    reported->now = whole && is ? dated(engine, reported->symbol, after, after) : NULL;
}

void engine_revise_trade(struct engine *engine, int symbol, const struct market_event *event)
{
    struct market_state *market = &engine->markets[symbol];
    const struct market_correction *correction = &event->correction;
    bool cancel = event->kind == MARKET_CANCEL;
    struct bar before, after;
    struct engine_revision reported = {.kind = cancel ? REVISION_CANCEL : REVISION_CORRECTION,
                                       .symbol = symbol,
                                       .ts_ns = engine->now_ns,
                                       .at_ns = correction->ts_ns,
                                       .correction = correction,
                                       .source = BAR_TRADES};
    for (uint32_t i = market->trades.n; i > 0; i--)
        if (matches(kept(&market->trades, i - 1), correction, cancel)) {
            correct(engine, market, i - 1, event, &before, &after, &reported);
            break;
        }
    if (engine->sink.revision)
        engine->sink.revision(engine->sink.ctx, &reported);
}

/* ---- bars reported once more ---- */

static struct bar *find_bar(struct recent_bars *recent, int64_t open_ns)
{
    for (uint32_t i = recent->n; i > 0; i--) {
        struct bar *bar = &recent->bars[(recent->first + i - 1) % RECENT_BARS_MAX];
        if (bar->open_ns <= open_ns)
            return bar->open_ns == open_ns ? bar : NULL;
    }
    return NULL;
}

bool engine_revise_bar(struct engine *engine, int symbol, const struct bar *reported_now)
{
    struct market_state *market = &engine->markets[symbol];
    const struct bar dated = engine_calendars_dated(engine, symbol, reported_now), *now = &dated;
    if (market->bars == 0 || now->open_ns > market->last_bar.open_ns)
        return false;
    struct bar *bar = find_bar(&market->recent, now->open_ns);
    struct bar old = bar ? *bar : (struct bar){0};
    bool kept_yet =
        now->open_ns == market->last_bar.open_ns || now->open_ns > market->last_bar.open_ns - HOUR_NS;
    struct engine_revision reported = {.kind = REVISION_BAR,
                                       .symbol = symbol,
                                       .ts_ns = engine->now_ns,
                                       .at_ns = now->open_ns,
                                       .old = bar ? &old : NULL,
                                       .now = now,
                                       .source = BAR_VENUE,
                                       .applied = kept_yet};
    if (bar && kept_yet)
        *bar = *now;
    if (now->open_ns == market->last_bar.open_ns) {
        market->last_bar = *now;
        if (market->outside > 0)
            market->outside = now->close;
        else if (market->last_from == LAST_BAR || market->last_from == LAST_HISTORY)
            market->last = now->close;
    }
    if (engine->sink.revision)
        engine->sink.revision(engine->sink.ctx, &reported);
    return true;
}
