/* Orders at random on a small market: every type, time in force and group, and amends of what is live. Prices
 * are near the middle, so that much trades; some are nonsense. */
#ifndef TESTS_ENGINE_RANDOM_ORDERS_H
#define TESTS_ENGINE_RANDOM_ORDERS_H

#include "tests/engine/market.h"

static inline void random_type(struct harness *h, const struct small_market *market, struct random *random,
                               struct order *request)
{
    request->type = (enum order_type)random_between(random, 0, ORDER_TYPES - 1);
    request->tif =
        random_chance(random, 60) ? ORDER_GTC : (enum order_tif)random_between(random, 0, ORDER_GTD);
    request->price = market_price(market, market->middle + (int)random_between(random, -8, 8));
    request->stop_price = market_price(market, market->middle + (int)random_between(random, -8, 8));
    request->trail = request->trail_e6 = 0;
    request->expires_ns = 0;
    if (random_chance(random, 50))
        request->trail = random_between(random, 1, 8) * market->tick;
    else
        request->trail_e6 = (int32_t)random_between(random, 1, 5000);
    if (order_is_stop(request->type) && random_chance(random, 90))
        request->tif = random_chance(random, 50) ? ORDER_DAY : ORDER_GTC;
    if (request->type == ORDER_MARKET && random_chance(random, 90))
        request->tif = (enum order_tif)random_between(random, ORDER_GTC, ORDER_FOK);
    if (request->tif == ORDER_GTD)
        request->expires_ns = h->now_ns + random_between(random, 0, 20 * SECOND_NS);
    request->post_only =
        request->type == ORDER_LIMIT && request->tif == ORDER_GTC && random_chance(random, 15);
    request->reduce_only = random_chance(random, 10);
}

static inline void random_group(struct harness *h, const struct small_market *market, struct random *random,
                                struct order first)
{
    bool bracket = random_chance(random, 60);
    struct order legs[ORDER_LEGS_MAX] = {first, first, first};
    int n = bracket ? (int)random_between(random, 2, 3) : 2;
    for (int i = bracket; i < n; i++) {
        struct order *leg = &legs[i];
        random_type(h, market, random, leg);
        if (i > 0)
            leg->client_id[0] = '\0';
        if (leg->type == ORDER_MARKET)
            leg->type = ORDER_STOP;
        if (leg->tif == ORDER_IOC || leg->tif == ORDER_FOK)
            leg->tif = ORDER_GTC;
        leg->reduce_only = legs[bracket].reduce_only;
        leg->tif = legs[bracket].tif;
        leg->expires_ns = legs[bracket].expires_ns;
        leg->side = bracket ? (enum order_side) !first.side : first.side;
    }
    if (bracket)
        legs[0].reduce_only = false;
    group(h, bracket ? ORDERS_BRACKET : ORDERS_OCO, legs, n);
}

static inline void random_amend(struct harness *h, const struct small_market *markets, struct random *random)
{
    if (engine_orders(h->engine) == 0)
        return;
    const struct order *order = engine_order(h->engine, random_next(random) % engine_orders(h->engine));
    const struct small_market *market = &markets[order->symbol];
    struct order_amend change = {.order_id = order->id, .set = (unsigned)random_between(random, 1, 31)};
    if (random_chance(random, 80)) /* one that its type has */
        change.set = order->type == ORDER_TRAILING_STOP ? AMEND_TRAIL
                     : order_is_stop(order->type)       ? AMEND_STOP
                                                        : AMEND_PRICE;
    if (random_chance(random, 30))
        change.set = AMEND_QTY;
    int64_t most = order->qty < INT64_MAX / 2 ? order->qty : INT64_MAX / 2;
    change.qty = random_between(random, 1, most / 500 + 1) * 1000;
    change.price = market_price(market, market->middle + (int)random_between(random, -8, 8));
    change.stop_price = market_price(market, market->middle + (int)random_between(random, -8, 8));
    change.trail = random_between(random, 1, 8) * market->tick;
    change.trail_e6 = (int32_t)random_between(random, 1, 5000);
    amend(h, change);
}

static inline void random_order(struct harness *h, struct small_market *markets, struct random *random)
{
    int account = (int)random_between(random, 0, h->config.n_accounts - 1);
    int symbol = (int)random_between(random, 0, h->config.n_symbols - 1);
    enum order_side side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL;
    struct order request = {.account = account, .symbol = symbol, .side = side, .by_hand = true};
    int64_t qty = random_between(random, 1, random_chance(random, 50) ? 500 : 20000) * 1000;
    int64_t held = h->position[account][symbol];
    if (side == ORDER_SELL && held > 0 && random_chance(random, 60))
        qty = random_chance(random, 50) ? held : random_between(random, 1, held);
    if (h->symbols[symbol].filters.step != 0)
        qty -= random_chance(random, 90) ? qty % 1000 : 0;
    else
        qty += random_between(random, 0, 999);
    if (random_chance(random, 2))
        qty = (int64_t)random_next(random);
    request.qty = qty;
    random_type(h, &markets[symbol], random, &request);
    if (random_chance(random, 1))
        request.price = request.stop_price =
            market_price(&markets[symbol], -(int)random_between(random, 0, 1000000));
    if (random_chance(random, 20))
        snprintf(request.client_id, sizeof request.client_id, "id %d", (int)random_between(random, 0, 20));
    if (random_chance(random, 35))
        random_group(h, &markets[symbol], random, request);
    else
        ask(h, request);
}

#endif
