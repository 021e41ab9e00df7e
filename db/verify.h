/* Does everything add up? The database's own integrity; every seal and the ledger's chain; every fill against
 * its order, its ledger rows and the rules of exchange/fill_rules.h; every position against its fills. */
#ifndef DB_VERIFY_H
#define DB_VERIFY_H

#include "db/reader.h"

struct db_verified_balance {
    int account;
    char account_name[ACCOUNT_NAME_MAX];
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total;
};

struct db_verified {
    bool ok;
    char failure[DB_ERROR_MAX]; /* "TABLE: row ID: what is wrong", of the first row found wrong; "" when ok */
    uint64_t orders, fills, ledger_rows, positions;
    uint8_t hash[LEDGER_HASH_SIZE];       /* of the last ledger row; zeros when there is none */
    struct db_verified_balance *balances; /* by account, in the order in which assets first appear */
    size_t n_balances;
};

/* Checks one moment of the database. 0 with the verdict in *ret, or -errno with db_reader_error() when it
 * could not be read at all. */
int db_verify(struct db_reader *reader, struct db_verified **ret);
void db_verified_destroy(struct db_verified *verified);

#endif
