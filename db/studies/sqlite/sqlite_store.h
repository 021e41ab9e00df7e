/* Studies in a SQLite file. The journal mode and all else are as Optuna leaves them: no pragma is set, and
 * the schema has nothing of ours. Private to db/studies/sqlite/. */
#ifndef DB_STUDIES_SQLITE_STORE_H
#define DB_STUDIES_SQLITE_STORE_H

#include <sqlite3.h>

#include "db/studies/sql/sql_store.h"

/* Statements that are SQLite's alone. */
#define STUDY_SQLITE_STATEMENTS(X) \
    X(BEGIN_READ, "BEGIN") \
    X(BEGIN_WRITE, "BEGIN IMMEDIATE") \
    X(COMMIT, "COMMIT") \
    X(ROLLBACK, "ROLLBACK") \
    X(DATA_VERSION, "PRAGMA data_version")
#define STUDY_SQLITE_ID_(name, text) STUDY_SQLITE_##name,
enum study_sqlite_own { STUDY_SQLITE_STATEMENTS(STUDY_SQLITE_ID_) STUDY_SQLITE_OWN };

struct study_sqlite {
    struct study_sql sql;
    sqlite3 *db;
    sqlite3_stmt *statements[STUDY_SQL_STATEMENTS], *own[STUDY_SQLITE_OWN];
    int64_t schema_at; /* the data_version at which the schema was checked */
    int busy_ms;
    double busy_since_s, ended_s;
    double usual_s; /* how long begin() waits, a running mean */
    int polite;     /* transactions that let other processes go first */
    bool committing;
};

static inline struct study_sqlite *study_sqlite_of(struct study_sql *store)
{
    return (struct study_sqlite *)store;
}

static inline const struct study_sqlite *study_sqlite_of_const(const struct study_sql *store)
{
    return (const struct study_sqlite *)store;
}

/* -errno of a result code, and a sentence from SQLite's message. */
int study_sqlite_fail(struct study_sqlite *store, int rc, char err[static STUDY_ERROR_MAX]);

/* schema.c: 0, or the errors of study_store_open(). Creates it where there is none. */
int study_sqlite_schema(struct study_sqlite *store, char err[static STUDY_ERROR_MAX]);
/* struct study_sql_driver's. */
int study_sqlite_same_schema(struct study_sql *sql, int64_t data_version, char err[static STUDY_ERROR_MAX]);

#endif
