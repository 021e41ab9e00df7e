/* What papertape-trainer env-replay was asked. */
#ifndef TRAINER_COMMAND_ENV_REPLAY_ARGS_H
#define TRAINER_COMMAND_ENV_REPLAY_ARGS_H

#include "trainer/env/env.h"

enum env_replay_where { ON_CPU, ON_GPU };

/* Texts are the command line's; NULL where it has none. */
struct env_replay_args {
    const char *params_path, *actions_path, *bars, *preset, *execution, *exchange_info, *json, *trades;
    enum env_replay_where where;
    enum env_backend backend; /* never ENV_BEST: the widest that works, where no instruction set is named */
    const char *backend_name; /* as it was given, or NULL */
    uint64_t seed;
};

/* GO_ON, or an exit status: --help and --list-params have printed, or a line on stderr says what is wrong. */
int trainer_env_replay_args_parse(int argc, char **argv, struct env_replay_args *ret);

#endif
