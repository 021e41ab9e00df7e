/* Files whose lock lets one process at a time do something. Any process that may open a file for reading may
 * hold its lock, shared or exclusive: such a file is its owner's alone. */
#ifndef EXCHANGE_LOCK_FILE_H
#define EXCHANGE_LOCK_FILE_H

/* Opens it for reading and writing, made where it is missing, with mode 0600, also where it had another;
 * links are not followed. `name`: in the folder `dir`, or a path with AT_FDCWD. The descriptor or -errno. */
int lock_file_open(int dir, const char *name);

/* The same, locked by flock() until the last copy of the descriptor is closed. -EBUSY: another process has
 * it. */
int lock_file_take(int dir, const char *name);

#endif
