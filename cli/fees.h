/* `fees`: what venues charge, by tier. */
#ifndef CLI_FEES_H
#define CLI_FEES_H

int cli_fees(int argc, char **argv);

#endif
