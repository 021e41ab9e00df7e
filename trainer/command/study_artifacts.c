/* `study --artifacts URL`: its store, from the first look at the URL to the last upload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "trainer/command/args.h"
#include "trainer/command/study_run.h"
#include "trainer/study/artifact_proposal.h"
#include "trainer/study/runs.h"

/* Each file's cause is the store's: it is printed once, by its last part. */
static bool was_said(struct study_run *run, const char *words)
{
    const char *of_file = strstr(words, "csv: "), *cause = of_file ? of_file : words;
    const uint64_t hash = XXH3_64bits(cause, strlen(cause));
    const unsigned room = sizeof run->said / sizeof *run->said;
    for (unsigned i = 0; i < room && i < run->n_said; i++)
        if (run->said[i] == hash)
            return true;
    run->said[run->n_said++ % room] = hash;
    return false;
}

static void warn(void *ctx, const char *words)
{
    struct study_run *run = ctx;
    if (!was_said(run, words))
        telemetry_report_warning(&run->report, words);
}

static struct trial_calls calls_of(struct study_run *run)
{
    return (struct trial_calls){.ctx = run, .warned = warn};
}

static int open_store(struct study_run *run, const char *url)
{
    const struct artifact_stop stop = {trainer_study_is_stopped, run};
    char err[ARTIFACT_ERROR_MAX];
    int r = artifact_store_open(url, &stop, &run->artifacts, err);
    return r < 0 ? trainer_study_failed(run, "config", "--artifacts: %s", err) : GO_ON;
}

int trainer_study_artifacts_open(struct study_run *run)
{
    const char *given = run->args->artifacts ? run->args->artifacts : run->settings.artifacts;
    return given[0] ? open_store(run, given) : GO_ON;
}

/* Its URL becomes the study's, for those who read it without the option. A worker that joins changes nothing
 * of the study. */
static int name_store(struct study_run *run, const char *before, char *err)
{
    const char *url = artifact_store_url(run->artifacts);
    struct study_store *store;
    char words[2 * ARTIFACT_URL_MAX];
    if (before && strcmp(before, url) == 0)
        return 0;
    if (before) {
        snprintf(words, sizeof words,
                 "artifacts: %.900s, and the study %s %.900s: another name of the same store is right", url,
                 run->args->no_proposal ? "has" : "had", before);
        warn(run, words);
    }
    if (run->args->no_proposal)
        return 0;
    int r = study_store_open_waiting(run->url, STUDY_STORE_AGAIN, 0, &run->waits, &store, err);
    if (r < 0)
        return r;
    json_t *value = json_string(url);
    r = study_artifacts_set(store, run->study->id, 0, STUDY_ARTIFACTS, value, err);
    json_decref(value);
    study_store_close(store);
    return r;
}

static void take_words(void *ctx, const char *words)
{
    snprintf(ctx, TRIAL_ERROR_MAX, "%s", words);
}

/* Its configuration is the first object: a store that refuses it is found before hours of trials. One that
 * does not answer now may later. */
static int try_store(struct study_run *run)
{
    struct study_artifact artifact;
    char err[TRIAL_ERROR_MAX], words[TRIAL_ERROR_MAX] = "";
    const struct trial_calls calls = {.ctx = words, .warned = take_words};
    int said = 0;
    int r = study_artifact_keep(run->artifacts, run->study->name, "study.ini", run->folder, "study.ini",
                                &calls, &artifact, &said, err);
    if (r < 0)
        return trainer_study_failed(run, "disk", "artifacts: %s", err);
    if (said < 0 && said != -EHOSTDOWN && said != -ECANCELED)
        return trainer_study_failed(run, "config", "--artifacts: %s", words);
    if (said < 0)
        warn(run, words);
    return GO_ON;
}

/* With the text of study.ini, which may be another storage's study's until its own is stored. */
int trainer_study_artifacts_check(struct study_run *run)
{
    char path[PATH_MAX + 16], err[ARTIFACT_ERROR_MAX];
    if (!run->artifacts)
        return GO_ON;
    snprintf(path, sizeof path, "%s/study.ini.tried", run->folder);
    int r = trainer_study_write_text(run, path);
    if (r < 0)
        return trainer_study_failed(run, "disk", "cannot write: %.300s: %s", path, strerror(-r));
    r = study_artifact_try(run->artifacts, run->args->name, "study.ini", path, err);
    (void)unlink(path);
    return r < 0 && r != -EHOSTDOWN && r != -ECANCELED
               ? trainer_study_failed(run, "config", "--artifacts: %s", err)
               : GO_ON;
}

int trainer_study_artifacts_begin(struct study_run *run)
{
    char *before = study_artifacts_url(run->study), err[STUDY_ERROR_MAX];
    int status = !run->artifacts && before ? open_store(run, before) : GO_ON;
    int r = status == GO_ON && run->artifacts ? name_store(run, before, err) : 0;
    if (r < 0)
        status = trainer_study_storage_failed(run, r, err);
    if (status == GO_ON && run->artifacts)
        status = try_store(run);
    if (status == GO_ON)
        (void)trainer_study_artifacts_resume(run);
    free(before);
    return status;
}

int trainer_study_artifacts_resume(struct study_run *run)
{
    const struct trial_calls calls = calls_of(run);
    return run->artifacts ? study_artifacts_resume(run->artifacts, run->folder, &calls) : 0;
}

int trainer_study_artifacts_fetch(struct study_run *run, struct study_members *others, const char *folders)
{
    const struct trial_calls calls = calls_of(run);
    const struct artifact_stop stop = {trainer_study_is_stopped, run};
    char err[TRIAL_ERROR_MAX];
    int r = 0;
    if (run->artifacts) {
        (void)trainer_study_artifacts_resume(run);
        r = study_artifacts_fetch(run->artifacts, run->study, run->folder, false, &calls, err);
        if (r == 0)
            r = study_artifacts_fetch_members(run->artifacts, others, folders, &calls, &stop, err);
    }
    return r < 0 && r != -ECANCELED ? trainer_study_failed(run, "disk", "%s", err) : GO_ON;
}

int trainer_study_artifacts_earlier(struct study_run *run)
{
    const struct trial_calls calls = calls_of(run);
    char err[TRIAL_ERROR_MAX];
    int r = run->artifacts ? study_proposal_fetch(run->artifacts, run->study, run->folder, &calls, err) : 0;
    if (r < 0 && r != -ECANCELED)
        return trainer_study_failed(run, "disk", "%s", err);
    return r > 0 ? EXIT_SUCCESS : GO_ON;
}

int trainer_study_artifacts_propose(struct study_run *run)
{
    const struct trial_calls calls = calls_of(run);
    char err[TRIAL_ERROR_MAX];
    struct study_store *store;
    if (!run->artifacts || !run->proposal)
        return GO_ON;
    int r = study_store_open_waiting(run->url, STUDY_STORE_AGAIN, 0, &run->waits, &store, err);
    if (r < 0)
        return trainer_study_storage_failed(run, r, err);
    r = study_proposal_publish(run->artifacts, store, run->study, run->proposal, run->folder, &calls, err);
    study_store_close(store);
    return r < 0 ? trainer_study_failed(run, "disk", "%s", err) : GO_ON;
}

void trainer_study_artifacts_forget(struct study_run *run)
{
    char err[ARTIFACT_ERROR_MAX], words[ARTIFACT_ERROR_MAX + 64];
    int removed;
    if (!run->artifacts ||
        study_artifacts_retain(run->artifacts, run->args->name, RUNS_KEPT, &removed, err) == 0)
        return;
    snprintf(words, sizeof words, "old runs stay among the artifacts: %s", err);
    warn(run, words);
}
