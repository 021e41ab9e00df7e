/* The box of F2: a row each setting, and a row each box of choices.h that opens from there. */
#ifndef TUI_SETUP_H
#define TUI_SETUP_H

#include "tui/keys.h"

enum { SETUP_VALUE_MAX = 32 };

struct setup_row {
    const char *name, *about;
    char value[SETUP_VALUE_MAX];
};

/* Row i, 0 …; false: past the last. */
bool tui_setup_row(const struct view *view, int i, struct setup_row *ret);

/* Opens the box; the row of columns is of the list in `focus`, where that has columns. */
void tui_setup_open(struct view *view, enum panel focus);

/* A key while it is open, and nothing over it. */
enum action tui_setup_press(struct view *view, const struct model *model, struct moment now, int key);

#endif
