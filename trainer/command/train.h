/* `papertape-trainer train` and `plan`. */
#ifndef TRAINER_COMMAND_TRAIN_H
#define TRAINER_COMMAND_TRAIN_H

#include <stdbool.h>

#include "record/option.h"

int trainer_train(struct option_call *call);
int trainer_plan(struct option_call *call);

/* `train --list-keys [--json]`: the exit status. */
int train_list_keys(int json);

/* A configuration's text, for free(); NULL with a sentence. */
enum { TRAIN_TEXT_ERROR_MAX = 4096 + 256 };
char *train_read_text(const char *path, char err[static TRAIN_TEXT_ERROR_MAX]);

/* Prints all errors of a configuration, a line each on stderr, in order of lines. Returns how many;
 * -ENOMEM. */
int train_print_errors(const char *path, const char *text);
/* The same except the first, for a file whose first error is printed. */
void train_print_other_errors(const char *path);

/* `train --check --config PATH [--json]`: the exit status, 1 where the configuration has errors. */
int train_check(const char *path, bool json);

#endif
