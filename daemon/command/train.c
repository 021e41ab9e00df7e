/* Trainings: passes requests of clients on to the co-process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/training/training.h"
#include "daemon/training/trainings.h"

enum {
    LOG_LINES_MAX = 10000,
    PRIORITY_MAX = 100,
};

/* ---- arguments ---- */

static bool take_name(const struct args *args, const char **ret)
{
    if (!daemon_command_args_text(args, "name", ret))
        return false;
    if (db_training_name_good(*ret))
        return true;
    return ARGS_WRONG(args->request->call,
                      "args.name: \"%.60s\": letters, digits, - _ and . are needed, no . first, at most %d",
                      *ret, TRAINING_NAME_MAX - 1);
}

/* A text, or none. */
static bool daemon_config_good(const struct args *args)
{
    const char *text;
    return !daemon_command_args_given(args, "config") || daemon_command_args_text(args, "config", &text);
}

/* The time before which every symbol's bars are in the database: the newest may still be on its way. 0: not
 * known. */
static int64_t bars_end(const struct engine *engine)
{
    int64_t end_ns = 0;
    for (int s = 0; engine && s < engine_symbols(engine); s++) {
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
        if (view.bars > 0 && (end_ns == 0 || view.last_bar.open_ns < end_ns))
            end_ns = view.last_bar.open_ns;
    }
    return end_ns;
}

/* The configuration where the client gives none. NULL without memory, or where the state's folder cannot be
 * examined. */
static json_t *default_config(const struct request *request)
{
    const struct daemon *daemon = request->commands->daemon;
    char *folder = realpath(daemon->state.path, NULL);
    char *text = folder ? daemon_training_defaults(&daemon->config, folder, bars_end(request->engine)) : NULL;
    json_t *config = text ? json_string(text) : NULL;
    free(text);
    free(folder);
    return config;
}

/* ---- what changes a training ---- */

static const struct {
    const char *cmd, *asked;
} changes[] = {{"train_start", "start"},
               {"train_stop", "stop"},
               {"train_restart", "restart"},
               {"train_resume", "resume"}};

static const char *asked_for(const char *cmd)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].cmd, cmd) == 0)
            return changes[i].asked;
    return NULL;
}

bool daemon_command_train_changes(const char *cmd)
{
    return asked_for(cmd) != NULL;
}

json_t *daemon_command_train_asked(const struct request *request, const char **ret_cmd)
{
    static const char *const members[] = {"name", "config", "overwrite", "priority"};
    json_t *asked = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(request->args, members[i]);
        if (value && !json_is_null(value))
            json_object_set(asked, members[i], value);
    }
    *ret_cmd = asked_for(request->cmd);
    json_t *config = strcmp(*ret_cmd, "start") == 0 && !json_object_get(asked, "config")
                         ? default_config(request)
                         : json_null();
    if (config && !json_is_null(config))
        json_object_set_new(asked, "config", config);
    if (config)
        return asked;
    json_decref(asked);
    return NULL;
}

void daemon_command_train_start(const struct request *request)
{
    const struct args *args = request->given;
    const char *name;
    bool overwrite = false;
    int priority = INT32_MIN;
    if (!take_name(args, &name) || !daemon_command_args_flag(args, "overwrite", &overwrite) ||
        !daemon_command_args_whole(args, "priority", -PRIORITY_MAX, PRIORITY_MAX, &priority) ||
        !daemon_config_good(args))
        return;
    if (strcmp(name, DB_CHAMPION_ACCOUNT) == 0) {
        control_error(request->call, "EINVAL",
                      "args.name: champion is the account of the best policy: another name is needed");
        return;
    }
    daemon_command_defer(request);
}

void daemon_command_train_restart(const struct request *request)
{
    const char *name;
    if (take_name(request->given, &name) && daemon_config_good(request->given))
        daemon_command_defer(request);
}

static void change_by_name(const struct request *request)
{
    const char *name;
    if (take_name(request->given, &name))
        daemon_command_defer(request);
}

void daemon_command_train_stop(const struct request *request)
{
    change_by_name(request);
}

void daemon_command_train_resume(const struct request *request)
{
    change_by_name(request);
}

/* ---- what only looks ---- */

/* Passes the co-process's answer on. */
static void on_looked(void *ctx, const json_t *answer)
{
    struct control_call *call = ctx;
    if (answer)
        daemon_command_answer(call, answer, false);
    else
        control_error(call, "ENOMEM", "out of memory");
}

static void look(const struct request *request, const char *cmd, json_t *args)
{
    daemon_trainings_ask(request->commands->daemon->trainings, cmd, args, on_looked, request->call);
}

void daemon_command_train_list(const struct request *request)
{
    const struct trainings *trainings = request->commands->daemon->trainings;
    control_ok(request->call, json_pack("{s:o, s:I}", "trainings", daemon_trainings_all(trainings),
                                        "trainings_total", (json_int_t)daemon_trainings_total(trainings)));
}

void daemon_command_train_check(const struct request *request)
{
    const char *config;
    if (daemon_command_args_text(request->given, "config", &config))
        look(request, "check", json_pack("{s:s}", "config", config));
}

void daemon_command_train_plan(const struct request *request)
{
    const char *config;
    if (daemon_command_args_text(request->given, "config", &config))
        look(request, "plan", json_pack("{s:s}", "config", config));
}

void daemon_command_train_config(const struct request *request)
{
    const char *name;
    if (daemon_command_args_given(request->given, "name")) {
        if (take_name(request->given, &name))
            look(request, "config", json_pack("{s:s}", "name", name));
        return;
    }
    json_t *config = default_config(request);
    if (config)
        control_ok(request->call, json_pack("{s:o}", "config", config));
    else
        control_error(request->call, "ENOMEM", "out of memory, or %.200s cannot be looked at",
                      request->commands->daemon->state.path);
}

void daemon_command_train_log(const struct request *request)
{
    const char *name;
    int lines = 0;
    if (!take_name(request->given, &name) ||
        !daemon_command_args_whole(request->given, "lines", 1, LOG_LINES_MAX, &lines))
        return;
    json_t *asked = json_pack("{s:s}", "name", name);
    if (lines > 0)
        json_object_set_new(asked, "lines", json_integer(lines));
    look(request, "log", asked);
}
