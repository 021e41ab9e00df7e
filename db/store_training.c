/* Stores the co-process's reports of trainings, bounded. */
#include <string.h>

#include "db/records.h"
#include "db/store_bind.h"

/* One of a training's tables, whose rows have a key that rises. */
struct kept_rows {
    enum db_row_kind kind;
    enum db_statement put, drop, count, thin;
};

static const struct kept_rows points = {DB_ROW_TRAINING_POINT, DB_SQL_POINT, DB_SQL_POINT_DROP,
                                        DB_SQL_POINT_COUNT, DB_SQL_POINT_THIN};
static const struct kept_rows evaluations = {DB_ROW_TRAINING_EVALUATION, DB_SQL_EVALUATION,
                                             DB_SQL_EVALUATION_DROP, DB_SQL_EVALUATION_COUNT,
                                             DB_SQL_EVALUATION_THIN};
static const struct kept_rows states = {DB_ROW_TRAINING_STATE, DB_SQL_STATE, DB_SQL_STATE_DROP,
                                        DB_SQL_STATE_COUNT, DB_SQL_STATE_THIN};

/* ---- how many rows a training has ---- */

static int64_t *find_held(struct db_store *store, enum db_row_kind kind, const char *training)
{
    for (int i = 0; i < store->n_held; i++)
        if (store->held[i].kind == kind && strcmp(store->held[i].training, training) == 0)
            return &store->held[i].rows;
    return NULL;
}

/* Counts once, and remembers unless the name is too long for it. */
static int count_rows(struct db_store *store, const struct kept_rows *kept, const char *training,
                      int64_t *ret)
{
    const int64_t *held = find_held(store, kept->kind, training);
    if (held) {
        *ret = *held;
        return SQLITE_OK;
    }
    return db_store_run(store, kept->count, RECORD_PARAMS(training), ret);
}

static void remember(struct db_store *store, enum db_row_kind kind, const char *training, int64_t rows)
{
    int64_t *held = find_held(store, kind, training);
    if (held) {
        *held = rows;
        return;
    }
    if (strlen(training) >= DB_HELD_NAME_MAX)
        return;
    int at = store->n_held < DB_HELD_MAX ? store->n_held++ : store->next_held++ % DB_HELD_MAX;
    store->held[at].kind = kind;
    store->held[at].rows = rows;
    strcpy(store->held[at].training, training);
}

/* ---- rows by steps or by time ---- */

/* Puts a row in place of one of the same key. *ret_rows: how many there are then. */
static int put_row(struct db_store *store, const struct kept_rows *kept, const void *row,
                   const char *training, int64_t key, int64_t *ret_rows)
{
    int64_t rows = 0;
    int rc = count_rows(store, kept, training, &rows);
    if (rc == SQLITE_OK)
        rc = db_store_run(store, kept->drop, RECORD_PARAMS(training, key), NULL);
    if (rc != SQLITE_OK)
        return rc;
    rows -= sqlite3_changes(store->db);
    rc = db_store_put(store, kept->put, db_record_of(kept->kind), row, NULL);
    if (rc == SQLITE_OK)
        remember(store, kept->kind, training, ++rows);
    *ret_rows = rows;
    return rc;
}

/* Deletes every second one of the older half: the oldest and the newest stay. */
static int thin(struct db_store *store, const struct kept_rows *kept, const char *training, int64_t rows)
{
    int rc = db_store_run(store, kept->thin, RECORD_PARAMS(training, rows / 2), NULL);
    if (rc == SQLITE_OK)
        remember(store, kept->kind, training, rows - sqlite3_changes(store->db));
    return rc;
}

/* Merges the older half of the states; deletes every second one of it where no state repeats. */
static int merge_states(struct db_store *store, const char *training, int64_t rows)
{
    const struct record_param *half = RECORD_PARAMS(training, rows / 2);
    int rc = db_store_run(store, DB_SQL_STATE_MERGE_FORGET, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = db_store_run(store, DB_SQL_STATE_MERGE, half, NULL);
    if (rc == SQLITE_OK)
        rc = db_store_run(store, DB_SQL_STATE_MERGE_DROP, half, NULL);
    if (rc == SQLITE_OK)
        rows -= sqlite3_changes(store->db);
    if (rc == SQLITE_OK)
        rc = db_store_run(store, DB_SQL_STATE_MERGED, RECORD_PARAMS(training), NULL);
    if (rc != SQLITE_OK)
        return rc;
    rows += sqlite3_changes(store->db);
    remember(store, DB_ROW_TRAINING_STATE, training, rows);
    return rows > DB_TRAINING_POINTS_KEPT ? thin(store, &states, training, rows) : SQLITE_OK;
}

static int put_point(struct db_store *store, const struct kept_rows *kept, const void *row,
                     const char *training, int64_t steps)
{
    int64_t rows = 0;
    int rc = put_row(store, kept, row, training, steps, &rows);
    return rc == SQLITE_OK && rows > DB_TRAINING_POINTS_KEPT ? thin(store, kept, training, rows) : rc;
}

int db_apply_training_point(struct db_store *store, const void *data)
{
    const struct db_training_point *row = data;
    return put_point(store, &points, row, row->training, row->steps);
}

int db_apply_training_evaluation(struct db_store *store, const void *data)
{
    const struct db_training_evaluation *row = data;
    return put_point(store, &evaluations, row, row->training, row->steps);
}

int db_apply_training_state(struct db_store *store, const void *data)
{
    const struct db_training_state *row = data;
    int64_t rows = 0;
    int rc = put_row(store, &states, row, row->training, row->ts_ns, &rows);
    return rc == SQLITE_OK && rows > DB_TRAINING_POINTS_KEPT ? merge_states(store, row->training, rows) : rc;
}

int db_apply_training_rewind(struct db_store *store, const void *data)
{
    const struct db_row_training_rewind *row = data;
    static const enum db_statement each[] = {DB_SQL_POINT_REWIND, DB_SQL_EVALUATION_REWIND,
                                             DB_SQL_STATE_REWIND};
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof each / sizeof *each; i++)
        rc = db_store_run(store, each[i], RECORD_PARAMS((const char *)(row + 1), row->steps), NULL);
    store->n_held = 0;
    return rc;
}

/* ---- the trainings ---- */

int db_apply_training(struct db_store *store, const void *data)
{
    const struct db_training *row = data;
    int rc = db_store_put(store, DB_SQL_TRAINING_AGAIN, &db_record_trainings, row, NULL);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
        return rc;
    rc = db_store_put(store, DB_SQL_TRAINING, &db_record_trainings, row, NULL);
    if (rc == SQLITE_OK)
        rc = db_store_run(store, DB_SQL_TRAINING_FORGET, RECORD_PARAMS(DB_TRAININGS_KEPT, row->name), NULL);
    if (rc == SQLITE_OK && sqlite3_changes(store->db) > 0)
        store->n_held = 0;
    return rc;
}
