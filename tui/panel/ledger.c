#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { TIME, ID, ACCOUNT, KIND, AMOUNT, ASSET, BALANCE, CONTRA, ORDER, FILL };
enum { DATED = 100 /* columns of the panel: times have their dates from here on */ };

/* Every decimal of the scale where there is room, else fewer. */
static const char *amount_text(char buf[static STORED_CELL], int64_t units, int scale, int width)
{
    cli_stored_decimal(STORED_CSV, buf, units, scale);
    if ((int)strlen(buf) > width) {
        double value = strtod(buf, NULL);
        cli_format_fit(buf, value, scale, width);
    }
    return buf;
}

static const char *number_text(char buf[static STORED_CELL], int64_t number)
{
    buf[0] = '\0';
    if (number > 0)
        snprintf(buf, STORED_CELL, "%lld", (long long)number);
    return buf;
}

static void draw_row(const struct table *table, int y, const struct history_ledger *e, bool dated)
{
    enum style style = e->amount < 0 ? STYLE_DOWN : e->amount > 0 ? STYLE_UP : STYLE_NORMAL;
    char text[STORED_CELL], amount[STORED_CELL + 1] = "+";

    panel_table_text(table, TIME, y, STYLE_DIM,
                     dated ? cli_format_time(text, e->ts_ns) : cli_format_clock(text, e->ts_ns));
    panel_table_text(table, ID, y, STYLE_DIM, number_text(text, e->id));
    panel_table_text(table, ACCOUNT, y, STYLE_DIM, e->account);
    panel_table_text(table, KIND, y, STYLE_STRONG, e->kind);
    amount_text(amount + (e->amount > 0), e->amount, e->scale,
                table->columns[AMOUNT].width - (e->amount > 0));
    panel_table_text(table, AMOUNT, y, style, amount);
    panel_table_text(table, ASSET, y, STYLE_NORMAL, e->asset);
    panel_table_text(table, BALANCE, y, STYLE_NORMAL,
                     amount_text(text, e->balance, e->scale, table->columns[BALANCE].width));
    panel_table_text(table, CONTRA, y, STYLE_DIM, e->contra);
    panel_table_text(table, ORDER, y, STYLE_DIM, number_text(text, e->order));
    panel_table_text(table, FILL, y, STYLE_DIM, number_text(text, e->fill));
}

void panel_ledger(const struct area *area, const struct scene *scene)
{
    struct column shown[LIST_COLUMNS_MAX];
    struct list_frame frame;
    bool dated = area->width >= DATED;

    panel_list_frame(area, scene, PANEL_LEDGER, "Ledger", "", &frame);
    int n = panel_list_columns(scene, DB_LIST_LEDGER, shown);
    if (!dated)
        shown[TIME].width = 8;
    shown[ID].width = panel_list_number_width(&frame, shown[ID].width);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);

    panel_list_empty(&frame, scene, frame.rows.have ? "no entry yet" : "being read");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_ledger *entry = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first;
        panel_frame_row(&frame.body, y, &frame.window, i);
        if (entry)
            draw_row(&table, y + 1, entry, dated);
        else
            panel_list_unread(&frame, &frame.body, y, i);
    }
}
