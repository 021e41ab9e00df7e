/* What a study's attributes name, apart from what stores it: the dashboard needs no more. */
#include <string.h>

#include "trainer/study/artifacts.h"

json_t *study_artifact_json(const struct study_artifact *artifact)
{
    return json_pack("{s:s, s:s, s:I}", "key", artifact->key, "sha256", artifact->digest.sha256, "size",
                     (json_int_t)artifact->digest.size);
}

bool study_artifact_parse(const json_t *json, struct study_artifact *ret)
{
    const char *key = json_string_value(json_object_get(json, "key"));
    const char *sha256 = json_string_value(json_object_get(json, "sha256"));
    const json_t *size = json_object_get(json, "size");
    if (!key || strlen(key) >= sizeof ret->key || !sha256 ||
        strlen(sha256) != sizeof ret->digest.sha256 - 1 ||
        strspn(sha256, "0123456789abcdef") != strlen(sha256) || !json_is_integer(size) ||
        json_integer_value(size) < 0)
        return false;
    strcpy(ret->key, key);
    strcpy(ret->digest.sha256, sha256);
    ret->digest.size = json_integer_value(size);
    return true;
}

static bool find_named(const struct study_attribute *attributes, int n, const char *key, const char *name,
                       struct study_artifact *ret)
{
    json_t *files = study_attribute_json(attributes, n, key);
    const bool named = study_artifact_parse(json_object_get(files, name), ret);
    json_decref(files);
    return named;
}

bool study_artifact_returns(const struct study_trial *trial, struct study_artifact *ret)
{
    return trial->state == TRIAL_COMPLETE &&
           find_named(trial->user, trial->n_user, STUDY_ARTIFACTS, "returns.csv", ret);
}

bool study_artifact_proposal(const struct study *study, struct study_artifact *ret)
{
    return find_named(study->user, study->n_user, STUDY_ARTIFACTS_PROPOSAL, "proposal.json", ret);
}

char *study_artifacts_url(const struct study *study)
{
    return study_attribute_text(study->user, study->n_user, STUDY_ARTIFACTS);
}
