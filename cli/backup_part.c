#include "cli/backup_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/folder.h"

enum { FOLDER_MODE = 0750, PART_MODE = 0700, FILE_MODE = 0640 };

/* Locks a folder that is still at its path. The descriptor; -EBUSY, -errno. */
static int lock_folder(const char *path)
{
    struct stat open_one, there;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? (errno == EWOULDBLOCK ? -EBUSY : -errno) : 0;
    if (r == 0 && (fstat(fd, &open_one) < 0 || lstat(path, &there) < 0 || open_one.st_ino != there.st_ino))
        r = -EBUSY;
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

/* What a killed process left. */
static int remove_left(void *ctx, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", (const char *)ctx, name) < (int)sizeof path
               ? folder_remove(path)
               : -ENAMETOOLONG;
}

/* A set-gid folder stays one, where the unit's system-call filter lets it. */
static int set_mode(int folder, mode_t mode)
{
    struct stat st;
    if (fstat(folder, &st) < 0)
        return -errno;
    if (fchmod(folder, (st.st_mode & 07000) | mode) == 0 || (errno == EPERM && fchmod(folder, mode) == 0))
        return 0;
    return -errno;
}

int cli_backup_part_show(int folder)
{
    mode_t mask = umask(077);
    umask(mask);
    return set_mode(folder, FOLDER_MODE & ~mask);
}

int cli_backup_part_open(const char *part, char *err, size_t err_size)
{
    if (mkdir(part, PART_MODE) < 0 && errno != EEXIST)
        return fail_with(-errno, err, err_size, "%s: %s", part, strerror(errno));
    int fd = lock_folder(part);
    if (fd == -EBUSY)
        return fail_with(fd, err, err_size, "%s: another process writes it", part);
    if (fd < 0)
        return fail_with(fd, err, err_size, "%s: %s", part, strerror(-fd));
    int r = set_mode(fd, PART_MODE); /* an older version's had another */
    if (r == 0)
        r = folder_each(part, remove_left, (void *)(uintptr_t)part);
    if (r < 0)
        close(fd);
    return r < 0 ? fail_with(r, err, err_size, "%s: %s", part, strerror(-r)) : fd;
}

int cli_backup_part_file(int folder, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(folder, path, FOLDER_MODE) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    int fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

bool cli_backup_part_is_left(const char *part)
{
    int fd = lock_folder(part);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

struct looking {
    const char *but;
    char *first;
};

static int note_name(void *ctx, const char *name)
{
    const struct looking *looking = ctx;
    if (looking->but && strcmp(name, looking->but) == 0)
        return 0;
    snprintf(looking->first, NAME_MAX + 1, "%s", name);
    return -ENOTEMPTY;
}

int cli_backup_part_is_empty(const char *folder, const char *but, char first[static NAME_MAX + 1])
{
    return folder_each(folder, note_name, &(struct looking){but, first});
}
