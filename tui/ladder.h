/* An order book drawn as a ladder: asks above, the best nearest the middle; the spread; bids below. */
#ifndef TUI_LADDER_H
#define TUI_LADDER_H

#include "tui/canvas.h"
#include "tui/depth.h"

/* Draws as many levels as the area has rows for, half of them a side, each with its price, its quantity and a
 * bar as long as that is of the largest that is shown, and between them the spread in the prices' unit and in
 * basis points of the middle, or what is wrong: a side without levels, a bid that is not below the ask. A
 * price at which orders of ours rest is marked with a star, with what is left of them where there is room; it
 * has a row of its own where the book has no such level, with a dash as the quantity. `decimals`: of the
 * symbol's prices. */
void tui_ladder_draw(const struct area *area, const struct depth_book *book, int decimals,
                     const struct depth_own *own, int n_own);

#endif
