/* papertape-trainer eval: a trained policy in the environment that it was trained in, on other bars. */
#ifndef TRAINER_COMMAND_EVAL_H
#define TRAINER_COMMAND_EVAL_H

/* argv[0] is the verb. Returns an exit status. */
int trainer_command_eval(int argc, char **argv);

#endif
