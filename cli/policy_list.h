/* `papertape policy list`, and what `policy show` prints of one. */
#ifndef CLI_POLICY_LIST_H
#define CLI_POLICY_LIST_H

#include "cli/stored.h"

int cli_policy_list(const char *state, enum stored_form form);

#endif
