#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { SYMBOL, LAST, BID, ASK, CHANGE, BARS, BOOK, AGE };

/* The last fill, and why, at the right end of a line in at most `room`: first the time is left out, then
 * the reason shortens, then it is left out. */
static void decision(const struct area *body, int y, int room, const struct model *model, const char *symbol)
{
    enum { REASON_MIN = 4 }; /* what is left of it, its mark of a cut included */
    const struct history_fill *fill = NULL;
    char time[FORMAT_MAX], text[128];

    for (int i = 0; i < model->history.n_fills && !fill; i++)
        if (strcmp(model->history.fills[i].symbol, symbol) == 0)
            fill = &model->history.fills[i];
    if (!fill)
        return;
    int side = cli_text_width(fill->side), reason = cli_text_width(fill->tag);
    snprintf(text, sizeof(text), "%s %s %.5s", fill->tag, fill->side, cli_format_clock(time, fill->ts_ns));
    if (cli_text_width(text) > room)
        snprintf(text, sizeof(text), "%s %s", fill->tag, fill->side);
    if (cli_text_width(text) <= room) {
        tui_area_text_right(body, body->width, y, STYLE_DIM, text);
    } else if (side <= room) {
        tui_area_text_right(body, body->width, y, STYLE_DIM, fill->side);
        if (room - side - 1 >= REASON_MIN && reason > 0)
            tui_area_text_cut(body, body->width - room, y, room - side - 1, STYLE_DIM, fill->tag);
    }
}

/* The newest bar, the indicators that the strategy reads, and at the right what it did last, in the room
 * that is left. */
static void second_line(const struct area *body, int y, const struct model *model,
                        const struct status_symbol *symbol, enum freshness freshness)
{
    char value[FORMAT_MAX];
    int x = 3;

    if (freshness == GONE)
        return;
    if (isfinite(symbol->bar_close)) {
        x = tui_area_text(body, x, y, STYLE_DIM, symbol->interval) + 1;
        double change = 100 * (symbol->bar_close - symbol->bar_open) / symbol->bar_open;
        cli_format_percent(value, change, 2);
        x = tui_area_text(body, x, y, panel_frame_style(freshness, style_signed(change, 2)), value) + 2;
    }
    for (int i = 0; i < symbol->n_indicators; i++) {
        const struct status_indicator *indicator = &symbol->indicators[i];
        double size = fabs(indicator->value);
        int digits = !(size >= 1)                 ? 4
                     : size < 1000                ? 2
                     : symbol->price_decimals > 2 ? 2
                                                  : symbol->price_decimals;
        cli_format_number(value, indicator->value, digits);
        if (x + cli_text_width(indicator->name) + 1 + cli_text_width(value) > body->width)
            break;
        x = tui_area_text(body, x, y, STYLE_DIM, indicator->name) + 1;
        x = tui_area_text(body, x, y, panel_frame_style(freshness, STYLE_NORMAL), value) + 2;
    }
    decision(body, y, body->width - x < body->width / 2 ? body->width - x : body->width / 2, model,
             symbol->symbol);
}

/* A mark at the symbol's name: a price of it is waited for. */
static void waits(const struct table *table, int y, const struct status *status, const char *symbol)
{
    int width = cli_text_width(symbol), most = table->columns[SYMBOL].width;
    double above, below;

    if (tui_status_price_alerts(status, symbol, &above, &below) > 0)
        tui_area_char(table->area, table->x[SYMBOL] + (width < most ? width : most), y, STYLE_PRICE_ALERT,
                      L'@');
}

static void row(const struct table *table, int y, const struct scene *scene,
                const struct status_symbol *symbol)
{
    enum freshness freshness = tui_model_symbol_freshness(scene->model, symbol, scene->now);
    int decimals = symbol->price_decimals;
    char text[FORMAT_MAX];
    const double prices[] = {symbol->last, symbol->bid, symbol->ask};

    panel_table_text(table, SYMBOL, y, STYLE_STRONG, symbol->symbol);
    waits(table, y, &scene->model->status, symbol->symbol);
    for (int i = 0; i < 3; i++)
        panel_table_text(table, LAST + i, y, panel_frame_style(freshness, i ? STYLE_NORMAL : STYLE_STRONG),
                         freshness == GONE ? "-" : cli_format_fit(text, prices[i], decimals, 11));
    double change = tui_history_change(&scene->model->history, symbol);
    for (int digits = 2; digits >= 0; digits--) /* +100.00% has no room */
        if ((int)strlen(cli_format_percent(text, change, digits)) <= table->columns[CHANGE].width)
            break;
    panel_table_text(table, CHANGE, y, panel_frame_style(freshness, style_signed(change, 2)),
                     freshness == GONE ? "-" : text);
    panel_table_text(table, BARS, y, STYLE_NORMAL,
                     cli_format_count(text, symbol->bars < 0 ? NAN : (double)symbol->bars));
    bool trades = !symbol->trading[0] || strcmp(symbol->trading, "trades") == 0;
    bool synced = strcmp(symbol->book, "synced") == 0;
    if (!trades) /* the venue's state comes before the book's */
        panel_table_text(table, BOOK, y, panel_frame_style(freshness, STYLE_WARN), symbol->trading);
    else
        panel_table_text(table, BOOK, y, panel_frame_style(freshness, synced ? STYLE_GOOD : STYLE_WARN),
                         freshness == GONE || !symbol->book[0] ? "-" : symbol->book);
    panel_frame_age(text, sizeof(text), freshness, tui_model_age(scene->model, symbol->age_ms, scene->now));
    panel_table_text(table, AGE, y, freshness < STALE ? STYLE_DIM : STYLE_WARN, text);
}

void panel_prices(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct column shown[LIST_COLUMNS_MAX];
    struct list_frame frame;

    panel_list_frame(area, scene, PANEL_PRICES, "Prices", "", &frame);
    int columns = panel_list_columns(scene, LIST_PRICES, shown), n = (int)tui_list_count(&frame.rows.items);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, columns);
    panel_list_empty(&frame, scene, model->holdings == MODEL_NOTHING ? "no prices yet" : "no symbols");
    int lines = 2 * n <= frame.body.height ? 2 : 1;
    struct window window = panel_frame_window(scene, PANEL_PRICES, n, frame.body.height / lines);
    for (int i = window.first; i < window.end; i++) {
        const struct status_symbol *symbol = tui_lists_row(&frame.rows, i);
        int y = (i - window.first) * lines;
        panel_frame_lines(&frame.body, y, lines, &window, i);
        if (!symbol) {
            panel_list_unread(&frame, &frame.body, y, i);
            continue;
        }
        row(&table, y + 1, scene, symbol);
        if (lines == 2)
            second_line(&frame.body, y + 1, model, symbol,
                        tui_model_symbol_freshness(model, symbol, scene->now));
    }
}
