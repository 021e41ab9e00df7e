#include "tui/chart.h"

#include <math.h>
#include <string.h>

enum {
    BRAILLE_ROWS = 4, /* dots of one cell */
    BRAILLE_COLUMNS = 2,
    BLOCK_ROWS = 8, /* eighths */
    ASCII_ROWS = 3, /* . - ' */
};

/* U+2800 + these, by row from the top and column. */
static const unsigned char braille_dots[BRAILLE_ROWS][BRAILLE_COLUMNS] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

bool tui_chart_range(const double *values, int n, double *ret_low, double *ret_high)
{
    double low = INFINITY, high = -INFINITY;

    for (int i = 0; i < n; i++)
        if (isfinite(values[i])) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    if (!(low <= high))
        return false;
    if (!(high - low > fabs(high) * 1e-9)) { /* a flat line stands in the middle */
        double room = high != 0 ? fabs(high) * 1e-6 : 1;
        low -= room;
        high += room;
    }
    *ret_low = low;
    *ret_high = high;
    return true;
}

/* The value that column `at` of `columns` shows. */
static double sample(const double *values, int n, int columns, int at)
{
    if (n <= columns) {
        int i = n - columns + at;
        return i < 0 ? NAN : values[i];
    }
    int from = (int)((long)at * n / columns), to = (int)((long)(at + 1) * n / columns);
    double last = NAN;
    for (int i = from; i < to; i++)
        last = isfinite(values[i]) ? values[i] : last;
    return last;
}

/* The level 0..levels-1 of a value, 0 at the bottom; -1 for none. */
static int level(double value, double low, double high, int levels)
{
    if (!isfinite(value))
        return -1;
    double at = (value - low) / (high - low) * (levels - 1);
    return at < 0 ? 0 : at > levels - 1 ? levels - 1 : (int)lround(at);
}

static void dot(const struct area *area, int column, int row, enum style style)
{
    int x = column / BRAILLE_COLUMNS, y = row / BRAILLE_ROWS;

    if (x < 0 || x >= area->width || y < 0 || y >= area->height)
        return;
    wchar_t old = tui_canvas_cell(area->canvas, area->x + x, area->y + y)->text[0];
    unsigned bits = old >= 0x2800 && old < 0x2900 ? (unsigned)old - 0x2800 : 0;
    bits |= braille_dots[row % BRAILLE_ROWS][column % BRAILLE_COLUMNS];
    tui_area_char(area, x, y, style, (wchar_t)(0x2800 + bits));
}

static void braille(const struct area *area, const double *values, int n, double low, double high,
                    enum style style)
{
    int columns = area->width * BRAILLE_COLUMNS, rows = area->height * BRAILLE_ROWS, before = -1;

    for (int i = 0; i < columns; i++) {
        int at = level(sample(values, n, columns, i), low, high, rows);
        if (at >= 0) {
            int from = before < 0 ? at : before < at ? before + 1 : before > at ? before - 1 : at;
            for (int k = from; k != at; k += at > from ? 1 : -1)
                dot(area, i, rows - 1 - k, style);
            dot(area, i, rows - 1 - at, style);
        }
        before = at;
    }
}

static void blocks(const struct area *area, const double *values, int n, double low, double high,
                   enum style style)
{
    for (int x = 0; x < area->width; x++) {
        int at = level(sample(values, n, area->width, x), low, high, area->height * BLOCK_ROWS);
        for (int y = 0; y < area->height && at >= 0; y++) {
            int eighths = at + 1 - (area->height - 1 - y) * BLOCK_ROWS;
            if (eighths > 0)
                tui_area_char(area, x, y, style, (wchar_t)(0x2580 + (eighths > 8 ? 8 : eighths)));
        }
    }
}

static void ascii(const struct area *area, const double *values, int n, double low, double high,
                  enum style style)
{
    for (int x = 0; x < area->width; x++) {
        int at = level(sample(values, n, area->width, x), low, high, area->height * ASCII_ROWS);
        if (at >= 0)
            tui_area_char(area, x, area->height - 1 - at / ASCII_ROWS, style, L".-'"[at % ASCII_ROWS]);
    }
}

void tui_chart_line(const struct area *area, const double *values, int n, double low, double high,
                    enum style style)
{
    if (n < 1 || area->width < 1 || area->height < 1 || !(high > low))
        return;
    if (area->canvas->glyphs == GLYPHS_BRAILLE)
        braille(area, values, n, low, high, style);
    else if (area->canvas->glyphs == GLYPHS_BLOCK)
        blocks(area, values, n, low, high, style);
    else
        ascii(area, values, n, low, high, style);
}

static void mark_value(const struct area *area, int x, double value, double low, double high,
                       enum style style, wchar_t mark)
{
    int at = level(value, low, high, area->height), y = area->height - 1 - at;
    if (at >= 0 && tui_canvas_cell(area->canvas, area->x + x, area->y + y)->text[0] == L' ')
        tui_area_char(area, x, y, style, mark);
}

void tui_chart_marks(const struct area *area, const double *values, int n, double low, double high,
                     enum style style, wchar_t mark)
{
    if (n < 1 || area->width < 1 || area->height < 1 || !(high > low))
        return;
    for (int i = 0; i < n; i++) {
        int x = n <= area->width ? area->width - n + i : (int)((long)i * area->width / n);
        mark_value(area, x, values[i], low, high, style, mark);
    }
}

void tui_chart_overlay(const struct area *area, const double *values, int n, double low, double high,
                       enum style style)
{
    if (n < 1 || area->width < 1 || area->height < 1 || !(high > low))
        return;
    if (area->canvas->glyphs == GLYPHS_BRAILLE)
        braille(area, values, n, low, high, style);
    for (int x = 0; x < area->width && area->canvas->glyphs != GLYPHS_BRAILLE; x++)
        mark_value(area, x, sample(values, n, area->width, x), low, high, style,
                   area->canvas->glyphs == GLYPHS_ASCII ? L':' : L'·');
}

void tui_chart_bar(const struct area *area, int x, int y, int columns, double share, enum style style)
{
    bool plain = area->canvas->glyphs == GLYPHS_ASCII;
    int full = isfinite(share) ? (int)lround(fmax(0, fmin(1, share)) * columns) : 0;

    tui_area_line(area, x, y, full, style, plain ? L'#' : L'█');
    tui_area_line(area, x + full, y, columns - full, STYLE_DIM, plain ? L'-' : L'░');
}
