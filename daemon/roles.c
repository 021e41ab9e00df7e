#include "daemon/roles.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/command/command.h"
#include "daemon/log.h"

static gid_t operators_of(const struct daemon *daemon)
{
    const struct daemon_config_group *group = &daemon->config.operators;
    return group->known ? group->gid : getegid();
}

/* Not looked up for each refusal: a client may cause many. */
static char operators_name[40];

const char *daemon_roles_operators(void)
{
    return operators_name;
}

static void find_name(const struct daemon *daemon)
{
    const struct daemon_config_group *named = &daemon->config.operators;
    const struct group *group = named->known ? NULL : getgrgid(getegid());
    if (named->known || group)
        snprintf(operators_name, sizeof operators_name, "%s", named->known ? named->name : group->gr_name);
    else
        snprintf(operators_name, sizeof operators_name, "%u", (unsigned)getegid());
}

static struct control_groups operating(const struct daemon *daemon)
{
    return (struct control_groups){{operators_of(daemon)}, 1};
}

struct control_groups daemon_roles_reading(const struct daemon *daemon)
{
    if (!daemon->config.readers.known)
        return operating(daemon);
    return (struct control_groups){{daemon->config.readers.gid, operators_of(daemon)}, 2};
}

static int open_reading(struct daemon *daemon, char *err, size_t err_size)
{
    const struct control_groups groups = daemon_roles_reading(daemon);
    const struct control_options options = {.path = daemon->state.socket_read,
                                            .groups = &groups,
                                            .handler = daemon_commands_handle_reading,
                                            .ctx = daemon->commands,
                                            .reserve_commands = daemon_commands_reading,
                                            .shared_command = "status",
                                            .shared = daemon_commands_status};
    return control_open(daemon->loop, &options, &daemon->control_read, err, err_size);
}

/* It is no reason not to start. */
static void try_reading(struct daemon *daemon)
{
    char err[256];
    if (daemon->config.readers.known && open_reading(daemon, err, sizeof err) < 0)
        daemon_log_error("%s: who may only read is not answered", err);
}

int daemon_roles_open(struct daemon *daemon, char *err, size_t err_size)
{
    const struct control_groups groups = operating(daemon);
    const struct control_options options = {.path = daemon->state.socket,
                                            .groups = &groups,
                                            .handler = daemon_commands_handle,
                                            .ctx = daemon->commands,
                                            .reserve_commands = daemon_commands_reserve,
                                            .shared_command = "status",
                                            .shared = daemon_commands_status};
    int r = control_open(daemon->loop, &options, &daemon->control, err, err_size);
    if (r < 0)
        return r;
    find_name(daemon);
    unlink(daemon->state.socket_read); /* a former run's */
    try_reading(daemon);
    return 0;
}

void daemon_roles_close(struct daemon *daemon)
{
    control_close(daemon->control);
    control_close(daemon->control_read);
}

void daemon_roles_take(struct daemon *daemon)
{
    const struct control_groups operators = operating(daemon), readers = daemon_roles_reading(daemon);
    find_name(daemon);
    control_admit(daemon->control, &operators);
    if (!daemon->control_read) {
        try_reading(daemon);
    } else if (daemon->config.readers.known) {
        control_admit(daemon->control_read, &readers);
    } else {
        control_close(daemon->control_read);
        daemon->control_read = NULL;
    }
}
