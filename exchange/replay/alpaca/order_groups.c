/* Brackets, OCO and OTO ("Placing Orders" at docs.alpaca.markets): a first order and its legs. A bracket's
 * and an OTO's first order is the entry, whose legs are held until all of it is filled; an OCO's is its
 * take-profit, whose leg is the stop-loss. Of the exits one reserves what is sold, for both. What fills a
 * part of one lowers the other; what ends one ends the other, and the end of an entry that was not filled
 * ends its legs. */
#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"

enum { EXITS = ALPACA_LEGS + 1, CENT = MADE_E9 / 100 };

const char *const replay_alpaca_classes[] = {"simple", "bracket", "oco", "oto"};

/* ---- What is asked for. ---- */

static const json_t *part(const struct trading_call *a, const char *name)
{
    const json_t *value = json_object_get(a->body, name);
    return json_is_object(value) ? value : NULL;
}

static bool refuse(struct trading_call *a, enum alpaca_class class, const char *words)
{
    char message[128];
    snprintf(message, sizeof(message), "%s orders %s", replay_alpaca_classes[class], words);
    return replay_trading_refuse(a, 422, 42210000, message);
}

static bool read_prices(struct trading_call *a, struct alpaca_paper_order *own)
{
    const json_t *profit = part(a, "take_profit"), *loss = part(a, "stop_loss");
    return replay_trading_decimal_of(a, profit, "limit_price", &own->take_profit) &&
           replay_trading_decimal_of(a, loss, "stop_price", &own->stop_loss) &&
           replay_trading_decimal_of(a, loss, "limit_price", &own->stop_loss_limit);
}

/* Which of the prices there must be. */
static bool check_present(struct trading_call *a, const struct broker_terms *terms,
                          const struct alpaca_paper_order *own)
{
    if (own->class == ALPACA_OTO)
        return (own->take_profit != 0) != (own->stop_loss != 0) ||
               refuse(a, own->class, "require either take_profit.limit_price or stop_loss.stop_price");
    if (!own->take_profit)
        return refuse(a, own->class, "require take_profit.limit_price");
    if (!own->stop_loss)
        return refuse(a, own->class, "require stop_loss.stop_price");
    if (own->class == ALPACA_OCO && terms->type != ORDER_LIMIT)
        return refuse(a, own->class, "must be limit orders");
    return true;
}

/* The take-profit lies at least a cent beyond the base prices, the stop-loss a cent before them, seen from an
 * exit that sells: the entry's limit, or the OCO's take-profit, and the quote that an exit would meet. */
static bool check_sides(struct trading_call *a, const struct broker_terms *terms,
                        const struct alpaca_paper_order *own)
{
    const bool buys = terms->side == ORDER_BUY, exit_sells = own->class == ALPACA_OCO ? !buys : buys;
    const int64_t sign = exit_sells ? 1 : -1,
                  market = replay_alpaca_touch(a->o, terms->symbol, exit_sells ? ORDER_SELL : ORDER_BUY),
                  limit = own->class == ALPACA_OCO ? own->take_profit : terms->price;
    if (own->take_profit && own->stop_loss && sign * (own->take_profit - own->stop_loss) <= 0)
        return replay_trading_refuse(a, 422, 42210000,
                                     exit_sells ? "take_profit.limit_price must be > stop_loss.stop_price"
                                                : "take_profit.limit_price must be < stop_loss.stop_price");
    for (int i = 0; i < 2; i++) {
        const int64_t base = i == 0 ? market : limit;
        if (!base)
            continue;
        if (own->take_profit && own->class != ALPACA_OCO && sign * (own->take_profit - base) < CENT)
            return replay_trading_refuse(a, 422, 42210000,
                                         exit_sells ? "take_profit.limit_price must be >= base_price + 0.01"
                                                    : "take_profit.limit_price must be <= base_price - 0.01");
        if (own->stop_loss && sign * (base - own->stop_loss) < CENT)
            return replay_trading_refuse(a, 422, 42210000,
                                         exit_sells ? "stop_loss.stop_price must be <= base_price - 0.01"
                                                    : "stop_loss.stop_price must be >= base_price + 0.01");
    }
    return true;
}

/* What no group has. */
static bool check_group(struct trading_call *a, const struct broker_terms *terms,
                        const struct alpaca_paper_order *own)
{
    if (a->o->alpaca->made[0].symbols[terms->symbol].class == MADE_CRYPTO)
        return replay_trading_refuse(a, 422, 42210000, "crypto orders not allowed for advanced order_class");
    if (own->extended)
        return replay_trading_refuse(a, 422, 42210000,
                                     "complex orders not supported for extended hours trading");
    if (broker_trails(&terms->trail))
        return replay_trading_refuse(a, 422, 42210000, "trailing stop orders must be simple orders");
    if (terms->quote || terms->qty % MADE_E9 != 0)
        return replay_trading_refuse(a, 422, 42210000, "fractional orders must be simple orders");
    if (strcmp(own->tif, "day") != 0 && strcmp(own->tif, "gtc") != 0)
        return replay_trading_refuse_value(a, "time_in_force", "complex orders take day and gtc");
    return true;
}

/* An account here sells what it has and no more: what sells is an exit, what buys an entry. */
static bool check_entry(struct trading_call *a, const struct broker_terms *terms,
                        const struct alpaca_paper_order *own)
{
    if (own->class == ALPACA_OCO)
        return terms->side == ORDER_SELL || refuse(a, own->class, "must be exit orders");
    return terms->side == ORDER_BUY || refuse(a, own->class, "must be entry orders");
}

bool replay_trading_class(struct trading_call *a, const struct broker_terms *terms,
                          struct alpaca_paper_order *own)
{
    const char *name = json_string_value(json_object_get(a->body, "order_class"));
    int i = 0;
    while (name && *name && i < 4 && strcmp(replay_alpaca_classes[i], name) != 0)
        i++;
    if (i == 4)
        return replay_trading_refuse_value(a, "order_class", "simple, bracket, oco or oto");
    own->class = (enum alpaca_class)i;
    if (own->class == ALPACA_SIMPLE)
        return !(part(a, "take_profit") || part(a, "stop_loss")) ||
               replay_trading_refuse(a, 422, 42210000,
                                     "take_profit and stop_loss are of order_class bracket, oco or oto");
    if (!read_prices(a, own) || !check_present(a, terms, own) || !check_group(a, terms, own))
        return false;
    if (own->class == ALPACA_OCO && terms->price != own->take_profit)
        return replay_trading_refuse_value(a, "limit_price", "take_profit's, or none");
    return check_sides(a, terms, own) && check_entry(a, terms, own);
}

/* ---- The legs. ---- */

/* The number of the new leg; 0: it was not taken. */
static int64_t place_leg(struct alpaca_orders *o, int64_t first, int64_t stop, int64_t price)
{
    const struct broker_order *of = replay_alpaca_order(o, first), *order;
    const struct alpaca_paper_order *group = &o->own[first - 1];
    const bool oco = group->class == ALPACA_OCO;
    const int64_t id = replay_alpaca_next_id(o);
    struct broker_terms terms = {.account = of->terms.account,
                                 .symbol = of->terms.symbol,
                                 .side = ORDER_SELL,
                                 .type = !stop   ? ORDER_LIMIT
                                         : price ? ORDER_STOP_LIMIT
                                                 : ORDER_STOP,
                                 .held = !oco,
                                 .covered = BROKER_COVERED,
                                 .qty = of->terms.qty,
                                 .price = price,
                                 .stop = stop};
    struct alpaca_paper_order own = {.class = group->class, .by_day = group->by_day, .parent = first};
    memcpy(own.tif, group->tif, sizeof(own.tif));
    replay_alpaca_id(id, 'u', terms.client_id);
    return replay_trading_place(o, &terms, &own, &order) == BROKER_TAKEN ? id : 0;
}

void replay_alpaca_group_place(struct alpaca_orders *o, int64_t first)
{
    const struct alpaca_paper_order asked = o->own[first - 1];
    int64_t legs[ALPACA_LEGS] = {0};
    int n = 0;
    bool taken = true;
    if (asked.class != ALPACA_OCO && asked.take_profit)
        taken = (legs[n++] = place_leg(o, first, 0, asked.take_profit)) != 0;
    if (taken && asked.stop_loss)
        taken = (legs[n++] = place_leg(o, first, asked.stop_loss, asked.stop_loss_limit)) != 0;
    memcpy(o->own[first - 1].legs, legs, sizeof(legs));
    if (!taken) /* all or nothing: what was taken of it ends with it */
        replay_broker_cancel(o->broker, replay_alpaca_order(o, first)->terms.account, first, NULL);
    replay_alpaca_groups_settle(o);
}

void replay_alpaca_group_replace(struct alpaca_orders *o, int64_t old, int64_t id)
{
    struct alpaca_paper_order *own = &o->own[id - 1];
    for (int i = 0; i < ALPACA_LEGS; i++) {
        if (own->legs[i])
            o->own[own->legs[i] - 1].parent = id;
        if (own->parent && o->own[own->parent - 1].legs[i] == old)
            o->own[own->parent - 1].legs[i] = id;
    }
}

/* ---- What follows from what. ---- */

static int64_t rest(const struct broker_order *order)
{
    return order->terms.qty - order->filled;
}

static void cancel_open(struct alpaca_orders *o, const int64_t ids[], int n)
{
    for (int i = 0; i < n; i++) {
        const struct broker_order *order = replay_alpaca_order(o, ids[i]);
        if (broker_is_open(order))
            replay_broker_cancel(o->broker, order->terms.account, ids[i], NULL);
    }
}

/* Of orders one of which is to be filled. False: they have ended. */
static bool settle_exits(struct alpaca_orders *o, const int64_t ids[], int n)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < n; i++) {
        const struct broker_order *order = replay_alpaca_order(o, ids[i]);
        if (!broker_is_open(order)) {
            cancel_open(o, ids, n);
            return false;
        }
        least = rest(order) < least ? rest(order) : least;
    }
    for (int i = 0; i < n; i++) {
        const struct broker_order *order = replay_alpaca_order(o, ids[i]);
        if (rest(order) > least)
            replay_broker_reduce(o->broker, order->terms.account, ids[i], order->filled + least,
                                 order->terms.client_id);
    }
    return true;
}

/* A held leg that is cancelled ends the group. */
static void settle_entry(struct alpaca_orders *o, int64_t first)
{
    const struct alpaca_paper_order *own = &o->own[first - 1];
    const int64_t all[EXITS] = {first, own->legs[0], own->legs[1]};
    const int n = 1 + (own->legs[0] != 0) + (own->legs[1] != 0);
    for (int i = 1; i < n; i++)
        if (!broker_is_open(replay_alpaca_order(o, all[i]))) {
            cancel_open(o, all, n);
            return;
        }
}

static void settle(struct alpaca_orders *o, int64_t first)
{
    struct alpaca_paper_order *own = &o->own[first - 1];
    const struct broker_order *order = replay_alpaca_order(o, first);
    int64_t exits[EXITS];
    int n = 0;
    if (own->class == ALPACA_OCO) {
        exits[n++] = first;
    } else if (broker_is_open(order)) {
        settle_entry(o, first);
        return;
    }
    for (int i = 0; i < ALPACA_LEGS && own->legs[i]; i++)
        exits[n++] = own->legs[i];
    if (own->class != ALPACA_OCO && order->state != BROKER_FILLED)
        cancel_open(o, exits, n);
    for (int i = 0; i < n && own->class != ALPACA_OCO; i++)
        replay_broker_release(o->broker, order->terms.account, exits[i], i == 0);
    own->settled = !settle_exits(o, exits, n);
}

void replay_alpaca_groups_settle(struct alpaca_orders *o)
{
    const int64_t next = replay_alpaca_next_id(o);
    int64_t first = next;
    for (int64_t id = o->first_group; id < next; id++) {
        const struct alpaca_paper_order *own = &o->own[id - 1];
        if (!own->class || own->parent || own->replaced_by || own->settled)
            continue;
        settle(o, id);
        first = first == next && !own->settled ? id : first;
    }
    o->first_group = first;
}
