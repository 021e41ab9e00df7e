#include <math.h>
#include <stdio.h>

#include "strategy/direction.h"
#include "strategy/sizing.h"
#include "strategy/strategies.h"

#define MINUTE_NS (60 * 1000000000LL)
#define DAY_NS    (24 * 60 * MINUTE_NS)

enum { START, LENGTH, RANGE, LATE, TREND, VOLUME, PROFIT_RISK, RISK, FRACTION_MAX, DIRECTION };

static const struct strategy_param params[] = {
    [START] = {"start", "without a calendar: minutes from midnight UTC to the opening of the session", 810, 0,
               1439, true},
    [LENGTH] = {"length", "without a calendar: minutes of the session", 390, 2, 1440, true},
    [RANGE] = {"range", "minutes of the opening range", 30, 1, 1439, true},
    [LATE] = {"late", "minutes before the close without entries", 60, 0, 1439, true},
    [TREND] = {"trend", "no entry unless the close is above the average of so many bars", 50, 1, 5000, true},
    [VOLUME] = {"volume", "nor unless the bar's volume is this many times the range's mean; 0: any", 0, 0,
                100, false},
    [PROFIT_RISK] = {"profit_risk", "profit at this many times the way to the stop; 0: none", 2, 0, 100,
                     false},
    [RISK] = {"risk", "of equity that the stop may lose", 0.01, 0.0001, 0.5, false},
    [FRACTION_MAX] = {"fraction_max", "of equity in a position, at most", 0.5, 0.001, 1, false},
    [DIRECTION] = {DIRECTION_PARAM(DIRECTION_LONG)},
};

struct memory {
    int64_t session; /* its number from 1970 on, or with a calendar its opening */
    double high, low, volume;
    uint32_t bars; /* of the opening range, so far */
    bool entered;
};

static const char *check(const double *p)
{
    if (p[RANGE] >= p[LENGTH])
        return "range: fewer minutes than length are needed";
    return p[RANGE] + p[LATE] < p[LENGTH] ? NULL : "late: with range, fewer minutes than length are needed";
}

static size_t specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    snprintf(out[0], STRATEGY_SPEC_TEXT, "sma:%d", (int)p[TREND]);
    return 1;
}

static void widen(struct memory *memory, const struct strategy_input *input)
{
    memory->high = memory->bars == 0 ? input->high : fmax(memory->high, input->high);
    memory->low = memory->bars == 0 ? input->low : fmin(memory->low, input->low);
    memory->volume += input->volume;
    memory->bars++;
}

static size_t enter(const double *p, struct memory *memory, const struct strategy_input *input,
                    struct intent *intent)
{
    double close = input->close, trend = input->indicators[0];
    int side = close > memory->high ? 1 : close < memory->low ? -1 : 0;
    if (side == 0 || !direction_opens(p[DIRECTION], side, input) || !direction_beyond(side, close, trend) ||
        !(input->volume >= p[VOLUME] * (memory->volume / memory->bars)))
        return 0;
    double stop = side > 0 ? memory->low : memory->high;
    double profit = p[PROFIT_RISK] > 0 ? close + p[PROFIT_RISK] * (close - stop) : 0;
    if (!sizing_side(side, p[RISK], p[FRACTION_MAX], close, stop, profit, intent))
        return 0;
    intent->why = "opening range broken";
    memory->entered = true;
    return 1;
}

/* The session that a bar opens in or after, when in it the bar opens, and how long it is. */
struct place {
    int64_t session, at, length;
};

static struct place find_place(const double *p, const struct strategy_input *input)
{
    int64_t open_ns = input->ts_ns - input->interval_ns;
    if (input->session_open_ns > 0)
        return (struct place){input->session_open_ns, open_ns - input->session_open_ns,
                              input->session_close_ns - input->session_open_ns};
    int64_t since = open_ns - (int64_t)p[START] * MINUTE_NS;
    int64_t session = since / DAY_NS - (since % DAY_NS < 0);
    return (struct place){session, since - session * DAY_NS, (int64_t)p[LENGTH] * MINUTE_NS};
}

/* A bar belongs to the session and the part of it that it opens in. An order of this bar fills at the next
 * one at the latest, so the position is sold while one bar remains before the close. */
static size_t on_bar(const double *p, void *state, const struct strategy_input *input, struct intent *intents)
{
    struct memory *memory = state;
    const struct place place = find_place(p, input);
    int64_t range = (int64_t)p[RANGE] * MINUTE_NS;
    int64_t left = place.length - place.at - input->interval_ns; /* of the session, when this bar closes */
    if (place.session != memory->session)
        *memory = (struct memory){.session = place.session};
    if (place.at < range)
        widen(memory, input);

    if (input->live_orders)
        return 0;
    bool closing = left <= input->interval_ns;
    int held = direction_held(input);
    if (held != 0 && direction_trades(p[DIRECTION], held) && (closing || !memory->entered)) {
        intents[0] = (struct intent){.kind = INTENT_EXIT,
                                     .why = closing && left > 0 ? "session closes" : "session is over"};
        return 1;
    }
    if (held != 0 || memory->entered || memory->bars == 0 || place.at < range || closing ||
        left < (int64_t)p[LATE] * MINUTE_NS)
        return 0;
    return enter(p, memory, input, intents);
}

/* In the opening range no bar is passed over; then until a close leaves it, or what is held must be sold;
 * else until the next session. */
static void idle(const double *p, const void *state, const struct strategy_input *input,
                 struct strategy_idle *ret)
{
    const struct memory *memory = state;
    const struct place place = find_place(p, input);
    const int64_t opens_ns = input->ts_ns - input->interval_ns - place.at;
    int64_t left = place.length - place.at - input->interval_ns;
    int held = direction_held(input);
    ret->until_ns = opens_ns + DAY_NS + input->interval_ns;
    if (place.at + input->interval_ns < (int64_t)p[RANGE] * MINUTE_NS) {
        ret->until_ns = input->ts_ns;
    } else if (input->live_orders) {
        return;
    } else if (held != 0 && direction_trades(p[DIRECTION], held)) {
        int64_t closing_ns = opens_ns + place.length - input->interval_ns;
        if (closing_ns < ret->until_ns)
            ret->until_ns = closing_ns;
    } else if (held == 0 && !memory->entered && memory->bars > 0 && left > input->interval_ns &&
               left >= (int64_t)p[LATE] * MINUTE_NS) {
        ret->low = direction_opens(p[DIRECTION], -1, input) ? memory->low : -INFINITY;
        ret->high = direction_opens(p[DIRECTION], 1, input) ? memory->high : INFINITY;
    }
}

STRATEGY_ROW(day_trade) = {
    .name = "day-trade",
    .summary = "buys when the opening range of a daily session is broken upwards, or sells short when it is "
               "downwards, once a session; flat before the session closes",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .shorts = true,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
    .idle = idle,
};
