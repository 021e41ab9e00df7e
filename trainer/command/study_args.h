/* The command line of `study`. */
#ifndef TRAINER_COMMAND_STUDY_ARGS_H
#define TRAINER_COMMAND_STUDY_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/option.h"

struct study_args {
    const char *name, *config, *storage, *artifacts; /* NULL: not given */
    int64_t trials, workers;                         /* -1: as the configuration says */
    int64_t seed;                                    /* likewise */
    bool resume, no_proposal, create;
    int64_t stopped_status;
    int64_t heartbeat_ms; /* 0: none */
    int64_t memory_mib;   /* of all processes; 0: the machine's */
};

/* EXIT_OK with call->into whole, or EXIT_USAGE with a line on stderr. */
int trainer_study_args_check(const struct option_call *call);

/* Runs the study: the exit status. */
int trainer_study(struct option_call *call);

#endif
