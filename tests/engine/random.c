/* Events and commands at random, orders of every type and group, amends and cancels among them: after each,
 * the accounts are what the sums of deposits and fills say, reserves are those of the live orders, each of
 * these equals its last report, states and groups are what they can be, and the same events give the same
 * ledger, to the hash, though the engine was saved and loaded again and again on the way. With PAPERTAPE_LONG
 * set, a million a run. */
#include "engine/core.h"
#include "tests/counts.h"
#include "tests/engine/random_orders.h"
#include "tests/engine/reload.h"

enum { EVENTS = 150000, EVENTS_LONG = 1000000 };

static int n_events;

static void check_reserves(const struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++)
        for (int i = 0; i < engine->accounts[a].n_assets; i++) {
            const struct balance *balance = &engine->accounts[a].assets[i];
            int64_t sum = 0;
            for (size_t k = 0; k < engine->n_orders; k++) {
                const struct live_order *live = &engine->orders[k];
                const struct symbol *symbol = &engine->markets[live->order.symbol].symbol;
                const char *asset = live->order.side == ORDER_BUY ? symbol->quote : symbol->base;
                if (live->order.account == a && strcmp(asset, balance->asset) == 0)
                    sum += live->reserved;
                CHECK(live->reserved >= 0 && (!live->cancel_queued || live->reserved == 0));
            }
            CHECK_INT(balance->reserved, sum);
        }
    uint32_t live_orders[HARNESS_SYMBOLS] = {0};
    for (size_t k = 0; k < engine->n_orders; k++) {
        CHECK(order_live(engine->orders[k].order.state));
        CHECK(k == 0 || engine->orders[k - 1].order.id < engine->orders[k].order.id);
        live_orders[engine->orders[k].order.symbol]++;
    }
    for (int s = 0; s < engine->n_symbols; s++)
        CHECK_INT(engine->markets[s].live_orders, live_orders[s]);
    for (size_t i = engine->first_pending + 1; i < engine->n_pending; i++)
        CHECK(engine->pending[i - 1].effective_ns <= engine->pending[i].effective_ns);
}

static bool one_leg_traded(const struct harness *h, const struct order *order)
{
    for (uint64_t id = order->group; order->group && id < order->group + ORDER_LEGS_MAX; id++) {
        const struct order *other = reported(h, id);
        if (id != order->id && other->id && other->group == order->group && other->parent == order->parent &&
            other->filled > 0 && order->filled > 0)
            return false;
    }
    return true;
}

/* What an exit closes, its entry has opened; held while that works. */
static bool exit_fits(const struct harness *h, const struct order *order)
{
    const struct order *entry = reported(h, order->parent);
    if (order->parent == 0)
        return true;
    return order->reduce_only && order->side != entry->side && order->filled <= entry->filled &&
           (order->state == ORDER_HELD) == (order_live(order->state) && order_live(entry->state)) &&
           (order->state == ORDER_HELD || !order_live(order->state) ||
            (order->amends > 0 ? order->qty <= entry->filled : order->qty == entry->filled));
}

static void check_orders(const struct harness *h)
{
    const struct engine *engine = h->engine;
    CHECK_INT(engine->counters.impossible, 0);
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        const struct position *position = &engine->accounts[order->account].positions[order->symbol];
        bool rests = order->state == ORDER_OPEN || order->state == ORDER_PARTIAL;
        CHECK(order->expires_ns == 0 || order->expires_ns > engine->now_ns);
        CHECK(order->expires_ns == 0 || engine->next_expiry_ns <= order->expires_ns);
        CHECK(order->filled < order->qty && live->queue_ahead >= -1);
        CHECK(!rests || order->type != ORDER_MARKET);
        CHECK(!rests || (order->tif != ORDER_IOC && order->tif != ORDER_FOK));
        CHECK(!rests || !order->reduce_only ||
              (order->side == ORDER_SELL ? position->qty > 0 : position->qty < 0));
        CHECK(
            order->type != ORDER_TRAILING_STOP || order->triggered || order->peak == 0 ||
            order->stop_price == 0 ||
            (order->side == ORDER_SELL ? order->stop_price < order->peak : order->stop_price > order->peak));
        CHECK(one_leg_traded(h, order) && exit_fits(h, order));
    }
    for (int s = 0; s < engine->n_symbols; s++)
        for (uint32_t i = 0; i < engine->markets[s].n_taken; i++)
            CHECK(engine->markets[s].taken[i].qty > 0 && engine->markets[s].taken[i].price > 0);
}

/* At the end of all, of every order that there ever was. */
static void check_history(const struct harness *h)
{
    for (uint64_t id = 1; id < RECORDED_ORDERS && h->orders[id].order.id; id++)
        CHECK(one_leg_traded(h, reported(h, id)) && exit_fits(h, reported(h, id)));
}

static void random_missed(struct harness *h, struct small_market *markets, struct random *random, int symbol)
{
    struct bar bar = flat_bar(h->now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS,
                              market_price(&markets[symbol], markets[symbol].middle));
    bar.high += random_between(random, 0, 6) * markets[symbol].tick;
    bar.low -= random_between(random, 0, 6) * markets[symbol].tick;
    struct event event = {.kind = EVENT_BARS,
                          .bars = {.symbol = symbol, .bars = &bar, .n = 1, .missed = true}};
    CHECK_INT(harness_event(h, &event), 0);
}

static void random_event(struct harness *h, struct small_market *markets, struct random *random)
{
    int symbol = (int)random_between(random, 0, HARNESS_SYMBOLS - 1);
    int64_t dice = random_between(random, 0, 999);
    h->now_ns += random_between(random, 0, 40 * MS_NS);
    if (engine_book(h->engine, symbol)->state == BOOK_SYNCING && random_chance(random, 30)) {
        market_snapshot(h, symbol, &markets[symbol]);
    } else if (dice < 330) {
        market_trade(h, symbol, &markets[symbol], random);
    } else if (dice < 500) {
        market_quote(h, symbol, &markets[symbol]);
    } else if (dice < 760) {
        market_depth(h, symbol, &markets[symbol], random);
    } else if (dice < 880) {
        random_order(h, markets, random);
    } else if (dice < 910) {
        random_amend(h, markets, random);
    } else if (dice < 930) {
        if (engine_orders(h->engine) > 0)
            cancel(h, engine_order(h->engine, random_next(random) % engine_orders(h->engine))->id);
    } else if (dice < 960) {
        pass(h, random_between(random, 0, SECOND_NS));
    } else if (dice < 965) {
        random_missed(h, markets, random, symbol);
    } else if (dice < 984) {
        struct bar bar = flat_bar(h->now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS,
                                  market_price(&markets[symbol], markets[symbol].middle));
        kline(h, symbol, &bar);
    } else if (dice < 987) {
        connection(h, random_chance(random, 85));
    } else if (dice < 990) {
        stale(h, symbol, random_chance(random, 15));
    } else if (dice < 992) {
        struct event event = {.kind = EVENT_STORAGE, .storage_ok = random_chance(random, 90)};
        CHECK_INT(harness_event(h, &event), 0);
    } else if (dice < 993) {
        command(h, (struct event_command){.kind = COMMAND_PAUSE});
    } else if (dice < 999) {
        command(h, (struct event_command){.kind = COMMAND_RESUME});
    } else {
        command(h, (struct event_command){.kind = COMMAND_FLATTEN});
    }
}

struct outcome {
    uint8_t hash[LEDGER_HASH_SIZE];
    struct engine_counters counters;
    int64_t equity[HARNESS_ACCOUNTS];
};

static struct outcome run(uint64_t seed, int64_t latency_ns, bool bare, bool print, bool reloads)
{
    static struct harness h;
    struct random random = {seed};
    struct small_market markets[HARNESS_SYMBOLS];
    market_init(&markets[BTCUSDT], 59000 * E8, 10 * E8);
    market_init(&markets[ETHUSDT], 2900 * E8, E8);
    market_init(&markets[ETHBTC], 4900000, 1000);
    harness_init(&h);
    h.config.latency_ns = latency_ns;
    h.config.equity_interval_ns = 5 * SECOND_NS;
    h.risk = (struct risk_limits){.exposure_symbol = 0.9, .exposure_account = 1.5, .orders_per_second = 20};
    h.accounts[ALICE].cash = 200000 * E8;
    h.accounts[ALICE].rules.fees =
        (struct fee_rates){.maker_e6 = 1500, .taker_e6 = 750}; /* the odd way round */
    if (latency_ns == 0)                                       /* a trade need not move a trailing stop */
        h.symbols[BTCUSDT].filters.tick = 20 * E8;
    if (bare) { /* no filters, little money: every unit counts */
        h.accounts[ALICE].cash = 3000 * E8 + 77;
        for (int s = 0; s < HARNESS_SYMBOLS; s++)
            h.symbols[s].filters = (struct symbol_filters){0};
        h.risk = (struct risk_limits){0};
    }
    h.accounts[BOB].strategy = strategy_find("sma-cross-rsi");
    strategy_defaults(h.accounts[BOB].strategy, h.accounts[BOB].params);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "fast", "2", NULL);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "slow", "4", NULL);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "rsi", "2", NULL);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "rsi_max", "100", NULL);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "atr", "2", NULL);
    harness_open(&h);
    for (int i = 0; i < n_events; i++) {
        random_event(&h, markets, &random);
        if (reloads && i % 997 == 0)
            reload_engine(&h.engine);
        check_reserves(h.engine);
        check_orders(&h);
    }
    check_history(&h);
    /* All orders cancelled, nothing is reserved. */
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    while (engine_orders(h.engine) > 0) {
        cancel(&h, engine_order(h.engine, 0)->id);
        pass(&h, SECOND_NS);
    }
    harness_check(&h);
    struct outcome outcome = {.counters = *engine_counters(h.engine)};
    memcpy(outcome.hash, h.hash, sizeof outcome.hash);
    for (int a = 0; a < HARNESS_ACCOUNTS; a++)
        outcome.equity[a] = engine_equity(h.engine, a);
    if (print) {
        printf(
            "engine/random: latency %d ms: %ju orders, %ju refused, %ju fills (%ju made), %ju decisions, %ju "
            "rows, %ju alerts\n",
            (int)(latency_ns / MS_NS), (uintmax_t)outcome.counters.orders,
            (uintmax_t)outcome.counters.rejected, (uintmax_t)h.fills, (uintmax_t)h.maker_fills,
            (uintmax_t)outcome.counters.decisions, (uintmax_t)h.rows, (uintmax_t)h.alerts);
        for (int why = 0; why < ORDER_REASONS; why++)
            if (outcome.counters.refused[why])
                printf("  %s %ju\n", why ? order_reason_name((enum order_reason)why) : "ok",
                       (uintmax_t)outcome.counters.refused[why]);
    }
    CHECK(h.fills > (uint64_t)n_events / 150 && h.maker_fills > (uint64_t)n_events / 1500 &&
          outcome.counters.rejected > (uint64_t)n_events / 1500);
    harness_close(&h);
    return outcome;
}

int main(void)
{
    struct random random = random_seeded("engine/random", 20261121);
    uint64_t seed = random.state;
    n_events = getenv("PAPERTAPE_LONG") ? EVENTS_LONG : counts_of("events", EVENTS, EVENTS / 3);
    struct outcome first = run(seed, 50 * MS_NS, false, true, false);
    struct outcome again = run(seed, 50 * MS_NS, false, false, true);
    CHECK(memcmp(&first, &again, sizeof first) == 0);
    struct outcome other = run(seed + 1, 0, false, true, false);
    CHECK(memcmp(first.hash, other.hash, sizeof first.hash) != 0);
    run(seed + 2, 3 * SECOND_NS, false, true, true);
    for (uint64_t i = 3; i < 7; i++)
        run(seed + i, 300 * MS_NS, true, i == 3, i % 2);
    return check_done("engine/random");
}
