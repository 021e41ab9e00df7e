/* The paper exchange, order by order: what is taken, what rests, what makes, what is refused, and when. */
#include "tests/engine/harness.h"

#define USDT (E8)
#define BTC  (E8)

static struct harness h;

/* A market at 60,000: quotes only. */
static void open_quoted(void)
{
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

/* The same with a book of three levels a side, one BTC each, 10 USDT apart. */
static void open_booked(void)
{
    struct book_level bids[] = {{59990 * USDT, BTC}, {59980 * USDT, BTC}, {59970 * USDT, BTC}};
    struct book_level asks[] = {{60000 * USDT, BTC}, {60010 * USDT, BTC}, {60020 * USDT, BTC}};
    harness_open(&h);
    CHECK_INT(snapshot(&h, BTCUSDT, 1000, bids, 3, asks, 3), 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

static void rich(int account)
{
    h.accounts[account].cash = 1000000 * USDT;
}

static void test_market_by_quote(void)
{
    harness_init(&h);
    rich(ALICE);
    open_quoted();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 2, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(reported(&h, id)->state, ORDER_PENDING);
    CHECK_INT(reported(&h, id)->effective_ns, h.now_ns + 50 * MS_NS);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 30030 * USDT);
    pass(&h, 50 * MS_NS - 1);
    CHECK_INT(reported(&h, id)->state, ORDER_PENDING);
    pass(&h, 1);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.fills, 1);
    CHECK_INT(h.last_fill.ts_ns, reported(&h, id)->effective_ns);
    CHECK_INT(h.last_fill.price, 60000 * USDT);
    CHECK_INT(h.last_fill.fee, 30 * USDT);
    CHECK(!h.last_fill.maker);
    CHECK_INT(cash(&h, ALICE), 1000000 * USDT - 30030 * USDT);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    CHECK_INT(cash(&h, BOB), 10000 * USDT);

    /* Only what is displayed, less what was taken of it: the rest is cancelled. */
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 5 * BTC, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_NO_LIQUIDITY);
    CHECK_INT(reported(&h, id)->filled, BTC / 2);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 3 * BTC / 2); /* half a coin is added */
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 5 * BTC, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->filled, BTC / 2);
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, 3 * BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59999 * USDT);
    CHECK_INT(engine_account(h.engine, ALICE)->positions[BTCUSDT].qty, 0);
    harness_close(&h);
}

static void test_market_by_book(void)
{
    harness_init(&h);
    rich(ALICE);
    open_booked();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 5 * BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.fills, 3);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(reported(&h, id)->cost, 150020 * USDT); /* 60000 + 60010 + 60020/2 */
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, 5 * BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->cost, 149955 * USDT); /* 59990 + 59980 + 59970/2 */
    CHECK_INT(h.naive[ALICE][1], 0);
    int64_t fees = 150020 * USDT / 1000 + 149955 * USDT / 1000;
    CHECK_INT(cash(&h, ALICE), (1000000 - 150020 + 149955) * USDT - fees);
    CHECK_INT(engine_account(h.engine, ALICE)->positions[BTCUSDT].realized, -65 * USDT);
    CHECK_INT(engine_account(h.engine, ALICE)->positions[BTCUSDT].fees, fees);

    id =
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 4 * BTC, 0); /* of three, two and a half are had */
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->filled, BTC / 2);
    CHECK_INT(reported(&h, id)->reason, ORDER_NO_LIQUIDITY);
    harness_close(&h);
}

/* A newer best quote corrects the top of the book; an older one does not. */
static void test_quote_over_book(void)
{
    harness_init(&h);
    rich(ALICE);
    open_booked();
    h.next_quote_id = 1001;
    quote(&h, BTCUSDT, 59990 * USDT, BTC, 60010 * USDT, BTC / 4); /* 60000 is gone, 60010 nearly */
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->cost, 60010 * USDT / 4 + 60020 * USDT / 4);
    quote(&h, BTCUSDT, 59990 * USDT, BTC, 59995 * USDT, BTC / 4); /* a better one than the book knows */
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->cost, 59995 * USDT / 4 + 60000 * USDT / 4);
    struct book_level deleted = {59000 * USDT, 0};
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1010, &deleted, 1, NULL, 0), 0); /* the book is newer now */
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 2, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->cost, 30000 * USDT);
    harness_close(&h);
}

/* What is decided at t trades in the market as it is at t + latency. */
static void test_latency(void)
{
    harness_init(&h);
    open_quoted();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    h.now_ns += 49 * MS_NS;
    quote(&h, BTCUSDT, 60099 * USDT, BTC, 60100 * USDT, BTC); /* before it arrives */
    h.now_ns += 2 * MS_NS;
    quote(&h, BTCUSDT, 70000 * USDT, BTC, 70001 * USDT, BTC); /* after */
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60100 * USDT);
    CHECK_INT(h.last_fill.ts_ns, reported(&h, id)->created_ns + 50 * MS_NS);
    harness_close(&h);

    /* One step of time, two orders: each at its own moment, in order. */
    harness_init(&h);
    open_quoted();
    uint64_t first = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    h.now_ns += 20 * MS_NS;
    uint64_t second = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, second)->updated_ns - reported(&h, first)->updated_ns, 20 * MS_NS);
    CHECK_INT(engine_now(h.engine), h.now_ns);
    h.now_ns -= 10 * SECOND_NS; /* a clock that goes back does not take the engine's with it */
    pass(&h, 0);
    CHECK_INT(engine_now(h.engine), h.now_ns + 10 * SECOND_NS);
    harness_close(&h);
}

static void test_limit_takes_then_rests(void)
{
    harness_init(&h);
    rich(ALICE);
    open_booked();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 3 * BTC, 60010 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_PARTIAL);
    CHECK_INT(reported(&h, id)->filled, 2 * BTC);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 60010 * USDT + 60010 * USDT / 1000);
    /* At the limit others stand before us. The book still offers at 60000 here, but only a change of it is
     * news: what trades there is of others. */
    trade(&h, BTCUSDT, 60010 * USDT, 10 * BTC);
    CHECK_INT(reported(&h, id)->filled, 2 * BTC);
    trade(&h, BTCUSDT, 60009 * USDT, BTC);
    CHECK_INT(reported(&h, id)->filled, 2 * BTC);
    /* Once that is gone it is the best bid: through it, no more than was traded. */
    struct book_level gone[] = {{60000 * USDT, 0}, {60010 * USDT, 0}};
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, NULL, 0, gone, 2), 0);
    trade(&h, BTCUSDT, 60009 * USDT, BTC / 4);
    CHECK_INT(reported(&h, id)->filled, 9 * BTC / 4);
    CHECK(h.last_fill.maker);
    CHECK_INT(h.last_fill.price, 60010 * USDT);
    trade(&h, BTCUSDT, 60009 * USDT, 10 * BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    harness_close(&h);
}

static void test_limit_makes(void)
{
    harness_init(&h);
    h.accounts[ALICE].rules.fees.maker_e6 = 200;
    open_quoted();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59900 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_OPEN);
    quote(&h, BTCUSDT, 59899 * USDT, BTC, 59901 * USDT, BTC);
    CHECK_INT(h.fills, 0);
    quote(&h, BTCUSDT, 59899 * USDT, BTC, 59900 * USDT, BTC / 20); /* the other side comes down to it */
    CHECK_INT(reported(&h, id)->state, ORDER_PARTIAL);
    CHECK_INT(reported(&h, id)->filled, BTC / 20);
    CHECK(h.last_fill.maker);
    CHECK_INT(h.last_fill.price, 59900 * USDT);
    CHECK_INT(h.last_fill.fee, 2995 * USDT * 2 / 10000);
    quote(&h, BTCUSDT, 59897 * USDT, BTC, 59898 * USDT, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59900 * USDT);

    uint64_t sale = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, BTC / 10, 60500 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC / 10);
    trade(&h, BTCUSDT, 60500 * USDT, BTC);
    CHECK_INT(reported(&h, sale)->state, ORDER_OPEN);
    trade(&h, BTCUSDT, 60500 * USDT + 1, BTC);
    CHECK_INT(reported(&h, sale)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60500 * USDT);
    CHECK_INT(h.maker_fills, 3);
    harness_close(&h);
}

/* What the other side shows is taken once, however often it is sent. */
static void test_shown_is_had_once(void)
{
    harness_init(&h);
    rich(ALICE);
    open_quoted();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 5 * BTC, 60000 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->filled, BTC);
    for (int i = 0; i < 5; i++)
        quote(&h, BTCUSDT, 59999 * USDT, i * BTC, 60000 * USDT, BTC); /* only the bid changes */
    CHECK_INT(reported(&h, id)->filled, BTC);
    quote(&h, BTCUSDT, 59999 * USDT, BTC, 60000 * USDT, 3 * BTC / 2); /* half a coin more */
    CHECK_INT(reported(&h, id)->filled, 3 * BTC / 2);
    quote(&h, BTCUSDT, 59999 * USDT, BTC, 60000 * USDT, 3 * BTC / 2);
    CHECK_INT(reported(&h, id)->filled, 3 * BTC / 2);
    quote(&h, BTCUSDT, 59997 * USDT, BTC, 59998 * USDT, BTC); /* another price */
    CHECK_INT(reported(&h, id)->filled, 5 * BTC / 2);
    quote(&h, BTCUSDT, 59996 * USDT, BTC, 59998 * USDT, BTC);
    CHECK_INT(reported(&h, id)->filled, 5 * BTC / 2);
    harness_close(&h);
}

/* A trade's quantity is dealt out once, by age; one received twice is one trade. */
static void test_trade_is_dealt_once(void)
{
    harness_init(&h);
    open_quoted();
    uint64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 50, 59900 * USDT);
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 59890 * USDT, 3 * BTC / 100);
    CHECK_INT(reported(&h, ids[0])->state, ORDER_FILLED);
    CHECK_INT(reported(&h, ids[1])->filled, BTC / 100);
    CHECK_INT(reported(&h, ids[2])->filled, 0);
    h.next_trade_id[BTCUSDT]--;
    trade(&h, BTCUSDT, 59890 * USDT, 3 * BTC / 100);
    CHECK_INT(reported(&h, ids[1])->filled, BTC / 100);
    trade(&h, BTCUSDT, 59890 * USDT, BTC);
    CHECK_INT(reported(&h, ids[2])->state, ORDER_FILLED);
    harness_close(&h);
}

static void test_stop(void)
{
    harness_init(&h);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 10, 59500 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_OPEN);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC / 10);
    trade(&h, BTCUSDT, 59500 * USDT + E8 / 100, BTC);
    quote(&h, BTCUSDT, 59400 * USDT, BTC, 59401 * USDT, BTC); /* quotes do not trigger it */
    CHECK_INT(reported(&h, id)->state, ORDER_OPEN);
    trade(&h, BTCUSDT, 59500 * USDT, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59400 * USDT); /* the market's, not the stop's */
    CHECK(!h.last_fill.maker);

    /* Past its price already when it arrives. */
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 10, 59600 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);

    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_STOP, BTC / 10, 61000 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 61061 * USDT / 10);
    trade(&h, BTCUSDT, 61000 * USDT - 1, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_OPEN);
    trade(&h, BTCUSDT, 61000 * USDT, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59401 * USDT);
    harness_close(&h);
}

/* A stop that finds too little continues with the next trade; a market order does not. */
static void test_thin_stop(void)
{
    harness_init(&h);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 10, 59500 * USDT);
    pass(&h, SECOND_NS);
    quote(&h, BTCUSDT, 59400 * USDT, BTC / 50, 59401 * USDT, BTC);
    uint64_t alerts = h.alerts;
    trade(&h, BTCUSDT, 59450 * USDT, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_PARTIAL);
    CHECK_INT(reported(&h, id)->filled, BTC / 50);
    CHECK_INT(reserved(&h, ALICE, "BTC"), BTC / 10 - BTC / 50);
    CHECK_INT(h.alerts, alerts + 1);
    quote(&h, BTCUSDT, 59300 * USDT, BTC, 59301 * USDT, BTC);
    trade(&h, BTCUSDT, 59300 * USDT, BTC);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(reported(&h, id)->filled, BTC / 10);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);
    harness_close(&h);
}

static void test_cancel(void)
{
    harness_init(&h);
    open_quoted();
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59000 * USDT);
    pass(&h, SECOND_NS);
    cancel(&h, id);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    cancel(&h, id); /* again: the same answer, one cancel */
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(reported(&h, id)->state, ORDER_OPEN);
    trade(&h, BTCUSDT, 58000 * USDT, BTC / 20); /* the market is faster than the cancel */
    CHECK_INT(reported(&h, id)->filled, BTC / 20);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    pass(&h, 50 * MS_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_OK);
    cancel(&h, id);
    CHECK_INT(h.command_reason, ORDER_ENDED);
    cancel(&h, 987654);
    CHECK_INT(h.command_reason, ORDER_UNKNOWN_ORDER);
    CHECK_INT(engine_orders(h.engine), 0);
    /* On its way when the cancel is given. */
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 20, 57000 * USDT);
    cancel(&h, id);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    harness_close(&h);
}

static void test_balance(void)
{
    harness_init(&h);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 6 / 1000 * 1000, 0); /* 9999.6 and the fee */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(engine_orders(h.engine), 0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59000 * USDT); /* 5905.90 are reserved */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59000 * USDT); /* another's money */
    CHECK_INT(h.command_reason, ORDER_OK);
    cancel(&h, id);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 59000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 10, 0);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    harness_close(&h);

    /* The market runs away before it arrives: as much as can be paid for, on the lot's step. */
    harness_init(&h);
    open_quoted();
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 16600000, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    quote(&h, BTCUSDT, 79999 * USDT, BTC, 80000 * USDT, BTC);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(reported(&h, id)->filled, 12487000); /* 10000 / 1.001 / 80000 = 0.124875… */
    CHECK(cash(&h, ALICE) >= 0);
    CHECK_INT(reported(&h, id)->filled % 1000, 0);
    harness_close(&h);
}

/* Symbols share assets: what was bought on one cannot be sold short on the other. */
static void test_shared_assets(void)
{
    harness_init(&h);
    open_quoted();
    quote(&h, ETHUSDT, 2999 * USDT, 10 * E8, 3000 * USDT, 10 * E8);
    trade(&h, ETHUSDT, 3000 * USDT, E8);
    quote(&h, ETHBTC, 4990000, 10 * E8, 5000000, 10 * E8);
    trade(&h, ETHBTC, 5000000, E8);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8, 0);
    pass(&h, SECOND_NS);
    order(&h, ALICE, ETHBTC, ORDER_SELL, ORDER_MARKET, E8, 0); /* ETH is held, but not through ETHBTC */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 10, 0);
    pass(&h, SECOND_NS);
    uint64_t id = order(&h, ALICE, ETHBTC, ORDER_BUY, ORDER_MARKET, E8, 0); /* paid in BTC */
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    CHECK_INT(h.naive[ALICE][1], E8 / 10 - 5000000 - 5000);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, E8 / 10, 0); /* half of it was spent */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    order(&h, ALICE, ETHUSDT, ORDER_SELL, ORDER_LIMIT, E8, 3100 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, ETHUSDT, ORDER_SELL, ORDER_LIMIT, E8,
          3100 * USDT); /* 2 ETH are held, 1 through ETHUSDT */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    harness_close(&h);
}

static void test_refusals(void)
{
    harness_init(&h);
    harness_open(&h);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_NO_LIQUIDITY);
    harness_close(&h);

    harness_init(&h);
    open_quoted();
    static const struct {
        int account, symbol;
        enum order_type type;
        int64_t qty, price;
        enum order_reason expected;
    } refused[] = {
        {7, BTCUSDT, ORDER_MARKET, E8, 0, ORDER_UNKNOWN_ACCOUNT},
        {-1, BTCUSDT, ORDER_MARKET, E8, 0, ORDER_UNKNOWN_ACCOUNT},
        {ALICE, 7, ORDER_MARKET, E8, 0, ORDER_UNKNOWN_SYMBOL},
        {ALICE, -1, ORDER_MARKET, E8, 0, ORDER_UNKNOWN_SYMBOL},
        {ALICE, BTCUSDT, ORDER_MARKET, 0, 0, ORDER_BAD_QTY},
        {ALICE, BTCUSDT, ORDER_MARKET, -1000, 0, ORDER_BAD_QTY},
        {ALICE, BTCUSDT, ORDER_MARKET, 1001, 0, ORDER_LOT_SIZE},
        {ALICE, BTCUSDT, ORDER_MARKET, 1000, 0, ORDER_MIN_NOTIONAL},
        {ALICE, BTCUSDT, ORDER_LIMIT, E8 / 100, 0, ORDER_BAD_PRICE},
        {ALICE, BTCUSDT, ORDER_LIMIT, E8 / 100, 59000 * E8 + 1, ORDER_PRICE_FILTER},
        {ALICE, BTCUSDT, ORDER_STOP, E8 / 100, 0, ORDER_BAD_PRICE},
        {ALICE, BTCUSDT, ORDER_LIMIT, INT64_MAX / 1000 * 1000, INT64_MAX / 1000000 * 1000000, ORDER_LOT_SIZE},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        uint64_t id = order(&h, refused[i].account, refused[i].symbol, ORDER_BUY, refused[i].type,
                            refused[i].qty, refused[i].price);
        CHECK_INT(h.command_reason, refused[i].expected);
        CHECK(id == 0 ||
              (reported(&h, id)->state == ORDER_REJECTED && reported(&h, id)->reason == refused[i].expected));
    }
    CHECK_INT(engine_orders(h.engine), 0);
    for (int i = 0; i < 20; i++)
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10000, 59000 * E8);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10000, 59000 * E8);
    CHECK_INT(h.command_reason, ORDER_MAX_NUM_ORDERS);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10000, 59000 * E8);
    CHECK_INT(h.command_reason, ORDER_OK);
    harness_close(&h);
}

/* A market that lies about prices and quantities moves no balance out of its bounds. */
static void test_absurd_market(void)
{
    harness_init(&h);
    rich(ALICE);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC, 0);
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC, 0); /* decided in a sane market */
    CHECK_INT(h.command_reason, ORDER_OK);
    quote(&h, BTCUSDT, INT64_MAX - 1, INT64_MAX, INT64_MAX, INT64_MAX);
    pass(&h, SECOND_NS);
    CHECK_INT(h.last_order.state, ORDER_CANCELED);
    for (int i = 0; i < 20; i++) {
        quote(&h, BTCUSDT, INT64_MAX - 1, INT64_MAX, INT64_MAX, INT64_MAX);
        trade(&h, BTCUSDT, INT64_MAX, INT64_MAX);
        order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
        pass(&h, SECOND_NS);
        quote(&h, BTCUSDT, 0, 0, 1, INT64_MAX); /* a hundred million units of base for one of quote */
        trade(&h, BTCUSDT, 1, 1);
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 9000 * BTC, 0);
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 9000 * BTC, E8 / 100);
        pass(&h, SECOND_NS);
    }
    CHECK_INT(engine_equity(h.engine, ALICE) >= 0, 1);
    harness_close(&h);
}

static void test_pause_and_flatten(void)
{
    harness_init(&h);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 20, 0);
    pass(&h, SECOND_NS);
    uint64_t stop = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 20, 50000 * USDT);
    uint64_t limit = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 100, 50000 * USDT);
    pass(&h, SECOND_NS);
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    CHECK(engine_paused(h.engine));
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    CHECK(!engine_paused(h.engine));
    uint64_t entry = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 50, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    h.now_ns += 10 * MS_NS;
    command(&h, (struct event_command){.kind = COMMAND_FLATTEN}); /* with an entry and an exit on their way */
    CHECK(engine_paused(h.engine));
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, stop)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, limit)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, entry)->state, ORDER_FILLED); /* the cancel came too late… */
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0); /* …and what it bought was sold */
    CHECK_INT(h.position[BOB][BTCUSDT], 0);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);
}

static void test_stale(void)
{
    harness_init(&h);
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    uint64_t late = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    stale(&h, BTCUSDT, true);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_RISK_STALE_DATA);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_RISK_STALE_DATA);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, late)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, late)->reason, ORDER_RISK_STALE_DATA);
    quote(&h, ETHUSDT, 2999 * USDT, E8, 3000 * USDT, E8);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 10, 0); /* another symbol's data is fresh */
    CHECK_INT(h.command_reason, ORDER_OK);
    stale(&h, BTCUSDT, false);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    /* After an interruption nothing is known, so nothing can be had. */
    connection(&h, false);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_NO_LIQUIDITY);
    harness_close(&h);
}

static void test_risk(void)
{
    harness_init(&h);
    h.risk = (struct risk_limits){.exposure_symbol = 0.5, .exposure_account = 0.6};
    open_quoted();
    quote(&h, ETHUSDT, 2999 * USDT, 10 * E8, 3000 * USDT, 10 * E8);
    trade(&h, ETHUSDT, 3000 * USDT, E8);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 12 / 1000 * 1000 + 1000, 60000 * USDT);
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE); /* 5000.40 of 10000 */
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 12 / 1000 * 1000, 60000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 100, 60000 * USDT); /* what is on order counts */
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_FILLED);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 100, 60000 * USDT); /* and what is held */
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 3 / 1000 * 1000 + 100000, 0); /* 6000 in all */
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 12 / 1000 * 1000, 50000 * USDT);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 4, 0); /* what is for sale does not count twice */
    CHECK_INT(h.command_reason, ORDER_OK);
    harness_close(&h);

    harness_init(&h);
    h.risk = (struct risk_limits){.daily_loss = 0.05};
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 55061 * USDT, BTC); /* 493.90 and 6 of fee: 499.90 lost */
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 55000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK(!engine_account_daily_loss(h.engine, ALICE));
    trade(&h, BTCUSDT, 55060 * USDT, BTC); /* 500.00 */
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 55000 * USDT);
    CHECK_INT(h.command_reason, ORDER_RISK_DAILY_LOSS);
    CHECK(engine_account_daily_loss(h.engine, ALICE));
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, 6 * MINUTE_NS); /* midnight: a new day */
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 55000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    harness_close(&h);

    harness_init(&h);
    h.risk = (struct risk_limits){.orders_per_second = 2};
    open_quoted();
    for (int i = 0; i < 4; i++) {
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
        CHECK_INT(h.command_reason, i < 2 ? ORDER_OK : ORDER_RISK_ORDER_RATE);
        order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
        CHECK_INT(h.command_reason, i < 2 ? ORDER_OK : ORDER_RISK_ORDER_RATE);
    }
    pass(&h, SECOND_NS - 1);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
    CHECK_INT(h.command_reason, ORDER_RISK_ORDER_RATE);
    pass(&h, 1);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
    CHECK_INT(h.command_reason, ORDER_OK);
    struct event event = {.kind = EVENT_STORAGE, .storage_ok = false};
    CHECK_INT(harness_event(&h, &event), 0);
    pass(&h, 2 * SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
    CHECK_INT(h.command_reason, ORDER_RISK_STORAGE);
    harness_close(&h);
}

/* Fees round up, a buyer pays the fraction of a unit, a seller forgoes it. */
static void test_rounding(void)
{
    harness_init(&h);
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        h.symbols[s].filters = (struct symbol_filters){0};
    open_quoted();
    quote(&h, BTCUSDT, 100000003, BTC, 100000007, BTC);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 333, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.last_fill.notional, 334); /* 333.00002331 */
    CHECK_INT(h.last_fill.fee, 1);        /* 0.334 */
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, 333, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.last_fill.notional, 333); /* 333.00000999 */
    CHECK_INT(h.last_fill.fee, 1);
    CHECK_INT(cash(&h, ALICE), 10000 * USDT - 3);
    harness_close(&h);
}

/* With the last unit of cash: what rests may want one unit more than is left, and gets what is left. */
static void test_last_unit(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1504;
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        h.symbols[s].filters = (struct symbol_filters){0};
    open_quoted();
    quote(&h, BTCUSDT, E8, BTC, 3 * E8 / 2, 333);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 1001, 3 * E8 / 2);
    CHECK_INT(h.command_reason, ORDER_OK); /* 1501.5 up, 1.502 of fee up: 1504 */
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_PARTIAL);
    CHECK_INT(cash(&h, ALICE), 1003); /* 499.5 up, 0.5 up */
    CHECK_INT(reserved(&h, ALICE, "USDT"), 1003);
    quote(&h, BTCUSDT, E8, BTC, 2 * E8, 333); /* it does not cross any more */
    trade(&h, BTCUSDT, E8, BTC);              /* 668 more would take 1002 and 2 */
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(reported(&h, id)->filled, 1000);
    CHECK_INT(cash(&h, ALICE), 0);
    harness_close(&h);

    /* A maker's fee above the taker's is reserved as well. */
    harness_init(&h);
    h.accounts[ALICE].rules.fees.maker_e6 = 2000;
    open_quoted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 16665000, 59900 * USDT); /* 9992.32 or 10002.30 */
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    harness_close(&h);

    /* More base for a unit of quote than an account can hold. */
    harness_init(&h);
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        h.symbols[s].filters = (struct symbol_filters){0};
    open_quoted();
    quote(&h, BTCUSDT, 0, 0, 1, INT64_MAX);
    trade(&h, BTCUSDT, 1, 1);
    for (int i = 0; i < 4; i++)
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, INT64_MAX / 5, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.naive[ALICE][1], INT64_MAX / 5);
    CHECK_INT(h.last_order.state, ORDER_CANCELED);
    harness_close(&h);
}

static void test_equity(void)
{
    harness_init(&h);
    open_quoted();
    CHECK_INT(h.last_equity[ALICE].equity, 10000 * USDT);
    CHECK_INT(h.equity_points, 2);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.last_equity[ALICE].equity, 9994 * USDT);
    CHECK_INT(h.last_equity[ALICE].cash, 3994 * USDT);
    uint64_t points = h.equity_points;
    trade(&h, BTCUSDT, 61000 * USDT, BTC);
    CHECK_INT(h.equity_points, points);
    struct bar bar = flat_bar(START_NS, 61000 * USDT);
    kline(&h, BTCUSDT, &bar); /* interval 0: at bars and fills */
    CHECK_INT(h.equity_points, points + 2);
    CHECK_INT(h.last_equity[ALICE].equity, 10094 * USDT);
    CHECK_INT(engine_account(h.engine, ALICE)->equity_peak, 10094 * USDT);
    harness_close(&h);

    harness_init(&h);
    h.config.equity_interval_ns = 10 * SECOND_NS;
    open_quoted();
    points = h.equity_points;
    pass(&h, 10 * SECOND_NS - 1);
    CHECK_INT(h.equity_points, points);
    pass(&h, 1);
    CHECK_INT(h.equity_points, points + 2);
    harness_close(&h);
}

int main(void)
{
    test_market_by_quote();
    test_market_by_book();
    test_quote_over_book();
    test_latency();
    test_limit_takes_then_rests();
    test_limit_makes();
    test_shown_is_had_once();
    test_trade_is_dealt_once();
    test_stop();
    test_thin_stop();
    test_cancel();
    test_balance();
    test_shared_assets();
    test_refusals();
    test_absurd_market();
    test_pause_and_flatten();
    test_stale();
    test_risk();
    test_rounding();
    test_last_unit();
    test_equity();
    return check_done("engine/orders");
}
