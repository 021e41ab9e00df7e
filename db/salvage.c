#include "db/salvage_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/open.h"
#include "db/row_hash.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

enum { BUSY_TIMEOUT_MS = 5000, PROBES_MAX = 100000 };

/* One table on its way. */
struct copying {
    struct db_salvage *salvage;
    const struct db_table *table;
    struct salvage_way way;
    struct db_salvaged *reports;
    sqlite3_stmt *forwards, *backwards, *insert, *mark;
    int n_columns;
    int64_t low, high;
    int64_t last; /* key of the row read last */
    int64_t read; /* rows */
    int rc;       /* of the new file: the first failure */
};

/* Copies the statement's current row. */
static void take(struct copying *c, sqlite3_stmt *row)
{
    const struct db_table *table = c->table;
    c->read++;
    if (table->by_number)
        record_sqlite_take(row, RECORD_INTO(&c->last));
    if (c->table->seal && sqlite3_column_int(row, c->n_columns) != 1) {
        c->reports->refused++;
        return;
    }
    for (int i = 0; i < c->n_columns; i++)
        sqlite3_bind_value(c->insert, i + 1, sqlite3_column_value(row, i));
    sqlite3_step(c->insert);
    int changed = sqlite3_changes(c->salvage->to);
    int rc = sqlite3_reset(c->insert);
    sqlite3_clear_bindings(c->insert);
    if ((rc & 0xff) == SQLITE_CONSTRAINT) {
        c->reports->refused++;
        return;
    }
    if (rc != SQLITE_OK)
        c->rc = rc;
    c->reports->rows += rc == SQLITE_OK && changed > 0;
    if (rc != SQLITE_OK || changed == 0 || !c->mark)
        return;
    record_sqlite_params(c->mark, RECORD_PARAMS(table->name, c->last));
    sqlite3_step(c->mark);
    rc = sqlite3_reset(c->mark);
    if (rc != SQLITE_OK)
        c->rc = rc;
}

/* Continues reading from `low` (exclusive) to `high` in one direction. true at the end, false at a fault. */
static bool scan(struct copying *c, sqlite3_stmt *stmt, int64_t low, int64_t high)
{
    int rc;
    record_sqlite_params(stmt, RECORD_PARAMS(low, high));
    while (c->rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        take(c, stmt);
    bool end = c->rc == SQLITE_OK && rc == SQLITE_DONE;
    sqlite3_reset(stmt);
    return end || c->rc != SQLITE_OK;
}

/* Between two faults, searches for keys that can be reached, in steps that double, and reads back from each
 * one found. */
static void scan_islands(struct copying *c, int64_t low, int64_t high)
{
    int64_t step = 1;
    for (int probe = 0; probe < PROBES_MAX && c->rc == SQLITE_OK && low < high - 1 && step < high - low &&
                        step < INT64_MAX / 4;
         probe++) {
        int64_t from = low + step;
        int64_t before = c->read;
        c->last = from;
        bool end = scan(c, c->forwards, from, high - 1);
        if (c->read == before && end)
            return;
        if (c->read == before) {
            step *= 2;
            continue;
        }
        int64_t last = c->last;
        scan(c, c->backwards, low,
             from); /* rows of the landing's page before it; once more where they were read */
        if (end)
            return;
        low = last;
        step = 1;
        c->reports->faults++;
    }
}

static void copy_all(struct copying *c)
{
    c->last = c->low;
    if (scan(c, c->forwards, c->low, c->high))
        return;
    c->reports->faults++;
    int64_t from = c->last, before = c->read;
    c->last = c->high;
    bool end = scan(c, c->backwards, c->table->by_number ? from : c->low, c->high);
    int64_t to = c->read > before ? c->last : c->high;
    if (!end && c->table->by_number) {
        c->reports->faults++;
        scan_islands(c, from, to);
    }
}

/* "a DESC, b DESC" of "a, b". */
static char *descending(const char *order)
{
    const char *comma = strchr(order, ',');
    char *rest = comma ? descending(comma + 2) : NULL;
    char *text = sqlite3_mprintf("%.*s DESC%s%s", comma ? (int)(comma - order) : (int)strlen(order), order,
                                 rest ? ", " : "", rest ? rest : "");
    sqlite3_free(rest);
    return text;
}

static char *select_text(const struct copying *c, bool backwards)
{
    const struct db_table *table = c->table;
    char *range = table->by_number
                      ? sqlite3_mprintf("%s > ?1 AND %s <= ?2", table->by, table->by)
                      : sqlite3_mprintf("ifnull(?1, 0) IS NOT NULL AND ifnull(?2, 0) IS NOT NULL");
    char *order = backwards ? descending(table->by) : sqlite3_mprintf("%s", table->by);
    const char *where = c->way.where ? c->way.where : table->where ? table->where : "1", *seal = table->seal;
    char *sql = sqlite3_mprintf("SELECT %s%s%s%s FROM %s%s WHERE %s AND (%s) ORDER BY %s", table->columns,
                                seal ? ", hash IS (" : "", seal ? seal : "", seal ? ")" : "", table->name,
                                table->by_number ? " NOT INDEXED" : "", range, where, order);
    sqlite3_free(range);
    sqlite3_free(order);
    return sql;
}

static char *insert_text(const struct copying *c)
{
    const struct salvage_way *way = &c->way;
    char values[5 * SALVAGE_COLUMNS_MAX] = "";
    for (int i = 0; i < c->n_columns; i++)
        snprintf(values + strlen(values), sizeof values - strlen(values), "%s?%d", i ? "," : "", i + 1);
    if (way->into)
        return sqlite3_mprintf("%s (%s) VALUES (%s) %s", way->into, c->table->columns, values,
                               way->conflict ? way->conflict : "");
    return sqlite3_mprintf("INSERT OR %s INTO main.%s (%s) VALUES (%s)", way->replaces ? "REPLACE" : "IGNORE",
                           c->table->name, c->table->columns, values);
}

/* false: the damaged file has no such table, or one of another layout, or cannot say. */
static bool prepare_from(struct copying *c)
{
    char *forwards = select_text(c, false), *backwards = select_text(c, true);
    bool good = forwards && backwards &&
                sqlite3_prepare_v2(c->salvage->from, forwards, -1, &c->forwards, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(c->salvage->from, backwards, -1, &c->backwards, NULL) == SQLITE_OK;
    sqlite3_free(forwards);
    sqlite3_free(backwards);
    if (good)
        c->n_columns = sqlite3_column_count(c->forwards) - (c->table->seal ? 1 : 0);
    return good;
}

static int prepare_to(struct copying *c)
{
    char *insert = insert_text(c);
    if (!insert)
        return SQLITE_NOMEM;
    int rc = sqlite3_prepare_v2(c->salvage->to, insert, -1, &c->insert, NULL);
    sqlite3_free(insert);
    if (rc == SQLITE_OK && c->table->marked && !c->way.candidates)
        rc = sqlite3_prepare_v2(c->salvage->to, "INSERT OR IGNORE INTO temp.taken VALUES (?1, ?2)", -1,
                                &c->mark, NULL);
    return rc;
}

int db_salvage_copy(struct db_salvage *salvage, const struct db_table *table, const struct salvage_way *way,
                    int64_t low, int64_t high)
{
    if (salvage->n_tables == SALVAGE_TABLES_MAX)
        return SQLITE_FULL;
    struct copying c = {.salvage = salvage,
                        .table = table,
                        .way = way ? *way : (struct salvage_way){0},
                        .reports = &salvage->tables[salvage->n_tables++],
                        .low = low,
                        .high = high};
    *c.reports = (struct db_salvaged){.table = table->name};
    if (!prepare_from(&c))
        c.reports->faults = 1;
    else if ((c.rc = prepare_to(&c)) == SQLITE_OK)
        copy_all(&c);
    sqlite3_finalize(c.forwards);
    sqlite3_finalize(c.backwards);
    sqlite3_finalize(c.insert);
    sqlite3_finalize(c.mark);
    return c.rc;
}

/* ---- open, close, report ---- */

static const char temporary[] =
    "CREATE TEMP TABLE taken (name TEXT, id INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID;CREATE TEMP TABLE "
    "candidates (id INTEGER PRIMARY KEY, ts_ns, account, asset, scale, kind, amount, balance, order_id, "
    "fill_id, hash)";

int db_salvage_open(const char *path, sqlite3 *to, struct db_salvage **ret, char *err, size_t err_size)
{
    int version, keep = 1;
    struct db_salvage *salvage = calloc(1, sizeof *salvage);
    if (!salvage)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    salvage->to = to;
    int rc = db_open(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &salvage->from);
    int r = rc == SQLITE_OK ? 0 : db_errno(rc);
    if (rc != SQLITE_OK)
        snprintf(err, err_size, "%s", sqlite3_errstr(rc));
    if (r == 0) {
        sqlite3_busy_timeout(salvage->from, BUSY_TIMEOUT_MS);
        sqlite3_db_config(salvage->from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_file_control(salvage->from, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
        r = db_schema_check(salvage->from, db_migrations_count, &version, err, err_size);
    }
    if (r == 0 && version == 0) {
        snprintf(err, err_size, "it is empty");
        r = -EMEDIUMTYPE;
    }
    if (r == 0 &&
        (db_row_hash_register(salvage->from) != SQLITE_OK || db_row_hash_register(to) != SQLITE_OK ||
         sqlite3_exec(to, temporary, NULL, NULL, NULL) != SQLITE_OK)) {
        snprintf(err, err_size, "%s", sqlite3_errmsg(to));
        r = -EIO;
    }
    if (r < 0) {
        db_salvage_close(salvage);
        return r;
    }
    *ret = salvage;
    return 0;
}

void db_salvage_close(struct db_salvage *salvage)
{
    if (!salvage)
        return;
    sqlite3_exec(salvage->to, "DROP TABLE IF EXISTS temp.taken; DROP TABLE IF EXISTS temp.candidates", NULL,
                 NULL, NULL);
    sqlite3_close(salvage->from);
    free(salvage);
}

int db_salvage_tables(const struct db_salvage *salvage)
{
    return salvage->n_tables;
}

const struct db_salvaged *db_salvage_table(const struct db_salvage *salvage, int i)
{
    return &salvage->tables[i];
}
