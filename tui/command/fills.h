/* papertape fills: every execution ever. */
#ifndef TUI_COMMAND_FILLS_H
#define TUI_COMMAND_FILLS_H

/* argv[0] is the verb. Returns an exit status. */
int command_fills(int argc, char **argv);

#endif
