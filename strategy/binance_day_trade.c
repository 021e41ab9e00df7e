#include <math.h>
#include <stdio.h>

#include "strategy/cross.h"
#include "strategy/sizing.h"
#include "strategy/strategies.h"

enum { FAST, SLOW, ATR, STOP_ATR, PROFIT_ATR, RISK, FRACTION_MAX };

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast average", 8, 1, 1000, true},
    [SLOW] = {"slow", "bars of the slow average", 21, 2, 5000, true},
    [ATR] = {"atr", "bars of the ATR that stop and profit are measured in", 14, 1, 1000, true},
    [STOP_ATR] = {"stop_atr", "stop this many ATR from the entry's close", 1.5, 0.1, 100, false},
    [PROFIT_ATR] = {"profit_atr", "profit this many ATR from the entry's close; 0: none", 3, 0, 100, false},
    [RISK] = {"risk", "of equity that the stop may lose", 0.01, 0.0001, 0.5, false},
    [FRACTION_MAX] = {"fraction_max", "of equity in a position, at most", 1, 0.001, 1, false},
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

static bool enter(const double *p, const struct strategy_input *input, int side, struct intent *intent)
{
    double close = input->close, atr = input->indicators[2];
    double stop = close - side * p[STOP_ATR] * atr;
    double profit = p[PROFIT_ATR] > 0 ? close + side * p[PROFIT_ATR] * atr : 0;
    if (side > 0)
        return sizing_enter(p[RISK], p[FRACTION_MAX], close, stop, profit, intent);
    return input->shorts && sizing_short(p[RISK], p[FRACTION_MAX], close, stop, profit, intent);
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct cross *memory = state;
    double fast = input->indicators[0], slow = input->indicators[1];
    if (isnan(fast) || isnan(slow) || isnan(input->indicators[2]))
        return 0;
    int before = memory->side, side = cross_side(before, fast, slow);
    const char *why = side > 0 ? "cross up" : "cross down";
    size_t n = 0;
    memory->side = side;
    if (input->live_orders)
        return 0;
    bool leaves = (input->qty > 0 && side < 0) || (input->qty < 0 && side > 0);
    if (leaves)
        intents[n++] = (struct intent){.kind = INTENT_EXIT, .why = why};
    if (before * side < 0 && (input->qty == 0 || leaves) && enter(p, input, side, &intents[n]))
        intents[n++].why = why;
    return n;
}

static void scan(const double *p, const struct strategy_columns *columns, uint64_t *flat, uint64_t *holding)
{
    (void)p;
    strategy_cross_scan(columns, 3, flat, holding);
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
