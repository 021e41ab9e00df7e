/* The newest trades of a symbol, drawn one a row. */
#ifndef TUI_TAPE_H
#define TUI_TAPE_H

#include "tui/canvas.h"
#include "tui/depth.h"

/* Draws trades from number `first` on, newest first, each with its time, which side took (BUY, SELL; where
 * there are few columns + and -; nothing where the venue does not say), its price and its quantity. In a
 * narrow area the time loses its seconds, then it is left out; then the quantity is rounded. A trade that
 * makes no price is dim. `decimals`: of the symbol's prices, which no price has fewer of. */
void tui_tape_draw(const struct area *area, const struct depth_tape *tape, int decimals, int first);

#endif
