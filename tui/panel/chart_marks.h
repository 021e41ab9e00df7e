/* What a chart shows over its bars: our fills, our orders, stops and entries, price alerts, the last price,
 * the crosshair. */
#ifndef TUI_PANEL_CHART_MARKS_H
#define TUI_PANEL_CHART_MARKS_H

#include "tui/axis.h"
#include "tui/panel/panel.h"

enum {
    CHART_LINES_MAX = 2 * STATUS_ORDERS_MAX + 64,
    CHART_AXIS = 11, /* columns of prices at the right */
};

/* A price that concerns us: an open order's, a position's entry or stop, the nearest that are waited for. */
struct chart_line {
    double price;
    const char *word; /* "buy", "sell", "held", "stop", "entry", "alert" */
    enum style style;
    bool is_entry; /* of a position */
};

/* The first `cap` of the symbol's, each that reads differently. Returns how many. */
int panel_chart_lines(const struct model *model, const char *symbol, struct chart_line *ret, int cap);

/* The columns of bars of the symbol's chart in a panel so wide, beside the prices and the words of its lines;
 * may be negative. */
int panel_chart_columns(const struct model *model, const char *symbol, int width);

/* The axis' times below a plot: in row 0, whose first column is the plot's. */
void panel_chart_times(const struct area *row, const struct time_axis *time);

/* A chart's plot with its axes; `under` is the plot with the prices' columns at its right. */
struct chart_plot {
    struct area plot, under;
    const struct time_axis *time; /* the caller's */
    struct price_axis price;
    int decimals;
};

/* A horizontal line in the blank cells of the price's row. */
void panel_chart_rule(const struct chart_plot *chart, double price, enum style style);

/* The lines' words and prices, at the right edge, except in the row of the last price. Of those above the
 * highest price of the chart, or below the lowest, the nearest are in its first rows, or its last ones, each
 * with an arrow; where there are more, "+2" in place of the furthest one's word. What of them is not drawn is
 * kept for the whole texts. */
void panel_chart_line_labels(const struct chart_plot *chart, const struct chart_line *lines, int n,
                             int last_row);

/* Our fills of the symbol: an arrow up for what was bought, down for what was sold. */
void panel_chart_fills(const struct chart_plot *chart, const struct history *history, const char *symbol);

/* A thin line where the market is closed between bars. */
void panel_chart_closed(const struct chart_plot *chart);

/* A vertical line through the blank cells of a column. */
void panel_chart_crosshair(const struct chart_plot *chart, int column);

#endif
