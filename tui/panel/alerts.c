#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { TIME, SEVERITY, CODE, TEXT, COUNT, FIRST, ACKED, OVER };
enum {
    TEXT_X = 3,
    LEAD_MAX = 96,
    TAIL_MAX = 96,
    DETAIL_MAX = DB_ALERT_TEXT_MAX + LEAD_MAX + TAIL_MAX + 4,
};

static enum style severity_style(const struct history_alert *alert)
{
    if (!alert->open || strcmp(alert->severity, "info") == 0)
        return STYLE_DIM;
    return strcmp(alert->severity, "error") == 0 ? STYLE_BAD : STYLE_WARN;
}

static void clock_text(char buf[static FORMAT_MAX], int64_t ns)
{
    cli_format_clock(buf, ns);
    buf[5] = '\0'; /* hours and minutes */
}

/* Before its text: when it was seen last, severity, code. */
static void lead(const struct history_alert *alert, const bool *shown, char buf[static LEAD_MAX])
{
    char a[FORMAT_MAX];
    size_t n = 0;

    buf[0] = '\0';
    clock_text(a, alert->last_ns);
    if (shown[TIME])
        n += (size_t)snprintf(buf + n, LEAD_MAX - n, "%s ", a);
    if (shown[SEVERITY])
        n += (size_t)snprintf(buf + n, LEAD_MAX - n, "%-7.16s ", alert->severity);
    if (shown[CODE])
        snprintf(buf + n, LEAD_MAX - n, "%-12.40s ", alert->code);
}

static void put_time(char buf[static TAIL_MAX], const char *word, int64_t ns)
{
    char a[FORMAT_MAX];
    const size_t n = strlen(buf);

    clock_text(a, ns);
    snprintf(buf + n, TAIL_MAX - n, "%s%s %s", n ? " " : "", word, a);
}

/* The end of its row: how often it was seen and since when, and that it is over. */
static void tail(const struct history_alert *alert, const bool *shown, char buf[static TAIL_MAX])
{
    buf[0] = '\0';
    if (shown[COUNT] && alert->count > 1)
        snprintf(buf, TAIL_MAX, "x%lld", (long long)alert->count);
    if (shown[FIRST])
        put_time(buf, "first", alert->ts_ns);
    if (shown[ACKED] && alert->acked_ns)
        put_time(buf, "acked", alert->acked_ns);
    if (shown[OVER] && alert->closed_ns)
        put_time(buf, "closed", alert->closed_ns);
}

static void line(const struct area *body, int y, const struct history_alert *alert, const bool *shown)
{
    int end = body->width - 1;
    char a[LEAD_MAX], b[TAIL_MAX];

    tui_area_char(body, 1, y, severity_style(alert), alert->open ? L'!' : L' ');
    lead(alert, shown, a);
    int x = tui_area_text(body, TEXT_X, y, STYLE_DIM, a);
    tail(alert, shown, b);
    if (b[0])
        end = tui_area_text_right(body, end, y, STYLE_DIM, b) - 1;
    if (shown[TEXT] && end > x)
        tui_area_text_cut(body, x, y, end - x, severity_style(alert), alert->text);
}

/* The whole of the chosen one, where its row has no room for it. */
static void whole(const struct history_alert *alert, const bool *shown, char buf[static DETAIL_MAX])
{
    char a[LEAD_MAX], b[TAIL_MAX];

    lead(alert, shown, a);
    tail(alert, shown, b);
    snprintf(buf, DETAIL_MAX, "%s%s%s%s%s", a, shown[TEXT] ? alert->text : "", b[0] ? " (" : "", b,
             b[0] ? ")" : "");
}

static struct area beside_mark(const struct area *body)
{
    struct area text = *body;

    text.x += TEXT_X;
    text.width -= TEXT_X;
    return text;
}

void panel_alerts(const struct area *area, const struct scene *scene)
{
    struct list_frame frame;
    const struct area *body = &frame.body;
    const struct history_alert *chosen = NULL;
    int64_t open = tui_model_alerts_open(scene->model);
    char detail[DETAIL_MAX] = "", opened[40] = "";
    bool shown[LIST_COLUMNS_MAX];
    int more = 0; /* rows of the chosen one beyond its first */

    if (open > 0)
        snprintf(opened, sizeof(opened), "%lld open", (long long)open);
    panel_list_frame(area, scene, PANEL_ALERTS, "Alerts", opened, &frame);
    tui_list_columns_shown(DB_LIST_ALERTS, scene->view->settings.columns[DB_LIST_ALERTS], shown);
    panel_list_empty(&frame, scene, "none");
    struct window window = frame.window;
    struct area text = beside_mark(body);
    if (window.cursor >= 0)
        chosen = tui_lists_row(&frame.rows, window.cursor);
    if (chosen) {
        whole(chosen, shown, detail);
        more = panel_frame_wrap_rows(detail, text.width) - 1;
        more = more >= body->height ? body->height - 1 : more;
        window = panel_list_window(scene, &frame, PANEL_ALERTS, more);
    }
    for (int i = window.first, y = 0; i < window.end; i++, y++) {
        const struct history_alert *alert = tui_lists_row(&frame.rows, i);
        if (!alert) {
            panel_list_unread(&frame, body, y, i);
        } else if (i != window.cursor || more == 0) {
            line(body, y, alert, shown);
        } else {
            tui_area_char(body, 1, y, severity_style(alert), alert->open ? L'!' : L' ');
            panel_frame_wrap(&text, y, more + 1, severity_style(alert), detail);
        }
        int lines = i == window.cursor ? 1 + more : 1;
        panel_frame_lines(body, y, lines, &window, i);
        y += lines - 1;
    }
}
