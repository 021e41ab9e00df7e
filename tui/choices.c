#include "tui/choices.h"

#include <stdio.h>
#include <string.h>

#include "tui/overlay.h"
#include "tui/saved_view_keys.h"
#include "tui/study_rows.h"

enum { PAGE = 12 };
_Static_assert((int)LIST_COLUMNS_MAX <= (int)CHOICES_MAX, "each column has a row");

static void put_columns(const struct view *view, const struct model *model, struct choices *ret)
{
    static const char *const titles[LIST_ALL] = {
#define TITLE(list, word, name) [list] = "Columns of the " name,
        LIST_TABLES(TITLE)
#undef TITLE
    };
    const char *choice = view->settings.columns[view->listed];
    bool shown[LIST_COLUMNS_MAX];
    const struct list_column_row *rows = tui_list_columns(view->listed, &ret->n);

    tui_list_columns_shown(view->listed, choice, shown);
    ret->title = titles[view->listed];
    ret->words = strcmp(choice, LIST_COLUMNS_AUTO) == 0 ? "auto: as many of the usual ones as fit"
                                                        : "chosen; of these as many as fit";
    for (int i = 0; i < ret->n; i++)
        ret->rows[i] = (struct choice){rows[i].name, rows[i].about, shown[i]};
    const struct tui_study_page *page = view->listed == LIST_TRIALS ? tui_view_study_page(view, model) : NULL;
    for (int i = 0; page && i < page->n_params && ret->n < CHOICES_MAX; i++) {
        const char *name = page->params[page->ranked[i]];
        ret->rows[ret->n++] =
            (struct choice){name, "this parameter, before the others", tui_list_columns_param(choice, name)};
    }
}

/* One row an indicator, at its first output. */
static void put_indicators(const struct view *view, const struct model *model, struct choices *ret)
{
    const struct history *h = &model->history;
    const char *hides = view->settings.hides;

    ret->title = "Indicators of the chart";
    ret->words = strcmp(hides, OVERLAY_HIDES_NONE) == 0 ? "auto: all that are kept" : "chosen";
    for (int i = 0; i < h->n_outputs && ret->n < CHOICES_MAX; i++) {
        const char *name = h->output_names[i];
        size_t len = strcspn(name, ".");
        bool known = false;
        for (int k = 0; k < ret->n && !known; k++)
            known = strcspn(ret->rows[k].name, ".") == len && strncmp(ret->rows[k].name, name, len) == 0;
        if (!known)
            ret->rows[ret->n++] =
                (struct choice){name, tui_overlay_on_price(name) ? "over the prices" : "below them",
                                !tui_overlay_is_hidden(hides, name)};
    }
}

/* One row an action that may have another key. */
static void put_keys(const struct view *view, struct choices *ret)
{
    const struct key_map *map = &view->settings.keys;
    const struct key_action *action;
    char word[KEY_WORD_MAX];

    ret->title = "Keys";
    ret->words = view->choosing_waits ? "press the new key; Esc: none" : "marked: others than the usual ones";
    for (int i = 0; (action = tui_key_action(i)); i++) {
        if (!action->name[0])
            continue;
        struct choice *row = &ret->rows[ret->n++];
        *row = (struct choice){action->name, action->words, map->keys[i] != 0, .action = i};
        const char *key = tui_key_word(tui_key_map_key(map, i), word);
        snprintf(row->key, sizeof(row->key), "%s%s", key, action->twice && !row->shown ? key : "");
    }
}

static void put_views(const struct view *view, struct choices *ret)
{
    ret->title = "Saved views";
    ret->words = view->saved.n ? "" : "no view is saved: s saves this screen";
    ret->unmarked = true;
    for (int i = 0; i < view->saved.n; i++) {
        struct choice *row = &ret->rows[ret->n++];
        *row = (struct choice){.name = view->saved.names[i], .about = ""};
        if (i < 9)
            snprintf(row->key, sizeof(row->key), "%d", i + 1);
    }
}

void tui_choices(const struct view *view, const struct model *model, struct choices *ret)
{
    *ret = (struct choices){.title = "", .words = ""};
    if (view->choosing == CHOOSING_COLUMNS)
        put_columns(view, model, ret);
    else if (view->choosing == CHOOSING_INDICATORS)
        put_indicators(view, model, ret);
    else if (view->choosing == CHOOSING_KEYS)
        put_keys(view, ret);
    else if (view->choosing == CHOOSING_VIEWS)
        put_views(view, ret);
}

void tui_choices_columns(struct view *view, int list, struct moment now)
{
    int n;

    if (!tui_list_columns(list, &n)) {
        tui_view_report(view, OUTCOME_NOTE, "columns:", "this list has none to choose", now);
        return;
    }
    if (view->listed != list || view->choosing_last != CHOOSING_COLUMNS)
        view->choosing_row = 0;
    view->choosing = view->choosing_last = CHOOSING_COLUMNS;
    view->listed = list;
}

void tui_choices_indicators(struct view *view, const struct model *model, struct moment now)
{
    if (model->history.n_outputs == 0) {
        tui_view_report(view, OUTCOME_NOTE, "indicators:",
                        "the daemon keeps no indicators: [indicators] of papertaped.ini names them", now);
        return;
    }
    if (view->choosing_last != CHOOSING_INDICATORS)
        view->choosing_row = 0;
    view->choosing = view->choosing_last = CHOOSING_INDICATORS;
}

void tui_choices_keys(struct view *view)
{
    if (view->choosing_last != CHOOSING_KEYS)
        view->choosing_row = 0;
    view->choosing = view->choosing_last = CHOOSING_KEYS;
    view->choosing_waits = false;
}

/* The press is the action's key from now on, unless it is another one's. */
static void give_key(struct view *view, const struct choice *row, struct moment now, int press)
{
    struct key_map map = view->settings.keys;
    char why[CONFIG_WHY_MAX], word[KEY_WORD_MAX];
    int other = -1;

    view->choosing_waits = false;
    if (press == PRESS_ESCAPE)
        return;
    int r = tui_key_map_set(&map, row->name, tui_key_word(press, word), why);
    if (r == 0 && (other = tui_key_map_clash(&map, row->action)) >= 0)
        tui_key_map_clash_words(&map, row->action, other, why);
    if (r < 0 || other >= 0) {
        tui_view_report(view, OUTCOME_NOTE, "key:", why, now);
        return;
    }
    view->settings.keys = map;
}

static void toggle(struct view *view, const struct choice *row, struct moment now)
{
    const bool columns = view->choosing == CHOOSING_COLUMNS;
    bool done = true;
    int n = 0;

    if (view->choosing == CHOOSING_KEYS) {
        view->choosing_waits = true;
        return;
    }
    if (columns)
        tui_list_columns(view->listed, &n);
    if (columns && view->choosing_row < n)
        done =
            tui_list_columns_toggle(view->listed, view->settings.columns[view->listed], view->choosing_row);
    else if (columns)
        done = tui_list_columns_toggle_param(view->settings.columns[view->listed], row->name);
    else
        done = tui_overlay_toggle(view->settings.hides, row->name);
    if (!done)
        tui_view_report(view, OUTCOME_NOTE, columns ? "columns:" : "indicators:",
                        !columns                 ? "no more can be hidden: show another first"
                        : strchr(row->name, ' ') ? "a parameter whose name has a blank cannot be chosen"
                                                 : "no more fit into the choice: hide another first",
                        now);
}

static void leave_to_program(struct view *view)
{
    if (view->choosing == CHOOSING_KEYS)
        view->settings.keys = (struct key_map){0};
    else if (view->choosing == CHOOSING_COLUMNS)
        memcpy(view->settings.columns[view->listed], LIST_COLUMNS_AUTO, sizeof(LIST_COLUMNS_AUTO));
    else
        memcpy(view->settings.hides, OVERLAY_HIDES_NONE, sizeof(OVERLAY_HIDES_NONE));
}

/* The chosen action's key is the table's again, where no other has that. */
static void take_back(struct view *view, const struct choice *row, struct moment now)
{
    struct key_map map = view->settings.keys;
    char why[CONFIG_WHY_MAX];

    map.keys[row->action] = 0;
    int other = tui_key_map_clash(&map, row->action);
    if (other >= 0) {
        tui_key_map_clash_words(&map, row->action, other, why);
        tui_view_report(view, OUTCOME_NOTE, "key:", why, now);
        return;
    }
    view->settings.keys = map;
}

/* The row that a key moves to of the n; -1: it does not move. */
static int moved(int at, int n, int key)
{
    const int last = n > 0 ? n - 1 : 0;

    switch (key) {
    case PRESS_UP:
    case 'k':
        return at > 0 ? at - 1 : 0;
    case PRESS_DOWN:
    case 'j':
        return at < last ? at + 1 : last;
    case PRESS_PAGE_UP:
        return at > PAGE ? at - PAGE : 0;
    case PRESS_PAGE_DOWN:
        return at + PAGE < last ? at + PAGE : last;
    case PRESS_HOME:
        return 0;
    case PRESS_END:
        return last;
    default:
        return -1;
    }
}

enum action tui_choices_press(struct view *view, const struct model *model, struct moment now, int key)
{
    struct choices choices;
    int *at = &view->choosing_row;

    tui_choices(view, model, &choices);
    *at = *at < choices.n ? *at : choices.n > 0 ? choices.n - 1 : 0; /* fewer indicators by now */
    if (view->choosing_waits && choices.n > 0) {
        give_key(view, &choices.rows[*at], now, key);
        return ACTION_NONE;
    }
    const int to = moved(*at, choices.n, key);
    if (to >= 0) {
        *at = to;
        return ACTION_NONE;
    }
    if (view->choosing == CHOOSING_VIEWS)
        return tui_saved_view_keys_press(view, now, key);
    switch (key) {
    case 'd':
        if (view->choosing == CHOOSING_KEYS)
            take_back(view, &choices.rows[*at], now);
        break;
    case PRESS_ENTER:
    case ' ':
        if (choices.n > 0)
            toggle(view, &choices.rows[*at], now);
        break;
    case 'a':
        leave_to_program(view);
        break;
    case 's':
    case PRESS_F12:
        return ACTION_SETTINGS_SAVE;
    case PRESS_CONTROL_L:
        return ACTION_REDRAW;
    case PRESS_ESCAPE:
    case 'C':
    case 'q':
        view->choosing = CHOOSING_NOTHING;
        break;
    default:
        break;
    }
    return ACTION_NONE;
}
