#include <math.h>
#include <stdio.h>

#include "strategy/direction.h"
#include "strategy/record.h"
#include "strategy/sizing.h"
#include "strategy/strategies.h"

#define MINUTE_NS (60 * 1000000000LL)
#define HOUR_NS   (60 * MINUTE_NS)

enum {
    FAST,
    MID,
    SLOW,
    PERIOD,
    RSI_MIN,
    RSI_MAX,
    STOCH_MAX,
    STOP_ATR,
    PROFIT_ATR,
    TRAIL_ATR,
    RISK,
    FRACTION_MAX,
    LIMIT_ATR,
    LIMIT_MINUTES,
    LOSSES_MAX,
    PAUSE_HOURS,
    DIRECTION
};

/* Outputs, in the order of the specs. */
enum {
    OUT_FAST_4H,
    OUT_MID_4H,
    OUT_SLOW_4H,
    OUT_FAST_1H,
    OUT_MID_1H,
    OUT_SLOW_1H,
    OUT_RSI,
    OUT_SLOWK,
    OUT_SLOWD,
    OUT_ATR,
    OUTPUTS
};

static const struct strategy_param params[] = {
    [FAST] = {"fast", "bars of the fast averages, of 4h and of 1h", 9, 1, 1000, true},
    [MID] = {"mid", "bars of the middle averages", 26, 2, 2000, true},
    [SLOW] = {"slow", "bars of the slow averages", 50, 3, 5000, true},
    [PERIOD] = {"period", "1h bars of the RSI, the stochastic and the ATR", 14, 2, 1000, true},
    [RSI_MIN] = {"rsi_min", "no entry while the RSI is below", 30, 0, 100, false},
    [RSI_MAX] = {"rsi_max", "no entry while the RSI is above", 70, 0, 100, false},
    [STOCH_MAX] = {"stoch_max", "no entry unless the stochastic's slow line is below", 75, 0, 101, false},
    [STOP_ATR] = {"stop_atr", "stop this many ATR below the entry", 2, 0.1, 100, false},
    [PROFIT_ATR] = {"profit_atr", "profit this many ATR above the entry; 0: none", 4, 0, 100, false},
    [TRAIL_ATR] = {"trail_atr", "the stop follows the close, this many ATR below; 0: it stays", 0, 0, 100,
                   false},
    [RISK] = {"risk", "of equity that the stop may lose", 0.02, 0.0001, 0.5, false},
    [FRACTION_MAX] = {"fraction_max", "of equity in a position, at most", 0.5, 0.001, 1, false},
    [LIMIT_ATR] = {"limit_atr", "buys this many ATR below the close; 0: at market", 0.25, 0, 10, false},
    [LIMIT_MINUTES] = {"limit_minutes", "minutes until an entry at a limit is given up", 120, 1, 10080, true},
    [LOSSES_MAX] = {"losses_max", "losses in a row that a pause follows; 0: never", 3, 0, 1000, true},
    [PAUSE_HOURS] = {"pause_hours", "hours of that pause", 24, 1, 10000, true},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

struct memory {
    int64_t hour;     /* of the last decision, counted from 1970 */
    int64_t pause_ns; /* no entry before */
    uint32_t trades;  /* closed trades so far */
};

static const char *check(const double *p)
{
    if (p[FAST] >= p[MID])
        return "fast: fewer bars than mid are needed";
    if (p[MID] >= p[SLOW])
        return "mid: fewer bars than slow are needed";
    return p[RSI_MIN] < p[RSI_MAX] ? NULL : "rsi_min: less than rsi_max is needed";
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    size_t n = 0;
    for (int hours = 4; hours >= 1; hours -= 3)
        for (int i = FAST; i <= SLOW; i++)
            snprintf(out[n++], STRATEGY_SPEC_TEXT, "ema:%d@%dh", (int)p[i], hours);
    snprintf(out[n++], STRATEGY_SPEC_TEXT, "rsi:%d@1h", (int)p[PERIOD]);
    snprintf(out[n++], STRATEGY_SPEC_TEXT, "stoch:%d,3,3@1h", (int)p[PERIOD]);
    snprintf(out[n++], STRATEGY_SPEC_TEXT, "atr:%d@1h", (int)p[PERIOD]);
    return n;
}

/* Counts the account's closed trades, and pauses after too many losses in a row. */
static void take_record(const double *p, struct memory *memory, const struct strategy_input *input)
{
    const struct strategy_record *record = input->record;
    uint32_t trades = record->wins + record->losses;
    if (trades == memory->trades)
        return;
    memory->trades = trades;
    if (p[LOSSES_MAX] > 0 && record->losing >= p[LOSSES_MAX])
        memory->pause_ns = input->ts_ns + (int64_t)p[PAUSE_HOURS] * HOUR_NS;
}

/* Are fast, mid and slow in the order of a trend: rising, for a short falling? */
static bool trends(int side, const double *in)
{
    return direction_beyond(side, in[0], in[1]) && direction_beyond(side, in[1], in[2]);
}

static bool may_enter(const double *p, const struct memory *memory, const struct strategy_input *input,
                      int side)
{
    const double *in = input->indicators;
    return direction_opens(p[DIRECTION], side, input) && input->ts_ns >= memory->pause_ns &&
           trends(side, in + OUT_FAST_4H) && trends(side, in + OUT_FAST_1H) &&
           direction_within(side, in[OUT_RSI], p[RSI_MIN], p[RSI_MAX]) &&
           direction_beyond(-side, in[OUT_SLOWK], direction_level(side, p[STOCH_MAX])) && in[OUT_ATR] > 0;
}

static size_t enter(const double *p, const struct strategy_input *input, int side, struct intent *intent)
{
    double atr = input->indicators[OUT_ATR], price = input->close - side * p[LIMIT_ATR] * atr;
    if (!sizing_atr(side, p[RISK], p[FRACTION_MAX], price, atr, p[STOP_ATR], p[PROFIT_ATR], intent))
        return 0;
    if (p[LIMIT_ATR] > 0) {
        intent->limit = price;
        intent->good_ns = input->ts_ns + (int64_t)p[LIMIT_MINUTES] * MINUTE_NS;
    }
    intent->why = "trends of 4h and 1h agree";
    return 1;
}

/* Moves the stop after the close, away from the loss only. */
static size_t trail(const double *p, const struct strategy_input *input, int side, struct intent *intent)
{
    double stop = input->close - side * p[TRAIL_ATR] * input->indicators[OUT_ATR];
    if (p[TRAIL_ATR] == 0 || !(input->stop > 0) || !direction_beyond(side, stop, input->stop) ||
        !direction_beyond(side, input->close, stop))
        return 0;
    *intent = (struct intent){.kind = INTENT_STOP, .stop = stop, .why = "stop follows the close"};
    return 1;
}

static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct memory *memory = state;
    const double *in = input->indicators;
    int held = direction_held(input);
    int64_t hour = input->ts_ns / HOUR_NS;
    bool new_hour = hour != memory->hour;
    memory->hour = hour;
    take_record(p, memory, input);
    if (input->live_orders)
        return 0;
    size_t n = 0;
    if (held != 0) {
        if (!direction_trades(p[DIRECTION], held))
            return 0;
        if (!direction_beyond(-held, in[OUT_FAST_1H], in[OUT_MID_1H]))
            return new_hour ? trail(p, input, held, intents) : 0;
        intents[n++] = (struct intent){.kind = INTENT_EXIT, .why = "trend of 1h turned"};
    }
    int side = in[OUT_FAST_1H] > in[OUT_MID_1H] ? 1 : -1;
    if (new_hour && may_enter(p, memory, input, side))
        n += enter(p, input, side, &intents[n]);
    return n;
}

/* Bars of 1h and 4h close where an hour ends, or at the first bar of a later one. */
static void idle(const double *p, const void *state, const struct strategy_input *input,
                 struct strategy_idle *ret)
{
    const struct memory *memory = state;
    (void)p, (void)input;
    ret->until_ns = (memory->hour + 1) * HOUR_NS;
}

STRATEGY_ROW(trend_4h_1h) = {
    .name = "trend-4h-1h",
    .summary = "buys pull-backs, once an hour, while the averages of 4h and of 1h rise and neither RSI nor "
               "stochastic is high; sells when the 1h trend turns, at a stop or at a profit; short the other "
               "way round",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .idle = idle,
};
