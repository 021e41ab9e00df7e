/* The crossing of two averages. The fast one is above the slow one or below; where they are equal, it stays
 * on its last side. */
#ifndef STRATEGY_CROSS_H
#define STRATEGY_CROSS_H

#include <stdio.h>

#include "strategy/direction.h"
#include "strategy/strategy.h"

/* The memory between bars. */
struct cross {
    int side; /* -1 below, 1 above, 0 not known yet */
};

/* The side at this bar, from the one before. */
static inline int cross_side(int before, double fast, double slow)
{
    return fast > slow ? 1 : fast < slow ? -1 : before;
}

/* What a bar means to a strategy that trades crosses. */
struct cross_turn {
    int side;    /* 1 above, -1 below, 0 not known yet */
    bool leaves; /* it holds its position against the side: EXIT */
    bool enters; /* the averages crossed at this bar, and nothing is held, or is left at it: an entry */
};

/* Takes a bar's averages. */
static inline struct cross_turn cross_take(struct cross *memory, double direction,
                                           const struct strategy_input *input, double fast, double slow)
{
    int before = memory->side, side = cross_side(before, fast, slow), held = direction_held(input);
    memory->side = side;
    if (input->live_orders)
        return (struct cross_turn){.side = side};
    bool leaves = held * side < 0 && direction_trades(direction, held);
    bool enters = before * side < 0 && (held == 0 || leaves) && direction_opens(direction, side, input);
    return (struct cross_turn){side, leaves, enters};
}

static inline const char *cross_why(const struct cross_turn *turn)
{
    return turn->side > 0 ? "cross up" : "cross down";
}

/* Writes the exit that the bar means: how many intents it is. */
static inline size_t cross_leave(const struct cross_turn *turn, struct intent *intents)
{
    if (turn->leaves)
        intents[0] = (struct intent){.kind = INTENT_EXIT, .why = cross_why(turn)};
    return turn->leaves;
}

/* Their kind, a parameter of the crosses. */
#define CROSS_AVERAGE \
    "average", "of the averages: simple, or exponential", 0, 0, 1, true, .words = "sma ema", .later = true

/* "ema:10" */
static inline void cross_spec(char out[static STRATEGY_SPEC_TEXT], double average, double period)
{
    snprintf(out, STRATEGY_SPEC_TEXT, "%s:%d", average == 0 ? "sma" : "ema", (int)period);
}

/* scan() of a strategy whose outputs 0 and 1 are the averages, which does nothing while one of its first
 * n_outputs is NaN, enters only on crosses and leaves while the fast one is on the other side. */
void strategy_cross_scan(const struct strategy_columns *columns, size_t n_outputs,
                         const struct strategy_marks *marks);

/* The same marks, to the bit, for simple averages of `fast` < `slow` closes, which are above 0, and for no
 * other outputs. */
void strategy_cross_scan_closes(const double *close, size_t n, size_t fast, size_t slow,
                                const struct strategy_marks *marks);

#endif
