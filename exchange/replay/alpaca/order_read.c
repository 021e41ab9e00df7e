#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/alpaca/number.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/broker/stops.h"

bool replay_trading_refuse(struct trading_call *a, int status, int64_t code, const char *message)
{
    replay_rest_refuse(a->call, status, code, message);
    return false;
}

bool replay_trading_refuse_value(struct trading_call *a, const char *name, const char *right)
{
    char message[128];
    snprintf(message, sizeof(message), "invalid %s: %s", name, right);
    return replay_trading_refuse(a, 422, 42210000, message);
}

/* A decimal, as a string or a number, which is the nearest to it. */
bool replay_trading_decimal_of(struct trading_call *a, const json_t *object, const char *name, int64_t *ret)
{
    const json_t *value = json_object_get(object, name);
    int r = -EINVAL;
    *ret = 0;
    if (!value || json_is_null(value))
        return true;
    if (json_is_number(value))
        r = decimal_from_double(json_number_value(value), MADE_SCALE, ret);
    else if (json_is_string(value))
        r = decimal_parse_str(json_string_value(value), MADE_SCALE, ret);
    return (r == 0 && *ret > 0) ||
           replay_trading_refuse_value(a, name, "a number above 0 with at most 9 digits after the point");
}

bool replay_trading_decimal(struct trading_call *a, const char *name, int64_t *ret)
{
    return replay_trading_decimal_of(a, a->body, name, ret);
}

bool replay_trading_time(struct trading_call *a, const char *name, int64_t *ret_ns)
{
    const char *value = replay_request_arg(a->call->request, name);
    int32_t day;
    if (!value || !*value || alpaca_time(value, strlen(value), ret_ns))
        return true;
    if (!alpaca_date(value, strlen(value), &day))
        return replay_trading_refuse_value(a, name, "a time as 2026-01-15T15:00:00Z, or a date");
    *ret_ns = (int64_t)day * 86400 * 1000000000;
    return true;
}

static const char *read_word(struct trading_call *a, const char *name)
{
    return json_string_value(json_object_get(a->body, name));
}

static bool read_symbol(struct trading_call *a, struct broker_terms *terms)
{
    const char *name = read_word(a, "symbol");
    terms->symbol = name ? replay_alpaca_find(&a->o->alpaca->made[0], name) : -1;
    if (terms->symbol >= 0 &&
        replay_made_listed_at(&a->o->alpaca->made[0], terms->symbol, a->o->alpaca->now_ns))
        return true;
    char message[96];
    snprintf(message, sizeof(message), "asset \"%.40s\" not found", name ? name : "");
    return replay_trading_refuse(a, 422, 42210000, message);
}

bool replay_trading_percent(struct trading_call *a, const char *name, struct broker_trail *trail)
{
    int64_t percent;
    if (!replay_trading_decimal(a, name, &percent))
        return false;
    if (percent % TRAIL_PERCENT != 0 || percent > 1000 * MADE_E9)
        return replay_trading_refuse_value(a, name, "at most 1000, with at most 4 digits after the point");
    trail->share_e6 = (int32_t)(percent / TRAIL_PERCENT);
    return true;
}

bool replay_trading_trails(struct trading_call *a, const struct broker_terms *terms, const char *name)
{
    return !broker_trails(&terms->trail) || replay_stop_price(terms, terms->trail.best) > 0 ||
           replay_trading_refuse_value(a, name, "less than the whole price");
}

/* Of a trailing stop; its mark begins with the quote that it would meet. */
static bool read_trail(struct trading_call *a, struct broker_terms *terms, bool trails)
{
    struct broker_trail *trail = &terms->trail;
    if (!replay_trading_decimal(a, "trail_price", &trail->amount) ||
        !replay_trading_percent(a, "trail_percent", trail))
        return false;
    if (broker_trails(trail) && !trails)
        return replay_trading_refuse(a, 422, 42210000,
                                     "trail_price and trail_percent are of trailing_stop orders");
    if (trails && (trail->amount != 0) == (trail->share_e6 != 0))
        return replay_trading_refuse(a, 422, 42210000,
                                     "trailing stop orders require either trail_price or trail_percent");
    trail->best = trails ? replay_alpaca_touch(a->o, terms->symbol, terms->side) : 0;
    return true;
}

static bool read_type(struct trading_call *a, struct broker_terms *terms)
{
    static const struct {
        const char *name;
        enum order_type type;
        bool limit, stop, trails;
    } types[] = {{"market", ORDER_MARKET, false, false, false},
                 {"limit", ORDER_LIMIT, true, false, false},
                 {"stop", ORDER_STOP, false, true, false},
                 {"stop_limit", ORDER_STOP_LIMIT, true, true, false},
                 {"trailing_stop", ORDER_STOP, false, false, true}}; /* its stop follows from the trail */
    const char *type = read_word(a, "type");
    for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(types[i].name, type) != 0)
            continue;
        terms->type = types[i].type;
        if (types[i].limit != (terms->price != 0))
            return replay_trading_refuse_value(a, "limit_price",
                                               types[i].limit ? "this type needs it" : "this type has none");
        if (types[i].stop != (terms->stop != 0))
            return replay_trading_refuse_value(a, "stop_price",
                                               types[i].stop ? "this type needs it" : "this type has none");
        if (terms->type == ORDER_STOP && a->o->alpaca->made[0].symbols[terms->symbol].class == MADE_CRYPTO)
            return replay_trading_refuse_value(a, "type", "coins take market, limit and stop_limit");
        return read_trail(a, terms, types[i].trails);
    }
    return replay_trading_refuse_value(a, "type", "market, limit, stop, stop_limit or trailing_stop");
}

static bool read_auction(struct trading_call *a, const struct broker_terms *terms,
                         struct alpaca_paper_order *own, bool closing)
{
    if (terms->type != ORDER_MARKET && terms->type != ORDER_LIMIT)
        return replay_trading_refuse_value(a, "time_in_force", "opg and cls are of market and limit orders");
    return replay_alpaca_auction_time(a->o->alpaca->now_ns, closing, &own->auction_ns) ||
           replay_trading_refuse(
               a, 422, 42210000,
               closing ? "cls orders are taken until 10 minutes before the close, and from 19:00"
                       : "opg orders are taken until 2 minutes before the open, and from 19:00");
}

bool replay_trading_tif(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own)
{
    static const char *const names[] = {"day", "gtc", "ioc", "fok", "opg", "cls"};
    static const enum order_tif tifs[] = {ORDER_GTC, ORDER_GTC, ORDER_IOC, ORDER_FOK, ORDER_IOC, ORDER_IOC};
    enum { DAY, GTC, IOC, FOK, OPG, CLS, TIFS };
    const bool crypto = a->o->alpaca->made[0].symbols[terms->symbol].class == MADE_CRYPTO;
    const char *tif = read_word(a, "time_in_force");
    for (int i = 0; tif && i < TIFS; i++) {
        if (strcmp(names[i], tif) != 0 || (crypto && i != GTC && i != IOC))
            continue;
        memcpy(own->tif, tif, sizeof(own->tif));
        own->by_day = i == DAY;
        terms->tif = tifs[i];
        terms->held = i == OPG || i == CLS;
        if (broker_trails(&terms->trail) && i != DAY && i != GTC)
            return replay_trading_refuse_value(a, "time_in_force", "trailing stop orders take day and gtc");
        return !terms->held || read_auction(a, terms, own, i == CLS);
    }
    return replay_trading_refuse(a, 422, 42210000,
                                 crypto ? "invalid crypto time_in_force"
                                        : "invalid time_in_force: day, gtc, ioc, fok, opg or cls");
}

const struct broker_order *replay_trading_by_client_id(const struct alpaca_orders *o, int account,
                                                       const char *id)
{
    size_t n;
    const struct broker_order *all = replay_broker_orders(o->broker, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].terms.account == account && strcmp(all[i].terms.client_id, id) == 0)
            return &all[i];
    return NULL;
}

bool replay_trading_client_id(struct trading_call *a, struct broker_terms *terms)
{
    const char *id = read_word(a, "client_order_id");
    if (!id || !*id)
        replay_alpaca_id(replay_alpaca_next_id(a->o), 'u', terms->client_id);
    else if (strlen(id) >= sizeof(terms->client_id))
        return replay_trading_refuse_value(a, "client_order_id", "at most 128 characters");
    else
        strcpy(terms->client_id, id);
    return !replay_trading_by_client_id(a->o, a->account, terms->client_id) ||
           replay_trading_refuse(a, 422, 40010001, "client_order_id must be unique");
}

bool replay_trading_open(const struct alpaca_orders *o, int symbol, bool extended)
{
    const int64_t now_ns = o->alpaca->now_ns;
    struct trading_day day;
    if (!replay_made_trades_at(&o->alpaca->made[0], symbol, now_ns))
        return false;
    if (extended || o->alpaca->made[0].symbols[symbol].class != MADE_STOCK)
        return true;
    return replay_sessions_on(replay_eastern_date(now_ns), &day) != SESSIONS_CLOSED &&
           now_ns >= day.open_ns && now_ns < day.close_ns;
}

/* A stock's order that is given while its market is closed waits for the opening, or with extended hours for
 * these. False: it cannot, and is refused. */
static bool wait_for_open(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own)
{
    const int64_t now_ns = a->o->alpaca->now_ns;
    struct trading_day day;
    int64_t date = replay_sessions_next(replay_eastern_date(now_ns), 1);
    replay_sessions_on(date, &day);
    if (now_ns >= (own->extended ? day.late_ns : day.close_ns))
        replay_sessions_on(replay_sessions_next(date + 1, 1), &day);
    own->opens_ns = own->extended ? day.early_ns : day.open_ns;
    terms->held = true;
    if (a->o->alpaca->made[0].symbols[terms->symbol].class == MADE_STOCK && now_ns < own->opens_ns &&
        terms->tif == ORDER_GTC && !terms->quote && !broker_trails(&terms->trail) && !own->class)
        return true;
    return replay_trading_refuse(
        a, 403, 40310000,
        "the market is closed: only simple orders by quantity, day and gtc, wait for its opening here");
}

/* An OCO's first order is its take-profit, which its limit price need not repeat. */
static bool read_oco_price(struct trading_call *a, struct broker_terms *terms)
{
    const char *type = read_word(a, "type");
    const json_t *profit = json_object_get(a->body, "take_profit");
    if (terms->price || !type || strcmp(type, "limit") != 0)
        return true;
    return json_object_get(profit, "limit_price")
               ? replay_trading_decimal_of(a, profit, "limit_price", &terms->price)
               : replay_trading_refuse(a, 422, 42210000, "oco orders require take_profit.limit_price");
}

bool replay_trading_order(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own)
{
    const char *side = read_word(a, "side"), *class = read_word(a, "order_class");
    const bool oco = class && strcmp(class, "oco") == 0;
    *terms = (struct broker_terms){.account = a->account};
    *own = (struct alpaca_paper_order){.extended = json_is_true(json_object_get(a->body, "extended_hours"))};
    if (!a->body)
        return replay_trading_refuse(a, 400, 40010000, "request body format is invalid");
    if (a->o->alpaca->recorded)
        return replay_trading_refuse(a, 403, 40310000,
                                     "orders are not served here: of a recording there is its data only");
    if (!read_symbol(a, terms) || !replay_trading_decimal(a, "qty", &terms->qty) ||
        !replay_trading_decimal(a, "notional", &terms->quote) ||
        !replay_trading_decimal(a, "limit_price", &terms->price) ||
        !replay_trading_decimal(a, "stop_price", &terms->stop))
        return false;
    if (oco && !read_oco_price(a, terms))
        return false;
    if (!side || (strcmp(side, "buy") != 0 && strcmp(side, "sell") != 0))
        return replay_trading_refuse_value(a, "side", "buy or sell");
    terms->side = side[0] == 'b' ? ORDER_BUY : ORDER_SELL;
    if ((terms->qty != 0) == (terms->quote != 0))
        return replay_trading_refuse(a, 422, 42210000, "qty or notional is required, and not both");
    if (!read_type(a, terms) || !replay_trading_tif(a, terms, own) || !replay_trading_client_id(a, terms))
        return false;
    if (terms->quote && terms->type != ORDER_MARKET)
        return replay_trading_refuse_value(a, "notional", "only market orders have it here");
    const bool open = own->auction_ns || replay_trading_open(a->o, terms->symbol, own->extended);
    return replay_trading_class(a, terms, own) && (open || wait_for_open(a, terms, own)) &&
           replay_trading_trails(a, terms, terms->trail.amount ? "trail_price" : "trail_percent") &&
           replay_trading_checks(a, terms, own, NULL);
}
