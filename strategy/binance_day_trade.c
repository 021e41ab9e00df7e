#include <math.h>
#include <stdio.h>

#include "strategy/cross.h"
#include "strategy/sizing.h"
#include "strategy/strategies.h"

enum { FAST, SLOW, ATR, STOP_ATR, PROFIT_ATR, RISK, FRACTION_MAX, DIRECTION };

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast average", 8, 1, 1000, true},
    [SLOW] = {"slow", "bars of the slow average", 21, 2, 5000, true},
    [ATR] = {"atr", "bars of the ATR that stop and profit are measured in", 14, 1, 1000, true},
    [STOP_ATR] = {"stop_atr", "stop this many ATR from the entry's close", 1.5, 0.1, 100, false},
    [PROFIT_ATR] = {"profit_atr", "profit this many ATR from the entry's close; 0: none", 3, 0, 100, false},
    [RISK] = {"risk", "of equity that the stop may lose", 0.01, 0.0001, 0.5, false},
    [FRACTION_MAX] = {"fraction_max", "of equity in a position, at most", 1, 0.001, 1, false},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_BOTH)},
};

static const char *check(const double *p)
{
    return p[FAST] < p[SLOW] ? NULL : "fast: fewer bars than slow are needed";
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    snprintf(out[0], STRATEGY_SPEC_TEXT, "ema:%d", (int)p[FAST]);
    snprintf(out[1], STRATEGY_SPEC_TEXT, "ema:%d", (int)p[SLOW]);
    snprintf(out[2], STRATEGY_SPEC_TEXT, "atr:%d", (int)p[ATR]);
    return 3;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    double fast = input->indicators[0], slow = input->indicators[1], atr = input->indicators[2];
    if (isnan(fast) || isnan(slow) || isnan(atr))
        return 0;
    const struct cross_turn turn = cross_take(state, p[DIRECTION], input, fast, slow);
    size_t n = cross_leave(&turn, intents);
    if (turn.enters && sizing_atr(turn.side, p[RISK], p[FRACTION_MAX], input->close, atr, p[STOP_ATR],
                                  p[PROFIT_ATR], &intents[n]))
        intents[n++].why = cross_why(&turn);
    return n;
}

static void scan(const double *p, const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    (void)p;
    strategy_cross_scan(columns, 3, marks);
}

STRATEGY_ROW(binance_day_trade) = {
    .name = "binance-day-trade",
    .summary =
        "BinanceDayTrade: long after the fast EMA crosses above the slow one, short after it crosses below, "
        "until the opposite cross, a stop or a profit in ATR",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
};
