/* Statements, their parameters and rows, and what an error of the server is here. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/postgresql/postgresql_store.h"

enum { NAME_MAX_ = 24 };

#define TRIALS           "trials AS t"
#define LOCK(clause)     clause
#define TEXT(name, text) text,
static const char *const texts[] = {STUDY_STATEMENTS(TEXT, TRIALS, " JOIN ", LOCK)
                                        STUDY_POSTGRESQL_OWN(TEXT)};

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
    int r = state                               ? error_of(state)
            : study_postgresql_stopped(store)   ? -EINTR
            : study_postgresql_connected(store) ? -EIO
                                                : -ECONNRESET;
    said = said ? said : "the server ended it";
    switch (r) {
    case -EINTR:
        return study_store_fail(&store->sql.base, r, err, "was interrupted");
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

/* PQcancel() would wait for a server that does not answer; one that does ends the statement when it sends the
 * rows of it. */
bool study_postgresql_arrived(struct study_postgresql *store)
{
    while (PQisBusy(store->conn)) {
        struct pollfd fd = {.fd = PQsocket(store->conn), .events = POLLIN};
        int ready = poll(&fd, 1, store->sql.base.waits.stop ? STUDY_POSTGRESQL_LOOK_MS : -1);
        if (ready == 0 && study_postgresql_stopped(store)) {
            PQfinish(store->conn);
            store->conn = NULL;
            return false;
        }
        if (ready > 0 && !PQconsumeInput(store->conn))
            return false;
    }
    return true;
}

PGresult *study_postgresql_result(struct study_postgresql *store, bool sent)
{
    PGresult *last = NULL, *result;
    bool lost = false;
    if (!sent)
        return NULL;
    while (!(lost = !study_postgresql_arrived(store)) && (result = PQgetResult(store->conn))) {
        if (last && PQresultStatus(last) == PGRES_FATAL_ERROR) {
            PQclear(result);
            continue;
        }
        PQclear(last);
        last = result;
    }
    if (lost && last && PQresultStatus(last) != PGRES_FATAL_ERROR) {
        PQclear(last);
        last = NULL;
    }
    return last;
}

bool study_postgresql_done(const PGresult *result)
{
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

PGresult *study_postgresql_exec(struct study_postgresql *store, const char *text)
{
    PGresult *error;
    study_postgresql_forget(store);
    if (store->n_later > 0 && !study_postgresql_flush(store, &error))
        return error;
    return store->conn ? study_postgresql_result(store, PQsendQuery(store->conn, text)) : NULL;
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

static void name_of(int which, char ret[static NAME_MAX_])
{
    snprintf(ret, NAME_MAX_, "papertape_%d", which);
}

bool study_postgresql_send_prepare(struct study_postgresql *store, int which)
{
    char name[NAME_MAX_], *text = strdup(texts[which]);
    if (!text)
        return false;
    name_of(which, name);
    /* SQLite's parameters, ?1, are PostgreSQL's $1; no statement has a "?" of its own. */
    for (char *at = text; (at = strchr(at, '?')) != NULL;)
        *at = '$';
    bool sent = PQsendPrepare(store->conn, name, text, 0, NULL);
    free(text);
    return sent;
}

bool study_postgresql_prepared(struct study_postgresql *store, int which, PGresult **ret_error)
{
    *ret_error = NULL;
    if (store->prepared[which])
        return true;
    PGresult *result = study_postgresql_result(store, study_postgresql_send_prepare(store, which));
    store->prepared[which] = study_postgresql_done(result);
    if (store->prepared[which])
        PQclear(result);
    else
        *ret_error = result;
    return store->prepared[which];
}

/* How many it takes. */
static int parameters_of(int which)
{
    int n = 0;
    for (const char *at = texts[which]; (at = strchr(at, '?')) != NULL; at++)
        n = at[1] - '0' > n ? at[1] - '0' : n;
    return n;
}

void study_postgresql_texts(int which, const struct record_param *params, struct study_postgresql_texts *ret)
{
    int wanted = parameters_of(which), n = 0;
    for (; n < wanted && params && params[n].kind != RECORD_PARAMS_END; n++) {
        ret->values[n] = params[n].kind == RECORD_PARAM_TEXT ? params[n].bytes : ret->numbers[n];
        if (params[n].kind == RECORD_PARAM_REAL)
            snprintf(ret->numbers[n], STUDY_POSTGRESQL_NUMBER, "%.17g", params[n].real);
        else
            snprintf(ret->numbers[n], STUDY_POSTGRESQL_NUMBER, "%lld", (long long)params[n].number);
    }
    ret->n = n;
}

bool study_postgresql_send(struct study_postgresql *store, int which, int n, const char *const *values)
{
    char name[NAME_MAX_];
    name_of(which, name);
    return PQsendQueryPrepared(store->conn, name, n, values, NULL, NULL, 0);
}

struct study_rows study_postgresql_query(struct study_sql *sql, enum study_sql_statement which,
                                         const struct record_param *params)
{
    struct study_postgresql *store = study_postgresql_of(sql);
    struct study_rows rows = {.which = which};
    if (store->n_ahead > 0 && store->ahead[which]) {
        rows.of = store->ahead[which];
        store->ahead[which] = NULL;
        store->n_ahead--;
        return rows;
    }
    struct study_postgresql_texts sent;
    study_postgresql_texts(which, params, &sent);
    rows.of = study_postgresql_run(store, which, sent.n, sent.values);
    return rows;
}

int study_postgresql_next(struct study_sql *sql, struct study_rows *rows, const struct record_into *into,
                          char err[static STUDY_ERROR_MAX])
{
    int r =
        study_postgresql_done(rows->of) ? 0 : study_postgresql_fail(study_postgresql_of(sql), rows->of, err);
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
