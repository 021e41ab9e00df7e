/* Before and after the session: orders with extended_hours, a strategy's limits there and its sales, exits
 * that wait for the session, and bars that were missed. */
#include "engine/core.h"
#include "tests/engine/by_class.h"

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

/* A short's limit is below the price shown, and leaves a profit below it. */
static void test_outside_short(void)
{
    static const struct {
        double profit;
        int64_t limit;
    } cases[] = {{0, 5969901000000}, {59698, 5969901000000}, {59700, 59700 * USDT + USDT / 100}, {59999, 0}};
    model = FILL_QUOTE;
    choice_of_bob = SESSION_EXTENDED;
    bob_shorts = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
        wants((struct intent){
            .kind = INTENT_SHORT, .fraction = 0.5, .stop = 61000, .profit = cases[i].profit, .why = "in"});
        const struct order *entry = &h.orders[1].order;
        CHECK_INT(entry->id, cases[i].limit > 0);
        CHECK_INT(entry->price, cases[i].limit);
        pass(&h, SECOND_NS);
        CHECK_INT(h.position[BOB][BTCUSDT], cases[i].limit > 0 ? -8 * SHARE : 0);
        CHECK(cases[i].limit == 0 || h.last_fill.price == 59999 * USDT);
        harness_close(&h);
    }
    bob_shorts = false;
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
    phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    bar_at(OPEN_NS, 60250, 60260);
    CHECK_INT(state(2), ORDER_CANCELED);
    CHECK_INT(state(3), ORDER_FILLED);
    CHECK_INT(h.fills, 2);
    harness_close(&h);
    model = FILL_QUOTE;
    choice_of_bob = SESSION_ALL;
}

/* With the bar model bars outside the session mark, and charge, accounts that trade then, and no others. */
static void test_bar_marks(void)
{
    int64_t equity[2][2];
    uint64_t rows[2];
    model = FILL_BAR;
    for (int extended = 0; extended < 2; extended++) {
        choice_of_bob = extended ? SESSION_EXTENDED : SESSION_REGULAR;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
        know_days();
        wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .why = "in"});
        struct order sale = order_of(ORDER_SELL, ORDER_MARKET, SHARE);
        asked(sale, ORDER_OK); /* a short of ALICE, who does not trade then */
        bar_at(h.now_ns, 60000, 60000);
        CHECK_INT(h.fills, 2);
        phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
        for (int i = 0; i < 3; i++)
            bar_at(CLOSE_NS + i * HOUR_NS, 60000, 50000);
        rows[extended] = h.rows;
        for (int a = 0; a < 2; a++)
            equity[extended][a] = engine_equity(h.engine, a);
        harness_close(&h);
    }
    CHECK_INT(equity[1][ALICE], equity[0][ALICE]);
    CHECK(equity[1][BOB] < equity[0][BOB]);
    CHECK_INT((int64_t)rows[1], (int64_t)rows[0]);
    model = FILL_QUOTE;
    choice_of_bob = SESSION_ALL;
}

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
    phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
    phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, false);
    CHECK_INT(state(waits), ORDER_EXPIRED); /* with the session; the other one with the day */
    CHECK_INT(state(rests), ORDER_OPEN);
    phase_at(MARKET_PHASE_CLOSED, CLOSE_NS + 4 * HOUR_NS, CLOSE_NS + 60 * HOUR_NS, false);
    CHECK_INT(state(rests), ORDER_EXPIRED);
    harness_close(&h);
}

/* A limit that is given before anything is shown takes what comes first, at its price: a quote, or a trade;
 * with a last price that it crosses, and without one. */
static void test_first_shown(void)
{
    for (int i = 0; i < 4; i++) {
        bool priced = i % 2, by_trade = i / 2;
        model = FILL_QUOTE;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_CLOSED, OPEN_NS - 6 * HOUR_NS);
        know_days();
        phase_at(MARKET_PHASE_EARLY, OPEN_NS - 330 * MINUTE_NS, OPEN_NS, false);
        if (!priced)
            h.engine->markets[BTCUSDT].last = 0;
        pass(&h, HOUR_NS);
        struct order request = with(limit(ORDER_BUY, SHARE, 62000 * USDT), ORDER_DAY);
        request.extended_hours = true;
        uint64_t id = asked(request, ORDER_OK);
        pass(&h, SECOND_NS);
        CHECK_INT(state(id), ORDER_OPEN);
        if (by_trade)
            trade_by(&h, BTCUSDT, 60500 * USDT, 2 * SHARE, false);
        else
            quote(&h, BTCUSDT, 60499 * USDT, 20 * SHARE, 60500 * USDT, 50 * SHARE);
        CHECK_INT(state(id), ORDER_FILLED);
        CHECK_INT(h.last_fill.price, 60500 * USDT);
        CHECK(!h.last_fill.maker);
        harness_close(&h);
    }
}

/* A strategy's limit that is good for a while is of the day there, and ends at its time, also over an
 * opening; at the end of the day where its time is later. */
static void test_outside_good(void)
{
    static const int64_t good_ns[] = {30 * MINUTE_NS, 2 * HOUR_NS, 48 * HOUR_NS};
    model = FILL_QUOTE;
    choice_of_bob = SESSION_EXTENDED;
    for (size_t i = 0; i < sizeof good_ns / sizeof *good_ns; i++) {
        open_class(ASSET_US_EQUITY, MARKET_PHASE_EARLY, OPEN_NS - HOUR_NS);
        const struct order *entry = &h.orders[1].order;
        int64_t end_ns = h.now_ns + good_ns[i];
        wants((struct intent){
            .kind = INTENT_ENTER, .fraction = 0.5, .limit = 59000, .good_ns = end_ns, .why = "in"});
        CHECK(entry->tif == ORDER_DAY && entry->extended_hours && !entry->emulated);
        CHECK_INT(entry->expires_ns, end_ns);
        pass(&h, SECOND_NS);
        CHECK_INT(entry->state, ORDER_OPEN);
        if (i > 0) {
            phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, false);
            CHECK_INT(entry->expires_ns, end_ns);
        }
        if (i > 1) {
            phase_at(MARKET_PHASE_LATE, CLOSE_NS, end_ns = CLOSE_NS + 4 * HOUR_NS, false);
            CHECK_INT(entry->expires_ns, end_ns);
            phase_at(MARKET_PHASE_CLOSED, end_ns, CLOSE_NS + 60 * HOUR_NS, false);
        } else {
            pass(&h, end_ns - SECOND_NS - h.now_ns);
            CHECK_INT(entry->state, ORDER_OPEN);
            pass(&h, SECOND_NS);
        }
        CHECK_INT(entry->state, ORDER_EXPIRED);
        harness_close(&h);
    }
    choice_of_bob = SESSION_ALL;
}

/* With [venue] extended_hours = on a regular account's bracket, and its stops by hand, wait for the session,
 * as in its backtest; an extended account's do not, nor does a limit by hand. */
static void test_venue_extended(void)
{
    for (int extended = 0; extended < 2; extended++) {
        model = FILL_QUOTE;
        choice_of_bob = extended ? SESSION_EXTENDED : SESSION_REGULAR;
        open_class(ASSET_US_EQUITY, MARKET_PHASE_OPEN, OPEN_NS);
        phase_at(MARKET_PHASE_OPEN, OPEN_NS, CLOSE_NS, true);
        wants((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "in"});
        pass(&h, SECOND_NS);
        CHECK_INT(state(1), ORDER_FILLED);
        phase_at(MARKET_PHASE_LATE, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS, true);
        struct order request = limit(ORDER_BUY, SHARE, 58500 * USDT);
        request.account = BOB;
        uint64_t by_hand = asked(request, ORDER_OK);
        pass(&h, SECOND_NS);
        trade_by(&h, BTCUSDT, 58000 * USDT, SHARE, true);
        quote(&h, BTCUSDT, 57999 * USDT, 20 * SHARE, 58000 * USDT, 50 * SHARE);
        CHECK_INT(state(by_hand), ORDER_FILLED);
        CHECK_INT(state(2), extended ? ORDER_FILLED : ORDER_OPEN);
        phase_at(MARKET_PHASE_CLOSED, CLOSE_NS + 4 * HOUR_NS, CLOSE_NS + 12 * HOUR_NS, true);
        phase_at(MARKET_PHASE_EARLY, CLOSE_NS + 12 * HOUR_NS, CLOSE_NS + 18 * HOUR_NS, true);
        quote(&h, BTCUSDT, 57999 * USDT, 20 * SHARE, 58000 * USDT, 50 * SHARE);
        trade_by(&h, BTCUSDT, 58000 * USDT, SHARE, true);
        CHECK_INT(state(2), extended ? ORDER_FILLED : ORDER_OPEN);
        phase_at(MARKET_PHASE_OPEN, CLOSE_NS + 18 * HOUR_NS, CLOSE_NS + 24 * HOUR_NS, true);
        trade_by(&h, BTCUSDT, 58000 * USDT, SHARE, true);
        quote(&h, BTCUSDT, 57998 * USDT, 20 * SHARE, 58000 * USDT, 50 * SHARE);
        CHECK_INT(state(2), ORDER_FILLED);
        harness_close(&h);
    }
    choice_of_bob = SESSION_ALL;
}

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

int main(void)
{
    test_outside();
    test_outside_limit();
    test_outside_short();
    leaves_outside(true);
    leaves_outside(false);
    test_bar_exits();
    test_bar_marks();
    test_extended();
    test_first_shown();
    test_outside_good();
    test_venue_extended();
    test_missed();
    return check_done("engine/extended_hours");
}
