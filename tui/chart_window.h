/* Which bars a chart shows, of those that were read, and how: what the user has chosen. Pure. */
#ifndef TUI_CHART_WINDOW_H
#define TUI_CHART_WINDOW_H

#include "tui/history.h"

enum {
    CHART_BARS_MIN = 8, /* that zooming leaves, and the most */
    CHART_BARS_MAX = HISTORY_BARS_MAX - HISTORY_BARS_AFTER,
    CHART_COLUMNS_MIN = 8, /* of a chart */
};

struct chart_window {
    bool line;      /* closes as a line, not candles */
    bool log;       /* logarithmic prices */
    bool crosshair; /* on the bar that opens at crosshair_ns */
    int bars;       /* how many; 0: as many as there are columns */
    int64_t end_ns; /* the last bar opens then or before; 0: the newest one that there is */
    int64_t crosshair_ns;
};

/* The bars first..first+n-1 of the history that are shown in so many columns; n is 0 where there are none. */
void tui_chart_window(const struct chart_window *window, const struct history *history, int columns,
                      int *ret_first, int *ret_n);

/* The bar of the history at the crosshair: the one that opens then, else the nearest that is shown; -1: there
 * is no crosshair, or no bar. */
int tui_chart_crosshair(const struct chart_window *window, const struct history *history, int first, int n);

/* Moves the window, or the crosshair where it is on, by that many bars: negative to older ones. It may end
 * before the bars that were read, when the database has older ones: they are to be read then. */
void tui_chart_pan(struct chart_window *window, const struct history *history, int columns, int bars);
/* Shows half as many bars, or twice as many; the last bar stays, or the crosshair's, about where it is. */
void tui_chart_zoom(struct chart_window *window, const struct history *history, int columns, bool closer);

#endif
