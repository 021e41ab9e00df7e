/* `fees`: what venues charge, by tier. */
#ifndef TUI_COMMAND_FEES_H
#define TUI_COMMAND_FEES_H

int command_fees(int argc, char **argv);

#endif
