/* What an upgrade keeps: the database with the rows of its write-ahead log, and the log's segments; what is
 * removed. */
#include "db/former.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>

#include "db/backup.h"
#include "db/migrate.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

static struct state_dir state;

static const char *in_state(const char *name)
{
    static char paths[8][STATE_PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", state.path, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_state(name), "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static sqlite3 *database(const char *path)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

/* Of the first `version` migrations, with a row that is in the write-ahead log alone; it stays open. */
static sqlite3 *old_state(int version)
{
    char path[SCRATCH_MAX], err[DB_ERROR_MAX] = "";
    scratch_make(path);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    sqlite3 *db = database(state.database);
    CHECK_INT(db_migrate(db, db_migrations, version, err, sizeof err), 0);
    sql_exec(db, "PRAGMA journal_mode = WAL");
    sql_exec(db, "PRAGMA wal_autocheckpoint = 0");
    sql_exec(db, "CREATE TABLE probe (x)");
    sql_exec(db, "INSERT INTO probe VALUES (42)");
    put("events/00000001-x.journal", "one");
    put("events/00000002-x.journal", "two");
    put("policies/p", "policy");
    return db;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino;
}

static void test_kept(void)
{
    char folder[DB_FORMER_PATH_MAX] = "", err[DB_ERROR_MAX] = "";
    sqlite3 *db = old_state(7);
    CHECK_INT(db_former_schema(state.database), 7);
    CHECK_INT(db_former_keep(&state, 7, folder, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_STR(folder, in_state("former/schema-7"));
    CHECK(db_former_is(folder) && db_former_is(in_state("former/schema-7/")));
    CHECK(!db_former_is(state.path) && !db_former_is(in_state("former/schema-7/events")) &&
          !db_former_is("/"));
    CHECK(same_file(in_state("events/00000001-x.journal"),
                    in_state("former/schema-7/events/00000001-x.journal")));
    CHECK(same_file(in_state("events/00000002-x.journal"),
                    in_state("former/schema-7/events/00000002-x.journal")));
    CHECK(same_file(in_state("policies/p"), in_state("former/schema-7/policies/p")));
    CHECK(access(in_state("former/new"), F_OK) < 0);

    sql_exec(db, "UPDATE probe SET x = 43");
    CHECK_INT(db_former_keep(&state, 7, folder, err, sizeof err), 0); /* again: in place of it */
    CHECK_INT(db_migrate(db, db_migrations, db_migrations_count, err, sizeof err), 0);
    sqlite3_close(db);
    CHECK_INT(db_former_schema(state.database), 0);
    sqlite3 *copy = database(in_state("former/schema-7/papertape.db"));
    CHECK_INT(sql_query(copy, "PRAGMA user_version"), 7);
    CHECK_INT(sql_query(copy, "SELECT x FROM probe"), 43);
    sqlite3_close(copy);
}

/* Not one of ours, none, damaged, no room. */
static void test_not_kept(void)
{
    char folder[DB_FORMER_PATH_MAX] = "", err[DB_ERROR_MAX] = "";
    CHECK_INT(db_former_schema(scratch_path("absent.db")), 0);
    CHECK(access(scratch_path("absent.db"), F_OK) < 0);
    CHECK_INT(
        db_former_schema(scratch_write("text.db", "no database at all, and long enough to be read as one")),
        0);
    sqlite3_close(old_state(7));
    put("papertape.db", "no database at all, and long enough to be read as one");
    CHECK_INT(db_former_keep(&state, 7, folder, err, sizeof err), -EMEDIUMTYPE);
    CHECK(strstr(err, "papertape.db: ") != NULL);
    CHECK(access(in_state("former/new"), F_OK) < 0 && access(in_state("former/schema-7"), F_OK) < 0);
    CHECK_INT(rmdir(in_state("former")), 0);
    put("former", "a file");
    CHECK_INT(db_former_keep(&state, 7, folder, err, sizeof err), -ENOTDIR);
}

static void made_before(const char *folder, int64_t now_s, int days)
{
    const struct timeval at[2] = {{.tv_sec = now_s - days * 86400L}, {.tv_sec = now_s - days * 86400L}};
    CHECK_INT(mkdir(in_state(folder), 0700), 0);
    put("former/file", "");
    char from[STATE_PATH_MAX + 64], to[STATE_PATH_MAX + 96];
    snprintf(from, sizeof from, "%s", in_state("former/file"));
    snprintf(to, sizeof to, "%s/papertape.db", in_state(folder));
    CHECK_INT(rename(from, to), 0);
    CHECK_INT(utimes(in_state(folder), at), 0);
}

static void test_pruned(void)
{
    const int64_t now_s = 1800000000;
    sqlite3_close(old_state(7));
    CHECK_INT(db_former_prune(&state, now_s * 1000000000), 0);
    CHECK_INT(mkdir(in_state("former"), 0700), 0);
    made_before("former/schema-9", now_s, DB_FORMER_DAYS);
    made_before("former/schema-11", now_s, 0);
    made_before("former/new", now_s, 0);
    CHECK_INT(db_former_prune(&state, now_s * 1000000000), 0);
    CHECK(access(in_state("former/new"), F_OK) < 0);
    made_before("former/schema-10", now_s, 1);
    CHECK_INT(db_former_prune(&state, now_s * 1000000000), 1); /* two are newer */
    CHECK(access(in_state("former/schema-9"), F_OK) < 0);
    CHECK(access(in_state("former/schema-11/papertape.db"), F_OK) == 0);
    CHECK_INT(db_former_prune(&state, (now_s + DB_FORMER_DAYS * INT64_C(86400)) * 1000000000), 1);
    CHECK(access(in_state("former/schema-10"), F_OK) < 0);
    CHECK_INT(db_former_prune(&state, (now_s + DB_FORMER_DAYS * INT64_C(86400) + 1) * 1000000000), 1);
    CHECK(access(in_state("former/schema-11"), F_OK) < 0);
}

/* The copy that it and a backup make: of a file, not of what a link in its place names; a link above it is
 * the owner's way there. */
static void test_link(void)
{
    char way[SCRATCH_MAX], through[SCRATCH_MAX + 32], err[DB_ERROR_MAX] = "";
    sqlite3_close(old_state(7));
    snprintf(way, sizeof way, "%s", scratch_path("way"));
    snprintf(through, sizeof through, "%s/papertape.db", way);
    CHECK_INT(symlink("papertape.db", in_state("link.db")), 0);
    CHECK_INT(symlink(state.path, way), 0);
    CHECK(db_backup_is_database(state.database) && !db_backup_is_database(in_state("link.db")));
    for (int i = 0; i < 2; i++) {
        const struct db_backup_way how = {.only_read = i == 0};
        CHECK_INT(db_backup_copy(in_state("link.db"), in_state("copy.db"), how, err, sizeof err), -ELOOP);
        CHECK(strstr(err, "link.db: ") != NULL && access(in_state("copy.db"), F_OK) < 0);
        CHECK_INT(db_backup_copy(through, in_state("copy.db"), how, err, sizeof err), 0);
        CHECK_INT(unlink(in_state("copy.db")), 0);
    }
}

int main(void)
{
    test_link();
    test_kept();
    test_not_kept();
    test_pruned();
    return check_done("former");
}
