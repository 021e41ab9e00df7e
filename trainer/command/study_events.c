/* A study's output: JSON lines, a line on a terminal, words at its end. docs/studies.md has every key. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "trainer/command/args.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train_events.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *space_json(const struct space *space)
{
    json_t *json = json_object();
    for (int i = 0; i < space->n && json; i++) {
        char *text = distribution_text(&space->params[i].distribution);
        json_object_set_new(json, space->params[i].name, text ? json_loads(text, 0, NULL) : json_null());
        free(text);
    }
    return json;
}

static bool put_account(void *ctx, const char *section, const char *key, const char *value)
{
    return strcmp(section, "account") != 0 || json_object_set_new(ctx, key, json_string(value)) == 0;
}

static json_t *account_json(const struct study_settings *settings)
{
    json_t *json = json_object();
    (void)study_rules_each(&settings->rules, &settings->space, put_account, json);
    return json;
}

static json_t *settings_json(const struct study_settings *settings)
{
    enum { KEYS_MAX = 64 };
    char value[STRATEGY_NAME_MAX];
    size_t n;
    const struct config_key *keys = study_settings_keys(&n);
    json_t *json = json_object();
    for (size_t i = 0; i < n && i < KEYS_MAX && json; i++)
        if (study_settings_get(settings, keys[i].name, value, sizeof value) == 0)
            json_object_set_new(json, keys[i].name, json_string(value));
    return json;
}

char *trainer_study_storage(const struct study_run *run)
{
    char err[STUDY_ERROR_MAX], *file = study_store_file(run->url), *shown = NULL;
    if (file)
        shown = strdup(run->url);
    else if (study_store_name(run->url, &shown, err) < 0)
        shown = NULL;
    free(file);
    return shown;
}

void trainer_study_started(struct study_run *run)
{
    char *storage = trainer_study_storage(run);
    json_t *config = train_config_json(&run->config);
    if (config)
        json_object_set_new(config, "study", settings_json(&run->settings));
    if (config && run->settings.rules.strategy)
        json_object_set_new(config, "account", account_json(&run->settings));
    telemetry_report_event(&run->report, "start",
                           json_pack("{s:s, s:s, s:s, s:s, s:b, s:i, s:i, s:i, s:i, s:s, s:s, s:o, s:o}",
                                     "version", PAPERTAPE_VERSION, "study", run->args->name, "storage",
                                     storage ? storage : "", "folder", run->folder, "resumed", run->there,
                                     "trials", run->settings.trials, "done", study_tally_of(run->study).done,
                                     "workers", run->workers, "devices", run->machine.n_devices, "sampler",
                                     sampler_name(run->settings.sampler.kind), "pruner",
                                     pruner_name(run->settings.pruner.kind), "space",
                                     space_json(&run->settings.space), "config", config));
    free(storage);
}

/* ---- While it runs. ---- */

static void take_best(struct study_run *run, const struct study_progress *figures)
{
    const struct study_trial *best = study_best(figures->study);
    run->best = best ? best->values[0] : NAN;
    run->best_number = best ? best->number : -1;
    run->last = *figures;
    run->last.study = NULL;
}

static double seconds_of(const struct study_trial *trial)
{
    return trial->started_us == STUDY_NO_TIME || trial->completed_us == STUDY_NO_TIME
               ? NAN
               : (double)(trial->completed_us - trial->started_us) * 1e-6;
}

void trainer_study_trial(struct study_run *run, const struct study_trial *trial,
                         const struct study_progress *figures)
{
    const struct study_attribute *failure =
        study_attribute_find(trial->user, trial->n_user, "papertape:failure");
    const int *states = figures->tally.states;
    take_best(run, figures);
    telemetry_report_event(
        &run->report, "trial",
        json_pack("{s:i, s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o}",
                  "number", trial->number, "state", study_trial_state_name(trial->state), "value",
                  record_json_real(trial->values ? trial->values[0] : NAN), "best",
                  record_json_real(run->best), "best_number", record_json_count(run->best_number), "done",
                  figures->tally.done, "trials", run->settings.trials, "running", states[TRIAL_RUNNING],
                  "complete", states[TRIAL_COMPLETE], "pruned", states[TRIAL_PRUNED], "failed",
                  figures->tally.failed, "retried", figures->tally.retried, "workers", figures->workers,
                  "trials_per_hour", record_json_real(figures->per_hour), "eta_s",
                  record_json_real(figures->left_s), "seconds", record_json_real(seconds_of(trial)),
                  "failure", failure ? json_loads(failure->json, JSON_DECODE_ANY, NULL) : json_null()));
}

static void time_text(double seconds, char *buf, size_t cap)
{
    if (!isfinite(seconds) || seconds > 1e8)
        snprintf(buf, cap, "?");
    else
        snprintf(buf, cap, "%ld:%02ld:%02ld", (long)seconds / 3600, (long)seconds / 60 % 60,
                 (long)seconds % 60);
}

void trainer_study_looked(struct study_run *run, const struct study_progress *figures)
{
    char words[256], left[32], best[64] = "", rate[32] = "";
    take_best(run, figures);
    telemetry_report_state(&run->report, "searching", figures->tally.done);
    telemetry_report_heartbeat(&run->report);
    time_text(figures->left_s, left, sizeof left);
    if (run->best_number >= 0)
        snprintf(best, sizeof best, "  best %.4g (%d)", run->best, run->best_number);
    if (isfinite(figures->per_hour))
        snprintf(rate, sizeof rate, "  %.4g/h", figures->per_hour);
    snprintf(words, sizeof words, "%.40s %d/%d trials%s  %d running%s  %s left", run->args->name,
             figures->tally.done, run->settings.trials, best, figures->tally.states[TRIAL_RUNNING], rate,
             left);
    telemetry_report_bar_words(&run->report, words);
}

void trainer_study_proposed(struct study_run *run)
{
    telemetry_report_event(&run->report, "proposal", json_pack("{s:O}", "proposal", run->proposal));
}

void trainer_study_report_judged(struct study_run *run, json_t *proposal)
{
    telemetry_report_event(&run->report, "judged", json_pack("{s:O}", "proposal", proposal));
}

/* ---- Ends. ---- */

int trainer_study_failed(struct study_run *run, const char *cause, const char *format, ...)
{
    char words[STUDY_RUN_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    telemetry_report_bar_clear(&run->report);
    trainer_args_say(EXIT_FAILURE, "%s", words);
    return trainer_study_failed_printed(run, cause, words);
}

int trainer_study_failed_printed(struct study_run *run, const char *cause, const char *words)
{
    telemetry_report_event(&run->report, "error",
                           json_pack("{s:s, s:o}", "message", words, "cause", text_or_null(cause)));
    trainer_study_ended(run, "failed", cause);
    return EXIT_FAILURE;
}

static void print_end(const struct study_run *run, const char *result)
{
    const struct study_tally *tally = &run->last.tally;
    printf("%s: %s after %d of %d trials: %d complete, %d pruned, %d failed", run->args->name, result,
           tally->done, run->settings.trials, tally->states[TRIAL_COMPLETE], tally->states[TRIAL_PRUNED],
           tally->failed);
    if (run->best_number >= 0)
        printf("; best %.6g (trial %d)", run->best, run->best_number);
    putchar('\n');
    if (!run->proposal)
        return;
    const char *verdict = json_string_value(json_object_get(run->proposal, "verdict_text"));
    if (verdict)
        printf("on the holdout: %s\n", verdict);
    printf("%s\n%s/proposal.json\n", json_string_value(json_object_get(run->proposal, "words")), run->folder);
}

/* Of its proposal on the holdout, unless it ended otherwise. */
static void take_verdict(const struct study_run *run, json_t *end)
{
    static const char *const keys[] = {"verdict", "verdict_text", "verdict_figures"};
    for (size_t i = 0; end && i < sizeof keys / sizeof *keys; i++) {
        json_t *value = json_object_get(run->proposal, keys[i]);
        json_object_set_new(end, keys[i], value ? json_incref(value) : json_null());
    }
}

void trainer_study_ended(struct study_run *run, const char *result, const char *cause)
{
    char path[PATH_MAX + 32] = "";
    json_t *output = json_string(run->folder); /* NULL: not UTF-8 */
    const int *states = run->last.tally.states;
    telemetry_report_bar_clear(&run->report);
    if (run->proposal)
        snprintf(path, sizeof path, "%s/proposal.json", run->folder);
    json_t *end = json_pack(
        "{s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "result", result, "cause",
        text_or_null(cause), "done", run->last.tally.done, "trials", run->settings.trials, "complete",
        states[TRIAL_COMPLETE], "pruned", states[TRIAL_PRUNED], "failed", run->last.tally.failed, "retried",
        run->last.tally.retried, "best", record_json_real(run->best), "best_number",
        record_json_count(run->best_number), "trials_per_hour", record_json_real(run->last.per_hour),
        "proposal", path[0] ? json_string(path) : json_null(), "output", output ? output : json_null());
    take_verdict(run, end);
    telemetry_report_last(&run->report, end);
    if (!run->report.lines && strcmp(result, "failed") != 0)
        print_end(run, result);
}
