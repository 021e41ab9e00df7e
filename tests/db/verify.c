/* ledger verify: what the daemon writes passes, and any one cell altered in orders, fills, ledger or
 * positions is found and its row is named. */
#include "db/verify.h"

#include "db/row_hash.h"
#include "db/tables.h"

#include "tests/counts.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

static bool verify(const char *path, char failure[DB_ERROR_MAX])
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_reader_open(path, &reader, err, sizeof err) != 0 || db_verify(reader, &verified) != 0) {
        fprintf(stderr, "%s: %s\n", path, reader ? db_reader_error(reader) : err);
        exit(EXIT_FAILURE);
    }
    bool ok = verified->ok;
    snprintf(failure, DB_ERROR_MAX, "%s", verified->failure);
    CHECK_INT(ok, failure[0] == '\0');
    db_verified_destroy(verified);
    db_reader_close(reader);
    return ok;
}

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    sql_exec(db, "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;");
    return db;
}

/* How a cell is altered: by one, by one letter, by one byte, or from null. The key goes away from all others.
 */
static const char *alteration(bool key, bool null, const char *type)
{
    if (key)
        return "%s + 100000";
    if (null)
        return "coalesce(%s, 1)";
    if (strcmp(type, "INTEGER") == 0)
        return "%s + 1";
    return strcmp(type, "BLOB") == 0 ? "CAST (substr(%s, 1, 31) || X'5a' AS BLOB)" : "%s || 'X'";
}

static void alter_cell(sqlite3 *db, const char *path, const char *table, const char *column, const char *type,
                       int64_t id)
{
    char failure[DB_ERROR_MAX], named[64];
    bool null = sql_query(db, "SELECT %s IS NULL FROM %s WHERE id = %lld", column, table, id) == 1;
    char *value = sqlite3_mprintf(alteration(strcmp(column, "id") == 0, null, type), column);
    sql_exec(db, "CREATE TEMP TABLE before AS SELECT * FROM %s WHERE id = %lld", table, id);
    sql_exec(db, "UPDATE %s SET %s = %s WHERE id = %lld", table, column, value, id);
    CHECK_INT(sqlite3_changes(db), 1);
    bool ok = verify(path, failure);
    snprintf(named, sizeof named, "%s: row %" PRId64 ":", table, id);
    check_count++;
    if (ok || strncmp(failure, named, strlen(named)) != 0) {
        fprintf(stderr, "%s.%s of row %" PRId64 " altered: %s\n", table, column, id,
                ok ? "not found" : failure);
        check_failures++;
    }
    sql_exec(db, "DELETE FROM %s WHERE id IN (%lld, %lld)", table, id, id + 100000);
    sql_exec(db, "INSERT INTO %s SELECT * FROM before; DROP TABLE before", table);
    sqlite3_free(value);
}

enum { EACH = COUNTS_PART ? 2 : 1 };

static int n_rows; /* 1, in the long run 3 */

/* Every EACH-th column of a middle, the first and the last row: of n_rows of these. */
static void alter_every_cell(const char *path, const char *table)
{
    char names[32][32], types[32][16], failure[DB_ERROR_MAX];
    int n = 0;
    sqlite3 *db = open_raw(path);
    sqlite3_stmt *columns;
    char *sql = sqlite3_mprintf("SELECT name, type FROM pragma_table_info(%Q)", table);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &columns, NULL), SQLITE_OK);
    for (; n < 32 && sqlite3_step(columns) == SQLITE_ROW; n++) {
        sqlite3_snprintf(sizeof names[n], names[n], "%s", sqlite3_column_text(columns, 0));
        sqlite3_snprintf(sizeof types[n], types[n], "%s", sqlite3_column_text(columns, 1));
    }
    sqlite3_finalize(columns);
    sqlite3_free(sql);
    CHECK(n > 10);

    int64_t last = sql_query(db, "SELECT max(id) FROM %s", table);
    for (int column = n % EACH; column < n; column += EACH) {
        const int64_t rows[] = {last / 2, 1, last};
        for (int i = 0; i < n_rows; i++)
            alter_cell(db, path, table, names[column], types[column], rows[i]);
    }
    sqlite3_close(db);
    CHECK(verify(path, failure));
}

/* A change that the hashes cannot show, because they were computed again, or that removes rows. */
static void alter(const char *path, const char *sql, const char *words)
{
    char failure[DB_ERROR_MAX] = "";
    sqlite3 *db = open_raw(path);
    sql_exec(db, "SAVEPOINT s");
    sql_exec(db, "%s", sql);
    CHECK(sqlite3_changes(db) > 0);
    sql_exec(db, "RELEASE s");
    sqlite3_close(db);
    CHECK(!verify(path, failure));
    if (!strstr(failure, words))
        fprintf(stderr, "%s: found as: %s\n", sql, failure);
    CHECK(strstr(failure, words) != NULL);
}

#define SEAL_POSITIONS "UPDATE positions SET hash = seal(2, " DB_POSITION_COLUMNS ")"
#define SEAL_SYMBOLS   "UPDATE symbols SET hash = seal(" DB_SYMBOL_SEALED ", " DB_SYMBOL_COLUMNS ")"

static void copy(const char *from, const char *to)
{
    sqlite3 *db;
    remove(to);
    CHECK_INT(sqlite3_open(from, &db), SQLITE_OK);
    sql_exec(db, "VACUUM INTO %Q", to);
    sqlite3_close(db);
}

/* Every table that has seals is a row of DB_TABLES, and each row has all columns of its table. */
static void check_tables(const char *path)
{
    sqlite3 *db = open_raw(path);
    int sealed = 0;
    for (size_t i = 0; i < db_tables_count; i++) {
        const struct db_table *table = &db_tables[i];
        char *sql = sqlite3_mprintf("SELECT %s FROM %s", table->columns, table->name);
        sqlite3_stmt *stmt = NULL;
        CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_column_count(stmt),
                  sql_query(db, "SELECT count(*) FROM pragma_table_info('%s')", table->name));
        CHECK_INT(
            table->key != NULL,
            sql_query(db, "SELECT count(*) FROM pragma_table_info('%s') WHERE name = 'hash'", table->name));
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
        sealed += table->key != NULL;
    }
    CHECK_INT(sealed, sql_query(db, "SELECT count(*) FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
                                    "WHERE m.type = 'table' AND c.name = 'hash'"));
    sqlite3_close(db);
}

int main(void)
{
    n_rows = getenv("PAPERTAPE_LONG") ? 3 : 1;
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX], altered[SCRATCH_PATH_MAX],
        failure[DB_ERROR_MAX] = "", err[DB_ERROR_MAX] = "";
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    snprintf(altered, sizeof altered, "%s/altered.db", directory);
    struct db_writer_config config = {0};
    struct db_writer *writer;
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), 0);
    CHECK(verify(path, failure));
    struct fixture f;
    fixture_open(&f, writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK(verify(path, failure));
    for (int i = 0; i < 7; i++)
        fixture_trade(&f);
    /* One that is still partly open. */
    struct order order = fixture_order(&f, 1, ORDER_BUY, 2837 * FIXTURE_UNIT, 1000000);
    fixture_fill(&f, &order, 2837 * FIXTURE_UNIT, 300000);
    CHECK_INT(db_writer_close(writer, 30000, err, sizeof err), 0);
    CHECK(verify(path, failure));
    CHECK_STR(failure, "");

    struct db_reader *reader;
    struct db_verified *verified;
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_INT(verified->orders, f.order_id);
    CHECK_INT(verified->fills, f.fill_id);
    CHECK_INT(verified->ledger_rows, f.ledger_id);
    CHECK_INT(verified->positions, 2);
    CHECK_INT(memcmp(verified->hash, f.hash, sizeof f.hash), 0);
    CHECK_INT(verified->n_balances, 3);
    CHECK_STR(verified->balances[0].asset, "USDT");
    CHECK_STR(verified->balances[0].account_name, "main");
    CHECK_INT(verified->balances[0].total, f.cash);
    CHECK_INT(verified->balances[2].total, f.base[1]);
    db_verified_destroy(verified);
    db_reader_close(reader);

    check_tables(path);
    alter_every_cell(path, "orders");
    alter_every_cell(path, "fills");
    alter_every_cell(path, "ledger");

    static const struct {
        const char *sql, *words;
    } alterations[] = {
        {"UPDATE positions SET qty = qty + 1 WHERE symbol = 2", "positions: row main ETHUSDT: was altered"},
        {"UPDATE positions SET qty = qty + 1 WHERE symbol = 2;" SEAL_POSITIONS,
         "positions: row main ETHUSDT: says quantity"},
        {"UPDATE positions SET cost = cost - 1 WHERE symbol = 1;" SEAL_POSITIONS,
         "positions: row main BTCUSDT: says quantity"},
        {"UPDATE positions SET realized = realized - 1 WHERE symbol = 1;" SEAL_POSITIONS,
         "positions: row main BTCUSDT: says quantity"},
        {"UPDATE positions SET fees = 0 WHERE symbol = 1;" SEAL_POSITIONS,
         "positions: row main BTCUSDT: says quantity"},
        {"UPDATE positions SET fifo_cost = fifo_cost + 1 WHERE symbol = 1;" SEAL_POSITIONS,
         "positions: row main BTCUSDT: says a cost"},
        {"UPDATE positions SET fifo_realized = 0 WHERE symbol = 1;" SEAL_POSITIONS,
         "positions: row main BTCUSDT: says a cost"},
        {"DELETE FROM positions WHERE symbol = 1", "positions: row 2: is missing"},
        {"DELETE FROM ledger WHERE id = 5", "ledger: row 5: is missing"},
        {"DELETE FROM ledger WHERE id = (SELECT max(id) FROM ledger)", "ledger: row 130: is missing"},
        {"DELETE FROM fills WHERE id = 3", "fills: row 3: is missing"},
        {"DELETE FROM fills WHERE id = (SELECT max(id) FROM fills)", "fills: row 43: is missing"},
        {"DELETE FROM orders WHERE id = 2", "orders: row 2: is missing"},
        {"DELETE FROM orders WHERE id = (SELECT max(id) FROM orders)", "orders: row 36: is missing"},
        {"DELETE FROM symbols WHERE id = 2", "symbols: holds 1 rows, and should hold 2"},
        {"DELETE FROM meta WHERE key = 'counts'", "meta: row counts: is missing"},
        {"UPDATE meta SET value = replace(value, 'orders 3', 'orders 2') WHERE key = 'counts'",
         "orders: row 27: is too many"},
        {"UPDATE ledger SET id = id + 1000 WHERE id > 10", "ledger: row 11: is missing"},
        {"DELETE FROM accounts", "unknown account"},
        {"UPDATE symbols SET qty_scale = 7 WHERE id = 1", "symbols: row 1: was altered"},
        {"UPDATE symbols SET qty_scale = 7 WHERE id = 1;" SEAL_SYMBOLS,
         "fills: row 1: the notional is not price times quantity"},
        {"INSERT INTO bars VALUES (9, 1, 'venue', 1, 1, 1, 1, 1, '1', '1', 1, 1, 1, 0, NULL)",
         "bars: row 0: names a row of symbols that is not there"},
    };
    for (size_t i = 0; i < sizeof alterations / sizeof *alterations; i++) {
        copy(path, altered);
        alter(altered, alterations[i].sql, alterations[i].words);
    }
    if (n_rows < 3)
        printf("counts: a row of each table altered in every %scolumn (PAPERTAPE_LONG: 3, in every)\n",
               EACH > 1 ? "second " : "");
    return check_done("verify");
}
