#include "cli/backup_sink.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "cli/lazy_archive.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

enum { FOLDER_MODE = 0750, FILE_MODE = 0640, PART = 1 << 20 };

#define ARCHIVE_NAME "archive"

static int fail(struct backup_sink *sink, int r, const char *path)
{
    return fail_with(r, sink->err, sizeof sink->err, "%s: %s", path, strerror(-r));
}

/* ---- the archive ---- */

static la_ssize_t write_archive(struct archive *archive, void *ctx, const void *bytes, size_t n)
{
    struct backup_sink *sink = ctx;
    int r = whole_file_write(sink->pace.fd, bytes, n);
    if (r == 0)
        r = db_backup_pace(&sink->pace);
    if (r < 0)
        archive_set_error(archive, -r, "%s", strerror(-r));
    return r < 0 ? -1 : (la_ssize_t)n;
}

static int fail_archive(struct backup_sink *sink)
{
    int number = sink->archive ? archive_errno(sink->archive) : ENOMEM;
    return fail(sink, number > 0 ? -number : -EIO, sink->path);
}

static int open_archive(struct backup_sink *sink)
{
    sink->pace.fd = openat(sink->folder, ARCHIVE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (sink->pace.fd < 0)
        return fail(sink, -errno, sink->part);
    sink->archive = archive_write_new();
    if (!sink->archive || archive_write_add_filter_zstd(sink->archive) != ARCHIVE_OK ||
        archive_write_set_format_gnutar(sink->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(sink->archive, 1) != ARCHIVE_OK ||
        archive_write_open(sink->archive, sink, NULL, write_archive, NULL) != ARCHIVE_OK)
        return fail_archive(sink);
    return 0;
}

static int put_header(struct backup_sink *sink, const char *name, int64_t size)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return fail(sink, -ENOMEM, name);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, FILE_MODE);
    archive_entry_set_mtime(entry, sink->manifest.created_ns / 1000000000, 0);
    int rc = archive_write_header(sink->archive, entry);
    archive_entry_free(entry);
    return rc == ARCHIVE_OK ? 0 : fail_archive(sink);
}

/* ---- a file ---- */

static int open_copy(struct backup_sink *sink, const char *name)
{
    sink->pace = (struct db_backup_pace){.fd = cli_backup_part_file(sink->folder, name)};
    return sink->pace.fd < 0 ? fail(sink, sink->pace.fd, name) : 0;
}

static int put_part(struct backup_sink *sink, bool copies, const void *bytes, size_t n)
{
    if (sink->archive)
        return archive_write_data(sink->archive, bytes, n) == (la_ssize_t)n ? 0 : fail_archive(sink);
    int r = copies ? whole_file_write(sink->pace.fd, bytes, n) : 0;
    if (r == 0 && copies)
        r = db_backup_pace(&sink->pace);
    return r < 0 ? fail(sink, r, sink->path) : 0;
}

static int put_bytes(struct backup_sink *sink, const char *name, int fd, int64_t size, bool copies,
                     EVP_MD_CTX *hash)
{
    uint8_t *bytes = malloc(PART);
    int r = bytes && hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 ? 0 : fail(sink, -ENOMEM, name);
    for (int64_t at = 0; r == 0 && at < size;) {
        ssize_t n = pread(fd, bytes, (size_t)(size - at < PART ? size - at : PART), at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            r = fail_with(-ESTALE, sink->err, sizeof sink->err,
                          "%s: it was cut off while it was copied: try again", name);
        else if (n < 0)
            r = fail(sink, -errno, name);
        else if (sink->stop && atomic_load(sink->stop))
            r = fail(sink, -ECANCELED, sink->path);
        else if (EVP_DigestUpdate(hash, bytes, (size_t)n) != 1)
            r = fail(sink, -ENOMEM, name);
        else
            r = put_part(sink, copies, bytes, (size_t)n);
        at += n;
    }
    free(bytes);
    return r;
}

static int list(struct backup_sink *sink, const char *name, int64_t size, EVP_MD_CTX *hash)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    char text[BACKUP_HASH_TEXT];
    if (EVP_DigestFinal_ex(hash, digest, NULL) != 1)
        return fail(sink, -ENOMEM, name);
    cli_backup_hash_text(digest, text);
    sink->bytes += size;
    int r = cli_backup_manifest_add(&sink->manifest, &(struct backup_file){name, size, text});
    return r < 0 ? fail(sink, r, name) : 0;
}

static int put(struct backup_sink *sink, const char *name, int fd, int64_t size, bool copies)
{
    int r = sink->archive ? put_header(sink, name, size) : copies ? open_copy(sink, name) : 0;
    if (r < 0)
        return r;
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    r = put_bytes(sink, name, fd, size, copies, hash);
    if (r == 0)
        r = list(sink, name, size, hash);
    EVP_MD_CTX_free(hash);
    if (!sink->archive && copies) {
        close(sink->pace.fd);
        sink->pace.fd = -1;
    }
    return r;
}

int cli_backup_sink_put(struct backup_sink *sink, const char *name, int fd, int64_t size)
{
    return put(sink, name, fd, size, true);
}

void cli_backup_sink_place(const struct backup_sink *sink, const char *name, char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - BACKUP_NAME_MAX - 2, sink->part, name);
}

int cli_backup_sink_add(struct backup_sink *sink, const char *name)
{
    struct stat st;
    int fd = openat(sink->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(sink, -errno, name);
    int r = put(sink, name, fd, st.st_size, false);
    close(fd);
    if (r == 0 && sink->archive && unlinkat(sink->folder, name, 0) < 0)
        r = fail(sink, -errno, name);
    return r;
}

/* ---- the whole ---- */

/* A name that is free, or a folder's without files where one is written. */
static int check_free(struct backup_sink *sink, bool archive)
{
    struct stat st;
    char first[NAME_MAX + 1];
    if (lstat(sink->path, &st) < 0)
        return errno == ENOENT ? 0 : fail(sink, -errno, sink->path);
    if (!archive && S_ISDIR(st.st_mode) && cli_backup_part_is_empty(sink->path, NULL, first) == 0)
        return 0; /* the rename takes its place */
    return fail_with(-EEXIST, sink->err, sizeof sink->err,
                     "%s: exists: another name, or a folder for dated archives with --keep N, is right",
                     sink->path);
}

static int open_parts(struct backup_sink *sink, bool archive)
{
    sink->folder = cli_backup_part_open(sink->part, sink->err, sizeof sink->err);
    if (sink->folder < 0)
        return sink->folder;
    return archive ? open_archive(sink) : 0;
}

int cli_backup_sink_open(struct backup_sink *sink, const char *path, const atomic_bool *stop)
{
    size_t n = strlen(path), end = strlen(BACKUP_ARCHIVE_ENDING);
    bool archive = n > end && strcmp(path + n - end, BACKUP_ARCHIVE_ENDING) == 0;
    *sink = (struct backup_sink){.folder = -1, .pace.fd = -1, .stop = stop};
    if (n + BACKUP_NAME_MAX >= PATH_MAX)
        return fail(sink, -ENAMETOOLONG, path);
    snprintf(sink->path, sizeof sink->path, "%s", path);
    while (n > 1 && sink->path[n - 1] == '/')
        sink->path[--n] = '\0';
    snprintf(sink->part, sizeof sink->part, "%.*s" BACKUP_PART_ENDING, PATH_MAX - BACKUP_NAME_MAX,
             sink->path);
    int r = archive ? cli_archive_load(sink->err, sizeof sink->err) : 0;
    if (r == 0)
        r = check_free(sink, archive);
    if (r == 0 && (r = cli_backup_manifest_init(&sink->manifest)) < 0)
        return fail(sink, r, path);
    if (r == 0)
        r = open_parts(sink, archive);
    return r < 0 ? cli_backup_sink_close(sink, r) : 0;
}

static int put_manifest(struct backup_sink *sink)
{
    char path[PATH_MAX], *text = cli_backup_manifest_text(&sink->manifest);
    int r = text ? 0 : fail(sink, -ENOMEM, BACKUP_MANIFEST);
    if (r == 0 && sink->archive) {
        r = put_header(sink, BACKUP_MANIFEST, (int64_t)strlen(text));
        r = r < 0 ? r : put_part(sink, false, text, strlen(text));
    } else if (r == 0) {
        struct whole_file file;
        cli_backup_sink_place(sink, BACKUP_MANIFEST, path);
        r = whole_file_open(path, ".new", FILE_MODE, &file);
        if (r == 0)
            r = whole_file_close(&file, whole_file_put(&file, text, strlen(text)));
        r = r < 0 ? fail(sink, r, path) : 0;
    }
    free(text);
    return r;
}

/* On the disk before the name says so. */
static int finish_archive(struct backup_sink *sink)
{
    char path[PATH_MAX];
    cli_backup_sink_place(sink, ARCHIVE_NAME, path);
    if (archive_write_close(sink->archive) != ARCHIVE_OK)
        return fail_archive(sink);
    if (fsync(sink->pace.fd) < 0 || rename(path, sink->path) < 0)
        return fail(sink, -errno, sink->path);
    int r = whole_file_sync_folder(sink->path);
    rmdir(sink->part);
    return r < 0 ? fail(sink, r, sink->path) : 0;
}

static int finish_folder(struct backup_sink *sink)
{
    int r = cli_backup_part_show(sink->folder);
    if (r == 0 && (syncfs(sink->folder) < 0 || rename(sink->part, sink->path) < 0))
        r = -errno;
    if (r == 0)
        r = whole_file_sync_folder(sink->path);
    return r < 0 ? fail(sink, r, sink->path) : 0;
}

int cli_backup_sink_close(struct backup_sink *sink, int r)
{
    if (r == 0)
        r = put_manifest(sink);
    if (r == 0)
        r = sink->archive ? finish_archive(sink) : finish_folder(sink);
    if (sink->archive && r < 0)
        archive_write_fail(sink->archive);
    if (sink->archive)
        archive_write_free(sink->archive);
    if (sink->pace.fd >= 0)
        close(sink->pace.fd);
    if (r < 0 && sink->folder >= 0)
        folder_remove(sink->part);
    if (sink->folder >= 0)
        close(sink->folder);
    sink->folder = sink->pace.fd = -1;
    sink->archive = NULL;
    cli_backup_manifest_finish(&sink->manifest);
    return r;
}
