/* The heat map of a sweep: a metric over two of its parameters. A cell is the median of its sets, as on the
 * page of `papertape sweep --report`: a lone good one does not shine. Pure. */
#ifndef TUI_SWEEP_MAP_H
#define TUI_SWEEP_MAP_H

#include "cli/sweep_places.h"
#include "tui/sweep_files.h"

enum { SWEEP_MAP_COLUMNS = 30, SWEEP_MAP_ROWS = 24 };

struct sweep_cell {
    double value; /* the median; NaN: no set of it has a number */
    size_t best;  /* of its sets, in the detail's runs; only where `sets` is above 0 */
    size_t sets;
};

struct sweep_map {
    int x, y;   /* axes; y -1: there is only one, and a single row */
    int metric; /* enum sweep_metric */
    struct sweep_places along, up;
    struct sweep_cell cells[SWEEP_MAP_ROWS][SWEEP_MAP_COLUMNS]; /* up.n rows of along.n, the least first */
    double low, high;                                           /* of the cells; NaN: no cell has a number */
    int column, row;                                            /* the cell under the cursor */
};

/* Of the first two axes and a metric, with the cursor on the best cell. */
int tui_sweep_map_open(struct sweep_map *map, const struct sweep_detail *detail, int metric);

/* Again, after x, y or metric are others. The cursor stays in the map. 0 or -ENOMEM. */
int tui_sweep_map_make(struct sweep_map *map, const struct sweep_detail *detail);

/* Another parameter for an axis, the next or (by -1) the one before; one that is the other's changes places
 * with it. */
void tui_sweep_map_turn(struct sweep_map *map, const struct sweep_detail *detail, bool up, int by);

const struct sweep_cell *tui_sweep_map_chosen(const struct sweep_map *map);

#endif
