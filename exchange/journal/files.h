/* Internal to the journal: its calls to the file system, in one table, so that a test can let any call
 * fail, write short, or count what is read. */
#ifndef EXCHANGE_JOURNAL_FILES_H
#define EXCHANGE_JOURNAL_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "exchange/journal/journal.h"

/* Each returns -errno where it fails. */
struct journal_files {
    void *ctx;
    int (*open)(void *ctx, int dir, const char *name, int flags); /* a descriptor; new files are 0640 */
    ssize_t (*read)(void *ctx, int fd, void *bytes, size_t len, int64_t at); /* may be short; 0: the end */
    ssize_t (*write)(void *ctx, int fd, const void *bytes, size_t len, int64_t at); /* may be short */
    int (*sync)(void *ctx, int fd);
    int (*cut)(void *ctx, int fd, int64_t size);
    int (*rename)(void *ctx, int dir, const char *from, const char *to);
    int (*remove)(void *ctx, int dir, const char *name);
    /* Does the disk itself, without the page cache, have what a read returns of the file between these
     * bytes? 1, 0 or -errno. NULL: it always does. */
    int (*same)(void *ctx, int dir, const char *name, int64_t from, int64_t to);
    /* Has the file system written all there is, its own tables too, since the directory was opened, or since
     * the last call? 0 or -errno. NULL: it has. */
    int (*settle)(void *ctx, int dir);
};

extern const struct journal_files journal_files_system;

/* Whole reads and writes, over signals and short ones. read: bytes, fewer at the end of the file, or -errno;
 * write: 0 or -errno. */
ssize_t journal_files_read(const struct journal_files *files, int fd, void *bytes, size_t len, int64_t at);
int journal_files_write(const struct journal_files *files, int fd, const void *bytes, size_t len, int64_t at);
int64_t journal_files_size(int fd); /* or -errno */

/* As journal_writer_open() and journal_reader_open(), on other files; the table outlives what is opened. */
int journal_writer_open_on(const struct journal_files *files, const struct journal_writer_config *config,
                           struct journal_writer **ret, struct journal_tail *ret_tail, char *err,
                           size_t err_size);
int journal_reader_open_on(const struct journal_files *files, const char *path, struct journal_reader **ret,
                           char *err, size_t err_size);

#endif
