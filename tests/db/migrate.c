/* Migrations: fresh, again, newer, another program's, and one that fails half-way. */
#include "db/migrate.h"

#include <errno.h>

#include "tests/db/fixture.h"
#include "tests/db/sql.h"

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

/* The whole file, to show that nothing was touched. */
static size_t contents(const char *path, unsigned char **ret)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *ret = malloc(size + 1);
    CHECK_INT(fread(*ret, 1, size, file), size);
    fclose(file);
    return size;
}

static void test_fresh(const char *path)
{
    char err[DB_ERROR_MAX] = "";
    int version = -1;
    sqlite3 *db = open_database(path);
    CHECK_INT(db_schema_check(db, db_migrations_count, &version, err, sizeof err), 0);
    CHECK_INT(version, 0);
    CHECK_INT(db_migrate(db, db_migrations, db_migrations_count, err, sizeof err), 0);
    CHECK_INT(sql_query(db, "PRAGMA user_version"), db_migrations_count);
    CHECK_INT(sql_query(db, "PRAGMA application_id"), DB_APPLICATION_ID);
    CHECK_INT(
        sql_query(db,
                  "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%%'"),
        51);
    CHECK_INT(
        sql_query(db,
                  "SELECT count(*) FROM pragma_table_list WHERE strict = 0 AND name NOT LIKE 'sqlite_%%'"),
        0);
    CHECK_INT(db_migrate(db, db_migrations, db_migrations_count, err, sizeof err), 0);
    CHECK_INT(db_schema_check(db, db_migrations_count, &version, err, sizeof err), 0);
    CHECK_INT(version, db_migrations_count);
    CHECK_STR(err, "");
    sqlite3_close(db);
}

/* Opening with a writer refuses, says why, and leaves every byte alone. */
static void refused(const char *path, int expected, const char *words)
{
    unsigned char *before, *after;
    size_t size_before = contents(path, &before);
    char err[DB_ERROR_MAX] = "";
    struct db_writer_config config = {0};
    struct db_writer *writer = NULL;
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), expected);
    CHECK(writer == NULL);
    if (!strstr(err, words))
        fprintf(stderr, "refused with: %s\n", err);
    CHECK(strstr(err, words) != NULL);
    size_t size_after = contents(path, &after);
    CHECK_INT(size_after, size_before);
    CHECK(memcmp(before, after, size_before) == 0);
    free(before);
    free(after);
}

static void test_newer(const char *path)
{
    char sql[64], words[64];
    sqlite3 *db = open_database(path);
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", db_migrations_count + 6);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    snprintf(words, sizeof words, "version %d is newer than %d", db_migrations_count + 6,
             db_migrations_count);
    refused(path, -EOVERFLOW, words);
}

static void test_foreign(const char *path)
{
    sqlite3 *db = open_database(path);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE orders (id INTEGER)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refused(path, -EMEDIUMTYPE, "another program");
}

static void test_no_database(const char *path)
{
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < 1000; i++)
        fputs("not a database\n", file);
    fclose(file);
    refused(path, -EMEDIUMTYPE, "not a database");
}

static void test_failing(const char *path)
{
    const struct db_migration migrations[] = {
        {"001_first", "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);"},
        {"002_second",
         "CREATE TABLE b (x INTEGER) STRICT; UPDATE a SET x = 2; INSERT INTO nowhere VALUES (1);"},
    };
    char err[DB_ERROR_MAX] = "";
    sqlite3 *db = open_database(path);
    CHECK_INT(db_migrate(db, migrations, 2, err, sizeof err), -EBADMSG);
    CHECK_STR(err, "002_second: no such table: nowhere");
    CHECK_INT(sql_query(db, "PRAGMA user_version"), 1);
    CHECK_INT(sql_query(db, "SELECT x FROM a"), 1);
    CHECK_INT(sql_query(db, "SELECT count(*) FROM sqlite_schema"), 1);
    CHECK(sqlite3_get_autocommit(db));

    const struct db_migration repaired[] = {migrations[0], {"002_second", "UPDATE a SET x = 3;"}};
    CHECK_INT(db_migrate(db, repaired, 2, err, sizeof err), 0);
    CHECK_INT(sql_query(db, "PRAGMA user_version"), 2);
    CHECK_INT(sql_query(db, "SELECT x FROM a"), 3);
    sqlite3_close(db);
}

int main(void)
{
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    static void (*const tests[])(const char *) = {test_fresh, test_foreign, test_no_database, test_failing};
    scratch_make(directory);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        snprintf(path, sizeof path, "%s/%zu.db", directory, i);
        tests[i](path);
    }
    snprintf(path, sizeof path, "%s/0.db", directory);
    test_newer(path);

    char err[DB_ERROR_MAX] = "";
    struct db_writer_config config = {0};
    struct db_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/absent/papertape.db", directory);
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), -ENOENT);
    CHECK_STR(err, "No such file or directory");
    return check_done("migrate");
}
