/* A training's events from the first to the last, and what is printed at its end. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "record/json.h"
#include "strategy/metrics/verdict_json.h"
#include "trainer/command/args.h"
#include "trainer/command/plan.h"
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

static json_t *range_json(const struct market *market, const struct source_rows *rows)
{
    char from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    if (rows->to == 0)
        return json_null();
    clock_utc_text(market_open_ns(market, rows->from), from);
    clock_utc_text(market_open_ns(market, rows->to), to);
    return json_pack("{s:s, s:s}", "from", from, "to", to);
}

/* The rows in force, as `eval --from --to` takes them; null of a world that is built in. */
static json_t *ranges_json(const struct training_source *source)
{
    const struct market *market = source->market;
    if (!market)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "train", range_json(market, &source->train), "validation",
                     range_json(market, &source->judging[SOURCE_VALIDATION].rows), "test",
                     range_json(market, &source->judging[SOURCE_TEST].rows));
}

void train_started(struct train_run *run)
{
    const struct learner *learner = run->making.learner;
    const struct net_shape *shape = &learner->layout.shape;
    json_t *from = run->from_path[0] ? json_string(run->from_path) : json_null();
    telemetry_report_event(&run->report, "start",
                           json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:i, s:i, s:i, s:I, s:s, s:o, s:o, s:o}",
                                     "version", PAPERTAPE_VERSION, "name", run->config.name, "world",
                                     run->config.world, "backend", learner->ops->backend, "resumed_from",
                                     from, "steps", (json_int_t)run->steps, "observation", shape->observation,
                                     "actions", shape->actions, "levels", shape->levels, "parameters",
                                     (json_int_t)learner->layout.n_learned, "output", run->config.output,
                                     "predicted", trainer_plan_json(&run->plan, &run->config), "ranges",
                                     ranges_json(&run->source), "config", train_config_json(&run->config)));
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
        train_seed_ended(run, strcmp(result, "failed") == 0, last);
    else
        telemetry_report_last(&run->report, last);
    if (run->report.lines || (strcmp(result, "failed") == 0 && run->iterations == 0))
        return;
    printf("%s: %s after %lld steps", run->config.name, result, (long long)run->steps);
    if (run->steady_steps > 0)
        printf(", %.0f steps/s (predicted %.0f)", steps_s, run->plan.steps_s);
    if (run->evaluated && run->source.market)
        printf("; return %+.2f %% of evaluation, benchmark %+.2f %%", 100 * training_return(&run->evaluation),
               100 * training_benchmark_return(&run->evaluation));
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
