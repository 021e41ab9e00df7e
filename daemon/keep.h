/* What may be removed under a running daemon, and is put back. */
#ifndef DAEMON_KEEP_H
#define DAEMON_KEEP_H

#include "daemon/daemon.h"

/* Once a second: the files of the control socket, without which no command comes, of the lock, without which
 * a second daemon could start on the same state, and of the event log, which begins again where it is gone.
 * Says what was removed, and why something cannot be put back, once. Ends the daemon where another one has
 * the lock. */
void daemon_keep_files(struct daemon *daemon);

#endif
