/* Where a proposal lies: FOLDER/proposals/K has its policies, FOLDER/proposal.json tells of them last. FOLDER
 * is the study's. */
#ifndef TRAINER_STUDY_PROPOSAL_FOLDER_H
#define TRAINER_STUDY_PROPOSAL_FOLDER_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "trainer/study/trial.h"

/* One process at a time opens the study, makes folders of its proposals, judges one again and writes its
 * proposal.json. The lock is on FOLDER itself, and goes with the process that has it. For
 * study_folder_unlock(); -EBUSY: another has had it for a minute; -errno: there is none to be had. */
int study_folder_lock(const char *folder);
void study_folder_unlock(int lock); /* below 0 is fine */

struct proposal_folder {
    char path[PATH_MAX];
    int fd; /* of it, and locked while it is made; -1: there is none */
};

/* Makes one that nobody has, K the first after that of the proposal that FOLDER/proposal.json tells of. Until
 * it is finished a file `unfinished` lies in it. Those that processes left which were killed meanwhile go:
 * where that file lies and nobody has the lock, unless proposal.json tells of it. Without the locks, or with
 * a proposal.json that cannot be read, none goes. 0 or -errno with a sentence. */
int study_proposal_folder_make(const char *folder, struct proposal_folder *ret,
                               char err[static TRIAL_ERROR_MAX]);

/* `told`: proposal.json tells of it, and it stays. Else it goes with all that lies there; what cannot be
 * removed stays. */
void study_proposal_folder_finish(struct proposal_folder *own, bool told);

/* FOLDER/proposal.json, whole or not at all; the folder that it told of before is finished. 0 or -errno with
 * a sentence. */
int study_proposal_file_write(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX]);

/* Does it tell of this one's policy? Writing may fail when the file has its name already. */
bool study_proposal_file_names(const json_t *object, const char *folder);

#endif
