#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

void panel_log(const struct area *area, const struct scene *scene)
{
    struct list_frame frame;
    const struct area *body = &frame.body;
    char a[FORMAT_MAX];

    panel_list_frame(area, scene, PANEL_LOG, "Log", "", &frame);
    panel_list_empty(&frame, scene, "nothing has happened yet");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_log *entry = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first;
        panel_frame_row(body, y, &frame.window, i);
        if (!entry) {
            panel_list_unread(&frame, body, y, i);
            continue;
        }
        int x = tui_area_text(body, 1, y, STYLE_DIM, cli_format_clock(a, entry->ts_ns)) + 1;
        tui_area_text(body, x, y, entry->bad ? STYLE_BAD : STYLE_STRONG, entry->kind);
        x += 8;
        tui_area_text_cut(body, x, y, body->width - x, entry->bad ? STYLE_BAD : STYLE_NORMAL, entry->text);
    }
}
