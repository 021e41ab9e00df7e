/* What an auditor joins: the cause of each row of the ledger, the terms of accounts as they changed, and what
 * was held and gained between an account's resets. */
#ifndef DB_BOOKS_H
#define DB_BOOKS_H

#include "db/reader.h"
#include "record/ledger_cause.h"

/* The row of `meta` with the ledger's last row of before there were causes: up to it they may be missing, or
 * derived. */
#define DB_CAUSES_AFTER_KEY "causes_after"

/* A row of the ledger and its cause. */
struct db_cause_row {
    struct ledger_row row;
    bool known; /* false: it is of before there were causes, and nothing says what it is of */
    struct ledger_cause cause;
    int64_t epoch;                                   /* of the account: 1, and one more after each reset */
    const struct db_account *account, *counterparty; /* NULL: none */
    const struct db_symbol_row *symbol;              /* NULL: none */
};

/* All, oldest first, of accounts of that name; NULL: of all. 0 or -errno. */
int db_reader_causes(struct db_reader *reader, const char *account,
                     void (*row)(void *ctx, const struct db_cause_row *row), void *ctx);

/* Oldest first; `symbol` NULL: of currency. 0 or -errno. */
int db_reader_accruals(struct db_reader *reader,
                       void (*row)(void *ctx, const struct ledger_accrual *row,
                                   const struct db_account *account, const struct db_symbol_row *symbol),
                       void *ctx);

/* By account and time. 0 or -errno. */
int db_reader_terms(struct db_reader *reader, const char *account,
                    void (*row)(void *ctx, const struct db_terms *row, const struct db_account *of),
                    void *ctx);

/* An epoch of an account: of its money (symbol NULL), or of a symbol that it traded, as it was at the
 * epoch's end, before the reset. */
struct db_epoch_row {
    const struct db_account *account;
    int64_t epoch, from_ns, to_ns;                    /* to_ns 0: it lasts */
    bool closed;                                      /* it ended with the account */
    int64_t flows, fees, interest, dividends, resets; /* sums of the ledger in the account's currency */
    const struct db_symbol_row *symbol;
    struct position position;
};

/* By account, then by epoch, its money first. Of a database whose record begins at a base (db/base.h) the
 * first epoch begins there. 0 or -errno. */
int db_reader_epochs(struct db_reader *reader, const char *account,
                     void (*row)(void *ctx, const struct db_epoch_row *row), void *ctx);

#endif
