/* Statements, their parameters and rows, and what an error of the server is here. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/postgresql/postgresql_store.h"

enum { NUMBER_MAX = 32, PARAMS_MAX = 9 /* ?1 to ?9 */, NAME_MAX_ = 24 };

#define TRIALS           "trials AS t"
#define LOCK(clause)     clause
#define TEXT(name, text) text,
static const char *const texts[] = {STUDY_STATEMENTS(TEXT, TRIALS, " JOIN ", LOCK)};

/* ---- Errors. ---- */

static const struct {
    const char *state; /* SQLSTATE, or its first two characters */
    int error;
} errors[] = {
    {"08", -ECONNRESET},     {"57P01", -ECONNRESET}, {"57P02", -ECONNRESET},  {"57P03", -ECONNRESET},
    {"55P03", -EBUSY},       {"40P01", -EBUSY},      {"40001", -EBUSY},       {"57014", -EINTR},
    {"42501", -EACCES},      {"25006", -EROFS},      {"42P01", -EMEDIUMTYPE}, {"42703", -EMEDIUMTYPE},
    {"42804", -EMEDIUMTYPE}, {"53100", -ENOSPC},     {"53", -ENOMEM},         {"22", -ERANGE},
    {"23", -EBADMSG},
};

static int error_of(const char *state)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strncmp(state, errors[i].state, strlen(errors[i].state)) == 0)
            return errors[i].error;
    return -EIO;
}

int study_postgresql_fail(struct study_postgresql *store, const PGresult *result,
                          char err[static STUDY_ERROR_MAX])
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    int r = state ? error_of(state) : study_postgresql_connected(store) ? -EIO : -ECONNRESET;
    said = said ? said : "the server ended it";
    switch (r) {
    case -ECONNRESET:
        return study_store_fail(&store->sql.base, r, err, "the connection was lost (%.200s)", said);
    case -EBUSY:
        return study_sql_fail_busy(&store->sql.base, store->busy_ms, err);
    case -EACCES:
        return study_store_fail(&store->sql.base, r, err, "%.200s: a user that may would be right", said);
    case -EROFS:
        return study_store_fail(&store->sql.base, r, err, "is read-only (%.200s)", said);
    case -EMEDIUMTYPE:
        return study_store_fail(&store->sql.base, r, err,
                                "its tables are not Optuna's (%.200s): another database, or another schema "
                                "of it, is needed",
                                said);
    default:
        return study_store_fail(&store->sql.base, r, err, "%.300s", said);
    }
}

/* ---- Running. ---- */

static void cancel(struct study_postgresql *store)
{
    char ignored[256];
    PGcancel *request = PQgetCancel(store->conn);
    if (request)
        PQcancel(request, ignored, sizeof ignored);
    PQfreeCancel(request);
}

/* Until a result is there. False: the connection was lost. */
static bool await(struct study_postgresql *store)
{
    bool cancelled = false;
    while (PQisBusy(store->conn)) {
        struct pollfd fd = {.fd = PQsocket(store->conn), .events = POLLIN};
        int ready = poll(&fd, 1, store->stop ? STUDY_POSTGRESQL_LOOK_MS : -1);
        if (ready == 0 && !cancelled && study_postgresql_stopped(store)) {
            cancel(store);
            cancelled = true;
        }
        if (ready > 0 && !PQconsumeInput(store->conn))
            return false;
    }
    return true;
}

/* The first error of what was sent, or else its last result. */
static PGresult *result_of(struct study_postgresql *store, int sent)
{
    PGresult *last = NULL, *result;
    if (!sent)
        return NULL;
    while (await(store) && (result = PQgetResult(store->conn))) {
        if (last && PQresultStatus(last) == PGRES_FATAL_ERROR) {
            PQclear(result);
            continue;
        }
        PQclear(last);
        last = result;
    }
    return last;
}

static bool is_done(const PGresult *result)
{
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

PGresult *study_postgresql_exec(struct study_postgresql *store, const char *text)
{
    study_postgresql_forget(store);
    return store->conn ? result_of(store, PQsendQuery(store->conn, text)) : NULL;
}

int study_postgresql_command(struct study_postgresql *store, const char *text,
                             char err[static STUDY_ERROR_MAX])
{
    int r = study_postgresql_ask(store, text, NULL, err);
    return r == -ENOENT ? 0 : r;
}

int study_postgresql_ask(struct study_postgresql *store, const char *text, const struct record_into *into,
                         char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = {.of = study_postgresql_exec(store, text)};
    int r = study_postgresql_next(&store->sql, &rows, into, err);
    if (r > 0)
        study_postgresql_end(&rows);
    return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

/* SQLite's parameters, ?1, are PostgreSQL's $1; no statement has a "?" of its own. */
static PGresult *prepare(struct study_postgresql *store, enum study_sql_statement which, const char *name)
{
    char *text = strdup(texts[which]);
    if (!text)
        return NULL;
    for (char *at = text; (at = strchr(at, '?')) != NULL;)
        *at = '$';
    PGresult *result = result_of(store, PQsendPrepare(store->conn, name, text, 0, NULL));
    free(text);
    return result;
}

static void name_of(enum study_sql_statement which, char ret[static NAME_MAX_])
{
    snprintf(ret, NAME_MAX_, "papertape_%d", (int)which);
}

/* Unless it is already: its error, for PQclear(), or NULL. False: it failed. */
static bool is_prepared(struct study_postgresql *store, enum study_sql_statement which, PGresult **ret_error)
{
    char name[NAME_MAX_];
    *ret_error = NULL;
    if (store->prepared[which])
        return true;
    name_of(which, name);
    PGresult *result = prepare(store, which, name);
    store->prepared[which] = is_done(result);
    if (store->prepared[which])
        PQclear(result);
    else
        *ret_error = result;
    return store->prepared[which];
}

/* How many it takes. */
static int parameters_of(enum study_sql_statement which)
{
    int n = 0;
    for (const char *at = texts[which]; (at = strchr(at, '?')) != NULL; at++)
        n = at[1] - '0' > n ? at[1] - '0' : n;
    return n;
}

struct texts {
    char numbers[PARAMS_MAX][NUMBER_MAX];
    const char *values[PARAMS_MAX];
    int n;
};

/* As many of `params` as the statement takes; texts are borrowed. */
static void write_params(enum study_sql_statement which, const struct record_param *params, struct texts *ret)
{
    int wanted = parameters_of(which), n = 0;
    for (; n < wanted && params && params[n].kind != RECORD_PARAMS_END; n++) {
        ret->values[n] = params[n].kind == RECORD_PARAM_TEXT ? params[n].bytes : ret->numbers[n];
        if (params[n].kind == RECORD_PARAM_REAL)
            snprintf(ret->numbers[n], NUMBER_MAX, "%.17g", params[n].real);
        else
            snprintf(ret->numbers[n], NUMBER_MAX, "%lld", (long long)params[n].number);
    }
    ret->n = n;
}

static int send(struct study_postgresql *store, enum study_sql_statement which, const struct texts *params)
{
    char name[NAME_MAX_];
    name_of(which, name);
    return PQsendQueryPrepared(store->conn, name, params->n, params->values, NULL, NULL, 0);
}

struct study_rows study_postgresql_query(struct study_sql *sql, enum study_sql_statement which,
                                         const struct record_param *params)
{
    struct study_postgresql *store = study_postgresql_of(sql);
    struct study_rows rows = {.which = which};
    PGresult *error;
    if (store->n_ahead > 0 && store->ahead[which]) {
        rows.of = store->ahead[which];
        store->ahead[which] = NULL;
        store->n_ahead--;
        return rows;
    }
    study_postgresql_forget(store);
    if (!store->conn)
        return rows;
    if (!is_prepared(store, which, &error)) {
        rows.of = error;
        return rows;
    }
    struct texts sent;
    write_params(which, params, &sent);
    rows.of = result_of(store, send(store, which, &sent));
    const char *done = is_done(rows.of) ? PQcmdStatus(rows.of) : "SELECT";
    store->changed = strncmp(done, "SELECT", 6) == 0 ? 0 : atoll(PQcmdTuples(rows.of));
    store->changes += store->changed;
    if (store->changed > 0)
        study_postgresql_wrote(store, which, sent.values[0], sent.n > 1 ? sent.values[1] : "");
    return rows;
}

void study_postgresql_forget(struct study_postgresql *store)
{
    for (int i = 0; i < STUDY_SQL_STATEMENTS && store->n_ahead > 0; i++) {
        store->n_ahead -= store->ahead[i] != NULL;
        PQclear(store->ahead[i]);
        store->ahead[i] = NULL;
    }
    store->n_ahead = 0;
}

/* The result of the next statement of a pipeline, which a NULL follows. */
static PGresult *next_of_pipeline(struct study_postgresql *store)
{
    PGresult *result = await(store) ? PQgetResult(store->conn) : NULL, *more;
    while (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC && await(store) &&
           (more = PQgetResult(store->conn)) != NULL)
        PQclear(more);
    return result;
}

/* What fails here is the query's to report: the connection is lost, or the statement is sent again. */
void study_postgresql_ahead(struct study_sql *sql, const enum study_sql_statement *which, int n,
                            const struct record_param *params)
{
    struct study_postgresql *store = study_postgresql_of(sql);
    PGresult *error = NULL;
    int sent = 0;
    study_postgresql_forget(store);
    for (int i = 0; i < n; i++)
        if (!store->conn || !is_prepared(store, which[i], &error)) {
            PQclear(error);
            return;
        }
    if (!PQenterPipelineMode(store->conn))
        return;
    for (; sent < n; sent++) {
        struct texts texts_of;
        write_params(which[sent], params, &texts_of);
        if (!send(store, which[sent], &texts_of))
            break;
    }
    bool all = PQpipelineSync(store->conn);
    for (int i = 0; i < sent && all; i++)
        if ((store->ahead[which[i]] = next_of_pipeline(store)) != NULL)
            store->n_ahead++;
    PGresult *last = all ? next_of_pipeline(store) : NULL;
    PQclear(last);
    if (!PQexitPipelineMode(store->conn)) /* only if it was lost */
        study_postgresql_forget(store);
}

int study_postgresql_next(struct study_sql *sql, struct study_rows *rows, const struct record_into *into,
                          char err[static STUDY_ERROR_MAX])
{
    int r = is_done(rows->of) ? 0 : study_postgresql_fail(study_postgresql_of(sql), rows->of, err);
    if (r == 0 && rows->at < PQntuples(rows->of)) {
        rows->at++;
        study_postgresql_take(rows, into);
        return 1;
    }
    study_postgresql_end(rows);
    return r;
}

void study_postgresql_end(struct study_rows *rows)
{
    PQclear(rows->of);
    rows->of = NULL;
}

void study_postgresql_take(const struct study_rows *rows, const struct record_into *into)
{
    int row = rows->at - 1;
    for (int at = 0; into && into->kind != RECORD_INTO_END; at++, into++) {
        bool null = PQgetisnull(rows->of, row, at);
        const char *text = PQgetvalue(rows->of, row, at);
        switch (into->kind) {
        case RECORD_INTO_INT:
            *(int *)into->at = atoi(text);
            break;
        case RECORD_INTO_BOOL:
            *(bool *)into->at = *text == 't';
            break;
        case RECORD_INTO_REAL:
            *(double *)into->at = null ? (double)NAN : strtod(text, NULL);
            break;
        case RECORD_INTO_STRING:
            *(const char **)into->at = null ? NULL : text;
            break;
        case RECORD_INTO_CHARS:
            snprintf(into->at, into->size, "%s", text);
            break;
        case RECORD_INTO_BYTES: /* no column of studies is one */
            break;
        default:
            *(int64_t *)into->at = atoll(text);
        }
    }
}
