#include "trainer/study/artifacts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "exchange/fail.h"
#include "exchange/folder.h"
#include "trainer/study/internal.h"

#define SPOOL "spool"

/* ---- What is stored of a file. ---- */

/* "a/b/name" of the study: STUDY/a/b/SHA256-name. */
static bool set_key(const char *study, const char *name, struct study_artifact *artifact)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return snprintf(artifact->key, sizeof artifact->key, "%s/%.*s%s-%s", study, (int)(base - name), name,
                    artifact->digest.sha256, base) < (int)sizeof artifact->key;
}

/* As Optuna's ArtifactMeta: the text of an object, as a JSON string. */
static json_t *optuna_meta(const char *key, const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    const char *type = dot && strcmp(dot, ".csv") == 0    ? "text/csv"
                       : dot && strcmp(dot, ".json") == 0 ? "application/json"
                                                          : "application/octet-stream";
    json_t *meta =
        json_pack("{s:s, s:s, s:s, s:n}", "artifact_id", key, "filename", base, "mimetype", type, "encoding");
    char *text = meta ? json_dumps(meta, 0) : NULL;
    json_t *string = text ? json_string(text) : NULL;
    json_decref(meta);
    free(text);
    return string;
}

static int set_one(struct study_store *store, int64_t study, int64_t trial, bool system, const char *key,
                   const json_t *value, char err[static STUDY_ERROR_MAX])
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    int r = !text        ? fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "out of memory")
            : trial == 0 ? system ? study_store_set_study_system(store, study, key, text, err)
                                  : study_store_set_study_user(store, study, key, text, err)
            : system ? study_store_set_system(store, trial, key, text, err)
                         : study_store_set_user(store, trial, key, text, err);
    free(text);
    return r;
}

int study_artifacts_set(struct study_store *store, int64_t study, int64_t trial, const char *key,
                        const json_t *value, char err[static STUDY_ERROR_MAX])
{
    char name[ARTIFACT_KEY_MAX + 16];
    const char *file;
    json_t *one;
    int r = set_one(store, study, trial, false, key, value, err);
    json_object_foreach((json_t *)value, file, one)
    {
        const char *id = json_string_value(json_object_get(one, "key"));
        if (r < 0 || !id)
            break;
        snprintf(name, sizeof name, "artifacts:%s", id);
        json_t *meta = optuna_meta(id, file);
        r = set_one(store, study, trial, true, name, meta, err);
        json_decref(meta);
    }
    return r;
}

/* ---- The spool. ---- */

static void note_name(const char *key, char ret[static 32])
{
    snprintf(ret, 32, "%016" PRIx64 ".json", (uint64_t)XXH3_64bits(key, strlen(key)));
}

static int note(const struct study_artifact *artifact, const char *folder, const char *path,
                char err[static TRIAL_ERROR_MAX])
{
    char spool[PATH_MAX], name[32];
    int r = study_join_path(spool, folder, SPOOL, err);
    json_t *json = r == 0 ? study_artifact_json(artifact) : NULL;
    if (json)
        json_object_set_new(json, "path", json_string(path));
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    note_name(artifact->key, name);
    if (r == 0)
        r = text ? study_write_file(spool, name, text, strlen(text), err)
                 : study_error(err, -ENOMEM, "out of memory: %s", path);
    free(text);
    json_decref(json);
    return r;
}

int study_artifact_keep(struct artifact_store *store, const char *study, const char *name, const char *folder,
                        const char *path, const struct trial_calls *calls, struct study_artifact *ret,
                        int *ret_r, char err[static TRIAL_ERROR_MAX])
{
    struct study_artifact artifact;
    char whole[PATH_MAX], why[ARTIFACT_ERROR_MAX], words[TRIAL_ERROR_MAX];
    int r = study_join_path(whole, folder, path, err);
    if (r < 0)
        return r;
    r = artifact_digest_file(whole, &artifact.digest, why);
    if (r < 0)
        return study_error(err, r, "%s", why);
    if (!set_key(study, name, &artifact))
        return study_error(err, -ENAMETOOLONG, "%.100s: %.100s: a shorter name is right", study, name);
    r = artifact_store_put(store, artifact.key, whole, &artifact.digest, why);
    if (ret_r)
        *ret_r = r;
    if (r < 0) {
        int noted = note(&artifact, folder, path, err);
        if (noted < 0)
            return noted;
        snprintf(words, sizeof words, "not uploaded yet: %.200s: %.700s", path, why);
        study_notify(calls, words);
    }
    *ret = artifact;
    return 0;
}

int study_artifact_try(struct artifact_store *store, const char *study, const char *name, const char *path,
                       char err[static ARTIFACT_ERROR_MAX])
{
    struct study_artifact artifact;
    int r = artifact_digest_file(path, &artifact.digest, err);
    if (r == 0 && !set_key(study, name, &artifact))
        r = fail_with(-ENAMETOOLONG, err, ARTIFACT_ERROR_MAX, "%.100s: a shorter name is right", study);
    return r < 0 ? r : artifact_store_put(store, artifact.key, path, &artifact.digest, err);
}

json_t *study_artifacts_keep_trial(struct artifact_store *store, const char *study, const char *folder,
                                   int number, const struct trial_calls *calls)
{
    char path[32], err[TRIAL_ERROR_MAX], words[TRIAL_ERROR_MAX];
    struct study_artifact artifact;
    snprintf(path, sizeof path, "%d/returns.csv", number);
    if (study_artifact_keep(store, study, path, folder, path, calls, &artifact, NULL, err) == 0)
        return json_pack("{s:o}", "returns.csv", study_artifact_json(&artifact));
    snprintf(words, sizeof words, "its returns stay on this machine: %.900s", err);
    study_notify(calls, words);
    return NULL;
}

struct spool {
    struct artifact_store *store;
    const char *folder;
    const struct trial_calls *calls;
    int left;
    bool ends; /* the store has failed */
};

static void say(const struct spool *spool, const char *what, const char *why)
{
    char words[TRIAL_ERROR_MAX];
    snprintf(words, sizeof words, "%.200s: %.700s", what, why);
    study_notify(spool->calls, words);
}

/* What the note says, and whether its file is still that one; NULL: it is of no use any more. */
static const char *read_note(const struct spool *spool, const char *noted, json_t **ret_json,
                             struct study_artifact *ret, char path[static PATH_MAX])
{
    struct artifact_digest now;
    char why[ARTIFACT_ERROR_MAX];
    *ret_json = json_load_file(noted, 0, NULL);
    const char *own = json_string_value(json_object_get(*ret_json, "path"));
    if (!study_artifact_parse(*ret_json, ret) || !own || own[0] == '/' || strstr(own, "..") ||
        snprintf(path, PATH_MAX, "%s/%s", spool->folder, own) >= PATH_MAX) {
        say(spool, noted, "a note that is none");
        return NULL;
    }
    if (access(path, F_OK) < 0 && errno == ENOENT) {
        say(spool, own, "it is gone, and was never uploaded");
        return NULL;
    }
    if (artifact_digest_file(path, &now, why) == 0 && !artifact_digest_equal(&now, &ret->digest)) {
        say(spool, own, "it has changed, and was never uploaded");
        return NULL;
    }
    return own;
}

/* Whatever else fails may succeed later: the note stays. */
static int resume_one(void *ctx, const char *name)
{
    struct spool *spool = ctx;
    struct study_artifact artifact;
    json_t *json = NULL;
    char noted[PATH_MAX], path[PATH_MAX], why[ARTIFACT_ERROR_MAX];
    const char *ending = strrchr(name, '.');
    if (!ending || strcmp(ending, ".json") != 0 ||
        snprintf(noted, sizeof noted, "%s/" SPOOL "/%s", spool->folder, name) >= (int)sizeof noted)
        return 0;
    const char *own = read_note(spool, noted, &json, &artifact, path);
    int r =
        own && !spool->ends ? artifact_store_put(spool->store, artifact.key, path, &artifact.digest, why) : 0;
    if (r < 0)
        say(spool, own, why);
    spool->ends = spool->ends || r < 0;
    if (own && spool->ends)
        spool->left++;
    else
        (void)unlink(noted);
    json_decref(json);
    return 0;
}

int study_artifacts_resume(struct artifact_store *store, const char *folder, const struct trial_calls *calls)
{
    struct spool spool = {.store = store, .folder = folder, .calls = calls};
    char path[PATH_MAX], err[TRIAL_ERROR_MAX], words[TRIAL_ERROR_MAX];
    if (study_join_path(path, folder, SPOOL, err) < 0)
        return 0;
    (void)folder_each(path, resume_one, &spool);
    if (spool.left == 0)
        (void)rmdir(path);
    if (spool.left > 0) {
        snprintf(words, sizeof words,
                 "%d files of %.300s are not uploaded yet: they are when the study continues there",
                 spool.left, folder);
        study_notify(calls, words);
    }
    return spool.left;
}
