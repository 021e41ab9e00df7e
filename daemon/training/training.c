#include "daemon/training/training.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* ---- from the co-process ---- */

struct text_field {
    const char *name;
    size_t at, size;
};
struct number_field {
    const char *name;
    size_t at;
};

#define TEXT(name, field) \
    { \
        name, offsetof(struct training, field), sizeof(((struct training *)NULL)->field) \
    }
#define AT(name, field) \
    { \
        name, offsetof(struct training, field) \
    }

static const struct text_field texts[] = {
    TEXT("name", name),       TEXT("state", state),   TEXT("cause", cause),           TEXT("device", device),
    TEXT("backend", backend), TEXT("reason", reason), TEXT("checkpoint", checkpoint), TEXT("policy", policy),
    TEXT("study", study),
};

/* Whole numbers below zero are not known: -1. */
static const struct number_field counts[] = {
    AT("steps", steps),
    AT("total_steps", total_steps),
    AT("iteration", iteration),
    AT("attempts", attempts),
    AT("restarts", restarts),
    AT("checkpoint_steps", checkpoint_steps),
    AT("retry_in_ms", retry_in_ms),
    AT("expected_ms", expected_ms),
    AT("heard_age_ms", heard_age_ms),
    AT("seq", seq),
    AT("pid", pid),
};
/* These are 0 where there is none. */
static const struct number_field times[] = {AT("created_ns", created_ns), AT("started_ns", started_ns),
                                            AT("ended_ns", ended_ns), AT("heard_ns", heard_ns),
                                            AT("due_ns", due_ns)};

static const struct number_field reals[] = {
    AT("steps_per_second", steps_s),
    AT("return", episode_return),
    AT("memory_mib", memory_mib),
    AT("memory_limit_mib", memory_limit_mib),
    AT("device_mib", device_mib),
    AT("cpu_s", cpu_s),
    AT("cpu_limit_s", cpu_limit_s),
    AT("utilisation", utilisation),
    AT("cpu_utilisation", cpu_utilisation),
    AT("state_seconds", state_s),
    AT("state_limit_seconds", state_limit_s),
};

#define N(array) (sizeof(array) / sizeof *(array))

static void take_text(const json_t *value, char *to, size_t size)
{
    const char *text = json_string_value(value);
    snprintf(to, size, "%s", text ? text : "");
    daemon_training_clean(to);
}

static int64_t whole(const json_t *value, int64_t max)
{
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    return n < 0 || n > max ? -1 : (int64_t)n;
}

int daemon_training_parse(const json_t *object, struct training *ret)
{
    struct training training = {0};
    char *base = (char *)&training;
    for (size_t i = 0; i < N(texts); i++)
        take_text(json_object_get(object, texts[i].name), base + texts[i].at, texts[i].size);
    for (size_t i = 0; i < N(counts); i++)
        *(int64_t *)(base + counts[i].at) = whole(json_object_get(object, counts[i].name), STEPS_MAX);
    for (size_t i = 0; i < N(times); i++) {
        int64_t ns = whole(json_object_get(object, times[i].name), INT64_MAX);
        *(int64_t *)(base + times[i].at) = ns < 0 ? 0 : ns;
    }
    for (size_t i = 0; i < N(reals); i++) {
        const json_t *value = json_object_get(object, reals[i].name);
        double number = json_is_number(value) ? json_number_value(value) : NAN;
        *(double *)(base + reals[i].at) = isfinite(number) ? number : NAN;
    }
    const json_t *priority = json_object_get(object, "priority");
    if (json_is_integer(priority) && json_integer_value(priority) >= -PRIORITY_MAX &&
        json_integer_value(priority) <= PRIORITY_MAX)
        training.priority = json_integer_value(priority);
    training.stopping = json_is_true(json_object_get(object, "stopping"));
    if (training.steps < 0)
        training.steps = 0;
    if (training.seq < 0)
        training.seq = 0;
    const char *name = json_string_value(json_object_get(object, "name"));
    if (!name || !db_training_name_good(name) || find_state(training.state) < 0 || training.created_ns == 0)
        return -EPROTO;
    *ret = training;
    return 0;
}

/* ---- the database ---- */

void daemon_training_of_row(const struct db_training *row, struct training *ret)
{
    *ret = (struct training){
        .priority = row->priority,
        .steps = row->steps,
        .total_steps = row->total_steps,
        .iteration = row->iteration,
        .attempts = row->attempts,
        .restarts = -1,
        .checkpoint_steps = -1,
        .retry_in_ms = -1,
        .expected_ms = -1,
        .heard_age_ms = -1,
        .created_ns = row->created_ns,
        .started_ns = row->started_ns,
        .ended_ns = row->ended_ns,
        .heard_ns = row->heard_ns,
        .seq = row->seq,
        .steps_s = row->steps_s,
        .episode_return = row->episode_return,
        .memory_mib = row->memory_bytes >= 0 ? (double)row->memory_bytes / (1 << 20) : NAN,
        .memory_limit_mib = NAN,
        .device_mib = NAN,
        .cpu_s = row->cpu_s,
        .cpu_limit_s = NAN,
        .utilisation = NAN,
        .cpu_utilisation = NAN,
        .state_s = NAN,
        .state_limit_s = NAN,
        .pid = -1,
    };
    snprintf(ret->name, sizeof ret->name, "%s", row->name);
    snprintf(ret->state, sizeof ret->state, "%s", row->state);
    snprintf(ret->cause, sizeof ret->cause, "%s", row->cause);
    snprintf(ret->device, sizeof ret->device, "%s", row->device);
    snprintf(ret->backend, sizeof ret->backend, "%s", row->backend);
    snprintf(ret->reason, sizeof ret->reason, "%s", row->reason);
    snprintf(ret->checkpoint, sizeof ret->checkpoint, "%s", row->checkpoint);
    snprintf(ret->policy, sizeof ret->policy, "%s", row->policy);
}

void daemon_training_row(const struct training *training, const char *config, int64_t seq,
                         struct db_training *ret)
{
    *ret = (struct db_training){
        .name = training->name,
        .state = training->state,
        .reason = training->reason,
        .cause = training->cause,
        .device = training->device,
        .backend = training->backend,
        .config = config,
        .checkpoint = training->checkpoint,
        .policy = training->policy,
        .priority = training->priority,
        .steps = training->steps,
        .total_steps = training->total_steps,
        .iteration = training->iteration,
        .attempts = training->attempts,
        .steps_s = training->steps_s,
        .episode_return = training->episode_return,
        .cpu_s = training->cpu_s,
        .memory_bytes = isnan(training->memory_mib) || training->memory_mib < 0 ||
                                training->memory_mib > (double)(1 << 30)
                            ? -1
                            : (int64_t)(training->memory_mib * (1 << 20)),
        .created_ns = training->created_ns,
        .started_ns = training->started_ns,
        .ended_ns = training->ended_ns,
        .heard_ns = training->heard_ns,
        .seq = seq,
    };
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

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

static json_t *count_or_null(int64_t n)
{
    return n >= 0 ? json_integer(n) : json_null();
}

static json_t *time_or_null(int64_t ns)
{
    return ns > 0 ? json_integer(ns) : json_null();
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *daemon_training_object(const struct training *t, int64_t told_age_ms, bool live)
{
    int64_t age = age_of(t, told_age_ms), expected = expected_of(t);
    bool ended = daemon_training_state_ended(t->state);
    bool stale = !ended && age > STALE_TIMES * expected && (daemon_training_state_works(t->state) || !live);
    stale = stale || daemon_training_hangs(t);
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"training", json_string(t->name)},
        {"state", json_string(t->state)},
        {"reason", json_string(t->reason)},
        {"cause", text_or_null(t->cause)},
        {"priority", json_integer(t->priority)},
        {"device", text_or_null(t->device)},
        {"backend", text_or_null(t->backend)},
        {"steps", json_integer(t->steps)},
        {"total_steps", count_or_null(t->total_steps)},
        {"iteration", count_or_null(t->iteration)},
        {"steps_per_second", real_or_null(t->steps_s)},
        {"return", real_or_null(t->episode_return)},
        {"attempts", count_or_null(t->attempts)},
        {"restarts", count_or_null(t->restarts)},
        {"retry_in_ms", count_or_null(t->retry_in_ms)},
        {"created_ns", time_or_null(t->created_ns)},
        {"started_ns", time_or_null(t->started_ns)},
        {"ended_ns", time_or_null(t->ended_ns)},
        {"age_ms", json_integer(age)},
        {"expected_ms", json_integer(expected)},
        {"stale", json_boolean(stale)},
        {"stopping", json_boolean(t->stopping)},
        {"pid", count_or_null(t->pid)},
        {"memory_mib", real_or_null(t->memory_mib)},
        {"memory_limit_mib", real_or_null(t->memory_limit_mib)},
        {"device_mib", real_or_null(t->device_mib)},
        {"cpu_s", real_or_null(t->cpu_s)},
        {"cpu_limit_s", real_or_null(t->cpu_limit_s)},
        {"utilisation", real_or_null(t->utilisation)},
        {"cpu_utilisation", real_or_null(t->cpu_utilisation)},
        {"checkpoint", text_or_null(t->checkpoint)},
        {"checkpoint_steps", count_or_null(t->checkpoint_steps)},
        {"policy", text_or_null(t->policy)},
        {"study", text_or_null(t->study)},
        {"due_ns", time_or_null(t->due_ns)},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < N(members); i++)
        json_object_set_new(object, members[i].name, members[i].value);
    return object;
}
