/* The naive paper exchange, its second part: what happens to orders, and when. */
#ifndef TESTS_ENGINE_MODEL_H
#define TESTS_ENGINE_MODEL_H

#include "tests/engine/model_market.h"

/* ---- what happens to an order */

static void m_later(struct model *m, int64_t at, enum m_what what, int id, const struct order_amend *amend)
{
    if (m->n_due == M_DUE)
        abort();
    m->due[m->n_due++] =
        (struct m_due){.at = at, .what = what, .id = id, .amend = amend ? *amend : (struct order_amend){0}};
}

static void m_end(struct model *m, int id, enum order_state state, enum order_reason why)
{
    struct m_order *o = &m->orders[id];
    o->state = state;
    o->why = why;
    for (int k = 1; k <= m->n_orders; k++) {
        struct m_order *exit = &m->orders[k];
        if (exit->parent != id || exit->state != ORDER_HELD)
            continue;
        if (o->filled == 0) {
            m_end(m, k, ORDER_CANCELED, ORDER_OTHER_LEG);
        } else {
            exit->state = ORDER_PENDING;
            exit->qty = o->filled;
            m_later(m, m->now, M_ARRIVES, k, NULL);
        }
    }
}

static void m_end_partner(struct model *m, int id)
{
    int partner = m_partner(m, id);
    if (partner)
        m_end(m, partner, ORDER_CANCELED, ORDER_OTHER_LEG);
}

static void m_trade(struct model *m, int id, int64_t price, int64_t qty, bool maker)
{
    struct m_order *o = &m->orders[id];
    int64_t money = price * qty, fee = m_share_up(money, maker ? M_MAKER_E6 : M_TAKER_E6);
    if (m->n_fills == M_FILLS)
        abort();
    m->fills[m->n_fills++] = (struct m_fill){id, price, qty, maker};
    o->filled += qty;
    if (o->is.side == ORDER_BUY) {
        m->cash -= money + fee;
        m->coins += qty;
    } else {
        m->cash += money - fee;
        m->coins -= qty;
    }
}

static void m_rest(struct model *m, int id)
{
    struct m_order *o = &m->orders[id];
    o->state = o->filled > 0 ? ORDER_PARTIAL : ORDER_OPEN;
}

/* After an order traded: its partner is gone, and so are reduce-only orders without anything to reduce. */
static void m_traded(struct model *m, int id, int64_t before)
{
    if (m->orders[id].filled == before)
        return;
    for (int k = 1; k <= m->n_orders && m->coins == 0; k++)
        if (m->orders[k].is.reduce_only && m->orders[k].is.side == ORDER_SELL && m_at_venue(&m->orders[k]))
            m_end(m, k, ORDER_CANCELED, ORDER_REDUCE_ONLY);
}

enum m_left { M_NONE, M_NO_MORE, M_TOO_DEAR, M_POOR }; /* why some is left */

/* Trades with all that the other side shows up to `limit` (0: any price), at its prices or at the limit. */
static enum m_left m_sweep(struct model *m, int id, int64_t limit, bool maker)
{
    struct m_order *o = &m->orders[id];
    bool buy = o->is.side == ORDER_BUY;
    for (int i = 1; i < M_PRICES && o->filled < o->qty; i++) {
        int p = buy ? i : M_PRICES - i;
        int64_t shown = buy ? m->ask[p] : m->bid[p], *took = buy ? &m->took_ask[p] : &m->took_bid[p];
        if (shown == 0)
            continue;
        if (limit && (buy ? p > limit : p < limit))
            return M_TOO_DEAR;
        int64_t want = o->qty - o->filled < shown - *took ? o->qty - o->filled : shown - *took;
        if (want <= 0)
            continue;
        int64_t price = maker ? limit : p, can = o->is.reduce_only && want > m->coins ? m->coins : want;
        can = m_can(m, id, price, can);
        if (can > 0) {
            m_trade(m, id, price, can, maker);
            *took += can;
        }
        if (can < want)
            return M_POOR;
    }
    return o->filled < o->qty ? M_NO_MORE : M_NONE;
}

/* FOK: would it all fill? Ends it if not. */
static bool m_whole(struct model *m, int id, int64_t limit)
{
    struct m_order *o = &m->orders[id];
    bool buy = o->is.side == ORDER_BUY;
    int64_t left = o->qty, cost = 0;
    if (o->is.reduce_only && left > m->coins) {
        m_end(m, id, ORDER_CANCELED, ORDER_REDUCE_ONLY);
        return false;
    }
    for (int i = 1; i < M_PRICES; i++) {
        int p = buy ? i : M_PRICES - i;
        int64_t there = buy ? m->ask[p] - m->took_ask[p] : m->bid[p] - m->took_bid[p];
        if (limit && (buy ? p > limit : p < limit))
            break;
        int64_t want = left < there ? left : there;
        if (want > 0) {
            cost += m_cost(p, want);
            left -= want;
        }
    }
    if (left > 0) {
        m_end(m, id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
        return false;
    }
    bool paid = buy ? cost <= m->cash - m_cash_held(m, id) : m_can(m, id, 1, o->qty) == o->qty;
    if (!paid)
        m_end(m, id, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    return paid;
}

static void m_after(struct model *m, int id, int64_t before, enum m_left left, bool rests)
{
    struct m_order *o = &m->orders[id];
    if (o->filled > before)
        m_end_partner(m, id);
    if (o->filled == o->qty)
        m_end(m, id, ORDER_FILLED, ORDER_OK);
    else if (o->is.reduce_only && m->coins == 0)
        m_end(m, id, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    else if (left == M_POOR)
        m_end(m, id, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    else if (rests)
        m_rest(m, id);
    else
        m_end(m, id, o->is.tif == ORDER_GTC ? ORDER_CANCELED : ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    m_traded(m, id, before);
}

static void m_as_market(struct model *m, int id)
{
    struct m_order *o = &m->orders[id];
    int64_t before = o->filled;
    if (o->is.tif == ORDER_FOK && !m_whole(m, id, 0))
        return;
    enum m_left left = m_sweep(m, id, 0, false);
    m_after(m, id, before, left, o->is.type != ORDER_MARKET);
}

static void m_as_limit(struct model *m, int id)
{
    struct m_order *o = &m->orders[id];
    bool buy = o->is.side == ORDER_BUY;
    int best = buy ? m_best_ask(m) : m_best_bid(m);
    int64_t before = o->filled;
    o->ahead = -1;
    o->hunting = best && (buy ? best <= o->price : best >= o->price);
    if (o->is.post_only && best && (buy ? best <= o->price : best >= o->price)) {
        m_end(m, id, ORDER_CANCELED, ORDER_WOULD_TAKE);
        return;
    }
    if (o->is.tif == ORDER_FOK && !m_whole(m, id, o->price))
        return;
    enum m_left left = m_sweep(m, id, o->price, false);
    o->ahead = m_shown(m, buy, o->price);
    m_after(m, id, before, left, o->is.tif != ORDER_IOC);
}

static bool m_reached(const struct m_order *o, int64_t price)
{
    bool profit = o->is.type == ORDER_TAKE_PROFIT || o->is.type == ORDER_TAKE_PROFIT_LIMIT;
    bool buy = o->is.side == ORDER_BUY;
    if (o->stop == 0)
        return false;
    return buy != profit ? price >= o->stop : price <= o->stop;
}

static void m_trail(struct m_order *o)
{
    int64_t away = o->trail;
    if (o->trail_e6)
        away = m_share_up(o->peak, o->trail_e6);
    o->stop = o->is.side == ORDER_SELL ? o->peak - away : o->peak + away;
    if (o->stop < 0)
        o->stop = 0;
}

static void m_trigger(struct model *m, int id)
{
    m->orders[id].triggered = true;
    m_end_partner(m, id);
    if (m_limit_type(m->orders[id].is.type))
        m_as_limit(m, id);
    else
        m_as_market(m, id);
}

/* At the venue's door, or changed there. */
static void m_stands(struct model *m, int id)
{
    struct m_order *o = &m->orders[id];
    if (o->is.type == ORDER_MARKET) {
        m_as_market(m, id);
        return;
    }
    if (o->is.type == ORDER_LIMIT || (o->triggered && m_limit_type(o->is.type))) {
        m_as_limit(m, id);
        return;
    }
    if (o->is.type == ORDER_TRAILING_STOP && !o->triggered) {
        bool sell = o->is.side == ORDER_SELL;
        if (o->peak == 0 || (sell ? m->last > o->peak : m->last < o->peak))
            o->peak = m->last;
        m_trail(o);
    }
    if (!o->triggered && m_reached(o, m->last))
        m_trigger(m, id);
    else
        m_rest(m, id);
}

/* ---- amends */

static enum order_reason m_ask_amend(struct model *m, const struct order_amend *amend)
{
    int id = (int)amend->order_id;
    if (id < 1 || id > m->n_orders)
        return ORDER_UNKNOWN_ORDER;
    struct m_order *o = &m->orders[id];
    if (!m_alive(o) || o->cancelling)
        return ORDER_ENDED;
    if (amend->set == 0 || (amend->set & ~m_has(o)))
        return ORDER_BAD_AMEND;
    if ((amend->set & AMEND_QTY) && amend->qty <= o->filled)
        return ORDER_BAD_AMEND;
    if ((amend->set & AMEND_QTY) && o->parent && amend->qty > o->qty)
        return ORDER_BAD_AMEND;
    int64_t most;
    struct m_order other = m_foresee(m, id, &most);
    m_put(&other, amend, amend->set);
    int64_t need = m_takes(&other);
    if (o->state != ORDER_HELD) {
        if (o->is.reduce_only && m->coins == 0)
            return ORDER_REDUCE_ONLY;
        /* All but its own and its partner's is free for it. */
        if (o->is.side == ORDER_BUY && need > m->cash - m_cash_held(m, id))
            return ORDER_INSUFFICIENT_BALANCE;
        if (o->is.side == ORDER_SELL && !o->is.reduce_only && need > m->coins - m_coins_held(m, id, true))
            return ORDER_INSUFFICIENT_BALANCE;
    }
    m_later(m, m->now + M_LATENCY, M_AMENDS, id, amend);
    return ORDER_OK;
}

static void m_amends(struct model *m, int id, const struct order_amend *amend)
{
    struct m_order *o = &m->orders[id];
    unsigned set = amend->set & m_has(o);
    if (set == 0)
        return;
    if ((set & AMEND_QTY) && amend->qty <= o->filled) {
        m_end(m, id, ORDER_CANCELED, ORDER_OK);
        return;
    }
    bool less = set == AMEND_QTY && amend->qty <= o->qty;
    m_put(o, amend, set);
    o->amends++;
    if (!less && m_at_venue(o))
        m_stands(m, id);
}

/* ---- time */

static void m_happen(struct model *m, struct m_due *due)
{
    struct m_order *o = &m->orders[due->id];
    due->done = true;
    if (!m_alive(o))
        return;
    if (due->what == M_CANCELS)
        m_end(m, due->id, ORDER_CANCELED, ORDER_OK);
    else if (due->what == M_AMENDS)
        m_amends(m, due->id, &due->amend);
    else if (o->is.reduce_only && m->coins == 0)
        m_end(m, due->id, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    else
        m_stands(m, due->id);
}

/* Everything until then, at its own time; what expires comes first. */
static void m_until(struct model *m, int64_t then)
{
    for (;;) {
        int next = -1, expires = 0;
        for (int i = 0; i < m->n_due; i++)
            if (!m->due[i].done && (next < 0 || m->due[i].at < m->due[next].at))
                next = i;
        for (int k = 1; k <= m->n_orders; k++)
            if (m_alive(&m->orders[k]) && m->orders[k].expires &&
                (!expires || m->orders[k].expires < m->orders[expires].expires))
                expires = k;
        int64_t next_at = next < 0 ? INT64_MAX : m->due[next].at;
        if (expires && m->orders[expires].expires <= then && m->orders[expires].expires <= next_at) {
            if (m->orders[expires].expires > m->now)
                m->now = m->orders[expires].expires;
            m_end(m, expires, ORDER_EXPIRED, ORDER_OK);
        } else if (next_at <= then) {
            if (next_at > m->now)
                m->now = next_at;
            m_happen(m, &m->due[next]);
        } else {
            break;
        }
    }
    if (then > m->now)
        m->now = then;
}

/* ---- what comes from outside */

static enum order_reason m_let_in(const struct model *m, const struct m_order *o)
{
    if (o->state == ORDER_HELD)
        return ORDER_OK;
    if (o->is.type == ORDER_MARKET && (o->is.side == ORDER_BUY ? !m_best_ask(m) : !m_best_bid(m)))
        return ORDER_NO_LIQUIDITY;
    if (o->is.reduce_only)
        return m->coins > 0 ? ORDER_OK : ORDER_REDUCE_ONLY;
    bool fits = o->is.side == ORDER_BUY ? m_takes(o) <= m->cash - m_cash_held(m, 0)
                                        : o->qty <= m->coins - m_coins_held(m, 0, true);
    return fits ? ORDER_OK : ORDER_INSUFFICIENT_BALANCE;
}

/* Of what waits together: does a stop stand where the profit should? A bracket's entry with a limit stands
 * for a stop to its profit, and for a profit to its stop. */
static bool m_upside_down(enum order_grouping grouping, const struct order *legs, int n)
{
    int first = grouping == ORDERS_BRACKET ? 1 : 0;
    int64_t best_stop = 0, worst_profit = 0; /* as if all were sales: purchases count below zero */
    bool stops = false, profits = false;
    if (grouping == ORDERS_SINGLE)
        return false;
    for (int i = 0; i < n; i++) {
        int64_t sign = legs[first].side == ORDER_SELL ? 1 : -1, at = 0;
        bool stop = legs[i].type == ORDER_STOP || legs[i].type == ORDER_STOP_LIMIT;
        if (i < first || legs[i].type == ORDER_TRAILING_STOP)
            continue;
        at = sign * (legs[i].type == ORDER_LIMIT ? legs[i].price : legs[i].stop_price);
        if (stop && (!stops || at > best_stop))
            best_stop = at;
        if (!stop && (!profits || at < worst_profit))
            worst_profit = at;
        stops |= stop;
        profits |= !stop;
        if (first && m_limit_type(legs[0].type) &&
            (stop ? at >= sign * legs[0].price : at <= sign * legs[0].price))
            return true;
    }
    return stops && profits && best_stop >= worst_profit;
}

static void m_give(struct model *m, enum order_grouping grouping, const struct order *legs, int n)
{
    int first = m->n_orders + 1;
    enum order_reason why = ORDER_OK;
    if (m->n_orders + n > M_ORDERS)
        abort();
    for (int i = 0; i < n; i++) {
        struct m_order *o = &m->orders[first + i];
        bool exit = grouping == ORDERS_BRACKET && i > 0;
        *o = (struct m_order){.is = legs[i],
                              .state = exit ? ORDER_HELD : ORDER_PENDING,
                              .qty = exit ? legs[0].qty : legs[i].qty,
                              .price = legs[i].price,
                              .stop = legs[i].stop_price,
                              .trail = legs[i].trail,
                              .trail_e6 = legs[i].trail_e6,
                              .expires = legs[i].expires_ns,
                              .ahead = -1,
                              .group = grouping == ORDERS_SINGLE ? 0 : first,
                              .parent = exit ? first : 0};
        o->is.reduce_only |= exit;
        if (o->is.side == ORDER_BUY)
            o->held_cash = m_cost(m_best_ask(m) ? m_best_ask(m) : m->last, o->qty);
        if (o->is.tif == ORDER_DAY)
            o->expires = ((m->now + M_LATENCY) / M_DAY + 1) * M_DAY;
        if (o->is.tif == ORDER_GTD && o->expires <= m->now + M_LATENCY)
            why = why ? why : ORDER_BAD_TIF;
    }
    if (!why && m_upside_down(grouping, legs, n))
        why = ORDER_BAD_GROUP;
    for (int i = 0; i < n && !why; i++)
        why = m_let_in(m, &m->orders[first + i]);
    m->n_orders += n;
    for (int i = 0; i < n; i++) {
        struct m_order *o = &m->orders[first + i];
        if (why) {
            o->state = ORDER_REJECTED;
            o->why = why;
        } else if (o->state == ORDER_PENDING) {
            m_later(m, m->now + M_LATENCY, M_ARRIVES, first + i, NULL);
        }
    }
}

static enum order_reason m_ask_cancel(struct model *m, int id)
{
    if (id < 1 || id > m->n_orders)
        return ORDER_UNKNOWN_ORDER;
    if (!m_alive(&m->orders[id]))
        return ORDER_ENDED;
    int both[] = {id, m_partner(m, id)};
    for (int i = 0; i < 2; i++)
        if (both[i] && !m->orders[both[i]].cancelling) {
            m->orders[both[i]].cancelling = true;
            m_later(m, m->now + M_LATENCY, M_CANCELS, both[i], NULL);
        }
    return ORDER_OK;
}

static bool m_limits_now(const struct m_order *o)
{
    return m_limit_type(o->is.type) && (o->is.type == ORDER_LIMIT || o->triggered);
}

/* The ids of the orders at the venue in their turn: stops, then purchases with the dearest first, then sales
 * with the cheapest first. Returns how many. */
static int m_turns(const struct model *m, int turns[static M_ORDERS])
{
    int n = 0;
    for (int k = 1; k <= m->n_orders; k++)
        if (m_at_venue(&m->orders[k]) && !m_limits_now(&m->orders[k]))
            turns[n++] = k;
    for (int price = M_PRICES; price > -M_PRICES; price--) /* a sale's price stands as its negative */
        for (int k = 1; k <= m->n_orders; k++) {
            const struct m_order *o = &m->orders[k];
            if (m_at_venue(o) && m_limits_now(o) && price == (o->is.side == ORDER_BUY ? o->price : -o->price))
                turns[n++] = k;
        }
    return n;
}

/* The market shows something else: orders that reach it make. */
static void m_look(struct model *m)
{
    m_market_moved(m);
    int turns[M_ORDERS], n = m_turns(m, turns);
    for (int i = 0; i < n; i++) {
        int k = turns[i];
        struct m_order *o = &m->orders[k];
        bool buy = o->is.side == ORDER_BUY, limit = m_limit_type(o->is.type);
        if (!m_at_venue(o))
            continue;
        if (o->triggered && !limit) {
            m_as_market(m, k);
            continue;
        }
        if (!limit || (o->is.type != ORDER_LIMIT && !o->triggered))
            continue;
        int64_t shown = m_shown(m, buy, o->price), before = o->filled;
        if (shown >= 0 && (o->ahead < 0 || shown < o->ahead))
            o->ahead = shown;
        int best = buy ? m_best_ask(m) : m_best_bid(m);
        if (best && (buy ? best > o->price : best < o->price))
            o->hunting = false;
        enum m_left left = m_sweep(m, k, o->price, !o->hunting);
        if (o->filled > before || left == M_POOR)
            m_after(m, k, before, left, true);
    }
}

static void m_receive_trade(struct model *m, int64_t price, int64_t qty, bool seller_took)
{
    m->last = price;
    int64_t dealt = 0;
    int turns[M_ORDERS], n = m_turns(m, turns);
    for (int i = 0; i < n; i++) {
        int k = turns[i];
        struct m_order *o = &m->orders[k];
        bool buy = o->is.side == ORDER_BUY;
        if (!m_at_venue(o))
            continue;
        if (m_limits_now(o)) {
            int64_t passed = 0;
            bool through = buy ? price < o->price : price > o->price;
            if (through && o->hunting)
                continue;
            if (!through) {
                if (price != o->price || buy != seller_took || o->ahead < 0)
                    continue;
                passed = qty < o->ahead ? qty : o->ahead;
                o->ahead -= passed;
            }
            int64_t offered = qty - passed - dealt, want = o->qty - o->filled, before = o->filled;
            if (offered <= 0)
                continue;
            want = want < offered ? want : offered;
            int64_t can = o->is.reduce_only && want > m->coins ? m->coins : want;
            can = m_can(m, k, o->price, can);
            if (can > 0)
                m_trade(m, k, o->price, can, true);
            dealt += can;
            m_after(m, k, before, can < want ? M_POOR : M_NO_MORE, true);
        } else if (o->triggered) {
            m_as_market(m, k);
        } else if (m_reached(o, price)) {
            m_trigger(m, k);
        } else if (o->is.type == ORDER_TRAILING_STOP) {
            if (o->peak == 0 || (buy ? price < o->peak : price > o->peak))
                o->peak = price;
            m_trail(o);
        }
    }
}

#endif
