/* A ranking: each account's figures are those of a backtest of it alone; all of its rows are of a run; of the
 * configuration's callbacks progress() alone is called; a benchmark that is not there is said. */
#include <errno.h>
#include <string.h>

#include "engine/backtest/rank.h"
#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (60 * INT64_C(1000000000))

enum { ROWS = 3000, SYMBOLS = 2, ACCOUNTS = 3 };

struct calls {
    size_t progress, others;
};

static bool on_progress(void *ctx, double share)
{
    struct calls *calls = ctx;
    calls->progress++;
    CHECK(share >= 0 && share <= 1);
    return true;
}

static void on_decided(void *ctx, int account, int symbol, size_t row, const struct intent *intents, size_t n)
{
    struct calls *calls = ctx;
    (void)account, (void)symbol, (void)row, (void)intents, (void)n;
    calls->others++;
}

static void on_restart(void *ctx, int account)
{
    struct calls *calls = ctx;
    (void)account;
    calls->others++;
}

static struct account_spec account_of(const char *name)
{
    struct account_spec spec = {.currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * E8,
                                .strategy = strategy_find(name),
                                .rules = {.fees = {1000, 1000}}};
    for (size_t i = 0; i < spec.strategy->n_params; i++)
        spec.params[i] = spec.strategy->params[i].fallback;
    snprintf(spec.name, sizeof spec.name, "%s", name);
    return spec;
}

static void check_alone(const struct backtest_config *config, const struct backtest_rank *rank, size_t at)
{
    struct backtest_config one = *config;
    struct backtest backtest;
    char err[256];
    one.accounts = &rank->accounts[at];
    one.n_accounts = 1;
    one.progress = NULL;
    one.decided = NULL;
    one.restarts = NULL;
    CHECK_INT(backtest_run(&one, &backtest, err, sizeof err), 0);
    CHECK_INT(rank->backtest.accounts[at].final_equity, backtest.accounts[0].final_equity);
    CHECK_INT(rank->backtest.accounts[at].n_fills, backtest.accounts[0].n_fills);
    CHECK(backtest.accounts[0].n_fills > 0);
    backtest_finish(&backtest);
}

static void test_rank(struct backtest_config *config, const struct calls *calls)
{
    const struct backtest_rank_options options = {.report = {.benchmark = REPORT_BENCHMARK_FIRST},
                                                  .metric = SWEEP_RETURN};
    struct backtest_rank rank;
    char err[512] = "";
    CHECK_INT(backtest_rank_run(config, &options, &rank, err, sizeof err), 0);
    CHECK_INT(rank.n, ACCOUNTS);
    CHECK_INT(rank.rows.exact, ACCOUNTS);
    CHECK(calls->progress >= ACCOUNTS);
    CHECK_INT(calls->others, 0);
    for (size_t i = 0; i < rank.n; i++)
        check_alone(config, &rank, i);
    for (size_t i = 1; i < rank.n; i++)
        CHECK(rank.rows.results[i].metrics[SWEEP_RETURN] <= rank.rows.results[i - 1].metrics[SWEEP_RETURN]);
    backtest_rank_finish(&rank);
}

static void test_no_benchmark(const struct backtest_config *config)
{
    const struct backtest_rank_options options = {
        .report = {.benchmark = REPORT_BENCHMARK_SYMBOL, .symbol = SYMBOLS}, .metric = SWEEP_RETURN};
    struct backtest_rank rank;
    char err[512] = "";
    CHECK_INT(backtest_rank_run(config, &options, &rank, err, sizeof err), -EINVAL);
    CHECK_STR(err, "the benchmark's symbol is not there");
}

int main(void)
{
    const struct made_walk walk = {
        .steps = 40, .start = 20000 * (E8 / 100), .tick = E8 / 100, .step = E8 / 100000};
    struct random random = random_seeded("rank", 20261129);
    struct synthetic_market made;
    struct calls calls = {0};
    const struct account_spec accounts[ACCOUNTS] = {account_of("buy-and-hold"), account_of("sma-cross"),
                                                    account_of("sma-cross-rsi")};
    made_open(&made, &random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    struct backtest_config config = {.market = &made.market,
                                     .to = ROWS,
                                     .accounts = accounts,
                                     .n_accounts = ACCOUNTS,
                                     .threads = 2,
                                     .progress = on_progress,
                                     .decided = on_decided,
                                     .restarts = on_restart,
                                     .ctx = &calls};
    test_rank(&config, &calls);
    test_no_benchmark(&config);
    made_close(&made);
    return check_done("engine/rank");
}
