/* `papertape order buy|sell|oco|amend|cancel …`: paper orders by hand. */
#ifndef CLI_ORDER_H
#define CLI_ORDER_H

int cli_order(int argc, char **argv);

#endif
