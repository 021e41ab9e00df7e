/* The files of saved views: NAME.ini in the folder views beside dashboard.ini, each written whole or not at
 * all. */
#ifndef TUI_SAVED_VIEW_FILE_H
#define TUI_SAVED_VIEW_FILE_H

#include "tui/kept_file.h"
#include "tui/saved_view.h"

/* The file of a name. False: neither $XDG_CONFIG_HOME nor $HOME is set, or the path is too long. */
bool tui_saved_view_path(const char *name, char ret[static PATH_MAX]);

/* Their names, sorted, the first SAVED_VIEWS_MAX of them; without a folder none. */
void tui_saved_view_list(struct saved_views *ret);

/* 0; -EINVAL: lines are wrong, which are named in `words` and left at their defaults; -ENOENT: there is none
 * of that name, and `words` says which there are; -errno with the reason. */
int tui_saved_view_read(const char *name, struct saved_view *ret, char words[static KEPT_FILE_WORDS_MAX]);

/* 0; -ENOSPC: there are as many as there can be; -EEXIST: the file of that name has lines that are wrong, or
 * cannot be read, and is left as it is; -errno. `words` says what was done, or not and why. */
int tui_saved_view_write(const char *name, const struct saved_view *saved,
                         char words[static KEPT_FILE_WORDS_MAX]);
int tui_saved_view_remove(const char *name, char words[static KEPT_FILE_WORDS_MAX]);

#endif
