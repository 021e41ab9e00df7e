/* A paper exchange for one account and one symbol, written a second time from the rules that engine/match.c
 * states, as plainly as can be: small whole prices, arrays over all prices, everything searched anew each
 * time. It shares nothing with the engine but the names of order.h. For tests/engine/model.c. */
#ifndef TESTS_ENGINE_MODEL_H
#define TESTS_ENGINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/event.h"

enum {
    M_PRICES = 24, /* 1 .. M_PRICES - 1 */
    M_ORDERS = 24,
    M_DUE = 64,
    M_FILLS = 64,
    M_LATENCY = 15,      /* ns */
    M_TAKER_E6 = 100000, /* 10 % and 5 %: whole units at these prices, rounded up */
    M_MAKER_E6 = 50000,
};

struct m_order {
    struct order_request is;
    enum order_state state;
    enum order_reason why;
    int64_t qty, filled, price, stop, trail, peak, expires, held_cash, ahead;
    int32_t trail_e6;
    bool triggered, cancelling;
    int group, parent, amends; /* ids; 0: none */
};

#define M_DAY (86400 * INT64_C(1000000000))

enum m_what { M_ARRIVES, M_CANCELS, M_AMENDS };
struct m_due {
    int64_t at;
    enum m_what what;
    int id;
    struct order_amend amend;
    bool done;
};

struct m_fill {
    int id;
    int64_t price, qty;
    bool maker;
};

struct model {
    bool by_book;                         /* else by the best quote alone */
    int64_t bid[M_PRICES], ask[M_PRICES]; /* shown; by quote: one price of each at most */
    int64_t took_bid[M_PRICES], took_ask[M_PRICES];
    int64_t now, last, cash, coins;
    struct m_order orders[M_ORDERS + 1]; /* by id, from 1 */
    int n_orders;
    struct m_due due[M_DUE]; /* in the order of being given */
    int n_due;
    struct m_fill fills[M_FILLS];
    int n_fills;
};

/* ---- the market */

static int m_best_bid(const struct model *m)
{
    for (int p = M_PRICES - 1; p > 0; p--)
        if (m->bid[p] > 0)
            return p;
    return 0;
}

static int m_best_ask(const struct model *m)
{
    for (int p = 1; p < M_PRICES; p++)
        if (m->ask[p] > 0)
            return p;
    return 0;
}

/* Shown at a price on a side: 0 for nothing, -1 where nobody knows. */
static int64_t m_shown(const struct model *m, bool bids, int64_t price)
{
    const int64_t *side = bids ? m->bid : m->ask;
    int best = bids ? m_best_bid(m) : m_best_ask(m), worst = 0;
    if (best == 0)
        return -1;
    for (int p = 1; p < M_PRICES; p++)
        if (side[p] > 0 && (worst == 0 || !bids))
            worst = p;
    if (bids ? price < worst : price > worst)
        return -1;
    return side[price];
}

static void m_market_moved(struct model *m)
{
    for (int p = 1; p < M_PRICES; p++) {
        int64_t bid = m_shown(m, true, p), ask = m_shown(m, false, p);
        if (bid >= 0 && m->took_bid[p] > bid)
            m->took_bid[p] = bid;
        if (ask >= 0 && m->took_ask[p] > ask)
            m->took_ask[p] = ask;
    }
}

/* ---- money */

static int64_t m_share_up(int64_t amount, int64_t rate_e6)
{
    return (amount * rate_e6 + 999999) / 1000000;
}

static int64_t m_cost(int64_t price, int64_t qty)
{
    return price * qty + m_share_up(price * qty, M_TAKER_E6);
}

static bool m_alive(const struct m_order *o)
{
    return o->state == ORDER_PENDING || o->state == ORDER_HELD || o->state == ORDER_OPEN ||
           o->state == ORDER_PARTIAL;
}

static bool m_at_venue(const struct m_order *o)
{
    return o->state == ORDER_OPEN || o->state == ORDER_PARTIAL;
}

static bool m_limit_type(enum order_type type)
{
    return type == ORDER_LIMIT || type == ORDER_STOP_LIMIT || type == ORDER_TAKE_PROFIT_LIMIT;
}

static unsigned m_has(const struct m_order *o)
{
    switch (o->is.type) {
    case ORDER_LIMIT:
        return o->state == ORDER_HELD ? AMEND_PRICE : AMEND_QTY | AMEND_PRICE;
    case ORDER_STOP:
    case ORDER_TAKE_PROFIT:
        return (o->state == ORDER_HELD ? 0u : AMEND_QTY) | (o->triggered ? 0u : AMEND_STOP);
    case ORDER_STOP_LIMIT:
    case ORDER_TAKE_PROFIT_LIMIT:
        return (o->state == ORDER_HELD ? 0u : AMEND_QTY) | AMEND_PRICE | (o->triggered ? 0u : AMEND_STOP);
    case ORDER_TRAILING_STOP:
        return (o->state == ORDER_HELD ? 0u : AMEND_QTY) | (o->triggered ? 0u : AMEND_TRAIL | AMEND_TRAIL_E6);
    default:
        return 0;
    }
}

static void m_put(struct m_order *o, const struct order_amend *amend, unsigned set)
{
    if (set & AMEND_QTY)
        o->qty = amend->qty;
    if (set & AMEND_PRICE)
        o->price = amend->price;
    if (set & AMEND_STOP)
        o->stop = amend->stop_price;
    if (set & AMEND_TRAIL) {
        o->trail = amend->trail;
        o->trail_e6 = 0;
    }
    if (set & AMEND_TRAIL_E6) {
        o->trail_e6 = amend->trail_e6;
        o->trail = 0;
    }
}

static int m_partner(const struct model *m, int id)
{
    for (int k = 1; k <= m->n_orders; k++)
        if (k != id && m->orders[id].group && m->orders[k].group == m->orders[id].group &&
            m->orders[k].parent == m->orders[id].parent && m_alive(&m->orders[k]))
            return k;
    return 0;
}

/* What the rest of it takes. Without a price of its own a buy's cost is reckoned when it is given. */
static int64_t m_takes(const struct m_order *o)
{
    int64_t price = m_limit_type(o->is.type) ? o->price : o->stop, left = o->qty - o->filled;
    if (left <= 0 || o->is.side == ORDER_SELL)
        return left > 0 ? left : 0;
    return price ? m_cost(price, left) : o->held_cash;
}

/* The order after the amends on their way; *most: what it takes in the meantime. */
static struct m_order m_foresee(const struct model *m, int id, int64_t *most)
{
    struct m_order o = m->orders[id];
    *most = m_takes(&o);
    for (int i = 0; i < m->n_due; i++)
        if (!m->due[i].done && m->due[i].what == M_AMENDS && m->due[i].id == id) {
            m_put(&o, &m->due[i].amend, m->due[i].amend.set & m_has(&o));
            if (m_takes(&o) > *most)
                *most = m_takes(&o);
        }
    return o;
}

static int64_t m_need(const struct model *m, int id)
{
    const struct m_order *o = &m->orders[id];
    int64_t most;
    if (!m_alive(o) || o->cancelling || o->state == ORDER_HELD)
        return 0;
    m_foresee(m, id, &most);
    return most;
}

/* Cash that orders hold, without the order `but` and its partner. */
static int64_t m_cash_held(const struct model *m, int but)
{
    int64_t sum = 0;
    for (int k = 1; k <= m->n_orders; k++) {
        int partner = m_partner(m, k);
        if (m->orders[k].is.side != ORDER_BUY || k == but || (but && partner == but))
            continue;
        int64_t need = m_need(m, k);
        if (partner) {
            int64_t other = m_need(m, partner);
            if (other > need || (other == need && partner < k))
                continue;
        }
        sum += need;
    }
    return sum;
}

/* Coins that orders hold, without the order `but` and its partner: plain sales, and with `reducers` those
 * that only reduce, which hold what the plain ones leave of the position. */
static int64_t m_coins_held(const struct model *m, int but, bool reducers)
{
    int64_t plain = 0, own = 0, reducing = 0;
    for (int k = 1; k <= m->n_orders; k++) {
        int partner = m_partner(m, k);
        if (m->orders[k].is.side != ORDER_SELL)
            continue;
        int64_t need = m_need(m, k);
        if (partner) {
            int64_t other = m_need(m, partner);
            if (other > need || (other == need && partner < k))
                continue;
        }
        if (m->orders[k].is.reduce_only)
            reducing += need;
        else
            *(k == but || (but && partner == but) ? &own : &plain) += need;
    }
    if (!reducers)
        return plain;
    int64_t rest = m->coins - plain - own;
    return plain + (rest < 0 ? 0 : reducing < rest ? reducing : rest);
}

/* The most of `qty` that the account can pay or deliver. */
static int64_t m_can(const struct model *m, int id, int64_t price, int64_t qty)
{
    const struct m_order *o = &m->orders[id];
    if (o->is.side == ORDER_SELL) {
        int64_t there = m->coins - m_coins_held(m, id, !o->is.reduce_only);
        return there <= 0 ? 0 : qty < there ? qty : there;
    }
    int64_t there = m->cash - m_cash_held(m, id);
    while (qty > 0 && m_cost(price, qty) > there)
        qty--;
    return qty;
}

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

static void m_give(struct model *m, enum order_grouping grouping, const struct order_request *legs, int n)
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

/* The market shows something else: orders that reach it make. */
static void m_look(struct model *m)
{
    m_market_moved(m);
    int n = m->n_orders;
    for (int k = 1; k <= n; k++) {
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
        enum m_left left = m_sweep(m, k, o->price, true);
        if (o->filled > before || left == M_POOR)
            m_after(m, k, before, left, true);
    }
}

static void m_hear_trade(struct model *m, int64_t price, int64_t qty, bool seller_took)
{
    m->last = price;
    int64_t dealt = 0;
    int n = m->n_orders;
    for (int k = 1; k <= n; k++) {
        struct m_order *o = &m->orders[k];
        bool buy = o->is.side == ORDER_BUY, limit = m_limit_type(o->is.type);
        if (!m_at_venue(o))
            continue;
        if (limit && (o->is.type == ORDER_LIMIT || o->triggered)) {
            int64_t passed = 0;
            bool through = buy ? price < o->price : price > o->price;
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
