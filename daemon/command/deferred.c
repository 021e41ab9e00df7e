/* Commands that the co-process carries out: the row is pending until the co-process has reported the
 * outcome. It is asked once that row is on the disk, under a key by which it recognizes a repeat: so a
 * daemon that finds a pending row asks again, and no command is carried out twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/log.h"
#include "daemon/training/trainings.h"

enum { LOOKED_AT = 1000 }; /* of a former run's newest commands */

enum deferred_stage {
    DEFERRED_ROW,   /* its row is on its way to the disk */
    DEFERRED_LEFT,  /* by a former run: it is asked again once the co-process is there */
    DEFERRED_ASKED, /* asked; its answer is pending */
};

struct deferred {
    struct deferred *next; /* the older one */
    enum deferred_stage stage;
    uint64_t ticket;        /* of its pending row */
    struct request request; /* its texts are our own; it has no call when a former run left it */
    struct control_peer peer;
    struct work work;
    char *cmd, *work_args;
    bool left; /* by a former run, or the client has been answered */
    bool sent; /* sent; not kept until the co-process is there */
    bool named;
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
};

const struct deferred *daemon_command_deferred_find(const struct commands *commands, const char *name)
{
    const struct deferred *deferred = commands->deferred;
    while (deferred && !(deferred->named && strcmp(deferred->name, name) == 0))
        deferred = deferred->next;
    return deferred;
}

static void free_deferred(struct deferred *deferred)
{
    json_decref(deferred->request.args);
    free(deferred->work_args);
    free(deferred->cmd);
    free(deferred);
}

/* NULL without memory. */
static struct deferred *make(const struct request *request)
{
    struct deferred *deferred = calloc(1, sizeof *deferred);
    if (!deferred)
        return NULL;
    deferred->cmd = strdup(request->cmd);
    deferred->work.args = deferred->work_args = json_dumps(request->args, JSON_COMPACT);
    deferred->peer = *request->peer;
    deferred->request = *request;
    deferred->request.given = NULL; /* the call's */
    deferred->request.cmd = deferred->cmd;
    deferred->request.args = json_incref(request->args);
    deferred->request.peer = &deferred->peer;
    deferred->request.engine = NULL; /* a later turn's may be another */
    deferred->work.request = &deferred->request;
    deferred->named = daemon_command_key_name(request->cmd, request->args, request->engine, deferred->name);
    if (deferred->named)
        daemon_command_key_stored(deferred->name, request->args, deferred->work.key);
    if (deferred->cmd && deferred->work_args)
        return deferred;
    free_deferred(deferred);
    return NULL;
}

static void settle(struct deferred *deferred, json_t *answer);

/* ---- asking ---- */

/* The co-process knows a command by the client's key, else by its row: no client's key begins with a tilde.
 */
static void name_command(const struct deferred *deferred, json_t *args)
{
    char row[48];
    const char *key = deferred->work.key;
    if (!key[0])
        snprintf(row, sizeof row, "~%llu.%lld", (unsigned long long)deferred->work.id,
                 (long long)deferred->work.ts_ns);
    json_object_set_new(args, "key", json_string(key[0] ? key : row));
}

/* It may have been carried out, or not: the client is answered so, and the co-process is asked again. A
 * former run's may have been carried out then. */
static bool is_unknown(const struct deferred *deferred, const json_t *answer)
{
    static const char *const codes[] = {"ETIMEDOUT", "ECONNRESET", "EBUSY", "ENOMEM", "ESHUTDOWN"};
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    size_t n = deferred->left ? sizeof codes / sizeof *codes : deferred->sent ? 2 : 0;
    for (size_t i = 0; code && i < n; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return !answer;
}

static void ask_later(struct deferred *deferred, const json_t *answer)
{
    const json_t *error = json_object_get(answer, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    if (deferred->request.call)
        control_error(deferred->request.call, code ? code : "ENOMEM",
                      "%s: whether it was carried out is not known; it is asked again",
                      code ? json_string_value(json_object_get(error, "message")) : "out of memory");
    deferred->request.call = NULL;
    deferred->stage = DEFERRED_LEFT;
    deferred->left = true;
}

static void on_answer(void *ctx, const json_t *answer)
{
    struct deferred *deferred = ctx;
    const struct trainings *trainings = deferred->request.commands->daemon->trainings;
    const json_t *result = json_object_get(answer, "result");
    const char *name = json_string_value(json_object_get(result, "name"));
    if (is_unknown(deferred, answer)) {
        ask_later(deferred, answer);
        return;
    }
    json_t *training = name ? daemon_trainings_object(trainings, name) : NULL;
    json_t *warning = json_object_get(result, "warning"); /* of a start */
    if (training && warning)
        json_object_set(training, "warning", warning);
    if (training)
        settle(deferred, json_pack("{s:{s:o}}", "result", "training", training));
    else if (result)
        settle(deferred, daemon_training_failure("EPROTO", "the co-process does not say what came of it"));
    else
        settle(deferred, json_pack("{s:O}", "error", json_object_get(answer, "error")));
}

static void ask(struct deferred *deferred)
{
    struct request request = deferred->request;
    const char *cmd;
    request.engine = daemon_session_engine(request.commands->daemon->session);
    json_t *args = daemon_command_train_asked(&request, &cmd);
    deferred->stage = DEFERRED_ASKED;
    deferred->sent = daemon_trainings_reachable(request.commands->daemon->trainings);
    if (!args) {
        settle(deferred, daemon_training_failure("ENOMEM", "out of memory"));
        return;
    }
    name_command(deferred, args);
    daemon_trainings_ask(request.commands->daemon->trainings, cmd, args, on_answer, deferred);
}

/* The oldest command at this stage whose row is among those on the disk. */
static struct deferred *oldest(const struct commands *commands, enum deferred_stage stage, uint64_t committed)
{
    struct deferred *found = NULL;
    for (struct deferred *at = commands->deferred; at; at = at->next)
        if (at->stage == stage && at->ticket <= committed)
            found = at;
    return found;
}

void daemon_command_deferred_committed(struct commands *commands, uint64_t ticket)
{
    struct deferred *deferred;
    while ((deferred = oldest(commands, DEFERRED_ROW, ticket)))
        ask(deferred);
}

void daemon_command_deferred_not_stored(struct commands *commands)
{
    struct deferred *deferred;
    while ((deferred = oldest(commands, DEFERRED_ROW, UINT64_MAX)))
        settle(deferred,
               daemon_training_failure("STORAGE", "nothing can be stored: the co-process was not asked"));
}

void daemon_command_defer(const struct request *request)
{
    struct commands *commands = request->commands;
    struct session *session = commands->daemon->session;
    const char *detail;
    if (daemon_command_came_before(request))
        return;
    struct deferred *deferred = make(request);
    if (!deferred) {
        control_error(request->call, "ENOMEM", "out of memory");
        return;
    }
    deferred->work.id = daemon_session_command_id(session);
    deferred->work.ts_ns = daemon_session_now(session);
    daemon_command_put_row(&deferred->work, DB_COMMAND_PENDING, "");
    deferred->ticket = db_writer_last(daemon_session_writer(session));
    deferred->next = commands->deferred;
    commands->deferred = deferred;
    if (!daemon_session_storage_ok(session, &detail))
        daemon_command_deferred_not_stored(commands);
}

/* ---- the outcome ---- */

static void unlink_deferred(struct deferred *deferred)
{
    struct deferred **at = &deferred->request.commands->deferred;
    while (*at != deferred)
        at = &(*at)->next;
    *at = deferred->next;
}

/* `answer` is stolen; NULL without memory. */
static void settle(struct deferred *deferred, json_t *answer)
{
    const struct request *request = &deferred->request;
    struct commands *commands = request->commands;
    struct db_writer *writer = daemon_session_writer(commands->daemon->session);
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    char *text = json_dumps(answer, JSON_COMPACT);
    unlink_deferred(deferred);
    daemon_command_put_row(&deferred->work, answer && !code ? DB_COMMAND_DONE : DB_COMMAND_REFUSED,
                           text ? text : "{}");
    uint64_t ticket = db_writer_last(writer);
    if (deferred->named && answer)
        daemon_command_key_add(commands, deferred->name, request->cmd, request->args, answer, ticket);
    daemon_log_event(LOG_COMMAND,
                     LOG_OF(.training = json_string_value(json_object_get(request->args, "name"))),
                     "command %s from uid %u%s: %s", request->cmd, (unsigned)request->peer->uid,
                     deferred->left ? ", asked again" : "", code ? code : "done");
    if (request->call && (!answer || !daemon_command_await(commands, request->call, answer, false, ticket)))
        control_error(request->call, "ENOMEM", "out of memory: what came of it is not known");
    json_decref(answer);
    free(text);
    free_deferred(deferred);
}

void daemon_command_deferred_finish(struct commands *commands)
{
    while (commands->deferred) {
        struct deferred *deferred = commands->deferred;
        commands->deferred = deferred->next;
        if (deferred->request.call)
            control_error(deferred->request.call, "ESHUTDOWN",
                          "the daemon stopped before the result arrived: the next daemon asks for it");
        free_deferred(deferred);
    }
}

/* ---- a former run's ---- */

static void refuse_row(struct commands *commands, const struct db_command *row)
{
    static const char result[] =
        "{\"error\":{\"code\":\"ESHUTDOWN\",\"message\":\"the daemon ended before the "
        "result arrived\"}}";
    struct db_command settled = *row;
    settled.state = DB_COMMAND_REFUSED;
    settled.result = result;
    daemon_session_put_command(commands->daemon->session, &settled);
}

/* Rows come newest first; the list's end is the newest, as with new commands. */
static void take_row(void *ctx, const struct db_command *row)
{
    struct commands *commands = ctx;
    const struct control_peer peer = {.uid = (uid_t)row->peer_uid, .pid = (pid_t)row->peer_pid};
    struct deferred *deferred = NULL, **at = &commands->deferred;
    if (row->state != DB_COMMAND_PENDING)
        return;
    if (strcmp(row->cmd, COMMAND_PROPOSE) == 0) {
        daemon_command_proposed_left(commands, row);
        return;
    }
    json_t *args = json_loads(row->args, 0, NULL);
    const struct request request = {.commands = commands, .cmd = row->cmd, .args = args, .peer = &peer};
    if (args && daemon_command_train_changes(row->cmd))
        deferred = make(&request);
    json_decref(args);
    if (!deferred) {
        refuse_row(commands, row);
        return;
    }
    deferred->stage = DEFERRED_LEFT;
    deferred->left = true;
    deferred->work.id = row->id;
    deferred->work.ts_ns = row->ts_ns;
    while (*at)
        at = &(*at)->next;
    *at = deferred;
}

void daemon_commands_recover(struct commands *commands, struct db_reader *reader)
{
    if (db_reader_commands(reader, LOOKED_AT, take_row, commands) < 0)
        daemon_log_error("commands: %s: what a former run left pending stays so", db_reader_error(reader));
}

bool daemon_commands_left(const struct commands *commands)
{
    return oldest(commands, DEFERRED_LEFT, UINT64_MAX) != NULL;
}

void daemon_commands_ask_left(struct commands *commands)
{
    size_t n = 0;
    for (const struct deferred *at = commands->deferred; at; at = at->next)
        n += at->stage == DEFERRED_LEFT;
    while (n-- > 0) { /* commands that are added meanwhile wait for the next time */
        struct deferred *deferred = oldest(commands, DEFERRED_LEFT, UINT64_MAX);
        if (deferred)
            ask(deferred);
    }
}
