/* Checks that a file has Optuna's schema of the version that we know. An empty file gets it; one whose
 * creation was interrupted is completed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/studies/sql/schema_text.h"
#include "db/studies/sqlite/sqlite_store.h"
#include "exchange/fail.h"

#define SCHEMA \
    STUDY_SCHEMA("INTEGER", "VARCHAR(8)", "VARCHAR(8)", "VARCHAR(7)", "VARCHAR(7)", "FLOAT", "DATETIME")

/* All tables of the schema; how many of them there are, and how many others. */
static const char count_tables[] =
    "SELECT count(*) FILTER (WHERE known), count(*) FILTER (WHERE NOT known) FROM (SELECT name IN "
    "(" STUDY_SCHEMA_TABLES ") AS known FROM sqlite_schema WHERE "
    "type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\')";
static const char tables_columns[] =
    "SELECT s.name, (SELECT group_concat(name) FROM pragma_table_info(s.name)) FROM sqlite_schema AS s "
    "WHERE s.type = 'table' ORDER BY s.name";

/* The first row. 0, -ENOENT, or the database's error. */
static int ask(struct study_sqlite *store, const char *sql, const struct record_into *into,
               char err[static STUDY_ERROR_MAX])
{
    int rc = record_sqlite_ask(store->db, sql, NULL, into);
    return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? -ENOENT : study_sqlite_fail(store, rc, err);
}

static int foreign(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    return study_store_fail(&store->sql.base, -EMEDIUMTYPE, err,
                            "holds other tables than studies: Optuna's schema %d, or a new file, is needed",
                            STUDY_SCHEMA_VERSION);
}

static int check_version(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    char revision[33] = "", library[64] = "?";
    int64_t version = 0;
    int r = ask(store, "SELECT version_num FROM alembic_version",
                RECORD_INTO(record_into_chars(revision, sizeof revision)), err);
    if (r == 0)
        r = ask(store, "SELECT schema_version, library_version FROM version_info",
                RECORD_INTO(&version, record_into_chars(library, sizeof library)), err);
    if (r < 0)
        return r;
    return study_sql_check_version(&store->sql.base, version, revision, library, err);
}

/* The name of a table of ours that has other columns in the file than in `own`, a database of our schema. */
static int unlike_table(struct study_sqlite *store, sqlite3 *own, char *ret, size_t cap,
                        char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(own, tables_columns, -1, &stmt, NULL), r = -ENOENT;
    if (rc != SQLITE_OK)
        return study_store_fail(&store->sql.base, -EIO, err, "%.200s", sqlite3_errmsg(own));
    while (r == -ENOENT && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name, *columns;
        record_sqlite_take(stmt, RECORD_INTO(&name, &columns));
        char *ask_one =
            sqlite3_mprintf("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = %Q AND "
                            "(SELECT group_concat(name) FROM pragma_table_info(%Q)) IS NOT %Q",
                            name, name, columns);
        r = ask_one ? ask(store, ask_one, RECORD_INTO(record_into_chars(ret, cap)), err) : -ENOMEM;
        sqlite3_free(ask_one);
    }
    sqlite3_finalize(stmt);
    return r == -ENOMEM ? study_store_fail(&store->sql.base, r, err, "no memory") : r;
}

/* Are all existing tables like ours? */
static int check_tables(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    char table[64] = "";
    sqlite3 *own = NULL;
    int rc = sqlite3_open(":memory:", &own);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(own, SCHEMA, NULL, NULL, NULL);
    int r = rc == SQLITE_OK ? unlike_table(store, own, table, sizeof table, err)
                            : study_store_fail(&store->sql.base, -ENOMEM, err, "no memory for its schema");
    sqlite3_close(own);
    if (r == 0)
        return study_store_fail(&store->sql.base, -EMEDIUMTYPE, err,
                                "its tables are not Optuna's (%.64s has other columns): schema %d, or a new "
                                "file, is needed",
                                table, STUDY_SCHEMA_VERSION);
    return r == -ENOENT ? 0 : r;
}

/* 0: it is complete; 1: it must be created, or completed. */
static int look(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    int64_t known, others, versions, revisions;
    int r = ask(store, count_tables, RECORD_INTO(&known, &others), err);
    if (r < 0)
        return r;
    if (known == 0 && others == 0)
        return 1;
    /* Others' tables in addition to Optuna's do no harm. */
    if (known < STUDY_SCHEMA_N_TABLES && others > 0)
        return foreign(store, err);
    if (known < STUDY_SCHEMA_N_TABLES)
        return (r = check_tables(store, err)) < 0 ? r : 1;
    r = ask(store, "SELECT (SELECT count(*) FROM version_info), (SELECT count(*) FROM alembic_version)",
            RECORD_INTO(&versions, &revisions), err);
    if (r < 0)
        return r;
    return versions > 0 && revisions > 0 ? check_version(store, err) : 1;
}

/* Tables of the same names that are not Optuna's lack a column that a statement needs. */
static int unlike(struct study_sqlite *store, int rc, char err[static STUDY_ERROR_MAX])
{
    if (rc != SQLITE_ERROR)
        return study_sqlite_fail(store, rc, err);
    return study_store_fail(&store->sql.base, -EMEDIUMTYPE, err,
                            "its tables are not Optuna's (%.100s): schema %d, or a new file, is needed",
                            sqlite3_errmsg(store->db), STUDY_SCHEMA_VERSION);
}

static int prepare_all(struct study_sqlite *store, const char *const *texts, int n, sqlite3_stmt **ret,
                       char err[static STUDY_ERROR_MAX])
{
    for (int i = 0; i < n; i++) {
        int rc = sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &ret[i], NULL);
        if (rc != SQLITE_OK)
            return unlike(store, rc, err);
    }
    return 0;
}

/* The index has a study's trials in the order of their ids. */
#define TRIALS "trials AS t INDEXED BY ix_trials_study_id"
#define NO_LOCK(clause)
#define TEXT(name, text) text,

static int prepare(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    static const char *const texts[] = {STUDY_STATEMENTS(TEXT, TRIALS, " CROSS JOIN ", NO_LOCK)};
    static const char *const own[] = {STUDY_SQLITE_STATEMENTS(TEXT)};
    int r = prepare_all(store, texts, STUDY_SQL_STATEMENTS, store->statements, err);
    return r < 0 ? r : prepare_all(store, own, STUDY_SQLITE_OWN, store->own, err);
}

int study_sqlite_schema(struct study_sqlite *store, char err[static STUDY_ERROR_MAX])
{
    int r = look(store, err);
    if (r == 0)
        return prepare(store, err);
    if (r < 0)
        return r;
    if (store->sql.base.mode == STUDY_STORE_READ)
        return study_store_fail(&store->sql.base, -ENOENT, err, "holds no studies yet");
    int rc = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return study_sqlite_fail(store, rc, err);
    r = look(store, err); /* another process may have been first */
    if (r == 1) {
        rc = sqlite3_exec(store->db, SCHEMA STUDY_SCHEMA_ROWS, NULL, NULL, NULL);
        r = rc == SQLITE_OK ? check_version(store, err) : unlike(store, rc, err);
    }
    if (r == 0)
        r = prepare(store, err);
    rc = r == 0 ? sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) : SQLITE_OK;
    if (rc != SQLITE_OK)
        r = study_sqlite_fail(store, rc, err);
    if (r < 0)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int study_sqlite_same_schema(struct study_sql *sql, int64_t data_version, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *store = study_sqlite_of(sql);
    char revision[sizeof STUDY_SCHEMA_REVISION + 1] = "";
    int64_t version = 0;
    if (store->schema_at == data_version)
        return 0;
    int r = study_sql_first(sql, STUDY_SQL_SCHEMA, NULL,
                            RECORD_INTO(&version, record_into_chars(revision, sizeof revision)), err);
    if (r < 0 && r != -ENOENT)
        return r;
    bool same = version == STUDY_SCHEMA_VERSION && strcmp(revision, STUDY_SCHEMA_REVISION) == 0;
    r = same ? 0 : check_version(store, err);
    if (r == 0)
        store->schema_at = data_version;
    return r == -ENOENT ? foreign(store, err) : r;
}
