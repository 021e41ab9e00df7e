/* What a study keeps in its store: attributes that are none, the spool's notes, old runs. */
#include "trainer/study/artifacts.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/scratch.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static char folder[SCRATCH_MAX], said[4096];

static const char *in_folder(const char *name)
{
    static char whole[4][SCRATCH_MAX + 512];
    static int next;
    next = (next + 1) % 4;
    snprintf(whole[next], sizeof whole[next], "%s/%s", folder, name);
    return whole[next];
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static bool is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static void take_words(void *ctx, const char *words)
{
    (void)ctx;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", words);
}
static const struct trial_calls calls = {.warned = take_words};

static struct artifact_store *open_store(void)
{
    struct artifact_store *store = NULL;
    char err[ARTIFACT_ERROR_MAX];
    CHECK_INT(artifact_store_open(in_folder("store"), NULL, &store, err), 0);
    return store;
}

static void test_attributes(void)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"key\":\"k\",\"sha256\":\"" ABC "\"}",
        "{\"key\":\"k\",\"sha256\":\"" ABC "\",\"size\":-1}",
        "{\"key\":\"k\",\"sha256\":\"" ABC "\",\"size\":\"3\"}",
        "{\"key\":\"k\",\"sha256\":\"" ABC "0\",\"size\":3}",
        "{\"key\":\"k\",\"sha256\":\"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD\",\"size\":3}",
        "{\"key\":3,\"sha256\":\"" ABC "\",\"size\":3}",
    };
    struct study_artifact artifact = {.key = "untouched"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *json = json_loads(bad[i], 0, NULL);
        CHECK(json != NULL);
        CHECK(!study_artifact_parse(json, &artifact));
        json_decref(json);
    }
    CHECK(!study_artifact_parse(NULL, &artifact));
    CHECK_STR(artifact.key, "untouched");
    json_t *json = json_loads("{\"key\":\"a/b\",\"sha256\":\"" ABC "\",\"size\":3,\"more\":1}", 0, NULL);
    CHECK(study_artifact_parse(json, &artifact));
    json_decref(json);
    json = study_artifact_json(&artifact);
    struct study_artifact again;
    CHECK(study_artifact_parse(json, &again));
    CHECK_STR(again.key, "a/b");
    CHECK(artifact_digest_equal(&again.digest, &artifact.digest));
    json_decref(json);
}

/* A store that takes nothing: what is kept is noted, and goes there once it does. */
static void test_spool(void)
{
    struct artifact_store *store = open_store();
    struct study_artifact first, second;
    char err[TRIAL_ERROR_MAX];
    int r = 0;
    CHECK_INT(mkdir(in_folder("own"), 0777), 0);
    CHECK_INT(mkdir(in_folder("own/3"), 0777), 0);
    write_file("own/3/returns.csv", "abc");
    write_file("own/other.csv", "abcd");
    write_file("store/s", "no folder");
    CHECK_INT(study_artifact_keep(store, "s", "3/returns.csv", in_folder("own"), "3/returns.csv", &calls,
                                  &first, &r, err),
              0);
    CHECK(r < 0);
    CHECK_STR(first.key, "s/3/" ABC "-returns.csv");
    CHECK_INT(study_artifact_keep(store, "s", "other.csv", in_folder("own"), "other.csv", &calls, &second,
                                  NULL, err),
              0);
    CHECK(strstr(said, "not uploaded yet: 3/returns.csv: "));
    CHECK_INT(study_artifacts_resume(store, in_folder("own"), &calls), 2);
    CHECK(strstr(said, "2 files of "));
    unlink(in_folder("store/s"));
    write_file("own/spool/bad.json", "{");
    write_file("own/spool/worse.json",
               "{\"key\":\"k\",\"sha256\":\"" ABC "\",\"size\":3,\"path\":\"../own/other.csv\"}");
    write_file("own/spool/gone.json",
               "{\"key\":\"k\",\"sha256\":\"" ABC "\",\"size\":3,\"path\":\"gone.csv\"}");
    write_file("own/other.csv", "changed");
    said[0] = '\0';
    CHECK_INT(study_artifacts_resume(store, in_folder("own"), &calls), 0);
    CHECK(strstr(said, "gone.csv: it is gone") && strstr(said, "other.csv: it has changed"));
    CHECK(strstr(said, "bad.json: a note that is none") && strstr(said, "worse.json: a note that is none"));
    CHECK(!is_there("own/spool") && is_there("store/s/3/" ABC "-returns.csv") && !is_there("store/k"));
    said[0] = '\0';
    CHECK_INT(study_artifacts_resume(store, in_folder("own"), &calls), 0);
    CHECK_STR(said, "");
    CHECK_INT(study_artifact_keep(store, "s", "none", in_folder("own"), "none", &calls, &first, NULL, err),
              -ENOENT);
    artifact_store_close(store);
}

static void test_old_runs(void)
{
    static const char *const keys[] = {"n@2026-01-01/0/x-returns.csv",  "n@2026-01-01/proposal/0/x-policy",
                                       "n@2026-01-01/x-study.ini",      "n@2026-01-02/0/x-returns.csv",
                                       "n@2026-01-03/12/x-returns.csv", "n/0/x-returns.csv",
                                       "nn@2026-01-01/0/x-returns.csv"};
    enum { KEYS = sizeof keys / sizeof *keys };
    struct artifact_store *store = open_store();
    char err[ARTIFACT_ERROR_MAX], path[256];
    struct artifact_digest digest;
    int removed = -1;
    write_file("file", "abc");
    CHECK_INT(artifact_digest_file(in_folder("file"), &digest, err), 0);
    for (int i = 0; i < KEYS; i++)
        CHECK_INT(artifact_store_put(store, keys[i], in_folder("file"), &digest, err), 0);
    CHECK_INT(study_artifacts_retain(store, "n", 1, &removed, err), 0);
    CHECK_INT(removed, 0);
    CHECK_INT(study_artifacts_retain(store, "n@2026-01-03", 3, &removed, err), 0);
    CHECK_INT(removed, 0);
    CHECK_INT(study_artifacts_retain(store, "n@2026-01-03", 1, &removed, err), 0);
    CHECK_INT(removed, 2);
    for (int i = 0; i < KEYS; i++) {
        snprintf(path, sizeof path, "store/%s", keys[i]);
        CHECK_INT(is_there(path), i != 0 && i != 3);
    }
    artifact_store_close(store);
}

int main(void)
{
    scratch_make(folder);
    test_attributes();
    test_spool();
    test_old_runs();
    scratch_remove(folder);
    return check_done("artifacts/kept");
}
