/* Internal to what prints statements: a statement's lines, in their order. */
#ifndef DB_BOOKS_STATEMENT_PUT_H
#define DB_BOOKS_STATEMENT_PUT_H

#include "db/books/statement.h"

enum {
    DB_STATEMENT_NEEDS_OPENING = 1, /* the prices of these moments */
    DB_STATEMENT_NEEDS_RESET = 2,
    DB_STATEMENT_NEEDS_CLOSING = 4,
};

struct db_statement_line {
    const char *name, *words; /* in JSON and CSV; for people */
    size_t at;                /* in struct db_statement_money: an int128_t */
    unsigned needs;
    bool paid; /* it is subtracted */
};

enum { DB_STATEMENT_LINES = 12 }; /* the first is the opening, the last the closing */
extern const struct db_statement_line db_statement_lines[DB_STATEMENT_LINES];

bool db_statement_line_known(const struct db_statement_line *line, const struct db_statement_money *money);
int128_t db_statement_line_value(const struct db_statement_line *line,
                                 const struct db_statement_money *money);

#endif
