/* `papertape-trainer study`. */
#ifndef TRAINER_COMMAND_STUDY_H
#define TRAINER_COMMAND_STUDY_H

int trainer_command_study(int argc, char **argv); /* exit status */

#endif
