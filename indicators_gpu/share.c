#include "indicators_gpu/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "exchange/fail.h"

/* Bytes of the file that are locked. Each lock is of the open file (F_OFD_SETLK): the kernel drops it with
 * the last descriptor. */
enum {
    LOCK_TABLE,        /* by who reads or changes the table */
    LOCK_ALLOCATING,   /* shared, by who has entered and not taken yet */
    LOCK_ENTRIES = 16, /* one each: by the process whose entry it is, as long as it is */
};
enum { ENTRIES = 256, FOLDER_MAX = 256, PATH_BYTES = 512 };

/* A wait looks again after 1 ms, then more rarely: F_OFD_SETLKW would wait for a process that hangs in its
 * driver for ever. */
enum { LOOK_FIRST_NS = 1000000, LOOK_LAST_NS = 20000000 };

struct gpu_share {
    int fd, place; /* in the table; -1: it has entered nothing */
    struct gpu_share_entry entry;
};

/* ---- locks ---- */

static int lock_byte(int fd, short type, int at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static bool is_held(int fd, int at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(int fd, int at)
{
    const int64_t end = now_ms() + GPU_SHARE_WAIT_MS;
    struct timespec pause = {.tv_nsec = LOOK_FIRST_NS};
    for (;;) {
        int r = lock_byte(fd, F_WRLCK, at);
        if (r != -EAGAIN && r != -EACCES)
            return r;
        if (now_ms() >= end)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec * 2 < LOOK_LAST_NS ? pause.tv_nsec * 2 : LOOK_LAST_NS;
    }
}

int gpu_share_lock(struct gpu_share *share)
{
    return wait_for(share->fd, LOCK_TABLE);
}

void gpu_share_unlock(struct gpu_share *share)
{
    (void)lock_byte(share->fd, F_UNLCK, LOCK_TABLE);
}

int gpu_share_settle(struct gpu_share *share)
{
    (void)lock_byte(share->fd, F_UNLCK, LOCK_ALLOCATING); /* its own */
    int r = wait_for(share->fd, LOCK_ALLOCATING);
    (void)lock_byte(share->fd, F_UNLCK, LOCK_ALLOCATING);
    return r;
}

/* ---- the table ---- */

/* As the file has it. */
struct table_entry {
    uint64_t bytes, coming;
};

static int write_entry(struct gpu_share *share, const struct gpu_share_entry *entry)
{
    const struct table_entry row = {entry->bytes, entry->coming};
    ssize_t n = pwrite(share->fd, &row, sizeof row, (off_t)share->place * (off_t)sizeof row);
    share->entry = *entry;
    return n == (ssize_t)sizeof row ? 0 : n < 0 ? -errno : -ENOSPC;
}

int gpu_share_others(struct gpu_share *share, struct gpu_share_entry *ret)
{
    struct table_entry table[ENTRIES] = {0}; /* as far as the file is shorter */
    struct gpu_share_entry sum = {0};
    if (pread(share->fd, table, sizeof table, 0) < 0)
        return -errno;
    for (int i = 0; i < ENTRIES; i++) {
        if (table[i].bytes == 0 || i == share->place || !is_held(share->fd, LOCK_ENTRIES + i))
            continue;
        sum.bytes += table[i].bytes;
        sum.coming += table[i].coming;
    }
    *ret = sum;
    return 0;
}

static int take_place(struct gpu_share *share)
{
    for (int i = 0; i < ENTRIES && share->place < 0; i++)
        if (lock_byte(share->fd, F_WRLCK, LOCK_ENTRIES + i) == 0)
            share->place = i;
    return share->place < 0 ? -ENOSPC : 0;
}

/* What the table has there counts no longer. */
static void drop_place(struct gpu_share *share)
{
    if (share->place >= 0)
        (void)lock_byte(share->fd, F_UNLCK, LOCK_ENTRIES + share->place);
    share->place = -1;
}

int gpu_share_enter(struct gpu_share *share, const struct gpu_share_entry *entry)
{
    int r = take_place(share);
    if (r == 0)
        r = write_entry(share, entry);
    if (r == 0)
        r = lock_byte(share->fd, F_RDLCK, LOCK_ALLOCATING);
    if (r < 0)
        drop_place(share);
    return r;
}

void gpu_share_took(struct gpu_share *share, size_t coming)
{
    if (share->place < 0)
        return;
    const struct gpu_share_entry entry = {share->entry.bytes, coming};
    (void)write_entry(share, &entry); /* in place: it needs no room on the disk */
    (void)lock_byte(share->fd, F_UNLCK, LOCK_ALLOCATING);
}

void gpu_share_leave(struct gpu_share *share)
{
    drop_place(share);
    (void)lock_byte(share->fd, F_UNLCK, LOCK_ALLOCATING);
}

/* ---- the file ---- */

/* Makes the folder, or takes one that is there, if it is the user's alone. */
static int take_folder(const char *path)
{
    struct stat is;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    if (lstat(path, &is) < 0)
        return -errno;
    if (!S_ISDIR(is.st_mode))
        return -ENOTDIR;
    return is.st_uid == geteuid() && (is.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int open_in(const char *folder, const char *id)
{
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/device-%s", folder, id) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int r = take_folder(folder);
    if (r < 0)
        return r;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : fd;
}

/* The places, the first one that works; the reason is the last one's. */
static int open_file(const char *id, char folder[static FOLDER_MAX])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const unsigned user = geteuid();
    int fd = -ENOENT;
    if (runtime && runtime[0] == '/' &&
        snprintf(folder, FOLDER_MAX, "%s/papertape", runtime) < (int)FOLDER_MAX)
        fd = open_in(folder, id);
    if (fd < 0) {
        snprintf(folder, FOLDER_MAX, "/run/user/%u/papertape", user);
        fd = open_in(folder, id);
    }
    if (fd < 0) {
        snprintf(folder, FOLDER_MAX, "/tmp/papertape-%u", user);
        fd = open_in(folder, id);
    }
    return fd;
}

static bool is_name(const char *id)
{
    for (const char *at = id; *at; at++)
        if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
              strchr("-.:", *at)))
            return false;
    return id[0] != '\0';
}

int gpu_share_open(const char *id, struct gpu_share **ret, char *reason, size_t cap)
{
    char folder[FOLDER_MAX] = "";
    if (!is_name(id))
        return fail_with(-EINVAL, reason, cap, "no name of a device: %s", id);
    struct gpu_share *share = malloc(sizeof *share);
    if (!share)
        return fail_with(-ENOMEM, reason, cap, "out of memory");
    int fd = open_file(id, folder);
    if (fd < 0) {
        free(share);
        return fail_with(fd, reason, cap, "%s/device-%s: %s: a folder of this user's own would be right",
                         folder, id, strerror(-fd));
    }
    *share = (struct gpu_share){.fd = fd, .place = -1};
    *ret = share;
    return 0;
}

void gpu_share_close(struct gpu_share *share)
{
    if (!share)
        return;
    close(share->fd); /* and its locks are gone */
    free(share);
}
