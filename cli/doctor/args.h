/* The options of `papertape doctor`. */
#ifndef CLI_DOCTOR_ARGS_H
#define CLI_DOCTOR_ARGS_H

#include "daemon/config_load.h"

struct doctor_args {
    struct daemon_config_given given;
    bool offline;
};

#endif
