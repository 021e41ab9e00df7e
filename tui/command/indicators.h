/* `papertape indicators FILE SPEC…`: indicators of a bars file as CSV on stdout; `--list`: the registry. */
#ifndef TUI_COMMAND_INDICATORS_H
#define TUI_COMMAND_INDICATORS_H

/* Runs the verb; argv[0] is "indicators". Returns the program's exit status: 0 done, 1 an error, 2 a wrong
 * command line; what went wrong is one line on stderr. Sets LC_NUMERIC to "C": CSV has decimal points in
 * every locale. */
int command_indicators(int argc, char **argv);

#endif
