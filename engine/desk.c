/* The desk: gives each strategy its bars and indicators, and turns what it wants into orders. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "engine/core.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"

static int open_seat(struct seat *seat, const struct desk *desk)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], error[160];
    size_t n = desk->strategy->specs(desk->params, specs);
    for (size_t i = 0; i < n; i++) {
        struct indicator_spec spec;
        int r = indicator_spec_parse(specs[i], &spec, error, sizeof error);
        if (r == 0)
            r = indicator_stream_open(&spec, &seat->streams[i]);
        if (r < 0)
            return r;
        seat->n_streams = i + 1;
        seat->outputs[i] = (uint32_t)spec.row->n_outputs;
        for (size_t k = 0; k < spec.row->n_outputs; k++) {
            seat->values[seat->n_values] = NAN;
            indicator_spec_name(&spec, k, seat->names[seat->n_values++], OUTPUT_NAME_MAX);
        }
    }
    return 0;
}

int desk_open(struct engine *engine, int account, const struct account_spec *spec)
{
    struct desk *desk = &engine->desks[account];
    desk->strategy = spec->strategy;
    if (!desk->strategy)
        return 0;
    memcpy(desk->params, spec->params, sizeof desk->params);
    desk->seats = calloc((size_t)engine->n_symbols, sizeof *desk->seats);
    if (!desk->seats)
        return -ENOMEM;
    int r = 0;
    for (int s = 0; s < engine->n_symbols && r == 0; s++)
        r = open_seat(&desk->seats[s], desk);
    return r;
}

void desk_close(struct engine *engine, int account)
{
    struct desk *desk = &engine->desks[account];
    for (int s = 0; desk->seats && s < engine->n_symbols; s++)
        for (size_t i = 0; i < desk->seats[s].n_streams; i++)
            indicator_stream_close(desk->seats[s].streams[i]);
    free(desk->seats);
    desk->seats = NULL;
}

/* Does it protect what is held: a stop that rests or is on its way, not one that waits for an entry? */
static bool protects(const struct live_order *live, int account, int symbol)
{
    const struct order *order = &live->order;
    return order->account == account && order->symbol == symbol && order->type == ORDER_STOP &&
           order->side == ORDER_SELL && order->state != ORDER_HELD && !live->cancel_queued;
}

/* The price of the first stop that protects it; 0: none does. */
static int64_t protecting_price(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (protects(&engine->orders[i], account, symbol))
            return engine->orders[i].order.stop_price;
    return 0;
}

static bool working(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->account == account && order->symbol == symbol && !order_is_stop(order->type) &&
            order->parent == 0)
            return true;
    }
    return false;
}

static struct order_request request_of(int account, int symbol, enum order_side side, enum order_type type,
                                       int64_t qty, const char *tag)
{
    struct order_request request = {
        .account = account, .symbol = symbol, .side = side, .type = type, .qty = qty};
    snprintf(request.tag, sizeof request.tag, "%s", tag);
    return request;
}

/* What may be spent on a symbol. */
static int64_t free_cash(struct engine *engine, int account, int symbol)
{
    const struct account *of = &engine->accounts[account];
    const struct balance *quote = account_quote(engine, account, symbol);
    return of->pairs[symbol].quote == of->currency_at ? loan_spendable(engine, account)
                                                      : quote->total - quote->reserved;
}

/* Whole lots that a share of the equity buys at the best price, its fee included. */
static int64_t entry_qty(struct engine *engine, int account, int symbol, double fraction)
{
    const struct market_state *market = &engine->markets[symbol];
    struct book_level best = {.price = market->last};
    match_best(engine, symbol, ORDER_BUY, &best);
    if (best.price <= 0)
        return 0;
    int64_t budget = (int64_t)((double)engine->accounts[account].equity * fraction);
    int64_t available = free_cash(engine, account, symbol);
    if (budget > available)
        budget = available;
    if (budget <= 0)
        return 0;
    int128_t notional =
        (int128_t)budget * 1000000 / (1000000 + engine->accounts[account].rules.fees.taker_e6);
    int128_t qty = notional * market->notional_unit / best.price;
    return filter_floor_qty(&market->symbol, ORDER_MARKET, qty > INT64_MAX ? INT64_MAX : (int64_t)qty);
}

/* The stop's price in exact units, on the tick; 0 when it is none. */
static int64_t stop_price(const struct engine *engine, int symbol, double stop)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t price;
    if (!(stop > 0) || decimal_from_double(stop, listed->price_scale, &price) < 0 || price <= 0)
        return 0;
    return filter_floor_price(listed, price);
}

/* An entry with a stop is a bracket: the venue rests the stop the moment that the entry has filled. */
static void enter(struct engine *engine, int account, int symbol, const struct intent *intent)
{
    int64_t qty = entry_qty(engine, account, symbol, intent->fraction);
    struct order_request legs[] = {
        request_of(account, symbol, ORDER_BUY, ORDER_MARKET, qty, intent->why),
        request_of(account, symbol, ORDER_SELL, ORDER_STOP, qty, "stop"),
    };
    legs[1].stop_price = stop_price(engine, symbol, intent->stop);
    enum order_reason reason;
    if (legs[1].stop_price > 0)
        match_submit_group(engine, ORDERS_BRACKET, legs, 2, &reason);
    else
        match_submit(engine, &legs[0], &reason);
}

/* Sells what is held, or buys back what is owed, whole lots of it. A protective stop stays until the position
 * is closed, which ends it (reduce-only orders: match.c); should the sale find too little, the stop goes on
 * with the rest. */
static enum order_reason leave(struct engine *engine, int account, int symbol, const char *why)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t held = engine->accounts[account].positions[symbol].qty;
    enum order_side side = held < 0 ? ORDER_BUY : ORDER_SELL;
    held = held < 0 ? -held : held;
    int64_t qty = filter_floor_qty(listed, ORDER_MARKET, held);
    struct order_request request = request_of(account, symbol, side, ORDER_MARKET, qty > 0 ? qty : held, why);
    request.reduce_only = true;
    enum order_reason reason;
    match_submit(engine, &request, &reason);
    return reason;
}

/* Stops that rest are amended, so that the position is never without one; what none protects gets one. */
static void move_stop(struct engine *engine, int account, int symbol, const struct intent *intent)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t bare = engine->accounts[account].positions[symbol].qty;
    int64_t price = stop_price(engine, symbol, intent->stop);
    if (bare <= 0 || price <= 0)
        return;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *stop = &engine->orders[i].order;
        if (!protects(&engine->orders[i], account, symbol))
            continue;
        bare -= stop->qty - stop->filled;
        if (stop->stop_price != price && !stop->triggered)
            match_amend(engine,
                        &(struct order_amend){.order_id = stop->id, .set = AMEND_STOP, .stop_price = price});
    }
    int64_t qty = bare > 0 ? filter_floor_qty(listed, ORDER_STOP, bare) : 0;
    if (qty == 0)
        return;
    struct order_request request = request_of(account, symbol, ORDER_SELL, ORDER_STOP, qty, intent->why);
    request.stop_price = price;
    request.reduce_only = true;
    enum order_reason reason;
    match_submit(engine, &request, &reason);
}

static void act(struct engine *engine, int account, int symbol, const struct intent *intent)
{
    struct book_level best;
    bool blind = engine->markets[symbol].stale || !match_best(engine, symbol, ORDER_SELL, &best);
    switch (intent->kind) {
    case INTENT_ENTER:
        enter(engine, account, symbol, intent);
        break;
    case INTENT_EXIT:
        leave(engine, account, symbol, intent->why);
        break;
    case INTENT_STOP:
        if (!blind)
            move_stop(engine, account, symbol, intent);
        break;
    case INTENT_TARGET:
        break;
    }
}

static void tell_decision(const struct engine *engine, int account, int symbol, const struct bar *bar,
                          bool acted, const struct strategy_input *input, const struct intent *intents,
                          size_t n_intents)
{
    const struct seat *seat = &engine->desks[account].seats[symbol];
    const char *names[OUTPUTS_MAX];
    for (size_t i = 0; i < seat->n_values; i++)
        names[i] = seat->names[i];
    const struct engine_decision decision = {.account = account,
                                             .symbol = symbol,
                                             .bar = bar,
                                             .acted = acted,
                                             .input = input,
                                             .indicator_names = names,
                                             .n_indicators = seat->n_values,
                                             .intents = intents,
                                             .n_intents = n_intents};
    engine->sink.trace->decision(engine->sink.trace->ctx, &decision);
}

static void decide(struct engine *engine, int account, int symbol, const struct bar *bar, bool act_on_it)
{
    struct desk *desk = &engine->desks[account];
    struct seat *seat = &desk->seats[symbol];
    const struct market_state *market = &engine->markets[symbol];
    const struct symbol *listed = &market->symbol;
    const struct position *position = &engine->accounts[account].positions[symbol];
    struct account *holder = &engine->accounts[account];
    int64_t stop = protecting_price(engine, account, symbol);
    account_mark(engine, account);
    struct strategy_input input = {
        .ts_ns = bar->open_ns + engine->interval_ns,
        .open = decimal_to_double(bar->open, listed->price_scale),
        .high = decimal_to_double(bar->high, listed->price_scale),
        .low = decimal_to_double(bar->low, listed->price_scale),
        .close = decimal_to_double(bar->close, listed->price_scale),
        .volume = decimal_to_double(bar->volume, listed->qty_scale),
        .indicators = seat->values,
        .qty = decimal_to_double(position->qty, listed->qty_scale),
        .equity = decimal_to_double(holder->equity, holder->currency_scale),
        .cash = decimal_to_double(free_cash(engine, account, symbol), listed->quote_scale),
        .live_orders = working(engine, account, symbol),
        .stop = decimal_to_double(stop, listed->price_scale),
    };
    if (position->qty != 0)
        input.entry = decimal_to_double(position->cost, listed->quote_scale) / fabs(input.qty);

    struct indicator_bar tick = {input.open,  input.high,   input.low,
                                 input.close, input.volume, (double)bar->open_ns * 1e-9};
    double *value = seat->values;
    for (size_t i = 0; i < seat->n_streams; i++) {
        double outputs[INDICATOR_OUTPUTS_MAX];
        bool ready = indicator_stream_update(seat->streams[i], &tick, outputs);
        for (uint32_t k = 0; k < seat->outputs[i]; k++)
            *value++ = ready ? outputs[k] : NAN;
    }

    struct intent intents[STRATEGY_INTENTS_MAX];
    size_t n = desk->strategy->on_bar(desk->params, seat->state, &input, intents);
    engine->counters.decisions++;
    if (strcmp(listed->quote, holder->currency) != 0)
        act_on_it = false; /* money of another currency: by hand only */
    if (engine->sink.trace && engine->sink.trace->decision)
        tell_decision(engine, account, symbol, bar, act_on_it, &input, intents, n);
    for (size_t i = 0; act_on_it && i < n; i++)
        act(engine, account, symbol, &intents[i]);
}

void desk_warm(struct engine *engine, int account)
{
    if (!engine->desks[account].strategy)
        return;
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct recent_bars *recent = &engine->markets[s].recent;
        for (uint32_t i = 0; i < recent->n; i++)
            decide(engine, account, s, recent_bar(recent, i), false);
    }
}

/* While flattening, closes what is held or owed, unless that is on its way already. */
static void close_position(struct engine *engine, int account, int symbol)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t held = engine->accounts[account].positions[symbol].qty;
    if (filter_floor_qty(listed, ORDER_MARKET, held < 0 ? -held : held) == 0)
        return;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.account == account && live->order.symbol == symbol &&
            live->order.type == ORDER_MARKET && live->order.reduce_only && !live->cancel_queued)
            return;
    }
    enum order_reason reason = leave(engine, account, symbol, "flatten");
    if (reason != ORDER_OK)
        engine_alert(engine, "FLATTEN_REFUSED", "%s of account %s is still held: %s", listed->name,
                     engine->accounts[account].name, order_reason_name(reason));
}

void desk_bar(struct engine *engine, int symbol, const struct bar *bar, bool fresh)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        if (engine->desks[a].strategy)
            decide(engine, a, symbol, bar, fresh);
        if (engine->flattening && fresh)
            close_position(engine, a, symbol);
    }
}

/* While flattening, what was on its way and filled before its cancel arrived is sold again, and so is what a
 * sale could not sell; when nothing more was to be had, at the next bar. */
void desk_ended(struct engine *engine, const struct order *order)
{
    if (engine->flattening)
        close_position(engine, order->account, order->symbol);
}

void desk_flatten(struct engine *engine)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        match_cancel(engine, engine->orders[i].order.id);
    for (int a = 0; a < engine->n_accounts; a++)
        for (int s = 0; s < engine->n_symbols; s++)
            close_position(engine, a, s);
}
