/* papertape positions: what is held now. */
#ifndef CLI_POSITIONS_H
#define CLI_POSITIONS_H

/* argv[0] is the verb. Returns an exit status. */
int cli_positions(int argc, char **argv);

#endif
