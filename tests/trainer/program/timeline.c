/* Reports of states: exact where states last, and where they do not, with the sum of their times. */
#include "trainer/telemetry/report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"

enum { RUNS = 400, ITERATIONS = 600, KINDS = 3 };
static const char *const kinds[KINDS] = {"rollout", "update", "checkpointing"};

/* How long each state took, and how long the reports say. */
struct training_record {
    struct timeline timeline;
    double now_s, next_tick_s, tick_s;
    double took[KINDS], reported[KINDS];
    const char *state, *said;
    double said_s, least_s; /* the least between two reported turns */
    unsigned n_said;
};

static size_t kind_of(const char *state)
{
    size_t i = 0;
    while (i < KINDS && strcmp(kinds[i], state) != 0)
        i++;
    return i;
}

static void receive(struct training_record *record, const char *said)
{
    if (!said)
        return;
    CHECK(strcmp(said, record->said) != 0);
    if (kind_of(said) < 2 && kind_of(record->said) < 2)
        record->least_s = fmin(record->least_s, record->now_s - record->said_s);
    record->said = said;
    record->said_s = record->now_s;
    record->n_said++;
}

static void pass(struct training_record *record, double until_s)
{
    size_t state = kind_of(record->state), said = kind_of(record->said);
    if (state < KINDS)
        record->took[state] += until_s - record->now_s;
    if (said < KINDS)
        record->reported[said] += until_s - record->now_s;
    record->now_s = until_s;
}

static void last(struct training_record *record, const char *state, double seconds)
{
    double end_s = record->now_s + seconds;
    receive(record, telemetry_timeline_enter(&record->timeline, state, record->now_s));
    record->state = state;
    if (kind_of(state) == 2)
        CHECK_STR(record->said, state);
    while (record->next_tick_s < end_s) {
        pass(record, record->next_tick_s);
        receive(record, telemetry_timeline_tick(&record->timeline, record->now_s));
        record->next_tick_s += record->tick_s;
    }
    pass(record, end_s);
}

static void begin(struct training_record *record, double every_s, double tick_s)
{
    *record = (struct training_record){
        .state = "", .said = "", .least_s = INFINITY, .tick_s = tick_s, .now_s = 100};
    record->next_tick_s = record->now_s + tick_s;
    telemetry_timeline_begin(&record->timeline, every_s);
}

/* Rollouts of a fifth of a second and updates of four, a checkpoint each third iteration: as a small training
 * on a CPU has them. */
static void short_iterations(void)
{
    struct training_record record;
    begin(&record, 1, 0.25);
    for (int i = 0; i < 300; i++) {
        last(&record, "rollout", 0.05);
        last(&record, "update", 0.2);
        if (i % 3 == 2)
            last(&record, "checkpointing", 0.01);
    }
    CHECK_NEAR(record.reported[2], record.took[2], 1e-9);
    CHECK_NEAR(record.reported[0] / record.took[0], 1, 0.1);
    CHECK_NEAR(record.reported[1] / record.took[1], 1, 0.05);
}

/* States that last are reported when they begin; all are where nothing is left out. */
static void exact(void)
{
    struct training_record record;
    static const double every[] = {1, 0};
    for (size_t k = 0; k < 2; k++) {
        begin(&record, every[k], 0.25);
        for (int i = 0; i < 20; i++) {
            last(&record, "rollout", k ? 0.001 : 1.5);
            CHECK_STR(record.said, "rollout");
            last(&record, "update", k ? 0.002 : 7);
            CHECK_STR(record.said, "update");
        }
        for (size_t i = 0; i < 2; i++)
            CHECK_NEAR(record.reported[i], record.took[i], 1e-9);
        CHECK_INT(record.n_said, 40);
    }
}

/* A state that turns out to last is reported soon, whatever time was not yet reported. */
static void hangs(void)
{
    struct training_record record;
    begin(&record, 1, 0.25);
    for (int i = 0; i < 57; i++) {
        last(&record, "rollout", 0.1);
        last(&record, "update", 0.13);
    }
    last(&record, "rollout", 3600);
    CHECK_STR(record.said, "rollout");
    CHECK(record.now_s - record.said_s > 3590);
}

/* Whatever the lengths, in step with the reports or not. */
static void any(struct random *random)
{
    double worst = 0;
    for (int run = 0; run < RUNS; run++) {
        struct training_record record;
        double every_s = 0.1 * (1 + random_next(random) % 20);
        double scale = pow(10, (double)(random_next(random) % 400) / 100 - 3);
        unsigned share = random_next(random) % 101, checkpoints = 1 + random_next(random) % 30;
        bool regular = random_next(random) % 2;
        begin(&record, every_s, every_s / 4);
        for (int i = 0; i < ITERATIONS; i++) {
            double a = regular ? 1 : (double)(random_next(random) % 1000) / 500;
            double b = regular ? 1 : (double)(random_next(random) % 1000) / 500;
            last(&record, "rollout", scale * share / 100 * a);
            last(&record, "update", scale * (100 - share) / 100 * b);
            if (random_next(random) % checkpoints == 0)
                last(&record, "checkpointing", scale / 5);
            for (size_t k = 0; k < 2; k++) /* at every time, not at the end alone */
                worst = fmax(worst, fabs(record.reported[k] - record.took[k]) / every_s);
        }
        CHECK(record.least_s >= every_s - 1e-9);
        CHECK_NEAR(record.reported[2], record.took[2], 1e-6);
        CHECK_NEAR(record.reported[0] + record.reported[1], record.took[0] + record.took[1], 1e-6);
    }
    printf("timeline: at most %.2f times --report-every is not yet reported\n", worst);
    CHECK(worst < 2);
}

int main(void)
{
    struct random random = random_seeded("trainer/program/timeline", 0x71e);
    short_iterations();
    exact();
    hangs();
    any(&random);
    return check_done("trainer/program/timeline");
}
