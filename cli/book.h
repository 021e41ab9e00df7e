/* `papertape book SYMBOL [--json]`: the order book now. */
#ifndef CLI_BOOK_H
#define CLI_BOOK_H

int cli_book(int argc, char **argv);

#endif
