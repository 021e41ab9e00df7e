/* When a symbol trades: its calendar's sessions, halts, and its end at the venue. docs/orders.md says what
 * happens to orders. */
#include <stdio.h>
#include <string.h>

#include "engine/match.h"
#include "exchange/order_rules.h"

/* Where prices are shown at all, some are so soon after the opening. */
#define FIRST_SHOWN_NS (60 * INT64_C(1000000000))

bool engine_hours_phase(enum market_phase phase, bool extended)
{
    return phase == MARKET_PHASE_OPEN ||
           (extended && (phase == MARKET_PHASE_EARLY || phase == MARKET_PHASE_LATE));
}

bool engine_hours_trades(const struct market_state *market)
{
    return engine_hours_phase(market->phase, market->extended) && market->trading == MARKET_TRADES;
}

bool engine_hours_outside(const struct market_state *market)
{
    bool outside = market->phase == MARKET_PHASE_EARLY || market->phase == MARKET_PHASE_LATE;
    const struct order_rules *rules = outside ? order_rules_of(&market->symbol) : NULL;
    return rules && rules->extended_hours && market->trading == MARKET_TRADES;
}

bool engine_hours_rests(const struct market_state *market)
{
    return !engine_hours_trades(market) && market->phase != MARKET_PHASE_UNKNOWN;
}

static bool shows(const struct market_state *market)
{
    return market->quote.bid > 0 || market->quote.ask > 0 || market->book.state == BOOK_SYNCED;
}

bool engine_hours_opening(const struct engine *engine, int symbol, int64_t created_ns)
{
    const struct market_state *market = &engine->markets[symbol];
    bool soon = !market->stale && engine->recv_ns < market->reopened_ns + FIRST_SHOWN_NS;
    return engine_calendar(engine, symbol)->n > 0 && engine_hours_trades(market) && !shows(market) &&
           (soon || created_ns <= market->reopened_ns);
}

bool engine_hours_unseen(const struct engine *engine, int symbol)
{
    return engine_calendar(engine, symbol)->n > 0 && !shows(&engine->markets[symbol]);
}

bool engine_hours_would_take(const struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    return order_works_as_limit(order) && engine_hours_unseen(engine, order->symbol) &&
           (market->last == 0 || fill_limit_crosses(order->side, order->price, market->last));
}

static bool working(const struct market_state *market, enum market_phase phase)
{
    return engine_hours_phase(phase, market->extended);
}

bool engine_hours_bar_outside(const struct bar *bar)
{
    return bar->session == BAR_SESSION_PRE || bar->session == BAR_SESSION_POST;
}

bool engine_hours_has_bar(const struct market_state *market, const struct bar *bar, int64_t interval_ns)
{
    bool started = bar->open_ns + interval_ns > market->opened_ns, over = bar->open_ns >= market->closed_ns;
    if (market->symbol.calendar[0] == '\0')
        return true;
    if (bar->session != BAR_SESSION_NONE)
        return session_takes(market->extended ? SESSION_EXTENDED : SESSION_REGULAR, bar->session);
    return working(market, market->phase) ? started || !over : started && !over;
}

bool engine_hours_bar_priced(const struct engine *engine, int symbol, const struct bar *bar)
{
    return bar->session == BAR_SESSION_NONE ||
           (!engine_hours_bar_outside(bar) &&
            engine_hours_has_bar(&engine->markets[symbol], bar, engine->interval_ns));
}

bool engine_hours_concerns(const struct engine *engine, int account)
{
    return !engine->outside || engine_hours_sees_outside(engine, account, engine->outside);
}

bool engine_hours_sees_outside(const struct engine *engine, int account, const struct market_state *market)
{
    enum session_choice choice = engine->specs[account].session;
    return choice == SESSION_EXTENDED || (choice == SESSION_ALL && market->extended);
}

int64_t engine_price(const struct engine *engine, int account, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    bool outside = engine->fill_model == FILL_BAR && market->outside > 0 && account >= 0 &&
                   engine_hours_sees_outside(engine, account, market);
    return outside ? market->outside : market->last;
}

bool engine_hours_of_venue(const struct market_state *market, const char *venue)
{
    return venue[0] == '\0' || market->symbol.venue[0] == '\0' || strcmp(market->symbol.venue, venue) == 0;
}

void engine_hours_begin(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    const char *calendar = market->symbol.calendar;
    market->phase = calendar[0] ? MARKET_PHASE_UNKNOWN : MARKET_PHASE_OPEN;
    market->phase_next_ns = market->opened_ns = market->closed_ns = 0;
    market->extended = false;
    for (int s = 0; s < engine->n_symbols && calendar[0]; s++) {
        const struct market_state *other = &engine->markets[s];
        if (s == symbol || strcmp(other->symbol.calendar, calendar) != 0 ||
            other->phase == MARKET_PHASE_UNKNOWN)
            continue;
        market->phase = other->phase;
        market->phase_next_ns = other->phase_next_ns;
        market->opened_ns = other->opened_ns;
        market->closed_ns = other->closed_ns;
        market->extended = other->extended;
        break;
    }
}

/* Nothing that was shown before is tradable. What rests comes to the opening as if it arrived there: a
 * limit order takes what it crosses of what is shown first, and has no known place in a queue. Where only
 * trades are streamed it makes, as no quote will be shown. */
/* What waited for the session comes to its opening likewise, where others were traded before. */
static void take_waiting(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    market->unmoved = market->calm = false;
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        struct live_order *live = &engine->orders[i];
        if (live->order.symbol != symbol ||
            engine_hours_works(engine, market, &live->order, MARKET_PHASE_EARLY))
            continue;
        live->queue_ahead = -1;
        if (shows(market) && engine->fill_model != FILL_BAR)
            live->takes = engine_live_resting(&live->order) && order_works_as_limit(&live->order);
    }
    engine_measure_update(engine, symbol, 0);
}

static void reopen(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    bool shown = shows(market);
    market->quote = (struct market_quote){0};
    market->n_taken = 0;
    market->reopened_ns = engine->recv_ns;
    market->unmoved = market->calm = false;
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        struct live_order *live = &engine->orders[i];
        if (live->order.symbol != symbol)
            continue;
        live->queue_ahead = -1;
        if (shown && engine->fill_model != FILL_BAR)
            live->takes = engine_live_resting(&live->order) && order_works_as_limit(&live->order);
    }
    engine_measure_update(engine, symbol, 0);
}

/* Did a session end between the two? Phases of one day continue it. `worked`, `works`: orders were filled in
 * the phase before, and are in the next. */
static bool day_ended(const struct market_state *market, bool worked, bool works, enum market_phase next,
                      int64_t now_ns)
{
    if (!worked)
        return false;
    return !works || next < market->phase ||
           (next == market->phase && market->phase_next_ns > 0 && market->phase_next_ns <= now_ns);
}

static bool order_day_ended(const struct engine *engine, const struct market_state *before,
                            const struct order *order, enum market_phase next, int64_t now_ns)
{
    return day_ended(before, engine_hours_works(engine, before, order, before->phase),
                     engine_hours_works(engine, before, order, next), next, now_ns);
}

/* Orders of an auction end with its price (auction.c), except with FILL_BAR. */
static bool dated(const struct engine *engine, const struct order *order)
{
    if (order_is_of_auction(order->tif) && engine->fill_model != FILL_BAR)
        return false;
    return order->tif == ORDER_DAY || order->tif == ORDER_CLS ||
           (order->tif == ORDER_OPG && order->expires_ns == 0);
}

static int64_t ends_at(const struct engine *engine, const struct order *order)
{
    struct order now = *order;
    now.effective_ns = engine->recv_ns;
    return engine_hours_order_end(engine, &now);
}

static void expire_at(struct engine *engine, struct order *order, int64_t expires_ns)
{
    order->expires_ns = expires_ns;
    if (expires_ns > 0 && expires_ns < engine->next_expiry_ns)
        engine->next_expiry_ns = expires_ns;
    engine_live_report(engine, order);
}

/* DAY orders without a known end end with the session, and those that last into a new one get its end; OPG
 * orders end soon after it opens. With FILL_BAR the next bar ends them. `before`: the market as it was, where
 * its session may have ended; else NULL. */
static void date_orders(struct engine *engine, int symbol, const struct market_state *before, int64_t end_ns)
{
    const struct market_state *market = &engine->markets[symbol];
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        struct order *order = &engine->orders[i].order;
        if (order->symbol != symbol || !dated(engine, order))
            continue;
        bool ended = before && order_day_ended(engine, before, order, market->phase,
                                               engine_venue_ns(engine, symbol, engine->recv_ns));
        if (before ? !ended : !engine_hours_works(engine, market, order, market->phase))
            continue;
        int64_t expires_ns = ended ? end_ns : ends_at(engine, order);
        if (expires_ns == order->expires_ns ||
            (order->expires_ns > 0 && (ended || order->expires_ns <= engine->recv_ns)))
            continue;
        expire_at(engine, order, expires_ns);
    }
}

/* Does it end at a time of the venue's: of its session, or what its strategy said? */
static bool ends_by_venue(const struct engine *engine, const struct order *order)
{
    bool of_session = order->tif == ORDER_DAY && engine->markets[order->symbol].symbol.calendar[0] != '\0';
    return order->expires_ns > 0 && (of_session || (order->tif == ORDER_GTD && !order->by_hand));
}

void engine_hours_clock(struct engine *engine, int symbol, int64_t ahead_ns)
{
    struct market_state *market = &engine->markets[symbol];
    int64_t before_ns = engine_ahead_ns(engine, symbol);
    market->ahead_ns = ahead_ns;
    int64_t later_ns = before_ns - engine_ahead_ns(engine, symbol);
    if (later_ns == 0)
        return;
    if (market->auction.due_ns > 0)
        market->auction.due_ns += later_ns;
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        struct order *order = &engine->orders[i].order;
        if (order->symbol == symbol && ends_by_venue(engine, order))
            expire_at(engine, order, order->expires_ns + later_ns);
    }
    date_orders(engine, symbol, NULL, 0);
}

static void change(struct engine *engine, int symbol, const struct market_session *event)
{
    struct market_state *market = &engine->markets[symbol];
    const struct market_state before = *market;
    bool was = engine_hours_trades(market), worked = working(market, market->phase);
    int64_t now_ns = engine_venue_ns(engine, symbol, engine->recv_ns), planned_ns = market->phase_next_ns;
    int64_t at_ns = planned_ns > 0 && planned_ns <= now_ns ? planned_ns : now_ns;
    int64_t begin_ns = now_ns - at_ns < HOURS_DAY_NS / 2 && market->phase != MARKET_PHASE_UNKNOWN
                           ? at_ns
                           : engine_calendars_open(engine, symbol, now_ns);
    bool ended = day_ended(market, worked, working(market, event->phase), event->phase, now_ns);
    market->extended = event->extended;
    market->phase = event->phase;
    market->phase_next_ns = event->next_ns;
    date_orders(engine, symbol, &before, at_ns - engine_ahead_ns(engine, symbol));
    if (ended || (worked && !working(market, market->phase)))
        market->closed_ns = at_ns;
    if (working(market, market->phase) && (ended || !worked))
        market->opened_ns = begin_ns;
    date_orders(engine, symbol, NULL, 0);
    bool early = before.phase != event->phase && event->phase == MARKET_PHASE_EARLY;
    if (!was && (engine_hours_trades(market) || (early && engine_hours_outside(market))))
        reopen(engine, symbol);
    else if (was && before.phase == MARKET_PHASE_EARLY && event->phase == MARKET_PHASE_OPEN)
        take_waiting(engine, symbol);
    if (before.phase != market->phase || ended)
        engine_auction_phase(engine, symbol, before.phase, at_ns, begin_ns);
}

void engine_hours_event(struct engine *engine, const struct market_session *event)
{
    bool ours = false;
    for (int s = 0; s < engine->n_symbols && event->calendar[0]; s++)
        if (strcmp(engine->markets[s].symbol.calendar, event->calendar) == 0) {
            change(engine, s, event);
            ours = true;
        }
    if (ours && engine->fill_model != FILL_BAR && engine->next_expiry_ns <= engine->now_ns)
        engine_live_expire(engine, -1, engine->now_ns);
    if (ours)
        engine_kept_session(engine, event->calendar);
    if (engine->sink.session)
        engine->sink.session(engine->sink.ctx, event, engine->now_ns);
}

/* Does an account hold it or have an order in it? */
static bool concerns(const struct engine *engine, int symbol)
{
    if (engine->markets[symbol].live_orders > 0)
        return true;
    for (int a = 0; a < engine->n_accounts; a++)
        if (engine->accounts[a].positions[symbol].qty != 0)
            return true;
    return false;
}

static void end_orders(struct engine *engine, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        if (order->symbol != symbol || engine_venue_asked(engine, &engine->orders[i])) {
            i++;
            continue;
        }
        engine_live_end(engine, order->id, ORDER_IS_CANCELED, ORDER_SYMBOL_GONE);
        i = 0; /* others may have ended, or started, with it */
    }
}

static const char *const codes[MARKET_TRADINGS] = {NULL, "HALTED", "SYMBOL_GONE"};

static void report_status(struct engine *engine, int symbol, const struct market_status *status)
{
    const struct market_state *market = &engine->markets[symbol];
    static const char *const words[MARKET_TRADINGS] = {
        NULL, "is halted: its orders wait",
        "is listed no longer: its orders are cancelled, what is held of it stays"};
    char why[MARKET_CODE_MAX + MARKET_REASON_MAX + 8] = "";
    if (status && (status->code[0] || status->reason[0]))
        snprintf(why, sizeof why, " (%s%s%s)", status->code, status->code[0] && status->reason[0] ? ": " : "",
                 status->reason);
    engine_alert(engine, codes[market->trading], ENGINE_OF(-1, symbol, 0), "%s %s%s", market->symbol.name,
                 words[market->trading], why);
}

void engine_hours_trading(struct engine *engine, int symbol, enum market_trading trading,
                          const struct market_status *status)
{
    struct market_state *market = &engine->markets[symbol];
    bool was = engine_hours_trades(market);
    if (market->trading == trading)
        return;
    if (codes[market->trading])
        engine_alert_over(engine, codes[market->trading], "%s", market->symbol.name);
    market->trading = trading;
    if (codes[trading] && concerns(engine, symbol))
        report_status(engine, symbol, status);
    if (trading == MARKET_ENDED)
        end_orders(engine, symbol);
    if (!was && engine_hours_trades(market))
        reopen(engine, symbol);
}

void engine_hours_ends(struct engine *engine)
{
    engine->ends = false;
    for (int s = 0; s < engine->n_symbols; s++)
        if (engine->markets[s].trading == MARKET_ENDED && engine->markets[s].live_orders > 0) {
            report_status(engine, s, NULL);
            end_orders(engine, s);
        }
}
