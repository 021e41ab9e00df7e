#include "exchange/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_MAX = 1 << 26, TRIES = 100, DIGITS = 8 };

int whole_file_write(int fd, const void *bytes, size_t n)
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
    unsigned own = (unsigned)getpid();
    ret->path = path;
    ret->fd = -1;
    for (int i = 0; i < TRIES; i++) {
        if (getrandom(&own, sizeof own, GRND_NONBLOCK) != sizeof own)
            own++;
        if (snprintf(ret->beside, sizeof ret->beside, "%s%s.%0*x", path, ending, DIGITS, own) >=
            (int)sizeof ret->beside)
            return -ENAMETOOLONG;
        ret->fd = open(ret->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (ret->fd >= 0 || errno != EEXIST)
            break;
    }
    return ret->fd < 0 ? -errno : 0;
}

bool whole_file_is_rest(const char *rest, const char *ending)
{
    size_t n = strlen(ending);
    return strncmp(rest, ending, n) == 0 && rest[n] == '.' && strlen(rest + n + 1) == DIGITS &&
           strspn(rest + n + 1, "0123456789abcdef") == DIGITS;
}

int whole_file_put(const struct whole_file *file, const void *bytes, size_t n)
{
    return whole_file_write(file->fd, bytes, n);
}

int whole_file_sync_folder(const char *path)
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
    return whole_file_sync_folder(file->path);
}

static const char *kind_of(mode_t mode)
{
    return S_ISFIFO(mode)                   ? "is a FIFO"
           : S_ISSOCK(mode)                 ? "is a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "is a device"
                                            : strerror(EISDIR);
}

FILE *whole_file_stream(const char *path, const char **ret_why)
{
    struct stat info;
    FILE *file = NULL;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        *ret_why = kind_of(info.st_mode);
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    } else if (fd < 0 || !(file = fdopen(fd, "r"))) {
        *ret_why = errno == ENXIO ? "is a socket" : strerror(errno);
    }
    int error = errno;
    if (fd >= 0 && !file)
        close(fd);
    errno = error;
    return file;
}

static int read_all(int fd, char *bytes, size_t n, size_t *ret_n)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = read(fd, bytes + have, n - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    bytes[have] = '\0';
    *ret_n = have;
    return 0;
}

int whole_file_read(const char *path, size_t most, char **ret, size_t *ret_n)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &info) < 0 ? -errno : !S_ISREG(info.st_mode) ? -EINVAL : 0;
    if (r == 0 && (uintmax_t)info.st_size > most)
        r = -EFBIG;
    char *bytes = r == 0 ? malloc((size_t)info.st_size + 1) : NULL;
    if (r == 0)
        r = bytes ? read_all(fd, bytes, (size_t)info.st_size, ret_n) : -ENOMEM;
    close(fd);
    if (r == 0)
        *ret = bytes;
    else
        free(bytes);
    return r;
}
