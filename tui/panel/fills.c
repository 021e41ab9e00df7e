#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

enum { TIME, SIDE, SYMBOL, ACCOUNT, QTY, PRICE, MAKER, FEE, ORDER, TAG, COLUMNS };
enum { WIDE = 100 /* columns of the panel: whole words from here on */ };

static const struct column columns[COLUMNS] = {
    {"", 8, false, 2},   {"", 4, false, 1},        {"", 9, false, 1},    {"account", 9, false, 9},
    {"qty", 9, true, 3}, {"price", 11, true, 4},   {"T/M", 3, false, 5}, {"fee", 8, true, 7},
    {"ord", 5, true, 8}, {"reason", 13, false, 6},
};

void panel_fills(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct list_frame frame;
    struct column shown[COLUMNS];
    char text[FORMAT_MAX];

    panel_list_frame(area, scene, PANEL_FILLS, "Fills", "", &frame);
    memcpy(shown, columns, sizeof(shown));
    if (model->status.n_accounts > 1)
        shown[ACCOUNT].rank = 6;
    if (area->width >= WIDE)
        shown[MAKER] = (struct column){"taker/maker", 11, false, 5};
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, COLUMNS);

    panel_list_empty(&frame, scene, "none yet");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_fill *f = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first + 1;
        panel_frame_row(&frame.body, y - 1, &frame.window, i);
        if (!f) {
            panel_list_unread(&frame.body, y - 1);
            continue;
        }
        panel_table_text(&table, TIME, y, STYLE_DIM, cli_format_clock(text, f->ts_ns));
        panel_table_text(&table, SIDE, y, f->side[0] == 'B' ? STYLE_UP : STYLE_DOWN, f->side);
        panel_table_text(&table, SYMBOL, y, STYLE_STRONG, f->symbol);
        panel_table_text(&table, QTY, y, STYLE_NORMAL,
                         cli_format_fit(text, f->qty, f->qty_decimals, columns[QTY].width));
        panel_table_text(&table, PRICE, y, STYLE_NORMAL,
                         cli_format_fit(text, f->price, f->price_decimals, 11));
        panel_table_text(&table, ACCOUNT, y, STYLE_DIM, f->account);
        panel_table_text(&table, MAKER, y, STYLE_DIM, f->maker ? "M" : "T");
        panel_table_text(&table, FEE, y, STYLE_NORMAL, cli_format_fit(text, f->fee, 4, 8));
        snprintf(text, sizeof(text), "%lld", (long long)f->order);
        panel_table_text(&table, ORDER, y, STYLE_DIM, text);
        panel_table_text(&table, TAG, y, STYLE_DIM, f->tag);
    }
}
