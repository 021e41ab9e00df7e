/* `papertape-trainer sample --storage URL --study NAME [OPTION]...`: what a sampler would try next in a
 * stored study, as JSON lines. Writes nothing. */
#ifndef TRAINER_COMMAND_SAMPLE_H
#define TRAINER_COMMAND_SAMPLE_H

/* argv[0] is the verb. An exit status: 0 done, 1 an error, 2 a wrong command line. */
int trainer_command_sample(int argc, char **argv);

#endif
