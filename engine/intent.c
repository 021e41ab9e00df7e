/* Makes orders of strategies' order intents; an invalid intent is refused, counted and reported. */
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"
#include "exchange/sizing.h"

#define ALERT_AGAIN_NS (3600 * INT64_C(1000000000))

/* The side that closes the position; of a flat one a long's. */
static enum order_side closing_side(const struct engine *engine, int account, int symbol)
{
    return engine->accounts[account].positions[symbol].qty < 0 ? ORDER_BUY : ORDER_SELL;
}

/* An exit that protects a position: it rests, or is on its way, and does not wait for an entry. */
static bool exits(const struct engine *engine, const struct live_order *live, int account, int symbol)
{
    const struct order *order = &live->order;
    return order->account == account && order->symbol == symbol &&
           order->side == closing_side(engine, account, symbol) && order->state != ORDER_HELD &&
           !live->cancel_queued;
}

static bool protects(const struct engine *engine, const struct live_order *live, int account, int symbol)
{
    return live->order.type == ORDER_STOP && exits(engine, live, account, symbol);
}

int64_t engine_intent_stop(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++)
        if (protects(engine, &engine->orders[i], account, symbol))
            return engine->orders[i].order.stop_price;
    return 0;
}

int64_t engine_intent_profit(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (!exits(engine, &engine->orders[i], account, symbol))
            continue;
        if (order->type == ORDER_LIMIT && order->parent != 0)
            return order->price;
        if (order->type == ORDER_TAKE_PROFIT || order->type == ORDER_TAKE_PROFIT_LIMIT)
            return order->stop_price;
    }
    return 0;
}

bool engine_intent_working(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->account == account && order->symbol == symbol && !order_is_stop(order->type) &&
            order->parent == 0)
            return true;
    }
    return false;
}

int64_t engine_intent_free_cash(struct engine *engine, int account, int symbol)
{
    const struct account *of = &engine->accounts[account];
    const struct balance *quote = account_quote(engine, account, symbol);
    if (engine_margin_lends(engine, account, symbol))
        return engine_margin_budget(engine, account, symbol, false);
    return of->pairs[symbol].quote == of->currency_at ? engine_loan_spendable(engine, account)
                                                      : quote->total - quote->reserved;
}

struct order engine_intent_order(int account, int symbol, enum order_side side, enum order_type type,
                                 int64_t qty, const char *tag)
{
    struct order request = {.account = account, .symbol = symbol, .side = side, .type = type, .qty = qty};
    snprintf(request.tag, sizeof request.tag, "%s", tag ? tag : "");
    return request;
}

static struct sizing sizing_of(struct engine *engine, int account, int symbol)
{
    return (struct sizing){
        .symbol = &engine->markets[symbol].symbol,
        .fees = *account_fees(&engine->accounts[account].rules, &engine->markets[symbol].symbol),
        .equity = engine->accounts[account].equity,
        .available = engine_intent_free_cash(engine, account, symbol),
    };
}

/* What may be spent once the exit that was just ordered has closed the position. */
static int64_t cash_left(struct engine *engine, int account, int symbol)
{
    if (engine_margin_lends(engine, account, symbol))
        return engine_margin_budget(engine, account, symbol, true);
    return engine->accounts[account].rules.margin != MARGIN_OFF
               ? engine_intent_free_cash(engine, account, symbol)
               : engine_loan_spendable_left(engine, account, symbol);
}

/* `turns`: the exit of a position the other way round was ordered at the same bar. */
struct sizing engine_intent_sizing(struct engine *engine, int account, int symbol, enum order_side side,
                                   bool turns)
{
    const struct account_rules *rules = &engine->accounts[account].rules;
    struct sizing sizing = sizing_of(engine, account, symbol);
    if (turns)
        sizing.available = cash_left(engine, account, symbol);
    if (side == ORDER_SELL && rules->margin == MARGIN_OFF)
        sizing.available = margin_short_budget(sizing.available, rules->collateral_e4);
    return sizing;
}

/* The price that an order at market would get, as far as is known; 0: no price is known. */
int64_t engine_intent_shown(const struct engine *engine, int account, int symbol, enum order_side side)
{
    struct book_level best = {.price = engine_price(engine, account, symbol)};
    engine_match_best(engine, account, symbol, side, &best);
    return best.price;
}

/* Before and after the session venues take limit orders alone: an account whose session is `extended` gives
 * them at the price that is shown, and takes so much worse: orders of the day with extended_hours. Where the
 * venue's extended_hours are on every order fills, as in the session. */
#define EXTENDED_BAND_E6 5000 /* half a percent */

static bool is_extended(const struct engine *engine, int account, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    return engine->specs[account].session == SESSION_EXTENDED && !market->extended &&
           engine_hours_outside(market);
}

/* The worst price that an order at market is given with, as far as is known: its limit before and after the
 * session. */
static int64_t worst_price(const struct engine *engine, int account, int symbol, enum order_side side)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t price = engine_intent_shown(engine, account, symbol, side);
    int64_t band = (int64_t)((int128_t)price * EXTENDED_BAND_E6 / 1000000);
    if (!is_extended(engine, account, symbol))
        return price;
    return side == ORDER_BUY ? filter_floor_price(listed, price + band)
                             : filter_ceil_price(listed, price - band);
}

void engine_intent_extend(const struct engine *engine, struct order *order)
{
    if (!is_extended(engine, order->account, order->symbol))
        return;
    if (order->type == ORDER_MARKET) {
        order->type = ORDER_LIMIT;
        order->price = worst_price(engine, order->account, order->symbol, order->side);
    }
    if (order->tif == ORDER_GTC || order->tif == ORDER_GTD) /* whose time stays: engine_hours_order_end() */
        order->tif = ORDER_DAY;
    order->extended_hours = true;
}

/* An intent's prices on the tick, away from the market; 0 where it has none. */
struct prices {
    int64_t limit, stop, profit;
};

static enum intent_fault prices_of(const struct symbol *symbol, const struct intent *intent,
                                   struct prices *ret)
{
    struct prices prices = {0};
    bool sells = intent->kind == INTENT_SHORT;
    if (intent->limit > 0 && !sizing_price(symbol, intent->limit, sells, &prices.limit))
        return INTENT_BAD_LIMIT;
    if (intent->stop > 0 && !sizing_price(symbol, intent->stop, sells, &prices.stop))
        return INTENT_BAD_STOP;
    if (intent->profit > 0 && !sizing_price(symbol, intent->profit, !sells, &prices.profit))
        return INTENT_BAD_PROFIT;
    *ret = prices;
    return INTENT_FITS;
}

/* Is a price of entry before its profit? */
static bool is_before(enum order_side side, int64_t price, int64_t profit)
{
    return side == ORDER_BUY ? price < profit : price > profit;
}

/* The limit of an entry at market before and after the session: before its profit; 0 where the price shown
 * has reached that. */
static int64_t extended_limit(const struct engine *engine, int account, int symbol, enum order_side side,
                              int64_t profit)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t price = worst_price(engine, account, symbol, side);
    if (profit == 0 || is_before(side, price, profit))
        return price;
    if (!is_before(side, engine_intent_shown(engine, account, symbol, side), profit))
        return 0;
    return side == ORDER_BUY ? filter_floor_price(listed, profit - 1) : filter_ceil_price(listed, profit + 1);
}

/* An entry with exits is a bracket: the venue rests them the moment that the entry has filled. The stop
 * becomes a market order once it triggers, since no price may pass it unfilled; the profit is a limit
 * order, which rests on the better side of the market and need not trigger first. */
static enum intent_fault enter(struct engine *engine, int account, int symbol, const struct intent *intent,
                               bool turns)
{
    bool sells = intent->kind == INTENT_SHORT;
    enum order_side side = sells ? ORDER_SELL : ORDER_BUY, back = sells ? ORDER_BUY : ORDER_SELL;
    struct prices prices;
    enum intent_fault fault = prices_of(&engine->markets[symbol].symbol, intent, &prices);
    if (fault != INTENT_FITS)
        return fault;
    if (prices.limit == 0 && is_extended(engine, account, symbol)) {
        prices.limit = extended_limit(engine, account, symbol, side, prices.profit);
        if (prices.limit == 0) /* the move that it is for is over */
            return INTENT_FITS;
    }
    struct sizing sizing = engine_intent_sizing(engine, account, symbol, side, turns);
    int64_t qty =
        sizing_entry(&sizing, intent->fraction,
                     prices.limit > 0 ? prices.limit : engine_intent_shown(engine, account, symbol, side));
    if (sells && order_rules_of(sizing.symbol)) /* whole shares are lent */
        qty -= qty % order_rules_whole(sizing.symbol);
    struct order legs[ORDER_LEGS_MAX];
    int n = 1;
    legs[0] = engine_intent_order(account, symbol, side, prices.limit > 0 ? ORDER_LIMIT : ORDER_MARKET, qty,
                                  intent->why);
    legs[0].price = prices.limit;
    if (intent->limit > 0 && intent->good_ns != 0) {
        legs[0].tif = ORDER_GTD;
        legs[0].expires_ns = intent->good_ns - engine_ahead_ns(engine, symbol);
    }
    engine_intent_extend(engine, &legs[0]);
    if (prices.stop > 0) {
        legs[n] = engine_intent_order(account, symbol, back, ORDER_STOP, qty, "stop");
        legs[n++].stop_price = prices.stop;
    }
    if (prices.profit > 0) {
        legs[n] = engine_intent_order(account, symbol, back, ORDER_LIMIT, qty, "profit");
        legs[n++].price = prices.profit;
    }
    enum order_reason reason;
    engine_match_submit_group(engine, n > 1 ? ORDERS_BRACKET : ORDERS_SINGLE, legs, n, &reason);
    return INTENT_FITS;
}

/* A limit that a sale before or after the session left makes room for one at the price that is shown now. */
static void make_room(struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        if (order->account == account && order->symbol == symbol && order->reduce_only &&
            order->extended_hours && !order->by_hand && order->parent == 0 && !live->cancel_queued)
            engine_match_cancel(engine, order->id);
    }
}

/* A protective stop stays until the position is closed, which ends it (reduce-only orders: match.c); should
 * the sale find too little, the stop continues for the rest. What closes a share of it lowers the exits to
 * what is left, once it is filled (fills.c). */
static enum order_reason leave_share(struct engine *engine, int account, int symbol, double share,
                                     const char *why)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t held = engine_venue_held(engine, account, symbol);
    enum order_side side = held < 0 ? ORDER_BUY : ORDER_SELL;
    held = held < 0 ? -held : held;
    held = share < 1 ? (int64_t)((double)held * share) : held;
    int64_t qty = filter_floor_qty(listed, ORDER_MARKET, held);
    struct order request =
        engine_intent_order(account, symbol, side, ORDER_MARKET, qty > 0 ? qty : held, why);
    request.reduce_only = true;
    engine_intent_extend(engine, &request);
    make_room(engine, account, symbol);
    enum order_reason reason;
    uint64_t id = engine_match_submit(engine, &request, &reason);
    size_t at = engine_match_find(engine, id);
    if (share < 1 && reason == ORDER_OK && at < engine->n_orders)
        engine->orders[at].shrinks = true;
    return reason;
}

enum order_reason engine_intent_leave(struct engine *engine, int account, int symbol, const char *why)
{
    return leave_share(engine, account, symbol, 1, why);
}

/* Amends stops that rest, so that the position is never without one; adds one where there is none. False
 * where a resting one could not be moved. */
static bool move_stop(struct engine *engine, int account, int symbol, int64_t price, const char *why)
{
    int64_t bare = engine_match_reducible(engine, account, symbol, closing_side(engine, account, symbol));
    bool moved = true;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *stop = &engine->orders[i].order;
        if (!protects(engine, &engine->orders[i], account, symbol))
            continue;
        bare -= stop->qty - stop->filled;
        if (stop->stop_price != price && !stop->triggered)
            moved &= engine_match_amend(engine, &(struct order_amend){.order_id = stop->id,
                                                                      .set = AMEND_STOP,
                                                                      .stop_price = price}) == ORDER_OK;
    }
    int64_t qty = bare > 0 ? filter_floor_qty(&engine->markets[symbol].symbol, ORDER_STOP, bare) : 0;
    if (qty == 0)
        return moved;
    struct order request =
        engine_intent_order(account, symbol, closing_side(engine, account, symbol), ORDER_STOP, qty, why);
    request.stop_price = price;
    request.reduce_only = true;
    enum order_reason reason;
    engine_match_submit(engine, &request, &reason);
    return moved;
}

static enum intent_fault protect(struct engine *engine, int account, int symbol, const struct intent *intent)
{
    const struct market_state *market = &engine->markets[symbol];
    enum order_side side = closing_side(engine, account, symbol);
    struct book_level best;
    int64_t price;
    if (!sizing_price(&market->symbol, intent->stop, side == ORDER_BUY, &price))
        return INTENT_BAD_STOP;
    if (market->stale || (!engine_match_best(engine, account, symbol, side, &best) &&
                          !engine_hours_opening(engine, symbol, engine->now_ns)))
        return INTENT_STOP_STAYS;
    return move_stop(engine, account, symbol, price, intent->why) ? INTENT_FITS : INTENT_STOP_STAYS;
}

/* The quantity on order to be bought, less what is to be sold, stops and profits apart. */
static int64_t on_order(const struct engine *engine, int account, int symbol)
{
    int64_t sum = 0;
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        if (order->account != account || order->symbol != symbol || order_is_stop(order->type) ||
            order->parent != 0 || live->cancel_queued)
            continue;
        int64_t left = order->qty - order->filled;
        sum += order->side == ORDER_BUY ? left : -left;
    }
    return sum;
}

/* A target of a short: sells what is missing, and buys back what is too much. A long is closed first; what
 * is on order against the position is waited for. */
static void reach_short(struct engine *engine, int account, int symbol, const struct intent *intent,
                        int64_t position, int64_t held)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    const struct intent entry = {.kind = INTENT_SHORT, .fraction = -intent->fraction, .why = intent->why};
    if (held > 0) {
        if (position > 0 && engine_intent_leave(engine, account, symbol, intent->why) == ORDER_OK)
            enter(engine, account, symbol, &entry, true);
        return;
    }
    struct sizing sizing = engine_intent_sizing(engine, account, symbol, ORDER_SELL, false);
    int64_t qty = sizing_target(&sizing, entry.fraction, -held, engine_price(engine, account, symbol),
                                worst_price(engine, account, symbol, ORDER_SELL));
    if (qty > 0 && order_rules_of(listed)) /* whole shares are lent */
        qty -= qty % order_rules_whole(listed);
    if (qty == 0)
        return;
    struct order request = engine_intent_order(account, symbol, qty > 0 ? ORDER_SELL : ORDER_BUY,
                                               ORDER_MARKET, qty > 0 ? qty : -qty, intent->why);
    request.reduce_only = qty < 0;
    engine_intent_extend(engine, &request);
    enum order_reason reason;
    engine_match_submit(engine, &request, &reason);
}

static void reach(struct engine *engine, int account, int symbol, const struct intent *intent)
{
    int64_t position = engine_venue_held(engine, account, symbol);
    int64_t held = position + on_order(engine, account, symbol);
    if (intent->fraction == 0) {
        if (position != 0 && held != 0)
            engine_intent_leave(engine, account, symbol, intent->why);
        return;
    }
    if (intent->fraction > 0 && held < 0 && engine->markets[symbol].out) {
        engine_intent_leave(engine, account, symbol, intent->why); /* and opens nothing */
        return;
    }
    if (intent->fraction < 0) {
        reach_short(engine, account, symbol, intent, position, held);
        return;
    }
    struct sizing sizing = sizing_of(engine, account, symbol);
    int64_t qty = sizing_target(&sizing, intent->fraction, held, engine_price(engine, account, symbol),
                                worst_price(engine, account, symbol, ORDER_BUY));
    if (qty == 0)
        return;
    struct order request = engine_intent_order(account, symbol, qty > 0 ? ORDER_BUY : ORDER_SELL,
                                               ORDER_MARKET, qty > 0 ? qty : -qty, intent->why);
    request.reduce_only = qty < 0;
    engine_intent_extend(engine, &request);
    enum order_reason reason;
    engine_match_submit(engine, &request, &reason);
}

/* What the exits of the same bar came to. */
enum leaving { STAYS, LEAVES, CANNOT_LEAVE };

/* An entry the other way round than what is held, after its exit: without that it would close it. */
static enum intent_fault turn(struct engine *engine, int account, int symbol, const struct intent *intent,
                              enum leaving leaving)
{
    return leaving == CANNOT_LEAVE ? INTENT_FITS : enter(engine, account, symbol, intent, leaving == LEAVES);
}

static enum intent_fault carry_out(struct engine *engine, int account, int symbol,
                                   const struct strategy_input *input, const struct intent *intent,
                                   enum leaving *leaving)
{
    int64_t held = engine_venue_held(engine, account, symbol);
    enum intent_fault fault = intent_check(intent, input);
    if (fault != INTENT_FITS)
        return fault;
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        if (intent->kind == INTENT_SHORT ? held > 0 : held < 0)
            return turn(engine, account, symbol, intent, *leaving);
        return enter(engine, account, symbol, intent, false);
    case INTENT_EXIT:
        if (intent->fraction > 0 && intent->fraction < 1)
            leave_share(engine, account, symbol, intent->fraction, intent->why);
        else
            *leaving =
                engine_intent_leave(engine, account, symbol, intent->why) == ORDER_OK ? LEAVES : CANNOT_LEAVE;
        break;
    case INTENT_STOP:
        return protect(engine, account, symbol, intent);
    case INTENT_TARGET:
        reach(engine, account, symbol, intent);
        break;
    case INTENT_ORDER:
        return engine_intent_place(engine, account, symbol, intent);
    case INTENT_CANCEL:
        engine_intent_cancel(engine, account, symbol);
        break;
    case INTENT_KINDS:
        break;
    }
    return INTENT_FITS;
}

/* Reports a refused intent: at most one alert an hour of each kind and account. */
void engine_intent_refuse(struct engine *engine, int account, int symbol, enum intent_fault fault,
                          const struct intent *intent, const struct strategy_input *input)
{
    struct strategy_runner *runner = &engine->runners[account];
    char what[96];
    runner->refused[fault]++;
    if (runner->alerted_ns[fault] != 0 && engine->now_ns - runner->alerted_ns[fault] < ALERT_AGAIN_NS)
        return;
    runner->alerted_ns[fault] = engine->now_ns;
    intent_fault_text(fault, intent, input, what, sizeof what);
    engine_alert(engine, "INTENT_REFUSED", ENGINE_OF(account, symbol, 0), "%s, %s, account %s: %s",
                 runner->strategy->name, engine->markets[symbol].symbol.name, engine->accounts[account].name,
                 what);
}

size_t engine_intent_sound(struct engine *engine, int account, int symbol, const struct strategy_input *input,
                           const struct intent *intents, size_t n,
                           struct intent sound[static STRATEGY_INTENTS_MAX])
{
    size_t n_sound = 0;
    if (n > STRATEGY_INTENTS_MAX) {
        engine_intent_refuse(engine, account, symbol, INTENT_TOO_MANY, &intents[0], input);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        enum intent_fault fault = intent_check(&intents[i], input);
        if (fault == INTENT_FITS)
            sound[n_sound++] = intents[i];
        else
            engine_intent_refuse(engine, account, symbol, fault, &intents[i], input);
    }
    return n_sound;
}

void engine_intent_carry_out(struct engine *engine, int account, int symbol,
                             const struct strategy_input *input, const struct intent *intents, size_t n)
{
    if (n > STRATEGY_INTENTS_MAX) {
        engine_intent_refuse(engine, account, symbol, INTENT_TOO_MANY, &intents[0], input);
        return;
    }
    enum leaving leaving = STAYS;
    for (size_t i = 0; i < n; i++) {
        enum intent_fault fault = carry_out(engine, account, symbol, input, &intents[i], &leaving);
        if (fault != INTENT_FITS)
            engine_intent_refuse(engine, account, symbol, fault, &intents[i], input);
    }
}
