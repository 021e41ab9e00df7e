#include "cli/backup_rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "cli/backup_sink.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

enum { FOLDER_MODE = 0750, DATE = 16 /* YYYYMMDDTHHMMSSZ */ };

static const char before[] = "papertape-";

static int write_path(const char *folder, time_t seconds, char ret[static PATH_MAX])
{
    struct tm utc;
    char date[DATE + 1];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
    return snprintf(ret, PATH_MAX, "%s/%s%s" BACKUP_ARCHIVE_ENDING, folder, before, date) < PATH_MAX
               ? 0
               : -ENAMETOOLONG;
}

int cli_backup_dated(const char *folder, int64_t now_ns, char ret[static PATH_MAX])
{
    time_t seconds = (time_t)(now_ns / 1000000000);
    char real[PATH_MAX];
    struct stat st;
    if (mkdir(folder, FOLDER_MODE) < 0 && errno != EEXIST)
        return -errno;
    if (!realpath(folder, real)) /* so that the outcome says where it is */
        return -errno;
    int r = write_path(real, seconds, ret);
    while (r == 0 && lstat(ret, &st) == 0)
        r = write_path(real, ++seconds, ret);
    return r;
}

/* Is it a dated archive's name, followed by `ending`? */
static bool is_dated(const char *name, const char *ending)
{
    static const char form[DATE + 1] = "dddddddd-dddddd-";
    const char *date = name + sizeof before - 1;
    if (strncmp(name, before, sizeof before - 1) != 0 || strlen(date) < DATE)
        return false;
    for (int i = 0; i < DATE; i++)
        if (form[i] == 'd' ? date[i] < '0' || date[i] > '9' : date[i] != "TZ"[i > 8])
            return false;
    return strcmp(date + DATE, ending) == 0;
}

/* A file that begins as a zstd frame. */
static bool is_archive(const char *path)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    uint8_t first[sizeof zstd];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool is =
        fd >= 0 && read(fd, first, sizeof first) == sizeof first && memcmp(first, zstd, sizeof zstd) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

struct found {
    const char *folder, *made;
    char **names;
    size_t n;
};

/* What killed backups and drills leave. */
static const char *const lefts[] = {BACKUP_ARCHIVE_ENDING BACKUP_PART_ENDING,
                                    BACKUP_ARCHIVE_ENDING BACKUP_DRILL_ENDING,
                                    BACKUP_ARCHIVE_ENDING BACKUP_DRILL_ENDING BACKUP_PART_ENDING};

static int take(void *ctx, const char *name)
{
    struct found *found = ctx;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.255s", found->folder, name);
    for (size_t i = 0; i < sizeof lefts / sizeof *lefts; i++)
        if (is_dated(name, lefts[i]))
            return cli_backup_part_is_left(path) ? folder_remove(path) : 0;
    if (!is_dated(name, BACKUP_ARCHIVE_ENDING) || strcmp(path, found->made) == 0 || !is_archive(path))
        return 0;
    char **grown = reallocarray(found->names, found->n + 1, sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        found->names = grown;
    if (!grown || !copy) {
        free(copy);
        return -ENOMEM;
    }
    found->names[found->n++] = copy;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int cli_backup_rotate(const char *folder, const char *made, size_t keep, size_t *ret_removed, char *err,
                      size_t err_size)
{
    char real[PATH_MAX];
    struct found found = {.folder = realpath(folder, real), .made = made};
    if (!found.folder)
        return fail_with(-errno, err, err_size, "%s: %s", folder, strerror(errno));
    folder = real;
    keep -= keep > 0; /* `made` is one of them */
    int r = folder_each(folder, take, &found);
    if (found.n > 0)
        qsort(found.names, found.n, sizeof *found.names, by_name);
    *ret_removed = r == 0 && found.n > keep ? found.n - keep : 0;
    for (size_t i = 0; i < found.n; i++) {
        if (r == 0 && i < *ret_removed && unlink(found.names[i]) < 0)
            r = fail_with(-errno, err, err_size, "%s: %s", found.names[i], strerror(errno));
        free(found.names[i]);
    }
    free(found.names);
    if (r < 0 && !err[0])
        fail_with(r, err, err_size, "%s: %s", folder, strerror(-r));
    return r;
}

/* ---- one that failed ---- */

struct failed {
    const char *folder, *name; /* the one that stays */
};

static int remove_failed(void *ctx, const char *name)
{
    const struct failed *failed = ctx;
    char path[PATH_MAX];
    if (strcmp(name, failed->name) == 0 || !is_dated(name, BACKUP_ARCHIVE_ENDING BACKUP_FAILED_ENDING))
        return 0;
    snprintf(path, sizeof path, "%s/%.255s", failed->folder, name);
    return unlink(path) < 0 ? -errno : 0;
}

int cli_backup_failed(const char *path, char ret[static PATH_MAX])
{
    char folder[PATH_MAX], to[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (snprintf(to, sizeof to, "%s" BACKUP_FAILED_ENDING, path) >= (int)sizeof to)
        return -ENAMETOOLONG;
    if (rename(path, to) < 0)
        return -errno;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct failed failed = {folder, strrchr(to, '/') ? strrchr(to, '/') + 1 : to};
    (void)folder_each(folder, remove_failed, &failed); /* what stays costs room alone */
    memcpy(ret, to, sizeof to);
    return 0;
}
