/* The heat map of a sweep: shades and, where a cell has room, its figure; the chosen cell's best set below.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/heat.h"
#include "tui/panel/sweep.h"

enum { LABEL_WIDTH = 9, BELOW_ROWS = 4 };

static void name_of(const struct sweep_map *map, char ret[static SWEEP_METRIC_NAME_MAX])
{
    cli_sweep_metric_name((enum sweep_metric)map->metric, ret);
}

static void draw_cell(const struct heat_grid *grid, const struct sweep_map *map, int column, int row)
{
    const struct sweep_cell *cell = &map->cells[row][column];
    const struct area area = tui_heat_area(grid, column, row);
    const int middle = (grid->height - 1) / 2;

    tui_heat_cell(grid, column, row, map->low, map->high, cell->value, cell->sets > 0);
    if (column == map->column && row == map->row) {
        tui_area_char(&area, 0, middle, STYLE_BRAND, grid->width > 1 ? L'[' : L'@');
        if (grid->width > 1)
            tui_area_char(&area, area.width - 1, middle, STYLE_BRAND, L']');
    }
    tui_area_row(&area, 0, area.height, row * SWEEP_MAP_COLUMNS + column);
}

/* The values along an axis, in words. */
struct labels {
    char words[SWEEP_PLACES_MAX][STRATEGY_WORD_MAX];
    const char *of[SWEEP_PLACES_MAX];
};

static void label(const struct sweep_page *page, int axis, const struct sweep_places *places,
                  struct labels *ret)
{
    for (int i = 0; i < places->n; i++)
        ret->of[i] = tui_sweep_value(&page->detail.axes[axis], places->first[i], ret->words[i]);
}

static void draw_labels(const struct area *area, const struct heat_grid *grid, const struct sweep_page *page,
                        int left)
{
    const struct sweep_map *map = &page->map;
    struct labels x, y = {.of = {NULL}};

    label(page, map->x, &map->along, &x);
    if (map->y >= 0)
        label(page, map->y, &map->up, &y);
    tui_heat_labels(area, grid, left, x.of, map->y >= 0 ? y.of : NULL, map->column, map->row);
}

/* The set of the chosen cell, and its figures. */
static void draw_chosen(const struct area *area, const struct sweep_page *page)
{
    const struct sweep_map *map = &page->map;
    const struct sweep_cell *cell = tui_sweep_map_chosen(map);
    char text[SWEEP_VALUES_MAX + 256], set[SWEEP_VALUES_MAX], numbers[5][FORMAT_MAX],
        sets[FORMAT_MAX + 64] = "";

    if (cell->sets == 0) {
        panel_frame_wrap(area, 0, 2, STYLE_DIM,
                         "no set was run there: it contradicts itself, needs more bars, or was not drawn");
        return;
    }
    const struct sweep_run_row *run = &page->detail.runs[cell->best];
    if (cell->sets > 1)
        snprintf(sets, sizeof(sets),
                 "median %s of %zu sets; the best: ", tui_heat_figure(numbers[0], cell->value), cell->sets);
    snprintf(text, sizeof(text), "%s%s", sets, tui_sweep_run_set(&page->detail, run, set));
    int y = panel_frame_wrap(area, 0, 1, STYLE_STRONG, text);
    snprintf(text, sizeof(text), "dsr %s, Sharpe %s, return %s %%, max drawdown %s %%, %lld trades",
             cli_format_number(numbers[1], run->metrics[SWEEP_DSR], 4),
             cli_format_number(numbers[2], run->metrics[SWEEP_SHARPE], 3),
             cli_format_number(numbers[3], run->metrics[SWEEP_RETURN], 2),
             cli_format_number(numbers[4], run->metrics[SWEEP_MAX_DRAWDOWN], 2), (long long)run->trades);
    panel_frame_wrap(area, y, 1, STYLE_NORMAL, text);
}

void panel_sweep_map(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const struct sweep_map *map = &page->map;
    const int left = map->y >= 0 ? LABEL_WIDTH + 1 : 1, rows = area->height - 2 - BELOW_ROWS;
    char text[256], name[SWEEP_METRIC_NAME_MAX];

    if (page->detail.n_runs == 0 || rows < 1) {
        panel_frame_empty(area,
                          rows < 1 ? "the terminal has too few rows for a map" : "there is no map of it");
        return;
    }
    name_of(map, name);
    snprintf(text, sizeof(text), "%s: across %s%s%s%s", name, page->detail.axes[map->x].name,
             map->y >= 0 ? ", up " : "", map->y >= 0 ? page->detail.axes[map->y].name : "",
             map->along.shared || map->up.shared ? "; neighbours share a cell, named after the least" : "");
    tui_area_text_cut(area, 1, 0, area->width - 2, STYLE_NORMAL, text);
    struct area plot = tui_area_part(area, 0, 1, area->width, rows + 1),
                cells = tui_area_part(&plot, left, 0, area->width - left, rows),
                below = tui_area_part(area, 1, area->height - 2, area->width - 2, 2);
    const struct heat_grid grid = tui_heat_lay_out(&cells, map->along.n, map->up.n, map->column, map->row);
    for (int row = grid.row; row < grid.row + grid.rows; row++)
        for (int column = grid.column; column < grid.column + grid.columns; column++)
            draw_cell(&grid, map, column, row);
    draw_labels(&plot, &grid, page, left);
    tui_heat_legend(area, area->height - 3, name, map->low, map->high, "? n/a  - no set");
    draw_chosen(&below, page);
}
