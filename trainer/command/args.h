/* The verbs of papertape-trainer, and its error messages on stderr. */
#ifndef TRAINER_COMMAND_ARGS_H
#define TRAINER_COMMAND_ARGS_H

#include "exchange/exit_status.h"
#include "record/option.h"

enum { GO_ON = -1 }; /* the command continues; the other values are exit statuses */

/* In alphabetical order: trainer_NAME_verb each. */
#define TRAINER_VERBS(X) \
    X(env_replay) \
    X(eval) \
    X(grad_check) \
    X(plan) \
    X(sample) \
    X(serve) \
    X(study) \
    X(train) \
    X(validate)

#define TRAINER_LISTED(name) TRAINER_LISTED_##name,
enum { TRAINER_VERBS(TRAINER_LISTED) TRAINER_VERB_ROWS };
#define TRAINER_DECLARED(name) extern const struct option_verb trainer_##name##_verb;
TRAINER_VERBS(TRAINER_DECLARED)

/* Begins a verb's row: a verb that is not in the list does not compile. */
#define TRAINER_VERB(name) \
    _Static_assert(TRAINER_LISTED_##name < TRAINER_VERB_ROWS, #name); \
    const struct option_verb trainer_##name##_verb

/* Rows of several verbs, at the member of that name. */
#define TRAINER_CONFIG(of, words) \
    { \
        "config", "FILE", words, offsetof(of, config), .letter = 'c' \
    }
#define TRAINER_HEARTBEAT(of) \
    { \
        "heartbeat", "MS", "a line heartbeat where there was none for so long; none by default", \
            offsetof(of, heartbeat_ms), .low = 0, .high = 86400000 \
    }
#define TRAINER_STORAGE(of, further) \
    { \
        "storage", "URL", \
            "where studies are kept: sqlite:///FILE or sqlite:////absolute/FILE, either with " \
            "?timeout=SECONDS for " \
            "locks, or a file; postgresql://USER@HOST/DATABASE, with libpq's keys after ?" further, \
            offsetof(of, storage) \
    }
#define TRAINER_STORAGE_EXITS "2 also: the storage's URL is wrong"
#define TRAINER_ARTIFACTS(of, further) \
    { \
        "artifacts", "URL", \
            "where machines share the files of trials: file:///DIR or a folder, or s3://BUCKET/PREFIX with " \
            "?endpoint=URL&region=R&path-style=true|false; keys are those of AWS' tools (AWS_ACCESS_KEY_ID, " \
            "~/.aws/credentials, the systemd credential aws-credentials)" further, \
            offsetof(of, artifacts) \
    }
#define TRAINER_SEED(of, words) \
    { \
        "seed", "N", words, offsetof(of, seed), .low = 0, .high = UINT64_MAX \
    }

/* GO_ON, or the exit status after a line about a --storage that is no URL of a storage. */
int trainer_args_storage(const char *url);

/* A line on stderr after the program's name; returns `status`. */
__attribute__((format(printf, 2, 3))) int trainer_args_say(int status, const char *format, ...);

#endif
