/* A strategy's session: a decision on its last bar is ordered at the next opening, nothing that it enters is
 * made or rests while it is closed. By hand; kept_random.c has random days. */
#include "engine/core.h"
#include "engine/state.h"
#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"

/* The only one here: a state names it, and finds it again. */
const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&puppet_strategy};
    *ret_n = 1;
    return all;
}

enum { FIRST = 2 /* days from START_NS's on */ };

static struct trading_day days[4];
static int64_t wrong_ns; /* our clock is so far ahead of the venue's */

/* 09:30 to 16:00, the second day to 13:00, from 04:00 to 20:00 (17:00). */
static void tell_days(size_t n)
{
    int64_t midnight_ns = (START_NS / DAY_NS + FIRST) * DAY_NS;
    struct trading_calendar calendar = {.name = "us-equity", .days = days, .n = n, .from_ns = midnight_ns};
    struct event event;
    for (size_t i = 0; i < n; i++, midnight_ns += DAY_NS) {
        bool half = i == 1;
        days[i] = (struct trading_day){midnight_ns + 4 * HOUR_NS, midnight_ns + 9 * HOUR_NS + HOUR_NS / 2,
                                       midnight_ns + (half ? 13 : 16) * HOUR_NS,
                                       midnight_ns + (half ? 17 : 20) * HOUR_NS};
    }
    calendar.to_ns = midnight_ns;
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
}

static void show(int64_t price)
{
    quote(&h, BTCUSDT, price - USDT, 100 * BTC, price, 100 * BTC);
    trade(&h, BTCUSDT, price, BTC / 100);
}

/* A bar of so many minutes before a time, which closes a moment after it. */
static void bar_before(int64_t end_ns, int64_t price)
{
    struct bar bar = flat_bar(end_ns - MINUTE_NS, price);
    if (h.now_ns < end_ns + 10 * MS_NS)
        h.now_ns = end_ns + 10 * MS_NS;
    kline(&h, BTCUSDT, &bar);
}

static void open_day(enum session_choice choice, enum fill_model model)
{
    harness_init(&h);
    h.config.fill_model = model;
    h.accounts[ALICE].strategy = &puppet_strategy;
    h.accounts[ALICE].session = choice;
    h.accounts[ALICE].cash = 1000000 * USDT;
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    h.symbols[BTCUSDT].loose_ids = true;
    puppet_n = 0;
    puppet_bars = 0;
    harness_open(&h);
    tell_days(4);
    if (wrong_ns != 0)
        venue_clock(&h, -wrong_ns);
    phase_at(MARKET_PHASE_OPEN, days[0].open_ns + wrong_ns, days[0].close_ns, false);
    show(60000 * USDT);
}

static const struct intent buys = {.kind = INTENT_ENTER, .fraction = 0.5, .why = "up"};

/* The first day closes, with that wanted on its last bar. */
static void close_day(const struct intent *intent)
{
    puppet_n = 0;
    bar_before(days[0].close_ns - MINUTE_NS, 60000 * USDT);
    CHECK_INT(puppet_saw.session_open_ns, days[0].open_ns);
    CHECK_INT(puppet_saw.session_close_ns, days[0].close_ns);
    if (intent)
        puppet_want(*intent);
    phase_at(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns, false);
    bar_before(days[0].close_ns, 60000 * USDT); /* it closes with the session, and comes after it */
    CHECK_INT(puppet_saw.ts_ns, days[0].close_ns);
}

static void open_next(int64_t price)
{
    phase_at(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns, false);
    phase_at(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns, false);
    uint64_t bars = puppet_bars;
    bar_before(days[1].early_ns + MINUTE_NS, 61000 * USDT); /* not one of its session */
    CHECK_INT(puppet_bars, bars);
    CHECK_INT(engine_account(h.engine, ALICE)->refused[ORDER_RISK_PAUSED], 0);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
    show(price);
    pass(&h, SECOND_NS);
}

static void test_last_bar(void)
{
    open_day(SESSION_REGULAR, FILL_BOOK);
    close_day(&buys);
    CHECK_INT(n_orders(), 0);
    CHECK_INT(engine_counters(h.engine)->decisions, 2);
    /* The bar is revised: what was decided stays. */
    struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_REVISION, .symbol = BTCUSDT}};
    event.market.kline =
        (struct market_kline){MINUTE_NS, flat_bar(days[0].close_ns - MINUTE_NS, 59000 * USDT), true};
    CHECK_INT(harness_event(&h, &event), 0);
    open_next(62000 * USDT);
    CHECK_INT(n_orders(), 1);
    CHECK_INT(reported(&h, 1)->created_ns, days[1].open_ns);
    CHECK_STR(reported(&h, 1)->tag, "up");
    sees(1, ORDER_FILLED, ORDER_OK);
    /* Half of the equity at the last price, 0.5 · 1,000,000 / 60,000 less the fee, bought at what is shown.
     */
    CHECK(h.position[ALICE][BTCUSDT] > 832 * BTC / 100 && h.position[ALICE][BTCUSDT] < 834 * BTC / 100);
    CHECK_INT(h.last_fill.price, 62000 * USDT);
    /* Of a half day the last bar is that of 12:59. */
    puppet_want((struct intent){.kind = INTENT_EXIT, .why = "down"});
    phase_at(MARKET_PHASE_LATE, days[1].close_ns, days[1].late_ns, false);
    bar_before(days[1].close_ns, 62000 * USDT);
    CHECK_INT(n_orders(), 1);
    phase_at(MARKET_PHASE_OPEN, days[2].open_ns, days[2].close_ns, false);
    CHECK_INT(n_orders(), 2);
    CHECK_STR(reported(&h, 2)->tag, "down");
    harness_close(&h);
}

/* The venue's clock is before ours, or it opens late: its word counts. */
static void test_opening(void)
{
    for (int late = 0; late < 2; late++) {
        open_day(SESSION_REGULAR, FILL_BOOK);
        close_day(&buys);
        phase_at(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns, false);
        int64_t at_ns = days[1].open_ns + (late ? 20 * MINUTE_NS : -300 * MS_NS);
        h.now_ns = at_ns - SECOND_NS;
        pass(&h, 0);
        CHECK_INT(n_orders(), 0);
        phase_at(MARKET_PHASE_OPEN, at_ns, days[1].close_ns, false);
        CHECK_INT(n_orders(), 1);
        CHECK_INT(reported(&h, 1)->created_ns, at_ns);
        pass(&h, SECOND_NS);
        CHECK_INT(engine_orders(h.engine), 1); /* nothing is shown yet */
        show(61000 * USDT);
        sees(1, ORDER_FILLED, ORDER_OK);
        CHECK_INT(h.last_fill.price, 61000 * USDT);
        harness_close(&h);
    }
}

static void bar_at(int64_t end_ns, int64_t recv_ns)
{
    struct bar bar = flat_bar(end_ns - MINUTE_NS, 60000 * USDT);
    h.now_ns = recv_ns;
    kline(&h, BTCUSDT, &bar);
}

/* Our clock is wrong by two minutes, either way: the session is the venue's. */
static void test_wrong_clock(int64_t ns)
{
    wrong_ns = ns;
    open_day(SESSION_REGULAR, FILL_BOOK);
    /* An entry that waits ends with the session that it is of, by the venue's time. */
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .limit = 50000});
    bar_at(days[0].open_ns + MINUTE_NS, days[0].open_ns + MINUTE_NS + wrong_ns);
    CHECK_INT(n_orders(), 1);
    phase_at(MARKET_PHASE_OPEN, days[0].open_ns + 2 * MINUTE_NS + wrong_ns, days[0].close_ns, false);
    sees(1, ORDER_OPEN, ORDER_OK);
    cancel(&h, 1);
    /* It is open for another minute. */
    puppet_want(buys);
    bar_at(days[0].close_ns - MINUTE_NS, days[0].close_ns - MINUTE_NS + wrong_ns);
    CHECK_INT(n_orders(), 2);
    pass(&h, SECOND_NS);
    show(60000 * USDT);
    puppet_want((struct intent){.kind = INTENT_EXIT, .why = "down"});
    phase_at(MARKET_PHASE_LATE, days[0].close_ns + wrong_ns, days[0].late_ns, false);
    bar_at(days[0].close_ns, days[0].close_ns + wrong_ns);
    CHECK_INT(n_orders(), 2);
    phase_at(MARKET_PHASE_EARLY, days[1].early_ns + wrong_ns, days[1].open_ns, false);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns + wrong_ns, days[1].close_ns, false);
    CHECK_INT(n_orders(), 3);
    CHECK_STR(reported(&h, 3)->tag, "down");
    harness_close(&h);
    wrong_ns = 0;
}

/* With `extended` the evening is of the session, and with `all` nothing waits. */
static void test_choices(void)
{
    open_day(SESSION_EXTENDED, FILL_BOOK);
    puppet_n = 0;
    puppet_want(buys);
    phase_at(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns, false);
    bar_before(days[0].close_ns, 60000 * USDT);
    CHECK_INT(puppet_saw.session_open_ns, days[0].early_ns);
    CHECK_INT(puppet_saw.session_close_ns, days[0].late_ns);
    CHECK_INT(n_orders(), 1);
    phase_at(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns, false);
    sees(1, ORDER_CANCELED, ORDER_SESSION_CLOSED);
    puppet_want(buys);
    bar_before(days[0].late_ns, 60000 * USDT);
    CHECK_INT(n_orders(), 1);
    phase_at(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns, false);
    CHECK_INT(n_orders(), 2);
    harness_close(&h);

    open_day(SESSION_ALL, FILL_BOOK);
    puppet_want(buys);
    phase_at(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns, false);
    bar_before(days[0].close_ns, 60000 * USDT);
    CHECK_INT(n_orders(), 1);
    CHECK_INT(puppet_saw.session_open_ns, 0);
    phase_at(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns, false);
    CHECK_INT(engine_orders(h.engine), 1);
    harness_close(&h);
}

/* What was kept is dropped by the user, and makes no order where it makes no sense any more. */
static void test_dropped(void)
{
    static const enum command_kind drops[] = {COMMAND_PAUSE, COMMAND_FLATTEN, COMMAND_ACCOUNT_RESET,
                                              COMMAND_ACCOUNT_POLICY};
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        struct event_command what = {.kind = drops[i]};
        open_day(SESSION_REGULAR, FILL_BOOK);
        close_day(&buys);
        if (drops[i] == COMMAND_ACCOUNT_RESET)
            what.money.amount = 1000 * USDT;
        command(&h, what);
        command(&h, (struct event_command){.kind = COMMAND_RESUME});
        open_next(60000 * USDT);
        CHECK_INT(n_orders(), 0);
        harness_close(&h);
    }
    for (int held = 0; held < 2; held++) { /* held: an entry; flat: an exit */
        open_day(SESSION_REGULAR, FILL_BOOK);
        if (!held)
            hold(BTC);
        close_day(held ? &buys : &(struct intent){.kind = INTENT_EXIT, .why = "down"});
        uint64_t by_hand = ask(&h, order_of(held ? ORDER_BUY : ORDER_SELL, ORDER_MARKET, BTC));
        phase_at(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns, false);
        phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
        if (held) { /* it works when the session opens */
            CHECK_INT(n_orders(), by_hand);
        } else { /* it is held until the sale trades: the exit then finds nothing to close */
            show(60000 * USDT);
            pass(&h, SECOND_NS);
            CHECK_INT(h.position[ALICE][BTCUSDT], 0);
        }
        harness_close(&h);
    }
    /* A day was left out: its session opened and closed unseen. */
    open_day(SESSION_REGULAR, FILL_BOOK);
    close_day(&buys);
    phase_at(MARKET_PHASE_OPEN, days[2].open_ns, days[2].close_ns, false);
    CHECK_INT(n_orders(), 0);
    harness_close(&h);
}

/* Entries end with the session, exits and orders by hand do not. */
static void test_ends(void)
{
    open_day(SESSION_REGULAR, FILL_BOOK);
    puppet_want((struct intent){
        .kind = INTENT_ENTER, .fraction = 0.1, .limit = 59000, .stop = 58000, .why = "below"});
    bar_before(days[0].close_ns - 2 * MINUTE_NS, 60000 * USDT);
    uint64_t by_hand = rested(limit(ORDER_BUY, BTC / 10, 58500 * USDT));
    CHECK_INT(by_hand, 3);
    sees(1, ORDER_OPEN, ORDER_OK);
    phase_at(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns, false);
    sees(1, ORDER_CANCELED, ORDER_SESSION_CLOSED);
    sees(2, ORDER_CANCELED, ORDER_OTHER_LEG);
    sees(3, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reported(&h, 1)->updated_ns, days[0].close_ns);
    harness_close(&h);

    open_day(SESSION_REGULAR, FILL_BOOK); /* filled: its stop stays */
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .stop = 58000, .why = "up"});
    bar_before(days[0].close_ns - 2 * MINUTE_NS, 60000 * USDT);
    show(60000 * USDT);
    pass(&h, SECOND_NS);
    sees(1, ORDER_FILLED, ORDER_OK);
    phase_at(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns, false);
    sees(2, ORDER_OPEN, ORDER_OK);
    harness_close(&h);
}

/* Prices that were kept over a split are of new shares. */
static void test_split(void)
{
    open_day(SESSION_REGULAR, FILL_BOOK);
    close_day(&(struct intent){
        .kind = INTENT_ENTER, .fraction = 0.1, .limit = 59000, .stop = 58000, .why = "below"});
    struct event event = {.kind = EVENT_ACTION, .action = {.symbol = BTCUSDT}};
    event.action.action = (struct corporate_action){"s", ACTION_SPLIT, days[1].early_ns, 2, 1, 0};
    h.now_ns = days[1].early_ns;
    CHECK_INT(harness_event(&h, &event), 0);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
    CHECK_INT(n_orders(), 2);
    CHECK_INT(reported(&h, 1)->price, 29500 * USDT);
    CHECK_INT(reported(&h, 2)->stop_price, 29000 * USDT);
    harness_close(&h);
}

/* An order of its own that is kept has all of its fields at the opening, over a restart and a split. */
static void test_own_order(void)
{
    struct codec codec = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    const struct engine_sink sink = harness_sink(&h);
    open_day(SESSION_REGULAR, FILL_BOOK);
    close_day(&(struct intent){.kind = INTENT_ORDER,
                               .side = ORDER_BUY,
                               .type = ORDER_STOP_LIMIT,
                               .size = INTENT_OF_UNITS,
                               .tif = ORDER_GTD,
                               .good_ns = days[1].close_ns - HOUR_NS,
                               .qty = 0.5,
                               .stop = 61000,
                               .limit = 61500,
                               .why = "above"});
    CHECK_INT(n_orders(), 0);
    codec_save(&codec);
    CHECK_INT(engine_save(h.engine, &codec), 0);
    CHECK_INT(engine_load(codec.bytes, codec.len, &sink, NULL, &loaded, err), 0);
    CHECK_STR(err, "");
    codec_finish(&codec);
    engine_destroy(h.engine);
    h.engine = loaded;
    struct event event = {.kind = EVENT_ACTION, .action = {.symbol = BTCUSDT}};
    event.action.action = (struct corporate_action){"s", ACTION_SPLIT, days[1].early_ns, 2, 1, 0};
    h.now_ns = days[1].early_ns;
    CHECK_INT(harness_event(&h, &event), 0);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
    CHECK_INT(n_orders(), 1);
    const struct order *order = reported(&h, 1);
    CHECK(order->type == ORDER_STOP_LIMIT && order->side == ORDER_BUY && order->qty == BTC);
    CHECK(order->stop_price == 30500 * USDT && order->price == 30750 * USDT);
    CHECK(order->tif == ORDER_GTD && order->expires_ns == days[1].close_ns - HOUR_NS);
    harness_close(&h);
}

/* The bar model: it fills at the open of the session's first bar, and bars outside move no price. */
static void test_bar_model(void)
{
    open_day(SESSION_REGULAR, FILL_BAR);
    close_day(&buys);
    uint64_t points = h.equity_points;
    bar_before(days[0].close_ns + MINUTE_NS, 50000 * USDT); /* of the evening */
    struct engine_symbol_view view;
    engine_symbol_view(h.engine, BTCUSDT, &view);
    CHECK_INT(view.last, 60000 * USDT);
    CHECK_INT(view.last_bar.close, 50000 * USDT);
    CHECK_INT(h.equity_points, points);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
    CHECK_INT(n_orders(), 0);
    struct bar first = flat_bar(days[1].open_ns, 61000 * USDT);
    first.close = first.high = 63000 * USDT;
    h.now_ns = days[1].open_ns + MINUTE_NS + 10 * MS_NS;
    kline(&h, BTCUSDT, &first);
    CHECK_INT(n_orders(), 1);
    CHECK_INT(reported(&h, 1)->created_ns, days[1].open_ns);
    sees(1, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 61000 * USDT);
    CHECK_INT(h.last_fill.ts_ns, days[1].open_ns);
    harness_close(&h);
}

/* The data is away when the session opens, as after a restart: what was kept is ordered, and waits for it. */
static void test_away(void)
{
    open_day(SESSION_REGULAR, FILL_QUOTE);
    close_day(&buys);
    phase_at(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns, false);
    connection(&h, false);
    phase_at(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns, false);
    CHECK_INT(n_orders(), 1);
    pass(&h, SECOND_NS);
    sees(1, ORDER_OPEN, ORDER_OK);
    pass(&h, 2 * MINUTE_NS);
    connection(&h, true);
    sees(1, ORDER_OPEN, ORDER_OK);
    show(61000 * USDT);
    sees(1, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.last_fill.price, 61000 * USDT);
    harness_close(&h);
}

int main(void)
{
    test_last_bar();
    test_opening();
    test_wrong_clock(2 * MINUTE_NS);
    test_wrong_clock(-2 * MINUTE_NS);
    test_away();
    test_choices();
    test_dropped();
    test_ends();
    test_split();
    test_own_order();
    test_bar_model();
    return check_done("engine/kept");
}
