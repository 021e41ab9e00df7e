/* A study from its configuration to its proposal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/stop.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train_run.h"
#include "trainer/study/device.h"
#include "trainer/study/open.h"
#include "trainer/study/runs.h"
#include "trainer/study/stale_files.h"

static struct study_opening opening_of(const struct study_run *run)
{
    return (struct study_opening){.url = run->url,
                                  .name = run->args->name,
                                  .text = run->text,
                                  .folder = run->folder,
                                  .now_ns = run->now_ns,
                                  .settings = &run->settings,
                                  .config = &run->config,
                                  .joins = run->args->no_proposal,
                                  .waits = &run->waits};
}

static int keep_text(struct study_run *run)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/study.ini", run->folder);
    int r = trainer_study_write_text(run, path);
    return r < 0 ? trainer_study_failed(run, "disk", "cannot write: %.300s: %s: room on the disk is needed",
                                        path, strerror(-r))
                 : GO_ON;
}

static int open_study(struct study_run *run)
{
    char err[STUDY_ERROR_MAX];
    const struct study_opening opening = opening_of(run);
    int r = study_load_or_create(&opening, trainer_study_warn, run, &run->study, err);
    if (r < 0)
        return trainer_study_storage_failed(run, r, err);
    study_stale_files_remove_all(run->folder, STALE_FILES_AGE_S);
    return keep_text(run);
}

/* ---- Its resources. ---- */

static void share_machine(struct study_run *run)
{
    const int left = run->settings.trials - study_tally_of(run->study).done;
    trainer_study_machine_find(&run->config, &run->machine);
    run->workers = trainer_study_machine_workers(&run->machine, &run->settings, run->args->memory_mib,
                                                 study_market_each_bytes(run->market), left);
    run->of_worker = run->config;
    trainer_study_machine_share(&run->machine, run->workers, &run->of_worker.ppo);
}

/* ---- The study. ---- */

static void take_trial(void *ctx, const struct study_trial *trial, const struct study_progress *figures)
{
    trainer_study_trial(ctx, trial, figures);
}

static void take_look(void *ctx, const struct study_progress *figures)
{
    trainer_study_looked(ctx, figures);
}

/* The rows, which are checked before anything of a new study is stored. */
static int open_market(struct study_run *run, bool all_done)
{
    const struct study_market_options options = {
        .no_trials = all_done, .stopped = trainer_study_is_stopped, .warned = trainer_study_warn, .ctx = run};
    char err[TRIAL_ERROR_MAX], words[CONFIG_ERROR_MAX];
    telemetry_report_state(&run->report, "loading", 0);
    if (!all_done && train_config_untradable(&run->config, words))
        trainer_study_warn(run, words);
    if (!all_done && study_rules_long_only(&run->settings.rules, &run->settings.space, words))
        trainer_study_warn(run, words);
    int r = telemetry_report_pace(&run->report, 0, (int)run->args->heartbeat_ms);
    if (r < 0)
        return trainer_study_failed(run, NULL, "cannot begin the heartbeat: %s", strerror(-r));
    r = study_market_open(&run->config, &run->settings, &options, &run->market, err);
    telemetry_report_pace_end(&run->report); /* workers are forks of one thread */
    if (r < 0)
        return trainer_study_failed(run, train_cause(r, "config"), "%s", err);
    return r > 0 ? trainer_study_stopped(run) : GO_ON;
}

/* Before anything of a new study is stored, and before an earlier one continues. */
static int require_device(struct study_run *run)
{
    char err[TRIAL_ERROR_MAX];
    int r = study_device_check(&run->config, err);
    return r < 0 ? trainer_study_failed(run, "device", "%s", err) : GO_ON;
}

/* Opens a new study's market. Of one that another process has created meanwhile `now` is that one's: its
 * configuration is read again, and so are its bars. */
static int open_market_first(struct study_run *run)
{
    char err[STUDY_ERROR_MAX];
    struct study_beginning began;
    int status = open_market(run, false);
    if (status == GO_ON)
        status = require_device(run);
    if (status != GO_ON)
        return status;
    int r = study_began_as(run->url, run->args->name, STUDY_STORE_READ_AGAIN, &run->waits, &began, err);
    if (r < 0)
        return trainer_study_storage_failed(run, r, err);
    free(began.text);
    if (!began.there || began.now_ns == run->now_ns)
        return GO_ON;
    study_market_close(run->market);
    run->market = NULL;
    return trainer_study_take_config(run);
}

static int load_market(struct study_run *run, bool all_done)
{
    char why[STUDY_ERROR_MAX];
    int status = run->market ? GO_ON : open_market(run, all_done);
    if (status != GO_ON)
        return status;
    const struct study_opening opening = opening_of(run);
    int r = study_open_rows(&opening, run->market, run->study, why);
    return r < 0 ? trainer_study_storage_failed(run, r, why) : GO_ON;
}

/* GO_ON: all trials are done. */
static int run_trials(struct study_run *run)
{
    char err[STUDY_RUN_ERROR_MAX];
    const char *cause;
    const struct study_order order = {.url = run->url,
                                      .folder = run->folder,
                                      .study_id = run->study->id,
                                      .wanted = run->settings.trials,
                                      .config = &run->of_worker,
                                      .settings = &run->settings,
                                      .market = run->market,
                                      .artifacts =
                                          run->artifacts ? artifact_store_url(run->artifacts) : NULL};
    const struct study_plan plan = {run->workers, run->machine.devices, run->machine.n_devices};
    const struct study_calls calls = {
        run, take_trial, take_look, trainer_study_warn, trainer_study_is_stopped, trainer_stop_flag()};
    int r = study_run(&order, &plan, &calls, &cause, err);
    if (r < 0)
        return cause ? trainer_study_failed(run, cause, "%s", err)
                     : trainer_study_storage_failed(run, r, err);
    return r == 0 ? GO_ON : trainer_study_stopped(run);
}

/* Trials of other workers may have ended while this one proposed, and this one's trials since they did. */
static int judge(struct study_run *run)
{
    char err[STUDY_ERROR_MAX];
    int r = run->report.beats ? 0 : telemetry_report_pace(&run->report, 0, (int)run->args->heartbeat_ms);
    if (r < 0)
        return trainer_study_failed(run, NULL, "cannot begin the heartbeat: %s", strerror(-r));
    r = trainer_study_judge(run, err);
    return r < 0 ? trainer_study_storage_failed(run, r, err) : GO_ON;
}

/* Others may start its trials now. */
static int end_created(struct study_run *run)
{
    int status = load_market(run, false);
    return status == GO_ON ? trainer_study_done(run) : status;
}

static void forget_old_runs(const struct study_run *run)
{
    char studies[PATH_MAX];
    snprintf(studies, sizeof studies, "%s", run->folder);
    char *slash = strrchr(studies, '/');
    if (slash)
        *slash = '\0';
    study_runs_retain(studies, run->args->name, RUNS_KEPT);
}

/* With --no-proposal another run of the study proposes; the returns of other machines' trials may not be
 * here. */
static int work(struct study_run *run)
{
    int status = GO_ON;
    const struct study_tally before = study_tally_of(run->study);
    run->last.tally = before;
    const struct study_trial *best = study_best(run->study);
    run->best = best ? best->values[0] : NAN;
    run->best_number = best ? best->number : -1;
    const bool all_done = before.done >= run->settings.trials;
    if (all_done && run->args->no_proposal)
        return trainer_study_done(run);
    if (all_done)
        status = trainer_study_take_earlier(run);
    if (status == GO_ON && !run->proposal)
        status = load_market(run, all_done);
    if (status == GO_ON && run->there && !run->proposal)
        status = require_device(run);
    if (status == GO_ON) {
        share_machine(run);
        trainer_study_started(run);
    }
    if (status == GO_ON && !all_done)
        status = run_trials(run);
    if (status == GO_ON && run->args->no_proposal)
        return trainer_study_done(run);
    if (status == GO_ON && !run->proposal && (status = trainer_study_propose(run)) == GO_ON)
        status = trainer_study_artifacts_propose(run);
    if (status == GO_ON)
        status = judge(run);
    if (status != GO_ON)
        return status;
    forget_old_runs(run);
    trainer_study_artifacts_forget(run);
    return trainer_study_done(run);
}

enum { ANSWER_MS = 2000 }; /* what the storage has to answer, once the run was asked to end */

static void take_waiting(void *ctx, int error, const char *words)
{
    (void)error;
    trainer_study_warn(ctx, words);
}

int trainer_study(struct option_call *call)
{
    const struct study_args *args = call->into;
    int status = trainer_study_args_check(call);
    if (status != EXIT_OK)
        return status;
    struct study_run *run = calloc(1, sizeof *run);
    if (!run)
        return trainer_args_say(EXIT_FAILURE, "out of memory");
    run->args = args;
    run->best = run->last.per_hour = NAN;
    run->best_number = -1;
    run->waits = (struct study_store_waits){
        .stop = trainer_stop_flag(), .answer_ms = ANSWER_MS, .said = take_waiting, .ctx = run};
    trainer_stop_on_signals();
    telemetry_report_begin(&run->report, call->json);
    status = trainer_study_find_places(run, call->state);
    if (status == GO_ON)
        status = trainer_study_check_storage(run);
    if (status == GO_ON)
        status = trainer_study_take_config(run);
    if (status == GO_ON)
        status = trainer_study_artifacts_open(run);
    if (status == GO_ON && !run->there)
        status = open_market_first(run);
    if (status == GO_ON)
        status = trainer_study_make_places(run);
    if (status == GO_ON)
        status = trainer_study_artifacts_check(run);
    if (status == GO_ON)
        status = open_study(run);
    if (status == GO_ON)
        status = trainer_study_artifacts_begin(run);
    if (status == GO_ON)
        status = args->create ? end_created(run) : work(run);
    telemetry_report_end(&run->report);
    study_market_close(run->market);
    artifact_store_close(run->artifacts);
    json_decref(run->proposal);
    study_destroy(run->study);
    if (run->has_settings)
        study_settings_finish(&run->settings);
    free(run->text);
    free(run);
    return status;
}
