/* A test of the sinks of alerts, and a report to them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/notify/notify.h"

static void tested(void *ctx, const struct notify_tested *list, int n)
{
    struct control_call *call = ctx;
    json_t *sinks = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(sinks,
                              json_pack("{s:s, s:s, s:b, s:I, s:s}", "sink", list[i].name, "kind",
                                        daemon_notify_kinds[list[i].kind], "ok", list[i].outcome.accepted,
                                        "ms", (json_int_t)list[i].ms, "detail", list[i].outcome.detail));
    control_ok(call, json_pack("{s:o}", "sinks", sinks));
}

/* "webhook, webhook.ops" */
static void list_sinks(const struct notify_config *config, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = '\0';
    for (int i = 0; i < config->n_sinks && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? ", " : "", config->sinks[i].name);
}

void daemon_command_alerts_test(const struct request *request)
{
    const struct daemon *daemon = request->commands->daemon;
    const char *sink = NULL;
    char names[NOTIFY_SINKS_MAX * (DB_NOTICE_SINK_MAX + 2)];
    if (daemon_command_args_given(request->given, "sink") &&
        !daemon_command_args_text(request->given, "sink", &sink))
        return;
    list_sinks(&daemon->config.notify, names, sizeof names);
    int r = daemon_notify_test(daemon->notify, sink, tested, request->call);
    if (r == -ENOENT && !names[0])
        control_error(request->call, "ENOENT",
                      "no sink is configured: command, webhook or mail of [alerts] is needed");
    else if (r == -ENOENT)
        control_error(request->call, "ENOENT", "args.sink: there is no sink \"%.60s\": %s", sink ? sink : "",
                      names);
    else if (r < 0)
        control_error(request->call, r == -ENOMEM ? "ENOMEM" : "ESHUTDOWN", "%s",
                      r == -ENOMEM ? "out of memory" : "the daemon is stopping");
}

/* A sink of that name (NULL: any) that takes what is of severity info; else the call is answered. */
static bool find_sinks(const struct request *request, const char *sink, json_t *list)
{
    const struct notify_config *config = &request->commands->daemon->config.notify;
    char names[NOTIFY_SINKS_MAX * (DB_NOTICE_SINK_MAX + 2)];
    bool known = !sink;
    for (int i = 0; i < config->n_sinks; i++) {
        const struct notify_sink *at = &config->sinks[i];
        if (sink && strcmp(at->name, sink) != 0)
            continue;
        known = true;
        if (at->severity <= DB_INFO)
            json_array_append_new(list, json_string(at->name));
    }
    list_sinks(config, names, sizeof names);
    if (!known)
        control_error(request->call, "ENOENT", "args.sink: there is no sink \"%.60s\"%s%s", sink,
                      names[0] ? ": " : "", names);
    else if (sink && json_array_size(list) == 0)
        control_error(request->call, "EINVAL", "args.sink: %s takes nothing of severity info", sink);
    return known && (!sink || json_array_size(list) > 0);
}

/* What a notice holds whole; else the call is answered. */
static bool take_text(const struct request *request, const char **ret)
{
    if (!daemon_command_args_text(request->given, "text", ret))
        return false;
    const size_t len = strlen(*ret);
    return len < DB_ALERT_TEXT_MAX ||
           ARGS_WRONG(request->call, "args.text: it has %zu bytes, %d are the most", len,
                      DB_ALERT_TEXT_MAX - 1);
}

void daemon_command_report_send(const struct request *request)
{
    const char *sink = NULL, *text;
    json_t *list = json_array();
    bool good = take_text(request, &text) &&
                (!daemon_command_args_given(request->given, "sink") ||
                 daemon_command_args_text(request->given, "sink", &sink)) &&
                find_sinks(request, sink, list);
    if (good && json_array_size(list) > 0)
        daemon_notify_send_text(request->commands->daemon->notify, "report", sink, text);
    if (good)
        control_ok(request->call, json_pack("{s:O}", "sinks", list));
    json_decref(list);
}
