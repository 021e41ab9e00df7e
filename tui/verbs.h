/* The program papertape: its verbs, and the dashboard without one. */
#ifndef TUI_VERBS_H
#define TUI_VERBS_H

#include "record/option.h"

extern const struct option_program tui_papertape;
extern const struct option_verb tui_dashboard;

#endif
