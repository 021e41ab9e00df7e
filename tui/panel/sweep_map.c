/* The heat map of a sweep: shades and, where a cell has room, its figure; the chosen cell's best set below.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/sweep.h"

enum {
    LABEL_WIDTH = 9,
    FIGURE_FROM = 7 /* columns of a cell with its figure */,
    CELL_MOST = 11,
    BELOW_ROWS = 4
};

static const wchar_t shades[SWEEP_MAP_SHADES] = {L'░', L'▒', L'▓', L'█'},
                     plain_shades[SWEEP_MAP_SHADES] = {L'.', L':', L'+', L'#'};
static const enum style styles[SWEEP_MAP_SHADES] = {STYLE_DIM, STYLE_LINE, STYLE_CHART, STYLE_STRONG};

static wchar_t shade_of(const struct area *area, int shade)
{
    return (area->canvas->glyphs == GLYPHS_ASCII ? plain_shades : shades)[shade];
}

static const char *figure(char buf[static FORMAT_MAX], double value)
{
    if (value != 0 && fabs(value) < 0.001)
        snprintf(buf, FORMAT_MAX, "%.0e", value);
    else
        cli_format_number(buf, value, fabs(value) < 10 ? 3 : fabs(value) < 1000 ? 1 : 0);
    return buf;
}

static void name_of(const struct sweep_map *map, char ret[static SWEEP_METRIC_NAME_MAX])
{
    cli_sweep_metric_name((enum sweep_metric)map->metric, ret);
}

/* Where the cells are drawn: of those that have no room the ones around the cursor. */
struct grid {
    struct area area;
    int width, height; /* of a cell */
    int column, row;   /* the first that is drawn, at the left and at the bottom */
    int columns, rows;
};

static int first_of(int cursor, int n, int shown)
{
    int first = cursor - shown / 2;

    return first < 0 || n <= shown ? 0 : first > n - shown ? n - shown : first;
}

static struct grid lay_out(const struct area *area, const struct sweep_map *map)
{
    struct grid grid = {.area = *area};

    grid.width = map->along.n > 0 ? area->width / map->along.n : 1;
    grid.width = grid.width < 1 ? 1 : grid.width > CELL_MOST ? CELL_MOST : grid.width;
    grid.height = map->up.n > 0 ? area->height / map->up.n : 1;
    grid.height = grid.height < 1 ? 1 : grid.height > 3 ? 3 : grid.height;
    grid.columns = area->width / grid.width < map->along.n ? area->width / grid.width : map->along.n;
    grid.rows = area->height / grid.height < map->up.n ? area->height / grid.height : map->up.n;
    grid.column = first_of(map->column, map->along.n, grid.columns);
    grid.row = first_of(map->row, map->up.n, grid.rows);
    return grid;
}

static void draw_cell(const struct grid *grid, const struct sweep_map *map, int column, int row)
{
    const struct sweep_cell *cell = &map->cells[row][column];
    const int shade = tui_sweep_map_shade(map, cell->value), middle = (grid->height - 1) / 2;
    struct area area =
        tui_area_part(&grid->area, (column - grid->column) * grid->width,
                      (grid->rows - 1 - (row - grid->row)) * grid->height, grid->width, grid->height);
    const bool chosen = column == map->column && row == map->row;
    const enum style style = shade < 0 ? STYLE_DIM : styles[shade];
    char text[FORMAT_MAX];

    for (int y = 0; y < area.height; y++)
        tui_area_line(&area, 0, y, area.width, style, shade < 0 ? L' ' : shade_of(&area, shade));
    if (grid->width >= FIGURE_FROM) {
        tui_area_line(&area, 1, middle, area.width - 2, style, L' ');
        figure(text, cell->value);
        tui_area_text_right(&area, area.width - 1, middle, style, cell->sets ? text : "-");
    } else if (shade < 0) {
        tui_area_char(&area, 0, middle, STYLE_DIM, cell->sets ? L'?' : L'-');
    }
    if (chosen) {
        tui_area_char(&area, 0, middle, STYLE_BRAND, grid->width > 1 ? L'[' : L'@');
        if (grid->width > 1)
            tui_area_char(&area, area.width - 1, middle, STYLE_BRAND, L']');
    }
    tui_area_row(&area, 0, area.height, row * SWEEP_MAP_COLUMNS + column);
}

/* The values along an axis, those that have room. */
static void draw_labels(const struct area *area, const struct grid *grid, const struct sweep_page *page,
                        int left)
{
    const struct sweep_map *map = &page->map;
    char word[STRATEGY_WORD_MAX];
    int end = 0;

    for (int row = 0; row < grid->rows && map->y >= 0; row++)
        tui_area_text_right(
            area, left - 1, (grid->rows - 1 - row) * grid->height + (grid->height - 1) / 2,
            row + grid->row == map->row ? STYLE_STRONG : STYLE_DIM,
            tui_sweep_value(&page->detail.axes[map->y], map->up.first[row + grid->row], word));
    for (int column = 0; column < grid->columns; column++) {
        const int x = left + column * grid->width;
        const char *value =
            tui_sweep_value(&page->detail.axes[map->x], map->along.first[column + grid->column], word);
        if (x < end || x + cli_text_width(value) > area->width)
            continue;
        end = tui_area_text(area, x, grid->rows * grid->height,
                            column + grid->column == map->column ? STYLE_STRONG : STYLE_DIM, value) +
              1;
    }
}

/* "sharpe: ░ 0.1 ▒ 0.5 …": from which value on each shade is; n/a. */
static void draw_legend(const struct area *area, int y, const struct sweep_map *map)
{
    char text[FORMAT_MAX], name[SWEEP_METRIC_NAME_MAX];
    int x;

    name_of(map, name);
    x = tui_area_printf(area, 1, y, STYLE_TITLE, "%s from", name) + 1;
    for (int i = map->high > map->low ? 0 : SWEEP_MAP_SHADES - 1; i < SWEEP_MAP_SHADES && !isnan(map->low);
         i++) {
        tui_area_char(area, x, y, styles[i], shade_of(area, i));
        tui_area_char(area, x + 1, y, styles[i], shade_of(area, i));
        x = tui_area_text(area, x + 3, y, STYLE_DIM, figure(text, tui_sweep_map_from(map, i))) + 2;
    }
    x = tui_area_text(area, x, y, STYLE_DIM, isnan(map->low) ? "n/a in every cell" : "to") + 1;
    if (!isnan(map->low))
        x = tui_area_text(area, x, y, STYLE_DIM, figure(text, map->high)) + 2;
    tui_area_text_cut(area, x, y, area->width - x, STYLE_DIM, "? n/a  - no set");
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
        snprintf(sets, sizeof(sets), "median %s of %zu sets; the best: ", figure(numbers[0], cell->value),
                 cell->sets);
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
    const struct grid grid = lay_out(&cells, map);
    for (int row = grid.row; row < grid.row + grid.rows; row++)
        for (int column = grid.column; column < grid.column + grid.columns; column++)
            draw_cell(&grid, map, column, row);
    draw_labels(&plot, &grid, page, left);
    draw_legend(area, area->height - 3, map);
    draw_chosen(&below, page);
}
