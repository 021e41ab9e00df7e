/* Which tables are salvaged, in which order, and which of their rows. */
#include <string.h>

#include "db/ledger_row.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/salvage_internal.h"
#include "record/sqlite.h"

/* The ledger's rows are taken over as far as they follow from each other. */
static const struct salvage_way ledger = {.into = "INSERT OR IGNORE INTO temp.candidates",
                                          .candidates = true};
/* The former file has the answer that the client got; it replaces the row that the log's replay made. */
static const struct salvage_way commands = {
    .into = "INSERT INTO main.commands",
    .conflict =
        "ON CONFLICT (id) DO UPDATE SET ts_ns = excluded.ts_ns, cmd = excluded.cmd, args = excluded.args, "
        "state = excluded.state, result = excluded.result, order_id = excluded.order_id, "
        "event = excluded.event, hash = excluded.hash WHERE excluded.state <> 'pending' AND (peer_uid, peer_pid, key) IS "
        "(excluded.peer_uid, excluded.peer_pid, excluded.key)"};

/* The log may have a part of a run alone. */
static const struct salvage_way runs = {
    .into = "INSERT INTO main.runs",
    .conflict =
        "ON CONFLICT (run) DO UPDATE SET began_ns = min(began_ns, excluded.began_ns), alive_ns = "
        "max(alive_ns, excluded.alive_ns), state = iif(excluded.state = 'stopped', 'stopped', state)"};

/* Deletes salvaged rows that reference a missing row. */
static const char clean_orders[] =
    "DELETE FROM orders WHERE id IN (SELECT id FROM temp.taken WHERE name = 'orders') AND "
    "((account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)) OR "
    "(symbol IS NOT NULL AND symbol NOT IN (SELECT id FROM symbols)));";
static const char clean_fills[] =
    "DELETE FROM fills WHERE id IN (SELECT id FROM temp.taken WHERE name = 'fills') AND "
    "(order_id NOT IN (SELECT id FROM orders) OR account NOT IN (SELECT id FROM "
    "accounts) OR symbol NOT IN (SELECT id FROM symbols));";
static const char clean_ledger[] =
    "DELETE FROM ledger WHERE id IN (SELECT id FROM temp.taken WHERE name = 'ledger') AND (account NOT IN "
    "(SELECT id FROM accounts) OR (fill_id IS NOT NULL AND fill_id NOT IN (SELECT id FROM fills)) OR "
    "(order_id IS NOT NULL AND order_id NOT IN (SELECT id FROM orders)));";
static const char clean_causes[] = "DELETE FROM ledger_causes WHERE id NOT IN (SELECT id FROM ledger);";
static const char clean_others[] =
    "DELETE FROM order_policies WHERE order_id NOT IN (SELECT id FROM orders);";

/* Runs of numbers that were taken, and are still there; %s: the table. */
#define LIST_TAKEN \
    "INSERT OR REPLACE INTO salvaged (" DB_SALVAGED_COLUMNS ", hash) SELECT name, first, last, " \
    "seal(2, name, first, last) FROM (SELECT name, min(id) AS first, max(id) AS last FROM (SELECT name, " \
    "id, id - row_number() OVER (ORDER BY id) AS run FROM temp.taken WHERE name = '%s' AND id IN " \
    "(SELECT id FROM main.%s)) GROUP BY run)"

/* A candidate's row, and does its hash follow from the one before? */
static bool follows(sqlite3_stmt *stmt, uint64_t before, const uint8_t hash[static LEDGER_HASH_SIZE])
{
    static const uint8_t nothing[LEDGER_HASH_SIZE];
    struct ledger_row row;
    return db_ledger_row_read(stmt, &row) && (row.id == 1 || before == row.id - 1) &&
           db_ledger_row_follows(&row, row.id == 1 ? nothing : hash);
}

/* Ledger rows that follow from the one before are taken over from the candidates. */
static int take_ledger(struct db_salvage *salvage, uint64_t before,
                       const uint8_t last[static LEDGER_HASH_SIZE], struct db_salvaged *reports)
{
    static const char take[] = "INSERT OR IGNORE INTO main.ledger (" DB_LEDGER_COLUMNS
                               ") SELECT * FROM temp.candidates WHERE id = ?1";
    sqlite3_stmt *stmt = NULL, *insert = NULL, *mark = NULL;
    uint8_t hash[LEDGER_HASH_SIZE];
    memcpy(hash, last, sizeof hash);
    int rc = sqlite3_prepare_v2(
        salvage->to, "SELECT " DB_LEDGER_COLUMNS ", hash FROM temp.candidates ORDER BY id", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(salvage->to, take, -1, &insert, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(salvage->to, "INSERT OR IGNORE INTO temp.taken VALUES ('ledger', ?1)", -1,
                                &mark, NULL);
    reports->rows = 0;
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        bool good = follows(stmt, before, hash);
        size_t size;
        const void *its = record_sqlite_blob(stmt, &record_ledger, &size);
        record_sqlite_take(stmt, RECORD_INTO(&before));
        if (size == sizeof hash)
            memcpy(hash, its, size);
        rc = SQLITE_OK;
        reports->refused += !good;
        if (!good)
            continue;
        record_sqlite_params(insert, RECORD_PARAMS(before));
        sqlite3_step(insert);
        int changed = sqlite3_changes(salvage->to);
        rc = sqlite3_reset(insert);
        if (rc == SQLITE_OK && changed > 0) {
            reports->rows++;
            record_sqlite_params(mark, RECORD_PARAMS(before));
            sqlite3_step(mark);
            rc = sqlite3_reset(mark);
        } else if ((rc & 0xff) == SQLITE_CONSTRAINT) {
            rc = SQLITE_OK;
        }
    }
    sqlite3_finalize(stmt);
    sqlite3_finalize(insert);
    sqlite3_finalize(mark);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int list_taken(sqlite3 *to)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < db_tables_count; i++) {
        const char *name = db_tables[i].name;
        char *sql = db_tables[i].marked ? sqlite3_mprintf(LIST_TAKEN, name, name) : NULL;
        if (db_tables[i].marked)
            rc = sql ? sqlite3_exec(to, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return rc;
}

static int copy(struct db_salvage *salvage, const char *table, const struct salvage_way *way, uint64_t low,
                uint64_t high)
{
    return db_salvage_copy(salvage, db_table_named(table), way, (int64_t)low, (int64_t)high);
}

int db_salvage_before(struct db_salvage *salvage, uint64_t first_seq)
{
    static const char *const first[] = {"symbols",   "accounts",    "account_terms", "corporate_actions",
                                        "revisions", "receivables", "fee_rates",     "ledger_accruals"};
    char where[64];
    const struct salvage_way until = {.where = where};
    int rc = SQLITE_OK;
    sqlite3_snprintf(sizeof where, where, "input_seq <= %llu", first_seq);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof first / sizeof *first; i++)
        rc = db_salvage_copy(salvage, db_table_named(first[i]), i < 3 ? NULL : &until, -1, INT64_MAX);
    return rc;
}

static int salvage_orders(struct db_salvage *salvage, const struct db_base *base)
{
    static const uint8_t nothing[LEDGER_HASH_SIZE];
    int rc = copy(salvage, "orders", NULL, 0, base->last_order);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_orders, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = db_base_end_orders(salvage->to);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "fills", NULL, 0, base->last_fill);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_fills, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "ledger", &ledger, 0, base->last_ledger);
    if (rc == SQLITE_OK)
        rc = take_ledger(salvage, 0, nothing, &salvage->tables[salvage->n_tables - 1]);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_ledger, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "ledger_causes", NULL, 0, base->last_ledger);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_causes, NULL, NULL, NULL);
    return rc;
}

int db_salvage_after(struct db_salvage *salvage, const struct db_base *base)
{
    int rc = salvage_orders(salvage, base);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "commands", &commands, 0, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "runs", &runs, 0, INT64_MAX);
    for (size_t i = 0; rc == SQLITE_OK && i < db_tables_count; i++)
        if (db_tables[i].salvaged)
            rc = db_salvage_copy(salvage, &db_tables[i], NULL, -1, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_others, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = list_taken(salvage->to);
    return rc;
}

static uint64_t number(sqlite3 *db, const char *sql)
{
    uint64_t n = 0;
    record_sqlite_ask(db, sql, NULL, RECORD_INTO(&n));
    return n;
}

void db_salvage_ends(struct db_salvage *salvage, struct db_salvage_ends *ret)
{
    sqlite3 *db = salvage->from;
    *ret = (struct db_salvage_ends){
        .event_seq = number(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'event_seq' AND hash IS "
                                "seal(2, key, value)"),
        .order = number(db, "SELECT max(id) FROM orders"),
        .fill = number(db, "SELECT max(id) FROM fills"),
        .ledger = number(db, "SELECT max(id) FROM ledger")};
}

/* Rows that later events changed: the former file's are the newer ones. */
static const struct {
    const char *table;
    struct salvage_way way;
} changed[] = {
    {"accounts", {.replaces = true}},
    {"positions", {.replaces = true}},
    {"orders", {.replaces = true}},
    {"meta", {.where = "key <> 'counts'", .replaces = true}},
    {"corporate_actions", {0}},
    {"revisions", {0}},
    {"receivables", {0}},
    {"fee_rates", {0}},
    {"account_terms", {0}},
    {"ledger_accruals", {0}},
};

int db_salvage_beyond(struct db_salvage *salvage, const struct db_salvage_ends *from,
                      const uint8_t hash[static LEDGER_HASH_SIZE])
{
    int rc = sqlite3_exec(salvage->to, "DELETE FROM temp.candidates", NULL, NULL, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof changed / sizeof *changed; i++)
        rc = db_salvage_copy(salvage, db_table_named(changed[i].table), &changed[i].way, -1, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "fills", NULL, from->fill, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "ledger", &ledger, from->ledger, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = take_ledger(salvage, from->ledger, hash, &salvage->tables[salvage->n_tables - 1]);
    if (rc == SQLITE_OK)
        rc = copy(salvage, "ledger_causes", NULL, from->ledger, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_causes, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = list_taken(salvage->to);
    return rc;
}

int db_salvage_command(sqlite3 *to, const struct db_command *row)
{
    static const char sql[] = "INSERT INTO commands (" DB_COMMAND_COLUMNS ", hash) VALUES (" RECORD_VALUES(
        RECORD_COMMANDS) ", seal(" DB_COMMAND_SEALED
                         ", " RECORD_VALUES(RECORD_COMMANDS) ")) ON CONFLICT DO NOTHING";
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(to, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    record_sqlite_bind(stmt, &db_record_commands, row, NULL);
    sqlite3_step(stmt);
    return sqlite3_finalize(stmt);
}

bool db_salvage_ledger_hash(struct db_salvage *salvage, uint64_t id, uint8_t ret[static LEDGER_HASH_SIZE])
{
    return record_sqlite_ask(salvage->from, "SELECT hash FROM ledger WHERE id = ?1 AND length(hash) = ?2",
                             RECORD_PARAMS(id, LEDGER_HASH_SIZE),
                             RECORD_INTO(record_into_bytes(ret, LEDGER_HASH_SIZE))) == SQLITE_ROW;
}
