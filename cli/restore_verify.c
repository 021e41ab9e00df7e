/* What was unpacked is verified by what `ledger verify` and `events verify` check too. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/restore.h"
#include "daemon/rebuild.h"
#include "db/migrate.h"
#include "db/verify.h"
#include "exchange/fail.h"
#include "exchange/journal/journal.h"
#include "record/sqlite.h"

static int check_hash(const struct db_verified *is, const struct backup_manifest *manifest, char *err,
                      size_t err_size)
{
    if (!is->ok)
        return fail_with(-EBADMSG, err, err_size, "papertape.db: %s", is->failure);
    if (memcmp(is->hash, manifest->moment.ledger_hash, sizeof is->hash) != 0)
        return fail_with(-EBADMSG, err, err_size,
                         "papertape.db: its ledger ends with another hash than " BACKUP_MANIFEST " says");
    return 0;
}

static int verify_record(const char *database, const struct backup_manifest *manifest, char *err,
                         size_t err_size)
{
    struct db_reader *reader;
    struct db_verified *verified = NULL;
    int r = db_reader_open(database, &reader, err, err_size);
    if (r < 0)
        return r;
    r = db_verify(reader, &verified);
    r = r < 0 ? fail_with(r, err, err_size, "papertape.db: %s", db_reader_error(reader))
              : check_hash(verified, manifest, err, err_size);
    db_verified_destroy(verified);
    db_reader_close(reader);
    return r;
}

/* One of an older version is migrated by the start, and its rules are that version's: the file itself is
 * checked, and every seal that this one knows. */
static int verify_database(const struct state_dir *state, const struct backup_manifest *manifest,
                           bool *ret_older, char *err, size_t err_size)
{
    char why[DB_ERROR_MAX];
    *ret_older = manifest->moment.schema < db_migrations_count;
    int r = daemon_rebuild_check(state->database, 0, why, sizeof why);
    if (r < 0)
        return fail_with(r, err, err_size, "papertape.db: %s", why);
    return *ret_older ? 0 : verify_record(state->database, manifest, err, err_size);
}

static int verify_log(const struct state_dir *state, const struct backup_manifest *manifest,
                      uint64_t *ret_last, char *err, size_t err_size)
{
    struct journal_summary sum;
    *ret_last = 0;
    if (manifest->log_event == 0 && access(state->events, F_OK) < 0)
        return 0;
    int r = journal_verify(state->events, &sum, err, err_size);
    if (r == -ENOENT && manifest->log_event == 0)
        return 0;
    if (r < 0)
        return r;
    if (sum.last_seq < manifest->log_event)
        return fail_with(-EBADMSG, err, err_size,
                         "events: they end with %" PRIu64 "; " BACKUP_MANIFEST " has %" PRIu64, sum.last_seq,
                         manifest->log_event);
    *ret_last = sum.last_seq;
    return 0;
}

/* quick_check of a database that is not the record. */
static int verify_other(const char *path, const char *name, char *err, size_t err_size)
{
    char answer[DB_ERROR_MAX] = "";
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = record_sqlite_ask(db, "PRAGMA quick_check(1)", NULL,
                               RECORD_INTO(record_into_chars(answer, sizeof answer)));
    if (rc != SQLITE_ROW)
        snprintf(answer, sizeof answer, "%s", db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_close(db);
    if (rc == SQLITE_ROW && strcmp(answer, "ok") == 0)
        return 0;
    return fail_line(rc == SQLITE_ROW ? -EBADMSG : db_errno(rc), err, err_size, name, "%.400s", answer);
}

int cli_restore_verify(const struct state_dir *state, const struct backup_manifest *manifest,
                       struct restore_result *ret, char *err, size_t err_size)
{
    const char *name;
    json_t *row;
    int r = verify_database(state, manifest, &ret->older, err, err_size);
    if (r == 0)
        r = verify_log(state, manifest, &ret->log_event, err, err_size);
    json_object_foreach(manifest->files, name, row)
    {
        char path[STATE_PATH_MAX + BACKUP_NAME_MAX];
        const char *end = strrchr(name, '.');
        bool database = !strchr(name, '/') && end && strcmp(end, ".db") == 0;
        if (r < 0 || !database || strcmp(name, "papertape.db") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", state->path, name);
        r = verify_other(path, name, err, err_size);
    }
    return r;
}
