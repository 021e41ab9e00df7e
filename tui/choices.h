/* The box that chooses what is shown, the columns of a list and the indicators of the chart, the keys of
 * actions, and a saved view. What is chosen of the first three is in the view's settings. */
#ifndef TUI_CHOICES_H
#define TUI_CHOICES_H

#include "tui/keys.h"

enum { CHOICES_MAX = KEY_ACTIONS_MAX };

/* The box's rows. Texts are others'. */
struct choices {
    const char *title, *words; /* in the frame; below the rows: what is in force */
    bool unmarked;             /* no row is shown or hidden: one is opened */
    int n;
    struct choice {
        const char *name;       /* of an indicator up to a point */
        const char *about;      /* as tui_key_map_sentence() takes it */
        bool shown;             /* of a key: it is another than the table's */
        char key[KEY_WORD_MAX]; /* "": not of keys */
        int action;             /* of tui_key_action() */
    } rows[CHOICES_MAX];
};

void tui_choices(const struct view *view, const struct model *model, struct choices *ret);

/* Open it; where there is nothing to choose, the last line says so. */
void tui_choices_columns(struct view *view, int list, struct moment now);
void tui_choices_indicators(struct view *view, const struct model *model, struct moment now);
void tui_choices_keys(struct view *view);

/* A key while it is open. */
enum action tui_choices_press(struct view *view, const struct model *model, struct moment now, int key);

#endif
