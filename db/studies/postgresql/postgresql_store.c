#include "db/studies/postgresql/postgresql_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/postgresql/lazy_pq.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum {
    REREAD = 256, /* six answers over a network take as long as some hundred trials */
};

/* ---- Transactions. ---- */

/* BEGIN; as a connection's first one after its statements are prepared. */
static int begin_once(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    study_postgresql_prepare(store);
    return study_postgresql_connected(store)
               ? study_postgresql_command(store, "BEGIN", err)
               : study_store_fail(&store->sql.base, -ECONNRESET, err, "the connection was lost");
}

static int begin(struct study_store *base, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    study_sql_release(&store->sql);
    study_postgresql_drop_later(store);
    study_postgresql_forget_row(store); /* of a transaction before */
    int r = begin_once(store, err);
    while (r == -ECONNRESET) {
        study_sql_rolled_back(&store->sql);
        r = study_postgresql_wait(store, err);
        if (r == 0)
            r = begin_once(store, err);
    }
    return r;
}

static void rollback(struct study_store *base)
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    char ignored[STUDY_ERROR_MAX];
    study_sql_rolled_back(&store->sql);
    study_postgresql_drop_later(store);
    if (store->conn && PQtransactionStatus(store->conn) != PQTRANS_IDLE)
        study_postgresql_command(store, "ROLLBACK", ignored);
}

static int commit(struct study_store *base, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    int64_t transaction = 0;
    study_sql_release(&store->sql);
    int r = study_sql_first(&store->sql, (enum study_sql_statement)STUDY_POSTGRESQL_END_OF_WRITE, NULL,
                            RECORD_INTO(&transaction), err);
    if (r < 0 && r != -ENOENT)
        return r;
    PGresult *result = study_postgresql_exec(store, "COMMIT");
    bool committed = result && PQresultStatus(result) == PGRES_COMMAND_OK;
    if (committed && strcmp(PQcmdStatus(result), "COMMIT") == 0)
        r = 0;
    else if (committed)
        r = study_store_fail(base, -EIO, err, "the transaction was rolled back by the server");
    else
        r = study_postgresql_fail(store, result, err);
    PQclear(result);
    return r == -ECONNRESET && transaction > 0 ? study_postgresql_outcome(store, transaction, err) : r;
}

static int begin_read(struct study_sql *sql, char err[static STUDY_ERROR_MAX])
{
    return study_postgresql_command(study_postgresql_of(sql),
                                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
}

static int end_read(struct study_sql *sql, char err[static STUDY_ERROR_MAX])
{
    return study_postgresql_command(study_postgresql_of(sql), "COMMIT", err);
}

static int again(struct study_store *base, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    study_sql_rolled_back(&store->sql);
    return study_postgresql_connected(store) ? 0 : study_postgresql_wait(store, err);
}

/* ---- The rest of the driver. ---- */

static int64_t changed(const struct study_sql *sql)
{
    return ((const struct study_postgresql *)sql)->changed;
}

static int64_t changes(const struct study_sql *sql)
{
    return ((const struct study_postgresql *)sql)->changes;
}

static bool within(const struct study_sql *sql)
{
    const struct study_postgresql *store = (const struct study_postgresql *)sql;
    PGTransactionStatusType status = store->conn ? PQtransactionStatus(store->conn) : PQTRANS_UNKNOWN;
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

static int64_t now_us(const struct study_sql *sql)
{
    return clock_wall_ns() / 1000 + ((const struct study_postgresql *)sql)->clock_us;
}

/* Which transactions a statement sees: a hash of that, FNV-1a. */
static int data_version(struct study_sql *sql, int64_t *ret, char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_postgresql_query(sql, STUDY_SQL_VERSION, NULL);
    const char *text = "";
    int r = study_postgresql_next(sql, &rows, RECORD_INTO(&text), err);
    if (r <= 0)
        return r;
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    study_postgresql_end(&rows);
    *ret = (int64_t)hash;
    return 0;
}

static void store_close(struct study_store *base)
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    if (store->conn) {
        study_postgresql_forget(store);
        PQfinish(store->conn);
    }
    study_postgresql_params_finish(&store->params);
    study_postgresql_drop_later(store);
    study_postgresql_forget_row(store);
    free(store);
}

/* ---- Opening. ---- */

static const struct study_sql_driver driver = {.locks_rows = true,
                                               .reread = REREAD,
                                               .query = study_postgresql_query,
                                               .ahead = study_postgresql_ahead,
                                               .later = study_postgresql_later,
                                               .params_insert = study_postgresql_insert_params,
                                               .next = study_postgresql_next,
                                               .take = study_postgresql_take,
                                               .end = study_postgresql_end,
                                               .changed = changed,
                                               .changes = changes,
                                               .within = within,
                                               .begin_read = begin_read,
                                               .end_read = end_read,
                                               .data_version = data_version,
                                               .same_schema = study_postgresql_same_schema,
                                               .now_us = now_us,
                                               .judges = study_postgresql_judges};

static int load(char err[static STUDY_ERROR_MAX])
{
    char why[STUDY_ERROR_MAX - 64];
    int r = study_postgresql_load(why, sizeof why);
    return r < 0 ? fail_with(r, err, STUDY_ERROR_MAX, "postgresql://: %s: install libpq5", why) : 0;
}

static int store_open(const char *location, enum study_store_mode mode, int busy_ms,
                      const struct study_store_waits *waits, struct study_store **ret,
                      char err[static STUDY_ERROR_MAX])
{
    int r = load(err);
    if (r < 0)
        return r;
    struct study_postgresql *store = calloc(1, sizeof *store);
    if (!store)
        return fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "postgresql://: no memory");
    r = study_postgresql_params(location, &store->params, &store->sql.base.url, err);
    if (r < 0) {
        free(store);
        return r;
    }
    store->sql.base.ops = &study_store_postgresql;
    store->sql.base.mode = study_store_access(mode);
    store->sql.driver = &driver;
    store->sql.serial = study_sql_serial();
    store->busy_ms = busy_ms;
    store->sql.base.waits = *waits;
    r = mode != store->sql.base.mode ? study_postgresql_wait(store, err)
                                     : study_postgresql_connect(store, err);
    if (r == 0)
        r = study_postgresql_schema(store, err);
    while (r == -ECONNRESET && (r = study_postgresql_wait(store, err)) == 0)
        r = study_postgresql_schema(store, err);
    if (r < 0) {
        free(store->sql.base.url);
        store_close(&store->sql.base);
        return r;
    }
    *ret = &store->sql.base;
    return 0;
}

static int name(const char *location, char **ret, char err[static STUDY_ERROR_MAX])
{
    int r = load(err);
    return r < 0 ? r : study_postgresql_url(location, ret, err);
}

const struct study_store_ops study_store_postgresql = {.scheme = "postgresql",
                                                       .name = name,
                                                       .open = store_open,
                                                       .close = store_close,
                                                       .begin = begin,
                                                       .commit = commit,
                                                       .rollback = rollback,
                                                       .again = again,
                                                       .await = study_postgresql_await,
                                                       STUDY_STORE_OPS(STUDY_SQL_OP)};
