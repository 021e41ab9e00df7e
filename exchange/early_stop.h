/* A request to stop that comes before the event loop handles signals: a long start checks it between its
 * steps and ends as a stop does, instead of by the signal. */
#ifndef EXCHANGE_EARLY_STOP_H
#define EXCHANGE_EARLY_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Catches SIGTERM, SIGINT and SIGHUP from now on: call first in main(). Code that handles them later, as a
 * loop does, calls early_stop_asked() once more after that, and misses none. */
void early_stop_catch(void);

/* They end the process again: for what is short, or waits for a person. */
void early_stop_release(void);

bool early_stop_asked(void);
const atomic_bool *early_stop_flag(void); /* the same, for code that takes a flag */

#endif
