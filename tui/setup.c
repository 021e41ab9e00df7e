#include "tui/setup.h"

#include <stdio.h>
#include <string.h>

#include "tui/choices.h"
#include "tui/lists.h"
#include "tui/saved_view_keys.h"

/* The rows behind the settings: what has a box of its own. */
enum { ROW_COLUMNS, ROW_INDICATORS, ROW_KEYS, ROW_VIEWS, BOXES };
static const struct {
    const char *name, *about;
} boxes[BOXES] = {
    [ROW_COLUMNS] = {"columns", "h l: of which list; Enter chooses, as C does"},
    [ROW_INDICATORS] = {"indicators", "of the chart; Enter chooses, as C does"},
    [ROW_KEYS] = {"keys", "Enter gives an action another key"},
    [ROW_VIEWS] = {"views", "of screens; Enter lists them, as V does"},
};

static bool has_columns(int list)
{
    int n;

    return list < LIST_ALL && tui_list_columns(list, &n) && n > 0;
}

/* The list whose columns the row is of: the orders where the last one has no columns. */
static int columns_list(const struct view *view)
{
    return has_columns(view->listed) ? view->listed : DB_LIST_ORDERS;
}

static const char *list_name(int list)
{
    static const char *const names[LIST_ALL] = {
#define NAME(list, word, name) [list] = name,
        LIST_TABLES(NAME)
#undef NAME
    };

    return names[list];
}

static int moved_keys(const struct key_map *map)
{
    int n = 0;

    for (int i = 0; i < KEY_ACTIONS_MAX; i++)
        n += map->keys[i] != 0;
    return n;
}

static void put_value(const struct view *view, int box, char ret[static SETUP_VALUE_MAX])
{
    const int moved = moved_keys(&view->settings.keys);

    if (box == ROW_COLUMNS)
        snprintf(ret, SETUP_VALUE_MAX, "%s", list_name(columns_list(view)));
    else if (box == ROW_INDICATORS)
        snprintf(ret, SETUP_VALUE_MAX, "%s",
                 strcmp(view->settings.hides, OVERLAY_HIDES_NONE) == 0 ? "all" : "chosen");
    else if (box == ROW_KEYS && moved == 0)
        snprintf(ret, SETUP_VALUE_MAX, "usual");
    else
        snprintf(ret, SETUP_VALUE_MAX, "%d %s", box == ROW_KEYS ? moved : view->saved.n,
                 box == ROW_KEYS ? "changed" : "saved");
}

bool tui_setup_row(const struct view *view, int i, struct setup_row *ret)
{
    const int box = i - (int)tui_settings_n;

    if (i < 0 || box >= BOXES)
        return false;
    if (box >= 0) {
        *ret = (struct setup_row){boxes[box].name, boxes[box].about, ""};
        put_value(view, box, ret->value);
        return true;
    }
    const struct config_key *key = &tui_settings_rows[i];
    *ret = (struct setup_row){key->name, key->about, ""};
    config_key_text(key, &view->settings, ret->value, sizeof(ret->value));
    return true;
}

void tui_setup_open(struct view *view, enum panel focus)
{
    const int list = tui_lists_of(focus);

    view->setup = true;
    view->setup_row = 0;
    if (has_columns(list))
        view->listed = list;
}

static void step_list(struct view *view, int by)
{
    int list = columns_list(view);

    do
        list = (list + LIST_ALL + by) % LIST_ALL;
    while (!has_columns(list));
    view->listed = list;
    view->choosing_last = CHOOSING_NOTHING; /* its box begins at the first row */
}

static enum action open_box(struct view *view, const struct model *model, struct moment now, int box)
{
    if (box == ROW_COLUMNS)
        tui_choices_columns(view, columns_list(view), now);
    else if (box == ROW_INDICATORS)
        tui_choices_indicators(view, model, now);
    else if (box == ROW_KEYS)
        tui_choices_keys(view);
    else
        return tui_saved_view_keys_press(view, now, 'V');
    return ACTION_NONE;
}

static enum action change(struct view *view, int by)
{
    const int box = view->setup_row - (int)tui_settings_n;

    if (box < 0) {
        tui_settings_step(&view->settings, (size_t)view->setup_row, by);
        return ACTION_SETTINGS;
    }
    if (box == ROW_COLUMNS)
        step_list(view, by);
    return ACTION_NONE;
}

enum action tui_setup_press(struct view *view, const struct model *model, struct moment now, int key)
{
    const int rows = (int)tui_settings_n + BOXES, box = view->setup_row - (int)tui_settings_n;

    switch (key) {
    case PRESS_UP:
    case 'k':
        view->setup_row -= view->setup_row > 0;
        break;
    case PRESS_DOWN:
    case 'j':
        view->setup_row += view->setup_row < rows - 1;
        break;
    case PRESS_ENTER:
    case ' ':
        return box >= 0 ? open_box(view, model, now, box) : change(view, 1);
    case PRESS_RIGHT:
    case 'l':
        return change(view, 1);
    case PRESS_LEFT:
    case 'h':
        return change(view, -1);
    case 'C':
        return open_box(view, model, now, ROW_COLUMNS);
    case 'K':
        return open_box(view, model, now, ROW_KEYS);
    case 'V':
        return open_box(view, model, now, ROW_VIEWS);
    case 's':
    case PRESS_F12:
        return ACTION_SETTINGS_SAVE;
    case PRESS_CONTROL_L:
        return ACTION_REDRAW;
    case PRESS_ESCAPE:
    case PRESS_F2:
    case 'q':
        view->setup = false;
        break;
    default:
        break;
    }
    return ACTION_NONE;
}
