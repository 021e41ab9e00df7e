/* A strategy's session over random days with half days: what kept.c has by hand holds after every event, and
 * a log of the same events, a state in between, and the bars alone give the same. */
#include "engine/core.h"
#include "engine/state.h"
#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

static size_t dice_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    struct random random = {(uint64_t)input->ts_ns + (uint64_t)(input->close * 100)};
    uint64_t dice = random_next(&random);
    double c = input->close;
    (void)params;
    (void)state;
    if (dice % 100 >= 40 || input->live_orders)
        return 0;
    dice /= 100;
    double away = input->qty < 0 ? -1 : 1; /* from the price, as a long has it */
    bool sells = input->shorts && (input->qty > 0 || (input->qty == 0 && dice % 7 < 3));
    size_t n = 0;
    if (input->qty != 0) {
        intents[n++] =
            dice % 3 == 0
                ? (struct intent){.kind = INTENT_STOP, .stop = c * (1 - away * 0.005), .why = "follows"}
                : (struct intent){.kind = INTENT_EXIT, .fraction = dice % 13 < 3 ? 0.4 : 0, .why = "leaves"};
        if (dice % 3 == 0 || !input->shorts || dice % 11 < 5)
            return n;
    }
    away = sells ? -1 : 1;
    struct intent *entry = &intents[n++];
    *entry = (struct intent){
        .kind = sells ? INTENT_SHORT : INTENT_ENTER, .fraction = 0.2, .why = sells ? "sells" : "enters"};
    if (dice % 3 == 0)
        entry->limit = c * (1 - away * 0.001);
    if (dice % 2 == 0)
        entry->stop = c * (1 - away * 0.01);
    if (dice % 5 == 0 && n == 1)
        *entry = (struct intent){.kind = INTENT_TARGET, .fraction = 0.3, .why = "holds"};
    if (dice % 17 < 5 && n == 1) {
        bool above = dice % 17 < 2;
        *entry = (struct intent){.kind = INTENT_ORDER,
                                 .side = sells ? ORDER_SELL : ORDER_BUY,
                                 .type = above ? ORDER_STOP : ORDER_LIMIT,
                                 .fraction = 0.2,
                                 .stop = above ? c * (1 + away * 0.001) : 0,
                                 .limit = above ? 0 : c * (1 - away * 0.001),
                                 .why = "orders"};
    }
    return n;
}

static const struct strategy dice_strategy = {
    .name = "dice", .summary = "wants what its bars' numbers say", .specs = puppet_specs, .on_bar = dice_bar};

/* The only one here: a state names it, and finds it again. */
const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&dice_strategy};
    *ret_n = 1;
    return all;
}

enum { RANDOM_DAYS = 12, MINUTES = RANDOM_DAYS * 90 };

static struct bar walked[2][MINUTES];
static bool there[2][MINUTES];
static int64_t began_ns;
static struct trading_day days[RANDOM_DAYS];

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
    h.accounts[1].rules.shorts = true;
    h.accounts[1].rules.collateral_e4 = 15000;
    h.accounts[1].rules.maintenance_e4 = 12500;
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
                phase_at(phases[k], now_ns, 0, false);
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

static uint64_t n_entered, n_sold, n_ended, n_later;

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
        n_sold += order->filled > 0 && order->side == ORDER_SELL;
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
    CHECK(n_entered > 50 && n_sold > 20 && n_ended > 5 && n_later > 10);
    printf(
        "engine/kept_random: %llu entries filled, %llu of them short, %llu ended with their session, %llu made "
        "at an opening\n",
        (unsigned long long)n_entered, (unsigned long long)n_sold, (unsigned long long)n_ended,
        (unsigned long long)n_later);
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
    struct random random = random_seeded("engine/kept_random", 20261125);
    test_random(&random);
    test_same(&random);
    return check_done("engine/kept_random");
}
