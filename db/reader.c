#include "db/reader.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/backtest.h"
#include "db/open.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/report/trips.h"
#include "db/row_hash.h"
#include "db/state.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "record/sqlite.h"
#include "strategy/external.h"
#include "strategy/param_json.h"
#include "strategy/strategy.h"

enum {
    WRONG_MAX = 64,
    BUSY_TIMEOUT_MS = 2000,
    STEPS = 10000, /* of SQLite's between two looks, some 1 ms; no COMMIT takes so many */
};

int db_query(struct db_reader *reader, const char *sql, const struct record_param *params, sqlite3_stmt **ret)
{
    int rc = sqlite3_prepare_v2(reader->db, sql, -1, ret, NULL);
    if (rc != SQLITE_OK)
        snprintf(reader->error, sizeof reader->error, "%s", sqlite3_errmsg(reader->db));
    else
        record_sqlite_params(*ret, params);
    return db_errno(rc);
}

int db_query_next(struct db_reader *reader, sqlite3_stmt *stmt, const struct record_into *into)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        record_sqlite_take(stmt, into);
        return 1;
    }
    if (rc != SQLITE_DONE)
        snprintf(reader->error, sizeof reader->error, "%s", sqlite3_errmsg(reader->db));
    return db_errno(rc);
}

int db_query_end(sqlite3_stmt *stmt, int r)
{
    sqlite3_finalize(stmt);
    return r;
}

int db_query_first(struct db_reader *reader, const char *sql, const struct record_param *params,
                   const struct record_into *into)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, sql, params, &stmt);
    return db_query_end(stmt, r < 0 ? r : db_query_next(reader, stmt, into));
}

int db_query_bad(struct db_reader *reader, const char *table, int64_t id, const char *what)
{
    snprintf(reader->error, sizeof reader->error, "%s: row %lld: %s", table, (long long)id, what);
    return -EBADMSG;
}

int db_query_bad_row(struct db_reader *reader, sqlite3_stmt *stmt, const char *table, const char *what)
{
    const char *key;
    record_sqlite_take(stmt, RECORD_INTO(&key));
    snprintf(reader->error, sizeof reader->error, "%s: row %.64s: %s", table, key ? key : "", what);
    return -EBADMSG;
}

void db_reader_leave_out(struct db_reader *reader, void (*unread)(void *ctx, int at, const char *words),
                         void *ctx)
{
    reader->leaves.unread = unread;
    reader->leaves.ctx = ctx;
    reader->leaves.at = -1;
}

bool db_query_leaves(struct db_reader *reader, int r)
{
    if (r != -EBADMSG || !reader->leaves.unread)
        return false;
    reader->leaves.unread(reader->leaves.ctx, reader->leaves.at, reader->error);
    return true;
}

/* Starts the reading of all rows of a table while one row of another may be read. Returns what is to be set
 * again at its end. */
static int begin_table(struct db_reader *reader)
{
    const int at = reader->leaves.at;
    reader->leaves.at = -1;
    return at;
}

/* Is it a saved backtest, of any schema version? The first versions have no key, but their venue. */
static bool is_saved_backtest(sqlite3 *db)
{
    static const char sql[] = "SELECT EXISTS (SELECT 1 FROM meta WHERE key = '" DB_BACKTEST_KEY
                              "') OR (SELECT coalesce(min(venue = '" DB_BACKTEST_VENUE "'), 0) FROM symbols)";
    bool is = false;
    return record_sqlite_ask(db, sql, NULL, RECORD_INTO(&is)) == SQLITE_ROW && is;
}

bool db_backtest_is(const char *path)
{
    sqlite3 *db = NULL;
    bool is =
        db_open(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &db) == SQLITE_OK && is_saved_backtest(db);
    sqlite3_close(db);
    return is;
}

static int fail_older(sqlite3 *db, int version, char *err, size_t err_size)
{
    if (version == 0)
        return fail_with(-ENODATA, err, err_size, "the database is empty: papertaped has not filled it yet");
    if (is_saved_backtest(db))
        snprintf(
            err, err_size,
            "a backtest that an older papertape saved (schema version %d, this one reads %d): run it again "
            "with --save, into another directory",
            version, db_migrations_count);
    else
        snprintf(err, err_size, "schema version %d is older than %d: start papertaped of this version once",
                 version, db_migrations_count);
    return -ESTALE;
}

int db_reader_open(const char *path, struct db_reader **ret, char *err, size_t err_size)
{
    struct db_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int keep = 1, version = 0;
    int rc = db_open(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &reader->db);
    int r = db_errno(rc);
    if (rc != SQLITE_OK) {
        int number = reader->db ? sqlite3_system_errno(reader->db) : ENOMEM;
        if (number)
            r = -number;
        snprintf(err, err_size, "%s", r == -ENOENT ? DB_NOT_YET("database", "papertaped") : strerror(-r));
        goto fail;
    }
    sqlite3_busy_timeout(reader->db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(reader->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    rc = db_row_hash_register(reader->db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(reader->db, "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0;", NULL, NULL,
                          NULL);
    if (rc != SQLITE_OK) {
        snprintf(err, err_size, "%s", sqlite3_errmsg(reader->db));
        r = db_errno(rc);
        goto fail;
    }
    r = db_schema_check(reader->db, db_migrations_count, &version, err, err_size);
    if (r == -ENOENT) /* the file is there; its log is not, and may not be made */
        snprintf(err, err_size, "its log cannot be opened: start papertaped, or read as the user it runs as");
    if (r < 0)
        goto fail;
    if (version < db_migrations_count) {
        r = fail_older(reader->db, version, err, err_size);
        goto fail;
    }
    *ret = reader;
    return 0;

fail:
    db_reader_close(reader);
    return r;
}

static void forget_accounts(struct db_reader *reader)
{
    for (size_t i = 0; i < reader->n_accounts; i++)
        free(reader->accounts[i].params);
    reader->n_accounts = 0;
}

void db_reader_close(struct db_reader *reader)
{
    if (!reader)
        return;
    forget_accounts(reader);
    db_trips_destroy(reader->trips);
    sqlite3_close(reader->db);
    free(reader->symbols);
    free(reader->accounts);
    free(reader->backend);
    free(reader);
}

const char *db_reader_error(const struct db_reader *reader)
{
    return reader->error;
}

int db_reader_begin(struct db_reader *reader)
{
    int rc = sqlite3_exec(reader->db, "BEGIN", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        snprintf(reader->error, sizeof reader->error, "%s", sqlite3_errmsg(reader->db));
    return db_errno(rc);
}

void db_reader_end(struct db_reader *reader)
{
    while (sqlite3_exec(reader->db, "COMMIT", NULL, NULL, NULL) == SQLITE_INTERRUPT) /* it has not ended */
        ;
}

void db_reader_interrupt(struct db_reader *reader)
{
    sqlite3_interrupt(reader->db);
}

/* SQLite's progress handler. */
static int is_stopped(void *stop)
{
    return atomic_load((const atomic_bool *)stop);
}

void db_reader_stop(struct db_reader *reader, const atomic_bool *stop)
{
    sqlite3_progress_handler(reader->db, STEPS, is_stopped, (void *)stop);
}

int db_reader_version(struct db_reader *reader, int64_t *ret)
{
    int r = db_query_first(reader, "PRAGMA data_version", NULL, RECORD_INTO(ret));
    return r < 0 ? r : 0;
}

/* ---- symbols and accounts, which other rows name ---- */

static const struct db_symbol_row *known_symbol(const struct db_reader *reader, int64_t id)
{
    if (id > 0 && (uint64_t)id <= reader->n_symbols && reader->symbols[id - 1].id == id)
        return &reader->symbols[id - 1]; /* ids have no hole */
    for (size_t i = 0; i < reader->n_symbols; i++)
        if (reader->symbols[i].id == id)
            return &reader->symbols[i];
    return NULL;
}

int db_reader_symbol_id(struct db_reader *reader, int64_t id, const struct db_symbol_row **ret)
{
    int r = 0;
    *ret = known_symbol(reader, id);
    if (!*ret && (r = db_reader_load_symbols(reader)) == 0)
        *ret = known_symbol(reader, id);
    return r;
}

static const struct db_account *known_account(const struct db_reader *reader, int64_t id)
{
    if (id >= 0 && (uint64_t)id < reader->n_accounts && reader->accounts[id].account.number == id)
        return &reader->accounts[id].account; /* numbers have no hole */
    for (size_t i = 0; i < reader->n_accounts; i++)
        if (reader->accounts[i].account.number == id)
            return &reader->accounts[i].account;
    return NULL;
}

static bool name_account(void *ctx, int64_t id)
{
    struct db_named *named = ctx;
    named->account = known_account(named->reader, id);
    if (!named->account && (named->r = db_reader_load_accounts(named->reader)) == 0)
        named->account = known_account(named->reader, id);
    return named->account != NULL;
}

static int name_symbol(void *ctx, int64_t id)
{
    struct db_named *named = ctx;
    named->r = db_reader_symbol_id(named->reader, id, &named->symbol);
    return named->symbol ? (int)(named->symbol - named->reader->symbols) : -1;
}

static int read_row(struct db_reader *reader, sqlite3_stmt *stmt, const struct record *record, void *row,
                    struct db_named *ret)
{
    struct db_named named = {.reader = reader};
    const struct record_ids ids = {.ctx = &named, .account = name_account, .symbol = name_symbol};
    int r = db_query_next(reader, stmt, NULL);
    if (r <= 0)
        return r;
    const struct record_field *field = record_sqlite_read(stmt, record, row, &ids);
    if (ret)
        *ret = named;
    if (!field || named.r < 0)
        return field ? named.r : 1;
    char words[WRONG_MAX];
    snprintf(words, sizeof words,
             field->kind == RECORD_TEXT     ? "too long a %s"
             : field->kind == RECORD_VOLUME ? "the %s is no number"
                                            : "unknown %s",
             field->column);
    return db_query_bad_row(reader, stmt, record->table, words);
}

int db_query_row(struct db_reader *reader, sqlite3_stmt *stmt, const struct record *record, void *row,
                 struct db_named *ret)
{
    int r;

    do
        r = read_row(reader, stmt, record, row, ret);
    while (db_query_leaves(reader, r));
    return r;
}

static int out_of_memory(struct db_reader *reader)
{
    return fail_with(-ENOMEM, reader->error, sizeof reader->error, "out of memory");
}

/* Room for one more of a table's rows. */
static void *grow(void *rows, size_t n, size_t size)
{
    return (n & (n - 1)) == 0 ? realloc(rows, (n ? 2 * n : 1) * size) : rows;
}

static int load_symbols(struct db_reader *reader)
{
    sqlite3_stmt *stmt;
    int64_t version = 0;
    int r = db_reader_version(reader, &version); /* before they are read */
    if (r < 0 || (reader->n_symbols > 0 && reader->symbols_version == version))
        return r;
    r = db_query(reader, "SELECT " DB_SYMBOL_COLUMNS " FROM symbols ORDER BY id", NULL, &stmt);
    if (r < 0)
        return r;
    reader->n_symbols = 0;
    reader->symbols_version = -1;
    struct db_symbol_row read = {0};
    while ((r = db_query_row(reader, stmt, &db_record_symbols, &read, NULL)) > 0) {
        struct db_symbol_row *rows = grow(reader->symbols, reader->n_symbols, sizeof *rows);
        if (!rows)
            return db_query_end(stmt, out_of_memory(reader));
        reader->symbols = rows;
        struct symbol *s = &read.symbol;
        if ((size_t)snprintf(s->venue, sizeof s->venue, "%s", read.venue) >= sizeof s->venue)
            return db_query_end(stmt, db_query_bad_row(reader, stmt, "symbols", "too long a venue"));
        rows[reader->n_symbols++] = read;
    }
    reader->symbols_version = r == 0 ? version : -1;
    return db_query_end(stmt, r);
}

int db_reader_load_symbols(struct db_reader *reader)
{
    const int at = begin_table(reader), r = load_symbols(reader);
    reader->leaves.at = at;
    return r;
}

/* The parameters of a strategy that this program has, by name; those left out are its defaults. 0, -ENOMEM,
 * or -EBADMSG. */
static int read_params(const char *text, const char *name, double params[static STRATEGY_PARAMS_MAX])
{
    const struct strategy *strategy = strategy_find(name);
    if (!strategy)
        return 0;
    json_error_t error = {0};
    json_t *object = json_loads(text, 0, &error);
    size_t known = 0;
    strategy_defaults(strategy, params);
    for (size_t i = 0; i < strategy->n_params; i++) {
        const json_t *given = json_object_get(object, strategy->params[i].name);
        known += given != NULL && strategy_param_from_json(strategy, i, given, params);
    }
    bool good = json_is_object(object) && (strategy->external || json_object_size(object) == known);
    const bool out_of_memory = !object && !error.text[0];
    json_decref(object);
    return good ? 0 : out_of_memory ? -ENOMEM : -EBADMSG;
}

/* 1, 0 at the end, -errno. */
static int read_account(struct db_reader *reader, sqlite3_stmt *stmt, struct db_account_stored *ret)
{
    struct db_account *account = &ret->row.account;
    int r = read_row(reader, stmt, &db_record_accounts, ret, NULL);

    if (r <= 0)
        return r;
    bool numbered = account->number >= 0 && account->number < ACCOUNTS_MAX;
    memset(account->params, 0, sizeof account->params);
    r = numbered ? read_params(ret->params, account->strategy, account->params) : -EBADMSG;
    if (r == -ENOMEM)
        return out_of_memory(reader);
    return r == 0 ? 1
                  : db_query_bad_row(reader, stmt, "accounts",
                                     numbered ? "the parameters are not its strategy's"
                                              : "the number is out of bounds");
}

/* An account that is to be left out still names the rows that are its own. */
static bool leaves_account(struct db_reader *reader, struct db_account_stored *stored)
{
    if (!db_query_leaves(reader, -EBADMSG))
        return false;
    stored->row.unread = true;
    return true;
}

static int load_accounts(struct db_reader *reader)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_ACCOUNT_COLUMNS " FROM accounts ORDER BY id", NULL, &stmt);
    if (r < 0)
        return r;
    forget_accounts(reader);
    struct db_account_stored stored = {0};
    while ((r = read_account(reader, stmt, &stored)) > 0 ||
           (r == -EBADMSG && leaves_account(reader, &stored))) {
        struct db_account_row *rows = grow(reader->accounts, reader->n_accounts, sizeof *rows);
        if (!rows)
            return db_query_end(stmt, out_of_memory(reader));
        reader->accounts = rows;
        rows[reader->n_accounts] = stored.row;
        if (stored.params && strategy_is_outside(stored.row.account.strategy) &&
            !(rows[reader->n_accounts].params = strdup(stored.params)))
            return db_query_end(stmt, out_of_memory(reader));
        reader->n_accounts++;
        stored = (struct db_account_stored){0};
    }
    return db_query_end(stmt, r);
}

int db_reader_load_accounts(struct db_reader *reader)
{
    const int at = begin_table(reader), r = load_accounts(reader);
    reader->leaves.at = at;
    return r;
}

int db_reader_symbols(struct db_reader *reader, void (*row)(void *ctx, const struct db_symbol_row *row),
                      void *ctx)
{
    int r = db_reader_load_symbols(reader);
    for (size_t i = 0; r == 0 && i < reader->n_symbols; i++)
        row(ctx, &reader->symbols[i]);
    return r;
}

int db_reader_accounts(struct db_reader *reader, void (*row)(void *ctx, const struct db_account_row *row),
                       void *ctx)
{
    int r = db_reader_load_accounts(reader);
    for (size_t i = 0; r == 0 && i < reader->n_accounts; i++)
        if (!reader->accounts[i].unread)
            row(ctx, &reader->accounts[i]);
    return r;
}

int db_reader_symbol(struct db_reader *reader, const char *name, struct db_symbol_row *ret)
{
    int r = db_reader_load_symbols(reader);
    if (r < 0)
        return r;
    const struct db_symbol_row *newest = NULL;
    for (size_t i = 0; i < reader->n_symbols; i++) {
        const struct db_symbol_row *at = &reader->symbols[i];
        if (strcmp(at->symbol.name, name) == 0 && (!newest || at->seen_ns > newest->seen_ns))
            newest = at;
    }
    if (newest) {
        *ret = *newest;
        return 0;
    }
    struct nearest nearest = {0};
    for (size_t i = 0; i < reader->n_symbols; i++)
        nearest_offer(&nearest, name, reader->symbols[i].symbol.name);
    snprintf(reader->error, sizeof reader->error, "\"%.*s\": " FAIL_NO_SYMBOL " in the database%s",
             SYMBOL_NAME_MAX, name, NEAREST_SUGGEST(nearest_meant(&nearest, name)));
    return -ENOENT;
}

void db_reader_temp_writable(struct db_reader *reader, bool writable)
{
    const char *sql = writable ? "PRAGMA query_only = OFF" : "PRAGMA query_only = ON";
    while (sqlite3_exec(reader->db, sql, NULL, NULL, NULL) == SQLITE_INTERRUPT)
        ;
}

int db_reader_write_temp(struct db_reader *reader, const char *sql)
{
    char *words = NULL;
    db_reader_temp_writable(reader, true);
    int rc = sqlite3_exec(reader->db, "PRAGMA temp_store = MEMORY", NULL, NULL, &words);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(reader->db, sql, NULL, NULL, &words);
    if (rc != SQLITE_OK)
        snprintf(reader->error, sizeof reader->error, "%s", words ? words : sqlite3_errstr(rc));
    sqlite3_free(words);
    db_reader_temp_writable(reader, false);
    return db_errno(rc);
}

int db_reader_meta(struct db_reader *reader, const char *key, char *buf, size_t size)
{
    int length;
    int r = db_query_first(reader, "SELECT value, length(CAST(value AS BLOB)) FROM meta WHERE key = ?1",
                           RECORD_PARAMS(key), RECORD_INTO(record_into_chars(buf, size), &length));
    if (r == 0) {
        snprintf(reader->error, sizeof reader->error, "meta: there is no key %.64s", key);
        return -ENOENT;
    }
    return r < 0 ? r : (size_t)length < size ? 0 : -ENOSPC;
}
