/* `papertape book SYMBOL [--json]`: the order book now. */
#ifndef TUI_COMMAND_BOOK_H
#define TUI_COMMAND_BOOK_H

int command_book(int argc, char **argv);

#endif
