#include "db/notices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "db/migrate.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

enum { VERSION = 1, FILE_MODE = 0640, BUSY_TIMEOUT_MS = 5000 };

#define NS_PER_DAY (INT64_C(86400) * 1000000000)

static const char set_up[] = "PRAGMA journal_mode = WAL;"
                             "PRAGMA synchronous = FULL;"
                             "PRAGMA foreign_keys = ON;";

static const char schema[] =
    "BEGIN;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE notices (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, alert INTEGER NOT NULL,"
    " severity INTEGER NOT NULL, state INTEGER NOT NULL, lasts INTEGER NOT NULL, raised_ns INTEGER NOT NULL,"
    " over_ns INTEGER NOT NULL, rule TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE INDEX notices_alert ON notices (alert);"
    "CREATE TABLE deliveries (sink TEXT NOT NULL, notice INTEGER NOT NULL REFERENCES notices (id) ON DELETE CASCADE,"
    " PRIMARY KEY (sink, notice)) WITHOUT ROWID;"
    "CREATE INDEX deliveries_notice ON deliveries (notice);"
    "PRAGMA application_id = 1349546574;" /* "PpNN" */
    "PRAGMA user_version = 1;"
    "COMMIT;";
enum { APPLICATION_ID = 1349546574 };

#define COLUMNS "id, key, alert, severity, state, lasts, raised_ns, over_ns, rule, text"

struct db_notices {
    sqlite3 *db;
    bool is_new;
    uint64_t last_alert;
    char instance[DB_NOTICE_INSTANCE_MAX];
};

void db_notices_close(struct db_notices *notices)
{
    if (!notices)
        return;
    sqlite3_close(notices->db);
    free(notices);
}

const char *db_notices_instance(const struct db_notices *notices)
{
    return notices->instance;
}

bool db_notices_is_new(const struct db_notices *notices)
{
    return notices->is_new;
}

uint64_t db_notices_last_alert(const struct db_notices *notices)
{
    return notices->last_alert;
}

/* ---- a statement ---- */

static int execute(struct db_notices *notices, const char *sql)
{
    return db_errno(sqlite3_exec(notices->db, sql, NULL, NULL, NULL));
}

/* One without rows. *ret_changes may be NULL. */
static int change(struct db_notices *notices, const char *sql, const struct record_param *params,
                  int *ret_changes)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(notices->db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return db_errno(rc);
    record_sqlite_params(stmt, params);
    sqlite3_step(stmt);
    rc = sqlite3_finalize(stmt);
    if (rc == SQLITE_OK && ret_changes)
        *ret_changes = sqlite3_changes(notices->db);
    return db_errno(rc);
}

static int ask(struct db_notices *notices, const char *sql, const struct record_into *into)
{
    int rc = record_sqlite_ask(notices->db, sql, NULL, into);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_errno(rc);
}

/* ---- open ---- */

static int make(struct db_notices *notices)
{
    uint64_t random;
    int r = getrandom(&random, sizeof random, 0) == (ssize_t)sizeof random ? 0 : -EIO;
    if (r == 0)
        r = execute(notices, schema);
    snprintf(notices->instance, sizeof notices->instance, "%016llx", (unsigned long long)random);
    notices->is_new = true;
    return r < 0 ? r
                 : change(notices, "INSERT INTO meta VALUES ('instance', ?1)",
                          RECORD_PARAMS(notices->instance), NULL);
}

static int look(struct db_notices *notices)
{
    char found[DB_NOTICE_INSTANCE_MAX] = "";
    int64_t last = 0;
    int r = ask(notices, "SELECT value FROM meta WHERE key = 'instance'",
                RECORD_INTO(record_into_chars(found, sizeof found)));
    if (r == 0)
        r = ask(notices, "SELECT max(alert) FROM notices", RECORD_INTO(&last));
    snprintf(notices->instance, sizeof notices->instance, "%s", found);
    notices->last_alert = (uint64_t)last;
    return r == 0 && !found[0] ? -EBADMSG : r;
}

static int begin(struct db_notices *notices, const char *path)
{
    int64_t application = 0, version = 0;
    /* The mode of a new file is that of the state's other files, whatever umask says. */
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return -errno;
    close(fd);
    int rc = sqlite3_open_v2(path, &notices->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return db_errno(rc);
    sqlite3_busy_timeout(notices->db, BUSY_TIMEOUT_MS);
    int r = ask(notices, "PRAGMA application_id", RECORD_INTO(&application));
    if (r == 0)
        r = ask(notices, "PRAGMA user_version", RECORD_INTO(&version));
    if (r == 0)
        r = execute(notices, set_up);
    if (r < 0)
        return r;
    if (application == 0 && version == 0)
        return make(notices);
    if (application != APPLICATION_ID || version < 1)
        return -EMEDIUMTYPE;
    return version > VERSION ? -EOVERFLOW : look(notices);
}

static int try_open(const char *path, struct db_notices **ret, char *err, size_t err_size)
{
    struct db_notices *notices = calloc(1, sizeof *notices);
    if (!notices)
        return fail_with(-ENOMEM, err, err_size, "%s: out of memory", path);
    int r = begin(notices, path);
    if (r == 0) {
        *ret = notices;
        return 0;
    }
    if (r == -EOVERFLOW)
        snprintf(err, err_size, "%s: a newer papertape wrote it: update papertape", path);
    else if (r == -EMEDIUMTYPE)
        snprintf(err, err_size, "%s: it is no file of notices", path);
    else
        snprintf(err, err_size, "%s: %s", path,
                 notices->db && sqlite3_errcode(notices->db) ? sqlite3_errmsg(notices->db) : strerror(-r));
    db_notices_close(notices);
    return r;
}

/* With its write-ahead log, which would be applied to the new one. */
static int put_aside(const char *path, int64_t now_ns)
{
    static const char *const parts[] = {"-wal", "-shm", ""};
    char from[1024], to[1100];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(from, sizeof from, "%s%s", path, parts[i]);
        snprintf(to, sizeof to, "%s.damaged-%lld%s", path, (long long)(now_ns / 1000000000), parts[i]);
        if (rename(from, to) < 0 && errno != ENOENT)
            return -errno;
    }
    return 0;
}

int db_notices_open(const char *path, int64_t now_ns, struct db_notices **ret, bool *ret_aside, char *err,
                    size_t err_size)
{
    int r = try_open(path, ret, err, err_size);
    *ret_aside = (r == -EBADMSG || r == -EMEDIUMTYPE) && put_aside(path, now_ns) == 0;
    return *ret_aside ? try_open(path, ret, err, err_size) : r;
}

/* ---- notices ---- */

int db_notices_begin(struct db_notices *notices)
{
    return execute(notices, "BEGIN IMMEDIATE");
}

int db_notices_commit(struct db_notices *notices)
{
    int r = execute(notices, "COMMIT");
    if (r < 0)
        (void)execute(notices, "ROLLBACK");
    return r;
}

int db_notices_severity(struct db_notices *notices, struct db_notice *notice)
{
    int64_t worst = -1;
    if (notice->alert == 0)
        return 0;
    int rc =
        record_sqlite_ask(notices->db, "SELECT coalesce(max(severity), -1) FROM notices WHERE alert = ?1",
                          RECORD_PARAMS(notice->alert), RECORD_INTO(&worst));
    if (rc != SQLITE_ROW)
        return db_errno(rc);
    if (notice->state == DB_NOTICE_RAISED)
        return worst >= (int64_t)notice->severity;
    if (worst >= DB_INFO)
        notice->severity = (enum db_severity)worst;
    return worst < 0;
}

int db_notices_put(struct db_notices *notices, struct db_notice *notice, const char *const sinks[], int n)
{
    int made = 0;
    int r = change(
        notices,
        "INSERT OR IGNORE INTO notices (key, alert, severity, state, lasts, raised_ns, over_ns, rule, text)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        RECORD_PARAMS(notice->key, notice->alert, (int64_t)notice->severity, (int64_t)notice->state,
                      (int64_t)notice->lasts, notice->raised_ns, notice->over_ns, notice->rule, notice->text),
        &made);
    if (r < 0 || made == 0)
        return r < 0 ? r : 1;
    int64_t id = sqlite3_last_insert_rowid(notices->db);
    for (int i = 0; i < n && r == 0; i++)
        if (strcmp(sinks[i], notice->except) != 0)
            r = change(notices, "INSERT INTO deliveries VALUES (?1, ?2)", RECORD_PARAMS(sinks[i], id), NULL);
    if (r == 0)
        notice->id = id;
    return r;
}

static void take(sqlite3_stmt *stmt, struct db_notice *ret)
{
    int64_t alert = 0, severity = 0, state = 0, lasts = 0;
    *ret = (struct db_notice){0};
    record_sqlite_take(stmt, RECORD_INTO(&ret->id, record_into_chars(ret->key, sizeof ret->key), &alert,
                                         &severity, &state, &lasts, &ret->raised_ns, &ret->over_ns,
                                         record_into_chars(ret->rule, sizeof ret->rule),
                                         record_into_chars(ret->text, sizeof ret->text)));
    ret->alert = (uint64_t)alert;
    ret->severity = severity >= DB_INFO && severity <= DB_ERROR ? (enum db_severity)severity : DB_ERROR;
    ret->state = state == DB_NOTICE_RECOVERED ? DB_NOTICE_RECOVERED : DB_NOTICE_RAISED;
    ret->lasts = lasts != 0;
}

static int each(struct db_notices *notices, const char *sql, const struct record_param *params,
                void (*see)(void *ctx, const struct db_notice *notice), void *ctx)
{
    sqlite3_stmt *stmt;
    struct db_notice notice;
    int rc = sqlite3_prepare_v2(notices->db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return db_errno(rc);
    record_sqlite_params(stmt, params);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        take(stmt, &notice);
        see(ctx, &notice);
    }
    sqlite3_finalize(stmt);
    return db_errno(rc);
}

int db_notices_pending(struct db_notices *notices, const char *sink,
                       void (*see)(void *ctx, const struct db_notice *notice), void *ctx)
{
    return each(notices,
                "SELECT " COLUMNS " FROM notices JOIN deliveries ON notice = id WHERE sink = ?1 ORDER BY id",
                RECORD_PARAMS(sink), see, ctx);
}

int db_notices_lasting(struct db_notices *notices, void (*see)(void *ctx, const struct db_notice *notice),
                       void *ctx)
{
    return each(notices,
                "SELECT " COLUMNS " FROM notices AS n WHERE lasts AND state = 0 AND NOT EXISTS"
                " (SELECT 1 FROM notices WHERE alert = n.alert AND (state = 1 OR id > n.id)) ORDER BY id",
                RECORD_PARAMS(""), see, ctx);
}

int db_notices_accepted(struct db_notices *notices, int64_t id, const char *sink)
{
    return change(notices, "DELETE FROM deliveries WHERE sink = ?1 AND notice = ?2", RECORD_PARAMS(sink, id),
                  NULL);
}

#define FAILING "'failing ' || ?1" /* a row's key in meta */

int db_notices_failing(struct db_notices *notices, const char *sink, int64_t *ret_since_ns)
{
    int64_t since_ns = 0;
    int rc = record_sqlite_ask(notices->db, "SELECT value FROM meta WHERE key = " FAILING,
                               RECORD_PARAMS(sink), RECORD_INTO(&since_ns));
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return db_errno(rc);
    *ret_since_ns = since_ns;
    return 0;
}

int db_notices_put_failing(struct db_notices *notices, const char *sink, int64_t since_ns)
{
    if (since_ns == 0)
        return change(notices, "DELETE FROM meta WHERE key = " FAILING, RECORD_PARAMS(sink), NULL);
    return change(notices, "INSERT OR REPLACE INTO meta VALUES (" FAILING ", ?2)",
                  RECORD_PARAMS(sink, since_ns), NULL);
}

int db_notices_keep_sinks(struct db_notices *notices, const char *const sinks[], int n)
{
    char known[16 * (DB_NOTICE_SINK_MAX + 1) + 2] = " ";
    size_t at = 1;
    int dropped = 0;
    for (int i = 0; i < n && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s ", sinks[i]);
    int r = change(notices, "DELETE FROM deliveries WHERE instr(?1, ' ' || sink || ' ') = 0",
                   RECORD_PARAMS(known), &dropped);
    if (r == 0)
        r = change(
            notices,
            "DELETE FROM meta WHERE key LIKE 'failing %' AND instr(?1, ' ' || substr(key, 9) || ' ') = 0",
            RECORD_PARAMS(known), NULL);
    return r < 0 ? r : dropped;
}

int db_notices_prune(struct db_notices *notices, int64_t now_ns)
{
    return change(
        notices,
        "DELETE FROM notices AS n WHERE raised_ns < ?1 AND over_ns < ?1"
        " AND alert < (SELECT max(alert) FROM notices)" /* its number is not given again */
        " AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notice = n.id)"
        " AND (NOT lasts OR state = 1 OR EXISTS (SELECT 1 FROM notices WHERE alert = n.alert AND state = 1))",
        RECORD_PARAMS(now_ns - DB_NOTICES_KEPT_DAYS * NS_PER_DAY), NULL);
}
