/* An order book as the control socket and `papertape book` show it. */
#ifndef RECORD_BOOK_H
#define RECORD_BOOK_H

#include <jansson.h>
#include <stddef.h>

#include "exchange/book.h"
#include "exchange/symbol.h"

const char *record_book_state(enum book_state state); /* "none", "syncing", "synced" */

/* "symbol", "state", "last_id", and its best levels a side, ["price", "qty"] as exact decimals; none while it
 * is out of step. The caller's; NULL without memory. */
json_t *record_book_object(const struct symbol *symbol, const struct book *book, size_t levels);

#endif
