/* `papertape-trainer validate`: is a search's best result luck? docs/studies.md has the figures. */
#ifndef TRAINER_COMMAND_VALIDATE_H
#define TRAINER_COMMAND_VALIDATE_H

int trainer_command_validate(int argc, char **argv); /* the exit status */

#endif
