/* A study's proposal in its artifact store: the best one's policies, which another machine need not train
 * again. */
#ifndef TRAINER_STUDY_ARTIFACT_PROPOSAL_H
#define TRAINER_STUDY_ARTIFACT_PROPOSAL_H

#include "trainer/study/artifacts.h"

/* Uploads proposal.json, which names FOLDER/proposals/K, and the files there of the trials that it proposes,
 * and sets the study's papertape:proposal. What the store cannot take now is in the spool. 0 or -errno with a
 * sentence. */
int study_proposal_publish(struct artifact_store *store, struct study_store *studies,
                           const struct study *study, const json_t *proposal, const char *folder,
                           const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX]);

/* Fetches the proposal that the study names into FOLDER/proposals/K, a new one, and writes
 * FOLDER/proposal.json, which names it. 1; 0: the study names none, or it cannot be had, which is reported;
 * -errno with a sentence. */
int study_proposal_fetch(struct artifact_store *store, const struct study *study, const char *folder,
                         const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX]);

#endif
