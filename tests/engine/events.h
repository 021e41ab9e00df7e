/* Random events of every kind, every field drawn, and whether two are the same, field by field. */
#ifndef TESTS_ENGINE_EVENTS_H
#define TESTS_ENGINE_EVENTS_H

#include "engine/event.h"
#include "strategy/external.h"
#include "strategy/strategy.h"
#include "tests/check.h"
#include "tests/random.h"

enum { EVENT_LEVELS = 40, EVENT_BARS_MADE = 5, EVENT_DAYS_MADE = 4, RANDOM_ACCOUNTS = 3 };

struct random_event {
    struct event event;
    struct book_level levels[2 * EVENT_LEVELS];
    struct bar bars[EVENT_BARS_MADE];
    struct trading_day days[EVENT_DAYS_MADE];
    char args[64];
    struct order legs[ORDER_LEGS_MAX];
    struct account_spec accounts[RANDOM_ACCOUNTS];
    struct venue_total totals[RANDOM_ACCOUNTS];
    struct strategy_decision decision;
    uint8_t kept[64];
};

/* Small, large, negative and extreme numbers. */
static inline int64_t random_i64(struct random *random)
{
    switch (random_between(random, 0, 5)) {
    case 0:
        return random_between(random, -3, 3);
    case 1:
        return random_chance(random, 50) ? INT64_MAX : INT64_MIN;
    case 2:
        return (int64_t)random_next(random);
    default:
        return random_between(random, 0, 10000000000000);
    }
}

static inline void random_name(struct random *random, char *text, size_t size)
{
    size_t len = (size_t)random_between(random, 0, (int64_t)size - 1);
    memset(text, 0, size);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)random_between(random, 1, 255);
}

static inline double random_real(struct random *random)
{
    return (double)random_i64(random) / 1000.0;
}

static inline struct bar random_bar(struct random *random)
{
    return (struct bar){.open_ns = random_i64(random),
                        .open = random_i64(random),
                        .high = random_i64(random),
                        .low = random_i64(random),
                        .close = random_i64(random),
                        .volume = (int128_t)random_i64(random) * random_i64(random),
                        .quote_volume = (int128_t)random_i64(random) * random_i64(random),
                        .trades = random_i64(random),
                        .first_trade_id = random_i64(random),
                        .last_trade_id = random_i64(random)};
}

static inline uint32_t random_levels(struct random *random, struct book_level *levels)
{
    uint32_t n = (uint32_t)random_between(random, 0, EVENT_LEVELS);
    for (uint32_t i = 0; i < n; i++)
        levels[i] = (struct book_level){random_i64(random), random_i64(random)};
    return n;
}

static inline void random_market(struct random *random, struct random_event *made)
{
    struct market_event *m = &made->event.market;
    m->kind = (enum market_kind)random_between(random, 0, MARKET_KINDS - 1);
    m->symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
    m->event_ns = random_i64(random);
    switch (m->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        m->trade = (struct market_trade){random_i64(random),
                                         random_i64(random),
                                         random_i64(random),
                                         random_i64(random),
                                         random_i64(random),
                                         random_i64(random),
                                         random_chance(random, 50),
                                         random_chance(random, 20),
                                         (enum market_auction)random_between(random, 0, MARKET_AUCTIONS - 1)};
        break;
    case MARKET_KLINE:
    case MARKET_REVISION:
        m->kline.interval_ns = random_i64(random);
        m->kline.bar = random_bar(random);
        m->kline.closed = random_chance(random, 50);
        break;
    case MARKET_QUOTE:
        m->quote = (struct market_quote){random_next(random), random_i64(random), random_i64(random),
                                         random_i64(random), random_i64(random)};
        break;
    case MARKET_DEPTH:
    case MARKET_BOOK:
        m->depth.first_id = random_next(random);
        m->depth.last_id = random_next(random);
        m->depth.bids = made->levels;
        m->depth.n_bids = random_levels(random, made->levels);
        m->depth.asks = made->levels + EVENT_LEVELS;
        m->depth.n_asks = random_levels(random, made->levels + EVENT_LEVELS);
        break;
    case MARKET_CORRECTION:
    case MARKET_CANCEL:
        m->correction = (struct market_correction){
            random_i64(random), random_i64(random), random_i64(random), random_i64(random),
            random_i64(random), random_i64(random), random_i64(random), ""};
        random_name(random, m->correction.code, sizeof m->correction.code);
        break;
    case MARKET_STATUS:
        m->status.trading = (enum market_trading)random_between(random, 0, MARKET_TRADINGS - 1);
        random_name(random, m->status.code, sizeof m->status.code);
        random_name(random, m->status.reason, sizeof m->status.reason);
        break;
    case MARKET_BANDS:
        m->bands = (struct market_bands){random_i64(random), random_i64(random)};
        break;
    case MARKET_IMBALANCE:
        m->imbalance_price = random_i64(random);
        break;
    default:
        m->ticker =
            (struct market_ticker){random_i64(random), random_i64(random), random_i64(random),
                                   random_i64(random), (int128_t)random_i64(random) * random_i64(random)};
    }
}

static inline void random_symbol(struct random *random, struct symbol *s)
{
    random_name(random, s->name, sizeof s->name);
    random_name(random, s->base, sizeof s->base);
    random_name(random, s->quote, sizeof s->quote);
    s->price_scale = (int)random_between(random, 0, 8);
    s->qty_scale = (int)random_between(random, 0, 8);
    s->quote_scale = (int)random_between(random, 0, s->price_scale + s->qty_scale);
    s->trading = random_chance(random, 50);
    s->gone = random_chance(random, 20);
    s->loose_ids = random_chance(random, 50);
    random_name(random, s->venue, sizeof s->venue);
    random_name(random, s->calendar, sizeof s->calendar);
    random_name(random, s->feed, sizeof s->feed);
    s->primary = (char)random_between(random, 0, 127);
    struct symbol_filters *f = &s->filters;
    int64_t *const numbers[] = {&f->price_min,   &f->price_max,    &f->tick,           &f->qty_min,
                                &f->qty_max,     &f->step,         &f->market_qty_min, &f->market_qty_max,
                                &f->market_step, &f->notional_min, &f->notional_max,   &f->bid_up_e4,
                                &f->bid_down_e4, &f->ask_up_e4,    &f->ask_down_e4};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = random_i64(random);
    f->notional_min_market = random_chance(random, 50);
    f->notional_max_market = random_chance(random, 50);
    f->orders_max = (int32_t)random_next(random);
}

static inline void random_request(struct random *random, struct order *r)
{
    r->account = (int)random_between(random, -1, 40);
    r->symbol = (int)random_between(random, -1, 300);
    r->side = (enum order_side)random_between(random, 0, 1);
    r->type = (enum order_type)random_between(random, 0, ORDER_TYPES - 1);
    r->tif = (enum order_tif)random_between(random, 0, ORDER_TIFS - 1);
    r->qty = random_i64(random);
    r->price = random_i64(random);
    r->stop_price = random_i64(random);
    r->trail = random_i64(random);
    r->trail_e6 = (int32_t)random_next(random);
    r->expires_ns = random_i64(random);
    r->post_only = random_chance(random, 50);
    r->reduce_only = random_chance(random, 50);
    r->by_hand = random_chance(random, 50);
    random_name(random, r->client_id, sizeof r->client_id);
    random_name(random, r->tag, sizeof r->tag);
}

static inline void random_account(struct random *random, struct account_spec *a)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    random_name(random, a->name, sizeof a->name);
    random_name(random, a->currency, sizeof a->currency);
    a->currency_scale = (int)random_between(random, 0, 8);
    a->cash = random_i64(random);
    struct account_rules *r = &a->rules;
    r->fees.maker_e6 = (int32_t)random_next(random);
    r->fees.taker_e6 = (int32_t)random_next(random);
    r->risk.exposure_symbol = random_real(random);
    r->risk.exposure_account = random_real(random);
    r->risk.daily_loss = random_real(random);
    r->risk.orders_per_second = (int32_t)random_next(random);
    r->risk.drawdown = random_real(random);
    r->risk.price_band = random_real(random);
    r->risk.cooldown_ns = random_i64(random);
    r->risk.positions = (int32_t)random_next(random);
    r->shorts = random_chance(random, 50);
    r->collateral_e4 = (int32_t)random_next(random);
    r->maintenance_e4 = (int32_t)random_next(random);
    r->borrow_rate_e6 = (int32_t)random_next(random);
    uint32_t rules = (uint32_t)r->borrow_rate_e6; /* no more is drawn: what follows stays as it was */
    r->margin = (enum margin_kind)(rules % MARGIN_KINDS);
    r->day_trader = (enum day_trader_rule)(rules / 8 % DAY_TRADER_RULES);
    r->settlement = (enum settlement_rule)(rules / 64 % SETTLEMENT_RULES);
    a->strategy = random_chance(random, 70) ? all[random_between(random, 0, (int64_t)n - 1)] : NULL;
    if (a->strategy)
        strategy_defaults(a->strategy, a->params);
    a->session = (enum session_choice)random_between(random, 0, SESSION_CHOICES - 1);
}

static inline void random_command(struct random *random, struct random_event *made)
{
    struct event_command *c = &made->event.command;
    c->kind = (enum command_kind)random_between(random, 0, COMMAND_KINDS - 1);
    c->command_id = random_next(random);
    random_name(random, c->key, sizeof c->key);
    c->peer_uid = random_i64(random);
    c->peer_pid = random_i64(random);
    random_name(random, made->args, sizeof made->args);
    c->args = random_chance(random, 20) ? NULL : made->args;
    switch (c->kind) {
    case COMMAND_ORDER:
        c->order.grouping = (enum order_grouping)random_between(random, 0, ORDER_GROUPINGS - 1);
        c->order.n_legs = (int)random_between(random, 0, ORDER_LEGS_MAX);
        c->order.legs = made->legs;
        for (int i = 0; i < c->order.n_legs; i++)
            random_request(random, &made->legs[i]);
        break;
    case COMMAND_CANCEL:
        c->order_id = random_next(random);
        break;
    case COMMAND_AMEND:
        c->amend = (struct order_amend){random_next(random),         (unsigned)random_next(random),
                                        random_i64(random),          random_i64(random),
                                        random_i64(random),          random_i64(random),
                                        (int32_t)random_next(random)};
        break;
    case COMMAND_ACCOUNT_CREATE:
        random_account(random, &c->account);
        break;
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_TRANSFER:
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_CLOSE:
        c->money.account = (int)random_between(random, -1, 40);
        c->money.to = (int)random_between(random, -1, 40);
        c->money.amount = random_i64(random);
        break;
    case COMMAND_ACCOUNT_POLICY: /* policies of their own: tests/engine/swap.c */
        c->policy.account = (int)random_between(random, -1, 40);
        c->policy.close = random_chance(random, 50);
        break;
    case COMMAND_CONFIGURE:
        c->configure.n = (int)random_between(random, 0, RANDOM_ACCOUNTS);
        c->configure.accounts = made->accounts;
        for (int i = 0; i < c->configure.n; i++)
            random_account(random, &made->accounts[i]);
        break;
    default:
        break;
    }
}

static inline void random_calendar(struct random *random, struct random_event *made)
{
    struct event_calendar *e = &made->event.calendar;
    random_name(random, e->calendar.name, sizeof e->calendar.name);
    e->calendar.from_ns = random_i64(random);
    e->calendar.to_ns = random_i64(random);
    e->calendar.days = made->days;
    e->calendar.n = (size_t)random_between(random, 0, EVENT_DAYS_MADE);
    int64_t at = random_between(random, -1000, 1000000000000000000);
    for (size_t i = 0; i < e->calendar.n; i++) {
        struct trading_day *day = &made->days[i];
        day->early_ns = at += random_between(random, 0, 1000000000000);
        day->open_ns = at += random_between(random, 0, 1000000000000);
        day->close_ns = at += random_between(random, 1, 1000000000000);
        day->late_ns = at += random_between(random, 0, 1000000000000);
    }
    for (size_t i = 0; i < sizeof e->hash; i++)
        e->hash[i] = (uint8_t)random_between(random, 0, 255);
}

static inline void random_venue_order(struct random *random, struct event_venue_order *e)
{
    e->account = (int)random_between(random, 0, ACCOUNTS_MAX - 1);
    e->order_id = random_next(random);
    e->update = (enum venue_update)random_between(random, 0, VENUE_UPDATES - 1);
    random_name(random, e->venue_id, sizeof e->venue_id);
    random_name(random, e->text, sizeof e->text);
    if (e->update != VENUE_UPDATE_FILL)
        return;
    e->fill.price = random_i64(random);
    e->fill.qty = random_i64(random);
    e->fill.cumulative = random_i64(random);
    e->fill.notional = random_i64(random);
    e->fill.fee = random_i64(random);
    random_name(random, e->fill.fee_asset, sizeof e->fill.fee_asset);
    e->fill.maker = random_chance(random, 50);
    random_name(random, e->fill.trade_id, sizeof e->fill.trade_id);
    e->fill.ts_ns = random_i64(random);
}

static inline void random_venue_account(struct random *random, struct random_event *made)
{
    struct event_venue_account *e = &made->event.venue_account;
    e->account = (int)random_between(random, 0, ACCOUNTS_MAX - 1);
    e->update = (enum venue_account_update)random_between(random, 0, VENUE_ACCOUNT_UPDATES - 1);
    random_name(random, e->prefix, sizeof e->prefix);
    random_name(random, e->text, sizeof e->text);
    e->totals = made->totals;
    e->n = (int)random_between(random, 0, RANDOM_ACCOUNTS);
    for (int i = 0; i < e->n; i++) {
        random_name(random, made->totals[i].asset, sizeof made->totals[i].asset);
        made->totals[i].scale = (int)random_between(random, 0, DECIMAL_SCALE_MAX);
        made->totals[i].total = random_i64(random);
    }
}

/* What only INTENT_ORDER has. */
static inline void random_order_intent(struct random *random, struct intent *intent)
{
    intent->side = (enum order_side)random_between(random, 0, ORDER_SELL);
    intent->type = (enum order_type)random_between(random, 0, ORDER_TYPES - 1);
    intent->tif = (enum order_tif)random_between(random, 0, ORDER_TIFS - 1);
    intent->size = (enum intent_size)random_between(random, 0, INTENT_OF_UNITS);
    intent->qty = random_real(random);
    intent->trail = random_real(random);
    intent->trail_share = random_real(random);
    intent->reduce_only = random_chance(random, 50);
}

static inline void random_decision(struct random *random, struct random_event *made)
{
    struct event_decision *e = &made->event.decision;
    struct strategy_decision *d = &made->decision;
    e->account = (int)random_between(random, 0, ACCOUNTS_MAX - 1);
    e->symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
    e->open_ns = random_i64(random);
    e->decision = d;
    d->outcome = (enum strategy_outcome)random_between(random, 0, STRATEGY_OUTCOMES - 1);
    random_name(random, d->fault, sizeof d->fault);
    d->n = (uint32_t)random_between(random, 0,
                                    random_chance(random, 10) ? STRATEGY_SAID_MAX : STRATEGY_INTENTS_MAX + 1);
    for (int i = 0; i < STRATEGY_DECISION_MAX; i++) {
        d->intents[i] = (struct intent){.kind = (enum intent_kind)random_between(random, -1, 9),
                                        .fraction = random_real(random),
                                        .stop = random_real(random),
                                        .profit = random_real(random),
                                        .limit = random_real(random),
                                        .good_ns = random_i64(random),
                                        .symbol = (int)random_between(random, -1, 9),
                                        .why = d->whys[i]};
        random_name(random, d->whys[i], sizeof d->whys[i]);
        if (d->intents[i].kind == INTENT_ORDER)
            random_order_intent(random, &d->intents[i]);
    }
    d->keeps = random_chance(random, 50);
    if (!d->keeps)
        return;
    d->state = (struct strategy_kept){made->kept, (uint32_t)random_between(random, 0, sizeof made->kept)};
    for (uint32_t i = 0; i < d->state.len; i++)
        made->kept[i] = (uint8_t)random_next(random);
}

/* Draws an event of that kind; what it points to is made's. */
static inline void random_event(struct random *random, enum event_kind kind, struct random_event *made)
{
    struct event *e = &made->event;
    memset(made, 0, sizeof *made);
    e->seq = random_next(random);
    e->recv_ns = random_i64(random);
    e->kind = kind;
    switch (kind) {
    case EVENT_MARKET:
        random_market(random, made);
        break;
    case EVENT_SNAPSHOT:
        e->snapshot.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        e->snapshot.last_id = random_next(random);
        e->snapshot.bids = made->levels;
        e->snapshot.n_bids = random_levels(random, made->levels);
        e->snapshot.asks = made->levels + EVENT_LEVELS;
        e->snapshot.n_asks = random_levels(random, made->levels + EVENT_LEVELS);
        break;
    case EVENT_BARS:
        e->bars.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        e->bars.missed = random_chance(random, 50);
        e->bars.bars = made->bars;
        e->bars.n = (uint32_t)random_between(random, 0, EVENT_BARS_MADE);
        for (uint32_t i = 0; i < e->bars.n; i++)
            made->bars[i] = random_bar(random);
        break;
    case EVENT_SYMBOL:
        e->symbol.index = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        random_symbol(random, &e->symbol.listed);
        break;
    case EVENT_UNIVERSE:
        e->universe.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        e->universe.in = random_chance(random, 50);
        break;
    case EVENT_CONNECTION:
        random_name(random, e->connection.venue, sizeof e->connection.venue);
        e->connection.up = random_chance(random, 50);
        break;
    case EVENT_SESSION:
        random_name(random, e->session.calendar, sizeof e->session.calendar);
        e->session.phase = (enum market_phase)random_between(random, 0, MARKET_PHASES - 1);
        e->session.next_ns = random_i64(random);
        e->session.extended = random_chance(random, 50);
        break;
    case EVENT_ACTION:
        e->action.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        random_name(random, e->action.action.id, sizeof e->action.action.id);
        e->action.action.kind =
            (enum corporate_action_kind)random_between(random, 0, CORPORATE_ACTION_KINDS - 1);
        e->action.action.ex_ns = random_i64(random);
        e->action.action.shares = random_i64(random);
        e->action.action.per = random_i64(random);
        e->action.action.cash = random_i64(random);
        e->action.action.record_ns = ~e->action.action.cash; /* no more is drawn */
        e->action.action.pay_ns = e->action.action.cash ^ e->action.action.per;
        break;
    case EVENT_CALENDAR:
        random_calendar(random, made);
        break;
    case EVENT_VENUE_CLOCK:
        random_name(random, e->venue_clock.venue, sizeof e->venue_clock.venue);
        e->venue_clock.ahead_ns = random_i64(random);
        break;
    case EVENT_VENUE_ORDER:
        random_venue_order(random, &e->venue_order);
        break;
    case EVENT_VENUE_ACCOUNT:
        random_venue_account(random, made);
        break;
    case EVENT_DECISION:
        random_decision(random, made);
        break;
    case EVENT_COLUMN:
        e->column.symbol = (int)random_between(random, -1, SYMBOLS_MAX - 1);
        random_name(random, e->column.name, sizeof e->column.name);
        e->column.value.timestamp_ns = random_i64(random);
        e->column.value.published_ns = random_i64(random);
        e->column.value.value = (double)random_i64(random);
        break;
    case EVENT_SYMBOL_CONNECTION:
        e->symbol_connection.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        e->symbol_connection.up = random_chance(random, 50);
        break;
    case EVENT_STALE:
        e->stale.symbol = (int)random_between(random, 0, SYMBOLS_MAX - 1);
        e->stale.stale = random_chance(random, 50);
        break;
    case EVENT_STORAGE:
        e->storage_ok = random_chance(random, 50);
        break;
    case EVENT_COMMAND:
        random_command(random, made);
        break;
    default:
        break;
    }
}

/* ---- the same? ---- */

#define SAME(field)      ((a->field) == (b->field))
#define SAME_TEXT(field) (strcmp(a->field, b->field) == 0)

static inline bool same_bar(const struct bar *a, const struct bar *b)
{
    return SAME(open_ns) && SAME(open) && SAME(high) && SAME(low) && SAME(close) && SAME(volume) &&
           SAME(quote_volume) && SAME(trades) && SAME(first_trade_id) && SAME(last_trade_id);
}

static inline bool same_levels(const struct book_level *a, const struct book_level *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].price != b[i].price || a[i].qty != b[i].qty)
            return false;
    return true;
}

static inline bool same_market(const struct market_event *a, const struct market_event *b)
{
    if (!SAME(kind) || !SAME(symbol) || !SAME(event_ns))
        return false;
    switch (a->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        return SAME(trade.ts_ns) && SAME(trade.id) && SAME(trade.first_id) && SAME(trade.last_id) &&
               SAME(trade.price) && SAME(trade.qty) && SAME(trade.buyer_maker) && SAME(trade.odd) &&
               SAME(trade.auction);
    case MARKET_KLINE:
    case MARKET_REVISION:
        return SAME(kline.interval_ns) && same_bar(&a->kline.bar, &b->kline.bar) && SAME(kline.closed);
    case MARKET_QUOTE:
        return SAME(quote.update_id) && SAME(quote.bid) && SAME(quote.bid_qty) && SAME(quote.ask) &&
               SAME(quote.ask_qty);
    case MARKET_DEPTH:
    case MARKET_BOOK:
        return SAME(depth.first_id) && SAME(depth.last_id) && SAME(depth.n_bids) && SAME(depth.n_asks) &&
               same_levels(a->depth.bids, b->depth.bids, a->depth.n_bids) &&
               same_levels(a->depth.asks, b->depth.asks, a->depth.n_asks);
    case MARKET_CORRECTION:
    case MARKET_CANCEL:
        return SAME(correction.ts_ns) && SAME(correction.id) && SAME(correction.new_id) &&
               SAME(correction.old_price) && SAME(correction.old_qty) && SAME(correction.price) &&
               SAME(correction.qty) && SAME_TEXT(correction.code);
    case MARKET_STATUS:
        return SAME(status.trading) && SAME_TEXT(status.code) && SAME_TEXT(status.reason);
    case MARKET_BANDS:
        return SAME(bands.up) && SAME(bands.down);
    case MARKET_IMBALANCE:
        return SAME(imbalance_price);
    default:
        return SAME(ticker.open) && SAME(ticker.high) && SAME(ticker.low) && SAME(ticker.close) &&
               SAME(ticker.volume);
    }
}

static inline bool same_symbol(const struct symbol *a, const struct symbol *b)
{
    return SAME_TEXT(name) && SAME_TEXT(base) && SAME_TEXT(quote) && SAME(price_scale) && SAME(qty_scale) &&
           SAME(quote_scale) && SAME(trading) && SAME(gone) && SAME(loose_ids) && SAME_TEXT(venue) &&
           SAME_TEXT(feed) && SAME(primary) && SAME_TEXT(calendar) && SAME(filters.price_min) &&
           SAME(filters.price_max) && SAME(filters.tick) && SAME(filters.qty_min) && SAME(filters.qty_max) &&
           SAME(filters.step) && SAME(filters.market_qty_min) && SAME(filters.market_qty_max) &&
           SAME(filters.market_step) && SAME(filters.notional_min) && SAME(filters.notional_max) &&
           SAME(filters.notional_min_market) && SAME(filters.notional_max_market) &&
           SAME(filters.bid_up_e4) && SAME(filters.bid_down_e4) && SAME(filters.ask_up_e4) &&
           SAME(filters.ask_down_e4) && SAME(filters.orders_max);
}

static inline bool same_request(const struct order *a, const struct order *b)
{
    return SAME(account) && SAME(symbol) && SAME(side) && SAME(type) && SAME(tif) && SAME(qty) &&
           SAME(price) && SAME(stop_price) && SAME(trail) && SAME(trail_e6) && SAME(expires_ns) &&
           SAME(post_only) && SAME(reduce_only) && SAME(by_hand) && SAME_TEXT(client_id) && SAME_TEXT(tag);
}

static inline bool same_account(const struct account_spec *a, const struct account_spec *b)
{
    bool same = SAME_TEXT(name) && SAME_TEXT(currency) && SAME(currency_scale) && SAME(cash) &&
                SAME(rules.fees.maker_e6) && SAME(rules.fees.taker_e6) && SAME(rules.risk.exposure_symbol) &&
                SAME(rules.risk.exposure_account) && SAME(rules.risk.daily_loss) &&
                SAME(rules.risk.orders_per_second) && SAME(rules.risk.drawdown) &&
                SAME(rules.risk.price_band) && SAME(rules.risk.cooldown_ns) && SAME(rules.risk.positions) &&
                SAME(rules.margin) && SAME(rules.day_trader) && SAME(rules.settlement) &&
                SAME(rules.shorts) && SAME(rules.collateral_e4) && SAME(rules.maintenance_e4) &&
                SAME(rules.borrow_rate_e6) && SAME(session) && SAME(strategy);
    for (size_t i = 0; same && a->strategy && i < a->strategy->n_params; i++)
        same = SAME(params[i]);
    return same;
}

static inline bool same_command(const struct event_command *a, const struct event_command *b)
{
    if (!SAME(kind) || !SAME(command_id) || !SAME_TEXT(key) || !SAME(peer_uid) || !SAME(peer_pid) ||
        !a->args != !b->args || (a->args && !SAME_TEXT(args)))
        return false;
    switch (a->kind) {
    case COMMAND_ORDER:
        for (int i = 0; i < a->order.n_legs && SAME(order.n_legs); i++)
            if (!same_request(&a->order.legs[i], &b->order.legs[i]))
                return false;
        return SAME(order.grouping) && SAME(order.n_legs);
    case COMMAND_CANCEL:
        return SAME(order_id);
    case COMMAND_AMEND:
        return SAME(amend.order_id) && SAME(amend.set) && SAME(amend.qty) && SAME(amend.price) &&
               SAME(amend.stop_price) && SAME(amend.trail) && SAME(amend.trail_e6);
    case COMMAND_ACCOUNT_CREATE:
        return same_account(&a->account, &b->account);
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_TRANSFER:
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_CLOSE:
        return SAME(money.account) && SAME(money.to) && SAME(money.amount);
    case COMMAND_ACCOUNT_POLICY:
        return SAME(policy.account) && SAME(policy.policy) && SAME(policy.close);
    case COMMAND_CONFIGURE:
        for (int i = 0; i < a->configure.n && SAME(configure.n); i++)
            if (!same_account(&a->configure.accounts[i], &b->configure.accounts[i]))
                return false;
        return SAME(configure.n);
    default:
        return true;
    }
}

static inline bool same_order_intent(const struct intent *a, const struct intent *b)
{
    return SAME(side) && SAME(type) && SAME(tif) && SAME(size) && SAME(qty) && SAME(trail) &&
           SAME(trail_share) && SAME(reduce_only);
}

static inline bool same_decision(const struct strategy_decision *a, const struct strategy_decision *b)
{
    for (uint32_t i = 0; i < a->n && i < STRATEGY_DECISION_MAX; i++)
        if (!SAME(intents[i].kind) || !SAME(intents[i].fraction) || !SAME(intents[i].stop) ||
            !SAME(intents[i].profit) || !SAME(intents[i].limit) || !SAME(intents[i].good_ns) ||
            !SAME(intents[i].symbol) || strcmp(a->intents[i].why, b->intents[i].why) != 0 ||
            !same_order_intent(&a->intents[i], &b->intents[i]))
            return false;
    return SAME(outcome) && SAME_TEXT(fault) && SAME(n) && SAME(keeps) && SAME(state.len) &&
           (a->state.len == 0 || memcmp(a->state.bytes, b->state.bytes, a->state.len) == 0);
}

static inline bool same_event(const struct event *a, const struct event *b)
{
    if (!SAME(kind))
        return false;
    switch (a->kind) {
    case EVENT_MARKET:
        return same_market(&a->market, &b->market);
    case EVENT_SNAPSHOT:
        return SAME(snapshot.symbol) && SAME(snapshot.last_id) && SAME(snapshot.n_bids) &&
               SAME(snapshot.n_asks) && same_levels(a->snapshot.bids, b->snapshot.bids, a->snapshot.n_bids) &&
               same_levels(a->snapshot.asks, b->snapshot.asks, a->snapshot.n_asks);
    case EVENT_BARS:
        for (uint32_t i = 0; i < a->bars.n && SAME(bars.n); i++)
            if (!same_bar(&a->bars.bars[i], &b->bars.bars[i]))
                return false;
        return SAME(bars.symbol) && SAME(bars.missed) && SAME(bars.n);
    case EVENT_SYMBOL:
        return SAME(symbol.index) && same_symbol(&a->symbol.listed, &b->symbol.listed);
    case EVENT_UNIVERSE:
        return SAME(universe.symbol) && SAME(universe.in);
    case EVENT_CONNECTION:
        return SAME_TEXT(connection.venue) && SAME(connection.up);
    case EVENT_SESSION:
        return SAME_TEXT(session.calendar) && SAME(session.phase) && SAME(session.next_ns) &&
               SAME(session.extended);
    case EVENT_ACTION:
        return SAME(action.symbol) && SAME_TEXT(action.action.id) && SAME(action.action.kind) &&
               SAME(action.action.ex_ns) && SAME(action.action.shares) && SAME(action.action.per) &&
               SAME(action.action.cash) && SAME(action.action.record_ns) && SAME(action.action.pay_ns);
    case EVENT_CALENDAR:
        return SAME_TEXT(calendar.calendar.name) && SAME(calendar.calendar.from_ns) &&
               SAME(calendar.calendar.to_ns) && SAME(calendar.calendar.n) &&
               (a->calendar.calendar.n == 0 ||
                memcmp(a->calendar.calendar.days, b->calendar.calendar.days,
                       a->calendar.calendar.n * sizeof(struct trading_day)) == 0) &&
               memcmp(a->calendar.hash, b->calendar.hash, sizeof a->calendar.hash) == 0;
    case EVENT_VENUE_CLOCK:
        return SAME_TEXT(venue_clock.venue) && SAME(venue_clock.ahead_ns);
    case EVENT_VENUE_ORDER:
        return SAME(venue_order.account) && SAME(venue_order.order_id) && SAME(venue_order.update) &&
               SAME_TEXT(venue_order.venue_id) && SAME_TEXT(venue_order.text) &&
               (a->venue_order.update != VENUE_UPDATE_FILL ||
                (SAME(venue_order.fill.price) && SAME(venue_order.fill.qty) &&
                 SAME(venue_order.fill.cumulative) && SAME(venue_order.fill.notional) &&
                 SAME(venue_order.fill.fee) && SAME_TEXT(venue_order.fill.fee_asset) &&
                 SAME(venue_order.fill.maker) && SAME_TEXT(venue_order.fill.trade_id) &&
                 SAME(venue_order.fill.ts_ns)));
    case EVENT_VENUE_ACCOUNT:
        for (int i = 0; i < a->venue_account.n && SAME(venue_account.n); i++)
            if (!SAME(venue_account.totals[i].scale) || !SAME(venue_account.totals[i].total) ||
                !SAME_TEXT(venue_account.totals[i].asset))
                return false;
        return SAME(venue_account.account) && SAME(venue_account.update) && SAME(venue_account.n) &&
               SAME_TEXT(venue_account.prefix) && SAME_TEXT(venue_account.text);
    case EVENT_COLUMN:
        return SAME(column.symbol) && SAME_TEXT(column.name) && SAME(column.value.timestamp_ns) &&
               SAME(column.value.published_ns) && SAME(column.value.value);
    case EVENT_DECISION:
        return SAME(decision.account) && SAME(decision.symbol) && SAME(decision.open_ns) &&
               same_decision(a->decision.decision, b->decision.decision);
    case EVENT_SYMBOL_CONNECTION:
        return SAME(symbol_connection.symbol) && SAME(symbol_connection.up);
    case EVENT_STALE:
        return SAME(stale.symbol) && SAME(stale.stale);
    case EVENT_STORAGE:
        return SAME(storage_ok);
    case EVENT_COMMAND:
        return same_command(&a->command, &b->command);
    default:
        return true;
    }
}

#undef SAME
#undef SAME_TEXT

#endif
