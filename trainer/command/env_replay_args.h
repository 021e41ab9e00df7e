/* The command line of papertape-trainer env-replay. */
#ifndef TRAINER_COMMAND_ENV_REPLAY_ARGS_H
#define TRAINER_COMMAND_ENV_REPLAY_ARGS_H

#include "record/option.h"
#include "trainer/env/env.h"

enum env_replay_where { ON_CPU, ON_GPU };

/* Texts are the command line's; NULL where it has none. */
struct env_replay_args {
    const char *params_path, *actions_path, *bars, *preset, *execution, *exchange_info, *observations,
        *trades;
    enum env_replay_where where;
    enum env_backend backend; /* never ENV_BEST: the widest that works, where no instruction set is named */
    const char *backend_name; /* as it was given, or NULL */
    uint64_t seed;
    bool list_params;
};

/* EXIT_OK with call->into whole, or EXIT_USAGE with a line on stderr. */
int trainer_env_replay_args_check(const struct option_call *call);

/* Runs one copy of the environment through the file of actions; prints the account after every step as CSV on
 * stdout. */
int trainer_env_replay(struct option_call *call);

/* --list-params: every parameter as a row of a Markdown table, which docs/environment.md contains: its range,
 * its value in each preset, its meaning. */
int trainer_replay_list_params(void);

#endif
