#include "daemon/training/alert.h"

#include <stdio.h>
#include <string.h>

/* docs/serve.md has the causes. */
static const struct {
    const char *cause, *code, *words;
} causes[] = {
    {"nan", "TRAINING_NAN", "losses or gradients are no numbers"},
    {"memory", "TRAINING_MEMORY", "its worker is out of memory"},
    {"memory_budget", "TRAINING_MEMORY", "its worker was over its memory"},
    {"device", "TRAINING_DEVICE", "its device is lost"},
    {"config", "TRAINING_FAILED", "its configuration cannot be trained with"},
    {"checkpoint", "TRAINING_FAILED", "its checkpoint does not fit"},
    {"cpu_budget", "TRAINING_FAILED", "its worker was over its processor time"},
    {"disk", "TRAINING_DISK", "checkpoints cannot be written"},
    {"killed", "TRAINING_FAILED", "its worker was killed"},
    {"crash", "TRAINING_FAILED", "its worker has crashed"},
    {"hung", "TRAINING_FAILED", "its worker hung and was killed"},
};

void daemon_training_reported_of(const struct training *training, struct training_reported *reported)
{
    reported->attempts = training->attempts;
    reported->created_ns = training->created_ns;
    memcpy(reported->state, training->state, sizeof reported->state);
    memcpy(reported->cause, training->cause, sizeof reported->cause);
    if (daemon_training_state_works(training->state))
        memcpy(reported->trouble, training->cause, sizeof reported->trouble);
}

/* Is it of a worker that ended by itself? */
static bool make(const char *name, const char *state, const char *cause, const char *reason,
                 struct training_alert *ret)
{
    bool failed = strcmp(state, "failed") == 0;
    bool again = strcmp(state, "queued") == 0 && cause[0];
    bool stopped = strcmp(state, "stopped") == 0 && cause[0];
    bool trouble = (strcmp(state, "warning") == 0 || daemon_training_state_works(state)) && cause[0];
    if (!failed && !again && !stopped && !trouble)
        return false;
    const char *words = "it failed";
    ret->code = "TRAINING_FAILED";
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (strcmp(causes[i].cause, cause) != 0)
            continue;
        ret->code = causes[i].code;
        words = causes[i].words;
    }
    ret->severity = failed ? DB_ERROR : DB_WARNING;
    ret->lasts = trouble;
    ret->about = name;
    snprintf(ret->text, sizeof ret->text, "%s: %.300s%s", name, reason[0] ? reason : words,
             again ? "; it is started again from its last checkpoint" : "");
    daemon_training_clean(ret->text);
    return true;
}

static void take_word(const json_t *event, const char *key, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(event, key));
    snprintf(ret, size, "%s", text ? text : "");
    daemon_training_clean(ret);
}

bool daemon_training_alert_event(struct training_reported *reported, const char *name, const json_t *event,
                                 struct training_alert *ret)
{
    const char *kind = json_string_value(json_object_get(event, "event"));
    struct training_reported now = *reported;
    now.event_state[0] = now.event_cause[0] = now.event_reason[0] = '\0';
    if (kind && strcmp(kind, "state") == 0) {
        take_word(event, "state", now.event_state, sizeof now.event_state);
        take_word(event, "cause", now.event_cause, sizeof now.event_cause);
        take_word(event, "reason", now.event_reason, sizeof now.event_reason);
    } else if (kind && strcmp(kind, "warning") == 0) {
        snprintf(now.event_state, sizeof now.event_state, "warning");
        take_word(event, "cause", now.event_cause, sizeof now.event_cause);
        take_word(event, "message", now.event_reason, sizeof now.event_reason);
        if (now.event_cause[0])
            memcpy(now.trouble, now.event_cause, sizeof now.trouble);
    }
    bool same = strcmp(now.event_state, reported->event_state) == 0 &&
                strcmp(now.event_cause, reported->event_cause) == 0 &&
                strcmp(now.event_reason, reported->event_reason) == 0;
    *reported = now;
    return !same && make(name, now.event_state, now.event_cause, now.event_reason, ret);
}

bool daemon_training_alert_state(const struct training_reported *reported, bool stored,
                                 const struct training *now, struct training_alert *ret)
{
    bool same = strcmp(reported->state, now->state) == 0 && strcmp(reported->cause, now->cause) == 0 &&
                reported->attempts == now->attempts && reported->created_ns == now->created_ns;
    bool by_event =
        strcmp(reported->event_state, now->state) == 0 && strcmp(reported->event_cause, now->cause) == 0;
    if (daemon_training_state_works(now->state))
        same = stored = strcmp(reported->trouble, now->cause) == 0;
    return !(stored && same) && !by_event && make(now->name, now->state, now->cause, now->reason, ret);
}

void daemon_training_stalled_words(const struct training *training, char ret[static TRAINING_ALERT_TEXT_MAX])
{
    if (daemon_training_hangs(training))
        snprintf(ret, TRAINING_ALERT_TEXT_MAX,
                 "its worker (process %lld) lives, but has been in %s for %.0f s, where %.0f s would be "
                 "long; papertape train restart %s begins another",
                 (long long)training->pid, training->state, training->state_s, training->state_limit_s,
                 training->name);
    else
        snprintf(ret, TRAINING_ALERT_TEXT_MAX,
                 "its worker (process %lld) says nothing any more, last it was in %s; papertape train "
                 "restart %s begins another",
                 (long long)training->pid, training->state, training->name);
}

/* ---- a study's trials ---- */

int64_t daemon_training_trial_ns(const json_t *event)
{
    const char *kind = json_string_value(json_object_get(event, "event"));
    int64_t ns = json_integer_value(json_object_get(event, "ts_ns"));
    return kind && strcmp(kind, "trial") == 0 && ns > 0 ? ns : 0;
}

bool daemon_training_best_words(const json_t *event, char ret[static TRAINING_ALERT_TEXT_MAX])
{
    const json_t *number = json_object_get(event, "number"), *value = json_object_get(event, "value");
    const json_t *best = json_object_get(event, "best_number");
    if (daemon_training_trial_ns(event) == 0 || !json_is_integer(number) || !json_is_integer(best) ||
        json_integer_value(number) != json_integer_value(best) || !json_is_number(value) ||
        json_integer_value(json_object_get(event, "complete")) < 2)
        return false;
    snprintf(ret, TRAINING_ALERT_TEXT_MAX, "trial %lld with %.6g, after %lld of %lld",
             (long long)json_integer_value(number), json_number_value(value),
             (long long)json_integer_value(json_object_get(event, "done")),
             (long long)json_integer_value(json_object_get(event, "trials")));
    return true;
}
