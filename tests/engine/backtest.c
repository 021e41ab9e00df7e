/* A backtest through the engine: the events it gets, the results it collects, and what it refuses. */
#include <errno.h>

#include "engine/backtest/backtest.h"
#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

static const struct made_walk calm_walk = {.gaps_permille = 5,
                                           .gap_longest = 9,
                                           .steps = 40,
                                           .start = 60000 * E8,
                                           .tick = E8 / 100,
                                           .step = E8 / 100000};

static struct account_spec account_of(const char *name, const char *strategy)
{
    struct account_spec spec = {.currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * E8,
                                .rules = {.fees = {1000, 1000}},
                                .strategy = strategy_find(strategy)};
    snprintf(spec.name, sizeof spec.name, "%s", name);
    strategy_defaults(spec.strategy, spec.params);
    return spec;
}

/* At each row, equity is what the fills so far make it, computed here in long doubles. */
static void check_equity(const struct market *market, const struct backtest *backtest,
                         const struct backtest_account *account, double cash)
{
    long double money = cash, held[MADE_SYMBOLS_MAX] = {0};
    size_t next = 0, exposed = 0;
    for (size_t row = backtest->from; row < backtest->to; row++) {
        for (; next < account->n_fills && account->fills[next].ts_ns < market_open_ns(market, row + 1);
             next++) {
            const struct fill *fill = &account->fills[next];
            int sign = fill->side == ORDER_BUY ? 1 : -1;
            held[fill->symbol] += sign * (long double)fill->qty / E8;
            money -= (sign * (long double)fill->notional + fill->fee) / E8;
        }
        long double equity = money;
        bool any = false;
        for (int s = 0; s < market->n_symbols; s++) {
            equity += held[s] * market->series[s].close[row];
            any |= held[s] != 0;
        }
        exposed += any;
        CHECK_NEAR(account->equity[row - backtest->from], (double)equity, 1e-9 * cash);
    }
    CHECK_INT(next, account->n_fills);
    CHECK_INT(exposed, account->exposed);
    CHECK_NEAR((double)account->final_equity / E8, account->equity[backtest->to - backtest->from - 1], 1e-6);
}

/* Trades have all fills, and their profits are what the account gained. */
static void check_trades(const struct backtest_account *account, int64_t cash)
{
    int64_t profit = 0, fees = 0, worth = 0;
    for (size_t i = 0; i < account->n_trades; i++) {
        const struct backtest_trade *trade = &account->trades[i];
        CHECK(trade->qty != 0 && trade->entry_row <= trade->exit_row);
        profit += trade->profit;
        fees += trade->fees;
        worth += trade->profit - (trade->proceeds - trade->cost - trade->fees);
        CHECK((trade->exit_ns == 0) == (trade->profit != trade->proceeds - trade->cost - trade->fees));
    }
    CHECK_INT(fees, account->fees);
    CHECK_INT(cash + profit, account->final_equity);
    CHECK_INT(account->final_cash + worth, account->final_equity);
}

static void test_run(struct random *random)
{
    struct synthetic_market made;
    made_open(&made, random, &calm_walk, 3, 5000, MINUTE_NS);
    const struct account_spec accounts[] = {account_of("one", "sma-cross-rsi"),
                                            account_of("two", "sma-cross-rsi")};
    struct backtest_config config = {.market = &made.market,
                                     .from = 333,
                                     .to = 5000,
                                     .accounts = accounts,
                                     .n_accounts = 2,
                                     .latency_ns = 50000000,
                                     .slippage_e6 = 100,
                                     .way = BACKTEST_ENGINE,
                                     .threads = 2};
    struct backtest apart, together;
    char err[256] = "";
    CHECK_INT(backtest_run(&config, &apart, err, sizeof err), 0);
    CHECK_STR(err, "");
    config.orders = config.ledger = true;
    CHECK_INT(backtest_run(&config, &together, err, sizeof err), 0);
    for (int a = 0; a < 2; a++) {
        const struct backtest_account *one = &apart.accounts[a], *both = &together.accounts[a];
        CHECK_INT(one->way, BACKTEST_ENGINE);
        CHECK(!one->orders && !one->ledger);
        CHECK(both->n_fills > 20 && both->n_orders > 20);
        CHECK_INT(one->n_fills, both->n_fills);
        CHECK(memcmp(one->equity, both->equity, (config.to - config.from) * sizeof(double)) == 0);
        CHECK_INT(one->final_equity, both->final_equity);
        check_equity(&made.market, &apart, one, 10000);
        check_equity(&made.market, &together, both, 10000);
        check_trades(both, 10000 * E8);
        for (size_t i = 0; i < both->n_fills; i++) {
            const struct fill *fill = &both->fills[i];
            size_t row = (size_t)(fill->ts_ns - MADE_START_NS) / MINUTE_NS;
            CHECK_INT(fill->input_seq, row * 3 + (size_t)fill->symbol + 1);
            CHECK(market_present(&made.series[fill->symbol], row) && row > config.from);
            CHECK_INT(fill->account, a);
        }
    }
    backtest_finish(&apart);
    backtest_finish(&together);
    made_close(&made);
}

static bool stop_at_half(void *ctx, double share)
{
    *(double *)ctx = share;
    return share < 0.5;
}

static void refused(const struct backtest_config *config, const char *why)
{
    struct backtest backtest = {0};
    char err[256] = "";
    CHECK_INT(backtest_run(config, &backtest, err, sizeof err), -EINVAL);
    CHECK_STR(err, why);
}

static void test_bad_input(struct random *random)
{
    struct synthetic_market made;
    made_open(&made, random, &calm_walk, 1, 20000, MINUTE_NS);
    struct account_spec account = account_of("one", "sma-cross-rsi");
    const struct account_spec good = account;
    struct backtest_config config = {
        .market = &made.market, .to = 20000, .accounts = &account, .n_accounts = 1, .way = BACKTEST_ENGINE};
    struct backtest backtest;
    char err[256];
    double share = 0;
    config.progress = stop_at_half;
    config.ctx = &share;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -ECANCELED);
    CHECK(share >= 0.5 && share < 0.75);
    config.progress = NULL;
    config.to = 12;
    refused(&config,
            "sma-cross-rsi: there are 12 bars, fewer than the 30 that its sma_30 needs before it says "
            "anything: give more bars, or shorter periods");
    config.to = 20001;
    refused(&config, "no bar to trade on: the first must come before the last, and there are 20000");
    config.to = 20000;
    account.params[0] = 40;
    refused(&config, "sma-cross-rsi: fast: fewer bars than slow are needed");
    account.params[0] = 1.5;
    refused(&config, "sma-cross-rsi: fast is 1.5: it must be a whole number from 2 to 1000");
    account = good;
    account.strategy = NULL;
    refused(&config, "account one has no strategy: a backtest trades nothing by hand");
    account = good;
    snprintf(account.currency, sizeof account.currency, "EUR");
    refused(&config, "account one is kept in EUR, and no symbol is quoted in it: C0USDT is quoted in USDT");
    account = good;
    config.slippage_e6 = -1;
    refused(&config, "slippage must be 0 or more, and below 100 %");
    made_close(&made);
}

/* A strategy of several symbols counts those that its account trades, not all that have bars. */
static void test_too_few_symbols(struct random *random)
{
    struct synthetic_market made;
    made_open(&made, random, &calm_walk, 2, 2000, MINUTE_NS);
    struct account_spec account = account_of("one", "pairs");
    const struct backtest_config config = {
        .market = &made.market, .to = 2000, .accounts = &account, .n_accounts = 1};
    struct backtest backtest;
    char err[256] = "";
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK_STR(err, "");
    backtest_finish(&backtest);
    snprintf(made.series[1].symbol.quote, sizeof made.series[1].symbol.quote, "EUR");
    refused(&config, "pairs needs 2 symbols quoted in USDT, and there is 1: give the bars of more");
    made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("backtest", 61);
    test_run(&random);
    test_bad_input(&random);
    test_too_few_symbols(&random);
    return check_done("backtest");
}
