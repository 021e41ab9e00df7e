/* Shorts with numbers computed by hand: what is borrowed and given back, what must cover it, what it costs by
 * the hour, and what happens when it is covered too little. */
#include "engine/core.h"
#include "tests/engine/harness.h"

static const int64_t USDT = E8, BTC = E8, ETH = E8;

/* What left the engine beside what the harness keeps. */
static struct ledger_row rows[64];
static int n_rows;
static char last_alert[32];
static void (*harness_ledger)(void *, const struct ledger_row *);

static void keep_row(void *ctx, const struct ledger_row *row)
{
    harness_ledger(ctx, row);
    if (n_rows < 64)
        rows[n_rows++] = *row;
}

static void keep_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                       const char *text)
{
    (void)of;
    (void)ctx;
    CHECK(ts_ns > 0 && text[0]);
    snprintf(last_alert, sizeof last_alert, "%s", code);
}

static void price(struct harness *h, int symbol, int64_t at)
{
    quote(h, symbol, at * E8, 1000 * E8, at * E8, 1000 * E8);
    trade(h, symbol, at * E8, E8);
}

/* Alice may be short: 150 % to open, 125 % to keep, a hundred thousandth of the value an hour. */
static void open_shorts(struct harness *h)
{
    harness_init(h);
    struct account_rules *rules = &h->accounts[ALICE].rules;
    rules->shorts = true;
    rules->collateral_e4 = 15000;
    rules->maintenance_e4 = 12500;
    rules->borrow_rate_e6 = 87600;
    harness_open(h);
    harness_ledger = h->engine->sink.ledger;
    h->engine->sink.ledger = keep_row;
    h->engine->sink.alert = keep_alert;
    last_alert[0] = '\0';
    price(h, BTCUSDT, 10000);
    price(h, ETHUSDT, 1000);
    n_rows = 0;
}

static uint64_t at_market(struct harness *h, int account, int symbol, enum order_side side, int64_t qty)
{
    uint64_t id = order(h, account, symbol, side, ORDER_MARKET, qty, 0);
    pass(h, SECOND_NS);
    return id;
}

static const struct balance *held(const struct harness *h, const char *asset)
{
    const struct account *alice = engine_account(h->engine, ALICE);
    for (int i = 0; i < alice->n_assets; i++)
        if (strcmp(alice->assets[i].asset, asset) == 0)
            return &alice->assets[i];
    CHECK(!"a balance");
    return &alice->assets[0];
}

static void expect_balance(const struct harness *h, const char *asset, int64_t total, int64_t borrowed)
{
    CHECK_INT(held(h, asset)->total, total);
    CHECK_INT(held(h, asset)->borrowed, borrowed);
}

static void expect_row(int i, const char *asset, enum ledger_kind kind, int64_t amount)
{
    if (i >= n_rows) {
        CHECK(!"a ledger row");
        return;
    }
    CHECK_STR(rows[i].asset, asset);
    CHECK_INT(rows[i].kind, kind);
    CHECK_INT(rows[i].amount, amount);
    bool fill = kind == LEDGER_TRADE || kind == LEDGER_FEE || kind == LEDGER_BORROW;
    CHECK((rows[i].fill_id > 0) == fill && (rows[i].order_id > 0) == fill);
}

static const struct position *alice(const struct harness *h)
{
    return &engine_account(h->engine, ALICE)->positions[BTCUSDT];
}

/* One sold at 10000, one and a half bought at 9000: the borrowed coin is returned, the half stays. */
static void test_borrow_and_give_back(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    CHECK_INT(n_rows, 4);
    expect_row(0, "BTC", LEDGER_BORROW, BTC);
    expect_row(1, "BTC", LEDGER_TRADE, -BTC);
    expect_row(2, "USDT", LEDGER_TRADE, 10000 * USDT);
    expect_row(3, "USDT", LEDGER_FEE, -10 * USDT);
    expect_balance(&h, "BTC", 0, BTC);
    expect_balance(&h, "USDT", 19990 * USDT, 0);
    CHECK_INT(alice(&h)->qty, -BTC);
    CHECK_INT(alice(&h)->cost, 10000 * USDT);
    CHECK_INT(engine_equity(h.engine, ALICE), 9990 * USDT);
    CHECK_INT(h.engine->markets[BTCUSDT].shorts, 1);

    n_rows = 0;
    price(&h, BTCUSDT, 9000);
    CHECK_INT(engine_equity(h.engine, ALICE), 10990 * USDT);
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, 3 * BTC / 2);
    CHECK_INT(n_rows, 4);
    expect_row(0, "BTC", LEDGER_TRADE, 3 * BTC / 2);
    expect_row(1, "USDT", LEDGER_TRADE, -13500 * USDT);
    expect_row(2, "USDT", LEDGER_FEE, -13 * USDT - USDT / 2);
    expect_row(3, "BTC", LEDGER_BORROW, -BTC);
    expect_balance(&h, "BTC", BTC / 2, 0);
    expect_balance(&h, "USDT", 6476 * USDT + USDT / 2, 0);
    CHECK_INT(alice(&h)->qty, BTC / 2);
    CHECK_INT(alice(&h)->cost, 4500 * USDT);
    CHECK_INT(alice(&h)->realized, 1000 * USDT);
    CHECK_INT(h.engine->markets[BTCUSDT].shorts, 0);

    /* Through zero the other way: only what is lacking is borrowed. */
    n_rows = 0;
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, 5 * BTC / 4);
    expect_row(0, "BTC", LEDGER_BORROW, 3 * BTC / 4);
    expect_row(1, "BTC", LEDGER_TRADE, -5 * BTC / 4);
    expect_balance(&h, "BTC", 0, 3 * BTC / 4);
    CHECK_INT(alice(&h)->qty, -3 * BTC / 4);
    harness_close(&h);
}

static void test_who_may(void)
{
    static struct harness h;
    open_shorts(&h);
    quote(&h, ETHBTC, E8 / 10, 1000 * E8, E8 / 10, 1000 * E8);
    trade(&h, ETHBTC, E8 / 10, E8);
    at_market(&h, BOB, BTCUSDT, ORDER_SELL, BTC);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    at_market(&h, ALICE, ETHBTC, ORDER_SELL, ETH); /* its quote is not her currency */
    CHECK_INT(h.command_reason, ORDER_NO_SHORTS);
    /* Reduce-only never opens. */
    struct order request = {.account = ALICE,
                            .symbol = BTCUSDT,
                            .side = ORDER_SELL,
                            .type = ORDER_MARKET,
                            .qty = BTC,
                            .reduce_only = true,
                            .by_hand = true};
    command(&h, (struct event_command){.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}});
    CHECK_INT(h.command_reason, ORDER_REDUCE_ONLY);
    CHECK_INT(h.fills, 0);
    harness_close(&h);
}

/* 10000 and the proceeds less the fee must be half as much again as the short's value. */
static void test_collateral(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, 2 * BTC); /* 29980 of 30000 */
    CHECK_INT(h.command_reason, ORDER_COLLATERAL);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, 199 * BTC / 100, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    /* Before it arrives, the last price rises: the short will be worth 11000 each, and is sold for 9990.
     */
    trade(&h, BTCUSDT, 11000 * E8, E8);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, id)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_COLLATERAL);
    CHECK_INT(alice(&h)->qty, -153609000); /* 1.53609: a step more would take 25345.65 of 25345.639 */
    CHECK_INT(held(&h, "USDT")->total, 2534553910000);
    harness_close(&h);

    /* What covers the short is free neither for purchases nor to be withdrawn: 19990 less 15000. */
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_DEPOSIT,
                                       .money = {.account = ALICE, .amount = -4990 * USDT - 1}});
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    at_market(&h, ALICE, ETHUSDT, ORDER_BUY, 5 * ETH);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    at_market(&h, ALICE, ETHUSDT, ORDER_BUY, 4 * ETH); /* 4004 with the fee */
    CHECK_INT(h.command_reason, ORDER_OK);
    expect_balance(&h, "ETH", 4 * ETH, 0);
    at_market(&h, ALICE, ETHUSDT, ORDER_BUY, ETH);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    /* But to buy back it is there: nothing is reserved for what only closes. */
    uint64_t back = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC, 9500 * E8);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    cancel(&h, back);
    pass(&h, SECOND_NS);
    /* More than the short: the rest must be free once the loan is gone. 15986 less 10010 buys 0.59 more. */
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, 8 * BTC / 5);
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE);
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, 159 * BTC / 100);
    CHECK_INT(h.command_reason, ORDER_OK);
    expect_balance(&h, "BTC", 59 * BTC / 100, 0);
    harness_close(&h);
}

/* From 23:54 on: a tenth at 00:00, five tenths at once after a gap of five hours, and part of an hour counts
 * for nothing once the loan is back. */
static void test_interest(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    n_rows = 0;
    pass(&h, 5 * MINUTE_NS);
    CHECK_INT(n_rows, 0);
    pass(&h, MINUTE_NS);
    CHECK_INT(n_rows, 1);
    expect_row(0, "USDT", LEDGER_INTEREST, -USDT / 10);
    CHECK_INT(h.last_equity[ALICE].equity, 9990 * USDT - USDT / 10);
    pass(&h, 5 * HOUR_NS);
    CHECK_INT(n_rows, 2);
    expect_row(1, "USDT", LEDGER_INTEREST, -USDT / 2);
    price(&h, BTCUSDT, 11000);
    pass(&h, HOUR_NS);
    expect_row(2, "USDT", LEDGER_INTEREST, -USDT / 10 - USDT / 100);
    pass(&h, 59 * MINUTE_NS);
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, BTC);
    n_rows = 0;
    pass(&h, 2 * HOUR_NS);
    CHECK_INT(n_rows, 0);
    harness_close(&h);

    /* 5 % a year of 10000 are 0.0570776… an hour: rounded up. */
    open_shorts(&h);
    h.engine->accounts[ALICE].rules.borrow_rate_e6 = 50000;
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    n_rows = 0;
    pass(&h, 7 * MINUTE_NS);
    expect_row(0, "USDT", LEDGER_INTEREST, -5707763);
    harness_close(&h);
}

static void test_margin_call(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    uint64_t other = order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_LIMIT, ETH, 900 * E8);
    pass(&h, SECOND_NS);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 900 * USDT + 9 * USDT / 10);
    price(&h, BTCUSDT, 15992); /* 19990 are 125 % */
    CHECK_STR(last_alert, "");
    uint64_t orders = engine_counters(h.engine)->orders;
    trade(&h, BTCUSDT, 15992 * E8 + 1, E8); /* a unit more than that */
    CHECK_STR(last_alert, "MARGIN_CALL");
    CHECK_INT(engine_counters(h.engine)->orders, orders + 1);
    CHECK_STR(h.last_order.tag, "margin call");
    CHECK(h.last_order.reduce_only && h.last_order.side == ORDER_BUY && h.last_order.qty == BTC);
    trade(&h, BTCUSDT, 15993 * E8, E8); /* it is on its way: not again */
    CHECK_INT(engine_counters(h.engine)->orders, orders + 1);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, other)->state, ORDER_CANCELED);
    expect_balance(&h, "BTC", 0, 0);
    CHECK_INT(held(&h, "USDT")->total, 19990 * USDT - 15992 * USDT - 1599200000);
    CHECK_INT(alice(&h)->qty, 0);
    CHECK_INT(alice(&h)->realized, -5992 * USDT);
    harness_close(&h);
}

/* The price quadruples: all the cash buys back half; the rest stays short and the interest unpaid until there
 * is money again. No balance is ever negative. */
static void test_ruin(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    price(&h, BTCUSDT, 40000);
    pass(&h, SECOND_NS);
    expect_balance(&h, "USDT", 3 * USDT / 100, 0);
    expect_balance(&h, "BTC", 0, 50075000);
    CHECK_INT(engine_equity(h.engine, ALICE), 3 * USDT / 100 - 20030 * USDT);
    /* It is not asked for again and again while there is nothing to pay with. */
    uint64_t orders = engine_counters(h.engine)->orders;
    for (int i = 0; i < 20; i++) {
        pass(&h, 2 * SECOND_NS);
        trade(&h, BTCUSDT, 40000 * E8, E8);
    }
    CHECK(engine_counters(h.engine)->orders <= orders + 1);

    n_rows = 0;
    pass(&h, 6 * MINUTE_NS);
    CHECK_INT(n_rows, 1);
    expect_row(0, "USDT", LEDGER_INTEREST, -3 * USDT / 100);
    CHECK_INT(engine_account(h.engine, ALICE)->unpaid_interest, 20030000 - 3000000);
    CHECK_INT(engine_equity(h.engine, ALICE), -20030 * USDT - 17030000);
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_DEPOSIT,
                                       .money = {.account = ALICE, .amount = 100 * USDT}});
    CHECK_INT(h.command_reason, ORDER_OK);
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_DEPOSIT,
                                       .money = {.account = ALICE, .amount = -USDT}});
    CHECK_INT(h.command_reason, ORDER_INSUFFICIENT_BALANCE); /* it covers */
    n_rows = 0;
    pass(&h, HOUR_NS);
    CHECK_INT(n_rows, 2);
    expect_row(0, "USDT", LEDGER_INTEREST, -17030000);
    expect_row(1, "USDT", LEDGER_INTEREST, -20030000);
    CHECK_INT(engine_account(h.engine, ALICE)->unpaid_interest, 0);
    harness_close(&h);
}

static void test_reset_while_short(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC, 9000 * E8);
    n_rows = 0;
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET,
                                       .money = {.account = ALICE, .amount = 5000 * USDT}});
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(n_rows, 4);
    CHECK_INT(rows[0].amount, -19990 * USDT);
    CHECK(rows[1].kind == LEDGER_RESET && strcmp(rows[1].asset, "BTC") == 0 && rows[1].amount == BTC);
    CHECK(rows[2].kind == LEDGER_BORROW && rows[2].amount == -BTC && rows[2].fill_id == 0);
    CHECK(rows[3].kind == LEDGER_DEPOSIT && rows[3].amount == 5000 * USDT);
    expect_balance(&h, "BTC", 0, 0);
    expect_balance(&h, "USDT", 5000 * USDT, 0);
    CHECK_INT(h.engine->markets[BTCUSDT].shorts, 0);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);
}

static void test_flatten_and_pause(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC / 10);
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, BTC / 10);
    CHECK_INT(h.command_reason, ORDER_OK);
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, BTC); /* more than the short */
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    CHECK_INT(alice(&h)->qty, -9 * BTC / 10);
    command(&h, (struct event_command){.kind = COMMAND_FLATTEN});
    pass(&h, SECOND_NS);
    CHECK_INT(alice(&h)->qty, 0);
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    /* Two sales that close each by itself, but open together. */
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, BTC / 2);
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, BTC / 2, 11000 * E8);
    CHECK_INT(h.command_reason, ORDER_OK);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, BTC / 2, 12000 * E8);
    CHECK_INT(h.command_reason, ORDER_RISK_PAUSED);
    harness_close(&h);
}

/* Half of the equity in one symbol at most, short or long. */
static void test_exposure(void)
{
    static struct harness h;
    open_shorts(&h);
    h.engine->accounts[ALICE].rules.risk.exposure_symbol = 0.5;
    h.engine->accounts[ALICE].rules.risk.exposure_account = 0.7;
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, 51 * BTC / 100);
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, 40 * BTC / 100);
    CHECK_INT(h.command_reason, ORDER_OK);
    at_market(&h, ALICE, ETHUSDT, ORDER_BUY, 4 * ETH); /* 8000 in all */
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    at_market(&h, ALICE, ETHUSDT, ORDER_SELL, 4 * ETH);
    CHECK_INT(h.command_reason, ORDER_RISK_EXPOSURE);
    at_market(&h, ALICE, ETHUSDT, ORDER_BUY, 2 * ETH);
    CHECK_INT(h.command_reason, ORDER_OK);
    /* Turned round: 4000 go, 4900 come. */
    at_market(&h, ALICE, BTCUSDT, ORDER_BUY, 89 * BTC / 100);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(alice(&h)->qty, 49 * BTC / 100);
    harness_close(&h);
}

/* A short entry with its exits: bought back at a profit, the stop goes with it. Exits hold no money. */
static void test_bracket(void)
{
    static struct harness h;
    open_shorts(&h);
    struct order legs[] = {
        {.account = ALICE, .side = ORDER_SELL, .type = ORDER_MARKET, .qty = BTC, .by_hand = true},
        {.account = ALICE, .side = ORDER_BUY, .type = ORDER_STOP, .qty = BTC, .stop_price = 11000 * E8},
        {.account = ALICE, .side = ORDER_BUY, .type = ORDER_LIMIT, .qty = BTC, .price = 9000 * E8},
    };
    command(&h, (struct event_command){.kind = COMMAND_ORDER,
                                       .order = {.grouping = ORDERS_BRACKET, .legs = legs, .n_legs = 3}});
    CHECK_INT(h.command_reason, ORDER_OK);
    pass(&h, SECOND_NS);
    pass(&h, SECOND_NS);
    CHECK_INT(alice(&h)->qty, -BTC);
    CHECK_INT(engine_orders(h.engine), 2);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    price(&h, BTCUSDT, 8999);
    pass(&h, SECOND_NS);
    CHECK_INT(alice(&h)->qty, 0);
    CHECK_INT(alice(&h)->realized, 1000 * USDT);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(reported(&h, h.command_order + 1)->reason, ORDER_OTHER_LEG);
    harness_close(&h);
}

/* Two shorts, one too many: both are bought back, and what waits to be bought in another money stays. */
static void test_margin_call_of_two(void)
{
    static struct harness h;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC / 2);
    at_market(&h, ALICE, ETHUSDT, ORDER_SELL, 5 * ETH);
    CHECK_INT(held(&h, "USDT")->total, 19990 * USDT);
    CHECK_INT(h.engine->accounts[ALICE].shorts, 2);
    price(&h, ETHUSDT, 2198); /* 5000 + 10990 */
    CHECK_STR(last_alert, "");
    price(&h, ETHUSDT, 2199);
    CHECK_STR(last_alert, "MARGIN_CALL");
    pass(&h, SECOND_NS);
    CHECK_INT(h.engine->accounts[ALICE].shorts, 0);
    expect_balance(&h, "BTC", 0, 0);
    expect_balance(&h, "ETH", 0, 0);
    CHECK_INT(held(&h, "USDT")->total, 19990 * USDT - 15995 * USDT - 1599500000);
    harness_close(&h);
}

/* What the database gives back, where there is no event log. */
static void test_restore(void)
{
    static struct harness h, again;
    open_shorts(&h);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC);
    price(&h, BTCUSDT, 10100);
    at_market(&h, ALICE, BTCUSDT, ORDER_SELL, BTC / 10);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(alice(&h)->qty, -11 * BTC / 10);
    const struct account *from = engine_account(h.engine, ALICE);
    harness_init(&again);
    again.accounts[ALICE].rules = h.accounts[ALICE].rules;
    harness_create(&again);
    CHECK_INT(engine_restore_balance(again.engine, ALICE, "USDT", 8, held(&h, "USDT")->total), 0);
    CHECK_INT(engine_restore_borrowed(again.engine, ALICE, "BTC", 8, held(&h, "BTC")->borrowed), 0);
    CHECK_INT(engine_restore_borrowed(again.engine, ALICE, "BTC", 8, -1), -EINVAL);
    CHECK_INT(engine_restore_borrowed(again.engine, 9, "BTC", 8, 1), -EINVAL);
    struct lots wrong = {0};
    CHECK_INT(engine_restore_position(again.engine, ALICE, BTCUSDT, alice(&h)), 0);
    CHECK_INT(engine_restore_lots(again.engine, ALICE, BTCUSDT, &wrong), -EINVAL);
    CHECK_INT(engine_restore_lots(again.engine, ALICE, BTCUSDT, &from->lots[BTCUSDT]), 0);
    CHECK_INT(engine_account(again.engine, ALICE)->lots[BTCUSDT].n, 2);
    CHECK(memcmp(alice(&again), alice(&h), sizeof *alice(&h)) == 0);
    CHECK_INT(again.engine->markets[BTCUSDT].shorts, 1);
    /* Charged for the hours in between, at cost while no price is known: from 23:54 on, the first at 00:00.
     */
    engine_restore_interest(again.engine, ALICE, 0);
    engine_restore_interest(again.engine, BOB, 0);
    memcpy(again.ledger_sum[ALICE], h.ledger_sum[ALICE], sizeof again.ledger_sum[ALICE]);

    int64_t before = held(&again, "USDT")->total;
    struct event later = {.kind = EVENT_TIMER, .seq = 1, .recv_ns = START_NS + 3 * HOUR_NS};
    again.now_ns = later.recv_ns;
    CHECK_INT(engine_handle(again.engine, &later), 0);
    CHECK_INT(held(&again, "USDT")->total, before - 3 * alice(&h)->cost / 100000);
    engine_restore_balance(again.engine, ALICE, "USDT", 8, before);
    CHECK_INT(engine_equity(again.engine, ALICE), from->assets[from->currency_at].total - alice(&h)->cost);
    harness_close(&h);
    harness_close(&again);
}

int main(void)
{
    test_borrow_and_give_back();
    test_who_may();
    test_collateral();
    test_interest();
    test_margin_call();
    test_ruin();
    test_reset_while_short();
    test_flatten_and_pause();
    test_exposure();
    test_bracket();
    test_margin_call_of_two();
    test_restore();
    return check_done("engine/shorts");
}
