/* How the dashboard looks to a user: what F2 sets up, and its file in the XDG configuration folder. An option
 * of the command line goes before it. */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/config_key.h"
#include "tui/canvas.h"
#include "tui/kept_file.h"
#include "tui/key_map.h"
#include "tui/list_columns.h"
#include "tui/overlay.h"
#include "tui/theme.h"

enum settings_glyphs { SETTINGS_AUTO, SETTINGS_ASCII, SETTINGS_BLOCK, SETTINGS_BRAILLE };

struct dashboard_settings {
    int scheme;      /* enum scheme */
    int colours;     /* enum colours */
    int glyphs;      /* enum settings_glyphs */
    int local;       /* times are the machine's, not UTC's */
    int mouse;       /* it chooses rows and tabs; else the terminal selects text */
    double interval; /* seconds between two looks */
    char columns[LIST_ALL][LIST_COLUMNS_TEXT_MAX]; /* as tui_list_columns_shown() takes it */
    char hides[OVERLAY_HIDES_MAX];                 /* indicators that charts do not show: tui/overlay.h */
    struct key_map keys;                           /* the section [keys] */
};

/* The rows of F2 in their order; the file has what C chooses after them. */
extern const struct config_key tui_settings_rows[];
extern const size_t tui_settings_n;

void tui_settings_defaults(struct dashboard_settings *settings);

/* $XDG_CONFIG_HOME/papertape/dashboard.ini, or below ~/.config. False: neither variable is set, or the path
 * is too long. */
bool tui_settings_path(char ret[static PATH_MAX]);

/* Reads the file over the defaults. 0, also where there is none; -EINVAL: lines are wrong, which are left at
 * their defaults and named in `words`; -errno with the reason. */
int tui_settings_read(const char *path, struct dashboard_settings *ret,
                      char words[static KEPT_FILE_WORDS_MAX]);

/* Writes it whole, by another file that takes its place. 0; -EEXIST: the one that is there is wrong, as
 * `words` say; -errno. */
int tui_settings_write(const char *path, const struct dashboard_settings *settings,
                       char words[static KEPT_FILE_WORDS_MAX]);

/* The names of what differs between the two, with blanks between them, as many as there is room for; "":
 * they are equal. Returns `ret`. */
enum { SETTINGS_NAMES_MAX = 256 };
const char *tui_settings_changed(const struct dashboard_settings *settings,
                                 const struct dashboard_settings *kept, char ret[static SETTINGS_NAMES_MAX]);

/* The row's next value, or with by -1 the one before; the interval doubles or halves. */
void tui_settings_step(struct dashboard_settings *settings, size_t row, int by);

/* What charts are drawn with; `best`: what locale and terminal allow. */
enum glyphs tui_settings_glyphs(const struct dashboard_settings *settings, enum glyphs best);

#endif
