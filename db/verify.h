/* Verifies everything: the seal of every row of the record; the ledger's chain; every fill against its
 * order, its ledger rows and the rules of exchange/fill_rules.h; every order against its fills and its
 * terms; every position, by average and by lots, against its fills; loans, transfers and resets; the
 * database's own integrity, and its schema. */
#ifndef DB_VERIFY_H
#define DB_VERIFY_H

#include "db/reader.h"

struct db_verified_balance {
    int account;
    char account_name[ACCOUNT_NAME_MAX];
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total, borrowed;
};

enum { DB_VERIFIED_FAILURES_MAX = 16 };

struct db_verified {
    bool ok;
    /* "TABLE: row ID: what is wrong": of each table the first row that was altered; or, where all seals hold,
     * the first row that contradicts others. */
    char failures[DB_VERIFIED_FAILURES_MAX][DB_ERROR_MAX];
    int n_failures;
    char failure[DB_ERROR_MAX]; /* the first of them; "" when ok */
    uint64_t orders, fills, ledger_rows, positions;
    uint64_t base_seq;    /* the record is whole after this event (db/base.h); 0: from its beginning */
    uint64_t before_base; /* earlier ledger rows, which were salvaged */
    uint8_t hash[LEDGER_HASH_SIZE];       /* of the last ledger row; zeros when there is none */
    struct db_verified_balance *balances; /* in the order in which account and asset first appear */
    size_t n_balances;
};

/* Checks one snapshot of the database. 0 with the result in *ret, or -errno with db_reader_error() when it
 * could not be read at all. */
int db_verify(struct db_reader *reader, struct db_verified **ret);
void db_verified_destroy(struct db_verified *verified);

#endif
