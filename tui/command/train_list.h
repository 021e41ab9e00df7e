/* `papertape train list`. */
#ifndef TUI_COMMAND_TRAIN_LIST_H
#define TUI_COMMAND_TRAIN_LIST_H

#include "tui/command/stored.h"

int train_list(const char *state, enum stored_form form);

#endif
