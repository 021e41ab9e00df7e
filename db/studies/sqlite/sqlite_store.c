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
        return study_store_fail(
            &store->base, r, err,
            FAIL_IN_USE(
                "other processes") " for %g s: shorter transactions there, or fewer workers, are needed",
            store->busy_ms / 1e3);
    case -EROFS:
        return study_store_fail(
            &store->base, r, err,
            "is read-only (%.100s): write permission on the file and its folder is needed", said);
    case -EMEDIUMTYPE:
        return study_store_fail(&store->base, r, err, "is no SQLite database: one, or a new file, is needed");
    case -EBADMSG:
        return study_store_fail(&store->base, r, err, "is damaged (%.200s): a copy that is whole is needed",
                                said);
    default:
        return study_store_fail(&store->base, r, err, "%.200s", said);
    }
}

sqlite3_stmt *study_sqlite_query(struct study_sqlite *store, enum study_sql which,
                                 const struct record_param *params)
{
    record_sqlite_params(store->statements[which], params);
    return store->statements[which];
}

int study_sqlite_next(struct study_sqlite *store, sqlite3_stmt *stmt, const struct record_into *into,
                      char err[static STUDY_ERROR_MAX])
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        record_sqlite_take(stmt, into);
        return 1;
    }
    int r = rc == SQLITE_DONE ? 0 : study_sqlite_fail(store, rc, err);
    sqlite3_reset(stmt);
    return r;
}

int study_sqlite_first(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                       const struct record_into *into, char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = study_sqlite_query(store, which, params);
    int r = study_sqlite_next(store, stmt, into, err);
    if (r > 0)
        sqlite3_reset(stmt);
    return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int study_sqlite_run(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                     char err[static STUDY_ERROR_MAX])
{
    int r = study_sqlite_first(store, which, params, NULL, err);
    return r == -ENOENT ? 0 : r;
}

int study_sqlite_text(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                      char **ret, char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = study_sqlite_query(store, which, params);
    const char *text = NULL;
    int r = study_sqlite_next(store, stmt, RECORD_INTO(&text), err);
    if (r <= 0)
        return r < 0 ? r : -ENOENT;
    char *copy = text ? strdup(text) : NULL;
    r = copy ? 0 : text ? study_store_fail(&store->base, -ENOMEM, err, "no memory") : -ENOENT;
    sqlite3_reset(stmt);
    if (r == 0)
        *ret = copy;
    return r;
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
    if (waited * 1e3 >= store->busy_ms || (store->stop && atomic_load(store->stop)))
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

void study_sqlite_now(double ago_s, char ret[static STUDY_SQLITE_TIME])
{
    int64_t us = clock_wall_ns() / 1000 - (int64_t)(ago_s * 1e6);
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(ret, STUDY_SQLITE_TIME, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(ret + n, STUDY_SQLITE_TIME - n, ".%06d", (int)(us % 1000000));
}

int64_t study_sqlite_time(const char *text)
{
    struct tm tm = {0};
    const char *rest = text ? strptime(text, "%Y-%m-%d %H:%M:%S", &tm) : NULL;
    if (!rest)
        return STUDY_NO_TIME;
    int64_t us = (int64_t)timegm(&tm) * 1000000;
    if (*rest == '.')
        for (int64_t unit = 100000; unit > 0 && rest[1] >= '0' && rest[1] <= '9'; unit /= 10)
            us += unit * (*++rest - '0');
    return us;
}

double study_sqlite_double(double value, const char *type)
{
    if (type && strcmp(type, "INF_POS") == 0)
        return INFINITY;
    if (type && strcmp(type, "INF_NEG") == 0)
        return -INFINITY;
    return value;
}

struct record_param study_sqlite_value(double value)
{
    return isfinite(value) ? record_param_real(value) : record_param_text(NULL);
}

const char *study_sqlite_value_type(double value)
{
    return isnan(value) ? "NAN" : !isinf(value) ? "FINITE" : value > 0 ? "INF_POS" : "INF_NEG";
}

bool study_sqlite_state(const char *name, enum trial_state *ret)
{
    for (enum trial_state state = 0; name && state < TRIAL_STATES; state++)
        if (strcmp(name, study_trial_state_name(state)) == 0) {
            *ret = state;
            return true;
        }
    return false;
}

/* SQLite has no queue: a process that tries again at once would find the lock free before those that nap. */
static int begin(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    if (sqlite->polite > 0 && --sqlite->polite > 0 && clock_now_s() - sqlite->ended_s < 1e-6 * NAP_MOST_US)
        nap(NAP_MOST_US);
    double before = clock_now_s();
    int r = study_sqlite_run(sqlite, STUDY_SQL_BEGIN_WRITE, NULL, err);
    sqlite->usual_s += USUAL_WEIGHT * (clock_now_s() - before - sqlite->usual_s);
    return r;
}

static int commit(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite->committing = true;
    int r = study_sqlite_run(sqlite, STUDY_SQL_COMMIT, NULL, err);
    sqlite->committing = false;
    sqlite->ended_s = clock_now_s();
    return r;
}

static void rollback(struct study_store *store)
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    char err[STUDY_ERROR_MAX];
    sqlite->rollbacks++;
    sqlite->mark.study = 0;
    if (!sqlite3_get_autocommit(sqlite->db)) /* after a full disk it is rolled back already */
        study_sqlite_run(sqlite, STUDY_SQL_ROLLBACK, NULL, err);
}

static void store_close(struct study_store *store)
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    for (int i = 0; i < STUDY_SQL_STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    sqlite3_close(sqlite->db);
    free(sqlite);
}

/* SQLite's progress handler. */
static int is_stopped(void *stop)
{
    return atomic_load((const atomic_bool *)stop);
}

static void store_stop(struct study_store *store, const atomic_bool *stop)
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite->stop = stop;
    sqlite3_progress_handler(sqlite->db, STOP_STEPS, is_stopped, (void *)stop);
}

static int read_only(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    return study_store_fail(&store->base, -EROFS, err,
                            "is read-only: write permission on the file and its folder is needed");
}

/* SQLite also creates a file, but with the umask's mode, and its errors of paths are less precise. An
 * existing file is not opened: closing it would drop the locks of all stores that this process has on it. */
static int touch(struct study_sqlite *store, const char *path, char err[static STUDY_ERROR_MAX])
{
    bool writes = store->base.mode == STUDY_STORE_WRITE;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return study_store_fail(&store->base, -EISDIR, err, "is a folder: a file in it would be right");
    int fd = writes ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE) : -1, number = errno;
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0) {
        number = writes && errno == ENOENT ? number : errno; /* why it was not created */
        return study_store_fail(&store->base, -number, err, "%s: %s would be right", strerror(number),
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
        return study_store_fail(&store->base, -ENOMEM, err, "no memory");
    bool writes = faccessat(AT_FDCWD, dirname(copy), W_OK, AT_EACCESS) == 0;
    free(copy);
    if (writes && !sqlite3_db_readonly(store->db, "main"))
        return 0;
    return read_only(store, err);
}

static int store_open(const char *location, enum study_store_mode mode, int busy_ms, struct study_store **ret,
                      char err[static STUDY_ERROR_MAX])
{
    static atomic_uint_fast64_t opened;
    struct study_sqlite *store = calloc(1, sizeof *store);
    if (!store || !(store->base.url = strdup(location))) {
        free(store);
        return fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "%.200s: no memory", location);
    }
    store->base.ops = &study_store_sqlite;
    store->base.mode = mode;
    store->busy_ms = busy_ms;
    store->serial = atomic_fetch_add(&opened, 1) + 1;
    int r = touch(store, location, err);
    if (r < 0)
        goto fail;
    /* A reader, too, may have to roll back a killed writer's transaction; where it may not write, the file is
     * opened read-only. */
    int rc = sqlite3_open_v2(location, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!store->db) {
        r = study_store_fail(&store->base, -ENOMEM, err, "no memory");
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
    *ret = &store->base;
    return 0;
fail:
    free(store->base.url);
    store_close(&store->base);
    return r;
}

#define OP(name, ...) .name = study_sqlite_##name,
const struct study_store_ops study_store_sqlite = {.scheme = "sqlite",
                                                   .open = store_open,
                                                   .close = store_close,
                                                   .stop = store_stop,
                                                   .begin = begin,
                                                   .commit = commit,
                                                   .rollback = rollback,
                                                   STUDY_STORE_OPS(OP)};
