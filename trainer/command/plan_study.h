/* `plan` of a study: whether its rows suffice, and what it will take. */
#ifndef TRAINER_COMMAND_PLAN_STUDY_H
#define TRAINER_COMMAND_PLAN_STUDY_H

#include "record/option.h"
#include "trainer/command/train_args.h"
#include "trainer/study/settings.h"

/* Prints the plan of the study, as text or with --json as papertape.study-plan/1 (docs/studies.md). A trial
 * of the median of every range that is searched is measured (trainer/study/cost.h), unless args->rows. An
 * exit status; what cannot be planned, or has too few rows, is a line on stderr. `settings`: validation =
 * auto is decided. */
int trainer_plan_study(const struct option_call *call, const struct train_args *args,
                       const struct train_config *config, struct study_settings *settings);

#endif
