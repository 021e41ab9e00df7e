#include "trainer/command/train.h"
#include "trainer/command/args.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/command/stop.h"
#include "trainer/command/train_seeds.h"

enum { VALIDATE_EVERY = 10 }; /* updates */

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

/* ---- Where it begins. ---- */

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
    if (run->config.patience > 0 && run->source.judging[SOURCE_VALIDATION].rows.to == 0)
        return train_failed(run, "config",
                            "[training] patience: %d: there are no rows of validation: validation_from, or "
                            "validation_share without ranges, is needed, or 0",
                            run->config.patience);
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
    int r = training_plan_make(&run->source, &params, run->from != NULL, &run->plan, err);
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

/* ---- Iterations. ---- */

static void add_up(struct train_run *run, const struct update_figures *figures, bool rehearsed)
{
    const struct ppo_update *u = &figures->update;
    const double seconds[] = {u->seconds_rollout, u->seconds_advantage, u->seconds_update};
    const double cpu = figures->usage.cpu_s / figures->usage.wall_s;
    for (int i = 0; i < 3; i++) {
        run->phases[PHASE_ROLLOUT + i].seconds += seconds[i];
        run->phases[PHASE_ROLLOUT + i].device = figures->device;  /* the last iteration's */
        run->phases[PHASE_ROLLOUT + i].cpu_s += cpu * seconds[i]; /* split: it is not measured separately */
        if (!rehearsed)
            run->steady_s[i] += seconds[i];
    }
    if (!rehearsed)
        run->steady_steps += u->steps - run->steps;
    run->iterations++;
    run->iteration = u->iteration;
    run->steps = u->steps;
}

static void show(struct train_run *run, const struct update_figures *figures)
{
    struct tensorboard_scalar scalars[UPDATE_SCALARS];
    const struct report_progress progress = {
        .name = run->config.name,
        .steps = run->steps,
        .total_steps = run->config.ppo.total_steps,
        .steps_s = figures->steps_s,
        .left_s = (double)(run->config.ppo.total_steps - run->steps) / figures->steps_s,
        .episode_return = figures->update.episode_return,
    };
    train_updated(run, figures);
    train_page_updated(run->page, &figures->update);
    telemetry_report_bar(&run->report, &progress);
    if (run->board && telemetry_tensorboard_add(run->board, run->steps, scalars,
                                                trainer_update_scalars(figures, scalars)) < 0) {
        telemetry_report_warning(
            &run->report, "cannot write event files: [training] tensorboard: room on the disk is needed; "
                          "the training continues without them");
        telemetry_tensorboard_close(run->board);
        run->board = NULL;
    }
}

static int iterate(struct train_run *run)
{
    char err[PPO_ERROR_MAX];
    struct learner *learner = run->making.learner;
    struct update_figures figures = {.device = NAN};
    struct usage started = telemetry_usage_now();
    bool rehearses = run->steps == 0 && run->config.ppo.normalise_observations;
    int r = ppo_learner_iterate(learner, &figures.update, err);
    if (r < 0) /* -EDOM: the losses are not finite; -EINVAL: an action is not */
        return train_failed(run, train_cause(r, r == -EDOM || r == -EINVAL ? "nan" : "device"),
                            "%s; the last good checkpoint: %s", err, run->saved[0] ? run->saved : "none");
    figures.usage = telemetry_usage_since(&started);
    figures.steps_s = (double)(figures.update.steps - run->steps) / figures.usage.wall_s;
    if (training_making_on_device(&run->making)) /* the device's clock, first to last operation */
        figures.device = (figures.update.seconds_rollout + figures.update.seconds_advantage +
                          figures.update.seconds_update) /
                         figures.usage.wall_s;
    figures.held_bytes = learner->ops->bytes(learner);
    add_up(run, &figures, rehearses);
    show(run, &figures);
    return GO_ON;
}

static bool is_due(int64_t iteration, int64_t every)
{
    return every > 0 && iteration % every == 0;
}

static int64_t evaluate_every(const struct train_run *run)
{
    if (run->config.evaluate_every >= 0)
        return run->config.evaluate_every;
    return run->source.market && training_source_judges(&run->source, SOURCE_VALIDATION) ? VALIDATE_EVERY : 0;
}

/* The last policy may be the best on the rows of validation. */
static bool judge_last(struct train_run *run)
{
    return !training_source_judges(&run->source, SOURCE_VALIDATION) || train_judge(run);
}

static int run_all(struct train_run *run)
{
    const struct train_config *config = &run->config;
    int status = GO_ON;
    while (status == GO_ON && run->steps < config->ppo.total_steps && !trainer_stop_asked() &&
           !run->report.failed && !train_is_patient(run)) {
        status = iterate(run);
        if (status != GO_ON || run->steps >= config->ppo.total_steps || trainer_stop_asked())
            continue;
        if (is_due(run->iteration, evaluate_every(run)) && !train_judge(run))
            status = EXIT_FAILURE;
        else if (is_due(run->iteration, config->checkpoint_every))
            train_save(run);
    }
    if (status != GO_ON)
        return status;
    bool stopped = run->steps < config->ppo.total_steps && !train_is_patient(run);
    if (!stopped && config->keep == TRAIN_KEEP_BEST && !judge_last(run))
        return EXIT_FAILURE;
    if (run->steps > 0) /* else it has not learnt yet */
        train_checkpoint(run);
    if (run->steps > 0 && !train_evaluate(run))
        return EXIT_FAILURE;
    if (!run->seeds) {
        train_page_keep(run->page);
        train_report(run, config->name, stopped ? "stopped" : "done");
    }
    train_ended(run, stopped ? "stopped" : "done", run->lost || run->report.lost ? "disk" : NULL);
    if (run->report.failed)
        return trainer_args_say(EXIT_FAILURE,
                                "cannot write: stdout: a file or a reader; stopped after %lld steps, %s",
                                (long long)run->steps, run->saved[0] ? run->saved : "nothing was learnt yet");
    if (run->report.lost)
        return trainer_args_say(
            EXIT_FAILURE,
            "not all lines were written: stdout: room for them would be right; the training is whole: %s",
            run->saved[0] ? run->saved : run->config.output);
    if (run->lost)
        return trainer_args_say(EXIT_FAILURE, "not all was written: %s: the last good checkpoint is %s",
                                config->output, run->saved[0] ? run->saved : "none");
    return EXIT_SUCCESS;
}

static int print_config(const struct train_args *args, struct train_config *config)
{
    char err[CONFIG_ERROR_MAX];
    int status = train_args_config(args, config, err);
    if (status != GO_ON) {
        trainer_args_say(status, "%s", err);
        train_print_other_errors(args->config);
        return status;
    }
    char *text = train_config_text(config);
    if (!text)
        return trainer_args_say(EXIT_FAILURE, "out of memory: the configuration");
    fputs(text, stdout);
    free(text);
    return EXIT_SUCCESS;
}

static int begin(struct train_run *run, bool json)
{
    char err[CONFIG_ERROR_MAX];
    const struct train_args *args = run->args;
    trainer_stop_on_signals();
    telemetry_report_begin(&run->report, json);
    int r = telemetry_report_pace(&run->report, (int)args->report_every_ms, (int)args->heartbeat_ms);
    int status = train_args_config(args, &run->config, err);
    if (status != GO_ON) {
        train_failed(run, "config", "%s", err);
        train_print_other_errors(args->config);
        return status;
    }
    int page = args->report ? train_page_open(args->report, &run->page) : 0;
    if (page < 0)
        return train_failed(run, train_cause(page, "config"),
                            "cannot write: --report %.300s: a file in a writable folder with room (%s)",
                            args->report, strerror(-page));
    if (r < 0)
        return train_failed(run, train_cause(r, NULL),
                            "no thread for --heartbeat and --report-every: %s: a higher limit of them",
                            strerror(-r));
    return GO_ON;
}

/* All that precedes the first iteration. A signal ends it between any two parts: nothing was learnt, and
 * nothing is written. */
static int prepare(struct train_run *run)
{
    static int (*const parts[])(struct train_run *) = {make_folders, claim_output,     open_checkpoint,
                                                       load_source,  compute_features, make_plan,
                                                       make_learner, open_board};
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

/* What a training starts with, whatever seed was trained before; bars and features stay. */
static void start(struct train_run *run)
{
    telemetry_tensorboard_close(run->board);
    training_best_drop(&run->best);
    training_making_end(&run->making);
    checkpoint_destroy(run->from);
    training_claim_drop(&run->claim);
    memset(&run->board, 0, sizeof *run - offsetof(struct train_run, board));
    run->saved_at = run->judged_at = -1;
    run->reported_s = -INFINITY;
    for (int phase = 0; phase < PHASES; phase++)
        run->phases[phase].device = NAN;
}

static int train_one(struct train_run *run)
{
    int status = train_page_begin(run->page) < 0 ? train_failed(run, "memory", "out of memory: --report")
                                                 : prepare(run);
    if (status == GO_ON) {
        train_started(run);
        status = run_all(run);
    }
    return status;
}

static int train_each(struct train_run *run)
{
    char name[CONFIG_WORD_MAX];
    struct train_seeds seeds;
    const uint64_t first = run->config.ppo.seed;
    snprintf(name, sizeof name, "%s", run->config.name);
    if (train_seeds_init(&seeds, (int)run->args->seeds) < 0)
        return train_failed(run, "memory", "out of memory: --seeds");
    run->seeds = &seeds;
    int status = EXIT_SUCCESS;
    for (int i = 0; i < seeds.n && status == EXIT_SUCCESS && !trainer_stop_asked(); i++) {
        start(run);
        run->config.ppo.seed = first + (uint64_t)i;
        int n = snprintf(run->config.name, sizeof run->config.name, "%s-s%llu", name,
                         (unsigned long long)run->config.ppo.seed);
        status =
            n < (int)sizeof run->config.name
                ? train_one(run)
                : train_failed(run, "config", "[training] name: %s: too long for --seeds: at most %d letters",
                               name, CONFIG_WORD_MAX - 22);
    }
    bool stopped = seeds.done < seeds.n || trainer_stop_asked();
    train_seeds_ended(run, name, status != EXIT_SUCCESS ? "failed" : stopped ? "stopped" : "done");
    train_seeds_finish(&seeds);
    return status == EXIT_SUCCESS && run->lost ? EXIT_FAILURE : status;
}

int trainer_train(struct option_call *call)
{
    const struct train_args *args = call->into;
    int status = train_args_check(call);
    if (status != EXIT_OK)
        return status;
    if (args->list_keys)
        return train_list_keys(call->json);
    if (args->check)
        return train_check(args->config, call->json);
    struct train_run *run = calloc(1, sizeof *run);
    if (!run)
        return trainer_args_say(EXIT_FAILURE, "out of memory: train");
    run->args = args;
    start(run);
    status = args->print_config ? print_config(args, &run->config) : begin(run, call->json);
    if (status == GO_ON)
        status = args->seeds > 0 ? train_each(run) : train_one(run);
    start(run);
    train_page_close(run->page);
    training_source_close(&run->source);
    telemetry_report_end(&run->report);
    free(run);
    return status;
}
