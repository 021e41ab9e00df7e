/* Trainings, their curves and timelines: what is put comes back; what is kept is bounded, by the rules of the
 * schema; a run that continues from a checkpoint deletes what lay beyond. */
#include <errno.h>
#include <stdatomic.h>

#include "db/reader.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"
#include "tests/random.h"

enum { KEPT = DB_TRAINING_POINTS_KEPT, STATES = 5, ROWS_MAX = KEPT + 1 };

static const struct db_writer_config config = {0};
static const char *const state_names[STATES] = {"rollout", "update", "evaluating", "checkpointing", "queued"};

/* ---- what is put comes back ---- */

struct seen {
    int n;
    char text[512];
    struct db_training training;
    struct db_training_point point;
    struct db_training_evaluation evaluation;
    struct db_training_state state;
};

static void see_training(void *ctx, const struct db_training *row)
{
    struct seen *seen = ctx;
    seen->n++;
    seen->training = *row;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%s %s %s %s %s %s %s %s %s;", row->name,
             row->state, row->reason, row->cause, row->device, row->backend, row->config, row->checkpoint,
             row->policy);
}

static void see_point(void *ctx, const struct db_training_point *row)
{
    struct seen *seen = ctx;
    seen->n++;
    seen->point = *row;
}

static void see_evaluation(void *ctx, const struct db_training_evaluation *row)
{
    struct seen *seen = ctx;
    seen->n++;
    seen->evaluation = *row;
}

static void see_state(void *ctx, const struct db_training_state *row)
{
    struct seen *seen = ctx;
    seen->n++;
    seen->state = *row;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%s;", row->state);
}

/* Each figure has a value of its own, and so must come back from its own column. */
static void check_figures(const struct db_training_point *p, double first)
{
    const double figures[] = {p->steps_s,
                              p->episode_return,
                              p->reward,
                              p->policy_loss,
                              p->value_loss,
                              p->entropy_loss,
                              p->loss,
                              p->kl,
                              p->clip_fraction,
                              p->explained_variance,
                              p->grad_norm,
                              p->learning_rate,
                              p->std,
                              p->rollout_s,
                              p->advantages_s,
                              p->update_s,
                              p->device_utilisation,
                              p->cpu_utilisation,
                              p->memory_bytes,
                              p->learner_bytes};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        CHECK(figures[i] == first + (double)i);
}

static void come_back(void)
{
    const char *path = scratch_path("back.db");
    struct db_writer *writer = fixture_writer(path, &config);
    struct db_training t = fixture_training("ppo-btc", 2), older = fixture_training("older", 1);
    db_writer_group_begin(writer);
    db_writer_put_training(writer, &t);
    db_writer_put_training(writer, &older);
    t.state = "update", t.reason = "why", t.cause = "nan", t.device = "0", t.backend = "gpu";
    t.checkpoint = "/c", t.policy = "/p", t.config = "new";
    t.priority = -7, t.steps = 1 << 20, t.total_steps = INT64_MAX, t.iteration = 3, t.attempts = 4;
    t.steps_s = 5.5, t.episode_return = -6.25, t.memory_bytes = 7, t.cpu_s = 8.5;
    t.started_ns = 9, t.ended_ns = 10, t.heard_ns = 11, t.seq = 12;
    db_writer_put_training(writer, &t);
    struct db_training_point p = {"ppo-btc", 512, 2,  77, 1,  2,  3,  4,  5,  6,  7,  8,
                                  9,         10,  11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    db_writer_put_training_point(writer, &p);
    p = (struct db_training_point){
        .training = "ppo-btc", .steps = 1024, .ts_ns = 78, .loss = NAN, .kl = INFINITY};
    db_writer_put_training_point(writer, &p);
    struct db_training_evaluation e = {"ppo-btc", 512, 79, 1, 2, 3, 4};
    db_writer_put_training_evaluation(writer, &e);
    struct db_training_state s = {.training = "ppo-btc", .state = "loading", .ts_ns = 5, .utilisation = NAN};
    db_writer_put_training_state(writer, &s);
    s = (struct db_training_state){.training = "ppo-btc", .state = "rollout", .ts_ns = 6, .utilisation = 0.5};
    db_writer_put_training_state(writer, &s);
    s.training = "unknown";
    db_writer_put_training_state(writer, &s);
    db_writer_group_end(writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK(stats.ok);
    CHECK_INT(stats.skipped, 1); /* of a training that there is not */

    struct db_reader *reader = fixture_reader(path);
    struct seen seen = {0};
    CHECK_INT(db_reader_trainings(reader, NULL, see_training, &seen), 0);
    CHECK_STR(seen.text, "older queued     [ppo]\nepochs = 4\n  ;ppo-btc update why nan 0 gpu new /c /p;");
    CHECK_INT(seen.training.priority, -7);
    CHECK_INT(seen.training.steps, 1 << 20);
    CHECK_INT(seen.training.total_steps, INT64_MAX);
    CHECK_INT(seen.training.iteration, 3);
    CHECK_INT(seen.training.attempts, 4);
    CHECK(seen.training.steps_s == 5.5 && seen.training.episode_return == -6.25 &&
          seen.training.cpu_s == 8.5);
    CHECK_INT(seen.training.memory_bytes, 7);
    CHECK_INT(seen.training.created_ns, 2);
    CHECK_INT(seen.training.started_ns, 9);
    CHECK_INT(seen.training.ended_ns, 10);
    CHECK_INT(seen.training.heard_ns, 11);
    CHECK_INT(seen.training.seq, 12);
    seen = (struct seen){0};
    CHECK_INT(db_reader_trainings(reader, "older", see_training, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK(isnan(seen.training.steps_s) && isnan(seen.training.episode_return) && isnan(seen.training.cpu_s));
    CHECK_INT(seen.training.memory_bytes, -1);
    CHECK_INT(db_reader_trainings(reader, "none", see_training, &seen), 0);
    CHECK_INT(seen.n, 1);

    seen = (struct seen){0};
    CHECK_INT(db_reader_training_points(reader, "ppo-btc", INT64_MIN, see_point, &seen), 0);
    CHECK_INT(seen.n, 2);
    CHECK(isnan(seen.point.loss) && isnan(seen.point.kl) && seen.point.reward == 0);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM training_points WHERE loss IS NULL"), 1);

    /* The same steps replace; what lay beyond a checkpoint is forgotten. */
    struct db_training_point again = {"ppo-btc", 512, 2,   77,  101, 102, 103, 104, 105, 106, 107, 108,
                                      109,       110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120};
    db_writer_put_training_point(writer, &again);
    db_writer_rewind_training(writer, "ppo-btc", 512);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    seen = (struct seen){0};
    CHECK_INT(db_reader_training_points(reader, "ppo-btc", INT64_MIN, see_point, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_INT(seen.point.steps, 512);
    CHECK_INT(seen.point.iteration, 2);
    CHECK_INT(seen.point.ts_ns, 77);
    check_figures(&seen.point, 101);
    seen = (struct seen){0};
    CHECK_INT(db_reader_training_evaluations(reader, "ppo-btc", INT64_MIN, see_evaluation, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_INT(seen.evaluation.steps, 512);
    CHECK_INT(seen.evaluation.ts_ns, 79);
    CHECK(seen.evaluation.reward == 1 && seen.evaluation.total_return == 2 &&
          seen.evaluation.benchmark_return == 3 && seen.evaluation.drawdown == 4);
    CHECK_INT(db_reader_training_states(reader, "ppo-btc", 0, see_state, &seen), 0);
    CHECK_STR(seen.text, "loading;rollout;");
    CHECK(seen.state.utilisation == 0.5);
    seen = (struct seen){0};
    CHECK_INT(db_reader_training_states(reader, "ppo-btc", 1, see_state, &seen), 0);
    CHECK_STR(seen.text, "rollout;");

    /* Started again: only its row is left. */
    db_writer_rewind_training(writer, "ppo-btc", -1);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(sql_query_file(path, "SELECT (SELECT count(*) FROM training_points) + (SELECT count(*) FROM "
                                   "training_evaluations) + (SELECT count(*) FROM training_states)"),
              0);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings"), 2);
    db_reader_close(reader);
    fixture_close(writer);
}

/* ---- what is kept ---- */

struct model {
    int64_t steps[ROWS_MAX];
    size_t n;
};

/* Replaces or inserts; beyond what is kept, every second one of the older half goes. */
static void model_put(struct model *m, int64_t steps)
{
    size_t at = m->n;
    while (at > 0 && m->steps[at - 1] >= steps)
        at--;
    if (at < m->n && m->steps[at] == steps)
        return;
    memmove(m->steps + at + 1, m->steps + at, (m->n - at) * sizeof *m->steps);
    m->steps[at] = steps;
    if (++m->n <= KEPT)
        return;
    size_t to = 0, half = m->n / 2;
    for (size_t i = 0; i < m->n; i++)
        if (i >= half || i % 2 == 0)
            m->steps[to++] = m->steps[i];
    m->n = to;
}

static void model_rewind(struct model *m, int64_t steps)
{
    while (m->n > 0 && m->steps[m->n - 1] > steps)
        m->n--;
}

struct comparison {
    const struct model *model;
    size_t n, differ;
};

static void compare_point(void *ctx, const struct db_training_point *row)
{
    struct comparison *c = ctx;
    c->differ += c->n >= c->model->n || c->model->steps[c->n] != row->steps ||
                 row->episode_return != (double)row->steps;
    c->n++;
}

static void compare_evaluation(void *ctx, const struct db_training_evaluation *row)
{
    struct comparison *c = ctx;
    c->differ += c->n >= c->model->n || c->model->steps[c->n] != row->steps;
    c->n++;
}

/* Two trainings at once, in turns; the writer is closed and opened in the middle. */
static void thin_points(struct random *random)
{
    static const char *const names[2] = {"a", "b"};
    static struct model models[2];
    const char *path = scratch_path("thin.db");
    struct db_writer *writer = fixture_writer(path, &config);
    struct db_reader *reader = NULL;
    int64_t steps[2] = {0}, oldest[2] = {-1, -1};
    for (int i = 0; i < 2; i++) {
        struct db_training t = fixture_training(names[i], i);
        db_writer_put_training(writer, &t);
    }
    for (int round = 0; round < 60; round++) {
        int which = random_chance(random, 70) ? 0 : 1;
        struct model *m = &models[which];
        if (random_chance(random, 15) && m->n > 1) {
            steps[which] = m->steps[random_between(random, (int64_t)m->n * 3 / 4, (int64_t)m->n - 1)];
            db_writer_rewind_training(writer, names[which], steps[which]);
            model_rewind(m, steps[which]);
        }
        for (int64_t i = random_between(random, 1, 900); i > 0; i--) {
            steps[which] += random_chance(random, 5) ? 0 : random_between(random, 1, 1000);
            struct db_training_point p = {
                .training = names[which], .steps = steps[which], .episode_return = (double)steps[which]};
            struct db_training_evaluation e = {.training = names[which], .steps = steps[which]};
            db_writer_put_training_point(writer, &p);
            db_writer_put_training_evaluation(writer, &e);
            oldest[which] = oldest[which] < 0 ? steps[which] : oldest[which];
            model_put(m, steps[which]);
        }
        if (round == 30) {
            fixture_close(writer);
            writer = fixture_writer(path, &config);
        }
        CHECK_INT(db_writer_flush(writer, 60000), 0);
        if (!reader)
            reader = fixture_reader(path);
        struct comparison points = {.model = m}, evaluations = {.model = m};
        CHECK_INT(db_reader_training_points(reader, names[which], INT64_MIN, compare_point, &points), 0);
        CHECK_INT(
            db_reader_training_evaluations(reader, names[which], INT64_MIN, compare_evaluation, &evaluations),
            0);
        CHECK_INT(points.n, m->n);
        CHECK_INT(points.differ, 0);
        CHECK_INT(evaluations.n, m->n);
        CHECK_INT(evaluations.differ, 0);
        CHECK(m->n <= KEPT);
        CHECK_INT(m->steps[0], oldest[which]);
        CHECK_INT(m->steps[m->n - 1], steps[which]);
    }
    CHECK(models[0].n > KEPT / 2); /* it was thinned at all */
    db_reader_close(reader);
    fixture_close(writer);
}

/* ---- the timeline ---- */

struct timeline {
    int64_t first_ns, last_ns, long_ns[STATES];
    double busy_ns[STATES];
    int last; /* state */
    double utilisation;
    size_t n;
    int64_t newest[KEPT / 2]; /* a ring */
};

static int state_of(const char *name)
{
    int i = 0;
    while (i < STATES - 1 && strcmp(state_names[i], name) != 0)
        i++;
    return i;
}

static void timeline_add(struct timeline *t, int state, int64_t ts_ns, double utilisation)
{
    if (t->n == 0)
        t->first_ns = ts_ns;
    else {
        t->long_ns[t->last] += ts_ns - t->last_ns;
        t->busy_ns[t->last] += t->utilisation * (double)(ts_ns - t->last_ns);
    }
    t->newest[t->n++ % (KEPT / 2)] = ts_ns;
    t->last = state;
    t->last_ns = ts_ns;
    t->utilisation = utilisation;
}

static void see_timeline(void *ctx, const struct db_training_state *row)
{
    timeline_add(ctx, state_of(row->state), row->ts_ns, row->utilisation);
}

static void merge_states(struct random *random)
{
    static struct timeline all, stored;
    const char *path = scratch_path("merge.db");
    struct db_writer *writer = fixture_writer(path, &config);
    struct db_training t = fixture_training("a", 1);
    int64_t ts_ns = FIXTURE_START;
    db_writer_put_training(writer, &t);
    for (int i = 0; i < 20000; i++) {
        int state = i % 2;
        if (random_chance(random, 3))
            state = (int)random_between(random, 0, STATES - 1);
        double utilisation = (double)random_between(random, 0, 100) / 100;
        struct db_training_state row = {
            .training = "a", .state = state_names[state], .ts_ns = ts_ns, .utilisation = utilisation};
        db_writer_put_training_state(writer, &row);
        timeline_add(&all, state, ts_ns, utilisation);
        ts_ns += random_chance(random, 1) ? INT64_C(3600000000000) : random_between(random, 1, 1000000000);
    }
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_training_states(reader, "a", 0, see_timeline, &stored), 0);
    CHECK(stored.n <= KEPT && stored.n > KEPT / 2);
    CHECK_INT(stored.first_ns, all.first_ns);
    CHECK_INT(stored.last_ns, all.last_ns);
    for (int i = 0; i < STATES; i++) {
        CHECK_INT(stored.long_ns[i], all.long_ns[i]);
        CHECK_NEAR(stored.busy_ns[i] / all.busy_ns[i], 1, 1e-9);
    }
    for (size_t i = 0; i < KEPT / 2 - 1; i++)
        CHECK_INT(stored.newest[(stored.n - 1 - i) % (KEPT / 2)], all.newest[(all.n - 1 - i) % (KEPT / 2)]);

    /* Where no state repeats among 16, the bound still holds, and both ends. */
    struct db_training other = fixture_training("b", 2);
    db_writer_put_training(writer, &other);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "state%d", i % 16);
        struct db_training_state row = {.training = "b", .state = name, .ts_ns = i, .utilisation = NAN};
        db_writer_put_training_state(writer, &row);
    }
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    CHECK(sql_query_file(path, "SELECT count(*) FROM training_states WHERE training = 'b'") <= KEPT);
    CHECK_INT(sql_query_file(path, "SELECT min(ts_ns) FROM training_states WHERE training = 'b'"), 0);
    CHECK_INT(sql_query_file(path, "SELECT max(ts_ns) FROM training_states WHERE training = 'b'"), 9999);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM training_states WHERE utilisation IS NULL"),
              sql_query_file(path, "SELECT count(*) FROM training_states WHERE training = 'b'"));
    db_reader_close(reader);
    fixture_close(writer);
}

/* Of trainings that ended the oldest go, with all that they have; those that run never do. */
static void forget_trainings(void)
{
    const char *path = scratch_path("forget.db");
    struct db_writer *writer = fixture_writer(path, &config);
    for (int i = 0; i < DB_TRAININGS_KEPT + 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        struct db_training t = fixture_training(name, i);
        t.state = i < 10 ? "rollout" : i % 3 == 0 ? "done" : i % 3 == 1 ? "failed" : "stopped";
        t.ended_ns = i < 10 ? 0 : 100000 - i; /* the later started, the earlier ended */
        db_writer_put_training(writer, &t);
        struct db_training_point p = {.training = name, .steps = 1};
        db_writer_put_training_point(writer, &p);
    }
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings"), DB_TRAININGS_KEPT);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings WHERE state = 'rollout'"), 10);
    /* Each newcomer stays, and the one that came before it ended first. */
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings WHERE name = 't1039'"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings WHERE name = 't1038'"), 0);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM trainings WHERE name = 't998'"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM training_points"), DB_TRAININGS_KEPT);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.skipped, 0);
    fixture_close(writer);
}

/* While the disk refuses, a training's row and what belongs to it are dropped together, or not at all. */
static atomic_bool gate_open;

static int gate(void *ctx, uint64_t event_seq)
{
    (void)ctx, (void)event_seq;
    return gate_open ? 0 : -EIO;
}

static void drop_together(void)
{
    const char *path = scratch_path("drop.db");
    const struct db_writer_config gated = {.before_commit = gate, .queue_max = 16384};
    struct db_writer *writer = fixture_writer(path, &gated);
    db_writer_group_begin(writer);
    db_writer_put_event(writer, 1);
    db_writer_put_meta(writer, "held", "back");
    db_writer_group_end(writer);
    int64_t seq = 0, taken = 0;
    for (bool went = true; went && seq < 10000;) {
        struct db_training t = fixture_training("a", 1);
        t.seq = ++seq;
        db_writer_group_begin(writer);
        went = db_writer_put_training(writer, &t) > 0;
        for (int i = 0; i < 20; i++) { /* the bound is passed in the middle of a group too */
            struct db_training_point p = {.training = "a", .steps = 20 * seq + i};
            CHECK_INT(db_writer_put_training_point(writer, &p) > 0, went);
        }
        db_writer_group_end(writer);
        taken += went;
    }
    CHECK(taken > 0 && taken < seq);
    gate_open = true;
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    CHECK_INT(sql_query_file(path, "SELECT seq FROM trainings"), taken);
    CHECK_INT(sql_query_file(path, "SELECT max(steps) FROM training_points"), 20 * taken + 19);
    struct db_training t = fixture_training("a", 1);
    t.seq = seq;
    CHECK(db_writer_put_training(writer, &t) > 0);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT seq FROM trainings"), seq);
}

int main(void)
{
    struct random random = random_seeded("db/training", 0x7a11);
    come_back();
    thin_points(&random);
    merge_states(&random);
    forget_trainings();
    drop_together();
    return check_done("db/training");
}
