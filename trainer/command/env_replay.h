/* `papertape-trainer env-replay PARAMS.json ACTIONS.csv --bars DIR`: one copy of the environment through a
 * file of actions, the account after every step as CSV on stdout. */
#ifndef TRAINER_COMMAND_ENV_REPLAY_H
#define TRAINER_COMMAND_ENV_REPLAY_H

/* argv[0] is the verb. An exit status: 0 done, 1 an error, 2 a wrong command line. */
int trainer_command_env_replay(int argc, char **argv);

/* `env-replay --list-params`: every parameter as a row of a Markdown table, which docs/environment.md holds:
 * its range, its value in each preset, what it is. */
int trainer_replay_list_params(void);

#endif
