#include "tui/panel/chart_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"

enum {
    WORD_MAX = 6,
    LINES_AXIS = 15, /* columns of prices with the words of our lines */
    OUTSIDE_MAX = 3, /* labels of lines above the chart, or below it, where it has … */
    ROWS_FOR_THREE = 12,
    ROWS_FOR_TWO = 5,
};

/* The lines that there are so far, and how many are wanted. */
struct line_list {
    struct chart_line *lines;
    int n, cap;
};

/* Of lines that read the same, one. */
static void add(struct line_list *list, double price, const char *word, enum style style, bool is_entry)
{
    if (list->n == list->cap || !isfinite(price) || price <= 0)
        return;
    for (int i = 0; i < list->n; i++)
        if (list->lines[i].price == price && strcmp(list->lines[i].word, word) == 0)
            return;
    list->lines[list->n++] = (struct chart_line){price, word, style, is_entry};
}

int panel_chart_lines(const struct model *model, const char *symbol, struct chart_line *ret, int cap)
{
    struct line_list list = {ret, 0, cap};
    double above, below;

    for (int i = 0; i < model->status.n_positions; i++) {
        const struct status_position *position = &model->status.positions[i];
        if (strcmp(position->symbol, symbol) != 0)
            continue;
        add(&list, position->entry, "entry", STYLE_KEY, true);
        add(&list, position->stop, "stop", STYLE_KEY, false);
    }
    for (int i = 0; i < model->status.n_orders; i++) {
        const struct status_order *order = &model->status.orders[i];
        if (strcmp(order->symbol, symbol) != 0)
            continue;
        bool held = strcmp(order->state, "HELD") == 0; /* its entry has not filled: it is not in the market */
        enum style style = held ? STYLE_DIM : STYLE_KEY;
        const char *word = strcmp(order->side, "SELL") == 0 ? "sell" : "buy";
        add(&list, order->price, held ? "held" : word, style, false);
        add(&list, order->stop, held ? "held" : "stop", style, false);
    }
    tui_status_price_alerts(&model->status, symbol, &above, &below);
    add(&list, above, "alert", STYLE_PRICE_ALERT, false);
    add(&list, below, "alert", STYLE_PRICE_ALERT, false);
    return list.n;
}

int panel_chart_columns(const struct model *model, const char *symbol, int width)
{
    struct chart_line any;

    return width - 2 - (panel_chart_lines(model, symbol, &any, 1) > 0 ? LINES_AXIS : CHART_AXIS);
}

void panel_chart_times(const struct area *row, const struct time_axis *time)
{
    static const wchar_t marks[] = {[GLYPHS_ASCII] = L'|', [GLYPHS_BLOCK] = L'└', [GLYPHS_BRAILLE] = L'└'};
    struct time_tick ticks[AXIS_TICKS_MAX];
    int n = tui_axis_times(time, row->width, ticks);

    for (int i = 0; i < n; i++) {
        tui_area_char(row, ticks[i].column, 0, STYLE_RULE, marks[row->canvas->glyphs]);
        tui_area_text(row, ticks[i].column + 1, 0, STYLE_DIM, ticks[i].text);
    }
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

/* The row's label: a price and its word; `arrow` before it, or L' '. */
static void label(const struct chart_plot *chart, int y, const struct chart_line *line, wchar_t arrow)
{
    int x = chart->plot.width + 2;
    char a[FORMAT_MAX];

    tui_area_line(&chart->under, x - 1, y, chart->under.width - x + 1, STYLE_NORMAL, L' ');
    tui_area_char(&chart->under, x - 1, y, line->style, arrow);
    cli_format_fit(a, line->price, chart->decimals, chart->under.width - x - WORD_MAX);
    int end = tui_area_text(&chart->under, x, y, line->style, a);
    tui_area_text(&chart->under, end + 1, y, line->style, line->word);
}

/* For the whole texts, that of a line whose label has no place. */
static void keep(const struct chart_plot *chart, const char *arrow, const struct chart_line *line)
{
    char text[2 * FORMAT_MAX], a[FORMAT_MAX];

    snprintf(text, sizeof(text), "%s%s %s", arrow, cli_format_number(a, line->price, chart->decimals),
             line->word);
    tui_canvas_keep(chart->under.canvas, text);
}

/* The line outside of the axis that is next to it beyond `from`, of equal ones the one after `after`; NULL:
 * there is none. */
static const struct chart_line *next_outside(const struct chart_line *lines, int n, bool above,
                                             const struct chart_line *from, double edge)
{
    const struct chart_line *best = NULL;

    for (int i = 0; i < n; i++) {
        double price = lines[i].price, least = from ? from->price : edge;
        bool beyond = above ? price > least : price < least;
        if (from && price == least)
            beyond = &lines[i] > from;
        if (beyond && (!best || (above ? price < best->price : price > best->price)))
            best = &lines[i];
    }
    return best;
}

static void outside_labels(const struct chart_plot *chart, const struct chart_line *lines, int n,
                           const bool *taken, bool above)
{
    const bool plain = chart->plot.canvas->glyphs == GLYPHS_ASCII;
    const wchar_t arrow = above ? plain ? L'^' : L'↑' : plain ? L'v' : L'↓';
    const int rows = chart->price.rows, most = rows >= ROWS_FOR_THREE ? OUTSIDE_MAX
                                               : rows >= ROWS_FOR_TWO ? 2
                                                                      : 1;
    const struct chart_line *line = NULL;
    int places[OUTSIDE_MAX], n_places = 0, left = 0;
    char more[FORMAT_MAX];

    for (int i = 0; i < rows && n_places < most; i++) { /* the free rows that are nearest to the edge */
        int y = above ? i : rows - 1 - i;
        if (!taken[y])
            places[n_places++] = y;
        else if (n_places > 0)
            break;
    }
    for (int i = 0; i < n; i++)
        left += above ? lines[i].price > chart->price.high : lines[i].price < chart->price.low;
    const int used = left < n_places ? left : n_places;
    for (int i = 0; i < left; i++) { /* the nearest is the nearest to the bars */
        line = next_outside(lines, n, above, line, above ? chart->price.high : chart->price.low);
        struct chart_line drawn = *line;
        if (i >= used - 1 && left > used)
            keep(chart, above ? plain ? "^" : "↑" : plain ? "v" : "↓", line);
        if (i >= used)
            continue;
        if (i == used - 1 && left > used) {
            snprintf(more, sizeof(more), "+%d", left - used);
            drawn.word = more;
        }
        label(chart, places[used - 1 - i], &drawn, arrow);
    }
}

void panel_chart_line_labels(const struct chart_plot *chart, const struct chart_line *lines, int n,
                             int last_row)
{
    bool taken[CANVAS_SIDE_MAX] = {0};

    if (last_row >= 0)
        taken[last_row] = true;
    for (int i = 0; i < n; i++) { /* of one row, the first */
        int y = tui_axis_row(&chart->price, lines[i].price);
        if (y < 0)
            continue;
        if (taken[y]) {
            keep(chart, "", &lines[i]);
            continue;
        }
        label(chart, y, &lines[i], L' ');
        taken[y] = true;
    }
    outside_labels(chart, lines, n, taken, true);
    outside_labels(chart, lines, n, taken, false);
}

/* A fill's price in the shares of the bars. */
static double shown_price(const struct history *history, const struct history_fill *fill)
{
    double price = fill->price;

    for (int i = 0; i < history->n_splits; i++)
        if (history->splits[i].ex_ns > fill->ts_ns && strcmp(history->splits[i].symbol, fill->symbol) == 0)
            price *= history->splits[i].price;
    return price;
}

void panel_chart_fills(const struct chart_plot *chart, const struct history *history, const char *symbol)
{
    bool plain = chart->plot.canvas->glyphs == GLYPHS_ASCII;

    for (int i = history->n_fills - 1; i >= 0; i--) { /* the newest over the others */
        const struct history_fill *fill = &history->fills[i];
        if (strcmp(fill->symbol, symbol) != 0)
            continue;
        int x = tui_axis_column_at(chart->time, fill->ts_ns);
        int y = tui_axis_row(&chart->price, shown_price(history, fill));
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
