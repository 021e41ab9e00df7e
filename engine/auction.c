/* Orders of the opening and the closing auction (OPG, CLS), and what of a session's trades is regular.
 *
 * An auction trades at one price, which the exchange that lists the symbol says: its official print. The
 * orders that took effect before the session opened, or closed, trade at it, each whole: how much the auction
 * offered is not known. A limit order that the price does not reach expires. Where no official print comes in
 * time, the session's first trade stands for the opening's, its last one for the closing's; a feed of one
 * exchange alone has none, and is not waited for. Where no trade was seen either, the orders expire. */
#include <string.h>

#include "engine/match.h"
#include "exchange/fill_rules.h"

#define SECOND_NS 1000000000LL
/* How long an official print is waited for: NYSE's openings and closings by hand come minutes late. */
#define OPENING_WAIT_NS (600 * SECOND_NS)
#define CLOSING_WAIT_NS (900 * SECOND_NS)

static bool has_auctions(const struct engine *engine, const struct market_state *market)
{
    return market->symbol.calendar[0] != '\0' && engine->fill_model != FILL_BAR;
}

/* Do stops look at all trades that come while orders are filled? */
static bool takes_any(const struct engine *engine, const struct market_state *market)
{
    return engine->before_8 || market->symbol.calendar[0] == '\0' || market->extended;
}

bool engine_auction_regular(const struct engine *engine, const struct market_state *market, int64_t ts_ns)
{
    return takes_any(engine, market) || market->phase != MARKET_PHASE_OPEN ||
           (ts_ns >= market->opened_ns && (market->phase_next_ns == 0 || ts_ns < market->phase_next_ns));
}

int64_t engine_auction_last(const struct engine *engine, const struct market_state *market)
{
    if (takes_any(engine, market) || market->phase != MARKET_PHASE_OPEN)
        return market->last;
    if (market->auction.last > 0)
        return market->auction.last;
    bool bar = market->last_from == LAST_BAR && market->last_bar.open_ns >= market->opened_ns;
    return bar ? market->last : 0;
}

void engine_auction_find_due(struct engine *engine)
{
    engine->auction_due_ns = INT64_MAX;
    for (int s = 0; s < engine->n_symbols; s++) {
        int64_t due_ns = engine->markets[s].auction.due_ns;
        if (due_ns > 0 && due_ns < engine->auction_due_ns)
            engine->auction_due_ns = due_ns;
    }
}

static void trade_at(struct engine *engine, const struct order *order, int64_t price, enum fill_basis basis)
{
    const struct fill_source from = {.level.price = price, .basis = basis};
    if (price <= 0)
        engine_live_end(engine, order->id, ORDER_EXPIRES, ORDER_NO_LIQUIDITY);
    else if (order->type == ORDER_LIMIT && !fill_limit_crosses(order->side, order->price, price))
        engine_live_end(engine, order->id, ORDER_EXPIRES, ORDER_OK);
    else
        engine_fills_all(engine, order->id, price, false, &from);
}

static void report(struct engine *engine, int symbol, bool closing, bool priced)
{
    const char *name = engine->markets[symbol].symbol.name, *which = closing ? "closing" : "opening";
    if (priced)
        engine_alert(engine, "AUCTION", ENGINE_OF(-1, symbol, 0),
                     "%s: no official %s price came: its %s orders trade at the session's %s trade", name,
                     which, order_tif_name(closing ? ORDER_CLS : ORDER_OPG), closing ? "last" : "first");
    else
        engine_alert(engine, "AUCTION", ENGINE_OF(-1, symbol, 0),
                     "%s: no official %s price and no trade was seen: its %s orders expire", name, which,
                     order_tif_name(closing ? ORDER_CLS : ORDER_OPG));
}

/* The auction that is waited for has a price, or none: 0. */
static void settle(struct engine *engine, int symbol, int64_t price, enum fill_basis basis)
{
    struct auction *auction = &engine->markets[symbol].auction;
    enum order_tif tif = auction->closing ? ORDER_CLS : ORDER_OPG;
    bool official = basis == FILL_BASIS_OPENING || basis == FILL_BASIS_CLOSING, reported = official;
    uint64_t newest = engine->last_order;
    size_t i;
    auction->due_ns = 0;
    for (uint64_t id = 1; (i = engine_live_from(engine, id)) < engine->n_orders; id++) {
        const struct order order = engine->orders[i].order;
        id = order.id;
        if (id > newest)
            break;
        if (order.symbol != symbol || order.tif != tif || !engine_live_resting(&order) ||
            engine_at_venue(engine, &order) ||
            order.effective_ns + engine_ahead_ns(engine, symbol) >= auction->before_ns)
            continue;
        if (!reported)
            report(engine, symbol, auction->closing, price > 0);
        reported = true;
        trade_at(engine, &order, price, basis);
    }
}

static void settle_by_trades(struct engine *engine, int symbol)
{
    const struct auction *auction = &engine->markets[symbol].auction;
    if (auction->closing)
        settle(engine, symbol, auction->last, FILL_BASIS_LAST);
    else
        settle(engine, symbol, auction->first, FILL_BASIS_FIRST);
}

void engine_auction_due(struct engine *engine)
{
    for (int s = 0; s < engine->n_symbols; s++) {
        struct auction *auction = &engine->markets[s].auction;
        if (auction->due_ns == 0 || auction->due_ns > engine->now_ns)
            continue;
        if (has_auctions(engine, &engine->markets[s]))
            settle_by_trades(engine, s);
        auction->due_ns = 0; /* FILL_BAR: since the model changed */
    }
    engine_auction_find_due(engine);
}

/* Can no official print come, since the feed is of another exchange? */
static bool is_elsewhere(const struct symbol *symbol)
{
    return strcmp(symbol->feed, "iex") == 0 && symbol->primary != 'V';
}

/* Is it too late to wait for the price? Then the stream was away; or silent, as after a close that no trade
 * follows, where the last one is the session's if it was made shortly before. */
static bool is_over(const struct engine *engine, const struct auction *auction)
{
    bool seen = auction->closing && auction->last_ns >= auction->before_ns - CLOSING_WAIT_NS;
    return auction->due_ns <= engine->recv_ns && !seen;
}

static void await(struct engine *engine, int symbol, bool closing, int64_t at_ns, int64_t print)
{
    struct market_state *market = &engine->markets[symbol];
    struct auction *auction = &market->auction;
    auction->closing = closing;
    auction->before_ns = at_ns;
    auction->due_ns = at_ns - engine_ahead_ns(engine, symbol) + (closing ? CLOSING_WAIT_NS : OPENING_WAIT_NS);
    if (print > 0)
        settle(engine, symbol, print, closing ? FILL_BASIS_CLOSING : FILL_BASIS_OPENING);
    else if (is_over(engine, auction))
        settle(engine, symbol, 0, FILL_BASIS_NONE);
    else if (closing && is_elsewhere(&market->symbol))
        settle_by_trades(engine, symbol);
    else if (auction->due_ns < engine->auction_due_ns)
        engine->auction_due_ns = auction->due_ns;
}

void engine_auction_phase(struct engine *engine, int symbol, enum market_phase was, int64_t ended_ns,
                          int64_t began_ns)
{
    struct market_state *market = &engine->markets[symbol];
    struct auction *auction = &market->auction;
    int64_t print = auction->print;
    if (!has_auctions(engine, market))
        return;
    auction->print = 0;
    if (auction->due_ns > 0 && (was == MARKET_PHASE_OPEN || market->phase == MARKET_PHASE_OPEN))
        settle_by_trades(engine, symbol);
    if (was == MARKET_PHASE_OPEN) {
        await(engine, symbol, true, ended_ns, print);
        print = 0;
    }
    if (market->phase != MARKET_PHASE_OPEN)
        return;
    if (auction->due_ns > 0) /* a session follows the other one at once: none of its trades is to come */
        settle_by_trades(engine, symbol);
    *auction = (struct auction){.open_ns = began_ns};
    if (was != MARKET_PHASE_UNKNOWN)
        await(engine, symbol, false, began_ns, print);
}

/* An official print; one that comes before the event of its phase is kept for it. */
static void take_print(struct engine *engine, int symbol, const struct market_trade *trade)
{
    struct market_state *market = &engine->markets[symbol];
    struct auction *auction = &market->auction;
    bool opening = trade->auction == MARKET_OPENING, open = market->phase == MARKET_PHASE_OPEN;
    bool next = market->phase_next_ns > 0 && trade->ts_ns >= market->phase_next_ns;
    if (next && opening != open && market->phase != MARKET_PHASE_UNKNOWN)
        auction->print = trade->price;
    else if (auction->due_ns > 0 && auction->closing != opening)
        settle(engine, symbol, trade->price, opening ? FILL_BASIS_OPENING : FILL_BASIS_CLOSING);
}

void engine_auction_trade(struct engine *engine, int symbol, const struct market_trade *trade, bool priced)
{
    struct market_state *market = &engine->markets[symbol];
    struct auction *auction = &market->auction;
    if (!has_auctions(engine, market))
        return;
    if (trade->auction != MARKET_NO_AUCTION)
        take_print(engine, symbol, trade);
    if (!priced || market->phase != MARKET_PHASE_OPEN || trade->ts_ns < auction->open_ns ||
        (market->phase_next_ns > 0 && trade->ts_ns >= market->phase_next_ns))
        return;
    if (auction->first == 0)
        auction->first = trade->price;
    auction->last = trade->price;
    auction->last_ns = trade->ts_ns;
    if (auction->due_ns > 0 && !auction->closing && is_elsewhere(&market->symbol))
        settle_by_trades(engine, symbol);
}
