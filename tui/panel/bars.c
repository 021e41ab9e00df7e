#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { TIME, OPEN, HIGH, LOW, CLOSE, CHANGE, RANGE, VOLUME, VALUE, TRADES, SESSION };

static void draw_row(const struct table *table, int y, const struct history_list_bar *row, int decimals)
{
    const struct history_bar *bar = &row->bar;
    const double prices[] = {bar->open, bar->high, bar->low, bar->close};
    const double change = bar->close - bar->open;
    const double percent = 100 * change / bar->open;
    char text[FORMAT_MAX];

    panel_table_text(table, TIME, y, STYLE_DIM, cli_format_time(text, bar->open_ns));
    for (int i = 0; i < 4; i++)
        panel_table_text(table, OPEN + i, y,
                         OPEN + i == CLOSE ? style_signed(change, decimals) : STYLE_NORMAL,
                         cli_format_fit(text, prices[i], decimals, table->columns[OPEN + i].width));
    panel_table_text(table, CHANGE, y, style_signed(percent, 2), cli_format_percent(text, percent, 2));
    panel_table_text(table, RANGE, y, STYLE_NORMAL,
                     cli_format_fit(text, bar->high - bar->low, decimals, table->columns[RANGE].width));
    panel_table_text(table, VOLUME, y, STYLE_NORMAL,
                     cli_format_fit(text, bar->volume, 8, table->columns[VOLUME].width));
    panel_table_text(table, VALUE, y, STYLE_NORMAL,
                     isnan(row->value) ? "-"
                                       : cli_format_fit(text, row->value, 2, table->columns[VALUE].width));
    snprintf(text, sizeof(text), "%lld", (long long)row->trades);
    panel_table_text(table, TRADES, y, STYLE_NORMAL, row->trades < 0 ? "-" : text);
    panel_table_text(table, SESSION, y, STYLE_DIM, row->session);
}

void panel_bars(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_symbol *symbol = tui_view_symbol(scene->view, model);
    struct column shown[LIST_COLUMNS_MAX];
    struct list_frame frame;
    char title[80] = "Bars";

    if (symbol)
        snprintf(title, sizeof(title), "Bars %.40s %.16s", symbol->symbol,
                 tui_view_timeframe(scene->view, model, symbol));
    panel_list_frame(area, scene, PANEL_BARS, title, "", &frame);
    int n = panel_list_columns(scene, DB_LIST_BARS, shown);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);
    int decimals = symbol ? symbol->price_decimals : 2;

    panel_list_empty(&frame, scene, frame.rows.have ? "no stored bars yet" : "being read");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_list_bar *bar = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first;
        panel_frame_row(&frame.body, y, &frame.window, i);
        if (bar)
            draw_row(&table, y + 1, bar, decimals);
        else
            panel_list_unread(&frame, &frame.body, y, i);
    }
}
