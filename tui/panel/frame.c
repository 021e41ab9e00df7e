#include "tui/panel/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/format.h"
#include "cli/text.h"

static wchar_t rule_char(const struct canvas *canvas)
{
    return canvas->glyphs == GLYPHS_ASCII ? L'-' : L'─';
}

struct area panel_frame_rule(const struct area *area, const struct scene *scene, enum panel panel,
                             const char *title, int count, int *ret_end)
{
    return panel_frame_rule_of(area, scene, panel, title, count, count, ret_end);
}

struct area panel_frame_rule_of(const struct area *area, const struct scene *scene, enum panel panel,
                                const char *title, int count, int64_t total, int *ret_end)
{
    enum style style = scene->focus == panel ? STYLE_FOCUS : STYLE_TITLE;

    tui_area_line(area, 0, 0, area->width, STYLE_RULE, rule_char(area->canvas));
    int end = tui_area_text(area, 1, 0, style, title);
    if (total > count)
        end = tui_area_printf(area, end, 0, style, " (%d of %lld)", count, (long long)total);
    else if (count >= 0)
        end = tui_area_printf(area, end, 0, style, " (%d)", count);
    if (ret_end)
        *ret_end = end;
    return tui_area_part(area, 0, 1, area->width, area->height - 1);
}

int panel_frame_rule_right(const struct area *area, int right, const char *title, int title_end,
                           enum style style, const char *text)
{
    int left = tui_area_text_right(area, right, 0, style, text);

    if (left < title_end && left > 1 && left <= area->width) {
        const struct cell *cell = tui_canvas_cell(area->canvas, area->x + left - 1, area->y);
        tui_area_char(area, left - 1, 0, (enum style)cell->style, L'~');
        tui_canvas_keep(area->canvas, title);
    }
    return left;
}

static struct table lay_out(const struct area *area, int title_end, const struct column *columns, int n)
{
    struct table table = {.area = area, .columns = columns, .n = n, .end = title_end};
    bool shown[COLUMNS_MAX];
    int used = -1, count = 0;

    for (int i = 0; i < n; i++) {
        shown[i] = columns[i].rank > 0;
        used += shown[i] ? columns[i].width + 1 : 0;
        count += shown[i];
    }
    while (used > area->width - 1 && count > 1) {
        int last = -1;
        for (int i = 0; i < n; i++)
            if (shown[i] && (last < 0 || columns[i].rank >= columns[last].rank))
                last = i;
        shown[last] = false;
        used -= columns[last].width + 1;
        count--;
    }
    int slack = area->width - 1 - used, gaps = count > 1 ? count - 1 : 1, x = 1, seen = 0;
    for (int i = 0; i < n; i++) {
        table.x[i] = -1;
        if (!shown[i])
            continue;
        int more = seen > 0 && slack > 0 ? slack / gaps : 0;
        if (seen > 0) {
            more = seen == count - 1 ? slack : more > 4 ? 4 : more;
            slack -= more;
            gaps -= gaps > 1;
            x += more;
        }
        table.x[i] = x;
        x += columns[i].width + 1;
        seen++;
    }
    return table;
}

/* Where a column's label begins; -1: it has none, or is not shown. */
static int label_left(const struct table *table, int i)
{
    const struct column *column = &table->columns[i];
    const int width = cli_text_width(column->label);

    if (table->x[i] < 0 || !width)
        return -1;
    return column->right ? table->x[i] + column->width - width : table->x[i];
}

struct table panel_frame_table(const struct area *area, int title_end, const struct column *columns, int n)
{
    const struct table table = lay_out(area, title_end, columns, n);

    for (int i = 0; i < n; i++) {
        const int left = label_left(&table, i);
        if (left <= title_end + 1)
            continue;
        tui_area_char(area, left - 1, 0, STYLE_RULE, L' ');
        tui_area_text(area, left, 0, STYLE_DIM, columns[i].label);
        tui_area_char(area, left + cli_text_width(columns[i].label), 0, STYLE_RULE, L' ');
    }
    return table;
}

int panel_frame_fits(const struct area *area, const struct column *columns, int n)
{
    const struct table table = lay_out(area, 0, columns, n);
    int count = 0;

    for (int i = 0; i < n; i++)
        count += table.x[i] >= 0;
    return count;
}

bool panel_frame_hides(const struct area *area, int least, int title_end, const struct column *columns, int n)
{
    const struct table table = lay_out(area, title_end, columns, n);
    bool hides = false;

    for (int i = 0; i < n; i++) {
        const int left = label_left(&table, i);
        hides |= left > least + 1 && left <= title_end + 1;
    }
    return hides;
}

struct area panel_frame_labels_below(const struct area *area)
{
    const struct area below = tui_area_part(area, 0, 1, area->width, area->height - 1);

    tui_area_line(&below, 0, 0, below.width, STYLE_RULE, rule_char(area->canvas));
    return below;
}

void panel_table_text(const struct table *table, int column, int y, enum style style, const char *text)
{
    int x = table->x[column], width = table->columns[column].width;

    if (x < 0)
        return;
    if (table->columns[column].right && cli_text_width(text) <= width)
        tui_area_text_right(table->area, x + width, y, style, text);
    else
        tui_area_text_cut(table->area, x, y, width, style, text);
}

struct window panel_frame_window(const struct scene *scene, enum panel panel, int n, int height)
{
    int cursor = tui_view_cursor(scene->view, scene->model, panel);

    cursor = cursor >= n ? n - 1 : cursor < 0 ? 0 : cursor;
    int first = tui_view_first(scene->view, scene->model, panel, cursor, n, height);
    int end = first + height < n ? first + height : n;
    return (struct window){first, end < first ? first : end, scene->focus == panel && n > 0 ? cursor : -1};
}

void panel_frame_middle(struct canvas *canvas, char *buf, size_t size, const char *name, int columns)
{
    enum { TAIL = 4 };
    int length = (int)strlen(name), width = cli_text_width(name);

    if (width <= columns || width != length ||
        columns < 2 * TAIL) /* text that is not ASCII is cut at its end */
        snprintf(buf, size, "%s", name);
    else
        snprintf(buf, size, "%.*s~%s", columns - TAIL - 1, name, name + length - TAIL);
    if (strcmp(buf, name) != 0)
        tui_canvas_keep(canvas, name);
}

void panel_frame_cursor(const struct area *area, int y)
{
    tui_area_char(area, 0, y, STYLE_SELECTED, L'>');
}

void panel_frame_row(const struct area *area, int y, const struct window *window, int i)
{
    panel_frame_lines(area, y, 1, window, i);
}

void panel_frame_lines(const struct area *area, int y, int lines, const struct window *window, int i)
{
    tui_area_row(area, y, lines, i);
    if (i == window->cursor)
        panel_frame_cursor(area, y);
}

enum style panel_frame_style(enum freshness freshness, enum style style)
{
    return freshness == FRESH ? style : STYLE_DIM;
}

const char *panel_frame_latency(char buf[static FORMAT_MAX], double p50, double p99)
{
    char a[FORMAT_MAX], b[FORMAT_MAX];

    if (!isfinite(p50))
        snprintf(buf, FORMAT_MAX, "n/a");
    else
        snprintf(buf, FORMAT_MAX, "%.20s/%.20s", cli_format_number(a, p50, p50 < 10 ? 1 : 0),
                 cli_format_number(b, p99, p50 < 10 ? 1 : 0));
    return buf;
}

void panel_frame_age(char *buf, size_t size, enum freshness freshness, int64_t age_ms)
{
    char age[FORMAT_MAX];

    cli_format_age(age, age_ms);
    if (freshness == FRESH)
        snprintf(buf, size, "%s", age);
    else if (freshness == CLOSED)
        snprintf(buf, size, "closed");
    else if (age_ms < 0)
        snprintf(buf, size, "-");
    else if (age_ms < 100000)
        snprintf(buf, size, "STALE %ds", (int)(age_ms / 1000));
    else
        snprintf(buf, size, "STALE %s", age);
}

const char *panel_frame_no_history(const struct model *model, const char *none)
{
    if (model->have_history)
        return none;
    return model->database_words[0] ? model->database_words : "not read yet";
}

void panel_frame_empty(const struct area *body, const char *words)
{
    struct area part = tui_area_part(body, 1, 0, body->width - 1, body->height);

    panel_frame_wrap(&part, 0, part.height, STYLE_DIM, words);
}

const char *panel_frame_sentence(const struct scene *scene, const char *words,
                                 char ret[static PANEL_SENTENCE_MAX])
{
    return tui_key_map_sentence(&scene->view->settings.keys, tui_key_where(scene->view, scene->focus), words,
                                ret, PANEL_SENTENCE_MAX);
}

/* How many bytes of `text` go into so many columns: up to a blank where there is one, all of it where it
 * fits; at least a character. */
static size_t wrapped(const char *text, int columns)
{
    size_t at = 0, blank = 0;

    while (text[at]) {
        wchar_t c;
        size_t used = cli_text_decode(text + at, &c);
        int width = cli_text_char_width(c);
        columns -= width < 0 ? 1 : width;
        if (text[at] == ' ')
            blank = at;
        if (columns < 0)
            return blank > 0 ? blank : at > 0 ? at : used;
        at += used;
    }
    return at;
}

int panel_frame_wrap(const struct area *area, int y, int rows, enum style style, const char *text)
{
    char line[4 * CANVAS_SIDE_MAX];
    const char *whole = text;

    for (; rows > 0 && *text && area->width > 0; rows--, y++) {
        size_t len = wrapped(text, area->width);
        if (rows == 1 || len >= sizeof(line)) {
            tui_area_text_cut_of(area, 0, y, area->width, style, text, whole);
            return y + 1;
        }
        snprintf(line, sizeof(line), "%.*s", (int)len, text);
        tui_area_text(area, 0, y, style, line);
        text += len;
        text += strspn(text, " ");
    }
    return y;
}

int panel_frame_wrap_all(const struct area *area, int y, int x, int hang, int width, enum style style,
                         const char *text)
{
    char part[4 * CANVAS_SIDE_MAX];

    do {
        size_t len = wrapped(text, width - x);
        snprintf(part, sizeof(part), "%.*s", (int)len, text);
        if (area && y >= 0 && y < area->height)
            tui_area_text(area, x, y, style, part);
        text += len;
        text += strspn(text, " ");
        x = hang;
        y++;
    } while (*text);
    return y;
}

int panel_frame_wrap_rows(const char *text, int columns)
{
    return *text && columns > 0 ? panel_frame_wrap_all(NULL, 0, 0, 0, columns, STYLE_NORMAL, text) : 0;
}

int panel_frame_fit(struct segment *segments, int n, int room)
{
    for (;;) {
        int width = 0, last = -1, first = 1;
        for (int i = 0; i < n; i++) {
            if (!segments[i].text[0])
                continue;
            width += cli_text_width(segments[i].text) + (first ? 0 : segments[i].gap);
            first = 0;
            if (last < 0 || segments[i].rank >= segments[last].rank)
                last = i;
        }
        if (last < 0 || width <= room || segments[last].rank <= 1)
            return width;
        segments[last].text[0] = '\0';
    }
}

int panel_frame_segments(const struct area *area, int x, int y, int end, struct segment *segments, int n)
{
    int start = x;
    struct area part = tui_area_part(area, 0, y, end, 1);

    panel_frame_fit(segments, n, end - x);
    for (int i = 0; i < n; i++)
        if (segments[i].text[0]) {
            x += x > start ? segments[i].gap : 0;
            x = tui_area_text(&part, x, 0, segments[i].style, segments[i].text);
        }
    return x;
}

void panel_frame_edit(const struct area *area, int x, int y, const struct line_edit *edit)
{
    struct area field = tui_area_part(area, x, y, area->width - x, 1);
    char before[LINE_EDIT_MAX], under[16];
    wchar_t c;
    const char *from = before;

    snprintf(before, sizeof(before), "%.*s", (int)edit->at, edit->text);
    while (*from && cli_text_width(from) > field.width - 2)
        from += cli_text_decode(from, &c);
    if (from > before)
        tui_canvas_keep(area->canvas, edit->text);
    int at = tui_area_text(&field, 0, 0, STYLE_STRONG, from);
    const char *rest = edit->text + edit->at;
    if (!*rest) {
        tui_area_char(&field, at, 0, STYLE_BRAND, L'_');
        return;
    }
    snprintf(under, sizeof(under), "%.*s", (int)cli_text_decode(rest, &c), rest);
    at = tui_area_text(&field, at, 0, STYLE_BRAND, under);
    tui_area_text_cut_of(&field, at, 0, field.width - at, STYLE_STRONG, rest + strlen(under), edit->text);
}

struct area panel_frame_box(const struct area *screen, int width, int height, const char *title)
{
    width = width > screen->width ? screen->width : width;
    height = height > screen->height ? screen->height : height;
    struct area box =
        tui_area_part(screen, (screen->width - width) / 2, (screen->height - height) / 2, width, height);
    bool ascii = screen->canvas->glyphs == GLYPHS_ASCII;

    for (int y = 0; y < height; y++)
        tui_area_line(&box, 0, y, width, STYLE_NORMAL, L' ');
    tui_area_line(&box, 1, 0, width - 2, STYLE_RULE, ascii ? L'-' : L'─');
    tui_area_line(&box, 1, height - 1, width - 2, STYLE_RULE, ascii ? L'-' : L'─');
    for (int y = 0; y < height; y++) {
        wchar_t left = y == 0 ? L'┌' : y == height - 1 ? L'└' : L'│';
        wchar_t right = y == 0 ? L'┐' : y == height - 1 ? L'┘' : L'│';
        bool edge = y == 0 || y == height - 1;
        tui_area_char(&box, 0, y, STYLE_RULE, ascii ? (edge ? L'+' : L'|') : left);
        tui_area_char(&box, width - 1, y, STYLE_RULE, ascii ? (edge ? L'+' : L'|') : right);
    }
    tui_area_printf(&box, 2, 0, STYLE_FOCUS, " %s ", title);
    return tui_area_part(&box, 2, 1, width - 4, height - 2);
}

void panel_frame_yes(const struct area *box, bool in_frame, const char *does)
{
    const struct area row = {box->canvas, box->x, box->y + box->height - !in_frame, box->width, 1};
    int x = tui_area_text(&row, 0, 0, STYLE_KEY, "y");

    x = tui_area_printf(&row, x + 1, 0, STYLE_NORMAL, "%s;", does);
    tui_area_text(&row, x + 1, 0, STYLE_DIM, "any other key does not");
}

struct hint_row panel_frame_hints(const struct area *area)
{
    return (struct hint_row){.area = area};
}

void panel_frame_hint(struct hint_row *row, const char *key, const char *word)
{
    const struct area *area = row->area;
    const size_t len = strlen(row->all);

    snprintf(row->all + len, sizeof(row->all) - len, "%s%s %s", len > 0 ? ", " : "", key, word);
    row->full |= row->x + cli_text_width(key) + cli_text_width(word) + 1 > area->width;
    if (row->full)
        return;
    row->x = tui_area_text(area, row->x, 0, STYLE_KEY, key);
    row->x = tui_area_text(area, row->x + 1, 0, STYLE_DIM, word) + 2;
}

void panel_frame_hints_end(const struct hint_row *row)
{
    if (row->full)
        tui_canvas_keep(row->area->canvas, row->all);
}

enum style panel_frame_feed_style(const char *state)
{
    if (strcmp(state, "ok") == 0)
        return STYLE_GOOD;
    if (strcmp(state, "closed") == 0)
        return STYLE_NORMAL;
    return strcmp(state, "failed") == 0 ? STYLE_BAD : STYLE_WARN;
}

void panel_frame_when(char buf[static FORMAT_MAX], int64_t ts_ns, int64_t now_ns)
{
    const int64_t week_ns = INT64_C(7) * 86400 * 1000000000;
    char clock[FORMAT_MAX], day[FORMAT_MAX], zone[FORMAT_MAX];

    cli_format_zone(zone, ts_ns);
    if (ts_ns - now_ns < week_ns)
        snprintf(buf, FORMAT_MAX, "%.3s %.5s%.5s", cli_format_weekday(day, ts_ns),
                 cli_format_clock(clock, ts_ns), zone);
    else
        snprintf(buf, FORMAT_MAX, "%.16s%.5s", cli_format_time(clock, ts_ns), zone);
}

bool panel_frame_unsaved(const struct area *box, int y, const struct view *view)
{
    char names[SETTINGS_NAMES_MAX];

    if (!tui_settings_changed(&view->settings, &view->settings_kept, names)[0])
        return false;
    if (!box)
        return true;
    const int x = tui_area_text(box, 0, y, STYLE_WARN, "changed, not saved: ");
    tui_area_text_cut(box, x, y, box->width - x, STYLE_WARN, names);
    return true;
}
