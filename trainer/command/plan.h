/* What plans of trainings and of studies share. */
#ifndef TRAINER_COMMAND_PLAN_H
#define TRAINER_COMMAND_PLAN_H

void trainer_plan_print_time(double seconds); /* "12.0 s", "3.5 min", "4.1 h", without a newline */

#endif
