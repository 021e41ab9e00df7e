/* The strategy runner: gives each strategy its bars, its indicators and what it may know of its account
 * (slot.c), and carries out its order intents (intent.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "engine/together.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"

int engine_runner_open(struct engine *engine, int account, const struct account_spec *spec)
{
    struct strategy_runner *runner = &engine->runners[account];
    runner->strategy = spec->strategy;
    if (spec->policy)
        return spec->strategy ? -EINVAL : engine_driver_open(engine, account, spec->policy);
    if (!runner->strategy)
        return 0;
    memcpy(runner->params, spec->params, sizeof runner->params);
    runner->slots = calloc((size_t)engine->n_symbols, sizeof *runner->slots);
    if (!runner->slots)
        return -ENOMEM;
    int r = 0;
    for (int s = 0; s < engine->n_symbols && r == 0; s++) {
        r = engine_slot_open(&runner->slots[s], runner->strategy, runner->params, engine->interval_ns);
        engine->measures |= runner->slots[s].measured != NULL;
    }
    return r < 0 ? r : engine_together_open(engine, account);
}

void engine_runner_leave(struct engine *engine, int account)
{
    struct strategy_runner *runner = &engine->runners[account];
    engine_request_drop(engine, account, -1);
    for (int s = 0; runner->slots && s < engine->n_symbols; s++)
        engine_slot_close(&runner->slots[s]);
    free(runner->slots);
    engine_together_close(runner);
    runner->slots = NULL;
    runner->strategy = NULL;
}

void engine_runner_close(struct engine *engine, int account)
{
    engine_runner_leave(engine, account);
    engine_driver_close(engine, account);
    engine_kept_finish(&engine->runners[account]);
    engine->runners[account].closing = false;
}

void engine_runner_trace(const struct engine *engine, int account, int symbol, const struct bar *bar,
                         bool acted, bool kept, const struct strategy_input *input,
                         const struct intent *intents, size_t n_intents)
{
    if (!engine->sink.trace || !engine->sink.trace->decision)
        return;
    const struct strategy_slot *slot = &engine->runners[account].slots[symbol];
    const char *names[OUTPUTS_MAX];
    for (size_t i = 0; i < slot->n_values; i++)
        names[i] = slot->names[i];
    const struct engine_decision decision = {.account = account,
                                             .symbol = symbol,
                                             .bar = bar,
                                             .acted = acted,
                                             .kept = kept,
                                             .input = input,
                                             .indicator_names = names,
                                             .n_indicators = slot->n_values,
                                             .intents = intents,
                                             .n_intents = n_intents};
    engine->sink.trace->decision(engine->sink.trace->ctx, &decision);
}

void engine_runner_count(const struct engine *engine, int account, struct strategy_input *input)
{
    const struct account *holder = &engine->accounts[account];
    for (int s = 0; s < engine->n_symbols; s++) {
        input->positions += engine_gate_entered(engine, account, s, 0);
        input->symbols += holder->pairs[s].quote == holder->currency_at;
    }
}

/* The span of its session that a bar is in, or follows; 0: it has none. */
static void find_session(const struct engine *engine, int account, int symbol, const struct bar *bar,
                         struct strategy_input *input)
{
    const struct trading_calendar *calendar = engine_calendar(engine, symbol);
    struct session_span span;
    if (calendar->n == 0 || bar->session == BAR_SESSION_NONE ||
        !trading_span_at(calendar, engine->specs[account].session, bar->open_ns, &span) ||
        bar->open_ns < span.open_ns)
        return;
    input->session_open_ns = span.open_ns;
    input->session_close_ns = span.close_ns;
}

struct strategy_input engine_runner_look(struct engine *engine, int account, int symbol,
                                         const struct bar *bar)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    const struct account *holder = &engine->accounts[account];
    const struct position *position = &holder->positions[symbol];
    const int64_t held = engine_venue_held(engine, account, symbol);
    struct strategy_input input = {
        .ts_ns = bar->open_ns + engine->interval_ns,
        .interval_ns = engine->interval_ns,
        .open = decimal_to_double(bar->open, listed->price_scale),
        .high = decimal_to_double(bar->high, listed->price_scale),
        .low = decimal_to_double(bar->low, listed->price_scale),
        .close = decimal_to_double(bar->close, listed->price_scale),
        .volume = decimal_to_double(bar->volume, listed->qty_scale),
        .indicators = engine->runners[account].slots[symbol].values,
        .qty = decimal_to_double(held, listed->qty_scale),
        .equity = decimal_to_double(holder->equity, holder->currency_scale),
        .cash = decimal_to_double(engine_intent_free_cash(engine, account, symbol), listed->quote_scale),
        .live_orders = engine_intent_working(engine, account, symbol),
        .orders = engine_intent_orders(engine, account, symbol),
        .stop = decimal_to_double(engine_intent_stop(engine, account, symbol), listed->price_scale),
        .profit = decimal_to_double(engine_intent_profit(engine, account, symbol), listed->price_scale),
        .shorts = engine_loan_allowed(engine, account, symbol),
        .leverage = engine_margin_leverage(engine, account, symbol),
        .record = &holder->records[symbol].record,
    };
    if (held != 0)
        input.entry = decimal_to_double(position->cost, listed->quote_scale) / fabs(input.qty);
    find_session(engine, account, symbol, bar, &input);
    return input;
}

static struct strategy_input observe(struct engine *engine, int account, int symbol, const struct bar *bar)
{
    account_mark(engine, account);
    struct strategy_input input = engine_runner_look(engine, account, symbol, bar);
    engine_runner_count(engine, account, &input);
    return input;
}

void engine_runner_update(struct engine *engine, int account, int symbol, const struct bar *bar,
                          const struct strategy_input *input)
{
    struct strategy_slot *slot = &engine->runners[account].slots[symbol];
    const struct indicator_bar tick = {input->open,  input->high,   input->low,
                                       input->close, input->volume, frame_seconds(bar->open_ns)};
    if (slot->n_columns > 0)
        engine_column_look(engine, symbol, engine_calendars_end(engine, symbol, bar->open_ns), slot);
    engine_slot_update(slot, engine_calendar(engine, symbol), bar->open_ns, &tick);
    slot->seen = *bar;
    slot->saw = true;
}

void engine_runner_carry_out(struct engine *engine, int account, int symbol, const struct bar *bar,
                             int64_t end_ns, const struct strategy_input *input, const struct intent *intents,
                             size_t n)
{
    struct kept_decision kept = {.symbol = symbol, .bar = *bar};
    if (!engine_kept_waits(engine, account, symbol, end_ns, &kept.since_ns)) {
        engine_intent_carry_out(engine, account, symbol, input, intents, n);
        return;
    }
    kept.n_intents = (uint32_t)engine_intent_sound(engine, account, symbol, input, intents, n, kept.intents);
    engine_kept_put(engine, account, &kept);
}

void engine_runner_decided(struct engine *engine, int account, int symbol, const struct bar *bar, bool acts,
                           const struct strategy_input *input, const struct intent *intents, size_t n)
{
    engine->counters.decisions++;
    engine_runner_trace(engine, account, symbol, bar, acts, false, input, intents,
                        n < STRATEGY_INTENTS_MAX ? n : STRATEGY_INTENTS_MAX);
    if (acts)
        engine_runner_carry_out(engine, account, symbol, bar,
                                engine_calendars_end(engine, symbol, bar->open_ns), input, intents, n);
}

bool engine_runner_decide(struct engine *engine, int account, int symbol, const struct bar *bar,
                          bool act_on_it)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_slot *slot = &runner->slots[symbol];
    if (!engine_kept_takes(engine, account, bar))
        return false;
    int64_t end_ns = engine_calendars_end(engine, symbol, bar->open_ns);
    if (act_on_it && engine->fill_model == FILL_BAR && engine->now_ns < end_ns)
        engine->now_ns = end_ns; /* of a bar that is not traded in */
    if (act_on_it && engine->to_begin)
        account_begin_all(engine);
    struct strategy_input input = observe(engine, account, symbol, bar);
    engine_runner_update(engine, account, symbol, bar, &input);
    if (slot->sees)
        engine_together_look(engine, account, symbol, &input);

    const char *quote = engine->markets[symbol].symbol.quote;
    if (strcmp(quote, engine->accounts[account].currency) != 0)
        act_on_it = false; /* money of another currency: traded by hand only */
    if (engine_request_asks(engine, account))
        return engine_request_put(engine, account, symbol, bar, act_on_it, &input, slot->n_values) &&
               act_on_it;
    struct intent intents[INTENTS_ROOM];
    size_t n = strategy_on_bar(runner->strategy, runner->params, slot->state, &input, intents);
    engine_runner_decided(engine, account, symbol, bar, act_on_it, &input, intents, n);
    return false;
}

/* Does it still make sense: an exit of what is held, an entry of what is not, or is left first? */
static bool stands(const struct engine *engine, int account, int symbol, const struct intent *intent,
                   bool left)
{
    int64_t held = engine_venue_held(engine, account, symbol);
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        return (left || !engine_gate_entered(engine, account, symbol, 0)) &&
               (intent->good_ns == 0 || intent->good_ns > engine->now_ns + engine_ahead_ns(engine, symbol));
    case INTENT_EXIT:
    case INTENT_STOP:
        return held != 0;
    case INTENT_ORDER:
        return (!intent->reduce_only || (intent->side == ORDER_SELL ? held > 0 : held < 0)) &&
               (intent->good_ns == 0 || intent->good_ns > engine->now_ns + engine_ahead_ns(engine, symbol));
    case INTENT_CANCEL:
        return engine_intent_orders(engine, account, symbol) > 0;
    default:
        return true;
    }
}

void engine_runner_order(struct engine *engine, int account, const struct kept_decision *kept)
{
    struct strategy_input input = observe(engine, account, kept->symbol, &kept->bar);
    struct intent intents[STRATEGY_INTENTS_MAX];
    size_t n = 0;
    bool left = false;
    for (uint32_t i = 0; i < kept->n_intents; i++) {
        intents[n] = kept->intents[i];
        intents[n].why = kept->whys[i];
        if (!stands(engine, account, kept->symbol, &intents[n], left))
            continue;
        left |= intents[n++].kind == INTENT_EXIT;
    }
    if (n > 0)
        engine_runner_trace(engine, account, kept->symbol, &kept->bar, true, true, &input, intents, n);
    engine_intent_carry_out(engine, account, kept->symbol, &input, intents, n);
}

/* With the recent bars that opened before a time. */
static void warm_slot_before(struct engine *engine, int account, int symbol, int64_t before_ns)
{
    const struct recent_bars *recent = &engine->markets[symbol].recent;
    const int64_t until_ns = engine_request_until(engine, account, symbol, before_ns);
    for (uint32_t i = 0; i < recent->n && engine_recent_bar(recent, i)->open_ns < until_ns; i++)
        engine_runner_decide(engine, account, symbol, engine_recent_bar(recent, i), false);
}

static void warm_slot(struct engine *engine, int account, int symbol)
{
    warm_slot_before(engine, account, symbol, INT64_MAX);
}

void engine_runner_warm(struct engine *engine, int account)
{
    if (engine->runners[account].driver.runtime)
        engine_driver_warm(engine, account);
    const struct strategy *strategy = engine->runners[account].strategy;
    if (!strategy)
        return;
    if (strategy_sees_peers(strategy)) {
        engine_together_warm(engine, account);
        return;
    }
    for (int s = 0; s < engine->n_symbols; s++)
        warm_slot(engine, account, s);
}

/* Its memory is of all symbols: all of it starts again. */
static void again_together(struct engine *engine, int account)
{
    const struct account_spec spec = engine->specs[account];
    engine_runner_leave(engine, account);
    if (engine_runner_open(engine, account, &spec) < 0)
        engine->out_of_memory = true;
    else
        engine_together_warm(engine, account);
}

static void restart_slot(struct engine *engine, int account, int symbol)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_slot fresh = {0};
    if (engine_slot_open(&fresh, runner->strategy, runner->params, engine->interval_ns) < 0) {
        engine_slot_close(&fresh);
        engine->out_of_memory = true;
        return;
    }
    engine_request_drop(engine, account, symbol);
    engine_slot_close(&runner->slots[symbol]);
    runner->slots[symbol] = fresh;
    warm_slot(engine, account, symbol);
}

void engine_runner_again(struct engine *engine, int symbol)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        engine_driver_again(engine, a, symbol);
        const struct strategy *strategy = engine->runners[a].strategy;
        if (strategy && strategy_sees_peers(strategy))
            again_together(engine, a);
        else if (strategy)
            restart_slot(engine, a, symbol);
    }
}

/* The slot itself stays: its indicators continue. */
void engine_runner_show(struct engine *engine, int account, int symbol, int64_t before_ns)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_slot own = runner->slots[symbol], fresh = {0};
    if (engine_slot_open(&fresh, runner->strategy, runner->params, engine->interval_ns) < 0) {
        engine_slot_close(&fresh);
        engine->out_of_memory = true;
        return;
    }
    engine_request_drop_history(engine, account, symbol);
    runner->slots[symbol] = fresh;
    warm_slot_before(engine, account, symbol, before_ns);
    own.shown = runner->slots[symbol].shown;
    engine_slot_close(&runner->slots[symbol]);
    runner->slots[symbol] = own;
}

void engine_runner_restart(struct engine *engine, int account)
{
    if (strategy_sees_peers(engine->runners[account].strategy)) {
        again_together(engine, account);
        return;
    }
    for (int s = 0; s < engine->n_symbols; s++)
        restart_slot(engine, account, s);
}

/* Are the account's positions, and what it still buys, to be closed? */
static bool closing(const struct engine *engine, int account)
{
    return engine->flattening || engine->accounts[account].killed_ns != 0 || engine->runners[account].closing;
}

/* Closes a position, unless an order to close it is on its way already. */
static void close_position(struct engine *engine, int account, int symbol)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t held = engine_venue_held(engine, account, symbol);
    if (filter_floor_qty(listed, ORDER_MARKET, held < 0 ? -held : held) == 0)
        return;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        bool extended = order->extended_hours && order->state == ORDER_PENDING; /* it is a limit order */
        if (order->account == account && order->symbol == symbol && order->reduce_only &&
            (order->type == ORDER_MARKET || extended) && !live->cancel_queued)
            return;
    }
    const char *why = engine->accounts[account].killed_ns != 0 ? "drawdown"
                      : engine->flattening                     ? "flatten"
                                                               : "retire";
    enum order_reason reason = engine_intent_leave(engine, account, symbol, why);
    if (reason != ORDER_OK)
        engine_alert(engine, "FLATTEN_REFUSED", ENGINE_OF(account, symbol, 0),
                     "%s of account %s is still held: %s", listed->name, engine->accounts[account].name,
                     order_reason_name(reason));
}

/* What follows on an account's strategy. */
static void bar_of(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh)
{
    engine_driver_bar(engine, account, symbol, bar, fresh);
    if (fresh && closing(engine, account))
        close_position(engine, account, symbol);
}

static bool bar_from(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh)
{
    for (int a = account; a < engine->n_accounts; a++) {
        const struct strategy *strategy = engine->runners[a].strategy;
        if (strategy && (strategy->together ? engine_together_bar(engine, a, symbol, bar, fresh)
                                            : engine_runner_decide(engine, a, symbol, bar, fresh))) {
            engine->waiting = (struct waiting_event){
                .there = true, .symbol = symbol, .account = a, .bar = *bar, .fresh = fresh};
            return false;
        }
        bar_of(engine, a, symbol, bar, fresh);
    }
    return true;
}

bool engine_runner_bar(struct engine *engine, int symbol, const struct bar *bar, bool fresh)
{
    return bar_from(engine, 0, symbol, bar, fresh);
}

bool engine_runner_bar_after(struct engine *engine, int symbol, const struct bar *bar, bool fresh,
                             int account)
{
    bar_of(engine, account, symbol, bar, fresh);
    return bar_from(engine, account + 1, symbol, bar, fresh);
}

/* Until then, sells again what filled before its cancel arrived, and what a sale could not sell; where
 * nothing more could be sold, at the next bar. */
void engine_runner_ended(struct engine *engine, const struct order *order)
{
    if (closing(engine, order->account))
        close_position(engine, order->account, order->symbol);
}

void engine_runner_flatten(struct engine *engine)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        engine_match_cancel(engine, engine->orders[i].order.id);
    for (int a = 0; a < engine->n_accounts; a++)
        for (int s = 0; s < engine->n_symbols; s++)
            close_position(engine, a, s);
}

void engine_runner_halt(struct engine *engine, int account)
{
    engine_kept_drop(engine, account);
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->account == account && !order->reduce_only)
            engine_match_cancel(engine, order->id);
    }
    for (int s = 0; s < engine->n_symbols; s++)
        close_position(engine, account, s);
}

void engine_runner_quit(struct engine *engine, int account)
{
    engine_kept_drop(engine, account);
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.account == account)
            engine_match_cancel(engine, engine->orders[i].order.id);
    for (int s = 0; s < engine->n_symbols; s++)
        close_position(engine, account, s);
}

/* Is nothing left that an order could close, or that an order could still fill? */
static bool closed(const struct engine *engine, int account)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.account == account)
            return false;
    for (int s = 0; s < engine->n_symbols; s++) {
        int64_t qty = engine_venue_held(engine, account, s);
        if (filter_floor_qty(&engine->markets[s].symbol, ORDER_MARKET, qty < 0 ? -qty : qty) > 0)
            return false;
    }
    return true;
}

void engine_runner_end_closing(struct engine *engine)
{
    if (!engine->closes)
        return;
    engine->closes = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct strategy_runner *runner = &engine->runners[a];
        runner->closing = runner->closing && !closed(engine, a);
        engine->closes |= runner->closing;
    }
}
