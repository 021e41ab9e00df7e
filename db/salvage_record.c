/* Which tables are salvaged, in which order, and what is wanted of each. */
#include <string.h>

#include "db/ledger_row.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/salvage_internal.h"
#include "record/market.h"
#include "record/sqlite.h"
#include "record/training.h"

#define IGNORE(table) "INSERT OR IGNORE INTO main." table

static const struct salvage_table symbols = {.name = "symbols",
                                             .columns = DB_SYMBOL_COLUMNS ", hash",
                                             .seal = "seal(2, " DB_SYMBOL_COLUMNS ")",
                                             .key = "id",
                                             .into = IGNORE("symbols")};
static const struct salvage_table accounts = {.name = "accounts",
                                              .columns = DB_ACCOUNT_COLUMNS ", hash",
                                              .seal = "seal(2, " DB_ACCOUNT_COLUMNS ")",
                                              .key = "id",
                                              .into = IGNORE("accounts")};
static const struct salvage_table orders = {.name = "orders",
                                            .columns = DB_ORDER_COLUMNS ", rule, hash",
                                            .seal = DB_ORDER_SEAL,
                                            .key = "id",
                                            .into = IGNORE("orders"),
                                            .marked = true};
static const struct salvage_table fills = {.name = "fills",
                                           .columns = DB_FILL_COLUMNS ", rule, hash",
                                           .seal = DB_FILL_SEAL,
                                           .key = "id",
                                           .into = IGNORE("fills"),
                                           .marked = true};
static const struct salvage_table ledger = {.name = "ledger",
                                            .columns = DB_LEDGER_COLUMNS,
                                            .key = "id",
                                            .into = "INSERT OR IGNORE INTO temp.candidates"};
/* The client's own answer is in the former file; what the log brought again is in its place. */
static const struct salvage_table commands = {
    .name = "commands",
    .columns = DB_COMMAND_COLUMNS ", hash",
    .seal = "seal(2, " DB_COMMAND_COLUMNS ")",
    .key = "id",
    .into = "INSERT INTO main.commands",
    .conflict =
        "ON CONFLICT (id) DO UPDATE SET ts_ns = excluded.ts_ns, cmd = excluded.cmd, args = excluded.args, "
        "state = excluded.state, result = excluded.result, order_id = excluded.order_id, hash = "
        "excluded.hash WHERE excluded.state <> 'pending' AND (peer_uid, peer_pid, key) IS "
        "(excluded.peer_uid, excluded.peer_pid, excluded.key)",
    .marked = true};

/* Those that the event log knows nothing of, or not as well. */
static const struct salvage_table others[] = {
    {.name = "alerts",
     .columns = DB_ALERT_COLUMNS ", hash",
     .seal = "seal(2, " DB_ALERT_COLUMNS ")",
     .key = "id",
     .into = IGNORE("alerts")},
    {.name = "equity",
     .columns = DB_EQUITY_COLUMNS ", hash",
     .seal = "seal(2, " DB_EQUITY_COLUMNS ")",
     .order = "account, ts_ns",
     .backwards = "account DESC, ts_ns DESC",
     .into = IGNORE("equity")},
    {.name = "meta",
     .columns = "key, value, hash",
     .seal = "seal(2, key, value)",
     .order = "key",
     .backwards = "key DESC",
     .where = "key NOT IN ('event_seq', 'counts', 'paused')",
     .into = IGNORE("meta")},
    {.name = "bars",
     .columns = RECORD_COLUMNS(RECORD_BAR_KEY) ", " RECORD_COLUMNS(RECORD_BAR) ", split",
     .order = "symbol, interval_ns, source, open_ns",
     .backwards = "symbol DESC, interval_ns DESC, source DESC, open_ns DESC",
     .into = IGNORE("bars")},
    {.name = "book_bars",
     .columns = RECORD_COLUMNS(RECORD_BOOK_BARS),
     .order = "symbol, interval_ns, open_ns",
     .backwards = "symbol DESC, interval_ns DESC, open_ns DESC",
     .into = IGNORE("book_bars")},
    {.name = "gaps",
     .columns = RECORD_COLUMNS(RECORD_GAPS),
     .order = "symbol, interval_ns, from_open_ns",
     .backwards = "symbol DESC, interval_ns DESC, from_open_ns DESC",
     .into = IGNORE("gaps")},
    {.name = "market_sessions",
     .columns = RECORD_COLUMNS(RECORD_SESSIONS),
     .order = "calendar",
     .backwards = "calendar DESC",
     .into = IGNORE("market_sessions")},
    {.name = "venue_bans",
     .columns = RECORD_COLUMNS(RECORD_BANS),
     .order = "venue",
     .backwards = "venue DESC",
     .into = IGNORE("venue_bans")},
    {.name = "trainings",
     .columns = RECORD_COLUMNS(RECORD_TRAINING),
     .order = "name",
     .backwards = "name DESC",
     .into = IGNORE("trainings")},
    {.name = "training_points",
     .columns = RECORD_COLUMNS(RECORD_TRAINING_POINT),
     .order = "training, steps",
     .backwards = "training DESC, steps DESC",
     .into = IGNORE("training_points")},
    {.name = "training_evaluations",
     .columns = RECORD_COLUMNS(RECORD_TRAINING_EVALUATION),
     .order = "training, steps",
     .backwards = "training DESC, steps DESC",
     .into = IGNORE("training_evaluations")},
    {.name = "training_states",
     .columns = RECORD_COLUMNS(RECORD_TRAINING_STATE),
     .order = "training, ts_ns",
     .backwards = "training DESC, ts_ns DESC",
     .into = IGNORE("training_states")},
    {.name = "policies",
     .columns = RECORD_COLUMNS(RECORD_POLICY),
     .order = "name",
     .backwards = "name DESC",
     .into = IGNORE("policies")},
    {.name = "order_policies",
     .columns = RECORD_COLUMNS(RECORD_ORDER_POLICY),
     .key = "order_id",
     .into = IGNORE("order_policies")},
    {.name = "telemetry",
     .columns = RECORD_COLUMNS(RECORD_TELEMETRY),
     .order = "name, ts_ns",
     .backwards = "name DESC, ts_ns DESC",
     .into = IGNORE("telemetry")},
    {.name = "rebuilds",
     .columns = DB_REBUILD_COLUMNS ", hash",
     .seal = "seal(2, " DB_REBUILD_COLUMNS ")",
     .key = "id",
     .into = IGNORE("rebuilds")},
    {.name = "rebuild_sources",
     .columns = DB_SOURCE_COLUMNS ", hash",
     .seal = "seal(2, " DB_SOURCE_COLUMNS ")",
     .order = "rebuild, name",
     .backwards = "rebuild DESC, name DESC",
     .into = IGNORE("rebuild_sources")},
};

/* What names a row that is not there goes again, of the rows that were salvaged. */
static const char clean_orders[] =
    "DELETE FROM orders WHERE id IN (SELECT id FROM temp.taken WHERE name = 'orders') AND "
    "((account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)) OR "
    "(symbol IS NOT NULL AND symbol NOT IN (SELECT id FROM symbols)));";
static const char clean_fills[] =
    "DELETE FROM fills WHERE id IN (SELECT id FROM temp.taken WHERE name = 'fills') AND "
    "(order_id NOT IN (SELECT id FROM orders) OR account NOT IN (SELECT id FROM "
    "accounts) OR symbol NOT IN (SELECT id FROM symbols));";
static const char clean_ledger[] =
    "DELETE FROM ledger WHERE id IN (SELECT id FROM temp.taken WHERE name = 'ledger') AND "
    "(account NOT IN (SELECT id FROM accounts) OR (fill_id IS NOT NULL AND fill_id NOT IN (SELECT id FROM "
    "fills)) OR "
    "(order_id IS NOT NULL AND order_id NOT IN (SELECT id FROM orders)));";
static const char clean_others[] =
    "DELETE FROM order_policies WHERE order_id NOT IN (SELECT id FROM orders);";

/* Runs of numbers that were taken, and are still there. */
#define LIST(table) \
    "INSERT OR REPLACE INTO salvaged (" DB_SALVAGED_COLUMNS ", hash) SELECT name, first, last, " \
    "seal(2, name, first, last) FROM (SELECT name, min(id) AS first, max(id) AS last FROM (SELECT name, " \
    "id, id - " \
    "row_number() OVER (ORDER BY id) AS run FROM temp.taken WHERE name = '" table \
    "' AND id IN (SELECT id FROM " \
    "main." table ")) GROUP BY run);"
static const char list_taken[] = LIST("orders") LIST("fills") LIST("ledger") LIST("commands");

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
                       const uint8_t last[static LEDGER_HASH_SIZE], struct db_salvaged *tells)
{
    static const char take[] = "INSERT OR IGNORE INTO main.ledger (" DB_LEDGER_COLUMNS
                               ") SELECT * FROM temp.candidates WHERE id = ?1";
    sqlite3_stmt *stmt = NULL, *insert = NULL, *mark = NULL;
    uint8_t hash[LEDGER_HASH_SIZE];
    memcpy(hash, last, sizeof hash);
    int rc = sqlite3_prepare_v2(salvage->to, "SELECT * FROM temp.candidates ORDER BY id", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(salvage->to, take, -1, &insert, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(salvage->to, "INSERT OR IGNORE INTO temp.taken VALUES ('ledger', ?1)", -1,
                                &mark, NULL);
    tells->rows = 0;
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        sqlite3_int64 id = sqlite3_column_int64(stmt, 0);
        bool good = follows(stmt, before, hash);
        before = (uint64_t)id;
        if (sqlite3_column_bytes(stmt, 10) == LEDGER_HASH_SIZE)
            memcpy(hash, sqlite3_column_blob(stmt, 10), LEDGER_HASH_SIZE);
        rc = SQLITE_OK;
        tells->refused += !good;
        if (!good)
            continue;
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_step(insert);
        int changed = sqlite3_changes(salvage->to);
        rc = sqlite3_reset(insert);
        if (rc == SQLITE_OK && changed > 0) {
            tells->rows++;
            sqlite3_bind_int64(mark, 1, id);
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

int db_salvage_before(struct db_salvage *salvage, uint64_t first_seq)
{
    char where[64];
    struct salvage_table actions = {.name = "corporate_actions",
                                    .columns = DB_ACTION_COLUMNS ", hash",
                                    .seal = "seal(2, " DB_ACTION_COLUMNS ")",
                                    .key = "id",
                                    .where = where,
                                    .into = IGNORE("corporate_actions")},
                         revisions = {.name = "revisions",
                                      .columns = DB_REVISION_COLUMNS ", hash",
                                      .seal = "seal(2, " DB_REVISION_COLUMNS ")",
                                      .key = "id",
                                      .where = where,
                                      .into = IGNORE("revisions")};
    sqlite3_snprintf(sizeof where, where, "input_seq <= %llu", first_seq);
    int rc = db_salvage_copy(salvage, &symbols, 0, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &accounts, -1, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &actions, 0, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &revisions, 0, INT64_MAX);
    return rc;
}

static int salvage_orders(struct db_salvage *salvage, const struct db_base *base)
{
    static const uint8_t nothing[LEDGER_HASH_SIZE];
    int rc = db_salvage_copy(salvage, &orders, 0, (int64_t)base->last_order);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_orders, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = db_base_end_orders(salvage->to);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &fills, 0, (int64_t)base->last_fill);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_fills, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &ledger, 0, (int64_t)base->last_ledger);
    if (rc == SQLITE_OK)
        rc = take_ledger(salvage, 0, nothing, &salvage->tables[salvage->n_tables - 1]);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_ledger, NULL, NULL, NULL);
    return rc;
}

int db_salvage_after(struct db_salvage *salvage, const struct db_base *base)
{
    int rc = salvage_orders(salvage, base);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &commands, 0, INT64_MAX);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof others / sizeof *others; i++)
        rc = db_salvage_copy(salvage, &others[i], 0, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, clean_others, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, list_taken, NULL, NULL, NULL);
    return rc;
}

static uint64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt;
    uint64_t n = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return 0;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        n = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
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
static const struct salvage_table changed[] = {
    {.name = "accounts",
     .columns = DB_ACCOUNT_COLUMNS ", hash",
     .seal = "seal(2, " DB_ACCOUNT_COLUMNS ")",
     .key = "id",
     .into = "INSERT OR REPLACE INTO main.accounts"},
    {.name = "positions",
     .columns = DB_POSITION_COLUMNS ", hash",
     .seal = "seal(2, " DB_POSITION_COLUMNS ")",
     .order = "account, symbol",
     .backwards = "account DESC, symbol DESC",
     .into = "INSERT OR REPLACE INTO main.positions"},
    {.name = "orders",
     .columns = DB_ORDER_COLUMNS ", rule, hash",
     .seal = DB_ORDER_SEAL,
     .key = "id",
     .into = "INSERT OR REPLACE INTO main.orders",
     .marked = true},
    {.name = "meta",
     .columns = "key, value, hash",
     .seal = "seal(2, key, value)",
     .order = "key",
     .backwards = "key DESC",
     .where = "key <> 'counts'",
     .into = "INSERT OR REPLACE INTO main.meta"},
    {.name = "corporate_actions",
     .columns = DB_ACTION_COLUMNS ", hash",
     .seal = "seal(2, " DB_ACTION_COLUMNS ")",
     .key = "id",
     .into = IGNORE("corporate_actions")},
    {.name = "revisions",
     .columns = DB_REVISION_COLUMNS ", hash",
     .seal = "seal(2, " DB_REVISION_COLUMNS ")",
     .key = "id",
     .into = IGNORE("revisions")},
};

int db_salvage_beyond(struct db_salvage *salvage, const struct db_salvage_ends *from,
                      const uint8_t hash[static LEDGER_HASH_SIZE])
{
    int rc = sqlite3_exec(salvage->to, "DELETE FROM temp.candidates", NULL, NULL, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof changed / sizeof *changed; i++)
        rc = db_salvage_copy(salvage, &changed[i], -1, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &fills, (int64_t)from->fill, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = db_salvage_copy(salvage, &ledger, (int64_t)from->ledger, INT64_MAX);
    if (rc == SQLITE_OK)
        rc = take_ledger(salvage, from->ledger, hash, &salvage->tables[salvage->n_tables - 1]);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(salvage->to, list_taken, NULL, NULL, NULL);
    return rc;
}

int db_salvage_command(sqlite3 *to, const struct db_command *row)
{
    static const char sql[] =
        "INSERT OR IGNORE INTO commands (" DB_COMMAND_COLUMNS
        ", hash) VALUES (" RECORD_VALUES(RECORD_COMMANDS) ", seal(2, " RECORD_VALUES(RECORD_COMMANDS) "))";
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
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(salvage->from, "SELECT hash FROM ledger WHERE id = ?1", -1, &stmt, NULL) !=
        SQLITE_OK)
        return false;
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)id);
    bool found = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_bytes(stmt, 0) == LEDGER_HASH_SIZE;
    if (found)
        memcpy(ret, sqlite3_column_blob(stmt, 0), LEDGER_HASH_SIZE);
    sqlite3_finalize(stmt);
    return found;
}
