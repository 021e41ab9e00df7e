/* What the market does to orders: the queue, what is shown and taken, bars that were missed, stale data,
 * flattening; and what a tracer is called with. Numbers that one can check by hand. */
#include <time.h>

#include "tests/engine/by_hand.h"

static void test_queue(void)
{
    open_booked();
    /* Two coins stand before us at 59980. */
    uint64_t id = rested(limit(ORDER_BUY, BTC, 59980 * USDT));
    trade_by(&h, BTCUSDT, 59980 * USDT, 3 * BTC / 2, true);
    CHECK_INT(reported(&h, id)->filled, 0);
    trade_by(&h, BTCUSDT, 59980 * USDT, 5 * BTC, false); /* on the other side: nothing to us */
    CHECK_INT(reported(&h, id)->filled, 0);
    trade_by(&h, BTCUSDT, 59980 * USDT, 3 * BTC / 4, true); /* half a coin was left before us */
    CHECK_INT(reported(&h, id)->filled, BTC / 4);
    CHECK_INT(h.last_fill.price, 59980 * USDT);
    CHECK(h.last_fill.maker);
    trade_by(&h, BTCUSDT, 59980 * USDT, BTC / 4, true); /* we stand first */
    CHECK_INT(reported(&h, id)->filled, BTC / 2);
    trade_by(&h, BTCUSDT, 59979 * USDT, BTC, false); /* through our price, on either side */
    sees(id, ORDER_FILLED, ORDER_OK);

    /* Others cancel: what is shown bounds what stands before us. */
    id = rested(limit(ORDER_BUY, BTC, 59970 * USDT));
    struct book_level bid = {59970 * USDT, BTC / 2};
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, &bid, 1, NULL, 0), 0);
    bid.qty = 9 * BTC; /* a later order stands behind */
    CHECK_INT(depth(&h, BTCUSDT, 1002, 1002, &bid, 1, NULL, 0), 0);
    trade_by(&h, BTCUSDT, 59970 * USDT, BTC, true);
    CHECK_INT(reported(&h, id)->filled, BTC / 2);

    /* What lies beyond the shown book is unknown; of two orders of ours, the later one is not ahead. */
    uint64_t deep = rested(limit(ORDER_BUY, BTC, 59960 * USDT));
    trade_by(&h, BTCUSDT, 59960 * USDT, 9 * BTC, true);
    CHECK_INT(reported(&h, deep)->filled, 0);
    sees(id, ORDER_FILLED, ORDER_OK); /* the same trade went through this one */
    trade_by(&h, BTCUSDT, 59959 * USDT, BTC / 4, true);
    CHECK_INT(reported(&h, deep)->filled, BTC / 4);
    bid = (struct book_level){59960 * USDT, BTC / 8}; /* now it is shown */
    CHECK_INT(depth(&h, BTCUSDT, 1003, 1003, &bid, 1, NULL, 0), 0);
    trade_by(&h, BTCUSDT, 59960 * USDT, BTC / 4, true);
    CHECK_INT(reported(&h, deep)->filled, 3 * BTC / 8);
    /* One trade between two of an account's orders: never more than it had. */
    uint64_t behind = rested(limit(ORDER_BUY, BTC, 59960 * USDT)); /* an eighth before it */
    trade_by(&h, BTCUSDT, 59960 * USDT, 3 * BTC / 4, true);
    CHECK_INT(reported(&h, deep)->filled, BTC); /* 5/8 */
    sees(deep, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, behind)->filled, 0); /* 3/4 - 1/8 before it - 5/8 */
    trade_by(&h, BTCUSDT, 59960 * USDT, BTC / 8, true);
    CHECK_INT(reported(&h, behind)->filled, BTC / 8);
    harness_close(&h);

    /* By the best quote alone: at it, inside, beyond. */
    open_quoted();
    uint64_t at = rested(limit(ORDER_BUY, BTC / 2, 59999 * USDT));
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60001 * USDT, BTC);
    uint64_t inside = rested(limit(ORDER_BUY, BTC / 2, 60000 * USDT));
    uint64_t beyond = rested(limit(ORDER_BUY, BTC / 2, 59998 * USDT));
    trade_by(&h, BTCUSDT, 60000 * USDT, BTC / 4, true);
    CHECK_INT(reported(&h, inside)->filled, BTC / 4);
    trade_by(&h, BTCUSDT, 59999 * USDT, 2 * BTC, true); /* through one, at the other, whose queue it takes */
    CHECK_INT(reported(&h, inside)->filled, BTC / 2);
    CHECK_INT(reported(&h, at)->filled, 0);
    trade_by(&h, BTCUSDT, 59999 * USDT, BTC / 8, true);
    CHECK_INT(reported(&h, at)->filled, BTC / 8);
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC, true);
    sees(at, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, beyond)->filled, 0);
    quote(&h, BTCUSDT, 59998 * USDT, BTC / 4, 60000 * USDT, BTC); /* it becomes the best */
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC / 2, true);
    CHECK_INT(reported(&h, beyond)->filled, BTC / 4);
    /* After an interruption its place is not known any more. */
    connection(&h, true);
    trade_by(&h, BTCUSDT, 59998 * USDT, BTC, true);
    CHECK_INT(reported(&h, beyond)->filled, BTC / 4);
    harness_close(&h);
}

/* Of an account's orders the best price has a trade first, then the oldest. */
static void test_turns(void)
{
    open_booked();
    uint64_t low = rested(limit(ORDER_BUY, BTC / 2, 59960 * USDT));
    uint64_t high = rested(limit(ORDER_BUY, BTC / 2, 59970 * USDT));
    uint64_t late = rested(limit(ORDER_BUY, BTC / 2, 59970 * USDT));
    trade_by(&h, BTCUSDT, 59950 * USDT, 3 * BTC / 4, true); /* through all three */
    sees(high, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, late)->filled, BTC / 4);
    CHECK_INT(reported(&h, low)->filled, 0);
    trade_by(&h, BTCUSDT, 59950 * USDT, BTC / 2, true);
    sees(late, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, low)->filled, BTC / 4);
    harness_close(&h);
}

/* What one account takes is gone for it until more is shown; another has a market of its own. */
static void test_depletion(void)
{
    open_booked();
    h.accounts[BOB].cash = 10000 * USDT;
    uint64_t id = rested(order_of(ORDER_BUY, ORDER_MARKET, 3 * BTC / 2));
    CHECK_INT(reported(&h, id)->cost, 60000 * USDT + 30005 * USDT);
    id = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(reported(&h, id)->cost, 60010 * USDT);
    struct order other = order_of(ORDER_BUY, ORDER_MARKET, BTC / 10);
    other.account = BOB;
    id = rested(other);
    CHECK_INT(reported(&h, id)->cost, 6000 * USDT);
    struct book_level more = {60000 * USDT, 3 * BTC / 2}; /* half a coin is added */
    CHECK_INT(depth(&h, BTCUSDT, 1001, 1001, NULL, 0, &more, 1), 0);
    id = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(reported(&h, id)->cost, 30000 * USDT + 30005 * USDT);
    more.qty = BTC / 4; /* of what is left, all was ours */
    CHECK_INT(depth(&h, BTCUSDT, 1002, 1002, NULL, 0, &more, 1), 0);
    more.qty = BTC / 2; /* and a quarter comes */
    CHECK_INT(depth(&h, BTCUSDT, 1003, 1003, NULL, 0, &more, 1), 0);
    id = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC / 2));
    CHECK_INT(reported(&h, id)->cost, 15000 * USDT + 60020 * USDT / 4);
    more.qty = 0; /* gone, and there again */
    CHECK_INT(depth(&h, BTCUSDT, 1004, 1004, NULL, 0, &more, 1), 0);
    more.qty = BTC;
    CHECK_INT(depth(&h, BTCUSDT, 1005, 1005, NULL, 0, &more, 1), 0);
    id = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(reported(&h, id)->cost, 60000 * USDT);
    harness_close(&h);
}

/* The rest of a limit order that crosses the best price sells at what is shown, not at its limit. */
static void test_crosses(void)
{
    open_quoted();
    hold(BTC);
    quote(&h, BTCUSDT, 5976392000000, BTC / 20, 5976393000000, BTC);
    uint64_t id = rested(limit(ORDER_SELL, BTC / 2, 50000 * USDT));
    CHECK_INT(reported(&h, id)->filled, BTC / 20);
    CHECK_INT(reported(&h, id)->cost, 5976392000000 / 20);
    trade_by(&h, BTCUSDT, 5976392000000, BTC, true); /* of others */
    CHECK_INT(reported(&h, id)->filled, BTC / 20);
    quote(&h, BTCUSDT, 5976391000000, BTC / 10, 5976393000000, BTC);
    CHECK_INT(reported(&h, id)->filled, 3 * BTC / 20);
    CHECK(h.last_fill.price == 5976391000000 && !h.last_fill.maker);
    connection(&h, true);
    trade_by(&h, BTCUSDT, 5976392000000, BTC, true);
    quote(&h, BTCUSDT, 5976390000000, BTC / 10, 5976393000000, BTC);
    CHECK_INT(reported(&h, id)->filled, BTC / 4);
    CHECK(h.last_fill.price == 5976390000000 && !h.last_fill.maker);
    quote(&h, BTCUSDT, 49999 * USDT, BTC, 50001 * USDT, BTC); /* it rests among the offers now */
    quote(&h, BTCUSDT, 50010 * USDT, BTC / 8, 50020 * USDT, BTC);
    CHECK_INT(reported(&h, id)->filled, 3 * BTC / 8);
    CHECK(h.last_fill.price == 50000 * USDT && h.last_fill.maker);
    trade(&h, BTCUSDT, 50010 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK(h.last_fill.price == 50000 * USDT && h.last_fill.maker);

    /* So does a stop-limit order that is triggered over the best price. */
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    struct order request = stop(ORDER_SELL, BTC / 2, 59900 * USDT);
    request.type = ORDER_STOP_LIMIT;
    request.price = 58000 * USDT;
    id = rested(request);
    quote(&h, BTCUSDT, 59890 * USDT, BTC / 4, 59900 * USDT, BTC);
    trade(&h, BTCUSDT, 59900 * USDT, BTC / 100);
    CHECK_INT(reported(&h, id)->filled, BTC / 4);
    quote(&h, BTCUSDT, 59880 * USDT, BTC / 4, 59900 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK(h.last_fill.price == 59880 * USDT && !h.last_fill.maker);
    harness_close(&h);
}

/* A trade, or a price that is shown, is had by every account alike: none takes from another. */
static void test_accounts_apart(void)
{
    open_quoted();
    struct order theirs = limit(ORDER_BUY, BTC / 10, 59900 * USDT), ours = theirs;
    theirs.account = BOB;
    uint64_t a = rested(ours), b = rested(theirs), c = rested(ours);
    trade(&h, BTCUSDT, 59899 * USDT, BTC / 10);
    sees(a, ORDER_FILLED, ORDER_OK);
    sees(b, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, c)->filled, 0);
    quote(&h, BTCUSDT, 59899 * USDT, BTC, 59900 * USDT, BTC / 20);
    CHECK_INT(reported(&h, c)->filled, BTC / 20);
    theirs = order_of(ORDER_SELL, ORDER_MARKET, BTC / 10);
    theirs.account = BOB;
    ours = order_of(ORDER_SELL, ORDER_MARKET, BTC / 10);
    quote(&h, BTCUSDT, 59899 * USDT, BTC / 10, 59900 * USDT, BTC / 20);
    a = ask(&h, ours);
    b = ask(&h, theirs);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, a)->cost, 59899 * USDT / 10);
    CHECK_INT(reported(&h, b)->cost, 59899 * USDT / 10);
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

/* The alert names the bar, to the second where bars are of seconds. */
static void test_missed_bar_named(int64_t interval_ns)
{
    harness_init(&h);
    h.config.interval_ns = interval_ns;
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    rested(limit(ORDER_BUY, BTC, 59400 * USDT));
    connection(&h, false);
    h.now_ns += 3 * MINUTE_NS;
    int64_t open_ns = START_NS + 2 * MINUTE_NS;
    char expected[64];
    time_t seconds = (time_t)(open_ns / SECOND_NS);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(expected, sizeof expected,
             interval_ns == SECOND_NS ? "bar of %Y-%m-%d %H:%M:%SZ from" : "bar of %Y-%m-%d %H:%MZ from",
             &utc);
    missed_bar(open_ns, 59300 * USDT, 60000 * USDT);
    CHECK_STR(h.last_alert, "LIMIT_MISSED");
    CHECK(strstr(h.last_alert_text, expected) != NULL);
    harness_close(&h);
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
    /* By a slow clock a later one, too. */
    venue_clock(&h, 2 * MINUTE_NS);
    missed_bar(START_NS + MINUTE_NS / 2, 50000 * USDT, 60000 * USDT);
    CHECK_INT(h.alerts, alerts);
    venue_clock(&h, 0);
    missed_bar(START_NS + MINUTE_NS, 59500 * USDT, 60000 * USDT); /* reaches the stop, not the limit */
    CHECK_INT(h.alerts, alerts + 1);
    CHECK_STR(h.last_alert, "STOP_MISSED");
    CHECK(h.last_subject.order > 0 && h.last_subject.account == 0 && h.last_subject.symbol == 0);
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

/* A bar that opened before a stop's price was what it is now says nothing of it. */
static void test_missed_since(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    hold(BTC);
    uint64_t amended = rested(stop(ORDER_SELL, BTC / 2, 58000 * USDT));
    struct order trail = stop(ORDER_SELL, BTC / 2, 0);
    trail.type = ORDER_TRAILING_STOP;
    trail.trail = 500 * USDT;
    uint64_t trailing = rested(trail);
    h.now_ns += MINUTE_NS + SECOND_NS;
    trade(&h, BTCUSDT, 59600 * USDT, BTC); /* the low of the minute, above both stops */
    trade(&h, BTCUSDT, 60200 * USDT, BTC); /* the trailing one goes to 59700 */
    amend(&h, (struct order_amend){.order_id = amended, .set = AMEND_STOP, .stop_price = 59650 * USDT});
    pass(&h, SECOND_NS);
    connection(&h, false);
    h.now_ns += 3 * MINUTE_NS;
    uint64_t alerts = h.alerts;
    missed_bar(START_NS + MINUTE_NS, 59600 * USDT, 60200 * USDT);
    CHECK_INT(h.alerts, alerts);
    missed_bar(START_NS + 2 * MINUTE_NS, 59700 * USDT, 60200 * USDT);
    CHECK_INT(h.alerts, alerts + 1); /* the trailing one alone */
    connection(&h, true);
    quote(&h, BTCUSDT, 60199 * USDT, BTC, 60200 * USDT, BTC);
    trade(&h, BTCUSDT, 60200 * USDT, BTC);
    sees(amended, ORDER_OPEN, ORDER_OK);
    sees(trailing, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

/* A pause is reported before any other reason of the market or the account. */
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

/* Trades come while quotes do not: a stop is triggered by them, and takes what is shown next, not what is
 * known to be too old; what could not wait expires. */
static void test_stale_stops(void)
{
    open_quoted();
    hold(BTC);
    uint64_t market = rested(stop(ORDER_SELL, BTC / 4, 59000 * USDT));
    struct order limited = stop(ORDER_SELL, BTC / 4, 59000 * USDT);
    limited.type = ORDER_STOP_LIMIT;
    limited.price = 57000 * USDT;
    uint64_t limit_stop = rested(limited);
    stale(&h, BTCUSDT, true);
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    sees(market, ORDER_OPEN, ORDER_OK);
    sees(limit_stop, ORDER_OPEN, ORDER_OK);
    CHECK(reported(&h, market)->triggered && reported(&h, limit_stop)->triggered);
    trade(&h, BTCUSDT, 57990 * USDT, BTC);
    CHECK_INT(reported(&h, market)->filled, 0);
    quote(&h, BTCUSDT, 57980 * USDT, BTC, 57981 * USDT, BTC); /* by REST: it need not be fresh again */
    sees(market, ORDER_FILLED, ORDER_OK);
    sees(limit_stop, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, market)->cost, 57980 * USDT / 4);
    CHECK_INT(reported(&h, limit_stop)->cost, 57980 * USDT / 4);
    harness_close(&h);
}

/* A quote of the book's own number is the newer of both: REST brought it while both streams were silent. */
static void test_quote_of_the_book(void)
{
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_QUOTE,
                                     .symbol = BTCUSDT,
                                     .quote = {999, 60500 * USDT, BTC, 60501 * USDT, BTC}}};
    open_booked(); /* to 1000 */
    CHECK_INT(harness_event(&h, &event), 0);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    int64_t book_price = h.last_fill.price;
    CHECK(h.fills == 1 && book_price < 60500 * USDT);
    event.market.quote.update_id = engine_book(h.engine, BTCUSDT)->last_id;
    CHECK_INT(harness_event(&h, &event), 0);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(h.fills, 2);
    CHECK_INT(h.last_fill.price, 60501 * USDT);
    harness_close(&h);
}

/* Flatten continues until no lot is left: at once with the shown book, then at each bar. */
static void test_flatten_continues(void)
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
    struct order leg = order_of(ORDER_BUY, ORDER_MARKET, BTC / 50);
    struct event give = {.kind = EVENT_COMMAND,
                         .command = {.kind = COMMAND_ORDER, .order = {.n_legs = 1, .legs = &leg}}};
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
    leg.qty = 1001;
    trace_event(engine, &give);
    CHECK(!traced.asked && traced.last_reason == ORDER_LOT_SIZE);
    engine_destroy(engine);
    harness_forget(&h);
}

int main(void)
{
    test_queue();
    test_turns();
    test_depletion();
    test_crosses();
    test_accounts_apart();
    test_missed(MISSED_STOPS_FILL);
    test_missed(MISSED_STOPS_KEEP);
    test_missed_since();
    test_missed_bar_named(SECOND_NS);
    test_missed_bar_named(MINUTE_NS);
    test_paused_first();
    test_stale_arrival();
    test_stale_stops();
    test_quote_of_the_book();
    test_flatten_continues();
    test_trace();
    return check_done("engine/order_market");
}
