/* The venue: quotes, trades and bars of two symbols that walk. */
#include "tests/system/power/sim.h"

#define E8        100000000LL
#define START_NS  1723161240000000000LL
#define MINUTE_NS 60000000000LL

static void give(struct sim *sim, struct event *event)
{
    event->market.event_ns = START_NS + sim->now_ns;
    daemon_session_event(sim->daemon.session, event);
}

static void give_quote(struct sim *sim, int s)
{
    int64_t price = sim->price[s], tick = sim->symbols[s].filters.tick;
    struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_QUOTE, .symbol = s}};
    event.market.quote = (struct market_quote){0, price - tick, 50 * E8, price + tick, 50 * E8};
    give(sim, &event);
}

static void give_trade(struct sim *sim, int s)
{
    struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_TRADE, .symbol = s}};
    int64_t id = ++sim->trades[s];
    event.market.trade = (struct market_trade){
        START_NS + sim->now_ns, id, id, id, sim->price[s], E8 / 10, random_chance(&sim->random, 50), false};
    give(sim, &event);
}

static void give_bars(struct sim *sim)
{
    int64_t open_ns = (START_NS + sim->now_ns) / MINUTE_NS * MINUTE_NS - MINUTE_NS;
    for (int s = 0; s < SYMBOLS; s++) {
        int64_t price = sim->price[s];
        struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_KLINE, .symbol = s}};
        struct bar *bar = &event.market.kline.bar;
        event.market.kline.interval_ns = MINUTE_NS;
        event.market.kline.closed = true;
        *bar = (struct bar){.open_ns = open_ns, .open = price, .high = price, .low = price, .close = price};
        bar->volume = E8;
        bar->trades = 1;
        give(sim, &event);
    }
}

void market_move(struct sim *sim)
{
    int s = (int)random_between(&sim->random, 0, SYMBOLS - 1);
    int64_t tick = sim->symbols[s].filters.tick, minute = (START_NS + sim->now_ns) / MINUTE_NS;
    sim->price[s] += random_between(&sim->random, -200, 200) * tick;
    if (minute != sim->minute) {
        sim->minute = minute;
        give_bars(sim);
    } else if (random_chance(&sim->random, 60)) {
        give_quote(sim, s);
    } else {
        give_trade(sim, s);
    }
}

void market_symbols(struct sim *sim)
{
    static const char *const names[SYMBOLS] = {"BTCUSDT", "ETHUSDT"};
    for (int s = 0; s < SYMBOLS; s++) {
        symbol_default(names[s], NULL, 2, 5, &sim->symbols[s]);
        sim->symbols[s].trading = true;
        snprintf(sim->symbols[s].venue, sizeof sim->symbols[s].venue, "binance");
        sim->price[s] = (s == 0 ? 60000 : 3000) * E8;
    }
}
