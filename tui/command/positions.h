/* papertape positions: what is held now. */
#ifndef TUI_COMMAND_POSITIONS_H
#define TUI_COMMAND_POSITIONS_H

/* argv[0] is the verb. Returns an exit status. */
int command_positions(int argc, char **argv);

#endif
