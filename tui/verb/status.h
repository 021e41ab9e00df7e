/* `papertape status [--json]`: the daemon's state. */
#ifndef TUI_VERB_STATUS_H
#define TUI_VERB_STATUS_H

int tui_status(int argc, char **argv);

#endif
