/* Checks that a database has Optuna's schema of the version that we know; one without it gets it, beside
 * whatever else its schema has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "db/studies/sql/schema_text.h"

/* ADVISORY: of the lock under which tables are created, "papertap". ATTEMPTS: to create them while Optuna,
 * which takes no lock, does. */
#define ADVISORY "8097870286567498096"
enum { ATTEMPTS = 20, NAP_US = 100000 };

/* clang-format off */
#define ENUM(name, values) \
    "DO $$BEGIN CREATE TYPE " name " AS ENUM (" values "); EXCEPTION WHEN duplicate_object THEN NULL; END$$;\n"
static const char create[] =
    "SET client_min_messages = warning;\n"
    ENUM("studydirection", "'NOT_SET', 'MINIMIZE', 'MAXIMIZE'")
    ENUM("trialstate", "'RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING'")
    ENUM("trialvaluetype", "'FINITE', 'INF_POS', 'INF_NEG'")
    ENUM("trialintermediatevaluetype", "'FINITE', 'INF_POS', 'INF_NEG', 'NAN'")
    STUDY_SCHEMA("SERIAL", "studydirection", "trialstate", "trialvaluetype", "trialintermediatevaluetype",
                 "DOUBLE PRECISION", "TIMESTAMP WITHOUT TIME ZONE")
    STUDY_SCHEMA_ROWS;
/* clang-format on */

/* Every column that a statement names. */
static const char columns[] =
    "SELECT study_id, study_name FROM studies WHERE false; "
    "SELECT direction::studydirection, study_id, objective FROM study_directions WHERE false; "
    "SELECT study_id, \"key\", value_json FROM study_user_attributes WHERE false; "
    "SELECT study_id, \"key\", value_json FROM study_system_attributes WHERE false; "
    "SELECT trial_id, number, study_id, state::trialstate, datetime_start, datetime_complete FROM trials "
    "WHERE false; "
    "SELECT trial_id, \"key\", value_json FROM trial_user_attributes WHERE false; "
    "SELECT trial_id, \"key\", value_json FROM trial_system_attributes WHERE false; "
    "SELECT param_id, trial_id, param_name, param_value, distribution_json FROM trial_params WHERE false; "
    "SELECT trial_id, objective, value, value_type FROM trial_values WHERE false; "
    "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM trial_intermediate_values "
    "WHERE false; "
    "SELECT trial_id, heartbeat FROM trial_heartbeats WHERE false; "
    "SELECT schema_version, library_version FROM version_info WHERE false";

static const char count_tables[] =
    "SELECT count(*), count(*) FILTER (WHERE relname = 'alembic_version') FROM pg_class WHERE relname IN "
    "(" STUDY_SCHEMA_TABLES ") AND relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')";

static int check_version(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char revision[33] = "", library[64] = "?";
    int64_t version = 0;
    int r = study_sql_first(&store->sql, STUDY_SQL_SCHEMA, NULL,
                            RECORD_INTO(&version, record_into_chars(revision, sizeof revision),
                                        record_into_chars(library, sizeof library)),
                            err);
    return r < 0 ? r : study_sql_check_version(&store->sql.base, version, revision, library, err);
}

/* 0: it is complete; 1: it must be created, or completed. */
static int look(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    int64_t known, revisions;
    int r = study_postgresql_ask(store, count_tables, RECORD_INTO(&known, &revisions), err);
    if (r == -ENOENT) /* current_schema() is null */
        return study_store_fail(&store->sql.base, -EMEDIUMTYPE, err,
                                "has no schema of its search_path: one that exists is needed");
    if (r < 0 || known == 0)
        return r < 0 ? r : 1;
    /* Optuna creates the table of the revision last. */
    if (known < STUDY_SCHEMA_N_TABLES - (revisions == 0))
        return study_store_fail(&store->sql.base, -EMEDIUMTYPE, err,
                                "has other tables of the names of Optuna's: another database, or another "
                                "schema of it, is needed");
    r = study_postgresql_command(store, columns, err);
    if (r < 0 || revisions == 0)
        return r < 0 ? r : 1;
    r = check_version(store, err);
    return r == -ENOENT ? 1 : r;
}

/* -EAGAIN: another process has created something of it since. */
static int create_once(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char ignored[STUDY_ERROR_MAX];
    int r = study_postgresql_command(store, "BEGIN; SELECT pg_advisory_xact_lock(" ADVISORY ")", err);
    if (r == 0)
        r = look(store, err); /* another process may have been first */
    if (r == 1) {
        PGresult *result = study_postgresql_exec(store, create);
        ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
        const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
        bool raced = state && (strcmp(state, "23505") == 0 || strcmp(state, "42P07") == 0);
        r = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0
            : raced                                                 ? -EAGAIN
                    : study_postgresql_fail(store, result, err);
        PQclear(result);
    }
    if (r == 0)
        r = check_version(store, err);
    if (r == 0)
        r = study_postgresql_command(store, "COMMIT", err);
    if (r < 0)
        study_postgresql_command(store, "ROLLBACK", ignored);
    return r;
}

int study_postgresql_schema(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    int r = look(store, err);
    if (r <= 0)
        return r;
    if (store->sql.base.mode == STUDY_STORE_READ)
        return study_store_fail(&store->sql.base, -ENOENT, err, "holds no studies yet");
    study_store_fail(&store->sql.base, r, err, "other processes create its tables");
    for (int i = 0; i < ATTEMPTS; i++) {
        r = create_once(store, err);
        if (r != -EAGAIN)
            break;
        usleep(NAP_US);
    }
    return r;
}

int study_postgresql_same_schema(struct study_sql *sql, int64_t data_version,
                                 char err[static STUDY_ERROR_MAX])
{
    (void)data_version; /* it differs nearly each time */
    int r = check_version(study_postgresql_of(sql), err);
    return r == -ENOENT
               ? study_store_fail(&sql->base, -EMEDIUMTYPE, err, "has no version of Optuna's any more")
               : r;
}
