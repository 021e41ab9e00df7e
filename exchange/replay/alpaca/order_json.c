#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/broker/stops.h"

/* One kind of numbers, each with an id of its own: 'o' orders, 'f' fills, 'e' other events. */
void replay_alpaca_id(int64_t number, char kind, char ret[static 37])
{
    snprintf(ret, 37, "%08x-0000-4000-8000-%012" PRIx64, (unsigned)kind, (uint64_t)number & 0xffffffffffff);
}

void replay_alpaca_asset_id(const struct made *made, int symbol, char ret[static 37])
{
    const uint64_t high = replay_made_hash(made, symbol, MADE_ASSET_IDS, 0),
                   low = replay_made_hash(made, symbol, MADE_ASSET_IDS, 1);
    snprintf(ret, 37, "%08" PRIx32 "-%04x-4%03x-a%03x-%012" PRIx64, (uint32_t)(high >> 32),
             (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff), (unsigned)(low >> 48 & 0xfff),
             low & 0xffffffffffff);
}

void replay_alpaca_joined(const char *name, char ret[static SYMBOL_NAME_MAX])
{
    char *end = ret;
    for (const char *c = name; *c && end < ret + SYMBOL_NAME_MAX - 1; c++)
        if (*c != '/')
            *end++ = *c;
    *end = '\0';
}

int replay_alpaca_find(const struct made *made, const char *name)
{
    int symbol = replay_made_find(made, name);
    for (int i = 0; i < made->n_symbols && symbol < 0; i++) {
        char id[37], joined[SYMBOL_NAME_MAX];
        replay_alpaca_asset_id(made, i, id);
        replay_alpaca_joined(made->symbols[i].name, joined);
        if (strcmp(name, joined) == 0 || strcmp(name, id) == 0)
            symbol = i;
    }
    return symbol;
}

static json_t *decimal(int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    return json_string(text);
}

static json_t *decimal_or_null(int64_t units)
{
    return units ? decimal(units, MADE_SCALE) : json_null();
}

static json_t *moment(int64_t ns)
{
    struct text text = {0};
    replay_wire_rfc3339(&text, ns);
    json_t *ret = text_ok(&text) ? json_stringn(text.data, text.len) : NULL;
    text_finish(&text);
    return ret;
}

static json_t *asset_of(const struct alpaca_orders *o, int symbol)
{
    char id[37];
    replay_alpaca_asset_id(&o->alpaca->made[0], symbol, id);
    return json_string(id);
}

static json_t *id_of(int64_t number, char kind)
{
    char id[37];
    if (number == 0)
        return json_null();
    replay_alpaca_id(number, kind, id);
    return json_string(id);
}

/* What was not filled at once is cancelled, a day's order expires. */
static bool is_expired(const struct broker_order *order, const struct alpaca_paper_order *own)
{
    return order->state == BROKER_EXPIRED && order->terms.tif == ORDER_GTC && own->by_day;
}

const char *replay_alpaca_state(const struct alpaca_orders *o, const struct broker_order *order)
{
    static const char *const names[] = {"new", "partially_filled", "filled", "canceled", "canceled"};
    const struct alpaca_paper_order *own = &o->own[order->id - 1];
    if (broker_is_open(order) && order->terms.held)
        return own->parent ? "held" : "accepted";
    return own->replaced_by ? "replaced" : is_expired(order, own) ? "expired" : names[order->state];
}

static const char *type_of(const struct broker_terms *terms)
{
    return broker_trails(&terms->trail)  ? "trailing_stop"
           : terms->type == ORDER_MARKET ? "market"
           : terms->type == ORDER_LIMIT  ? "limit"
           : terms->type == ORDER_STOP   ? "stop"
                                         : "stop_limit";
}

static json_t *order_json(struct alpaca_orders *o, const struct broker_order *order)
{
    const struct alpaca_paper_order *own = &o->own[order->id - 1];
    const struct broker_terms *terms = &order->terms;
    const struct made_symbol *symbol = &o->alpaca->made[0].symbols[terms->symbol];
    const bool filled = order->state == BROKER_FILLED, ended = !broker_is_open(order);
    const int64_t average = order->filled ? (int64_t)(order->quote / order->filled) : 0;
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s, "
        "s:s, s:s, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o}",
        "id", id_of(order->id, 'o'), "client_order_id", terms->client_id, "created_at",
        moment(order->time_ns), "updated_at", moment(order->updated_ns), "submitted_at",
        moment(order->time_ns), "filled_at", filled ? moment(order->updated_ns) : json_null(), "expired_at",
        is_expired(order, own) ? moment(order->updated_ns) : json_null(), "canceled_at",
        ended && !filled && !is_expired(order, own) && !own->replaced_by ? moment(order->updated_ns)
                                                                         : json_null(),
        "failed_at", json_null(), "replaced_at", own->replaced_by ? moment(order->updated_ns) : json_null(),
        "replaced_by", id_of(own->replaced_by, 'o'), "replaces", id_of(own->replaces, 'o'), "asset_id",
        asset_of(o, terms->symbol), "symbol", symbol->name, "asset_class",
        symbol->class == MADE_CRYPTO ? "crypto" : "us_equity", "notional", decimal_or_null(terms->quote),
        "qty", terms->quote ? json_null() : decimal(terms->qty, MADE_SCALE), "filled_qty",
        decimal(order->filled, MADE_SCALE), "filled_avg_price", decimal_or_null(average), "order_class",
        own->class ? replay_alpaca_classes[own->class] : "", "order_type", type_of(terms), "type",
        type_of(terms), "side", terms->side == ORDER_BUY ? "buy" : "sell", "time_in_force", own->tif,
        "limit_price", decimal_or_null(terms->price), "stop_price",
        decimal_or_null(replay_stop_price(terms, order->trail_best)), "status", replay_alpaca_state(o, order),
        "extended_hours", own->extended, "legs", json_null(), "trail_percent",
        decimal_or_null((int64_t)terms->trail.share_e6 * TRAIL_PERCENT), "trail_price",
        decimal_or_null(terms->trail.amount), "hwm", decimal_or_null(order->trail_best));
}

json_t *replay_alpaca_order_json(struct alpaca_orders *o, const struct broker_order *order, bool nested)
{
    const struct alpaca_paper_order *own = &o->own[order->id - 1];
    json_t *ret = order_json(o, order), *legs = nested && own->legs[0] ? json_array() : NULL;
    for (int i = 0; legs && i < ALPACA_LEGS && own->legs[i]; i++)
        json_array_append_new(legs, order_json(o, replay_alpaca_order(o, own->legs[i])));
    if (legs)
        json_object_set_new(ret, "legs", legs);
    return ret;
}

/* Quantity and cost of what the account's fills have left, at average cost. */
static void hold(const struct alpaca_orders *o, int account, int symbol, int64_t *ret_qty, int128_t *ret_cost)
{
    size_t n;
    const struct broker_fill *fills = replay_broker_fills(o->broker, &n);
    *ret_qty = 0;
    *ret_cost = 0;
    for (size_t i = 0; i < n; i++) {
        const struct broker_fill *f = &fills[i];
        if (f->account != account || f->symbol != symbol)
            continue;
        if (replay_alpaca_order(o, f->order_id)->terms.side == ORDER_BUY) {
            *ret_qty += f->qty - f->commission;
            *ret_cost += (int128_t)f->price * (f->qty - f->commission);
        } else if (*ret_qty > 0) {
            const int64_t left = *ret_qty > f->qty ? *ret_qty - f->qty : 0;
            *ret_cost = *ret_cost / *ret_qty * left;
            *ret_qty = left;
        }
    }
}

int64_t replay_alpaca_held(const struct alpaca_orders *o, int account, int symbol)
{
    int64_t qty;
    int128_t cost;
    hold(o, account, symbol, &qty, &cost);
    return qty;
}

json_t *replay_alpaca_position_json(struct alpaca_orders *o, int account, int symbol)
{
    const struct made_symbol *of = &o->alpaca->made[0].symbols[symbol];
    const struct broker_account *owner = replay_broker_account_of(o->broker, account);
    int64_t qty;
    int128_t cost;
    char name[SYMBOL_NAME_MAX], base[SYMBOL_NAME_MAX];
    replay_alpaca_joined(of->name, name);
    hold(o, account, symbol, &qty, &cost);
    if (qty == 0)
        return NULL;
    snprintf(base, sizeof(base), "%.*s", (int)strcspn(of->name, "/"), of->name);
    const struct broker_balance *balance = replay_broker_balance(owner, base);
    const int64_t locked = balance ? (int64_t)(balance->locked / MADE_E9) : 0;
    const int64_t price = replay_alpaca_price(o, symbol);
    const int128_t value = (int128_t)price * qty, gain = value - cost;
    const int128_t gain_e6 = cost / 1000000 ? gain / (cost / 1000000) : 0;
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
        "asset_id", asset_of(o, symbol), "symbol", name, "exchange", of->exchange, "asset_class",
        of->class == MADE_CRYPTO ? "crypto" : "us_equity", "asset_marginable", 0, "qty",
        decimal(qty, MADE_SCALE), "qty_available", decimal(qty - locked, MADE_SCALE), "avg_entry_price",
        decimal(cost / qty, MADE_SCALE), "side", "long", "market_value", decimal(value, 2 * MADE_SCALE),
        "cost_basis", decimal(cost, 2 * MADE_SCALE), "unrealized_pl", decimal(gain, 2 * MADE_SCALE),
        "unrealized_plpc", decimal(gain_e6, 6), "unrealized_intraday_pl", decimal(gain, 2 * MADE_SCALE),
        "unrealized_intraday_plpc", decimal(gain_e6, 6), "current_price", decimal(price, MADE_SCALE),
        "lastday_price", decimal(price, MADE_SCALE), "change_today", "0");
}

static void set_all(json_t *object, const char *const names[], size_t n, json_t *value)
{
    for (size_t i = 0; i < n; i++)
        json_object_set(object, names[i], value);
    json_decref(value);
}

json_t *replay_alpaca_account_json(struct alpaca_orders *o, int account)
{
    static const char *const powers[] = {"buying_power", "regt_buying_power", "non_marginable_buying_power"};
    static const char *const worths[] = {"portfolio_value", "equity", "last_equity"};
    static const char *const zeros[] = {"accrued_fees",           "short_market_value",      "initial_margin",
                                        "maintenance_margin",     "last_maintenance_margin", "sma",
                                        "daytrading_buying_power"};
    static const char *const blocks[] = {"trading_blocked",         "transfers_blocked",  "account_blocked",
                                         "trade_suspended_by_user", "pattern_day_trader", "shorting_enabled"};
    const struct broker_account *of = replay_broker_account_of(o->broker, account);
    const struct broker_balance *usd = replay_broker_balance(of, "USD");
    const int128_t spendable = usd ? usd->free : 0, cash = usd ? usd->free + usd->locked : 0;
    int128_t value = 0;
    char id[37];
    for (int s = 0; s < o->alpaca->made[0].n_symbols; s++) {
        int64_t qty;
        int128_t cost;
        hold(o, account, s, &qty, &cost);
        value += qty ? (int128_t)replay_alpaca_price(o, s) * qty : 0;
    }
    replay_alpaca_id(account + 1, 'c', id);
    json_t *ret =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:i, s:s}", "id", id, "account_number",
                  "PA0REPLAY001", "status", "ACTIVE", "crypto_status", "ACTIVE", "currency", "USD",
                  "multiplier", "1", "cash", decimal(cash, 2 * MADE_SCALE), "long_market_value",
                  decimal(value, 2 * MADE_SCALE), "daytrade_count", 0, "created_at", "2020-01-02T14:30:00Z");
    set_all(ret, powers, sizeof(powers) / sizeof(*powers), decimal(spendable, 2 * MADE_SCALE));
    set_all(ret, worths, sizeof(worths) / sizeof(*worths), decimal(cash + value, 2 * MADE_SCALE));
    set_all(ret, zeros, sizeof(zeros) / sizeof(*zeros), json_string("0"));
    set_all(ret, blocks, sizeof(blocks) / sizeof(*blocks), json_false());
    return ret;
}
