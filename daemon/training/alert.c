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
    {"disk", "TRAINING_FAILED", "its files cannot be written"},
    {"killed", "TRAINING_FAILED", "its worker was killed"},
    {"crash", "TRAINING_FAILED", "its worker has crashed"},
};

void training_told_of(const struct training *training, struct training_told *ret)
{
    *ret = (struct training_told){.attempts = training->attempts, .created_ns = training->created_ns};
    memcpy(ret->state, training->state, sizeof ret->state);
    memcpy(ret->cause, training->cause, sizeof ret->cause);
}

bool training_alert(const struct training_told *before, const struct training *now,
                    struct training_alert *ret)
{
    bool failed = strcmp(now->state, "failed") == 0;
    bool again = !failed && strcmp(now->state, "queued") == 0 && now->cause[0];
    bool budget = strcmp(now->state, "stopped") == 0 && strcmp(now->cause, "cpu_budget") == 0;
    if (!failed && !again && !budget)
        return false;
    if (before && strcmp(before->state, now->state) == 0 && strcmp(before->cause, now->cause) == 0 &&
        before->attempts == now->attempts && before->created_ns == now->created_ns)
        return false;
    const char *words = "it failed";
    ret->code = "TRAINING_FAILED";
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (strcmp(causes[i].cause, now->cause) != 0)
            continue;
        ret->code = causes[i].code;
        words = causes[i].words;
    }
    ret->severity = failed ? DB_ERROR : DB_WARNING;
    snprintf(ret->text, sizeof ret->text, "%s: %.300s%s", now->name, now->reason[0] ? now->reason : words,
             again ? "; it is begun again from its last checkpoint" : "");
    return true;
}

void training_alert_stalled(const struct training *training, struct training_alert *ret)
{
    ret->code = "TRAINING_STALLED";
    ret->severity = DB_WARNING;
    if (training_hangs(training))
        snprintf(ret->text, sizeof ret->text,
                 "%s: its worker (process %lld) lives, but has been in %s for %.0f s, where %.0f s would be "
                 "long: papertape train restart %s begins another",
                 training->name, (long long)training->pid, training->state, training->state_s,
                 training->state_limit_s, training->name);
    else
        snprintf(ret->text, sizeof ret->text,
                 "%s: its worker (process %lld) says nothing any more: last it was in %s; papertape train "
                 "restart %s begins "
                 "another",
                 training->name, (long long)training->pid, training->state, training->name);
}
