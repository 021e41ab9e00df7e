/* One symbol's backtest or sweep. */
#ifndef SPARK_NATIVE_RESULT_H
#define SPARK_NATIVE_RESULT_H

#include "engine/backtest/equity.h"
#include "engine/backtest/report.h"
#include "engine/market/given.h"
#include "spark/native/trading.h"

/* All zero is an empty one. */
struct spark_result {
    struct market *market;
    struct account_spec account;
    struct backtest_config config; /* points to the account: a result is not to be copied */
    struct backtest backtest;
    struct backtest_report report;
    struct sweep_results sweep;
    struct backtest_equity equity; /* at its beginning */
    uint8_t hash[LEDGER_HASH_SIZE];
};

/* Runs the bars, which are taken, by a backtest or, with a grid, a sweep. 0, for spark_result_finish();
 * -EINVAL with a sentence for bars or a strategy that cannot be run, -ENOMEM. */
int spark_result_run(const struct spark_trading *trading, struct market_given *given,
                     struct spark_result *result, char *err, size_t err_cap);
void spark_result_finish(struct spark_result *result);

#endif
