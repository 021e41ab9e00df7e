/* papertape what-if: a past moment tried again otherwise. */
#ifndef CLI_WHAT_IF_H
#define CLI_WHAT_IF_H

int cli_what_if(int argc, char **argv);

#endif
