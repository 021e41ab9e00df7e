#include "tui/heat.h"

#include <math.h>
#include <stdio.h>

#include "cli/text.h"

static const wchar_t shades[HEAT_SHADES] = {L'░', L'▒', L'▓', L'█'},
                     plain_shades[HEAT_SHADES] = {L'.', L':', L'+', L'#'};
static const enum style styles[HEAT_SHADES] = {STYLE_DIM, STYLE_LINE, STYLE_CHART, STYLE_STRONG};

static wchar_t shade_of(const struct area *area, int shade)
{
    return (area->canvas->glyphs == GLYPHS_ASCII ? plain_shades : shades)[shade];
}

int tui_heat_shade(double low, double high, double value)
{
    if (isnan(value))
        return -1;
    if (!(high > low))
        return HEAT_SHADES - 1;
    int shade = (int)((value - low) / (high - low) * HEAT_SHADES);
    return shade < 0 ? 0 : shade >= HEAT_SHADES ? HEAT_SHADES - 1 : shade;
}

double tui_heat_from(double low, double high, int shade)
{
    return low + (high - low) * shade / HEAT_SHADES;
}

const char *tui_heat_figure(char buf[static FORMAT_MAX], double value)
{
    if (value != 0 && fabs(value) < 0.001)
        snprintf(buf, FORMAT_MAX, "%.0e", value);
    else
        cli_format_number(buf, value, fabs(value) < 10 ? 3 : fabs(value) < 1000 ? 1 : 0);
    return buf;
}

static int first_of(int cursor, int n, int shown)
{
    int first = cursor - shown / 2;

    return first < 0 || n <= shown ? 0 : first > n - shown ? n - shown : first;
}

struct heat_grid tui_heat_lay_out(const struct area *area, int columns, int rows, int column, int row)
{
    struct heat_grid grid = {.area = *area};

    grid.width = columns > 0 ? area->width / columns : 1;
    grid.width = grid.width < 1 ? 1 : grid.width > HEAT_CELL_MOST ? HEAT_CELL_MOST : grid.width;
    grid.height = rows > 0 ? area->height / rows : 1;
    grid.height = grid.height < 1 ? 1 : grid.height > HEAT_CELL_ROWS ? HEAT_CELL_ROWS : grid.height;
    grid.columns = area->width / grid.width < columns ? area->width / grid.width : columns;
    grid.rows = area->height / grid.height < rows ? area->height / grid.height : rows;
    grid.column = first_of(column, columns, grid.columns);
    grid.row = first_of(row, rows, grid.rows);
    return grid;
}

struct area tui_heat_area(const struct heat_grid *grid, int column, int row)
{
    return tui_area_part(&grid->area, (column - grid->column) * grid->width,
                         (grid->rows - 1 - (row - grid->row)) * grid->height, grid->width, grid->height);
}

void tui_heat_cell(const struct heat_grid *grid, int column, int row, double low, double high, double value,
                   bool any)
{
    const int shade = tui_heat_shade(low, high, value), middle = (grid->height - 1) / 2;
    const struct area area = tui_heat_area(grid, column, row);
    const enum style style = shade < 0 ? STYLE_DIM : styles[shade];
    char text[FORMAT_MAX];

    for (int y = 0; y < area.height; y++)
        tui_area_line(&area, 0, y, area.width, style, shade < 0 ? L' ' : shade_of(&area, shade));
    if (grid->width >= HEAT_FIGURE_FROM) {
        tui_area_line(&area, 1, middle, area.width - 2, style, L' ');
        tui_heat_figure(text, value);
        tui_area_text_right(&area, area.width - 1, middle, style, any ? text : "-");
    } else if (shade < 0) {
        tui_area_char(&area, 0, middle, STYLE_DIM, any ? L'?' : L'-');
    }
}

void tui_heat_labels(const struct area *area, const struct heat_grid *grid, int left, const char *const *x,
                     const char *const *y, int column, int row)
{
    int end = 0;

    for (int i = 0; i < grid->rows && y; i++)
        tui_area_text_right(area, left - 1, (grid->rows - 1 - i) * grid->height + (grid->height - 1) / 2,
                            i + grid->row == row ? STYLE_STRONG : STYLE_DIM, y[i + grid->row]);
    for (int i = 0; i < grid->columns; i++) {
        const int at = left + i * grid->width;
        const char *value = x[i + grid->column];
        if (at < end || at + cli_text_width(value) > area->width)
            continue;
        end = tui_area_text(area, at, grid->rows * grid->height,
                            i + grid->column == column ? STYLE_STRONG : STYLE_DIM, value) +
              1;
    }
}

void tui_heat_legend(const struct area *area, int y, const char *name, double low, double high,
                     const char *none)
{
    char text[FORMAT_MAX];
    int x = tui_area_printf(area, 1, y, STYLE_TITLE, "%s from", name) + 1;

    for (int i = high > low ? 0 : HEAT_SHADES - 1; i < HEAT_SHADES && !isnan(low); i++) {
        tui_area_char(area, x, y, styles[i], shade_of(area, i));
        tui_area_char(area, x + 1, y, styles[i], shade_of(area, i));
        x = tui_area_text(area, x + 3, y, STYLE_DIM, tui_heat_figure(text, tui_heat_from(low, high, i))) + 2;
    }
    x = tui_area_text(area, x, y, STYLE_DIM, isnan(low) ? "n/a in every cell" : "to") + 1;
    if (!isnan(low))
        x = tui_area_text(area, x, y, STYLE_DIM, tui_heat_figure(text, high)) + 2;
    tui_area_text_cut(area, x, y, area->width - x, STYLE_DIM, none);
}
