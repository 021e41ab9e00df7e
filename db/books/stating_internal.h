/* Shared by the two files of stating. */
#ifndef DB_BOOKS_STATING_INTERNAL_H
#define DB_BOOKS_STATING_INTERNAL_H

#include "db/books/stating.h"

/* The account's currency of that name, at that scale or a finer one; made when there is none; NULL without
 * memory. It lives until the next is made. */
struct db_statement_money *db_stating_money(struct db_stating *stating, const char *asset, int scale);

/* Lists a flow. 0 or -ENOMEM. */
int db_stating_flow(struct db_stating *stating, const struct db_statement_flow *flow);

/* Those that happened before a row of the ledger; and those before a moment. 0 or -errno. */
int db_stating_receivables(struct db_stating *stating, const struct db_stating_row *row);
int db_stating_receivables_until(struct db_stating *stating, int64_t ts_ns);

/* The account is reset: all that it is worth leaves. 0 or -errno. */
int db_stating_reset(struct db_stating *stating, const struct db_stating_row *row);

#endif
