/* Lines and keys of the saved views: V and its box, ":view NAME", ":view save NAME", ":view remove NAME". */
#ifndef TUI_SAVED_VIEW_KEYS_H
#define TUI_SAVED_VIEW_KEYS_H

#include "tui/keys.h"
#include "tui/saved_view_file.h"

/* Lines that begin with "view". False: it does not. */
bool tui_saved_view_keys_line(struct view *view, const char *text, struct moment now, enum action *ret);

/* V, and a key while their box is open that does not move in it. */
enum action tui_saved_view_keys_press(struct view *view, struct moment now, int key);

/* ACTION_VIEWS and the others of view->saved_name: reads or writes the files, and says in the last line what
 * was done. True: another view is shown. */
bool tui_saved_view_keys_act(struct view *view, const struct model *model, enum action action,
                             struct moment now);

/* Shows a view. 0, also with what is gone or wrong in `words`, else ""; -ENOENT and the other errors of
 * tui_saved_view_read(), with the reason. */
int tui_saved_view_keys_open(struct view *view, const struct model *model, const char *name,
                             char words[static KEPT_FILE_WORDS_MAX]);

#endif
