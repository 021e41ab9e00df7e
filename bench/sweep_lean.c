/* The lean kernel that bench/sweep compares with: the screen's own loop with equity, drawdown and the first
 * two moments alone. Compiled once for each instruction set: LEAN_SET names it. */
#include "engine/backtest/screen/set.h"

static void lean(const struct screen_stretch *stretch, struct screen_group *g, bool traded)
{
    screen_group_walk(stretch, g, traded, SCREEN_CROSS, false, false);
}

extern screen_walk_function *const LEAN_SET;
screen_walk_function *const LEAN_SET = lean;
