/* A backtest's report, compared with figures computed here from the backtest's rows. */
#include <errno.h>

#include "engine/backtest/report.h"
#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

enum { ROWS = 40000, FROM = 500, SYMBOLS = 3 };

static struct account_spec account_of(const char *strategy)
{
    struct account_spec spec = {.currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * E8,
                                .rules = {.fees = {1000, 2000}},
                                .strategy = strategy_find(strategy)};
    snprintf(spec.name, sizeof spec.name, "%s", strategy);
    strategy_defaults(spec.strategy, spec.params);
    return spec;
}

static int benchmark(const struct backtest_config *config, enum report_benchmark kind, int symbol,
                     double **ret)
{
    const struct report_config options = {.benchmark = kind, .symbol = symbol};
    return backtest_report_benchmark(config, 0, &options, ret);
}

static void check_benchmarks(const struct backtest_config *config)
{
    const struct market *market = config->market;
    double *one = NULL, *equal = NULL, *last = NULL, *none = NULL;
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_FIRST, 0, &one), 0);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_EQUAL, 0, &equal), 0);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_GIVEN, 0, &none), -EINVAL);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_NONE, 0, &none), -EINVAL);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_SYMBOL, SYMBOLS - 1, &last), 0);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_SYMBOL, SYMBOLS, &none), -EINVAL);
    CHECK_INT(benchmark(config, REPORT_BENCHMARK_SYMBOL, -1, &none), -EINVAL);
    CHECK(!none);
    double qty[SYMBOLS];
    size_t bought[SYMBOLS];
    for (int s = 0; s < SYMBOLS; s++) {
        const struct market_series *series = &market->series[s];
        for (bought[s] = config->from; !market_present(series, bought[s]);)
            bought[s]++;
        qty[s] = 10000 / 1.002 / series->open[bought[s]];
    }
    for (size_t row = config->from; row < config->to; row++) {
        double worth = 0;
        for (int s = 0; s < SYMBOLS; s++)
            worth += (row < bought[s] ? 10000 : qty[s] * market->series[s].close[row]) / SYMBOLS;
        CHECK_NEAR(equal[row - config->from], worth, 1e-8);
        CHECK_NEAR(one[row - config->from], row < bought[0] ? 10000 : qty[0] * market->series[0].close[row],
                   1e-8);
        int s = SYMBOLS - 1;
        CHECK_NEAR(last[row - config->from], row < bought[s] ? 10000 : qty[s] * market->series[s].close[row],
                   1e-8);
    }
    free(last);
    free(one);
    free(equal);
}

static void check_trades(const struct backtest_report *report, const struct backtest_account *account)
{
    size_t wins = 0, closed = 0;
    int64_t won = 0, lost = 0, open = 0;
    for (size_t i = 0; i < account->n_trades; i++) {
        const struct backtest_trade *trade = &account->trades[i];
        closed += trade->exit_ns != 0;
        wins += trade->exit_ns != 0 && trade->profit > 0;
        *(trade->exit_ns == 0 ? &open : trade->profit > 0 ? &won : &lost) += trade->profit;
    }
    CHECK_INT(report->trades.n, closed);
    CHECK_INT(report->trades.wins, wins);
    CHECK_INT(report->open_trades, account->n_trades - closed);
    CHECK_NEAR(report->trades.won, (double)won / E8, 1e-6);
    CHECK_NEAR(report->trades.lost, (double)lost / E8, 1e-6);
    CHECK_NEAR(report->open_profit, (double)open / E8, 1e-6);
    CHECK_NEAR(report->start_equity + report->trades.won + report->trades.lost + report->open_profit,
               report->final_equity, 1e-6);
}

static void check_costs(const struct backtest_report *report, const struct backtest_account *account)
{
    int64_t fees = 0, turnover = 0;
    double sum = 0;
    for (size_t i = 0; i < account->n_fills; i++) {
        fees += account->fills[i].fee;
        turnover += account->fills[i].notional;
    }
    for (size_t row = 0; row < report->rows; row++)
        sum += account->equity[row];
    double years = (double)report->rows / 525600;
    CHECK_NEAR(report->fees, (double)fees / E8, 1e-9 * report->fees);
    CHECK_NEAR(report->turnover, (double)turnover / E8, 1e-9 * report->turnover);
    CHECK_NEAR(report->turnover_year, report->turnover / (sum / (double)report->rows) / years,
               1e-9 * report->turnover_year);
    CHECK_NEAR(report->fees_of_turnover, 0.002, 1e-6);
    double gross = report->final_equity - 10000 + report->fees;
    if (gross > 0 && gross >= report->fees)
        CHECK_NEAR(report->fees_of_gross_profit, report->fees / gross, 1e-12);
    else
        CHECK(isnan(report->fees_of_gross_profit));
    CHECK_NEAR(report->exposure, (double)account->exposed / (double)report->rows, 0);
}

static void check_tables(const struct backtest_report *report)
{
    double growth = 1;
    size_t rows = 0;
    for (size_t i = 0; i < report->n_months; i++) {
        CHECK_INT(report->months[i].first, rows);
        growth *= 1 + report->months[i].total_return;
        rows += report->months[i].rows;
    }
    CHECK_INT(rows, report->rows);
    CHECK_NEAR(growth - 1, report->metrics.total_return, 1e-12);
    CHECK_INT(report->n_months, 2); /* 28 days from the 9th of August 2024 on */
    CHECK_INT(report->months[0].month, 8);
    CHECK_INT(report->n_years, 1);
    CHECK_NEAR(report->years[0].total_return, report->metrics.total_return, 1e-12);
    CHECK(report->n_drawdowns > 0 && report->n_drawdowns <= 4);
    CHECK_NEAR(report->drawdowns[0].depth, report->metrics.max_drawdown, 1e-15);
    for (size_t i = 1; i < report->n_drawdowns; i++)
        CHECK(report->drawdowns[i - 1].depth <= report->drawdowns[i].depth);
}

static void check_report(const struct backtest_config *config, const struct backtest *backtest, int a)
{
    const struct backtest_account *account = &backtest->accounts[a];
    struct report_config options = {.benchmark = REPORT_BENCHMARK_EQUAL, .drawdowns = 4, .tails = true};
    struct backtest_report report, itself;
    CHECK_INT(backtest_report(config, backtest, a, &options, &report), 0);
    CHECK_INT(report.rows, ROWS - FROM);
    CHECK_INT(report.start_ns, MADE_START_NS + FROM * MINUTE_NS);
    CHECK_INT(report.end_ns, MADE_START_NS + ROWS * MINUTE_NS);
    CHECK_NEAR(report.periods_per_year, 525600, 0);
    CHECK_NEAR(report.start_equity, 10000, 0);
    CHECK_NEAR(report.metrics.total_return, report.final_equity / 10000 - 1, 1e-9);
    CHECK(report.tails.value_at_risk < 0 && report.stability >= 0);
    CHECK(isfinite(report.against.beta) && isfinite(report.benchmark.sharpe));
    check_trades(&report, account);
    check_costs(&report, account);
    check_tables(&report);

    options = (struct report_config){
        .benchmark = REPORT_BENCHMARK_GIVEN, .given = account->equity, .given_start = 10000};
    CHECK_INT(backtest_report(config, backtest, a, &options, &itself), 0);
    CHECK(memcmp(&itself.benchmark, &report.metrics, sizeof itself.benchmark) == 0);
    CHECK_NEAR(itself.against.beta, 1, 1e-12);
    CHECK_NEAR(itself.against.alpha, 0, 1e-9);
    CHECK(isnan(itself.stability) && isnan(itself.tails.tail_ratio) && itself.n_drawdowns == 0);
    backtest_report_finish(&itself);
    backtest_report_finish(&report);

    options = (struct report_config){.benchmark = REPORT_BENCHMARK_GIVEN};
    CHECK_INT(backtest_report(config, backtest, a, &options, &itself), -EINVAL);
    options.benchmark = REPORT_BENCHMARK_NONE;
    CHECK_INT(backtest_report(config, backtest, a, &options, &itself), 0);
    CHECK(isnan(itself.against.beta) && isnan(itself.benchmark.sharpe));
    backtest_report_finish(&itself);
}

int main(void)
{
    struct random random = random_seeded("backtest_report", 67);
    struct synthetic_market made;
    made_open(&made, &random, &made_coin, SYMBOLS, ROWS, MINUTE_NS);
    const struct account_spec accounts[] = {account_of("sma-cross-rsi"), account_of("buy-and-hold")};
    struct backtest_config config = {.market = &made.market,
                                     .from = FROM,
                                     .to = ROWS,
                                     .accounts = accounts,
                                     .n_accounts = 2,
                                     .threads = 1};
    struct backtest backtest;
    char err[256] = "";
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK(backtest.accounts[0].n_trades > 20 && backtest.accounts[1].n_trades > 0);
    check_benchmarks(&config);
    for (int a = 0; a < 2; a++)
        check_report(&config, &backtest, a);
    backtest_finish(&backtest);
    made_close(&made);
    return check_done("backtest_report");
}
