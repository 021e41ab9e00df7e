/* What other machines made, out of the store into this one's folders. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/study/artifacts.h"
#include "trainer/study/internal.h"

struct fetching {
    struct artifact_store *store;
    const char *folder;
    bool quiet;
    int missing, wanted;
    char first[ARTIFACT_ERROR_MAX]; /* why the first is missing */
};

/* FOLDER/N/returns.csv; a file that is another gets out of the way. True: it is there. */
static bool is_here(const char *path, const struct artifact_digest *digest)
{
    struct artifact_digest own;
    char unused[ARTIFACT_ERROR_MAX], aside[PATH_MAX + 16];
    if (access(path, F_OK) < 0 || artifact_digest_file(path, &own, unused) < 0)
        return false;
    if (artifact_digest_equal(&own, digest))
        return true;
    snprintf(aside, sizeof aside, "%s.differs", path);
    (void)rename(path, aside);
    return false;
}

/* Does another object not help either? */
static bool ends_all(int r)
{
    return r < 0 && r != -ENOENT && r != -EBADMSG;
}

static int fetch_trial(struct fetching *fetching, const struct study_trial *trial,
                       char err[static TRIAL_ERROR_MAX])
{
    char folder[PATH_MAX], path[PATH_MAX], number[16], why[ARTIFACT_ERROR_MAX];
    struct study_artifact artifact;
    if (!study_artifact_returns(trial, &artifact))
        return 0;
    snprintf(number, sizeof number, "%d", trial->number);
    int r = study_join_path(folder, fetching->folder, number, err);
    if (r == 0)
        r = study_join_path(path, folder, "returns.csv", err);
    fetching->wanted++;
    if (r < 0 || is_here(path, &artifact.digest))
        return r;
    if ((r = study_make_folder(folder, err)) < 0)
        return r;
    r = artifact_store_get(fetching->store, artifact.key, path, &artifact.digest, why);
    if (r < 0)
        (void)rmdir(folder); /* where it is empty */
    if (r < 0 && !(r == -ENOENT && fetching->quiet) && fetching->missing++ == 0)
        memcpy(fetching->first, why, sizeof why);
    return r < 0 ? study_error(err, r, "%s", why) : 0;
}

/* The store itself failed: how many of the others are not here is counted without asking it. */
static void count_rest(struct fetching *fetching, const struct study *study, int from)
{
    for (int i = from; i < study->n_trials; i++) {
        struct study_artifact artifact;
        char path[PATH_MAX];
        if (!study_artifact_returns(study->trials[i], &artifact) ||
            snprintf(path, sizeof path, "%s/%d/returns.csv", fetching->folder, study->trials[i]->number) >=
                (int)sizeof path)
            continue;
        fetching->wanted++;
        fetching->missing += !is_here(path, &artifact.digest);
    }
}

int study_artifacts_fetch(struct artifact_store *store, const struct study *study, const char *folder,
                          bool quiet, const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX])
{
    struct fetching fetching = {.store = store, .folder = folder, .quiet = quiet};
    char words[TRIAL_ERROR_MAX];
    int r = 0;
    for (int i = 0; i < study->n_trials; i++) {
        r = fetch_trial(&fetching, study->trials[i], err);
        if (!ends_all(r))
            continue;
        if (r == -EHOSTDOWN || r == -EACCES || r == -EPROTO) {
            count_rest(&fetching, study, i + 1);
            break;
        }
        return r;
    }
    if (fetching.missing > 0) {
        snprintf(words, sizeof words, "%.100s: the returns of %d of %d trials are not here: %.700s",
                 study->name, fetching.missing, fetching.wanted, fetching.first);
        study_notify(calls, words);
    }
    return 0;
}

/* ---- Members. ---- */

static int take_folder(struct study_member *member, const char *folders, char err[static TRIAL_ERROR_MAX])
{
    char *folder = NULL;
    if (asprintf(&folder, "%s/%s", folders, member->study->name) < 0)
        return study_error(err, -ENOMEM, "out of memory: a study's folder");
    free(member->folder);
    member->folder = folder;
    return study_make_folder(folder, err);
}

static int fetch_member(struct artifact_store *given, struct study_member *member, const char *folders,
                        const struct trial_calls *calls, const struct artifact_stop *stop,
                        char err[static TRIAL_ERROR_MAX])
{
    char *url = study_artifacts_url(member->study), why[ARTIFACT_ERROR_MAX], words[TRIAL_ERROR_MAX];
    struct artifact_store *own = NULL;
    int r = 0;
    if (!url)
        return 0;
    r = take_folder(member, folders, err);
    if (r == 0 && !given && artifact_store_open(url, stop, &own, why) < 0) {
        snprintf(words, sizeof words, "%.100s: artifacts: %.700s", member->study->name, why);
        study_notify(calls, words);
    }
    if (r == 0 && (given || own))
        r = study_artifacts_fetch(given ? given : own, member->study, member->folder, member->run, calls,
                                  err);
    artifact_store_close(own);
    free(url);
    return r;
}

int study_artifacts_fetch_members(struct artifact_store *given, struct study_members *members,
                                  const char *folders, const struct trial_calls *calls,
                                  const struct artifact_stop *stop, char err[static TRIAL_ERROR_MAX])
{
    int r = 0;
    for (int i = 0; i < members->n && r == 0; i++)
        r = fetch_member(given, &members->of[i], folders, calls, stop, err);
    return r;
}
