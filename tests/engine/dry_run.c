/* A dry run: by hand on a book of three levels; and before each of many random orders, of which the engine
 * then does what the dry run said: the same reason, the same orders, reserve and fills. It leaves the
 * engine's state as it was, byte for byte, and emits nothing. */
#include "engine/state.h"
#include "tests/engine/random_orders.h"

#include "tests/engine/by_hand.h" /* after it: its `h` would be shadowed there */

enum { EVENTS = 20000 };

static struct engine_dry_run tried(struct order request)
{
    struct engine_dry_run run;
    CHECK_INT(engine_dry_run(h.engine, ORDERS_SINGLE, &request, 1, &run), 0);
    return run;
}

static void check_by_hand(void)
{
    init_rich();
    h.accounts[ALICE].rules.fees = (struct fee_rates){.maker_e6 = 1000, .taker_e6 = 2000};
    open_book();
    uint64_t before = n_orders();
    struct engine_dry_run run = tried(order_of(ORDER_BUY, ORDER_MARKET, 15 * BTC / 10));
    CHECK_INT(run.reason, ORDER_OK);
    CHECK_INT(run.price, 60000 * USDT);
    CHECK_INT(run.fill_qty, 15 * BTC / 10);
    CHECK_INT(run.fill_notional, 60000 * USDT + 60010 * USDT / 2);
    CHECK_INT(run.fill_fee, 120 * USDT + 6001 * USDT / 100);
    CHECK_INT(run.fee, run.fill_fee);
    CHECK_INT(run.notional, run.fill_notional);
    CHECK_STR(run.asset, "USDT");
    CHECK_INT(run.available, 1000000 * USDT);
    struct order request = limit(ORDER_BUY, 2 * BTC, 60000 * USDT); /* one fills, one rests */
    run = tried(request);
    CHECK_INT(run.fill_qty, BTC);
    CHECK_INT(run.fill_fee, 120 * USDT);
    CHECK_INT(run.notional, 120000 * USDT);
    CHECK_INT(run.fee, (120 + 60) * USDT);
    CHECK_INT(run.reserved, 120000 * USDT + 240 * USDT); /* by the higher rate */
    request.tif = ORDER_FOK;
    CHECK_INT(tried(request).fill_qty, 0);
    request.tif = ORDER_GTC;
    request.post_only = true;
    run = tried(request);
    CHECK(run.would_take && run.fill_qty == 0);
    CHECK_INT(tried(limit(ORDER_BUY, 100 * BTC, 60000 * USDT)).reason, ORDER_INSUFFICIENT_BALANCE);
    run = tried(stop(ORDER_BUY, BTC, 61000 * USDT)); /* it waits */
    CHECK_INT(run.fill_qty, 0);
    CHECK_INT(run.price, 61000 * USDT);
    CHECK_INT(n_orders(), before);
    /* What the account took of it is shown all the same: post-only would take. */
    ask(&h, limit(ORDER_BUY, BTC, 60000 * USDT));
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], BTC);
    CHECK(tried(request).would_take);
    request.post_only = false;
    CHECK_INT(tried(request).fill_qty, 0);
    harness_close(&h);
}

/* Slippage goes no further than the limit of a stop that triggers at once. */
static void check_slippage(void)
{
    init_rich();
    h.config.slippage_e6 = 1000;
    open_book();
    struct order request = stop(ORDER_BUY, 2 * BTC, 60000 * USDT);
    request.type = ORDER_STOP_LIMIT;
    request.price = 60020 * USDT;
    struct engine_dry_run run = tried(request);
    CHECK_INT(run.fill_qty, 2 * BTC);
    CHECK_INT(run.fill_notional, 2 * 60020 * USDT);
    uint64_t id = rested(request);
    CHECK_INT(reported(&h, id)->cost, run.fill_notional);
    harness_close(&h);
}

/* ---- at random ---- */

static struct engine_dry_run expected;
static int64_t reserved_before;
static struct {
    int tried, refused, reserved, filled, groups;
} seen;

static int64_t reserved_of(const struct order *first)
{
    const struct symbol *symbol = engine_symbol(h.engine, first->symbol);
    return reserved(&h, first->account, first->side == ORDER_BUY ? symbol->quote : symbol->base);
}

static void attempt(struct harness *of, enum order_grouping grouping, const struct order *legs, int n)
{
    uint8_t before[LEDGER_HASH_SIZE], after[LEDGER_HASH_SIZE];
    pass(of, 0); /* what is due by now */
    uint64_t rows = of->rows, orders = n_orders();
    CHECK_INT(engine_digest(of->engine, before), 0);
    CHECK_INT(engine_dry_run(of->engine, grouping, legs, n, &expected), 0);
    CHECK_INT(engine_digest(of->engine, after), 0);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK(of->rows == rows && n_orders() == orders);
    reserved_before = reserved_of(&legs[0]);
    seen.tried++;
    seen.groups += n > 1;
}

static void check_taken(const struct order *order, const struct order *as)
{
    CHECK(order->type == as->type && order->tif == as->tif && order->side == as->side);
    if (h.config.latency_ns > 0 || order->parent == 0) /* else it is what the entry has filled */
        CHECK_INT(order->qty, as->qty);
    CHECK_INT(order->price, as->price);
    CHECK_INT(order->trail, as->trail);
    CHECK_INT(order->trail_e6, as->trail_e6);
    CHECK_INT(order->expires_ns, as->expires_ns);
    CHECK(order->reduce_only == as->reduce_only && order->group == as->group && order->parent == as->parent);
}

/* Without latency it fills in the same event; what the account can pay for, where no short is covered. */
static void check_filled(const struct order *order)
{
    bool pays = order->side == ORDER_SELL
                    ? !order->reduce_only
                    : 2 * expected.fill_fee + expected.fill_notional + USDT <= expected.available;
    if (expected.n_legs > 1 || !pays || h.accounts[order->account].rules.shorts)
        return;
    CHECK_INT(order->filled, expected.fill_qty);
    CHECK_INT(order->cost, expected.fill_notional);
    CHECK_INT(h.orders[order->id].fee, expected.fill_fee);
    CHECK_INT(order->reason == ORDER_WOULD_TAKE, expected.would_take);
    seen.filled += order->filled > 0;
}

static void compare(struct harness *of, uint64_t id)
{
    const struct order *first = reported(of, id);
    CHECK_INT(first->state == ORDER_REJECTED ? first->reason : ORDER_OK, expected.reason);
    seen.refused += expected.reason != ORDER_OK;
    if (expected.reason != ORDER_OK)
        return;
    for (int i = 0; i < expected.n_legs; i++) {
        CHECK_INT(expected.legs[i].id, id + (uint64_t)i);
        check_taken(reported(of, id + (uint64_t)i), &expected.legs[i]);
    }
    if (of->config.latency_ns > 0) {
        CHECK_INT(reserved_of(first) - reserved_before, expected.reserved);
        seen.reserved += expected.reserved > 0;
    } else {
        check_filled(first);
    }
}

static void at_random(uint64_t seed, int64_t latency_ns, int32_t slippage_e6, bool shorts)
{
    struct random random = {seed};
    struct small_market markets[HARNESS_SYMBOLS];
    market_init(&markets[BTCUSDT], 59000 * E8, 10 * E8);
    market_init(&markets[ETHUSDT], 2900 * E8, E8);
    market_init(&markets[ETHBTC], 4900000, 1000);
    harness_init(&h);
    h.config.latency_ns = latency_ns;
    h.config.slippage_e6 = slippage_e6;
    h.risk = (struct risk_limits){
        .exposure_symbol = 0.9, .exposure_account = 1.5, .orders_per_second = 20, .drawdown = 0.2};
    h.accounts[ALICE].cash = h.accounts[BOB].cash = 200000 * E8;
    h.accounts[ALICE].rules.shorts = shorts;
    h.accounts[ALICE].rules.collateral_e4 = shorts ? 15000 : 0;
    h.accounts[ALICE].rules.maintenance_e4 = shorts ? 12500 : 0;
    harness_open(&h);
    h.before_orders = attempt;
    h.after_orders = compare;
    for (int i = 0; i < EVENTS; i++) {
        int symbol = (int)random_between(&random, 0, HARNESS_SYMBOLS - 1);
        int64_t dice = random_between(&random, 0, 99);
        h.now_ns += random_between(&random, 0, 40 * MS_NS);
        if (engine_book(h.engine, symbol)->state == BOOK_SYNCING && random_chance(&random, 30))
            market_snapshot(&h, symbol, &markets[symbol]);
        else if (dice < 35)
            market_trade(&h, symbol, &markets[symbol], &random);
        else if (dice < 50)
            market_quote(&h, symbol, &markets[symbol]);
        else if (dice < 75)
            market_depth(&h, symbol, &markets[symbol], &random);
        else if (dice < 88)
            random_order(&h, markets, &random);
        else if (dice < 90)
            random_amend(&h, markets, &random);
        else if (dice < 94 && engine_orders(h.engine) > 0)
            cancel(&h, engine_order(h.engine, random_next(&random) % engine_orders(h.engine))->id);
        else if (dice < 96)
            pass(&h, random_between(&random, 0, SECOND_NS));
        else if (dice < 97)
            stale(&h, symbol, random_chance(&random, 15));
        else if (dice < 98)
            command(&h, (struct event_command){.kind = random_chance(&random, 20) ? COMMAND_PAUSE
                                                                                  : COMMAND_RESUME});
    }
    harness_close(&h);
}

int main(void)
{
    struct random random = random_seeded("engine/dry_run", 20261127);
    check_by_hand();
    check_slippage();
    at_random(random.state, 50 * MS_NS, 0, false);
    at_random(random.state + 1, 300 * MS_NS, 0, true);
    CHECK(seen.reserved > 300);
    at_random(random.state + 2, 0, 0, false);
    at_random(random.state + 3, 0, 500, false);
    at_random(random.state + 4, 0, 0, true);
    CHECK(seen.filled > 100 && seen.refused > 300 && seen.groups > 300);
    printf("engine/dry_run: %d tried, %d refused, %d groups, %d reserved, %d filled\n", seen.tried,
           seen.refused, seen.groups, seen.reserved, seen.filled);
    return check_done("engine/dry_run");
}
