/* What each row of the ledger is of, and closed accounts, with numbers computed by hand. */
#include "engine/core.h"
#include "tests/engine/harness.h"

static const int64_t USDT = E8, BTC = E8;

static struct ledger_cause causes[64];
static struct ledger_accrual accruals[8];
static int n_causes, n_accruals;

static void keep_cause(void *ctx, const struct ledger_cause *cause)
{
    (void)ctx;
    if (n_causes < 64)
        causes[n_causes++] = *cause;
}

static void keep_accrual(void *ctx, const struct ledger_accrual *accrual)
{
    (void)ctx;
    if (n_accruals < 8)
        accruals[n_accruals++] = *accrual;
}

static void open_keeping(struct harness *h)
{
    harness_init(h);
    struct account_rules *rules = &h->accounts[ALICE].rules;
    rules->shorts = true;
    rules->collateral_e4 = 15000;
    rules->maintenance_e4 = 12500;
    rules->borrow_rate_e6 = 87600; /* a hundred thousandth an hour */
    harness_open(h);
    h->engine->sink.cause = keep_cause;
    h->engine->sink.accrual = keep_accrual;
    quote(h, BTCUSDT, 10000 * E8, 1000 * E8, 10000 * E8, 1000 * E8);
    trade(h, BTCUSDT, 10000 * E8, E8);
    n_causes = n_accruals = 0;
}

static enum order_reason money(struct harness *h, enum command_kind kind, int account, int to, int64_t amount)
{
    struct event_command given = {.kind = kind,
                                  .peer_uid = 1000,
                                  .key = "move-1",
                                  .money = {.account = account, .to = to, .amount = amount}};
    command(h, given);
    return h->command_reason;
}

static void check_cause(const struct ledger_cause *cause, enum ledger_cause_kind kind, int symbol,
                        bool command)
{
    CHECK_INT(cause->kind, kind);
    CHECK_INT(cause->symbol, symbol);
    CHECK_INT(cause->command != 0, command);
    CHECK_INT(cause->uid, command ? 1000 : -1);
    CHECK(strcmp(cause->key, command ? "move-1" : "") == 0);
    CHECK(cause->event > 0 && cause->id > 0 && !cause->derived);
}

static void test_money(void)
{
    static struct harness h;
    open_keeping(&h);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, 500 * USDT), ORDER_OK);
    CHECK_INT(n_causes, 2);
    check_cause(&causes[0], CAUSE_TRANSFER, -1, true);
    check_cause(&causes[1], CAUSE_TRANSFER, -1, true);
    CHECK_INT(causes[0].counterparty, BOB);
    CHECK_INT(causes[1].counterparty, ALICE);
    CHECK_INT(causes[1].id, causes[0].id + 1);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_DEPOSIT, BOB, 0, 5 * USDT), ORDER_OK);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_DEPOSIT, BOB, 0, -6 * USDT), ORDER_OK);
    check_cause(&causes[2], CAUSE_DEPOSIT, -1, true);
    check_cause(&causes[3], CAUSE_WITHDRAWAL, -1, true);
    CHECK_INT(causes[3].counterparty, -1);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_RESET, BOB, 0, 100 * USDT), ORDER_OK);
    CHECK_INT(n_causes, 6);
    check_cause(&causes[4], CAUSE_RESET, -1, true);
    check_cause(&causes[5], CAUSE_OPENING, -1, true);
    CHECK(engine_command(h.engine) == NULL);
    harness_close(&h);
}

/* A short of 1 BTC at 10000: 0.1 USDT an hour. */
static void test_interest(void)
{
    static struct harness h;
    open_keeping(&h);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(n_causes, 4); /* borrowed, both sides of the trade, the fee */
    for (int i = 0; i < n_causes; i++)
        check_cause(&causes[i], CAUSE_FILL, BTCUSDT, false);
    n_causes = 0;
    pass(&h, 3600 * SECOND_NS);
    CHECK_INT(n_causes, 1);
    check_cause(&causes[0], CAUSE_INTEREST, BTCUSDT, false);
    CHECK_INT(causes[0].qty, -BTC);
    CHECK_INT(causes[0].price, 10000 * E8);
    CHECK_INT(causes[0].base, 10000 * USDT);
    CHECK_INT(causes[0].rate_e6, 87600);
    CHECK_INT(causes[0].hours, 1);
    CHECK_INT(causes[0].due, USDT / 10);
    n_causes = 0;

    /* Without currency nothing is booked; all of it once there is some. */
    struct balance *currency = account_currency(h.engine, ALICE);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 9000 * E8);
    const int64_t had = currency->reserved;
    currency->reserved = currency->total;
    pass(&h, 3600 * SECOND_NS);
    CHECK_INT(n_causes, 0);
    CHECK_INT(n_accruals, 1);
    CHECK_INT(accruals[0].account, ALICE);
    CHECK_INT(accruals[0].cause.due, USDT / 10);
    CHECK_INT(accruals[0].cause.symbol, BTCUSDT);
    CHECK(accruals[0].cause.event > 0 && accruals[0].ts_ns > 0);
    currency->reserved = had;
    pass(&h, 3600 * SECOND_NS);
    CHECK_INT(n_causes, 2);
    check_cause(&causes[0], CAUSE_ARREARS, -1, false);
    CHECK_INT(causes[0].due, USDT / 10);
    check_cause(&causes[1], CAUSE_INTEREST, BTCUSDT, false);
    CHECK_INT(n_accruals, 1);
    harness_close(&h);
}

static void test_close(void)
{
    static struct harness h;
    open_keeping(&h);
    uint64_t resting = order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 10, 9000 * E8);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_CLOSE, BOB, 0, 0), ORDER_ACCOUNT_IN_USE);
    cancel(&h, resting);
    pass(&h, SECOND_NS);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_CLOSE, BOB, 0, 0), ORDER_ACCOUNT_IN_USE);
    order(&h, BOB, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    CHECK(engine_account_ends(h.engine, BOB));
    n_causes = 0;
    CHECK_INT(money(&h, COMMAND_ACCOUNT_CLOSE, BOB, 0, 0), ORDER_OK);
    CHECK_INT(n_causes, 1);
    check_cause(&causes[0], CAUSE_WITHDRAWAL, -1, true);
    CHECK_INT(account_currency(h.engine, BOB)->total, 0);
    CHECK(engine_account(h.engine, BOB)->closed_ns > 0);
    CHECK(engine_account_spec(h.engine, BOB)->strategy == NULL);

    /* It takes nothing, for ever. */
    static const enum command_kind kinds[] = {COMMAND_ACCOUNT_DEPOSIT, COMMAND_ACCOUNT_RESET,
                                              COMMAND_ACCOUNT_RESUME, COMMAND_ACCOUNT_CLOSE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CHECK_INT(money(&h, kinds[i], BOB, 0, USDT), ORDER_ACCOUNT_CLOSED);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, ALICE, BOB, USDT), ORDER_ACCOUNT_CLOSED);
    CHECK_INT(money(&h, COMMAND_ACCOUNT_TRANSFER, BOB, ALICE, USDT), ORDER_ACCOUNT_CLOSED);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    CHECK_INT(h.command_reason, ORDER_ACCOUNT_CLOSED);
    const int rows = n_causes;
    pass(&h, 7200 * SECOND_NS);
    CHECK_INT(n_causes, rows);
    harness_close(&h);
}

int main(void)
{
    test_money();
    test_interest();
    test_close();
    return check_done("engine/causes");
}
