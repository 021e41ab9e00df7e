/* The rules of a venue's class of assets in the paper exchange: orders by hand are refused by them, a
 * strategy's are held here where they can be, and orders for auctions, in extended hours and by amount fill
 * when they should. exchange/order_rules has every rule; here is what the engine does with them. */
#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"

#define SHARE    BTC
#define HOUR_NS  (60 * MINUTE_NS)
#define OPEN_NS  (INT64_C(1764340200) * SECOND_NS) /* Friday 2025-11-28, 09:30 in New York: a half day */
#define CLOSE_NS (OPEN_NS + 210 * MINUTE_NS)

static enum fill_model model = FILL_QUOTE;
static enum session_choice choice_of_bob = SESSION_ALL;

static void phase_to(enum market_phase phase, int64_t now_ns, int64_t next_ns, bool extended)
{
    struct event event = {.kind = EVENT_SESSION,
                          .session = {.calendar = "us-equity", .phase = phase, .next_ns = next_ns}};
    event.session.extended = extended;
    h.now_ns = now_ns;
    CHECK_INT(harness_event(&h, &event), 0);
}

/* At 60,000, before or in the session. */
static void open_class(enum asset_class asset, enum market_phase phase, int64_t now_ns)
{
    harness_init(&h);
    h.config.fill_model = model;
    h.config.slippage_e6 = model == FILL_BAR ? 1000 : 0; /* of the session: an auction has none */
    h.now_ns = now_ns;
    h.accounts[ALICE].cash = 1000000 * USDT;
    h.accounts[ALICE].rules.shorts = true;
    h.accounts[ALICE].rules.borrow_rate_e6 = 87600; /* 8.76 %: a thousandth of a percent an hour */
    h.accounts[ALICE].rules.collateral_e4 = h.accounts[ALICE].rules.maintenance_e4 = 10000;
    struct symbol *symbol = &h.symbols[BTCUSDT];
    symbol->asset = asset;
    snprintf(symbol->venue, sizeof symbol->venue, "alpaca");
    if (asset == ASSET_US_EQUITY)
        snprintf(symbol->calendar, sizeof symbol->calendar, "us-equity");
    symbol->loose_ids = true;
    h.accounts[BOB].cash = 1000000 * USDT;
    h.accounts[BOB].strategy = &puppet_strategy;
    h.accounts[BOB].session = choice_of_bob;
    harness_open(&h);
    if (asset == ASSET_US_EQUITY)
        phase_to(phase, now_ns, phase == MARKET_PHASE_EARLY ? OPEN_NS : CLOSE_NS, false);
    quote(&h, BTCUSDT, 59999 * USDT, 20 * SHARE, 60000 * USDT, 50 * SHARE);
    trade(&h, BTCUSDT, 60000 * USDT, SHARE);
}

static uint64_t asked(struct order request, enum order_reason expected)
{
    uint64_t id = ask(&h, request);
    CHECK_STR(order_reason_name(h.command_reason), order_reason_name(expected));
    return id;
}

static struct order with(struct order request, enum order_tif tif)
{
    request.tif = tif;
    return request;
}

static enum order_state state(uint64_t id)
{
    return h.orders[id].order.state;
}

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

static void wants(struct intent intent)
{
    int64_t open_ns = h.now_ns / MINUTE_NS * MINUTE_NS;
    puppet_want(intent);
    h.now_ns = open_ns + MINUTE_NS;
    struct bar bar = flat_bar(open_ns, 60000 * USDT);
    kline(&h, BTCUSDT, &bar);
}

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

/* An account that trades before and after the session gives limit orders there, within half a percent. */
static void test_outside(void)
{
    for (int choice = SESSION_ALL; choice < SESSION_CHOICES; choice++) {
        model = FILL_QUOTE;
        choice_of_bob = (enum session_choice)choice;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
        wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "in"});
        if (choice == SESSION_EXTENDED) {
            const struct order *entry = &h.orders[1].order;
            CHECK(entry->type == ORDER_LIMIT && entry->tif == ORDER_DAY && entry->extended_hours &&
                  entry->emulated);
            CHECK_INT(entry->price, 60300 * USDT);
            pass(&h, SECOND_NS);
            CHECK_INT(state(1), ORDER_FILLED);
            CHECK_INT(h.last_fill.price, 60000 * USDT);
            CHECK_INT(state(2), ORDER_OPEN); /* its stop waits for the session */
            trade_by(&h, BTCUSDT, 58000 * USDT, SHARE, true);
            CHECK_INT(state(2), ORDER_OPEN);
            wants((struct intent){.kind = INTENT_EXIT, .why = "out"});
            CHECK(h.orders[3].order.type == ORDER_LIMIT && h.orders[3].order.extended_hours);
            CHECK_INT(h.orders[3].order.price, 5969901000000);
        } else {
            pass(&h, SECOND_NS);
            CHECK(!h.orders[1].order.extended_hours && h.fills == 0);
        }
        harness_close(&h);
    }
    choice_of_bob = SESSION_ALL;
}

/* The limit is what an entry may pay: all of the cash pays for it, and it leaves a profit. */
static void test_outside_limit(void)
{
    static const struct {
        double profit;
        int64_t ask, limit;
    } cases[] = {{0, 60000 * USDT, 60300 * USDT},
                 {60300.01, 60000 * USDT, 60300 * USDT},
                 {60300, 60000 * USDT, 60300 * USDT - USDT / 100},
                 {60100, 60000 * USDT, 60100 * USDT - USDT / 100},
                 {60100, 60100 * USDT - USDT / 100, 60100 * USDT - USDT / 100},
                 {60100, 60100 * USDT, 0},
                 {60100, 60150 * USDT, 0}};
    model = FILL_QUOTE;
    choice_of_bob = SESSION_EXTENDED;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
        quote(&h, BTCUSDT, 59999 * USDT, 20 * SHARE, cases[i].ask, 50 * SHARE);
        wants((struct intent){
            .kind = INTENT_ENTER, .fraction = 1, .stop = 59000, .profit = cases[i].profit, .why = "in"});
        const struct order *entry = &h.orders[1].order;
        CHECK_INT(entry->id, cases[i].limit > 0);
        CHECK_INT(entry->price, cases[i].limit);
        if (cases[i].limit > 0) {
            CHECK_STR(order_reason_name(entry->reason), order_reason_name(ORDER_OK));
            pass(&h, SECOND_NS);
            CHECK_INT(state(1), ORDER_FILLED);
            CHECK_INT(h.last_fill.price, cases[i].ask);
        }
        CHECK_INT(h.fills, cases[i].limit > 0);
        harness_close(&h);
    }
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
    wants((struct intent){.kind = INTENT_TARGET, .fraction = 1, .why = "all"});
    CHECK_INT(h.orders[1].order.price, 60300 * USDT);
    CHECK_STR(order_reason_name(h.orders[1].order.reason), order_reason_name(ORDER_OK));
    harness_close(&h);
    choice_of_bob = SESSION_ALL;
}

/* A bar closes, on which the strategy wants nothing, or again to leave. */
static void closes(bool flattens)
{
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS, 58000 * USDT);
    if (!flattens)
        puppet_want((struct intent){.kind = INTENT_EXIT, .why = "out"});
    h.now_ns = bar.open_ns + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
}

static int resting(int account)
{
    int n = 0;
    for (uint64_t id = 1; id < 16; id++)
        n += h.orders[id].order.account == account && state(id) == ORDER_OPEN;
    return n;
}

/* A sale that the price has left behind makes room for one at the price that is shown now: of a strategy that
 * asks for it at each bar, and of all that is to be closed. */
static void leaves_outside(bool flattens)
{
    model = FILL_QUOTE;
    choice_of_bob = SESSION_EXTENDED;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
    wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .why = "in"});
    pass(&h, SECOND_NS);
    CHECK(h.position[BOB][BTCUSDT] > 0);
    if (flattens)
        command(&h, (struct event_command){.kind = COMMAND_FLATTEN});
    else
        wants((struct intent){.kind = INTENT_EXIT, .why = "out"});
    quote(&h, BTCUSDT, 59000 * USDT, 20 * SHARE, 59001 * USDT, 50 * SHARE);
    pass(&h, SECOND_NS);
    CHECK_INT(resting(BOB), 1);
    for (int i = 0; i < 3; i++) {
        quote(&h, BTCUSDT, (58000 - 1000 * i) * USDT, 20 * SHARE, (58001 - 1000 * i) * USDT, 50 * SHARE);
        closes(flattens);
        quote(&h, BTCUSDT, (57000 - 1000 * i) * USDT, 20 * SHARE, (57001 - 1000 * i) * USDT, 50 * SHARE);
        pass(&h, SECOND_NS);
        CHECK_INT(resting(BOB), 1);
    }
    closes(flattens);
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[BOB][BTCUSDT], 0);
    CHECK_INT(resting(BOB), 0);
    harness_close(&h);
    choice_of_bob = SESSION_ALL;
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
    phase_to(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
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
    phase_to(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    phase_to(MARKET_PHASE_CLOSED, CLOSE_NS + 4 * HOUR_NS, 0, false);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_RULE_OPG_LATE);
    pass(&h, 2 * HOUR_NS);
    asked(with(order_of(ORDER_BUY, ORDER_MARKET, SHARE), ORDER_OPG), ORDER_OK); /* 19:00: for the next one */
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
    phase_to(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    CHECK_INT(state(market), ORDER_OPEN);
    pass(&h, 15 * MINUTE_NS); /* no official price came: the last trade's is */
    CHECK_INT(state(market), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60021 * USDT);
    CHECK_INT(h.last_fill.ts_ns, CLOSE_NS + 15 * MINUTE_NS);
    CHECK_INT(state(far), ORDER_EXPIRED);
    harness_close(&h);
}

static struct bar bar_of(int64_t open_ns, int64_t open, int64_t close)
{
    struct bar bar = flat_bar(open_ns, open * USDT);
    bar.close = close * USDT;
    bar.high = (open > close ? open : close) * USDT;
    bar.low = (open < close ? open : close) * USDT;
    return bar;
}

static void bar_at(int64_t open_ns, int64_t open, int64_t close)
{
    struct bar bar = bar_of(open_ns, open, close);
    if (h.now_ns < open_ns + MINUTE_NS)
        h.now_ns = open_ns + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
}

/* The half day from 04:00 to 17:00 in New York. */
static void know_days(void)
{
    struct trading_day day = {OPEN_NS - 330 * MINUTE_NS, OPEN_NS, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS};
    const struct trading_calendar calendar = {
        .name = "us-equity", .days = &day, .n = 1, .from_ns = day.early_ns, .to_ns = day.late_ns};
    struct event event;
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
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
    phase_to(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    bar_at(OPEN_NS, 60030, 60040);
    CHECK_INT(state(opening), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60030 * USDT);
    CHECK_INT(h.last_fill.ts_ns, OPEN_NS);
    CHECK_INT(state(far), ORDER_EXPIRED);
    bar_at(CLOSE_NS - 2 * MINUTE_NS, 60040, 60050);
    CHECK_INT(state(closing), ORDER_OPEN);
    phase_to(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    bar_at(CLOSE_NS - MINUTE_NS, 60050, 60066);
    CHECK_INT(state(closing), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60066 * USDT);
    CHECK_INT(h.last_fill.ts_ns, CLOSE_NS - 1);
    harness_close(&h);
    model = FILL_QUOTE;
}

/* An entry before the session fills inside its bar; its exits wait for the session, where they arrive. */
static void test_bar_exits(void)
{
    model = FILL_BAR;
    choice_of_bob = SESSION_EXTENDED;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - 30 * MINUTE_NS);
    know_days();
    wants((struct intent){
        .kind = INTENT_ENTER, .fraction = 0.5, .limit = 59990, .stop = 59900, .profit = 60200, .why = "in"});
    bar_at(OPEN_NS - 29 * MINUTE_NS, 60000, 59800);
    CHECK_INT(state(1), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 59990 * USDT);
    CHECK(state(2) == ORDER_PENDING && state(3) == ORDER_PENDING);
    bar_at(OPEN_NS - 28 * MINUTE_NS, 59800, 60300);
    CHECK(state(2) == ORDER_PENDING && state(3) == ORDER_PENDING);
    phase_to(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    bar_at(OPEN_NS, 60250, 60260);
    CHECK_INT(state(2), ORDER_CANCELED);
    CHECK_INT(state(3), ORDER_FILLED);
    CHECK_INT(h.fills, 2);
    harness_close(&h);
    model = FILL_QUOTE;
    choice_of_bob = SESSION_ALL;
}

/* ---- before and after the session ---- */

static void test_extended(void)
{
    model = FILL_QUOTE;
    open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
    struct order request = with(limit(ORDER_BUY, SHARE, 60000 * USDT), ORDER_DAY);
    uint64_t waits = asked(request, ORDER_OK);
    request.extended_hours = true;
    uint64_t fills = asked(request, ORDER_OK), rests;
    request.price = 59000 * USDT;
    rests = asked(request, ORDER_OK);
    pass(&h, SECOND_NS);
    CHECK_INT(state(fills), ORDER_FILLED);
    CHECK_INT(h.last_fill.price, 60000 * USDT);
    CHECK(state(waits) == ORDER_OPEN && state(rests) == ORDER_OPEN);
    trade_by(&h, BTCUSDT, 58999 * USDT, SHARE, true);
    CHECK_INT(state(rests), ORDER_FILLED);
    CHECK_INT(state(waits), ORDER_OPEN);
    rests = asked(request, ORDER_OK);
    pass(&h, SECOND_NS);
    phase_to(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    phase_to(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    CHECK_INT(state(waits), ORDER_EXPIRED); /* with the session; the other one with the day */
    CHECK_INT(state(rests), ORDER_OPEN);
    phase_to(MARKET_PHASE_CLOSED, CLOSE_NS + 4 * HOUR_NS, CLOSE_NS + 60 * HOUR_NS, false);
    CHECK_INT(state(rests), ORDER_EXPIRED);
    harness_close(&h);
}

/* ---- bars that came while nothing was streamed ---- */

static void missed_bar(int64_t open_ns, const char *alert)
{
    struct bar bar = bar_of(open_ns, 60000, 58000);
    struct event event = {.kind = EVENT_BARS, .bars = {BTCUSDT, &bar, 1, true}};
    h.last_alert[0] = '\0';
    h.now_ns = open_ns + MINUTE_NS;
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_STR(h.last_alert, alert);
}

/* Only a bar of the hours in which an order is filled may have crossed it, though no session was seen to end.
 */
static void test_missed(void)
{
    for (int extended = 0; extended < 2; extended++) {
        model = FILL_QUOTE;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
        know_days();
        struct order request = with(limit(ORDER_BUY, SHARE, 59000 * USDT), extended ? ORDER_DAY : ORDER_GTC);
        request.extended_hours = extended;
        uint64_t id = asked(request, ORDER_OK);
        pass(&h, SECOND_NS);
        CHECK_INT(state(id), ORDER_OPEN);
        missed_bar(CLOSE_NS - MINUTE_NS, "LIMIT_MISSED");
        missed_bar(CLOSE_NS + HOUR_NS, extended ? "LIMIT_MISSED" : "");
        harness_close(&h);
    }
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
    test_shorts();
    test_borrow_fee();
    test_emulated();
    test_outside();
    test_outside_limit();
    leaves_outside(true);
    leaves_outside(false);
    test_opening();
    test_closing();
    test_bars();
    test_bar_exits();
    test_extended();
    test_missed();
    test_amount();
    return check_done("engine/order_rules");
}
