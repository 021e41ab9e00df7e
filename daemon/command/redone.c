/* Commands that a former run recorded and carried out, but whose rows the database never got: their rows
 * are put again as the log is replayed. No client was answered, so their outcome now is the answer, once
 * these rows are on the disk.
 *
 * A command's row and those of its events are one group. With separate groups a crash in between would
 * leave the events stored and the key unknown, and a repeat would be carried out a second time. */
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/row.h"
#include "daemon/command/internal.h"

static const char *const names[COMMAND_KINDS] = {
    [COMMAND_PAUSE] = "pause",
    [COMMAND_RESUME] = "resume",
    [COMMAND_FLATTEN] = "flatten",
    [COMMAND_ORDER] = "order",
    [COMMAND_CANCEL] = "cancel",
    [COMMAND_AMEND] = "amend",
    [COMMAND_ACCOUNT_CREATE] = "account_create",
    [COMMAND_ACCOUNT_DEPOSIT] = "account_deposit",
    [COMMAND_ACCOUNT_RESET] = "account_reset",
    [COMMAND_ACCOUNT_TRANSFER] = "account_transfer",
    [COMMAND_ACCOUNT_RESUME] = "account_resume",
    [COMMAND_ACCOUNT_POLICY] = "policy",
    [COMMAND_CONFIGURE] = "reload",
    [COMMAND_ACCOUNT_CLOSE] = "account_close",
};

/* The command's name as it was given: a withdrawal is stored as a deposit of a negative amount, and the
 * events of a policy's promotion or retirement name it by its row. */
static const char *name_of(const struct event_command *command, const json_t *args)
{
    const char *amount = json_string_value(json_object_get(args, "amount"));
    const json_t *rows = json_object_get(args, ARENA_ROWS), *last;
    last = json_array_get(rows, json_array_size(rows) - 1);
    const char *role = json_string_value(json_object_get(last, "role"));
    if (rows && json_object_get(args, "proposal"))
        return COMMAND_PROPOSE;
    if (rows)
        return role && strcmp(role, "retired") == 0 ? "policy_retire" : "policy_promote";
    if (command->kind == COMMAND_ACCOUNT_DEPOSIT && command->money.amount < 0 && amount && amount[0] != '-')
        return "account_withdraw";
    return names[command->kind];
}

/* Of one event, or of several: all that were cancelled at once. */
struct redone {
    uint64_t id, order_id, event;
    int64_t ts_ns, peer_uid, peer_pid;
    char key[COMMAND_KEY_MAX];
    const char *cmd;
    char *args;
    enum order_reason reason;
    json_t *result;
    bool of_policy; /* an event an account: any of them may have been refused */
};

static json_t *policy_result(json_t *row)
{
    return json_pack("{s:{s:O*, s:O*, s:O*, s:O*}}", "policy", "policy", json_object_get(row, "name"), "role",
                     json_object_get(row, "role"), "account", json_object_get(row, "account"), "id",
                     json_object_get(row, "id"));
}

static json_t *result_of(const struct event_command *command, const json_t *args, uint64_t order_id)
{
    const char *account = json_string_value(json_object_get(args, "account"));
    const char *from = json_string_value(json_object_get(args, "from"));
    const char *to = json_string_value(json_object_get(args, "to"));
    const json_t *rows = json_object_get(args, ARENA_ROWS);
    json_t *orders;
    if (rows)
        return policy_result(json_array_get(rows, json_array_size(rows) - 1));
    switch (command->kind) {
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        return json_pack("{s:s}", "trading", command->kind == COMMAND_PAUSE ? "paused" : "on");
    case COMMAND_ORDER:
        orders = json_array();
        for (int i = 0; i < command->order.n_legs; i++)
            json_array_append_new(orders, json_integer((json_int_t)order_id + i));
        return json_pack("{s:s, s:o}", "state", "PENDING", "orders", orders);
    case COMMAND_CANCEL:
        if (json_is_true(json_object_get(args, "all")))
            return json_pack("{s:[I]}", "canceled", (json_int_t)order_id);
        return json_object();
    case COMMAND_ACCOUNT_CREATE:
        return json_pack("{s:s}", "account", command->account.name);
    case COMMAND_ACCOUNT_TRANSFER:
        return json_pack("{s:s, s:s}", "account", from ? from : "", "to", to ? to : "");
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_CLOSE:
        return json_pack("{s:s}", "account", account ? account : "");
    default:
        return json_object();
    }
}

void daemon_commands_redone_end(struct commands *commands)
{
    struct redone *redone = commands->redone;
    commands->redone = NULL;
    if (!redone)
        return;
    struct db_writer *writer = daemon_session_writer(commands->daemon->session);
    json_t *answer = daemon_commands_outcome(redone->reason, redone->order_id, redone->result);
    char *text = json_dumps(answer, JSON_COMPACT);
    struct db_command row = {
        .id = redone->id,
        .ts_ns = redone->ts_ns,
        .peer_uid = redone->peer_uid,
        .peer_pid = redone->peer_pid,
        .cmd = redone->cmd,
        .args = redone->args,
        .state = redone->reason == ORDER_OK ? DB_COMMAND_DONE : DB_COMMAND_REFUSED,
        .result = text ? text : "{}",
        .key = redone->key,
        .order_id = redone->order_id,
        .event = redone->event,
    };
    daemon_session_put_command(commands->daemon->session, &row);
    db_writer_group_end(writer);
    daemon_command_remember_until(commands, row.cmd, row.args, row.result, db_writer_last(writer));
    json_decref(answer);
    free(text);
    free(redone->args);
    free(redone);
}

/* The arguments as they were given. False without memory. */
static bool take_rows_out(struct redone *redone, json_t *args)
{
    json_object_del(args, ARENA_ROWS);
    char *given = json_dumps(args, JSON_COMPACT);
    if (!given)
        return false;
    free(redone->args);
    redone->args = given;
    redone->of_policy = true;
    redone->order_id = 0;
    return true;
}

void daemon_commands_redone(struct commands *commands, int64_t ts_ns, const struct event_command *command,
                            enum order_reason reason, uint64_t order_id)
{
    struct redone *redone = commands->redone;
    if (command->command_id == 0) {
        daemon_commands_redone_end(commands);
        return;
    }
    if (redone && redone->id == command->command_id) {
        json_array_append_new(json_object_get(redone->result, "canceled"),
                              json_integer((json_int_t)order_id));
        if (redone->of_policy && redone->reason == ORDER_OK)
            redone->reason = reason;
        return;
    }
    daemon_commands_redone_end(commands);
    redone = calloc(1, sizeof *redone);
    char *text = strdup(command->args && *command->args ? command->args : "{}");
    if (!redone || !text) {
        free(redone);
        free(text);
        return;
    }
    json_t *args = json_loads(text, 0, NULL);
    *redone = (struct redone){.id = command->command_id,
                              .order_id = order_id,
                              .event = daemon_session_event_seq(commands->daemon->session),
                              .ts_ns = ts_ns,
                              .peer_uid = command->peer_uid,
                              .peer_pid = command->peer_pid,
                              .cmd = name_of(command, args),
                              .args = text,
                              .reason = reason,
                              .result = result_of(command, args, order_id)};
    if (json_is_true(json_object_get(args, "all")))
        redone->reason = ORDER_OK;
    if (json_object_get(args, ARENA_ROWS) && !take_rows_out(redone, args)) {
        free(redone->args);
        json_decref(redone->result);
        json_decref(args);
        free(redone);
        return;
    }
    memcpy(redone->key, command->key, sizeof redone->key);
    json_decref(args);
    commands->redone = redone;
    db_writer_group_begin(daemon_session_writer(commands->daemon->session));
    if (command->kind == COMMAND_PAUSE || command->kind == COMMAND_RESUME || command->kind == COMMAND_FLATTEN)
        db_writer_put_paused(daemon_session_writer(commands->daemon->session),
                             command->kind != COMMAND_RESUME);
}
