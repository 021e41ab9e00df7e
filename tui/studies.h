/* Studies as the dashboard shows them: the studies of a storage, with the workers of one study ("NAME_1",
 * "NAME_2" …) grouped. Made by the reader from what it read (db/studies/study.h); plain values of their own
 * afterwards, so that drawing never waits for a storage. Texts are as stored: the canvas cleans them. */
#ifndef TUI_STUDIES_H
#define TUI_STUDIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/studies/study.h"
#include "tui/status.h"

enum {
    STUDIES_MAX = 256,                /* listed, the newest; a storage may have more */
    STUDY_POINTS = 96,                /* of the best so far in the list, thinned */
    STUDY_LABEL_MAX = 560,            /* "ppo-btc_1..3" */
    STUDY_RATE_TRIALS = 20,           /* the newest finished ones, over which trials/h are computed */
    STUDY_HEARTBEAT_MS = 10000,       /* expected between two of a worker of ours */
    STUDY_HEARTBEAT_OTHER_MS = 60000, /* of other programs' workers: Optuna has no default */
    /* A trial that runs without any heartbeat is stale once it has run for so long without an end: a minute,
     * and three times as long as the study's longest finished trial; ten minutes while no trial has. */
    STUDY_GRACE_MS = 60000,
    STUDY_GRACE_FIRST_MS = 600000,
    STUDY_GRACE_TIMES = 3,
    STUDY_VERDICT_MAX = 256, /* VERDICT_TEXT_MAX of strategy/metrics/verdict.h */
};

struct tui_study {
    char key[STUDY_LABEL_MAX];     /* the key that it is chosen by: the same whichever workers join */
    char label[STUDY_LABEL_MAX];   /* what is shown */
    char name[STUDY_NAME_MAX + 1]; /* of its newest study */
    char job[STUDY_NAME_MAX + 1];  /* its user's name for it: without "_K" and "@TIME" */
    int members;                   /* studies that it has */
    int first_k, last_k;           /* K of the first and of the last; 0: it has none */
    int *ks;                       /* [members] of all, ascending, owned */
    int n_objectives;
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    int counts[TRIAL_STATES], n_trials;
    int retried;      /* of FAIL: those that another trial tries again (trainer/study/tally.h) */
    int stale;        /* of RUNNING: those without a heartbeat whose worker is gone, as far as can be seen */
    int64_t stale_us; /* when the first of them began; STUDY_NO_TIME */
    int64_t grace_ms; /* after which such a trial is */
    int64_t wanted;   /* trials; -1: not known */
    bool have_best;
    double best; /* of one objective */
    int best_member, best_number,
        best_k; /* its study, its number there, K of "NAME_K" where there are several */
    int pareto; /* of several: trials that no other is better than in all; -1: one objective */
    double points[STUDY_POINTS];
    int n_points;
    int64_t started_us, newest_us; /* of the first trial; of the last event; STUDY_NO_TIME */
    int64_t heartbeat_us; /* newest heartbeat of trials that run; STUDY_NO_TIME: one of them has none */
    int64_t heartbeat_expected_ms; /* how often a heartbeat is expected */
    double trials_h;               /* NaN: not known */
    double eta_s;                  /* likewise */
    char unread[512];              /* why a study of it, or its newest trials, could not be read; "" */
    char *config;                  /* papertape:config of the newest study that has it, owned; NULL */
    char verdict[STATUS_WORD_MAX]; /* on its newest proposal's holdout, by the word; "": none */
    char verdict_text[STUDY_VERDICT_MAX];
    int64_t verdict_of; /* whose proposal that is: a study's id */
};

struct tui_studies {
    struct tui_study *study; /* [n], newest first */
    int n;
    size_t studies; /* in the storage, those that are not shown among them */
};

/* Groups and counts. `studies` is borrowed. NULL without memory. For tui_studies_destroy(). */
struct tui_studies *tui_studies_make(struct study *const *studies, size_t n, int64_t now_us);
void tui_studies_destroy(struct tui_studies *list); /* NULL is fine */

/* The study, one of those it was made from, could not be read, or not its newest trials: its row says so.
 * `counts` are those trials, by state, that the study itself lacks; NULL: none. */
void tui_studies_unread(struct tui_studies *list, const struct study *study, const int *counts,
                        const char *words);

/* The verdict of the proposal of one of the studies that it was made from: of several the newest study's. */
void tui_studies_judged(struct tui_studies *list, const struct study *study, const char *word,
                        const char *text);

/* By its key, label, the name of one of its studies, or NAME of its workers; of several the newest. NULL. */
const struct tui_study *tui_studies_find(const struct tui_studies *list, const char *name);
/* The next one after `after` with that name too, as NAME_1 and NAME_2 are two studies for NAME; NULL. */
const struct tui_study *tui_studies_find_other(const struct tui_studies *list, const char *name,
                                               const struct tui_study *after);

/* Which of `studies` belong to the study of that key, by K: indices into ret [cap]. Returns how many. */
size_t tui_studies_members(struct study *const *studies, size_t n, const char *key, size_t *ret, size_t cap);

/* Is `a` better than `b`, by a direction? Without one it is minimised. */
static inline bool tui_study_better(enum study_direction direction, double a, double b)
{
    return direction == STUDY_MAXIMIZE ? a > b : a < b;
}

bool tui_study_has(const struct tui_study *shown, const char *study);

/* How many run, without those that are stale. */
int tui_study_running(const struct tui_study *shown);

/* How many of the study's trials have ended, with any result, as it counts them towards `wanted`: one that
 * is tried again has not. */
int tui_study_done(const struct tui_study *shown);

/* How many failed for good: without those that are tried again. */
int tui_study_failed(const struct tui_study *shown);

/* "#29"; of the worker NAME_2 where there are several: "2#29". */
const char *tui_study_best_name(const struct tui_study *shown, char buf[static STATUS_WORD_MAX]);

/* "max", "min"; of several objectives "max,min". */
const char *tui_study_direction(const struct tui_study *shown, char buf[static STATUS_WORD_MAX]);

/* One trial that completed within its constraints, as an order of completion needs it. */
struct tui_study_result {
    int64_t completed_us;
    int member, number;
    const struct study_trial *trial;
};

/* Those of the members, oldest first, for free(); NULL without memory or with none. */
struct tui_study_result *tui_study_results(struct study *const *members, size_t n, size_t *ret_n);

#endif
