/* `papertape policy list`, and what `policy show` prints of one. */
#ifndef TUI_COMMAND_POLICY_LIST_H
#define TUI_COMMAND_POLICY_LIST_H

#include "tui/command/stored.h"

int policy_list(const char *state, enum stored_form form);

#endif
