/* Commands that somebody else carries out, the co-process: their row is pending until it has told what they
 * came to. */
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/log.h"

enum { LOOKED_AT = 1000 }; /* of a former run's newest commands */

struct deferred {
    struct deferred *next;
    struct request request; /* its texts are our own */
    struct control_peer peer;
    struct work work;
    char *cmd;
    bool named;
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
};

const struct deferred *command_deferred_find(const struct commands *commands, const char *name)
{
    const struct deferred *deferred = commands->deferred;
    while (deferred && !(deferred->named && strcmp(deferred->name, name) == 0))
        deferred = deferred->next;
    return deferred;
}

static void free_deferred(struct deferred *deferred)
{
    json_decref(deferred->request.args);
    free(deferred->work.args);
    free(deferred->cmd);
    free(deferred);
}

struct deferred *command_defer(const struct request *request)
{
    struct commands *commands = request->commands;
    struct session *session = commands->daemon->session;
    if (command_came_before(request))
        return NULL;
    struct deferred *deferred = calloc(1, sizeof *deferred);
    if (deferred) {
        deferred->cmd = strdup(request->cmd);
        deferred->work.args = json_dumps(request->args, JSON_COMPACT);
    }
    if (!deferred || !deferred->cmd || !deferred->work.args) {
        if (deferred)
            free_deferred(deferred);
        control_error(request->call, "ENOMEM", "out of memory");
        return NULL;
    }
    deferred->peer = *request->peer;
    deferred->request = *request;
    deferred->request.cmd = deferred->cmd;
    deferred->request.args = json_incref(request->args);
    deferred->request.peer = &deferred->peer;
    deferred->work.request = &deferred->request;
    deferred->work.id = session_command_id(session);
    deferred->work.ts_ns = session_now(session);
    deferred->named = command_key_name(request->cmd, request->args, request->engine, deferred->name);
    if (deferred->named)
        command_key_stored(deferred->name, request->args, deferred->work.key);
    command_put_row(&deferred->work, DB_COMMAND_PENDING, "");
    deferred->next = commands->deferred;
    commands->deferred = deferred;
    return deferred;
}

struct commands *command_of_deferred(const struct deferred *deferred)
{
    return deferred->request.commands;
}

static void unlink_deferred(struct deferred *deferred)
{
    struct deferred **at = &deferred->request.commands->deferred;
    while (*at != deferred)
        at = &(*at)->next;
    *at = deferred->next;
}

void command_settle(struct deferred *deferred, json_t *answer)
{
    const struct request *request = &deferred->request;
    struct commands *commands = request->commands;
    struct db_writer *writer = session_writer(commands->daemon->session);
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    char *text = json_dumps(answer, JSON_COMPACT);
    unlink_deferred(deferred);
    command_put_row(&deferred->work, answer && !code ? DB_COMMAND_DONE : DB_COMMAND_REFUSED,
                    text ? text : "{}");
    uint64_t ticket = db_writer_last(writer);
    if (deferred->named && answer)
        command_key_add(commands, deferred->name, request->cmd, request->args, answer, ticket);
    log_info("command %s from uid %u: %s", request->cmd, (unsigned)request->peer->uid, code ? code : "done");
    if (!answer || !command_await(commands, request->call, answer, false, ticket))
        control_error(request->call, "ENOMEM", "out of memory: what came of it is not known");
    json_decref(answer);
    free(text);
    free_deferred(deferred);
}

void command_deferred_finish(struct commands *commands)
{
    while (commands->deferred) {
        struct deferred *deferred = commands->deferred;
        commands->deferred = deferred->next;
        control_error(deferred->request.call, "ESHUTDOWN",
                      "the daemon stopped before it was told what came of it");
        free_deferred(deferred);
    }
}

/* ---- a former run's ---- */

static void settle_row(void *ctx, const struct db_command *row)
{
    struct db_writer *writer = ctx;
    static const char result[] =
        "{\"error\":{\"code\":\"ESHUTDOWN\",\"message\":\"the daemon ended before it was told what "
        "came of it: papertape train list shows that\"}}";
    struct db_command settled = *row;
    if (row->state != DB_COMMAND_PENDING)
        return;
    settled.state = DB_COMMAND_REFUSED;
    settled.result = result;
    db_writer_put_command(writer, &settled);
}

void commands_recover(struct commands *commands, struct db_reader *reader)
{
    if (db_reader_commands(reader, LOOKED_AT, settle_row, session_writer(commands->daemon->session)) < 0)
        log_error("commands: %s: what a former run left pending stays so", db_reader_error(reader));
}
