/* How the processes of a user share a device's memory. What is free there says nothing of what another
 * process has just found room for and will allocate, so that two would both take the last of it. Each device
 * has a file in which a process enters what it will allocate, under a lock, and corrects the entry as the
 * device takes it. Locks and entries are those of an open file: they end with the process, however it ends,
 * and a file that is left is only an empty table.
 *
 * The files (0600) are in papertape/ of $XDG_RUNTIME_DIR, else of /run/user/UID, else in /tmp/papertape-UID,
 * a folder (0700) that must be the user's own. Processes of other users are not seen here, only what they
 * hold already, which the device counts.
 *
 * Calls return 0 or -errno. A share is one thread's at a time, and not to be used after a fork. */
#ifndef INDICATORS_GPU_SHARE_H
#define INDICATORS_GPU_SHARE_H

#include <stddef.h>

enum { GPU_SHARE_WAIT_MS = 30000 }; /* for a process that hangs with the lock */

struct gpu_share;

/* The file of the device `id` (letters, digits, - . :), made where it is missing. With a sentence: -EACCES,
 * -ENOSPC, … : no folder can have it. */
int gpu_share_open(const char *id, struct gpu_share **ret, char *reason, size_t cap);
/* Its entry ends. NULL is fine. */
void gpu_share_close(struct gpu_share *share);

/* Until it is unlocked no other process enters anything. -ETIMEDOUT after GPU_SHARE_WAIT_MS. */
int gpu_share_lock(struct gpu_share *share);
void gpu_share_unlock(struct gpu_share *share);

/* The rest while it is locked. */

/* Waits until no other process is between gpu_share_enter() and gpu_share_took(): what the device counts and
 * what gpu_share_coming() returns then have no byte in common. -ETIMEDOUT as above. */
int gpu_share_settle(struct gpu_share *share);

/* The sum of what others have entered and the device has not given them yet; too much while others allocate
 * (see gpu_share_settle()), never too little. Unlocked it is what was so a moment before. */
int gpu_share_coming(struct gpu_share *share, size_t *ret);

/* Enters `bytes`, in place of what it had entered. -ENOSPC: the table is full, or the disk. */
int gpu_share_enter(struct gpu_share *share, size_t bytes);

/* Locked or not: of what it entered `coming` bytes are not allocated yet (0: all of it is, or it never will
 * be). */
void gpu_share_took(struct gpu_share *share, size_t coming);

#endif
