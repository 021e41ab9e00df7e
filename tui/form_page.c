#include "tui/form_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/form.h"
#include "tui/paste.h"
#include "tui/press.h"

struct form_page *tui_form_page_create(const char *name, bool restart)
{
    struct form_page *page = calloc(1, sizeof(*page));

    if (page) {
        snprintf(page->name, sizeof(page->name), "%s", name);
        page->restart = restart;
        page->form.errors = -1;
    }
    return page;
}

void tui_form_page_destroy(struct form_page *page)
{
    if (page)
        tui_form_finish(&page->form);
    free(page);
}

bool tui_form_page_shows(const struct form_page *page, size_t row)
{
    return row < page->form.n && page->form.rows[row].kind != FORM_TEXT;
}

/* The row itself, or the nearest that is shown: the next one, else the one before. */
static void settle(struct form_page *page)
{
    size_t row = page->row;

    while (row < page->form.n && !tui_form_page_shows(page, row))
        row++;
    if (row >= page->form.n)
        for (row = page->form.n; row > 0 && !tui_form_page_shows(page, row); row--)
            ;
    page->row = row;
}

int tui_form_page_fill(struct form_page *page, const char *text)
{
    size_t n;
    const struct form_known *known = tui_form_known_keys(&n);
    int r = tui_form_init(&page->form, text, known, n);

    if (r < 0)
        return r;
    page->mode = FORM_ROWS;
    page->row = 0;
    settle(page);
    for (size_t i = page->row; i < page->form.n; i++)
        if (page->form.rows[i].kind == FORM_KEY) { /* the first that can be changed */
            page->row = i;
            break;
        }
    return 0;
}

/* One shown row up or down, if there is one. */
static bool step(struct form_page *page, int by)
{
    for (size_t row = page->row; by > 0 ? row + 1 < page->form.n : row > 0;) {
        row += by > 0 ? 1 : (size_t)-1;
        if (tui_form_page_shows(page, row)) {
            page->row = row;
            return true;
        }
    }
    return false;
}

static void move(struct form_page *page, int by)
{
    for (int n = by < 0 ? -by : by; n > 0 && step(page, by); n--)
        ;
}

/* The next row that the check found something in, from the one chosen on, and round. */
static void next_error(struct form_page *page)
{
    for (size_t i = 1; i <= page->form.n; i++) {
        size_t row = (page->row + i) % page->form.n;
        if (page->form.rows[row].error && tui_form_page_shows(page, row)) {
            page->row = row;
            return;
        }
    }
    snprintf(page->words, sizeof(page->words), "no line has an error: `c` checks");
}

static void edit(struct form_page *page)
{
    const struct form_row *row = &page->form.rows[page->row];
    struct form_parts parts = tui_form_parts(&page->form, page->row);
    char *value;

    if (row->kind == FORM_SECTION) {
        snprintf(page->words, sizeof(page->words), "a section has no value: `a` adds a key");
        return;
    }
    if (row->left_out) {
        snprintf(page->words, sizeof(page->words), "it is left out: `u` brings it back");
        return;
    }
    if (!(value = strndup(parts.value.text, parts.value.len)))
        return;
    tui_line_edit_begin(&page->edit, value, LINE_EDIT_MAX);
    free(value);
    page->mode = FORM_EDITS;
}

/* Accepts what was typed. An untouched value stays unchanged, even where it was cleaned for display. */
static void accept(struct form_page *page)
{
    struct form_parts parts = tui_form_parts(&page->form, page->row);
    if (page->edit.over) {
        snprintf(page->words, sizeof(page->words),
                 "a value has at most %zu bytes, and not all that was typed has room: Ctrl-U clears it",
                 page->edit.size - 1);
        return;
    }
    char *value = strndup(parts.value.text, parts.value.len);
    struct line_edit *before = value ? malloc(sizeof(*before)) : NULL;
    bool same = false;

    if (before) {
        tui_line_edit_begin(before, value, LINE_EDIT_MAX);
        same = strcmp(before->text, page->edit.text) == 0;
    }
    free(before);
    free(value);
    if (!same && tui_form_set(&page->form, page->row, page->edit.text, page->words) < 0)
        return;
    page->mode = FORM_ROWS;
    settle(page);
}

static enum form_action press_editing(struct form_page *page, int key)
{
    if (key == PRESS_ENTER)
        accept(page);
    else if (key == PRESS_ESCAPE)
        page->mode = FORM_ROWS;
    else
        tui_line_edit_press(&page->edit, key);
    return FORM_ACTION_NONE;
}

static void add(struct form_page *page, size_t known)
{
    long row = tui_form_add(&page->form, known);

    page->mode = FORM_ROWS;
    if (row < 0) {
        snprintf(page->words, sizeof(page->words), "the configuration is too long for one more key");
        return;
    }
    page->row = (size_t)row;
    edit(page);
}

static void filter(struct form_page *page, int key)
{
    if (tui_line_edit_word(page->filter, sizeof(page->filter), '!', key))
        page->choice = 0;
}

static enum form_action press_adding(struct form_page *page, int height, int key)
{
    size_t choices[FORM_CHOICES_MAX],
        n = tui_form_missing(&page->form, page->filter, choices, FORM_CHOICES_MAX);
    size_t last = n == 0 ? 0 : (n < FORM_CHOICES_MAX ? n : FORM_CHOICES_MAX) - 1;
    size_t some = height > 1 ? (size_t)height : 1;

    switch (key) {
    case PRESS_ESCAPE:
        page->mode = FORM_ROWS;
        break;
    case PRESS_ENTER:
        if (n > 0)
            add(page, choices[page->choice < last ? page->choice : last]);
        break;
    case PRESS_UP:
        page->choice -= page->choice > 0;
        break;
    case PRESS_DOWN:
        page->choice += page->choice < last;
        break;
    case PRESS_PAGE_UP:
        page->choice -= page->choice < some ? page->choice : some;
        break;
    case PRESS_PAGE_DOWN:
        page->choice = page->choice + some < last ? page->choice + some : last;
        break;
    case PRESS_HOME:
        page->choice = 0;
        break;
    case PRESS_END:
        page->choice = last;
        break;
    default:
        filter(page, key);
    }
    return FORM_ACTION_NONE;
}

static enum form_action send(struct form_page *page)
{
    const struct form *form = &page->form;

    if (form->errors <= 0 || form->changed)
        return FORM_ACTION_SEND;
    snprintf(page->words, sizeof(page->words),
             "the check found %d error%s: `n` goes to the next, `c` checks again", form->errors,
             form->errors == 1 ? "" : "s");
    return FORM_ACTION_NONE;
}

static enum form_action press_rows(struct form_page *page, int height, int key)
{
    int some = height > 2 ? height - 1 : 1, all = (int)page->form.n;
    bool there = tui_form_page_shows(page, page->row);

    switch (key) {
    case PRESS_ESCAPE:
    case 'q':
        return FORM_ACTION_LEAVE;
    case PRESS_F5:
    case 'c':
        return FORM_ACTION_CHECK;
    case PRESS_F12:
    case 's':
        return send(page);
    case '?':
    case PRESS_HELP:
        return FORM_ACTION_HELP;
    case PRESS_UP:
    case 'k':
        move(page, -1);
        break;
    case PRESS_DOWN:
    case 'j':
        move(page, 1);
        break;
    case PRESS_PAGE_UP:
        move(page, -some);
        break;
    case PRESS_PAGE_DOWN:
        move(page, some);
        break;
    case PRESS_HOME:
    case 'g':
        move(page, -all);
        break;
    case PRESS_END:
    case 'G':
        move(page, all);
        break;
    case 'n':
        next_error(page);
        break;
    case 'a':
        page->mode = FORM_ADDS;
        page->filter[0] = '\0';
        page->choice = 0;
        break;
    case PRESS_ENTER:
        if (there)
            edit(page);
        break;
    case 'd':
    case PRESS_DELETE:
        if (there && page->form.rows[page->row].added)
            tui_form_undo(&page->form, page->row);
        else if (there)
            tui_form_leave_out(&page->form, page->row);
        settle(page);
        break;
    case 'u':
        if (there)
            tui_form_undo(&page->form, page->row);
        settle(page);
        break;
    default:
        break;
    }
    return FORM_ACTION_NONE;
}

enum form_action tui_form_page_press(struct form_page *page, int height, int key)
{
    page->words[0] = '\0';
    switch (page->mode) {
    case FORM_WAITS:
        return key == PRESS_ESCAPE || key == 'q' ? FORM_ACTION_LEAVE : FORM_ACTION_NONE;
    case FORM_EDITS:
        return press_editing(page, key);
    case FORM_ADDS:
        return press_adding(page, height, key);
    case FORM_ROWS:
        break;
    }
    return press_rows(page, height, key);
}

void tui_form_page_paste(struct form_page *page, const int *keys, size_t n)
{
    page->words[0] = '\0';
    if (page->mode == FORM_EDITS && (n > PASTE_MAX || !tui_line_edit_paste(&page->edit, keys, n))) {
        snprintf(page->words, sizeof(page->words),
                 "what was pasted is too long: a value has at most %zu bytes; nothing was taken",
                 page->edit.size - 1);
    } else if (page->mode == FORM_ADDS) {
        if (strlen(page->filter) + n >= sizeof(page->filter))
            snprintf(page->words, sizeof(page->words), "no key has so long a name: nothing was taken");
        else
            for (size_t i = 0; i < n; i++)
                filter(page, keys[i]);
    }
}
