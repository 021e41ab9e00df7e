#include "cli/service.h"

#include <stdio.h>
#include <string.h>

bool cli_service_of(const struct state_dir *state, struct cli_service *ret)
{
    const char *path = state->path, *name = "";
    const size_t n = strlen(STATE_SERVICE_DIR);
    if (strncmp(path, STATE_SERVICE_DIR "-", n + 1) == 0 && !strchr(path + n, '/'))
        name = path + n + 1;
    snprintf(ret->unit, sizeof ret->unit, "papertaped%s%.64s", *name ? "@" : "", name);
    snprintf(ret->config, sizeof ret->config, "%.*s%s%s.ini", (int)(sizeof SERVICE_FILE - sizeof ".ini"),
             SERVICE_FILE, *name ? "-" : "", name);
    return *name || strcmp(path, STATE_SERVICE_DIR) == 0;
}
