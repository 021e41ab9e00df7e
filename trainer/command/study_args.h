/* The command line of `study`. */
#ifndef TRAINER_COMMAND_STUDY_ARGS_H
#define TRAINER_COMMAND_STUDY_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct study_args {
    const char *name, *config, *storage, *state; /* NULL: not given */
    int trials, workers;                         /* -1: as the configuration says */
    int64_t seed;                                /* likewise */
    bool json, resume;
    int heartbeat_ms; /* 0: none */
    int memory_mib;   /* of all processes; 0: the machine's */
};

/* GO_ON, or the exit status, with what there is to say said. */
int trainer_study_args_parse(int argc, char **argv, struct study_args *ret);

#endif
