#include "db/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/migrate.h"
#include "db/open.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

enum {
    PACE_BYTES = 1 << 20,    /* for which a commit may have to wait */
    PACE_PAUSE = 3,          /* times as long as they took */
    BUSY_TIMEOUT_MS = 60000, /* writers of studies.db take turns */
    STEPS = 1000,            /* of SQLite's machine between two looks: some 300 rows */
    INCREMENTAL = 2,         /* PRAGMA auto_vacuum */
    COPY_MODE = 0640,
};

int db_backup_pace(struct db_backup_pace *pace)
{
    struct stat st;
    if (fstat(pace->fd, &st) < 0)
        return -errno;
    if (st.st_size - pace->stored < PACE_BYTES)
        return 0;
    int64_t begin_ns = clock_now_ns();
    if (sync_file_range(pace->fd, pace->stored, st.st_size - pace->stored,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) < 0)
        return errno == ENOSYS || errno == ESPIPE ? 0 : -errno;
    int64_t pause_ns = PACE_PAUSE * (clock_now_ns() - begin_ns);
    pace->stored = st.st_size;
    nanosleep(&(struct timespec){pause_ns / 1000000000, pause_ns % 1000000000}, NULL);
    return 0;
}

bool db_backup_is_database(const char *path)
{
    char head[16] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    return n == sizeof head && memcmp(head, "SQLite format 3", sizeof head) == 0;
}

/* ---- one copy ---- */

struct copying {
    struct db_backup_pace pace;
    struct db_backup_way way;
    int r; /* why it was ended */
};

/* SQLite's progress handler. */
static int look(void *ctx)
{
    struct copying *copying = ctx;
    if (copying->way.stop && atomic_load(copying->way.stop))
        copying->r = -ECANCELED;
    else if (copying->way.paced)
        copying->r = db_backup_pace(&copying->pace);
    return copying->r != 0;
}

/* The path without links in its folder: with SQLITE_OPEN_NOFOLLOW SQLite takes none on the way either. */
static bool resolve(const char *path, char ret[static PATH_MAX])
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int n = snprintf(folder, sizeof folder, "%.*s/.", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return n < PATH_MAX && realpath(folder, real) &&
           snprintf(ret, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < PATH_MAX;
}

static int open_source(const char *path, bool only_read, sqlite3 **ret)
{
    int flags = (only_read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_NOFOLLOW,
        keep = 1;
    char real[PATH_MAX];
    int rc = db_open(resolve(path, real) ? real : path, flags, ret);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_busy_timeout(*ret, BUSY_TIMEOUT_MS);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(*ret, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    return sqlite3_exec(*ret, "PRAGMA wal_autocheckpoint = 0", NULL, NULL, NULL);
}

/* A pragma that asks for what the file is already would write to it. */
static int ask_for_vacuum(sqlite3 *db)
{
    int now = 0;
    int rc = record_sqlite_ask(db, "PRAGMA auto_vacuum", NULL, RECORD_INTO(&now));
    if (rc != SQLITE_ROW || now == INCREMENTAL)
        return rc == SQLITE_ROW ? SQLITE_OK : rc;
    return sqlite3_exec(db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL);
}

static int vacuum_into(sqlite3 *db, const char *to)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    record_sqlite_params(stmt, RECORD_PARAMS(to));
    sqlite3_step(stmt);
    return sqlite3_finalize(stmt);
}

/* A full disk, a file that may not be read: the system's own words where SQLite has them, of the copy at `to`
 * where it is that which cannot be written. */
static int say(sqlite3 *db, int rc, const char *from, const char *to, char *err, size_t err_size)
{
    int number = db ? sqlite3_system_errno(db) : 0, base = rc & 0xff;
    bool writes = base == SQLITE_FULL || (db && sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE);
    const char *path = writes ? to : from;
    if (base == SQLITE_FULL)
        return fail_with(-ENOSPC, err, err_size, "%s: %s", path, strerror(ENOSPC));
    if (db && sqlite3_extended_errcode(db) == SQLITE_CANTOPEN_SYMLINK)
        number = ELOOP;
    if (number && (base == SQLITE_IOERR || base == SQLITE_CANTOPEN))
        return fail_with(-number, err, err_size, "%s: %s", path, strerror(number));
    return fail_with(db_errno(rc), err, err_size, "%s: %s", path,
                     db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

int db_backup_copy(const char *from, const char *to, struct db_backup_way way, char *err, size_t err_size)
{
    struct copying copying = {.way = way};
    sqlite3 *db = NULL;
    copying.pace.fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, COPY_MODE);
    if (copying.pace.fd < 0)
        return fail_with(-errno, err, err_size, "%s: %s", to, strerror(errno));
    int rc = open_source(from, way.only_read, &db);
    if (rc == SQLITE_OK)
        rc = ask_for_vacuum(db);
    if (rc == SQLITE_OK) {
        sqlite3_progress_handler(db, STEPS, look, &copying);
        rc = vacuum_into(db, to); /* which takes a file of no bytes */
    }
    int r = rc == SQLITE_OK  ? 0
            : copying.r != 0 ? fail_with(copying.r, err, err_size, "%s: %s", to, strerror(-copying.r))
                             : say(db, rc, from, to, err, err_size);
    sqlite3_close(db);
    close(copying.pace.fd);
    if (r < 0)
        unlink(to);
    return r;
}

/* ---- its moment ---- */

int db_backup_moment(const char *copy, struct db_backup_moment *ret, char *err, size_t err_size)
{
    static const char last[] = "SELECT id, hash FROM ledger ORDER BY id DESC LIMIT 1";
    struct db_backup_moment moment = {0};
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(copy, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = record_sqlite_ask(db, "PRAGMA user_version", NULL, RECORD_INTO(&moment.schema));
    if (rc == SQLITE_ROW)
        rc = record_sqlite_ask(db, "SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'event_seq'", NULL,
                               RECORD_INTO(&moment.event));
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        rc = record_sqlite_ask(
            db, last, NULL,
            RECORD_INTO(&moment.ledger_rows, record_into_bytes(moment.ledger_hash, LEDGER_HASH_SIZE)));
    int r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : say(db, rc, copy, copy, err, err_size);
    sqlite3_close(db);
    if (r == 0)
        *ret = moment;
    return r;
}
