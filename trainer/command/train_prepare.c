/* Where a training begins: its folder, checkpoint, bars, plan and learner. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/command/args.h"
#include "trainer/command/stop.h"
#include "trainer/command/train_run.h"

static int make_folders(struct train_run *run)
{
    char path[CONFIG_PATH_MAX];
    snprintf(path, sizeof path, "%s", run->config.output);
    for (char *slash = path + 1; slash; slash++) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return train_failed(run, "disk",
                                "cannot make the output folder: %.300s: %s: one that can be written to", path,
                                strerror(errno));
        if (!slash)
            break;
        *slash = '/';
    }
    if (access(path, W_OK | X_OK) < 0)
        return train_failed(run, "disk",
                            "cannot write to the output folder: %.300s: %s: one that can be written to", path,
                            strerror(errno));
    return GO_ON;
}

static void warn(void *ctx, const char *words)
{
    struct train_run *run = ctx;
    telemetry_report_warning(&run->report, words);
}

/* A new training whose output has an older one's files would be mistaken for it. */
static int claim_output(struct train_run *run)
{
    char err[CLAIM_ERROR_MAX];
    const struct train_config *config = &run->config;
    int64_t newest = -1;
    int r = training_claim_take(config->output, config->name, &run->claim, err);
    if (r < 0) /* -EBUSY: another training has it, so that a restart would not help */
        return train_failed(run, train_cause(r, r == -EBUSY ? "config" : NULL), "%s", err);
    if (run->args->resume)
        return GO_ON;
    if ((r = checkpoint_newest(config->output, config->name, &newest, err)) < 0)
        return train_failed(run, train_cause(r, "disk"), "%s", err);
    run->replaces = newest >= 0;
    if (run->replaces && !run->args->overwrite)
        return train_failed(
            run, "checkpoint",
            "checkpoints of an earlier training: %.600s/%s-%lld.ckpt: --resume latest continues "
            "from it, --overwrite starts again in its place; or another name or output",
            config->output, config->name, (long long)newest);
    return GO_ON;
}

static int open_checkpoint(struct train_run *run)
{
    char err[CHECKPOINT_ERROR_MAX], why[KEEP_ERROR_MAX];
    const char *resume = run->args->resume;
    if (!resume)
        return GO_ON;
    int r = strcmp(resume, "latest") == 0
                ? checkpoint_latest(run->config.output, run->config.name, warn, run, &run->from, err)
                : checkpoint_read(resume, &run->from, err);
    if (r < 0)
        return train_failed(run, train_cause(r, "checkpoint"), "%s", err);
    snprintf(run->from_path, sizeof run->from_path, "%s", checkpoint_path(run->from));
    r = training_keep_check(run->from, &run->config, run->args->changed ? warn : NULL, run, why);
    if (r < 0)
        return train_failed(run, train_cause(r, "checkpoint"), "%s", why);
    return GO_ON;
}

static void warn_gaps(struct train_run *run)
{
    const struct market *market = run->source.market;
    char note[TRAINER_DATA_NOTE_MAX];
    for (int i = 0; market && i < market->n_symbols; i++)
        if (trainer_data_missing(market, i, 0, market->rows, note) > 0)
            telemetry_report_warning(&run->report, note);
}

static int warn_of_config(struct train_run *run)
{
    char words[CONFIG_ERROR_MAX];
    if (!run->args->resume && train_config_warns(&run->config, words))
        telemetry_report_warning(&run->report, words);
    if (!run->args->resume && train_config_untradable(&run->config, words))
        telemetry_report_warning(&run->report, words);
    return GO_ON;
}

static int load_source(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct usage started = telemetry_usage_now();
    telemetry_report_state(&run->report, "loading", run->steps);
    if (run->source.config) /* an earlier seed's: the same bars */
        return GO_ON;
    int r = training_source_load(&run->config, false, &run->source, err);
    if (r < 0)
        return train_failed(run, train_cause(r, "config"), "%s", err);
    warn_gaps(run);
    if (run->source.zone_note[0])
        telemetry_report_warning(&run->report, run->source.zone_note);
    train_phase(run, PHASE_LOADING, &started);
    return GO_ON;
}

static int compute_features(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct usage started = telemetry_usage_now();
    if (run->source.train_market) /* an earlier seed's */
        return GO_ON;
    telemetry_report_state(&run->report, "features", run->steps);
    int r = training_source_features(&run->source, err);
    if (r < 0)
        return train_failed(run, train_cause(r, "config"), "%s", err);
    train_phase(run, PHASE_FEATURES, &started);
    return GO_ON;
}

static void enter(void *ctx, enum ppo_phase phase)
{
    struct train_run *run = ctx;
    telemetry_report_state(&run->report, phase == PPO_ROLLOUT ? "rollout" : "update", run->steps);
}

static struct ppo_params learner_params(const struct train_run *run)
{
    struct ppo_params params = run->config.ppo;
    if (run->from)
        params.copies = training_keep_copies(run->from, &run->config);
    return params;
}

static int make_plan(struct train_run *run)
{
    char err[PLAN_ERROR_MAX];
    const struct ppo_params params = learner_params(run);
    const struct plan_options options = {.all_copies = run->from != NULL};
    int r = training_plan_make(&run->source, &params, &options, &run->plan, err);
    return r < 0 ? train_failed(run, train_cause(r, r == -EINVAL ? "config" : "device"), "%s", err) : GO_ON;
}

static int make_learner(struct train_run *run)
{
    char err[KEEP_ERROR_MAX], backend[CHECKPOINT_NAME_MAX], words[256];
    const struct ppo_params params = learner_params(run);
    int r = training_making_begin(&run->source, &params, run->from != NULL, warn, run, &run->making, err);
    if (r < 0)
        return train_failed(run, train_cause(r, r == -EINVAL ? "config" : "device"), "%s", err);
    ppo_learner_watch(run->making.learner, enter, run);
    if (!run->from)
        return GO_ON;
    if ((r = training_keep_restore(run->from, run->making.learner, &run->steps, backend, err)) < 0)
        return train_failed(run, train_cause(r, r == -EINVAL ? "checkpoint" : "device"), "%s", err);
    if ((r = training_best_restore(run->from, run->making.learner, &run->best, err)) < 0)
        return train_failed(run, train_cause(r, "checkpoint"), "%s", err);
    const char *now = run->making.learner->ops->backend;
    run->saved_at = run->steps;
    snprintf(run->saved, sizeof run->saved, "%s", run->from_path);
    if (strncmp(backend, now, sizeof backend - 1) != 0) {
        snprintf(words, sizeof words,
                 "another backend: %.32s: it was %.32s, which alone continues to the bit", now, backend);
        telemetry_report_warning(&run->report, words);
    }
    checkpoint_destroy(run->from);
    run->from = NULL;
    return GO_ON;
}

static int open_board(struct train_run *run)
{
    char err[TENSORBOARD_ERROR_MAX];
    if (run->config.tensorboard[0] &&
        telemetry_tensorboard_open(run->config.tensorboard, run->config.name,
                                   run->from_path[0] ? run->steps : -1, &run->board, err) < 0)
        return train_failed(run, "disk", "%s", err);
    return GO_ON;
}

int train_prepare(struct train_run *run)
{
    static int (*const parts[])(struct train_run *) = {make_folders,   claim_output,     open_checkpoint,
                                                       load_source,    compute_features, make_plan,
                                                       warn_of_config, make_learner,     open_board};
    int status = GO_ON;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == GO_ON; i++) {
        status = parts[i](run);
        if (status != GO_ON || !trainer_stop_asked())
            continue;
        train_ended(run, "stopped", NULL);
        status = EXIT_SUCCESS;
    }
    return status;
}
