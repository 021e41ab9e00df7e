/* The dashboard in lines, for screen readers and pipes: nothing is drawn, and nothing is said twice. A line
 * of the input is a part ("prices"), an item's page ("order:7"), or what the command line takes. What happens
 * is said as it comes. */
#ifndef TUI_PLAIN_H
#define TUI_PLAIN_H

#include "tui/dashboard.h"
#include "tui/history.h"

/* How many lines at the front of the log are newer than those of said_ns, of which `said` are known.
 * *ret_more: there may be older ones of them, which this window of the log no longer has. */
int tui_plain_fresh(const struct history *history, int64_t said_ns, int said, bool *ret_more);

/* Runs until "quit", the end of the input (once what was asked is answered) or a signal, which has its usual
 * effect. Returns an exit status. */
int tui_plain_run(const struct dashboard_options *options);

#endif
