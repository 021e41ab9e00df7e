/* policy_promote and policy_retire: their arguments. docs/policies.md, "The arena", says what they do. */
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/command/internal.h"

enum { SHOWN = 60 };

static bool take_name(const struct args *args, const char **ret)
{
    struct control_call *call = args->request->call;
    if (!daemon_command_args_text(args, "name", ret))
        return false;
    const char *refused = arena_name_refusal(*ret);
    if (refused)
        return ARGS_WRONG(call, "args.name: \"%.*s\": %s", SHOWN, *ret, refused);
    if (!arena_configured(args->request->commands->daemon->arena, *ret))
        return true;
    control_error(call, "EINVAL",
                  "args.name: %s is an account of the configuration, which says what trades there: another "
                  "name is needed",
                  *ret);
    return false;
}

/* *ret is unchanged when no role is given. */
static bool take_role(const struct args *args, enum db_policy_role *ret)
{
    const char *to;
    if (!daemon_command_args_given(args, "to"))
        return true;
    if (!daemon_command_args_text(args, "to", &to))
        return false;
    if (strcmp(to, "challenger") != 0 && strcmp(to, "champion") != 0)
        return ARGS_WRONG(args->request->call, "args.to: \"%.*s\": challenger or champion is needed", SHOWN,
                          to);
    *ret = strcmp(to, "champion") == 0 ? DB_POLICY_CHAMPION : DB_POLICY_CHALLENGER;
    return true;
}

static bool take_limits(const struct args *args, struct arena_limits *ret)
{
    char why[CONFIG_WHY_MAX];
    const char *text;
    for (int i = 0; i < POLICY_LIMITS_N; i++) {
        const char *name = policy_limit_keys[i].name;
        if (!daemon_command_args_given(args, name))
            continue;
        if (!daemon_command_args_text(args, name, &text))
            return false;
        if (policy_limits_set(&ret->values, name, text, why) < 0)
            return ARGS_WRONG(args->request->call, "args.%s: %s", name, why);
        ret->given[i] = true;
    }
    return true;
}

void daemon_command_policy_promote(const struct request *request)
{
    const struct args *args = request->given;
    const char *name, *path = NULL;
    enum db_policy_role to = DB_POLICY_RETIRED;
    struct arena_limits limits = {0};
    bool yes = false;
    if (!take_name(args, &name) ||
        (daemon_command_args_given(args, "path") && !daemon_command_args_text(args, "path", &path)) ||
        !take_role(args, &to) || !daemon_command_args_flag(args, "yes", &yes) || !take_limits(args, &limits))
        return;
    if (path && (path[0] != '/' || strlen(path) >= ARENA_PATH_MAX)) {
        control_error(
            request->call, "EINVAL",
            "args.path: \"%.*s\": an absolute path of a .safetensors or .ensemble.json file is needed", SHOWN,
            path);
        return;
    }
    daemon_command_policy_ask(request, &(struct policy_ask){.cmd = "policy_promote",
                                                            .name = name,
                                                            .path = path,
                                                            .confirmed = yes,
                                                            .to = to,
                                                            .limits = limits});
}

void daemon_command_policy_retire(const struct request *request)
{
    const char *name;
    if (take_name(request->given, &name))
        daemon_command_policy_ask(
            request, &(struct policy_ask){
                         .cmd = "policy_retire", .name = name, .retires = true, .to = DB_POLICY_RETIRED});
}
