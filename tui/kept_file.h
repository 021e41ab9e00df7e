/* The files that the dashboard keeps for its user below $XDG_CONFIG_HOME/papertape, else ~/.config/papertape:
 * dashboard.ini and the saved views. INI files, read with all of their errors, written whole or not at all.
 */
#ifndef TUI_KEPT_FILE_H
#define TUI_KEPT_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "record/config_file.h"

#define KEPT_FILE_NOWHERE "neither $XDG_CONFIG_HOME nor $HOME is set"

enum { KEPT_FILE_WORDS_MAX = 640 };

/* The file of a name, or with "" the folder. False: neither variable is set, or the path is too long. */
bool tui_kept_file_path(const char *name, char ret[static PATH_MAX]);

/* Of a form: all lines are set in one turn, those of `rows` in `into`. */
int tui_kept_file_turn(const struct config_line *line);
int tui_kept_file_set(const struct config_key *rows, size_t n, const struct config_line *line, void *into,
                      char why[static CONFIG_WHY_MAX]);

/* Sets the file's lines in `into`, and lets `check`, where it is not NULL, add errors. 0; -ENOENT: there is
 * none; -EINVAL: lines are wrong, which were not set; -errno. `words`: what was wrong, in one line; "". */
int tui_kept_file_read(const char *path, const struct config_form *form,
                       void (*check)(struct config_file *file, const struct config_form *form, void *into),
                       void *into, char words[static KEPT_FILE_WORDS_MAX]);

/* Writes what `print` does, by another file that takes its place; folders are made. 0 or -errno. */
int tui_kept_file_write(const char *path, void (*print)(const void *from, FILE *to), const void *from);

/* Why a file was not saved. */
void tui_kept_file_not_saved(const char *path, int error, char words[static KEPT_FILE_WORDS_MAX]);

#endif
