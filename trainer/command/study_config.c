/* Where a study's files are, and its configuration, which its storage may have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/state.h"
#include "exchange/whole_file.h"
#include "trainer/command/args.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train.h"
#include "trainer/command/train_run.h"
#include "trainer/study/open.h"
#include "trainer/study/settings_table.h"
#include "trainer/study/stale_files.h"

/* ---- Where its files are. ---- */

int trainer_study_find_places(struct study_run *run, const char *given)
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

int trainer_study_check_storage(struct study_run *run)
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

int trainer_study_make_places(struct study_run *run)
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
        return trainer_study_storage_failed(run, r, err);
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

int trainer_study_take_config(struct study_run *run)
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

int trainer_study_write_text(const struct study_run *run, const char *path)
{
    struct whole_file file;
    int r = whole_file_open(path, STUDY_TEMPORARY, 0644, &file);
    return r == 0 ? whole_file_close(&file, whole_file_put(&file, run->text, strlen(run->text))) : r;
}
