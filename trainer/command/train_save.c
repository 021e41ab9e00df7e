/* A training's files: checkpoints, the policy that is kept, the page. */
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "trainer/command/train_run.h"

bool train_keeps_best(const struct train_run *run)
{
    return run->config.keep == TRAIN_KEEP_BEST && run->best.policy.model;
}

int64_t train_kept_steps(const struct train_run *run)
{
    return train_keeps_best(run) ? run->best.steps : run->steps;
}

const struct kept_policy *train_find_kept(struct train_run *run, struct kept_policy *own, int64_t *ret_steps,
                                          int *ret_error, char err[static KEEP_ERROR_MAX])
{
    bool best = train_keeps_best(run);
    *own = (struct kept_policy){0};
    *ret_steps = train_kept_steps(run);
    *ret_error = best ? 0 : training_kept_policy_take(run->making.learner, own, err);
    return best ? &run->best.policy : *ret_error < 0 ? NULL : own;
}

/* With its verdict, once it was evaluated. */
static int save_policy(struct train_run *run, char err[static KEEP_ERROR_MAX])
{
    char path[PATH_MAX];
    struct kept_policy own;
    int64_t steps;
    int r;
    const struct train_config *config = &run->config;
    snprintf(path, sizeof path, "%s/%s.safetensors", config->output, config->name);
    const struct kept_policy *policy = train_find_kept(run, &own, &steps, &r, err);
    if (policy)
        r = training_kept_policy_write(policy, &run->source, steps,
                                       run->evaluated ? &run->evaluation.verdict : NULL, path, err);
    training_kept_policy_drop(&own);
    if (r == 0)
        telemetry_report_event(&run->report, "policy",
                               json_pack("{s:I, s:s}", "steps", (json_int_t)steps, "path", path));
    return r;
}

void train_report(struct train_run *run, const char *name, const char *result)
{
    char words[PATH_MAX + 128];
    int r = train_page_write(run, name, result);
    if (r == 0)
        return;
    snprintf(words, sizeof words, "cannot write: %.*s: a file in a writable folder with room (%s)", PATH_MAX,
             run->args->report, strerror(-r));
    run->lost = true;
    telemetry_report_warning_of(&run->report, "disk", words);
}

static int save_checkpoint(struct train_run *run, char err[static KEEP_ERROR_MAX])
{
    struct training_best_pieces best;
    const struct train_config *config = &run->config;
    int r = training_best_pieces_init(&best, &run->best);
    if (r < 0)
        return fail_with(r, err, KEEP_ERROR_MAX, "cannot write a checkpoint: %.300s: out of memory",
                         config->output);
    r = training_keep_checkpoint(config, config->output, run->making.learner, run->steps, best.piece, best.n,
                                 err);
    training_best_pieces_finish(&best);
    return r;
}

void train_not_written(struct train_run *run, int *last, int error, const char *words)
{
    run->lost = run->lost || error < 0;
    if (error < 0 && error != *last)
        telemetry_report_warning_of(&run->report, "disk", words);
    *last = error;
}

void train_checkpoint(struct train_run *run)
{
    char err[KEEP_ERROR_MAX];
    const struct train_config *config = &run->config;
    struct usage started = telemetry_usage_now();
    run->lost = false;
    telemetry_report_state(&run->report, "checkpointing", run->steps);
    if (run->saved_at != run->steps) {
        int r = save_checkpoint(run, err);
        train_not_written(run, &run->checkpoint_error, r, err);
        if (r == 0) {
            if (run->replaces && checkpoint_alone(config->output, config->name, run->steps, err) < 0)
                telemetry_report_warning(&run->report, err);
            run->replaces = false;
            run->saved_at = run->steps;
            snprintf(run->saved, sizeof run->saved, "%s/%s-%lld.ckpt", config->output, config->name,
                     (long long)run->steps);
            telemetry_report_event(&run->report, "checkpoint",
                                   json_pack("{s:I, s:s, s:f}", "steps", (json_int_t)run->steps, "path",
                                             run->saved, "seconds", telemetry_usage_since(&started).wall_s));
        }
    }
}

void train_policy(struct train_run *run)
{
    char err[KEEP_ERROR_MAX];
    int r = save_policy(run, err);
    train_not_written(run, &run->policy_error, r, err);
}

void train_save(struct train_run *run)
{
    train_checkpoint(run);
    train_policy(run);
}
