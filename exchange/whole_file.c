#include "exchange/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WRITE_MAX = 1 << 26 };

int write_whole(int fd, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0) {
        ssize_t done = write(fd, from, n < WRITE_MAX ? n : WRITE_MAX);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        from += done;
        n -= (size_t)done;
    }
    return 0;
}

int whole_file_open(const char *path, const char *ending, mode_t mode, struct whole_file *ret)
{
    ret->path = path;
    if (snprintf(ret->beside, sizeof ret->beside, "%s%s", path, ending) >= (int)sizeof ret->beside)
        return -ENAMETOOLONG;
    ret->fd = open(ret->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    return ret->fd < 0 ? -errno : 0;
}

int whole_file_put(const struct whole_file *file, const void *bytes, size_t n)
{
    return write_whole(file->fd, bytes, n);
}

/* A rename is on the disk once its folder is. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r;
}

int whole_file_close(struct whole_file *file, int r)
{
    if (r == 0 && fsync(file->fd) < 0)
        r = -errno;
    if (close(file->fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(file->beside, file->path) < 0)
        r = -errno;
    if (r < 0) {
        unlink(file->beside);
        return r;
    }
    return sync_folder(file->path);
}
