#include "daemon/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/roles.h"
#include "record/order.h"

struct commands *daemon_commands_create(struct daemon *daemon)
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

void daemon_commands_destroy(struct commands *commands)
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
    daemon_command_deferred_finish(commands);
    daemon_command_policy_finish(commands);
    daemon_command_reload_finish(commands);
    daemon_command_proposed_finish(commands);
    daemon_commands_redone_end(commands);
    daemon_command_keys_finish(commands);
    free(commands);
}

void daemon_command_remember_until(struct commands *commands, const char *cmd, const char *args,
                                   const char *answer, uint64_t ticket)
{
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    json_t *asked = json_loads(args, 0, NULL), *came_to = json_loads(answer, 0, NULL);
    bool answered = json_object_get(came_to, "result") || json_object_get(came_to, "error");
    if (asked && answered &&
        daemon_command_key_name(cmd, asked, daemon_session_engine(commands->daemon->session), name))
        daemon_command_key_add(commands, name, cmd, asked, came_to, ticket);
    json_decref(asked);
    json_decref(came_to);
}

void daemon_commands_remember(struct commands *commands, const char *cmd, const char *args,
                              const char *answer)
{
    daemon_command_remember_until(commands, cmd, args, answer, 0);
}

const char *const daemon_commands_reserve[] = {"pause", "resume", "cancel", "flatten",
                                               "ping",  "status", NULL};

const char *const daemon_commands_reading[] = {"ping", "status", NULL};

#define COMMAND(name, needs, known) {#name, daemon_command_##name, known, needs, false},
#define READING(name, needs, known) {#name, daemon_command_##name, known, needs, true},
static const struct command {
    const char *name;
    void (*run)(const struct request *request);
    const char *known;
    bool needs_engine;
    bool reads; /* changes nothing */
} table[] = {DAEMON_COMMANDS(COMMAND, READING)};

static int compare(const void *name, const void *row)
{
    return strcmp(name, *(const char *const *)row);
}

static void handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                   const struct control_peer *peer, bool reading)
{
    struct commands *commands = ctx;
    struct args given;
    struct request request = {
        commands, call, cmd, args, peer, daemon_session_engine(commands->daemon->session), &given};
    size_t n = sizeof table / sizeof *table;
    given = (struct args){&request, args, "args"};
    const struct command *command = bsearch(cmd, table, n, sizeof *table, compare);
    if (!command) {
        char known[640] = "";
        for (size_t i = 0; i < n; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     table[i].name);
        control_error(call, "ENOSYS", "cmd: \"%.60s\" is not known: %s", cmd, known);
    } else if (reading && !command->reads) {
        control_error(call, "EACCES", "reading only: %s is for operators: be a member of group %s for it",
                      cmd, daemon_roles_operators());
    } else if (commands->daemon->stopping) {
        control_error(call, "ESHUTDOWN", "the daemon is stopping");
    } else if (command->needs_engine && !request.engine) {
        control_error(call, "EAGAIN", "the venue has not answered yet: nothing is streamed");
    } else if (!command->known || daemon_command_args_known(&given, command->known)) {
        command->run(&request);
    }
}

void daemon_commands_handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                            const struct control_peer *peer)
{
    handle(ctx, call, cmd, args, peer, false);
}

void daemon_commands_handle_reading(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                                    const struct control_peer *peer)
{
    handle(ctx, call, cmd, args, peer, true);
}
