/* Splits and dividends, with numbers that one can check by hand, and by property over random ratios, holdings
 * and orders: a split changes no value, the same one takes effect once, and ledger, lots, reserves and orders
 * agree. */
#include "engine/split.h"
#include "engine/state.h"
#include "strategy/strategy.h"
#include "tests/engine/by_hand.h"
#include "tests/random.h"

static int act(const char *id, enum corporate_action_kind kind, int64_t a, int64_t b, int64_t ex_ns)
{
    struct event event = {.kind = EVENT_ACTION, .action = {.symbol = BTCUSDT, .action = {.kind = kind}}};
    struct corporate_action *action = &event.action.action;
    snprintf(action->id, sizeof action->id, "%s", id);
    action->ex_ns = ex_ns;
    if (kind == ACTION_SPLIT) {
        action->shares = a;
        action->per = b;
    } else {
        action->cash = a;
    }
    return harness_event(&h, &event);
}

static void split(const char *id, int64_t shares, int64_t per)
{
    CHECK_INT(act(id, ACTION_SPLIT, shares, per, h.now_ns + 1), 0);
}

static const struct position *held(int account)
{
    return &engine_account(h.engine, account)->positions[BTCUSDT];
}

static int64_t last(void)
{
    struct engine_symbol_view view;
    engine_symbol_view(h.engine, BTCUSDT, &view);
    return view.last;
}

static int64_t borrowed(int account)
{
    const struct account *of = engine_account(h.engine, account);
    return of->assets[of->pairs[BTCUSDT].base].borrowed;
}

static void test_long(void)
{
    open_quoted();
    hold(2 * BTC);
    uint64_t sale = rested(limit(ORDER_SELL, BTC / 2, 6100001 * (USDT / 100)));
    uint64_t loss = rested(stop(ORDER_SELL, BTC / 2, 59000 * USDT));
    uint64_t entry = bracket(limit(ORDER_BUY, BTC, 59500 * USDT));
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    trade_by(&h, BTCUSDT, 59400 * USDT, BTC / 4, true); /* the entry fills in part */
    sees(entry, ORDER_PARTIAL, ORDER_OK);
    CHECK_INT(reported(&h, entry)->filled, BTC / 4);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    struct order request = order_of(ORDER_SELL, ORDER_TRAILING_STOP, BTC / 2);
    request.trail = 100 * USDT;
    uint64_t trailing = rested(request);
    struct position before = *held(ALICE);
    int64_t equity = engine_equity(h.engine, ALICE);
    amend(&h, (struct order_amend){
                  .order_id = sale, .set = AMEND_QTY | AMEND_PRICE, .qty = BTC / 4, .price = 62000 * USDT});
    split("4:1", 4, 1);
    CHECK_INT(h.actions, 1);
    CHECK_STR(h.last_alert, "SPLIT");
    CHECK_INT(held(ALICE)->qty, 4 * before.qty);
    CHECK(held(ALICE)->cost == before.cost && held(ALICE)->fifo_cost == before.fifo_cost &&
          held(ALICE)->realized == before.realized && held(ALICE)->opened_ns == before.opened_ns);
    CHECK_INT(last(), 15000 * USDT);
    CHECK_INT(engine_equity(h.engine, ALICE), equity);
    CHECK_INT(reported(&h, sale)->qty, 2 * BTC);
    CHECK_INT(reported(&h, sale)->price, 1525000 * (USDT / 100)); /* 15250.0025, to the nearest cent */
    CHECK_INT(reported(&h, loss)->stop_price, 14750 * USDT);
    CHECK_INT(reported(&h, trailing)->trail, 25 * USDT);
    CHECK_INT(reported(&h, trailing)->peak, 15000 * USDT);
    CHECK_INT(reported(&h, trailing)->stop_price, 14975 * USDT);
    CHECK_INT(reported(&h, entry)->filled, BTC / 4); /* what filled is of the past */
    CHECK_INT(reported(&h, entry)->qty, BTC / 4 + 3 * BTC);
    CHECK_INT(reported(&h, entry + 1)->qty, 4 * BTC);
    CHECK_INT(reported(&h, entry + 1)->price, 15250 * USDT);
    split("4:1", 4, 1); /* the same once more */
    CHECK_INT(h.actions, 1);
    CHECK_INT(held(ALICE)->qty, 4 * before.qty);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, sale)->qty, BTC);
    CHECK_INT(reported(&h, sale)->price, 15500 * USDT);
    cancel(&h, trailing);
    cancel(&h, entry); /* its exits are of all that it filled */
    pass(&h, SECOND_NS);
    sees(entry, ORDER_CANCELED, ORDER_OK);
    CHECK_INT(reported(&h, entry + 1)->qty, BTC);
    CHECK_INT(reported(&h, entry + 2)->qty, BTC);
    quote(&h, BTCUSDT, 14700 * USDT, 100 * BTC, 14701 * USDT, BTC);
    trade(&h, BTCUSDT, 14749 * USDT, BTC);
    sees(loss, ORDER_FILLED, ORDER_OK);
    CHECK_INT(reported(&h, loss)->filled, 2 * BTC);
    harness_close(&h);
}

static void open_short(int64_t cash)
{
    harness_init(&h);
    h.accounts[ALICE].cash = cash;
    h.accounts[ALICE].rules.shorts = true;
    h.accounts[ALICE].rules.collateral_e4 = h.accounts[ALICE].rules.maintenance_e4 = 10000;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * USDT, 2 * BTC, 60001 * USDT, BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    rested(order_of(ORDER_SELL, ORDER_MARKET, BTC));
    CHECK_INT(held(ALICE)->qty, -BTC);
    CHECK_INT(borrowed(ALICE), BTC);
}

static void test_short(void)
{
    open_short(100000 * USDT);
    int64_t cost = held(ALICE)->cost, equity = engine_equity(h.engine, ALICE);
    uint64_t rows = h.rows;
    split("3:2", 3, 2);
    CHECK_INT(held(ALICE)->qty, -3 * BTC / 2);
    CHECK_INT(borrowed(ALICE), 3 * BTC / 2);
    CHECK_INT(held(ALICE)->cost, cost);
    CHECK_INT(engine_equity(h.engine, ALICE), equity);
    CHECK_INT(h.rows, rows + 2);
    split("1:10", 1, 10);
    CHECK_INT(held(ALICE)->qty, -3 * BTC / 20);
    CHECK_INT(borrowed(ALICE), 3 * BTC / 20);
    CHECK_INT(last(), 400000 * USDT);
    CHECK_INT(engine_equity(h.engine, ALICE), equity);
    quote(&h, BTCUSDT, 400000 * USDT, BTC, 400000 * USDT, BTC);
    struct order back = order_of(ORDER_BUY, ORDER_MARKET, 3 * BTC / 20);
    back.reduce_only = true;
    sees(rested(back), ORDER_FILLED, ORDER_OK);
    CHECK_INT(held(ALICE)->qty, 0);
    CHECK_INT(borrowed(ALICE), 0);
    harness_close(&h);
}

static void test_dividend(void)
{
    open_quoted();
    hold(2 * BTC);
    int64_t money = cash(&h, ALICE), equity = engine_equity(h.engine, ALICE);
    CHECK_INT(act("d1", ACTION_DIVIDEND, 240000001, 0, h.now_ns + 1), 0); /* 0.240000001 a share */
    CHECK_INT(cash(&h, ALICE), money + 48000000);
    CHECK_INT(engine_equity(h.engine, ALICE), equity + 48000000);
    CHECK_STR(h.last_alert, "DIVIDEND");
    CHECK_INT(act("d1", ACTION_DIVIDEND, 240000001, 0, h.now_ns + 1), 0);
    CHECK_INT(cash(&h, ALICE), money + 48000000);
    CHECK_INT(act("d2", ACTION_DIVIDEND, 5, 0, START_NS), 0); /* no account held anything then */
    CHECK_INT(cash(&h, ALICE), money + 48000000);
    CHECK_INT(h.actions, 2);
    harness_close(&h);

    open_short(100000 * USDT);
    money = cash(&h, ALICE);
    CHECK_INT(act("d1", ACTION_DIVIDEND, 1000000001, 0, h.now_ns + 1), 0);
    CHECK_INT(cash(&h, ALICE), money - USDT - 1); /* down: more is paid */
    int64_t free = cash(&h, ALICE);
    equity = engine_equity(h.engine, ALICE);
    CHECK_INT(act("d2", ACTION_DIVIDEND, 200000 * INT64_C(1000000000), 0, h.now_ns + 1), 0);
    CHECK_INT(cash(&h, ALICE), 0);
    CHECK_INT(engine_account(h.engine, ALICE)->unpaid_interest, 200000 * USDT - free);
    CHECK_INT(engine_equity(h.engine, ALICE), equity - 200000 * USDT);
    harness_close(&h);
}

/* Fractions, what rounds to nothing, what came after, what makes no sense. */
static void test_edges(void)
{
    open_quoted();
    hold(1001000);
    split("a", 1, 7);
    CHECK_INT(held(ALICE)->qty, 143000);
    split("b", 1, 9);
    CHECK_INT(held(ALICE)->qty, 15888); /* and eight ninths of a unit are left out */
    CHECK(strstr(h.last_alert_text, "fractions are left out") != NULL);
    int64_t cost = held(ALICE)->cost;
    struct order request = stop(ORDER_SELL, 15000, 3700000 * USDT);
    request.reduce_only = true;
    rested(request);
    split("c", 1, 1000000);
    CHECK_INT(held(ALICE)->qty, 0);
    CHECK_INT(held(ALICE)->realized, -cost);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);

    open_quoted();
    hold(BTC);
    int64_t ex_ns = h.now_ns + HOUR_NS;
    h.now_ns = ex_ns + HOUR_NS;
    uint64_t young = rested(limit(ORDER_BUY, BTC, 20000 * USDT));
    quote(&h, BTCUSDT, 29999 * USDT, 2 * BTC, 30000 * USDT, 100 * BTC);
    rested(order_of(ORDER_BUY, ORDER_MARKET, BTC));
    CHECK_INT(act("late", ACTION_SPLIT, 2, 1, ex_ns), 0);
    CHECK_INT(held(ALICE)->qty, 3 * BTC); /* what was bought since is in new shares already */
    CHECK_INT(reported(&h, young)->qty, BTC);
    CHECK_INT(held(ALICE)->cost, held(ALICE)->fifo_cost);
    CHECK_INT(act("x", ACTION_SPLIT, 0, 1, ex_ns), -EINVAL);
    CHECK_INT(act("x", ACTION_SPLIT, 1, -1, ex_ns), -EINVAL);
    CHECK_INT(act("x", ACTION_SPLIT, 2000000000, 1, ex_ns), -EINVAL);
    CHECK_INT(act("x", ACTION_DIVIDEND, 0, 0, ex_ns), -EINVAL);
    CHECK_INT(act("", ACTION_SPLIT, 2, 1, ex_ns), -EINVAL);
    split("too much", 1000000000, 1);
    split("too much again", 1000000000, 1);
    CHECK_STR(h.last_alert, "ACTION_REFUSED");
    harness_close(&h);
}

/* Past bars are divided, and indicators are what they are of a series that was never split. */
static void test_indicators(void)
{
    static double values[2][8];
    size_t n[2];
    for (int whole = 0; whole < 2; whole++) {
        const char *names[8];
        harness_init(&h);
        h.accounts[ALICE].strategy = strategy_find("sma-cross-rsi");
        strategy_defaults(h.accounts[ALICE].strategy, h.accounts[ALICE].params);
        strategy_set(h.accounts[ALICE].strategy, h.accounts[ALICE].params, "fast", "3", NULL);
        strategy_set(h.accounts[ALICE].strategy, h.accounts[ALICE].params, "slow", "6", NULL);
        harness_open(&h);
        for (int i = 0; i < 60; i++) {
            int64_t price = (50000 + i * i % 17 * 40) * USDT;
            struct bar bar = flat_bar(h.now_ns, whole || i >= 40 ? price / 4 : price);
            if (!whole && i == 40)
                split("s", 4, 1);
            h.now_ns += MINUTE_NS;
            kline(&h, BTCUSDT, &bar);
        }
        n[whole] = engine_indicators(h.engine, ALICE, BTCUSDT, names, values[whole], 8);
        harness_close(&h);
    }
    CHECK(n[0] == n[1] && n[0] >= 3);
    for (size_t i = 0; i < n[0]; i++)
        CHECK(values[0][i] == values[1][i]);
}

static void random_orders(struct random *random, int account)
{
    for (int i = (int)random_between(random, 0, 6); i > 0; i--) {
        struct order request = order_of(random_chance(random, 50) ? ORDER_BUY : ORDER_SELL,
                                        (enum order_type)random_between(random, ORDER_LIMIT, ORDER_TYPES - 1),
                                        random_between(random, 1, 30000) * 1000);
        request.account = account;
        request.price = request.stop_price = random_between(random, 4000000, 8000000) * (USDT / 100);
        request.trail =
            request.type == ORDER_TRAILING_STOP ? random_between(random, 1, 100000) * (USDT / 100) : 0;
        if (request.type == ORDER_TRAILING_STOP)
            request.stop_price = 0;
        if (!order_has_limit(request.type))
            request.price = 0;
        request.reduce_only = random_chance(random, 30);
        ask(&h, request);
    }
    if (random_chance(random, 50)) {
        struct order legs[] = {limit(ORDER_BUY, 10000000, 59000 * USDT), limit(ORDER_SELL, 0, 61000 * USDT),
                               stop(ORDER_SELL, 0, 50000 * USDT)};
        for (int i = 0; i < 3; i++)
            legs[i].account = account;
        group(&h, ORDERS_BRACKET, legs, 3);
    }
}

static void digest(uint8_t ret[static LEDGER_HASH_SIZE])
{
    CHECK_INT(engine_digest(h.engine, ret), 0);
}

static int64_t lots_sum(int account)
{
    const struct lots *lots = &engine_account(h.engine, account)->lots[BTCUSDT];
    int64_t qty = 0, cost = 0;
    for (uint32_t i = lots->first; i < lots->n; i++) {
        CHECK(lots->lots[i].qty > 0);
        qty += lots->lots[i].qty;
        cost += lots->lots[i].cost;
    }
    CHECK_INT(cost, held(account)->fifo_cost);
    return qty;
}

static void test_properties(struct random *random)
{
    static const int64_t ratios[][2] = {{4, 1}, {1, 10},  {3, 2}, {7, 1},
                                        {1, 3}, {21, 20}, {1, 1}, {997, 1000}};
    int splits = 0, concerned = 0;
    for (int round = 0; round < 60; round++) {
        harness_init(&h);
        for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
            h.accounts[a].cash = 1000000 * USDT;
            h.accounts[a].rules.shorts = a == BOB;
            h.accounts[a].rules.collateral_e4 = h.accounts[a].rules.maintenance_e4 = 10000;
        }
        harness_open(&h);
        quote(&h, BTCUSDT, 59999 * USDT, 100 * BTC, 60000 * USDT, 100 * BTC);
        trade(&h, BTCUSDT, 60000 * USDT, BTC);
        for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
            for (int k = 0; k < 3; k++) {
                order(&h, a, BTCUSDT, a == BOB && random_chance(random, 70) ? ORDER_SELL : ORDER_BUY,
                      ORDER_MARKET, random_between(random, 1000, 100000) * 1000, 0);
                pass(&h, SECOND_NS);
            }
            random_orders(random, a);
        }
        pass(&h, random_chance(random, 50) ? SECOND_NS : 0);
        trade(&h, BTCUSDT, random_between(random, 5950000, 6050000) * (USDT / 100), BTC / 8);
        for (int k = 0; k < 4; k++) {
            const int64_t *ratio = ratios[random_between(random, 0, 7)];
            struct position before[HARNESS_ACCOUNTS];
            int64_t equity[HARNESS_ACCOUNTS], price = last(), left = 0;
            for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
                before[a] = *held(a);
                equity[a] = engine_equity(h.engine, a);
            }
            for (size_t i = 0; i < engine_orders(h.engine); i++)
                left += engine_order(h.engine, i)->qty > engine_order(h.engine, i)->filled;
            char id[16];
            snprintf(id, sizeof id, "s%d", k);
            uint64_t fills = h.fills;
            split(id, ratio[0], ratio[1]);
            splits++;
            concerned += (int)left;
            CHECK_INT(h.fills, fills);
            CHECK_INT(last(), (price * ratio[1] + ratio[0] / 2) / ratio[0]);
            for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
                int64_t qty = before[a].qty < 0 ? -before[a].qty : before[a].qty;
                int64_t after = held(a)->qty < 0 ? -held(a)->qty : held(a)->qty;
                CHECK_INT(after, (int64_t)((int128_t)qty * ratio[0] / ratio[1]));
                CHECK_INT(lots_sum(a), after);
                CHECK(held(a)->cost == before[a].cost && held(a)->realized == before[a].realized);
                CHECK_INT(borrowed(a), held(a)->qty < 0 ? after : 0);
                /* A unit of quantity at the price, and half a unit of price for each of them. */
                int64_t most = last() / E8 + after / E8 / 2 + 3,
                        moved = engine_equity(h.engine, a) - equity[a];
                CHECK(moved <= most && moved >= -most);
            }
            uint8_t twice[LEDGER_HASH_SIZE];
            uint64_t rows = h.rows;
            split(id, ratio[0], ratio[1]);
            CHECK_INT(h.rows, rows);
            digest(twice);
            struct codec state = {0};
            codec_save(&state);
            CHECK_INT(engine_save(h.engine, &state), 0);
            struct engine *copy = NULL;
            char err[ENGINE_ERROR_MAX];
            static const struct engine_sink no_sink;
            uint8_t loaded[LEDGER_HASH_SIZE];
            CHECK_INT(engine_load(state.bytes, state.len, &no_sink, NULL, &copy, err), 0);
            CHECK(copy && engine_digest(copy, loaded) == 0 && memcmp(loaded, twice, sizeof loaded) == 0);
            engine_destroy(copy);
            codec_finish(&state);
            quote(&h, BTCUSDT, last() - last() / 1000, 100 * BTC, last() + last() / 1000, 100 * BTC);
            pass(&h, SECOND_NS);
            trade(&h, BTCUSDT, last() + random_between(random, -50, 50) * (last() / 2000), BTC / 8);
        }
        harness_close(&h);
    }
    printf("engine/actions: %d splits, %d orders concerned\n", splits, concerned);
    CHECK(concerned > 100);
}

int main(void)
{
    struct random random = random_seeded("engine/actions", 20261122);
    test_long();
    test_short();
    test_dividend();
    test_edges();
    test_indicators();
    test_properties(&random);
    return check_done("engine/actions");
}
