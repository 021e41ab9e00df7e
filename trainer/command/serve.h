/* papertape-trainer serve: the co-process. */
#ifndef TRAINER_COMMAND_SERVE_H
#define TRAINER_COMMAND_SERVE_H

int trainer_command_serve(int argc, char **argv); /* exit status */

#endif
