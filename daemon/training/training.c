#include "daemon/training/training.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "db/records.h"
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

/* The bytes of the character of UTF-8 that begins there; 0: none does; -1: the text ends within it. */
static int character(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    int n = c[0] < 0x80                   ? 1
            : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
            : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
            : c[0] < 0xf5                 ? 4
                                          : 0;
    if (c[0] >= 0x80 && c[0] < 0xc2)
        return 0;
    for (int i = 1; i < n; i++)
        if (!c[i])
            return -1;
        else if ((c[i] & 0xc0) != 0x80)
            return 0;
    json_t *json =
        n > 0 ? json_stringn(at, (size_t)n) : NULL; /* surrogates, overlong ones, beyond the last */
    json_decref(json);
    return json ? n : 0;
}

void daemon_training_clean(char *text)
{
    for (char *c = text; *c;) {
        int n = character(c);
        if (n < 0)
            *c = '\0';
        else if (n == 0 || (n == 1 && (*c < ' ' || *c == 127)))
            *c++ = '?';
        else
            c += n;
    }
}

/* ---- fields ---- */

/* What the status says of a training, in its order. */
struct shown {
    struct training t;
    int64_t age_ms, expected_ms;
    bool stale;
};

/* By `column` in the co-process's `list` (figures by `name`) and in the database where that has it; by `name`
 * in the status. "": not there. Whole numbers below zero are not known. */
#define RECORD_SHOWN(FIRST, NEXT) \
    FIRST(t.name, "name", "training", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(t.state, "state", "state", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(t.reason, "reason", "reason", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(t.cause, "cause", "cause", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.priority, "priority", "priority", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(t.device, "device", "device", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.backend, "backend", "backend", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.steps, "steps", "steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(t.total_steps, "total_steps", "total_steps", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.iteration, "iteration", "iteration", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.steps_s, "steps_s", "steps_per_second", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.episode_return, "return", "return", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.attempts, "attempts", "attempts", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.restarts, "restarts", "restarts", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.retry_in_ms, "retry_in_ms", "retry_in_ms", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.created_ns, "created_ns", "created_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(t.started_ns, "started_ns", "started_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(t.ended_ns, "ended_ns", "ended_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(age_ms, "", "age_ms", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(expected_ms, "", "expected_ms", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(stale, "", "stale", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(t.stopping, "stopping", "stopping", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(t.pid, "pid", "pid", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.memory_mib, "memory_mib", "memory_mib", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.memory_limit_mib, "memory_limit_mib", "memory_limit_mib", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.device_mib, "device_mib", "device_mib", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.cpu_s, "cpu_s", "cpu_s", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.cpu_limit_s, "cpu_limit_s", "cpu_limit_s", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.utilisation, "utilisation", "utilisation", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.cpu_utilisation, "cpu_utilisation", "cpu_utilisation", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.checkpoint, "checkpoint", "checkpoint", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.checkpoint_steps, "checkpoint_steps", "checkpoint_steps", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.policy, "policy", "policy", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.study, "study", "study", TEXT, CHANGES, OPTIONAL, NULL) \
    NEXT(t.due_ns, "due_ns", "due_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(t.expected_ms, "expected_ms", "", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.heard_age_ms, "heard_age_ms", "", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(t.heard_ns, "heard_ns", "", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(t.state_s, "state_seconds", "", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.state_limit_s, "state_limit_seconds", "", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(t.seq, "seq", "", SIGNED, CHANGES, UNKNOWN, NULL)

#define ROW struct shown
static const struct record_field fields[] = {RECORD_FIELDS(RECORD_SHOWN)};
static const struct record layout = RECORD_OF("", fields);
#undef ROW

/* ---- from the co-process ---- */

static int64_t whole(const json_t *value, int64_t max)
{
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    return n < 0 || n > max ? -1 : (int64_t)n;
}

/* A value that cannot be is not known. */
static void take(const struct record_field *field, const json_t *value, void *row)
{
    char *text = (char *)row + field->offset;
    double real = json_is_number(value) ? json_number_value(value) : NAN;
    switch (field->kind) {
    case RECORD_TEXT:
        snprintf(text, field->size, "%s", json_is_string(value) ? json_string_value(value) : "");
        daemon_training_clean(text);
        return;
    case RECORD_REAL:
        record_field_set_real(field, row, isfinite(real) ? real : NAN);
        return;
    case RECORD_BOOL:
        record_field_set_number(field, row, json_is_true(value));
        return;
    case RECORD_TIME:
        record_field_set_number(field, row, whole(value, INT64_MAX) < 0 ? 0 : whole(value, INT64_MAX));
        return;
    default:
        record_field_set_number(field, row, whole(value, STEPS_MAX));
    }
}

static const char *key_of(const struct record_field *field)
{
    return field->kind == RECORD_REAL && *field->name ? field->name : field->column;
}

/* Without an object all is unknown. */
static void take_all(const json_t *object, struct shown *ret)
{
    *ret = (struct shown){0};
    for (const struct record_field *field = fields; field < fields + layout.n; field++)
        if (*field->column)
            take(field, json_object_get(object, key_of(field)), ret);
    if (ret->t.steps < 0)
        ret->t.steps = 0;
    if (ret->t.seq < 0)
        ret->t.seq = 0;
}

int daemon_training_parse(const json_t *object, struct training *ret)
{
    struct shown shown;
    take_all(object, &shown);
    json_int_t priority = json_integer_value(json_object_get(object, "priority"));
    shown.t.priority = priority >= -PRIORITY_MAX && priority <= PRIORITY_MAX ? priority : 0;
    const char *name = json_string_value(json_object_get(object, "name"));
    if (!name || !db_training_name_good(name) || find_state(shown.t.state) < 0 || shown.t.created_ns == 0)
        return -EPROTO;
    *ret = shown.t;
    return 0;
}

/* ---- the database ---- */

void daemon_training_of_row(const struct db_training *row, struct training *ret)
{
    struct shown shown;
    take_all(NULL, &shown);
    record_copy(&db_record_trainings, row, &layout, &shown);
    if (row->memory_bytes >= 0)
        shown.t.memory_mib = (double)row->memory_bytes / (1 << 20);
    *ret = shown.t;
}

void daemon_training_row(const struct training *training, const char *config, int64_t seq,
                         struct db_training *ret)
{
    double mib = training->memory_mib;
    *ret = (struct db_training){0};
    record_copy(&layout, training, &db_record_trainings, ret); /* what is no training's has no column */
    ret->config = config;
    ret->memory_bytes = isnan(mib) || mib < 0 || mib > (double)(1 << 30) ? -1 : (int64_t)(mib * (1 << 20));
    ret->seq = seq;
}

bool daemon_training_changed(const struct training *before, const struct training *now)
{
    return strcmp(before->state, now->state) != 0 || strcmp(before->reason, now->reason) != 0 ||
           strcmp(before->cause, now->cause) != 0 || strcmp(before->device, now->device) != 0 ||
           strcmp(before->backend, now->backend) != 0 || strcmp(before->checkpoint, now->checkpoint) != 0 ||
           strcmp(before->policy, now->policy) != 0 || before->priority != now->priority ||
           before->steps != now->steps || before->total_steps != now->total_steps ||
           before->attempts != now->attempts || before->created_ns != now->created_ns ||
           before->started_ns != now->started_ns || before->ended_ns != now->ended_ns;
}

/* ---- the status ---- */

static int64_t age_of(const struct training *training, int64_t told_age_ms)
{
    bool works = daemon_training_state_works(training->state);
    int64_t heard = works && training->heard_age_ms >= 0 ? training->heard_age_ms : 0;
    return told_age_ms + heard;
}

static int64_t expected_of(const struct training *training)
{
    return training->expected_ms > 0 ? training->expected_ms : EXPECTED_MS;
}

bool daemon_training_hangs(const struct training *training)
{
    return daemon_training_state_works(training->state) && training->state_s > training->state_limit_s;
}

bool daemon_training_stalled(const struct training *training, int64_t told_age_ms)
{
    int64_t limit = STALLED_TIMES * expected_of(training);
    if (daemon_training_hangs(training))
        return true;
    return daemon_training_state_works(training->state) &&
           age_of(training, told_age_ms) > (limit > STALLED_MS_MIN ? limit : STALLED_MS_MIN);
}

json_t *daemon_training_object(const struct training *t, int64_t told_age_ms, bool live)
{
    struct shown shown = {.t = *t, .age_ms = age_of(t, told_age_ms), .expected_ms = expected_of(t)};
    bool late = shown.age_ms > STALE_TIMES * shown.expected_ms;
    shown.stale = (!daemon_training_state_ended(t->state) && late &&
                   (daemon_training_state_works(t->state) || !live)) ||
                  daemon_training_hangs(t);
    json_t *object = json_object();
    for (const struct record_field *field = fields; field < fields + layout.n; field++)
        if (*field->name)
            json_object_set_new(object, field->name, record_json(field, &shown, &(struct record_context){0}));
    return object;
}
