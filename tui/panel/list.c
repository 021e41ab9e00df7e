#include "tui/panel/list.h"

#include <stdio.h>
#include <string.h>

/* Which rows, and in what order, where that is not the usual. */
static void put_choice(const struct scene *scene, int list, char *buf, size_t size)
{
    const struct list_choice *state = &scene->view->lists[list];
    bool typed = scene->view->prompt == PROMPT_LIST && scene->view->listed == list;
    bool other = state->sort != 0 || state->invert;

    snprintf(buf, size, "%s%s%s%s%s", other ? " by " : "",
             other ? tui_lists_sorted(scene->view, scene->model, list) : "",
             state->invert ? ", inverted" : "", state->filter[0] || typed ? "  /" : "", state->filter);
}

/* "17 of 100000, 3 open"; without a cursor, where not the first row is shown, "12-19 of 25"; with a filter
 * "17 of 812 filtered, 100000 in all" */
static void put_counts(const struct list_frame *frame, const struct scene *scene, const char *more, char *buf,
                       size_t size)
{
    const struct list_items *items = &frame->rows.items;
    long long count = tui_list_count(items), total = items->n_heads + items->total;
    int n = 0;

    if (frame->window.cursor >= 0)
        n = snprintf(buf, size, "%d of ", frame->window.cursor + 1);
    else if (frame->window.first > 0) /* it was left there: the newest are above */
        n = snprintf(buf, size, "%d-%d of ", frame->window.first + 1, frame->window.end);
    if (scene->view->lists[frame->rows.list].filter[0])
        n += snprintf(buf + n, size - (size_t)n, "%lld%s filtered, ", count, items->partial ? "+" : "");
    snprintf(buf + n, size - (size_t)n, "%lld%s%s%s%s", total,
             items->partial && items->total == items->count ? "+" : "",
             scene->view->lists[frame->rows.list].filter[0] ? " in all" : "", more[0] ? ", " : "", more);
}

void panel_list_bar(const struct area *body, const struct window *window, int64_t count)
{
    bool plain = body->canvas->glyphs == GLYPHS_ASCII;
    int top, rows, x = body->width - 1;

    if (!tui_list_bar(body->height, window->first, window->end - window->first, count, &top, &rows))
        return;
    for (int y = 0; y < body->height; y++) {
        bool here = y >= top && y < top + rows;
        tui_area_char(body, x, y, here ? STYLE_TITLE : STYLE_RULE,
                      plain ? (here ? L'#' : L'|') : (here ? L'┃' : L'│'));
    }
}

struct window panel_list_window(const struct scene *scene, const struct list_frame *frame, enum panel panel,
                                int more)
{
    return panel_frame_window(scene, panel, (int)tui_list_count(&frame->rows.items),
                              frame->body.height - more);
}

void panel_list_frame(const struct area *area, const struct scene *scene, enum panel panel, const char *title,
                      const char *more, struct list_frame *ret)
{
    int list = tui_lists_of(panel);
    char counts[120], choice[160], text[320];

    tui_lists_rows(scene->view, scene->model, list, &ret->rows);
    ret->area = *area;
    ret->body = tui_area_part(area, 0, 1, area->width, area->height - 1);
    ret->window = panel_list_window(scene, ret, panel, 0);
    if (area->width > 1 && tui_list_count(&ret->rows.items) > ret->body.height)
        ret->area.width = ret->body.width = area->width - 1;
    put_counts(ret, scene, more, counts, sizeof(counts));
    put_choice(scene, list, choice, sizeof(choice));
    bool known = list >= DB_LISTS || tui_list_count(&ret->rows.items) > 0 ||
                 (list == DB_LIST_TRIPS || list == DB_LIST_LEDGER || list == DB_LIST_BARS
                      ? ret->rows.have
                      : scene->model->have_history);
    if (known)
        snprintf(text, sizeof(text), "%s (%s)%s", title, counts, choice);
    else
        snprintf(text, sizeof(text), "%s", title);
    panel_frame_rule(area, scene, panel, text, -1, &ret->title_end);
    const struct area whole = tui_area_part(area, 0, 1, area->width, area->height - 1);
    panel_list_bar(&whole, &ret->window, tui_list_count(&ret->rows.items));
}

void panel_list_labels_below(const struct area *area, const struct scene *scene, enum panel panel,
                             struct list_frame *frame)
{
    const struct area labels = panel_frame_labels_below(area);
    const struct area body = tui_area_part(&labels, 0, 1, labels.width, labels.height - 1);
    const int64_t count = tui_list_count(&frame->rows.items);

    frame->area = labels;
    frame->body = body;
    if (area->width > 1 && count > body.height)
        frame->area.width = frame->body.width = area->width - 1;
    frame->title_end = PANEL_LABELS_BELOW;
    frame->window = panel_list_window(scene, frame, panel, 0);
    panel_list_bar(&body, &frame->window, count);
}

int panel_list_columns(const struct scene *scene, int list, struct column shown[static LIST_COLUMNS_MAX])
{
    const char *choice = scene->view->settings.columns[list];
    bool chosen[LIST_COLUMNS_MAX];
    int n;
    const struct list_column_row *rows = tui_list_columns(list, &n);

    tui_list_columns_shown(list, choice, chosen);
    for (int i = 0; i < n; i++) {
        int rank = rows[i].rank > 0 ? rows[i].rank : 1; /* what is chosen beyond the usual stays */
        shown[i] = (struct column){rows[i].label, rows[i].width, rows[i].right, chosen[i] ? rank : 0};
    }
    return n;
}

int panel_list_number_width(const struct list_frame *frame, int least)
{
    const struct list_items *items = &frame->rows.items;
    int64_t greatest = 0;
    int width = 0;

    for (int i = 0; i < items->n_heads; i++)
        greatest = items->heads[i] > greatest ? items->heads[i] : greatest;
    for (int i = 0; i < items->n; i++)
        greatest = items->ids[i] > greatest ? items->ids[i] : greatest;
    for (; greatest > 0; greatest /= 10)
        width++;
    return width > least ? width : least;
}

enum { CLOCK = 8, DATED = 14, DATED_SHORT = 11, YEAR = 5 /* "2026-" */, WHOLE = 19 };

bool panel_list_other_day(const struct scene *scene, int64_t ts_ns)
{
    const int64_t second_ns = 1000000000, clock_ns = tui_model_clock_ns(scene->model, scene->now);
    const int64_t now_ns = scene->model->at_ns > 0 ? scene->model->at_ns
                           : clock_ns > 0          ? clock_ns
                                                   : scene->now.wall_ns;

    return ts_ns > 0 && (ts_ns / second_ns + cli_format_utc_offset_s(ts_ns)) / 86400 !=
                            (now_ns / second_ns + cli_format_utc_offset_s(now_ns)) / 86400;
}

void panel_list_date(const struct area *area, struct column *columns, int n, const int *times, int n_times)
{
    static const int widths[] = {CLOCK, DATED_SHORT, DATED};
    const int fit = panel_frame_fits(area, columns, n);

    for (int i = 2; i >= 0; i--) {
        for (int k = 0; k < n_times; k++)
            columns[times[k]].width = widths[i];
        if (panel_frame_fits(area, columns, n) == fit)
            return;
    }
}

const char *panel_list_time(char buf[static FORMAT_MAX], int64_t ts_ns, int width)
{
    char text[FORMAT_MAX];

    if (width < DATED_SHORT)
        return cli_format_clock(buf, ts_ns);
    cli_format_time(text, ts_ns); /* 2024-08-08 14:02:11 */
    const size_t from = width < WHOLE && strlen(text) > YEAR ? YEAR : 0;
    snprintf(buf, FORMAT_MAX, "%.*s", width, text + from);
    return buf;
}

void panel_list_empty(const struct list_frame *frame, const struct scene *scene, const char *none)
{
    const int list = frame->rows.list;
    char sentence[PANEL_SENTENCE_MAX], wrong[LIST_HELD_WORDS_MAX] = "";
    const char *words = list < DB_LISTS ? scene->model->lists[list].words : wrong;

    if (tui_list_count(&frame->rows.items) > 0)
        return;
    if (list >= DB_LISTS)
        tui_list_held_check(scene->model, list, scene->view->lists[list].filter, wrong);
    if (words[0])
        panel_frame_empty(&frame->body, words);
    else if (frame->rows.items.total > 0)
        panel_frame_empty(
            &frame->body,
            panel_frame_sentence(scene, "no row has that: `/` another, or `Esc` for all", sentence));
    else
        panel_frame_empty(&frame->body,
                          frame->rows.list < DB_LISTS ? panel_frame_no_history(scene->model, none) : none);
}

void panel_list_unread(const struct list_frame *frame, const struct area *body, int y, int64_t place)
{
    const char *words = tui_lists_row_unread(&frame->rows, place);

    if (words)
        tui_area_printf(body, 1, y, STYLE_BAD, "unreadable: %s", words);
    else
        tui_area_text(body, 1, y, STYLE_DIM, "...");
}
