/* Random events of every kind for an engine of three symbols: a market that walks, and what users ask of
 * every order type and account. It looks at the engine only to name what is there. The same seed gives the
 * same events. */
#ifndef TESTS_ENGINE_DRIVER_H
#define TESTS_ENGINE_DRIVER_H

#include "engine/core.h"
#include "engine/event.h"
#include "tests/random.h"

#define DRIVER_E8       INT64_C(100000000)
#define DRIVER_MS_NS    INT64_C(1000000)
#define DRIVER_START_NS (INT64_C(1723161590) * 1000000000) /* 2024-08-08 23:59:50 */

enum { DRIVER_SYMBOLS = 3, DRIVER_ACCOUNTS = 4, DRIVER_PRICES = 200, DRIVER_INTERVAL_S = 1, DRIVER_DAYS = 6 };
#define DRIVER_INTERVAL_NS (DRIVER_INTERVAL_S * INT64_C(1000000000))

struct driver_market {
    int64_t low, tick; /* the price of level 0, and between levels */
    int64_t bids[DRIVER_PRICES], asks[DRIVER_PRICES];
    int middle;
    uint64_t id;
    int64_t trade_id;
    /* The book when a snapshot was asked for: the answer is as old. */
    int64_t asked_bids[DRIVER_PRICES], asked_asks[DRIVER_PRICES];
    uint64_t asked_id;
};

struct driver {
    struct random random;
    struct driver_market markets[DRIVER_SYMBOLS];
    struct symbol symbols[DRIVER_SYMBOLS];
    struct account_spec accounts[DRIVER_ACCOUNTS];
    struct account_spec configured[DRIVER_ACCOUNTS]; /* of the last CONFIGURE */
    bool configures;                                 /* it sends some: set after driver_init() */
    struct engine_config config;
    int64_t now_ns;
    uint64_t seq;
    int created;
    /* Also a calendar with sessions, halts, splits, dividends. Off unless driver_venues() was called. */
    bool venues;
    int phase, actions;
    bool halved;
    struct book_level bids[DRIVER_PRICES], asks[DRIVER_PRICES];
    struct bar bars[8];
    struct trading_day days[DRIVER_DAYS]; /* of the newest EVENT_CALENDAR */
    bool calendars;                       /* some sessions' events are days instead */
    struct random days_random;            /* of their own: what else is drawn does not depend on them */
    struct order legs[ORDER_LEGS_MAX];    /* of the newest order */
};

static inline int64_t driver_price(const struct driver_market *market, int level)
{
    return market->low + level * market->tick;
}

static inline void driver_symbol(struct symbol *symbol, const char *base, const char *quote, int64_t tick)
{
    *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
    snprintf(symbol->name, sizeof symbol->name, "%s%s", base, quote);
    snprintf(symbol->base, sizeof symbol->base, "%s", base);
    snprintf(symbol->quote, sizeof symbol->quote, "%s", quote);
    symbol->filters = (struct symbol_filters){.price_min = tick,
                                              .price_max = 10000000 * DRIVER_E8,
                                              .tick = tick,
                                              .qty_min = 1000,
                                              .qty_max = 9000 * DRIVER_E8,
                                              .step = 1000,
                                              .market_qty_min = 2000,
                                              .market_qty_max = 7000 * DRIVER_E8,
                                              .market_step = 1000,
                                              .notional_min = 3,
                                              .notional_max = 9000000 * DRIVER_E8,
                                              .notional_min_market = true,
                                              .notional_max_market = true,
                                              .bid_up_e4 = 13000,
                                              .bid_down_e4 = 7000,
                                              .ask_up_e4 = 13001,
                                              .ask_down_e4 = 7001,
                                              .orders_max = 12};
}

static inline void driver_strategy(struct account_spec *account, const char *fast, const char *slow)
{
    account->strategy = strategy_find("sma-cross-rsi");
    strategy_defaults(account->strategy, account->params);
    strategy_set(account->strategy, account->params, "fast", fast, NULL);
    strategy_set(account->strategy, account->params, "slow", slow, NULL);
    strategy_set(account->strategy, account->params, "rsi", "3", NULL);
    strategy_set(account->strategy, account->params, "rsi_max", "100", NULL);
    strategy_set(account->strategy, account->params, "atr", "4", NULL);
}

static inline void driver_init(struct driver *d, uint64_t seed)
{
    static const int64_t lows[] = {59000 * DRIVER_E8, 2900 * DRIVER_E8, 4900000};
    static const int64_t ticks[] = {10 * DRIVER_E8, DRIVER_E8, 1000};
    static const char *const names[] = {"alice", "bob", "carol", "dave"};
    struct random model = {seed ^ 0x66696c6c};
    *d = (struct driver){.random = {seed}, .now_ns = DRIVER_START_NS};
    driver_symbol(&d->symbols[0], "BTC", "USDT", ticks[0] / 10);
    driver_symbol(&d->symbols[1], "ETH", "USDT", ticks[1] / 10);
    driver_symbol(&d->symbols[2], "ETH", "BTC", ticks[2] / 10);
    for (int s = 0; s < DRIVER_SYMBOLS; s++)
        d->markets[s] = (struct driver_market){
            .low = lows[s], .tick = ticks[s], .middle = DRIVER_PRICES / 2, .id = 1000, .trade_id = 5000};
    for (int a = 0; a < DRIVER_ACCOUNTS; a++) {
        struct account_spec *account = &d->accounts[a];
        snprintf(account->name, sizeof account->name, "%s", names[a]);
        snprintf(account->currency, sizeof account->currency, "USDT");
        account->currency_scale = 8;
        account->cash = 200000 * DRIVER_E8;
        account->rules = (struct account_rules){.fees = {900, 1000},
                                                .risk = {.exposure_symbol = 0.9,
                                                         .exposure_account = 1.5,
                                                         .daily_loss = a == 1 ? 0.02 : 0,
                                                         .orders_per_second = a == 0 ? 4 : 30,
                                                         .drawdown = a == 0   ? 0.02
                                                                     : a == 3 ? 0.2
                                                                              : 0,
                                                         .price_band = a == 3 ? 0.05 : 0,
                                                         .cooldown_ns = a == 1 ? 3000 * DRIVER_MS_NS : 0,
                                                         .positions = a == 3 ? 2 : 0},
                                                .shorts = a >= 2,
                                                .collateral_e4 = 15000,
                                                .maintenance_e4 = 12500,
                                                .borrow_rate_e6 = a >= 2 ? 900000 : 0,
                                                .withholding_e6 = a == 0 ? 150000 : 0};
    }
    d->accounts[2].cash =
        4000 * DRIVER_E8; /* shorts are expensive for it: margin calls, and interest to pay */
    d->accounts[2].rules.risk.exposure_symbol = d->accounts[2].rules.risk.exposure_account = 0;
    d->accounts[2].rules.borrow_rate_e6 = INT32_MAX;
    driver_strategy(&d->accounts[1], "2", "4");
    driver_strategy(&d->accounts[3], "3", "7");
    d->config = (struct engine_config){
        .symbols = d->symbols,
        .n_symbols = DRIVER_SYMBOLS,
        .accounts = d->accounts,
        .n_accounts = DRIVER_ACCOUNTS,
        .interval_ns = DRIVER_INTERVAL_NS,
        .latency_ns = random_between(&d->random, 0, 4) * 30 * DRIVER_MS_NS,
        .equity_interval_ns = random_between(&d->random, 0, 1) * 700 * DRIVER_MS_NS,
        .missed_stops = random_chance(&d->random, 50) ? MISSED_STOPS_FILL : MISSED_STOPS_KEEP,
        .fill_model = (enum fill_model)(random_next(&model) % FILL_MODELS),
        .slippage_e6 = random_chance(&model, 50) ? 0 : (int32_t)random_between(&model, 1, 2000)};
}

static inline void driver_depth(struct driver *d, struct driver_market *market, struct market_depth *ret)
{
    uint32_t n_bids = 0, n_asks = 0;
    uint64_t first = market->id + 1;
    int before = market->middle, after = before + (int)random_between(&d->random, -1, 1);
    if (after > 20 && after < DRIVER_PRICES - 20)
        market->middle = after;
    for (int i = 0; i < 2; i++) {
        int level = i ? market->middle : before;
        market->bids[level] = market->asks[level] = 0;
        d->bids[n_bids++] = d->asks[n_asks++] = (struct book_level){driver_price(market, level), 0};
    }
    for (int i = (int)random_between(&d->random, 1, 5); i > 0; i--) {
        bool bid = random_chance(&d->random, 50);
        int away = (int)random_between(&d->random, 1, random_chance(&d->random, 80) ? 4 : 19);
        int level = market->middle + (bid ? -away : away);
        int64_t qty = random_chance(&d->random, 35) ? 0 : random_between(&d->random, 1, 50000) * 100;
        (bid ? market->bids : market->asks)[level] = qty;
        if (bid)
            d->bids[n_bids++] = (struct book_level){driver_price(market, level), qty};
        else
            d->asks[n_asks++] = (struct book_level){driver_price(market, level), qty};
    }
    market->id += (uint64_t)random_between(&d->random, 1, 4);
    if (random_chance(&d->random, 1))
        first++; /* one was lost on the way */
    *ret = (struct market_depth){first, market->id, d->bids, d->asks, n_bids, n_asks};
}

static inline void driver_snapshot(struct driver *d, int symbol, struct event_snapshot *ret)
{
    struct driver_market *market = &d->markets[symbol];
    uint32_t n_bids = 0, n_asks = 0;
    for (int level = DRIVER_PRICES - 1; level >= 0; level--)
        if (market->asked_bids[level])
            d->bids[n_bids++] = (struct book_level){driver_price(market, level), market->asked_bids[level]};
    for (int level = 0; level < DRIVER_PRICES; level++)
        if (market->asked_asks[level])
            d->asks[n_asks++] = (struct book_level){driver_price(market, level), market->asked_asks[level]};
    uint64_t id = market->asked_id;
    if (id == market->id && random_chance(&d->random, 30))
        id++; /* ahead of the stream */
    market->asked_id = 0;
    *ret = (struct event_snapshot){symbol, id, d->bids, d->asks, n_bids, n_asks};
}

static inline void driver_ask(struct driver_market *market)
{
    market->asked_id = market->id;
    memcpy(market->asked_bids, market->bids, sizeof market->bids);
    memcpy(market->asked_asks, market->asks, sizeof market->asks);
}

static inline void driver_quote(const struct driver_market *market, struct market_quote *ret)
{
    int bid = market->middle, ask = market->middle;
    while (bid > 0 && !market->bids[bid])
        bid--;
    while (ask < DRIVER_PRICES - 1 && !market->asks[ask])
        ask++;
    *ret = (struct market_quote){
        .update_id = market->id, .bid_qty = market->bids[bid], .ask_qty = market->asks[ask]};
    ret->bid = ret->bid_qty ? driver_price(market, bid) : 0;
    ret->ask = ret->ask_qty ? driver_price(market, ask) : 0;
}

static inline void driver_trade(struct driver *d, struct driver_market *market, struct market_trade *ret)
{
    if (random_chance(&d->random, 2))
        market->trade_id += random_between(&d->random, 1, 3); /* some were missed */
    if (random_chance(&d->random, 2))
        market->trade_id--; /* the last one again */
    int64_t id = market->trade_id++;
    int64_t late_ns = random_chance(&d->random, 5) ? random_between(&d->random, 0, 1500) * DRIVER_MS_NS : 0;
    *ret = (struct market_trade){.ts_ns = d->now_ns - late_ns,
                                 .id = id,
                                 .first_id = id,
                                 .last_id = id,
                                 .price = driver_price(market, market->middle) +
                                          random_between(&d->random, -30, 30) * market->tick / 10,
                                 .qty = random_between(&d->random, 1, 30000) * 100,
                                 .buyer_maker = random_chance(&d->random, 50)};
}

static inline struct bar driver_bar(struct driver *d, const struct driver_market *market, int64_t open_ns)
{
    int64_t price = driver_price(market, market->middle);
    int64_t up = random_between(&d->random, 0, 60) * market->tick,
            down = random_between(&d->random, 0, 60) * market->tick;
    return (struct bar){.open_ns = open_ns,
                        .open = price,
                        .high = price + up,
                        .low = price - down,
                        .close = price + random_between(&d->random, -down / market->tick, up / market->tick) *
                                             market->tick,
                        .volume = random_between(&d->random, 0, 1000) * DRIVER_E8,
                        .trades = random_between(&d->random, 0, 100),
                        .first_trade_id = -1,
                        .last_trade_id = -1};
}

static inline void driver_kline(struct driver *d, const struct driver_market *market,
                                struct market_kline *ret)
{
    int64_t open_ns = d->now_ns / DRIVER_INTERVAL_NS * DRIVER_INTERVAL_NS;
    bool closed = random_chance(&d->random, 75);
    if (closed)
        open_ns -= DRIVER_INTERVAL_NS;
    if (closed && random_chance(&d->random, 4))
        open_ns += 2 * DRIVER_INTERVAL_NS; /* the one before is missing */
    *ret = (struct market_kline){DRIVER_INTERVAL_NS, driver_bar(d, market, open_ns), closed};
}

static inline void driver_bars(struct driver *d, const struct engine *engine, int symbol,
                               struct event_bars *ret)
{
    struct engine_symbol_view view;
    engine_symbol_view(engine, symbol, &view);
    int64_t open_ns = view.bars
                          ? view.last_bar.open_ns + DRIVER_INTERVAL_NS
                          : d->now_ns / DRIVER_INTERVAL_NS * DRIVER_INTERVAL_NS - 9 * DRIVER_INTERVAL_NS;
    *ret = (struct event_bars){.symbol = symbol, .bars = d->bars, .missed = random_chance(&d->random, 40)};
    while (ret->n < 8 && open_ns < d->now_ns - DRIVER_INTERVAL_NS) {
        d->bars[ret->n++] = driver_bar(d, &d->markets[symbol], open_ns);
        open_ns += DRIVER_INTERVAL_NS;
    }
}

/* A leg as anybody might ask for it. */
static inline struct order driver_leg(struct driver *d, const struct engine *engine, int account, int symbol,
                                      enum order_side side, enum order_type type)
{
    struct driver_market *market = &d->markets[symbol];
    int64_t near =
        driver_price(market, market->middle) + random_between(&d->random, -60, 60) * market->tick / 10;
    struct order leg = {.account = account,
                        .symbol = symbol,
                        .side = side,
                        .type = type,
                        .qty =
                            random_between(&d->random, 1, random_chance(&d->random, 60) ? 500 : 20000) * 1000,
                        .by_hand = true};
    int64_t held = engine_account(engine, account)->positions[symbol].qty;
    if (side == ORDER_SELL && held > 0 && random_chance(&d->random, 70))
        leg.qty = random_chance(&d->random, 50) ? held : random_between(&d->random, 1, held);
    if (order_has_limit(type))
        leg.price = near;
    if (order_is_stop(type) && type != ORDER_TRAILING_STOP)
        leg.stop_price = near + random_between(&d->random, -20, 20) * market->tick / 10;
    if (type == ORDER_TRAILING_STOP && random_chance(&d->random, 50))
        leg.trail = random_between(&d->random, 1, 40) * market->tick / 10;
    else if (type == ORDER_TRAILING_STOP)
        leg.trail_e6 = (int32_t)random_between(&d->random, 100, 20000);
    if (random_chance(&d->random, 20))
        leg.tif = (enum order_tif)random_between(&d->random, 0, ORDER_GTD);
    if (leg.tif == ORDER_GTD)
        leg.expires_ns = d->now_ns + random_between(&d->random, 1, 3000) * DRIVER_MS_NS;
    leg.post_only = type == ORDER_LIMIT && random_chance(&d->random, 20);
    leg.reduce_only = random_chance(&d->random, 15);
    if (random_chance(&d->random, 20))
        snprintf(leg.client_id, sizeof leg.client_id, "c%d", (int)random_between(&d->random, 1, 40));
    snprintf(leg.tag, sizeof leg.tag, "by hand");
    return leg;
}

static inline void driver_order(struct driver *d, const struct engine *engine, struct event_command *ret)
{
    int account = (int)random_between(&d->random, 0, engine_accounts(engine) - 1);
    int symbol = (int)random_between(&d->random, 0, DRIVER_SYMBOLS - 1);
    enum order_side side = random_chance(&d->random, 50) ? ORDER_BUY : ORDER_SELL;
    enum order_side other = side == ORDER_BUY ? ORDER_SELL : ORDER_BUY;
    enum order_type type = (enum order_type)random_between(&d->random, 0, ORDER_TYPES - 1);
    int dice = (int)random_between(&d->random, 0, 9);
    ret->kind = COMMAND_ORDER;
    ret->order.grouping = dice < 7 ? ORDERS_SINGLE : dice < 8 ? ORDERS_OCO : ORDERS_BRACKET;
    ret->order.legs = d->legs;
    ret->order.n_legs = 1;
    if (ret->order.grouping == ORDERS_OCO) {
        ret->order.n_legs = 2;
        ret->order.legs[0] = driver_leg(d, engine, account, symbol, side, ORDER_LIMIT);
        ret->order.legs[1] = driver_leg(d, engine, account, symbol, side, ORDER_STOP);
        ret->order.legs[1].qty = ret->order.legs[0].qty;
        return;
    }
    ret->order.legs[0] = driver_leg(d, engine, account, symbol, side, type);
    if (ret->order.grouping == ORDERS_BRACKET) {
        ret->order.n_legs = (int)random_between(&d->random, 2, 3);
        ret->order.legs[1] = driver_leg(d, engine, account, symbol, other,
                                        random_chance(&d->random, 50) ? ORDER_TRAILING_STOP : ORDER_STOP);
        ret->order.legs[2] = driver_leg(d, engine, account, symbol, other, ORDER_LIMIT);
        ret->order.legs[1].qty = ret->order.legs[2].qty = ret->order.legs[0].qty;
    }
}

static inline void driver_amend(struct driver *d, const struct order *order, struct order_amend *ret)
{
    const struct driver_market *market = &d->markets[order->symbol];
    *ret = (struct order_amend){.order_id = order->id,
                                .set = (unsigned)random_between(&d->random, 1, 31),
                                .qty = random_between(&d->random, 1, 20000) * 1000,
                                .trail = random_between(&d->random, 1, 40) * market->tick / 10,
                                .trail_e6 = (int32_t)random_between(&d->random, 100, 20000)};
    ret->price = ret->stop_price =
        driver_price(market, market->middle) + random_between(&d->random, -60, 60) * market->tick / 10;
    if (random_chance(&d->random, 60)) /* what the type has, so that it is taken */
        ret->set = order->type == ORDER_TRAILING_STOP ? (order->trail ? AMEND_TRAIL : AMEND_TRAIL_E6)
                   : order_has_limit(order->type)     ? AMEND_PRICE
                   : order_is_stop(order->type)       ? AMEND_STOP
                                                      : AMEND_QTY;
}

/* Some of the first accounts, with other limits, and other parameters where they have some. */
static inline void driver_configure(struct driver *d, const struct engine *engine, struct event_command *ret)
{
    ret->kind = COMMAND_CONFIGURE;
    ret->configure.accounts = d->configured;
    ret->configure.n = (int)random_between(&d->random, 0, DRIVER_ACCOUNTS);
    for (int i = 0; i < ret->configure.n; i++) {
        struct account_spec *spec = &d->configured[i];
        *spec = *engine_account_spec(engine, i);
        spec->rules.risk.exposure_symbol = (double)random_between(&d->random, 0, 9) / 10;
        spec->rules.risk.orders_per_second = (int)random_between(&d->random, 0, 30);
        if (spec->strategy && random_chance(&d->random, 60))
            driver_strategy(spec, "2", random_chance(&d->random, 50) ? "5" : "6");
    }
}

static inline void driver_money(struct driver *d, const struct engine *engine, struct event_command *ret)
{
    int dice = (int)random_between(&d->random, 0, 9);
    int last = engine_accounts(engine) - 1;
    ret->money.account = (int)random_between(&d->random, 0, last);
    ret->money.to = (int)random_between(&d->random, 0, last);
    ret->money.amount = random_between(&d->random, -2000, 5000) * DRIVER_E8;
    ret->kind = dice < 5   ? COMMAND_ACCOUNT_DEPOSIT
                : dice < 8 ? COMMAND_ACCOUNT_TRANSFER
                : dice < 9 ? COMMAND_ACCOUNT_RESUME
                           : COMMAND_ACCOUNT_RESET;
    if (ret->kind != COMMAND_ACCOUNT_DEPOSIT && ret->money.amount <= 0)
        ret->money.amount = 100000 * DRIVER_E8;
    if (random_chance(&d->random, 5) && d->created < 3) {
        struct account_spec made = d->accounts[random_between(&d->random, 0, DRIVER_ACCOUNTS - 1)];
        snprintf(made.name, sizeof made.name, "made-%d", ++d->created);
        ret->kind = COMMAND_ACCOUNT_CREATE;
        ret->account = made;
    } else if (d->configures && random_chance(&d->random, 15)) {
        driver_configure(d, engine, ret);
    }
}

static inline void driver_command(struct driver *d, const struct engine *engine, struct event_command *ret)
{
    size_t live = engine_orders(engine);
    int dice = (int)random_between(&d->random, 0, 99);
    *ret = (struct event_command){.command_id = d->seq + 7000, .args = ""};
    if (random_chance(&d->random, 10))
        snprintf(ret->key, sizeof ret->key, "key-%d", (int)random_between(&d->random, 1, 30));
    if (dice < 55 || (dice < 90 && live == 0)) {
        driver_order(d, engine, ret);
    } else if (dice < 90) {
        const struct order *order = engine_order(engine, random_next(&d->random) % live);
        ret->kind = random_chance(&d->random, 50) ? COMMAND_CANCEL : COMMAND_AMEND;
        if (ret->kind == COMMAND_AMEND)
            driver_amend(d, order, &ret->amend);
        else
            ret->order_id = order->id;
    } else if (dice < 95) {
        driver_money(d, engine, ret);
    } else {
        ret->kind = dice < 96 ? COMMAND_PAUSE : dice < 99 ? COMMAND_RESUME : COMMAND_FLATTEN;
    }
}

static inline void driver_market_event(struct driver *d, int symbol, struct market_event *ret)
{
    struct driver_market *market = &d->markets[symbol];
    int dice = (int)random_between(&d->random, 0, 99);
    *ret = (struct market_event){.symbol = symbol, .event_ns = d->now_ns - DRIVER_MS_NS};
    if (dice < 35) {
        ret->kind = MARKET_TRADE;
        driver_trade(d, market, &ret->trade);
    } else if (dice < 55) {
        ret->kind = MARKET_QUOTE;
        driver_quote(market, &ret->quote);
    } else if (dice < 85) {
        ret->kind = MARKET_DEPTH;
        driver_depth(d, market, &ret->depth);
    } else if (dice < 97) {
        ret->kind = MARKET_KLINE;
        driver_kline(d, market, &ret->kline);
    } else if (dice < 98) {
        ret->kind = MARKET_AGG_TRADE;
        driver_trade(d, market, &ret->trade);
        market->trade_id--;
    } else {
        ret->kind = MARKET_TICKER;
        ret->ticker = (struct market_ticker){.open = driver_price(market, 50), .volume = 77};
    }
}

/* The first symbol is a stock by now. */
static inline void driver_venues(struct driver *d)
{
    d->venues = d->calendars = true;
    d->days_random = (struct random){.state = 1};
    d->accounts[1].session = SESSION_REGULAR;
    d->accounts[3].session = SESSION_EXTENDED;
    snprintf(d->symbols[0].calendar, sizeof d->symbols[0].calendar, "us-equity");
    snprintf(d->symbols[0].venue, sizeof d->symbols[0].venue, "one");
    d->symbols[1].loose_ids = true;
    snprintf(d->symbols[1].venue, sizeof d->symbols[1].venue, "two");
}

static inline void driver_session(struct driver *d, struct market_session *ret)
{
    static const enum market_phase phases[] = {MARKET_PHASE_EARLY, MARKET_PHASE_OPEN, MARKET_PHASE_OPEN,
                                               MARKET_PHASE_LATE, MARKET_PHASE_CLOSED};
    *ret = (struct market_session){
        .calendar = "us-equity", .phase = phases[d->phase++ % 5], .extended = random_chance(&d->random, 30)};
    if (random_chance(&d->random, 80))
        ret->next_ns = d->now_ns + random_between(&d->random, 1, 20000) * DRIVER_MS_NS;
}

/* Days of half a minute or so, of which some are over. */
static inline void driver_calendar(struct driver *d, struct event *ret)
{
    const int64_t second_ns = 1000 * DRIVER_MS_NS;
    int64_t at = (d->now_ns / second_ns - random_between(&d->days_random, 0, 60)) * second_ns;
    struct trading_calendar calendar = {
        .name = "us-equity", .days = d->days, .n = (size_t)random_between(&d->days_random, 0, DRIVER_DAYS)};
    calendar.from_ns = at;
    for (size_t i = 0; i < calendar.n; i++) {
        struct trading_day *day = &d->days[i];
        day->early_ns = at += random_between(&d->days_random, 0, 8) * second_ns;
        day->open_ns = at += random_between(&d->days_random, 0, 8) * second_ns;
        day->close_ns = at += random_between(&d->days_random, 1, 16) * second_ns;
        day->late_ns = at += random_between(&d->days_random, 0, 8) * second_ns;
    }
    calendar.to_ns = at + random_between(&d->days_random, 0, 8) * second_ns;
    uint64_t seq = ret->seq;
    int64_t recv_ns = ret->recv_ns;
    if (engine_calendar_event(&calendar, ret) < 0)
        abort();
    ret->seq = seq;
    ret->recv_ns = recv_ns;
}

/* One for two, then two for one, so that prices stay where they can be traded at; at times a split is
 * repeated. */
static inline void driver_action(struct driver *d, struct event_action *ret)
{
    bool again = d->actions > 0 && random_chance(&d->random, 20), dividend = random_chance(&d->random, 50);
    *ret = (struct event_action){.symbol = 0};
    struct corporate_action *action = &ret->action;
    d->actions += !again;
    snprintf(action->id, sizeof action->id, "action-%d", d->actions);
    action->ex_ns = d->now_ns + random_between(&d->random, -2000, 2) * DRIVER_MS_NS;
    action->kind = dividend ? ACTION_DIVIDEND : ACTION_SPLIT;
    action->cash = random_between(&d->random, 1, 9000000000);
    if (dividend && action->cash % 3 != 0) /* paid later: up to 5 s */
        action->pay_ns = action->ex_ns + action->cash % 5000 * DRIVER_MS_NS;
    if (again || dividend)
        return;
    action->cash = 0;
    action->shares = d->halved ? 1 : 2;
    action->per = d->halved ? 2 : 1;
    struct driver_market *market = &d->markets[0];
    market->low = d->halved ? 2 * market->low : market->low / 2;
    market->tick = d->halved ? 2 * market->tick : market->tick / 2;
    d->halved = !d->halved;
}

static inline void driver_status(struct driver *d, struct market_event *ret)
{
    *ret = (struct market_event){.kind = MARKET_STATUS,
                                 .symbol = (int)random_between(&d->random, 0, DRIVER_SYMBOLS - 1)};
    int dice = (int)random_between(&d->random, 0, 99);
    ret->status.trading = dice < 70 ? MARKET_TRADES : dice < 97 ? MARKET_HALTED : MARKET_ENDED;
    snprintf(ret->status.code, sizeof ret->status.code, "T%d", dice);
    if (random_chance(&d->random, 20)) {
        ret->kind = MARKET_BANDS;
        ret->bands = (struct market_bands){.up = 70000 * DRIVER_E8, .down = 40000 * DRIVER_E8};
    }
}

/* A correction of one of the newest trades, found by its id; and repeated bars. */
static inline void driver_revision(struct driver *d, const struct engine *engine, struct market_event *ret)
{
    int symbol = (int)random_between(&d->random, 0, 1);
    struct driver_market *market = &d->markets[symbol];
    struct engine_symbol_view view;
    engine_symbol_view(engine, symbol, &view);
    *ret = (struct market_event){.symbol = symbol, .event_ns = d->now_ns};
    if (view.bars > 0 && random_chance(&d->random, 40)) {
        ret->kind = MARKET_REVISION;
        ret->kline = (struct market_kline){DRIVER_INTERVAL_NS, view.last_bar, true};
        ret->kline.bar.open_ns += random_between(&d->random, -5, 1) * DRIVER_INTERVAL_NS;
        ret->kline.bar.volume += random_between(&d->random, 0, 9);
        return;
    }
    ret->kind = random_chance(&d->random, 50) ? MARKET_CORRECTION : MARKET_CANCEL;
    ret->correction = (struct market_correction){.ts_ns = d->now_ns,
                                                 .id = market->trade_id - random_between(&d->random, 0, 12),
                                                 .price = driver_price(market, market->middle),
                                                 .qty = random_between(&d->random, 1, 9000) * 1000,
                                                 .code = "C"};
    ret->correction.new_id = random_chance(&d->random, 50) ? ret->correction.id : market->trade_id + 1000000;
    if (ret->kind == MARKET_CANCEL)
        ret->correction.price = ret->correction.qty = 0;
}

/* In place of a session. */
static inline void driver_clock(struct driver *d, struct event *ret)
{
    const char *venue = random_chance(&d->days_random, 50) ? "one" : "two";
    ret->kind = EVENT_VENUE_CLOCK;
    ret->venue_clock.ahead_ns = random_between(&d->days_random, -90000, 90000) * DRIVER_MS_NS;
    snprintf(ret->venue_clock.venue, sizeof ret->venue_clock.venue, "%s", venue);
}

/* Did it make one? */
static inline bool driver_of_venues(struct driver *d, const struct engine *engine, struct event *ret)
{
    if (!d->venues || !random_chance(&d->random, 4))
        return false;
    int dice = (int)random_between(&d->random, 0, 99);
    if (dice < 25) {
        driver_revision(d, engine, &ret->market);
    } else if (dice < 50) {
        ret->kind = EVENT_SESSION;
        driver_session(d, &ret->session);
        if (d->calendars && random_chance(&d->days_random, 20))
            driver_calendar(d, ret);
        else if (d->calendars && random_chance(&d->days_random, 20))
            driver_clock(d, ret);
    } else if (dice < 65) {
        ret->kind = EVENT_ACTION;
        driver_action(d, &ret->action);
    } else if (dice < 90) {
        driver_status(d, &ret->market);
    } else {
        ret->kind = EVENT_CONNECTION;
        ret->connection = (struct event_connection){.up = random_chance(&d->random, 90)};
        snprintf(ret->connection.venue, sizeof ret->connection.venue, "%s", dice < 95 ? "one" : "two");
    }
    return true;
}

/* The next event; its levels and bars live until the one after. */
static inline void driver_next(struct driver *d, const struct engine *engine, struct event *ret)
{
    int symbol = (int)random_between(&d->random, 0, DRIVER_SYMBOLS - 1);
    int64_t dice = random_between(&d->random, 0, 999);
    d->now_ns += random_between(&d->random, 0, 40 * DRIVER_MS_NS);
    *ret = (struct event){.seq = ++d->seq, .kind = EVENT_MARKET};
    ret->recv_ns = d->now_ns;
    if (driver_of_venues(d, engine, ret))
        return;
    bool syncing = engine_book(engine, symbol)->state == BOOK_SYNCING;
    if (syncing && !d->markets[symbol].asked_id)
        driver_ask(&d->markets[symbol]);
    if (syncing && random_chance(&d->random, 15)) {
        ret->kind = EVENT_SNAPSHOT;
        driver_snapshot(d, symbol, &ret->snapshot);
    } else if (dice < 750) {
        driver_market_event(d, symbol, &ret->market);
    } else if (dice < 940) {
        ret->kind = EVENT_COMMAND;
        driver_command(d, engine, &ret->command);
    } else if (dice < 975) {
        ret->kind = EVENT_TIMER;
        if (random_chance(&d->random, 8))
            d->now_ns += INT64_C(3700) * 1000000000; /* interest falls due */
        else
            d->now_ns += random_between(&d->random, 0, 1000) * DRIVER_MS_NS;
    } else if (dice < 988) {
        ret->kind = EVENT_BARS;
        driver_bars(d, engine, symbol, &ret->bars);
    } else if (dice < 991) {
        ret->kind = EVENT_CONNECTION;
        ret->connection.up = random_chance(&d->random, 80);
    } else if (dice < 994) {
        ret->kind = EVENT_STALE;
        ret->stale.symbol = symbol;
        ret->stale.stale = random_chance(&d->random, 30);
    } else if (dice < 997) {
        ret->kind = EVENT_STORAGE;
        ret->storage_ok = random_chance(&d->random, 80);
    } else {
        ret->kind = EVENT_SYMBOL;
        ret->symbol.index = symbol;
        ret->symbol.listed = d->symbols[symbol];
        ret->symbol.listed.filters.orders_max = (int32_t)random_between(&d->random, 4, 12);
        ret->symbol.listed.trading = random_chance(&d->random, 90);
    }
    ret->recv_ns = d->now_ns;
}

#endif
