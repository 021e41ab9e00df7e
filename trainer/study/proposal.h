/* A finished study's proposal of its best policy: papertape.proposal/1, docs/studies.md. */
#ifndef TRAINER_STUDY_PROPOSAL_H
#define TRAINER_STUDY_PROPOSAL_H

#include "db/studies/store.h"
#include "trainer/study/members.h"
#include "trainer/study/trial.h"

/* Takes the best trials of the study, trains them on all rows of the study (study_trial_final()), in
 * FOLDER/proposals/K, a new K, computes PBO, the deflated Sharpe ratio and so on from the trials'
 * returns.csv, and writes FOLDER/report.html and, last, FOLDER/proposal.json. A trial whose training is
 * refused or diverges is reported, and the next best proposed instead. `others` (NULL: none) are the other
 * members of the study, whose trials count as tried, and in PBO where their rows are the same. *ret is the
 * proposal, a new reference. 1: it was asked to stop. An unfinished proposal is removed from
 * FOLDER/proposals. -ENODATA: no COMPLETE trial; else the error of the last training, or of the machine. */
int study_proposal_make(const struct study_market *market, const struct train_config *base,
                        const struct study_settings *settings, const struct study *study,
                        const struct study_members *others, const char *folder,
                        const struct trial_calls *calls, json_t **ret, char err[static TRIAL_ERROR_MAX]);

/* Is the earlier proposal, as its file has it, still valid for these trials and settings? 1: it is. Where
 * gates, expiry or name differ it is judged again; where other trials have ended since, of this study or of
 * `others` as for study_proposal_make(), but the same ones would be trained, its policy stays and what
 * depends on all trials is computed again; the file is written then. 0: it must be made again: it is of
 * another study or of other trials, other ones are the best now, or it has other inputs. -errno with a
 * sentence: the file cannot be written. */
int study_proposal_rejudge(const struct train_config *base, const struct study_settings *settings,
                           const struct study *study, const struct study_members *others, const char *folder,
                           const struct trial_calls *calls, json_t *proposal,
                           char err[static TRIAL_ERROR_MAX]);

/* Judges what the study of that id has proposed, FOLDER/proposal.json, over all trials of its study that the
 * storage has by now, by the limits that it was judged by, and writes it if that changes it; its policy
 * stays. Processes that judge or write it take turns, and each does so when it ends, so that the last one has
 * counted all trials. A member of the study whose folder is not known is searched in FOLDERS. 1: *ret is it,
 * a new reference; 0: there is none, or none of these trials; -errno with a sentence: what cannot be read or
 * written, -EBUSY: another process has had the lock for a minute. */
int study_proposal_judge(struct study_store *store, int64_t id, const char *folder, const char *folders,
                         const struct trial_calls *calls, json_t **ret, char err[static TRIAL_ERROR_MAX]);

#endif
