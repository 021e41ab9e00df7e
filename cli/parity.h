/* papertape parity: does the log give what was recorded? */
#ifndef CLI_PARITY_H
#define CLI_PARITY_H

int cli_parity(int argc, char **argv);

#endif
