/* The names in a folder, making it, removing it with all that is in it; and where this user's files are. */
#ifndef EXCHANGE_FOLDER_H
#define EXCHANGE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Calls `each` for every name in a folder; one other than 0 ends it and is returned. 0 or -errno. */
int folder_each(const char *path, int (*each)(void *ctx, const char *name), void *ctx);

/* Makes a folder, and those above it; one that is there may be on a read-only file system. 0; -errno, and
 * which one cannot be made. */
int folder_make(const char *path, mode_t mode, char failed[static PATH_MAX]);

/* Makes those above a file. 0 or -errno. */
int folder_make_above(const char *path, mode_t mode);

/* Makes a new one in $TMPDIR, else in /tmp, whose name begins with "papertape-NAME-". 0; -errno, and where it
 * cannot be made. */
int folder_temporary(const char *name, char ret[static PATH_MAX]);

/* Removes a file, or a folder and what is in it; what is behind links stays. 0, also where nothing is;
 * -errno. */
int folder_remove(const char *path);

/* NAME in the folder that an environment variable names, such as $XDG_STATE_HOME; else, where that is not set
 * or relative, in `usual` of $HOME (XDG Base Directory Specification). It is not made. 0; -ENOENT: neither is
 * set; -ENAMETOOLONG. */
int folder_of_user(const char *variable, const char *usual, const char *name, char ret[static PATH_MAX]);

/* A place for what can be made again: `wanted`, where it is not NULL; else NAME in $XDG_CACHE_HOME/papertape,
 * else in ~/.cache/papertape. It is not made. False: there is none, or its path is empty or too long. */
bool folder_cache(const char *name, const char *wanted, char ret[static PATH_MAX]);

#endif
