/* Which way a strategy trades: a parameter of every built-in rule of one symbol, whose short side is the
 * mirror of its long one. A position on a side that is not traded, as one by hand, is not the rule's: it is
 * left alone. */
#ifndef STRATEGY_DIRECTION_H
#define STRATEGY_DIRECTION_H

#include "strategy/strategy.h"

enum direction { DIRECTION_LONG, DIRECTION_SHORT, DIRECTION_BOTH };

#define DIRECTION_NAME "direction"
/* The parameter, the last of its strategy; `fallback` is what it traded before it had one. */
#define DIRECTION_PARAM(fallback) \
    DIRECTION_NAME, "which way it trades; short only where the account may be", fallback, 0, DIRECTION_BOTH, \
        true, .words = "long short both", .later = true

/* A side is 1, long, or -1, short; of a position also 0, flat. */
static inline int direction_held(const struct strategy_input *input)
{
    return (input->qty > 0) - (input->qty < 0);
}

/* Is a position on this side the rule's? */
static inline bool direction_trades(double direction, int side)
{
    return direction != (side > 0 ? DIRECTION_SHORT : DIRECTION_LONG);
}

/* May it be opened here? */
static inline bool direction_opens(double direction, int side, const struct strategy_input *input)
{
    return direction_trades(direction, side) && (side > 0 || input->shorts);
}

static inline enum intent_kind direction_entry(int side)
{
    return side > 0 ? INTENT_ENTER : INTENT_SHORT;
}

/* Is `a` beyond `b`: above it, from the short side below? */
static inline bool direction_beyond(int side, double a, double b)
{
    return side > 0 ? a > b : a < b;
}

/* A level of an oscillator between 0 and 100, as the short side has it mirrored. */
static inline double direction_level(int side, double level)
{
    return side > 0 ? level : 100 - level;
}

/* Is an oscillator between two levels, both included? */
static inline bool direction_within(int side, double x, double least, double most)
{
    double low = direction_level(side, side > 0 ? least : most);
    double high = direction_level(side, side > 0 ? most : least);
    return x >= low && x <= high;
}

/* Which way a strategy trades with these parameters; without the parameter both, if it sells short at all. */
enum direction strategy_direction(const struct strategy *strategy, const double *params);

/* What becomes of it where the account may not be short: "trades long only" or "opens nothing"; NULL: what it
 * does anyway. */
const char *strategy_without_shorts(const struct strategy *strategy, const double *params);

#endif
