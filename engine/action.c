/* Makes corporate actions take effect, once each: docs/venues.md says how each is booked. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"
#include "engine/event.h"
#include "engine/match.h"
#include "engine/split.h"

enum { KNOWN_MAX = 256 }; /* of a symbol: the newest are remembered, older ones are refused by their time */

/* ---- which took effect ---- */

bool engine_action_is_known(const struct market_state *market, const char *id)
{
    for (uint32_t i = 0; i < market->n_known; i++)
        if (strcmp(market->known[i].id, id) == 0)
            return true;
    return false;
}

static bool known(const struct market_state *market, const struct corporate_action *action)
{
    if (market->known_before_ns > 0 && action->ex_ns <= market->known_before_ns)
        return true;
    return engine_action_is_known(market, action->id);
}

static void forget_oldest(struct market_state *market)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < market->n_known; i++)
        if (market->known[i].ex_ns < market->known[oldest].ex_ns)
            oldest = i;
    if (market->known[oldest].ex_ns > market->known_before_ns)
        market->known_before_ns = market->known[oldest].ex_ns;
    market->n_known--;
    memmove(&market->known[oldest], &market->known[oldest + 1],
            (market->n_known - oldest) * sizeof *market->known);
}

int engine_action_remember(struct market_state *market, const char *id, int64_t ex_ns)
{
    if (market->n_known == KNOWN_MAX)
        forget_oldest(market);
    if (market->n_known == market->cap_known) {
        uint32_t cap = market->cap_known ? 2 * market->cap_known : 4;
        struct known_action *moved = realloc(market->known, cap * sizeof *moved);
        if (!moved)
            return -ENOMEM;
        market->known = moved;
        market->cap_known = cap;
    }
    struct known_action *to = &market->known[market->n_known++];
    *to = (struct known_action){.ex_ns = ex_ns};
    memcpy(to->id, id, strnlen(id, sizeof to->id - 1));
    return 0;
}

/* ---- splits ---- */

struct action_outcome {
    int accounts, orders, ended;
    bool left_out;
};

/* A short's liability changes by two rows that cancel out: the ledger's balances are never negative. */
static void book(struct engine *engine, int account, int symbol, int64_t change, bool is_short)
{
    struct balance *base = account_base(engine, account, symbol);
    if (is_short) {
        base->borrowed -= change;
        if (change < 0)
            account_post(engine, account, base, LEDGER_BORROW, -change, 0, 0);
        account_post(engine, account, base, LEDGER_SPLIT, change, 0, 0);
        if (change > 0)
            account_post(engine, account, base, LEDGER_BORROW, -change, 0, 0);
    } else {
        account_post(engine, account, base, LEDGER_SPLIT, change, 0, 0);
    }
}

static void split_account(struct engine *engine, int index, int symbol, const struct stock_split *split,
                          const char id[static ACTION_ID_MAX], struct action_outcome *outcome)
{
    struct account *account = &engine->accounts[index];
    struct position *position = &account->positions[symbol];
    int64_t before = position->qty, change = 0;
    bool left_out = false;
    if (position_before(position, &account->lots[symbol], split->ex_ns) == 0)
        return;
    if (engine_split_position(split, position, &account->lots[symbol], engine->now_ns, &change, &left_out) <
        0) {
        engine->out_of_memory = true; /* a split that does not fit was refused before */
        return;
    }
    if (position->qty == 0)
        strategy_record_fill(&account->records[symbol], before > 0 ? ORDER_SELL : ORDER_BUY,
                             before > 0 ? before : -before, 0, 0, before,
                             account_quote(engine, index, symbol)->scale, NULL);
    struct ledger_cause *cause = engine_cause(engine, CAUSE_SPLIT);
    cause->symbol = symbol;
    cause->qty = before;
    memcpy(cause->action, id, sizeof cause->action);
    book(engine, index, symbol, change, before < 0);
    account_turned(engine, index, symbol, before);
    account->moved = engine->account_moved = true;
    account_report_position(engine, index, symbol);
    outcome->accounts++;
    outcome->left_out |= left_out;
}

/* Can it be applied to every account and order? */
static bool fits(struct engine *engine, int symbol, const struct stock_split *split)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct account *account = &engine->accounts[a];
        int64_t old = position_before(&account->positions[symbol], &account->lots[symbol], split->ex_ns);
        int64_t new = engine_split_qty(split, old < 0 ? -old : old);
        const struct balance *base = account_base(engine, a, symbol);
        int64_t most = base->total > base->borrowed ? base->total : base->borrowed;
        if (new < 0 || new > MONEY_MAX - most)
            return false;
        if (old > 0 && base->total + new - old < 0) /* it paid with some of it, where that is a quote too */
            return false;
    }
    return true;
}

/* The rest of an order in new shares; what it filled stays as it traded. */
static void split_order(struct live_order *live, const struct stock_split *split, const struct symbol *symbol,
                        int64_t now_ns, bool *ret_ends)
{
    struct order *order = &live->order, next = *order;
    int64_t left = engine_split_lot(split, symbol, order->qty - order->filled);
    int64_t worth = engine_split_lot(split, symbol, order->filled + live->split_fills);
    next.qty = order->filled + left;
    next.price = order->price > 0 ? engine_split_tick(split, symbol, order->price) : 0;
    next.stop_price = order->stop_price > 0 ? engine_split_tick(split, symbol, order->stop_price) : 0;
    next.trail = order->trail > 0 ? engine_split_tick(split, symbol, order->trail) : 0;
    next.peak = engine_split_shown(split, order->peak);
    if (order->trail > 0 && next.trail == 0)
        next.trail = symbol->filters.tick > 0 ? symbol->filters.tick : 1;
    *ret_ends = left <= 0 || worth < 0 || next.qty > MONEY_MAX || next.trail < 0 ||
                (order->price > 0 && next.price <= 0) || (order->stop_price > 0 && next.stop_price <= 0);
    if (*ret_ends)
        return;
    next.updated_ns = now_ns;
    live->split_fills = worth - order->filled;
    live->queue_ahead = -1;
    *order = next;
}

/* Converts an amend's numbers from old shares to new ones. */
static void split_amend(struct order_amend *amend, const struct order *order, int64_t filled,
                        const struct stock_split *split, const struct symbol *symbol)
{
    int64_t left = amend->qty > filled ? engine_split_lot(split, symbol, amend->qty - filled) : 0;
    int64_t price = engine_split_tick(split, symbol, amend->price),
            stop = engine_split_tick(split, symbol, amend->stop_price);
    int64_t trail = engine_split_tick(split, symbol, amend->trail);
    amend->qty = left > 0 ? filled + left : order->filled;
    amend->price = price > 0 ? price : order->price;
    amend->stop_price = stop > 0 ? stop : order->stop_price;
    amend->trail = trail > 0 ? trail : order->trail > 0 ? order->trail : 1;
}

static bool concerned(const struct order *order, int symbol, const struct stock_split *split)
{
    return order->symbol == symbol && order->created_ns <= split->ex_ns;
}

static void split_orders(struct engine *engine, int symbol, const struct stock_split *split,
                         struct action_outcome *outcome)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    uint64_t last = engine->last_order;
    for (size_t i = engine->first_pending; i < engine->n_pending; i++) {
        struct pending *pending = &engine->pending[i];
        size_t at = engine_match_find(engine, pending->order_id);
        if (pending->kind == PENDING_AMEND && at < engine->n_orders && pending->created_ns <= split->ex_ns &&
            engine->orders[at].order.symbol == symbol)
            split_amend(&pending->amend, &engine->orders[at].order, engine->orders[at].order.filled, split,
                        listed);
    }
    size_t at;
    for (uint64_t id = 1; id <= last && (at = engine_live_from(engine, id)) < engine->n_orders; id++) {
        struct live_order *live = &engine->orders[at];
        bool ends = false;
        id = live->order.id;
        if (id > last)
            break;
        if (!concerned(&live->order, symbol, split))
            continue;
        outcome->orders++;
        split_order(live, split, listed, engine->now_ns, &ends);
        if (ends) {
            outcome->ended++;
            engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_SPLIT);
        } else {
            engine_live_report(engine, &live->order);
        }
    }
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.symbol == symbol)
            engine_reserve_set(engine, &engine->orders[i].order);
    for (int a = 0; a < engine->n_accounts && engine->markets[symbol].live_orders > 0; a++)
        if (engine->accounts[a].positions[symbol].qty == 0)
            engine_fills_position_changed(engine, a, symbol);
}

static void split_market(struct market_state *market, const struct stock_split *split)
{
    for (uint32_t i = 0; i < market->recent.n; i++)
        engine_split_bar(split, &market->recent.bars[i]);
    for (uint32_t i = 0; i < market->n_held; i++)
        engine_split_bar(split, &market->held[i]);
    engine_split_bar(split, &market->last_bar);
    market->outside = market->outside > 0 ? market->last_bar.close : 0;
    engine_split_bar(split, &market->forming);
    if (market->builder.have_forming)
        engine_split_bar(split, &market->builder.forming);
    engine_revise_split(&market->trades, split);
    if (market->last_ns < split->ex_ns) {
        market->last = engine_split_shown(split, market->last);
        market->change_open = engine_split_shown(split, market->change_open);
        market->quote = (struct market_quote){0};
        book_reset(&market->book);
    }
    market->bands = (struct market_bands){0};
    market->n_taken = 0;
    market->unmoved = market->calm = false;
}

static void take_split(struct engine *engine, int symbol, const struct stock_split *split,
                       const char id[static ACTION_ID_MAX])
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    struct action_outcome outcome = {0};
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.symbol == symbol)
            engine_reserve_lift(engine, &engine->orders[i].order);
    split_market(&engine->markets[symbol], split);
    engine_measure_update(engine, symbol, 0);
    for (int a = 0; a < engine->n_accounts; a++) {
        int64_t before = engine->accounts[a].positions[symbol].qty;
        split_account(engine, a, symbol, split, id, &outcome);
        engine_driver_split(engine, a, symbol, before, split->shares, split->per);
    }
    split_orders(engine, symbol, split, &outcome);
    engine_kept_split(engine, symbol, split);
    engine_runner_again(engine, symbol);
    if (outcome.accounts > 0 || outcome.orders > 0)
        engine_alert(engine, "SPLIT", ENGINE_OF(-1, symbol, 0),
                     "%s: %" PRId64 " for %" PRId64
                     ": positions of %d account%s, %d order%s, %d of them ended%s",
                     listed->name, split->shares, split->per, outcome.accounts,
                     outcome.accounts == 1 ? "" : "s", outcome.orders, outcome.orders == 1 ? "" : "s",
                     outcome.ended, outcome.left_out ? "; fractions are left out" : "");
}

int engine_action_event(struct engine *engine, const struct event_action *event)
{
    const struct corporate_action *action = &event->action;
    const struct stock_split split = {action->shares, action->per, action->ex_ns};
    if (event->symbol < 0 || event->symbol >= engine->n_symbols || action->id[0] == '\0' ||
        (action->kind == ACTION_SPLIT ? !engine_split_valid(&split)
                                      : action->kind != ACTION_DIVIDEND || action->cash <= 0) ||
        action->pay_ns < 0 || action->record_ns < 0)
        return -EINVAL;
    struct market_state *market = &engine->markets[event->symbol];
    if (known(market, action))
        return 0;
    if (action->kind == ACTION_DIVIDEND) {
        engine_dividends_take(engine, event->symbol, action);
    } else if (fits(engine, event->symbol, &split)) {
        take_split(engine, event->symbol, &split, action->id);
    } else {
        engine_alert(engine, "ACTION_REFUSED", ENGINE_OF(-1, event->symbol, 0),
                     "%s: %" PRId64 " for %" PRId64
                     ": an account would hold more than can be computed, or less than nothing",
                     market->symbol.name, action->shares, action->per);
        return 0;
    }
    if (engine_action_remember(market, action->id, action->ex_ns) < 0)
        engine->out_of_memory = true;
    if (engine->sink.action)
        engine->sink.action(engine->sink.ctx, event->symbol, action, engine->now_ns);
    return 0;
}
