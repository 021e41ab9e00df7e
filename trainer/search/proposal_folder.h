/* Where a proposal lies: FOLDER/proposals/K has its policies, FOLDER/proposal.json tells of them last. FOLDER
 * is the study's. */
#ifndef TRAINER_SEARCH_PROPOSAL_FOLDER_H
#define TRAINER_SEARCH_PROPOSAL_FOLDER_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "trainer/search/trial.h"

/* Makes one that nobody has, K the first after that of the proposal that FOLDER/proposal.json tells of. 0 or
 * -errno with a sentence. */
int proposal_folder_make(const char *folder, char ret[static PATH_MAX], char err[static TRIAL_ERROR_MAX]);

/* Removes it, of which nobody was told, with all that lies there; what cannot be removed stays. */
void proposal_folder_drop(const char *own);

/* FOLDER/proposal.json, whole or not at all. 0 or -errno with a sentence. */
int proposal_file_write(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX]);

/* Does it tell of this one's policy? Writing may fail when the file has its name already. */
bool proposal_file_names(const json_t *object, const char *folder);

#endif
