/* `papertape venues`: how each venue's connections and its market stand, and what it says that it sends. */
#ifndef TUI_COMMAND_VENUES_H
#define TUI_COMMAND_VENUES_H

/* argv[0] is the verb. Returns an exit status. */
int command_venues(int argc, char **argv);

#endif
