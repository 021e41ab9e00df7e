#include "daemon/training/training.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "db/records.h"
#include "exchange/utf8.h"
#include "record/json.h"

enum {
    EXPECTED_MS = 1000, /* where the co-process does not say */
    STALE_TIMES = 3,
    STALLED_TIMES = 10,
    STALLED_MS_MIN = 60000,
    PRIORITY_MAX = 100,
};

#define STEPS_MAX (1LL << 53) /* a JSON number's whole ones */

/* docs/serve.md. */
static const struct {
    const char *name;
    bool works, ended;
} states[] = {
    {"queued", false, false},   {"loading", true, false},   {"features", true, false},
    {"rollout", true, false},   {"update", true, false},    {"evaluating", true, false},
    {"proposing", true, false}, {"searching", true, false}, {"checkpointing", true, false},
    {"paused", false, false},   {"done", false, true},      {"failed", false, true},
    {"stopped", false, true},
};

static int find_state(const char *state)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].name, state) == 0)
            return (int)i;
    return -ENOENT;
}

bool daemon_training_state_ended(const char *state)
{
    int i = find_state(state);
    return i >= 0 && states[i].ended;
}

bool daemon_training_state_works(const char *state)
{
    int i = find_state(state);
    return i >= 0 && states[i].works;
}

void daemon_training_clean(char *text)
{
    size_t n = strlen(text), last = n;
    while (last > 0 && n - last < UTF8_MAX - 1 && ((unsigned char)text[last - 1] & 0xc0) == 0x80)
        last--;
    unsigned char lead = last > 0 ? (unsigned char)text[last - 1] : 0;
    size_t whole = lead >= 0xf5 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (n - last + 1 < whole)
        text[last - 1] = '\0';
    utf8_clean(text);
}

/* ---- from the co-process ---- */

#define ROW struct training
static const struct record_field shown_fields[] = {RECORD_SHOWN_FIELDS(TRAINING_SHOWN)};
static const struct record_field fields[] = {RECORD_SHOWN_FIELDS(TRAINING_SHOWN)
                                                 RECORD_SHOWN_FIELDS(RECORD_TRAINING_LAST_LINE)};
static const struct record shown = RECORD_OF("trainings", shown_fields),
                           record = RECORD_OF("trainings", fields);
#undef ROW

static void take_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
    daemon_training_clean(to);
}

/* Takes the object's values; without an object (NULL) there are none. Invalid whole numbers are not known:
 * -1; missing times are 0. */
static void take(const json_t *object, struct training *ret)
{
    *ret = (struct training){0};
    record_json_take(&record, object, take_text, ret);
    for (const struct record_field *field = fields; field < fields + record.n; field++) {
        int64_t n = record_field_number(field, ret);
        if (field->kind == RECORD_TIME && n < 0)
            record_field_set_number(field, ret, 0);
        if (field->kind == RECORD_UNSIGNED &&
            (n > STEPS_MAX || json_is_real(json_object_get(object, field->name))))
            record_field_set_number(field, ret, -1);
    }
}

int daemon_training_parse(const json_t *object, struct training *ret)
{
    struct training training;
    take(object, &training);
    const json_t *priority = json_object_get(object, "priority");
    if (!json_is_integer(priority) || training.priority < -PRIORITY_MAX || training.priority > PRIORITY_MAX)
        training.priority = 0;
    if (training.steps < 0)
        training.steps = 0;
    if (training.seq < 0)
        training.seq = 0;
    const char *name = json_string_value(json_object_get(object, "name")); /* "training" in the status */
    take_text(training.name, sizeof training.name, name ? name : "");
    if (!name || !db_training_name_good(name) || find_state(training.state) < 0 || training.created_ns == 0)
        return -EPROTO;
    *ret = training;
    return 0;
}

/* ---- the database ---- */

void daemon_training_of_row(const struct db_training *row, struct training *ret)
{
    take(NULL, ret);
    record_copy(&db_record_trainings, row, &record,
                ret); /* cuts nothing: the columns were stored at these lengths */
    ret->memory_mib = row->memory_bytes >= 0 ? (double)row->memory_bytes / (1 << 20) : NAN;
}

void daemon_training_row(const struct training *training, const char *config, int64_t seq,
                         struct db_training *ret)
{
    double mib = training->memory_mib;
    *ret = (struct db_training){.memory_bytes = -1};
    record_copy(&record, training, &db_record_trainings, ret);
    ret->config = config;
    ret->seq = seq;
    if (mib >= 0 && mib <= (double)(1 << 30))
        ret->memory_bytes = (int64_t)(mib * (1 << 20));
}

bool daemon_training_changed(const struct training *before, const struct training *now)
{
    return strcmp(before->state, now->state) != 0 || strcmp(before->reason, now->reason) != 0 ||
           strcmp(before->cause, now->cause) != 0 || strcmp(before->device, now->device) != 0 ||
           strcmp(before->backend, now->backend) != 0 || strcmp(before->checkpoint, now->checkpoint) != 0 ||
           strcmp(before->policy, now->policy) != 0 || strcmp(before->verdict, now->verdict) != 0 ||
           strcmp(before->verdict_text, now->verdict_text) != 0 || before->priority != now->priority ||
           before->steps != now->steps || before->total_steps != now->total_steps ||
           before->attempts != now->attempts || before->created_ns != now->created_ns ||
           before->started_ns != now->started_ns || before->ended_ns != now->ended_ns;
}

/* ---- the status ---- */

static int64_t age_of(const struct training *training, int64_t reported_age_ms)
{
    bool works = daemon_training_state_works(training->state);
    int64_t received = works && training->heard_age_ms >= 0 ? training->heard_age_ms : 0;
    return reported_age_ms + received;
}

static int64_t expected_of(const struct training *training)
{
    return training->expected_ms > 0 ? training->expected_ms : EXPECTED_MS;
}

bool daemon_training_hangs(const struct training *training)
{
    return daemon_training_state_works(training->state) && training->state_s > training->state_limit_s;
}

bool daemon_training_stalled(const struct training *training, int64_t reported_age_ms)
{
    int64_t limit = STALLED_TIMES * expected_of(training);
    if (daemon_training_hangs(training))
        return true;
    return daemon_training_state_works(training->state) &&
           age_of(training, reported_age_ms) > (limit > STALLED_MS_MIN ? limit : STALLED_MS_MIN);
}

json_t *daemon_training_object(const struct training *t, int64_t reported_age_ms, bool live)
{
    int64_t age = age_of(t, reported_age_ms), expected = expected_of(t);
    bool ended = daemon_training_state_ended(t->state);
    bool stale = !ended && age > STALE_TIMES * expected && (daemon_training_state_works(t->state) || !live);
    stale = stale || daemon_training_hangs(t);
    struct training now = *t;
    now.age_ms = age;
    now.expected_ms = expected;
    now.stale = stale;
    return record_json_object(&shown, NULL, 0, &now, NULL);
}
