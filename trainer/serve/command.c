/* The socket's commands. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "trainer/checkpoint.h"
#include "trainer/config.h"
#include "trainer/serve/internal.h"

enum {
    EVENTS_LIMIT = 1000,
    EVENTS_LIMIT_MAX = 10000,
    LOG_LINES = 200,
    LOG_LINES_MAX = 10000,
    ANSWER_MAX = 1 << 19, /* bytes, about */
    PRIORITY_MAX = 100,
};

/* ---- Arguments. ---- */

static const char *text_arg(struct control_call *call, json_t *args, const char *key)
{
    const char *text = json_string_value(json_object_get(args, key));
    if (!text)
        control_error(call, "EINVAL", "%s: a text is needed", key);
    return text;
}

/* `usual` where it is not given. */
static bool whole_arg(struct control_call *call, json_t *args, const char *key, int64_t low, int64_t high,
                      int64_t usual, int64_t *ret)
{
    const json_t *value = json_object_get(args, key);
    *ret = value ? json_integer_value(value) : usual;
    if (!value || (json_is_integer(value) && *ret >= low && *ret <= high))
        return true;
    control_error(call, "EINVAL", "%s: a whole number from %lld to %lld is needed", key, (long long)low,
                  (long long)high);
    return false;
}

static struct serve_training *find(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *name = text_arg(call, args, "name");
    struct serve_training *training = name ? serve_queue_find(serve, name) : NULL;
    if (name && !training)
        control_error(call, "ENOENT", "%.64s: there is no training of that name: list names them", name);
    return training;
}

static json_t *show(const struct serve_training *training)
{
    return serve_training_json(training, serve_queue_memory_mib(training), serve_now_ms(training->serve));
}

static void answer(struct control_call *call, json_t *result)
{
    if (result)
        control_ok(call, result);
    else
        control_error(call, "ENOMEM", "out of memory");
}

/* Answers what was carried out and is in its record: otherwise the next co-process might not know of it. */
static void answer_taken(struct control_call *call, const struct serve_training *training)
{
    if (training->serve->unwritable)
        control_error(
            call, "EIO",
            "%s: it is taken, but not written down yet, and forgotten if the co-process ends before "
            "that: room on the disk is needed: record.json",
            training->record.name);
    else
        answer(call, show(training));
}

/* ---- Keys. ---- */

/* *ret NULL: there is no key. */
static bool key_arg(struct control_call *call, json_t *args, const char **ret)
{
    const json_t *value = json_object_get(args, "key");
    *ret = json_string_value(value);
    if (!value || json_is_null(value) || (*ret && **ret && strlen(*ret) < TRAINING_RECORD_KEY_MAX))
        return true;
    control_error(call, "EINVAL", "key: a text of 1 to %d bytes is needed", TRAINING_RECORD_KEY_MAX - 1);
    return false;
}

/* A command whose key was carried out before is answered, but not carried out again. */
static bool came_before(struct control_call *call, const struct serve_training *training, const char *cmd,
                        const char *key)
{
    const struct training_record_key *before =
        key && training ? serve_training_record_key_find(&training->record, key) : NULL;
    if (!before)
        return false;
    if (strcmp(before->cmd, cmd) == 0)
        answer_taken(call, training);
    else
        control_error(call, "EINVAL", "key: \"%.64s\" was a %s's: another one is needed", key, before->cmd);
    return true;
}

/* The training that a command would change, with the command's key in *ret_key; NULL: the call is
 * answered. */
static struct serve_training *find_for(struct serve *serve, struct control_call *call, json_t *args,
                                       const char *cmd, const char **ret_key)
{
    struct serve_training *training = find(serve, call, args);
    if (!training || !key_arg(call, args, ret_key) || came_before(call, training, cmd, *ret_key))
        return NULL;
    return training;
}

/* Stores the key in the record together with the command's effect. */
static void keep_key(struct serve_training *training, const char *cmd, const char *key)
{
    if (key)
        serve_training_record_key_add(&training->record, key, cmd);
}

/* ---- Configurations. ---- */

void serve_command_refuse(struct control_call *call, json_t *errors)
{
    size_t n = json_array_size(errors);
    const json_t *first = json_array_get(errors, 0);
    json_int_t line = json_integer_value(json_object_get(first, "line"));
    const char *section = json_string_value(json_object_get(first, "section"));
    const char *key = json_string_value(json_object_get(first, "key"));
    char where[160] = "", at[24] = "";
    if (line > 0)
        snprintf(at, sizeof at, ":%lld", (long long)line);
    if (section && *section)
        snprintf(where, sizeof where, "[%.60s] %.60s: ", section, key ? key : "");
    control_error_with(call, "EINVAL", "errors", json_incref(errors), "config%s: %s%.300s%s", at, where,
                       json_string_value(json_object_get(first, "message")), n > 1 ? "; and more" : "");
}

static bool refuse_one(struct control_call *call, const char *section, const char *key, const char *message)
{
    json_t *errors =
        json_pack("[{s:i, s:s, s:s, s:s}]", "line", 0, "section", section, "key", key, "message", message);
    serve_command_refuse(call, errors);
    json_decref(errors);
    return false;
}

/* The folder that a key names: relative ones begin in the state. */
static void find_folder(const struct serve *serve, const char *named, char *ret, size_t size)
{
    if (named[0] == '/')
        snprintf(ret, size, "%s", named);
    else
        snprintf(ret, size, "%s/%s", serve->options->state, named);
}

/* May the co-process' workers write there? A client of the socket need not be the owner of the other
 * folders, and of the state's own only checkpoints/ is for trainings. */
static bool may_write(const struct serve *serve, struct control_call *call, const char *key,
                      const char *named)
{
    char folder[PATH_MAX + CONFIG_PATH_MAX], message[CONFIG_PATH_MAX + 192];
    find_folder(serve, named, folder, sizeof folder);
    if (serve_output_is_below(serve->checkpoints, folder) ||
        (!serve_output_is_below(serve->options->state, folder) &&
         serve_output_is_below_one(serve->options->outputs, folder)))
        return true;
    snprintf(message, sizeof message,
             "%.300s: not a folder for trainings: %.300s or one below it is right, or one outside of the "
             "state directory that [trainer] outputs or serve --outputs allows",
             named, serve->checkpoints);
    return refuse_one(call, "training", key, message);
}

/* Its text as it is stored, and its requirements; NULL: it is refused, and the call is answered. `folder`:
 * its output, or NULL for its own or the state's. */
static char *take_config(struct serve *serve, struct control_call *call, const char *name, const char *text,
                         const char *folder, struct training_wants *ret)
{
    char err[CONFIG_ERROR_MAX], message[192];
    json_t *errors = serve_configuration_refused(text, false);
    if (json_array_size(errors) > 0 || !errors) {
        if (errors)
            serve_command_refuse(call, errors);
        else
            control_error(call, "ENOMEM", "out of memory");
        json_decref(errors);
        return NULL;
    }
    json_decref(errors);
    char output[PATH_MAX + CONFIG_PATH_MAX];
    if (serve_training_wants_read(text, ret, err) < 0) {
        control_error(call, "EINVAL", "%s", err);
        return NULL;
    }
    if ((!folder && ret->output[0] && !may_write(serve, call, "output", ret->output)) ||
        (ret->tensorboard[0] && !may_write(serve, call, "tensorboard", ret->tensorboard)))
        return NULL;
    if (folder)
        snprintf(output, sizeof output, "%s", folder);
    else if (!ret->output[0])
        snprintf(output, sizeof output, "%s", serve->checkpoints);
    else
        find_folder(serve, ret->output, output, sizeof output);
    if (ret->memory_mib > serve->options->memory_mib) {
        snprintf(message, sizeof message, "%lld: at most %lld is right, as of all trainings together",
                 (long long)ret->memory_mib, (long long)serve->options->memory_mib);
        refuse_one(call, "serve", "memory_mib", message);
        return NULL;
    }
    if (ret->insists && !ret->on_device) {
        refuse_one(call, "training", "device",
                   "cuda: a world that is built in runs on the CPU: auto or cpu is right");
        return NULL;
    }
    if (ret->insists && serve->options->n_devices == 0) {
        refuse_one(call, "training", "device", "cuda: there is no device here: auto or cpu is right");
        return NULL;
    }
    char *kept = serve_configuration_complete(text, name, output, err);
    if (!kept || serve_training_wants_read(kept, ret, err) < 0) {
        control_error(call, "EINVAL", "%s", err);
        free(kept);
        return NULL;
    }
    return kept;
}

/* ---- Commands. ---- */

static void hello(struct serve *serve, struct control_call *call, json_t *args)
{
    const struct serve_options *options = serve->options;
    const json_t *protocol = json_object_get(args, "protocol");
    const char *client = json_string_value(json_object_get(args, "client"));
    if (!json_is_integer(protocol) || !client) {
        control_error(call, "EINVAL", "hello: protocol, a number, and client, a text, are needed");
        return;
    }
    if (json_integer_value(protocol) != SERVE_PROTOCOL) {
        control_error(call, "EPROTO",
                      "%.64s speaks protocol %lld, papertape-trainer " PAPERTAPE_VERSION
                      " speaks %d: both of one version would be right",
                      client, (long long)json_integer_value(protocol), SERVE_PROTOCOL);
        return;
    }
    json_t *devices = json_array();
    for (int i = 0; i < options->n_devices; i++)
        json_array_append_new(devices, json_string(options->devices[i]));
    answer(call, json_pack("{s:i, s:s, s:i, s:I, s:s, s:o, s:i, s:I}", "protocol", SERVE_PROTOCOL, "version",
                           PAPERTAPE_VERSION, "pid", (int)getpid(), "started_ns",
                           (json_int_t)serve->started_ns, "state_dir", options->state, "devices", devices,
                           "cpu_slots", options->cpu_slots, "memory_mib", (json_int_t)options->memory_mib));
}

static void list(struct serve *serve, struct control_call *call, json_t *args)
{
    (void)args;
    json_t *trainings = json_array();
    for (const struct serve_training *t = serve->trainings; t && trainings; t = t->next)
        json_array_append_new(trainings, show(t));
    answer(call, json_pack("{s:o, s:I, s:{s:I, s:I}}", "trainings", trainings, "now_ns",
                           (json_int_t)clock_wall_ns(), "memory_mib", "budget",
                           (json_int_t)serve->options->memory_mib, "promised",
                           (json_int_t)serve_queue_promised_mib(serve)));
}

static bool may_start(struct serve *serve, struct control_call *call, const char *name, bool overwrite,
                      const struct serve_training *before, const struct training_wants *wants)
{
    char err[CHECKPOINT_ERROR_MAX];
    int64_t newest = -1;
    (void)serve;
    if (before && !serve_training_state_ended(before->record.state)) {
        control_error(call, "EEXIST", "%s: it %s: stop it first, or restart it", name,
                      before->record.state == TRAINING_QUEUED || before->record.state == TRAINING_PAUSED
                          ? "waits for its turn"
                          : "runs");
        return false;
    }
    if (before && !overwrite) {
        control_error(
            call, "EEXIST",
            "%s: has run (%s): resume or restart continues from its last checkpoint, overwrite starts "
            "again in its place; or another name",
            name, serve_training_state_name(before->record.state));
        return false;
    }
    if (!overwrite && !wants->study && checkpoint_newest(wants->output, name, &newest, err) == 0 &&
        newest >= 0) {
        control_error(call, "EEXIST",
                      "%s: %.300s has checkpoints of that name: overwrite starts again in their place; or "
                      "another name",
                      name, wants->output);
        return false;
    }
    return true;
}

/* Samples of processes are by such names: the daemon's, this one, and those of trainings (docs/gpu.md). */
static bool is_process(const char *name)
{
    return strcmp(name, "daemon") == 0 || strcmp(name, "trainer") == 0;
}

static void start_now(struct serve *serve, struct control_call *call, json_t *args, const char *warning)
{
    char err[TRAINING_RECORD_ERROR_MAX];
    struct training_wants wants;
    int64_t priority;
    const json_t *overwrite = json_object_get(args, "overwrite");
    const char *name = text_arg(call, args, "name");
    const char *text = name ? text_arg(call, args, "config") : NULL, *key;
    if (!text || !key_arg(call, args, &key))
        return;
    if (!serve_training_record_name_is_good(name) || is_process(name)) {
        control_error(call, "EINVAL",
                      "%.64s: no name of a training: letters, digits, - _ . are right, up to %d, but "
                      "serve.lock, daemon, trainer",
                      name, TRAINING_RECORD_NAME_MAX - 1);
        return;
    }
    if (overwrite && !json_is_boolean(overwrite)) {
        control_error(call, "EINVAL", "overwrite: true or false is needed");
        return;
    }
    char words[CONFIG_ERROR_MAX];
    warning = warning ? warning : serve_configuration_warns(text, words) ? words : NULL;
    struct serve_training *before = serve_queue_find(serve, name);
    if (came_before(call, before, "start", key))
        return;
    char *config = take_config(serve, call, name, text, NULL, &wants);
    if (!config)
        return;
    if (!whole_arg(call, args, "priority", -PRIORITY_MAX, PRIORITY_MAX, wants.priority, &priority) ||
        !may_start(serve, call, name, json_is_true(overwrite), before, &wants)) {
        free(config);
        return;
    }
    struct serve_training *training = serve_training_create(serve->folder, name, err);
    if (!training) {
        free(config);
        control_error(call, "EIO", "%s", err);
        return;
    }
    training->wants = wants;
    training->record.config = config;
    training->record.created_ns = clock_wall_ns();
    training->record.priority = (int)priority;
    training->record.total_steps = wants.total_steps;
    training->record.overwrite = json_is_true(overwrite);
    if (before) {
        memcpy(training->record.keys, before->record.keys, sizeof training->record.keys);
        training->record.n_keys = before->record.n_keys;
    }
    keep_key(training, "start", key);
    if (serve_training_save_first(training, err) < 0) { /* the record before it stays */
        serve_training_destroy(training);
        control_error(call, "EIO", "%s", err);
        return;
    }
    if (before) {
        serve_queue_take_out(serve, before);
        serve_training_destroy(before);
    }
    serve_queue_add(serve, training);
    serve_queue_open_events(training);
    serve_run_again(training);
    serve_queue_schedule(serve);
    json_t *shown = show(training);
    if (shown && warning && json_object_set_new(shown, "warning", json_string(warning)) < 0) {
        json_decref(shown);
        shown = NULL;
    }
    answer(call, shown);
}

static void stop(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *key;
    struct serve_training *training = find_for(serve, call, args, "stop", &key);
    if (!training)
        return;
    struct training_record *record = &training->record;
    if (serve_training_state_ended(record->state) || record->ending == ENDING_STOP) {
        control_error(call, "EALREADY", "%s: it %s", record->name,
                      serve_training_state_ended(record->state) ? "does not run" : "is being stopped");
        return;
    }
    keep_key(training, "stop", key);
    if (training->worker || training->orphaned) {
        serve_run_ask(training, ENDING_STOP);
    } else {
        training->retry_at_ms = 0;
        record->due_ns = 0;
        serve_training_enter(training, TRAINING_STOPPED, "", clock_wall_ns(), "%s", "");
        serve_queue_save(training);
    }
    answer_taken(call, training);
}

static bool has_config(struct control_call *call, const struct serve_training *training)
{
    if (!*training->record.config)
        control_error(call, "EINVAL", "%s: its record cannot be read: start it again with overwrite",
                      training->record.name);
    return *training->record.config;
}

/* At once, or after the current worker's end. */
static void begin_again(struct serve_training *training, bool ends_first)
{
    if (ends_first) {
        serve_run_ask(training, ENDING_RESTART);
        return;
    }
    serve_run_again(training);
    serve_queue_save(training);
    serve_queue_schedule(training->serve);
}

static void resume(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *key;
    struct serve_training *training = find_for(serve, call, args, "resume", &key);
    if (!training)
        return;
    struct training_record *record = &training->record;
    if (!has_config(call, training))
        return;
    bool stopping = record->ending == ENDING_STOP;
    if (record->state == TRAINING_DONE || (!serve_training_state_ended(record->state) && !stopping)) {
        control_error(
            call, "EALREADY", "%s: it %s", record->name,
            record->state == TRAINING_DONE ? "is done: restart it with a raised total_steps to continue"
            : record->state == TRAINING_QUEUED || record->state == TRAINING_PAUSED ? "waits for its turn"
                                                                                   : "runs");
        return;
    }
    keep_key(training, "resume", key);
    begin_again(training, stopping);
    answer_taken(call, training);
}

static void let_change(void *ctx, const char *words)
{
    (void)ctx, (void)words; /* the worker reports them */
}

/* Could that configuration continue from its last checkpoint? Without a checkpoint, any could. A study stays
 * a study: its worker checks whether the configuration fits its trials. */
static bool can_resume(struct control_call *call, const struct serve_training *training, const char *text,
                       const struct training_wants *wants)
{
    char err[CONFIG_ERROR_MAX], section[64] = "", key[64] = "";
    struct train_config *both = calloc(2, sizeof *both);
    int skip = 0;
    int r = both ? 0 : -ENOMEM;
    if (wants->study != training->wants.study) {
        free(both);
        control_error(call, "EINVAL", "%s: it is %s: %s is right, or another name", training->record.name,
                      training->wants.study ? "a study" : "a training",
                      training->wants.study ? "a configuration with [study] or [search]"
                                            : "a configuration without [study] and [search]");
        return false;
    }
    if (both && serve_training_begin(training) >= WORKER_RESUME &&
        train_config_parse("training.ini", training->record.config, &both[0], err) == 0 &&
        train_config_parse("training.ini", text, &both[1], err) == 0)
        r = train_config_continues(&both[0], &both[1], let_change, NULL, err);
    free(both);
    if (r == -ENOMEM)
        control_error(call, "ENOMEM", "out of memory");
    else if (r < 0 && sscanf(err, "[%63[^]]] %63[a-z0-9_]: %n", section, key, &skip) == 2)
        refuse_one(call, section, key, err + skip);
    else if (r < 0)
        control_error(call, "EINVAL", "%s", err);
    return r == 0;
}

static void restart(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *key;
    struct serve_training *training = find_for(serve, call, args, "restart", &key);
    struct training_wants wants;
    if (!training)
        return;
    struct training_record *record = &training->record;
    const json_t *given = json_object_get(args, "config");
    if (given && !json_is_null(given) && !json_is_string(given)) {
        control_error(call, "EINVAL", "config: a text is needed, or none");
        return;
    }
    bool changes = json_is_string(given);
    if (!changes && !has_config(call, training))
        return;
    const char *text = changes ? json_string_value(given) : record->config;
    char *config = take_config(serve, call, record->name, text, training->wants.output, &wants);
    if (!config)
        return;
    if (changes && !can_resume(call, training, config, &wants)) {
        free(config);
        return;
    }
    free(record->config);
    record->config = config;
    record->changed |= changes;
    if (changes)
        serve_training_forget_longest(training);
    record->total_steps = wants.total_steps;
    if (wants.priority != training->wants.priority)
        record->priority = wants.priority;
    training->wants = wants;
    keep_key(training, "restart", key);
    begin_again(training, has_worker(training));
    answer_taken(call, training);
}

static void start(struct serve *serve, struct control_call *call, json_t *args)
{
    if (!serve_plan_start(serve, call, args, start_now))
        start_now(serve, call, args, NULL);
}

static void check(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *text = text_arg(call, args, "config");
    char words[CONFIG_ERROR_MAX];
    if (text && !serve_plan_check(serve, call, args))
        answer(call, json_pack("{s:o, s:s?}", "errors", serve_configuration_refused(text, true), "warning",
                               serve_configuration_warns(text, words) ? words : NULL));
}

static void plan(struct serve *serve, struct control_call *call, json_t *args)
{
    const char *text = text_arg(call, args, "config");
    json_t *errors = text ? serve_configuration_errors(text) : NULL;
    if (json_array_size(errors) > 0)
        serve_command_refuse(call, errors);
    else if (text && !serve_plan_show(serve, call, args))
        control_error(call, "ENOMEM", "no process for papertape-trainer plan");
    json_decref(errors);
}

static void config(struct serve *serve, struct control_call *call, json_t *args)
{
    struct serve_training *training = find(serve, call, args);
    if (training)
        answer(call, json_pack("{s:s}", "config", training->record.config));
}

static void events(struct serve *serve, struct control_call *call, json_t *args)
{
    int64_t after, limit;
    json_t *array;
    struct serve_training *training = find(serve, call, args);
    if (!training || !whole_arg(call, args, "after", 0, INT64_MAX, 0, &after) ||
        !whole_arg(call, args, "limit", 1, EVENTS_LIMIT_MAX, EVENTS_LIMIT, &limit))
        return;
    int r = serve_queue_open_events(training)
                ? serve_events_read(&training->events, after, (size_t)limit, ANSWER_MAX, &array)
                : -EIO;
    if (r < 0)
        control_error(call, "EIO", "%s/events.jsonl: %s", training->folder, strerror(-r));
    else
        answer(call, json_pack("{s:o, s:I}", "events", array, "last", (json_int_t)training->events.last));
}

static void log_lines(struct serve *serve, struct control_call *call, json_t *args)
{
    int64_t lines;
    struct serve_training *training = find(serve, call, args);
    if (training && whole_arg(call, args, "lines", 1, LOG_LINES_MAX, LOG_LINES, &lines))
        answer(call, json_pack("{s:o}", "lines",
                               serve_worker_log_tail(training->folder, (size_t)lines, ANSWER_MAX)));
}

const char *const serve_reserve[] = {"hello", "list", "events", "stop", NULL};

void serve_command(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                   const struct control_peer *peer)
{
    static const struct {
        const char *name;
        void (*run)(struct serve *, struct control_call *, json_t *);
    } commands[] = {{"check", check},   {"config", config}, {"events", events}, {"hello", hello},
                    {"list", list},     {"log", log_lines}, {"plan", plan},     {"restart", restart},
                    {"resume", resume}, {"start", start},   {"stop", stop}};
    (void)peer;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(cmd, commands[i].name) == 0) {
            commands[i].run(ctx, call, args);
            return;
        }
    control_error(
        call, "ENOSYS",
        "%.64s: no command: check, config, events, hello, list, log, plan, restart, resume, start or stop",
        cmd);
}
