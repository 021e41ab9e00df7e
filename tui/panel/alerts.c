#include <stdio.h>
#include <string.h>

#include "tui/format.h"
#include "tui/panel/frame.h"

static enum style severity_style(const struct history_alert *alert)
{
    if (alert->acked || strcmp(alert->severity, "info") == 0)
        return STYLE_DIM;
    return strcmp(alert->severity, "error") == 0 ? STYLE_BAD : STYLE_WARN;
}

void panel_alerts(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    int64_t open = model_alerts_open(model);
    struct area body = frame_rule(area, scene, PANEL_ALERTS, "Alerts", open < 0 ? -1 : (int)open, NULL);
    struct window window = frame_window(scene, PANEL_ALERTS, h->n_alerts, body.height);
    char a[FORMAT_MAX];

    if (h->n_alerts == 0)
        frame_empty(&body, frame_no_history(model, "none"));
    for (int i = window.first; i < window.end; i++) {
        const struct history_alert *alert = &h->alerts[i];
        int y = i - window.first, end = body.width - 1;
        enum style style = severity_style(alert);
        if (i == window.cursor)
            frame_cursor(&body, y);
        area_char(&body, 1, y, style, alert->acked ? L' ' : L'!');
        format_clock(a, alert->last_ns);
        a[5] = '\0';
        int x = area_text(&body, 3, y, STYLE_DIM, a) + 1;
        if (alert->count > 1) {
            snprintf(a, sizeof(a), "x%lld", (long long)alert->count);
            end = area_text_right(&body, end, y, STYLE_DIM, a) - 1;
        }
        area_text_cut(&body, x, y, end - x, alert->acked ? STYLE_DIM : style, alert->text);
    }
}
