/* The command line of papertape-trainer eval. */
#ifndef TRAINER_COMMAND_EVAL_ARGS_H
#define TRAINER_COMMAND_EVAL_ARGS_H

#include "trainer/command/eval_market.h"
#include "trainer/study/split.h"

struct eval_args {
    const char *policy_path;
    const char *steps, *trades; /* files to be written, or NULL */
    const char *splits;         /* NULL: none, else `split` is set */
    struct study_split split;
    struct eval_bars bars; /* its paths are those below */
    char **words;          /* that are no option's; all but the policy are bars files */
    size_t n_words;
    char **paths; /* of --bars; their text is in `texts` */
    size_t n_paths;
    char **texts;
    size_t n_texts;
};

/* From a zeroed one, for trainer_eval_args_finish() in any case. GO_ON, or an exit status: --help has
 * printed, or a line on stderr says what is wrong. */
int trainer_eval_args_parse(int argc, char **argv, struct eval_args *args);
void trainer_eval_args_finish(struct eval_args *args);

#endif
