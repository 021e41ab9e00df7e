/* The keys of the command line. */
#ifndef TUI_COMMAND_KEYS_H
#define TUI_COMMAND_KEYS_H

#include "tui/keys.h"

/* Opens it, with a text. */
void tui_command_keys_open(struct view *view, const char *text, struct moment now);

/* A key while it is open: ACTION_LINE with Enter, or what a line of the dashboard's own does; ACTION_LINE_TRY
 * with F5. */
enum action tui_command_keys_type(struct view *view, const struct model *model, struct moment now, int key);

#endif
