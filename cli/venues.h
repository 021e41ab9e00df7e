/* `papertape venues`: how each venue's connections and its market stand, and what it says that it sends. */
#ifndef CLI_VENUES_H
#define CLI_VENUES_H

/* argv[0] is the verb. Returns an exit status. */
int cli_venues(int argc, char **argv);

#endif
