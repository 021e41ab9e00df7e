/* The audit of a backtest: clean runs of two accounts pass; every row that is altered is found. */
#include "engine/backtest/audit.h"

#include <errno.h>

#include "engine/backtest/guard_bars.h"
#include "strategy/strategy.h"
#include "tests/check.h"
#include "tests/random.h"

static const int64_t E8 = 100000000;
static struct guard_bars bars;
static struct account_spec accounts[2];
static struct backtest backtest;
static char err[512];

static int audit(void)
{
    uint8_t hash[LEDGER_HASH_SIZE];
    *err = '\0';
    return backtest_audit(&backtest, &bars.market, accounts, hash, err, sizeof err);
}

/* A number one too high is found and reported with these words; then it is restored. */
#define ALTERED(number, words) \
    do { \
        (number) += 1; \
        CHECK_INT(audit(), -EBADMSG); \
        CHECK(strstr(err, words)); \
        (number) -= 1; \
    } while (0)

static void test_altered(struct backtest_account *account)
{
    struct ledger_row *row = &account->ledger[account->n_ledger / 2];
    struct fill *fill = &account->fills[account->n_fills / 2];
    struct order *order = &account->orders[account->n_orders / 2];
    ALTERED(row->amount, "its hash does not follow");
    ALTERED(row->ts_ns, "its hash does not follow");
    ALTERED(row->hash[5], "its hash does not follow");
    ALTERED(row->id, "ids are not 1, 2, 3");
    ALTERED(fill->qty, "fill");
    ALTERED(fill->fee, "fill");
    fill->price += E8; /* less may be rounded away */
    CHECK_INT(audit(), -EBADMSG);
    CHECK(strstr(err, "notional or fee"));
    fill->price -= E8;
    ALTERED(fill->ts_ns, "time of fill");
    ALTERED(fill->order_id, "fill");
    ALTERED(order->filled, "its fills add up to");
    ALTERED(order->cost, "its fills add up to");
    ALTERED(account->final_cash, "its ledger with");
    account->n_ledger--;
    CHECK_INT(audit(), -EBADMSG);
    account->n_ledger++;
    account->n_fills--;
    CHECK_INT(audit(), -EBADMSG);
    account->n_fills++;
    CHECK_INT(audit(), 0);
}

int main(void)
{
    struct random random = random_seeded("engine/audit", 20261124);
    static const char *const names[2] = {"sma-cross", "sma-cross-rsi-risk"};
    if (backtest_guard_bars_make(random_next(&random), 2, 3000, 60 * INT64_C(1000000000), &bars) < 0)
        return EXIT_FAILURE;
    for (int a = 0; a < 2; a++) {
        accounts[a] = (struct account_spec){.currency = "USDT",
                                            .currency_scale = 8,
                                            .cash = 10000 * E8,
                                            .rules = {.fees = {1000, 1000}},
                                            .strategy = strategy_find(names[a])};
        snprintf(accounts[a].name, sizeof accounts[a].name, "%s", names[a]);
        strategy_defaults(accounts[a].strategy, accounts[a].params);
    }
    struct backtest_config config = {.market = &bars.market,
                                     .to = bars.market.rows,
                                     .accounts = accounts,
                                     .n_accounts = 2,
                                     .orders = true,
                                     .ledger = true};
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK(backtest.accounts[0].n_fills > 10 && backtest.accounts[1].n_fills > 10);
    CHECK_INT(audit(), 0);
    CHECK_STR(err, "");
    for (int a = 0; a < 2; a++)
        test_altered(&backtest.accounts[a]);
    backtest_finish(&backtest);
    backtest_guard_bars_finish(&bars);
    return check_done("engine/audit");
}
