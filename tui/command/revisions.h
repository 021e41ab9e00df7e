/* `papertape revisions`: what venues changed of what they had told. `papertape actions`: splits and
 * dividends. */
#ifndef TUI_COMMAND_REVISIONS_H
#define TUI_COMMAND_REVISIONS_H

/* argv[0] is the verb. Each returns an exit status. */
int command_revisions(int argc, char **argv);
int command_actions(int argc, char **argv);

#endif
