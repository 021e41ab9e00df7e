#include "tui/saved_view_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tui/command_keys.h"

#define FORMS "view NAME, view save NAME or view remove NAME is needed"

static enum action named(struct view *view, enum action action, const char *name)
{
    snprintf(view->saved_name, sizeof(view->saved_name), "%s", name);
    view->choosing = CHOOSING_NOTHING;
    return action;
}

static enum action open_box(struct view *view)
{
    if (view->choosing_last != CHOOSING_VIEWS)
        view->choosing_row = 0;
    view->choosing = view->choosing_last = CHOOSING_VIEWS;
    return ACTION_VIEWS;
}

bool tui_saved_view_keys_line(struct view *view, const char *text, struct moment now, enum action *ret)
{
    char words[4][COMMAND_WORD_MAX] = {"", "", "", ""};
    int n = sscanf(text, "%63s %63s %63s %63s", words[0], words[1], words[2], words[3]);

    if (n < 1 || strcmp(words[0], "view") != 0)
        return false;
    *ret = ACTION_NONE;
    const bool save = strcmp(words[1], "save") == 0, remove = strcmp(words[1], "remove") == 0;
    const char *name = save || remove ? words[2] : words[1];
    const char *wrong = n == 1 ? NULL : n != (save || remove ? 3 : 2) ? FORMS : tui_saved_view_wrong(name);
    if (wrong)
        tui_view_report(view, OUTCOME_REFUSED, "view", wrong, now);
    else if (n == 1)
        *ret = open_box(view);
    else
        *ret = named(view, save ? ACTION_VIEW_SAVE : remove ? ACTION_VIEW_REMOVE : ACTION_VIEW_OPEN, name);
    return true;
}

/* The line that does it to a view of that name: it is typed, not yet entered. */
static void type(struct view *view, const char *verb, const char *name, struct moment now)
{
    char line[SAVED_VIEW_NAME_MAX + 16];

    snprintf(line, sizeof(line), "view %s %s", verb, name);
    view->choosing = CHOOSING_NOTHING;
    tui_command_keys_open(view, line, now);
}

enum action tui_saved_view_keys_press(struct view *view, struct moment now, int key)
{
    const struct saved_views *saved = &view->saved;
    const int at = view->choosing_row;

    if (key >= '1' && key <= '9')
        return key - '1' < saved->n ? named(view, ACTION_VIEW_OPEN, saved->names[key - '1']) : ACTION_NONE;
    switch (key) {
    case 'V':
        return open_box(view);
    case PRESS_ENTER:
    case ' ':
        return saved->n > 0 ? named(view, ACTION_VIEW_OPEN, saved->names[at]) : ACTION_NONE;
    case 's':
        type(view, "save", "", now);
        break;
    case 'd':
        if (saved->n > 0)
            type(view, "remove", saved->names[at], now);
        break;
    case PRESS_CONTROL_L:
        return ACTION_REDRAW;
    case PRESS_ESCAPE:
    case 'q':
        view->choosing = CHOOSING_NOTHING;
        break;
    default:
        break;
    }
    return ACTION_NONE;
}

int tui_saved_view_keys_open(struct view *view, const struct model *model, const char *name,
                             char words[static KEPT_FILE_WORDS_MAX])
{
    char gone[SAVED_VIEW_GONE_MAX];
    struct saved_view saved;
    int r = tui_saved_view_read(name, &saved, words);

    if (r < 0 && r != -EINVAL)
        return r;
    tui_saved_view_show(&saved, view, model, gone);
    size_t n = strlen(words);
    if (gone[0])
        snprintf(words + n, KEPT_FILE_WORDS_MAX - n, "%sgone: %s", n ? "; " : "", gone);
    return 0;
}

bool tui_saved_view_keys_act(struct view *view, const struct model *model, enum action action,
                             struct moment now)
{
    char words[KEPT_FILE_WORDS_MAX] = "";
    struct saved_view saved;
    int r = 0;

    if (action == ACTION_VIEW_OPEN) {
        r = tui_saved_view_keys_open(view, model, view->saved_name, words);
    } else if (action == ACTION_VIEW_SAVE) {
        tui_saved_view_take(view, &saved);
        r = tui_saved_view_write(view->saved_name, &saved, words);
        size_t n = strlen(words);
        if (r == 0)
            tui_key_map_sentence(&view->settings.keys, tui_key_where(view, view->focus), "; `V` lists them",
                                 words + n, sizeof(words) - n);
    } else if (action == ACTION_VIEW_REMOVE) {
        r = tui_saved_view_remove(view->saved_name, words);
    }
    tui_saved_view_list(&view->saved);
    if (action != ACTION_VIEWS)
        tui_view_report(view,
                        r < 0      ? OUTCOME_REFUSED
                        : words[0] ? OUTCOME_NOTE
                                   : OUTCOME_DONE,
                        "view", words[0] ? words : view->saved_name, now);
    return action == ACTION_VIEW_OPEN && r == 0;
}
