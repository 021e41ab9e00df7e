/* A symbol's market in a state: its listing, book, bars and prices. What can be derived is left out. */
#include <errno.h>
#include <stdlib.h>

#include "engine/event.h"
#include "engine/visit.h"
#include "exchange/filter.h"

/* sign: 1 for bids, -1 for asks; worst first, best last. */
static bool sorted(const struct book_side *side, int64_t sign)
{
    for (uint32_t i = 1; i < side->n; i++) {
        int64_t worse = side->levels[i - 1].price, better = side->levels[i].price;
        if (sign > 0 ? worse >= better : worse <= better)
            return false;
    }
    return true;
}

static void visit_pending(struct codec *codec, struct book *book)
{
    uint64_t levels = 0;
    for (uint32_t i = 0; i < book->n_pending && !codec->failed; i++) {
        struct book_pending *diff = &book->pending[i];
        codec_u64s(codec, &diff->first_id, &diff->last_id);
        codec_u32s(codec, &diff->n_bids, &diff->n_asks);
        levels += (uint64_t)diff->n_bids + diff->n_asks;
    }
    codec->failed |= levels != book->n_pending_levels;
    engine_visit_levels(codec, book->pending_levels, book->n_pending_levels);
}

static int visit_book(struct codec *codec, struct book *book)
{
    uint32_t n_bids = book->bids.n, n_asks = book->asks.n;
    uint32_t n_pending = book->n_pending, n_levels = book->n_pending_levels;
    codec_enum(codec, &book->state, BOOK_SYNCED + 1);
    codec_bool(codec, &book->ahead);
    codec_u64s(codec, &book->last_id, &book->gaps, &book->resyncs);
    if (codec->version >= 6)
        codec_u64(codec, &book->crossed);
    engine_visit_count(codec, &n_bids, BOOK_LEVELS_MAX, 2);
    engine_visit_count(codec, &n_asks, BOOK_LEVELS_MAX, 2);
    engine_visit_count(codec, &n_pending, BOOK_BUFFER_MAX, 4);
    engine_visit_count(codec, &n_levels, BOOK_BUFFER_MAX, 2);
    if (codec->failed)
        return 0;
    if (!codec->saving) {
        int r = book_reserve(book, n_bids, n_asks, n_pending, n_levels);
        if (r < 0)
            return r;
        book->bids.n = n_bids;
        book->asks.n = n_asks;
        book->n_pending = n_pending;
        book->n_pending_levels = n_levels;
    }
    engine_visit_levels(codec, book->bids.levels, n_bids);
    engine_visit_levels(codec, book->asks.levels, n_asks);
    visit_pending(codec, book);
    codec->failed |= !codec->saving && (!sorted(&book->bids, 1) || !sorted(&book->asks, -1));
    return 0;
}

static void visit_builder(struct codec *codec, struct bar_builder *builder)
{
    codec_bool(codec, &builder->have_forming);
    engine_visit_bar(codec, &builder->forming);
    codec_bools(codec, &builder->complete, &builder->first_unknown);
    codec_i64s(codec, &builder->last_trade_id, &builder->closed_ns);
    codec_u64(codec, &builder->gaps);
    if (codec->version < 6)
        return;
    codec_i64s(codec, &builder->odd_open_ns, &builder->odd_trades);
    codec_i128s(codec, &builder->odd_volume, &builder->odd_quote_volume);
}

static void visit_quote(struct codec *codec, struct market_quote *quote)
{
    codec_u64(codec, &quote->update_id);
    codec_i64s(codec, &quote->bid, &quote->bid_qty, &quote->ask, &quote->ask_qty);
}

static int visit_recent(struct codec *codec, struct recent_bars *recent)
{
    uint32_t n = recent->n;
    engine_visit_count(codec, &n, RECENT_BARS_MAX, 10);
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct bar bar = codec->saving ? *engine_recent_bar(recent, i) : (struct bar){0};
        engine_visit_bar(codec, &bar);
        int r = codec->saving || codec->failed ? 0 : engine_recent_push(recent, &bar);
        if (r < 0)
            return r;
    }
    return 0;
}

static int visit_taken(struct codec *codec, struct market_state *market)
{
    uint32_t n = market->n_taken;
    engine_visit_count(codec, &n, UINT32_MAX, 4);
    if (!codec->saving && !codec->failed && n > 0) {
        market->taken = calloc(n, sizeof *market->taken);
        if (!market->taken)
            return -ENOMEM;
        market->n_taken = market->cap_taken = n;
    }
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct taken *taken = &market->taken[i];
        codec_int(codec, &taken->account, 0, ACCOUNTS_MAX - 1);
        codec_enum(codec, &taken->taker, ORDER_SELL + 1);
        codec_i64s(codec, &taken->price, &taken->qty);
    }
    return 0;
}

/* Before there were calendars every market traded at all times. */
static void visit_session(struct codec *codec, struct market_state *market)
{
    if (codec->version < 6) {
        if (!codec->saving)
            market->phase = MARKET_PHASE_OPEN;
        return;
    }
    codec_enum(codec, &market->phase, MARKET_PHASES);
    codec_bool(codec, &market->extended);
    codec_i64s(codec, &market->phase_next_ns, &market->opened_ns, &market->closed_ns);
    codec_enum(codec, &market->trading, MARKET_TRADINGS);
    codec_i64s(codec, &market->bands.up, &market->bands.down);
    if (codec->version >= 8)
        codec_i64(codec, &market->reopened_ns);
    codec->failed |= market->reopened_ns > INT64_MAX / 2;
}

static int visit_known(struct codec *codec, struct market_state *market)
{
    uint32_t n = market->n_known;
    if (codec->version < 6)
        return 0;
    codec_i64(codec, &market->known_before_ns);
    engine_visit_count(codec, &n, UINT32_MAX, 2);
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct known_action known = {0};
        if (codec->saving)
            known = market->known[i];
        codec_text(codec, known.id, sizeof known.id);
        codec_i64(codec, &known.ex_ns);
        int r = codec->saving || codec->failed ? 0 : engine_action_remember(market, known.id, known.ex_ns);
        if (r < 0)
            return r;
    }
    return 0;
}

static int visit_trades(struct codec *codec, struct market_state *market)
{
    struct kept_trades *trades = &market->trades;
    uint32_t n = trades->n;
    int64_t whole_ns = trades->whole_ns, before = 0;
    bool started = trades->started;
    if (codec->version < 6)
        return 0;
    codec_bools(codec, &market->torn, &started);
    codec_i64(codec, &whole_ns);
    engine_visit_count(codec, &n, UINT32_MAX, 5);
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct kept_trade trade = codec->saving ? *engine_revise_find(trades, i) : (struct kept_trade){0};
        int64_t step = (int64_t)((uint64_t)trade.ts_ns - (uint64_t)before);
        codec_i64(codec, &step);
        before = trade.ts_ns = (int64_t)((uint64_t)before + (uint64_t)step);
        codec_i64s(codec, &trade.id, &trade.price, &trade.qty);
        codec_bool(codec, &trade.odd);
        int r = codec->saving || codec->failed ? 0 : engine_revise_put(trades, &trade);
        codec->failed |= r == -ENOSPC;
        if (r == -ENOMEM)
            return r;
    }
    if (!codec->saving && !codec->failed) {
        trades->started = started;
        trades->whole_ns = whole_ns;
    }
    return 0;
}

static void visit_auction(struct codec *codec, struct auction *auction)
{
    if (codec->version < 8)
        return;
    codec_i64s(codec, &auction->open_ns, &auction->first, &auction->last, &auction->last_ns, &auction->print,
               &auction->due_ns, &auction->before_ns);
    codec_bool(codec, &auction->closing);
}

int engine_visit_market(struct codec *codec, struct market_state *market, int64_t interval_ns)
{
    engine_visit_symbol(codec, &market->symbol);
    if (codec->failed)
        return 0;
    if (!codec->saving) {
        market->notional_unit = filter_notional_unit(&market->symbol);
        book_init(&market->book);
        bar_builder_init(&market->builder, interval_ns);
        market->builder.loose = market->symbol.loose_ids;
    }
    int r = visit_book(codec, &market->book);
    if (r < 0)
        return r;
    visit_builder(codec, &market->builder);
    visit_quote(codec, &market->quote);
    codec_i64(codec, &market->last);
    if (codec->version >= 2)
        codec_enum(codec, &market->last_from, LAST_TRADE + 1);
    else if (!codec->saving)
        market->last_from = market->last > 0 ? LAST_TRADE : LAST_NONE;
    if (codec->version >= 13)
        codec_i64(codec, &market->priced_ns);
    codec_i64s(codec, &market->last_ns, &market->change_open);
    codec_bool(codec, &market->stale);
    if (codec->version >= 9)
        codec_i64(codec, &market->ahead_ns);
    codec->failed |= market->ahead_ns < -ENGINE_VENUE_AHEAD_MAX || market->ahead_ns > ENGINE_VENUE_AHEAD_MAX;
    visit_session(codec, market);
    visit_auction(codec, &market->auction);
    r = visit_known(codec, market);
    if (r < 0)
        return r;
    codec_u64(codec, &market->bars);
    engine_visit_bar(codec, &market->last_bar);
    engine_visit_bar(codec, &market->forming);
    r = visit_recent(codec, &market->recent);
    engine_visit_count(codec, &market->n_held, HELD_BARS_MAX, 10);
    if (!codec->saving && !codec->failed && market->n_held > 0 &&
        !(market->held = calloc(HELD_BARS_MAX, sizeof *market->held))) {
        market->n_held = 0;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < market->n_held && !codec->failed; i++)
        engine_visit_bar(codec, &market->held[i]);
    if (r == 0)
        r = visit_trades(codec, market);
    return r < 0 ? r : visit_taken(codec, market);
}
