/* The bar model, computed by hand: one order or group, a few bars, and what becomes of it; the best quotes
 * alone; slippage; and one model after another. */
#include "engine/state.h"
#include "tests/engine/by_hand.h"

static int64_t bar_ns; /* where the next bar opens */

static void open_bars(void)
{
    harness_init(&h);
    h.config.fill_model = FILL_BAR;
    h.accounts[ALICE].cash = 1000000 * USDT;
    bar_ns = START_NS;
}

/* The next bar of a symbol, received at its end. Prices are whole USDT. */
static void bar_of(int symbol, int64_t open, int64_t high, int64_t low, int64_t close)
{
    struct bar bar = flat_bar(bar_ns, open * USDT);
    bar.high = high * USDT;
    bar.low = low * USDT;
    bar.close = close * USDT;
    bar_ns += h.config.interval_ns;
    h.now_ns = bar_ns;
    kline(&h, symbol, &bar);
}

static void bar(int64_t open, int64_t high, int64_t low, int64_t close)
{
    bar_of(BTCUSDT, open, high, low, close);
}

/* Flat at 60,000; `held` coins bought at the second bar's open. */
static void begin(int64_t held)
{
    harness_open(&h);
    bar(60000, 60000, 60000, 60000);
    if (held) {
        ask(&h, order_of(ORDER_BUY, ORDER_MARKET, held));
        bar(60000, 60000, 60000, 60000);
        CHECK_INT(h.position[ALICE][BTCUSDT], held);
    }
}

static void end(void)
{
    CHECK_INT(engine_counters(h.engine)->impossible, 0);
    harness_close(&h);
}

static void filled(uint64_t id, int64_t price, bool maker, int64_t ts_ns)
{
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.order_id, id);
    CHECK_INT(h.last_fill.price, price * USDT);
    CHECK_INT(h.last_fill.maker, maker);
    CHECK_INT(h.last_fill.ts_ns, ts_ns);
    CHECK_INT(reported(&h, id)->updated_ns, ts_ns);
}

#define AT_OPEN (bar_ns - MINUTE_NS)
#define INSIDE  (bar_ns - 1)

static void test_clock(void)
{
    open_bars();
    h.now_ns += 7 * SECOND_NS;
    harness_create(&h);
    trade(&h, BTCUSDT, 50000 * USDT, BTC);
    quote(&h, BTCUSDT, 49999 * USDT, BTC, 50001 * USDT, BTC);
    CHECK_INT(h.rows, 0); /* no bar, no time */
    bar(60000, 60100, 59900, 60050);
    CHECK_INT(h.rows, 2);
    CHECK_INT(h.last_equity[ALICE].ts_ns, bar_ns);
    CHECK_INT(h.row_ns, START_NS); /* the deposits are of its open */
    CHECK_INT(engine_now(h.engine), bar_ns);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(reported(&h, id)->created_ns, bar_ns);
    struct engine_symbol_view view;
    trade(&h, BTCUSDT, 70000 * USDT, BTC);
    quote(&h, BTCUSDT, 69999 * USDT, BTC, 70001 * USDT, BTC);
    pass(&h, SECOND_NS);
    sees(id, ORDER_PENDING, ORDER_OK);
    engine_symbol_view(h.engine, BTCUSDT, &view);
    CHECK_INT(view.last, 60050 * USDT);
    bar(60070, 60100, 60000, 60010);
    filled(id, 60070, false, AT_OPEN);
    /* one given while a bar forms knows its open: it waits for the next */
    pass(&h, 10 * SECOND_NS);
    id = ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
    CHECK_INT(reported(&h, id)->created_ns, bar_ns + 10 * SECOND_NS);
    bar(60020, 60020, 60020, 60020);
    sees(id, ORDER_PENDING, ORDER_OK);
    bar(60030, 60030, 60030, 60030);
    filled(id, 60030, false, AT_OPEN);
    end();
}

/* Bars of the past, played against a clock of today: what is asked by hand is dated by the bars' time. */
static void test_wrong_clock(void)
{
    open_bars();
    harness_create(&h);
    int64_t ahead_ns = 400 * 86400 * SECOND_NS;
    uint64_t id = 0;
    for (int i = 0; i < 3; i++) {
        struct bar made = flat_bar(bar_ns, 60000 * USDT);
        bar_ns += MINUTE_NS;
        h.now_ns = bar_ns + ahead_ns;
        struct event event = {.kind = EVENT_MARKET,
                              .market = {.kind = MARKET_KLINE,
                                         .event_ns = bar_ns,
                                         .kline = {h.config.interval_ns, made, true}}};
        CHECK_INT(harness_event(&h, &event), 0);
        if (i > 0)
            continue;
        h.now_ns += 20 * SECOND_NS;
        id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
        CHECK_INT(reported(&h, id)->created_ns, bar_ns + 20 * SECOND_NS);
    }
    filled(id, 60000, false, AT_OPEN);
    end();
}

/* The same of a clock that is off by less than a late event could be, once it is known by how much. */
static void test_known_clock(int64_t ahead_ns)
{
    uint64_t id = 0;
    open_bars();
    harness_create(&h);
    h.now_ns += ahead_ns;
    venue_clock(&h, -ahead_ns);
    for (int i = 0; i < 3; i++) {
        bar_ns += MINUTE_NS;
        h.now_ns = bar_ns + ahead_ns;
        struct bar made = flat_bar(bar_ns - MINUTE_NS, 60000 * USDT);
        kline(&h, BTCUSDT, &made);
        if (i > 0)
            continue;
        h.now_ns += 20 * SECOND_NS;
        id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
        CHECK_INT(reported(&h, id)->created_ns, bar_ns + 20 * SECOND_NS);
    }
    filled(id, 60000, false, AT_OPEN);
    end();
}

static void test_late(void)
{
    open_bars();
    h.config.latency_ns = 90 * SECOND_NS; /* more than a bar */
    begin(0);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(60000, 60000, 60000, 60000);
    sees(id, ORDER_PENDING, ORDER_OK);
    bar(60010, 60010, 60010, 60010); /* it ends after the order is there */
    filled(id, 60010, false, AT_OPEN);
    /* a cancel takes as long: the limit is passed meanwhile */
    id = ask(&h, limit(ORDER_SELL, BTC, 61000 * USDT));
    bar(60010, 60010, 60010, 60010);
    cancel(&h, id);
    bar(60010, 60010, 60010, 60010);
    sees(id, ORDER_OPEN, ORDER_OK);
    bar(61500, 61500, 61500, 61500); /* the cancel is there before the open */
    sees(id, ORDER_CANCELED, ORDER_OK);
    end();
}

static void test_missing(void)
{
    open_bars();
    begin(0);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar_ns += MINUTE_NS; /* one is missing: what comes waits */
    bar(60020, 60020, 60020, 60020);
    CHECK_INT(h.bars_wanted, 1);
    sees(id, ORDER_PENDING, ORDER_OK);
    struct bar missed = flat_bar(bar_ns - 2 * MINUTE_NS, 60015 * USDT);
    struct event event = {.kind = EVENT_BARS, .bars = {BTCUSDT, &missed, 1, true}};
    CHECK_INT(harness_event(&h, &event), 0);
    filled(id, 60015, false, bar_ns - 2 * MINUTE_NS);
    CHECK_INT(engine_now(h.engine), bar_ns);
    /* and where the venue has none, the next that exists */
    id = ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
    bar_ns += 3 * MINUTE_NS;
    bar(60040, 60040, 60040, 60040);
    event.bars = (struct event_bars){BTCUSDT, NULL, 0, true};
    CHECK_INT(harness_event(&h, &event), 0);
    filled(id, 60040, false, AT_OPEN);
    CHECK_INT(h.alerts, 0);
    end();
}

static void test_stops(void)
{
    open_bars();
    begin(3 * BTC);
    uint64_t touched = ask(&h, stop(ORDER_SELL, BTC, 59000 * USDT));
    uint64_t passed = ask(&h, stop(ORDER_SELL, BTC, 58900 * USDT));
    bar(60000, 60000, 59001, 59500);
    sees(touched, ORDER_OPEN, ORDER_OK);
    bar(59500, 59600, 59000, 59500);
    filled(touched, 59000, false, INSIDE);
    bar(58000, 62000, 57000, 61000); /* a gap through it: the open, however good the rest */
    filled(passed, 58000, false, AT_OPEN);
    uint64_t buys = ask(&h, stop(ORDER_BUY, BTC, 61000 * USDT)); /* reached on arrival */
    bar(61000, 61000, 61000, 61000);
    filled(buys, 61000, false, AT_OPEN);
    struct order request = order_of(ORDER_SELL, ORDER_TAKE_PROFIT, BTC);
    request.stop_price = 62000 * USDT;
    uint64_t profit = ask(&h, request);
    bar(61000, 62000, 60000, 60500);
    filled(profit, 62000, false, INSIDE);
    end();
}

static void test_limits(void)
{
    open_bars();
    begin(0);
    uint64_t new = ask(&h, limit(ORDER_BUY, BTC, 60000 * USDT));
    bar(59900, 59900, 59900, 59900); /* new, and it crosses: the open, as a taker */
    filled(new, 59900, false, AT_OPEN);
    uint64_t touched = ask(&h, limit(ORDER_BUY, BTC, 59000 * USDT));
    bar(59900, 59900, 59000, 59500);
    sees(touched, ORDER_OPEN, ORDER_OK); /* others stand before it */
    bar(59500, 59500, 58999, 59400);
    filled(touched, 59000, true, INSIDE);
    uint64_t gapped = ask(&h, limit(ORDER_BUY, BTC, 59000 * USDT));
    bar(59500, 59500, 59500, 59500);
    bar(58000, 58000, 58000, 58000);
    filled(gapped, 59000, true, AT_OPEN);
    uint64_t amended = ask(&h, limit(ORDER_BUY, BTC, 57000 * USDT));
    bar(58000, 58000, 58000, 58000);
    amend(&h, (struct order_amend){.order_id = amended, .set = AMEND_PRICE, .price = 58500 * USDT});
    bar(58100, 58100, 58100, 58100); /* as if it were new */
    filled(amended, 58100, false, AT_OPEN);
    struct order request = limit(ORDER_BUY, BTC, 58000 * USDT);
    request.tif = ORDER_IOC;
    uint64_t ioc = ask(&h, request);
    request.tif = ORDER_GTC;
    request.post_only = true;
    request.price = 58200 * USDT;
    uint64_t post_only = ask(&h, request);
    bar(58100, 58100, 57000, 57000);
    sees(ioc, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    sees(post_only, ORDER_CANCELED, ORDER_WOULD_TAKE);
    end();
}

static void test_stop_limits(void)
{
    open_bars();
    begin(3 * BTC);
    struct order request = order_of(ORDER_SELL, ORDER_STOP_LIMIT, BTC);
    request.stop_price = 59000 * USDT;
    request.price = 58900 * USDT;
    uint64_t takes = ask(&h, request);
    bar(60000, 60000, 58000, 58000);
    filled(takes, 59000, false, INSIDE);
    request.stop_price = 57000 * USDT;
    request.price = 57500 * USDT; /* above its stop: it waits for the price to come back */
    uint64_t rests = ask(&h, request);
    bar(58000, 58000, 57000, 58000);
    sees(rests, ORDER_OPEN, ORDER_OK);
    CHECK(reported(&h, rests)->triggered);
    bar(57400, 57501, 57400, 57400);
    filled(rests, 57500, true, INSIDE);
    request.stop_price = 56000 * USDT;
    request.price = 55900 * USDT;
    uint64_t gapped = ask(&h, request);
    bar(57400, 57400, 57400, 57400);
    bar(55000, 55800, 55000, 55500); /* triggered below its limit, which the bar does not reach */
    sees(gapped, ORDER_OPEN, ORDER_OK);
    CHECK(reported(&h, gapped)->triggered);
    bar(55500, 56000, 55500, 55500);
    filled(gapped, 55900, true, INSIDE);
    end();
}

static void test_trailing(void)
{
    open_bars();
    begin(2 * BTC);
    struct order request = order_of(ORDER_SELL, ORDER_TRAILING_STOP, BTC);
    request.trail = 1000 * USDT;
    uint64_t first = ask(&h, request), second = ask(&h, request);
    bar(60000, 60500, 59001, 60400); /* the low is checked with the open as peak, the close with the high */
    sees(first, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reported(&h, first)->peak, 60500 * USDT);
    CHECK_INT(reported(&h, first)->stop_price, 59500 * USDT);
    amend(&h, (struct order_amend){.order_id = second, .set = AMEND_TRAIL, .trail = 3000 * USDT});
    bar(60400, 62000, 60000, 60900);
    filled(first, 61000, false, INSIDE);
    CHECK_INT(reported(&h, second)->stop_price, 59000 * USDT);
    bar(58500, 58500, 58500, 58500);
    filled(second, 58500, false, AT_OPEN);
    end();
}

static void test_brackets(void)
{
    open_bars();
    begin(0);
    uint64_t id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(60000, 62000, 58000, 60000); /* both: the stop first */
    sees(id, ORDER_FILLED, ORDER_OK);
    filled(id + 2, 59000, false, INSIDE);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(60000, 61001, 59001, 60000);
    filled(id + 1, 61000, true, INSIDE);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);
    id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(58500, 61001, 58400, 60000); /* the open is beyond the stop already */
    filled(id + 2, 58500, false, AT_OPEN);
    id = bracket(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(61500, 61600, 61400, 61500); /* and beyond the profit */
    filled(id + 1, 61500, false, AT_OPEN);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);

    id = bracket(limit(ORDER_BUY, BTC, 60000 * USDT));
    bar(60500, 61500, 59001, 61000); /* it fills inside: its profit not before the next bar */
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.ts_ns, INSIDE);
    CHECK(h.last_fill.maker);
    sees(id + 1, ORDER_OPEN, ORDER_OK);
    sees(id + 2, ORDER_OPEN, ORDER_OK);
    bar(61000, 61001, 61000, 61000);
    filled(id + 1, 61000, true, INSIDE);
    id = bracket(limit(ORDER_BUY, BTC, 60000 * USDT));
    bar(60500, 61500, 59000, 61000); /* but its stop in the same */
    filled(id + 2, 59000, false, INSIDE);
    sees(id + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
    end();
}

static void test_stop_entries(void)
{
    open_bars();
    begin(0);
    uint64_t id = bracket(stop(ORDER_BUY, BTC, 60500 * USDT));
    bar(60000, 60600, 58000, 60000); /* the low may lie before: only the close is certain */
    sees(id, ORDER_FILLED, ORDER_OK);
    sees(id + 2, ORDER_OPEN, ORDER_OK);
    bar(60000, 60000, 59000, 60000);
    filled(id + 2, 59000, false, INSIDE);
    id = bracket(stop(ORDER_BUY, BTC, 60500 * USDT));
    bar(60000, 60600, 58000, 58500);
    filled(id + 2, 59000, false, INSIDE);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    end();
}

static void test_expiry(void)
{
    open_bars();
    begin(0);
    struct order request = limit(ORDER_BUY, BTC, 59000 * USDT);
    request.tif = ORDER_GTD;
    request.expires_ns = bar_ns + MINUTE_NS;
    uint64_t good = ask(&h, request);
    uint64_t late = ask(&h, request);
    amend(&h, (struct order_amend){.order_id = late, .set = AMEND_PRICE, .price = 58000 * USDT});
    bar(60000, 60000, 58500, 60000);
    filled(good, 59000, true, INSIDE);
    bar(57000, 57000, 57000, 57000); /* it is over at the open */
    sees(late, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, late)->updated_ns, AT_OPEN);
    end();
}

static void test_affordable(void)
{
    open_bars();
    h.accounts[ALICE].cash = 60060 * USDT; /* a coin at 60,000 and the fee */
    begin(0);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(60600, 60600, 60600, 60600);
    sees(id, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(reported(&h, id)->filled, 99009000); /* floor(60060 / (60600 * 1.001)) to the step of 0.00001 */
    struct order request = order_of(ORDER_SELL, ORDER_MARKET, 99009000);
    ask(&h, request);
    bar(60600, 60600, 60600, 60600);
    request = order_of(ORDER_BUY, ORDER_MARKET, 98 * BTC / 100);
    request.tif = ORDER_FOK;
    id = ask(&h, request);
    bar(62000, 62000, 62000, 62000);
    sees(id, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(reported(&h, id)->filled, 0);
    end();
}

static void test_slippage(void)
{
    open_bars();
    h.config.slippage_e6 = 500;
    harness_open(&h);
    bar(60000, 60000, 60000, 60000);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    bar(60001, 60001, 60001, 60001);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 6003101 * USDT / 100); /* 60001 * 1.0005 = 60031.0005, up to the tick */
    id = ask(&h, limit(ORDER_BUY, BTC, 60010 * USDT));
    bar(60000, 60000, 60000, 60000);
    filled(id, 60010, false, AT_OPEN); /* not beyond its limit */
    id = ask(&h, limit(ORDER_BUY, BTC, 59000 * USDT));
    bar(60000, 60000, 58000, 60000);
    filled(id, 59000, true, INSIDE); /* makers pay none */
    id = ask(&h, stop(ORDER_SELL, 3 * BTC, 59000 * USDT));
    bar(60000, 60000, 58000, 60000);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 5897050 * USDT / 100);
    end();
}

static void test_shorts(void)
{
    open_bars();
    h.accounts[ALICE].cash = 100000 * USDT;
    h.accounts[ALICE].rules.shorts = true;
    h.accounts[ALICE].rules.collateral_e4 = 15000;
    h.accounts[ALICE].rules.maintenance_e4 = 12500;
    h.accounts[ALICE].rules.borrow_rate_e6 = 876000; /* 0.01 % an hour */
    begin(0);
    uint64_t id = ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
    bar(60000, 60000, 60000, 60000);
    filled(id, 60000, false, AT_OPEN);
    CHECK_INT(h.position[ALICE][BTCUSDT], -BTC);
    int64_t before = cash(&h, ALICE);
    while (bar_ns % (60 * MINUTE_NS) != 0)
        bar(60000, 60000, 60000, 60000);
    CHECK_INT(cash(&h, ALICE), before); /* the hour is over, and no bar has opened since */
    bar(60000, 60000, 60000, 60000);
    CHECK_INT(cash(&h, ALICE), before - 6 * USDT);
    bar(129000, 129000, 129000, 129000); /* 160,000 covers 124 % of it */
    CHECK_STR(h.last_alert, "MARGIN_CALL");
    sees(id + 1, ORDER_PENDING, ORDER_OK);
    bar(128000, 128000, 128000, 128000);
    filled(id + 1, 128000, false, AT_OPEN);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    end();
}

static void test_flatten(void)
{
    open_bars();
    begin(BTC);
    uint64_t rests = ask(&h, limit(ORDER_SELL, BTC, 61000 * USDT));
    bar(60000, 60000, 60000, 60000);
    command(&h, (struct event_command){.kind = COMMAND_FLATTEN});
    bar(62000, 62000, 62000, 62000);
    sees(rests, ORDER_CANCELED, ORDER_OK);
    filled(rests + 1, 62000, false, AT_OPEN);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    end();
}

/* Symbols come one after the other: the clock goes back to the open of the second's bar. */
static void test_symbols(void)
{
    open_bars();
    harness_open(&h);
    bar(60000, 60000, 60000, 60000);
    bar_ns -= MINUTE_NS;
    bar_of(ETHUSDT, 3000, 3000, 3000, 3000);
    uint64_t btc = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    struct order request = order_of(ORDER_BUY, ORDER_MARKET, BTC);
    request.symbol = ETHUSDT;
    uint64_t eth = ask(&h, request);
    bar(60000, 60000, 60000, 60000);
    filled(btc, 60000, false, AT_OPEN);
    sees(eth, ORDER_PENDING, ORDER_OK);
    bar_ns -= MINUTE_NS;
    bar_of(ETHUSDT, 3010, 3010, 3010, 3010);
    filled(eth, 3010, false, AT_OPEN);
    end();
}

/* docs/fills.md: bracketed between 97 and 104, given at a close of 100. */
static uint64_t example(int32_t slippage_e6)
{
    struct order legs[] = {order_of(ORDER_BUY, ORDER_MARKET, BTC), stop(ORDER_SELL, 0, 97 * USDT),
                           limit(ORDER_SELL, 0, 104 * USDT)};
    open_bars();
    h.config.slippage_e6 = slippage_e6;
    harness_open(&h);
    bar(99, 101, 98, 100);
    uint64_t id = group(&h, ORDERS_BRACKET, legs, 3);
    CHECK_INT(h.command_reason, ORDER_OK);
    return id;
}

static void test_example(void)
{
    uint64_t id = example(0);
    bar(101, 103, 98, 102);
    filled(id, 101, false, AT_OPEN);
    CHECK_INT(h.last_fill.fee, 101 * USDT / 1000);
    sees(id + 1, ORDER_OPEN, ORDER_OK);
    bar(102, 105, 96, 104);
    filled(id + 1, 97, false, INSIDE);
    sees(id + 2, ORDER_CANCELED, ORDER_OTHER_LEG);
    end();
    id = example(0);
    bar(101, 103, 98, 102);
    bar(95, 105, 94, 104);
    filled(id + 1, 95, false, AT_OPEN);
    end();
    id = example(0);
    bar(101, 103, 98, 102);
    bar(106, 107, 96, 104);
    filled(id + 2, 104, true, AT_OPEN);
    end();
    id = example(0);
    bar(96, 103, 95, 102);
    filled(id + 1, 96, false, AT_OPEN);
    CHECK_INT(h.fills, 2);
    end();
    id = example(1000);
    bar(101, 103, 98, 102);
    CHECK_INT(h.last_fill.price, 10111 * USDT / 100);
    bar(102, 105, 96, 104);
    CHECK_INT(h.last_fill.price, 9690 * USDT / 100);
    end();
}

static void change_model(enum fill_model model)
{
    char err[ENGINE_ERROR_MAX] = "";
    h.config.fill_model = model;
    CHECK_INT(engine_configure(h.engine, &h.config, err), 0);
    CHECK_STR(err, "");
}

/* Orders live on in the next run's model. */
static void test_change(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    h.config.latency_ns = 2 * SECOND_NS;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 5 * BTC, 60000 * USDT, 5 * BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    ask(&h, order_of(ORDER_BUY, ORDER_MARKET, 4 * BTC));
    pass(&h, 2 * SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], 4 * BTC);
    uint64_t protects = rested(stop(ORDER_SELL, BTC, 59000 * USDT));
    uint64_t waits = rested(limit(ORDER_BUY, BTC, 58000 * USDT));
    pass(&h, 2 * SECOND_NS);
    uint64_t pending = ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
    int64_t given_ns = h.now_ns;
    change_model(FILL_BAR);
    bar_ns = START_NS;
    bar(60000, 60000, 57000, 60000); /* it opened before them */
    sees(protects, ORDER_OPEN, ORDER_OK);
    sees(waits, ORDER_OPEN, ORDER_OK);
    sees(pending, ORDER_PENDING, ORDER_OK);
    CHECK(given_ns > START_NS && given_ns < bar_ns);
    bar(60000, 60000, 59500, 60000);
    filled(pending, 60000, false, AT_OPEN);
    bar(60000, 60000, 57999, 58500);
    sees(protects, ORDER_FILLED, ORDER_OK);
    filled(waits, 58000, true, INSIDE);
    uint64_t next = ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
    uint64_t bars_stop = ask(&h, stop(ORDER_SELL, BTC, 57000 * USDT));
    change_model(FILL_QUOTE);
    pass(&h, SECOND_NS);
    quote(&h, BTCUSDT, 58400 * USDT, BTC, 58401 * USDT, BTC);
    pass(&h, SECOND_NS);
    sees(next, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 58400 * USDT);
    sees(bars_stop, ORDER_OPEN, ORDER_OK);
    quote(&h, BTCUSDT, 56900 * USDT, 2 * BTC, 56901 * USDT, BTC);
    trade(&h, BTCUSDT, 56900 * USDT, BTC);
    sees(bars_stop, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.position[ALICE][BTCUSDT], BTC);
    end();
}

/* The best bid and ask alone, whatever the book shows. */
static void test_quote(void)
{
    struct book_level bids[] = {{59990 * USDT, BTC}, {59980 * USDT, 2 * BTC}};
    struct book_level asks[] = {{60000 * USDT, BTC}, {60010 * USDT, 2 * BTC}};
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    h.config.fill_model = FILL_QUOTE;
    harness_open(&h);
    CHECK_INT(snapshot(&h, BTCUSDT, 1000, bids, 2, asks, 2), 0);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(h.command_reason, ORDER_NO_LIQUIDITY);
    quote(&h, BTCUSDT, 59995 * USDT, BTC, 60005 * USDT, BTC); /* its number is far behind the book's */
    id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, 2 * BTC));
    pass(&h, SECOND_NS);
    sees(id, ORDER_CANCELED, ORDER_NO_LIQUIDITY);
    CHECK_INT(reported(&h, id)->filled, BTC);
    CHECK_INT(h.last_fill.price, 60005 * USDT);
    uint64_t rests = rested(limit(ORDER_BUY, BTC, 59000 * USDT));
    trade(&h, BTCUSDT, 58999 * USDT, BTC);
    sees(rests, ORDER_FILLED, ORDER_OK);
    CHECK(h.last_fill.maker);
    end();
}

/* Takers pay it in every model. */
static void test_quote_slippage(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    h.config.slippage_e6 = 1000;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    uint64_t id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60060 * USDT);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 2 * BTC);
    id = ask(&h, limit(ORDER_BUY, BTC, 60010 * USDT));
    pass(&h, SECOND_NS);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 60010 * USDT);
    end();
}

static void quoted(enum fill_beyond beyond)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 10000000 * USDT;
    h.config.fill_model = FILL_QUOTE;
    h.config.beyond = beyond;
    harness_open(&h);
    quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 100 * USDT, 5 * BTC);
    trade(&h, BTCUSDT, 100 * USDT, BTC);
}

static void costs(uint64_t id, enum order_state state, int64_t filled_qty, int64_t cost)
{
    CHECK_STR(order_state_name(reported(&h, id)->state), order_state_name(state));
    CHECK_INT(reported(&h, id)->filled, filled_qty * BTC);
    CHECK_INT(reported(&h, id)->cost, cost * USDT);
}

/* The example of docs/fills.md: 98 is bid for 4, 5 are offered at 100. */
static void test_impact(void)
{
    quoted(FILL_BEYOND_IMPACT);
    costs(rested(order_of(ORDER_BUY, ORDER_MARKET, 12 * BTC)), ORDER_FILLED, 12, 5 * 100 + 5 * 102 + 2 * 104);
    CHECK_STR(fill_basis_name(h.last_fill.basis), "impact");
    CHECK_INT(h.fills, 3);
    costs(rested(order_of(ORDER_SELL, ORDER_MARKET, 9 * BTC)), ORDER_FILLED, 9, 4 * 98 + 4 * 96 + 94);
    costs(rested(order_of(ORDER_BUY, ORDER_MARKET, 4 * BTC)), ORDER_FILLED, 4, 3 * 104 + 106);
    costs(rested(limit(ORDER_BUY, 20 * BTC, 108 * USDT)), ORDER_PARTIAL, 9, 4 * 106 + 5 * 108);
    struct order whole = order_of(ORDER_BUY, ORDER_MARKET, 12 * BTC);
    whole.tif = ORDER_FOK;
    costs(rested(whole), ORDER_FILLED, 12, 5 * 110 + 5 * 112 + 2 * 114);
    quote(&h, BTCUSDT, 110 * USDT, BTC, 111 * USDT,
          BTC); /* a limit that waits makes at its own price, once */
    uint64_t rests = rested(limit(ORDER_BUY, 3 * BTC, 109 * USDT));
    quote(&h, BTCUSDT, 107 * USDT, BTC, 109 * USDT, BTC);
    costs(rests, ORDER_PARTIAL, 1, 109);
    CHECK(h.last_fill.maker);
    end();
}

/* There is an end to it: a hundred multiples, and the lowest price. */
static void test_impact_ends(void)
{
    quoted(FILL_BEYOND_IMPACT);
    uint64_t id = rested(order_of(ORDER_BUY, ORDER_MARKET, 600 * BTC));
    costs(id, ORDER_CANCELED, 505, 5 * 100 + 5 * (100 * 100 + 2 * 5050));
    sees(id, ORDER_CANCELED, ORDER_NO_LIQUIDITY);
    CHECK_STR(h.last_alert, "NO_LIQUIDITY");
    CHECK(strstr(h.last_alert_text, "found no more to trade with: the rest ends") != NULL);
    quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 138 * USDT, BTC);
    costs(rested(order_of(ORDER_SELL, ORDER_MARKET, 20 * BTC)), ORDER_CANCELED, 12, 4 * (98 + 58 + 18));
    quote(&h, BTCUSDT, 50 * USDT, 4 * BTC, 0, 0); /* nothing is offered: a tick a multiple */
    id = rested(order_of(ORDER_SELL, ORDER_MARKET, 8 * BTC));
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 50 * USDT - USDT / 100);
    end();
}

static void test_beyond_waits(void)
{
    quoted(FILL_BEYOND_WAIT);
    uint64_t id = rested(order_of(ORDER_BUY, ORDER_MARKET, 12 * BTC));
    costs(id, ORDER_PARTIAL, 5, 500);
    quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 100 * USDT, 5 * BTC); /* the same once more: taken already */
    costs(id, ORDER_PARTIAL, 5, 500);
    quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 101 * USDT, 3 * BTC);
    costs(id, ORDER_PARTIAL, 8, 803);
    quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 99 * USDT, 9 * BTC);
    costs(id, ORDER_FILLED, 12, 1199);
    CHECK_INT(h.alerts, 0);
    struct order now = order_of(ORDER_BUY, ORDER_MARKET, 12 * BTC);
    now.tif = ORDER_IOC;
    costs(rested(now), ORDER_EXPIRED, 5, 5 * 99);
    end();
}

/* With the book the rest is not assumed: what it shows is all there is. */
static void test_beyond_book(void)
{
    for (int beyond = 0; beyond < FILL_BEYONDS; beyond++) {
        harness_init(&h);
        h.accounts[ALICE].cash = 10000000 * USDT;
        h.config.beyond = (enum fill_beyond)beyond;
        harness_open(&h);
        quote(&h, BTCUSDT, 98 * USDT, 4 * BTC, 100 * USDT, 5 * BTC);
        costs(rested(order_of(ORDER_BUY, ORDER_MARKET, 12 * BTC)), ORDER_CANCELED, 5, 500);
        end();
    }
}

/* As a daemon starts: events before the first bar move no time, and there is no deposit yet. */
static void test_first_equity(void)
{
    open_bars();
    h.config.equity_interval_ns = 10 * SECOND_NS;
    harness_create(&h);
    const struct event up = {.recv_ns = START_NS, .kind = EVENT_CONNECTION, .connection = {.up = true}};
    CHECK_INT(engine_handle(h.engine, &up), 0);
    CHECK_INT(h.equity_points, 0);
    bar(60000, 60000, 60000, 60000);
    bar(60000, 60000, 60000, 60000);
    CHECK(h.equity_points > 0 && h.last_equity[ALICE].ts_ns >= START_NS);
    CHECK_INT(h.last_equity[ALICE].equity, 1000000 * USDT);
    end();
}

int main(void)
{
    test_first_equity();
    test_impact();
    test_impact_ends();
    test_beyond_waits();
    test_beyond_book();
    test_example();
    test_change();
    test_quote();
    test_quote_slippage();
    test_clock();
    test_wrong_clock();
    test_known_clock(15 * SECOND_NS);
    test_known_clock(-15 * SECOND_NS);
    test_late();
    test_missing();
    test_stops();
    test_limits();
    test_stop_limits();
    test_trailing();
    test_brackets();
    test_stop_entries();
    test_expiry();
    test_affordable();
    test_slippage();
    test_shorts();
    test_flatten();
    test_symbols();
    return check_done("engine/fill_models");
}
