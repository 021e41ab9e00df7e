/* papertape ledger verify|export: the invariants, and the rows. */
#ifndef TUI_COMMAND_LEDGER_H
#define TUI_COMMAND_LEDGER_H

/* argv[0] is the verb. Returns an exit status. */
int command_ledger(int argc, char **argv);

#endif
