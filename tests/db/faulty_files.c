/* The event log's side of the faulty disk. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/db/faulty_internal.h"

enum { FDS = 1024 };

static struct medium *opened[FDS]; /* by the descriptor that the table gave last */

static int error_of(enum faulty_fate fate)
{
    return fate == FATE_DONE ? 0 : fate == FATE_FULL ? -ENOSPC : -EIO;
}

/* The path of a name in an open folder. */
static const char *path_of(int dir, const char *name, char ret[static PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, ret, PATH_MAX - 1);
    n = n > 0 ? n : 0;
    snprintf(ret + n, (size_t)(PATH_MAX - n), "%s%s", name ? "/" : "", name ? name : "");
    return ret;
}

static int disk_open(void *ctx, int dir, const char *name, int flags)
{
    char path[PATH_MAX];
    (void)ctx;
    if (faulty_lost())
        return -EIO;
    bool made = faccessat(dir, name, F_OK, 0) < 0;
    enum faulty_fate fate = made && (flags & O_CREAT) ? faulty_fate(NULL, FAULTY_NAME) : FATE_DONE;
    int fd = fate == FATE_DONE ? openat(dir, name, flags | O_CLOEXEC, 0640) : -1;
    if (fate != FATE_DONE)
        return error_of(fate);
    if (fd < 0)
        return -errno;
    CHECK(fd < FDS);
    opened[fd] = faulty_open(path_of(dir, name, path), made);
    if (!made && (flags & O_TRUNC))
        faulty_cut(opened[fd], 0);
    return fd;
}

static ssize_t disk_read(void *ctx, int fd, void *bytes, size_t len, int64_t at)
{
    (void)ctx;
    ssize_t n = faulty_lost() ? -1 : pread(fd, bytes, len, at);
    return faulty_lost() ? -EIO : n < 0 ? -errno : n;
}

static ssize_t disk_write(void *ctx, int fd, const void *bytes, size_t len, int64_t at)
{
    struct medium *m = opened[fd];
    (void)ctx;
    enum faulty_fate fate = faulty_fate(m, FAULTY_WRITE);
    size_t done = fate == FATE_DONE ? len : fate == FATE_FULL ? len / 3 : 0;
    ssize_t n = done > 0 ? pwrite(fd, bytes, done, at) : 0;
    faulty_wrote(m, at, bytes, done);
    if (m)
        faulty_traced("write", faulty_path(m), at, bytes, done, error_of(fate));
    return fate == FATE_DONE || (fate == FATE_FULL && done > 0) ? n : error_of(fate);
}

static int disk_sync(void *ctx, int fd)
{
    struct stat st;
    char path[PATH_MAX];
    (void)ctx;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    struct medium *m = folder ? NULL : opened[fd];
    enum faulty_fate fate = faulty_sync(m, true);
    path_of(fd, NULL, path);
    if (folder && fate == FATE_DONE)
        faulty_sync_folder(path);
    faulty_traced("sync", path, 0, NULL, 0, error_of(fate));
    return error_of(fate);
}

static int disk_cut(void *ctx, int fd, int64_t size)
{
    struct medium *m = opened[fd];
    (void)ctx;
    enum faulty_fate fate = faulty_fate(m, FAULTY_CUT);
    if (fate == FATE_DONE)
        faulty_cut(m, size);
    if (m)
        faulty_traced("cut", faulty_path(m), size, NULL, 0, error_of(fate));
    return fate == FATE_DONE && ftruncate(fd, size) < 0 ? -errno : error_of(fate);
}

static int disk_rename(void *ctx, int dir, const char *from, const char *to)
{
    char paths[2][PATH_MAX];
    (void)ctx;
    enum faulty_fate fate = faulty_fate(NULL, FAULTY_NAME);
    faulty_traced("rename", to, 0, from, strlen(from), error_of(fate));
    if (fate != FATE_DONE)
        return error_of(fate);
    faulty_named(path_of(dir, from, paths[0]), path_of(dir, to, paths[1]));
    return renameat(dir, from, dir, to) < 0 ? -errno : 0;
}

static int disk_remove(void *ctx, int dir, const char *name)
{
    char path[PATH_MAX];
    (void)ctx;
    if (!faulty_lost() && faccessat(dir, name, F_OK, 0) < 0)
        return -ENOENT;
    enum faulty_fate fate = faulty_fate(NULL, FAULTY_NAME);
    faulty_traced("remove", name, 0, NULL, 0, error_of(fate));
    if (fate != FATE_DONE)
        return error_of(fate);
    faulty_named(path_of(dir, name, path), NULL);
    return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

static int disk_same(void *ctx, int dir, const char *name, int64_t from, int64_t to)
{
    char path[PATH_MAX];
    (void)ctx;
    if (faulty_lost())
        return -EIO;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct medium *m = faulty_open(path_of(dir, name, path), false);
    unsigned char *shown = malloc((size_t)(to - from) + 1);
    bool whole = pread(fd, shown, (size_t)(to - from), from) == to - from;
    close(fd);
    int same = whole && (!m || faulty_same(m, from, to, shown));
    free(shown);
    return same;
}

static int disk_settle(void *ctx, int dir)
{
    (void)ctx;
    (void)dir;
    return error_of(faulty_sync(NULL, true));
}

const struct journal_files faulty_disk_files = {
    .open = disk_open,
    .read = disk_read,
    .write = disk_write,
    .sync = disk_sync,
    .cut = disk_cut,
    .rename = disk_rename,
    .remove = disk_remove,
    .same = disk_same,
    .settle = disk_settle,
};
