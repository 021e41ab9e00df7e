/* A study in its storage: found, or created with the attributes that docs/studies.md lists. */
#ifndef TRAINER_STUDY_OPEN_H
#define TRAINER_STUDY_OPEN_H

#include "db/studies/store.h"
#include "trainer/study/trial.h"

/* How the study of that name began. */
struct study_beginning {
    bool there;                            /* there is one */
    int64_t now_ns;                        /* the time `now`; 0: it has no such attribute */
    char validation[STUDY_SPLIT_TEXT_MAX]; /* how its trials are split; "": likewise */
    int trials;                            /* that are wanted; 0: likewise */
    char *text;                            /* of its configuration, for free(); NULL: likewise */
};

/* `url` may name a file that does not exist. `mode`: STUDY_STORE_READ or STUDY_STORE_READ_AGAIN. 0, or -errno
 * as study_store_open_waiting(). */
int study_began_as(const char *url, const char *name, enum study_store_mode mode,
                   const struct study_store_waits *waits, struct study_beginning *ret,
                   char err[static STUDY_ERROR_MAX]);

struct study_opening {
    const char *url, *name, *text; /* text: of its configuration */
    const char *folder;
    int64_t now_ns;
    const struct study_settings *settings; /* trials and the space */
    const struct train_config *config;
    bool joins; /* one that exists keeps the text, folder and number of trials that it has */
    const struct study_store_waits *waits;
};

/* Creates it, or continues one of the same directions; of that each parameter must be what it was: the same
 * kind, scale and choices, else -EINVAL names the first that is not. One whose range differs is reported to
 * the callback. All that a trial's value follows from (trainer/study/definition.h) must be unchanged too,
 * unless no trial runs or has a value yet: else values of other rows would be compared with these, and what
 * was chosen on rows that are the holdout now would be tested on them.
 *
 * Two storages may have a study of one name, but each folder is of one: its file `storage` has the
 * database's absolute path, or a server's URL without password, and is written here. -EEXIST where another
 * storage than `url` has a study `name` whose files are in `folder`; without that file the state's own
 * studies.db is searched. -EBUSY: another process has had the folder's lock (proposal_folder.h) for a minute.
 *
 * 0 or -errno with a sentence. *ret: the study as it is, for study_destroy(). */
int study_load_or_create(const struct study_opening *opening, void (*warn)(void *ctx, const char *words),
                         void *ctx, struct study **ret, char err[static STUDY_ERROR_MAX]);

/* Checks the rows likewise, once they are known: a file may have more bars since. Stores which bars they are
 * (runs.h). `study` is brought up to date. */
int study_open_rows(const struct study_opening *opening, const struct study_market *market,
                    struct study *study, char err[static STUDY_ERROR_MAX]);

#endif
