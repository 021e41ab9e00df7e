/* Lines of figures drawn in cells: braille dots, eighths of a block, or ASCII, as the canvas allows. */
#ifndef TUI_CHART_H
#define TUI_CHART_H

#include "tui/canvas.h"

/* Draws values[0..n), oldest first, over the whole area, from `low` at the bottom to `high` at the top, each
 * column the last of the values that fall into it; NaN leaves a gap. Fewer values than columns stand at the
 * right. */
void tui_chart_line(const struct area *area, const double *values, int n, double low, double high,
                    enum style style);

/* The same as single marks over what is drawn already, for a second line: braille dots where there is
 * braille, else one character a column, and only in empty cells. */
void tui_chart_overlay(const struct area *area, const double *values, int n, double low, double high,
                       enum style style);

/* The same as one mark a column, only in empty cells: of several lines the first that is drawn is on top. */
void tui_chart_marks(const struct area *area, const double *values, int n, double low, double high,
                     enum style style, wchar_t mark);

/* The least and the greatest of the values that are numbers, with a little room; false when there is none. */
bool tui_chart_range(const double *values, int n, double *ret_low, double *ret_high);

/* A horizontal bar of `columns` columns, `share` (0..1) of them full. */
void tui_chart_bar(const struct area *area, int x, int y, int columns, double share, enum style style);

#endif
