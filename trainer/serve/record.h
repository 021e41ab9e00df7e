/* What the co-process must know of a training after its own end: trainings/NAME/record.json in the state
 * directory, written whole before its content takes effect. docs/serve.md has the words. */
#ifndef TRAINER_SERVE_RECORD_H
#define TRAINER_SERVE_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TRAINING_RECORD_NAME_MAX = 32, /* with its NUL: names become accounts' */
    TRAINING_RECORD_REASON_MAX = 512,
    TRAINING_RECORD_WORD_MAX = 32,
    TRAINING_RECORD_BACKEND_MAX = 96,
    TRAINING_RECORD_BOOT_MAX = 40,
    TRAINING_RECORD_KEY_MAX = 64, /* with its NUL */
    TRAINING_RECORD_KEYS_MAX = 16,
    TRAINING_RECORD_RUN_MAX = 64,
    TRAINING_RECORD_VERDICT_MAX = 256,
    TRAINING_RECORD_ERROR_MAX = 512,
};

#define TRAINING_TEMPORARY ".new" /* suffix of a training's file that is being written */

enum training_state {
    TRAINING_QUEUED,
    TRAINING_LOADING, /* the first of those that have a worker */
    TRAINING_FEATURES,
    TRAINING_ROLLOUT,
    TRAINING_UPDATE,
    TRAINING_EVALUATING,
    TRAINING_PROPOSING,     /* training its best parameters again */
    TRAINING_SEARCHING,     /* a study: its trials have states of their own */
    TRAINING_CHECKPOINTING, /* the last of them */
    TRAINING_PAUSED,
    TRAINING_DONE, /* the first of those that have ended */
    TRAINING_FAILED,
    TRAINING_STOPPED,
    TRAINING_STATES,
};

/* Why its worker was asked to end; the next co-process carries it out if this one cannot. */
enum training_ending {
    ENDING_NONE,
    ENDING_STOP,
    ENDING_PAUSE,
    ENDING_RESTART,
    ENDING_SHUTDOWN, /* the co-process ends: the next one continues */
    ENDING_CPU,      /* over its processor time */
    ENDING_MEMORY,   /* over its memory */
    ENDING_HUNG,     /* killed, since it had stalled */
    TRAINING_ENDINGS,
};

/* A command that was carried out, with the key of its sender. */
struct training_record_key {
    char key[TRAINING_RECORD_KEY_MAX], cmd[TRAINING_RECORD_WORD_MAX];
};

/* A zeroed one is empty. Times are wall-clock; 0: not yet. */
struct training_record {
    char name[TRAINING_RECORD_NAME_MAX];
    enum training_state state;
    enum training_ending ending;
    char reason[TRAINING_RECORD_REASON_MAX], cause[TRAINING_RECORD_WORD_MAX]; /* "": none */
    int64_t created_ns, started_ns, ended_ns;
    int priority, attempts, restarts;
    bool overwrite; /* older checkpoints of the name are not its own */
    bool changed;   /* the configuration differs from the last checkpoint's */
    /* The worker; 0: none, or unknown. Its start in the system's ticks, of the boot of that id. */
    pid_t pid;
    int64_t pid_started;
    char boot[TRAINING_RECORD_BOOT_MAX];
    double cpu_s;                          /* of processes that ended */
    int64_t steps, total_steps, iteration; /* of a study trials that ended, trials that are wanted */
    double episode_return;                 /* NaN: unknown, and of a study */
    char backend[TRAINING_RECORD_BACKEND_MAX], device[TRAINING_RECORD_WORD_MAX];
    char checkpoint[PATH_MAX], policy[PATH_MAX];
    int64_t checkpoint_steps;
    int64_t seq;                       /* of its events, at least */
    char run[TRAINING_RECORD_RUN_MAX]; /* of a study: its name in studies.db; "": not started */
    bool run_over;    /* it is done, or has failed for good: the next worker starts another */
    int64_t begun_ns; /* when that run first started; 0 */
    int64_t due_ns;   /* a scheduled study's next run, while it is queued; 0: none */
    char verdict[TRAINING_RECORD_WORD_MAX], verdict_text[TRAINING_RECORD_VERDICT_MAX]; /* "": not evaluated */
    char *config;                                              /* the file's text; owned */
    struct training_record_key keys[TRAINING_RECORD_KEYS_MAX]; /* the newest, oldest first */
    int n_keys;
};

const char *serve_training_state_name(enum training_state state);
bool serve_training_state_parse(const char *name, enum training_state *ret);
bool serve_training_state_runs(enum training_state state); /* it has a worker */
bool serve_training_state_ended(enum training_state state);

/* The same for a state's word; false for an unknown one. */
bool serve_training_word_runs(const char *word);
bool serve_training_word_ended(const char *word);

/* Is its progress endless: without a number of steps, or with a practically infinite one? The share of steps
 * done, 0 to 1; NaN where it is endless or `steps` is unknown (below 0). */
bool serve_training_steps_endless(int64_t total_steps);
double serve_training_steps_share(int64_t steps, int64_t total_steps);

/* A training's name (db/row.h) that none of our own files has. */
bool serve_training_record_name_is_good(const char *name);

/* Copies a text for JSON: truncates what does not fit, and replaces bytes that are not UTF-8 by question
 * marks. */
void serve_training_record_text(char *ret, size_t size, const char *text);

/* The command that was carried out under that key; NULL: none, or too long ago. */
const struct training_record_key *serve_training_record_key_find(const struct training_record *record,
                                                                 const char *key);
/* Replaces the oldest if there is no room. */
void serve_training_record_key_add(struct training_record *record, const char *key, const char *cmd);

/* 0 or -errno with a sentence; on failure the path keeps its old content. */
int serve_training_record_write(const struct training_record *record, const char *path,
                                char err[static TRAINING_RECORD_ERROR_MAX]);

/* 0, for serve_training_record_finish(); -ENOENT, other errors of reading, -EBADMSG: no record. */
int serve_training_record_read(const char *path, struct training_record *ret,
                               char err[static TRAINING_RECORD_ERROR_MAX]);
void serve_training_record_finish(struct training_record *record);

#endif
