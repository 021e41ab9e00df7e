/* The command line's earlier lines, in $XDG_STATE_HOME/papertape-dashboard/commands (else ~/.local/state/…):
 * one a line, the newest last, for its owner alone. Where it cannot be read or written, nothing is kept. */
#ifndef TUI_COMMAND_HISTORY_H
#define TUI_COMMAND_HISTORY_H

#include "tui/command_line.h"

/* Reads them into the line, and shortens a file of more than twice COMMAND_LINES_MAX. */
void tui_command_history_load(struct command_line *line);

/* Keeps a line in both; one that tui_command_line_keep() leaves out in neither. */
void tui_command_history_add(struct command_line *line, const char *text);

#endif
