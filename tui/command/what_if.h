/* papertape what-if: a past moment tried again otherwise. */
#ifndef TUI_COMMAND_WHAT_IF_H
#define TUI_COMMAND_WHAT_IF_H

int command_what_if(int argc, char **argv);

#endif
