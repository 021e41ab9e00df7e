/* papertape warmup: how much history does a strategy need? */
#ifndef TUI_COMMAND_WARMUP_H
#define TUI_COMMAND_WARMUP_H

/* argv[0] is the verb. Returns an exit status: EXIT_ERROR when its decisions never settle. */
int command_warmup(int argc, char **argv);

#endif
