/* Where an indicator belongs on a chart: over the prices, or below them on a scale of its own. By the names
 * of outputs: "sma_20", "bbands_20_2.upper", "macd_12_26_9.signal". Pure. */
#ifndef TUI_OVERLAY_H
#define TUI_OVERLAY_H

#include <stdbool.h>

#include "tui/history.h"

enum { OVERLAY_HIDES_MAX = 256 };

#define OVERLAY_HIDES_NONE "none"

/* Is its indicator, what stands before the point, one of those that are hidden? `hides` is the text of a
 * settings file: names separated by blanks, or OVERLAY_HIDES_NONE. */
bool tui_overlay_is_hidden(const char *hides, const char *name);

/* Hides the output's indicator, or shows it. False: the text would be too long, and stays. */
bool tui_overlay_toggle(char hides[static OVERLAY_HIDES_MAX], const char *name);

/* Is it a price, to be drawn over the prices? */
bool tui_overlay_on_price(const char *name);

/* The output after those of one indicator from `first` on that belong where it does: they share what stands
 * before the point. */
int tui_overlay_end(const struct history *history, int first);

/* The indicators that are drawn below, each the outputs first..end-1 of the history, in its order: the
 * `at`-th of them that is not hidden. False when there are not so many. */
bool tui_overlay_below(const struct history *history, const char *hides, int at, int *ret_first,
                       int *ret_end);

#endif
