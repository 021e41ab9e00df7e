/* Reads trainings, and the policies of the arena. */
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

int db_reader_trainings(struct db_reader *reader, const char *name,
                        void (*row)(void *ctx, const struct db_training *row), void *ctx)
{
    DB_QUERY_EACH(struct db_training, &db_record_trainings,
                  TRAININGS "WHERE ?1 IS NULL OR name = ?1 ORDER BY created_ns, name", RECORD_PARAMS(name));
}

int db_reader_training_points(struct db_reader *reader, const char *training, int64_t after,
                              void (*row)(void *ctx, const struct db_training_point *row), void *ctx)
{
    DB_QUERY_EACH(struct db_training_point, &db_record_training_points,
                  POINTS "WHERE training = ?1 AND steps > ?2 ORDER BY steps", RECORD_PARAMS(training, after));
}

int db_reader_training_evaluations(struct db_reader *reader, const char *training, int64_t after,
                                   void (*row)(void *ctx, const struct db_training_evaluation *row),
                                   void *ctx)
{
    DB_QUERY_EACH(struct db_training_evaluation, &db_record_training_evaluations,
                  EVALUATIONS "WHERE training = ?1 AND steps > ?2 ORDER BY steps",
                  RECORD_PARAMS(training, after));
}

int db_reader_training_states(struct db_reader *reader, const char *training, int64_t n,
                              void (*row)(void *ctx, const struct db_training_state *row), void *ctx)
{
    DB_QUERY_EACH(struct db_training_state, &db_record_training_states,
                  "SELECT * FROM (" STATES "WHERE training = ?1 ORDER BY ts_ns DESC LIMIT ?2) ORDER BY ts_ns",
                  RECORD_PARAMS(training, n > 0 ? n : -1));
}

int db_reader_policies(struct db_reader *reader, void (*row)(void *ctx, const struct db_policy *row),
                       void *ctx)
{
    DB_QUERY_EACH(struct db_policy, &db_record_policies, POLICIES "ORDER BY name", NULL);
}

int db_reader_order_policy(struct db_reader *reader, uint64_t order_id, struct db_order_policy *ret)
{
    sqlite3_stmt *stmt;
    struct db_order_policy found;
    int r = db_query(reader, ORDER_POLICIES "WHERE order_id = ?1", RECORD_PARAMS(order_id), &stmt);
    if (r < 0)
        return r;
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
