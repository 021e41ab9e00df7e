/* A heat map in cells: shades and, where a cell has room, its figure; for the dashboard's page of a sweep and
 * for `papertape sweep --chart`. */
#ifndef TUI_HEAT_H
#define TUI_HEAT_H

#include <stdbool.h>

#include "cli/format.h"
#include "tui/canvas.h"

enum {
    HEAT_SHADES = 4,
    HEAT_FIGURE_FROM = 7, /* columns of a cell with its figure */
    HEAT_CELL_MOST = 11,  /* columns of a cell; */
    HEAT_CELL_ROWS = 3,   /* rows */
};

/* A value's shade, 0 to HEAT_SHADES - 1, in equal steps from low to high; -1: it is NaN. And from which value
 * on a shade is. */
int tui_heat_shade(double low, double high, double value);
double tui_heat_from(double low, double high, int shade);

/* A value in a cell's few columns. Returns buf. */
const char *tui_heat_figure(char buf[static FORMAT_MAX], double value);

/* Where cells are drawn: of those that have no room the ones around the cursor. */
struct heat_grid {
    struct area area;
    int width, height; /* of a cell */
    int column, row;   /* the first that is drawn, at the left and at the bottom */
    int columns, rows;
};

/* Of so many columns and rows, with a cursor. */
struct heat_grid tui_heat_lay_out(const struct area *area, int columns, int rows, int column, int row);

/* Where a cell of the grid is drawn, and it itself: `any` is false where nothing was counted. */
struct area tui_heat_area(const struct heat_grid *grid, int column, int row);
void tui_heat_cell(const struct heat_grid *grid, int column, int row, double low, double high, double value,
                   bool any);

/* The values along both axes, those that have room: of each column and row of the whole map, y NULL: none.
 * `area` is the grid's with `left` columns more at the left and a row below. The cursor's are strong; -1:
 * there is none. */
void tui_heat_labels(const struct area *area, const struct heat_grid *grid, int left, const char *const *x,
                     const char *const *y, int column, int row);

/* "sharpe from ░░ 0.1 ▒ 0.5 … to 0.9": from which value on each shade is, and what cells without a figure
 * say; low NaN: no cell has one. */
void tui_heat_legend(const struct area *area, int y, const char *name, double low, double high,
                     const char *none);

#endif
