/* Whether a transaction was stored whose COMMIT had no answer. txid_status() alone does not say: after a
 * crash the server may give the number of a transaction that it has forgotten to another one. So the row that
 * ours wrote last, which no other process's transaction changes, must have its number too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "exchange/clock.h"

enum { NAP_US = 20000 };
static const char in_future[] = "22023"; /* SQLSTATE of a number that was not given yet */

/* Of a statement: the row that it writes, with its parameters ?1 and ?2 as %s; a statement that is not here
 * leaves the row before it. */
static const struct {
    int which;
    const char *table, *first, *second; /* columns; NULL: one alone */
} rows_of[] = {
    {STUDY_SQL_INSERT, "studies", "study_name", NULL},
    {STUDY_SQL_USER_UPDATE, "study_user_attributes", "study_id", "\"key\""},
    {STUDY_SQL_USER_PUT, "study_user_attributes", "study_id", "\"key\""},
    {STUDY_SQL_SYSTEM_UPDATE, "study_system_attributes", "study_id", "\"key\""},
    {STUDY_SQL_SYSTEM_PUT, "study_system_attributes", "study_id", "\"key\""},
    {STUDY_SQL_TRIAL_TAKE, "trials", "trial_id", NULL},
    {STUDY_SQL_TRIAL_INSERT, "trials", "number", "study_id"},
    {STUDY_SQL_TRIAL_FINISH, "trials", "trial_id", NULL},
    {STUDY_SQL_PARAM_INSERT, "trial_params", "trial_id", "param_name"},
    {STUDY_POSTGRESQL_INSERT_PARAMS, "trial_params", "trial_id", NULL},
    {STUDY_SQL_VALUE_PUT, "trial_values", "trial_id", "objective"},
    {STUDY_SQL_REPORT_PUT, "trial_intermediate_values", "trial_id", "step"},
    {STUDY_SQL_TRIAL_USER_UPDATE, "trial_user_attributes", "trial_id", "\"key\""},
    {STUDY_SQL_TRIAL_USER_PUT, "trial_user_attributes", "trial_id", "\"key\""},
    {STUDY_SQL_TRIAL_SYSTEM_UPDATE, "trial_system_attributes", "trial_id", "\"key\""},
    {STUDY_SQL_TRIAL_SYSTEM_PUT, "trial_system_attributes", "trial_id", "\"key\""},
    {STUDY_SQL_HEARTBEAT_UPDATE, "trial_heartbeats", "trial_id", NULL},
    {STUDY_SQL_HEARTBEAT_PUT, "trial_heartbeats", "trial_id", NULL},
};
enum { ROWS = sizeof rows_of / sizeof *rows_of };

void study_postgresql_forget_row(struct study_postgresql *store)
{
    free(store->wrote[0]);
    free(store->wrote[1]);
    store->wrote[0] = store->wrote[1] = NULL;
}

void study_postgresql_wrote(struct study_postgresql *store, int which, const char *first, const char *second)
{
    for (int i = 0; i < ROWS; i++) {
        if (rows_of[i].which != which)
            continue;
        study_postgresql_forget_row(store);
        store->wrote_row = i;
        store->wrote[0] = strdup(first);
        store->wrote[1] = strdup(second);
        if (!store->wrote[0] || !store->wrote[1])
            study_postgresql_forget_row(store);
        return;
    }
}

static char *quoted(struct study_postgresql *store, const char *text)
{
    return PQescapeLiteral(store->conn, text, strlen(text));
}

/* 0: the row that was written last has that transaction's number, or no row is known; -ENOENT: it does not.
 */
static int find_row(struct study_postgresql *store, int64_t transaction, char err[static STUDY_ERROR_MAX])
{
    if (!store->wrote[0])
        return 0;
    int64_t found;
    char *text = NULL, *first = quoted(store, store->wrote[0]), *second = quoted(store, store->wrote[1]);
    const char *column = rows_of[store->wrote_row].second;
    int r = first && second &&
                    asprintf(&text, "SELECT 1 FROM %s WHERE xmin::text = '%u' AND %s = %s%s%s%s%s",
                             rows_of[store->wrote_row].table, (unsigned)(transaction & 0xffffffff),
                             rows_of[store->wrote_row].first, first, column ? " AND " : "",
                             column ? column : "", column ? " = " : "", column ? second : "") >= 0
                ? study_postgresql_ask(store, text, RECORD_INTO(&found), err)
                : study_store_fail(&store->sql.base, -ENOMEM, err, "no memory");
    PQfreemem(first);
    PQfreemem(second);
    free(text);
    return r;
}

/* What the server says of it: 0 with its word, which is "aborted" of a number that is not given yet. */
static int ask_status(struct study_postgresql *store, int64_t transaction, char *ret, size_t cap,
                      char err[static STUDY_ERROR_MAX])
{
    char text[80];
    snprintf(text, sizeof text, "SELECT txid_status(%lld)", (long long)transaction);
    struct study_rows rows = {.of = study_postgresql_exec(store, text)};
    const char *state = rows.of ? PQresultErrorField(rows.of, PG_DIAG_SQLSTATE) : NULL;
    bool forgotten = state && strcmp(state, in_future) == 0;
    int r = study_postgresql_next(&store->sql, &rows, RECORD_INTO(record_into_chars(ret, cap)), err);
    if (r > 0)
        study_postgresql_end(&rows);
    if (forgotten)
        snprintf(ret, cap, "aborted");
    return r < 0 && !forgotten ? r : 0;
}

int study_postgresql_outcome(struct study_postgresql *store, int64_t transaction,
                             char err[static STUDY_ERROR_MAX])
{
    double until_s = clock_now_s() + store->busy_ms * 1e-3;
    char status[24] = "";
    for (;;) {
        int r = study_postgresql_wait(store, err);
        if (r == 0)
            r = ask_status(store, transaction, status, sizeof status, err);
        if (r == 0 && strcmp(status, "committed") == 0) {
            r = find_row(store, transaction, err);
            if (r == 0)
                return 0;
        }
        if (r == -ENOENT || (r == 0 && strcmp(status, "aborted") == 0))
            return study_store_fail(&store->sql.base, -ECONNRESET, err,
                                    "the connection was lost before the transaction was stored");
        if (r < 0 && r != -ECONNRESET)
            return r;
        if (clock_now_s() > until_s)
            return study_store_fail(&store->sql.base, -EIO, err,
                                    "whether transaction %lld was stored is unknown (%s)",
                                    (long long)transaction, *status ? status : "too long ago");
        usleep(NAP_US);
    }
}
