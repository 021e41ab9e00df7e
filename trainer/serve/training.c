#include "trainer/serve/training.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/whole_file.h"
#include "record/json.h"
#include "record/status.h"
#include "trainer/study/settings.h"
#include "trainer/telemetry/report.h"

enum { MIB = 1 << 20 };

struct serve_training *serve_training_create(const char *trainings, const char *name,
                                             char err[static TRAINING_RECORD_ERROR_MAX])
{
    struct serve_training *training = calloc(1, sizeof *training);
    if (!training) {
        snprintf(err, TRAINING_RECORD_ERROR_MAX, "out of memory: training %s", name);
        return NULL;
    }
    snprintf(training->record.name, sizeof training->record.name, "%s", name);
    training->record.episode_return = NAN;
    training->place = SCHEDULE_CPU;
    serve_training_forget(training);
    serve_training_forget_longest(training);
    int n = snprintf(training->folder, sizeof training->folder, "%s/%s", trainings, name);
    int r = n >= (int)sizeof training->folder ? -ENAMETOOLONG : 0;
    if (r == 0 && mkdir(training->folder, 0750) < 0 && errno != EEXIST)
        r = -errno;
    if (r == 0)
        return training;
    snprintf(err, TRAINING_RECORD_ERROR_MAX, "%.300s: cannot be made: %s", training->folder, strerror(-r));
    free(training);
    return NULL;
}

void serve_training_destroy(struct serve_training *training)
{
    if (!training)
        return;
    serve_events_close(&training->events);
    serve_training_record_finish(&training->record);
    free(training);
}

void serve_training_forget(struct serve_training *training)
{
    training->reported_ns = training->reported_ms = training->hung_ms = 0;
    training->steps_s = training->utilisation = training->cpu_utilisation = training->device_mib = NAN;
    training->iteration_s = training->checkpoint_s = -1;
    training->checkpointing_ms = 0;
    training->resident_bytes = -1;
    training->worker_cpu_s = 0;
    training->beat_s = -1;
    training->unsaved = false;
    training->said_start = training->said_end = false;
    training->said_result[0] = training->said_cause[0] = training->said[0] = '\0';
}

void serve_training_forget_longest(struct serve_training *training)
{
    for (size_t i = 0; i < TRAINING_STATES; i++)
        training->longest_s[i] = -1;
}

/* ---- Files. ---- */

int serve_training_wants_read(const char *text, struct training_wants *ret, char err[static CONFIG_ERROR_MAX])
{
    struct train_config *config = malloc(sizeof *config);
    struct study_settings settings = {0};
    bool study = false;
    int r = config ? study_settings_parse("training.ini", text, config, &settings, &study, err) : -ENOMEM;
    if (!config)
        snprintf(err, CONFIG_ERROR_MAX, "out of memory: training.ini");
    if (r == 0) {
        *ret =
            (struct training_wants){.study = study,
                                    .every_ns = study ? settings.every_ns : 0,
                                    .on_device = train_config_trades(config) && config->ppo.device != PPO_CPU,
                                    .insists = config->ppo.device == PPO_CUDA,
                                    .priority = (int)config->serve.priority,
                                    .memory_mib = config->serve.memory_mib,
                                    .cpu_hours = config->serve.cpu_hours,
                                    .restarts = (int)config->serve.restarts,
                                    .hung_ms = config->serve.hung_s * 1000,
                                    .total_steps = study ? settings.trials : config->ppo.total_steps};
        memcpy(ret->output, config->output, sizeof ret->output);
        memcpy(ret->tensorboard, config->tensorboard, sizeof ret->tensorboard);
        study_settings_finish(&settings);
    }
    free(config);
    return r;
}

int serve_training_save(struct serve_training *training, char err[static TRAINING_RECORD_ERROR_MAX])
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/record.json", training->folder);
    if (training->events.open)
        training->record.seq = training->events.last;
    return serve_training_record_write(&training->record, path, err);
}

int serve_training_save_first(struct serve_training *training, char err[static TRAINING_RECORD_ERROR_MAX])
{
    int r = whole_file_sync_folder(training->folder); /* just created, or by a killed process */
    if (r == 0)
        return serve_training_save(training, err);
    snprintf(err, TRAINING_RECORD_ERROR_MAX, "%.300s: cannot be synced: %s", training->folder, strerror(-r));
    return r;
}

int serve_training_write_config(const struct serve_training *training)
{
    char path[PATH_MAX + 16];
    struct whole_file file;
    snprintf(path, sizeof path, "%s/training.ini", training->folder);
    int r = whole_file_open(path, TRAINING_TEMPORARY, 0640, &file);
    if (r < 0)
        return r;
    r = whole_file_put(&file, training->record.config, strlen(training->record.config));
    return whole_file_close(&file, r);
}

/* ---- Where the next worker begins. ---- */

/* The steps of NAME-STEPS.ckpt; -1: it is no such file. */
static int64_t checkpoint_steps(const char *file, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(file, name, n) != 0 || file[n] != '-')
        return -1;
    size_t digits = strspn(file + n + 1, "0123456789");
    return digits > 0 && digits <= 18 && strcmp(file + n + 1 + digits, ".ckpt") == 0
               ? strtoll(file + n + 1, NULL, 10)
               : -1;
}

static bool is_older(int folder, const char *name, int64_t created_ns)
{
    struct stat st;
    return fstatat(folder, name, &st, 0) < 0 ||
           (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec < created_ns;
}

/* Counts those of the name; [0] older than the training, [1] its own. With `sweep` the older ones are
 * removed. */
static void look(const struct serve_training *training, bool sweep, int count[2])
{
    const struct training_record *record = &training->record;
    DIR *folder = opendir(training->wants.output);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (checkpoint_steps(entry->d_name, record->name) < 0)
            continue;
        bool older = is_older(dirfd(folder), entry->d_name, record->created_ns);
        count[!older]++;
        if (older && sweep)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

enum worker_begin serve_training_begin(const struct serve_training *training)
{
    int count[2] = {0};
    if (training->wants.study) /* its results are in studies.db */
        return WORKER_FRESH;
    look(training, false, count);
    if (training->record.overwrite && count[1] == 0)
        return WORKER_OVERWRITE;
    if (training->record.overwrite && count[0] > 0)
        look(training, true, (int[2]){0});
    if (count[0] + count[1] == 0)
        return WORKER_FRESH;
    return training->record.changed ? WORKER_RESUME_CHANGED : WORKER_RESUME;
}

/* ---- A study's runs. ---- */

void serve_training_name_run(struct serve_training *training, int64_t now_ns)
{
    struct training_record *record = &training->record;
    char when[CLOCK_TEXT_MAX], run[TRAINING_RECORD_RUN_MAX];
    clock_utc_text(now_ns, when);
    if (training->wants.every_ns == 0 && !record->overwrite)
        snprintf(run, sizeof run, "%s", record->name);
    else
        snprintf(run, sizeof run, "%s@%s", record->name, when);
    if (strcmp(run, record->run) == 0) /* two runs within a second */
        run[strlen(run) - 1] = '+';
    memcpy(record->run, run, sizeof run);
    record->run_over = false;
    record->steps = 0;
    record->total_steps = training->wants.total_steps;
    record->episode_return = NAN;
    record->begun_ns = now_ns;
    record->due_ns = 0;
}

void serve_training_wait_due(struct serve_training *training, int64_t now_ns)
{
    struct training_record *record = &training->record;
    char when[CLOCK_TEXT_MAX], cause[TRAINING_RECORD_WORD_MAX], reason[TRAINING_RECORD_REASON_MAX];
    int64_t due_ns = record->begun_ns + training->wants.every_ns;
    record->due_ns = due_ns > now_ns ? due_ns : now_ns;
    record->restarts = 0;
    record->run_over = true;
    memcpy(clock_utc_text(record->due_ns, when) + strlen("2026-11-22T14:00"), "Z", 2); /* to the minute */
    snprintf(reason, sizeof reason, "%.63s %s%s%.300s; the next run is due at %s", record->run,
             record->state == TRAINING_DONE ? "is done" : "has failed", *record->reason ? ": " : "",
             record->reason, when);
    memcpy(cause, record->cause, sizeof cause);
    serve_training_enter(training, TRAINING_QUEUED, cause, now_ns, "%s", reason);
}

/* ---- The worker's events. ---- */

static bool whole(const json_t *event, const char *key, int64_t *ret)
{
    const json_t *value = json_object_get(event, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *ret = json_integer_value(value);
    return true;
}

static void word(const json_t *event, const char *key, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(event, key));
    if (text)
        serve_training_record_text(ret, size, text);
}

/* ---- How long its states last. ---- */

static void ended_after(struct serve_training *training, enum training_state state, double seconds)
{
    if (seconds > training->longest_s[state])
        training->longest_s[state] = seconds;
}

static void hear_heartbeat(struct serve_training *training, const json_t *event)
{
    enum training_state state;
    const char *name = json_string_value(json_object_get(event, "state"));
    double seconds = record_json_number(event, "state_seconds");
    if (!name || !serve_training_state_parse(name, &state) || !serve_training_state_runs(state) ||
        !(seconds >= 0))
        return;
    if (training->beat_s >= 0 && (state != training->beat_state || seconds < training->beat_s))
        ended_after(training, training->beat_state, training->beat_s);
    training->record.state = training->beat_state = state; /* the event may lag behind */
    training->beat_s = seconds;
}

static void take_update(struct serve_training *training, const json_t *event)
{
    struct training_record *record = &training->record;
    whole(event, "iteration", &record->iteration);
    double gain = record_json_number(event, "episode_return");
    if (isfinite(gain))
        record->episode_return = gain;
    training->steps_s = record_json_number(event, "steps_per_second");
    training->utilisation = record_json_number(event, "device_utilisation");
    training->cpu_utilisation = record_json_number(event, "cpu_utilisation");
    if (training->place != SCHEDULE_CPU)
        training->device_mib = record_json_number(event, "learner_bytes") / MIB;
    double rollout_s = record_json_number(event, "rollout_seconds"),
           update_s =
               record_json_number(event, "advantages_seconds") + record_json_number(event, "update_seconds");
    if (rollout_s + update_s > training->iteration_s)
        training->iteration_s = rollout_s + update_s;
    ended_after(training, TRAINING_ROLLOUT, rollout_s);
    ended_after(training, TRAINING_UPDATE, update_s);
}

static void take_start(struct serve_training *training, const json_t *event)
{
    struct training_record *record = &training->record;
    int64_t total;
    training->said_start = true;
    whole(event, "steps", &record->steps);
    word(event, "backend", record->backend, sizeof record->backend);
    if (training->wants.study)
        whole(event, "trials", &record->total_steps);
    const json_t *config = json_object_get(json_object_get(event, "config"), "training");
    const char *text = json_string_value(json_object_get(config, "total_steps"));
    if (!training->wants.study && text && (total = strtoll(text, NULL, 10)) > 0)
        record->total_steps = total;
}

static void describe_last(const struct training_record *record, char *ret, size_t size)
{
    snprintf(ret, size, *record->checkpoint ? "the last is at %lld steps" : "there is none",
             (long long)record->checkpoint_steps);
}

/* It cannot write what it would continue from: while it runs, that is its reason. */
static bool take_warning(struct serve_training *training, const json_t *event)
{
    struct training_record *record = &training->record;
    char last[64], reason[TRAINING_RECORD_REASON_MAX];
    const char *cause = json_string_value(json_object_get(event, "cause"));
    const char *words = json_string_value(json_object_get(event, "message"));
    if (!cause || strcmp(cause, "disk") != 0)
        return false;
    describe_last(record, last, sizeof last);
    snprintf(reason, sizeof reason, "checkpoints cannot be written: %s: %.380s", last, words ? words : "");
    serve_training_record_text(record->reason, sizeof record->reason, reason);
    snprintf(record->cause, sizeof record->cause, "disk");
    training->unsaved = true;
    return true;
}

static void take_checkpoint(struct serve_training *training, const json_t *event)
{
    struct training_record *record = &training->record;
    word(event, "path", record->checkpoint, sizeof record->checkpoint);
    whole(event, "steps", &record->checkpoint_steps);
    record->restarts = 0;
    if (training->unsaved)
        record->reason[0] = record->cause[0] = '\0';
    training->unsaved = false;
}

/* A trial has ended, which counts as a checkpoint. */
static void take_trial(struct serve_training *training, const json_t *event)
{
    struct training_record *record = &training->record;
    whole(event, "done", &record->steps);
    whole(event, "trials", &record->total_steps);
    record->restarts = 0;
}

void serve_training_lost(const struct serve_training *training, char ret[static TRAINING_RECORD_REASON_MAX])
{
    const struct training_record *record = &training->record;
    char last[64];
    int64_t lost = record->steps - (*record->checkpoint ? record->checkpoint_steps : 0);
    describe_last(record, last, sizeof last);
    if (lost > 0)
        snprintf(ret, TRAINING_RECORD_REASON_MAX,
                 "its last checkpoint could not be written, %lld steps are lost: %s: %.320s", (long long)lost,
                 last, training->unsaved ? record->reason : "room on the disk is needed");
    else
        snprintf(ret, TRAINING_RECORD_REASON_MAX,
                 "not all it had to write could be written, no step is lost: %.380s",
                 training->unsaved ? record->reason : "room on the disk is needed");
}

/* What the newest evaluation says stays until the next one. */
static void take_verdict(struct training_record *record, const json_t *event)
{
    if (!json_is_string(json_object_get(event, "verdict")))
        return;
    word(event, "verdict", record->verdict, sizeof record->verdict);
    word(event, "verdict_text", record->verdict_text, sizeof record->verdict_text);
}

static void take_end(struct serve_training *training, const json_t *event)
{
    training->said_end = true;
    word(event, "result", training->said_result, sizeof training->said_result);
    word(event, "cause", training->said_cause, sizeof training->said_cause);
    take_verdict(&training->record, event);
}

static void take_state(struct serve_training *training, const json_t *event, int64_t now_ms)
{
    enum training_state state;
    const char *name = json_string_value(json_object_get(event, "state"));
    if (!name || !serve_training_state_parse(name, &state) || !serve_training_state_runs(state))
        return;
    training->record.state = state;
    if (state == TRAINING_CHECKPOINTING)
        training->checkpointing_ms = now_ms;
}

static void end_checkpointing(struct serve_training *training, int64_t now_ms)
{
    double seconds = (double)(now_ms - training->checkpointing_ms) / 1e3;
    if (training->checkpointing_ms > 0 && seconds > training->checkpoint_s)
        training->checkpoint_s = seconds;
    if (training->checkpointing_ms > 0)
        ended_after(training, TRAINING_CHECKPOINTING, seconds);
    training->checkpointing_ms = 0;
}

static void keep_event(struct serve_training *training, json_t *event, int64_t now_ns)
{
    int64_t created_ns = training->record.created_ns; /* a wall clock may be set back */
    if (training->events.open)
        (void)serve_events_add(&training->events, event,
                               now_ns > created_ns ? now_ns : created_ns); /* on failure the event is lost */
}

bool serve_training_take_event(struct serve_training *training, json_t *event, int64_t now_ns, int64_t now_ms)
{
    struct training_record *record = &training->record;
    const char *kind = json_string_value(json_object_get(event, "event"));
    bool save = false;
    if (!kind)
        return false;
    training->reported_ns = now_ns;
    training->reported_ms = now_ms;
    if (training->said_start) /* before that it does not know them */
        whole(event, "steps", &record->steps);
    if (strcmp(kind, "heartbeat") == 0) {
        hear_heartbeat(training, event);
        return false;
    }
    if (training->beat_s >= 0 && strcmp(kind, "state") != 0) /* another thread may report a state late */
        ended_after(training, training->beat_state, training->beat_s);
    training->beat_s = -1;
    if (training->checkpointing_ms > 0)
        end_checkpointing(training, now_ms);
    if (strcmp(kind, "state") == 0)
        take_state(training, event, now_ms);
    else if (strcmp(kind, "update") == 0)
        take_update(training, event);
    else if (strcmp(kind, "start") == 0)
        take_start(training, event);
    else if (strcmp(kind, "end") == 0)
        take_end(training, event);
    else if (strcmp(kind, "error") == 0) {
        word(event, "message", training->said, sizeof training->said);
        word(event, "cause", training->said_cause, sizeof training->said_cause);
    } else if (strcmp(kind, "warning") == 0) {
        save = take_warning(training, event);
    } else if (strcmp(kind, "checkpoint") == 0) {
        take_checkpoint(training, event);
        save = true;
    } else if (strcmp(kind, "policy") == 0) {
        word(event, "path", record->policy, sizeof record->policy);
        save = true;
    } else if (strcmp(kind, "evaluation") == 0) {
        take_verdict(record, event);
        save = true;
    } else if (strcmp(kind, "trial") == 0) {
        take_trial(training, event);
        save = true;
    } else if (strcmp(kind, "proposal") == 0) {
        word(json_object_get(event, "proposal"), "policy", record->policy, sizeof record->policy);
        save = true;
    }
    keep_event(training, event, now_ns);
    return save;
}

void serve_training_enter(struct serve_training *training, enum training_state state, const char *cause,
                          int64_t now_ns, const char *format, ...)
{
    struct training_record *record = &training->record;
    char reason[TRAINING_RECORD_REASON_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    serve_training_record_text(record->reason, sizeof record->reason, reason);
    snprintf(record->cause, sizeof record->cause, "%s", cause);
    record->state = state;
    if (serve_training_state_ended(state))
        record->ended_ns = now_ns;
    if (serve_training_state_runs(state)) /* its worker reports it */
        return;
    json_t *event = json_pack("{s:s, s:s, s:s, s:s, s:o}", "schema", REPORT_SCHEMA, "event", "state", "state",
                              serve_training_state_name(state), "reason", record->reason, "cause",
                              *cause ? json_string(cause) : json_null());
    if (event)
        keep_event(training, event, now_ns);
    json_decref(event);
}

void serve_training_report_restart(struct serve_training *training, int64_t now_ns)
{
    struct training_record *record = &training->record;
    snprintf(record->reason, sizeof record->reason,
             "its checkpoints are gone, the last was at %lld steps: it begins at 0",
             (long long)record->checkpoint_steps);
    record->checkpoint[0] = record->verdict[0] = record->verdict_text[0] = '\0';
    record->checkpoint_steps = record->steps = 0;
    json_t *event =
        json_pack("{s:s, s:s, s:s}", "schema", REPORT_SCHEMA, "event", "warning", "message", record->reason);
    if (event)
        keep_event(training, event, now_ns);
    json_decref(event);
}

/* ---- As JSON. ---- */

#define SHOWN(TEXT, FIELD) RECORD_SHOWN_TRAINING(TEXT, FIELD, training) RECORD_TRAINING_LAST_LINE(TEXT, FIELD)
struct training_shown {
    RECORD_VIEW(SHOWN)
};
RECORD_VIEW_RECORD(shown_record, training_shown, SHOWN);

/* The daemon uses its own clock for the last heartbeat. */
static const struct record_key shown_keys[] = {{"training", "name"}, {"age_ms", ""}, {"stale", ""}};

static double mib(int64_t bytes)
{
    return bytes >= 0 ? (double)((bytes + MIB - 1) / MIB) : NAN;
}

json_t *serve_training_json(const struct serve_training *training, int64_t memory_limit_mib, int64_t now_ms)
{
    const struct training_record *r = &training->record;
    bool runs = serve_training_state_runs(r->state), beats = runs && training->beat_s >= 0;
    int64_t retry = training->retry_at_ms - now_ms;
    const struct training_shown shown = {
        .training = r->name,
        .state = serve_training_state_name(r->state),
        .reason = r->reason,
        .cause = r->cause,
        .priority = r->priority,
        .device = r->device,
        .backend = r->backend,
        .steps = r->steps,
        .total_steps = r->total_steps,
        .iteration = r->iteration,
        .steps_s = runs ? training->steps_s : NAN,
        .episode_return = training->wants.study ? NAN : r->episode_return, /* an objective is no return */
        .attempts = r->attempts,
        .restarts = r->restarts,
        .retry_in_ms = training->retry_at_ms <= 0 ? -1
                       : retry > 0                ? retry
                                                  : 0,
        .created_ns = r->created_ns,
        .started_ns = r->started_ns,
        .ended_ns = r->ended_ns,
        .expected_ms = WORKER_HEARTBEAT_MS,
        .stopping = runs && training->asked_ms > 0,
        .pid = runs && r->pid > 0 ? r->pid : -1,
        .memory_mib = mib(runs ? training->resident_bytes : -1),
        .memory_limit_mib = (double)memory_limit_mib,
        .device_mib = runs ? training->device_mib : NAN,
        .cpu_s = r->cpu_s + training->worker_cpu_s,
        .cpu_limit_s = training->wants.cpu_hours > 0 ? training->wants.cpu_hours * 3600 : NAN,
        .utilisation = runs ? training->utilisation : NAN,
        .cpu_utilisation = runs ? training->cpu_utilisation : NAN,
        .checkpoint = r->checkpoint,
        .checkpoint_steps = *r->checkpoint ? r->checkpoint_steps : -1,
        .policy = r->policy,
        .study = r->run,
        .due_ns = r->due_ns,
        .verdict = r->verdict,
        .verdict_text = r->verdict_text,
        .heard_age_ms = runs && training->reported_ms > 0 ? now_ms - training->reported_ms : -1,
        .heard_ns = training->reported_ns,
        .seq = training->events.open ? training->events.last : r->seq,
        .state_s = beats ? training->beat_s : NAN,
        .state_limit_s =
            beats ? serve_schedule_state_limit_s(training->longest_s[training->beat_state]) : NAN,
    };
    return record_json_object(shown_record(), shown_keys, sizeof shown_keys / sizeof *shown_keys, &shown,
                              NULL);
}
