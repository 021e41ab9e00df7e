#include "exchange/journal/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/past_cache.h"

static int result(int r)
{
    return r < 0 ? -errno : r;
}

static int system_open(void *ctx, int dir, const char *name, int flags)
{
    (void)ctx;
    if (flags & O_CREAT) /* nothing is written through a link */
        flags |= O_NOFOLLOW;
    return result(openat(dir, name, flags | O_CLOEXEC, 0640));
}

static ssize_t system_read(void *ctx, int fd, void *bytes, size_t len, int64_t at)
{
    (void)ctx;
    ssize_t n = pread(fd, bytes, len, at);
    return n < 0 ? -errno : n;
}

static ssize_t system_write(void *ctx, int fd, const void *bytes, size_t len, int64_t at)
{
    (void)ctx;
    ssize_t n = pwrite(fd, bytes, len, at);
    return n < 0 ? -errno : n;
}

static int system_sync(void *ctx, int fd)
{
    (void)ctx;
    return result(fdatasync(fd));
}

static int system_cut(void *ctx, int fd, int64_t size)
{
    (void)ctx;
    return result(ftruncate(fd, size));
}

static int system_rename(void *ctx, int dir, const char *from, const char *to)
{
    (void)ctx;
    return result(renameat(dir, from, dir, to));
}

static int system_remove(void *ctx, int dir, const char *name)
{
    (void)ctx;
    return result(unlinkat(dir, name, 0));
}

static int system_same(void *ctx, int dir, const char *name, int64_t from, int64_t to)
{
    (void)ctx;
    return past_cache_same(dir, name, from, to, NULL);
}

static int system_settle(void *ctx, int dir)
{
    (void)ctx;
    return past_cache_settle(dir);
}

const struct journal_files journal_files_system = {
    .open = system_open,
    .read = system_read,
    .write = system_write,
    .sync = system_sync,
    .cut = system_cut,
    .rename = system_rename,
    .remove = system_remove,
    .same = system_same,
    .settle = system_settle,
};

ssize_t journal_files_read(const struct journal_files *files, int fd, void *bytes, size_t len, int64_t at)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = files->read(files->ctx, fd, (uint8_t *)bytes + done, len - done, at + (int64_t)done);
        if (n == -EINTR)
            continue;
        if (n < 0)
            return n;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int journal_files_write(const struct journal_files *files, int fd, const void *bytes, size_t len, int64_t at)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n =
            files->write(files->ctx, fd, (const uint8_t *)bytes + done, len - done, at + (int64_t)done);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? (int)n : -EIO;
        done += (size_t)n;
    }
    return 0;
}

int64_t journal_files_size(int fd)
{
    struct stat st;
    return fstat(fd, &st) < 0 ? -errno : st.st_size;
}
