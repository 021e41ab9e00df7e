/* `plan` of a study: whether its rows suffice, and what it will take. */
#ifndef TRAINER_COMMAND_PLAN_STUDY_H
#define TRAINER_COMMAND_PLAN_STUDY_H

#include "record/option.h"
#include "trainer/study/settings.h"

/* Prints the plan of the study, as text or with --json as papertape.study-plan/1 (docs/studies.md). The
 * median of every range that is searched is measured as `plan` measures a training, unless `rows_only`. An
 * exit status; what cannot be planned, or has too few rows, is a line on stderr. `settings`: validation =
 * auto is decided. */
int trainer_plan_study(const struct option_call *call, bool rows_only, const struct train_config *config,
                       struct study_settings *settings);

#endif
