/* `papertape revisions`: what venues changed of what they had told. `papertape actions`: splits and
 * dividends. */
#ifndef CLI_REVISIONS_H
#define CLI_REVISIONS_H

/* argv[0] is the verb. Each returns an exit status. */
int cli_revisions(int argc, char **argv);
int cli_actions(int argc, char **argv);

#endif
