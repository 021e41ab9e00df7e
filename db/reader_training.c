/* Trainings, and the policies of the arena. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "record/training.h"

#define TRAININGS      DB_SELECT("trainings", RECORD_TRAINING)
#define POINTS         DB_SELECT("training_points", RECORD_TRAINING_POINT)
#define EVALUATIONS    DB_SELECT("training_evaluations", RECORD_TRAINING_EVALUATION)
#define STATES         DB_SELECT("training_states", RECORD_TRAINING_STATE)
#define POLICIES       DB_SELECT("policies", RECORD_POLICY)
#define ORDER_POLICIES DB_SELECT("order_policies", RECORD_ORDER_POLICY)

/* A query of one training's rows: its name at ?1, a whole number at ?2. */
static int query_of(struct db_reader *reader, const char *sql, const char *training, int64_t value,
                    sqlite3_stmt **ret)
{
    int r = db_query(reader, sql, ret);
    if (r < 0)
        return r;
    sqlite3_bind_text(*ret, 1, training, -1, SQLITE_STATIC);
    sqlite3_bind_int64(*ret, 2, value);
    return 0;
}

int db_reader_trainings(struct db_reader *reader, const char *name,
                        void (*row)(void *ctx, const struct db_training *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, TRAININGS "WHERE ?1 IS NULL OR name = ?1 ORDER BY created_ns, name", &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    struct db_training training;
    while ((r = db_query_row(reader, stmt, &db_record_trainings, &training, NULL)) > 0)
        row(ctx, &training);
    return db_query_end(stmt, r);
}

int db_reader_training_points(struct db_reader *reader, const char *training, int64_t after,
                              void (*row)(void *ctx, const struct db_training_point *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r =
        query_of(reader, POINTS "WHERE training = ?1 AND steps > ?2 ORDER BY steps", training, after, &stmt);
    if (r < 0)
        return r;
    struct db_training_point point;
    while ((r = db_query_row(reader, stmt, &db_record_training_points, &point, NULL)) > 0)
        row(ctx, &point);
    return db_query_end(stmt, r);
}

int db_reader_training_evaluations(struct db_reader *reader, const char *training, int64_t after,
                                   void (*row)(void *ctx, const struct db_training_evaluation *row),
                                   void *ctx)
{
    sqlite3_stmt *stmt;
    int r = query_of(reader, EVALUATIONS "WHERE training = ?1 AND steps > ?2 ORDER BY steps", training, after,
                     &stmt);
    if (r < 0)
        return r;
    struct db_training_evaluation evaluation;
    while ((r = db_query_row(reader, stmt, &db_record_training_evaluations, &evaluation, NULL)) > 0)
        row(ctx, &evaluation);
    return db_query_end(stmt, r);
}

int db_reader_training_states(struct db_reader *reader, const char *training, int64_t n,
                              void (*row)(void *ctx, const struct db_training_state *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = query_of(
        reader, "SELECT * FROM (" STATES "WHERE training = ?1 ORDER BY ts_ns DESC LIMIT ?2) ORDER BY ts_ns",
        training, n > 0 ? n : -1, &stmt);
    if (r < 0)
        return r;
    struct db_training_state state;
    while ((r = db_query_row(reader, stmt, &db_record_training_states, &state, NULL)) > 0)
        row(ctx, &state);
    return db_query_end(stmt, r);
}

int db_reader_policies(struct db_reader *reader, void (*row)(void *ctx, const struct db_policy *row),
                       void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, POLICIES "ORDER BY name", &stmt);
    if (r < 0)
        return r;
    struct db_policy policy;
    while ((r = db_query_row(reader, stmt, &db_record_policies, &policy, NULL)) > 0)
        row(ctx, &policy);
    return db_query_end(stmt, r);
}

int db_reader_order_policy(struct db_reader *reader, uint64_t order_id, struct db_order_policy *ret)
{
    sqlite3_stmt *stmt;
    struct db_order_policy found;
    int r = db_query(reader, ORDER_POLICIES "WHERE order_id = ?1", &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, (int64_t)order_id);
    r = db_query_row(reader, stmt, &db_record_order_policies, &found, NULL);
    if (r == 0) {
        snprintf(reader->error, sizeof reader->error, "order %llu: no policy gave it",
                 (unsigned long long)order_id);
        return db_query_end(stmt, -ENOENT);
    }
    if (r < 0)
        return db_query_end(stmt, r);
    char *backend = strdup(found.backend);
    if (!backend)
        return db_query_end(stmt, -ENOMEM);
    free(reader->backend);
    found.backend = reader->backend = backend;
    *ret = found;
    return db_query_end(stmt, 0);
}
