/* OCOs, brackets and amends, with numbers that one can check by hand. */
#include "tests/engine/by_hand.h"

static void test_oco(void)
{
    struct order legs[2];
    open_quoted();
    hold(BTC);
    legs[0] = limit(ORDER_SELL, BTC, 61000 * USDT);
    legs[1] = stop(ORDER_SELL, BTC, 59000 * USDT);
    uint64_t id = group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK(reported(&h, id)->group == id && reported(&h, id + 1)->group == id &&
          reported(&h, id)->parent == 0);
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
    CHECK(reported(&h, id + 1)->triggered);
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

/* A profit and a stop that stand in each other's place are refused: one of them would trade at once. */
static void test_upside_down(void)
{
    struct order legs[3];
    open_quoted();
    hold(BTC);
    legs[0] = limit(ORDER_SELL, BTC, 59000 * USDT);
    legs[1] = stop(ORDER_SELL, BTC, 61000 * USDT);
    group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    legs[0].price = 61000 * USDT; /* at the stop */
    group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    legs[1].type = ORDER_TRAILING_STOP;
    legs[1].stop_price = 0;
    legs[1].trail = 100 * USDT;
    cancel(&h, group(&h, ORDERS_OCO, legs, 2));
    CHECK_INT(h.command_reason, ORDER_OK);
    legs[0] = limit(ORDER_BUY, BTC, 61000 * USDT);
    legs[1] = stop(ORDER_BUY, BTC, 60500 * USDT);
    group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    legs[0] = stop(ORDER_BUY, BTC, 60500 * USDT);
    legs[0].type = ORDER_TAKE_PROFIT;
    legs[0].stop_price = 61000 * USDT;
    group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    pass(&h, SECOND_NS);
    CHECK_INT(engine_orders(h.engine), 0);

    /* A bracket's entry with a limit lies between. */
    static const struct {
        int64_t profit, stop;
        enum order_reason reason;
    } exits[] = {{61000, 59000, ORDER_OK},
                 {59800, 59000, ORDER_BAD_GROUP},
                 {61000, 59900, ORDER_BAD_GROUP},
                 {59000, 61000, ORDER_BAD_GROUP}};
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
        legs[0] = limit(ORDER_BUY, BTC / 10, 59900 * USDT);
        legs[1] = limit(ORDER_SELL, 0, exits[i].profit * USDT);
        legs[2] = stop(ORDER_SELL, 0, exits[i].stop * USDT);
        uint64_t id = group(&h, ORDERS_BRACKET, legs, 3);
        CHECK_INT(h.command_reason, exits[i].reason);
        if (exits[i].reason == ORDER_OK)
            cancel(&h, id);
    }
    legs[0] = order_of(ORDER_BUY, ORDER_MARKET, BTC / 10); /* no limit: only the exits' order counts */
    group(&h, ORDERS_BRACKET, legs, 3);
    CHECK_INT(h.command_reason, ORDER_BAD_GROUP);
    harness_close(&h);
}

static void test_bracket(void)
{
    open_quoted();
    uint64_t id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC / 2));
    sees(id, ORDER_PENDING, ORDER_OK);
    sees(id + 1, ORDER_HELD, ORDER_OK);
    sees(id + 2, ORDER_HELD, ORDER_OK);
    CHECK(reported(&h, id + 1)->parent == id && reported(&h, id + 2)->parent == id &&
          reported(&h, id)->parent == 0);
    CHECK(reported(&h, id + 1)->reduce_only && reported(&h, id + 1)->group == id);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 1, ORDER_OPEN, ORDER_OK); /* at the moment that the entry filled */
    CHECK_INT(reported(&h, id + 1)->effective_ns, reported(&h, id)->effective_ns);
    CHECK_INT(reported(&h, id + 1)->qty, BTC / 2);
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
    CHECK_INT(reported(&h, id + 2)->qty, BTC / 4);
    CHECK_INT(reported(&h, id + 1)->qty, BTC / 4);
    trade(&h, BTCUSDT, 61001 * USDT, BTC);
    sees(id + 1, ORDER_FILLED, ORDER_OK);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);

    /* Nothing fills: the exits end with it. */
    id = bracket(limit(ORDER_BUY, BTC, 59200 * USDT));
    pass(&h, SECOND_NS);
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);

    /* The entry fills where its stop is passed already: it goes at once. */
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    quote(&h, BTCUSDT, 58998 * USDT, BTC, 58999 * USDT, BTC);
    id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC / 2));
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 2, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 58998 * USDT);

    /* A held exit cancelled takes the other one with it, not the entry. */
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    quote(&h, BTCUSDT, 59999 * USDT, BTC, 60000 * USDT, BTC);
    id = bracket(limit(ORDER_BUY, BTC, 59200 * USDT));
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
    struct order a = limit(ORDER_SELL, BTC / 4, 61000 * USDT), b = stop(ORDER_SELL, BTC / 4, 59000 * USDT);
    struct order entry = order_of(ORDER_BUY, ORDER_MARKET, BTC / 4);
    static const struct {
        enum order_grouping grouping;
        int n;
    } counts[] = {{ORDERS_SINGLE, 2},   {ORDERS_OCO, 1},    {ORDERS_OCO, 3},    {ORDERS_BRACKET, 1},
                  {ORDER_GROUPINGS, 1}, {ORDERS_SINGLE, 0}, {ORDERS_SINGLE, -1}};
    struct order legs[3] = {a, b, b};
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
    struct order exits[] = {entry, a, b};
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

static enum order_reason amended(uint64_t id, unsigned set, int64_t price)
{
    amend(&h, (struct order_amend){
                  .order_id = id, .set = set, .price = price * USDT, .stop_price = price * USDT});
    return h.command_reason;
}

/* An amend leaves the prices of a group in order, with what is on its way counted. */
static void test_amend_in_group(void)
{
    open_quoted();
    uint64_t id = bracket(limit(ORDER_BUY, BTC / 4, 59900 * USDT)); /* exits at 61000 and 59000 */
    pass(&h, SECOND_NS);
    CHECK_INT(amended(id, AMEND_PRICE, 61500), ORDER_BAD_GROUP);
    CHECK_INT(amended(id, AMEND_PRICE, 58500), ORDER_BAD_GROUP);
    CHECK_INT(amended(id + 1, AMEND_PRICE, 59800), ORDER_BAD_GROUP);
    CHECK_INT(amended(id + 2, AMEND_STOP, 59950), ORDER_BAD_GROUP);
    CHECK_INT(amended(id + 2, AMEND_STOP, 59850), ORDER_OK);
    CHECK_INT(amended(id, AMEND_PRICE, 59800), ORDER_BAD_GROUP); /* the stop's amend is still on its way */
    pass(&h, SECOND_NS);
    CHECK_INT(amended(id, AMEND_PRICE, 60000), ORDER_OK); /* it takes */
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(amended(id + 2, AMEND_STOP, 59990),
              ORDER_OK); /* the entry has ended: only the exits are left */
    CHECK_INT(amended(id + 2, AMEND_STOP, 61100), ORDER_BAD_GROUP);
    CHECK_INT(amended(id + 1, AMEND_PRICE, 59980), ORDER_BAD_GROUP);
    harness_close(&h);
}

static void test_amend(void)
{
    open_booked();
    uint64_t id = rested(limit(ORDER_BUY, 2 * BTC, 59980 * USDT)); /* behind two */
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC});
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(h.command_order, id);
    CHECK_INT(reported(&h, id)->qty, 2 * BTC); /* on its way */
    CHECK_INT(reserved(&h, ALICE, "USDT"), 2 * 59980 * USDT + 2 * 59980 * USDT / 1000);
    pass(&h, 50 * MS_NS);
    CHECK_INT(reported(&h, id)->qty, BTC);
    CHECK_INT(reported(&h, id)->amends, 1);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59980 * USDT + 59980 * USDT / 1000);
    trade_by(&h, BTCUSDT, 59980 * USDT, 9 * BTC / 4, true); /* its place was kept */
    CHECK_INT(reported(&h, id)->filled, BTC / 4);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC / 4});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    /* More: to the end of the queue, behind the two that are shown. What it will need is held at once. */
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 5 * BTC / 4});
    CHECK_INT(reserved(&h, ALICE, "USDT"), 59980 * USDT + 59980 * USDT / 1000);
    pass(&h, 50 * MS_NS);
    trade_by(&h, BTCUSDT, 59980 * USDT, 2 * BTC, true);
    CHECK_INT(reported(&h, id)->filled, BTC / 4);
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
    CHECK_INT(reported(&h, id)->filled, 3 * BTC / 4);
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
    struct order request = order_of(ORDER_SELL, ORDER_TRAILING_STOP, BTC / 2);
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
    CHECK_INT(reported(&h, protection)->trail, 0);
    CHECK_INT(reported(&h, protection)->stop_price, 5937921000000); /* 59,979 · 0.99 = 59,379.21 */
    harness_close(&h);

    /* Market orders have nothing to change; a held exit no quantity of its own. */
    open_quoted();
    id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = BTC / 2});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    id = bracket(limit(ORDER_BUY, BTC, 59200 * USDT));
    amend(&h, (struct order_amend){.order_id = id + 2, .set = AMEND_QTY, .qty = BTC / 2});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    amend(&h, (struct order_amend){.order_id = id + 2, .set = AMEND_STOP, .stop_price = 57000 * USDT});
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(id + 2, ORDER_HELD, ORDER_OK);
    CHECK_INT(reported(&h, id + 2)->stop_price, 57000 * USDT);
    harness_close(&h);
}

/* Between the two what is due at one moment happens in order: expiry, then what was given first. */
static void test_same_moment(void)
{
    open_quoted();
    struct order request = limit(ORDER_BUY, BTC / 10, 59000 * USDT);
    request.tif = ORDER_GTD;
    request.expires_ns = h.now_ns + 150 * MS_NS;
    uint64_t id = ask(&h, request);
    pass(&h, 100 * MS_NS);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 59500 * USDT}); /* due then */
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, id)->amends, 0);
    id = rested(limit(ORDER_BUY, BTC / 10, 59000 * USDT));
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 59500 * USDT});
    cancel(&h, id);
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_OK);
    CHECK_INT(reported(&h, id)->amends, 1);
    harness_close(&h);
}

int main(void)
{
    test_oco();
    test_upside_down();
    test_bracket();
    test_bad_groups();
    test_amend_in_group();
    test_amend();
    test_same_moment();
    return check_done("engine/order_groups");
}
