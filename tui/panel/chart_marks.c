#include "tui/panel/chart_marks.h"

#include <math.h>
#include <string.h>

#include "cli/format.h"

enum {
    WORD_MAX = 6,
    LINES_AXIS = 15, /* columns of prices with the words of our lines */
};

static int add(struct chart_line *lines, int n, double price, const char *word, enum style style)
{
    if (n < CHART_LINES_MAX && isfinite(price) && price > 0)
        lines[n++] = (struct chart_line){price, word, style};
    return n;
}

int panel_chart_lines(const struct model *model, const char *symbol,
                      struct chart_line ret[static CHART_LINES_MAX])
{
    double above, below;
    int n = 0;

    for (int i = 0; i < model->status.n_positions; i++) {
        const struct status_position *position = &model->status.positions[i];
        if (strcmp(position->symbol, symbol) != 0)
            continue;
        n = add(ret, n, position->entry, "entry", STYLE_KEY);
        n = add(ret, n, position->stop, "stop", STYLE_KEY);
    }
    for (int i = 0; i < model->status.n_orders; i++) {
        const struct status_order *order = &model->status.orders[i];
        if (strcmp(order->symbol, symbol) != 0)
            continue;
        bool held = strcmp(order->state, "HELD") == 0; /* its entry has not filled: it is not in the market */
        enum style style = held ? STYLE_DIM : STYLE_KEY;
        const char *word = strcmp(order->side, "SELL") == 0 ? "sell" : "buy";
        n = add(ret, n, order->price, held ? "held" : word, style);
        n = add(ret, n, order->stop, held ? "held" : "stop", style);
    }
    tui_status_price_alerts(&model->status, symbol, &above, &below);
    n = add(ret, n, above, "alert", STYLE_PRICE_ALERT);
    n = add(ret, n, below, "alert", STYLE_PRICE_ALERT);
    return n;
}

int panel_chart_columns(const struct model *model, const char *symbol, int width)
{
    struct chart_line lines[CHART_LINES_MAX];

    return width - 2 - (panel_chart_lines(model, symbol, lines) > 0 ? LINES_AXIS : CHART_AXIS);
}

static bool blank(const struct area *area, int x, int y)
{
    return tui_canvas_cell(area->canvas, area->x + x, area->y + y)->text[0] == L' ';
}

void panel_chart_rule(const struct chart_plot *chart, double price, enum style style)
{
    static const wchar_t dashes[] = {[GLYPHS_ASCII] = L'-', [GLYPHS_BLOCK] = L'─', [GLYPHS_BRAILLE] = L'╌'};
    int y = tui_axis_row(&chart->price, price);

    for (int x = 0; y >= 0 && x < chart->plot.width; x++)
        if (blank(&chart->plot, x, y))
            tui_area_char(&chart->plot, x, y, style, dashes[chart->plot.canvas->glyphs]);
}

void panel_chart_line_labels(const struct chart_plot *chart, const struct chart_line *lines, int n,
                             int last_row)
{
    int x = chart->plot.width + 2;
    char a[FORMAT_MAX];

    for (int i = n - 1; i >= 0; i--) { /* of one row, the first stays */
        int y = tui_axis_row(&chart->price, lines[i].price);
        if (y < 0 || y == last_row)
            continue;
        tui_area_line(&chart->under, x, y, chart->under.width - x, STYLE_NORMAL, L' ');
        cli_format_fit(a, lines[i].price, chart->decimals, chart->under.width - x - WORD_MAX);
        int end = tui_area_text(&chart->under, x, y, lines[i].style, a);
        tui_area_text(&chart->under, end + 1, y, lines[i].style, lines[i].word);
    }
}

void panel_chart_fills(const struct chart_plot *chart, const struct history *history, const char *symbol)
{
    bool plain = chart->plot.canvas->glyphs == GLYPHS_ASCII;

    for (int i = history->n_fills - 1; i >= 0; i--) { /* the newest over the others */
        const struct history_fill *fill = &history->fills[i];
        if (strcmp(fill->symbol, symbol) != 0)
            continue;
        int x = tui_axis_column_at(chart->time, fill->ts_ns);
        int y = tui_axis_row(&chart->price, fill->price);
        bool sold = strcmp(fill->side, "SELL") == 0;
        if (x >= 0 && x < chart->plot.width && y >= 0)
            tui_area_char(&chart->plot, x, y, STYLE_STRONG,
                          sold ? (plain ? L'v' : L'▼') : (plain ? L'^' : L'▲'));
    }
}

static void vertical(const struct chart_plot *chart, int x, enum style style)
{
    static const wchar_t bars[] = {[GLYPHS_ASCII] = L':', [GLYPHS_BLOCK] = L'│', [GLYPHS_BRAILLE] = L'┊'};

    for (int y = 0; y < chart->plot.height; y++)
        if (blank(&chart->plot, x, y))
            tui_area_char(&chart->plot, x, y, style, bars[chart->plot.canvas->glyphs]);
}

void panel_chart_closed(const struct chart_plot *chart)
{
    for (int i = 0; i + 1 < chart->time->n; i++)
        if (tui_axis_closed(chart->time, i))
            vertical(chart, tui_axis_closed_column(chart->time, i), STYLE_RULE);
}

void panel_chart_crosshair(const struct chart_plot *chart, int column)
{
    vertical(chart, column, STYLE_KEY);
}
