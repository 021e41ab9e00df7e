#include "exchange/past_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ALIGNED = 4096, /* more than any disk's logical block */
    WINDOW = 1 << 20,
};

/* A file read twice: as the page cache shows it, and as the disk has it. */
struct pair {
    int cached, disk;
    bool direct;   /* else: dropped from the cache before it is read */
    size_t window; /* what is read at once */
    uint8_t *shown, *held;
};

/* `size`: of what is to be read. */
static int pair_open(struct pair *pair, int dir, const char *name, int64_t size)
{
    *pair = (struct pair){.cached = -1, .disk = -1, .direct = true};
    pair->window = size < WINDOW ? (size_t)(size + ALIGNED - 1) / ALIGNED * ALIGNED : WINDOW;
    if (posix_memalign((void **)&pair->shown, ALIGNED, pair->window) != 0)
        pair->shown = NULL;
    if (posix_memalign((void **)&pair->held, ALIGNED, pair->window) != 0)
        pair->held = NULL;
    if (!pair->shown || !pair->held)
        return -ENOMEM;
    pair->cached = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (pair->cached < 0)
        return -errno;
    pair->disk = openat(dir, name, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOFOLLOW);
    if (pair->disk < 0 && errno == EINVAL) {
        pair->direct = false;
        pair->disk = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (pair->disk < 0)
        return -errno;
    return pair->direct || fdatasync(pair->disk) == 0 ? 0 : -errno;
}

static void pair_close(struct pair *pair)
{
    if (pair->cached >= 0)
        close(pair->cached);
    if (pair->disk >= 0)
        close(pair->disk);
    free(pair->shown);
    free(pair->held);
}

/* Up to a window of bytes, fewer at the end. Their number or -errno. */
static ssize_t read_window(int fd, uint8_t *bytes, size_t window, int64_t at)
{
    ssize_t done = 0;
    while (done < (ssize_t)window) {
        ssize_t n = pread(fd, bytes + done, window - (size_t)done, at + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += n;
        if (n == 0 || done % ALIGNED != 0)
            break;
    }
    return done;
}

/* Both readings of the window at `at`. The bytes there are, or -errno; -EILSEQ: one is shorter than the
 * other. */
static ssize_t pair_read(struct pair *pair, int64_t at)
{
    ssize_t shown = read_window(pair->cached, pair->shown, pair->window, at);
    if (shown < 0)
        return shown;
    if (!pair->direct)
        posix_fadvise(pair->disk, at, (off_t)pair->window, POSIX_FADV_DONTNEED);
    ssize_t held = read_window(pair->disk, pair->held, pair->window, at);
    if (held == -EINVAL && pair->direct) { /* it takes the flag, and refuses the reading */
        pair->direct = false;
        if (fcntl(pair->disk, F_SETFL, 0) < 0 || fdatasync(pair->disk) < 0)
            return -errno;
        return pair_read(pair, at);
    }
    if (held < 0)
        return held;
    return held == shown ? held : -EILSEQ;
}

/* The first block that differs between `from` and `to`; below 0: none. */
static int64_t difference(const struct pair *pair, int64_t at, ssize_t n, int64_t from, int64_t to)
{
    for (ssize_t i = 0; i < n; i += ALIGNED) {
        int64_t begin = at + i > from ? at + i : from, end = at + i + ALIGNED;
        end = end < at + n ? end : at + n;
        end = end < to ? end : to;
        if (begin < end &&
            memcmp(pair->shown + (begin - at), pair->held + (begin - at), (size_t)(end - begin)) != 0)
            return at + i;
    }
    return -1;
}

int past_cache_same(int dir, const char *name, int64_t from, int64_t to, int64_t *ret_at)
{
    struct pair pair;
    int64_t differs = -1, begin = from - from % ALIGNED;
    int r = pair_open(&pair, dir, name, to > begin ? to - begin : 1);
    for (int64_t at = begin; r == 0 && differs < 0 && at < to; at += (int64_t)pair.window) {
        ssize_t n = pair_read(&pair, at);
        if (n == -EILSEQ)
            differs = at;
        else if (n < 0)
            r = (int)n;
        else
            differs = difference(&pair, at, n, from, to);
        if (n < (ssize_t)pair.window)
            break;
    }
    pair_close(&pair);
    if (r < 0)
        return r;
    if (differs >= 0 && ret_at)
        *ret_at = differs;
    return differs < 0;
}

/* The pages of a block whose writing failed remember where it is on the disk, and ext4 writes them there
 * again without noting that the block has data now: it reads as zeros for good. So a block is written past
 * the cache, or through pages that are new. */
static int write_again(const struct pair *pair, int fd, int fd_direct, int64_t at, int64_t window, ssize_t n)
{
    int64_t end = at + ALIGNED < window + n ? at + ALIGNED : window + n;
    bool direct = fd_direct >= 0 && end == at + ALIGNED;
    if (!direct)
        posix_fadvise(fd, window, WINDOW, POSIX_FADV_DONTNEED);
    while (at < end) {
        ssize_t done = pwrite(direct ? fd_direct : fd, pair->shown + (at - window), (size_t)(end - at), at);
        if (done < 0 && errno == EINVAL && direct) {
            direct = false;
            posix_fadvise(fd, window, WINDOW, POSIX_FADV_DONTNEED);
        } else if (done < 0 && errno != EINTR) {
            return -errno;
        }
        at += done > 0 ? done : 0;
    }
    return 0;
}

static int repair_file(struct pair *pair, int fd, int fd_direct, int64_t to)
{
    int r = 0;
    for (int64_t at = 0; r == 0 && at < to; at += WINDOW) {
        ssize_t n = pair_read(pair, at);
        if (n < 0)
            return (int)n;
        for (int64_t from = at, differs; r == 0 && (differs = difference(pair, at, n, from, to)) >= 0;
             from = differs + ALIGNED)
            r = write_again(pair, fd, fd_direct, differs, at, n);
        if (n < WINDOW)
            break;
    }
    return r == 0 && fsync(fd) < 0 ? -errno : r;
}

int past_cache_repair(int dir, const char *name, int64_t to)
{
    struct pair pair;
    int fd = -1, fd_direct = -1, r = pair_open(&pair, dir, name, INT64_MAX);
    if (r == 0) {
        fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        r = fd < 0 ? -errno : 0;
    }
    if (r == 0 && pair.direct)
        fd_direct = openat(dir, name, O_WRONLY | O_DIRECT | O_CLOEXEC | O_NOFOLLOW);
    if (r == 0)
        r = repair_file(&pair, fd, fd_direct, to);
    if (fd >= 0)
        close(fd);
    if (fd_direct >= 0)
        close(fd_direct);
    pair_close(&pair);
    if (r == -EILSEQ)
        return 0;
    return r < 0 ? r : past_cache_same(dir, name, 0, to, NULL);
}

/* Writes a file and takes it away again. */
static int touch(int dir)
{
    static const char name[] = "settling";
    uint8_t bytes[ALIGNED] = {0};
    int r = 0, fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    errno = 0;
    if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes || fsync(fd) < 0)
        r = errno ? -errno : -EIO;
    close(fd);
    if (unlinkat(dir, name, 0) < 0 && r == 0)
        r = -errno;
    return r == 0 && fsync(dir) < 0 ? -errno : r;
}

int past_cache_settle(int dir)
{
    int r = touch(dir);
    if (r == 0 && syncfs(dir) == 0)
        return 0;
    if (r == 0) /* of what failed before: is it written now? */
        r = touch(dir);
    return r == 0 && syncfs(dir) < 0 ? -errno : r;
}
