/* Whether an order is accepted: by its own fields, the venue's filters, the account's balance and the risk
 * gate, in this order. */
#include <string.h>

#include "engine/match.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

static bool lasts(const struct order *order)
{
    return order->tif == ORDER_GTC || order->tif == ORDER_DAY || order->tif == ORDER_GTD;
}

/* `taken`: its venue's rules say that the type takes the time in force. */
static bool tif_fits(const struct order *order, bool taken)
{
    if (order->post_only && (order->type != ORDER_LIMIT || !lasts(order)))
        return false;
    if (order->tif == ORDER_GTD
            ? order->expires_ns <= order->effective_ns
            : order->tif != ORDER_DAY && order->tif != ORDER_CLS && order->expires_ns != 0)
        return false;
    if (taken)
        return true;
    bool at_once = order->tif == ORDER_IOC || order->tif == ORDER_FOK;
    return order->type == ORDER_MARKET ? order->tif == ORDER_GTC || at_once
                                       : lasts(order) || (order->type == ORDER_LIMIT && at_once);
}

static bool trail_fits(const struct order *order)
{
    if (order->type != ORDER_TRAILING_STOP)
        return true;
    return order->trail_e6 == 0 ? order->trail > 0
                                : order->trail == 0 && order->trail_e6 > 0 && order->trail_e6 < 1000000;
}

enum order_reason engine_gate_rules(const struct engine *engine, const struct order *order, bool grouped)
{
    const struct symbol *listed = &engine->markets[order->symbol].symbol;
    const struct order_rules *rules = order_rules_of(listed);
    bool taken = rules && (rules->tifs[order->type] & ORDER_SET(order->tif));
    if (order->client_id[0] && engine_find_client_order(engine, order->account, order->client_id) != NULL)
        return ORDER_DUPLICATE_ID;
    enum order_reason reason = order_rules_check(listed, order, grouped);
    if (reason == ORDER_OK)
        reason = engine_hours_late(engine, order);
    if (reason != ORDER_OK)
        return reason;
    if (order->extended_hours && !rules)
        return ORDER_RULE_EXTENDED_HOURS;
    if (!tif_fits(order, taken))
        return ORDER_BAD_TIF;
    if (order->notional < 0 ||
        (order->notional > 0 && order->qty == 0 && engine_reserve_price(engine, order) > 0))
        return ORDER_MIN_NOTIONAL;
    if (order->notional > 0 && order->qty == 0)
        return ORDER_NO_LIQUIDITY;
    return trail_fits(order) ? ORDER_OK : ORDER_BAD_PRICE;
}

/* Can it wait for the market, as the legs of an OCO and the exits of a bracket do? */
static bool waits(const struct order *order)
{
    return order->type != ORDER_MARKET && lasts(order);
}

/* Where the order waits to take a profit, or to stop a loss; 0: it does not. A trailing stop has no price
 * yet. */
static int64_t profit_at(const struct order *order)
{
    bool waits_for_it = order->type == ORDER_TAKE_PROFIT || order->type == ORDER_TAKE_PROFIT_LIMIT;
    return order->type == ORDER_LIMIT ? order->price : waits_for_it ? order->stop_price : 0;
}

static int64_t loss_at(const struct order *order)
{
    return order->type == ORDER_STOP || order->type == ORDER_STOP_LIMIT ? order->stop_price : 0;
}

/* Is the profit on the better side of the loss, where both have a price? Else one of the two would trade at
 * once. */
static bool sides_fit(enum order_side side, int64_t profit, int64_t loss)
{
    return profit == 0 || loss == 0 || (side == ORDER_SELL ? profit > loss : profit < loss);
}

static bool oco_fits(const struct order *a, const struct order *b)
{
    return a->account == b->account && a->symbol == b->symbol && a->side == b->side && waits(a) && waits(b) &&
           a->reduce_only == b->reduce_only && a->tif == b->tif && a->expires_ns == b->expires_ns &&
           (!a->client_id[0] || strcmp(a->client_id, b->client_id) != 0) &&
           sides_fit(a->side, profit_at(a), loss_at(b)) && sides_fit(a->side, profit_at(b), loss_at(a));
}

/* Is a bracket's exit on its side of a price of entry? 0: that is not known. */
static bool exit_side_fits(const struct order *exit, int64_t entry)
{
    return sides_fit(exit->side, profit_at(exit), entry) && sides_fit(exit->side, entry, loss_at(exit));
}

static bool exit_fits(const struct order *entry, const struct order *exit)
{
    return exit->account == entry->account && exit->symbol == entry->symbol && exit->side != entry->side &&
           exit->qty == entry->qty && waits(exit) &&
           (!entry->client_id[0] || strcmp(entry->client_id, exit->client_id) != 0) &&
           exit_side_fits(exit, entry->price);
}

enum order_reason engine_gate_group(enum order_grouping grouping, const struct order *legs, int n_legs)
{
    bool fits = false;
    switch (grouping) {
    case ORDERS_SINGLE:
        fits = n_legs == 1;
        break;
    case ORDERS_OCO:
        fits = n_legs == 2 && oco_fits(&legs[0], &legs[1]);
        break;
    case ORDERS_BRACKET:
        fits = (n_legs == 2 || n_legs == 3) && !legs[0].reduce_only && exit_fits(&legs[0], &legs[1]) &&
               (n_legs == 2 || (exit_fits(&legs[0], &legs[2]) && oco_fits(&legs[1], &legs[2])));
        break;
    default:
        break;
    }
    return fits ? ORDER_OK : ORDER_BAD_GROUP;
}

enum order_reason engine_gate_bracket_at(const struct engine *engine, const struct order *legs, int n_legs)
{
    const struct market_state *market = &engine->markets[legs[0].symbol];
    bool fits = true;
    for (int i = 1; i < n_legs && legs[0].type == ORDER_MARKET; i++)
        fits = fits && exit_side_fits(&legs[i], engine_price(engine, legs[0].account, legs[0].symbol));
    return fits || engine->before_8 || !order_rules_of(&market->symbol) ? ORDER_OK : ORDER_BAD_GROUP;
}

enum order_reason engine_gate_amended(const struct engine *engine, const struct order *next)
{
    bool fits = true;
    if (next->group == 0 || engine->before_8)
        return ORDER_OK;
    for (uint64_t id = next->group; fits && id < next->group + ORDER_LEGS_MAX; id++) {
        size_t at = engine_match_find(engine, id);
        if (at == engine->n_orders || id == next->id || engine->orders[at].order.group != next->group)
            continue;
        int64_t need;
        const struct order other = engine_amend_foresee(engine, &engine->orders[at], &need);
        if (other.id == next->parent)
            fits = exit_side_fits(next, other.price);
        else if (next->id == other.parent)
            fits = exit_side_fits(&other, next->price);
        else
            fits = sides_fit(next->side, profit_at(next), loss_at(&other)) &&
                   sides_fit(next->side, profit_at(&other), loss_at(next));
    }
    return fits ? ORDER_OK : ORDER_BAD_GROUP;
}

struct filter_request engine_filter_request(const struct engine *engine, const struct order *order, int ahead)
{
    const struct market_state *market = &engine->markets[order->symbol];
    struct filter_request request = {
        .side = order->side,
        .type = order->type,
        .qty = order->qty,
        .price = order->price,
        .stop_price = order->stop_price,
        .reference = engine_price(engine, order->account, order->symbol),
        .open_orders = ahead,
    };
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        request.open_orders +=
            other->symbol == order->symbol && other->account == order->account && other->id != order->id;
    }
    return request;
}

static enum order_reason check_filters(const struct engine *engine, const struct order *order, int ahead)
{
    const struct filter_request request = engine_filter_request(engine, order, ahead);
    return filter_check(&engine->markets[order->symbol].symbol, &request);
}

static int64_t value_at(const struct engine *engine, const struct order *order)
{
    int128_t value = (int128_t)engine_reserve_price(engine, order) * (order->qty - order->filled) /
                     engine->markets[order->symbol].notional_unit;
    return value > MONEY_MAX / 2 ? MONEY_MAX / 2 : (int64_t)value;
}

/* The value that an order on its way or resting may yet open, of an OCO the larger leg, counted with the
 * first of the two. */
static int64_t value_on_order(const struct engine *engine, const struct order *order)
{
    if (order->reduce_only)
        return 0;
    int64_t value = value_at(engine, order);
    const struct live_order *other = engine_live_other_leg(engine, order);
    if (!other)
        return value;
    if (other->order.id < order->id)
        return 0;
    int64_t others = value_at(engine, &other->order);
    return others > value ? others : value;
}

static bool in_currency(const struct engine *engine, const struct order *order, int symbol)
{
    const struct account *account = &engine->accounts[order->account];
    return account->pairs[symbol].quote == account->currency_at;
}

/* Is `other` a strategy's exit, which trades before `order`, the entry that the strategy turns with? */
static bool leaves(const struct order *other, const struct order *order)
{
    return !order->by_hand && !order->reduce_only && other->reduce_only && !other->by_hand &&
           other->symbol == order->symbol && (other->type == ORDER_MARKET || other->extended_hours);
}

/* The account's exposure to a symbol, long by what it buys or short by what it sells, once all of that side
 * except `order` is filled. Negative: so much the other way round. */
static int64_t exposure(const struct engine *engine, const struct order *order, int symbol,
                        enum order_side side)
{
    int128_t value = account_position_value(engine, order->account, symbol);
    if (side == ORDER_SELL)
        value = -value;
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        if (other->account == order->account && other->symbol == symbol && other->side == side &&
            other->id != order->id)
            value += leaves(other, order) ? value_at(engine, other) : value_on_order(engine, other);
    }
    return value > MONEY_MAX ? MONEY_MAX : (int64_t)value;
}

/* The larger of the two directions; a sale opens nothing where no short is allowed. */
static int64_t largest_exposure(const struct engine *engine, const struct order *order, int symbol)
{
    int64_t bought = exposure(engine, order, symbol, ORDER_BUY);
    if (!engine_loan_allowed(engine, order->account, symbol))
        return bought;
    int64_t sold = exposure(engine, order, symbol, ORDER_SELL);
    return sold > bought ? sold : bought;
}

/* Does it only close what is held, together with what else is on order to do so? */
static bool reduces(const struct engine *engine, const struct order *order)
{
    if (order->reduce_only)
        return true;
    if (!engine_loan_allowed(engine, order->account, order->symbol))
        return order->side == ORDER_SELL;
    int128_t closing = order->qty - order->filled;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        if (other->account == order->account && other->symbol == order->symbol &&
            other->side == order->side && other->id != order->id &&
            (!other->reduce_only || leaves(other, order)))
            closing += other->qty - other->filled;
    }
    return closing <= engine_match_reducible(engine, order->account, order->symbol, order->side);
}

/* May it open a position? A bracket's exits only close what their entry opens. */
static bool opens(const struct engine *engine, const struct order *order)
{
    return !order->reduce_only &&
           (order->side == ORDER_BUY || engine_loan_allowed(engine, order->account, order->symbol));
}

bool engine_gate_opens(const struct engine *engine, const struct order *order)
{
    return opens(engine, order) && !reduces(engine, order);
}

bool engine_gate_entered(const struct engine *engine, int account, int symbol, uint64_t but)
{
    if (engine_venue_held(engine, account, symbol) != 0)
        return true;
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->account == account && order->symbol == symbol && order->id != but && opens(engine, order))
            return true;
    }
    return false;
}

static int32_t entered_elsewhere(const struct engine *engine, const struct order *order)
{
    int32_t n = 0;
    for (int s = 0; s < engine->n_symbols; s++)
        n += s != order->symbol && engine_gate_entered(engine, order->account, s, 0);
    return n;
}

/* Facts on whether the order opens a position: when the last one was closed. */
static void gather_position(const struct engine *engine, const struct order *order, struct risk_facts *facts)
{
    const struct position *position = &engine->accounts[order->account].positions[order->symbol];
    int64_t held = engine_venue_held(engine, order->account, order->symbol);
    bool against = order->side == ORDER_BUY ? held < 0 : held > 0;
    bool turns = against && !facts->reduces;
    facts->begins = held == 0 || turns;
    facts->closed_ns = turns ? engine->now_ns : position->closed_ns;
    facts->entered = engine_gate_entered(engine, order->account, order->symbol, order->id);
    facts->positions = entered_elsewhere(engine, order);
}

/* Exposure counts what is quoted in the account's currency: for the rest there is no price in it. */
static struct risk_facts gather(struct engine *engine, const struct order *order, bool lowers)
{
    const struct market_state *market = &engine->markets[order->symbol];
    struct account *account = &engine->accounts[order->account];
    account_mark(engine, order->account);
    struct risk_facts facts = {
        .now_ns = engine->now_ns,
        .reduces = lowers || reduces(engine, order),
        .paused = engine->paused,
        .stale = market->stale && (!engine_hours_rests(market) || engine_hours_takes(engine, order)) &&
                 !engine_hours_opening(engine, order->symbol, order->created_ns),
        .storage_failing = engine->storage_failing,
        .killed = account->killed_ns != 0,
        .out = market->out && !order->by_hand,
        .last = engine_price(engine, order->account, order->symbol),
        .limit_price = order->price,
        .stop_price = order->stop_price,
        .equity = account->equity,
        .day_equity = account->day_equity,
        .peak = account->equity_peak,
    };
    gather_position(engine, order, &facts);
    int128_t sum = 0;
    for (int s = 0; s < engine->n_symbols; s++)
        if (s != order->symbol && in_currency(engine, order, s))
            sum += largest_exposure(engine, order, s);
    if (in_currency(engine, order, order->symbol)) {
        facts.order_notional = value_at(engine, order);
        facts.symbol_notional = exposure(engine, order, order->symbol, order->side);
        sum += facts.symbol_notional;
    }
    facts.account_notional = sum > MONEY_MAX ? MONEY_MAX : (int64_t)sum;
    return facts;
}

enum order_reason engine_gate_check(struct engine *engine, const struct order *order, int ahead, bool lowers)
{
    const struct account *account = &engine->accounts[order->account];
    const struct engine_trace *trace = engine->sink.trace;
    struct risk_facts facts;
    bool asked = false;
    const struct market_state *market = &engine->markets[order->symbol];
    enum order_reason reason =
        market->trading == MARKET_ENDED ? ORDER_SYMBOL_GONE : check_filters(engine, order, ahead);
    if (reason == ORDER_OK) {
        struct book_level best;
        facts = gather(engine, order, lowers);
        if ((facts.paused || facts.killed || facts.out) && !facts.reduces) /* regardless of other reasons */
            reason = facts.paused   ? ORDER_RISK_PAUSED
                     : facts.killed ? ORDER_RISK_DRAWDOWN
                                    : ORDER_RISK_UNIVERSE;
        asked = reason != ORDER_OK;
        if (reason == ORDER_OK && order->type == ORDER_MARKET && !engine_hours_rests(market) &&
            !engine_hours_opening(engine, order->symbol, order->created_ns) &&
            !order_is_of_auction(order->tif) &&
            !engine_match_best(engine, order->account, order->symbol, order->side, &best))
            reason = ORDER_NO_LIQUIDITY;
        if (reason == ORDER_OK)
            reason = engine_reserve_check(engine, order);
    }
    if (reason == ORDER_OK && order->state != ORDER_HELD) { /* a bracket's exit opens nothing */
        asked = true;
        reason = risk_check(&account->rules.risk, &engine->rates[order->account], &facts);
    }
    if (asked && reason != ORDER_OK)
        engine->refused_by = facts;
    if (trace && trace->verdict) {
        const struct engine_verdict verdict = {
            .order = order, .limits = &account->rules.risk, .facts = asked ? &facts : NULL, .reason = reason};
        trace->verdict(trace->ctx, &verdict);
    }
    return reason;
}
