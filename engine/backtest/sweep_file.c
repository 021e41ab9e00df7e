#include "engine/backtest/sweep_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "exchange/folder.h"
#include "exchange/whole_file.h"

#define ENDING ".sweep"
enum { NAME_DIGITS = 2 * SWEEP_KEY, CHUNK = 256 };

static const char magic[8] = {'P', 'T', 'S', 'W', 'E', 'E', 'P', '1'};

struct header {
    char magic[8];
    uint8_t key[SWEEP_KEY];
    uint64_t record; /* bytes of one */
    uint64_t sum;
};

struct sweep_record {
    struct sweep_result row;
    uint64_t sum;
};

static uint64_t sum_of(const struct sweep_record *record)
{
    return XXH3_64bits(&record->row, sizeof record->row);
}

__attribute__((format(printf, 2, 3))) static void say(struct sweep_file *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(file->why, sizeof file->why, format, args);
    va_end(args);
}

static struct header header_of(const uint8_t key[static SWEEP_KEY])
{
    struct header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.key, key, SWEEP_KEY);
    header.record = sizeof(struct sweep_record);
    header.sum = XXH3_64bits(&header, offsetof(struct header, sum));
    return header;
}

/* Whole records from the start on, each as it was written: *ret_n; false: one is damaged. */
static bool check(struct sweep_file *file, const struct header *expected, off_t size, size_t *ret_n)
{
    struct header header;
    struct sweep_record *records = malloc(CHUNK * sizeof *records);
    size_t n = ((size_t)size - sizeof header) / sizeof *records, at = 0;
    bool good = records && pread(file->fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                memcmp(&header, expected, sizeof header) == 0;
    while (good && at < n) {
        size_t some = n - at < CHUNK ? n - at : CHUNK;
        off_t from = (off_t)(sizeof header + at * sizeof *records);
        good = pread(file->fd, records, some * sizeof *records, from) == (ssize_t)(some * sizeof *records);
        for (size_t i = 0; good && i < some; i++)
            good = records[i].sum == sum_of(&records[i]);
        at += some;
    }
    free(records);
    *ret_n = n;
    return good;
}

/* Leaves whole records alone behind the header, or the header alone. */
static int settle(struct sweep_file *file, const struct header *header, bool fresh)
{
    struct stat st;
    size_t n = 0;
    if (fstat(file->fd, &st) < 0)
        return -errno;
    bool empty = st.st_size == 0 || fresh;
    if (!empty && (st.st_size < (off_t)sizeof *header || !check(file, header, st.st_size, &n))) {
        say(file, "%.160s was damaged: it is started again", file->path);
        empty = true;
    }
    if (!empty) {
        file->n = n;
        return ftruncate(file->fd, (off_t)(sizeof *header + n * sizeof(struct sweep_record))) < 0 ? -errno
                                                                                                  : 0;
    }
    if (ftruncate(file->fd, 0) < 0)
        return -errno;
    return whole_file_write(file->fd, header, sizeof *header);
}

static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int r = errno == EWOULDBLOCK ? -EBUSY : -errno;
    close(fd);
    return r;
}

void backtest_sweep_file_open(struct sweep_file *file, const char *folder,
                              const uint8_t key[static SWEEP_KEY], bool fresh)
{
    char failed[PATH_MAX], name[NAME_DIGITS + 1];
    const struct header header = header_of(key);
    *file = (struct sweep_file){.fd = -1};
    for (int i = 0; i < SWEEP_KEY; i++)
        snprintf(name + 2 * i, 3, "%02x", key[i]);
    int r = snprintf(file->path, PATH_MAX, "%s/%s" ENDING, folder, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
    if (r == 0)
        r = folder_make(folder, 0700, failed);
    if (r == 0 && (file->fd = open_locked(file->path)) < 0)
        r = file->fd;
    if (r == 0)
        r = settle(file, &header, fresh);
    if (r == -EBUSY)
        say(file, "the same sweep is running elsewhere: this one keeps nothing to continue from");
    else if (r < 0)
        say(file, "nothing is kept to continue from: %.120s: %s", folder, strerror(-r));
    if (r < 0)
        backtest_sweep_file_close(file);
    else
        futimens(file->fd, NULL); /* used now */
}

void backtest_sweep_file_close(struct sweep_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

size_t backtest_sweep_file_rows(struct sweep_file *file, struct sweep_result *rows, size_t cap)
{
    size_t n = 0;
    struct sweep_record record;
    for (; file->fd >= 0 && n < file->n && n < cap; n++) {
        off_t from = (off_t)(sizeof(struct header) + n * sizeof record);
        if (pread(file->fd, &record, sizeof record, from) != (ssize_t)sizeof record ||
            record.sum != sum_of(&record))
            break;
        rows[n] = record.row;
    }
    return n;
}

void backtest_sweep_file_add(struct sweep_file *file, const struct sweep_result *rows, size_t n)
{
    struct sweep_record *records = file->fd >= 0 && !file->failed ? calloc(n ? n : 1, sizeof *records) : NULL;
    if (!records)
        return;
    for (size_t i = 0; i < n; i++) {
        memcpy(&records[i].row, &rows[i], sizeof rows[i]);
        records[i].sum = sum_of(&records[i]);
    }
    int r = whole_file_write(file->fd, records, n * sizeof *records);
    if (r < 0) {
        say(file, "nothing more is kept to continue from: %.120s: %s", file->path, strerror(-r));
        file->failed = true;
    }
    free(records);
}

/* ---- old ones ---- */

struct entry {
    char name[NAME_DIGITS + sizeof ENDING];
    uint64_t bytes;
    int64_t used_ns;
};

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

static bool look(int dir, const char *name, struct entry *ret)
{
    struct stat st;
    if (strlen(name) != NAME_DIGITS + strlen(ENDING) || strcmp(name + NAME_DIGITS, ENDING) != 0 ||
        strspn(name, "0123456789abcdef") != NAME_DIGITS || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode))
        return false;
    strcpy(ret->name, name);
    ret->bytes = (uint64_t)st.st_size;
    ret->used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return true;
}

void backtest_sweep_file_trim(const char *folder, const char *keep, int64_t now_ns, int64_t age_ns,
                              uint64_t bytes)
{
    DIR *dir = opendir(folder);
    struct entry *entries = NULL, entry;
    size_t n = 0, cap = 0;
    uint64_t total = 0;
    const char *kept = strrchr(keep, '/') ? strrchr(keep, '/') + 1 : keep;
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        if (!look(dirfd(dir), d->d_name, &entry) || strcmp(d->d_name, kept) == 0)
            continue;
        if (n == cap) {
            struct entry *grown = reallocarray(entries, cap = cap ? 2 * cap : 16, sizeof *grown);
            if (!grown)
                break;
            entries = grown;
        }
        entries[n++] = entry;
        total += entry.bytes;
    }
    if (n > 0)
        qsort(entries, n, sizeof *entries, by_use);
    for (size_t i = 0; i < n; i++)
        if ((total > bytes || now_ns - entries[i].used_ns > age_ns) &&
            unlinkat(dirfd(dir), entries[i].name, 0) == 0)
            total -= entries[i].bytes;
    closedir(dir);
    free(entries);
}
