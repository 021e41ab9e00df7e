/* Sessions, halts and the end of a symbol, with numbers that one can check by hand: nothing is filled while
 * the market is closed, DAY ends with the session, and resting orders continue by what is seen after the
 * opening. */
#include "tests/engine/by_hand.h"
#include "tests/random.h"

static void status(enum market_trading trading)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_STATUS, .symbol = BTCUSDT, .status = {.trading = trading, .code = "H"}}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void listed(bool gone)
{
    struct event event = {.kind = EVENT_SYMBOL, .symbol = {.index = BTCUSDT, .listed = h.symbols[BTCUSDT]}};
    event.symbol.listed.gone = gone;
    CHECK_INT(harness_event(&h, &event), 0);
}

static struct engine_symbol_view seen(int symbol)
{
    struct engine_symbol_view view;
    engine_symbol_view(h.engine, symbol, &view);
    return view;
}

static enum fill_model model = FILL_BOOK;

/* A stock that is at 60,000, in a session that ends in an hour. */
static void open_session(bool extended)
{
    harness_init(&h);
    h.config.fill_model = model;
    h.accounts[ALICE].cash = 1000000 * USDT;
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    h.symbols[BTCUSDT].loose_ids = true;
    harness_open(&h);
    CHECK_INT(seen(BTCUSDT).phase, MARKET_PHASE_UNKNOWN);
    CHECK_INT(seen(ETHUSDT).phase, MARKET_PHASE_OPEN);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, extended);
    quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 5 * BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
}

static void test_closed(void)
{
    open_session(false);
    hold(BTC);
    uint64_t sale = rested(limit(ORDER_SELL, BTC / 4, 60100 * USDT));
    uint64_t stop_loss = rested(stop(ORDER_SELL, BTC / 4, 59500 * USDT));
    h.now_ns = START_NS + HOUR_NS;
    phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + 4 * HOUR_NS, false);
    struct event stale = {.kind = EVENT_STALE, .stale = {BTCUSDT, true}};
    CHECK_INT(harness_event(&h, &stale), 0);
    uint64_t market = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    uint64_t bid = rested(limit(ORDER_BUY, BTC, 59000 * USDT));
    struct order now_or_never = order_of(ORDER_BUY, ORDER_MARKET, BTC);
    now_or_never.tif = ORDER_IOC;
    uint64_t never = rested(now_or_never);
    sees(never, ORDER_EXPIRED, ORDER_SESSION_CLOSED);
    uint64_t fills = h.fills;
    quote(&h, BTCUSDT, 58000 * USDT, BTC, 58001 * USDT, BTC); /* shown, and not traded at */
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    trade(&h, BTCUSDT, 61000 * USDT, BTC);
    CHECK_INT(h.fills, fills);
    CHECK_INT(seen(BTCUSDT).last, 61000 * USDT);
    sees(market, ORDER_OPEN, ORDER_OK);
    sees(stop_loss, ORDER_OPEN, ORDER_OK);
    h.now_ns += 4 * HOUR_NS;
    phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + 8 * HOUR_NS, false);
    cancel(&h, stop_loss);
    pass(&h, SECOND_NS);
    sees(stop_loss, ORDER_CANCELED, ORDER_OK);
    h.now_ns += 8 * HOUR_NS;
    struct event fresh = {.kind = EVENT_STALE, .stale = {BTCUSDT, false}};
    CHECK_INT(harness_event(&h, &fresh), 0);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, false);
    CHECK_INT(h.fills, fills); /* last night's prices are not traded at */
    CHECK_INT(seen(BTCUSDT).bid, 0);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    sees(market, ORDER_OPEN, ORDER_OK); /* nothing is offered yet */
    quote(&h, BTCUSDT, 60200 * USDT, BTC, 60210 * USDT, 2 * BTC);
    sees(market, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, market)->cost, 60210 * USDT);
    sees(sale, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, sale)->cost,
              60200 * USDT / 4); /* it opens beyond its limit: it takes what is bid */
    CHECK_INT(h.maker_fills, 0);
    sees(bid, ORDER_OPEN, ORDER_OK);
    trade(&h, BTCUSDT, 58999 * USDT, 2 * BTC);
    sees(bid, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, bid)->cost, 59000 * USDT); /* the market came to it later */
    harness_close(&h);
}

static void close_and_open(int64_t for_ns, bool halt)
{
    if (halt)
        status(MARKET_HALTED);
    else
        phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + for_ns, false);
    h.now_ns += for_ns;
    if (halt)
        status(MARKET_TRADES);
    else
        phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + 8 * HOUR_NS, false);
}

/* An order that rests over the close trades at the opening as one that arrives there: random limits, gaps and
 * quantities, against a twin that does arrive there; by quotes or by the book, after a night or a halt. */
static void test_gaps(struct random *random)
{
    unsigned took = 0, made = 0, ended = 0;
    for (int round = 0; round < 2000; round++) {
        bool buy = random_chance(random, 50), halt = random_chance(random, 50);
        struct order request = limit(buy ? ORDER_BUY : ORDER_SELL, random_between(random, 1, 40) * BTC / 10,
                                     random_between(random, buy ? 59900 : 60001, buy ? 59999 : 60100) * USDT);
        int64_t bid = random_between(random, 59800, 60200) * USDT,
                ask = bid + random_between(random, 1, 20) * USDT;
        int64_t bid_qty = random_between(random, 1, 40) * BTC / 10,
                ask_qty = random_between(random, 1, 40) * BTC / 10;
        struct order orders[2];
        uint64_t fills[2];
        request.post_only = random_chance(random, 20);
        model = round % 2 ? FILL_QUOTE : FILL_BOOK;
        for (int twin = 0; twin < 2; twin++) {
            uint64_t id = 0;
            open_session(false);
            hold(5 * BTC);
            if (!twin)
                id = rested(request);
            close_and_open(10 * HOUR_NS, halt);
            if (!twin && random_chance(random, 50)) /* of the auction: others' */
                trade(&h, BTCUSDT, bid, BTC);
            quote(&h, BTCUSDT, bid, bid_qty, ask, ask_qty);
            if (twin)
                id = rested(request);
            trade(&h, BTCUSDT, buy ? ask : bid, BTC);
            orders[twin] = *reported(&h, id);
            fills[twin] = h.fills;
            harness_close(&h);
        }
        CHECK(orders[0].state == orders[1].state && orders[0].reason == orders[1].reason);
        CHECK(orders[0].filled == orders[1].filled && orders[0].cost == orders[1].cost);
        CHECK_INT(fills[0], fills[1]);
        bool crosses = buy ? request.price >= ask : request.price <= bid;
        took += crosses && orders[0].filled > 0;
        ended += crosses && orders[0].reason == ORDER_WOULD_TAKE;
        made += !crosses;
        CHECK(crosses == (orders[0].filled > 0 || orders[0].reason == ORDER_WOULD_TAKE));
    }
    model = FILL_BOOK;
    printf("engine/sessions: %u took at the opening, %u would have, %u rested on\n", took, ended, made);
    CHECK(took > 100 && ended > 20 && made > 100);
}

/* Where a venue sends trades only, no book is ever shown to take from. */
static void test_trades_only(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 1000000 * USDT;
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    harness_open(&h);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, false);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    uint64_t id = rested(limit(ORDER_BUY, BTC, 59000 * USDT));
    close_and_open(10 * HOUR_NS, false);
    trade(&h, BTCUSDT, 58000 * USDT, BTC);
    sees(id, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, id)->cost, 59000 * USDT);
    harness_close(&h);
}

static struct order for_the_day(int64_t price)
{
    struct order request = limit(ORDER_BUY, BTC / 10, price);
    request.tif = ORDER_DAY;
    return request;
}

static void test_day(void)
{
    open_session(false);
    uint64_t id = rested(for_the_day(50000 * USDT));
    CHECK_INT(reported(&h, id)->expires_ns, START_NS + HOUR_NS);
    h.now_ns = START_NS + HOUR_NS + SECOND_NS;
    phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + 10 * HOUR_NS, false);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, id)->updated_ns, START_NS + HOUR_NS);
    id = rested(for_the_day(50000 * USDT)); /* of the next session, whose end is unknown */
    CHECK_INT(reported(&h, id)->expires_ns, 0);
    struct order other = for_the_day(50000 * USDT);
    other.symbol = ETHUSDT;
    other.price = 3000 * USDT;
    uint64_t always = rested(other);
    CHECK_INT(reported(&h, always)->expires_ns, (START_NS / DAY_NS + 1) * DAY_NS + DAY_NS);
    h.now_ns += 10 * HOUR_NS;
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS / 2, false); /* a half day */
    CHECK_INT(reported(&h, id)->expires_ns, h.now_ns + HOUR_NS / 2);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, false); /* no: it was read again */
    CHECK_INT(reported(&h, id)->expires_ns, h.now_ns + HOUR_NS);
    h.now_ns += 24 * HOUR_NS; /* a day was slept through */
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, false);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    sees(always, ORDER_EXPIRED, ORDER_OK);
    harness_close(&h);

    open_session(true); /* the end of the late session is known in it only */
    id = rested(for_the_day(50000 * USDT));
    CHECK_INT(reported(&h, id)->expires_ns, 0);
    h.now_ns = START_NS + HOUR_NS;
    phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + HOUR_NS, true);
    CHECK_INT(reported(&h, id)->expires_ns, h.now_ns + HOUR_NS);
    uint64_t market = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC)); /* and is traded in */
    sees(market, ORDER_FILLED, ORDER_OK);
    phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + 10 * HOUR_NS, true); /* earlier than announced */
    sees(id, ORDER_OPEN, ORDER_OK);
    h.now_ns = START_NS + 2 * HOUR_NS;
    pass(&h, 0);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    harness_close(&h);
}

/* The session's end is the venue's, whatever our clock says. */
static void test_day_of_venue(int64_t ahead_ns)
{
    open_session(false);
    venue_clock(&h, -ahead_ns);
    h.now_ns += SECOND_NS + (ahead_ns > 0) * ahead_ns;
    uint64_t id = rested(for_the_day(50000 * USDT));
    CHECK_INT(reported(&h, id)->expires_ns, START_NS + HOUR_NS + ahead_ns);
    h.now_ns = START_NS + HOUR_NS + ahead_ns - SECOND_NS;
    pass(&h, 0);
    sees(id, ORDER_OPEN, ORDER_OK);
    pass(&h, SECOND_NS);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    harness_close(&h);
}

/* The clock is set while an order is there: it ends with the session, or at its own time, as before. */
static void test_clock_set(void)
{
    int64_t end_ns = START_NS + 3 * HOUR_NS;
    open_session(false);
    venue_clock(&h, HOUR_NS);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, end_ns, false);
    uint64_t id = rested(for_the_day(50000 * USDT));
    CHECK_INT(reported(&h, id)->expires_ns, end_ns - HOUR_NS);
    struct order until = limit(ORDER_BUY, BTC, 50000 * USDT);
    until.tif = ORDER_GTD;
    until.expires_ns = end_ns;
    uint64_t by_hand = rested(until);
    venue_clock(&h, -HOUR_NS);
    CHECK_INT(reported(&h, id)->expires_ns, end_ns + HOUR_NS);
    venue_clock(&h, HOUR_NS);
    h.now_ns = end_ns - HOUR_NS / 2; /* by the clock of before, the session is over */
    venue_clock(&h, 0);
    sees(id, ORDER_OPEN, ORDER_OK);
    CHECK_INT(reported(&h, id)->expires_ns, end_ns);
    CHECK_INT(reported(&h, by_hand)->expires_ns, end_ns);
    h.now_ns = end_ns;
    pass(&h, 0);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    harness_close(&h);
}

/* Nor is an end that was not known before dated by our clock. */
static void test_end_of_venue(void)
{
    open_session(true);
    venue_clock(&h, -HOUR_NS);
    uint64_t id = rested(for_the_day(50000 * USDT));
    CHECK_INT(reported(&h, id)->expires_ns, 0);
    h.now_ns = START_NS + 2 * HOUR_NS + SECOND_NS;
    phase_at(MARKET_PHASE_CLOSED, h.now_ns, h.now_ns + 10 * HOUR_NS, true);
    sees(id, ORDER_EXPIRED, ORDER_OK);
    CHECK_INT(reported(&h, id)->expires_ns, START_NS + 2 * HOUR_NS);
    harness_close(&h);
}

static void test_halt(void)
{
    open_session(false);
    hold(BTC);
    uint64_t stop_loss = rested(stop(ORDER_SELL, BTC / 2, 59500 * USDT));
    status(MARKET_HALTED);
    CHECK_STR(h.last_alert, "HALTED");
    CHECK_INT(seen(BTCUSDT).trading, MARKET_HALTED);
    uint64_t market = rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    trade(&h, BTCUSDT, 59000 * USDT, BTC);
    sees(stop_loss, ORDER_OPEN, ORDER_OK);
    sees(market, ORDER_OPEN, ORDER_OK);
    phase_at(MARKET_PHASE_OPEN, h.now_ns, h.now_ns + HOUR_NS, false); /* a session does not lift a halt */
    quote(&h, BTCUSDT, 59000 * USDT, 2 * BTC, 59001 * USDT, 2 * BTC);
    sees(market, ORDER_OPEN, ORDER_OK);
    status(MARKET_TRADES);
    CHECK_STR(h.last_over, "HALTED BTCUSDT");
    sees(market, ORDER_OPEN, ORDER_OK);
    quote(&h, BTCUSDT, 59100 * USDT, 2 * BTC, 59101 * USDT, 2 * BTC);
    sees(market, ORDER_FILLED, ORDER_OK);
    trade(&h, BTCUSDT, 59100 * USDT, BTC);
    sees(stop_loss, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

static void test_gone(void)
{
    for (int by_list = 0; by_list < 2; by_list++) {
        open_session(false);
        hold(BTC);
        uint64_t sale = rested(limit(ORDER_SELL, BTC / 4, 61000 * USDT));
        uint64_t entry = bracket(limit(ORDER_BUY, BTC / 2, 59500 * USDT));
        pass(&h, SECOND_NS);
        uint64_t on_its_way = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC));
        if (by_list)
            listed(true);
        else
            status(MARKET_ENDED);
        CHECK_STR(h.last_alert, "SYMBOL_GONE");
        sees(sale, ORDER_CANCELED, ORDER_SYMBOL_GONE);
        sees(entry, ORDER_CANCELED, ORDER_SYMBOL_GONE);
        sees(entry + 1, ORDER_CANCELED, ORDER_OTHER_LEG);
        sees(on_its_way, ORDER_CANCELED, ORDER_SYMBOL_GONE);
        CHECK_INT(engine_orders(h.engine), 0);
        CHECK_INT(h.position[ALICE][BTCUSDT], BTC);
        ask(&h, order_of(ORDER_SELL, ORDER_MARKET, BTC));
        CHECK_INT(h.command_reason, ORDER_SYMBOL_GONE);
        if (by_list)
            listed(false);
        else
            status(MARKET_TRADES);
        quote(&h, BTCUSDT, 59999 * USDT, 2 * BTC, 60000 * USDT, 5 * BTC);
        CHECK_INT(reported(&h, rested(order_of(ORDER_SELL, ORDER_MARKET, BTC)))->filled, BTC);
        harness_close(&h);
    }
}

/* A venue's connection concerns its own symbols. */
static void test_venues(void)
{
    harness_init(&h);
    snprintf(h.symbols[BTCUSDT].venue, sizeof h.symbols[BTCUSDT].venue, "alpaca");
    snprintf(h.symbols[ETHUSDT].venue, sizeof h.symbols[ETHUSDT].venue, "binance");
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, BTC, 60000 * USDT, BTC);
    quote(&h, ETHUSDT, 2999 * USDT, BTC, 3000 * USDT, BTC);
    struct event down = {.kind = EVENT_CONNECTION, .connection = {.venue = "binance"}};
    CHECK_INT(harness_event(&h, &down), 0);
    CHECK(!seen(BTCUSDT).stale && seen(BTCUSDT).bid == 59999 * USDT);
    CHECK(seen(ETHUSDT).stale && seen(ETHUSDT).bid == 0 &&
          seen(ETHBTC).stale); /* whose venue was never named */
    struct event all = {.kind = EVENT_CONNECTION, .connection = {.up = true}};
    CHECK_INT(harness_event(&h, &all), 0);
    CHECK(!seen(ETHUSDT).stale && !seen(ETHBTC).stale && seen(BTCUSDT).bid == 0);

    /* Of one that carries some of them alone: theirs. */
    quote(&h, BTCUSDT, 59999 * USDT, BTC, 60000 * USDT, BTC);
    quote(&h, ETHUSDT, 2999 * USDT, BTC, 3000 * USDT, BTC);
    struct event one = {.kind = EVENT_SYMBOL_CONNECTION, .symbol_connection = {ETHUSDT, false}};
    CHECK_INT(harness_event(&h, &one), 0);
    CHECK(seen(ETHUSDT).stale && seen(ETHUSDT).bid == 0);
    CHECK(!seen(BTCUSDT).stale && seen(BTCUSDT).bid == 59999 * USDT);
    one.symbol_connection.up = true;
    CHECK_INT(harness_event(&h, &one), 0);
    CHECK(!seen(ETHUSDT).stale && seen(ETHUSDT).bid == 0 && seen(BTCUSDT).bid == 59999 * USDT);
    one.symbol_connection.symbol = SYMBOLS_MAX;
    CHECK_INT(harness_event(&h, &one), -EINVAL);
    harness_close(&h);
}

/* Bars of the bar model, and bars that were missed, count where they are of a session. */
static void test_bars(void)
{
    static const struct bar low = {.open = 59000 * USDT,
                                   .high = 59000 * USDT,
                                   .low = 58000 * USDT,
                                   .close = 59000 * USDT,
                                   .volume = BTC};
    open_session(false);
    hold(BTC);
    uint64_t id = rested(stop(ORDER_SELL, BTC / 2, 59500 * USDT));
    h.now_ns = START_NS + 2 * HOUR_NS;
    phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + HOUR_NS, false);
    struct bar bar = low;
    bar.open_ns = START_NS + HOUR_NS + HOUR_NS / 2;
    struct event bars = {.kind = EVENT_BARS, .bars = {BTCUSDT, &bar, 1, true}};
    uint64_t alerts = h.alerts;
    CHECK_INT(harness_event(&h, &bars), 0);
    CHECK_INT(h.alerts, alerts); /* of the evening */
    harness_close(&h);

    for (int evening = 0; evening < 2; evening++) {
        open_session(false);
        hold(BTC);
        id = rested(stop(ORDER_SELL, BTC / 2, 59500 * USDT));
        h.now_ns = START_NS + 2 * HOUR_NS;
        phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + HOUR_NS, false);
        bar.open_ns = START_NS + (evening ? HOUR_NS : HOUR_NS - MINUTE_NS);
        alerts = h.alerts;
        CHECK_INT(harness_event(&h, &bars), 0);
        CHECK_INT(h.alerts, alerts + !evening);
        harness_close(&h);
    }

    for (int evening = 0; evening < 2; evening++) {
        harness_init(&h);
        h.config.fill_model = FILL_BAR;
        snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
        harness_open(&h);
        phase_at(MARKET_PHASE_OPEN, h.now_ns, START_NS + HOUR_NS, false);
        bar = low;
        bar.open_ns = START_NS;
        CHECK_INT(harness_event(&h, &bars), 0);
        h.now_ns = START_NS + HOUR_NS - 2 * MINUTE_NS;
        id = ask(&h, order_of(ORDER_BUY, ORDER_MARKET, BTC / 10));
        CHECK_INT(h.command_reason, ORDER_OK);
        h.now_ns = START_NS + HOUR_NS + SECOND_NS;
        phase_at(MARKET_PHASE_LATE, h.now_ns, h.now_ns + HOUR_NS, false);
        bar.open_ns = START_NS + (evening ? HOUR_NS : HOUR_NS - MINUTE_NS);
        h.now_ns += 2 * MINUTE_NS;
        CHECK_INT(harness_event(&h, &bars), 0);
        sees(id, evening ? ORDER_PENDING : ORDER_FILLED, ORDER_OK);
        harness_close(&h);
    }
}

/* A day of 04:00 to 20:00 with a session from 09:30 to 16:00, and the next one. */
static void make_days(int64_t midnight_ns, struct trading_day days[static 2])
{
    for (int i = 0; i < 2; i++) {
        int64_t from_ns = midnight_ns + i * DAY_NS;
        days[i] = (struct trading_day){from_ns + 4 * HOUR_NS, from_ns + 9 * HOUR_NS + HOUR_NS / 2,
                                       from_ns + 16 * HOUR_NS, from_ns + 20 * HOUR_NS};
    }
}

/* A bar has the session that its calendar says: as it closes, and again when the days are others. */
static void test_bar_sessions(void)
{
    static const struct {
        int minute;
        enum bar_session session;
    } cases[] = {{239, BAR_SESSION_CLOSED},  {240, BAR_SESSION_PRE},     {569, BAR_SESSION_PRE},
                 {570, BAR_SESSION_REGULAR}, {959, BAR_SESSION_REGULAR}, {960, BAR_SESSION_POST},
                 {1199, BAR_SESSION_POST},   {1200, BAR_SESSION_CLOSED}};
    int64_t midnight_ns = START_NS / DAY_NS * DAY_NS + DAY_NS;
    struct trading_day days[2];
    make_days(midnight_ns, days);
    struct trading_calendar calendar = {.name = "us-equity", .days = days, .n = 2};
    calendar.from_ns = midnight_ns;
    calendar.to_ns = midnight_ns + 2 * DAY_NS;
    struct event event;
    open_session(false);
    CHECK_INT(engine_calendar(h.engine, BTCUSDT)->n, 0);
    kline(&h, BTCUSDT, &(struct bar){.open_ns = midnight_ns, .open = 1, .high = 1, .low = 1, .close = 1});
    CHECK_INT(seen(BTCUSDT).last_bar.session, BAR_SESSION_NONE); /* no days are known */
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_INT(seen(BTCUSDT).last_bar.session, BAR_SESSION_CLOSED);
    CHECK_INT(engine_calendar(h.engine, BTCUSDT)->n, 2);
    CHECK_INT(engine_calendar(h.engine, ETHUSDT)->n, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bar bar = {.open_ns = midnight_ns + cases[i].minute * MINUTE_NS,
                          .open = 1,
                          .high = 1,
                          .low = 1,
                          .close = 1,
                          .session = BAR_SESSION_MIXED};
        kline(&h, BTCUSDT, &bar);
        CHECK_INT(seen(BTCUSDT).last_bar.session, cases[i].session);
        kline(&h, ETHUSDT, &bar);
        CHECK_INT(seen(ETHUSDT).last_bar.session, BAR_SESSION_NONE);
    }
    days[0].late_ns += HOUR_NS;                    /* the evening is longer */
    CHECK_INT(harness_event(&h, &event), -EINVAL); /* the hash is of other days */
    CHECK_INT(seen(BTCUSDT).last_bar.session, BAR_SESSION_CLOSED);
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_INT(seen(BTCUSDT).last_bar.session, BAR_SESSION_POST);
    days[1].early_ns = days[0].open_ns;
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), -EINVAL); /* the days overlap */
    event.calendar.calendar.name[0] = '\0';
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    harness_close(&h);
}

int main(void)
{
    struct random random = random_seeded("engine/sessions", 20261122);
    test_bar_sessions();
    test_closed();
    test_gaps(&random);
    test_trades_only();
    test_day();
    test_day_of_venue(70 * SECOND_NS);
    test_day_of_venue(-70 * SECOND_NS);
    test_clock_set();
    test_end_of_venue();
    test_halt();
    test_gone();
    test_venues();
    test_bars();
    return check_done("engine/sessions");
}
