/* papertape orders: every order ever, refused ones too. */
#ifndef TUI_COMMAND_ORDERS_H
#define TUI_COMMAND_ORDERS_H

/* argv[0] is the verb. Returns an exit status. */
int command_orders(int argc, char **argv);

#endif
