#include "db/books/chain.h"

#include <openssl/evp.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/row_hash.h"
#include "record/sqlite.h"

const char *db_chain_settles(const struct db_table *table)
{
    return table->settled ? table->settled : table->numbered ? "1" : NULL;
}

bool db_chain_add(struct db_chain *chain, uint64_t id, const uint8_t seal[static DB_CHAIN_SIZE])
{
    uint8_t bytes[DB_CHAIN_SIZE + sizeof id + DB_CHAIN_SIZE];
    memcpy(bytes, chain->digest, DB_CHAIN_SIZE);
    for (size_t i = 0; i < sizeof id; i++)
        bytes[DB_CHAIN_SIZE + i] = (uint8_t)(id >> (8 * (sizeof id - 1 - i)));
    memcpy(bytes + DB_CHAIN_SIZE + sizeof id, seal, DB_CHAIN_SIZE);
    chain->rows++;
    return EVP_Digest(bytes, sizeof bytes, chain->digest, NULL, EVP_sha256(), NULL) == 1;
}

int db_chain_open(sqlite3 *db, const struct db_table *table, uint64_t after, struct db_chain_rows *ret)
{
    const char *settles = db_chain_settles(table);
    char *sql;
    *ret = (struct db_chain_rows){.ledger = !table->seal, .first = true};
    if (ret->ledger)
        sql = sqlite3_mprintf("SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE id > %lld ORDER BY id",
                              (long long)after);
    else if (settles)
        sql = sqlite3_mprintf("SELECT id, %s, %s FROM %s WHERE id > %lld ORDER BY id", table->seal, settles,
                              table->name, (long long)after);
    else
        sql = sqlite3_mprintf("SELECT 0, %s, 1 FROM %s%s%s ORDER BY %s", table->seal, table->name,
                              table->where ? " WHERE " : "", table->where ? table->where : "", table->by);
    int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &ret->stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

static void take_ledger(struct db_chain_rows *rows)
{
    struct ledger_row row;
    bool read = db_ledger_row_read(rows->stmt, &row);
    record_sqlite_take(rows->stmt, RECORD_INTO(&rows->id)); /* of one that cannot be read, too */
    rows->settled = true;
    memset(rows->seal, 0, sizeof rows->seal);
    if (read && (db_ledger_row_follows(&row, rows->before) || (rows->first && row.id > 1)))
        memcpy(rows->seal, row.hash, sizeof rows->seal);
    memcpy(rows->before, rows->seal, sizeof rows->before);
    rows->first = false;
}

static void take_seal(struct db_chain_rows *rows)
{
    memset(rows->seal, 0, sizeof rows->seal);
    record_sqlite_take(
        rows->stmt, RECORD_INTO(&rows->id, record_into_bytes(rows->seal, sizeof rows->seal), &rows->settled));
}

int db_chain_next(struct db_chain_rows *rows)
{
    int rc = sqlite3_step(rows->stmt);
    if (rc == SQLITE_ROW)
        (rows->ledger ? take_ledger : take_seal)(rows);
    return rc;
}

void db_chain_close(struct db_chain_rows *rows)
{
    sqlite3_finalize(rows->stmt);
    rows->stmt = NULL;
}

int db_chain_pruned(sqlite3 *db, const struct db_table *table, struct db_chain *ret, uint64_t *ret_last)
{
    *ret = (struct db_chain){.rows = 0};
    *ret_last = 0;
    if (table->numbered) /* no row of it is ever deleted, whatever `pruned` says */
        return SQLITE_OK;
    int rc = record_sqlite_ask(
        db, "SELECT last, rows, digest FROM pruned WHERE name = ?1", RECORD_PARAMS(table->name),
        RECORD_INTO(ret_last, &ret->rows, record_into_bytes(ret->digest, sizeof ret->digest)));
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int put_pruned(sqlite3 *db, const char *name, uint64_t last, const struct db_chain *chain,
                      int64_t now_ns)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO pruned (" DB_PRUNED_COLUMNS ", hash) VALUES (?1, ?2, ?3, ?4, ?5, "
        "seal(2, ?1, ?2, ?3, ?4, ?5))";
    int64_t none;
    int rc = record_sqlite_ask(db, sql,
                               RECORD_PARAMS(name, last, chain->rows,
                                             record_param_blob(chain->digest, sizeof chain->digest), now_ns),
                               RECORD_INTO(&none));
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_chain_prune(sqlite3 *db, const struct db_table *table, uint64_t last, int64_t now_ns)
{
    struct db_chain chain;
    struct db_chain_rows rows = {.stmt = NULL};
    uint64_t before;
    int rc = db_chain_pruned(db, table, &chain, &before);
    if (rc != SQLITE_OK || last <= before)
        return rc;
    rc = db_chain_open(db, table, before, &rows);
    while (rc == SQLITE_OK && (rc = db_chain_next(&rows)) == SQLITE_ROW && rows.id <= last)
        rc = rows.settled && !db_chain_add(&chain, rows.id, rows.seal) ? SQLITE_NOMEM : SQLITE_OK;
    db_chain_close(&rows);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return rc;
    return chain.rows > 0 ? put_pruned(db, table->name, last, &chain, now_ns) : SQLITE_OK;
}
