/* The command line of papertape-trainer eval. */
#ifndef TRAINER_COMMAND_EVAL_ARGS_H
#define TRAINER_COMMAND_EVAL_ARGS_H

#include "record/option.h"
#include "trainer/command/eval_market.h"
#include "trainer/study/split.h"

struct eval_args {
    const char *policy_path;
    const char *steps, *trades, *report; /* files to be written, or NULL */
    const char *splits;                  /* NULL: none, else `split` is set */
    struct study_split split;
    struct eval_bars bars; /* its paths are those below */
    char **paths;          /* of --bars; their text is in `texts` */
    size_t n_paths;
    char **texts, **sets; /* sets: of --set, with copies */
    size_t n_texts, n_sets;
};

/* EXIT_OK with call->into whole, or an exit status with a line on stderr. */
int trainer_eval_args_check(const struct option_call *call);

/* Plays the policy: the exit status. */
int trainer_eval(struct option_call *call);

#endif
