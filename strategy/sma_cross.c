#include <math.h>
#include <stdio.h>

#include "strategy/cross.h"
#include "strategy/strategies.h"

enum { FAST, SLOW, FRACTION, AVERAGE, DIRECTION };

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast average", 10, 1, 1000, true},
    [SLOW] = {"slow", "bars of the slow average", 30, 2, 5000, true},
    [FRACTION] = {"fraction", "of equity in each position", 1, 0.001, 1, false, .opens = STRATEGY_OPENS_EACH},
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
    return 2;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    double fast = input->indicators[0], slow = input->indicators[1];
    if (isnan(fast) || isnan(slow))
        return 0;
    const struct cross_turn turn = cross_take(state, p[DIRECTION], input, fast, slow);
    size_t n = cross_leave(&turn, intents);
    if (turn.enters)
        intents[n++] = (struct intent){
            .kind = direction_entry(turn.side), .fraction = p[FRACTION], .why = cross_why(&turn)};
    return n;
}

static void scan(const double *p, const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    (void)p;
    strategy_cross_scan(columns, 2, marks);
}

static void scan_bars(const double *p, const struct strategy_columns *columns,
                      const struct strategy_marks *marks)
{
    strategy_cross_scan_closes(columns->close, columns->n, (size_t)p[FAST], (size_t)p[SLOW], marks);
}

STRATEGY_ROW(sma_cross) = {
    .name = "sma-cross",
    .summary =
        "buys when the fast average crosses above the slow one, sells when it is below; short the other "
        "way round",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
    .scan_bars = scan_bars,
};
