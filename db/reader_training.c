/* Trainings, and the policies of the arena. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"

/* NaN for null. */
static double figure(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, column);
}

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
    int r = db_query(reader,
                     "SELECT name, state, reason, cause, priority, device, backend, config, steps, "
                     "total_steps, iteration, attempts, steps_s, return, ifnull(memory_bytes, -1), cpu_s, "
                     "checkpoint, policy, created_ns, started_ns, ended_ns, heard_ns, seq FROM trainings "
                     "WHERE ?1 IS NULL OR name = ?1 ORDER BY created_ns, name",
                     &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    while ((r = db_query_step(reader, stmt)) > 0) {
        const struct db_training training = {
            .name = db_column_text(stmt, 0),
            .state = db_column_text(stmt, 1),
            .reason = db_column_text(stmt, 2),
            .cause = db_column_text(stmt, 3),
            .priority = sqlite3_column_int64(stmt, 4),
            .device = db_column_text(stmt, 5),
            .backend = db_column_text(stmt, 6),
            .config = db_column_text(stmt, 7),
            .steps = sqlite3_column_int64(stmt, 8),
            .total_steps = sqlite3_column_int64(stmt, 9),
            .iteration = sqlite3_column_int64(stmt, 10),
            .attempts = sqlite3_column_int64(stmt, 11),
            .steps_s = figure(stmt, 12),
            .episode_return = figure(stmt, 13),
            .memory_bytes = sqlite3_column_int64(stmt, 14),
            .cpu_s = figure(stmt, 15),
            .checkpoint = db_column_text(stmt, 16),
            .policy = db_column_text(stmt, 17),
            .created_ns = sqlite3_column_int64(stmt, 18),
            .started_ns = sqlite3_column_int64(stmt, 19),
            .ended_ns = sqlite3_column_int64(stmt, 20),
            .heard_ns = sqlite3_column_int64(stmt, 21),
            .seq = sqlite3_column_int64(stmt, 22),
        };
        row(ctx, &training);
    }
    return db_query_end(stmt, r);
}

int db_reader_training_points(struct db_reader *reader, const char *training, int64_t after,
                              void (*row)(void *ctx, const struct db_training_point *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = query_of(
        reader,
        "SELECT steps, iteration, ts_ns, steps_s, return, reward, policy_loss, value_loss, "
        "entropy_loss, loss, kl, clip_fraction, explained_variance, grad_norm, learning_rate, "
        "std, rollout_s, advantages_s, update_s, device_utilisation, cpu_utilisation, "
        "memory_bytes, learner_bytes FROM training_points WHERE training = ?1 AND steps > ?2 ORDER BY "
        "steps",
        training, after, &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        const struct db_training_point point = {
            .training = training,
            .steps = sqlite3_column_int64(stmt, 0),
            .iteration = sqlite3_column_int64(stmt, 1),
            .ts_ns = sqlite3_column_int64(stmt, 2),
            .steps_s = figure(stmt, 3),
            .episode_return = figure(stmt, 4),
            .reward = figure(stmt, 5),
            .policy_loss = figure(stmt, 6),
            .value_loss = figure(stmt, 7),
            .entropy_loss = figure(stmt, 8),
            .loss = figure(stmt, 9),
            .kl = figure(stmt, 10),
            .clip_fraction = figure(stmt, 11),
            .explained_variance = figure(stmt, 12),
            .grad_norm = figure(stmt, 13),
            .learning_rate = figure(stmt, 14),
            .std = figure(stmt, 15),
            .rollout_s = figure(stmt, 16),
            .advantages_s = figure(stmt, 17),
            .update_s = figure(stmt, 18),
            .device_utilisation = figure(stmt, 19),
            .cpu_utilisation = figure(stmt, 20),
            .memory_bytes = figure(stmt, 21),
            .learner_bytes = figure(stmt, 22),
        };
        row(ctx, &point);
    }
    return db_query_end(stmt, r);
}

int db_reader_training_evaluations(struct db_reader *reader, const char *training, int64_t after,
                                   void (*row)(void *ctx, const struct db_training_evaluation *row),
                                   void *ctx)
{
    sqlite3_stmt *stmt;
    int r = query_of(reader,
                     "SELECT steps, ts_ns, reward, return, benchmark_return, drawdown FROM "
                     "training_evaluations WHERE training = ?1 AND steps > ?2 ORDER BY steps",
                     training, after, &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        const struct db_training_evaluation evaluation = {
            .training = training,
            .steps = sqlite3_column_int64(stmt, 0),
            .ts_ns = sqlite3_column_int64(stmt, 1),
            .reward = figure(stmt, 2),
            .total_return = figure(stmt, 3),
            .benchmark_return = figure(stmt, 4),
            .drawdown = figure(stmt, 5),
        };
        row(ctx, &evaluation);
    }
    return db_query_end(stmt, r);
}

int db_reader_training_states(struct db_reader *reader, const char *training, int64_t n,
                              void (*row)(void *ctx, const struct db_training_state *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = query_of(reader,
                     "SELECT * FROM (SELECT ts_ns, state, utilisation FROM training_states WHERE training = "
                     "?1 ORDER BY ts_ns DESC LIMIT ?2) ORDER BY ts_ns",
                     training, n > 0 ? n : -1, &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        const struct db_training_state state = {
            .training = training,
            .ts_ns = sqlite3_column_int64(stmt, 0),
            .state = db_column_text(stmt, 1),
            .utilisation = figure(stmt, 2),
        };
        row(ctx, &state);
    }
    return db_query_end(stmt, r);
}

static bool column_id(sqlite3_stmt *stmt, int column, uint8_t id[static POLICY_ID_SIZE])
{
    const void *blob = sqlite3_column_blob(stmt, column);
    if (!blob || sqlite3_column_bytes(stmt, column) != POLICY_ID_SIZE)
        return false;
    memcpy(id, blob, POLICY_ID_SIZE);
    return true;
}

int db_reader_policies(struct db_reader *reader, void (*row)(void *ctx, const struct db_policy *row),
                       void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader,
                     "SELECT name, role, account, policy, training, path, since_ns, reason, proposal, "
                     "judged_ns, expires_ns FROM policies ORDER BY name",
                     &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        int role = db_policy_role_parse(db_column_text(stmt, 1));
        struct db_policy policy = {
            .name = db_column_text(stmt, 0),
            .role = (enum db_policy_role)role,
            .account = db_column_text(stmt, 2),
            .training = db_column_text(stmt, 4),
            .path = db_column_text(stmt, 5),
            .since_ns = sqlite3_column_int64(stmt, 6),
            .reason = db_column_text(stmt, 7),
            .proposal = db_column_text(stmt, 8),
            .judged_ns = sqlite3_column_int64(stmt, 9),
            .expires_ns = sqlite3_column_int64(stmt, 10),
        };
        if (role < 0 || !column_id(stmt, 3, policy.id)) {
            snprintf(reader->error, sizeof reader->error, "policies: row %.64s: unknown role, or no id",
                     policy.name);
            return db_query_end(stmt, -EBADMSG);
        }
        row(ctx, &policy);
    }
    return db_query_end(stmt, r);
}

int db_reader_order_policy(struct db_reader *reader, uint64_t order_id, struct db_order_policy *ret)
{
    sqlite3_stmt *stmt;
    struct db_order_policy found = {.order_id = order_id};
    int r = db_query(reader, "SELECT policy, backend FROM order_policies WHERE order_id = ?1", &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, (int64_t)order_id);
    r = db_query_step(reader, stmt);
    if (r == 0) {
        snprintf(reader->error, sizeof reader->error, "order %llu: no policy gave it",
                 (unsigned long long)order_id);
        return db_query_end(stmt, -ENOENT);
    }
    if (r < 0)
        return db_query_end(stmt, r);
    if (!column_id(stmt, 0, found.id))
        return db_query_end(stmt, db_query_bad(reader, "order_policies", (int64_t)order_id, "no id"));
    char *backend = strdup(db_column_text(stmt, 1));
    if (!backend)
        return db_query_end(stmt, -ENOMEM);
    free(reader->backend);
    found.backend = reader->backend = backend;
    *ret = found;
    return db_query_end(stmt, 0);
}
