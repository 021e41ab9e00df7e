#include "daemon/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"

struct commands *commands_create(struct daemon *daemon)
{
    struct commands *commands = calloc(1, sizeof *commands);
    if (commands) {
        commands->daemon = daemon;
        commands->end = &commands->first;
        commands->newest = &commands->oldest;
        commands->newest_proposed = &commands->proposed;
    }
    return commands;
}

void commands_destroy(struct commands *commands)
{
    if (!commands)
        return;
    while (commands->first) {
        struct waiting *waiting = commands->first;
        commands->first = waiting->next;
        control_error(waiting->call, "ESHUTDOWN", "the daemon stopped before the commit was confirmed");
        json_decref(waiting->answer);
        free(waiting);
    }
    command_deferred_finish(commands);
    command_policy_finish(commands);
    command_proposed_finish(commands);
    commands_redone_end(commands);
    command_keys_finish(commands);
    free(commands);
}

void command_remember_until(struct commands *commands, const char *cmd, const char *args, const char *answer,
                            uint64_t ticket)
{
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    json_t *asked = json_loads(args, 0, NULL), *came_to = json_loads(answer, 0, NULL);
    bool answered = json_object_get(came_to, "result") || json_object_get(came_to, "error");
    if (asked && answered && command_key_name(cmd, asked, session_engine(commands->daemon->session), name))
        command_key_add(commands, name, cmd, asked, came_to, ticket);
    json_decref(asked);
    json_decref(came_to);
}

void commands_remember(struct commands *commands, const char *cmd, const char *args, const char *answer)
{
    command_remember_until(commands, cmd, args, answer, 0);
}

const char *const commands_reserve[] = {"pause", "resume", "cancel", "flatten", "ping", "status", NULL};

/* Sorted by name. */
static const struct command {
    const char *name;
    void (*run)(const struct request *request);
    bool needs_engine;
} table[] = {
    {"account_create", command_account_create, true},
    {"account_deposit", command_account_deposit, true},
    {"account_list", command_account_list, true},
    {"account_reset", command_account_reset, true},
    {"account_resume", command_account_resume, true},
    {"account_transfer", command_account_transfer, true},
    {"account_withdraw", command_account_withdraw, true},
    {"ack", command_ack, false},
    {"amend", command_amend, true},
    {"book", command_book, true},
    {"cancel", command_cancel, true},
    {"flatten", command_flatten, true},
    {"indicators", command_indicators, true},
    {"order", command_order, true},
    {"parity", command_parity, true},
    {"pause", command_pause, true},
    {"ping", command_ping, false},
    {"policy_list", command_policy_list, false},
    {"policy_promote", command_policy_promote, true},
    {"policy_retire", command_policy_retire, true},
    {"policy_show", command_policy_show, false},
    {"resume", command_resume, true},
    {"status", command_status, false},
    {"streams", command_streams, true},
    {"symbol_add", command_symbol_add, true},
    {"symbol_list", command_symbol_list, true},
    {"symbol_remove", command_symbol_remove, true},
    {"train_check", command_train_check, false},
    {"train_config", command_train_config, false},
    {"train_list", command_train_list, false},
    {"train_log", command_train_log, false},
    {"train_restart", command_train_restart, true},
    {"train_resume", command_train_resume, true},
    {"train_start", command_train_start, true},
    {"train_stop", command_train_stop, true},
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, *(const char *const *)row);
}

void commands_handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                     const struct control_peer *peer)
{
    struct commands *commands = ctx;
    struct request request = {commands, call, cmd, args, peer, session_engine(commands->daemon->session)};
    size_t n = sizeof table / sizeof *table;
    const struct command *command = bsearch(cmd, table, n, sizeof *table, compare);
    if (!command) {
        char known[640] = "";
        for (size_t i = 0; i < n; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     table[i].name);
        control_error(call, "ENOSYS", "cmd: \"%.60s\" is not known: %s", cmd, known);
    } else if (commands->daemon->stopping) {
        control_error(call, "ESHUTDOWN", "the daemon is stopping");
    } else if (command->needs_engine && !request.engine) {
        control_error(call, "EAGAIN", "the venue has not answered yet: nothing is streamed");
    } else {
        command->run(&request);
    }
}
