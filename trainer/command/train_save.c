/* A training's files and events: checkpoints, policies, evaluations, the first event and the last. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "record/json.h"
#include "strategy/metrics/verdict_json.h"
#include "trainer/command/args.h"
#include "trainer/command/train_seeds.h"

static size_t held_bytes(const struct train_run *run)
{
    struct learner *learner = run->making.learner;
    return learner ? learner->ops->bytes(learner) : 0;
}

const char *train_cause(int error, const char *other)
{
    switch (-error) {
    case ENOMEM:
        return "memory";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
        return "disk";
    default:
        return other;
    }
}

void train_updated(struct train_run *run, const struct update_figures *figures)
{
    double now = telemetry_usage_now().wall_s;
    run->has_unreported = (now - run->reported_s) * 1000 < run->args->report_every_ms;
    if (run->has_unreported) {
        run->unreported = *figures;
        return;
    }
    run->reported_s = now;
    telemetry_report_event(&run->report, "update", trainer_update_json(figures));
}

void train_phase(struct train_run *run, enum phase phase, const struct usage *started)
{
    struct usage used = telemetry_usage_since(started);
    const struct phase_use use = {used.wall_s, used.cpu_s, NAN};
    run->phases[phase].seconds += used.wall_s;
    run->phases[phase].cpu_s += used.cpu_s;
    telemetry_report_event(&run->report, "phase", trainer_phase_json(phase, &use, held_bytes(run)));
}

int64_t train_kept_steps(const struct train_run *run)
{
    return run->config.keep == TRAIN_KEEP_BEST && run->best.policy.model ? run->best.steps : run->steps;
}

/* The policy that is kept, and its steps: the best one where there is one and it is wanted, else the current
 * one, which *own then holds, for training_kept_policy_drop(). NULL with err. */
static const struct kept_policy *find_kept(struct train_run *run, struct kept_policy *own, int64_t *ret_steps,
                                           int *ret_error, char err[static KEEP_ERROR_MAX])
{
    bool best = run->config.keep == TRAIN_KEEP_BEST && run->best.policy.model;
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
    const struct kept_policy *policy = find_kept(run, &own, &steps, &r, err);
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

/* Warns again only of another error. */
static void warn(struct train_run *run, int *last, int error, const char *words)
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
        warn(run, &run->checkpoint_error, r, err);
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

static void write_policy(struct train_run *run)
{
    char err[KEEP_ERROR_MAX];
    int r = save_policy(run, err);
    warn(run, &run->policy_error, r, err);
}

void train_save(struct train_run *run)
{
    train_checkpoint(run);
    write_policy(run);
}

static bool evaluation_failed(struct train_run *run, int r, const char *err)
{
    train_failed(run,
                 train_cause(r, r == -EINVAL ? "nan"
                                : r == -EIO  ? "device"
                                             : NULL),
                 "evaluation: %s; the last good checkpoint: %s", err, run->saved[0] ? run->saved : "none");
    return false;
}

/* Plays a policy through a part; an event. As training_evaluate(). */
static int judge(struct train_run *run, const struct kept_policy *policy, enum source_part part,
                 int64_t steps, struct evaluation *ret, char err[static SOURCE_ERROR_MAX])
{
    struct tensorboard_scalar scalars[UPDATE_SCALARS];
    struct usage started = telemetry_usage_now();
    struct training_watch watched, *watch = train_page_watch(run->page, part, &watched);
    telemetry_report_state(&run->report, "evaluating", run->steps);
    int r = training_evaluate(&run->source, part, &policy->layout, policy->model, watch, ret, err);
    if (r < 0)
        return r;
    train_phase(run, PHASE_EVALUATION, &started);
    json_t *json = trainer_evaluation_json(&run->source, ret);
    if (json)
        json_object_set_new(json, "steps", json_integer((json_int_t)steps));
    if (json && run->source.market)
        json_object_set_new(json, "range", json_string(training_source_part_name(part)));
    telemetry_report_event(&run->report, "evaluation", json);
    if (run->board)
        telemetry_tensorboard_add(run->board, run->steps, scalars,
                                  trainer_evaluation_scalars(&run->source, ret, scalars));
    return 0;
}

bool train_judge(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct kept_policy policy = {0};
    struct evaluation found;
    const bool validates = training_source_judges(&run->source, SOURCE_VALIDATION);
    const enum source_part part = validates ? SOURCE_VALIDATION : SOURCE_TEST;
    if (run->judged_at == run->steps || !training_source_judges(&run->source, part))
        return true;
    int r = training_kept_policy_take(run->making.learner, &policy, err);
    if (r < 0)
        return evaluation_failed(run, r, err);
    r = judge(run, &policy, part, run->steps, &found, err);
    run->judged_at = run->steps;
    if (r == 0)
        train_page_judged(run->page, &run->source, part, run->steps, &found);
    if (r == 0 && validates)
        training_best_offer(&run->best, &policy, training_score(&found), run->steps);
    training_kept_policy_drop(&policy);
    return r == 0 || evaluation_failed(run, r, err);
}

/* The policy is written even if it cannot be evaluated. */
bool train_evaluate(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct kept_policy own = {0};
    int64_t steps;
    int r = 0;
    bool tests = training_source_judges(&run->source, SOURCE_TEST);
    const struct kept_policy *policy = tests ? find_kept(run, &own, &steps, &r, err) : NULL;
    if (policy)
        r = judge(run, policy, SOURCE_TEST, steps, &run->evaluation, err);
    run->evaluated = policy && r == 0;
    training_kept_policy_drop(&own);
    write_policy(run);
    return r == 0 || evaluation_failed(run, r, err);
}

bool train_is_patient(const struct train_run *run)
{
    return run->config.patience > 0 && run->best.without >= run->config.patience;
}

/* ---- Both ends. ---- */

void train_started(struct train_run *run)
{
    const struct learner *learner = run->making.learner;
    const struct net_shape *shape = &learner->layout.shape;
    json_t *from = run->from_path[0] ? json_string(run->from_path) : json_null();
    telemetry_report_event(
        &run->report, "start",
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:i, s:i, s:i, s:I, s:s, s:o, s:o}", "version",
                  PAPERTAPE_VERSION, "name", run->config.name, "world", run->config.world, "backend",
                  learner->ops->backend, "resumed_from", from, "steps", (json_int_t)run->steps, "observation",
                  shape->observation, "actions", shape->actions, "levels", shape->levels, "parameters",
                  (json_int_t)learner->layout.n_learned, "output", run->config.output, "predicted",
                  trainer_plan_json(&run->plan, &run->config), "config", train_config_json(&run->config)));
}

static json_t *cause_json(const char *cause)
{
    return cause ? json_string(cause) : json_null();
}

int train_failed(struct train_run *run, const char *cause, const char *format, ...)
{
    char words[KEEP_ERROR_MAX + PATH_MAX + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    telemetry_report_bar_clear(&run->report);
    trainer_args_say(EXIT_FAILURE, "%s", words);
    telemetry_report_event(&run->report, "error",
                           json_pack("{s:s, s:o}", "message", words, "cause", cause_json(cause)));
    train_ended(run, "failed", cause);
    return EXIT_FAILURE;
}

static json_t *measured_json(const struct train_run *run, double steps_s, double seconds)
{
    const struct plan *plan = &run->plan;
    const double *s = run->steady_s;
    double n = (double)run->steady_steps / (double)plan->rows;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "steps_per_second", record_json_real(steps_s),
        "steps_per_second_of_predicted", record_json_real(steps_s / plan->steps_s), "seconds",
        record_json_real(seconds), "rollout_seconds", record_json_real(s[0] / n), "advantages_seconds",
        record_json_real(s[1] / n), "update_seconds", record_json_real(s[2] / n), "learner_bytes",
        (json_int_t)held_bytes(run), "peak_rss_bytes", (json_int_t)telemetry_usage_peak_rss());
}

/* A seed's end is an event of its own, and a part of the whole's. */
static void end_seed(struct train_run *run, json_t *fields)
{
    struct kept_policy own = {0};
    char err[KEEP_ERROR_MAX];
    int64_t steps;
    int r;
    bool best = run->config.keep == TRAIN_KEEP_BEST && run->best.policy.model;
    const struct train_seed seed = {.seed = run->config.ppo.seed,
                                    .steps = run->steps,
                                    .kept_steps = train_kept_steps(run),
                                    .score = best ? run->best.score : NAN,
                                    .evaluated = run->evaluated,
                                    .evaluation = run->evaluation};
    if (fields)
        json_object_set_new(fields, "seed", json_integer((json_int_t)seed.seed));
    telemetry_report_event(&run->report, "seed", fields);
    if (run->steps == 0 || !run->making.learner || !find_kept(run, &own, &steps, &r, err))
        return;
    train_seeds_add(run->seeds, &seed, best ? &run->best.policy : &own);
    if (run->seeds->best == run->seeds->done - 1)
        train_page_keep(run->page);
    training_kept_policy_drop(&own);
}

static void print_seeds(const struct train_seeds *seeds, const char *output, const char *name,
                        const struct verdict *verdict)
{
    double median, low, high;
    char text[VERDICT_TEXT_MAX];
    printf("%s: %d of %d seeds", name, seeds->done, seeds->n);
    if (train_seeds_returns(seeds, &median, &low, &high))
        printf("; return %+.2f %% in the median, from %+.2f %% to %+.2f %%", 100 * median, 100 * low,
               100 * high);
    if (seeds->best >= 0)
        printf("; seed %llu is kept\n%s/%s.safetensors", (unsigned long long)seeds->each[seeds->best].seed,
               output, name);
    if (verdict->kind != VERDICT_NONE)
        printf("\n%s", metrics_verdict_text(verdict, text));
    putchar('\n');
}

void train_seeds_ended(struct train_run *run, const char *name, const char *result, const char *cause)
{
    char path[PATH_MAX], err[KEEP_ERROR_MAX];
    const struct train_seeds *seeds = run->seeds;
    const struct verdict verdict = train_seeds_verdict(seeds);
    const struct verdict *known = verdict.kind != VERDICT_NONE ? &verdict : NULL;
    json_t *last = json_pack("{s:s, s:o, s:s}", "result", result, "cause", cause_json(cause), "output",
                             run->config.output);
    snprintf(path, sizeof path, "%s/%s.safetensors", run->config.output, name);
    if (seeds->best >= 0) {
        run->config.ppo.seed = seeds->each[seeds->best].seed;
        int r = training_kept_policy_write(&seeds->policy, &run->source, seeds->each[seeds->best].kept_steps,
                                           known, path, err);
        warn(run, &run->policy_error, r, err);
        if (r == 0)
            telemetry_report_event(&run->report, "policy",
                                   json_pack("{s:I, s:s}", "steps",
                                             (json_int_t)seeds->each[seeds->best].kept_steps, "path", path));
    }
    snprintf(run->config.name, sizeof run->config.name, "%s", name);
    train_report(run, name, result);
    if (last && train_seeds_json(seeds, last))
        metrics_verdict_json(known, last);
    telemetry_report_last(&run->report, last);
    if (!run->report.lines)
        print_seeds(seeds, run->config.output, name, &verdict);
}

void train_ended(struct train_run *run, const char *result, const char *cause)
{
    double all = run->steady_s[0] + run->steady_s[1] + run->steady_s[2];
    double steps_s = run->steady_steps > 0 ? (double)run->steady_steps / all : NAN;
    double seconds = run->phases[PHASE_ROLLOUT].seconds + run->phases[PHASE_ADVANTAGES].seconds +
                     run->phases[PHASE_UPDATE].seconds;
    bool planned = run->plan.rows > 0; /* else it ended before that */
    json_t *phases = json_object();
    for (int phase = 0; phases && phase < PHASES; phase++)
        json_object_set_new(phases, trainer_phase_name(phase),
                            trainer_phase_json(phase, &run->phases[phase], held_bytes(run)));
    char verdict[VERDICT_TEXT_MAX];
    telemetry_report_bar_clear(&run->report);
    if (run->has_unreported)
        telemetry_report_event(&run->report, "update", trainer_update_json(&run->unreported));
    run->has_unreported = false;
    json_t *last = json_pack(
        "{s:s, s:o, s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s}", "result", result, "cause",
        cause_json(cause), "early", train_is_patient(run), "steps", (json_int_t)run->steps, "kept_steps",
        (json_int_t)train_kept_steps(run), "iterations", (json_int_t)run->iterations, "predicted",
        planned ? trainer_plan_json(&run->plan, &run->config) : json_null(), "measured",
        planned ? measured_json(run, steps_s, seconds) : json_null(), "phases", phases, "evaluation",
        run->evaluated ? trainer_evaluation_json(&run->source, &run->evaluation) : json_null(), "checkpoint",
        run->saved[0] ? json_string(run->saved) : json_null(), "output", run->config.output);
    if (last)
        metrics_verdict_json(run->evaluated ? &run->evaluation.verdict : NULL, last);
    if (run->seeds)
        end_seed(run, last);
    else
        telemetry_report_last(&run->report, last);
    if (run->report.lines || (strcmp(result, "failed") == 0 && run->iterations == 0))
        return;
    printf("%s: %s after %lld steps", run->config.name, result, (long long)run->steps);
    if (run->steady_steps > 0)
        printf(", %.0f steps/s (predicted %.0f)", steps_s, run->plan.steps_s);
    if (run->evaluated && run->source.market)
        printf("; return %+.2f %% of evaluation, benchmark %+.2f %%",
               100 * (run->evaluation.equity / run->evaluation.initial - 1),
               100 * (run->evaluation.benchmark / run->evaluation.initial - 1));
    else if (run->evaluated)
        printf("; reward %.4g of evaluation", run->evaluation.reward);
    if (run->iterations > 0 || run->saved[0])
        printf("\n%s/%s.safetensors", run->config.output, run->config.name);
    if (run->evaluated && run->evaluation.verdict.kind != VERDICT_NONE)
        printf("\n%s", metrics_verdict_text(&run->evaluation.verdict, verdict));
    else if (run->source.market && !run->evaluated && strcmp(result, "done") == 0)
        printf("\nNot judged: there are no rows of testing ([data] test_share, test_from).");
    putchar('\n');
}
