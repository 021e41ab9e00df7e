/* A strategy's session: a decision on its last bar is ordered at the next opening, nothing that it enters is
 * made or rests while it is closed; by hand, and over random days with half days, where a log of the same
 * events, a state in between, and the bars alone give the same. */
#include "engine/core.h"
#include "engine/state.h"
#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

#define HOUR_NS (60 * MINUTE_NS)
#define DAY_NS  (24 * HOUR_NS)

static size_t dice_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents);
static const struct strategy dice_strategy = {
    .name = "dice", .summary = "wants what its bars' numbers say", .specs = puppet_specs, .on_bar = dice_bar};

/* The only ones here: a state names them, and finds them again. */
const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&dice_strategy, &puppet_strategy};
    *ret_n = 2;
    return all;
}

/* ---- by hand ---- */

enum { FIRST = 2 /* days from START_NS's on */ };

static struct trading_day days[64];

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

static void phase_to(enum market_phase phase, int64_t at_ns, int64_t next_ns)
{
    struct event event = {.kind = EVENT_SESSION,
                          .session = {.calendar = "us-equity", .phase = phase, .next_ns = next_ns}};
    h.now_ns = at_ns;
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
    phase_to(MARKET_PHASE_OPEN, days[0].open_ns, days[0].close_ns);
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
    phase_to(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns);
    bar_before(days[0].close_ns, 60000 * USDT); /* it closes with the session, and comes after it */
    CHECK_INT(puppet_saw.ts_ns, days[0].close_ns);
}

static void open_next(int64_t price)
{
    phase_to(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns);
    phase_to(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns);
    uint64_t bars = puppet_bars;
    bar_before(days[1].early_ns + MINUTE_NS, 61000 * USDT); /* not one of its session */
    CHECK_INT(puppet_bars, bars);
    CHECK_INT(engine_account(h.engine, ALICE)->refused[ORDER_RISK_PAUSED], 0);
    phase_to(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns);
    show(price);
    pass(&h, SECOND_NS);
}

static size_t n_orders(void)
{
    struct engine_ids ids;
    engine_ids(h.engine, &ids);
    return ids.last_order;
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
    phase_to(MARKET_PHASE_LATE, days[1].close_ns, days[1].late_ns);
    bar_before(days[1].close_ns, 62000 * USDT);
    CHECK_INT(n_orders(), 1);
    phase_to(MARKET_PHASE_OPEN, days[2].open_ns, days[2].close_ns);
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
        phase_to(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns);
        int64_t at_ns = days[1].open_ns + (late ? 20 * MINUTE_NS : -300 * MS_NS);
        h.now_ns = at_ns - SECOND_NS;
        pass(&h, 0);
        CHECK_INT(n_orders(), 0);
        phase_to(MARKET_PHASE_OPEN, at_ns, days[1].close_ns);
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

/* With `extended` the evening is of the session, and with `all` nothing waits. */
static void test_choices(void)
{
    open_day(SESSION_EXTENDED, FILL_BOOK);
    puppet_n = 0;
    puppet_want(buys);
    phase_to(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns);
    bar_before(days[0].close_ns, 60000 * USDT);
    CHECK_INT(puppet_saw.session_open_ns, days[0].early_ns);
    CHECK_INT(puppet_saw.session_close_ns, days[0].late_ns);
    CHECK_INT(n_orders(), 1);
    phase_to(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns);
    sees(1, ORDER_CANCELED, ORDER_SESSION_CLOSED);
    puppet_want(buys);
    bar_before(days[0].late_ns, 60000 * USDT);
    CHECK_INT(n_orders(), 1);
    phase_to(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns);
    CHECK_INT(n_orders(), 2);
    harness_close(&h);

    open_day(SESSION_ALL, FILL_BOOK);
    puppet_want(buys);
    phase_to(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns);
    bar_before(days[0].close_ns, 60000 * USDT);
    CHECK_INT(n_orders(), 1);
    CHECK_INT(puppet_saw.session_open_ns, 0);
    phase_to(MARKET_PHASE_CLOSED, days[0].late_ns, days[1].early_ns);
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
        phase_to(MARKET_PHASE_EARLY, days[1].early_ns, days[1].open_ns);
        phase_to(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns);
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
    phase_to(MARKET_PHASE_OPEN, days[2].open_ns, days[2].close_ns);
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
    phase_to(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns);
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
    phase_to(MARKET_PHASE_LATE, days[0].close_ns, days[0].late_ns);
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
    phase_to(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns);
    CHECK_INT(n_orders(), 2);
    CHECK_INT(reported(&h, 1)->price, 29500 * USDT);
    CHECK_INT(reported(&h, 2)->stop_price, 29000 * USDT);
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
    phase_to(MARKET_PHASE_OPEN, days[1].open_ns, days[1].close_ns);
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

/* ---- random days ---- */

static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t dice_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    uint64_t dice = mixed((uint64_t)input->ts_ns + (uint64_t)(input->close * 100));
    double c = input->close;
    (void)params;
    (void)state;
    if (dice % 100 >= 40 || input->live_orders)
        return 0;
    dice /= 100;
    if (input->qty > 0) {
        intents[0] = dice % 3 == 0 ? (struct intent){.kind = INTENT_STOP, .stop = c * 0.995, .why = "follows"}
                                   : (struct intent){.kind = INTENT_EXIT, .why = "leaves"};
        return 1;
    }
    intents[0] = (struct intent){.kind = INTENT_ENTER, .fraction = 0.2, .why = "enters"};
    if (dice % 3 == 0)
        intents[0].limit = c * 0.999;
    if (dice % 2 == 0)
        intents[0].stop = c * 0.99;
    if (dice % 5 == 0)
        intents[0] = (struct intent){.kind = INTENT_TARGET, .fraction = 0.3, .why = "holds"};
    return 1;
}

enum { RANDOM_DAYS = 12, MINUTES = RANDOM_DAYS * 90 };

static struct bar walked[2][MINUTES];
static bool there[2][MINUTES];
static int64_t began_ns;

/* Sessions of half an hour to 10 minutes, every hour and a half; prices of every minute, some without a bar.
 */
static void make_world(struct random *random)
{
    began_ns = (START_NS / DAY_NS + 1) * DAY_NS;
    for (int i = 0; i < RANDOM_DAYS; i++) {
        int64_t from_ns = began_ns + i * 90 * MINUTE_NS;
        bool half = random_chance(random, 30);
        days[i] = (struct trading_day){from_ns + 10 * MINUTE_NS, from_ns + 20 * MINUTE_NS,
                                       from_ns + (half ? 30 : 50) * MINUTE_NS,
                                       from_ns + (half ? 40 : 60) * MINUTE_NS};
    }
    for (int s = 0; s < 2; s++) {
        int64_t price = 10000 * USDT;
        for (int m = 0; m < MINUTES; m++) {
            int64_t low, high;
            struct bar *bar = &walked[s][m];
            *bar = flat_bar(began_ns + m * MINUTE_NS, price);
            price += random_between(random, -40, 40) * USDT;
            bar->close = price;
            low = bar->open < price ? bar->open : price;
            high = bar->open < price ? price : bar->open;
            bar->low = low - random_between(random, 0, 20) * USDT;
            bar->high = high + random_between(random, 0, 20) * USDT;
            there[s][m] = !random_chance(random, 10);
        }
    }
}

static void open_world(enum fill_model model, bool all_regular)
{
    harness_init(&h);
    h.now_ns = began_ns;
    h.config.fill_model = model;
    for (int a = 0; a < 2; a++) {
        h.accounts[a].strategy = &dice_strategy;
        h.accounts[a].session = a == 0 || all_regular ? SESSION_REGULAR : SESSION_EXTENDED;
        h.accounts[a].cash = 1000000 * USDT;
    }
    h.config.n_symbols = 2;
    for (int s = 0; s < 2; s++)
        h.symbols[s].loose_ids = true;
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    harness_open(&h);
    struct event event;
    const struct trading_calendar calendar = {.name = "us-equity",
                                              .days = days,
                                              .n = RANDOM_DAYS,
                                              .from_ns = began_ns,
                                              .to_ns = began_ns + MINUTES * MINUTE_NS};
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
}

static bool is_entry(const struct order *order)
{
    return order->symbol == BTCUSDT && !order->by_hand && !order->reduce_only && order->parent == 0;
}

/* The span of its account's session that a time is in; false: it is closed then. */
static bool in_session(int account, int64_t ns, struct session_span *ret)
{
    return trading_span_at(engine_calendar(h.engine, BTCUSDT), h.accounts[account].session, ns, ret) &&
           ns >= ret->open_ns;
}

/* No entry is there while its session is closed. In the bar model the last bar is waited for. */
static void check_closed(void)
{
    int64_t late_ns = h.config.fill_model == FILL_BAR ? 2 * MINUTE_NS : 0;
    struct session_span span, now;
    for (size_t i = 0; i < engine_orders(h.engine); i++) {
        const struct order *order = engine_order(h.engine, i);
        if (!is_entry(order))
            continue;
        CHECK(in_session(order->account, order->created_ns, &span));
        CHECK(h.now_ns < span.close_ns + late_ns);
        CHECK(late_ns > 0 || in_session(order->account, h.now_ns, &now));
    }
}

static void tell_phase(int64_t now_ns)
{
    static const enum market_phase phases[] = {MARKET_PHASE_EARLY, MARKET_PHASE_OPEN, MARKET_PHASE_LATE,
                                               MARKET_PHASE_CLOSED};
    for (int i = 0; i < RANDOM_DAYS; i++) {
        const int64_t times[] = {days[i].early_ns, days[i].open_ns, days[i].close_ns, days[i].late_ns};
        for (size_t k = 0; k < 4; k++)
            if (times[k] == now_ns)
                phase_to(phases[k], now_ns, 0);
    }
    check_closed();
}

/* Every minute as a daemon sees it; `restarts`: percent of minutes with one. */
static void play(struct random *random, int restarts)
{
    for (int m = 0; m <= MINUTES; m++) {
        int64_t now_ns = began_ns + m * MINUTE_NS;
        if (random_chance(random, restarts)) {
            reload_engine(&h.engine);
            check_closed();
        }
        h.now_ns = now_ns;
        tell_phase(now_ns);
        for (int s = 0; s < 2 && m > 0; s++)
            if (there[s][m - 1]) {
                h.now_ns += 5 * MS_NS;
                kline(&h, s, &walked[s][m - 1]);
                check_closed();
            }
        for (int s = 0; s < 2 && m < MINUTES; s++) {
            quote(&h, s, walked[s][m].open - USDT, 100 * BTC, walked[s][m].open, 100 * BTC);
            trade(&h, s, walked[s][m].open, BTC);
        }
        pass(&h, 30 * SECOND_NS);
        check_closed();
    }
}

/* The bars of the session alone, as a backtest has them. */
static void play_bars(void)
{
    for (int m = 0; m < MINUTES; m++)
        for (int s = 0; s < 2; s++) {
            struct session_span span;
            if (!there[s][m] || (s == BTCUSDT && !in_session(ALICE, walked[s][m].open_ns, &span)))
                continue;
            h.now_ns = walked[s][m].open_ns + MINUTE_NS;
            kline(&h, s, &walked[s][m]);
        }
}

static uint64_t n_entered, n_ended, n_later;

static void check_entries(void)
{
    struct session_span span;
    for (uint64_t id = 1; id <= n_orders(); id++) {
        const struct order *order = reported(&h, id);
        if (!is_entry(order))
            continue;
        CHECK(in_session(order->account, order->created_ns, &span));
        if (!order_live(order->state) && order->state != ORDER_REJECTED)
            CHECK(order->updated_ns <= span.close_ns);
        n_entered += order->filled > 0;
        n_ended += order->reason == ORDER_SESSION_CLOSED;
        n_later += order->created_ns == span.open_ns;
    }
}

static void digest(uint8_t ret[static LEDGER_HASH_SIZE])
{
    CHECK_INT(engine_digest(h.engine, ret), 0);
}

static void test_random(struct random *random)
{
    uint8_t once[LEDGER_HASH_SIZE], again[LEDGER_HASH_SIZE];
    for (int i = 0; i < 6; i++) {
        enum fill_model model = i % 2 ? FILL_BAR : FILL_QUOTE;
        make_world(random);
        open_world(model, false);
        play(random, 0);
        check_entries();
        digest(once);
        harness_close(&h);
        open_world(model, false);
        play(random, 20);
        digest(again);
        CHECK(memcmp(once, again, sizeof once) == 0);
        harness_close(&h);
    }
    CHECK(n_entered > 50 && n_ended > 5 && n_later > 10);
    printf("engine/kept: %llu entries filled, %llu ended with their session, %llu made at an opening\n",
           (unsigned long long)n_entered, (unsigned long long)n_ended, (unsigned long long)n_later);
}

/* Orders of a run, to be compared with those of another. */
struct made {
    size_t n;
    struct reported_order orders[4096];
};

static void keep_orders(struct made *made)
{
    made->n = n_orders();
    CHECK(made->n < sizeof made->orders / sizeof *made->orders);
    for (uint64_t id = 1; id <= made->n && id < sizeof made->orders / sizeof *made->orders; id++)
        made->orders[id] = h.orders[id];
}

/* In the bar model the daemon and the bars alone make the same orders and fills. */
static void test_same(struct random *random)
{
    static struct made live, alone;
    for (int i = 0; i < 6; i++) {
        make_world(random);
        open_world(FILL_BAR, true);
        play(random, 0);
        keep_orders(&live);
        harness_close(&h);
        open_world(FILL_BAR, true);
        play_bars();
        keep_orders(&alone);
        harness_close(&h);
        CHECK_INT(live.n, alone.n);
        CHECK(live.n > 50);
        for (size_t id = 1; id <= live.n && id <= alone.n; id++) {
            const struct order *a = &live.orders[id].order, *b = &alone.orders[id].order;
            CHECK(a->account == b->account && a->symbol == b->symbol && a->side == b->side &&
                  a->type == b->type && a->qty == b->qty && a->price == b->price &&
                  a->stop_price == b->stop_price && a->created_ns == b->created_ns);
            CHECK(a->state == b->state && a->reason == b->reason && a->filled == b->filled &&
                  a->cost == b->cost && a->updated_ns == b->updated_ns);
            if (check_failures > 20)
                return;
        }
    }
}

int main(void)
{
    struct random random = random_seeded("engine/kept", 20261125);
    test_last_bar();
    test_opening();
    test_choices();
    test_dropped();
    test_ends();
    test_split();
    test_bar_model();
    test_random(&random);
    test_same(&random);
    return check_done("engine/kept");
}
