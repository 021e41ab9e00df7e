/* A standing book for tests of the replay's side of orders, and the check that no asset appears or is lost.
 */
#ifndef TESTS_REPLAY_BROKER_MARKET_H
#define TESTS_REPLAY_BROKER_MARKET_H

#include <string.h>

#include "exchange/replay/broker/broker.h"
#include "tests/check.h"

#define E8 100000000LL

enum { FEE_E6 = 1000 };

/* Asks from 100 up, bids from 99 down, each of 1, 2, 3 … in steps of 1. */
struct market {
    struct replay_ladder bids, asks;
    struct broker_planted planted;
    int64_t later_ns; /* of its time */
    int events, fills;
};

static inline bool symbol(void *user, int i, struct symbol *ret)
{
    (void)user;
    *ret =
        (struct symbol){.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8};
    ret->filters.step = E8 / 100;
    ret->filters.tick = E8 / 100;
    return i == 0;
}

static inline bool book(void *user, int i, struct source_book *ret)
{
    const struct market *m = user;
    *ret = (struct source_book){&m->bids, &m->asks, 1};
    return i == 0;
}

static inline int64_t now_ns(void *user)
{
    const struct market *m = user;
    return 1000 + m->events + m->later_ns;
}

static inline int fee_e6(void *user, int i, bool maker)
{
    (void)user, (void)i, (void)maker;
    return FEE_E6;
}

static inline struct broker_planted planted(void *user)
{
    return ((struct market *)user)->planted;
}

static inline void changed(void *user, const struct broker_order *order, const struct broker_fill *fill)
{
    struct market *m = user;
    CHECK(order->filled <= order->terms.qty);
    m->events++;
    m->fills += fill != NULL;
}

struct place {
    struct market market;
    struct broker *broker;
    int account;
};

static inline struct place place_open(void)
{
    struct place p = {.market = {.bids = {.bid = true}}};
    for (int i = 0; i < 5; i++) {
        CHECK_INT(replay_ladder_set(&p.market.asks, (100 + i) * E8, (1 + i) * E8), 0);
        CHECK_INT(replay_ladder_set(&p.market.bids, (99 - i) * E8, (1 + i) * E8), 0);
    }
    return p;
}

static inline void place_start(struct place *p)
{
    const struct broker_calls calls = {symbol, book, now_ns, fee_e6, planted, changed, &p->market, 8};
    p->broker = replay_broker_create(&calls);
    p->account = replay_broker_account(p->broker, "k", &(struct broker_funds){1, 10000 * E8, 50 * E8});
    CHECK_INT(replay_broker_account(p->broker, "k", &(struct broker_funds){1, 1, 1}), p->account);
}

static inline void place_close(struct place *p)
{
    replay_broker_destroy(p->broker);
    replay_ladder_finish(&p->market.bids);
    replay_ladder_finish(&p->market.asks);
}

/* Of each asset what the account began with, and the fills less their commissions; locked is what its open
 * orders lock. */
static inline void check_sums(const struct place *p)
{
    int128_t base = (int128_t)50 * E8 * E8, quote = (int128_t)10000 * E8 * E8, locked[2] = {0};
    size_t n;
    const struct broker_order *orders = replay_broker_orders(p->broker, &n);
    for (size_t i = 0; i < n; i++) {
        CHECK(broker_is_open(&orders[i]) || orders[i].locked == 0);
        locked[orders[i].terms.side == ORDER_SELL] += orders[i].locked;
    }
    const struct broker_fill *fills = replay_broker_fills(p->broker, &n);
    for (size_t i = 0; i < n; i++) {
        const struct broker_fill *f = &fills[i];
        const struct broker_order *o = replay_broker_find(p->broker, p->account, 0, f->order_id, NULL);
        const int128_t notional = (int128_t)f->price * f->qty;
        const bool buys = o->terms.side == ORDER_BUY;
        base += (buys ? (int128_t)f->qty - f->commission : -(int128_t)f->qty) * E8;
        quote += buys ? -notional : notional - (int128_t)f->commission * E8;
    }
    const struct broker_account *account = replay_broker_account_of(p->broker, p->account);
    for (size_t i = 0; i < account->n_balances; i++) {
        const struct broker_balance *b = &account->balances[i];
        CHECK(b->free >= 0 && b->locked >= 0);
        CHECK(b->free + b->locked == (strcmp(b->asset, "BTC") == 0 ? base : quote));
        CHECK(b->locked == locked[strcmp(b->asset, "BTC") == 0]);
    }
}

static inline struct broker_terms terms_of(const struct place *p, enum order_side side, enum order_type type,
                                           double qty, double price)
{
    static int number;
    struct broker_terms w = {.account = p->account,
                             .side = side,
                             .type = type,
                             .qty = (int64_t)(qty * E8),
                             .price = (int64_t)(price * E8)};
    snprintf(w.client_id, sizeof(w.client_id), "c%d", ++number);
    return w;
}

static inline const struct broker_order *placed(struct place *p, const struct broker_terms *w)
{
    const struct broker_order *order = NULL;
    CHECK_INT(replay_broker_place(p->broker, w, &order), BROKER_TAKEN);
    check_sums(p);
    return order;
}

static inline void refused(struct place *p, const struct broker_terms *w, enum broker_refusal why)
{
    const struct broker_order *order = NULL;
    CHECK_INT(replay_broker_place(p->broker, w, &order), why);
    check_sums(p);
}

#endif
