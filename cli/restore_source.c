#include "cli/restore_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lazy_archive.h"
#include "db/former.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

enum { BLOCK = 1 << 16, ABSENT_MAX = 256 };

struct reading {
    const char *path;
    restore_entry_fn *each;
    void *ctx;
    char *err;
    size_t err_size;
    json_t *seen; /* names */
};

#define FAIL(reading, r, ...) fail_line(r, (reading)->err, (reading)->err_size, (reading)->path, __VA_ARGS__)

/* ---- a folder ---- */

static ssize_t read_file(struct restore_entry *entry, void *bytes, size_t n)
{
    ssize_t got;
    do
        got = read(entry->fd, bytes, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? fail_with(-errno, entry->err, entry->err_size, "%s: %s", entry->name, strerror(errno))
                   : got;
}

/* Without following a link on the way. The descriptor or -errno. */
static int open_within(int folder, const char *name)
{
    char part[BACKUP_NAME_MAX];
    int at = dup(folder);
    for (const char *slash; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        int inner = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = errno;
        close(at);
        errno = error;
        at = inner;
    }
    int fd = at < 0 ? -1 : openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int r = fd < 0 ? -errno : fd;
    if (at >= 0)
        close(at);
    return r;
}

static int give_file(struct reading *reading, int folder, const char *name)
{
    struct stat st;
    struct restore_entry entry = {
        .name = name, .read = read_file, .err = reading->err, .err_size = reading->err_size};
    entry.fd = open_within(folder, name);
    if (entry.fd < 0)
        return FAIL(reading, entry.fd, "%s: %s", name, strerror(-entry.fd));
    int r = fstat(entry.fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EBADMSG;
    entry.size = r == 0 ? st.st_size : 0;
    r = r < 0 ? FAIL(reading, r, "%s: no file: a link or a device is never restored", name)
              : reading->each(reading->ctx, &entry);
    close(entry.fd);
    return r;
}

/* The files that its manifest lists; others may lie beside them. */
static int read_listed(struct reading *reading, int folder)
{
    char manifest_path[PATH_MAX], *text = NULL;
    struct backup_manifest manifest;
    const char *name;
    json_t *row;
    size_t n;
    snprintf(manifest_path, sizeof manifest_path, "%s/" BACKUP_MANIFEST, reading->path);
    int r = whole_file_read(manifest_path, BACKUP_MANIFEST_MAX, &text, &n);
    if (r < 0)
        FAIL(reading, r, BACKUP_MANIFEST ": %s", strerror(-r));
    if (r == 0)
        r = cli_backup_manifest_parse(text, n, &manifest, reading->err, reading->err_size);
    free(text);
    if (r == 0) {
        r = give_file(reading, folder, BACKUP_MANIFEST);
        json_object_foreach(manifest.files, name, row) if (r == 0) r = give_file(reading, folder, name);
        cli_backup_manifest_finish(&manifest);
    }
    return r;
}

struct former {
    struct reading *reading;
    int folder;
    const char *within; /* "", or a folder's name and a slash */
};

static int give_name(void *ctx, const char *base)
{
    const struct former *former = ctx;
    char name[NAME_MAX + 16];
    snprintf(name, sizeof name, "%s%s", former->within, base);
    return cli_backup_takes(name) ? give_file(former->reading, former->folder, name) : 0;
}

/* The files that are there, as db_former_keep() has them. */
static int read_former(struct reading *reading, int folder)
{
    static const char *const within[] = {"", "events/", "policies/"};
    int r = 0;
    reading->err[0] = '\0';
    for (size_t i = 0; i < sizeof within / sizeof *within && r == 0; i++) {
        struct former former = {reading, folder, within[i]};
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", reading->path, within[i]);
        if (access(path, F_OK) == 0)
            r = folder_each(path, give_name, &former);
        if (r < 0 && !reading->err[0])
            FAIL(reading, r, "%s", strerror(-r));
    }
    return r;
}

static int read_folder(struct reading *reading)
{
    int folder = open(reading->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return FAIL(reading, -errno, "%s", strerror(errno));
    bool listed = faccessat(folder, BACKUP_MANIFEST, F_OK, 0) == 0 || !db_former_is(reading->path);
    int r = listed ? read_listed(reading, folder) : read_former(reading, folder);
    close(folder);
    return r;
}

/* ---- an archive ---- */

/* The last failure: -EBADMSG where it is of what the archive has; else of this machine, which could not read
 * it. */
static int archive_failure(struct archive *archive)
{
    static const char no_memory[] =
        "not enough memory"; /* ZSTD_error_memory_allocation, as libarchive quotes it */
    const char *words = archive_error_string(archive);
    switch (archive_errno(archive)) {
    case 0:
    case EILSEQ: /* libarchive's ARCHIVE_ERRNO_FILE_FORMAT, */
    case EINVAL: /* … _PROGRAMMER, */
    case -1:     /* … _MISC, which has all of zstd's: its own header has these names */
        return words && strstr(words, no_memory) ? -ENOMEM : -EBADMSG;
    default:
        return -archive_errno(archive);
    }
}

static int fail_archive(struct reading *reading, struct archive *archive)
{
    const char *words = archive ? archive_error_string(archive) : NULL;
    int r = archive ? archive_failure(archive) : -ENOMEM;
    if (r != -EBADMSG)
        return FAIL(reading, r, "it cannot be read: %s", strerror(-r));
    return FAIL(reading, r, "it is damaged, or no backup: %.200s",
                words ? words : "no tar archive compressed with zstd");
}

static ssize_t read_archive(struct restore_entry *entry, void *bytes, size_t n)
{
    struct archive *archive = entry->from;
    la_ssize_t got = archive_read_data(archive, bytes, n);
    if (got < 0) {
        const char *words = archive_error_string(archive);
        int r = archive_failure(archive);
        return r == -EBADMSG ? fail_line(r, entry->err, entry->err_size, entry->name, "it is damaged: %.200s",
                                         words ? words : "")
                             : fail_line(r, entry->err, entry->err_size, entry->name, "it cannot be read: %s",
                                         strerror(-r));
    }
    entry->given += got;
    if (entry->given > entry->size) /* a sparse file's size is a field of its own, which may be any */
        return fail_line(-EBADMSG, entry->err, entry->err_size, entry->name,
                         "it has more bytes than its size: refused");
    return got;
}

static int give_entry(struct reading *reading, struct archive *archive, struct archive_entry *of)
{
    const char *name = archive_entry_pathname(of);
    struct restore_entry entry = {.name = name,
                                  .size = archive_entry_size(of),
                                  .read = read_archive,
                                  .from = archive,
                                  .err = reading->err,
                                  .err_size = reading->err_size};
    if (!name || (strcmp(name, BACKUP_MANIFEST) != 0 && !cli_backup_takes(name)))
        return FAIL(reading, -EBADMSG, "\"%.200s\": no file of a state: refused", name ? name : "");
    if (archive_entry_filetype(of) != AE_IFREG || archive_entry_hardlink(of) || archive_entry_symlink(of))
        return FAIL(reading, -EBADMSG, "\"%.200s\": a link, a folder or a device: refused", name);
    if (!archive_entry_size_is_set(of) || entry.size < 0)
        return FAIL(reading, -EBADMSG, "\"%.200s\": without a size: refused", name);
    if (json_object_get(reading->seen, name))
        return FAIL(reading, -EBADMSG, "\"%.200s\": it comes twice: refused", name);
    if (json_object_size(reading->seen) > BACKUP_FILES_MAX)
        return FAIL(reading, -EBADMSG, "more than %d files: refused", BACKUP_FILES_MAX);
    if (json_object_set_new(reading->seen, name, json_true()) < 0)
        return FAIL(reading, -ENOMEM, "out of memory");
    return reading->each(reading->ctx, &entry);
}

static int read_open(struct reading *reading, int fd)
{
    struct archive_entry *entry;
    char why[ABSENT_MAX];
    int loaded = cli_archive_load(why, sizeof why);
    if (loaded < 0)
        return FAIL(reading, loaded, "%s", why);
    struct archive *archive = archive_read_new();
    int rc = archive ? ARCHIVE_OK : ARCHIVE_FATAL, r = 0;
    if (rc == ARCHIVE_OK)
        rc = archive_read_support_filter_zstd(archive);
    if (rc == ARCHIVE_OK)
        rc = archive_read_support_format_tar(archive);
    if (rc == ARCHIVE_OK)
        rc = archive_read_open_fd(archive, fd, BLOCK);
    if (rc != ARCHIVE_OK)
        r = fail_archive(reading, archive);
    while (r == 0 && (rc = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
        r = give_entry(reading, archive, entry);
    if (r == 0 && rc != ARCHIVE_EOF)
        r = fail_archive(reading, archive);
    archive_read_free(archive);
    return r;
}

static int read_packed(struct reading *reading)
{
    struct stat st;
    int fd = open(reading->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        int r = fd < 0 ? -errno : -EINVAL;
        if (fd >= 0)
            close(fd);
        return FAIL(reading, r, "%s",
                    r == -EINVAL ? "a backup, an archive or a folder, is right" : strerror(-r));
    }
    int r = read_open(reading, fd);
    close(fd);
    return r;
}

int cli_restore_read(const char *path, restore_entry_fn *each, void *ctx, char *err, size_t err_size)
{
    struct stat st;
    struct reading reading = {path, each, ctx, err, err_size, json_object()};
    if (!reading.seen)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? read_folder(&reading) : read_packed(&reading);
    json_decref(reading.seen);
    return r;
}
