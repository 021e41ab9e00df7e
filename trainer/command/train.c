#include "trainer/command/train.h"
#include "trainer/command/args.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/stop.h"
#include "trainer/command/train_seeds.h"

enum { VALIDATE_EVERY = 10 }; /* updates */

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
                                                 : train_prepare(run);
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
