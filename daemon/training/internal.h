/* The trainings' internals: trainings.c asks the co-process, keep.c keeps and stores what it reported,
 * view.c shows it. */
#ifndef DAEMON_TRAINING_INTERNAL_H
#define DAEMON_TRAINING_INTERNAL_H

#include <limits.h>

#include "daemon/training/alert.h"
#include "daemon/training/link.h"
#include "daemon/training/progress.h"
#include "daemon/training/trainings.h"

enum { TRAININGS_MAX = DB_TRAININGS_KEPT };

struct known {
    struct training training;
    struct training_progress progress;
    struct training_reported reported; /* as it was stored last */
    char *config;                      /* NULL: not known yet */
    int64_t daemon_config_attempts;    /* of when it was asked for; -1: not */
    uint64_t reported_ms;              /* uv_now() when it was reported */
    int64_t reported_age_ms;           /* that it had then: of one that the database has */
    uint64_t listed;  /* the number of the list that it was in, or that was asked when it was met */
    bool met;         /* the co-process has reported it in this run */
    bool stored;      /* it has a row */
    bool outdated;    /* its rows are of an older one of the name */
    bool dirty;       /* its row is old */
    bool stuck;       /* its events did not follow: until the next list */
    int64_t known_ns; /* since when this run knows of it, by the wall clock */
    int64_t trial_ns; /* when its last trial finished, by the events of this run; 0: not known */
};

struct trainings {
    struct daemon *daemon;
    struct training_link *link;
    uv_timer_t tick;
    char state_dir[PATH_MAX], socket[PATH_MAX], log[PATH_MAX + 16], program[PATH_MAX];
    char numbers[3][24]; /* of the program's arguments */
    const char *arguments[SPAWN_ARGUMENTS_MAX];
    struct known **known; /* oldest first */
    size_t n_known;
    uint64_t lists;                 /* asked */
    bool unlisted;                  /* a training's folder is there that has no row */
    bool listing, pulling;          /* a request is on its way */
    char pulled[TRAINING_NAME_MAX]; /* of which training */
    bool can_store;                 /* rows and alerts can be stored */
    enum link_state reported_state; /* of the co-process, in an alert */
    uint64_t absent_ms;             /* since when the co-process is absent; 0: it is there */
    bool reported_absent, stopped;
    char killed[LINK_DETAIL_MAX], bad[LINK_DETAIL_MAX]; /* to be reported; "" */
    uint64_t bad_ms;                                    /* when the last bad answer was reported; 0: never */
};

static inline uint64_t trainings_now(const struct trainings *trainings)
{
    return uv_now(trainings->daemon->loop);
}

/* ---- keep.c ---- */

struct known *daemon_training_keep_find(const struct trainings *trainings, const char *name);
/* Takes what the co-process reports of one. NULL where it is malformed, or beyond TRAININGS_MAX. */
struct known *daemon_training_keep_take(struct trainings *trainings, const json_t *object);
void daemon_training_keep_remember(struct trainings *trainings, struct db_reader *reader);
/* Is there a folder of a training that is not known? */
bool daemon_training_keep_unlisted(const struct trainings *trainings);
/* Removes a training that had not ended and that the list of that number lacks. */
void daemon_training_keep_missing(struct trainings *trainings, uint64_t list);
/* Stores its row with these events, or with NULL alone, in one transaction, and raises its alerts. */
void daemon_training_keep_store(struct trainings *trainings, struct known *known, const json_t *events);
/* Has the co-process reported it a moment ago? */
bool daemon_training_keep_current(const struct trainings *trainings, const struct known *known);
/* Has one not ended? */
bool daemon_training_keep_any_live(const struct trainings *trainings);
int64_t daemon_training_keep_reported_age(const struct trainings *trainings, const struct known *known);
void daemon_training_keep_finish(struct trainings *trainings);

#endif
