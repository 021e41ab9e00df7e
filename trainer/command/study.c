#include "trainer/command/study_args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/state.h"
#include "exchange/whole_file.h"
#include "trainer/command/args.h"
#include "trainer/command/stop.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train.h"
#include "trainer/command/train_run.h"
#include "trainer/study/device.h"
#include "trainer/study/open.h"
#include "trainer/study/pool.h"
#include "trainer/study/proposal.h"
#include "trainer/study/runs.h"
#include "trainer/study/settings_table.h"
#include "trainer/study/stale_files.h"

enum { ANSWER_MS = 2000 }; /* what the storage has to answer, once the run was asked to end */

/* A server that is away is no disk of this machine. */
static const char *storage_cause(const struct study_run *run, int r)
{
    static const int passing[] = {EBUSY, EBADMSG, EIO, ENOTCONN, EUSERS, ECONNRESET, ENOMEM, ENOSPC, EROFS};
    char *file = study_store_file(run->url);
    const char *cause = train_cause(r, r == -EBUSY || r == -EBADMSG || r == -EIO ? "disk" : "config");
    for (size_t i = 0; !file && i < sizeof passing / sizeof *passing; i++)
        if (r == -passing[i])
            cause = "storage";
    free(file);
    return cause;
}

static void warn(void *ctx, const char *words)
{
    struct study_run *run = ctx;
    telemetry_report_warning(&run->report, words);
}

static void take_waiting(void *ctx, int error, const char *words)
{
    (void)error;
    warn(ctx, words);
}

/* ---- Asked to end. ---- */

static bool is_stopped(void *ctx)
{
    const struct study_run *run = ctx;
    return trainer_stop_asked() || run->report.failed;
}

/* Was it asked to stop, or is no reader of its output left? */
static int stopped(struct study_run *run)
{
    trainer_study_ended(run, "stopped", NULL);
    return run->report.failed
               ? trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader; stopped")
               : (int)run->args->stopped_status;
}

/* A storage that does not answer keeps no run that was asked to end. */
static int storage_failed(struct study_run *run, int error, const char *words)
{
    return error == -EINTR && trainer_stop_asked()
               ? stopped(run)
               : trainer_study_failed(run, storage_cause(run, error), "%s", words);
}

/* ---- Where its files are. ---- */

static int find_places(struct study_run *run, const char *given)
{
    struct state_dir state;
    char reason[512];
    if (db_state_dir_find(given, &state, reason, sizeof reason) < 0)
        return trainer_study_failed(run, "config", "no state directory: %s: --state would be right", reason);
    /* Absolute from the first event on; the folders may not be there yet. */
    char here[PATH_MAX] = "";
    if (state.path[0] != '/' && !getcwd(here, sizeof here))
        return trainer_study_failed(
            run, "config", "no working directory: %s: an absolute --state would be right", strerror(errno));
    if (snprintf(run->folder, sizeof run->folder, "%s%s%s/studies/%s", here, here[0] ? "/" : "", state.path,
                 run->args->name) >= (int)sizeof run->folder)
        return trainer_study_failed(run, "config", "too long: --state: %.100s…: a shorter path", state.path);
    char *own = NULL;
    if (!run->args->storage && study_store_of_state(state.path, &own, reason) < 0)
        return trainer_study_failed(run, "memory", "%s", reason);
    snprintf(run->url, sizeof run->url, "%s", own ? own : run->args->storage);
    free(own);
    if (run->args->storage && strlen(run->args->storage) >= sizeof run->url)
        return trainer_study_failed(run, "config", "too long: --storage: %zu characters at most are right",
                                    sizeof run->url - 1);
    return GO_ON;
}

/* A URL that no start finds right: the units do not repeat it. */
static int check_storage(struct study_run *run)
{
    char err[STUDY_ERROR_MAX], *name;
    int r = study_store_name(run->url, &name, err);
    if (r < 0) {
        (void)trainer_study_failed(run, train_cause(r, "config"), "--storage: %s", err);
        return exit_status_of_start(r);
    }
    free(name);
    return GO_ON;
}

static int make_places(struct study_run *run)
{
    char err[TRIAL_ERROR_MAX];
    int r = study_make_folder(run->folder, err);
    if (r == 0 && access(run->folder, W_OK | X_OK) < 0)
        r = -errno;
    char *absolute = r == 0 ? realpath(run->folder, NULL) : NULL; /* for readers in other folders */
    if (absolute)
        snprintf(run->folder, sizeof run->folder, "%s", absolute);
    free(absolute);
    return r < 0 ? trainer_study_failed(run, "disk",
                                        "cannot write to the study's folder: %.300s: %s: one that can be "
                                        "written to",
                                        run->folder, strerror(-r))
                 : GO_ON;
}

/* ---- Its configuration. ---- */

/* Prints every error, as train --check does; the event has the first. */
static int bad_config(struct study_run *run, const char *path, int error, const char *why)
{
    int n = error == -ENOMEM ? 0 : train_print_errors(path, run->text);
    return n > 0 ? trainer_study_failed_printed(run, "config", why)
                 : trainer_study_failed(run, train_cause(error, "config"), "%s", why);
}

static int nothing_to_resume(struct study_run *run)
{
    char *storage = trainer_study_storage(run);
    int status =
        trainer_study_failed(run, "config", "no study to resume: %s: %.300s: without --resume it starts",
                             run->args->name, storage ? storage : "");
    free(storage);
    return status;
}

static int read_config(struct study_run *run)
{
    const struct study_args *args = run->args;
    char err[STUDY_ERROR_MAX], why[TRAIN_TEXT_ERROR_MAX], kept[PATH_MAX + 16];
    struct study_beginning began;
    bool is_study;
    int r = study_began_as(run->url, args->name, args->resume ? STUDY_STORE_READ_AGAIN : STUDY_STORE_READ,
                           &run->waits, &began, err);
    if (r < 0)
        return storage_failed(run, r, err);
    run->there = began.there;
    run->now_ns = began.now_ns;
    /* A worker that joins, or a file that the storage has, has the number that was given last. */
    run->wanted = args->resume && (!args->config || args->no_proposal) ? began.trials : 0;
    snprintf(kept, sizeof kept, "%s/study.ini", run->folder);
    const char *path = args->config ? args->config : kept;
    if (!args->config && began.text && access(kept, F_OK) < 0)
        run->text = began.text; /* of another machine's study */
    else
        free(began.text);
    if (args->resume && !run->there)
        return nothing_to_resume(run);
    run->text = run->text ? run->text : train_read_text(path, why);
    if (!run->text)
        return trainer_study_failed(run, "config", "%s", why);
    r = study_settings_parse_at(path, run->text, run->now_ns, &run->config, &run->settings, &is_study, why);
    if (r < 0)
        return bad_config(run, path, r, why);
    run->has_settings = true;
    run->now_ns = run->config.now_ns;
    if (run->settings.split_auto && began.validation[0])
        (void)study_settings_set_study(&run->settings, "validation", began.validation, why);
    if (!train_config_trades(&run->config))
        return trainer_study_failed(run, "config",
                                    "%s: [training] world: %s: a market is right: trials are judged on bars",
                                    path, run->config.world);
    return GO_ON;
}

/* A proposal is named after its training; a file without a name takes the study's. */
static void take_name(struct study_run *run)
{
    char name[CONFIG_WORD_MAX], err[CONFIG_ERROR_MAX];
    if (strcmp(run->config.name, "training") != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(run->args->name, "@"), run->args->name);
    (void)train_config_set(&run->config, "training", "name", name, err); /* on failure the name stays */
}

static void take_args(struct study_run *run)
{
    const struct study_args *args = run->args;
    if (args->trials > 0 || run->wanted > 0)
        run->settings.trials = args->trials > 0 ? (int)args->trials : run->wanted;
    if (args->workers >= 0)
        run->settings.workers = (int)args->workers;
    if (args->seed >= 0)
        run->settings.sampler.seed = (uint64_t)args->seed;
}

/* The configuration, with what the command line says instead. */
static int take_config(struct study_run *run)
{
    free(run->text);
    run->text = NULL;
    if (run->has_settings)
        study_settings_finish(&run->settings);
    run->has_settings = false;
    int status = read_config(run);
    if (status == GO_ON) {
        take_args(run);
        take_name(run);
    }
    return status;
}

static int keep_text(struct study_run *run)
{
    char path[PATH_MAX + 16];
    struct whole_file file;
    snprintf(path, sizeof path, "%s/study.ini", run->folder);
    int r = whole_file_open(path, STUDY_TEMPORARY, 0644, &file);
    if (r == 0)
        r = whole_file_close(&file, whole_file_put(&file, run->text, strlen(run->text)));
    return r < 0 ? trainer_study_failed(run, "disk", "cannot write: %.300s: %s: room on the disk is needed",
                                        path, strerror(-r))
                 : GO_ON;
}

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

static int open_study(struct study_run *run)
{
    char err[STUDY_ERROR_MAX];
    const struct study_opening opening = opening_of(run);
    int r = study_load_or_create(&opening, warn, run, &run->study, err);
    if (r < 0)
        return storage_failed(run, r, err);
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
        .no_trials = all_done, .stopped = is_stopped, .warned = warn, .ctx = run};
    char err[TRIAL_ERROR_MAX], words[CONFIG_ERROR_MAX];
    telemetry_report_state(&run->report, "loading", 0);
    if (!all_done && train_config_untradable(&run->config, words))
        warn(run, words);
    int r = telemetry_report_pace(&run->report, 0, (int)run->args->heartbeat_ms);
    if (r < 0)
        return trainer_study_failed(run, NULL, "cannot begin the heartbeat: %s", strerror(-r));
    r = study_market_open(&run->config, &run->settings, &options, &run->market, err);
    telemetry_report_pace_end(&run->report); /* workers are forks of one thread */
    if (r < 0)
        return trainer_study_failed(run, train_cause(r, "config"), "%s", err);
    return r > 0 ? stopped(run) : GO_ON;
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
        return storage_failed(run, r, err);
    free(began.text);
    if (!began.there || began.now_ns == run->now_ns)
        return GO_ON;
    study_market_close(run->market);
    run->market = NULL;
    return take_config(run);
}

static int load_market(struct study_run *run, bool all_done)
{
    char why[STUDY_ERROR_MAX];
    int status = run->market ? GO_ON : open_market(run, all_done);
    if (status != GO_ON)
        return status;
    const struct study_opening opening = opening_of(run);
    int r = study_open_rows(&opening, run->market, run->study, why);
    return r < 0 ? storage_failed(run, r, why) : GO_ON;
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
    const struct study_calls calls = {run, take_trial, take_look, warn, is_stopped, trainer_stop_flag()};
    int r = study_run(&order, &plan, &calls, &cause, err);
    if (r < 0)
        return trainer_study_failed(run, cause ? cause : storage_cause(run, r), "%s", err);
    return r == 0 ? GO_ON : stopped(run);
}

/* ---- The proposal. ---- */

static enum trial_go continue_trial(void *ctx, double share, double steps_s)
{
    (void)share, (void)steps_s;
    return is_stopped(ctx) ? TRIAL_STOP_ASKED : TRIAL_GO;
}

static enum trial_go continue_after(void *ctx, int step, double value)
{
    (void)step, (void)value;
    return is_stopped(ctx) ? TRIAL_STOP_ASKED : TRIAL_GO;
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
            r = study_members_load(store, base, run->study, folders, warn, run, ret_others, err);
        study_store_close(store);
    }
    if (r < 0)
        return storage_failed(run, r, err);
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
    const struct trial_calls calls = {.ctx = run, .warned = warn};
    int r = proposal ? study_proposal_rejudge(&run->config, &run->settings, run->study, others, run->folder,
                                              &calls, proposal, err)
                     : 0;
    if (r > 0)
        run->proposal = json_incref(proposal);
    json_decref(proposal);
    return r < 0 ? trainer_study_failed(run, train_cause(r, "disk"), "%s", err) : GO_ON;
}

/* The earlier proposal, of this machine, or else of another. */
static int take_earlier(struct study_run *run)
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

static int propose(struct study_run *run)
{
    char err[TRIAL_ERROR_MAX];
    const struct trial_calls calls = {run, continue_after, continue_trial, warn};
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
    if (is_stopped(run) && !run->proposal)
        return stopped(run);
    if (!has_device)
        return trainer_study_failed(run, "device", "%s", err);
    if (r < 0 && r != -ENODATA)
        return trainer_study_failed(run, train_cause(r, r == -EDOM ? "nan" : NULL), "no proposal: %s", err);
    if (r < 0)
        telemetry_report_warning(&run->report, err);
    return GO_ON;
}

/* Trials of other workers may have ended while this one proposed, and this one's trials since they did. */
static int judge(struct study_run *run)
{
    char err[STUDY_ERROR_MAX];
    int r = run->report.beats ? 0 : telemetry_report_pace(&run->report, 0, (int)run->args->heartbeat_ms);
    if (r < 0)
        return trainer_study_failed(run, NULL, "cannot begin the heartbeat: %s", strerror(-r));
    r = trainer_study_judge(run, is_stopped, err);
    return r < 0 ? storage_failed(run, r, err) : GO_ON;
}

/* Files that wait are lost where the state does not outlive this machine's job. */
static int end_done(struct study_run *run)
{
    const int left = trainer_study_artifacts_resume(run);
    trainer_study_ended(run, "done", left > 0 ? "artifacts" : NULL);
    return left > 0 ? EXIT_NOT_UPLOADED : EXIT_SUCCESS;
}

/* Another run of the study proposes; the returns of other machines' trials may not be here. */
static int end_without_proposal(struct study_run *run)
{
    return end_done(run);
}

/* Others may start its trials now. */
static int end_created(struct study_run *run)
{
    int status = load_market(run, false);
    return status == GO_ON ? end_done(run) : status;
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
        return end_without_proposal(run);
    if (all_done)
        status = take_earlier(run);
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
        return end_without_proposal(run);
    if (status == GO_ON && !run->proposal && (status = propose(run)) == GO_ON)
        status = trainer_study_artifacts_propose(run);
    if (status == GO_ON)
        status = judge(run);
    if (status != GO_ON)
        return status;
    forget_old_runs(run);
    trainer_study_artifacts_forget(run);
    return end_done(run);
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
    status = find_places(run, call->state);
    if (status == GO_ON)
        status = check_storage(run);
    if (status == GO_ON)
        status = take_config(run);
    if (status == GO_ON)
        status = trainer_study_artifacts_open(run);
    if (status == GO_ON && !run->there)
        status = open_market_first(run);
    if (status == GO_ON)
        status = make_places(run);
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
