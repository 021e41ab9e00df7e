/* A market at 60,000 and short helpers for ALICE's orders, for tests whose numbers are computed by hand. */
#ifndef TESTS_ENGINE_BY_HAND_H
#define TESTS_ENGINE_BY_HAND_H

#include "tests/engine/harness.h"

#define USDT (E8)
#define BTC  (E8)

static struct harness h;

/* A million USDT; what a test sets more comes before the market opens. */
static inline void init_rich(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
}

/* A market at 60,000, by quotes: 2 BTC wanted at 59,999, 1 BTC offered at 60,000. */
static inline void open_quoted(void)
{
    init_rich();
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

/* A market at 60,000, by a book of three levels a side. */
static inline void open_book(void)
{
    struct book_level bids[] = {{59990 * USDT, BTC}, {59980 * USDT, 2 * BTC}, {59970 * USDT, 3 * BTC}};
    struct book_level asks[] = {{60000 * USDT, BTC}, {60010 * USDT, 2 * BTC}, {60020 * USDT, 3 * BTC}};
    harness_open(&h);
    CHECK_INT(snapshot(&h, BTCUSDT, 1000, bids, 3, asks, 3), 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

static inline void open_booked(void)
{
    init_rich();
    open_book();
}

/* The phase of the stocks' calendar from a moment on. */
static inline void phase_at(enum market_phase phase, int64_t now_ns, int64_t next_ns, bool extended)
{
    struct event event = {
        .kind = EVENT_SESSION,
        .session = {.calendar = "us-equity", .phase = phase, .next_ns = next_ns, .extended = extended}};
    uint64_t before = h.sessions;
    h.now_ns = now_ns;
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_INT(h.sessions, before + 1);
}

/* That there ever were. */
static inline uint64_t n_orders(void)
{
    struct engine_ids ids;
    engine_ids(h.engine, &ids);
    return ids.last_order;
}

static inline struct order order_of(enum order_side side, enum order_type type, int64_t qty)
{
    return (struct order){
        .account = ALICE, .symbol = BTCUSDT, .side = side, .type = type, .qty = qty, .by_hand = true};
}

static inline struct order limit(enum order_side side, int64_t qty, int64_t price)
{
    struct order request = order_of(side, ORDER_LIMIT, qty);
    request.price = price;
    return request;
}

static inline struct order stop(enum order_side side, int64_t qty, int64_t stop_price)
{
    struct order request = order_of(side, ORDER_STOP, qty);
    request.stop_price = stop_price;
    return request;
}

/* Gives the account coins at 60,000 without a seller. */
static inline void hold(int64_t qty)
{
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 100 * BTC);
    ask(&h, order_of(ORDER_BUY, ORDER_MARKET, qty));
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], qty);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60001 * USDT, BTC); /* what was taken is forgotten */
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
}

static inline uint64_t rested(struct order request)
{
    uint64_t id = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    return id;
}

static inline void sees(uint64_t id, enum order_state state, enum order_reason reason)
{
    CHECK_STR(order_state_name(reported(&h, id)->state), order_state_name(state));
    CHECK_STR(order_reason_name(reported(&h, id)->reason), order_reason_name(reason));
}

/* An entry with a stop and a profit to take. */
static inline uint64_t bracket(struct order entry)
{
    struct order legs[] = {entry, limit(ORDER_SELL, 0, 61000 * USDT), stop(ORDER_SELL, 0, 59000 * USDT)};
    uint64_t id = group(&h, ORDERS_BRACKET, legs, 3);
    CHECK_INT(h.command_reason, ORDER_OK);
    return id;
}

#endif
