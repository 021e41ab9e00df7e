#include "spark/native/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/backtest/audit.h"
#include "exchange/fail.h"
#include "strategy/strategy.h"

static int load(const struct spark_trading *t, struct market_given *given, struct market **ret, char *err,
                size_t err_cap)
{
    char why[MARKET_ERROR_MAX] = "";
    const char *lot = t->lot, *tick = t->tick, *quote = t->quote;
    const struct market_options options = {
        .interval_ns = t->interval_ns,
        .exchange_info = t->exchange_info,
        .terms = {lot ? &lot : NULL, tick ? &tick : NULL, quote ? &quote : NULL, NULL},
        .calendar = spark_trading_calendar(t),
        .session = t->calendar ? t->terms.session : SESSION_ALL,
        .threads = 1};
    int r = market_store_given_load(given, &options, ret, why);
    return r < 0 ? fail_with(r == -ENOMEM ? r : -EINVAL, err, err_cap, "%s%s", why,
                             r == -ERANGE ? ", or --repair" : "")
                 : 0;
}

static int configure(const struct spark_trading *t, struct spark_result *result, char *err, size_t err_cap)
{
    char why[BACKTEST_TERMS_ERROR_MAX];
    size_t from, to;
    int r = backtest_terms_range(result->market, t->from_ns, t->to_ns, &from, &to, why);
    if (r == 0)
        r = backtest_terms_account(&t->terms, result->market, &result->account, why);
    if (r < 0)
        return fail_with(-EINVAL, err, err_cap, "%s%s", r == -ERANGE ? "--cash: " : "", why);
    result->account.strategy = t->strategy;
    memcpy(result->account.params, t->params, sizeof t->params);
    snprintf(result->account.name, sizeof result->account.name, "%.31s", t->strategy->name);
    result->config = (struct backtest_config){.market = result->market,
                                              .calendar = spark_trading_calendar(t),
                                              .venue = t->terms.venue,
                                              .class_by_calendar = t->terms.venue != NULL,
                                              .from = from,
                                              .to = to,
                                              .accounts = &result->account,
                                              .n_accounts = 1,
                                              .latency_ns = t->terms.latency_ns,
                                              .slippage_e6 = t->terms.slippage_e6,
                                              .way = t->way,
                                              .threads = 1,
                                              .orders = true,
                                              .ledger = true};
    return 0;
}

static int run_backtest(const struct spark_trading *t, struct spark_result *result, char *err, size_t err_cap)
{
    const struct report_config options = {
        .benchmark = t->no_benchmark ? REPORT_BENCHMARK_NONE : REPORT_BENCHMARK_FIRST, .tails = true};
    int r = backtest_run(&result->config, &result->backtest, err, err_cap);
    if (r == 0)
        r = backtest_audit(&result->backtest, result->market, &result->account, result->hash, err, err_cap);
    if (r == 0 && (r = backtest_report(&result->config, &result->backtest, 0, &options, &result->report)) < 0)
        snprintf(err, err_cap, "out of memory");
    if (r == 0)
        backtest_equity_begin(&result->equity, result->market, &result->backtest, &result->account, 0);
    return r;
}

static int run_sweep(const struct spark_trading *t, struct spark_result *result, char *err, size_t err_cap)
{
    struct backtest_config config = result->config;
    config.orders = config.ledger = false;
    const struct backtest_sweep sweep = {.config = &config, .account = &result->account, .grid = &t->grid};
    int r = backtest_sweep_run(&sweep, &result->sweep, err, err_cap);
    if (r == 0 && result->sweep.n == 0)
        return fail_with(-EINVAL, err, err_cap,
                         "grid: nothing was run: every combination contradicts itself, or needs more bars "
                         "than there are");
    if (r == 0)
        backtest_sweep_sort(&result->sweep, t->metric);
    return r;
}

int spark_result_run(const struct spark_trading *trading, struct market_given *given,
                     struct spark_result *result, char *err, size_t err_cap)
{
    *result = (struct spark_result){0};
    int r = load(trading, given, &result->market, err, err_cap);
    if (r == 0)
        r = configure(trading, result, err, err_cap);
    if (r == 0)
        r = trading->grid.n_axes > 0 ? run_sweep(trading, result, err, err_cap)
                                     : run_backtest(trading, result, err, err_cap);
    if (r < 0)
        spark_result_finish(result);
    return r;
}

void spark_result_finish(struct spark_result *result)
{
    backtest_report_finish(&result->report);
    backtest_finish(&result->backtest);
    backtest_sweep_finish(&result->sweep);
    market_store_close(result->market);
    *result = (struct spark_result){0};
}
