/* What a start finds of a damaged database: rows that are gone, the newest of a table too, and rows that were
 * altered, each by the name that `ledger verify` has for it. */
#include <errno.h>
#include <grp.h>
#include <sys/wait.h>

#include "daemon/rebuild.h"
#include "db/row_hash.h"
#include "db/verify.h"

#include "tests/db/fixture.h"
#include "tests/db/sql.h"

enum { PATIENCE_MS = 30000 };

static char path[SCRATCH_PATH_MAX], altered[SCRATCH_PATH_MAX];

static void make(void)
{
    const struct db_writer_config config = {0};
    struct db_writer *writer;
    struct fixture f;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), 0);
    CHECK_INT(daemon_rebuild_check(path, 0, err, sizeof err), 0); /* of no account yet */
    fixture_open(&f, writer);
    for (int i = 0; i < 7; i++)
        fixture_trade(&f);
    for (int i = 0; i < 3; i++) {
        const struct db_command command = {.id = (uint64_t)i + 1,
                                           .ts_ns = FIXTURE_START,
                                           .cmd = "deposit",
                                           .args = "",
                                           .result = "",
                                           .key = "key"};
        const struct db_alert alert = {
            .id = (uint64_t)i + 1, .ts_ns = FIXTURE_START, .count = 1, .code = "code", .text = "text"};
        db_writer_put_command(writer, &command);
        db_writer_put_alert(writer, &alert);
    }
    db_writer_put_paused(writer, false);
    CHECK_INT(db_writer_close(writer, PATIENCE_MS, err, sizeof err), 0);
}

static void alter(const char *sql)
{
    sqlite3 *db;
    remove(altered);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "VACUUM INTO %Q", altered);
    sqlite3_close(db);
    CHECK_INT(sqlite3_open(altered, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    sql_exec(db, "PRAGMA foreign_keys = OFF");
    sql_exec(db, "%s", sql);
    sqlite3_close(db);
}

static void verified(char failure[static DB_ERROR_MAX])
{
    struct db_reader *reader = fixture_reader(altered);
    struct db_verified *verified = NULL;
    CHECK_INT(db_verify(reader, &verified), 0);
    snprintf(failure, DB_ERROR_MAX, "%s", verified->failure);
    db_verified_destroy(verified);
    db_reader_close(reader);
}

/* Found, with or without time for more; `same`: in the words of the verification. */
static void found(const char *sql, const char *words, bool same)
{
    char err[REBUILD_ERROR_MAX] = "", failure[DB_ERROR_MAX] = "";
    alter(sql);
    CHECK_INT(daemon_rebuild_check(altered, 0, err, sizeof err), -EBADMSG);
    CHECK_STR(err, words);
    verified(failure);
    CHECK(failure[0] != '\0');
    if (same)
        CHECK_STR(failure, words);
}

/* A file that this user may not read is no damaged or missing one: nothing may be built in its place. */
static void not_readable(const char *directory)
{
    char err[REBUILD_ERROR_MAX] = "";
    if (geteuid() != 0)
        return;
    CHECK_INT(chmod(scratch.root, 0755) | chmod(directory, 0755) | chmod(path, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        bool right = setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0 &&
                     daemon_rebuild_check(path, 0, err, sizeof err) == -EACCES &&
                     strstr(err, "Permission denied") != NULL;
        _exit(right ? 0 : 1);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(chmod(path, 0640), 0);
}

#define OF_TABLE(table) "DELETE FROM " table " WHERE id = (SELECT max(id) FROM " table ")"

int main(void)
{
    char directory[SCRATCH_MAX], err[REBUILD_ERROR_MAX] = "";
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    snprintf(altered, sizeof altered, "%s/altered.db", directory);
    make();
    CHECK_INT(daemon_rebuild_check(path, 0, err, sizeof err), 0);
    CHECK_STR(err, "");
    not_readable(directory);

    found(OF_TABLE("ledger"), "ledger: holds 126 rows, and should hold 127", false);
    found(OF_TABLE("orders"), "orders: holds 34 rows, and should hold 35", false);
    found(OF_TABLE("fills"), "fills: holds 41 rows, and should hold 42", false);
    found("DELETE FROM ledger WHERE id = 5", "ledger: holds 126 rows, and should hold 127", false);
    found("DELETE FROM commands WHERE id = 2", "commands: holds 2 rows, and should hold 3", true);
    found("DELETE FROM alerts WHERE id = 3", "alerts: holds 2 rows, and should hold 3", true);
    found("DELETE FROM symbols WHERE id = 2", "symbols: holds 1 rows, and should hold 2", true);
    found("DELETE FROM meta WHERE key = 'counts'", "meta: row counts: is missing", true);
    found("UPDATE meta SET value = 'many', hash = seal(2, key, 'many') WHERE key = 'counts'",
          "meta: row counts: does not say how many rows the tables hold", true);

    found("UPDATE ledger SET balance = 1 WHERE id = 20",
          "ledger: row 20: was altered: its values and its hash disagree", true);
    found("UPDATE ledger SET hash = zeroblob(32) WHERE id = 20",
          "ledger: row 20: was altered: its values and its hash disagree", true);
    found("UPDATE ledger SET balance = 1 WHERE id IN (20, 21)",
          "ledger: row 20: was altered: its values and its hash disagree", true);
    found("UPDATE ledger SET balance = 1 WHERE id = 1",
          "ledger: row 1: was altered: its values and its hash disagree", true);
    found("UPDATE orders SET qty = qty + 1 WHERE id = 3",
          "orders: row 3: was altered: its values and its hash disagree", true);
    found("UPDATE meta SET value = '7' WHERE key = 'paused'",
          "meta: row paused: was altered: its values and its hash disagree", true);
    found("UPDATE positions SET qty = 7 WHERE symbol = 2",
          "positions: row main ETHUSDT: was altered: its values and its hash disagree", true);
    return check_done("sound");
}
