/* `papertape status [--json]`: the daemon's state. */
#ifndef TUI_COMMAND_STATUS_H
#define TUI_COMMAND_STATUS_H

int command_status(int argc, char **argv);

#endif
