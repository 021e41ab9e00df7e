/* What is told of trainings, bounded, and the policies of the arena. */
#include <math.h>
#include <string.h>

#include "db/store_bind.h"

/* One of a training's tables, whose rows have a key that rises. */
struct kept {
    enum db_row_kind kind;
    enum db_statement put, drop, count;
};

static const struct kept points = {DB_ROW_TRAINING_POINT, DB_SQL_POINT, DB_SQL_POINT_DROP,
                                   DB_SQL_POINT_COUNT};
static const struct kept evaluations = {DB_ROW_TRAINING_EVALUATION, DB_SQL_EVALUATION, DB_SQL_EVALUATION_DROP,
                                        DB_SQL_EVALUATION_COUNT};
static const struct kept states = {DB_ROW_TRAINING_STATE, DB_SQL_STATE, DB_SQL_STATE_DROP,
                                   DB_SQL_STATE_COUNT};

/* Null where it is not known; infinities are none either. */
static void figure(struct binding *b, double value)
{
    if (isfinite(value))
        real(b, value);
    else
        sqlite3_bind_null(b->stmt, ++b->n);
}

static const char *next_text(const char *at)
{
    return at + strlen(at) + 1;
}

/* ---- how many rows a training has ---- */

static int64_t *find_held(struct db_store *store, enum db_row_kind kind, const char *training)
{
    for (int i = 0; i < store->n_held; i++)
        if (store->held[i].kind == kind && strcmp(store->held[i].training, training) == 0)
            return &store->held[i].rows;
    return NULL;
}

/* Counts once, and remembers unless the name is too long for it. */
static int count_rows(struct db_store *store, const struct kept *kept, const char *training, int64_t *ret)
{
    const int64_t *held = find_held(store, kept->kind, training);
    if (held) {
        *ret = *held;
        return SQLITE_OK;
    }
    struct binding b = bind(store, kept->count);
    text(&b, training);
    return run_returning(store, &b, ret);
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

static int run_on(struct db_store *store, enum db_statement which, const char *training, int64_t value)
{
    struct binding b = bind(store, which);
    text(&b, training);
    integer(&b, value);
    return run(store, &b);
}

/* Puts a row whose statement is bound, in place of one of the same key. *ret_rows: how many there are then.
 */
static int put_row(struct db_store *store, const struct kept *kept, struct binding *bound,
                   const char *training, int64_t key, int64_t *ret_rows)
{
    int64_t rows = 0;
    int rc = count_rows(store, kept, training, &rows);
    if (rc == SQLITE_OK)
        rc = run_on(store, kept->drop, training, key);
    if (rc == SQLITE_OK)
        rows -= sqlite3_changes(store->db);
    if (rc != SQLITE_OK) {
        sqlite3_clear_bindings(bound->stmt);
        return rc;
    }
    rc = run(store, bound);
    if (rc == SQLITE_OK)
        remember(store, kept->kind, training, ++rows);
    *ret_rows = rows;
    return rc;
}

/* Every second one of the older half goes: the oldest and the newest stay. */
static int thin(struct db_store *store, enum db_row_kind kind, enum db_statement which, const char *training,
                int64_t rows)
{
    int rc = run_on(store, which, training, rows / 2);
    if (rc == SQLITE_OK)
        remember(store, kind, training, rows - sqlite3_changes(store->db));
    return rc;
}

/* The older half of the states; every second one of it where no state repeats. */
static int merge_states(struct db_store *store, const char *training, int64_t rows)
{
    struct binding b = bind(store, DB_SQL_STATE_MERGE_FORGET);
    int rc = run(store, &b);
    if (rc == SQLITE_OK)
        rc = run_on(store, DB_SQL_STATE_MERGE, training, rows / 2);
    if (rc == SQLITE_OK)
        rc = run_on(store, DB_SQL_STATE_MERGE_DROP, training, rows / 2);
    if (rc == SQLITE_OK)
        rows -= sqlite3_changes(store->db);
    if (rc == SQLITE_OK) {
        b = bind(store, DB_SQL_STATE_MERGED);
        text(&b, training);
        rc = run(store, &b);
    }
    if (rc != SQLITE_OK)
        return rc;
    rows += sqlite3_changes(store->db);
    remember(store, DB_ROW_TRAINING_STATE, training, rows);
    return rows > DB_TRAINING_POINTS_KEPT
               ? thin(store, DB_ROW_TRAINING_STATE, DB_SQL_STATE_THIN, training, rows)
               : SQLITE_OK;
}

int db_apply_training_point(struct db_store *store, const struct db_training_point *row)
{
    const double figures[] = {
        row->steps_s,
        row->episode_return,
        row->reward,
        row->policy_loss,
        row->value_loss,
        row->entropy_loss,
        row->loss,
        row->kl,
        row->clip_fraction,
        row->explained_variance,
        row->grad_norm,
        row->learning_rate,
        row->std,
        row->rollout_s,
        row->advantages_s,
        row->update_s,
        row->device_utilisation,
        row->cpu_utilisation,
        row->memory_bytes,
        row->learner_bytes,
    };
    const char *training = (const char *)(row + 1);
    int64_t rows = 0;
    struct binding b = bind(store, points.put);
    text(&b, training);
    integer(&b, row->steps);
    integer(&b, row->iteration);
    integer(&b, row->ts_ns);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figure(&b, figures[i]);
    int rc = put_row(store, &points, &b, training, row->steps, &rows);
    return rc == SQLITE_OK && rows > DB_TRAINING_POINTS_KEPT
               ? thin(store, points.kind, DB_SQL_POINT_THIN, training, rows)
               : rc;
}

int db_apply_training_evaluation(struct db_store *store, const struct db_training_evaluation *row)
{
    const char *training = (const char *)(row + 1);
    int64_t rows = 0;
    struct binding b = bind(store, evaluations.put);
    text(&b, training);
    integer(&b, row->steps);
    integer(&b, row->ts_ns);
    figure(&b, row->reward);
    figure(&b, row->total_return);
    figure(&b, row->benchmark_return);
    figure(&b, row->drawdown);
    int rc = put_row(store, &evaluations, &b, training, row->steps, &rows);
    return rc == SQLITE_OK && rows > DB_TRAINING_POINTS_KEPT
               ? thin(store, evaluations.kind, DB_SQL_EVALUATION_THIN, training, rows)
               : rc;
}

int db_apply_training_state(struct db_store *store, const struct db_training_state *row)
{
    const char *training = (const char *)(row + 1);
    int64_t rows = 0;
    struct binding b = bind(store, states.put);
    text(&b, training);
    integer(&b, row->ts_ns);
    text(&b, next_text(training));
    figure(&b, row->utilisation);
    int rc = put_row(store, &states, &b, training, row->ts_ns, &rows);
    return rc == SQLITE_OK && rows > DB_TRAINING_POINTS_KEPT ? merge_states(store, training, rows) : rc;
}

int db_apply_training_rewind(struct db_store *store, const struct db_row_training_rewind *row)
{
    static const enum db_statement each[] = {DB_SQL_POINT_REWIND, DB_SQL_EVALUATION_REWIND,
                                             DB_SQL_STATE_REWIND};
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof each / sizeof *each; i++)
        rc = run_on(store, each[i], (const char *)(row + 1), row->steps);
    store->n_held = 0;
    return rc;
}

/* ---- the trainings ---- */

static int put_training(struct db_store *store, enum db_statement which, const struct db_training *row)
{
    enum { NAME, STATE, REASON, CAUSE, DEVICE, BACKEND, CONFIG, CHECKPOINT, POLICY, TEXTS };
    const char *texts[TEXTS];
    const char *at = (const char *)(row + 1);
    for (int i = 0; i < TEXTS; i++, at = next_text(at))
        texts[i] = at;
    struct binding b = bind(store, which);
    text(&b, texts[NAME]);
    text(&b, texts[STATE]);
    text(&b, texts[REASON]);
    text(&b, texts[CAUSE]);
    integer(&b, row->priority);
    text(&b, texts[DEVICE]);
    text(&b, texts[BACKEND]);
    text(&b, texts[CONFIG]);
    integer(&b, row->steps);
    integer(&b, row->total_steps);
    integer(&b, row->iteration);
    integer(&b, row->attempts);
    figure(&b, row->steps_s);
    figure(&b, row->episode_return);
    integer(&b, row->memory_bytes);
    figure(&b, row->cpu_s);
    text(&b, texts[CHECKPOINT]);
    text(&b, texts[POLICY]);
    integer(&b, row->created_ns);
    integer(&b, row->started_ns);
    integer(&b, row->ended_ns);
    integer(&b, row->heard_ns);
    integer(&b, row->seq);
    return run(store, &b);
}

int db_apply_training(struct db_store *store, const struct db_training *row)
{
    int rc = put_training(store, DB_SQL_TRAINING_AGAIN, row);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
        return rc;
    rc = put_training(store, DB_SQL_TRAINING, row);
    if (rc != SQLITE_OK)
        return rc;
    struct binding b = bind(store, DB_SQL_TRAINING_FORGET);
    integer(&b, DB_TRAININGS_KEPT);
    text(&b, (const char *)(row + 1));
    rc = run(store, &b);
    if (rc == SQLITE_OK && sqlite3_changes(store->db) > 0)
        store->n_held = 0;
    return rc;
}

/* ---- policies ---- */

int db_apply_policy(struct db_store *store, const struct db_policy *row)
{
    const char *name = (const char *)(row + 1), *account = next_text(name), *training = next_text(account),
               *path = next_text(training), *reason = next_text(path);
    struct binding b = bind(store, DB_SQL_POLICY);
    text(&b, name);
    text(&b, db_policy_role_name(row->role));
    text(&b, account);
    blob(&b, row->id, sizeof row->id);
    text(&b, training);
    text(&b, path);
    integer(&b, row->since_ns);
    text(&b, reason);
    text(&b, next_text(reason));
    integer(&b, row->judged_ns);
    integer(&b, row->expires_ns);
    return run(store, &b);
}

int db_apply_order_policy(struct db_store *store, const struct db_order_policy *row)
{
    struct binding b = bind(store, DB_SQL_ORDER_POLICY);
    integer(&b, (int64_t)row->order_id);
    blob(&b, row->id, sizeof row->id);
    text(&b, (const char *)(row + 1));
    return run(store, &b);
}
