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

/* Waits until no other process is between gpu_share_enter() and gpu_share_took(). -ETIMEDOUT as above. */
int gpu_share_settle(struct gpu_share *share);

/* Of one process, or the sum of several. */
struct gpu_share_entry {
    size_t bytes;  /* that it holds once it has all */
    size_t coming; /* of these, not allocated yet; still counted for a moment after they are */
};

/* What others have entered. Unlocked it is what was so a moment before. */
int gpu_share_others(struct gpu_share *share, struct gpu_share_entry *ret);

/* In place of what it had entered. -ENOSPC: the table is full, or the disk. */
int gpu_share_enter(struct gpu_share *share, const struct gpu_share_entry *entry);

/* The next two locked or not. Of what it entered `coming` bytes are not allocated yet. */
void gpu_share_took(struct gpu_share *share, size_t coming);
/* It holds nothing of what it entered, and will not. */
void gpu_share_leave(struct gpu_share *share);

#endif
