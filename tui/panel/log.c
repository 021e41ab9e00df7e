#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"

void panel_log(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    struct area body = panel_frame_rule(area, scene, PANEL_LOG, "Log", -1, NULL);
    struct window window = panel_frame_window(scene, PANEL_LOG, h->n_log, body.height);
    char a[FORMAT_MAX];

    if (h->n_log == 0)
        panel_frame_empty(&body, panel_frame_no_history(model, "nothing has happened yet"));
    for (int i = window.first; i < window.end; i++) {
        const struct history_log *entry = &h->log[i];
        int y = i - window.first;
        if (i == window.cursor)
            panel_frame_cursor(&body, y);
        int x = tui_area_text(&body, 1, y, STYLE_DIM, cli_format_clock(a, entry->ts_ns)) + 1;
        tui_area_text(&body, x, y, entry->bad ? STYLE_BAD : STYLE_STRONG, entry->kind);
        x += 8;
        tui_area_text_cut(&body, x, y, body.width - x, entry->bad ? STYLE_BAD : STYLE_NORMAL, entry->text);
    }
}
