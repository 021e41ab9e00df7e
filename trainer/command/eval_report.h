/* The page of `papertape-trainer eval --report`. */
#ifndef TRAINER_COMMAND_EVAL_REPORT_H
#define TRAINER_COMMAND_EVAL_REPORT_H

#include "trainer/command/eval_args.h"
#include "trainer/report/evaluation.h"

/* Writes it to args->report, whole or not at all. 0; -ENOMEM; errors of writing. */
int trainer_eval_report(const struct eval_args *args, const struct eval_market *market,
                        const struct training_episode *episode, const struct trainer_trace *trace,
                        const struct verdict *verdict);

#endif
