/* The members of one study: NAME and its workers NAME_1, NAME_2, … in one storage (study_base_name()), and
 * its other runs on the same bars (runs.h). The best of them was selected from the trials of all. */
#ifndef TRAINER_STUDY_MEMBERS_H
#define TRAINER_STUDY_MEMBERS_H

#include "db/studies/store.h"
#include "trainer/study/validation.h"

struct study_member {
    struct study *study; /* with its trials; owned */
    char *folder;        /* where these left their files; owned */
    bool run;            /* another run: its trials count, and none of them is proposed */
};
struct study_members {
    struct study_member *of; /* [n], NAME itself first, then by number, then other runs by name */
    int n;
};

/* The value of its papertape:folder, else FOLDERS/its name; that too where the former is not here and the
 * study has an artifact store, as one of other machines has. For free(); NULL without memory. */
char *study_folder(const struct study *study, const char *folders);

/* The studies NAME and NAME_K, and other runs of these that search the same bars as one of them, with the
 * directions of `own`, which is left out (`own` NULL: no study is left out, and the directions of NAME, or
 * else of the first, count). A study that cannot be read (another kind of distribution) is left out and
 * reported to the callback, which may be NULL; NAME itself is not where `own` is NULL. 0, also for none;
 * errors of the storage with its sentence; -ENOMEM. For study_members_finish(). */
int study_members_load(struct study_store *store, const char *name, const struct study *own,
                       const char *folders, void (*warn)(void *ctx, const char *words), void *ctx,
                       struct study_members *ret, char err[static STUDY_ERROR_MAX]);
void study_members_finish(struct study_members *members); /* fine on a zeroed one */

/* The best of their trials (study_best(), by the first one's direction), the first of equals, other runs'
 * left out, whose study becomes the first; NULL: they have none, and the order is as it was. */
const struct study_trial *study_members_best(struct study_members *members);

/* COMPLETE and PRUNED trials of `own` and of `others` (NULL: none), whatever their rows. */
size_t study_members_tried(const struct study *own, const struct study_members *others);

/* The COMPLETE trials of `own` and of `others` (NULL: none) as columns, called "trial N", and with others
 * "NAME trial N". -ENOMEM. For study_columns_finish(); folders are borrowed. */
enum { STUDY_COLUMN_MAX = STUDY_NAME_MAX + 32 };
struct study_columns {
    struct returns_trial *trials; /* [n] */
    char (*names)[STUDY_COLUMN_MAX];
    int n, like; /* like: own's trial number `proposed`; -1: it is not among them */
};
int study_members_columns(const struct study *own, const char *folder, const struct study_members *others,
                          int proposed, struct study_columns *ret);
void study_columns_finish(struct study_columns *columns);

/* Returns of the COMPLETE trials of `own`, and of `others` (NULL: none) where their rows are those of own's
 * trial number `proposed`: that is ret->proposed, its name in `ret_name`. ret->tried is
 * study_members_tried(). Errors of returns_of_trials(). */
int study_members_returns(const struct study *own, const char *folder, const struct study_members *others,
                          int proposed, struct returns_matrix *ret, char ret_name[static STUDY_COLUMN_MAX],
                          int *ret_left_out, char err[static VALIDATION_ERROR_MAX]);

#endif
