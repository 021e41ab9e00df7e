#include "exchange/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_FILE_MODE = 0600 };

int lock_file_open(int dir, const char *name)
{
    struct stat st;
    int fd =
        openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, LOCK_FILE_MODE);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid() &&
        (st.st_mode & 07777) != LOCK_FILE_MODE && fchmod(fd, LOCK_FILE_MODE) < 0) {
        int r = -errno;
        close(fd);
        return r;
    }
    return fd;
}

int lock_file_take(int dir, const char *name)
{
    int fd = lock_file_open(dir, name), r;
    if (fd < 0)
        return fd;
    do
        r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
    while (r == -EINTR);
    if (r == 0)
        return fd;
    close(fd);
    return r == -EWOULDBLOCK ? -EBUSY : r;
}
