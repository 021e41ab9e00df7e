#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { TIME, DATE, ID, SIDE, SYMBOL, ACCOUNT, QTY, PRICE, VALUE, MAKER, FEE, CURRENCY, RATE, ORDER, TAG };
enum { WIDE = 100 /* columns of the panel: whole words from here on */ };

/* Is one of the rows that are known not of today? */
static bool older(const struct scene *scene, const struct lists_rows *rows)
{
    bool any = false;

    for (int i = 0; i < rows->items.n && !any; i++) {
        const struct history_fill *fill = rows->rows[i];
        any = fill && panel_list_other_day(scene, fill->ts_ns);
    }
    return any;
}

void panel_fills(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct list_frame frame;
    struct column shown[LIST_COLUMNS_MAX];
    char text[FORMAT_MAX];

    panel_list_frame(area, scene, PANEL_FILLS, "Fills", "", &frame);
    int n = panel_list_columns(scene, DB_LIST_FILLS, shown);
    if (model->status.n_accounts > 1 && shown[ACCOUNT].rank > 0)
        shown[ACCOUNT].rank = 6;
    if (area->width >= WIDE)
        shown[MAKER] = (struct column){"taker/maker", 11, false, shown[MAKER].rank};
    if (older(scene, &frame.rows))
        panel_list_date(&frame.area, shown, n, (const int[]){TIME}, 1);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);

    panel_list_empty(&frame, scene, "none yet");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_fill *f = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first + 1;
        panel_frame_row(&frame.body, y - 1, &frame.window, i);
        if (!f) {
            panel_list_unread(&frame, &frame.body, y - 1, i);
            continue;
        }
        panel_table_text(&table, TIME, y, STYLE_DIM, panel_list_time(text, f->ts_ns, shown[TIME].width));
        panel_table_text(&table, DATE, y, STYLE_DIM, panel_list_time(text, f->ts_ns, shown[DATE].width));
        snprintf(text, sizeof(text), "%lld", (long long)f->id);
        panel_table_text(&table, ID, y, STYLE_DIM, text);
        panel_table_text(&table, SIDE, y, f->side[0] == 'B' ? STYLE_UP : STYLE_DOWN, f->side);
        panel_table_text(&table, SYMBOL, y, STYLE_STRONG, f->symbol);
        panel_table_text(&table, QTY, y, STYLE_NORMAL,
                         cli_format_fit(text, f->qty, f->qty_decimals, shown[QTY].width));
        panel_table_text(&table, PRICE, y, STYLE_NORMAL,
                         cli_format_fit(text, f->price, f->price_decimals, 11));
        panel_table_text(&table, VALUE, y, STYLE_NORMAL,
                         cli_format_fit(text, f->value, f->price_decimals, shown[VALUE].width));
        panel_table_text(&table, ACCOUNT, y, STYLE_DIM, f->account);
        panel_table_text(&table, MAKER, y, STYLE_DIM, f->maker ? "M" : "T");
        panel_table_text(&table, FEE, y, STYLE_NORMAL, cli_format_fit(text, f->fee, 4, 8));
        panel_table_text(&table, CURRENCY, y, STYLE_DIM, f->currency);
        snprintf(text, sizeof(text), "%.4g%%", f->rate_pct);
        panel_table_text(&table, RATE, y, STYLE_NORMAL, isfinite(f->rate_pct) ? text : "");
        snprintf(text, sizeof(text), "%lld", (long long)f->order);
        panel_table_text(&table, ORDER, y, STYLE_DIM, text);
        panel_table_text(&table, TAG, y, STYLE_DIM, f->tag);
    }
}
