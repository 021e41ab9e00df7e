/* The service that keeps a state: its unit and configuration (docs/roles.md). */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include <stdbool.h>

#include "daemon/config.h"
#include "db/state.h"

struct cli_service {
    char unit[80];                /* "papertaped", of an instance "papertaped@NAME" */
    char config[CONFIG_PATH_MAX]; /* where its configuration is, if it has one */
};

/* False: it is neither the service's state nor an instance's; *ret is the service's then. */
bool cli_service_of(const struct state_dir *state, struct cli_service *ret);

#endif
