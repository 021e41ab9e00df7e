/* A training as the co-process tells of it, and as the status shows it: docs/serve.md, docs/control.md. */
#ifndef RECORD_TRAINING_SHOWN_H
#define RECORD_TRAINING_SHOWN_H

#include "record/shown.h"

/* `name`: what C calls its name. Counts of -1 are not known, nor reals that are NaN; times of 0 are not yet.
 */
#define RECORD_SHOWN_TRAINING(TEXT, FIELD, name) \
    TEXT(32, 64, name, "training", REQUIRED) /* with its NUL: names become accounts' */ \
    TEXT(24, 24, state, "state", REQUIRED) \
    TEXT(512, 160, reason, "reason", REQUIRED) \
    TEXT(24, 24, cause, "cause", OPTIONAL) \
    FIELD(SIGNED, priority, "priority", REQUIRED) \
    TEXT(24, 24, device, "device", OPTIONAL) \
    TEXT(96, 48, backend, "backend", OPTIONAL) \
    FIELD(UNSIGNED, steps, "steps", REQUIRED) \
    FIELD(UNSIGNED, total_steps, "total_steps", UNKNOWN) \
    FIELD(UNSIGNED, iteration, "iteration", UNKNOWN) \
    FIELD(REAL, steps_s, "steps_per_second", NULLABLE) \
    FIELD(REAL, episode_return, "return", NULLABLE) \
    FIELD(UNSIGNED, attempts, "attempts", UNKNOWN) \
    FIELD(UNSIGNED, restarts, "restarts", UNKNOWN) \
    FIELD(UNSIGNED, retry_in_ms, "retry_in_ms", UNKNOWN) \
    FIELD(TIME, created_ns, "created_ns", OPTIONAL) \
    FIELD(TIME, started_ns, "started_ns", OPTIONAL) \
    FIELD(TIME, ended_ns, "ended_ns", OPTIONAL) \
    FIELD(UNSIGNED, age_ms, "age_ms", REQUIRED)           /* since it was heard of */ \
    FIELD(UNSIGNED, expected_ms, "expected_ms", REQUIRED) /* between two words of its worker */ \
    FIELD(BOOL, stale, "stale", REQUIRED) \
    FIELD(BOOL, stopping, "stopping", REQUIRED) \
    FIELD(UNSIGNED, pid, "pid", UNKNOWN) /* of its worker */ \
    FIELD(REAL, memory_mib, "memory_mib", NULLABLE) \
    FIELD(REAL, memory_limit_mib, "memory_limit_mib", NULLABLE) \
    FIELD(REAL, device_mib, "device_mib", NULLABLE) \
    FIELD(REAL, cpu_s, "cpu_s", NULLABLE) \
    FIELD(REAL, cpu_limit_s, "cpu_limit_s", NULLABLE) \
    FIELD(REAL, utilisation, "utilisation", NULLABLE) \
    FIELD(REAL, cpu_utilisation, "cpu_utilisation", NULLABLE) \
    TEXT(1024, 512, checkpoint, "checkpoint", OPTIONAL) \
    FIELD(UNSIGNED, checkpoint_steps, "checkpoint_steps", UNKNOWN) \
    TEXT(1024, 512, policy, "policy", OPTIONAL) \
    TEXT(64, 64, study, "study", OPTIONAL)  /* its run in studies.db; "": a training */ \
    FIELD(TIME, due_ns, "due_ns", OPTIONAL) /* of a scheduled study's next run */

/* What only the co-process tells the daemon; state_s: in this state, and how long it may be. */
#define RECORD_TRAINING_HEARD(TEXT, FIELD) \
    FIELD(UNSIGNED, heard_age_ms, "heard_age_ms", UNKNOWN) \
    FIELD(TIME, heard_ns, "heard_ns", OPTIONAL) \
    FIELD(UNSIGNED, seq, "seq", REQUIRED) /* its newest event */ \
    FIELD(REAL, state_s, "state_seconds", NULLABLE) \
    FIELD(REAL, state_limit_s, "state_limit_seconds", NULLABLE)

#endif
