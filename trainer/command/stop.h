/* How a training or a study is asked to end: SIGINT and SIGTERM. */
#ifndef TRAINER_COMMAND_STOP_H
#define TRAINER_COMMAND_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

/* From now on the first signal ends it in order, see trainer_stop_asked(), the second at once, whichever of
 * the two it is. A full disk and a reader that is gone are errors, not signals. */
void trainer_stop_on_signals(void);
bool trainer_stop_asked(void);
const atomic_bool *trainer_stop_flag(void); /* that, for others to look at */

#endif
