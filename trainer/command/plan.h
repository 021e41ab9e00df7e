/* What plans of trainings and of studies share. docs/training.md has every key of their JSON. */
#ifndef TRAINER_COMMAND_PLAN_H
#define TRAINER_COMMAND_PLAN_H

#include <jansson.h>

#include "trainer/config.h"
#include "trainer/training/plan.h"

/* A new object without a schema, or NULL without memory; times that were not measured are null. */
json_t *trainer_plan_json(const struct plan *plan, const struct train_config *config);
json_t *trainer_plan_size_json(size_t bytes);     /* null of 0 */
json_t *trainer_plan_text_json(const char *text); /* null of "" */
/* `of` a device's bytes: learner_bytes and so on; null where there are none. */
json_t *trainer_plan_bytes_json(const struct learner_bytes *of);
json_t *trainer_plan_fits_json(enum plan_fit fit); /* true, false, null */
json_t *trainer_plan_device_time_json(const struct device_time *time);

void trainer_plan_print_time(double seconds); /* "12.0 s", "3.5 min", "4.1 h", without a newline */
void trainer_plan_print_size(size_t bytes);   /* "12.0 MiB", "9830 MiB": the unit of errors */
/* "64 copies fit in 1.0 GiB:" and a line of its parts, of the `wanted` copies, without a newline at the end.
 */
void trainer_plan_print_fit(const struct plan *plan, int wanted);
/* Lines: the range of seconds on a device that is not here, and what it assumes; without one nothing. */
void trainer_plan_print_device_time(const struct device_time *time);

#endif
