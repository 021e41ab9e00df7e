#include "engine/engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "engine/event.h"
#include "engine/together.h"
#include "exchange/filter.h"

static int open_markets(struct engine *engine, const struct engine_config *config)
{
    for (int s = 0; s < config->n_symbols; s++) {
        struct market_state *market = &engine->markets[s];
        const struct symbol *symbol = &config->symbols[s];
        if (symbol->price_scale + symbol->qty_scale - symbol->quote_scale > DECIMAL_SCALE_MAX ||
            symbol->price_scale + symbol->qty_scale < symbol->quote_scale)
            return -EINVAL;
        market->symbol = *symbol;
        market->notional_unit = filter_notional_unit(symbol);
        book_init(&market->book);
        bar_builder_init(&market->builder, config->interval_ns);
        market->builder.loose = symbol->loose_ids;
        market->trading = symbol->gone ? MARKET_ENDED : MARKET_TRADES;
        engine_hours_begin(engine, s);
    }
    return 0;
}

int engine_create(const struct engine_config *config, const struct engine_sink *sink, struct engine **ret)
{
    if (config->n_symbols < 1 || config->n_symbols > SYMBOLS_MAX || config->n_accounts < 1 ||
        config->n_accounts > ACCOUNTS_MAX || config->interval_ns <= 0 || config->latency_ns < 0 ||
        (unsigned)config->fill_model >= FILL_MODELS || (unsigned)config->beyond >= FILL_BEYONDS ||
        config->slippage_e6 < 0 || config->slippage_e6 >= 1000000 || config->policy_wait_ns < 0)
        return -EINVAL;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return -ENOMEM;
    engine->sink = *sink;
    engine->n_symbols = config->n_symbols;
    engine->interval_ns = config->interval_ns;
    engine->latency_ns = config->latency_ns;
    engine->equity_interval_ns = config->equity_interval_ns;
    engine->missed_stops = config->missed_stops;
    engine->fill_model = config->fill_model;
    engine->slippage_e6 = config->slippage_e6;
    engine->beyond = config->beyond;
    engine->before_8 = config->before_8;
    engine->auction_due_ns = INT64_MAX;
    engine->policy_wait_ns = config->policy_wait_ns;
    engine->direct = config->direct;
    engine->wait_until_ns = INT64_MAX;
    engine->next_expiry_ns = INT64_MAX;
    engine->markets = calloc((size_t)config->n_symbols, sizeof *engine->markets);
    int r = engine->markets ? open_markets(engine, config) : -ENOMEM;
    for (int a = 0; a < config->n_accounts && r >= 0; a++)
        r = account_add(engine, &config->accounts[a]);
    if (r < 0) {
        engine_destroy(engine);
        return r;
    }
    engine_match_model(engine);
    *ret = engine;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    for (int a = 0; a < engine->n_accounts; a++)
        account_close(engine, a);
    for (int s = 0; engine->markets && s < engine->n_symbols; s++) {
        book_finish(&engine->markets[s].book);
        engine_recent_finish(&engine->markets[s].recent);
        free(engine->markets[s].taken);
        free(engine->markets[s].held);
        engine_revise_forget(&engine->markets[s].trades);
        free(engine->markets[s].measured);
        free(engine->markets[s].known);
    }
    engine_calendars_finish(engine);
    engine_request_finish(&engine->requests);
    free(engine->fetched.bars);
    engine_column_finish(engine);
    free(engine->markets);
    free(engine->accounts);
    free(engine->runners);
    free(engine->rates);
    free(engine->specs);
    free(engine->orders);
    free(engine->pending);
    free(engine->dealt);
    free(engine->standing);
    free(engine);
}

int engine_start(struct engine *engine, int64_t now_ns)
{
    if (now_ns > engine->now_ns)
        engine->now_ns = now_ns;
    for (int a = 0; a < engine->n_accounts; a++) {
        account_begin(engine, a);
        account_equity_point(engine, a);
    }
    engine->to_begin = false;
    engine->next_equity_ns = engine->now_ns + engine->equity_interval_ns;
    return engine->out_of_memory ? -ENOMEM : 0;
}

static void price_moved(struct engine *engine, int symbol)
{
    engine_venue_price(engine, symbol);
    engine_loan_check(engine, symbol);
    engine_margin_check(engine, symbol);
    engine_halt_check(engine, symbol);
}

/* What follows once every strategy has decided on the bar. */
static void bar_over(struct engine *engine, int symbol, const struct bar *bar, bool live)
{
    bool fills = engine->fill_model == FILL_BAR;
    bool traded = engine_hours_bar_priced(engine, symbol, bar), outside = engine_hours_bar_outside(bar);
    if (fills ? traded || outside : live)
        price_moved(engine, symbol);
    engine->outside = NULL;
    if (fills)
        engine_kept_bar_over(engine, symbol, bar);
}

int64_t engine_bar_priced_ns(const struct engine *engine, int symbol, const struct bar *bar)
{
    const int64_t end_ns = engine_calendars_end(engine, symbol, bar->open_ns);
    return end_ns < engine->recv_ns ? end_ns : engine->recv_ns;
}

/* Accepts a closed bar: stores it and shows it to the strategies. `venue_ns`: the venue's time of the event
 * that brought it; 0: not known. False: the rest waits for a decision, as engine->waiting says. */
static bool take_bar(struct engine *engine, int symbol, const struct bar *bar, bool live, int64_t venue_ns)
{
    struct market_state *market = &engine->markets[symbol];
    bool fills = engine->fill_model == FILL_BAR;
    bool traded = engine_hours_bar_priced(engine, symbol, bar), outside = engine_hours_bar_outside(bar);
    if (fills)
        engine_kept_bar(engine, bar->open_ns);
    market->last_bar = *bar;
    market->bars++;
    if (engine_recent_push(&market->recent, bar) < 0)
        engine->out_of_memory = true;
    engine_measure_report(engine, symbol, bar->open_ns);
    if (engine->sink.bar)
        engine->sink.bar(engine->sink.ctx, symbol, BAR_VENUE, bar);
    engine->outside = fills && outside ? market : NULL;
    if (fills && (traded || engine_hours_bar_extends(engine, symbol, bar)))
        engine_match_bar(engine, symbol, bar);
    if (fills ? traded : market->last_from != LAST_TRADE) {
        market->last = bar->close;
        market->priced_ns = engine_bar_priced_ns(engine, symbol, bar);
    }
    if (fills ? traded || outside : market->last_from != LAST_TRADE)
        market->last_from = live || fills ? LAST_BAR : LAST_HISTORY;
    market->outside = engine->outside ? bar->close : 0;
    engine->bar_closed |= live && (!fills || traded);
    if (live && engine->outside)
        account_bar_outside(engine);
    /* A decision is taken on a bar that closed less than an interval ago, never on history. */
    int64_t now_ns = engine_venue_ns(engine, symbol, fills ? engine->recv_ns : engine->now_ns);
    if (venue_ns > 0 && now_ns - venue_ns >= ENGINE_CLOCK_OFF_NS)
        now_ns = venue_ns;
    int64_t age_ns = now_ns - engine_calendars_end(engine, symbol, bar->open_ns);
    bool fresh = live && (age_ns < engine->interval_ns || age_ns < DELAY_ALLOWED_NS);
    if (!engine_runner_bar(engine, symbol, bar, fresh)) {
        engine->waiting.good_ns = engine_request_good(engine, fresh ? age_ns : 0);
        engine->waiting.live = live;
        engine->outside = NULL;
        return false;
    }
    bar_over(engine, symbol, bar, live);
    return true;
}

/* Once the rounds that it ends are decided on, of the accounts from this one on. */
static bool bar_after_rounds(struct engine *engine, int account, int symbol, const struct bar *bar, bool live,
                             int64_t venue_ns)
{
    int asks = engine_together_due(engine, account, symbol, bar);
    if (asks < 0)
        return take_bar(engine, symbol, bar, live, venue_ns);
    engine->waiting = (struct waiting_event){.there = true,
                                             .stage = WAITING_DUE,
                                             .symbol = symbol,
                                             .account = asks,
                                             .bar = *bar,
                                             .good_ns = engine_request_good(engine, 0),
                                             .live = live,
                                             .venue_ns = venue_ns};
    return false;
}

static bool accept_bar(struct engine *engine, int symbol, const struct bar *taken, bool live,
                       int64_t venue_ns)
{
    const struct bar bar = engine_calendars_dated(engine, symbol, taken);
    engine_driver_due(engine, symbol, &bar);
    return bar_after_rounds(engine, 0, symbol, &bar, live, venue_ns);
}

static void hold_bar(struct engine *engine, int symbol, const struct bar *bar, int64_t venue_ns)
{
    struct market_state *market = &engine->markets[symbol];
    if (market->n_held > 0 && bar->open_ns <= market->held[market->n_held - 1].open_ns)
        return;
    if (!market->held && !(market->held = calloc(HELD_BARS_MAX, sizeof *market->held))) {
        engine->out_of_memory = true;
        return;
    }
    if (market->n_held == HELD_BARS_MAX) {
        /* The missing bars did not come for this long: continues without them. */
        for (uint32_t i = 0; i < market->n_held; i++)
            if (!accept_bar(engine, symbol, &market->held[i], false, 0))
                engine_request_lapse(engine);
        market->n_held = 0;
        if (bar->open_ns == engine_calendars_end(engine, symbol, market->last_bar.open_ns)) {
            accept_bar(engine, symbol, bar, true, venue_ns);
            return;
        }
    }
    market->held[market->n_held++] = *bar;
    if (market->n_held == 1 && engine->sink.need_bars)
        engine->sink.need_bars(engine->sink.ctx, symbol,
                               engine_calendars_end(engine, symbol, market->last_bar.open_ns),
                               engine_calendars_open(engine, symbol, bar->open_ns - 1));
}

static void trades_bar(struct engine *engine, int symbol, enum bar_built built, const struct bar *bar)
{
    if (built != BAR_CLOSED || !engine->sink.bar)
        return;
    const struct bar dated = engine_calendars_dated(engine, symbol, bar);
    engine->sink.bar(engine->sink.ctx, symbol, BAR_TRADES, &dated);
}

static void on_kline(struct engine *engine, int symbol, const struct market_kline *kline, int64_t venue_ns)
{
    struct market_state *market = &engine->markets[symbol];
    const struct bar *bar = &kline->bar;
    if (kline->interval_ns != engine->interval_ns)
        return;
    int64_t behind_ns = venue_ns > 0 ? engine->recv_ns - venue_ns : 0;
    engine->behind_ns = behind_ns >= ENGINE_CLOCK_OFF_NS ? behind_ns : -market->ahead_ns;
    bar_builder_confirm_first(&market->builder, bar->open_ns, bar->first_trade_id);
    if (!kline->closed) {
        market->forming = *bar;
        return;
    }
    if (market->builder.have_forming && market->builder.forming.open_ns == bar->open_ns &&
        market->builder.last_trade_id == bar->last_trade_id) {
        struct bar built;
        trades_bar(engine, symbol,
                   bar_builder_close(&market->builder, bar->open_ns + engine->interval_ns, &built), &built);
    }
    market->forming.open_ns = 0;
    if (market->bars > 0 && bar->open_ns <= market->last_bar.open_ns)
        return;
    bool gap =
        market->bars > 0 && bar->open_ns > engine_calendars_end(engine, symbol, market->last_bar.open_ns);
    if (gap && market->symbol.calendar[0] != '\0' && !market->torn)
        gap = false; /* it closed meanwhile, or there was no trade: such intervals have no bar */
    if (market->n_held > 0 || gap) {
        hold_bar(engine, symbol, bar, venue_ns);
        return;
    }
    market->torn = false;
    accept_bar(engine, symbol, bar, true, venue_ns);
}

static void on_trade(struct engine *engine, int symbol, const struct market_trade *trade)
{
    struct market_state *market = &engine->markets[symbol];
    struct market_trade one = *trade;
    struct bar built;
    if (market->symbol.loose_ids ? engine_revise_seen(&market->trades, trade)
                                 : trade->id <= market->builder.last_trade_id)
        return; /* seen already, or overtaken: it must not trade twice */
    one.odd |= market->symbol.loose_ids && engine_revise_again(&market->trades, trade);
    bool moves = !one.odd && !engine_revise_behind(engine, symbol, trade) && engine->fill_model != FILL_BAR;
    trades_bar(engine, symbol, engine_revise_build(engine, symbol, &one, &built), &built);
    engine_auction_trade(engine, symbol, trade, moves);
    if (!moves)
        return;
    market->last = trade->price;
    market->last_from = LAST_TRADE;
    market->priced_ns = engine->recv_ns;
    engine_match_trade(engine, symbol, trade);
    price_moved(engine, symbol);
}

void engine_alert(struct engine *engine, const char *code, const struct engine_subject *of,
                  const char *format, ...)
{
    char text[ENGINE_ALERT_MAX];
    va_list args;
    if (!engine->sink.alert)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    engine->sink.alert(engine->sink.ctx, engine->now_ns, code, of, text);
}

void engine_alert_over(struct engine *engine, const char *code, const char *format, ...)
{
    char about[128];
    va_list args;
    if (!engine->sink.alert_over)
        return;
    va_start(args, format);
    vsnprintf(about, sizeof about, format, args);
    va_end(args);
    engine->sink.alert_over(engine->sink.ctx, code, about);
}

static int on_book(struct engine *engine, int symbol, int result, int64_t event_ns)
{
    engine_measure_update(engine, symbol, event_ns);
    if (result == -ENOMEM)
        return result;
    if (result < 0) { /* the book was reset: the next difference asks for a snapshot */
        engine_alert(engine, "BOOK_REFUSED", ENGINE_OF(-1, symbol, 0),
                     "%s: the venue's order book contradicts itself", engine->markets[symbol].symbol.name);
        return 0;
    }
    if (result == BOOK_NEED_SNAPSHOT && engine->sink.need_snapshot)
        engine->sink.need_snapshot(engine->sink.ctx, symbol);
    if (result == BOOK_APPLIED && engine->fill_model == FILL_BOOK)
        engine_match_quotes(engine, symbol);
    return 0;
}

/* A bid above the ask is not tradable: until the next quote there is no best price. */
static void uncross(struct market_state *market)
{
    struct market_quote *quote = &market->quote;
    if (quote->bid == 0 || quote->ask == 0 || quote->bid <= quote->ask)
        return;
    *quote = (struct market_quote){.update_id = quote->update_id};
    market->book.crossed++;
}

static int on_market(struct engine *engine, const struct market_event *event)
{
    int symbol = event->symbol;
    if (symbol < 0 || symbol >= engine->n_symbols)
        return -EINVAL;
    struct market_state *market = &engine->markets[symbol];
    market->last_ns = engine->recv_ns;
    switch (event->kind) {
    case MARKET_TRADE:
        on_trade(engine, symbol, &event->trade);
        return 0;
    case MARKET_AGG_TRADE:
        if (engine->fill_model == FILL_BAR)
            return 0;
        market->last = event->trade.price;
        market->last_from = LAST_TRADE;
        market->priced_ns = engine->recv_ns;
        price_moved(engine, symbol);
        return 0;
    case MARKET_KLINE:
        on_kline(engine, symbol, &event->kline, event->event_ns);
        return 0;
    case MARKET_QUOTE:
        if (event->quote.update_id >= market->quote.update_id) {
            market->quote = event->quote;
            uncross(market);
            if (market->book.state != BOOK_SYNCED)
                engine_measure_update(engine, symbol, event->event_ns);
            if (engine->fill_model != FILL_BAR)
                engine_match_quotes(engine, symbol);
        }
        return 0;
    case MARKET_DEPTH: {
        const struct market_depth *depth = &event->depth;
        return on_book(engine, symbol,
                       book_diff(&market->book, depth->first_id, depth->last_id, depth->bids, depth->n_bids,
                                 depth->asks, depth->n_asks),
                       event->event_ns);
    }
    case MARKET_BOOK: {
        const struct market_depth *depth = &event->depth;
        return on_book(engine, symbol,
                       book_replace(&market->book, depth->last_id, depth->bids, depth->n_bids, depth->asks,
                                    depth->n_asks),
                       event->event_ns);
    }
    case MARKET_TICKER:
        market->change_open = event->ticker.open;
        return 0;
    case MARKET_REVISION:
        if (event->kline.interval_ns == engine->interval_ns &&
            !engine_revise_bar(engine, symbol, &event->kline.bar)) {
            struct market_kline closed = event->kline;
            closed.closed = true;
            on_kline(engine, symbol, &closed, event->event_ns);
        }
        return 0;
    case MARKET_CORRECTION:
    case MARKET_CANCEL:
        engine_revise_trade(engine, symbol, event);
        return 0;
    case MARKET_STATUS:
        if ((unsigned)event->status.trading >= MARKET_TRADINGS)
            return -EINVAL;
        engine_hours_trading(engine, symbol, event->status.trading, &event->status);
        return 0;
    case MARKET_BANDS:
        market->bands = event->bands;
        return 0;
    case MARKET_IMBALANCE: /* of an auction, which nothing here trades in */
        return 0;
    default:
        return -EINVAL;
    }
}

/* Accepts the bars that were held, the missing ones before them being there or given up. */
static void accept_held(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    while (market->n_held > 0) {
        const struct bar bar = market->held[0];
        memmove(market->held, market->held + 1, --market->n_held * sizeof *market->held);
        if (bar.open_ns > market->last_bar.open_ns && !accept_bar(engine, symbol, &bar, true, 0)) {
            engine->waiting.held = true;
            return;
        }
    }
    free(market->held);
    market->held = NULL;
}

static void close_fetched(struct engine *engine)
{
    free(engine->fetched.bars);
    engine->fetched = (struct fetched_bars){0};
}

/* Accepts bars from `at` on. False: the rest of them waits for a decision, in engine->fetched. */
static bool accept_fetched(struct engine *engine, int symbol, const struct bar *bars, uint32_t n, uint32_t at,
                           bool missed)
{
    struct market_state *market = &engine->markets[symbol];
    for (uint32_t i = at; i < n; i++) {
        if ((market->bars > 0 && bars[i].open_ns <= market->last_bar.open_ns) ||
            accept_bar(engine, symbol, &bars[i], false, 0))
            continue;
        struct bar *copy = bars == engine->fetched.bars ? engine->fetched.bars : malloc(n * sizeof *copy);
        if (!copy) {
            engine->out_of_memory = true;
            return false;
        }
        if (copy != bars)
            memcpy(copy, bars, n * sizeof *copy);
        if (engine->fetched.bars != copy)
            free(engine->fetched.bars);
        engine->fetched = (struct fetched_bars){symbol, missed, copy, n, i + 1};
        engine->waiting.fetched = true;
        return false;
    }
    if (missed && n > 0 && engine->fill_model != FILL_BAR)
        engine_match_missed(engine, symbol, bars, n);
    market->torn = false;
    accept_held(engine, symbol);
    return true;
}

static void accept_rest(struct engine *engine)
{
    const struct fetched_bars rest = engine->fetched;
    if (rest.bars && accept_fetched(engine, rest.symbol, rest.bars, rest.n, rest.at, rest.missed))
        close_fetched(engine);
}

static int on_bars(struct engine *engine, const struct event_bars *event)
{
    if (event->symbol < 0 || event->symbol >= engine->n_symbols)
        return -EINVAL;
    struct market_state *market = &engine->markets[event->symbol];
    uint32_t known = 0;
    while (known < event->n && market->bars > 0 && event->bars[known].open_ns <= market->last_bar.open_ns)
        known++;
    (void)accept_fetched(engine, event->symbol, event->bars + known, event->n - known, 0, event->missed);
    return 0;
}

/* Refuses an order with values that could not even be recorded. */
static enum order_reason unspeakable(const struct engine *engine, const struct order *leg)
{
    if (leg->symbol < 0 || leg->symbol >= engine->n_symbols)
        return ORDER_UNKNOWN_SYMBOL;
    if (leg->account < 0 || leg->account >= engine->n_accounts)
        return ORDER_UNKNOWN_ACCOUNT;
    if (engine->accounts[leg->account].closed_ns != 0)
        return ORDER_ACCOUNT_CLOSED;
    if ((unsigned)leg->side > ORDER_SELL || (unsigned)leg->type >= ORDER_TYPES)
        return ORDER_BAD_GROUP;
    return (unsigned)leg->tif < ORDER_TIFS ? ORDER_OK : ORDER_BAD_TIF;
}

static enum order_reason submit_orders(struct engine *engine, const struct event_command *command,
                                       uint64_t *ret_order)
{
    int n = command->order.n_legs;
    enum order_reason reason = n < 1 || n > ORDER_LEGS_MAX ? ORDER_BAD_GROUP : ORDER_OK;
    for (int i = 0; i < n && reason == ORDER_OK; i++)
        reason = unspeakable(engine, &command->order.legs[i]);
    if (reason == ORDER_OK && command->order.grouping == ORDERS_BRACKET)
        reason = engine_gate_bracket_at(engine, command->order.legs, n);
    if (reason == ORDER_OK)
        *ret_order =
            engine_match_submit_group(engine, command->order.grouping, command->order.legs, n, &reason);
    return reason;
}

static void on_command(struct engine *engine, const struct event_command *command)
{
    enum order_reason reason = ORDER_OK;
    uint64_t order = 0;
    switch (command->kind) {
    case COMMAND_PAUSE:
        engine->paused = true;
        engine_kept_drop_all(engine);
        break;
    case COMMAND_RESUME:
        engine->paused = engine->flattening = false;
        break;
    case COMMAND_FLATTEN:
        engine->paused = engine->flattening = true;
        engine_kept_drop_all(engine);
        engine_runner_flatten(engine);
        break;
    case COMMAND_ORDER:
        reason = submit_orders(engine, command, &order);
        break;
    case COMMAND_CANCEL:
        order = command->order_id;
        reason = engine_match_cancel(engine, order);
        break;
    case COMMAND_AMEND:
        order = command->amend.order_id;
        reason = engine_match_amend(engine, &command->amend);
        break;
    case COMMAND_ACCOUNT_CREATE:
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_TRANSFER:
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_POLICY:
    case COMMAND_CONFIGURE:
    case COMMAND_ACCOUNT_CLOSE:
        engine->by = command;
        reason = account_command(engine, command);
        engine->by = NULL;
        break;
    default:
        reason = ORDER_BAD_ACCOUNT;
        break;
    }
    if (engine->sink.command_done)
        engine->sink.command_done(engine->sink.ctx, command, reason, order);
}

/* Is an order, a cancel, an amend or an expiry due? */
static bool due(const struct engine *engine, int64_t now_ns)
{
    return now_ns >= engine->next_expiry_ns ||
           (engine->first_pending < engine->n_pending &&
            engine->pending[engine->first_pending].effective_ns <= now_ns);
}

/* The engine's time moves to the event's, and what is due by then happens. In the bar model only closed
 * bars and commands move it (match_bar.c): a command takes effect when it was received, by the venue's time
 * as far as ours is known to be wrong, but not before what has happened already. */
static void advance_to(struct engine *engine, const struct event *event)
{
    bool bars = engine->fill_model == FILL_BAR;
    int64_t now_ns = bars ? event->recv_ns - engine->behind_ns : event->recv_ns;
    if (bars)
        engine_driver_wait(engine);
    if (bars && event->kind != EVENT_COMMAND)
        return;
    if (!bars && due(engine, now_ns))
        engine_match_release(engine, now_ns);
    if (now_ns > engine->now_ns)
        engine->now_ns = now_ns;
    if (engine->to_begin)
        account_begin_all(engine);
    engine_fee_tiers_due(engine);
    engine_dividends_due(engine);
    engine_loan_interest(engine);
    engine_margin_day_over(engine);
    if (!bars)
        engine_driver_wait(engine);
}

/* What is due at the end of each event. */
static void finish_event(struct engine *engine)
{
    if (engine->fill_model != FILL_BAR &&
        due(engine, engine->now_ns)) /* a bracket's exits, whose entry this event filled */
        engine_match_release(engine, engine->now_ns);
    if (engine->ends)
        engine_hours_ends(engine);
    if (engine->auction_due_ns <= engine->now_ns)
        engine_auction_due(engine);
    account_equity_points(engine);
    engine_halt_due(engine);
    engine_runner_end_closing(engine);
}

/* Rounds of outside strategies that were waited for long enough, of the accounts from this one on. */
static void ask_waiting(struct engine *engine, int account)
{
    int asks = engine_together_wait_asked(engine, account);
    if (asks >= 0)
        engine->waiting = (struct waiting_event){.there = true,
                                                 .stage = WAITING_ROUND,
                                                 .account = asks,
                                                 .good_ns = engine_request_good(engine, 0)};
}

/* The rest of a bar that the account's strategy has decided on. False: it waits for another. */
static bool rest_of_bar(struct engine *engine, const struct waiting_event *at)
{
    if (engine->fill_model == FILL_BAR && engine_hours_bar_outside(&at->bar))
        engine->outside = &engine->markets[at->symbol];
    if (engine_runner_bar_after(engine, at->symbol, &at->bar, at->fresh, at->account)) {
        bar_over(engine, at->symbol, &at->bar, at->live);
        return true;
    }
    engine->waiting.good_ns = at->good_ns;
    engine->waiting.live = at->live;
    engine->outside = NULL;
    return false;
}

/* What the event whose decision came, or does not come, still brings about, up to the next decision that it
 * waits for. */
void engine_request_continue(struct engine *engine)
{
    while (engine->waiting.there && !engine_request_waits(engine)) {
        const struct waiting_event at = engine->waiting;
        bool over = true;
        engine->waiting = (struct waiting_event){0};
        if (at.stage == WAITING_BAR)
            over = rest_of_bar(engine, &at);
        else if (at.stage == WAITING_DUE)
            over = bar_after_rounds(engine, at.account + 1, at.symbol, &at.bar, at.live, at.venue_ns);
        if (!over) {
            engine->waiting.held = at.held;
            engine->waiting.fetched = at.fetched;
            continue;
        }
        if (at.held)
            accept_held(engine, at.symbol);
        if (at.fetched)
            accept_rest(engine);
        if (!engine->waiting.there)
            ask_waiting(engine, at.stage == WAITING_ROUND ? at.account + 1 : 0);
        if (!engine->waiting.there)
            finish_event(engine);
    }
}

void engine_request_lapse(struct engine *engine)
{
    while (engine->waiting.there) {
        engine_request_drop_acting(engine);
        engine_request_continue(engine);
    }
}

static int memory(struct engine *engine, int r)
{
    if (engine->out_of_memory)
        r = -ENOMEM;
    engine->out_of_memory = false;
    return r;
}

static int on_decision(struct engine *engine, const struct event *event)
{
    int r = engine_request_decided(engine, event);
    engine_request_continue(engine);
    return memory(engine, r);
}

int engine_handle(struct engine *engine, const struct event *event)
{
    int r = 0;
    engine->counters.events++;
    if (event->kind == EVENT_DECISION)
        return on_decision(engine, event);
    engine_request_lapse(engine);
    engine->input_seq = event->seq;
    if (event->recv_ns > engine->recv_ns)
        engine->recv_ns = event->recv_ns;
    if (event->kind == EVENT_VENUE_CLOCK) /* before time moves: what is due by then depends on it */
        r = engine_connection_clock(engine, &event->venue_clock);
    advance_to(engine, event);

    switch (event->kind) {
    case EVENT_MARKET:
        r = on_market(engine, &event->market);
        break;
    case EVENT_SNAPSHOT: {
        const struct event_snapshot *snapshot = &event->snapshot;
        if (snapshot->symbol < 0 || snapshot->symbol >= engine->n_symbols)
            r = -EINVAL;
        else
            r = on_book(engine, snapshot->symbol,
                        book_snapshot(&engine->markets[snapshot->symbol].book, snapshot->last_id,
                                      snapshot->bids, snapshot->n_bids, snapshot->asks, snapshot->n_asks),
                        0);
        break;
    }
    case EVENT_BARS:
        r = on_bars(engine, &event->bars);
        break;
    case EVENT_SYMBOL:
        r = engine_listing_event(engine, &event->symbol);
        break;
    case EVENT_CONNECTION:
        engine_connection_event(engine, &event->connection);
        break;
    case EVENT_SYMBOL_CONNECTION:
        if (event->symbol_connection.symbol < 0 || event->symbol_connection.symbol >= engine->n_symbols)
            r = -EINVAL;
        else
            engine_connection_symbol(engine, event->symbol_connection.symbol, event->symbol_connection.up);
        break;
    case EVENT_STALE:
        if (event->stale.symbol < 0 || event->stale.symbol >= engine->n_symbols)
            r = -EINVAL;
        else
            engine->markets[event->stale.symbol].stale = event->stale.stale;
        break;
    case EVENT_UNIVERSE:
        r = engine_universe_event(engine, event->universe.symbol, event->universe.in);
        break;
    case EVENT_STOP:
        account_stop_points(engine);
        break;
    case EVENT_STORAGE:
        engine->storage_failing = !event->storage_ok;
        break;
    case EVENT_TIMER:
        engine_kept_timer(engine);
        break;
    case EVENT_COMMAND:
        on_command(engine, &event->command);
        break;
    case EVENT_ACTION:
        r = engine_action_event(engine, &event->action);
        break;
    case EVENT_SESSION:
        if ((unsigned)event->session.phase >= MARKET_PHASES)
            r = -EINVAL;
        else
            engine_hours_event(engine, &event->session);
        break;
    case EVENT_CALENDAR:
        r = engine_calendars_take(engine, &event->calendar);
        break;
    case EVENT_VENUE_CLOCK:
        break;
    case EVENT_VENUE_ORDER:
        r = engine_venue_order_event(engine, &event->venue_order);
        break;
    case EVENT_VENUE_ACCOUNT:
        r = engine_venue_account_event(engine, &event->venue_account);
        break;
    case EVENT_COLUMN:
        r = engine_column_event(engine, event);
        break;
    default:
        r = -EINVAL;
        break;
    }
    if (!engine->waiting.there)
        ask_waiting(engine, 0);
    if (!engine->waiting.there)
        finish_event(engine);
    return memory(engine, r);
}
