/* The trainings: asks the co-process every second for the list, then for events that are not stored yet,
 * one request at a time. */
#include "daemon/training/trainings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/command.h"
#include "daemon/log.h"
#include "daemon/program.h"
#include "daemon/training/internal.h"

enum {
    TICK_MS = 1000,
    EVENTS_LIMIT = 500, /* of an answer */
    CONFIG_MAX = CLIENT_REQUEST_MAX,
    ABSENT_MS = 10000, /* before an alert */
    BAD_MS = 60000,    /* between two alerts */
};

static void pull_next(struct trainings *trainings);

/* ---- what is not stored yet ---- */

/* Did the co-process answer? Then it may be asked for the next; else later. */
static bool was_answered(const json_t *answer)
{
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    return json_object_get(answer, "result") ||
           (code && (strcmp(code, "ENOENT") == 0 || strcmp(code, "EBADMSG") == 0));
}

static void on_events(void *ctx, const json_t *answer)
{
    struct trainings *trainings = ctx;
    struct known *known = trainings->stopped ? NULL : daemon_training_keep_find(trainings, trainings->pulled);
    const json_t *result = json_object_get(answer, "result");
    trainings->pulling = false;
    if (known && result) {
        const json_t *events = json_object_get(result, "events");
        known->stuck = daemon_training_progress_reach(&known->progress, events) == known->progress.seq;
        if (known->stuck && json_array_size(events) > 0)
            daemon_log_event(LOG_TRAINING, LOG_OF(.training = trainings->pulled),
                             "training %s: the co-process reports events that do not follow number %lld",
                             trainings->pulled, (long long)known->progress.seq);
        daemon_training_keep_store(trainings, known, events);
    } else if (known) {
        known->stuck = true;
    }
    if (was_answered(answer) && !trainings->stopped)
        pull_next(trainings);
}

static void on_config(void *ctx, const json_t *answer)
{
    struct trainings *trainings = ctx;
    struct known *known = trainings->stopped ? NULL : daemon_training_keep_find(trainings, trainings->pulled);
    const json_t *result = json_object_get(answer, "result");
    const char *text = json_string_value(json_object_get(result, "config"));
    trainings->pulling = false;
    if (known) {
        known->daemon_config_attempts = known->training.attempts;
        if (text && strlen(text) < CONFIG_MAX && (!known->config || strcmp(known->config, text) != 0)) {
            free(known->config);
            known->config = strdup(text);
            known->dirty = true;
        }
    }
    if (was_answered(answer) && !trainings->stopped)
        pull_next(trainings);
}

static void pull(struct trainings *trainings, const struct known *known, const char *cmd, json_t *args,
                 training_answer *answer)
{
    trainings->pulling = true;
    snprintf(trainings->pulled, sizeof trainings->pulled, "%s", known->training.name);
    daemon_training_link_ask(trainings->link, cmd, args, answer, trainings);
}

static bool can_pull(const struct trainings *trainings)
{
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    return view.state == LINK_OK && trainings->can_store && !trainings->pulling && !trainings->stopped;
}

static void pull_next(struct trainings *trainings)
{
    for (size_t i = 0; i < trainings->n_known && can_pull(trainings); i++) {
        struct known *known = trainings->known[i];
        const char *name = known->training.name;
        if (!known->met)
            continue;
        if (known->daemon_config_attempts != known->training.attempts)
            pull(trainings, known, "config", json_pack("{s:s}", "name", name), on_config);
        else if (known->training.seq > known->progress.seq && !known->stuck)
            pull(trainings, known, "events",
                 json_pack("{s:s, s:I, s:i}", "name", name, "after", (json_int_t)known->progress.seq, "limit",
                           EVENTS_LIMIT),
                 on_events);
        else if (known->dirty)
            daemon_training_keep_store(trainings, known, NULL);
    }
}

/* ---- what there is ---- */

static void on_list(void *ctx, const json_t *answer)
{
    struct trainings *trainings = ctx;
    const json_t *list = json_object_get(json_object_get(answer, "result"), "trainings");
    size_t i;
    json_t *object;
    trainings->listing = false;
    if (trainings->stopped || !json_is_array(list))
        return;
    trainings->unlisted = false;
    json_array_foreach(list, i, object)
    {
        const char *name = json_string_value(json_object_get(object, "name"));
        struct known *known = name ? daemon_training_keep_find(trainings, name) : NULL;
        if (known)
            known->listed = trainings->lists;
    }
    daemon_training_keep_missing(trainings, trainings->lists); /* they make room */
    json_array_foreach(list, i, object)
    {
        struct known *known = daemon_training_keep_take(trainings, object);
        if (known)
            known->stuck = false;
    }
    pull_next(trainings);
}

static void ask_list(struct trainings *trainings)
{
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    if (view.state != LINK_OK || trainings->listing)
        return;
    trainings->listing = true;
    trainings->lists++;
    daemon_training_link_ask(trainings->link, "list", NULL, on_list, trainings);
}

/* ---- what is asked of it ---- */

struct asked {
    struct trainings *trainings;
    training_answer *answer;
    void *ctx;
};

static void on_asked(void *ctx, const json_t *answer)
{
    struct asked *asked = ctx;
    struct trainings *trainings = asked->trainings;
    const json_t *result = json_object_get(answer, "result");
    if (result && !trainings->stopped)
        daemon_training_keep_take(trainings, result);
    asked->answer(asked->ctx, answer);
    free(asked);
    if (result && !trainings->stopped)
        pull_next(trainings);
}

void daemon_trainings_ask(struct trainings *trainings, const char *cmd, json_t *args, training_answer *answer,
                          void *ctx)
{
    struct asked *asked = trainings ? calloc(1, sizeof *asked) : NULL;
    if (!asked) {
        json_decref(args);
        daemon_training_fail(answer, ctx, trainings ? "ENOMEM" : "ESHUTDOWN",
                             trainings ? "out of memory" : "the daemon is stopping");
        return;
    }
    *asked = (struct asked){trainings, answer, ctx};
    daemon_training_link_ask(trainings->link, cmd, args, on_asked, asked);
}

bool daemon_trainings_reachable(const struct trainings *trainings)
{
    struct link_view view = {.state = LINK_ABSENT};
    if (trainings)
        daemon_training_link_view(trainings->link, &view);
    return view.state == LINK_OK;
}

/* ---- how the co-process stands ---- */

static bool is_needed(void *ctx)
{
    const struct trainings *trainings = ctx;
    return trainings->unlisted || daemon_training_keep_any_live(trainings) ||
           daemon_commands_left(trainings->daemon->commands);
}

static void on_ready(void *ctx)
{
    struct trainings *trainings = ctx;
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    daemon_log_event(LOG_TRAINER, NULL, "co-process %s, process %d", view.version, (int)view.pid);
    trainings->listing = false;
    ask_list(trainings);
}

static void on_state(void *ctx)
{
    struct trainings *trainings = ctx;
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    const char *code = view.state == LINK_SILENT    ? "TRAINER_SILENT"
                       : view.state == LINK_VERSION ? "TRAINER_VERSION"
                                                    : NULL;
    if (view.state != LINK_OK)
        daemon_log_event(LOG_TRAINER, LOG_OF(.alert = code), "co-process %s: %s",
                         daemon_training_link_state_name(view.state), view.detail);
}

static void on_started(void *ctx, const char *mark)
{
    struct trainings *trainings = ctx;
    struct db_writer *writer = daemon_session_writer(trainings->daemon->session);
    if (writer)
        db_writer_put_meta(writer, "trainer_process", mark);
}

static void on_killed(void *ctx, const char *why)
{
    struct trainings *trainings = ctx;
    daemon_log_event_at(LOG_LEVEL_ERROR, LOG_TRAINER, LOG_OF(.alert = "TRAINER_SILENT"), "%s", why);
    snprintf(trainings->killed, sizeof trainings->killed, "%s", why);
}

/* The caller has the answer: one alert a minute. */
static void on_bad(void *ctx, const char *why)
{
    struct trainings *trainings = ctx;
    if (trainings->bad_ms > 0 && trainings_now(trainings) - trainings->bad_ms < BAD_MS)
        return;
    trainings->bad_ms = trainings_now(trainings);
    daemon_log_event_at(LOG_LEVEL_WARNING, LOG_TRAINER, LOG_OF(.alert = "TRAINER_ANSWER"), "%s", why);
    snprintf(trainings->bad, sizeof trainings->bad, "%s", why);
}

/* An absent co-process is reported when it would have work. */
static void report_absent(struct trainings *trainings, const struct link_view *view)
{
    char text[LINK_DETAIL_MAX + 80];
    bool lacks =
        (view->state == LINK_ABSENT || view->state == LINK_OFF) && daemon_training_keep_any_live(trainings);
    if (!lacks || trainings->absent_ms == 0) {
        if (!lacks && trainings->reported_absent)
            daemon_session_alert_over(trainings->daemon->session, "TRAINER_ABSENT", "");
        trainings->absent_ms = lacks ? trainings_now(trainings) : 0;
        trainings->reported_absent = lacks && trainings->reported_absent;
    }
    if (!lacks || trainings->reported_absent || trainings_now(trainings) - trainings->absent_ms < ABSENT_MS)
        return;
    trainings->reported_absent = true;
    snprintf(text, sizeof text, "trainings wait for the co-process: %s", view->detail);
    daemon_log_event_at(LOG_LEVEL_ERROR, LOG_TRAINER, LOG_OF(.alert = "TRAINER_ABSENT"), "%s", text);
    daemon_session_alert_lasting(trainings->daemon->session, DB_ERROR, "TRAINER_ABSENT", "", text);
}

static void report_link(struct trainings *trainings)
{
    struct session *session = trainings->daemon->session;
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    if (trainings->killed[0])
        daemon_session_alert(session, DB_ERROR, "TRAINER_SILENT", trainings->killed);
    trainings->killed[0] = '\0';
    if (trainings->bad[0])
        daemon_session_alert(session, DB_WARNING, "TRAINER_ANSWER", trainings->bad);
    trainings->bad[0] = '\0';
    if (view.state != trainings->reported_state && view.state == LINK_SILENT)
        daemon_session_alert_lasting(session, DB_WARNING, "TRAINER_SILENT", "", view.detail);
    if (view.state != trainings->reported_state && view.state == LINK_VERSION)
        daemon_session_alert_lasting(session, DB_WARNING, "TRAINER_VERSION", "", view.detail);
    if (view.state == LINK_OK && view.state != trainings->reported_state) {
        daemon_session_alert_over(session, "TRAINER_SILENT", "");
        daemon_session_alert_over(session, "TRAINER_VERSION", "");
    }
    trainings->reported_state = view.state;
    report_absent(trainings, &view);
}

static void on_tick(uv_timer_t *timer)
{
    struct trainings *trainings = timer->data;
    trainings->can_store = daemon_session_started(trainings->daemon->session);
    ask_list(trainings);
    if (!trainings->can_store)
        return;
    if (daemon_trainings_reachable(trainings))
        daemon_commands_ask_left(trainings->daemon->commands);
    pull_next(trainings); /* what was reported before rows could be stored */
    report_link(trainings);
}

/* ---- begin, end ---- */

static void add_number(struct trainings *trainings, size_t *n, const char *option, int64_t value, size_t slot)
{
    if (value <= 0)
        return;
    snprintf(trainings->numbers[slot], sizeof trainings->numbers[slot], "%lld", (long long)value);
    trainings->arguments[(*n)++] = option;
    trainings->arguments[(*n)++] = trainings->numbers[slot];
}

static void plan_program(struct trainings *trainings, struct spawn_config *ret)
{
    const struct daemon_config *config = &trainings->daemon->config;
    const char *program = daemon_program_find("papertape-trainer", "trainer", trainings->program);
    size_t n = 0;
    trainings->arguments[n++] = program;
    trainings->arguments[n++] = "serve";
    trainings->arguments[n++] = "--state";
    trainings->arguments[n++] = trainings->state_dir;
    trainings->arguments[n++] = "--socket";
    trainings->arguments[n++] = trainings->socket;
    add_number(trainings, &n, "--memory-mib", config->trainer_memory_mib, 0);
    add_number(trainings, &n, "--worker-memory-mib", config->trainer_worker_memory_mib, 1);
    add_number(trainings, &n, "--cpu-slots", config->trainer_cpu_slots, 2);
    if (config->trainer_devices[0]) {
        trainings->arguments[n++] = "--devices";
        trainings->arguments[n++] = config->trainer_devices;
    }
    if (config->trainer_outputs[0]) {
        trainings->arguments[n++] = "--outputs";
        trainings->arguments[n++] = config->trainer_outputs;
    }
    trainings->arguments[n] = NULL;
    snprintf(trainings->log, sizeof trainings->log, "%s/trainer.log", trainings->state_dir);
    *ret =
        (struct spawn_config){.program = program, .arguments = trainings->arguments, .log = trainings->log};
}

static void plan_paths(struct trainings *trainings)
{
    const struct daemon *daemon = trainings->daemon;
    if (!realpath(daemon->state.path, trainings->state_dir))
        snprintf(trainings->state_dir, sizeof trainings->state_dir, "%s", daemon->state.path);
    if (daemon->config.trainer_socket[0])
        snprintf(trainings->socket, sizeof trainings->socket, "%s", daemon->config.trainer_socket);
    else /* as it was given: the absolute path may be too long for a socket */
        snprintf(trainings->socket, sizeof trainings->socket, "%s/trainer.sock", daemon->state.path);
}

struct trainings *daemon_trainings_create(struct daemon *daemon)
{
    struct trainings *trainings = calloc(1, sizeof *trainings);
    if (trainings)
        trainings->known = calloc(TRAININGS_MAX, sizeof *trainings->known);
    if (!trainings || !trainings->known) {
        free(trainings);
        return NULL;
    }
    trainings->daemon = daemon;
    plan_paths(trainings);
    struct training_link_config config = {
        .loop = daemon->loop,
        .socket = trainings->socket,
        .state_dir = trainings->state_dir,
        .never = !daemon->config.trainer_start,
        .by_unit = daemon_training_spawn_by_systemd(),
        .times = daemon_training_link_times_default,
        .ctx = trainings,
        .needed = is_needed,
        .ready = on_ready,
        .state = on_state,
        .started = on_started,
        .killed = on_killed,
        .bad = on_bad,
    };
    plan_program(trainings, &config.program);
    trainings->link = daemon_training_link_create(&config);
    if (!trainings->link) {
        free(trainings->known);
        free(trainings);
        return NULL;
    }
    uv_timer_init(daemon->loop, &trainings->tick);
    trainings->tick.data = trainings;
    uv_timer_start(&trainings->tick, on_tick, TICK_MS, TICK_MS);
    return trainings;
}

void daemon_trainings_remember(struct trainings *trainings, struct db_reader *reader)
{
    char mark[SPAWN_MARK_MAX];
    if (db_reader_meta(reader, "trainer_process", mark, sizeof mark) == 0)
        daemon_training_link_started_before(trainings->link, mark);
    daemon_training_keep_remember(trainings, reader);
    trainings->unlisted = daemon_training_keep_unlisted(trainings);
}

static void freed(uv_handle_t *handle)
{
    struct trainings *trainings = handle->data;
    daemon_training_keep_finish(trainings);
    free(trainings);
}

void daemon_trainings_stop(struct trainings *trainings)
{
    if (!trainings)
        return;
    trainings->stopped = true;
    daemon_training_link_destroy(trainings->link);
    uv_close((uv_handle_t *)&trainings->tick, freed);
}
