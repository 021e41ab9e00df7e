#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/form_page.h"
#include "tui/panel/frame.h"

enum {
    NUMBERS_FROM = 60, /* columns from which on lines have their numbers */
    KEY_MAX = 26,
    ERROR_ROWS = 3,            /* of a line; of none */
    PLAN_ROWS = 3,             /* of a study, above its lines */
    ABOUT_ROWS = 2,            /* below the list: what the chosen one is */
    VALUE_MAX = LINE_EDIT_MAX, /* bytes of a value */
};

/* The columns of a row of the list. */
struct columns {
    int number, key, value; /* number: -1 for none */
};

static int lines_of(const char *sentences)
{
    int n = sentences != NULL;

    for (; sentences && (sentences = strchr(sentences, '\n')); sentences++)
        n++;
    return n < ERROR_ROWS ? n : ERROR_ROWS;
}

/* Writes the sentences, a row each; returns the row after the last. */
static int draw_errors(const struct area *area, int x, int y, const char *sentences)
{
    char line[FORM_WORDS_MAX * 2];

    for (int n = lines_of(sentences); n > 0; n--, y++) {
        size_t len = strcspn(sentences, "\n");
        char *whole = strndup(sentences, len);
        snprintf(line, sizeof(line), "! %.*s", (int)len, sentences);
        tui_area_text_cut_of(area, x, y, area->width - x, STYLE_BAD, line, whole ? whole : line);
        free(whole);
        sentences += len + (sentences[len] == '\n');
    }
    if (sentences && *sentences) /* there are more than rows */
        tui_canvas_keep(area->canvas, sentences);
    return y;
}

static struct columns lay_out(const struct form *form, int width)
{
    struct columns columns = {.number = width >= NUMBERS_FROM ? 2 : -1, .key = width >= NUMBERS_FROM ? 8 : 3};
    int longest = 8;

    for (size_t i = 0; i < form->n; i++) {
        int len = form->rows[i].kind == FORM_KEY ? (int)tui_form_parts(form, i).key.len : 0;
        longest = len > longest ? len : longest;
    }
    longest = longest > KEY_MAX ? KEY_MAX : longest;
    columns.value = columns.key + (longest < width / 2 - 2 ? longest : width / 2 - 2) + 2;
    return columns;
}

static int row_height(const struct form *form, size_t row)
{
    return 1 + lines_of(form->rows[row].error);
}

/* The first row of the list, so that the chosen one is in sight. */
static size_t first_row(const struct form_page *page, int height)
{
    size_t first = 0;
    int sum = 0;

    for (size_t i = 0; i <= page->row && i < page->form.n; i++) {
        if (!tui_form_page_shows(page, i))
            continue;
        sum += row_height(&page->form, i);
        while (sum > height && first < i) {
            if (tui_form_page_shows(page, first))
                sum -= row_height(&page->form, first);
            first++;
        }
    }
    return first;
}

static void draw_key(const struct area *area, int y, const struct form_page *page, size_t row,
                     const struct columns *columns, bool chosen)
{
    const struct form_row *r = &page->form.rows[row];
    struct form_parts parts = tui_form_parts(&page->form, row);
    enum style style = r->left_out ? STYLE_DIM : r->was || r->added ? STYLE_STRONG : STYLE_NORMAL;
    char text[VALUE_MAX];
    int value = r->kind == FORM_OTHER ? columns->key : columns->value;

    snprintf(text, sizeof(text), "%.*s", (int)(parts.key.len < VALUE_MAX ? parts.key.len : 0),
             parts.key.text);
    if (r->kind == FORM_KEY)
        tui_area_text_cut(area, columns->key, y, columns->value - columns->key - 1,
                          r->left_out ? STYLE_DIM : STYLE_NORMAL, text);
    if (chosen && page->mode == FORM_EDITS) {
        panel_frame_edit(area, value, y, &page->edit);
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)(parts.value.len < VALUE_MAX ? parts.value.len : VALUE_MAX - 1),
             parts.value.text);
    tui_area_text_cut(area, value, y, area->width - value,
                      r->kind == FORM_OTHER && !r->left_out ? STYLE_WARN : style, text);
    int end = value + cli_text_width(text) + 2;
    snprintf(text, sizeof(text), "%.*s", (int)(parts.comment.len < VALUE_MAX ? parts.comment.len : 0),
             parts.comment.text);
    if (r->left_out)
        snprintf(text, sizeof(text), "left out");
    if (text[0] && end >= area->width)
        tui_canvas_keep(area->canvas, text);
    else if (text[0])
        tui_area_text_cut(area, end, y, area->width - end, STYLE_DIM, text);
}

static void draw_row(const struct area *area, int y, const struct form_page *page, size_t row, int line,
                     const struct columns *columns)
{
    const struct form_row *r = &page->form.rows[row];
    bool chosen = row == page->row;
    char text[FORM_WORDS_MAX];

    if (columns->number >= 0 && line > 0) {
        snprintf(text, sizeof(text), "%d", line);
        tui_area_text_right(area, columns->number + 4, y, STYLE_DIM, text);
    }
    if (r->kind == FORM_SECTION) {
        tui_form_section(&page->form, row, text, sizeof(text) - 2);
        tui_area_printf(area, columns->key - 1, y, STYLE_TITLE, "[%s]", text);
    } else {
        draw_key(area, y, page, row, columns, chosen);
    }
    tui_area_char(area, 1, y, STYLE_WARN,
                  r->error      ? L'!'
                  : r->left_out ? L'-'
                  : r->added    ? L'+'
                  : r->was      ? L'*'
                                : L' ');
    if (chosen)
        panel_frame_cursor(area, y);
    draw_errors(area, columns->key + 1, y + 1, r->error);
}

/* What the study will take, or its device has no room for. Returns its rows. */
static int draw_plan(const struct area *area, const struct form_page *page)
{
    struct area plan = tui_area_part(area, 1, 0, area->width - 2, PLAN_ROWS);
    enum style style = page->refused ? STYLE_BAD : page->warned ? STYLE_WARN : STYLE_DIM;

    return page->plan[0] ? panel_frame_wrap(&plan, 0, PLAN_ROWS, style, page->plan) : 0;
}

static void draw_list(const struct area *area, const struct scene *scene)
{
    const struct form_page *page = scene->view->page;
    char sentence[PANEL_SENTENCE_MAX];
    struct columns columns = lay_out(&page->form, area->width);
    int y = draw_errors(area, 1, draw_plan(area, page), page->form.other_errors), line = 0;
    struct area list = tui_area_part(area, 0, y, area->width, area->height - y);
    size_t first = first_row(page, list.height);

    y = 0;
    for (size_t i = 0; i < page->form.n && y < list.height; i++) {
        line += !page->form.rows[i].left_out;
        if (i < first || !tui_form_page_shows(page, i))
            continue;
        draw_row(&list, y, page, i, page->form.rows[i].left_out ? 0 : line, &columns);
        y += row_height(&page->form, i);
    }
    if (page->form.n == 0 || !tui_form_page_shows(page, page->row))
        panel_frame_empty(&list, panel_frame_sentence(scene, "it has no key: `a` adds one", sentence));
}

static void about_known(const struct form_page *page, const struct form_known *known, char *buf, size_t size)
{
    snprintf(buf, size, "%s; default %s%s", known->about, known->value[0] ? known->value : "none",
             page->restart && !known->may_change ? "; fixed by the checkpoint" : "");
}

/* Below the list: why an input was refused, the chosen line's errors in full, or what its key is. */
static void draw_about(const struct area *area, const struct scene *scene)
{
    const struct form_page *page = scene->view->page;
    char sentence[PANEL_SENTENCE_MAX];
    char text[FORM_WORDS_MAX * 2] = "";
    bool there = tui_form_page_shows(page, page->row);
    const struct form_known *known = there ? tui_form_row_known(&page->form, page->row) : NULL;

    if (page->words[0]) {
        panel_frame_wrap(area, 0, ABOUT_ROWS, STYLE_WARN, panel_frame_sentence(scene, page->words, sentence));
        return;
    }
    if (!there)
        return;
    if (page->form.rows[page->row].error) {
        char *errors = strdup(page->form.rows[page->row].error);
        for (char *c = errors; c && (c = strchr(c, '\n'));)
            *c = ';';
        panel_frame_wrap(area, 0, ABOUT_ROWS, STYLE_BAD, errors ? errors : "out of memory");
        free(errors);
        return;
    }
    if (known)
        about_known(page, known, text, sizeof(text));
    else
        tui_form_above(&page->form, page->row, text, sizeof(text));
    panel_frame_wrap(area, 0, ABOUT_ROWS, STYLE_DIM, text);
}

/* The check's result, and how much was changed, at the right of the title. */
static void draw_title(const struct area *area, const struct scene *scene)
{
    const struct form_page *page = scene->view->page;
    int changes = tui_form_changes(&page->form), errors = page->form.errors, end;
    char title[STATUS_TRAINING_NAME_MAX + 16];
    struct segment segments[2] = {{.rank = 2}, {.rank = 1, .gap = 2}};

    snprintf(title, sizeof(title), "%s %s", page->restart ? "Restart" : "Start", page->name);
    panel_frame_rule(area, scene, PANEL_NONE, title, -1, &end);
    if (page->mode == FORM_WAITS)
        return;
    if (changes > 0)
        snprintf(segments[0].text, sizeof(segments[0].text), "%d changed", changes);
    if (page->checking)
        snprintf(segments[1].text, sizeof(segments[1].text), "checking");
    else if (errors < 0)
        snprintf(segments[1].text, sizeof(segments[1].text), "not checked");
    else if (errors == 0)
        snprintf(segments[1].text, sizeof(segments[1].text), "%s",
                 page->form.changed ? "was ok" : "checked ok");
    else
        snprintf(segments[1].text, sizeof(segments[1].text), "%d error%s%s", errors, errors == 1 ? "" : "s",
                 page->form.changed ? " before" : "");
    segments[0].style = STYLE_WARN;
    segments[1].style = errors > 0 ? STYLE_BAD : errors == 0 && !page->form.changed ? STYLE_GOOD : STYLE_DIM;
    int room = area->width - end - 3, width = panel_frame_fit(segments, 2, room);
    if (width > room)
        return;
    int x = area->width - width - 1;
    tui_area_line(area, x - 1, 0, width + 2, STYLE_NORMAL, L' ');
    panel_frame_segments(area, x, 0, area->width, segments, 2);
}

static void draw_keys(const struct area *area, const struct scene *scene)
{
    static const char *const rows[][2] = {{"Enter", "edit"},  {"c", "check"},      {"s", ""},
                                          {"Esc", "back"},    {"u", "undo"},       {"a", "add"},
                                          {"d", "leave out"}, {"n", "next error"}, {"F1", "help"}};
    static const char *const edits[][2] = {
        {"Enter", "takes it"}, {"Esc", "does not"}, {"Ctrl-U", "empties it"}};
    static const char *const adds[][2] = {{"Enter", "adds it"}, {"Esc", "does not"}, {"letters", "filter"}};
    const struct form_page *page = scene->view->page;
    const char *const(*keys)[2] = rows;
    struct hint_row row = panel_frame_hints(area);
    char hint[KEY_HINT_MAX];
    size_t n = sizeof(rows) / sizeof(rows[0]);

    if (page->mode == FORM_EDITS) {
        keys = edits;
        n = sizeof(edits) / sizeof(edits[0]);
    } else if (page->mode == FORM_ADDS) {
        keys = adds;
        n = sizeof(adds) / sizeof(adds[0]);
    } else if (scene->view->outcome != OUTCOME_NONE) {
        panel_outcome(area, scene->view, 0, scene->real_now);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *word = keys[i][1][0] ? keys[i][1] : page->restart ? "restart" : "start";
        if (page->mode == FORM_WAITS && strcmp(keys[i][0], "Esc") != 0)
            continue;
        const char *key = keys != rows
                              ? keys[i][0]
                              : tui_key_map_hint(&scene->view->settings.keys,
                                                 (struct key_where){KEYS_FORM, KEYS_FORM}, keys[i][0], hint);
        panel_frame_hint(&row, key, word);
    }
    panel_frame_hints_end(&row);
}

/* The keys that are missing, to choose one. */
static void draw_adding(const struct area *screen, const struct form_page *page)
{
    size_t choices[FORM_CHOICES_MAX],
        n = tui_form_missing(&page->form, page->filter, choices, FORM_CHOICES_MAX);
    struct area box = panel_frame_box(screen, 76, screen->height - 2, "Add a key");
    int rows = box.height - 1 - ABOUT_ROWS;
    char text[FORM_WORDS_MAX * 2];

    n = n < FORM_CHOICES_MAX ? n : FORM_CHOICES_MAX;
    int x = tui_area_text(&box, 0, 0, STYLE_DIM, "with ");
    x = tui_area_text(&box, x, 0, STYLE_STRONG, page->filter);
    tui_area_char(&box, x, 0, STYLE_KEY, L'_');
    if (n == 0)
        tui_area_text_cut(&box, 1, 1, box.width - 1, STYLE_DIM,
                          "no key that is missing has that in its name");
    int chosen = n > 0 ? (int)(page->choice < n ? page->choice : n - 1) : -1;
    int first = chosen >= rows ? chosen - rows + 1 : 0;
    for (int i = first; i < (int)n && i - first < rows; i++) {
        const struct form_known *known = &page->form.known[choices[i]];
        int y = 1 + i - first, end;
        snprintf(text, sizeof(text), "%s.%s", known->section, known->key);
        end = tui_area_text(&box, 2, y, STYLE_NORMAL, text) + 2;
        end = end < box.width / 2 ? box.width / 2 : end;
        tui_area_text_cut(&box, end, y, box.width - end, STYLE_DIM, known->value);
        if (i == chosen)
            panel_frame_cursor(&box, y);
    }
    if (chosen < 0)
        return;
    struct area about = tui_area_part(&box, 0, box.height - ABOUT_ROWS, box.width, ABOUT_ROWS);
    about_known(page, &page->form.known[choices[chosen]], text, sizeof(text));
    panel_frame_wrap(&about, 0, ABOUT_ROWS, STYLE_DIM, text);
}

void panel_form(const struct area *screen, const struct scene *scene)
{
    const struct form_page *page = scene->view->page;
    int height = screen->height;
    struct area title = tui_area_part(screen, 0, 0, screen->width, 1),
                list = tui_area_part(screen, 0, 1, screen->width, height - 2 - ABOUT_ROWS),
                about = tui_area_part(screen, 0, height - 1 - ABOUT_ROWS, screen->width, ABOUT_ROWS),
                keys = tui_area_part(screen, 0, height - 1, screen->width, 1);

    for (int y = 0; y < height; y++)
        tui_area_line(screen, 0, y, screen->width, STYLE_NORMAL, L' ');
    draw_title(&title, scene);
    if (page->mode == FORM_WAITS) {
        panel_frame_empty(&list, "the daemon is asked for the configuration");
    } else {
        draw_list(&list, scene);
        draw_about(&about, scene);
    }
    draw_keys(&keys, scene);
    if (page->mode == FORM_ADDS)
        draw_adding(screen, page);
}
