#include "tui/list_keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/choices.h"
#include "tui/line_edit.h"
#include "tui/lists.h"
#include "tui/paste.h"

/* The order has changed: the cursor stays on its row, and so does the window. */
static void reorder(struct view *view, const struct model *model, int list)
{
    struct list_choice *state = &view->lists[list];
    struct lists_rows rows;

    tui_lists_rows(view, model, list, &rows);
    state->anchor_id = state->id > 0 ? state->id : 0;
    state->anchor_at = tui_list_cursor(state, &rows.items, view->cursor[tui_lists_panel(list)]);
}

static void show_first(struct view *view, const struct model *model, int list)
{
    struct list_choice *state = &view->lists[list];

    state->id = state->anchor_id = state->anchor_at = 0;
    if (list >= DB_LISTS)
        tui_lists_choose(view, model, list, NULL);
    view->cursor[tui_lists_panel(list)] = 0;
}

static void ask(struct view *view, int list, enum prompt prompt)
{
    view->prompt = prompt;
    view->outcome = OUTCOME_NONE;
    view->listed = list;
    view->focus = tui_lists_panel(list);
}

/* Of a list that the model holds, at once. */
static void find_held(struct view *view, const struct model *model, int list, bool back, struct moment now)
{
    const char *words = view->lists[list].find;
    const void *row = tui_lists_held_find(view, model, list, words, back);

    if (row)
        tui_lists_choose(view, model, list, row);
    else
        tui_lists_report_none(view, words, now);
}

static void search(struct view *view, const struct model *model, int list, bool back, struct moment now)
{
    struct list_choice *state = &view->lists[list];

    if (!state->find[0]) {
        ask(view, list, PROMPT_FIND);
        return;
    }
    if (list >= DB_LISTS) {
        find_held(view, model, list, back, now);
        return;
    }
    state->waiting += back ? -1 : 1;
    tui_list_search(state);
}

bool tui_list_keys_press(struct view *view, const struct model *model, enum panel focus, struct moment now,
                         int key)
{
    int list = tui_lists_of(focus);
    char words[160];

    if (list == LIST_ALL)
        return false;
    struct list_choice *state = &view->lists[list];
    switch (key) {
    case 'o':
    case 'I':
        if (list >= DB_LISTS) /* by its name the cursor stays on it */
            tui_lists_choose(view, model, list, tui_lists_held_chosen(view, model, list));
        if (key == 'o')
            tui_lists_sort_next(view, model, list);
        else
            state->invert = !state->invert;
        reorder(view, model, list);
        snprintf(words, sizeof(words), "by %.120s%s", tui_lists_sorted(view, model, list),
                 state->invert ? ", inverted" : "");
        tui_view_report(view, OUTCOME_NOTE, "rows:", words, now);
        return true;
    case '/':
        state->filter[0] = '\0';
        show_first(view, model, list);
        ask(view, list, PROMPT_LIST);
        return true;
    case 'C':
        tui_choices_columns(view, list, now);
        return true;
    case 'n':
    case 'N':
        if (state->find[0]) /* which was typed some time ago, as a filter, too */
            tui_view_report(view, OUTCOME_NOTE, "find:", state->find, now);
        search(view, model, list, key == 'N', now);
        return true;
    default:
        return false;
    }
}

void tui_list_keys_move(struct view *view, const struct model *model, enum panel focus, int64_t place,
                        int key)
{
    enum list_move to = key == PRESS_HOME ? LIST_TO_FIRST : key == PRESS_END ? LIST_TO_LAST : LIST_TO_ROW;
    int list = tui_lists_of(focus);
    struct lists_rows rows;

    tui_lists_rows(view, model, list, &rows);
    view->cursor[focus] = (int)tui_list_move(&view->lists[list], &rows.items, to, place);
    if (list >= DB_LISTS && rows.items.n > 0)
        tui_lists_choose(view, model, list, tui_lists_held_at(view, model, list, view->cursor[focus]));
}

bool tui_list_keys_back(struct view *view, const struct model *model, enum panel focus)
{
    int list = tui_lists_of(focus);

    if (list == LIST_ALL || !view->lists[list].filter[0])
        return false;
    view->lists[list].filter[0] = '\0';
    show_first(view, model, list);
    return true;
}

void tui_list_keys_type(struct view *view, const struct model *model, struct moment now, int key)
{
    struct list_choice *state = &view->lists[view->listed];
    bool filter = view->prompt == PROMPT_LIST;
    char *text = filter ? state->filter : state->find;

    if (key == PRESS_ESCAPE) {
        view->prompt = PROMPT_NONE;
        text[0] = '\0';
    } else if (key == PRESS_ENTER) {
        view->prompt = PROMPT_NONE;
        if (filter && text[0])
            memcpy(state->find, state->filter, sizeof(state->find));
        if (!filter && text[0]) { /* whichever search runs was for another text */
            state->answered = state->asked;
            state->waiting = 0;
            search(view, model, view->listed, false, now);
        }
        return;
    } else if (!tui_line_edit_word(text, sizeof(state->filter), ' ', key)) {
        return;
    }
    if (filter)
        show_first(view, model, view->listed);
}

void tui_list_keys_paste(struct view *view, const struct model *model, struct moment now, const int *keys,
                         size_t n)
{
    for (size_t i = 0; i < n && i < PASTE_MAX; i++)
        tui_list_keys_type(view, model, now, keys[i] >= ' ' && keys[i] < 0x7f ? keys[i] : '?');
}
