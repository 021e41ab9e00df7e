/* Events to rows: what each kind of event becomes, points a second, a run that goes back to its checkpoint,
 * numbers out of order, lies; and whole runs, cut into answers anywhere, with daemons killed between them: no
 * step lost or doubled. */
#include "daemon/training/progress.h"

#include <math.h>

#include "tests/check.h"
#include "tests/random.h"

#define SECOND 1000000000LL

enum { ROWS_MAX = 4096, RUNS = 300 };

/* What a database would hold. */
static struct {
    int64_t steps[ROWS_MAX], ts_ns[ROWS_MAX];
    size_t n, rewinds, evaluations, n_states;
    struct db_training_point last;
    struct db_training_evaluation evaluation;
    struct {
        char state[TRAINING_WORD_MAX];
        int64_t ts_ns;
        double utilisation;
    } states[ROWS_MAX];
} rows;

static void take_rewind(void *ctx, int64_t steps)
{
    (void)ctx;
    CHECK(steps >= 0);
    rows.rewinds++;
    while (rows.n > 0 && rows.steps[rows.n - 1] > steps)
        rows.n--;
}

static void take_point(void *ctx, const struct db_training_point *point)
{
    (void)ctx;
    CHECK_STR(point->training, "t");
    CHECK(rows.n == 0 || point->steps > rows.steps[rows.n - 1]);
    rows.last = *point;
    rows.steps[rows.n] = point->steps;
    rows.ts_ns[rows.n++] = point->ts_ns;
}

static void take_evaluation(void *ctx, const struct db_training_evaluation *evaluation)
{
    (void)ctx;
    rows.evaluation = *evaluation;
    rows.evaluations++;
}

static void take_state(void *ctx, const struct db_training_state *state)
{
    (void)ctx;
    size_t i = rows.n_states;
    while (i > 0 && rows.states[i - 1].ts_ns >= state->ts_ns)
        i--;
    if (i < rows.n_states) { /* it replaces */
        CHECK_STR(rows.states[i].state, state->state);
        CHECK(rows.states[i].ts_ns == state->ts_ns && !isnan(state->utilisation));
        rows.states[i].utilisation = state->utilisation;
        return;
    }
    snprintf(rows.states[i].state, sizeof rows.states[i].state, "%s", state->state);
    rows.states[i].ts_ns = state->ts_ns;
    rows.states[i].utilisation = state->utilisation;
    rows.n_states = i + 1;
}

static const struct progress_sink sink = {NULL, take_rewind, take_point, take_evaluation, take_state};

static int64_t take(struct training_progress *progress, const char *text)
{
    json_error_t error;
    json_t *events = json_loads(text, 0, &error);
    if (!events)
        fprintf(stderr, "%s\n%s\n", text, error.text);
    CHECK(events != NULL);
    int64_t reach = daemon_training_progress_reach(progress, events);
    daemon_training_progress_take(progress, "t", events, &sink);
    CHECK_INT(progress->seq, reach);
    json_decref(events);
    return reach;
}

static void begin(struct training_progress *progress, int64_t seq)
{
    memset(&rows, 0, sizeof rows);
    daemon_training_progress_begin(progress, seq);
}

static void kinds(void)
{
    struct training_progress progress;
    begin(&progress, 0);
    CHECK_INT(
        take(
            &progress,
            "[{\"seq\":1,\"ts_ns\":5,\"event\":\"start\",\"steps\":0},"
            "{\"seq\":2,\"ts_ns\":2000000000,\"event\":\"update\",\"steps\":100,\"iteration\":1,\"loss\":0.5,"
            "\"steps_per_second\":12.5,\"rollout_seconds\":0.25,\"kl\":null,\"std\":\"x\","
            "\"peak_rss_bytes\":1048576,\"cpu_utilisation\":1.5,\"device_utilisation\":null},"
            "{\"seq\":3,\"ts_ns\":2000000001,\"event\":\"evaluation\",\"steps\":100,\"return\":0.1,"
            "\"benchmark_return\":-0.2,\"drawdown\":0.3,\"reward\":1},"
            "{\"seq\":4,\"ts_ns\":2000000002,\"event\":\"warning\",\"message\":\"x\"},"
            "{\"seq\":5,\"ts_ns\":2000000003,\"event\":\"nothing that there is\"}]"),
        5);
    CHECK_INT(rows.rewinds, 1);
    CHECK_INT(rows.n, 1);
    CHECK_INT(rows.last.steps, 100);
    CHECK_INT(rows.last.iteration, 1);
    CHECK_NEAR(rows.last.loss, 0.5, 0);
    CHECK_NEAR(rows.last.steps_s, 12.5, 0);
    CHECK_NEAR(rows.last.rollout_s, 0.25, 0);
    CHECK_NEAR(rows.last.memory_bytes, 1048576, 0);
    CHECK_NEAR(rows.last.cpu_utilisation, 1.5, 0);
    CHECK(isnan(rows.last.kl) && isnan(rows.last.std) && isnan(rows.last.device_utilisation) &&
          isnan(rows.last.episode_return));
    CHECK_INT(rows.evaluations, 1);
    CHECK_NEAR(rows.evaluation.total_return, 0.1, 0);
    CHECK_NEAR(rows.evaluation.benchmark_return, -0.2, 0);
    CHECK_NEAR(rows.evaluation.drawdown, 0.3, 0);
}

static void numbers(void)
{
    struct training_progress progress;
    begin(&progress, 10);
    CHECK_INT(take(&progress, "[]"), 10);
    CHECK_INT(take(&progress, "{\"seq\":11}"), 10);
    CHECK_INT(take(&progress, "[{\"seq\":10,\"ts_ns\":1,\"event\":\"update\",\"steps\":7,\"iteration\":1}]"),
              10);
    CHECK_INT(take(&progress, "[{\"seq\":-11,\"ts_ns\":1}]"), 10);
    CHECK_INT(take(&progress, "[{\"seq\":11}]"), 10);
    CHECK_INT(take(&progress, "[{\"seq\":11,\"ts_ns\":-1}]"), 10);
    CHECK_INT(take(&progress, "[{\"seq\":\"11\",\"ts_ns\":1}]"), 10);
    CHECK_INT(take(&progress, "[7]"), 10);
    CHECK_INT(rows.n, 0);
    /* Thinned: numbers have gaps. What follows one out of order is no part of it. */
    CHECK_INT(take(&progress,
                   "[{\"seq\":15,\"ts_ns\":1,\"event\":\"update\",\"steps\":7,\"iteration\":1},"
                   "{\"seq\":15,\"ts_ns\":9000000000,\"event\":\"update\",\"steps\":8,\"iteration\":2},"
                   "{\"seq\":16,\"ts_ns\":9900000000,\"event\":\"update\",\"steps\":9,\"iteration\":3}]"),
              15);
    CHECK_INT(rows.n, 1);
    CHECK_INT(rows.steps[0], 7);
    CHECK_INT(take(&progress,
                   "[{\"seq\":16,\"ts_ns\":9000000000,\"event\":\"update\",\"steps\":-8,\"iteration\":2},"
                   "{\"seq\":17,\"ts_ns\":9000000001,\"event\":\"update\",\"steps\":1.5,\"iteration\":2},"
                   "{\"seq\":18,\"ts_ns\":9000000002,\"event\":\"update\",\"iteration\":2},"
                   "{\"seq\":19,\"ts_ns\":9000000003,\"event\":\"start\",\"steps\":-1},"
                   "{\"seq\":20,\"ts_ns\":9000000004,\"event\":\"evaluation\"},"
                   "{\"seq\":21,\"ts_ns\":9000000005,\"event\":\"state\",\"state\":\"dancing\"},"
                   "{\"seq\":22,\"ts_ns\":9000000006,\"event\":5}]"),
              22);
    CHECK_INT(rows.n, 1);
    CHECK_INT(rows.evaluations, 0);
    CHECK_INT(rows.n_states, 0);
}

static void update(char *text, size_t size, int64_t seq, int64_t ts_ns, int64_t steps, const char *after)
{
    snprintf(text + strlen(text), size - strlen(text),
             "{\"seq\":%" PRId64 ",\"ts_ns\":%" PRId64 ",\"event\":\"update\",\"steps\":%" PRId64
             ",\"iteration\":%" PRId64 "}%s",
             seq, ts_ns, steps, steps / 10, after);
}

static void spacing(void)
{
    struct training_progress progress;
    char text[8192] = "[";
    begin(&progress, 0);
    for (int i = 1; i <= 40; i++) /* ten a second, four seconds */
        update(text, sizeof text, i, 100 * SECOND + i * SECOND / 10, 10 * i, i < 40 ? "," : "]");
    take(&progress, text);
    CHECK_INT(rows.n, 5); /* the first, one a second, and the last */
    CHECK_INT(rows.steps[0], 10);
    CHECK_INT(rows.steps[1], 110);
    CHECK_INT(rows.steps[3], 310);
    CHECK_INT(rows.steps[4], 400);
    /* The one before a checkpoint stays, through what comes between. */
    strcpy(text, "[");
    update(text, sizeof text, 41, 104 * SECOND + SECOND / 10, 410, ",");
    update(text, sizeof text, 42, 104 * SECOND + SECOND / 5, 420, ",");
    strcat(text, "{\"seq\":43,\"ts_ns\":104200000001,\"event\":\"state\",\"state\":\"checkpointing\"},"
                 "{\"seq\":44,\"ts_ns\":104200000002,\"event\":\"heartbeat\"},"
                 "{\"seq\":45,\"ts_ns\":104200000003,\"event\":\"checkpoint\",\"steps\":420},");
    update(text, sizeof text, 46, 104 * SECOND + SECOND / 4, 430, ",");
    update(text, sizeof text, 47, 104 * SECOND + SECOND / 3, 440, "]");
    take(&progress, text);
    CHECK_INT(rows.n, 7);
    CHECK_INT(rows.steps[5], 420);
    CHECK_INT(rows.steps[6], 440);
}

static void back(void)
{
    struct training_progress progress;
    char text[1024] = "[";
    begin(&progress, 0);
    for (int i = 1; i <= 5; i++)
        update(text, sizeof text, i, i * 10 * SECOND, 10 * i, i < 5 ? "," : "]");
    take(&progress, text);
    CHECK_INT(rows.n, 5);
    take(&progress, "[{\"seq\":6,\"ts_ns\":60000000000,\"event\":\"start\",\"steps\":30},"
                    "{\"seq\":7,\"ts_ns\":61000000000,\"event\":\"update\",\"steps\":40,\"iteration\":4}]");
    CHECK_INT(rows.n, 4);
    CHECK_INT(rows.steps[3], 40);
    CHECK_INT(rows.ts_ns[3], 61 * SECOND);
    /* Steps that fall without a report of it. */
    take(&progress, "[{\"seq\":8,\"ts_ns\":70000000000,\"event\":\"update\",\"steps\":15,\"iteration\":1}]");
    CHECK_INT(rows.n, 2);
    CHECK_INT(rows.steps[1], 15);
    /* A daemon that knows but the number. */
    daemon_training_progress_begin(&progress, 8);
    take(&progress, "[{\"seq\":9,\"ts_ns\":80000000000,\"event\":\"update\",\"steps\":12,\"iteration\":1}]");
    CHECK_INT(rows.n, 2);
    CHECK_INT(rows.steps[1], 12);
}

static void timeline(void)
{
    struct training_progress progress;
    begin(&progress, 0);
    take(&progress, "[{\"seq\":1,\"ts_ns\":1000000000,\"event\":\"state\",\"state\":\"loading\"},"
                    "{\"seq\":2,\"ts_ns\":1100000000,\"event\":\"state\",\"state\":\"rollout\"},"
                    "{\"seq\":3,\"ts_ns\":1200000000,\"event\":\"state\",\"state\":\"update\"},"
                    "{\"seq\":4,\"ts_ns\":1250000000,\"event\":\"update\",\"steps\":5,\"iteration\":1,"
                    "\"cpu_utilisation\":0.5},"
                    "{\"seq\":5,\"ts_ns\":1300000000,\"event\":\"state\",\"state\":\"rollout\"},"
                    "{\"seq\":6,\"ts_ns\":2200000000,\"event\":\"state\",\"state\":\"rollout\"},"
                    "{\"seq\":7,\"ts_ns\":2300000000,\"event\":\"state\",\"state\":\"checkpointing\"},"
                    "{\"seq\":8,\"ts_ns\":2350000000,\"event\":\"update\",\"steps\":9,\"iteration\":2,"
                    "\"cpu_utilisation\":0.9},"
                    "{\"seq\":9,\"ts_ns\":2400000000,\"event\":\"state\",\"state\":\"rollout\"}]");
    static const char *const expected[] = {"loading", "rollout",       "update",
                                           "rollout", "checkpointing", "rollout"};
    CHECK_INT(rows.n_states, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_STR(rows.states[i].state, expected[i]);
    CHECK(isnan(rows.states[0].utilisation) && isnan(rows.states[4].utilisation));
    CHECK_NEAR(rows.states[1].utilisation, 0.5, 0); /* of the whole iteration */
    CHECK_NEAR(rows.states[2].utilisation, 0.5, 0);
    CHECK_NEAR(rows.states[3].utilisation, 0.5, 0); /* reported a second before */
    CHECK(rows.states[3].ts_ns == 1300000000 && rows.states[4].ts_ns == 2300000000);
    daemon_training_progress_go(&progress, "t", "queued", 5 * SECOND, &sink);
    daemon_training_progress_go(&progress, "t", "queued", 6 * SECOND, &sink);
    CHECK_INT(rows.n_states, 7);
    daemon_training_progress_go(&progress, "t", "failed", 4 * SECOND, &sink); /* a clock that was set back */
    CHECK_INT(rows.n_states, 8);
    CHECK_INT(rows.states[7].ts_ns, 5 * SECOND + 1);
}

/* ---- whole runs ---- */

static json_t *make_run(struct random *random, int64_t *ret_steps, size_t *ret_n)
{
    json_t *events = json_array();
    int64_t seq = 0, ts_ns = 1000 * SECOND, steps = 0, checkpoint = 0;
    size_t n = 0;
    while (json_array_size(events) < 200) {
        unsigned what = random_next(random) % 100;
        seq += 1 + (int64_t)(random_next(random) % 10 == 0);
        ts_ns += (int64_t)(random_next(random) % (SECOND / 2));
        if (what < 3 || seq <= 2) {
            json_array_append_new(events, json_pack("{s:I, s:I, s:s, s:I}", "seq", (json_int_t)seq, "ts_ns",
                                                    (json_int_t)ts_ns, "event", "start", "steps",
                                                    (json_int_t)checkpoint));
            steps = checkpoint;
            while (n > 0 && ret_steps[n - 1] > steps)
                n--;
        } else if (what < 10) {
            json_array_append_new(events, json_pack("{s:I, s:I, s:s, s:I}", "seq", (json_int_t)seq, "ts_ns",
                                                    (json_int_t)ts_ns, "event", "checkpoint", "steps",
                                                    (json_int_t)steps));
            checkpoint = steps;
        } else if (what < 40) {
            json_array_append_new(events, json_pack("{s:I, s:I, s:s, s:s}", "seq", (json_int_t)seq, "ts_ns",
                                                    (json_int_t)ts_ns, "event", "state", "state",
                                                    what % 2 ? "rollout" : "update"));
        } else {
            steps += 1 + (int64_t)(random_next(random) % 1000);
            json_array_append_new(events, json_pack("{s:I, s:I, s:s, s:I, s:I}", "seq", (json_int_t)seq,
                                                    "ts_ns", (json_int_t)ts_ns, "event", "update", "steps",
                                                    (json_int_t)steps, "iteration", (json_int_t)n));
            ret_steps[n++] = steps;
        }
    }
    *ret_n = n;
    return events;
}

static bool among(int64_t steps, const int64_t *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == steps)
            return true;
    return false;
}

/* Each answer is one transaction: a daemon that is killed knows the number of the last, and nothing else. */
static void runs(struct random *random)
{
    for (int run = 0; run < RUNS; run++) {
        int64_t survive[ROWS_MAX];
        size_t n;
        struct training_progress progress;
        json_t *events = make_run(random, survive, &n);
        begin(&progress, 0);
        for (size_t at = 0; at < json_array_size(events);) {
            size_t answer = 1 + random_next(random) % 40;
            json_t *part = json_array();
            for (size_t i = at; i < at + answer && i < json_array_size(events); i++)
                json_array_append(part, json_array_get(events, i));
            daemon_training_progress_take(&progress, "t", part, &sink);
            CHECK_INT(progress.seq, json_integer_value(json_object_get(
                                        json_array_get(part, json_array_size(part) - 1), "seq")));
            at += json_array_size(part);
            json_decref(part);
            if (random_next(random) % 4 == 0)
                daemon_training_progress_begin(&progress, progress.seq);
        }
        for (size_t i = 0; i < rows.n; i++)
            CHECK(among(rows.steps[i], survive, n));
        CHECK(n == 0 ? rows.n == 0 : rows.n > 0 && rows.steps[rows.n - 1] == survive[n - 1]);
        CHECK(n == 0 || rows.n * 20 > n); /* and they are no small part */
        json_decref(events);
    }
}

/* Bytes changed at random: whatever still is JSON is taken somehow, and numbers never fall. */
static void lies(struct random *random)
{
    static const char good[] =
        "[{\"seq\":1,\"ts_ns\":5,\"event\":\"start\",\"steps\":0},"
        "{\"seq\":2,\"ts_ns\":2000000000,\"event\":\"update\",\"steps\":100,\"iteration\":1},"
        "{\"seq\":3,\"ts_ns\":2000000001,\"event\":\"evaluation\",\"steps\":100,\"return\":0.1},"
        "{\"seq\":4,\"ts_ns\":2000000002,\"event\":\"state\",\"state\":\"rollout\"}]";
    static const char bytes[] = "0123456789-.e{}[],:\"seqtn \\\x01\xff";
    unsigned long read = 0;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof good];
        struct training_progress progress;
        memcpy(text, good, sizeof good);
        for (unsigned changes = 1 + random_next(random) % 4; changes > 0; changes--)
            text[random_next(random) % (sizeof good - 1)] = bytes[random_next(random) % (sizeof bytes - 1)];
        json_t *events = json_loads(text, 0, NULL);
        if (!events)
            continue;
        read++;
        begin(&progress, 0);
        int64_t reach = daemon_training_progress_reach(&progress, events);
        CHECK(reach >= 0);
        daemon_training_progress_take(&progress, "t", events, &sink);
        CHECK_INT(progress.seq, reach);
        json_decref(events);
    }
    CHECK(read > 100);
}

int main(void)
{
    struct random random = random_seeded("daemon/training/progress", 0x709e55);
    kinds();
    numbers();
    spacing();
    back();
    timeline();
    runs(&random);
    lies(&random);
    return check_done("daemon/training/progress");
}
