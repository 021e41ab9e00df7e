/* The rules of a venue's class of assets in the paper exchange: orders by hand are refused by them, a
 * strategy's are held here where they can be, and orders for auctions and by amount fill when they
 * should; extended hours: extended_hours.c. exchange/order_rules has every rule; here is what the engine does
 * with them. */
#include "strategy/intent.h"
#include "tests/engine/by_class.h"

/* ---- by hand ---- */

static void test_refused(void)
{
    open_class(ASSET_CRYPTO, MARKET_PHASE_OPEN, OPEN_NS);
    asked(stop(ORDER_SELL, SHARE, 50000 * USDT), ORDER_RULE_TYPE);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_DAY), ORDER_RULE_TIF);
    asked(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_RULE_SHORT);
    struct order legs[] = {limit(ORDER_SELL, SHARE, 70000 * USDT), limit(ORDER_SELL, SHARE, 80000 * USDT)};
    group(&h, ORDERS_OCO, legs, 2);
    CHECK_INT(h.command_reason, ORDER_RULE_GROUP);
    struct order ioc = order_of(ORDER_BUY, ORDER_STOP_LIMIT, SHARE);
    ioc.stop_price = 60001 * USDT;
    ioc.price = 60002 * USDT;
    uint64_t id = asked(with(ioc, ORDER_IOC), ORDER_OK);
    pass(&h, SECOND_NS);
    CHECK_INT(state(id), ORDER_OPEN); /* it waits for its price, and is IOC from then on */
    quote(&h, BTCUSDT, 60004 * USDT, SHARE, 60005 * USDT, SHARE);
    trade(&h, BTCUSDT, 60005 * USDT, SHARE);
    CHECK_INT(state(id), ORDER_EXPIRED);
    harness_close(&h);

    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    asked(order_of(ORDER_BUY, ORDER_MARKET, SHARE / 2), ORDER_RULE_FRACTION_TIF);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE / 2), ORDER_DAY), ORDER_OK);
    asked(limit(ORDER_BUY, SHARE, 50000 * USDT + 100000), ORDER_RULE_PRICE_DECIMALS);
    asked(limit(ORDER_BUY, 100 * SHARE, USDT / 2 + USDT / 10000), ORDER_OK);
    id = asked(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_OK);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_PRICE, .price = 50000 * USDT + 100000});
    CHECK_INT(h.command_reason, ORDER_RULE_PRICE_DECIMALS);
    struct order extended = with(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_GTC);
    extended.extended_hours = true;
    asked(extended, ORDER_RULE_EXTENDED_HOURS);
    harness_close(&h);

    open_quoted(); /* no class: none of these */
    asked(stop(ORDER_BUY, SHARE, 70000 * USDT), ORDER_OK);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_DAY), ORDER_BAD_TIF);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_BAD_TIF);
    asked(with(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_CLS), ORDER_BAD_TIF);
    extended.tif = ORDER_DAY;
    asked(extended, ORDER_RULE_EXTENDED_HOURS);
    harness_close(&h);
}

/* The price rises until 14 2/7 can be paid: an order of whole shares is cut to whole ones; one of a fraction,
 * and coins, are not. */
static void test_cut(void)
{
    static const struct {
        enum asset_class asset;
        int64_t qty;
        enum order_tif tif;
        bool whole;
    } cases[] = {{ASSET_US_EQUITY, 16 * SHARE, ORDER_GTC, true},
                 {ASSET_US_EQUITY, 31 * SHARE / 2, ORDER_DAY, false},
                 {ASSET_CRYPTO, 16 * SHARE, ORDER_GTC, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_class(cases[i].asset, MARKET_PHASE_OPEN, OPEN_NS);
        uint64_t id = asked(with(order_of(ORDER_BUY, ORDER_MARKET, cases[i].qty), cases[i].tif), ORDER_OK);
        quote(&h, BTCUSDT, 69999 * USDT, 20 * SHARE, 70000 * USDT, 50 * SHARE);
        pass(&h, SECOND_NS);
        CHECK_INT(state(id), ORDER_CANCELED);
        CHECK_STR(order_reason_name(h.orders[id].order.reason),
                  order_reason_name(ORDER_INSUFFICIENT_BALANCE));
        CHECK(h.orders[id].filled >= 14 * SHARE && h.orders[id].filled < 15 * SHARE);
        CHECK((h.orders[id].filled % SHARE == 0) == cases[i].whole);
        harness_close(&h);
    }
}

static void list_again(enum symbol_says shortable, enum symbol_says easy)
{
    struct event event = {.kind = EVENT_SYMBOL, .symbol = {.index = BTCUSDT, .listed = h.symbols[BTCUSDT]}};
    event.symbol.listed.shortable = shortable;
    event.symbol.listed.easy_to_borrow = easy;
    CHECK_INT(harness_event(&h, &event), 0);
}

static void test_shorts(void)
{
    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    asked(with(order_of(ORDER_SELL, ORDER_MARKET, SHARE / 2), ORDER_DAY), ORDER_RULE_SHORT_FRACTION);
    list_again(SYMBOL_SAYS_NO, SYMBOL_SAYS_YES);
    asked(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_RULE_SHORTABLE);
    list_again(SYMBOL_SAYS_YES, SYMBOL_SAYS_NO);
    asked(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_RULE_EASY_TO_BORROW);
    list_again(SYMBOL_SAYS_NOTHING, SYMBOL_SAYS_NOTHING);
    asked(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_OK);
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], -SHARE);
    harness_close(&h);
}

/* What is easy to borrow costs nothing; else the account's rate holds. */
static void test_borrow_fee(void)
{
    for (int easy = SYMBOL_SAYS_NOTHING; easy <= SYMBOL_SAYS_YES; easy += SYMBOL_SAYS_YES) {
        open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
        list_again(SYMBOL_SAYS_YES, (enum symbol_says)easy);
        asked(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_OK);
        pass(&h, SECOND_NS);
        int64_t before = cash(&h, ALICE);
        pass(&h, 2 * HOUR_NS);
        CHECK_INT(before - cash(&h, ALICE), easy == SYMBOL_SAYS_YES ? 0 : 2 * 60000 * USDT / 100000);
        harness_close(&h);
    }
}

/* ---- a strategy ---- */

static void test_emulated(void)
{
    open_class(ASSET_CRYPTO, MARKET_PHASE_OPEN, OPEN_NS);
    wants(
        (struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .profit = 61000, .why = "in"});
    const struct order *entry = &h.orders[1].order, *leg = &h.orders[2].order;
    CHECK_INT(entry->account, BOB);
    CHECK(entry->type == ORDER_MARKET && entry->emulated && entry->reason == ORDER_OK);
    CHECK(leg->type == ORDER_STOP && leg->emulated && h.orders[3].order.emulated);
    pass(&h, SECOND_NS);
    CHECK_INT(state(1), ORDER_FILLED);
    quote(&h, BTCUSDT, 58999 * USDT, 20 * SHARE, 59000 * USDT, 50 * SHARE);
    trade(&h, BTCUSDT, 59000 * USDT, SHARE);
    CHECK_INT(state(2), ORDER_FILLED); /* it is a stop still: no price passes it unfilled */
    CHECK_INT(h.position[BOB][BTCUSDT], 0);
    harness_close(&h);

    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    wants((struct intent){
        .kind = INTENT_ENTER, .fraction = 0.5, .limit = 60000.004, .stop = 59000.009, .why = "in"});
    entry = &h.orders[1].order;
    CHECK(entry->qty % SHARE != 0 && entry->emulated && entry->reason == ORDER_OK);
    CHECK_INT(entry->price, 60000 * USDT); /* on the decimals that the venue takes */
    CHECK_INT(h.orders[2].order.stop_price, 59000 * USDT);
    harness_close(&h);

    h.symbols[BTCUSDT].filters.step = SHARE;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .why = "in"});
    CHECK(h.orders[1].order.qty > 0 && h.orders[1].order.emulated == (h.orders[1].order.qty % SHARE != 0));
    harness_close(&h);
}

/* Crypto is not lent, and of stocks whole shares are: also where a fraction of one is sold before. */
static void test_short_intents(void)
{
    const struct intent sells = {
        .kind = INTENT_SHORT, .fraction = 0.5, .stop = 61000, .profit = 59000, .why = "down"};
    bob_shorts = true;
    open_class(ASSET_CRYPTO, MARKET_PHASE_OPEN, OPEN_NS);
    wants(sells);
    CHECK(!puppet_saw.shorts && n_orders() == 0);
    CHECK_INT(engine_intents_refused(h.engine, BOB)[INTENT_NO_SHORTS], 1);
    harness_close(&h);

    for (int margin = MARGIN_OFF; margin <= MARGIN_REGT; margin++) {
        bob_margin = (enum margin_kind)margin;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
        wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.46, .why = "in"});
        pass(&h, SECOND_NS);
        CHECK(puppet_saw.shorts && engine_may_short(h.engine, BOB) && h.position[BOB][BTCUSDT] % SHARE != 0);
        puppet_want((struct intent){.kind = INTENT_EXIT, .why = "out"});
        puppet_wants[1] = sells;
        puppet_wants[1].fraction = 0.7;
        puppet_n = 2;
        quote(&h, BTCUSDT, 59999 * USDT, 50 * SHARE, 60000 * USDT, 50 * SHARE);
        bar_at(h.now_ns / MINUTE_NS * MINUTE_NS, 60000, 60000);
        const struct order *entry = &h.orders[n_orders() - 2].order;
        CHECK(entry->side == ORDER_SELL && entry->qty > 0 && entry->qty % SHARE == 0 &&
              entry->reason == ORDER_OK);
        pass(&h, SECOND_NS);
        CHECK_INT(entry->qty, 11 * SHARE);
        CHECK_INT(h.position[BOB][BTCUSDT], -11 * SHARE);
        harness_close(&h);
    }
    bob_margin = MARGIN_OFF;
    bob_shorts = false;
}

/* ---- auctions ---- their prices: tests/engine/auctions.c */

static void test_opening(void)
{
    model = FILL_QUOTE;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
    uint64_t market = asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK);
    uint64_t far = asked(with(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_OPG), ORDER_OK);
    pass(&h, HOUR_NS - 3 * MINUTE_NS);
    quote(&h, BTCUSDT, 59999 * USDT, 20 * SHARE, 60000 * USDT, 50 * SHARE);
    CHECK_INT(state(market), ORDER_OPEN);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK);
    pass(&h, 2 * MINUTE_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    CHECK_INT(state(market), ORDER_OPEN);
    quote(&h, BTCUSDT, 60009 * USDT, 20 * SHARE, 60010 * USDT, 50 * SHARE);
    trade(&h, BTCUSDT, 60012 * USDT, SHARE);
    CHECK_INT(state(market), ORDER_OPEN);
    CHECK_INT(state(far), ORDER_OPEN);
    pass(&h, 10 * MINUTE_NS); /* no official price came: the first trade's is */
    CHECK_INT(state(market), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60012 * USDT);
    CHECK_INT(state(far), ORDER_EXPIRED);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    phase_at(MARKET_PHASE_CLOSED, CLOSE_NS + 4 * HOUR_NS, 0, false);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    pass(&h, 2 * HOUR_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK); /* 19:00: for the next one */
    harness_close(&h);
}

/* What is too late for an auction is so by the venue's clock. */
static void test_wrong_clock(void)
{
    model = FILL_QUOTE;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
    h.now_ns = OPEN_NS - 3 * MINUTE_NS;
    venue_clock(&h, 2 * MINUTE_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    venue_clock(&h, -2 * MINUTE_NS);
    pass(&h, 2 * MINUTE_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK);
    harness_close(&h);
}

static void test_closing(void)
{
    model = FILL_QUOTE;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    uint64_t market = asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_CLS), ORDER_OK);
    uint64_t far = asked(with(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_CLS), ORDER_OK);
    CHECK_INT(h.orders[market].order.expires_ns, 0); /* the price may come after the close */
    pass(&h, 200 * MINUTE_NS);
    quote(&h, BTCUSDT, 60019 * USDT, 20 * SHARE, 60020 * USDT, 50 * SHARE);
    CHECK_INT(state(market), ORDER_OPEN);
    pass(&h, SECOND_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_CLS), ORDER_RULE_CLS_LATE);
    trade(&h, BTCUSDT, 60021 * USDT, SHARE);
    phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    CHECK_INT(state(market), ORDER_OPEN);
    pass(&h, 15 * MINUTE_NS); /* no official price came: the last trade's is */
    CHECK_INT(state(market), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60021 * USDT);
    CHECK_INT(h.last_fill.ts_ns, CLOSE_NS + 15 * MINUTE_NS);
    CHECK_INT(state(far), ORDER_EXPIRED);
    harness_close(&h);
}

/* The first bar's open and the last bar's close, without slippage: an auction has one price. */
static void test_bars(void)
{
    model = FILL_BAR;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - 30 * MINUTE_NS);
    know_days();
    uint64_t opening = asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK);
    uint64_t far = asked(with(limit(ORDER_BUY, SHARE, 50000 * USDT), ORDER_OPG), ORDER_OK);
    uint64_t closing = asked(with(order_of(ORDER_SELL, ORDER_MARKET, SHARE), ORDER_CLS), ORDER_OK);
    struct order before = with(limit(ORDER_BUY, SHARE, 59990 * USDT), ORDER_DAY);
    before.extended_hours = true;
    uint64_t extended = asked(before, ORDER_OK);
    uint64_t regular = asked(with(limit(ORDER_BUY, SHARE, 59980 * USDT), ORDER_DAY), ORDER_OK);
    bar_at(OPEN_NS - 29 * MINUTE_NS, 59970, 59975);
    CHECK_INT(state(extended), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59990 * USDT); /* with slippage, up to its limit */
    CHECK(state(opening) == ORDER_PENDING && state(regular) == ORDER_PENDING);
    phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    bar_at(OPEN_NS, 60030, 60040);
    CHECK_INT(state(opening), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60030 * USDT);
    CHECK_INT(h.last_fill.ts_ns, OPEN_NS);
    CHECK_INT(state(far), ORDER_EXPIRED);
    bar_at(CLOSE_NS - 2 * MINUTE_NS, 60040, 60050);
    CHECK_INT(state(closing), ORDER_OPEN);
    phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    bar_at(CLOSE_NS - MINUTE_NS, 60050, 60066);
    CHECK_INT(state(closing), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60066 * USDT);
    CHECK_INT(h.last_fill.ts_ns, CLOSE_NS - 1);
    harness_close(&h);
    model = FILL_QUOTE;
}

/* ---- by amount ---- */

static void test_amount(void)
{
    open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
    struct order request = with(order_of(ORDER_BUY, ORDER_MARKET, 0), ORDER_DAY);
    request.notional = 1000 * USDT;
    uint64_t id = asked(request, ORDER_OK);
    CHECK_INT(h.orders[id].order.qty, 1666000); /* 1000 / 60000 of a share, in lots of 0.00001 */
    pass(&h, SECOND_NS);
    CHECK_INT(state(id), ORDER_FILLED);
    CHECK(h.orders[id].order.cost <= 1000 * USDT);
    request.tif = ORDER_GTC;
    asked(request, ORDER_RULE_FRACTION_TIF);
    request.tif = ORDER_DAY;
    request.notional = USDT / 1000;
    asked(request, ORDER_MIN_NOTIONAL);
    request.notional = 1000 * USDT;
    request.type = ORDER_LIMIT;
    request.price = 50000 * USDT;
    id = asked(request, ORDER_OK);
    CHECK_INT(h.orders[id].order.qty, 2000000);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 1000000});
    CHECK_INT(h.command_reason, ORDER_BAD_AMEND);
    harness_close(&h);
}

int main(void)
{
    test_refused();
    test_cut();
    test_shorts();
    test_borrow_fee();
    test_emulated();
    test_short_intents();
    test_opening();
    test_wrong_clock();
    test_closing();
    test_bars();
    test_amount();
    return check_done("engine/order_rules");
}
