/* The verbs that show what the dashboard's model has, and the dashboard itself. */
#ifndef TUI_VERB_VERBS_H
#define TUI_VERB_VERBS_H

#include "record/option.h"

extern const struct option_verb tui_alerts, tui_dashboard, tui_status, tui_study;

#endif
