/* An account at its venue: attached, its balances compared, those that differ booked, and reset there and
 * here. */
#include "tests/engine/at_venue.h"

static void test_attach(void)
{
    open_account(&puppet_strategy);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    CHECK_INT(h.command_reason, ORDER_VENUE_DETACHED);
    account_news(VENUE_ACCOUNT_ATTACHED, 5000 * E8, E8);
    CHECK(engine_venue_attached(h.engine, ALICE));
    CHECK_INT(engine_account(h.engine, ALICE)->deposits, 5000 * E8);
    CHECK_INT(engine_equity(h.engine, ALICE), 5000 * E8);
    CHECK_INT(held()->qty, 0); /* what was there is no position, and nothing sells it */
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, E8 / 100, 0);
    CHECK(h.command_reason == ORDER_NO_SHORTS || h.command_reason == ORDER_INSUFFICIENT_BALANCE);
    account_news(VENUE_ACCOUNT_ATTACHED, 1, 1); /* twice: nothing */
    CHECK_INT(engine_equity(h.engine, ALICE), 5000 * E8);
    char id[ORDER_CLIENT_ID_MAX];
    engine_venue_client_id(h.engine, ALICE, 1, id);
    CHECK_STR(id, "0abc1234-1");
    CHECK_INT(engine_venue_order_of(h.engine, ALICE, id), 1);
    CHECK_INT(engine_venue_order_of(h.engine, ALICE, "0abc1234-01"), 0);
    CHECK_INT(engine_venue_order_of(h.engine, ALICE, "0abc1234-99"), 0);
    CHECK_INT(engine_venue_order_of(h.engine, ALICE, "web_1"), 0);
    struct event_command deposit = {.kind = COMMAND_ACCOUNT_DEPOSIT, .money = {ALICE, 0, E8}};
    command(&h, deposit);
    CHECK_INT(h.command_reason, ORDER_VENUE_TERMS); /* money moves at the venue */
    harness_close(&h);
}

static void test_balances(void)
{
    attached(0);
    account_news(VENUE_ACCOUNT_BALANCES, 5000 * E8, 0);
    CHECK_INT(h.alerts, 0);
    account_news(VENUE_ACCOUNT_BALANCES, 4900 * E8, 3);
    CHECK_STR(h.last_alert, "VENUE_BALANCE");
    CHECK_INT(engine_account(h.engine, ALICE)->deposits, 4900 * E8);
    CHECK_INT(h.ledger_sum[ALICE][0], 4900 * E8);
    CHECK_INT(h.ledger_sum[ALICE][1], 3);
    harness_close(&h);
}

/* What is as small as rounding is booked, and alerted from a cent on, or from a millionth of the equity. */
static void test_rounding(void)
{
    static const struct {
        int64_t usdt, btc; /* more than before */
        bool alerts;
    } cases[] = {{0, 2, false},       {0, -2, false},       {0, 8, false}, /* at 60000: 0.0048 */
                 {0, 9, true},        {E8 / 250, 0, false}, {-E8 / 250, 0, false}, {E8 / 200 + 1, 0, true},
                 {-E8 / 100, 0, true}}; /* equity 5000: from 0.005 on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attached(E8);
        h.last_alert[0] = '\0';
        account_news(VENUE_ACCOUNT_BALANCES, 5000 * E8 + cases[i].usdt, E8 + cases[i].btc);
        CHECK_STR(h.last_alert, cases[i].alerts ? "VENUE_BALANCE" : "");
        CHECK_INT(h.ledger_sum[ALICE][1], E8 + cases[i].btc);
        CHECK_INT(engine_equity(h.engine, ALICE), 5000 * E8 + cases[i].usdt);
        harness_close(&h);
    }
}

/* Bought and sold elsewhere: the money that moved is a flow, so that no return, no drawdown and no day's loss
 * comes of it, whatever was gained before. */
static void test_elsewhere(void)
{
    attached(0);
    const struct account *account = engine_account(h.engine, ALICE);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    filled(id, 60000 * E8, E8 / 100, E8 / 100, "USDT", 0);
    trade(&h, BTCUSDT, 66000 * E8, E8);
    pass(&h, SECOND_NS);
    int64_t before = engine_equity(h.engine, ALICE), day_base = engine_day_base(h.engine, ALICE);
    CHECK_INT(before, 5060 * E8);
    account_news(VENUE_ACCOUNT_BALANCES, 1100 * E8, 6000000); /* 0.05 more for 3300 */
    CHECK_INT(engine_equity(h.engine, ALICE), 1760 * E8);
    CHECK_INT(account->deposits, 1700 * E8);
    CHECK_INT(engine_equity(h.engine, ALICE) - (account->deposits - 5000 * E8), before);
    CHECK_INT(account->equity_peak, 1760 * E8);
    CHECK_INT(engine_day_base(h.engine, ALICE), day_base - 3300 * E8);
    CHECK_INT(held()->qty, E8 / 100);
    account_news(VENUE_ACCOUNT_BALANCES, 4400 * E8, E8 / 100); /* and sold again */
    CHECK_INT(engine_equity(h.engine, ALICE), before);
    CHECK_INT(account->deposits, 5000 * E8);
    CHECK_INT(account->equity_peak, before);
    CHECK(!strstr(h.last_alert_text, "less than its position"));
    account_news(VENUE_ACCOUNT_BALANCES, 5060 * E8,
                 0); /* what an order of ours bought: said, and no return */
    CHECK(strstr(h.last_alert_text, "less than its position, which account reset ends"));
    CHECK_INT(engine_equity(h.engine, ALICE) - (account->deposits - 5000 * E8), before);
    harness_close(&h);
}

static void test_reset(void)
{
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 59000 * E8);
    news(id, VENUE_UPDATE_UNKNOWN);
    struct event_command reset = {.kind = COMMAND_ACCOUNT_RESET, .money = {ALICE, 0, 0}};
    command(&h, reset);
    CHECK_INT(h.command_reason, ORDER_VENUE_TERMS); /* it was not reset there */
    account_news(VENUE_ACCOUNT_RESET, 0, 0);
    CHECK_STR(h.last_alert, "VENUE_HALTED");
    CHECK(engine_venue_halted(h.engine, ALICE) && state_of(id) == ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_VENUE_LOST);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    CHECK_INT(h.command_reason, ORDER_VENUE_DETACHED);
    account_news(VENUE_ACCOUNT_ATTACHED, 9 * E8, 0); /* not before it is reset here */
    CHECK(!engine_venue_attached(h.engine, ALICE));
    command(&h, reset);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK(strncmp(h.last_over, "VENUE_HALTED account alice ", 27) == 0);
    CHECK_INT(h.ledger_sum[ALICE][0], 0);
    account_news(VENUE_ACCOUNT_ATTACHED, 9000 * E8, 0);
    CHECK_INT(engine_equity(h.engine, ALICE), 9000 * E8);
    command(&h, reset); /* and where nothing is open there: it is attached again */
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK(!engine_venue_attached(h.engine, ALICE) && h.ledger_sum[ALICE][0] == 0);
    harness_close(&h);
}

int main(void)
{
    test_attach();
    test_balances();
    test_rounding();
    test_elsewhere();
    test_reset();
    return check_done("engine/venue_accounts");
}
