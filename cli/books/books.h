/* The formats of journals (db/books/journal.h): of hledger and of beancount. */
#ifndef CLI_BOOKS_BOOKS_H
#define CLI_BOOKS_BOOKS_H

#include "db/books/journal.h"

/* hledger's journal. assets:NAME:ASSET with every balance asserted; a trade's units at their total cost (@@),
 * without lots; gains in income:gains:NAME; P directives. Commodities and accounts are declared, so that
 * `hledger check --strict` accepts it. 0, or the -errno of db_books_journal(). */
int cli_books_hledger(struct db_reader *reader, struct db_books_query query, FILE *out);

/* beancount's. Assets:NAME:ASSET, and under it :SYMBOL with the lots, each at its total cost {{…}}; names are
 * those that its grammar has, what they were is in their metadata; balances are asserted where a day ends;
 * price directives. */
int cli_books_beancount(struct db_reader *reader, struct db_books_query query, FILE *out);

#endif
