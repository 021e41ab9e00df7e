#include <math.h>
#include <stdio.h>

#include "strategy/cross.h"
#include "strategy/strategies.h"

enum { FAST, SLOW, RSI, RSI_MAX, ATR, STOP_ATR, FRACTION, AVERAGE, DIRECTION };

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast average", 10, 2, 1000, true},
    [SLOW] = {"slow", "bars of the slow average", 30, 3, 5000, true},
    [RSI] = {"rsi", "bars of the RSI", 14, 2, 1000, true},
    [RSI_MAX] = {"rsi_max", "no entry while the RSI is above", 70, 0, 100, false},
    [ATR] = {"atr", "bars of the ATR that the stop is measured in", 14, 1, 1000, true},
    [STOP_ATR] = {"stop_atr", "stop this many ATR below the entry's close; 0: no stop", 2, 0, 100, false},
    [FRACTION] = {"fraction", "of equity in each position", 0.25, 0.001, 1, false,
                  .opens = STRATEGY_OPENS_EACH},
    [AVERAGE] = {CROSS_AVERAGE},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

static const char *check(const double *p)
{
    return p[FAST] < p[SLOW] ? NULL : "fast: fewer bars than slow are needed";
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    cross_spec(out[0], p[AVERAGE], p[FAST]);
    cross_spec(out[1], p[AVERAGE], p[SLOW]);
    snprintf(out[2], STRATEGY_SPEC_TEXT, "rsi:%d", (int)p[RSI]);
    snprintf(out[3], STRATEGY_SPEC_TEXT, "atr:%d", (int)p[ATR]);
    return 4;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    double fast = input->indicators[0], slow = input->indicators[1];
    double rsi = input->indicators[2], atr = input->indicators[3];
    if (isnan(fast) || isnan(slow) || isnan(rsi) || isnan(atr))
        return 0;

    const struct cross_turn turn = cross_take(state, p[DIRECTION], input, fast, slow);
    size_t n = cross_leave(&turn, intents);
    if (turn.enters && !direction_beyond(turn.side, rsi, direction_level(turn.side, p[RSI_MAX]))) {
        double stop = p[STOP_ATR] > 0 ? input->close - turn.side * p[STOP_ATR] * atr : 0;
        intents[n++] = (struct intent){.kind = direction_entry(turn.side),
                                       .fraction = p[FRACTION],
                                       .stop = stop > 0 ? stop : 0,
                                       .why = cross_why(&turn)};
    }
    return n;
}

static void scan(const double *p, const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    (void)p;
    strategy_cross_scan(columns, 4, marks);
}

STRATEGY_ROW(sma_cross_rsi) = {
    .name = "sma-cross-rsi",
    .summary = "buys when the fast average crosses above the slow one and the RSI is not overbought; sells "
               "on the cross below, or at a stop measured in ATR; short the other way round",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
};
