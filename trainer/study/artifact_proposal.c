#include "trainer/study/artifact_proposal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/study/internal.h"
#include "trainer/study/proposal_folder.h"

#define WITHIN "proposals/"

/* "proposals/K/" of a policy's path, which has it last; NULL: it has not. */
static const char *place_of(const char *policy)
{
    const char *at = NULL;
    for (const char *next = policy; next && (next = strstr(next, "/" WITHIN)); next++)
        at = next + 1;
    return at;
}

/* What is behind "proposals/K/"; NULL: nothing. */
static const char *rest_of(const char *place)
{
    const char *number = place + strlen(WITHIN);
    size_t n = strspn(number, "0123456789");
    return n > 0 && number[n] == '/' && number[n + 1] ? number + n + 1 : NULL;
}

/* ---- To the store. ---- */

struct publishing {
    struct artifact_store *store;
    const struct study *study;
    const char *folder;
    const struct trial_calls *calls;
    char place[48]; /* "proposals/K/" */
    json_t *files;
    char *err;
};

/* A file that is not there is none of the proposal's. */
static int publish_one(struct publishing *publishing, const char *name, const char *path)
{
    char whole[PATH_MAX], key[128];
    struct study_artifact artifact;
    int r = study_join_path(whole, publishing->folder, path, publishing->err);
    if (r < 0 || access(whole, F_OK) < 0)
        return r;
    snprintf(key, sizeof key, "proposal/%s", name);
    r = study_artifact_keep(publishing->store, publishing->study->name, key, publishing->folder, path,
                            publishing->calls, &artifact, NULL, publishing->err);
    if (r == 0 && json_object_set_new(publishing->files, name, study_artifact_json(&artifact)) < 0)
        r = study_error(publishing->err, -ENOMEM, "out of memory: a proposal");
    return r;
}

static int publish_below(struct publishing *publishing, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s", publishing->place, name);
    return publish_one(publishing, name, path);
}

static int publish_files(struct publishing *publishing, const json_t *proposal)
{
    char name[64];
    size_t i;
    const json_t *number;
    int r = publish_below(publishing, "ensemble.json");
    if (r == 0)
        r = publish_below(publishing, "holdout.csv");
    json_array_foreach(json_object_get(proposal, "trials_proposed"), i, number)
    {
        snprintf(name, sizeof name, "%lld/policy.safetensors", (long long)json_integer_value(number));
        r = r == 0 ? publish_below(publishing, name) : r;
        snprintf(name, sizeof name, "%lld/strategy.ini", (long long)json_integer_value(number));
        r = r == 0 ? publish_below(publishing, name) : r;
        snprintf(name, sizeof name, "%lld/holdout.csv", (long long)json_integer_value(number));
        r = r == 0 ? publish_below(publishing, name) : r;
    }
    return r == 0 ? publish_one(publishing, "proposal.json", "proposal.json") : r;
}

int study_proposal_publish(struct artifact_store *store, struct study_store *studies,
                           const struct study *study, const json_t *proposal, const char *folder,
                           const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX])
{
    const char *place = place_of(json_string_value(json_object_get(proposal, "policy")));
    const char *rest = place ? rest_of(place) : NULL;
    struct publishing publishing = {store, study, folder, calls, "", json_object(), err};
    char why[STUDY_ERROR_MAX];
    if (!rest || rest - place >= (int)sizeof publishing.place || !publishing.files) {
        json_decref(publishing.files);
        return study_error(err, rest ? -ENOMEM : -EINVAL, "proposal.json: its policy is in no proposals/K");
    }
    snprintf(publishing.place, sizeof publishing.place, "%.*s", (int)(rest - place), place);
    int r = publish_files(&publishing, proposal);
    if (r == 0 &&
        (r = study_artifacts_set(studies, study->id, 0, STUDY_ARTIFACTS_PROPOSAL, publishing.files, why)) < 0)
        study_error(err, r, "%s", why);
    json_decref(publishing.files);
    return r;
}

/* ---- From it. ---- */

/* NAME or N/NAME. */
static bool is_name(const char *name)
{
    const char *slash = strchr(name, '/'), *base = slash ? slash + 1 : name;
    return *base && *base != '.' && !strchr(base, '/') &&
           (!slash || (slash > name && strspn(name, "0123456789") == (size_t)(slash - name)));
}

static int fetch_one(struct artifact_store *store, const char *own, const char *name, const json_t *file,
                     char err[static TRIAL_ERROR_MAX])
{
    struct study_artifact artifact;
    char path[PATH_MAX], folder[PATH_MAX], why[ARTIFACT_ERROR_MAX];
    if (!is_name(name) || !study_artifact_parse(file, &artifact))
        return study_error(err, -EBADMSG, STUDY_ARTIFACTS_PROPOSAL ": \"%.60s\": no such file", name);
    int r = study_join_path(path, own, name, err);
    if (r == 0) {
        memcpy(folder, path, sizeof folder);
        *strrchr(folder, '/') = '\0';
        r = study_make_folder(folder, err);
    }
    if (r < 0)
        return r;
    r = artifact_store_get(store, artifact.key, path, &artifact.digest, why);
    return r < 0 ? study_error(err, r, "%s", why) : 0;
}

/* Its policy is here now; out of OWN/proposal.json, which is not a proposal folder's. NULL: it is none. */
static json_t *take_proposal(const char *own)
{
    char path[PATH_MAX], whole[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/proposal.json", own) >= (int)sizeof path)
        return NULL;
    json_t *proposal = json_load_file(path, 0, NULL);
    (void)unlink(path);
    const char *place = place_of(json_string_value(json_object_get(proposal, "policy")));
    const char *rest = place ? rest_of(place) : NULL;
    if (rest && is_name(rest) && snprintf(whole, sizeof whole, "%s/%s", own, rest) < (int)sizeof whole &&
        access(whole, R_OK) == 0 && json_object_set_new(proposal, "policy", json_string(whole)) == 0)
        return proposal;
    json_decref(proposal);
    return NULL;
}

static int fetch_all(struct artifact_store *store, const json_t *files, const char *own,
                     char err[static TRIAL_ERROR_MAX])
{
    const char *name;
    json_t *file;
    int r = 0;
    json_object_foreach((json_t *)files, name, file)
    {
        r = fetch_one(store, own, name, file, err);
        if (r < 0)
            break;
    }
    return r;
}

static int place(const char *folder, const char *own, json_t **ret, char err[static TRIAL_ERROR_MAX])
{
    json_t *proposal = take_proposal(own);
    if (!proposal)
        return study_error(err, -EBADMSG, "the store's proposal.json names no policy that is with it");
    int lock = study_folder_lock(folder);
    int r = study_proposal_file_write(proposal, folder, err);
    study_folder_unlock(lock);
    *ret = proposal;
    return r;
}

int study_proposal_fetch(struct artifact_store *store, const struct study *study, const char *folder,
                         const struct trial_calls *calls, char err[static TRIAL_ERROR_MAX])
{
    struct proposal_folder own;
    char words[TRIAL_ERROR_MAX + 64];
    json_t *files = study_attribute_json(study->user, study->n_user, STUDY_ARTIFACTS_PROPOSAL),
           *proposal = NULL;
    int r = json_is_object(files) ? study_proposal_folder_make(folder, &own, err) : 1;
    if (r == 0) {
        r = fetch_all(store, files, own.path, err);
        if (r == 0)
            r = place(folder, own.path, &proposal, err);
        study_proposal_folder_finish(&own, r == 0 || study_proposal_file_names(proposal, folder));
    }
    json_decref(proposal);
    json_decref(files);
    if (r == -EHOSTDOWN || r == -EACCES || r == -ENOENT || r == -EBADMSG || r == -EPROTO) {
        snprintf(words, sizeof words, "the study's proposal cannot be had, it is made again: %s", err);
        study_notify(calls, words);
        r = 1;
    }
    return r < 0 ? r : r == 0;
}
