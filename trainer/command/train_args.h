/* The command lines of `train` and `plan`. */
#ifndef TRAINER_COMMAND_TRAIN_ARGS_H
#define TRAINER_COMMAND_TRAIN_ARGS_H

#include <stdbool.h>

#include "record/option.h"
#include "trainer/config.h"

struct train_args {
    const char *config, *resume, *output; /* NULL: not given; resume: a file, or "latest" */
    const char *report;                   /* the page's file, or NULL */
    bool overwrite, changed, check, list_keys, print_config;
    int64_t seeds;                         /* 0: one, the configuration's */
    bool rows;                             /* of plan, as those after it */
    uint64_t device_memory;                /* bytes of each of `devices` that need not be here; 0: none */
    int64_t devices;                       /* 0: one */
    int64_t report_every_ms, heartbeat_ms; /* 0: every update; none */
};

/* EXIT_OK, or EXIT_USAGE with a line on stderr. */
int train_args_check(const struct option_call *call);

/* Reads --config; applies the command line's values, threads as a number, and an output folder. GO_ON; or the
 * exit status, with a sentence that is not printed yet. */
int train_args_config(const struct train_args *args, struct train_config *ret,
                      char err[static CONFIG_ERROR_MAX]);

#endif
