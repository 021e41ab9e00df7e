/* Trading on and off, everything closed, alerts acknowledged. */
#include <stdio.h>
#include <string.h>

#include "daemon/alerts.h"
#include "daemon/command/internal.h"
#include "engine/event.h"

static void switch_trading(const struct request *request, enum command_kind kind, const char *word)
{
    struct event event = {.command.kind = kind};
    struct work work;
    if (!daemon_command_begin(request, &work))
        return;
    daemon_command_event(&work, &event);
    db_writer_put_paused(daemon_session_writer(request->commands->daemon->session), kind == COMMAND_PAUSE);
    daemon_command_end(&work, json_pack("{s:s}", "trading", word));
}

void daemon_command_pause(const struct request *request)
{
    switch_trading(request, COMMAND_PAUSE, "paused");
}

void daemon_command_resume(const struct request *request)
{
    switch_trading(request, COMMAND_RESUME, "on");
}

static uint64_t newest_order(const struct engine *engine)
{
    uint64_t newest = 0;
    for (size_t i = 0; i < engine_orders(engine); i++)
        if (engine_order(engine, i)->id > newest)
            newest = engine_order(engine, i)->id;
    return newest;
}

void daemon_command_flatten(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_FLATTEN};
    struct work work;
    const char *confirm = json_string_value(json_object_get(request->args, "confirm"));
    if (!confirm || strcmp(confirm, "FLATTEN") != 0) {
        control_error(request->call, "EINVAL", "args.confirm: \"FLATTEN\" is needed");
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    size_t before = engine_orders(request->engine);
    uint64_t newest = newest_order(request->engine);
    daemon_command_event(&work, &event);
    db_writer_put_paused(daemon_session_writer(request->commands->daemon->session), true);
    json_t *orders = json_array(), *waits = json_array();
    for (size_t i = 0; i < engine_orders(request->engine); i++) {
        const struct order *order = engine_order(request->engine, i);
        if (order->id <= newest)
            continue;
        json_array_append_new(orders, json_integer((json_int_t)order->id));
        daemon_command_waits(request, order, waits);
    }
    json_t *result = json_pack("{s:I, s:o}", "canceled", (json_int_t)before, "orders", orders);
    if (json_array_size(waits) > 0)
        json_object_set(result, "waits", waits);
    json_decref(waits);
    daemon_command_end(&work, result);
}

/* Why it cannot be acknowledged; NULL: it can. */
static const char *not_open(const struct session *session, const json_t *alert)
{
    int standing = json_is_integer(alert)
                       ? daemon_session_alert_standing(session, (uint64_t)json_integer_value(alert))
                       : ALERT_STANDING_NONE;
    return standing == ALERT_STANDING_OPEN    ? NULL
           : standing == ALERT_STANDING_ACKED ? "it is acknowledged already"
           : standing == ALERT_STANDING_PAST  ? "it is acknowledged already, or over"
                                              : "no alert has that id";
}

void daemon_command_ack(const struct request *request)
{
    struct session *session = request->commands->daemon->session;
    const json_t *alert = json_object_get(request->args, "alert");
    const char *why = not_open(session, alert);
    struct work work;
    if (why) {
        control_error(request->call, "ENOENT", "args.alert: %s", why);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    daemon_session_ack(session, (uint64_t)json_integer_value(alert));
    daemon_command_end(&work, json_object());
}
