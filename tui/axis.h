/* The axes of a chart of bars: times to columns, prices to rows, and the ticks of both at round values. Pure.
 *
 * Times are placed by time: where bars are missing, the chart has columns without bars, as many as their time
 * takes. Where there are more bars than columns, bars share a column. The closed hours of a market with
 * sessions take about one column: those are the gaps of four hours or more, as a night is and a halt within
 * a session rarely is, and between bars of a day or more those of up to four days. */
#ifndef TUI_AXIS_H
#define TUI_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/history.h"

enum {
    AXIS_TEXT_MAX = 12, /* "08-08 21:54", "2024-08-08" */
    AXIS_TICKS_MAX = 64,
};

/* From the first bar's opening to the last one's end, in `columns`. */
struct time_axis {
    const struct history_bar *bars; /* n of them, going up in time; the caller's */
    int n, columns;
    int64_t interval_ns, closed_ns;     /* what closed hours take of the axis' time */
    int64_t place_ns[HISTORY_BARS_MAX]; /* each bar's, closed hours left out */
    bool sessions;
    bool forming; /* the last bar is not closed yet: the caller's to set */
};

/* False where there is no bar, too many, no column or no interval. `sessions`: the market closes. */
bool tui_axis_init(struct time_axis *ret, const struct history_bar *bars, int n, int64_t interval_ns,
                   int columns, bool sessions);

/* Is the market closed between bar i and the next? The column in the middle of that. */
bool tui_axis_closed(const struct time_axis *axis, int i);
int tui_axis_closed_column(const struct time_axis *axis, int i);

/* The column of the middle of bar i; of a moment: its bar's, or where it is between bars, which may be
 * outside of 0..columns-1. */
int tui_axis_column(const struct time_axis *axis, int i);
int tui_axis_column_at(const struct time_axis *axis, int64_t ts_ns);

/* How many whole columns one bar has for itself; 0 where bars share columns. */
int tui_axis_slot(const struct time_axis *axis);

/* Where each bar has one: the columns that bar i fills, its middle's among them, so that neighbours touch and
 * a gap is as wide as its time, within a column. */
void tui_axis_cells(const struct time_axis *axis, int i, int *ret_first, int *ret_last);

/* The bar that holds the moment; -1: it is in a gap, or outside. */
int tui_axis_bar_at(const struct time_axis *axis, int64_t ts_ns);

/* A value a bar as a line of n points over the axis' width: straight between neighbours in time, NaN in gaps
 * and where values are NaN; of bars that share a point, the last. */
void tui_axis_spread(const struct time_axis *axis, const double *values, double *ret, int n);

/* A label begins with a mark in its column, followed by its text. */
struct time_tick {
    int column;
    int64_t ts_ns;
    char text[AXIS_TEXT_MAX]; /* "22:00", "22:00:30", "08-09", "2024-08", "2024": of cli_format_time() */
};

/* The ticks, from the left: whole seconds, minutes, hours, days, months or years on the clock of
 * cli_format_local(), each at the bar that holds its moment, else at its time, of a day that begins in closed
 * hours at its first bar; four and more where bars and room allow, with a blank between labels, the last one
 * ending before column `width`. The first label has its date, too, where there is room. Returns how many. */
int tui_axis_times(const struct time_axis *axis, int width, struct time_tick ret[static AXIS_TICKS_MAX]);

/* From `low` in the lowest row to `high` in the highest, linear or logarithmic. */
struct price_axis {
    double low, high;
    int rows;
    bool log;
};

/* A range that is flat gets some room. Logarithmic only where low is above 0. False where a bound is not a
 * finite number or low is above high, or without rows. */
bool tui_axis_price_init(struct price_axis *ret, double low, double high, int rows, bool log);

/* Where the price is, of levels 0 (low) … levels-1 (high); -1: it is not in the range. Its row from the top,
 * likewise: two levels make a row. */
int tui_axis_level(const struct price_axis *axis, double price, int levels);
int tui_axis_row(const struct price_axis *axis, double price);

struct price_tick {
    double price;
    int row;
};

/* Ticks at multiples of 1, 2, 2.5 or 5 × 10^k (of a logarithmic axis of more than a decade: at 1, 2 and 5 ×
 * 10^k), each in a row of its own, none in the row `taken` (-1: no row is) and none finer than `decimals`;
 * four and more from six rows on where prices allow. Returns how many, from the lowest price. */
int tui_axis_prices(const struct price_axis *axis, int taken, int decimals,
                    struct price_tick ret[static AXIS_TICKS_MAX]);

#endif
