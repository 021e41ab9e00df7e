/* Orders that a strategy describes itself: every type, its quantities and times in force, through the gates
 * that orders by hand pass; what ends them; and those that no market could accept. */
#include "engine/state.h"
#include "record/codec.h"
#include "strategy/intent.h"
#include "tests/engine/puppet.h"

static struct harness h;

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&puppet_strategy};
    *ret_n = 1;
    return all;
}

static void open_of(enum asset_class asset, bool shorts)
{
    struct symbol *symbol = &h.symbols[BTCUSDT];
    struct event open = {.kind = EVENT_SESSION,
                         .session = {.calendar = "us-equity", .phase = MARKET_PHASE_OPEN}};
    harness_init(&h);
    symbol->asset = asset;
    if (asset == ASSET_US_EQUITY) {
        snprintf(symbol->venue, sizeof symbol->venue, "alpaca");
        snprintf(symbol->calendar, sizeof symbol->calendar, "us-equity");
        symbol->shortable = symbol->easy_to_borrow = SYMBOL_SAYS_YES;
    }
    h.accounts[ALICE].strategy = &puppet_strategy;
    h.accounts[ALICE].rules.shorts = shorts;
    h.accounts[ALICE].rules.collateral_e4 = shorts ? 15000 : 0;
    h.accounts[ALICE].rules.maintenance_e4 = shorts ? 12500 : 0;
    puppet_n = 0;
    harness_open(&h);
    if (asset == ASSET_US_EQUITY)
        CHECK_INT(harness_event(&h, &open), 0);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static void open_with(bool shorts)
{
    open_of(ASSET_UNKNOWN, shorts);
}

static void flat(void)
{
    puppet_minute(&h, 60000, 60000, 60000, 60000);
}

static const struct order *ask_for(struct intent intent)
{
    puppet_want(intent);
    flat();
    return &h.last_order;
}

static void market(int price)
{
    quote(&h, BTCUSDT, price * E8, 10 * E8, (price + 10) * E8, 10 * E8);
    trade(&h, BTCUSDT, price * E8, E8);
}

static int64_t held(void)
{
    return engine_account(h.engine, ALICE)->positions[BTCUSDT].qty;
}

static struct intent order_of(enum order_side side, enum order_type type, double fraction)
{
    return (struct intent){
        .kind = INTENT_ORDER, .side = side, .type = type, .fraction = fraction, .why = "own"};
}

/* A limit that waits, is counted, and is cancelled; a bracket beside it is not touched. */
static void test_limit(void)
{
    open_with(false);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.2, .stop = 50000, .why = "in"});
    int64_t before = held();
    struct intent wanted = order_of(ORDER_BUY, ORDER_LIMIT, 0.3);
    wanted.limit = 59000.019;
    wanted.tif = ORDER_GTD;
    wanted.good_ns = h.now_ns + HOUR_NS;
    struct order placed = *ask_for(wanted);
    CHECK(placed.state == ORDER_OPEN && placed.tif == ORDER_GTD && placed.expires_ns == wanted.good_ns);
    CHECK_INT(placed.price, 5900001 * (E8 / 100)); /* down, on the tick */
    CHECK_INT(placed.qty, 5078000); /* 0.3 of what the first left, less the fee of 0.1 %, at its limit */
    CHECK(!placed.by_hand && strcmp(placed.tag, "own") == 0);
    flat();
    CHECK(puppet_saw.orders == 1 && puppet_saw.live_orders && puppet_saw.stop == 50000);
    ask_for((struct intent){.kind = INTENT_CANCEL});
    CHECK(reported(&h, placed.id)->state == ORDER_CANCELED && held() == before);
    flat();
    CHECK(puppet_saw.orders == 0 && puppet_saw.stop == 50000);
    CHECK_INT(h.alerts, 0);
    ask_for((struct intent){.kind = INTENT_CANCEL});
    CHECK_STR(h.last_alert_text, "puppet, BTCUSDT, account alice: cancel: none of its orders works");
    harness_close(&h);
}

/* What is triggered: a purchase above, a stop with a limit, a profit, a stop that follows. */
static void test_triggered(void)
{
    open_with(false);
    struct intent wanted = order_of(ORDER_BUY, ORDER_STOP, 0);
    wanted.size = INTENT_OF_UNITS;
    wanted.qty = 0.0612345;
    wanted.stop = 60500.001;
    struct order placed = *ask_for(wanted);
    CHECK(placed.state == ORDER_OPEN && placed.type == ORDER_STOP && placed.qty == 6123000); /* whole lots */
    CHECK_INT(placed.stop_price, 6050001 * (E8 / 100));
    flat();
    CHECK(puppet_saw.orders == 1 && held() == 0);
    market(60600);
    CHECK_INT(held(), 6123000);

    wanted = order_of(ORDER_SELL, ORDER_TAKE_PROFIT, 0.5);
    wanted.size = INTENT_OF_POSITION;
    wanted.reduce_only = true;
    wanted.stop = 61000;
    struct order profit = *ask_for(wanted);
    CHECK(profit.state == ORDER_OPEN && profit.qty == 3061000 && profit.reduce_only);
    wanted.type = ORDER_TRAILING_STOP;
    wanted.stop = 0;
    wanted.trail_share = 0.01;
    struct order trailing = *ask_for(wanted);
    CHECK(trailing.state == ORDER_OPEN && trailing.trail_e6 == 10000 && trailing.trail == 0);
    wanted.type = ORDER_STOP_LIMIT;
    wanted.trail_share = 0;
    wanted.stop = 59000;
    wanted.limit = 58900;
    struct order limited = *ask_for(wanted);
    CHECK(limited.state == ORDER_OPEN && limited.stop_price == 59000 * E8 && limited.price == 58900 * E8);
    flat();
    CHECK_INT(puppet_saw.orders, 3);
    market(61010); /* the profit sells its half */
    CHECK_INT(held(), 6123000 - 3061000);
    CHECK_INT(reported(&h, profit.id)->state, ORDER_FILLED);
    market(60300); /* 1 % below the best: the rest but a lot */
    CHECK_INT(held(), 6123000 - 2 * 3061000);
    CHECK_INT(reported(&h, trailing.id)->state, ORDER_FILLED);
    ask_for((struct intent){.kind = INTENT_CANCEL});
    CHECK_INT(reported(&h, limited.id)->state, ORDER_CANCELED);
    CHECK_INT(h.alerts, 0);
    harness_close(&h);
}

/* The same gates as an order by hand: its filters, its balance, its times in force. */
static void test_gates(void)
{
    open_with(true);
    struct intent wanted = order_of(ORDER_BUY, ORDER_MARKET, 0);
    wanted.size = INTENT_OF_UNITS;
    wanted.qty = 1;
    CHECK_INT(ask_for(wanted)->reason, ORDER_INSUFFICIENT_BALANCE);
    wanted.qty = 1e-7;
    CHECK_INT(ask_for(wanted)->state, ORDER_REJECTED);
    wanted = order_of(ORDER_BUY, ORDER_STOP, 0.1);
    wanted.stop = 61000;
    wanted.tif = ORDER_IOC;
    CHECK_INT(ask_for(wanted)->reason, ORDER_BAD_TIF);
    wanted = order_of(ORDER_SELL, ORDER_MARKET, 0.2);
    wanted.tif = ORDER_IOC;
    CHECK_INT(ask_for(wanted)->state, ORDER_FILLED); /* short */
    CHECK(held() < 0);
    CHECK_INT(h.alerts, 0);
    harness_close(&h);

    /* Its venue lends whole shares only: refused by that rule, as by hand. */
    open_of(ASSET_US_EQUITY, true);
    wanted = order_of(ORDER_SELL, ORDER_MARKET, 0);
    wanted.size = INTENT_OF_UNITS;
    wanted.qty = 0.01;
    CHECK_INT(ask_for(wanted)->state, ORDER_REJECTED);
    CHECK_STR(order_reason_name(h.last_order.reason), "RULE_SHORT_FRACTION");
    /* A type that it does not have is held here. */
    wanted = order_of(ORDER_BUY, ORDER_TAKE_PROFIT, 0.1);
    wanted.stop = 59000;
    CHECK(ask_for(wanted)->state == ORDER_OPEN && h.last_order.emulated);
    harness_close(&h);
}

/* Flat, at a close of 60000. */
static struct strategy_input input = {.ts_ns = START_NS, .close = 60000};

static void refused(struct intent intent, const char *says)
{
    char text[96];
    enum intent_fault fault = intent_check(&intent, &input);
    CHECK(fault != INTENT_FITS && intent_fault_name(fault)[0] != '\0');
    CHECK(intent_fault_text(fault, &intent, &input, text, sizeof text) < sizeof text);
    CHECK_STR(text, says);
}

static void test_refused(void)
{
    struct intent bad = order_of(ORDER_BUY, ORDER_MARKET, 1.5);
    refused(bad, "order: fraction 1.5 of equity is not above 0 and at most 1");
    bad.fraction = NAN;
    refused(bad, "order: fraction nan of equity is not above 0 and at most 1");
    bad.size = INTENT_OF_UNITS;
    refused(bad, "order: quantity 0 is not above 0");
    bad.qty = INFINITY;
    refused(bad, "order: quantity inf is not above 0");
    bad.size = INTENT_OF_POSITION;
    refused(bad, "order: nothing is held");
    refused(order_of(ORDER_SELL, ORDER_MARKET, 0.1), "order: its account may not be short of it");
    bad = order_of(ORDER_BUY, (enum order_type)40, 0.1);
    refused(bad, "order: 40 is no type of order");
    bad = order_of((enum order_side)7, ORDER_MARKET, 0.1);
    refused(bad, "order: 7 is no side");
    bad = order_of(ORDER_BUY, ORDER_MARKET, 0.1);
    bad.tif = (enum order_tif)12;
    refused(bad, "order: 12 is no time in force");
    bad = order_of(ORDER_BUY, ORDER_MARKET, 0.1);
    bad.size = (enum intent_size)5;
    refused(bad, "order: 5 is no way to give a quantity");
    bad = order_of(ORDER_BUY, ORDER_LIMIT, 0.1);
    refused(bad, "order: limit 0 is no price");
    bad.limit = NAN;
    refused(bad, "order: limit nan is no price");
    bad = order_of(ORDER_BUY, ORDER_MARKET, 0.1);
    bad.limit = 5;
    refused(bad, "order: it has no limit by its type, and 5 is given");
    bad.limit = 0;
    bad.stop = 5;
    refused(bad, "order: MARKET has no stop price, and 5 is given");
    bad = order_of(ORDER_BUY, ORDER_STOP, 0.1);
    bad.stop = 59000;
    refused(bad, "order: stop 59000 of a STOP to buy is not above the price 60000");
    bad.type = ORDER_TAKE_PROFIT;
    bad.stop = 61000;
    refused(bad, "order: stop 61000 of a TAKE_PROFIT to buy is not below the price 60000");
    bad = order_of(ORDER_BUY, ORDER_TRAILING_STOP, 0.1);
    refused(bad, "order: trail 0, share 0: of a trailing stop one, above 0, of none else");
    bad.trail = 10;
    bad.trail_share = 0.5;
    refused(bad, "order: trail 10, share 0.5: of a trailing stop one, above 0, of none else");
    bad = order_of(ORDER_BUY, ORDER_MARKET, 0.1);
    bad.good_ns = INT64_MAX;
    refused(bad, "order: its time to expire needs gtd");
    bad.tif = ORDER_GTD;
    bad.good_ns = START_NS;
    refused(bad, "order: gtd needs a time after the bar's close");
    bad = order_of(ORDER_SELL, ORDER_MARKET, 0.1);
    bad.reduce_only = true;
    refused(bad, "order: nothing is held");
    input.qty = 1;
    bad.side = ORDER_BUY;
    refused(bad, "order: a purchase does not reduce a long");
    bad.side = ORDER_SELL;
    CHECK_INT(intent_check(&bad, &input), INTENT_FITS);
    input.qty = -1;
    refused(bad, "order: a sale does not reduce a short");
    bad.size = INTENT_OF_POSITION;
    bad.side = ORDER_BUY;
    bad.fraction = 1.5;
    refused(bad, "order: fraction 1.5 of the position is not above 0 and at most 1");
    input.leverage = 2;
    bad.size = INTENT_OF_EQUITY;
    CHECK_INT(intent_check(&bad, &input), INTENT_FITS);

    /* Refused as a whole, counted and reported. */
    open_with(false);
    ask_for(order_of(ORDER_SELL, ORDER_MARKET, 0.1));
    CHECK_STR(h.last_alert_text, "puppet, BTCUSDT, account alice: order: its account may not be short of it");
    CHECK(h.last_order.id == 0 && engine_intents_refused(h.engine, ALICE)[INTENT_NO_SHORTS] == 1);
    harness_close(&h);
}

int main(void)
{
    test_limit();
    test_triggered();
    test_gates();
    test_refused();
    return check_done("engine/own_orders");
}
