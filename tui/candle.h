/* Bars drawn as candles in cells, and their volume: two levels a cell, so that a wick and a body end in half
 * cells. Rising bars have a thin or hollow body and falling ones a filled one, whatever the colours. */
#ifndef TUI_CANDLE_H
#define TUI_CANDLE_H

#include "tui/axis.h"
#include "tui/canvas.h"

/* Draws over what the area has: columns of the time axis, rows of the price axis. Bars that share a column
 * are one candle, from the first one's open to the last one's close, with the highest high and the lowest
 * low. What forms is dim, unless it shares its column. */
void tui_candle_draw(const struct area *area, const struct time_axis *time, const struct price_axis *price);

/* Draws the volume of each column from the lowest row on; of bars that share one, their mean, as one column
 * has more of them than the next. Returns the largest, which is as high as the area; 0: nothing is drawn. */
double tui_candle_volume(const struct area *area, const struct time_axis *time);

#endif
