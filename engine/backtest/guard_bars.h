/* Copies of a market's bars that a guard may cut and change, and synthetic markets. Each column ends with
 * some cells of NaN, for a strategy that reads past its end. */
#ifndef ENGINE_BACKTEST_GUARD_BARS_H
#define ENGINE_BACKTEST_GUARD_BARS_H

#include "engine/backtest/backtest.h"
#include "engine/market/market.h"
#include "exchange/trading_calendar.h"

struct guard_bars {
    struct market market; /* its content hash is zeros */
    struct market_series *series;
    double *columns;
    uint64_t *present;
};

/* Copies rows [from, to) of a market, whose bars' sessions stay its own. 0 or -ENOMEM. */
int backtest_guard_bars_copy(const struct market *market, size_t from, size_t to, struct guard_bars *ret);

/* Replaces prices and volumes of the bars from row `from` on: the first of them jumps. What is missing
 * stays missing. Prices keep to the symbol's tick. */
void backtest_guard_bars_perturb(struct guard_bars *bars, size_t from, uint64_t seed);

/* Makes synthetic bars: random walks whose spread and drift change from time to time, with trends and
 * calms, and a few bars missing. At most 8 symbols, from midnight of 2024-01-01. 0 or -ENOMEM. */
int backtest_guard_bars_make(uint64_t seed, int n_symbols, size_t rows, int64_t interval_ns,
                             struct guard_bars *ret);

/* A calendar whose days are moved by so much, for the same bars moved with them. */
struct guard_calendar {
    struct trading_calendar calendar;
    struct trading_day *days;
};
int backtest_guard_calendar_move(const struct trading_calendar *calendar, int64_t ns,
                                 struct guard_calendar *ret);      /* 0 or -ENOMEM */
void backtest_guard_calendar_finish(struct guard_calendar *moved); /* all zero is fine */

/* The same of n splits and dividends, for free(); NULL without memory. */
struct backtest_action *backtest_guard_actions_move(const struct backtest_action *actions, size_t n,
                                                    int64_t ns);

void backtest_guard_bars_finish(struct guard_bars *bars); /* all zero is fine */

#endif
