/* `papertape order buy|sell|oco|amend|cancel …`: paper orders by hand. */
#ifndef TUI_COMMAND_ORDER_H
#define TUI_COMMAND_ORDER_H

int command_order(int argc, char **argv);

#endif
