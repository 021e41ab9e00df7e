/* A training's configuration file as text: what is wrong with it, and the names that are the co-process' to
 * give. */
#ifndef TRAINER_SERVE_CONFIGURATION_H
#define TRAINER_SERVE_CONFIGURATION_H

#include <jansson.h>

#include "trainer/config.h"

/* All that is wrong, in order, as [{"line","section","key","message"}]; line 0 and "" where it is of none. An
 * empty array: nothing. NULL without memory. */
json_t *serve_configuration_errors(const char *text);

/* The text with `name` and `output` in its [training] instead of those that it has. For free(); NULL with a
 * sentence. `text` has no errors. */
char *serve_configuration_complete(const char *text, const char *name, const char *output,
                                   char err[static CONFIG_ERROR_MAX]);

#endif
