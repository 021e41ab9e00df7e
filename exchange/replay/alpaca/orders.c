#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/alpaca/subscriber.h"
#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/serve.h"

/* A quantity that no paper order exceeds: paper fills do not look at sizes. */
#define ENOUGH (INT64_C(1000000000) * MADE_E9)

enum { CASH = 100000, CRYPTO_TAKER_E6 = 2500, CRYPTO_MAKER_E6 = 1500 };

/* Where symbols are looked up: all markets have the same. */
static struct made *market(const struct alpaca_orders *o)
{
    return &o->alpaca->made[0];
}

/* ---- The market that the broker trades in. ---- */

static bool market_symbol(void *user, int symbol, struct symbol *ret)
{
    const struct alpaca_orders *o = user;
    if (symbol < 0 || symbol >= market(o)->n_symbols)
        return false;
    const struct made_symbol *of = &market(o)->symbols[symbol];
    const char *slash = strchr(of->name, '/');
    *ret = (struct symbol){
        .price_scale = MADE_SCALE, .qty_scale = MADE_SCALE, .quote_scale = MADE_SCALE, .trading = true};
    snprintf(ret->name, sizeof(ret->name), "%s", of->name);
    snprintf(ret->base, sizeof(ret->base), "%.*s",
             (int)(slash ? slash - of->name : (int)sizeof(ret->base) - 1), of->name);
    snprintf(ret->quote, sizeof(ret->quote), "%s", slash ? slash + 1 : "USD");
    ret->filters.tick = of->tick;
    return true;
}

/* The market that a symbol trades in: of coins the location us. */
static struct made *market_of(const struct alpaca_orders *o, int symbol)
{
    return &o->alpaca->made[market(o)->symbols[symbol].class == MADE_CRYPTO ? ALPACA_COINS : 0];
}

/* The last quote up to the position: of this minute, or the one before. */
static bool last_tick(struct alpaca_orders *o, int symbol, struct made_tick *ret)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    const int64_t now_ns = o->alpaca->now_ns;
    for (int64_t back = 0; back < 3; back++) {
        const int64_t minute = now_ns / MADE_MINUTE - back;
        for (size_t i = replay_made_minute(market_of(o, symbol), symbol, minute, ticks); i-- > 0;)
            if (ticks[i].ts_ns <= now_ns && ticks[i].bid > 0 && ticks[i].ask > 0) {
                *ret = ticks[i];
                return true;
            }
    }
    return false;
}

/* All of an auction is filled at its price. */
static bool auction_book(struct alpaca_orders *o, struct source_book *ret)
{
    const int64_t price = o->auction.price;
    o->bids.n = o->asks.n = 0;
    *ret = (struct source_book){&o->bids, &o->asks, 0};
    return replay_ladder_set(&o->bids, price, ENOUGH) >= 0 && replay_ladder_set(&o->asks, price, ENOUGH) >= 0;
}

static bool market_book(void *user, int symbol, struct source_book *ret)
{
    struct alpaca_orders *o = user;
    struct made_tick tick;
    if (o->auction.price && o->auction.symbol == symbol)
        return auction_book(o, ret);
    o->bids.n = o->asks.n = 0;
    if (replay_made_trades_at(market_of(o, symbol), symbol, o->alpaca->now_ns) &&
        last_tick(o, symbol, &tick) &&
        (replay_ladder_set(&o->bids, tick.bid, ENOUGH) < 0 ||
         replay_ladder_set(&o->asks, tick.ask, ENOUGH) < 0))
        return false;
    *ret = (struct source_book){&o->bids, &o->asks, 0};
    return true;
}

int64_t replay_alpaca_price(struct alpaca_orders *o, int symbol)
{
    struct made_tick tick;
    return last_tick(o, symbol, &tick) ? (tick.bid + tick.ask) / 2
                                       : replay_made_price(market_of(o, symbol), symbol, o->alpaca->now_ns);
}

int64_t replay_alpaca_touch(struct alpaca_orders *o, int symbol, enum order_side side)
{
    struct made_tick tick;
    return !last_tick(o, symbol, &tick) ? 0 : side == ORDER_BUY ? tick.ask : tick.bid;
}

static int64_t market_now(void *user)
{
    const struct alpaca_orders *o = user;
    return o->auction.price ? o->auction.at_ns : o->alpaca->now_ns;
}

/* Stocks cost none. */
static int market_fee(void *user, int symbol, bool maker)
{
    const struct alpaca_orders *o = user;
    if (market(o)->symbols[symbol].class != MADE_CRYPTO)
        return 0;
    return maker ? CRYPTO_MAKER_E6 : CRYPTO_TAKER_E6;
}

static struct broker_planted market_planted(void *user)
{
    const struct alpaca_orders *o = user;
    const struct faults *faults = o->alpaca->base.server->faults;
    return (struct broker_planted){faults->fill_latency_ns, o->auction.price ? 0 : faults->fill_slippage_e6};
}

/* ---- Events. ---- */

static json_t *decimal(int64_t units)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, MADE_SCALE, text);
    return json_string(text);
}

static const char *event_of(const struct alpaca_orders *o, const struct broker_order *order, bool filled)
{
    if (filled)
        return order->state == BROKER_FILLED ? "fill" : "partial_fill";
    if (o->event)
        return o->event;
    return order->terms.held || order->state > BROKER_FILLED ? replay_alpaca_state(o, order) : "new";
}

/* A leg that is held is routed nowhere, and one that its group lowers stays where it is: neither is an event.
 */
static bool is_event(const struct alpaca_orders *o, const struct broker_order *order)
{
    return !order->amended && !(broker_is_open(order) && order->terms.held && o->own[order->id - 1].parent);
}

static void order_changed(void *user, const struct broker_order *order, const struct broker_fill *fill)
{
    struct alpaca_orders *o = user;
    if (!is_event(o, order))
        return;
    const struct broker_account *account = replay_broker_account_of(o->broker, order->terms.account);
    char id[37];
    struct text when = {0};
    if (fill)
        replay_alpaca_id(fill->id, 'f', id);
    else
        replay_alpaca_id(++o->executions, 'e', id);
    replay_wire_rfc3339(&when, order->updated_ns);
    json_t *data = text_ok(&when)
                       ? json_pack("{s:s, s:s, s:o, s:s%}", "event", event_of(o, order, fill != NULL),
                                   "execution_id", id, "order", replay_alpaca_order_json(o, order, false),
                                   "timestamp", when.data, when.len)
                       : NULL;
    text_finish(&when);
    if (data && fill) {
        json_object_set_new(data, "price", decimal(fill->price));
        json_object_set_new(data, "qty", decimal(fill->qty));
        json_t *position = replay_alpaca_position_json(o, order->terms.account, order->terms.symbol);
        json_t *held = json_object_get(position, "qty");
        json_object_set_new(data, "position_qty", held ? json_incref(held) : json_string("0"));
        json_decref(position);
    }
    replay_trader_update(o->alpaca, account->key, data);
}

struct alpaca_orders *replay_alpaca_orders_create(struct alpaca *alpaca)
{
    struct alpaca_orders *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    o->alpaca = alpaca;
    o->bids.bid = true;
    o->played_ns = alpaca->now_ns;
    o->first_group = 1;
    const struct broker_calls calls = {market_symbol,  market_book,   market_now, market_fee,
                                       market_planted, order_changed, o,          MADE_SCALE};
    o->broker = replay_broker_create(&calls);
    if (o->broker && alpaca->partial_percent)
        replay_broker_fill_in_parts(o->broker, replay_alpaca_part, MADE_SECOND);
    if (o->broker)
        return o;
    replay_alpaca_orders_destroy(o);
    return NULL;
}

void replay_alpaca_orders_destroy(struct alpaca_orders *o)
{
    if (!o)
        return;
    replay_broker_destroy(o->broker);
    replay_ladder_finish(&o->bids);
    replay_ladder_finish(&o->asks);
    replay_broker_faults_finish(&o->faults);
    free(o->own);
    free(o);
}

int64_t replay_alpaca_next_id(const struct alpaca_orders *o)
{
    size_t n;
    replay_broker_orders(o->broker, &n);
    return o->wiped + (int64_t)n + 1;
}

const struct broker_order *replay_alpaca_order(const struct alpaca_orders *o, int64_t id)
{
    size_t n;
    return &replay_broker_orders(o->broker, &n)[id - 1 - o->wiped];
}

/* ---- Time passes. ---- */

static void play(struct alpaca_orders *o, int symbol, int64_t from_ns, int64_t to_ns)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    for (int64_t minute = from_ns / MADE_MINUTE; minute <= to_ns / MADE_MINUTE; minute++) {
        const size_t n = replay_made_minute(market_of(o, symbol), symbol, minute, ticks);
        for (size_t i = 0; i < n; i++) {
            const struct made_trade *trade = &ticks[i].trade;
            if (!ticks[i].traded || trade->odd || trade->extended || trade->ts_ns <= from_ns ||
                trade->ts_ns > to_ns)
                continue;
            replay_broker_trade(o->broker, symbol, trade->price, trade->size, !trade->buy);
            replay_alpaca_groups_settle(o);
        }
    }
}

static bool is_over(const struct alpaca_orders *o, const struct broker_order *order)
{
    const struct alpaca_paper_order *own = &o->own[order->id - 1];
    struct trading_day day;
    if (!broker_is_open(order) || !own->by_day)
        return false;
    replay_sessions_on(replay_eastern_date(own->opens_ns ? own->opens_ns : order->time_ns), &day);
    return o->alpaca->now_ns >= (own->extended ? day.late_ns : day.close_ns);
}

static void wipe(struct alpaca_orders *o)
{
    o->first_group = replay_alpaca_next_id(o);
    o->wiped = o->first_group - 1;
    replay_broker_wipe(o->broker);
}

static void play_all(struct alpaca_orders *o)
{
    const int64_t from_ns = o->played_ns, to_ns = o->alpaca->now_ns;
    size_t n;
    const struct broker_order *all = replay_broker_orders(o->broker, &n);
    bool open[MADE_SYMBOLS_MAX] = {false};
    o->played_ns = to_ns;
    for (size_t i = 0; i < n; i++)
        open[all[i].terms.symbol] |= broker_is_open(&all[i]);
    for (int s = 0; s < market(o)->n_symbols; s++)
        if (open[s] && to_ns > from_ns)
            play(o, s, from_ns, to_ns);
    replay_alpaca_auctions(o);
    for (size_t i = 0; i < n; i++)
        if (is_over(o, &all[i]))
            replay_broker_expire(o->broker, all[i].terms.account, all[i].id);
    replay_alpaca_groups_settle(o);
}

/* An order's late arrival may be its second one. */
static void arrive(void *user, const struct broker_late *late)
{
    struct alpaca_orders *o = user;
    struct alpaca_paper_order own;
    const struct broker_order *order;
    memcpy(&own, late->more, sizeof(own));
    if (!replay_trading_by_client_id(o, late->orders[0].account, late->orders[0].client_id))
        replay_trading_place(o, &late->orders[0], &own, &order);
}

int64_t replay_alpaca_orders_due(const struct alpaca_orders *o)
{
    return replay_broker_due(o->broker);
}

void replay_alpaca_orders_arrive(struct alpaca_orders *o)
{
    play_all(o); /* trades of before */
    replay_broker_arrive(o->broker, o->alpaca->now_ns);
    replay_alpaca_groups_settle(o);
}

void replay_alpaca_orders_beat(struct alpaca_orders *o)
{
    struct faults *faults = o->alpaca->base.server->faults;
    play_all(o);
    if (faults->wipe)
        wipe(o);
    faults->wipe = false;
    replay_broker_arrivals(&o->faults, 0, arrive, o);
}

/* ---- Calls. ---- */

void replay_trading_send(struct trading_call *a, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    if (text)
        text_str(&a->call->response->body, text);
    else
        a->call->response->body.failed = true;
    free(text);
    json_decref(value);
}

/* Keeps what the broker does not have of the next order, before that is placed: its events need it. False:
 * memory is out. */
static bool keep(struct alpaca_orders *o, const struct alpaca_paper_order *own)
{
    const size_t at = (size_t)replay_alpaca_next_id(o) - 1;
    if (at >= o->cap_own) {
        const size_t cap = at < 32 ? 64 : at * 2;
        struct alpaca_paper_order *grown = reallocarray(o->own, cap, sizeof(*grown));
        if (!grown)
            return false;
        o->own = grown;
        o->cap_own = cap;
    }
    o->own[at] = *own;
    o->any_waiting |= own->auction_ns || own->opens_ns;
    return true;
}

enum broker_refusal replay_trading_place(struct alpaca_orders *o, const struct broker_terms *terms,
                                         const struct alpaca_paper_order *own,
                                         const struct broker_order **ret)
{
    const int64_t id = replay_alpaca_next_id(o);
    const bool first = own->class && !own->parent && !own->legs[0]; /* else its legs are there already */
    const enum broker_refusal refusal =
        keep(o, own) ? replay_broker_place(o->broker, terms, ret) : BROKER_MEMORY;
    if (refusal == BROKER_TAKEN && first)
        replay_alpaca_group_place(o, id);
    if (refusal == BROKER_TAKEN)
        *ret = replay_alpaca_order(o, id);
    return refusal;
}

bool replay_trading_accepted(struct trading_call *a, const struct broker_terms *terms,
                             enum broker_refusal refusal)
{
    switch (refusal) {
    case BROKER_TAKEN:
        return true;
    case BROKER_POOR:
        return replay_trading_refuse(a, 403, 40310000,
                                     terms->side == ORDER_BUY ? "insufficient buying power"
                                                              : "insufficient qty available for order");
    case BROKER_DRY:
    case BROKER_SMALL:
        return replay_trading_refuse_value(a, "notional", "at least what the smallest quantity costs");
    case BROKER_TRIGGERS:
        return replay_trading_refuse(a, 422, 42210000, "stop price would trigger at once");
    case BROKER_CROSSES:
    case BROKER_EMPTY:
    case BROKER_TWICE:
    case BROKER_MEMORY:
        break;
    }
    return replay_trading_refuse(a, 500, 50010000, "internal server error occurred");
}

bool replay_trading_placed(struct trading_call *a, const struct broker_terms *terms,
                           const struct alpaca_paper_order *own, const struct broker_order **ret)
{
    return replay_trading_accepted(a, terms, replay_trading_place(a->o, terms, own, ret));
}

static const struct broker_order *by_id(struct trading_call *a, const char *id)
{
    size_t n;
    char text[37];
    const struct broker_order *all = replay_broker_orders(a->o->broker, &n);
    for (size_t i = 0; i < n; i++) {
        replay_alpaca_id(all[i].id, 'o', text);
        if (all[i].terms.account == a->account && strcmp(text, id) == 0)
            return &all[i];
    }
    replay_trading_refuse(a, 404, 40410000, "order not found");
    return NULL;
}

static void delete_order(struct trading_call *a, const char *id)
{
    const struct broker_order *order = by_id(a, id);
    if (!order)
        return;
    if (replay_broker_cancel(a->o->broker, a->account, order->id, NULL))
        a->call->response->status = 204;
    else
        replay_trading_refuse(a, 422, 42210000, "order is not cancelable");
    replay_alpaca_groups_settle(a->o);
}

json_t *replay_trading_cancel_all(struct trading_call *a)
{
    size_t n;
    char id[37];
    const struct broker_order *all = replay_broker_orders(a->o->broker, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        if (all[i].terms.account != a->account || !broker_is_open(&all[i]))
            continue;
        replay_broker_cancel(a->o->broker, a->account, all[i].id, NULL);
        replay_alpaca_id(all[i].id, 'o', id);
        json_array_append_new(list, json_pack("{s:s, s:i}", "id", id, "status", 200));
    }
    replay_alpaca_groups_settle(a->o);
    return list;
}

static void delete_orders(struct trading_call *a)
{
    a->call->response->status = 207;
    replay_trading_send(a, replay_trading_cancel_all(a));
}

static void send_order(struct trading_call *a, const struct broker_order *order)
{
    replay_trading_send(a, replay_alpaca_order_json(a->o, order, replay_trading_nested(a)));
}

static void patch_order(struct trading_call *a, const char *id)
{
    const struct broker_order *order = by_id(a, id);
    if (order)
        replay_trading_replace(a, order);
}

static bool route(struct trading_call *a, const char *rest)
{
    const char *method = a->call->request->method;
    const bool gets = strcmp(method, "GET") == 0, ends = strcmp(method, "DELETE") == 0;
    if (!gets && a->o->alpaca->read_only) {
        replay_trading_refuse(a, 403, 0, "forbidden.");
        return true;
    }
    if (strcmp(rest, "account") == 0 && gets)
        replay_trading_send(a, replay_alpaca_account_json(a->o, a->account));
    else if (strcmp(rest, "account/activities") == 0 && gets)
        replay_trading_activities(a, replay_request_arg(a->call->request, "activity_types"));
    else if (strncmp(rest, "account/activities/", 19) == 0 && gets)
        replay_trading_activities(a, rest + 19);
    else if (strcmp(rest, "positions") == 0 && (gets || ends))
        replay_trading_positions(a, ends);
    else if (strncmp(rest, "positions/", 10) == 0 && (gets || ends))
        replay_trading_position(a, rest + 10, ends);
    else if (strcmp(rest, "orders") == 0 && gets)
        replay_trading_orders(a);
    else if (strcmp(rest, "orders") == 0 && ends)
        delete_orders(a);
    else if (strcmp(rest, "orders") == 0 && strcmp(method, "POST") == 0)
        replay_trading_post(a);
    else if (strcmp(rest, "orders:by_client_order_id") == 0 && gets) {
        const char *id = replay_request_arg(a->call->request, "client_order_id");
        const struct broker_order *order = replay_trading_by_client_id(a->o, a->account, id ? id : "");
        if (order)
            send_order(a, order);
        else
            replay_trading_refuse(a, 404, 40410000, "order not found");
    } else if (strncmp(rest, "orders/", 7) == 0 && gets) {
        const struct broker_order *order = by_id(a, rest + 7);
        if (order)
            send_order(a, order);
    } else if (strncmp(rest, "orders/", 7) == 0 && ends)
        delete_order(a, rest + 7);
    else if (strncmp(rest, "orders/", 7) == 0 && strcmp(method, "PATCH") == 0)
        patch_order(a, rest + 7);
    else
        return false;
    return true;
}

bool replay_alpaca_orders_answer(struct rest_call *call, const char *rest)
{
    struct alpaca_orders *o = call->alpaca->orders;
    const struct broker_funds funds = {market(o)->n_symbols, (int64_t)CASH * MADE_E9, 0};
    struct trading_call a = {.call = call, .o = o};
    const char *key = call->request->headers[HEADER_KEY];
    if (strlen(key) >= BROKER_KEY_MAX || (a.account = replay_broker_account(o->broker, key, &funds)) < 0) {
        replay_rest_refuse(call, 401, 40110000, "request is not authorized");
        return true;
    }
    replay_alpaca_orders_beat(o); /* what was played meanwhile comes first */
    json_t *body = json_loadb(call->request->body, call->request->body_len, JSON_REJECT_DUPLICATES, NULL);
    a.body = json_is_object(body) ? body : NULL;
    const bool known = route(&a, rest);
    json_decref(body);
    return known;
}
