/* The dashboard in lines, for screen readers and pipes: nothing is drawn, and nothing is said twice. A line
 * of the input is a part ("prices"), an item's page ("order:7"), or what the command line takes. What happens
 * is said as it comes. */
#ifndef TUI_PLAIN_H
#define TUI_PLAIN_H

#include "tui/dashboard.h"

/* Runs until "quit", the end of the input (once what was asked is answered) or a signal, which has its usual
 * effect. Returns an exit status. */
int tui_plain_run(const struct dashboard_options *options);

#endif
