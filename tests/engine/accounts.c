/* Account commands, with numbers computed by hand: creation, deposits, withdrawals, transfers, resets. */
#include "engine/core.h"
#include "tests/engine/harness.h"

enum { CAROL = HARNESS_ACCOUNTS };

static const int64_t USDT = E8;

static enum order_reason money(struct harness *h, enum command_kind kind, int account, int to, int64_t amount)
{
    command(h,
            (struct event_command){.kind = kind, .money = {.account = account, .to = to, .amount = amount}});
    return h->command_reason;
}

static enum order_reason deposit(struct harness *h, int account, int64_t amount)
{
    return money(h, COMMAND_ACCOUNT_DEPOSIT, account, 0, amount);
}

static const struct balance *balance(const struct harness *h, int account, const char *asset)
{
    const struct account *of = engine_account(h->engine, account);
    for (int i = 0; i < of->n_assets; i++)
        if (strcmp(of->assets[i].asset, asset) == 0)
            return &of->assets[i];
    CHECK(!"a balance");
    return &of->assets[0];
}

static int64_t total(const struct harness *h, int account, const char *asset)
{
    return balance(h, account, asset)->total;
}

static void open_with_market(struct harness *h)
{
    harness_init(h);
    harness_open(h);
    quote(h, BTCUSDT, 60000 * E8, 5 * E8, 60000 * E8 + E8 / 100, 5 * E8);
    trade(h, BTCUSDT, 60000 * E8, E8);
}

/* Bought at 60000.01 and filled after the latency. */
static void buy(struct harness *h, int account, int64_t qty)
{
    order(h, account, BTCUSDT, ORDER_BUY, ORDER_MARKET, qty, 0);
    CHECK_INT(h->command_reason, ORDER_OK);
    pass(h, SECOND_NS);
}

static void test_deposits(void)
{
    static struct harness h;
    open_with_market(&h);
    uint64_t rows = h.rows;
    CHECK_INT(deposit(&h, ALICE, 2500 * USDT), ORDER_OK);
    CHECK_INT(total(&h, ALICE, "USDT"), 12500 * USDT);
    CHECK_INT(engine_account(h.engine, ALICE)->deposits, 12500 * USDT);
    CHECK_INT(deposit(&h, ALICE, -500 * USDT), ORDER_OK);
    CHECK_INT(total(&h, ALICE, "USDT"), 12000 * USDT);
    CHECK_INT(h.rows, rows + 2);
    CHECK_INT(h.last_equity[ALICE].equity, 12000 * USDT);
    CHECK_INT(h.last_equity[ALICE].peak, 12000 * USDT);

    /* Not what orders hold, not nothing, not more than there can be. */
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10, 50000 * E8);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 5005 * USDT);
    CHECK_INT(deposit(&h, ALICE, -(6995 * USDT + 1)), ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(deposit(&h, ALICE, 0), ORDER_BAD_ACCOUNT);
    CHECK_INT(deposit(&h, ALICE, INT64_MAX), ORDER_BAD_ACCOUNT);
    CHECK_INT(deposit(&h, ALICE, INT64_MIN), ORDER_BAD_ACCOUNT);
    CHECK_INT(deposit(&h, -1, USDT), ORDER_UNKNOWN_ACCOUNT);
    CHECK_INT(deposit(&h, CAROL, USDT), ORDER_UNKNOWN_ACCOUNT);
    CHECK_INT(h.rows, rows + 2);
    CHECK_INT(deposit(&h, ALICE, -6995 * USDT), ORDER_OK);
    CHECK_INT(total(&h, ALICE, "USDT"), 5005 * USDT);

    /* All of it: the account continues, and is not opened again. */
    cancel(&h, engine_order(h.engine, 0)->id);
    pass(&h, SECOND_NS);
    CHECK_INT(deposit(&h, ALICE, -5005 * USDT), ORDER_OK);
    CHECK_INT(engine_account(h.engine, ALICE)->deposits, 0);
    CHECK_INT(engine_equity(h.engine, ALICE), 0);
    CHECK_INT(engine_account(h.engine, ALICE)->equity_peak, 0);
    CHECK_INT(engine_start(h.engine, h.now_ns), 0);
    CHECK_INT(total(&h, ALICE, "USDT"), 0);
    CHECK_INT(deposit(&h, ALICE, 70 * USDT), ORDER_OK);
    CHECK_INT(engine_account(h.engine, ALICE)->equity_peak, 70 * USDT);
    harness_close(&h);
}

/* 4000 of 10000 are not settled, and an order holds 5005 of the settled 6000: 995 are left. */
static void test_unsettled(void)
{
    static struct harness h;
    open_with_market(&h);
    struct account *alice = &h.engine->accounts[ALICE];
    alice->rules.settlement = SETTLEMENT_STRICT;
    alice->memory.n_settling = 1;
    alice->memory.settling[0] =
        (struct settling){.at_ns = h.now_ns + 3600 * SECOND_NS, .amount = 4000 * USDT};
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10, 50000 * E8);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 5005 * USDT);
    CHECK_INT(deposit(&h, ALICE, -(4995 * USDT + 1)), ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(deposit(&h, ALICE, -(995 * USDT + 1)), ORDER_UNSETTLED_CASH);
    CHECK_INT(deposit(&h, ALICE, -995 * USDT), ORDER_OK);

    /* Unsettled cash that may buy can pay for the order. */
    alice->rules.settlement = SETTLEMENT_BY_DATE;
    CHECK_INT(deposit(&h, ALICE, -4000 * USDT), ORDER_OK);
    CHECK_INT(deposit(&h, ALICE, -1), ORDER_INSUFFICIENT_BALANCE);
    harness_close(&h);
}

/* What was bought with unsettled cash is sold in three fills: one violation of good faith. */
static void test_good_faith_once_a_sale(void)
{
    static struct harness h;
    harness_init(&h);
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 5 * E8, 60000 * E8, 5 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    struct account *alice = &h.engine->accounts[ALICE];
    alice->rules.settlement = SETTLEMENT_BY_DATE;
    struct order sale = {.side = ORDER_SELL};
    alice->days[BTCUSDT].funded_ns = h.engine->now_ns + 3600 * SECOND_NS;
    for (int i = 1; i <= 3; i++) {
        struct fill fill = {.account = ALICE, .symbol = BTCUSDT, .side = ORDER_SELL, .qty = E8 / 10};
        sale.filled += fill.qty;
        engine_settle_trade(h.engine, &sale, &fill);
    }
    CHECK_INT(alice->memory.violations, 1);
    harness_close(&h);
}

/* 0.1 BTC bought at 60000.01 and worth 5000 at 50000: 10 % are lost. Money added and taken away afterwards
 * changes neither that nor the day's loss. */
static void test_drawdown_of_trading_only(void)
{
    static struct harness h;
    harness_init(&h);
    h.accounts[ALICE].rules.fees = (struct fee_rates){0};
    h.risk.daily_loss = 0.2;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 5 * E8, 60000 * E8, 5 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    buy(&h, ALICE, E8 / 10);
    trade(&h, BTCUSDT, 50000 * E8, E8);
    CHECK_INT(engine_equity(h.engine, ALICE), 9000 * USDT);
    CHECK_INT(deposit(&h, ALICE, 9000 * USDT), ORDER_OK);
    const struct account *alice = engine_account(h.engine, ALICE);
    CHECK_INT(alice->equity, 18000 * USDT);
    CHECK_INT(alice->equity_peak, 20000 * USDT);
    CHECK_INT(alice->day_equity, 20000 * USDT);
    CHECK_INT(h.last_equity[ALICE].equity, 18000 * USDT);
    CHECK_INT(h.last_equity[ALICE].peak, 20000 * USDT);
    CHECK_INT(deposit(&h, ALICE, -12000 * USDT), ORDER_OK);
    CHECK_INT(alice->equity, 6000 * USDT);
    CHECK_INT(alice->equity_peak, 6666 * USDT + 66666666); /* rounded down */
    CHECK_INT(alice->day_equity, 6666 * USDT + 66666666);
    CHECK(!engine_account_daily_loss(h.engine, ALICE));
    trade(&h, BTCUSDT, 40000 * E8, E8);
    CHECK_INT(engine_equity(h.engine, ALICE), 5000 * USDT);
    CHECK(engine_account_daily_loss(h.engine, ALICE)); /* 25 % */
    harness_close(&h);
}

static int64_t day_pnl(const struct harness *h, int account)
{
    return engine_equity(h->engine, account) - engine_day_base(h->engine, account);
}

/* 0.1 BTC bought at 60000.01 for 10000 in all, and worth 5000: 1000 are lost, whatever is moved before or
 * after, and whatever its equity is then. */
static void test_day_of_trading_only(void)
{
    static struct harness h;
    harness_init(&h);
    h.accounts[ALICE].rules.fees = (struct fee_rates){0};
    harness_open(&h);
    CHECK_INT(day_pnl(&h, ALICE), 0); /* what it was opened with is no gain */
    quote(&h, BTCUSDT, 60000 * E8, 5 * E8, 60000 * E8, 5 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    buy(&h, ALICE, E8 / 10);
    CHECK_INT(deposit(&h, ALICE, 4000 * USDT), ORDER_OK);
    CHECK_INT(day_pnl(&h, ALICE), 0);
    trade(&h, BTCUSDT, 50000 * E8, E8);
    CHECK_INT(day_pnl(&h, ALICE), -1000 * USDT);
    CHECK_INT(deposit(&h, ALICE, 90000 * USDT), ORDER_OK);
    CHECK_INT(day_pnl(&h, ALICE), -1000 * USDT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, 50000 * USDT), ORDER_OK);
    CHECK_INT(day_pnl(&h, ALICE), -1000 * USDT);
    CHECK_INT(day_pnl(&h, BOB), 0);
    CHECK_INT(deposit(&h, ALICE, -48000 * USDT), ORDER_OK); /* all its cash: 5000 in BTC are left */
    CHECK_INT(day_pnl(&h, ALICE), -1000 * USDT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, ALICE, 0, 700 * USDT), ORDER_OK);
    CHECK_INT(day_pnl(&h, ALICE), -1000 * USDT);

    /* A day later all is of the day before, also before anything is valued; what is moved then is no gain
     * either. */
    buy(&h, BOB, E8 / 10);
    CHECK_INT(deposit(&h, BOB, 1), ORDER_OK);
    pass(&h, 86400 * SECOND_NS);
    CHECK_INT(day_pnl(&h, ALICE), 0);
    CHECK_INT(day_pnl(&h, BOB), 0);
    trade(&h, BTCUSDT, 51000 * E8, E8);
    CHECK_INT(day_pnl(&h, BOB), 100 * USDT);
    CHECK_INT(deposit(&h, BOB, -7 * USDT), ORDER_OK);
    CHECK_INT(day_pnl(&h, BOB), 100 * USDT);
    CHECK_INT(engine_day_base(h.engine, ALICE), 700 * USDT);
    harness_close(&h);
}

static void test_transfers(void)
{
    static struct harness h;
    open_with_market(&h);
    uint64_t rows = h.rows;
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, 4000 * USDT), ORDER_OK);
    CHECK_INT(h.rows, rows + 2);
    CHECK_INT(total(&h, ALICE, "USDT"), 6000 * USDT);
    CHECK_INT(total(&h, BOB, "USDT"), 14000 * USDT);
    CHECK_INT(engine_account(h.engine, ALICE)->deposits, 6000 * USDT);
    CHECK_INT(engine_account(h.engine, BOB)->deposits, 14000 * USDT);
    CHECK_INT(h.last_equity[ALICE].peak, 6000 * USDT);
    CHECK_INT(h.last_equity[BOB].peak, 14000 * USDT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, 6000 * USDT + 1), ORDER_INSUFFICIENT_BALANCE);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, -1), ORDER_BAD_ACCOUNT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, 0), ORDER_BAD_ACCOUNT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, ALICE, 1), ORDER_BAD_ACCOUNT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, 7, 1), ORDER_UNKNOWN_ACCOUNT);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, -7, ALICE, 1), ORDER_UNKNOWN_ACCOUNT);
    CHECK_INT(h.rows, rows + 2);
    harness_close(&h);
}

static struct account_spec spec(const char *name, const char *currency, int64_t cash)
{
    struct account_spec spec = {.currency_scale = 8, .cash = cash, .rules = {.fees = {1000, 1000}}};
    snprintf(spec.name, sizeof spec.name, "%s", name);
    snprintf(spec.currency, sizeof spec.currency, "%s", currency);
    return spec;
}

static enum order_reason create(struct harness *h, const struct account_spec *spec)
{
    if (engine_accounts(h->engine) < HARNESS_ACCOUNTS_MAX)
        h->accounts[engine_accounts(h->engine)] = *spec;
    command(h, (struct event_command){.kind = COMMAND_ACCOUNT_CREATE, .account = *spec});
    return h->command_reason;
}

static void expect_refused(struct harness *h, struct account_spec what)
{
    int n = engine_accounts(h->engine);
    uint64_t rows = h->rows;
    CHECK_INT(create(h, &what), ORDER_BAD_ACCOUNT);
    CHECK_INT(engine_accounts(h->engine), n);
    CHECK_INT(h->rows, rows);
}

static int reported_account;
static uint64_t reported_at_row;

static void on_account(void *ctx, int account)
{
    const struct harness *h = ctx;
    reported_account = account;
    reported_at_row = h->rows;
}

static void test_create(void)
{
    static struct harness h;
    open_with_market(&h);
    h.engine->sink.account = on_account;
    struct account_spec carol = spec("carol", "USDT", 500 * USDT);
    CHECK_INT(create(&h, &carol), ORDER_OK);
    CHECK_INT(reported_account, CAROL);
    CHECK_INT(reported_at_row, h.rows - 1); /* before its first row */
    CHECK_INT(engine_accounts(h.engine), 3);
    CHECK_INT(engine_find_account(h.engine, "carol"), CAROL);
    CHECK_STR(engine_account_spec(h.engine, CAROL)->name, "carol");
    CHECK_INT(total(&h, CAROL, "USDT"), 500 * USDT);
    CHECK_INT(h.last_equity[CAROL].equity, 500 * USDT);
    buy(&h, CAROL, E8 / 1000);
    CHECK_INT(engine_account(h.engine, CAROL)->positions[BTCUSDT].qty, E8 / 1000);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, CAROL, 1000 * USDT), ORDER_OK);

    struct account_spec other = spec("in-btc", "BTC", 0); /* nothing is deposited */
    CHECK_INT(create(&h, &other), ORDER_OK);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, CAROL + 1, USDT), ORDER_BAD_ACCOUNT);

    expect_refused(&h, spec("carol", "USDT", USDT));
    expect_refused(&h, spec("", "USDT", USDT));
    expect_refused(&h, spec("two words", "USDT", USDT));
    expect_refused(&h, spec("dan", "EUR", USDT));
    expect_refused(&h, spec("dan", "ETH", USDT)); /* no symbol is quoted in it */
    expect_refused(&h, spec("dan", "USDT", -1));
    struct account_spec dan = spec("dan", "USDT", USDT);
    dan.currency_scale = 6;
    expect_refused(&h, dan);
    dan.currency_scale = 8;
    memset(dan.name, 'd', sizeof dan.name);
    expect_refused(&h, dan);
    dan = spec("dan", "USDT", USDT);
    dan.rules.fees.taker_e6 = 1000001;
    expect_refused(&h, dan);
    dan.rules.fees.taker_e6 = 0;
    dan.rules.risk.exposure_symbol = NAN;
    expect_refused(&h, dan);
    dan.rules.risk.exposure_symbol = 0;
    dan.rules.shorts = true;
    dan.rules.collateral_e4 = dan.rules.maintenance_e4 = 9999;
    expect_refused(&h, dan);
    dan.rules.collateral_e4 = 12500;
    dan.rules.maintenance_e4 = 12501;
    expect_refused(&h, dan);
    dan.rules.shorts = false;
    dan.rules.borrow_rate_e6 = -1;
    expect_refused(&h, dan);
    dan.rules.borrow_rate_e6 = 0;
    dan.strategy = strategy_find("sma-cross-rsi");
    strategy_defaults(dan.strategy, dan.params);
    dan.params[0] = 1.5; /* a number of bars */
    expect_refused(&h, dan);
    dan.params[0] = 1e9;
    expect_refused(&h, dan);
    strategy_defaults(dan.strategy, dan.params);
    CHECK_INT(create(&h, &dan), ORDER_OK);
    harness_close(&h);
}

/* A strategy that joins late knows what one that was there all along knows. */
static void test_created_strategy_is_warm(void)
{
    static struct harness h;
    harness_init(&h);
    h.accounts[BOB].strategy = strategy_find("sma-cross-rsi");
    strategy_defaults(h.accounts[BOB].strategy, h.accounts[BOB].params);
    harness_open(&h);
    for (int i = 0; i < 1200; i++) { /* more than are kept */
        h.now_ns += MINUTE_NS;
        struct bar bar = flat_bar(START_NS + i * MINUTE_NS, (60000 + i % 7 * 10 + i % 31) * E8);
        kline(&h, BTCUSDT, &bar);
    }
    struct account_spec carol = h.accounts[BOB];
    snprintf(carol.name, sizeof carol.name, "carol");
    uint64_t orders = engine_counters(h.engine)->orders;
    CHECK_INT(create(&h, &carol), ORDER_OK);
    CHECK_INT(engine_counters(h.engine)->orders, orders); /* history is only looked at */
    enum { MOST = 16 };
    const char *names[MOST], *known_names[MOST];
    double values[MOST], known[MOST];
    size_t n = engine_indicators(h.engine, CAROL, BTCUSDT, names, values, MOST);
    CHECK(n > 0);
    CHECK_INT(engine_indicators(h.engine, BOB, BTCUSDT, known_names, known, MOST), n);
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(names[i], known_names[i]);
        CHECK_NEAR(values[i], known[i], 1e-9 * fabs(known[i]));
    }
    harness_close(&h);
}

/* Its day begins with its deposit, also where its strategy was shown history before: a day's loss stops it.
 */
static void test_created_strategy_loses(void)
{
    static struct harness h;
    open_with_market(&h);
    struct bar bar = flat_bar(START_NS, 60000 * E8);
    h.now_ns = START_NS + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
    struct account_spec carol = spec("carol", "USDT", 1000 * USDT);
    carol.strategy = strategy_find("buy-and-hold");
    strategy_defaults(carol.strategy, carol.params);
    carol.rules.fees.taker_e6 = 100000;
    carol.rules.risk.daily_loss = 0.05;
    CHECK_INT(create(&h, &carol), ORDER_OK);
    CHECK_INT(h.engine->accounts[CAROL].day_equity, 1000 * USDT);
    buy(&h, CAROL, E8 / 200);
    CHECK(!engine_account_daily_loss(h.engine, CAROL));
    buy(&h, CAROL, E8 / 200);
    CHECK(engine_account_daily_loss(h.engine, CAROL));
    order(&h, CAROL, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 1000, 0);
    CHECK_INT(h.command_reason, ORDER_RISK_DAILY_LOSS);
    harness_close(&h);
}

static void test_reset(void)
{
    static struct harness h;
    open_with_market(&h);
    buy(&h, ALICE, E8 / 20);
    uint64_t resting = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, E8 / 50, 70000 * E8);
    uint64_t stop = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, E8 / 50, 50000 * E8);
    pass(&h, SECOND_NS);
    uint64_t sent = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 50, 0);
    uint64_t bobs = order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 50, 50000 * E8);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, ALICE, 0, -1), ORDER_BAD_ACCOUNT);
    CHECK_INT(engine_orders(h.engine), 4);
    uint64_t rows = h.rows, fills = h.fills;
    h.engine->sink.account = on_account;
    reported_account = -1;
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, ALICE, 0, 700 * USDT), ORDER_OK);
    CHECK_INT(reported_account, ALICE);
    CHECK_INT(reported_at_row, h.rows); /* after its last one */
    CHECK_INT(engine_orders(h.engine), 1);
    CHECK_INT(reported(&h, bobs)->state, ORDER_PENDING);
    CHECK_INT(reported(&h, resting)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, stop)->state, ORDER_CANCELED);
    CHECK_INT(reported(&h, sent)->state, ORDER_CANCELED);
    CHECK_INT(h.rows, rows + 3); /* USDT, BTC, the deposit */
    const struct account *alice = engine_account(h.engine, ALICE);
    CHECK_INT(total(&h, ALICE, "USDT"), 700 * USDT);
    CHECK_INT(total(&h, ALICE, "BTC"), 0);
    CHECK_INT(alice->positions[BTCUSDT].fees, 0);
    CHECK_INT(alice->positions[BTCUSDT].realized, 0);
    CHECK_INT(alice->lots[BTCUSDT].n, 0);
    CHECK_INT(alice->deposits, 700 * USDT);
    CHECK_INT(alice->equity_peak, 700 * USDT);
    CHECK_INT(alice->day_equity, 700 * USDT);
    CHECK_INT(alice->opening_cash, 700 * USDT);
    CHECK_INT(engine_account_spec(h.engine, ALICE)->cash, 700 * USDT);
    CHECK_INT(h.last_equity[ALICE].peak, 700 * USDT);
    pass(&h, SECOND_NS);
    CHECK_INT(h.fills, fills); /* nothing of before fills any more */

    /* Once more: nothing is held beside the currency; and with nothing at all its row is still there. */
    rows = h.rows;
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, ALICE, 0, 0), ORDER_OK);
    CHECK_INT(h.rows, rows + 1);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, ALICE, 0, 0), ORDER_OK);
    CHECK_INT(h.rows, rows + 2);
    CHECK_INT(engine_equity(h.engine, ALICE), 0);
    harness_close(&h);
}

/* Money without end: what can no longer be computed is not bought. */
static void test_largest(void)
{
    static struct harness h;
    const int64_t most = INT64_MAX / 4;
    harness_init(&h);
    h.accounts[ALICE].rules.fees = (struct fee_rates){0};
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        h.symbols[s].filters = (struct symbol_filters){0};
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, most / 10, 60000 * E8, most / 10);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    int bought = 0;
    for (int i = 0; i < 6; i++) {
        CHECK_INT(deposit(&h, ALICE, most - total(&h, ALICE, "USDT")), ORDER_OK);
        CHECK_INT(deposit(&h, ALICE, 1), ORDER_BAD_ACCOUNT);
        uint64_t fills = h.fills;
        order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, most / 60000 / 2, 0);
        CHECK_INT(h.command_reason, ORDER_OK);
        pass(&h, SECOND_NS);
        bought += h.fills > fills;
        if (total(&h, ALICE, "USDT") == most)
            break;
    }
    CHECK_INT(bought, 2); /* each a little less than half of the most that a position may cost */
    harness_close(&h);
}

/* As many as there can be; each its own. */
static void test_a_thousand(void)
{
    static struct harness h;
    harness_init(&h);
    struct engine_sink sink = {0};
    CHECK_INT(engine_create(&h.config, &sink, &h.engine), 0);
    CHECK_INT(engine_start(h.engine, h.now_ns), 0);
    for (int a = HARNESS_ACCOUNTS; a <= ACCOUNTS_MAX; a++) {
        char name[ACCOUNT_NAME_MAX];
        snprintf(name, sizeof name, "account-%d", a);
        struct event event = {.kind = EVENT_COMMAND,
                              .seq = ++h.seq,
                              .recv_ns = h.now_ns,
                              .command = {.kind = COMMAND_ACCOUNT_CREATE, .account = spec(name, "USDT", a)}};
        CHECK_INT(engine_handle(h.engine, &event), 0);
    }
    CHECK_INT(engine_accounts(h.engine), ACCOUNTS_MAX);
    for (int a = HARNESS_ACCOUNTS; a < ACCOUNTS_MAX; a++)
        CHECK_INT(total(&h, a, "USDT"), a);
    harness_close(&h);
}

int main(void)
{
    test_deposits();
    test_unsettled();
    test_good_faith_once_a_sale();
    test_drawdown_of_trading_only();
    test_day_of_trading_only();
    test_transfers();
    test_create();
    test_created_strategy_is_warm();
    test_created_strategy_loses();
    test_reset();
    test_largest();
    test_a_thousand();
    return check_done("engine/accounts");
}
