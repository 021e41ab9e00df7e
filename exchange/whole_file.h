/* Writes a file completely or not at all: first beside its name, in a file of the writer's own, which gets
 * the name once it is on the disk; and reads one whole. */
#ifndef EXCHANGE_WHOLE_FILE_H
#define EXCHANGE_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct whole_file {
    int fd;
    const char *path; /* borrowed */
    char beside[PATH_MAX];
};

/* Opens a new file, `path` followed by `ending` and eight digits that no other file has. 0, or -errno:
 * -ENAMETOOLONG too. */
int whole_file_open(const char *path, const char *ending, mode_t mode, struct whole_file *ret);

/* Is `rest` what whole_file_open() appends to a path? A file that a killed writer left has it. */
bool whole_file_is_rest(const char *rest, const char *ending);

/* Writes all of it. 0 or -errno. */
int whole_file_put(const struct whole_file *file, const void *bytes, size_t n);

/* With `r` 0 the file is synced and takes its name, and the folder is synced too; with a negative errno it is
 * removed. Returns r, or -errno of what failed here. The name holds what it held before, unless only syncing
 * the folder failed. */
int whole_file_close(struct whole_file *file, int r);

/* Syncs the folder that holds `path`: its name, a rename, is on the disk then. A process that was killed may
 * have left that out. 0 or -errno. */
int whole_file_sync_folder(const char *path);

/* Reads a file of at most `most` bytes, with a NUL behind them: for free(). 0; -errno of opening and reading,
 * -EINVAL: no regular file (which is not waited for), -EFBIG, -ENOMEM. */
int whole_file_read(const char *path, size_t most, char **ret, size_t *ret_n);

/* Opens a file for reading as a stream: for names given by a user. NULL: errno, and in *ret_why what is
 * wrong with it: EINVAL: no regular file, such as a FIFO, which is not waited for; EISDIR. */
FILE *whole_file_stream(const char *path, const char **ret_why);

/* Writes to any descriptor as whole_file_put() does: continues after signals and short writes. */
int whole_file_write(int fd, const void *bytes, size_t n);

#endif
