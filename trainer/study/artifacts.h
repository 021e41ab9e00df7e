/* The files of a study in an artifact store (trainer/artifacts/artifact.h), where the workers and readers of
 * other machines find them. The study's attribute papertape:artifacts is the store's URL; that of a COMPLETE
 * trial is {"returns.csv": {"key": …, "sha256": …, "size": …}}, stored with its state, so that a file that
 * is another, or cut off, is found wherever it is read. A system attribute artifacts:KEY, as Optuna's
 * upload_artifact() sets it, lets Optuna's download_artifact() and dashboard find the same object.
 *
 * Keys are STUDY/N/SHA256-returns.csv of trial N, STUDY/proposal/…, and STUDY/SHA256-study.ini: two studies
 * of one name in one store never replace each other's objects. */
#ifndef TRAINER_STUDY_ARTIFACTS_H
#define TRAINER_STUDY_ARTIFACTS_H

#include <jansson.h>

#include "db/studies/store.h"
#include "trainer/artifacts/artifact.h"
#include "trainer/study/members.h"
#include "trainer/study/trial.h"

#define STUDY_ARTIFACTS "papertape:artifacts"
#define STUDY_ARTIFACTS_PROPOSAL \
    "papertape:proposal" /* of a study: {"proposal.json": {…}, "7/policy.safetensors": {…}} */

struct study_artifact {
    char key[ARTIFACT_KEY_MAX];
    struct artifact_digest digest;
};

/* {"key", "sha256", "size"}: a new reference, NULL without memory; the reverse, false: it is none. */
json_t *study_artifact_json(const struct study_artifact *artifact);
bool study_artifact_parse(const json_t *json, struct study_artifact *ret);

/* The returns.csv that a COMPLETE trial has in the store, and the study's proposal.json; false: none. */
bool study_artifact_returns(const struct study_trial *trial, struct study_artifact *ret);
bool study_artifact_proposal(const struct study *study, struct study_artifact *ret);

/* The URL that the study has, for free(); NULL: none. */
char *study_artifacts_url(const struct study *study);

/* Stores FOLDER/PATH as an artifact `name` of the study. A store that fails, or is stopped, is reported to
 * the callback, and the file is uploaded later: FOLDER/spool has a note of it. 0 and what it is, in any case
 * where it will be there; -errno with a sentence: the file cannot be read, or no note can be written; *ret_r
 * (NULL: not wanted): what the store said. */
int study_artifact_keep(struct artifact_store *store, const char *study, const char *name, const char *folder,
                        const char *path, const struct trial_calls *calls, struct study_artifact *ret,
                        int *ret_r, char err[static TRIAL_ERROR_MAX]);

/* Stores the file `path` as study_artifact_keep() would, without a note: 0, or -errno of the store. */
int study_artifact_try(struct artifact_store *store, const char *study, const char *name, const char *path,
                       char err[static ARTIFACT_ERROR_MAX]);

/* FOLDER/N/returns.csv: the value of the trial's papertape:artifacts, a new reference. NULL: it stays on this
 * machine, which is reported. */
json_t *study_artifacts_keep_trial(struct artifact_store *store, const char *study, const char *folder,
                                   int number, const struct trial_calls *calls);

/* Uploads what FOLDER/spool notes, until the store fails again, which is reported. How many files are left.
 */
int study_artifacts_resume(struct artifact_store *store, const char *folder, const struct trial_calls *calls);

/* Sets the attribute `key` of the trial, or with `trial` 0 of the study, and Optuna's of each file, where
 * `value` is an object of files. NULL: -ENOMEM. */
int study_artifacts_set(struct study_store *store, int64_t study, int64_t trial, const char *key,
                        const json_t *value, char err[static STUDY_ERROR_MAX]);

/* Fetches FOLDER/N/returns.csv of each COMPLETE trial whose own is missing or has another digest; the latter
 * is renamed to returns.csv.differs. What cannot be had is reported, all of one study in one sentence (where
 * `quiet`: what the store lacks is not), and is left out by what reads them. 0; -ECANCELED; -errno of the
 * disk, with a sentence. */
int study_artifacts_fetch(struct artifact_store *store, const struct study *study, const char *folder,
                          bool quiet, const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX]);

/* The same for members: of each that has a store, its own or `given` (NULL: none), the folder becomes
 * FOLDERS/NAME, this machine's, and is filled. A store that cannot be opened is reported. */
int study_artifacts_fetch_members(struct artifact_store *given, struct study_members *members,
                                  const char *folders, const struct trial_calls *calls,
                                  const struct artifact_stop *stop, char err[static TRIAL_ERROR_MAX]);

/* Of runs NAME@TIME in the store, except the newest `keep`, removes the trials' files (runs.h). What cannot
 * be removed stays; *ret_removed. 0 or errors of artifact.h. */
int study_artifacts_retain(struct artifact_store *store, const char *run, int keep, int *ret_removed,
                           char err[static ARTIFACT_ERROR_MAX]);

#endif
