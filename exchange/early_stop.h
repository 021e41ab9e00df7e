/* A request to end that comes before the event loop takes signals: a long start looks at it between its steps
 * and ends as a stop does, instead of by the signal. */
#ifndef EXCHANGE_EARLY_STOP_H
#define EXCHANGE_EARLY_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Catches SIGTERM, SIGINT and SIGHUP from now on: what is first in main(). Who handles them later, as a loop
 * does, asks early_stop_asked() once more after that, and misses none. */
void early_stop_catch(void);

/* They end the process again: of what is short, or waits for a person. */
void early_stop_release(void);

bool early_stop_asked(void);
const atomic_bool *early_stop_flag(void); /* the same, for what takes a flag to look at */

#endif
