/* papertape parity: does the log give what was recorded? */
#ifndef TUI_COMMAND_PARITY_H
#define TUI_COMMAND_PARITY_H

int command_parity(int argc, char **argv);

#endif
