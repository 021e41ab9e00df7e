#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { TIME, KIND, NUMBER, TEXT };

void panel_log(const struct area *area, const struct scene *scene)
{
    struct list_frame frame;
    const struct area *body = &frame.body;
    bool shown[LIST_COLUMNS_MAX];
    char a[FORMAT_MAX];

    panel_list_frame(area, scene, PANEL_LOG, "Log", "", &frame);
    tui_list_columns_shown(DB_LIST_LOG, scene->view->settings.columns[DB_LIST_LOG], shown);
    panel_list_empty(&frame, scene, "nothing has happened yet");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_log *entry = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first;
        panel_frame_row(body, y, &frame.window, i);
        if (!entry) {
            panel_list_unread(&frame, body, y, i);
            continue;
        }
        int x = 1;
        if (shown[TIME])
            x = tui_area_text(body, x, y, STYLE_DIM, cli_format_clock(a, entry->ts_ns)) + 1;
        if (shown[KIND]) {
            tui_area_text(body, x, y, entry->bad ? STYLE_BAD : STYLE_STRONG, entry->kind);
            x += 8;
        }
        if (shown[NUMBER]) {
            snprintf(a, sizeof(a), "%7lld", (long long)entry->id);
            x = tui_area_text(body, x, y, STYLE_DIM, a) + 1;
        }
        if (shown[TEXT] && x < body->width)
            tui_area_text_cut(body, x, y, body->width - x, entry->bad ? STYLE_BAD : STYLE_NORMAL,
                              entry->text);
    }
}
