/* A study's proposal: made of its best trial, or the earlier one judged again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train_run.h"
#include "trainer/study/device.h"
#include "trainer/study/proposal.h"

static enum trial_go continue_trial(void *ctx, double share, double steps_s)
{
    (void)share, (void)steps_s;
    return trainer_study_is_stopped(ctx) ? TRIAL_STOP_ASKED : TRIAL_GO;
}

static enum trial_go continue_after(void *ctx, int step, double value)
{
    (void)step, (void)value;
    return trainer_study_is_stopped(ctx) ? TRIAL_STOP_ASKED : TRIAL_GO;
}

/* The study as it is now, and its other members, other runs on the same bars too. */
static int reload_study(struct study_run *run, struct study_members *ret_others)
{
    char err[STUDY_ERROR_MAX], base[STUDY_NAME_MAX + 1], folders[PATH_MAX];
    struct study_store *store;
    int r = study_store_open_waiting(run->url, STUDY_STORE_READ_AGAIN, 0, &run->waits, &store, err);
    if (r == 0) {
        r = study_store_sync(store, run->study, err);
        study_base_name(run->study->name, base);
        snprintf(folders, sizeof folders, "%s", run->folder);
        *strrchr(folders, '/') = '\0';
        if (r == 0)
            r = study_members_load(store, base, run->study, folders, trainer_study_warn, run, ret_others,
                                   err);
        study_store_close(store);
    }
    if (r < 0)
        return trainer_study_storage_failed(run, r, err);
    int status = trainer_study_artifacts_fetch(run, ret_others, folders);
    if (status != GO_ON)
        study_members_finish(ret_others);
    return status;
}

/* proposal.json for these trials and settings: run->proposal. */
static int rejudge(struct study_run *run, const struct study_members *others)
{
    char err[TRIAL_ERROR_MAX], path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/proposal.json", run->folder);
    json_t *proposal = json_load_file(path, 0, NULL);
    const struct trial_calls calls = {.ctx = run, .warned = trainer_study_warn};
    int r = proposal ? study_proposal_rejudge(&run->config, &run->settings, run->study, others, run->folder,
                                              &calls, proposal, err)
                     : 0;
    if (r > 0)
        run->proposal = json_incref(proposal);
    json_decref(proposal);
    return r < 0 ? trainer_study_failed(run, train_cause(r, "disk"), "%s", err) : GO_ON;
}

int trainer_study_take_earlier(struct study_run *run)
{
    struct study_members others = {0};
    int status = reload_study(run, &others);
    if (status != GO_ON)
        return status;
    status = rejudge(run, &others);
    if (status == GO_ON && !run->proposal && (status = trainer_study_artifacts_earlier(run)) == EXIT_SUCCESS)
        status = rejudge(run, &others);
    study_members_finish(&others);
    return status;
}

/* No trial has a value: reports the first failure with a cause as the study's. */
static int all_failed(struct study_run *run)
{
    for (int i = 0; i < run->study->n_trials; i++) {
        const struct study_trial *trial = run->study->trials[i];
        if (trial->state != TRIAL_FAIL ||
            !study_attribute_find(trial->user, trial->n_user, "papertape:failure"))
            continue;
        char *words = study_attribute_text(trial->user, trial->n_user, "papertape:failure");
        char *cause = study_attribute_text(trial->user, trial->n_user, "papertape:cause");
        const bool nan = cause && strcmp(cause, "nan") == 0;
        int status =
            trainer_study_failed(run, nan ? "nan" : "config", "every trial failed, the first (%d): %.800s",
                                 trial->number, words ? words : "it does not say why");
        free(words);
        free(cause);
        return status;
    }
    return trainer_study_failed(run, NULL, "every trial failed, and no reason is known: their workers died");
}

int trainer_study_propose(struct study_run *run)
{
    char err[TRIAL_ERROR_MAX];
    const struct trial_calls calls = {run, continue_after, continue_trial, trainer_study_warn};
    struct study_members others = {0};
    int status = reload_study(run, &others);
    if (status != GO_ON)
        return status;
    const struct study_tally tally = study_tally_of(run->study);
    if (tally.done > 0 && tally.states[TRIAL_COMPLETE] + tally.states[TRIAL_PRUNED] == 0) {
        study_members_finish(&others);
        return all_failed(run);
    }
    telemetry_report_bar_clear(&run->report);
    telemetry_report_state(&run->report, "proposing", run->last.tally.done);
    int r = telemetry_report_pace(&run->report, 0, (int)run->args->heartbeat_ms);
    if (r < 0) {
        study_members_finish(&others);
        return trainer_study_failed(run, NULL, "cannot begin the heartbeat: %s", strerror(-r));
    }
    struct gpu_module *device; /* no more workers are forked */
    const bool has_device = study_device_open(&run->config, &device, err) == 0;
    if (has_device)
        r = study_proposal_make(run->market, &run->config, &run->settings, run->study, &others, run->folder,
                                &calls, &run->proposal, err);
    gpu_module_close(device);
    study_members_finish(&others);
    if (trainer_study_is_stopped(run) && !run->proposal)
        return trainer_study_stopped(run);
    if (!has_device)
        return trainer_study_failed(run, "device", "%s", err);
    if (r < 0 && r != -ENODATA)
        return trainer_study_failed(run, train_cause(r, r == -EDOM ? "nan" : NULL), "no proposal: %s", err);
    if (r < 0)
        telemetry_report_warning(&run->report, err);
    return GO_ON;
}
