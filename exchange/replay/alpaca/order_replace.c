/* PATCH orders/ID: another order in the place of an open one, with a new id. */
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"

/* What of an open order can be replaced at all. */
static bool check_replaceable(struct trading_call *a, const struct broker_order *old,
                              const struct alpaca_paper_order *own)
{
    if (!broker_is_open(old))
        return replay_trading_refuse(a, 422, 42210000, "order is not open");
    if (old->terms.quote)
        return replay_trading_refuse(a, 422, 42210000, "notional orders cannot be replaced");
    if (old->terms.held && !own->parent)
        return replay_trading_refuse(a, 422, 42210000, "orders cannot be replaced while they are accepted");
    if (own->class == ALPACA_OTO)
        return replay_trading_refuse(a, 422, 42210000, "oto orders cannot be replaced");
    if (own->class && (json_object_get(a->body, "qty") || json_object_get(a->body, "time_in_force")))
        return replay_trading_refuse(a, 422, 42210000,
                                     "of complex orders limit_price and stop_price can be replaced");
    return true;
}

/* A trailing stop keeps its mark. */
static bool read_trail(struct trading_call *a, const struct broker_order *old, struct broker_terms *terms)
{
    struct broker_trail *trail = &terms->trail;
    int64_t by;
    if (!replay_trading_decimal(a, "trail", &by))
        return false;
    if (by && !broker_trails(trail))
        return replay_trading_refuse_value(a, "trail", "trailing stop orders have it");
    if (!broker_trails(trail))
        return true;
    if (json_object_get(a->body, "stop_price"))
        return replay_trading_refuse_value(a, "stop_price", "of a trailing stop it follows from trail");
    if (by && trail->amount)
        trail->amount = by;
    else if (by && !replay_trading_percent(a, "trail", trail))
        return false;
    trail->best = old->trail_best;
    return replay_trading_trails(a, terms, "trail");
}

/* The take-profit stays above the stop-loss, whichever of them it is. */
static bool check_exits(struct trading_call *a, const struct broker_order *old,
                        const struct broker_terms *terms)
{
    const struct alpaca_paper_order *own = &a->o->own[old->id - 1];
    const int64_t first = own->parent ? own->parent : old->id;
    const struct alpaca_paper_order *group = &a->o->own[first - 1];
    const int64_t ids[] = {first, group->legs[0], group->legs[1]};
    int64_t profit = 0, loss = 0;
    for (int i = group->class == ALPACA_OCO ? 0 : 1; i < 3; i++) {
        const struct broker_terms *of = !ids[i]             ? NULL
                                        : ids[i] == old->id ? terms
                                                            : &replay_alpaca_order(a->o, ids[i])->terms;
        if (of && of->stop)
            loss = of->stop;
        else if (of)
            profit = of->price;
    }
    return !group->class || !profit || !loss || profit > loss ||
           replay_trading_refuse(a, 422, 42210000, "take_profit.limit_price must be > stop_loss.stop_price");
}

/* What the order is to be instead. */
static bool read_replacement(struct trading_call *a, const struct broker_order *old,
                             struct broker_terms *terms, struct alpaca_paper_order *own)
{
    const bool stock = a->o->alpaca->made[0].symbols[old->terms.symbol].class == MADE_STOCK;
    int64_t qty, price, stop;
    *terms = old->terms;
    *own = a->o->own[old->id - 1];
    own->opens_ns = 0; /* it does not wait for that any more: its day is today */
    if (!a->body)
        return replay_trading_refuse(a, 400, 40010000, "request body format is invalid");
    if (!check_replaceable(a, old, own) || !replay_trading_decimal(a, "qty", &qty) ||
        !replay_trading_decimal(a, "limit_price", &price) || !replay_trading_decimal(a, "stop_price", &stop))
        return false;
    if (stock && qty % MADE_E9 != 0)
        return replay_trading_refuse_value(a, "qty", "whole shares in a replacement");
    terms->qty = (qty ? qty : terms->qty) - old->filled;
    terms->price = price && terms->price ? price : terms->price;
    terms->stop = stop && terms->stop ? stop : terms->stop;
    if (terms->qty <= 0)
        return replay_trading_refuse_value(a, "qty", "above what is filled");
    if (json_object_get(a->body, "time_in_force") && !replay_trading_tif(a, terms, own))
        return false;
    if (own->auction_ns)
        return replay_trading_refuse_value(a, "time_in_force", "day, gtc, ioc or fok in a replacement");
    return read_trail(a, old, terms) && check_exits(a, old, terms) && replay_trading_client_id(a, terms) &&
           replay_trading_checks(a, terms, own, old);
}

/* What is refused leaves the order as it is. */
void replay_trading_replace(struct trading_call *a, const struct broker_order *old)
{
    struct alpaca_orders *o = a->o;
    struct broker_terms terms;
    struct alpaca_paper_order own;
    const struct broker_order *order;
    if (!read_replacement(a, old, &terms, &own) ||
        !replay_trading_accepted(a, &terms, replay_broker_check(o->broker, &terms, old)))
        return;
    const int64_t old_id = old->id, id = replay_alpaca_next_id(o);
    own.replaces = old_id;
    o->own[old_id - 1].replaced_by = id;
    o->event = "replaced";
    replay_broker_cancel(o->broker, a->account, old_id, NULL);
    o->event = NULL;
    if (replay_trading_placed(a, &terms, &own, &order)) {
        if (own.class)
            replay_alpaca_group_replace(o, old_id, id);
        replay_alpaca_groups_settle(o);
        replay_trading_send(a, replay_alpaca_order_json(o, replay_alpaca_order(o, id), true));
    } else {
        o->own[old_id - 1].replaced_by = 0; /* it is cancelled */
        replay_alpaca_groups_settle(o);
    }
}
