/* `papertape train list`. */
#ifndef CLI_TRAIN_LIST_H
#define CLI_TRAIN_LIST_H

#include "cli/stored.h"

int cli_train_list(const char *state, enum stored_form form);

#endif
