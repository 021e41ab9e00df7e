/* Each order type and time in force, with numbers that one can check by hand. */
#include "tests/engine/by_hand.h"

static void test_stop_limit(void)
{
    open_quoted();
    hold(BTC);
    struct order request = stop(ORDER_SELL, BTC, 59500 * USDT);
    request.type = ORDER_STOP_LIMIT;
    request.price = 59450 * USDT;
    uint64_t id = rested(request);
    quote(&h, BTCUSDT, 59400 * USDT, BTC, 59500 * USDT, BTC);
    trade(&h, BTCUSDT, 59500 * USDT + E8 / 100, BTC);
    CHECK(!reported(&h, id)->triggered);
    trade(&h, BTCUSDT, 59500 * USDT, BTC);
    CHECK(reported(&h, id)->triggered);
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
    struct order request = stop(ORDER_SELL, BTC / 2, 60500 * USDT);
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
    struct order request = order_of(ORDER_SELL, ORDER_TRAILING_STOP, BTC / 2);
    request.trail = 100 * USDT;
    uint64_t id = rested(request);
    CHECK_INT(reported(&h, id)->peak, 60000 * USDT); /* the last trade */
    CHECK_INT(reported(&h, id)->stop_price, 59900 * USDT);
    trade(&h, BTCUSDT, 59950 * USDT, BTC); /* down: it stays */
    CHECK_INT(reported(&h, id)->stop_price, 59900 * USDT);
    trade(&h, BTCUSDT, 60250 * USDT, BTC); /* up: it follows */
    CHECK_INT(reported(&h, id)->peak, 60250 * USDT);
    CHECK_INT(reported(&h, id)->stop_price, 60150 * USDT);
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
    CHECK_INT(reported(&h, id)->stop_price, 5980008000000); /* 59,800.08976… down */
    trade(&h, BTCUSDT, 5980009000000, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 5980008000000, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);

    /* The peak is reported also where the stop stays on its tick: an amend to another distance starts from
     * it. */
    hold(BTC);
    trade(&h, BTCUSDT, 5980008000000, BTC);
    request.trail_e6 = 500000;
    id = rested(request);
    CHECK_INT(reported(&h, id)->stop_price, 2990004000000);
    trade(&h, BTCUSDT, 5980009000000, BTC);
    CHECK_INT(reported(&h, id)->peak, 5980009000000);
    CHECK_INT(reported(&h, id)->stop_price, 2990004000000);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_TRAIL, .trail = 100 * USDT});
    trade(&h, BTCUSDT, 5980008000000, BTC);
    pass(&h, h.config.latency_ns);
    CHECK_INT(reported(&h, id)->stop_price, 5970009000000);
    cancel(&h, id);
    pass(&h, h.config.latency_ns);
    sees(id, ORDER_CANCELED, ORDER_OK);

    /* A buyer's follows downward; its reserve with it. */
    request = order_of(ORDER_BUY, ORDER_TRAILING_STOP, BTC);
    request.trail_e6 = 10000;
    id = rested(request);
    CHECK_INT(reported(&h, id)->stop_price, 6039809000000); /* 59,800.08 · 1.01 = 60,398.0808 up */
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    CHECK_INT(reported(&h, id)->stop_price, 59590 * USDT);
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
    request = order_of(ORDER_BUY, ORDER_TRAILING_STOP, BTC);
    request.trail = 10 * USDT;
    id = rested(request);
    CHECK_INT(reported(&h, id)->stop_price, 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reported(&h, id)->stop_price, 60010 * USDT);
    harness_close(&h);
}

static void test_ioc(void)
{
    open_booked();
    struct order request = limit(ORDER_BUY, 4 * BTC, 60010 * USDT);
    request.tif = ORDER_IOC;
    uint64_t id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_INT(reported(&h, id)->filled, 3 * BTC);
    CHECK_INT(reported(&h, id)->cost, (60000 + 2 * 60010) * USDT);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    request = order_of(ORDER_SELL, ORDER_MARKET, 3 * BTC);
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
    CHECK_INT(reported(&h, id)->filled, 0);
    harness_close(&h);
}

static void test_fok(void)
{
    open_booked();
    struct order request = limit(ORDER_BUY, 3 * BTC + 1000, 60010 * USDT);
    request.tif = ORDER_FOK;
    uint64_t id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_INT(reported(&h, id)->filled, 0);
    request.qty = 3 * BTC;
    id = rested(request);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, id)->cost, (60000 + 2 * 60010) * USDT);
    request = order_of(ORDER_BUY, ORDER_MARKET, 3 * BTC + 1000); /* three are left, at 60020 */
    request.tif = ORDER_FOK;
    id = rested(request);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    request.qty = 3 * BTC;
    id = rested(request);
    sees(id, ORDER_FILLED, ORDER_OK);
    /* It can be had, but not be paid: BOB has 10,000. */
    request = order_of(ORDER_BUY, ORDER_MARKET, BTC / 8);
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
    struct order request = limit(ORDER_BUY, BTC / 10, 59000 * USDT);
    request.tif = ORDER_GTD;
    request.expires_ns = h.now_ns + 50 * MS_NS; /* it would not be there before */
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_BAD_TIF);
    request.expires_ns = h.now_ns + 10 * SECOND_NS;
    uint64_t gtd = rested(request);
    int64_t expires_ns = reported(&h, gtd)->expires_ns;
    h.now_ns = expires_ns - 1;
    pass(&h, 0);
    sees(gtd, ORDER_OPEN, ORDER_OK);
    h.now_ns = expires_ns;
    trade(&h, BTCUSDT, 58000 * USDT, BTC); /* too late to fill it */
    sees(gtd, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, gtd)->filled, 0);
    CHECK_INT(reported(&h, gtd)->updated_ns, expires_ns);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);

    /* A day ends at midnight UTC: START is six minutes before. */
    request = limit(ORDER_BUY, BTC / 10, 57000 * USDT);
    request.tif = ORDER_DAY;
    uint64_t day = rested(request);
    struct order protect = stop(ORDER_SELL, BTC, 50000 * USDT);
    protect.tif = ORDER_DAY;
    uint64_t protection = rested(protect);
    int64_t midnight_ns = START_NS + 6 * MINUTE_NS;
    CHECK_INT(reported(&h, day)->expires_ns, midnight_ns);
    trade(&h, BTCUSDT, 56999 * USDT, BTC / 20);
    sees(day, ORDER_PARTIAL, ORDER_OK);
    h.now_ns = midnight_ns + 3 * MINUTE_NS; /* long after: it ended when it ended */
    pass(&h, 0);
    sees(day, ORDER_EXPIRED, ORDER_OK);
    sees(protection, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, day)->updated_ns, midnight_ns);
    CHECK_INT(reported(&h, day)->filled, BTC / 20);
    CHECK_INT(engine_orders(h.engine), 0);
    /* On its way over midnight: the new day's. */
    h.now_ns = midnight_ns + 24 * 60 * MINUTE_NS - 10 * MS_NS;
    day = rested(request);
    CHECK_INT(reported(&h, day)->expires_ns, midnight_ns + 2 * 24 * 60 * MINUTE_NS);
    sees(day, ORDER_OPEN, ORDER_OK);
    harness_close(&h);
}

static void test_post_only(void)
{
    open_booked();
    struct order request = limit(ORDER_BUY, BTC, 60000 * USDT);
    request.post_only = true;
    uint64_t id = rested(request);
    sees(id, ORDER_CANCELED, ORDER_WOULD_TAKE);
    CHECK_INT(h.fills, 0);
    request.price = 60000 * USDT - E8 / 100;
    id = rested(request);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade_by(&h, BTCUSDT, 60000 * USDT - E8 / 100, BTC, true); /* no order ahead of it, inside the spread */
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK(h.last_fill.maker);
    harness_close(&h);
}

static void test_reduce_only(void)
{
    open_quoted();
    struct order request = order_of(ORDER_SELL, ORDER_MARKET, BTC);
    request.reduce_only = true;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_REDUCE_ONLY);
    hold(BTC);
    struct order protect = stop(ORDER_SELL, BTC, 59000 * USDT);
    protect.reduce_only = true;
    uint64_t first = rested(protect);
    protect.stop_price = 58000 * USDT;
    uint64_t second = rested(protect);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC); /* together, what is held */
    ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC / 1000));
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    request.qty = 5 * BTC / 4; /* more than there is: what there is */
    uint64_t sale = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    sees(first, ORDER_OPEN, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(sale, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    CHECK_INT(reported(&h, sale)->filled, BTC);
    sees(first, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    sees(second, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    CHECK_INT(reported(&h, first)->updated_ns, reported(&h, sale)->updated_ns);
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
    CHECK_INT(reported(&h, first)->filled, BTC / 2);
    harness_close(&h);
}

/* Which types can be good for how long: rows types, columns GTC IOC FOK DAY GTD OPG CLS. */
static void test_times_in_force(void)
{
    static const char *const may[ORDER_TYPES] = {
        [ORDER_MARKET] = "yyy----",        [ORDER_LIMIT] = "yyyyy--",
        [ORDER_STOP] = "y--yy--",          [ORDER_STOP_LIMIT] = "y--yy--",
        [ORDER_TAKE_PROFIT] = "y--yy--",   [ORDER_TAKE_PROFIT_LIMIT] = "y--yy--",
        [ORDER_TRAILING_STOP] = "y--yy--",
    };
    open_quoted();
    for (int type = 0; type < ORDER_TYPES; type++)
        for (int tif = 0; tif < ORDER_TIFS; tif++)
            for (int post = 0; post < 2; post++) {
                struct order request = order_of(ORDER_BUY, (enum order_type)type, BTC / 1000);
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
    struct order request = limit(ORDER_BUY, BTC / 1000, 50000 * USDT);
    request.expires_ns = h.now_ns + MINUTE_NS; /* of an order that is good till cancelled */
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_BAD_TIF);
    static const struct {
        int64_t trail;
        int32_t trail_e6;
    } bad[] = {{0, 0}, {-1, 0}, {100, 5}, {0, -5}, {0, 1000000}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        request = order_of(ORDER_BUY, ORDER_TRAILING_STOP, BTC / 1000);
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
    /* Numbers outside the enumerations. */
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
    struct order request = limit(ORDER_BUY, BTC / 100, 59000 * USDT);
    snprintf(request.client_id, sizeof request.client_id, "mine");
    uint64_t id = rested(request);
    CHECK_STR(reported(&h, id)->client_id, "mine");
    CHECK_INT(engine_find_client_order(h.engine, ALICE, "mine")->id, id);
    uint64_t again = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_DUPLICATE_ID);
    sees(again, ORDER_REJECTED, ORDER_DUPLICATE_ID);
    CHECK_STR(reported(&h, again)->client_id, "");
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
    test_times_in_force();
    test_client_ids();
    return check_done("engine/order_types");
}
