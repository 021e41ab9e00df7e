/* Where a proposal lies: FOLDER/proposals/K has its policies; FOLDER/proposal.json, written last, names them.
 * FOLDER is the study's. */
#ifndef TRAINER_STUDY_PROPOSAL_FOLDER_H
#define TRAINER_STUDY_PROPOSAL_FOLDER_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "trainer/study/trial.h"

/* Locks FOLDER: one process at a time opens the study, makes folders of its proposals, judges one again and
 * writes its proposal.json. The lock is on FOLDER/.lock, and ends with its process. For
 * study_folder_unlock(); -EBUSY: another process has had it for a minute; -errno: it cannot be locked. */
int study_folder_lock(const char *folder);
void study_folder_unlock(int lock); /* below 0 is fine */

struct proposal_folder {
    char path[PATH_MAX];
    int fd, mark; /* of it, and of its locked mark while it is made; -1: there is none */
};

/* Makes a new one, K the first free number after that of the proposal that FOLDER/proposal.json names. Until
 * it is finished it has a file `unfinished`. Removes folders of processes that were killed: those with that
 * file whose lock is free, unless proposal.json names them. Without locks, or with a proposal.json that
 * cannot be read, it removes none. 0 or -errno with a sentence. */
int study_proposal_folder_make(const char *folder, struct proposal_folder *ret,
                               char err[static TRIAL_ERROR_MAX]);

/* `published`: proposal.json names it, and it stays. Else it is removed with its content; what cannot be
 * removed stays. */
void study_proposal_folder_finish(struct proposal_folder *own, bool published);

/* Writes FOLDER/proposal.json, whole or not at all; the folder that it named before is finished. 0 or -errno
 * with a sentence. */
int study_proposal_file_write(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX]);

/* Does the file name this policy? Writing may fail after the file has its name. */
bool study_proposal_file_names(const json_t *object, const char *folder);

#endif
