/* Trainings: what is asked of the co-process for somebody else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/training/defaults.h"
#include "daemon/training/trainings.h"

enum {
    LOG_LINES_MAX = 10000,
    PRIORITY_MAX = 100,
};

/* ---- arguments ---- */

static bool take_name(const struct args *args, const char **ret)
{
    if (!args_text(args, "name", ret))
        return false;
    if (training_name_good(*ret))
        return true;
    control_error(args->request->call, "EINVAL",
                  "args.name: \"%.60s\": letters, digits, - _ and . are needed, no . first, at most %d", *ret,
                  TRAINING_NAME_MAX - 1);
    return false;
}

/* An integer; *ret is left alone when it is not given. */
static bool take_whole(const struct args *args, const char *name, int min, int max, int *ret)
{
    const json_t *value = json_object_get(args->object, name);
    if (!args_given(args, name))
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max) {
        control_error(args->request->call, "EINVAL", "args.%s: a whole number from %d to %d is needed", name,
                      min, max);
        return false;
    }
    *ret = (int)json_integer_value(value);
    return true;
}

/* A new reference to the configuration's text, NULL for none given; false: answered. */
static bool take_config(const struct args *args, json_t **ret)
{
    const char *text;
    *ret = NULL;
    if (!args_given(args, "config"))
        return true;
    if (!args_text(args, "config", &text))
        return false;
    *ret = json_incref(json_object_get(args->object, "config"));
    return true;
}

/* Before which every symbol's bars are in the database: the newest may be on its way there. 0: not known. */
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

/* The configuration where none is given. NULL with the call answered. */
static json_t *default_config(const struct request *request)
{
    const struct daemon *daemon = request->commands->daemon;
    char *folder = realpath(daemon->state.path, NULL);
    char *text = folder ? training_defaults(&daemon->config, folder, bars_end(request->engine)) : NULL;
    json_t *config = text ? json_string(text) : NULL;
    if (!config)
        control_error(request->call, "ENOMEM", "out of memory, or %.200s cannot be looked at",
                      daemon->state.path);
    free(text);
    free(folder);
    return config;
}

/* ---- what changes a training ---- */

static void on_changed(void *ctx, const json_t *answer)
{
    struct deferred *deferred = ctx;
    const json_t *result = json_object_get(answer, "result");
    const char *name = json_string_value(json_object_get(result, "name"));
    const struct trainings *trainings = command_of_deferred(deferred)->daemon->trainings;
    json_t *training = name ? trainings_object(trainings, name) : NULL;
    if (training)
        command_settle(deferred, json_pack("{s:{s:o}}", "result", "training", training));
    else if (result)
        command_settle(deferred, json_pack("{s:{s:s, s:s}}", "error", "code", "EPROTO", "message",
                                           "the co-process does not say what came of it"));
    else
        command_settle(deferred, json_pack("{s:O}", "error", json_object_get(answer, "error")));
}

/* Passes it on; `args` is stolen. */
static void change(const struct request *request, const char *cmd, json_t *args)
{
    struct deferred *deferred = command_defer(request);
    if (!deferred) {
        json_decref(args);
        return;
    }
    trainings_ask(request->commands->daemon->trainings, cmd, args, on_changed, deferred);
}

void command_train_start(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    json_t *config;
    bool overwrite = false;
    int priority = INT32_MIN;
    if (!args_known(&args, "name config overwrite priority key") || !take_name(&args, &name) ||
        !args_flag(&args, "overwrite", &overwrite) ||
        !take_whole(&args, "priority", -PRIORITY_MAX, PRIORITY_MAX, &priority) ||
        !take_config(&args, &config))
        return;
    if (strcmp(name, DB_CHAMPION_ACCOUNT) == 0) {
        control_error(request->call, "EINVAL",
                      "args.name: champion is the account of the best policy: another name is needed");
        json_decref(config);
        return;
    }
    if (!config)
        config = default_config(request);
    if (!config)
        return;
    json_t *asked = json_pack("{s:s, s:o, s:b}", "name", name, "config", config, "overwrite", overwrite);
    if (priority != INT32_MIN)
        json_object_set_new(asked, "priority", json_integer(priority));
    change(request, "start", asked);
}

void command_train_restart(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    json_t *config;
    if (!args_known(&args, "name config key") || !take_name(&args, &name) || !take_config(&args, &config))
        return;
    json_t *asked = json_pack("{s:s}", "name", name);
    if (config)
        json_object_set_new(asked, "config", config);
    change(request, "restart", asked);
}

static void change_by_name(const struct request *request, const char *cmd)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    if (args_known(&args, "name key") && take_name(&args, &name))
        change(request, cmd, json_pack("{s:s}", "name", name));
}

void command_train_stop(const struct request *request)
{
    change_by_name(request, "stop");
}

void command_train_resume(const struct request *request)
{
    change_by_name(request, "resume");
}

/* ---- what only looks ---- */

/* What the co-process answers is the answer. */
static void on_looked(void *ctx, const json_t *answer)
{
    struct control_call *call = ctx;
    if (answer)
        command_answer(call, (json_t *)answer, false);
    else
        control_error(call, "ENOMEM", "out of memory");
}

static void look(const struct request *request, const char *cmd, json_t *args)
{
    trainings_ask(request->commands->daemon->trainings, cmd, args, on_looked, request->call);
}

void command_train_list(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const struct trainings *trainings = request->commands->daemon->trainings;
    if (args_known(&args, ""))
        control_ok(request->call, json_pack("{s:o, s:I}", "trainings", trainings_all(trainings),
                                            "trainings_total", (json_int_t)trainings_total(trainings)));
}

void command_train_check(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *config;
    if (args_known(&args, "config") && args_text(&args, "config", &config))
        look(request, "check", json_pack("{s:s}", "config", config));
}

void command_train_config(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    if (!args_known(&args, "name"))
        return;
    if (args_given(&args, "name")) {
        if (take_name(&args, &name))
            look(request, "config", json_pack("{s:s}", "name", name));
        return;
    }
    json_t *config = default_config(request);
    if (config)
        control_ok(request->call, json_pack("{s:o}", "config", config));
}

void command_train_log(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    int lines = 0;
    if (!args_known(&args, "name lines") || !take_name(&args, &name) ||
        !take_whole(&args, "lines", 1, LOG_LINES_MAX, &lines))
        return;
    json_t *asked = json_pack("{s:s}", "name", name);
    if (lines > 0)
        json_object_set_new(asked, "lines", json_integer(lines));
    look(request, "log", asked);
}
