/* Orders of the opening and the closing auction, and stops over the night, with numbers that one can check by
 * hand. */
#include "tests/engine/by_hand.h"
#include "tests/engine/reload.h"

#define OPENING_NS (10 * MINUTE_NS) /* how long an official price is waited for */
#define CLOSING_NS (15 * MINUTE_NS)

static enum fill_model model = FILL_QUOTE;
static const char *feed = "sip";
static bool any_print;

static void open_stock(void)
{
    harness_init(&h);
    h.config.fill_model = model;
    h.config.before_8 = any_print;
    h.accounts[ALICE].cash = 1000000 * USDT;
    h.accounts[ALICE].rules.shorts = true;
    h.accounts[ALICE].rules.collateral_e4 = 15000;
    h.accounts[ALICE].rules.maintenance_e4 = 12500;
    struct symbol *symbol = &h.symbols[BTCUSDT];
    snprintf(symbol->calendar, sizeof symbol->calendar, "us-equity");
    snprintf(symbol->feed, sizeof symbol->feed, "%s", feed);
    snprintf(symbol->venue, sizeof symbol->venue, "alpaca");
    symbol->asset = ASSET_US_EQUITY;
    symbol->shortable = symbol->easy_to_borrow = SYMBOL_SAYS_YES;
    symbol->loose_ids = true;
    symbol->primary = 'Q';
    harness_open(&h);
}

/* Before the session, which opens in an hour, with a price of the morning. */
static void before_open(void)
{
    open_stock();
    phase_at(MARKET_PHASE_EARLY, h.now_ns, h.now_ns + HOUR_NS, false);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

/* In a session that ends in six hours, at 60,000. */
static void in_session(void)
{
    open_stock();
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + 6 * HOUR_NS, false);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 5 * BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

static void the_open(void)
{
    h.now_ns = START_NS + HOUR_NS;
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + 6 * HOUR_NS, false);
}

static void the_close(void)
{
    h.now_ns = START_NS + 6 * HOUR_NS;
    phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + 4 * HOUR_NS, false);
}

static void the_next_open(void)
{
    h.now_ns += 4 * HOUR_NS;
    phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + 8 * HOUR_NS, false);
    h.now_ns += 8 * HOUR_NS;
    phase_at(MARKET_PHASE_EARLY, h.now_ns, h.now_ns + 5 * HOUR_NS, false);
    h.now_ns += 5 * HOUR_NS;
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + 6 * HOUR_NS, false);
}

static void print_at(enum market_auction auction, int64_t price, int64_t ts_ns)
{
    struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_TRADE, .symbol = BTCUSDT}};
    event.market.trade = (struct market_trade){.ts_ns = ts_ns,
                                               .id = h.next_trade_id[BTCUSDT]++,
                                               .price = price * USDT,
                                               .qty = BTC / 100,
                                               .auction = auction};
    event.market.trade.first_id = event.market.trade.last_id = event.market.trade.id;
    CHECK_INT(harness_event(&h, &event), 0);
}

static struct order of_auction(enum order_tif tif, struct order request)
{
    request.tif = tif;
    return request;
}

static void filled(uint64_t id, int64_t price, enum fill_basis basis)
{
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.order_id, id);
    CHECK_INT(h.last_fill.price, price * USDT);
    CHECK_STR(fill_basis_name(h.last_fill.basis), fill_basis_name(basis));
    CHECK(!h.last_fill.maker);
}

static void test_opening(void)
{
    before_open();
    uint64_t large = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, 10 * BTC)));
    uint64_t reached = rested(of_auction(ORDER_OPG, limit(ORDER_BUY, BTC, 60500 * USDT)));
    uint64_t beyond = rested(of_auction(ORDER_OPG, limit(ORDER_BUY, BTC, 60100 * USDT)));
    uint64_t closing = rested(of_auction(ORDER_CLS, order_of(ORDER_SELL, ORDER_MARKET, BTC)));
    sees(large, ORDER_OPEN, ORDER_OK);
    the_open();
    quote(&h, BTCUSDT, 60190 * USDT, BTC, 60210 * USDT, BTC); /* not what an auction trades at */
    trade(&h, BTCUSDT, 60050 * USDT, BTC);
    print_at(MARKET_CLOSING, 60060, h.now_ns);
    CHECK_INT(h.fills, 0);
    reload_engine(&h.engine);
    h.now_ns += SECOND_NS;
    print_at(MARKET_OPENING, 60200, h.now_ns);
    CHECK_INT(h.fills, 2);
    sees(large, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, large)->cost, 10 * 60200 * USDT); /* whole, whatever the print's quantity */
    filled(reached, 60200, FILL_BASIS_OPENING);
    sees(beyond, ORDER_EXPIRED, ORDER_OK);
    sees(closing, ORDER_OPEN, ORDER_OK);
    uint64_t later = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    print_at(MARKET_OPENING, 60300, h.now_ns); /* once more: it counts no longer */
    pass(&h, OPENING_NS);
    sees(later, ORDER_OPEN, ORDER_OK); /* of the next day */
    CHECK_INT(h.alerts, 0);
    harness_close(&h);
}

/* Our clock is two hours ahead: the order was given before the opening. */
static void test_wrong_clock(void)
{
    int64_t open_ns = START_NS + HOUR_NS, wrong_ns = 2 * HOUR_NS;
    open_stock();
    venue_clock(&h, -wrong_ns);
    phase_at(MARKET_PHASE_EARLY, START_NS + wrong_ns, open_ns, false);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    uint64_t id = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    phase_at(MARKET_PHASE_OPEN, open_ns + wrong_ns, open_ns + 6 * HOUR_NS, false);
    print_at(MARKET_OPENING, 60200, open_ns);
    filled(id, 60200, FILL_BASIS_OPENING);
    harness_close(&h);
}

/* It was an hour behind, and is set right while the price is waited for: it is for as long as before. */
static void test_clock_set(void)
{
    int64_t open_ns = START_NS + 2 * HOUR_NS;
    open_stock();
    venue_clock(&h, HOUR_NS);
    phase_at(MARKET_PHASE_EARLY, START_NS, open_ns, false);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    uint64_t id = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    phase_at(MARKET_PHASE_OPEN, open_ns - HOUR_NS, open_ns + 6 * HOUR_NS, false);
    h.now_ns = open_ns + OPENING_NS - SECOND_NS;
    venue_clock(&h, 0);
    pass(&h, 0);
    sees(id, ORDER_OPEN, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    harness_close(&h);
}

/* Our clock is late: the print comes before the session's event. And one of yesterday's phase is none. */
static void test_early_print(void)
{
    before_open();
    uint64_t id = rested(of_auction(ORDER_OPG, order_of(ORDER_SELL, ORDER_MARKET, BTC)));
    print_at(MARKET_OPENING, 50000, h.now_ns);
    h.now_ns = START_NS + HOUR_NS + SECOND_NS / 10;
    print_at(MARKET_OPENING, 60100, h.now_ns);
    CHECK_INT(h.fills, 0);
    reload_engine(&h.engine);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, START_NS + 7 * HOUR_NS, false);
    filled(id, 60100, FILL_BASIS_OPENING);
    harness_close(&h);

    in_session();
    id = rested(of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    h.now_ns = START_NS + 6 * HOUR_NS + SECOND_NS / 10;
    print_at(MARKET_CLOSING, 60150, h.now_ns);
    CHECK_INT(h.fills, 0);
    phase_at(MARKET_PHASE_LATE, h.now_ns, START_NS + 10 * HOUR_NS, false);
    filled(id, 60150, FILL_BASIS_CLOSING);
    harness_close(&h);
}

static void test_closing(void)
{
    in_session();
    uint64_t id = rested(of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    uint64_t opening = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    quote(&h, BTCUSDT, 59990 * USDT, BTC, 59995 * USDT, BTC);
    the_close();
    quote(&h, BTCUSDT, 59890 * USDT, BTC, 59895 * USDT, BTC);
    CHECK_INT(h.fills, 0);
    reload_engine(&h.engine);
    pass(&h, 5 * MINUTE_NS);
    print_at(MARKET_CLOSING, 59950, START_NS + 6 * HOUR_NS + SECOND_NS);
    filled(id, 59950, FILL_BASIS_CLOSING);
    sees(opening, ORDER_OPEN, ORDER_OK);
    h.now_ns = START_NS + 6 * HOUR_NS;
    the_next_open();
    print_at(MARKET_OPENING, 61000, h.now_ns);
    filled(opening, 61000, FILL_BASIS_OPENING);
    harness_close(&h);
}

/* No official print: the first trade, the last one, or nothing. */
static void test_no_print(void)
{
    before_open();
    uint64_t id = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    the_open();
    trade(&h, BTCUSDT, 60100 * USDT, BTC);
    trade(&h, BTCUSDT, 60300 * USDT, BTC);
    pass(&h, OPENING_NS - SECOND_NS);
    CHECK_INT(h.fills, 0);
    pass(&h, SECOND_NS);
    filled(id, 60100, FILL_BASIS_FIRST);
    CHECK_INT(h.alerts, 1);
    CHECK_STR(h.last_alert, "AUCTION");
    harness_close(&h);

    before_open();
    id = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    the_open();
    print_at(MARKET_NO_AUCTION, 60100, START_NS); /* of the morning, reported late */
    pass(&h, OPENING_NS);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    CHECK_STR(h.last_alert, "AUCTION");
    harness_close(&h);

    in_session();
    id = rested(of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    trade(&h, BTCUSDT, 60070 * USDT, BTC);
    the_close();
    trade(&h, BTCUSDT, 60500 * USDT, BTC); /* after hours */
    pass(&h, CLOSING_NS - SECOND_NS);
    CHECK_INT(h.fills, 0);
    reload_engine(&h.engine);
    pass(&h, SECOND_NS);
    filled(id, 60070, FILL_BASIS_LAST);
    harness_close(&h);

    in_session();
    id = rested(of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    h.now_ns = START_NS + 8 * HOUR_NS; /* away over the close */
    phase_at(MARKET_PHASE_LATE, h.now_ns, START_NS + 10 * HOUR_NS, false);
    sees(id, ORDER_EXPIRED, ORDER_NO_LIQUIDITY);
    harness_close(&h);

    in_session();
    id = rested(of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    h.now_ns = START_NS + 6 * HOUR_NS - 15 * MINUTE_NS;
    trade(&h, BTCUSDT, 60090 * USDT, BTC);
    h.now_ns =
        START_NS + 20 * HOUR_NS; /* nothing comes in the night, and so no time passes by the feed's clock */
    phase_at(MARKET_PHASE_EARLY, h.now_ns, h.now_ns + HOUR_NS, false);
    filled(id, 60090, FILL_BASIS_LAST);
    harness_close(&h);
}

/* A feed of one exchange has no other's auction: nothing is waited for. */
static void test_iex(void)
{
    feed = "iex";
    before_open();
    uint64_t id = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    the_open();
    CHECK_INT(h.fills, 0);
    trade(&h, BTCUSDT, 60100 * USDT, BTC);
    filled(id, 60100, FILL_BASIS_FIRST);
    quote(&h, BTCUSDT, 60090 * USDT, BTC, 60110 * USDT, BTC);
    filled(rested(order_of(ORDER_BUY, ORDER_MARKET, BTC)), 60110, FILL_BASIS_IEX);
    id = rested(of_auction(ORDER_CLS, limit(ORDER_SELL, BTC, 60100 * USDT)));
    uint64_t beyond = rested(of_auction(ORDER_CLS, limit(ORDER_SELL, BTC, 60101 * USDT)));
    h.now_ns = START_NS + 7 * HOUR_NS;
    phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + 4 * HOUR_NS, false);
    filled(id, 60100, FILL_BASIS_LAST);
    sees(beyond, ORDER_EXPIRED, ORDER_OK);
    harness_close(&h);
    feed = "sip";
}

static void refused(struct order request, enum order_reason reason)
{
    ask(&h, request);
    CHECK_STR(order_reason_name(h.command_reason), order_reason_name(reason));
}

static void test_refusals(void)
{
    in_session();
    struct order request = of_auction(ORDER_OPG, stop(ORDER_SELL, BTC, 59000 * USDT));
    refused(request, ORDER_RULE_AUCTION_TYPE);
    request = of_auction(ORDER_CLS, limit(ORDER_SELL, BTC, 61000 * USDT));
    request.post_only = true;
    refused(request, ORDER_BAD_TIF);
    request = of_auction(ORDER_CLS, order_of(ORDER_BUY, ORDER_MARKET, BTC));
    request.symbol = ETHUSDT; /* trades at all times */
    refused(request, ORDER_BAD_TIF);
    harness_close(&h);
}

/* An order that was cancelled, and one that the account cannot pay by then. */
static void test_ended(void)
{
    before_open();
    uint64_t gone = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, BTC)));
    uint64_t dear = rested(of_auction(ORDER_OPG, order_of(ORDER_BUY, ORDER_MARKET, 15 * BTC)));
    cancel(&h, gone);
    pass(&h, SECOND_NS);
    sees(gone, ORDER_CANCELED, ORDER_OK);
    the_open();
    print_at(MARKET_OPENING, 80000, h.now_ns);
    sees(dear, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(reported(&h, dear)->filled, 12 * BTC); /* of whole shares */
    harness_close(&h);
}

/* ---- stops over the night */

/* A long, or a short, with its stop, that is gone through by the next opening: it trades at what is shown
 * then, never at its price, and no print of the night or the morning triggers it. */
static void gap(bool is_long, int64_t opens, bool trailing)
{
    enum order_side side = is_long ? ORDER_SELL : ORDER_BUY;
    in_session();
    rested(order_of(is_long ? ORDER_BUY : ORDER_SELL, ORDER_MARKET, BTC));
    CHECK_INT(h.position[ALICE][BTCUSDT], is_long ? BTC : -BTC);
    struct order request = stop(side, BTC, (is_long ? 59000 : 61000) * USDT);
    if (trailing) {
        request.type = ORDER_TRAILING_STOP;
        request.stop_price = 0;
        request.trail = 1000 * USDT;
    }
    uint64_t id = rested(request);
    uint64_t fills = h.fills;
    the_close();
    trade(&h, BTCUSDT, (is_long ? 50000 : 70000) * USDT, BTC);
    trade(&h, BTCUSDT, (is_long ? 90000 : 30000) * USDT, BTC); /* no peak of a trailing stop either */
    the_next_open();
    print_at(MARKET_NO_AUCTION, is_long ? 50000 : 70000, h.now_ns - MINUTE_NS); /* of the morning, late */
    quote(&h, BTCUSDT, (opens - 5) * USDT, 2 * BTC, (opens + 5) * USDT, 2 * BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reported(&h, id)->stop_price, (is_long ? 59000 : 61000) * USDT);
    trade(&h, BTCUSDT, opens * USDT, BTC);
    CHECK_INT(h.fills, fills + 1);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, (is_long ? opens - 5 : opens + 5) * USDT);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    harness_close(&h);
}

static void bar_at(int64_t open_ns, int64_t low, int64_t high)
{
    struct bar bar = flat_bar(open_ns, low * USDT);
    bar.high = high * USDT;
    h.now_ns = open_ns + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
}

/* The same by bars: those after the close and before the opening trigger nothing, the session's first one
 * fills at its open. */
static void gap_by_bars(bool is_long, bool trailing)
{
    enum fill_model before = model;
    int64_t opens = is_long ? 58000 : 62000;
    model = FILL_BAR;
    open_stock();
    phase_at(MARKET_PHASE_OPEN, h.now_ns, START_NS + 6 * HOUR_NS, false);
    bar_at(START_NS, 60000, 60000);
    ask(&h, order_of(is_long ? ORDER_BUY : ORDER_SELL, ORDER_MARKET, BTC));
    bar_at(START_NS + MINUTE_NS, 60000, 60000);
    CHECK_INT(h.position[ALICE][BTCUSDT], is_long ? BTC : -BTC);
    struct order request = stop(is_long ? ORDER_SELL : ORDER_BUY, BTC, (is_long ? 59000 : 61000) * USDT);
    if (trailing) {
        request.type = ORDER_TRAILING_STOP;
        request.stop_price = 0;
        request.trail = 1000 * USDT;
    }
    uint64_t id = ask(&h, request), fills = h.fills;
    bar_at(START_NS + 2 * MINUTE_NS, 60000, 60000);
    the_close();
    bar_at(START_NS + 6 * HOUR_NS, 50000, 90000);
    h.now_ns = START_NS + 6 * HOUR_NS;
    the_next_open();
    int64_t open_ns = START_NS + 23 * HOUR_NS;
    CHECK_INT(h.now_ns, open_ns);
    bar_at(open_ns - MINUTE_NS, 40000, 95000);
    CHECK_INT(h.fills, fills);
    CHECK_INT(reported(&h, id)->stop_price, (is_long ? 59000 : 61000) * USDT);
    bar_at(open_ns, opens, opens);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, opens * USDT);
    CHECK_INT(h.last_fill.ts_ns, open_ns);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    harness_close(&h);
    model = before;
}

/* The opening trade comes before any quote: the stop takes the first one shown. */
static void test_trade_first(void)
{
    in_session();
    rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    uint64_t id = rested(stop(ORDER_SELL, BTC, 59000 * USDT));
    the_close();
    the_next_open();
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK(reported(&h, id)->triggered);
    quote(&h, BTCUSDT, 57990 * USDT, BTC, 58010 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 57990 * USDT);
    harness_close(&h);
}

/* A stop that is given after the opening, before its first trade, is not triggered by the morning's price. */
static void test_arrives_first(void)
{
    before_open();
    trade(&h, BTCUSDT, 50000 * USDT, BTC);
    the_open();
    quote(&h, BTCUSDT, 59990 * USDT, BTC, 60010 * USDT, BTC);
    rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    uint64_t id = rested(stop(ORDER_SELL, BTC, 59000 * USDT));
    sees(id, any_print ? ORDER_FILLED : ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(id, any_print ? ORDER_FILLED : ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 58990 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

/* A market order that waits for the opening takes what is shown after it. */
static void test_waits(void)
{
    before_open();
    uint64_t id = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    quote(&h, BTCUSDT, 59000 * USDT, BTC, 59001 * USDT, BTC);
    the_open();
    print_at(MARKET_OPENING, 60000, h.now_ns);
    sees(id, ORDER_OPEN, ORDER_OK);
    quote(&h, BTCUSDT, 60090 * USDT, BTC, 60100 * USDT, BTC);
    filled(id, 60100, FILL_BASIS_NBBO);
    harness_close(&h);
}

int main(void)
{
    for (int m = FILL_BOOK; m <= FILL_QUOTE; m++) {
        model = (enum fill_model)m;
        test_opening();
        test_wrong_clock();
        test_clock_set();
        test_early_print();
        test_closing();
        test_no_print();
        test_iex();
        test_refusals();
        test_ended();
        for (int trailing = 0; trailing < 2; trailing++) {
            gap(true, 58000, trailing);
            gap(true, 59000, trailing);
            gap(false, 62000, trailing);
            gap(false, 61000, trailing);
            gap_by_bars(true, trailing);
            gap_by_bars(false, trailing);
        }
        test_trade_first();
        test_waits();
        for (int old = 0; old < 2; old++) {
            any_print = old;
            test_arrives_first();
        }
        any_print = false;
    }
    return check_done("engine/auctions");
}
