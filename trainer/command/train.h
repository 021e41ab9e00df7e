/* `papertape-trainer train` and `plan`. */
#ifndef TRAINER_COMMAND_TRAIN_H
#define TRAINER_COMMAND_TRAIN_H

int command_train(int argc, char **argv);
int command_plan(int argc, char **argv);

/* `train --list-keys [--json]`: the exit status. */
int train_list_keys(int json);

#endif
