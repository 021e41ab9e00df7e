/* Stopped in the middle and restored into a new engine: from the first market data on, both go the same way.
 */
#include "engine/core.h"
#include "tests/engine/random_orders.h"

enum { BEFORE = 3000, AFTER = 3000 };

static void configure(struct harness *h)
{
    harness_init(h);
    h->risk = (struct risk_limits){.exposure_symbol = 0.9, .daily_loss = 0.5};
    h->config.n_symbols = 2;
}

/* What a database would hand back. */
static void restore(struct harness *to, const struct harness *from)
{
    configure(to);
    to->now_ns = from->now_ns;
    to->seq = from->seq;
    to->next_quote_id = from->next_quote_id;
    memcpy(to->next_trade_id, from->next_trade_id, sizeof to->next_trade_id);
    memcpy(to->ledger_sum, from->ledger_sum, sizeof to->ledger_sum);
    memcpy(to->naive, from->naive, sizeof to->naive);
    memcpy(to->position, from->position, sizeof to->position);
    memcpy(to->orders, from->orders, RECORDED_ORDERS * sizeof *to->orders);
    memcpy(to->hash, from->hash, sizeof to->hash);
    to->rows = from->rows;
    to->fills = from->fills;
    harness_create(to);
    for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
        const struct account *account = engine_account(from->engine, a);
        for (int i = 0; i < account->n_assets; i++)
            CHECK_INT(engine_restore_balance(to->engine, a, account->assets[i].asset,
                                             account->assets[i].scale, account->assets[i].total),
                      0);
        for (int s = 0; s < from->config.n_symbols; s++)
            CHECK_INT(engine_restore_position(to->engine, a, s, &account->positions[s]), 0);
        engine_restore_equity(to->engine, a, account->deposits, account->equity_peak, account->day,
                              account->day_equity);
    }
    uint64_t last_order = 0;
    while (last_order + 1 < RECORDED_ORDERS && from->orders[last_order + 1].order.id)
        last_order++;
    for (size_t i = 0; i < engine_orders(from->engine); i++)
        CHECK_INT(engine_restore_order(to->engine, engine_order(from->engine, i)), 0);
    engine_restore_ids(to->engine, last_order, from->fills, from->rows, from->hash);
    engine_restore_paused(to->engine, engine_paused(from->engine));
    CHECK_INT(engine_start(to->engine, to->now_ns), 0);
}

static void step(struct harness *h, struct small_market *markets, struct random *random)
{
    int symbol = (int)random_between(random, 0, 1);
    int64_t dice = random_between(random, 0, 99);
    h->now_ns += random_between(random, 0, 40 * MS_NS);
    if (engine_book(h->engine, symbol)->state == BOOK_SYNCING) {
        market_snapshot(h, symbol, &markets[symbol]);
    } else if (dice < 40) {
        market_trade(h, symbol, &markets[symbol], random);
    } else if (dice < 60) {
        market_quote(h, symbol, &markets[symbol]);
    } else if (dice < 85) {
        market_depth(h, symbol, &markets[symbol], random);
    } else if (dice < 97) {
        random_order(h, markets, random);
    } else if (random_chance(random, 30)) {
        random_amend(h, markets, random);
    } else if (engine_orders(h->engine) > 0) {
        cancel(h, engine_order(h->engine, random_next(random) % engine_orders(h->engine))->id);
    }
}

/* Returns how many orders were live in between. */
static size_t test_continues(uint64_t seed)
{
    static struct harness a, b;
    struct random random = {seed};
    struct small_market markets[2], again[2];
    market_init(&markets[0], 59000 * E8, 10 * E8);
    market_init(&markets[1], 2900 * E8, E8);
    configure(&a);
    harness_open(&a);
    for (int i = 0; i < BEFORE; i++)
        step(&a, markets, &random);
    pass(&a, 2 * SECOND_NS); /* nothing is on its way */
    connection(&a, true);
    size_t live = engine_orders(a.engine);
    restore(&b, &a);
    CHECK_INT(engine_orders(b.engine), live);
    harness_check(&b);
    for (int k = 0; k < HARNESS_ACCOUNTS; k++) {
        CHECK_INT(reserved(&b, k, "USDT"), reserved(&a, k, "USDT"));
        CHECK_INT(reserved(&b, k, "BTC"), reserved(&a, k, "BTC"));
        CHECK_INT(engine_account(b.engine, k)->deposits, 10000 * E8); /* not deposited again */
    }
    CHECK(memcmp(a.hash, b.hash, sizeof a.hash) == 0);
    for (int s = 0; s < 2; s++) {
        int64_t price = market_price(&markets[s], markets[s].middle);
        quote(&a, s, price / 2, 100, 2 * price, 100); /* no order crosses it */
        quote(&b, s, price / 2, 100, 2 * price, 100);
        trade(&a, s, price, 100);
        trade(&b, s, price, 100);
    }
    for (size_t i = 0; i < live; i++)
        CHECK_INT(b.engine->orders[i].reserved, a.engine->orders[i].reserved);
    memcpy(again, markets, sizeof again);
    struct random random_again = random;
    for (int i = 0; i < AFTER; i++)
        step(&a, markets, &random);
    for (int i = 0; i < AFTER; i++)
        step(&b, again, &random_again);
    CHECK(a.rows > 200 && a.rows == b.rows && a.fills == b.fills);
    CHECK(memcmp(a.hash, b.hash, sizeof a.hash) == 0);
    CHECK(memcmp(a.naive, b.naive, sizeof a.naive) == 0);
    CHECK_INT(engine_orders(a.engine), engine_orders(b.engine));
    for (int k = 0; k < HARNESS_ACCOUNTS; k++) {
        CHECK_INT(engine_equity(a.engine, k), engine_equity(b.engine, k));
        for (int s = 0; s < 2; s++) {
            const struct position *p = &engine_account(a.engine, k)->positions[s];
            const struct position *q = &engine_account(b.engine, k)->positions[s];
            CHECK(p->qty == q->qty && p->cost == q->cost && p->realized == q->realized && p->fees == q->fees);
        }
    }
    harness_close(&a);
    harness_close(&b);
    return live;
}

/* Before the first price a position counts at cost: a restart is no loss, and no new day begins with one. */
static void test_equity_before_the_first_price(void)
{
    static struct harness a, b;
    configure(&a);
    a.risk.daily_loss = 0.05;
    harness_open(&a);
    quote(&a, BTCUSDT, 59999 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&a, BTCUSDT, 60000 * E8, E8);
    order(&a, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 10, 0);
    pass(&a, SECOND_NS);
    restore(&b, &a);
    CHECK_INT(b.last_equity[ALICE].equity, 9994 * E8);
    CHECK(!engine_account_daily_loss(b.engine, ALICE));
    CHECK_INT(engine_equity(b.engine, ALICE), engine_equity(a.engine, ALICE));
    harness_close(&b);
    harness_close(&a);
}

/* On its way at the crash: it arrives in the new life. */
static void test_pending(void)
{
    static struct harness a, b;
    configure(&a);
    harness_open(&a);
    quote(&a, BTCUSDT, 59999 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&a, BTCUSDT, 60000 * E8, E8);
    uint64_t resting = order(&a, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 59000 * E8);
    uint64_t market = order(&a, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    restore(&b, &a);
    quote(&b, BTCUSDT, 60009 * E8, 10 * E8, 60010 * E8, 10 * E8);
    CHECK_INT(reported(&b, market)->state, ORDER_PENDING);
    pass(&b, SECOND_NS);
    CHECK_INT(reported(&b, market)->state, ORDER_FILLED);
    CHECK_INT(b.last_fill.price, 60010 * E8);
    CHECK_INT(reported(&b, resting)->state, ORDER_OPEN);
    harness_close(&b);
    harness_close(&a);
}

/* A reduce-only order that wants more than a younger sale leaves it takes nothing of the sale's. */
static void test_reduce_only(void)
{
    static struct harness a, b;
    configure(&a);
    harness_open(&a);
    quote(&a, BTCUSDT, 59999 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&a, BTCUSDT, 60000 * E8, E8);
    order(&a, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 10, 0);
    pass(&a, SECOND_NS);
    uint64_t protects = ask(&a, (struct order){.account = ALICE,
                                               .symbol = BTCUSDT,
                                               .side = ORDER_SELL,
                                               .type = ORDER_STOP,
                                               .qty = 6 * E8 / 100,
                                               .stop_price = 58000 * E8,
                                               .reduce_only = true});
    order(&a, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, 4 * E8 / 100, 62000 * E8);
    pass(&a, SECOND_NS);
    amend(&a, (struct order_amend){.order_id = protects, .set = AMEND_QTY, .qty = E8 / 10});
    pass(&a, SECOND_NS);
    CHECK_INT(reserved(&a, ALICE, "BTC"), E8 / 10);
    restore(&b, &a);
    CHECK_INT(reserved(&b, ALICE, "BTC"), E8 / 10);
    cancel(&b, protects);
    CHECK_INT(reserved(&b, ALICE, "BTC"), 4 * E8 / 100);
    harness_close(&b);
    harness_close(&a);
}

static void test_refused(void)
{
    static struct harness h;
    configure(&h);
    harness_create(&h);
    struct position position = {0};
    struct order order = {.id = 5, .qty = 1000, .price = E8, .type = ORDER_LIMIT, .state = ORDER_OPEN};
    CHECK_INT(engine_restore_balance(h.engine, 2, "USDT", 8, 1), -EINVAL);
    CHECK_INT(engine_restore_balance(h.engine, -1, "USDT", 8, 1), -EINVAL);
    CHECK_INT(engine_restore_balance(h.engine, 0, "USDT", 6, 1), 0); /* of a venue with another scale */
    CHECK_INT(engine_restore_balance(h.engine, 0, "LUNA", 8, 1), 0); /* of a symbol no longer traded */
    CHECK_INT(engine_restore_position(h.engine, 0, 2, &position), -EINVAL);
    CHECK_INT(engine_restore_order(h.engine, &order), 0);
    order.id = 4;
    CHECK_INT(engine_restore_order(h.engine, &order), -EINVAL); /* by ascending id */
    order.id = 6;
    order.state = ORDER_FILLED;
    CHECK_INT(engine_restore_order(h.engine, &order), -EINVAL);
    order.state = ORDER_OPEN;
    order.symbol = 2;
    CHECK_INT(engine_restore_order(h.engine, &order), -EINVAL);
    harness_close(&h);

    /* Configurations that contradict themselves. */
    configure(&h);
    struct engine_sink sink = {0};
    struct engine *engine = NULL;
    struct engine_config config = h.config;
    config.n_symbols = 0;
    CHECK_INT(engine_create(&config, &sink, &engine), -EINVAL);
    config = h.config;
    config.interval_ns = 0;
    CHECK_INT(engine_create(&config, &sink, &engine), -EINVAL);
    config = h.config;
    config.latency_ns = -1;
    CHECK_INT(engine_create(&config, &sink, &engine), -EINVAL);
    config = h.config;
    h.symbols[1].quote_scale = 6; /* USDT at two scales */
    CHECK_INT(engine_create(&config, &sink, &engine), -EINVAL);
    h.symbols[1].quote_scale = 8;
    h.symbols[0].price_scale = h.symbols[0].qty_scale = 18;
    CHECK_INT(engine_create(&config, &sink, &engine), -EINVAL);
    CHECK(!engine);
    engine_destroy(NULL);
    harness_forget(&h);
}

int main(void)
{
    struct random random = random_seeded("engine/restore", 3);
    size_t live = 0;
    for (uint64_t round = 0; round < 10; round++)
        live += test_continues(random.state + round);
    CHECK(live > 10);
    test_equity_before_the_first_price();
    test_pending();
    test_reduce_only();
    test_refused();
    return check_done("engine/restore");
}
