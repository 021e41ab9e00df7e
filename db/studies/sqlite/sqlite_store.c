#include "db/studies/sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/fail.h"

enum { FILE_MODE = 0640 };
/* The longest nap of a writer, plus an eighth of it (nap()), before it tries the lock again: a writer that
 * has waited longer than usual tries more often, which makes long waits rare but does not bound them; the
 * others try seldom, as each try takes processor time from the lock's owner. A commit, during which no new
 * reader can start, waits least. */
enum { NAP_COMMIT_US = 60, NAP_LATE_US = 500, NAP_DUE_US = 3000, NAP_MOST_US = 10000 };
static const double DUE = 1.5, LATE = 3;                      /* of the usual wait */
static const double USUAL_LEAST_S = 0.02, USUAL_WEIGHT = 0.2; /* weight of the newest wait in the mean */
/* How many transactions, after one that had to wait, let other processes go first. */
enum { POLITE = 32 };
enum { STOP_STEPS = 1000 }; /* of SQLite's virtual machine, after which a statement looks whether to stop */

static int code_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_INTERRUPT:
        return -EINTR;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: /* the journal, once the file is open */
    case SQLITE_PERM:
        return -EROFS;
    case SQLITE_NOTADB:
        return -EMEDIUMTYPE;
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
        return -EBADMSG;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_TOOBIG:
        return -EINVAL;
    default:
        return -EIO;
    }
}

int study_sqlite_fail(struct study_sqlite *store, int rc, char err[static STUDY_ERROR_MAX])
{
    int r = code_of(rc);
    const char *said = sqlite3_errmsg(store->db);
    switch (r) {
    case -EBUSY:
        return study_sql_fail_busy(&store->sql.base, store->busy_ms, err);
    case -EROFS:
        return study_store_fail(
            &store->sql.base, r, err,
            "is read-only (%.100s): write permission on the file and its folder is needed", said);
    case -EMEDIUMTYPE:
        return study_store_fail(&store->sql.base, r, err,
                                "is no SQLite database: one, or a new file, is needed");
    case -EBADMSG:
        return study_store_fail(&store->sql.base, r, err,
                                "is damaged (%.200s): a copy that is whole is needed", said);
    default:
        return study_store_fail(&store->sql.base, r, err, "%.200s", said);
    }
}

static struct study_rows query(struct study_sql *sql, enum study_sql_statement which,
                               const struct record_param *params)
{
    sqlite3_stmt *stmt = study_sqlite_of(sql)->statements[which];
    record_sqlite_params(stmt, params);
    return (struct study_rows){which, stmt, 0};
}

static int next(struct study_sql *sql, struct study_rows *rows, const struct record_into *into,
                char err[static STUDY_ERROR_MAX])
{
    int rc = sqlite3_step(rows->of);
    if (rc == SQLITE_ROW) {
        record_sqlite_take(rows->of, into);
        return 1;
    }
    int r = rc == SQLITE_DONE ? 0 : study_sqlite_fail(study_sqlite_of(sql), rc, err);
    sqlite3_reset(rows->of);
    return r;
}

static void take(const struct study_rows *rows, const struct record_into *into)
{
    record_sqlite_take(rows->of, into);
}

static void end(struct study_rows *rows)
{
    sqlite3_reset(rows->of);
}

static int64_t changed(const struct study_sql *sql)
{
    return sqlite3_changes(study_sqlite_of_const(sql)->db);
}

static int64_t changes(const struct study_sql *sql)
{
    return sqlite3_total_changes64(study_sqlite_of_const(sql)->db);
}

static bool within(const struct study_sql *sql)
{
    return !sqlite3_get_autocommit(study_sqlite_of_const(sql)->db);
}

static int64_t now_us(const struct study_sql *sql)
{
    (void)sql;
    return clock_wall_ns() / 1000;
}

/* One of those that are no statements of a study. */
static int run(struct study_sqlite *store, enum study_sqlite_own which, char err[static STUDY_ERROR_MAX])
{
    int rc = sqlite3_step(store->own[which]);
    int r = rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : study_sqlite_fail(store, rc, err);
    sqlite3_reset(store->own[which]);
    return r;
}

static int begin_read(struct study_sql *sql, char err[static STUDY_ERROR_MAX])
{
    return run(study_sqlite_of(sql), STUDY_SQLITE_BEGIN_READ, err);
}

static int end_read(struct study_sql *sql, char err[static STUDY_ERROR_MAX])
{
    return run(study_sqlite_of(sql), STUDY_SQLITE_COMMIT, err);
}

static int data_version(struct study_sql *sql, int64_t *ret, char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = {.of = study_sqlite_of(sql)->own[STUDY_SQLITE_DATA_VERSION]};
    int r = next(sql, &rows, RECORD_INTO(ret), err);
    if (r > 0)
        end(&rows);
    return r < 0 ? r : 0;
}

/* From an eighth of `most_us` to nine eighths: naps differ, so that workers do not try at the same time. */
static void nap(unsigned most_us)
{
    unsigned draw;
    sqlite3_randomness(sizeof draw, &draw);
    usleep(most_us / 8 + draw % most_us);
}

static int wait_turn(void *ctx, int naps)
{
    struct study_sqlite *store = ctx;
    double now = clock_now_s();
    if (naps == 0)
        store->busy_since_s = now;
    double waited = now - store->busy_since_s;
    if (waited * 1e3 >= store->busy_ms || study_store_stopped(&store->sql.base))
        return 0;
    if (store->committing) {
        nap(NAP_COMMIT_US);
    } else {
        store->polite = POLITE;
        double usual = fmax(store->usual_s, USUAL_LEAST_S);
        nap(waited < DUE * usual ? NAP_MOST_US : waited < LATE * usual ? NAP_DUE_US : NAP_LATE_US);
    }
    return 1;
}

/* SQLite has no queue: a process that tries again at once would find the lock free before those that nap. */
static int begin(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(study_sql_of(store));
    if (sqlite->polite > 0 && --sqlite->polite > 0 && clock_now_s() - sqlite->ended_s < 1e-6 * NAP_MOST_US)
        nap(NAP_MOST_US);
    double before = clock_now_s();
    int r = run(sqlite, STUDY_SQLITE_BEGIN_WRITE, err);
    sqlite->usual_s += USUAL_WEIGHT * (clock_now_s() - before - sqlite->usual_s);
    return r;
}

static int commit(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(study_sql_of(store));
    sqlite->committing = true;
    int r = run(sqlite, STUDY_SQLITE_COMMIT, err);
    sqlite->committing = false;
    sqlite->ended_s = clock_now_s();
    return r;
}

static void rollback(struct study_store *store)
{
    struct study_sqlite *sqlite = study_sqlite_of(study_sql_of(store));
    char err[STUDY_ERROR_MAX];
    study_sql_rolled_back(&sqlite->sql);
    if (!sqlite3_get_autocommit(sqlite->db)) /* after a full disk it is rolled back already */
        run(sqlite, STUDY_SQLITE_ROLLBACK, err);
}

static void store_close(struct study_store *store)
{
    struct study_sqlite *sqlite = study_sqlite_of(study_sql_of(store));
    for (int i = 0; i < STUDY_SQL_STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    for (int i = 0; i < STUDY_SQLITE_OWN; i++)
        sqlite3_finalize(sqlite->own[i]);
    sqlite3_close(sqlite->db);
    free(sqlite);
}

/* SQLite's progress handler. */
static int is_stopped(void *store)
{
    return study_store_stopped(store);
}

static void set_waits(struct study_sqlite *sqlite, const struct study_store_waits *waits)
{
    sqlite->sql.base.waits = *waits;
    if (waits->stop)
        sqlite3_progress_handler(sqlite->db, STOP_STEPS, is_stopped, &sqlite->sql.base);
}

static int read_only(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    return study_store_fail(&store->sql.base, -EROFS, err,
                            "is read-only: write permission on the file and its folder is needed");
}

/* SQLite also creates a file, but with the umask's mode, and its errors of paths are less precise. An
 * existing file is not opened: closing it would drop the locks of all stores that this process has on it. */
static int touch(struct study_sqlite *store, const char *path, char err[static STUDY_ERROR_MAX])
{
    bool writes = store->sql.base.mode == STUDY_STORE_WRITE;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return study_store_fail(&store->sql.base, -EISDIR, err, "is a folder: a file in it would be right");
    int fd = writes ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE) : -1, number = errno;
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0) {
        number = writes && errno == ENOENT ? number : errno; /* why it was not created */
        return study_store_fail(&store->sql.base, -number, err, "%s: %s would be right", strerror(number),
                                number == EACCES ? "a file that this user may open, in a folder likewise,"
                                : writes         ? "a file in a folder that is there"
                                                 : "a file of studies that is there");
    }
    if (writes && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
        return read_only(store, err);
    return 0;
}

/* Is there room for a journal? */
static int check_folder(struct study_sqlite *store, const char *path, char err[static STUDY_ERROR_MAX])
{
    char *copy = strdup(path);
    if (!copy)
        return study_store_fail(&store->sql.base, -ENOMEM, err, "no memory");
    bool writes = faccessat(AT_FDCWD, dirname(copy), W_OK, AT_EACCESS) == 0;
    free(copy);
    if (writes && !sqlite3_db_readonly(store->db, "main"))
        return 0;
    return read_only(store, err);
}

static const struct study_sql_driver driver = {.query = query,
                                               .next = next,
                                               .take = take,
                                               .end = end,
                                               .changed = changed,
                                               .changes = changes,
                                               .within = within,
                                               .begin_read = begin_read,
                                               .end_read = end_read,
                                               .data_version = data_version,
                                               .same_schema = study_sqlite_same_schema,
                                               .now_us = now_us};

static int store_open(const char *location, enum study_store_mode mode, int busy_ms,
                      const struct study_store_waits *waits, struct study_store **ret,
                      char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *store = calloc(1, sizeof *store);
    if (!store || !(store->sql.base.url = strdup(location))) {
        free(store);
        return fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "%.200s: no memory", location);
    }
    store->sql.base.ops = &study_store_sqlite;
    store->sql.base.mode = mode = study_store_access(mode);
    store->busy_ms = busy_ms;
    store->sql.driver = &driver;
    store->sql.serial = study_sql_serial();
    int r = touch(store, location, err);
    if (r < 0)
        goto fail;
    /* A reader, too, may have to roll back a killed writer's transaction; where it may not write, the file is
     * opened read-only. */
    int rc = sqlite3_open_v2(location, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!store->db) {
        r = study_store_fail(&store->sql.base, -ENOMEM, err, "no memory");
        goto fail;
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, wait_turn, store);
    if (rc == SQLITE_OK && mode == STUDY_STORE_READ)
        rc = sqlite3_exec(store->db, "PRAGMA query_only = 1", NULL, NULL, NULL);
    r = rc == SQLITE_OK ? 0 : study_sqlite_fail(store, rc, err);
    if (r == 0 && mode == STUDY_STORE_WRITE)
        r = check_folder(store, location, err);
    if (r == 0)
        r = study_sqlite_schema(store, err);
    if (r < 0)
        goto fail;
    set_waits(store, waits);
    *ret = &store->sql.base;
    return 0;
fail:
    free(store->sql.base.url);
    store_close(&store->sql.base);
    return r;
}

const struct study_store_ops study_store_sqlite = {.scheme = "sqlite",
                                                   .open = store_open,
                                                   .close = store_close,
                                                   .begin = begin,
                                                   .commit = commit,
                                                   .rollback = rollback,
                                                   STUDY_STORE_OPS(STUDY_SQL_OP)};
