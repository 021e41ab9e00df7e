/* Statements that are sent before they are queried, and others that are sent later than they were run:
 * several in one message, with one answer, as each takes a server over a network longer to hear of than to
 * do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/postgresql/postgresql_store.h"

static void finish_later(struct study_postgresql_later *later)
{
    for (int i = 0; i < later->n; i++)
        free(later->values[i]);
    later->n = 0;
}

void study_postgresql_drop_later(struct study_postgresql *store)
{
    for (int i = 0; i < store->n_later; i++)
        finish_later(&store->later[i]);
    store->n_later = 0;
}

/* Notes what a statement has written: how many rows. */
static int64_t note(struct study_postgresql *store, const PGresult *result, int which, int n,
                    const char *const *values)
{
    const char *done = study_postgresql_done(result) ? PQcmdStatus((PGresult *)result) : "SELECT";
    store->changed = strncmp(done, "SELECT", 6) == 0 ? 0 : atoll(PQcmdTuples((PGresult *)result));
    if (store->changed > 0)
        study_postgresql_wrote(store, which, values[0], n > 1 && values[1] ? values[1] : "");
    return store->changed;
}

/* ---- Pipelines. ---- */

/* The result of the next statement of a pipeline, which a NULL follows. */
static PGresult *next_of_pipeline(struct study_postgresql *store)
{
    PGresult *result = study_postgresql_arrived(store) ? PQgetResult(store->conn) : NULL, *more;
    while (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC && study_postgresql_arrived(store) &&
           (more = PQgetResult(store->conn)) != NULL)
        PQclear(more);
    return result;
}

/* Prepares what is to be sent. False: one cannot be, with its error. */
static bool prepare_all(struct study_postgresql *store, const enum study_sql_statement *which, int n,
                        PGresult **ret_error)
{
    *ret_error = NULL;
    bool all = store->conn != NULL;
    for (int i = 0; i < store->n_later && all; i++)
        all = study_postgresql_prepared(store, store->later[i].which, ret_error);
    for (int i = 0; i < n && all; i++)
        all = study_postgresql_prepared(store, which[i], ret_error);
    return all;
}

/* Begins a pipeline with what was to be sent later. */
static bool enter(struct study_postgresql *store)
{
    bool sent = PQenterPipelineMode(store->conn);
    for (int i = 0; i < store->n_later && sent; i++) {
        const struct study_postgresql_later *later = &store->later[i];
        sent = study_postgresql_send(store, later->which, later->n, (const char *const *)later->values);
    }
    return sent;
}

/* The answers to these. False: the first error, or NULL: the connection was lost. */
static bool take_later(struct study_postgresql *store, PGresult **ret_error)
{
    bool right = true;
    *ret_error = NULL;
    for (int i = 0; i < store->n_later && right; i++) {
        const struct study_postgresql_later *later = &store->later[i];
        PGresult *result = next_of_pipeline(store);
        right = study_postgresql_done(result);
        if (right) {
            note(store, result, later->which, later->n, (const char *const *)later->values);
            PQclear(result);
        } else {
            *ret_error = result;
        }
    }
    return right;
}

/* Reads up to the pipeline's end. A connection that did not take all of it, or does not end it, is as good as
 * lost: false. */
static bool leave(struct study_postgresql *store, bool sent)
{
    PGresult *result;
    bool end = false;
    while (sent && !end && (result = next_of_pipeline(store)) != NULL) {
        end = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
    }
    study_postgresql_drop_later(store);
    if (end && PQexitPipelineMode(store->conn))
        return true;
    PQfinish(store->conn);
    store->conn = NULL;
    return false;
}

void study_postgresql_prepare(struct study_postgresql *store)
{
    bool sent = true;
    if (store->readied || !study_postgresql_connected(store) || !PQenterPipelineMode(store->conn))
        return;
    store->readied = true;
    for (int i = 0; i < STUDY_POSTGRESQL_STATEMENTS && sent; i++)
        sent = store->prepared[i] || study_postgresql_send_prepare(store, i);
    sent = sent && PQpipelineSync(store->conn);
    for (int i = 0; i < STUDY_POSTGRESQL_STATEMENTS && sent; i++) {
        PGresult *result = store->prepared[i] ? NULL : next_of_pipeline(store);
        store->prepared[i] = store->prepared[i] || study_postgresql_done(result);
        PQclear(result);
    }
    leave(store, sent);
}

/* ---- Ahead. ---- */

void study_postgresql_forget(struct study_postgresql *store)
{
    for (int i = 0; i < STUDY_POSTGRESQL_STATEMENTS && store->n_ahead > 0; i++) {
        store->n_ahead -= store->ahead[i] != NULL;
        PQclear(store->ahead[i]);
        store->ahead[i] = NULL;
    }
    store->n_ahead = 0;
}

static void keep(struct study_postgresql *store, int which, PGresult *result)
{
    store->ahead[which] = result;
    store->n_ahead += result != NULL;
}

/* What fails here is the first query's to report: the connection is lost, or its result is the error of one
 * that was sent, or prepared, before. */
void study_postgresql_ahead(struct study_sql *sql, const enum study_sql_statement *which, int n,
                            const struct record_param *params)
{
    struct study_postgresql *store = study_postgresql_of(sql);
    PGresult *error;
    study_postgresql_forget(store);
    if (!prepare_all(store, which, n, &error)) {
        keep(store, which[0], error);
        return;
    }
    bool sent = enter(store);
    for (int i = 0; i < n && sent; i++) {
        struct study_postgresql_texts texts;
        study_postgresql_texts(which[i], params, &texts);
        sent = study_postgresql_send(store, which[i], texts.n, texts.values);
    }
    sent = sent && PQpipelineSync(store->conn);
    if (sent && !take_later(store, &error))
        keep(store, which[0], error);
    for (int i = 0; i < n && sent && !error; i++)
        keep(store, which[i], next_of_pipeline(store));
    if (!leave(store, sent))
        study_postgresql_forget(store);
}

/* ---- Later. ---- */

bool study_postgresql_flush(struct study_postgresql *store, PGresult **ret_error)
{
    if (!prepare_all(store, NULL, 0, ret_error))
        return false;
    bool sent = enter(store) && PQpipelineSync(store->conn);
    bool right = sent && take_later(store, ret_error);
    return leave(store, sent) && right;
}

PGresult *study_postgresql_run(struct study_postgresql *store, int which, int n, const char *const *values)
{
    PGresult *result = NULL;
    study_postgresql_forget(store);
    if (!store->conn || !study_postgresql_prepared(store, which, &result))
        return result;
    if (store->n_later == 0) {
        result = study_postgresql_result(store, study_postgresql_send(store, which, n, values));
    } else if (prepare_all(store, NULL, 0, &result)) {
        bool sent =
            enter(store) && study_postgresql_send(store, which, n, values) && PQpipelineSync(store->conn);
        if (sent && take_later(store, &result))
            result = next_of_pipeline(store);
        leave(store, sent);
    }
    store->changes += note(store, result, which, n, values);
    return result;
}

int study_postgresql_later(struct study_sql *sql, enum study_sql_statement which,
                           const struct record_param *params, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(sql);
    struct study_postgresql_texts texts;
    PGresult *error;
    if (store->n_later == STUDY_POSTGRESQL_LATER && !study_postgresql_flush(store, &error)) {
        int r = study_postgresql_fail(store, error, err);
        PQclear(error);
        return r;
    }
    struct study_postgresql_later *later = &store->later[store->n_later];
    study_postgresql_texts(which, params, &texts);
    later->which = (int)which;
    for (later->n = 0; later->n < texts.n; later->n++) {
        const char *value = texts.values[later->n];
        if (!(later->values[later->n] = value ? strdup(value) : NULL) && value) {
            finish_later(later);
            return study_store_fail(&sql->base, -ENOMEM, err, "no memory");
        }
    }
    study_postgresql_forget(store); /* what was read ahead is older */
    store->n_later++;
    store->changes++;
    return 0;
}
