/* Orders of a venue's class of assets: one symbol of Alpaca's on a half day, BOB's strategy the puppet. */
#ifndef TESTS_ENGINE_BY_CLASS_H
#define TESTS_ENGINE_BY_CLASS_H

#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"

#define SHARE    BTC
#define OPEN_NS  (INT64_C(1764340200) * SECOND_NS) /* Friday 2025-11-28, 09:30 in New York: a half day */
#define CLOSE_NS (OPEN_NS + 210 * MINUTE_NS)

static enum fill_model model = FILL_QUOTE;
static enum session_choice choice_of_bob = SESSION_ALL;
static bool bob_shorts;
static enum margin_kind bob_margin;

/* At 60,000, before or in the session. */
static inline void open_class(enum asset_class asset, enum market_phase phase, int64_t now_ns)
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
    h.accounts[BOB].rules.shorts = bob_shorts;
    h.accounts[BOB].rules.margin = bob_margin;
    h.accounts[BOB].rules.collateral_e4 = h.accounts[BOB].rules.maintenance_e4 = bob_shorts ? 12500 : 0;
    harness_open(&h);
    if (asset == ASSET_US_EQUITY)
        phase_at(phase, now_ns, phase == MARKET_PHASE_EARLY ? OPEN_NS : CLOSE_NS, false);
    quote(&h, BTCUSDT, 59999 * USDT, 20 * SHARE, 60000 * USDT, 50 * SHARE);
    trade(&h, BTCUSDT, 60000 * USDT, SHARE);
}

static inline uint64_t asked(struct order request, enum order_reason expected)
{
    uint64_t id = ask(&h, request);
    CHECK_STR(order_reason_name(h.command_reason), order_reason_name(expected));
    return id;
}

static inline struct order with(struct order request, enum order_tif tif)
{
    request.tif = tif;
    return request;
}

static inline enum order_state state(uint64_t id)
{
    return h.orders[id].order.state;
}

static inline void wants(struct intent intent)
{
    int64_t open_ns = h.now_ns / MINUTE_NS * MINUTE_NS;
    puppet_want(intent);
    h.now_ns = open_ns + MINUTE_NS;
    struct bar bar = flat_bar(open_ns, 60000 * USDT);
    kline(&h, BTCUSDT, &bar);
}

static inline struct bar bar_of(int64_t open_ns, int64_t open, int64_t close)
{
    struct bar bar = flat_bar(open_ns, open * USDT);
    bar.close = close * USDT;
    bar.high = (open > close ? open : close) * USDT;
    bar.low = (open < close ? open : close) * USDT;
    return bar;
}

static inline void bar_at(int64_t open_ns, int64_t open, int64_t close)
{
    struct bar bar = bar_of(open_ns, open, close);
    if (h.now_ns < open_ns + MINUTE_NS)
        h.now_ns = open_ns + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
}

/* The half day from 04:00 to 17:00 in New York. */
static inline void know_days(void)
{
    struct trading_day day = {OPEN_NS - 330 * MINUTE_NS, OPEN_NS, CLOSE_NS, CLOSE_NS + 4 * HOUR_NS};
    const struct trading_calendar calendar = {
        .name = "us-equity", .days = &day, .n = 1, .from_ns = day.early_ns, .to_ns = day.late_ns};
    struct event event;
    CHECK_INT(engine_calendar_event(&calendar, &event), 0);
    CHECK_INT(harness_event(&h, &event), 0);
}

#endif
