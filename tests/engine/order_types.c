/* Each order type and rule of the paper exchange, with numbers that one can check by hand. */
#include "tests/engine/harness.h"

#define USDT (E8)
#define BTC  (E8)

static struct harness h;

/* A market at 60,000, by quotes: 2 BTC wanted at 59,999, 1 BTC offered at 60,000. */
static void open_quoted(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

/* The same by a book of three levels a side. */
static void open_booked(void)
{
    struct book_level bids[] = {{59990 * USDT, BTC}, {59980 * USDT, 2 * BTC}, {59970 * USDT, 3 * BTC}};
    struct book_level asks[] = {{60000 * USDT, BTC}, {60010 * USDT, 2 * BTC}, {60020 * USDT, 3 * BTC}};
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    CHECK_INT(snapshot(&h, BTCUSDT, 1000, bids, 3, asks, 3), 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

static struct order_request wish(enum order_side side, enum order_type type, int64_t qty)
{
    return (struct order_request){
        .account = ALICE, .symbol = BTCUSDT, .side = side, .type = type, .qty = qty, .by_hand = true};
}

static struct order_request limit(enum order_side side, int64_t qty, int64_t price)
{
    struct order_request request = wish(side, ORDER_LIMIT, qty);
    request.price = price;
    return request;
}

static struct order_request stop(enum order_side side, int64_t qty, int64_t stop_price)
{
    struct order_request request = wish(side, ORDER_STOP, qty);
    request.stop_price = stop_price;
    return request;
}

/* Gives the account coins at 60,000 that nobody had to sell. */
static void hold(int64_t qty)
{
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 100 * BTC);
    ask(&h, wish(ORDER_BUY, ORDER_MARKET, qty));
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], qty);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60001 * USDT, BTC); /* what was taken is forgotten */
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
}

static uint64_t rested(struct order_request request)
{
    uint64_t id = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    return id;
}

static void sees(uint64_t id, enum order_state state, enum order_reason reason)
{
    CHECK_STR(order_state_name(told(&h, id)->state), order_state_name(state));
    CHECK_STR(order_reason_name(told(&h, id)->reason), order_reason_name(reason));
}

static void test_stop_limit(void)
{
    open_quoted();
    hold(BTC);
    struct order_request request = stop(ORDER_SELL, BTC, 59500 * USDT);
    request.type = ORDER_STOP_LIMIT;
    request.price = 59450 * USDT;
    uint64_t id = rested(request);
    quote(&h, BTCUSDT, 59400 * USDT, BTC, 59500 * USDT, BTC);
    trade(&h, BTCUSDT, 59500 * USDT + E8 / 100, BTC);
    CHECK(!told(&h, id)->triggered);
    trade(&h, BTCUSDT, 59500 * USDT, BTC);
    CHECK(told(&h, id)->triggered);
    sees(id, ORDER_OPEN, ORDER_OK); /* 59400 is bid, not 59450 */
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC);
    quote(&h, BTCUSDT, 59460 * USDT, BTC / 4, 59500 * USDT, BTC); /* the bid comes up to it */
    sees(id, ORDER_PARTIAL, ORDER_OK);
    CHECK_INT(h.last_fill.price, 59450 * USDT);
    CHECK(h.last_fill.maker);
    trade(&h, BTCUSDT, 59451 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);

    /* A buyer's, that finds its price on triggering. */
    request = stop(ORDER_BUY, BTC, 59600 * USDT);
    request.type = ORDER_STOP_LIMIT;
    request.price = 59700 * USDT;
    id = rested(request);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59700 * USDT + 59700 * USDT / 1000);
    quote(&h, BTCUSDT, 59590 * USDT, BTC, 59650 * USDT, BTC / 2);
    trade(&h, BTCUSDT, 59600 * USDT, BTC);
    sees(id, ORDER_PARTIAL, ORDER_OK);
    CHECK_INT(h.last_fill.price, 59650 * USDT);
    CHECK(!h.last_fill.maker);
    harness_close(&h);
}

static void test_take_profit(void)
{
    open_quoted();
    hold(BTC);
    struct order_request request = stop(ORDER_SELL, BTC / 2, 60500 * USDT);
    request.type = ORDER_TAKE_PROFIT;
    uint64_t market = rested(request);
    request.type = ORDER_TAKE_PROFIT_LIMIT;
    request.price = 60490 * USDT;
    uint64_t limited = rested(request);
    quote(&h, BTCUSDT, 60480 * USDT, BTC, 60510 * USDT, BTC);
    trade(&h, BTCUSDT, 60499 * USDT, BTC);
    sees(market, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60500 * USDT, BTC);
    sees(market, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60480 * USDT);
    CHECK(!h.last_fill.maker);
    sees(limited, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60495 * USDT, BTC);
    sees(limited, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60490 * USDT);
    /* A buyer's waits for a fall; one that the market has reached already goes at once. */
    request = stop(ORDER_BUY, BTC / 2, 60000 * USDT);
    request.type = ORDER_TAKE_PROFIT;
    market = rested(request);
    trade(&h, BTCUSDT, 60001 * USDT, BTC);
    sees(market, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(market, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60510 * USDT);
    market = rested(request);
    sees(market, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

static void test_trailing(void)
{
    open_quoted();
    hold(BTC);
    struct order_request request = wish(ORDER_SELL, ORDER_TRAILING_STOP, BTC / 2);
    request.trail = 100 * USDT;
    uint64_t id = rested(request);
    CHECK_INT(told(&h, id)->peak, 60000 * USDT); /* the last trade */
    CHECK_INT(told(&h, id)->stop_price, 59900 * USDT);
    trade(&h, BTCUSDT, 59950 * USDT, BTC); /* down: it stays */
    CHECK_INT(told(&h, id)->stop_price, 59900 * USDT);
    trade(&h, BTCUSDT, 60250 * USDT, BTC); /* up: it follows */
    CHECK_INT(told(&h, id)->peak, 60250 * USDT);
    CHECK_INT(told(&h, id)->stop_price, 60150 * USDT);
    trade(&h, BTCUSDT, 60151 * USDT, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60150 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 59999 * USDT);

    /* A share of the peak: 0.3333 % of 60,000.07 is 199.98 and a bit; away from the market, on the tick. */
    trade(&h, BTCUSDT, 6000007000000, BTC);
    request.trail = 0;
    request.trail_e6 = 3333;
    id = rested(request);
    CHECK_INT(told(&h, id)->stop_price, 5980008000000); /* 59,800.08976… down */
    trade(&h, BTCUSDT, 5980009000000, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 5980008000000, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);

    /* A buyer's follows downward; its reserve with it. */
    request = wish(ORDER_BUY, ORDER_TRAILING_STOP, BTC);
    request.trail_e6 = 10000;
    id = rested(request);
    CHECK_INT(told(&h, id)->stop_price, 6039809000000); /* 59,800.08 · 1.01 = 60,398.0808 up */
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    CHECK_INT(told(&h, id)->stop_price, 59590 * USDT);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59590 * USDT + 59590 * USDT / 1000);
    trade(&h, BTCUSDT, 59590 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60000 * USDT);
    harness_close(&h);

    /* Before the first trade there is nothing to follow. */
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    request = wish(ORDER_BUY, ORDER_TRAILING_STOP, BTC);
    request.trail = 10 * USDT;
    id = rested(request);
    CHECK_INT(told(&h, id)->stop_price, 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK_INT(told(&h, id)->stop_price, 60010 * USDT);
    harness_close(&h);
}

static void test_ioc(void)
{
    open_booked();
    struct order_request request = limit(ORDER_BUY, 4 * BTC, 60010 * USDT);
    request.tif = ORDER_IOC;
    uint64_t id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_INT(told(&h, id)->filled, 3 * BTC);
    CHECK_INT(told(&h, id)->cost, (60000 + 2 * 60010) * USDT);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    request = wish(ORDER_SELL, ORDER_MARKET, 3 * BTC);
    request.tif = ORDER_IOC;
    id = rested(request);
    sees(id, ORDER_FILLED, ORDER_OK);
    request = limit(ORDER_SELL, BTC, 70000 * USDT);
    request.tif = ORDER_IOC;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    request = limit(ORDER_BUY, BTC, 50000 * USDT); /* nothing crosses */
    request.tif = ORDER_IOC;
    id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_INT(told(&h, id)->filled, 0);
    harness_close(&h);
}

static void test_fok(void)
{
    open_booked();
    struct order_request request = limit(ORDER_BUY, 3 * BTC + 1000, 60010 * USDT);
    request.tif = ORDER_FOK;
    uint64_t id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_INT(told(&h, id)->filled, 0);
    request.qty = 3 * BTC;
    id = rested(request);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(told(&h, id)->cost, (60000 + 2 * 60010) * USDT);
    request = wish(ORDER_BUY, ORDER_MARKET, 3 * BTC + 1000); /* three are left, at 60020 */
    request.tif = ORDER_FOK;
    id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    request.qty = 3 * BTC;
    id = rested(request);
    sees(id, ORDER_FILLED, ORDER_OK);
    /* It can be had, but not be paid: BOB has 10,000. */
    request = wish(ORDER_BUY, ORDER_MARKET, BTC / 8);
    request.account = BOB;
    request.tif = ORDER_FOK;
    id = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    struct book_level asks[] = {
        {60000 * USDT, BTC / 80}, {60010 * USDT, 0}, {60020 * USDT, 0}, {90000 * USDT, BTC}};
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, NULL, 0, asks, 4), 0);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(cash(&h, BOB), 10000 * USDT);
    harness_close(&h);
}

/* At its own moment, before what happens then. */
static void test_expiry(void)
{
    open_quoted();
    hold(BTC);
    struct order_request request = limit(ORDER_BUY, BTC / 10, 59000 * USDT);
    request.tif = ORDER_GTD;
    request.expires_ns = h.now_ns + 50 * MS_NS; /* it would not be there before */
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_BAD_TIF);
    request.expires_ns = h.now_ns + 10 * SECOND_NS;
    uint64_t gtd = rested(request);
    int64_t expires_ns = told(&h, gtd)->expires_ns;
    h.now_ns = expires_ns - 1;
    pass(&h, 0);
    sees(gtd, ORDER_OPEN, ORDER_OK);
    h.now_ns = expires_ns;
    trade(&h, BTCUSDT, 58000 * USDT, BTC); /* too late to fill it */
    sees(gtd, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(told(&h, gtd)->filled, 0);
    CHECK_INT(told(&h, gtd)->updated_ns, expires_ns);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);

    /* A day ends at midnight UTC: START is six minutes before. */
    request = limit(ORDER_BUY, BTC / 10, 57000 * USDT);
    request.tif = ORDER_DAY;
    uint64_t day = rested(request);
    struct order_request protect = stop(ORDER_SELL, BTC, 50000 * USDT);
    protect.tif = ORDER_DAY;
    uint64_t protection = rested(protect);
    int64_t midnight_ns = START_NS + 6 * MINUTE_NS;
    CHECK_INT(told(&h, day)->expires_ns, midnight_ns);
    trade(&h, BTCUSDT, 56999 * USDT, BTC / 20);
    sees(day, ORDER_PARTIAL, ORDER_OK);
    h.now_ns = midnight_ns + 3 * MINUTE_NS; /* long after: it ended when it ended */
    pass(&h, 0);
    sees(day, ORDER_EXPIRED, ORDER_OK);
    sees(protection, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(told(&h, day)->updated_ns, midnight_ns);
    CHECK_INT(told(&h, day)->filled, BTC / 20);
    CHECK_INT(engine_orders(h.engine), 0);
    /* On its way over midnight: the new day's. */
    h.now_ns = midnight_ns + 24 * 60 * MINUTE_NS - 10 * MS_NS;
    day = rested(request);
    CHECK_INT(told(&h, day)->expires_ns, midnight_ns + 2 * 24 * 60 * MINUTE_NS);
    sees(day, ORDER_OPEN, ORDER_OK);
    harness_close(&h);
}

static void test_post_only(void)
{
    open_booked();
    struct order_request request = limit(ORDER_BUY, BTC, 60000 * USDT);
    request.post_only = true;
    uint64_t id = rested(request);
    sees(id, ORDER_CANCELED, ORDER_WOULD_TAKE);
    CHECK_INT(h.fills, 0);
    request.price = 60000 * USDT - E8 / 100;
    id = rested(request);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade_by(&h, BTCUSDT, 60000 * USDT - E8 / 100, BTC, true); /* nobody before it, inside the spread */
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK(h.last_fill.maker);
    harness_close(&h);
}

static void test_reduce_only(void)
{
    open_quoted();
    struct order_request request = wish(ORDER_SELL, ORDER_MARKET, BTC);
    request.reduce_only = true;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_REDUCE_ONLY);
    hold(BTC);
    struct order_request protect = stop(ORDER_SELL, BTC, 59000 * USDT);
    protect.reduce_only = true;
    uint64_t first = rested(protect);
    protect.stop_price = 58000 * USDT;
    uint64_t second = rested(protect);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC); /* together, what is held */
    ask(&h, wish(ORDER_SELL, ORDER_MARKET, BTC / 1000));
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    request.qty = 5 * BTC / 4; /* more than there is: what there is */
    uint64_t sale = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    sees(first, ORDER_OPEN, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(sale, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    CHECK_INT(told(&h, sale)->filled, BTC);
    sees(first, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    sees(second, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    CHECK_INT(told(&h, first)->updated_ns, told(&h, sale)->updated_ns);
    CHECK_INT(engine_orders(h.engine), 0);

    /* Half is sold: the stops stay for the other half. */
    hold(BTC);
    first = rested(protect);
    request.qty = BTC / 2;
    rested(request);
    sees(first, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC / 2);
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    sees(first, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    CHECK_INT(told(&h, first)->filled, BTC / 2);
    harness_close(&h);
}

static void test_oco(void)
{
    struct order_request legs[2];
    open_quoted();
    hold(BTC);
    legs[0] = limit(ORDER_SELL, BTC, 61000 * USDT);
    legs[1] = stop(ORDER_SELL, BTC, 59000 * USDT);
    uint64_t id = group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK(told(&h, id)->group == id && told(&h, id + 1)->group == id && told(&h, id)->parent == 0);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC); /* once */
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 61001 * USDT, BTC / 100); /* a hundredth of it trades */
    sees(id, ORDER_PARTIAL, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 99 * BTC / 100);
    trade(&h, BTCUSDT, 61001 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);

    /* Triggered, though nothing trades. */
    hold(BTC);
    legs[1].type = ORDER_STOP_LIMIT;
    legs[1].price = 60500 * USDT;
    id = group(&h, ORDERS_OCO, legs, 2);
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    sees(id, ORDER_CANCELED, ORDER_OTHER_LEG);
    sees(id + 1, ORDER_OPEN, ORDER_OK);
    CHECK(told(&h, id + 1)->triggered);
    cancel(&h, id + 1);
    pass(&h, SECOND_NS);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);

    /* Cancelled by hand: both. */
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    legs[1] = stop(ORDER_SELL, BTC, 59000 * USDT);
    id = group(&h, ORDERS_OCO, legs, 2);
    pass(&h, SECOND_NS);
    cancel(&h, id + 1);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OK);

    /* The first takes on arrival; the other never arrives. */
    legs[0].price = 59999 * USDT;
    id = group(&h, ORDERS_OCO, legs, 2);
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);

    /* One that would take ends alone; a buyer's reserve is the dearer leg's, then what is left. */
    legs[0] = limit(ORDER_BUY, BTC, 60000 * USDT);
    legs[0].post_only = true;
    legs[1] = stop(ORDER_BUY, BTC, 61000 * USDT);
    id = group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 61061 * USDT);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_WOULD_TAKE);
    sees(id + 1, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 61061 * USDT);
    harness_close(&h);
}

/* An entry with a stop and a profit to take. */
static uint64_t bracket(struct order_request entry)
{
    struct order_request legs[] = {entry, limit(ORDER_SELL, 0, 61000 * USDT),
                                   stop(ORDER_SELL, 0, 59000 * USDT)};
    uint64_t id = group(&h, ORDERS_BRACKET, legs, 3);
    CHECK_INT(h.command_reason, ORDER_OK);
    return id;
}

static void test_bracket(void)
{
    open_quoted();
    uint64_t id = bracket(wish(ORDER_BUY, ORDER_MARKET, BTC / 2));
    sees(id, ORDER_PENDING, ORDER_OK);
    sees(id + 1, ORDER_HELD, ORDER_OK);
    sees(id + 2, ORDER_HELD, ORDER_OK);
    CHECK(told(&h, id + 1)->parent == id && told(&h, id + 2)->parent == id && told(&h, id)->parent == 0);
    CHECK(told(&h, id + 1)->reduce_only && told(&h, id + 1)->group == id);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 1, ORDER_OPEN, ORDER_OK); /* at the moment that the entry filled */
    CHECK_INT(told(&h, id + 1)->effective_ns, told(&h, id)->effective_ns);
    CHECK_INT(told(&h, id + 1)->qty, BTC / 2);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC / 2);
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    sees(id + 2, ORDER_FILLED, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);

    /* Part of the entry fills, the rest is cancelled: exits for that part. */
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    id = bracket(limit(ORDER_BUY, BTC, 59900 * USDT));
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 59899 * USDT, BTC / 4);
    sees(id, ORDER_PARTIAL, ORDER_OK);
    sees(id + 2, ORDER_HELD, ORDER_OK);
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    sees(id + 2, ORDER_OPEN, ORDER_OK);
    CHECK_INT(told(&h, id + 2)->qty, BTC / 4);
    CHECK_INT(told(&h, id + 1)->qty, BTC / 4);
    trade(&h, BTCUSDT, 61001 * USDT, BTC);
    sees(id + 1, ORDER_FILLED, ORDER_OK);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);

    /* Nothing fills: the exits end with it. */
    id = bracket(limit(ORDER_BUY, BTC, 58900 * USDT));
    pass(&h, SECOND_NS);
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);

    /* The entry fills where its stop is passed already: it goes at once. */
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    quote(&h, BTCUSDT, 58998 * USDT, BTC, 58999 * USDT, BTC);
    id = bracket(wish(ORDER_BUY, ORDER_MARKET, BTC / 2));
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 2, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 58998 * USDT);

    /* A held exit cancelled takes the other one with it, not the entry. */
    id = bracket(limit(ORDER_BUY, BTC, 58000 * USDT));
    cancel(&h, id + 1);
    pass(&h, SECOND_NS);
    sees(id + 1, ORDER_CANCELED, ORDER_OK);
    sees(id + 2, ORDER_CANCELED, ORDER_OK);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK_INT(engine_orders(h.engine), 1);
    harness_close(&h);
}

static void test_bad_groups(void)
{
    open_quoted();
    hold(BTC);
    struct order_request a = limit(ORDER_SELL, BTC / 4, 61000 * USDT),
                         b = stop(ORDER_SELL, BTC / 4, 59000 * USDT);
    struct order_request entry = wish(ORDER_BUY, ORDER_MARKET, BTC / 4);
    static const struct {
        enum order_grouping grouping;
        int n;
    } counts[] = {{ORDERS_SINGLE, 2},   {ORDERS_OCO, 1},    {ORDERS_OCO, 3},    {ORDERS_BRACKET, 1},
                  {ORDER_GROUPINGS, 1}, {ORDERS_SINGLE, 0}, {ORDERS_SINGLE, -1}};
    struct order_request legs[3] = {a, b, b};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        group(&h, counts[i].grouping, legs, counts[i].n < 0 ? 0 : counts[i].n);
        CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    }
#define REFUSED_OCO(change, why) \
    do { \
        legs[0] = a; \
        legs[1] = b; \
        change; \
        uint64_t id = group(&h, ORDERS_OCO, legs, 2); \
        CHECK_INT(h.command_reason, why); \
        if (id) { \
            sees(id, ORDER_REJECTED, why); \
            sees(id + 1, ORDER_REJECTED, why); \
        } \
    } while (0)
    REFUSED_OCO(legs[1].account = BOB, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[1].symbol = ETHUSDT, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[1].side = ORDER_BUY, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[1].type = ORDER_MARKET, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[0].tif = ORDER_FOK, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[0].tif = ORDER_DAY, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[0].reduce_only = true, ORDER_BAD_GROUP);
    REFUSED_OCO(legs[1].qty = 1001, ORDER_LOT_SIZE);
    REFUSED_OCO(legs[1].qty = 2 * BTC, ORDER_INSUFFICIENT_BALANCE);
    REFUSED_OCO(snprintf(legs[0].client_id, 4, "x"); snprintf(legs[1].client_id, 4, "x"), ORDER_BAD_GROUP);
    struct order_request exits[] = {entry, a, b};
#define REFUSED_BRACKET(change) \
    do { \
        memcpy(legs, exits, sizeof legs); \
        change; \
        group(&h, ORDERS_BRACKET, legs, 3); \
        CHECK_INT(h.command_reason, ORDER_BAD_GROUP); \
    } while (0)
    REFUSED_BRACKET(legs[0].reduce_only = true; legs[0].side = ORDER_SELL;
                    legs[1].side = legs[2].side = ORDER_BUY);
    REFUSED_BRACKET(legs[1].side = ORDER_BUY);
    REFUSED_BRACKET(legs[2].symbol = ETHUSDT);
    REFUSED_BRACKET(legs[1].qty = BTC / 8);
    REFUSED_BRACKET(legs[2].type = ORDER_MARKET);
    REFUSED_BRACKET(legs[2].tif = ORDER_DAY);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);
    harness_close(&h);
}

/* Which types can be good for how long: rows types, columns GTC IOC FOK DAY GTD. */
static void test_times_in_force(void)
{
    static const char *const may[ORDER_TYPES] = {
        [ORDER_MARKET] = "yyy--",        [ORDER_LIMIT] = "yyyyy",       [ORDER_STOP] = "y--yy",
        [ORDER_STOP_LIMIT] = "y--yy",    [ORDER_TAKE_PROFIT] = "y--yy", [ORDER_TAKE_PROFIT_LIMIT] = "y--yy",
        [ORDER_TRAILING_STOP] = "y--yy",
    };
    open_quoted();
    for (int type = 0; type < ORDER_TYPES; type++)
        for (int tif = 0; tif < ORDER_TIFS; tif++)
            for (int post = 0; post < 2; post++) {
                struct order_request request = wish(ORDER_BUY, (enum order_type)type, BTC / 1000);
                request.tif = (enum order_tif)tif;
                request.price = 50000 * USDT;
                request.stop_price = 70000 * USDT;
                request.trail = type == ORDER_TRAILING_STOP ? 100 * USDT : 0;
                request.post_only = post;
                request.expires_ns = tif == ORDER_GTD ? h.now_ns + MINUTE_NS : 0;
                bool fits = may[type][tif] == 'y' &&
                            (!post || (type == ORDER_LIMIT && tif != ORDER_IOC && tif != ORDER_FOK));
                uint64_t id = ask(&h, request);
                CHECK_INT(h.command_reason, fits ? ORDER_OK : ORDER_BAD_TIF);
                cancel(&h, id);
                pass(&h, SECOND_NS);
            }
    struct order_request request = limit(ORDER_BUY, BTC / 1000, 50000 * USDT);
    request.expires_ns = h.now_ns + MINUTE_NS; /* of an order that is good till cancelled */
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_BAD_TIF);
    static const struct {
        int64_t trail;
        int32_t trail_e6;
    } bad[] = {{0, 0}, {-1, 0}, {100, 5}, {0, -5}, {0, 1000000}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        request = wish(ORDER_BUY, ORDER_TRAILING_STOP, BTC / 1000);
        request.trail = bad[i].trail;
        request.trail_e6 = bad[i].trail_e6;
        ask(&h, request);
        CHECK_INT(h.command_reason, ORDER_BAD_PRICE);
    }
    request = stop(ORDER_BUY, BTC / 1000, 0);
    for (int type = ORDER_STOP; type <= ORDER_TAKE_PROFIT_LIMIT; type++) {
        request.type = (enum order_type)type;
        request.price = 60000 * USDT;
        request.stop_price = 0;
        ask(&h, request);
        CHECK_INT(h.command_reason, ORDER_BAD_PRICE);
        request.stop_price = 60000 * USDT + 1;
        ask(&h, request);
        CHECK_INT(h.command_reason, ORDER_PRICE_FILTER);
    }
    request.type = ORDER_STOP_LIMIT;
    request.stop_price = 60000 * USDT;
    request.price = 0;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_BAD_PRICE);
    /* Numbers that are none of the enumerations. */
    request.type = ORDER_TYPES;
    CHECK_INT(ask(&h, request), 0);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    request.type = ORDER_LIMIT;
    request.tif = (enum order_tif)77;
    CHECK_INT(ask(&h, request), 0);
    CHECK_INT(h.command_reason, ORDER_BAD_TIF);
    harness_close(&h);
}

static void test_client_ids(void)
{
    open_quoted();
    struct order_request request = limit(ORDER_BUY, BTC / 100, 59000 * USDT);
    snprintf(request.client_id, sizeof request.client_id, "mine");
    uint64_t id = rested(request);
    CHECK_STR(told(&h, id)->client_id, "mine");
    CHECK_INT(engine_find_client_order(h.engine, ALICE, "mine")->id, id);
    uint64_t again = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_DUPLICATE_ID);
    sees(again, ORDER_REJECTED, ORDER_DUPLICATE_ID);
    CHECK_STR(told(&h, again)->client_id, "");
    request.account = BOB;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    request.account = ALICE;
    cancel(&h, id);
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_DUPLICATE_ID); /* it is live until the cancel arrives */
    pass(&h, SECOND_NS);
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    harness_close(&h);
}

static void test_queue(void)
{
    open_booked();
    /* Two coins stand before us at 59980. */
    uint64_t id = rested(limit(ORDER_BUY, BTC, 59980 * USDT));
    trade_by(&h, BTCUSDT, 59980 * USDT, 3 * BTC / 2, true);
    CHECK_INT(told(&h, id)->filled, 0);
    trade_by(&h, BTCUSDT, 59980 * USDT, 5 * BTC, false); /* on the other side: nothing to us */
    CHECK_INT(told(&h, id)->filled, 0);
    trade_by(&h, BTCUSDT, 59980 * USDT, 3 * BTC / 4, true); /* half a coin was left before us */
    CHECK_INT(told(&h, id)->filled, BTC / 4);
    CHECK_INT(h.last_fill.price, 59980 * USDT);
    CHECK(h.last_fill.maker);
    trade_by(&h, BTCUSDT, 59980 * USDT, BTC / 4, true); /* we stand first */
    CHECK_INT(told(&h, id)->filled, BTC / 2);
    trade_by(&h, BTCUSDT, 59979 * USDT, BTC, false); /* through us, whoever took */
    sees(id, ORDER_FILLED, ORDER_OK);

    /* Others cancel: what is shown bounds what stands before us. */
    id = rested(limit(ORDER_BUY, BTC, 59970 * USDT));
    struct book_level bid = {59970 * USDT, BTC / 2};
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, &bid, 1, NULL, 0), 0);
    bid.qty = 9 * BTC; /* who comes later stands behind */
    CHECK_INT(depth(&h, BTCUSDT, 1002, 1002, &bid, 1, NULL, 0), 0);
    trade_by(&h, BTCUSDT, 59970 * USDT, BTC, true);
    CHECK_INT(told(&h, id)->filled, BTC / 2);

    /* Beyond what the book shows nobody knows; an order of ours behind ours is not before it. */
    uint64_t deep = rested(limit(ORDER_BUY, BTC, 59960 * USDT));
    trade_by(&h, BTCUSDT, 59960 * USDT, 9 * BTC, true);
    CHECK_INT(told(&h, deep)->filled, 0);
    sees(id, ORDER_FILLED, ORDER_OK); /* the same trade went through this one */
    trade_by(&h, BTCUSDT, 59959 * USDT, BTC / 4, true);
    CHECK_INT(told(&h, deep)->filled, BTC / 4);
    bid = (struct book_level){59960 * USDT, BTC / 8}; /* now it is shown */
    CHECK_INT(depth(&h, BTCUSDT, 1003, 1003, &bid, 1, NULL, 0), 0);
    trade_by(&h, BTCUSDT, 59960 * USDT, BTC / 4, true);
    CHECK_INT(told(&h, deep)->filled, 3 * BTC / 8);
    /* One trade between two of an account's orders: never more than it had. */
    uint64_t behind = rested(limit(ORDER_BUY, BTC, 59960 * USDT)); /* an eighth before it */
    trade_by(&h, BTCUSDT, 59960 * USDT, 3 * BTC / 4, true);
    CHECK_INT(told(&h, deep)->filled, BTC); /* 5/8 */
    sees(deep, ORDER_FILLED, ORDER_OK);
    CHECK_INT(told(&h, behind)->filled, 0); /* 3/4 - 1/8 before it - 5/8 */
    trade_by(&h, BTCUSDT, 59960 * USDT, BTC / 8, true);
    CHECK_INT(told(&h, behind)->filled, BTC / 8);
    harness_close(&h);

    /* By the best quote alone: at it, inside, beyond. */
    open_quoted();
    uint64_t at = rested(limit(ORDER_BUY, BTC / 2, 59999 * USDT));
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60001 * USDT, BTC);
    uint64_t inside = rested(limit(ORDER_BUY, BTC / 2, 60000 * USDT));
    uint64_t beyond = rested(limit(ORDER_BUY, BTC / 2, 59998 * USDT));
    trade_by(&h, BTCUSDT, 60000 * USDT, BTC / 4, true);
    CHECK_INT(told(&h, inside)->filled, BTC / 4);
    trade_by(&h, BTCUSDT, 59999 * USDT, 2 * BTC, true); /* through one, at the other, whose queue it takes */
    CHECK_INT(told(&h, inside)->filled, BTC / 2);
    CHECK_INT(told(&h, at)->filled, 0);
    trade_by(&h, BTCUSDT, 59999 * USDT, BTC / 8, true);
    CHECK_INT(told(&h, at)->filled, BTC / 8);
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC, true);
    sees(at, ORDER_FILLED, ORDER_OK);
    CHECK_INT(told(&h, beyond)->filled, 0);
    quote(&h, BTCUSDT, 59998 * USDT, BTC / 4, 60000 * USDT, BTC); /* it becomes the best */
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC / 2, true);
    CHECK_INT(told(&h, beyond)->filled, BTC / 4);
    /* After an interruption its place is not known any more. */
    connection(&h, true);
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC, true);
    CHECK_INT(told(&h, beyond)->filled, BTC / 4);
    harness_close(&h);
}

/* What one account takes is gone for it until more is shown; another has a market of its own. */
static void test_depletion(void)
{
    open_booked();
    h.accounts[BOB].cash = 10000 * USDT;
    uint64_t id = rested(wish(ORDER_BUY, ORDER_MARKET, 3 * BTC / 2));
    CHECK_INT(told(&h, id)->cost, 60000 * USDT + 30005 * USDT);
    id = rested(wish(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(told(&h, id)->cost, 60010 * USDT);
    struct order_request other = wish(ORDER_BUY, ORDER_MARKET, BTC / 10);
    other.account = BOB;
    id = rested(other);
    CHECK_INT(told(&h, id)->cost, 6000 * USDT);
    struct book_level more = {60000 * USDT, 3 * BTC / 2}; /* half a coin is added */
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, NULL, 0, &more, 1), 0);
    id = rested(wish(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(told(&h, id)->cost, 30000 * USDT + 30005 * USDT);
    more.qty = BTC / 4; /* of what is left, all was ours */
    CHECK_INT(depth(&h, BTCUSDT, 1002, 1002, NULL, 0, &more, 1), 0);
    more.qty = BTC / 2; /* and a quarter comes */
    CHECK_INT(depth(&h, BTCUSDT, 1003, 1003, NULL, 0, &more, 1), 0);
    id = rested(wish(ORDER_BUY, ORDER_MARKET, BTC / 2));
    CHECK_INT(told(&h, id)->cost, 15000 * USDT + 60020 * USDT / 4);
    more.qty = 0; /* gone, and there again */
    CHECK_INT(depth(&h, BTCUSDT, 1004, 1004, NULL, 0, &more, 1), 0);
    more.qty = BTC;
    CHECK_INT(depth(&h, BTCUSDT, 1005, 1005, NULL, 0, &more, 1), 0);
    id = rested(wish(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(told(&h, id)->cost, 60000 * USDT);
    harness_close(&h);
}

/* A trade, or a price that is shown, is had by every account alike: none takes from another. */
static void test_accounts_apart(void)
{
    open_quoted();
    struct order_request theirs = limit(ORDER_BUY, BTC / 10, 59900 * USDT), ours = theirs;
    theirs.account = BOB;
    uint64_t a = rested(ours), b = rested(theirs), c = rested(ours);
    trade(&h, BTCUSDT, 59899 * USDT, BTC / 10);
    sees(a, ORDER_FILLED, ORDER_OK);
    sees(b, ORDER_FILLED, ORDER_OK);
    CHECK_INT(told(&h, c)->filled, 0);
    quote(&h, BTCUSDT, 59899 * USDT, BTC, 59900 * USDT, BTC / 20);
    CHECK_INT(told(&h, c)->filled, BTC / 20);
    theirs = wish(ORDER_SELL, ORDER_MARKET, BTC / 10);
    theirs.account = BOB;
    ours = wish(ORDER_SELL, ORDER_MARKET, BTC / 10);
    quote(&h, BTCUSDT, 59899 * USDT, BTC / 10, 59900 * USDT, BTC / 20);
    a = ask(&h, ours);
    b = ask(&h, theirs);
    pass(&h, SECOND_NS);
    CHECK_INT(told(&h, a)->cost, 59899 * USDT / 10);
    CHECK_INT(told(&h, b)->cost, 59899 * USDT / 10);
    harness_close(&h);
}

static void test_amend(void)
{
    open_booked();
    uint64_t id = rested(limit(ORDER_BUY, 2 * BTC, 59980 * USDT)); /* behind two */
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC});
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(h.command_order, id);
    CHECK_INT(told(&h, id)->qty, 2 * BTC); /* on its way */
    CHECK_INT(reserved(&h, ALICE, "USDT"), 2 * 59980 * USDT + 2 * 59980 * USDT / 1000);
    pass(&h, 50 * MS_NS);
    CHECK_INT(told(&h, id)->qty, BTC);
    CHECK_INT(told(&h, id)->amends, 1);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59980 * USDT + 59980 * USDT / 1000);
    trade_by(&h, BTCUSDT, 59980 * USDT, 9 * BTC / 4, true); /* its place was kept */
    CHECK_INT(told(&h, id)->filled, BTC / 4);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC / 4});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    /* More: to the end of the queue, behind the two that are shown. What it will need is held at once. */
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 5 * BTC / 4});
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59980 * USDT + 59980 * USDT / 1000);
    pass(&h, 50 * MS_NS);
    trade_by(&h, BTCUSDT, 59980 * USDT, 2 * BTC, true);
    CHECK_INT(told(&h, id)->filled, BTC / 4);
    /* Another price, that crosses: it takes. */
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 60000 * USDT});
    pass(&h, 50 * MS_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60000 * USDT);
    CHECK(!h.last_fill.maker);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC});
    CHECK_INT(h.command_reason, ORDER_ENDED);
    amend(&h, (struct order_amend){.order_id = 98765, .set = AMEND_QTY, .qty = BTC});
    CHECK_INT(h.command_reason, ORDER_UNKNOWN_ORDER);
    amend(&h, (struct order_amend){.set = AMEND_QTY, .qty = BTC});
    CHECK_INT(h.command_reason, ORDER_UNKNOWN_ORDER);

    /* Checked again: filters, balance, what the type has. */
    id = rested(limit(ORDER_BUY, BTC, 59980 * USDT));
    static const struct {
        struct order_amend amend;
        enum order_reason why;
    } refused[] = {
        {{.set = 0}, ORDER_BAD_AMEND},
        {{.set = 64}, ORDER_BAD_AMEND},
        {{.set = AMEND_STOP, .stop_price = 59000 * E8}, ORDER_BAD_AMEND},
        {{.set = AMEND_TRAIL, .trail = E8}, ORDER_BAD_AMEND},
        {{.set = AMEND_QTY, .qty = -1}, ORDER_BAD_AMEND},
        {{.set = AMEND_QTY, .qty = E8 + 1}, ORDER_LOT_SIZE},
        {{.set = AMEND_PRICE, .price = 0}, ORDER_BAD_PRICE},
        {{.set = AMEND_PRICE, .price = 59980 * E8 + 1}, ORDER_PRICE_FILTER},
        {{.set = AMEND_QTY, .qty = 1000}, ORDER_MIN_NOTIONAL},
        {{.set = AMEND_QTY, .qty = 20 * E8}, ORDER_INSUFFICIENT_BALANCE},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct order_amend change = refused[i].amend;
        change.order_id = id;
        amend(&h, change);
        CHECK_STR(order_reason_name(h.command_reason), order_reason_name(refused[i].why));
    }
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 2 * BTC});
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC / 2});
    CHECK_INT(h.command_reason, ORDER_OK); /* less is never more risk */
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    /* As much has filled meanwhile: it ends. */
    trade(&h, BTCUSDT, 59979 * USDT, 3 * BTC / 4);
    CHECK_INT(told(&h, id)->filled, 3 * BTC / 4);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);

    /* With a cancel on its way it has ended as far as amends go. */
    id = rested(limit(ORDER_BUY, BTC, 59980 * USDT));
    cancel(&h, id);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 2 * BTC});
    CHECK_INT(h.command_reason, ORDER_ENDED);
    pass(&h, SECOND_NS);

    /* A stop's price, past the market: it goes. A trail's distance. */
    uint64_t protection = rested(stop(ORDER_SELL, BTC / 2, 59000 * USDT));
    amend(&h, (struct order_amend){.order_id = protection, .set = AMEND_STOP, .stop_price = 59979 * USDT});
    pass(&h, SECOND_NS);
    sees(protection, ORDER_FILLED, ORDER_OK);
    struct order_request request = wish(ORDER_SELL, ORDER_TRAILING_STOP, BTC / 2);
    request.trail = 100 * USDT;
    protection = rested(request);
    amend(&h, (struct order_amend){.order_id = protection, .set = AMEND_STOP, .stop_price = 59000 * USDT});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    amend(&h, (struct order_amend){
                  .order_id = protection, .set = AMEND_TRAIL | AMEND_TRAIL_E6, .trail = 1, .trail_e6 = 1});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    amend(&h, (struct order_amend){.order_id = protection, .set = AMEND_TRAIL_E6, .trail_e6 = 10000});
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    CHECK_INT(told(&h, protection)->trail, 0);
    CHECK_INT(told(&h, protection)->stop_price, 5937921000000); /* 59,979 · 0.99 = 59,379.21 */
    harness_close(&h);

    /* Market orders have nothing to change; a held exit no quantity of its own. */
    open_quoted();
    id = ask(&h, wish(ORDER_BUY, ORDER_MARKET, BTC));
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC / 2});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    id = bracket(limit(ORDER_BUY, BTC, 58000 * USDT));
    amend(&h, (struct order_amend){.order_id = id + 2, .set = AMEND_QTY, .qty = BTC / 2});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    amend(&h, (struct order_amend){.order_id = id + 2, .set = AMEND_STOP, .stop_price = 57000 * USDT});
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(id + 2, ORDER_HELD, ORDER_OK);
    CHECK_INT(told(&h, id + 2)->stop_price, 57000 * USDT);
    harness_close(&h);
}

static void missed_bar(int64_t open_ns, int64_t low, int64_t high)
{
    struct bar bar = flat_bar(open_ns, low);
    bar.high = high;
    struct event event = {.kind = EVENT_BARS,
                          .bars = {.symbol = BTCUSDT, .bars = &bar, .n = 1, .missed = true}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void test_missed(enum missed_stops what)
{
    harness_init(&h);
    h.config.missed_stops = what;
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    struct bar bar = flat_bar(START_NS - MINUTE_NS, 60000 * USDT);
    kline(&h, BTCUSDT, &bar);
    hold(BTC);
    uint64_t protection = rested(stop(ORDER_SELL, BTC / 2, 59500 * USDT));
    uint64_t resting = rested(limit(ORDER_BUY, BTC, 59400 * USDT));
    connection(&h, false);
    uint64_t alerts = h.alerts;
    h.now_ns += 3 * MINUTE_NS;
    /* The bar in which they came to rest may have been lower before that. */
    missed_bar(START_NS, 50000 * USDT, 60000 * USDT);
    CHECK_INT(h.alerts, alerts);
    missed_bar(START_NS + MINUTE_NS, 59500 * USDT, 60000 * USDT); /* reaches the stop, not the limit */
    CHECK_INT(h.alerts, alerts + 1);
    CHECK_STR(h.last_alert, "STOP_MISSED");
    missed_bar(START_NS + 2 * MINUTE_NS, 59399 * USDT, 60000 * USDT);
    CHECK_STR(h.last_alert, "LIMIT_MISSED");
    CHECK_INT(h.alerts, alerts + (what == MISSED_STOPS_FILL ? 2 : 3));
    connection(&h, true);
    quote(&h, BTCUSDT, 60199 * USDT, BTC, 60200 * USDT, BTC);
    sees(protection, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60200 * USDT, BTC);
    if (what == MISSED_STOPS_FILL) {
        sees(protection, ORDER_FILLED, ORDER_OK);
        CHECK_INT(h.last_fill.price, 60199 * USDT);
    } else {
        sees(protection, ORDER_OPEN, ORDER_OK);
    }
    sees(resting, ORDER_OPEN, ORDER_OK);
    harness_close(&h);
}

/* A pause is told before anything else that the market or the account lacks. */
static void test_paused_first(void)
{
    harness_init(&h);
    harness_open(&h);
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC, 0); /* no market, no money */
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    harness_close(&h);
}

/* Data too old on arrival: stops and exits rest, others end. */
static void test_stale_arrival(void)
{
    open_quoted();
    hold(BTC);
    uint64_t protection = ask(&h, stop(ORDER_SELL, BTC / 4, 61000 * USDT)); /* reached already */
    uint64_t sale = ask(&h, limit(ORDER_SELL, BTC / 4, 59000 * USDT));
    uint64_t entry = bracket(limit(ORDER_BUY, BTC / 2, 59998 * USDT));
    pass(&h, 10 * MS_NS);
    stale(&h, BTCUSDT, true);
    pass(&h, SECOND_NS);
    sees(protection, ORDER_OPEN, ORDER_OK);
    sees(sale, ORDER_CANCELED, ORDER_RISK_STALE_DATA);
    sees(entry, ORDER_CANCELED, ORDER_RISK_STALE_DATA);
    sees(entry + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    stale(&h, BTCUSDT, false);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(protection, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

/* Flatten goes on until nothing is left that the lot allows: at once with what is shown, then at each bar. */
static void test_flatten_goes_on(void)
{
    open_quoted();
    hold(3 * BTC + 1000);
    rested(stop(ORDER_SELL, BTC, 50000 * USDT));
    command(&h, (struct event_command){.kind = COMMAND_FLATTEN});
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], BTC + 1000); /* two were wanted */
    CHECK_INT(engine_orders(h.engine), 0);
    quote(&h, BTCUSDT, 59990 * USDT, BTC / 2, 60000 * USDT, BTC);
    h.now_ns += MINUTE_NS;
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 59990 * USDT);
    kline(&h, BTCUSDT, &bar);
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], BTC / 2 + 1000);
    quote(&h, BTCUSDT, 59980 * USDT, BTC, 60000 * USDT, BTC);
    h.symbols[BTCUSDT].filters.step = 10000; /* coarser lots: a thousand units are dust now */
    struct event event = {.kind = EVENT_SYMBOL, .symbol = {BTCUSDT, h.symbols[BTCUSDT]}};
    event.symbol.listed.filters.qty_min = 10000;
    CHECK_INT(harness_event(&h, &event), 0);
    h.now_ns += MINUTE_NS;
    bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 59980 * USDT);
    kline(&h, BTCUSDT, &bar);
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], 1000);
    uint64_t last = h.last_order.id;
    h.now_ns += MINUTE_NS;
    bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 59980 * USDT);
    kline(&h, BTCUSDT, &bar);
    CHECK_INT(h.last_order.id, last); /* nothing is tried for it */
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    harness_close(&h);
}

/* Between the two what is due at one moment happens in order: expiry, then what was given first. */
static void test_same_moment(void)
{
    open_quoted();
    struct order_request request = limit(ORDER_BUY, BTC / 10, 59000 * USDT);
    request.tif = ORDER_GTD;
    request.expires_ns = h.now_ns + 150 * MS_NS;
    uint64_t id = ask(&h, request);
    pass(&h, 100 * MS_NS);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 59500 * USDT}); /* due then */
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(told(&h, id)->amends, 0);
    id = rested(limit(ORDER_BUY, BTC / 10, 59000 * USDT));
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 59500 * USDT});
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    CHECK_INT(told(&h, id)->amends, 1);
    harness_close(&h);
}

struct traced {
    uint64_t verdicts, takes;
    struct engine_take last_take;
    enum order_reason last_reason;
    struct risk_facts facts;
    bool asked;
};

static void on_verdict(void *ctx, const struct engine_verdict *verdict)
{
    struct traced *traced = ctx;
    traced->verdicts++;
    traced->last_reason = verdict->reason;
    traced->asked = verdict->facts != NULL;
    if (verdict->facts)
        traced->facts = *verdict->facts;
}

static void on_take(void *ctx, const struct engine_take *take)
{
    struct traced *traced = ctx;
    traced->takes++;
    traced->last_take = *take;
}

static void trace_event(struct engine *engine, struct event *event)
{
    static uint64_t seq;
    event->seq = ++seq;
    event->recv_ns = START_NS + (int64_t)seq * SECOND_NS;
    CHECK_INT(engine_handle(engine, event), 0);
}

static void test_trace(void)
{
    struct traced traced = {0};
    struct engine_trace trace = {.ctx = &traced, .verdict = on_verdict, .take = on_take};
    struct engine_sink sink = {.trace = &trace};
    struct engine *engine;
    harness_init(&h);
    CHECK_INT(engine_create(&h.config, &sink, &engine), 0);
    CHECK_INT(engine_start(engine, START_NS), 0);
    struct book_level bids[] = {{59990 * USDT, BTC}},
                      asks[] = {{60000 * USDT, BTC / 100}, {60010 * USDT, BTC}};
    struct event book = {.kind = EVENT_SNAPSHOT, .snapshot = {BTCUSDT, 10, bids, asks, 1, 2}};
    trace_event(engine, &book);
    struct event give = {
        .kind = EVENT_COMMAND,
        .command = {.kind = COMMAND_ORDER,
                    .order = {.n_legs = 1, .legs = {wish(ORDER_BUY, ORDER_MARKET, BTC / 50)}}}};
    struct event timer = {.kind = EVENT_TIMER};
    trace_event(engine, &give);
    CHECK_INT(traced.verdicts, 1);
    CHECK(traced.asked && traced.last_reason == ORDER_OK);
    CHECK_INT(traced.facts.order_notional, 1200 * USDT);
    CHECK_INT(traced.facts.equity, 10000 * USDT);
    trace_event(engine, &timer);
    CHECK_INT(traced.takes, 2);
    CHECK_INT(traced.last_take.level.price, 60010 * USDT);
    CHECK_INT(traced.last_take.level.qty, BTC);
    CHECK_INT(traced.last_take.taken_before, 0);
    CHECK(traced.last_take.from_book);
    trace_event(engine, &give);
    trace_event(engine, &timer);
    CHECK_INT(traced.takes, 3);
    CHECK_INT(traced.last_take.taken_before, BTC / 100); /* and the better price is gone for us */
    give.command.order.legs[0].qty = 1001;
    trace_event(engine, &give);
    CHECK(!traced.asked && traced.last_reason == ORDER_LOT_SIZE);
    engine_destroy(engine);
    free(h.orders);
}

int main(void)
{
    test_stop_limit();
    test_take_profit();
    test_trailing();
    test_ioc();
    test_fok();
    test_expiry();
    test_post_only();
    test_reduce_only();
    test_oco();
    test_bracket();
    test_bad_groups();
    test_times_in_force();
    test_client_ids();
    test_queue();
    test_depletion();
    test_accounts_apart();
    test_amend();
    test_missed(MISSED_STOPS_FILL);
    test_missed(MISSED_STOPS_KEEP);
    test_paused_first();
    test_stale_arrival();
    test_flatten_goes_on();
    test_same_moment();
    test_trace();
    return check_done("engine/order_types");
}
