/* A hundred thousand events and commands at random: after each, the accounts are what the sums of deposits
 * and fills say, reserves are those of the live orders, and the same events give the same ledger, to the
 * hash. */
#include "engine/core.h"
#include "tests/engine/market.h"

enum { EVENTS = 100000 };

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

static void random_order(struct harness *h, struct small_market *markets, struct random *random)
{
    int account = (int)random_between(random, 0, 1), symbol = (int)random_between(random, 0, 2);
    enum order_side side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL;
    enum order_type type = (enum order_type)random_between(random, 0, 2);
    int level = markets[symbol].middle + (int)random_between(random, -8, 8);
    int64_t qty = random_between(random, 1, random_chance(random, 50) ? 500 : 20000) * 1000;
    int64_t held = h->position[account][symbol];
    if (side == ORDER_SELL && held > 0 && random_chance(random, 60))
        qty = random_chance(random, 50) ? held : random_between(random, 1, held);
    if (h->symbols[symbol].filters.step == 0)
        qty += random_between(random, 0, 999);
    if (random_chance(random, 2))
        qty = (int64_t)random_next(random);
    if (random_chance(random, 1))
        level = -(int)random_between(random, 0, 1000000);
    order(h, account, symbol, side, type, qty, market_price(&markets[symbol], level));
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
    } else if (dice < 930) {
        if (engine_orders(h->engine) > 0)
            cancel(h, engine_order(h->engine, random_next(random) % engine_orders(h->engine))->id);
    } else if (dice < 960) {
        pass(h, random_between(random, 0, SECOND_NS));
    } else if (dice < 984) {
        struct bar bar = flat_bar(h->now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS,
                                  market_price(&markets[symbol], markets[symbol].middle));
        kline(h, symbol, &bar);
    } else if (dice < 987) {
        connection(h, random_chance(random, 70));
    } else if (dice < 990) {
        stale(h, symbol, random_chance(random, 30));
    } else if (dice < 992) {
        struct event event = {.kind = EVENT_STORAGE, .storage_ok = random_chance(random, 80)};
        CHECK_INT(harness_event(h, &event), 0);
    } else if (dice < 994) {
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

static struct outcome run(uint64_t seed, int64_t latency_ns, bool bare, bool print)
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
    if (bare) { /* no filters, little money: every unit counts */
        h.accounts[ALICE].cash = 3000 * E8 + 77;
        for (int s = 0; s < HARNESS_SYMBOLS; s++)
            h.symbols[s].filters = (struct symbol_filters){0};
        h.risk = (struct risk_limits){0};
    }
    h.accounts[BOB].strategy = strategy_find("sma-cross-rsi");
    strategy_defaults(h.accounts[BOB].strategy, h.accounts[BOB].params);
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "fast", "2");
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "slow", "4");
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "rsi", "2");
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "rsi_max", "100");
    strategy_set(h.accounts[BOB].strategy, h.accounts[BOB].params, "atr", "2");
    harness_open(&h);
    for (int i = 0; i < EVENTS; i++) {
        random_event(&h, markets, &random);
        check_reserves(h.engine);
    }
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
    CHECK(h.fills > 1000 && h.maker_fills > 100 && outcome.counters.rejected > 100);
    harness_close(&h);
    return outcome;
}

int main(void)
{
    struct random random = random_seeded("engine/random", 20261121);
    uint64_t seed = random.state;
    struct outcome first = run(seed, 50 * MS_NS, false, true);
    struct outcome again = run(seed, 50 * MS_NS, false, false);
    CHECK(memcmp(&first, &again, sizeof first) == 0);
    struct outcome other = run(seed + 1, 0, false, true);
    CHECK(memcmp(first.hash, other.hash, sizeof first.hash) != 0);
    run(seed + 2, 3 * SECOND_NS, false, true);
    for (uint64_t i = 3; i < 7; i++)
        run(seed + i, 300 * MS_NS, true, i == 3);
    return check_done("engine/random");
}
