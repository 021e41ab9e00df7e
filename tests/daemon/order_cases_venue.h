/* A venue for tests of daemon/execution/order_cases.h: orders, fills, two balances, and what it pushes as
 * user data. Time is a number; prices are 1, so that a quantity is also an amount. */
#ifndef TESTS_DAEMON_ORDER_CASES_VENUE_H
#define TESTS_DAEMON_ORDER_CASES_VENUE_H

#include <stdio.h>
#include <string.h>

#include "exchange/venue_account.h"
#include "tests/random.h"

enum { MODEL_ORDERS = 64, MODEL_FILLS = 6 };
#define MS INT64_C(1000000)
#define S  (1000 * MS)

struct model_order {
    char client_id[ORDER_CLIENT_ID_MAX], id[VENUE_ORDER_ID_MAX];
    enum order_side side;
    enum order_type type;
    enum venue_order_state state;
    int64_t qty, filled;
    int64_t fills[MODEL_FILLS]; /* quantities */
    int n_fills;
    int64_t at_ns; /* when it came */
};

struct model_venue {
    struct random *random;
    bool id_for_life;
    const struct symbol *symbol;
    struct model_order orders[MODEL_ORDERS];
    int n;
    int wiped; /* so many orders were wiped */
    int64_t base, quote;
    int64_t now_ns;
    /* User data as it happens. */
    void (*pushed)(void *ctx, const struct venue_order *order, const struct venue_fill *fill);
    void *ctx;
};

static inline bool model_live(const struct model_order *order)
{
    return order->state == VENUE_ORDER_NEW || order->state == VENUE_ORDER_PARTIAL;
}

/* As a testnet's now and then: its orders are gone, and what the account holds is what it began with. */
static inline void model_wipe(struct model_venue *venue, int64_t base, int64_t quote)
{
    venue->wiped += venue->n;
    venue->n = 0;
    venue->base = base;
    venue->quote = quote;
}

/* The newest of that id. */
static inline struct model_order *model_find(struct model_venue *venue, const char *client_id)
{
    for (int i = venue->n - 1; i >= 0; i--)
        if (strcmp(venue->orders[i].client_id, client_id) == 0)
            return &venue->orders[i];
    return NULL;
}

static inline struct model_order *model_by_id(struct model_venue *venue, const char *id)
{
    for (int i = 0; i < venue->n; i++)
        if (strcmp(venue->orders[i].id, id) == 0)
            return &venue->orders[i];
    return NULL;
}

static inline int model_count(const struct model_venue *venue, const char *client_id)
{
    int count = 0;
    for (int i = 0; i < venue->n; i++)
        count += strcmp(venue->orders[i].client_id, client_id) == 0;
    return count;
}

static inline struct venue_order model_order_of(const struct model_venue *venue,
                                                const struct model_order *order)
{
    struct venue_order ret = {.symbol = venue->symbol,
                              .state = order->state,
                              .side = order->side,
                              .type = order->type,
                              .qty = order->qty,
                              .filled = order->filled,
                              .ts_ns = venue->now_ns};
    snprintf(ret.client_id, sizeof ret.client_id, "%s", order->client_id);
    snprintf(ret.id, sizeof ret.id, "%s", order->id);
    return ret;
}

static inline struct venue_fill model_fill_of(const struct model_venue *venue,
                                              const struct model_order *order, int i)
{
    struct venue_fill ret = {.symbol = venue->symbol,
                             .side = order->side,
                             .price = 1,
                             .qty = order->fills[i],
                             .notional = order->fills[i],
                             .ts_ns = venue->now_ns};
    snprintf(ret.client_id, sizeof ret.client_id, "%s", order->client_id);
    snprintf(ret.order_id, sizeof ret.order_id, "%s", order->id);
    snprintf(ret.trade_id, sizeof ret.trade_id, "%s-%d", order->id, i);
    for (int k = 0; k <= i; k++)
        ret.cumulative += order->fills[k];
    return ret;
}

static inline void model_push(struct model_venue *venue, const struct model_order *order)
{
    struct venue_order said = model_order_of(venue, order);
    venue->pushed(venue->ctx, &said, NULL);
}

static inline void model_trade(struct model_venue *venue, struct model_order *order, int64_t qty)
{
    order->fills[order->n_fills++] = qty;
    order->filled += qty;
    order->state = order->filled == order->qty ? VENUE_ORDER_FILLED : VENUE_ORDER_PARTIAL;
    venue->base += order->side == ORDER_BUY ? qty : -qty;
    venue->quote -= order->side == ORDER_BUY ? qty : -qty;
    struct venue_fill fill = model_fill_of(venue, order, order->n_fills - 1);
    venue->pushed(venue->ctx, NULL, &fill);
    model_push(venue, order);
}

/* Some of what is left of it, or all. */
static inline void model_trade_some(struct model_venue *venue, struct model_order *order)
{
    int64_t left = order->qty - order->filled;
    bool all = order->n_fills == MODEL_FILLS - 1 || random_chance(venue->random, 40);
    model_trade(venue, order, all ? left : random_between(venue->random, 1, left));
}

/* VENUE_DONE with the order, EXISTS, or REFUSED. */
static inline enum venue_outcome model_place(struct model_venue *venue, const struct order *order,
                                             const char *client_id)
{
    struct model_order *known = model_find(venue, client_id);
    if (known && (venue->id_for_life || model_live(known)))
        return VENUE_EXISTS;
    if (order->price == 13) /* a filter's */
        return VENUE_REFUSED;
    struct model_order *it = &venue->orders[venue->n++];
    *it = (struct model_order){.side = order->side,
                               .type = order->type,
                               .state = VENUE_ORDER_NEW,
                               .qty = order->qty,
                               .at_ns = venue->now_ns};
    snprintf(it->client_id, sizeof it->client_id, "%s", client_id);
    snprintf(it->id, sizeof it->id, "%d", 1000 + venue->wiped + venue->n);
    model_push(venue, it);
    while (it->type == ORDER_MARKET && model_live(it))
        model_trade_some(venue, it);
    return VENUE_DONE;
}

static inline enum venue_outcome model_cancel(struct model_venue *venue, const char *client_id)
{
    struct model_order *it = model_find(venue, client_id);
    if (!it || !model_live(it))
        return venue->id_for_life && it ? VENUE_REFUSED : VENUE_ABSENT;
    it->state = VENUE_ORDER_CANCELED;
    model_push(venue, it);
    return VENUE_DONE;
}

#endif
