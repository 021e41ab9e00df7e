#include <math.h>
#include <stdio.h>

#include "strategy/clones.h"
#include "strategy/direction.h"
#include "strategy/mask.h"
#include "strategy/sizing.h"
#include "strategy/strategies.h"

enum {
    FAST,
    SLOW,
    RSI,
    RSI_MIN,
    RSI_MAX,
    MACD_FAST,
    MACD_SLOW,
    MACD_SIGNAL,
    ATR,
    STOP_ATR,
    PROFIT_ATR,
    RISK,
    FRACTION_MAX,
    POSITIONS_MAX,
    DIRECTION
};

/* Outputs, in the order of the specs. */
enum { OUT_FAST, OUT_SLOW, OUT_RSI, OUT_MACD, OUT_SIGNAL, OUT_HIST, OUT_ATR, OUTPUTS };

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast average", 20, 1, 1000, true},
    [SLOW] = {"slow", "bars of the slow average", 50, 2, 5000, true},
    [RSI] = {"rsi", "bars of the RSI", 14, 2, 1000, true},
    [RSI_MIN] = {"rsi_min", "the RSI agrees from here, and turns below", 50, 0, 100, false},
    [RSI_MAX] = {"rsi_max", "the RSI agrees up to here", 70, 0, 100, false},
    [MACD_FAST] = {"macd_fast", "bars of the MACD's fast average", 12, 2, 1000, true},
    [MACD_SLOW] = {"macd_slow", "bars of the MACD's slow average", 26, 3, 5000, true},
    [MACD_SIGNAL] = {"macd_signal", "bars of the MACD's signal", 9, 1, 1000, true},
    [ATR] = {"atr", "bars of the ATR that stop and profit are measured in", 14, 1, 1000, true},
    [STOP_ATR] = {"stop_atr", "stop this many ATR below the entry's close", 2, 0.1, 100, false},
    [PROFIT_ATR] = {"profit_atr", "profit this many ATR above the entry's close; 0: none", 4, 0, 100, false},
    [RISK] = {"risk", "of equity that the stop may lose", 0.01, 0.0001, 0.5, false},
    [FRACTION_MAX] = {"fraction_max", "of equity in a position, at most", 0.5, 0.001, 1, false},
    [POSITIONS_MAX] = {"positions_max", "symbols held at once, at most", 3, 1, 1000, true},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

/* Did all three agree at the last bar? 1 yes, -1 no, 0 unknown yet. */
struct memory {
    int agreed, agreed_short;
};

/* What the three say to a side, 1 or -1. */
struct vote {
    bool comes; /* they agree, and did not at the bar before */
    int turned; /* how many have turned against it */
};

static const char *check(const double *p)
{
    if (p[FAST] >= p[SLOW])
        return "fast: fewer bars than slow are needed";
    if (p[MACD_FAST] >= p[MACD_SLOW])
        return "macd_fast: fewer bars than macd_slow are needed";
    return p[RSI_MIN] < p[RSI_MAX] ? NULL : "rsi_min: less than rsi_max is needed";
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    snprintf(out[0], STRATEGY_SPEC_TEXT, "sma:%d", (int)p[FAST]);
    snprintf(out[1], STRATEGY_SPEC_TEXT, "sma:%d", (int)p[SLOW]);
    snprintf(out[2], STRATEGY_SPEC_TEXT, "rsi:%d", (int)p[RSI]);
    snprintf(out[3], STRATEGY_SPEC_TEXT, "macd:%d,%d,%d", (int)p[MACD_FAST], (int)p[MACD_SLOW],
             (int)p[MACD_SIGNAL]);
    snprintf(out[4], STRATEGY_SPEC_TEXT, "atr:%d", (int)p[ATR]);
    return 5;
}

static struct vote take(const double *p, int *agreed, const double *in, int side)
{
    bool agree = direction_beyond(side, in[OUT_FAST], in[OUT_SLOW]) &&
                 direction_within(side, in[OUT_RSI], p[RSI_MIN], p[RSI_MAX]) &&
                 direction_beyond(side, in[OUT_HIST], 0);
    const struct vote vote = {.comes = agree && *agreed < 0,
                              .turned =
                                  direction_beyond(-side, in[OUT_FAST], in[OUT_SLOW]) +
                                  direction_beyond(-side, in[OUT_RSI], direction_level(side, p[RSI_MIN])) +
                                  direction_beyond(-side, in[OUT_HIST], 0)};
    *agreed = agree ? 1 : -1;
    return vote;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct memory *memory = state;
    const double *in = input->indicators;
    struct vote longs = {0}, shorts = {0};
    for (size_t i = 0; i < OUTPUTS; i++)
        if (isnan(in[i]))
            return 0;
    if (direction_trades(p[DIRECTION], 1))
        longs = take(p, &memory->agreed, in, 1);
    if (direction_trades(p[DIRECTION], -1))
        shorts = take(p, &memory->agreed_short, in, -1);
    if (input->live_orders)
        return 0;
    int held = direction_held(input), side = longs.comes ? 1 : -1;
    bool leaves = held != 0 && (held > 0 ? longs.turned : shorts.turned) >= 2;
    size_t n = 0;
    if (leaves)
        intents[n++] = (struct intent){.kind = INTENT_EXIT, .why = "two of three turned"};
    if ((longs.comes || shorts.comes) && (held == 0 || leaves) &&
        direction_opens(p[DIRECTION], side, input) && input->positions - leaves < p[POSITIONS_MAX] &&
        sizing_atr(side, p[RISK], p[FRACTION_MAX], input->close, in[OUT_ATR], p[STOP_ATR], p[PROFIT_ATR],
                   &intents[n]))
        intents[n++].why = "all three agree";
    return n;
}

/* Marks where the three begin or cease to agree, and, with a position, where two have turned. */
CLONES static void scan(const double *p, const struct strategy_columns *columns,
                        const struct strategy_marks *marks)
{
    const bool longs = direction_trades(p[DIRECTION], 1), shorts = direction_trades(p[DIRECTION], -1);
    size_t from = mask_known_from(columns, OUTPUTS);
    uint64_t agree_before = 0, other_before = 0, short_before = 0, not_short_before = 0;
    for (size_t i = 0; i < columns->n; i += MASK_BITS) {
        size_t n = mask_bars(columns->n, i);
        const double *const *in = columns->indicators;
        const double *fast = in[OUT_FAST] + i, *slow = in[OUT_SLOW] + i, *rsi = in[OUT_RSI] + i;
        const double *hist = in[OUT_HIST] + i;
        uint64_t known = mask_range(i, from, columns->n);
        uint64_t up = mask_above(fast, slow, n), down = mask_above(slow, fast, n);
        uint64_t rising = mask_above_level(hist, 0, n), falling = mask_below_level(hist, 0, n);
        uint64_t turns = 0, two = 0, two_short = 0;
        if (longs) {
            uint64_t low = mask_below_level(rsi, p[RSI_MIN], n), high = mask_above_level(rsi, p[RSI_MAX], n);
            uint64_t agree = known & ~low & ~high & up & rising;
            turns = mask_rises(agree, &agree_before) | mask_rises(known & ~agree, &other_before);
            two = (down & low) | (down & falling) | (low & falling);
        }
        if (shorts) {
            uint64_t low = mask_below_level(rsi, 100 - p[RSI_MAX], n);
            uint64_t high = mask_above_level(rsi, 100 - p[RSI_MIN], n);
            uint64_t agree = known & ~low & ~high & down & falling;
            turns |= mask_rises(agree, &short_before) | mask_rises(known & ~agree, &not_short_before);
            two_short = (up & high) | (up & rising) | (high & rising);
        }
        marks->flat[i / MASK_BITS] = turns;
        marks->holding[i / MASK_BITS] = turns | (known & two);
        if (marks->shorted)
            marks->shorted[i / MASK_BITS] = turns | (known & two_short);
    }
}

STRATEGY_ROW(triple_confirmation) = {
    .name = "triple-confirmation",
    .summary = "buys when averages, RSI and MACD come to agree; sells when two of them turn, at a stop or at "
               "a profit; short the other way round",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .scan = scan,
};
