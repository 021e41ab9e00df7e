/* `papertape` without a verb: the dashboard, and what of it can be printed. */
#ifndef TUI_VERB_DASHBOARD_H
#define TUI_VERB_DASHBOARD_H

/* argv[0] is the program. Returns the exit status: 0 ok, 1 error, 2 usage or no terminal, 3 no daemon (what
 * the database holds is printed all the same), 4 what was printed is stale. */
int tui_dashboard(int argc, char **argv);

#endif
