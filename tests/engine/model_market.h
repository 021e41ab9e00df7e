/* A paper exchange for one account and one symbol, written a second time from the rules that engine/match.c
 * states, as plainly as can be: small whole prices, arrays over all prices, everything searched again each
 * time. It shares nothing with the engine but the names of order.h. Here: the market, and what orders need of
 * the account's money; tests/engine/model.h: what happens to them. */
#ifndef TESTS_ENGINE_MODEL_MARKET_H
#define TESTS_ENGINE_MODEL_MARKET_H

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
    struct order is;
    enum order_state state;
    enum order_reason why;
    int64_t qty, filled, price, stop, trail, peak, expires, held_cash, ahead;
    int32_t trail_e6;
    bool triggered, cancelling, hunting; /* hunting: it came over the best price, and is over it since */
    int group, parent, amends;           /* ids; 0: none */
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

/* Shown at a price on a side: 0 for nothing, -1 where it is unknown. */
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

/* What the rest of it takes. Without a price of its own a buy's cost is computed when the order is placed. */
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

#endif
