/* The figures above a chart: of one bar, and of indicators, each in the style of its line. */
#ifndef TUI_PANEL_CHART_FIGURES_H
#define TUI_PANEL_CHART_FIGURES_H

#include "cli/format.h"
#include "tui/canvas.h"
#include "tui/history.h"
#include "tui/live_bars.h"
#include "tui/status.h"
#include "tui/view.h"

enum { CHART_DOTS = 4 }; /* period of the dots of an indicator's line */

/* The chart's data: the symbol's, and the requested timeframe. */
struct chart {
    const struct history *history;
    const struct live_bars *live; /* its last n_live bars stand behind the history's */
    const struct status_symbol *symbol;
    int first, n, n_live, decimals; /* bars first..first+n-1 are shown, live ones among them */
    int at;            /* the bar whose figures are shown: the crosshair's, or the newest; -1: no bar */
    bool cross;        /* at the crosshair */
    bool dim;          /* old figures */
    const char *hides; /* indicators that are not shown: tui/overlay.h */
    bool log;          /* the prices are on a logarithmic scale: chosen, and they are above 0 */
    double last, low,
        high; /* the last price, and the range of prices; low is above high where there is none */
};

/* A bar that is shown, of the history or live; and an output's value there, NaN: not known. */
const struct history_bar *panel_chart_bar(const struct chart *chart, int bar);
double panel_chart_value(const struct chart *chart, int output, int bar);

/* Is the last bar that is shown not closed yet? */
bool panel_chart_forms(const struct chart *chart);

/* How an indicator is drawn over the prices; outputs of one have one style. */
struct chart_overlay {
    enum style style;
    unsigned dots; /* of CHART_DOTS points, those that are drawn: a bit each */
};

/* Of the `at`-th line over another, from 0 on, whatever it is of. */
struct chart_overlay panel_chart_style(int at);

/* Draws a piece of such a line in row 0, for a legend; returns the column behind it. */
int panel_chart_sample(const struct area *area, int x, struct chart_overlay overlay);

struct chart_overlay panel_chart_overlay(const struct history *history, int output);

/* When a bar opens, without the year: "08-08 22:30", to the second where bars are shorter than a minute. */
const char *panel_chart_time(char buf[static FORMAT_MAX], const struct history *history, int64_t open_ns);

/* Draws a name and its figure in row 0 and returns the column for the next; -1: it has no room, as half a
 * number would be another. */
int panel_chart_figure(const struct area *area, int x, const char *name, double value, bool dim);

/* Figures of one bar and the indicators over its prices, each with how it is drawn, its name and its values
 * at that bar, in at most so many rows of the area, then others as far as they have room. Of indicators that
 * are kept, or the strategies' newest; beside a bar that is forming it says of which bar they are. Returns
 * how many rows it took. */
int panel_chart_figures(const struct area *area, int rows, const struct chart *chart);

/* The bar of the history, what forms left out, that is nearest to column x of a chart panel of that width;
 * -1: it shows none. */
int panel_chart_bar_at(const struct view *view, const struct model *model, struct moment now, int x,
                       int width);

#endif
