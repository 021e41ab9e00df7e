/* The two passes over a backup: every byte is compared with the list of hashes before one is written. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "cli/restore.h"
#include "cli/restore_source.h"
#include "db/former.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"

enum { PART = 1 << 20 };

struct pass {
    const atomic_bool *stop;
    const struct backup_manifest *manifest; /* of the second pass */
    struct backup_manifest found;           /* of the first */
    char *text;                             /* of the manifest itself, which may come last */
    size_t text_size;
    int64_t room;
    int folder;   /* -1: nothing is written */
    bool paced;   /* … as db_backup_pace() does */
    size_t files; /* that the second has written */
    uint8_t *bytes;
};

static int fail_entry(struct restore_entry *entry, int r)
{
    return fail_with(r, entry->err, entry->err_size, "%s: %s", entry->name, strerror(-r));
}

static int read_manifest(struct pass *pass, struct restore_entry *entry)
{
    if (entry->size > BACKUP_MANIFEST_MAX)
        return fail_with(-EBADMSG, entry->err, entry->err_size,
                         BACKUP_MANIFEST ": larger than any list of files");
    size_t size = (size_t)entry->size, n = 0;
    pass->text = malloc(size + 1);
    if (!pass->text)
        return fail_entry(entry, -ENOMEM);
    ssize_t got = 1;
    while (n < size && (got = entry->read(entry, pass->text + n, size - n)) > 0)
        n += (size_t)got;
    if (got < 0)
        return (int)got;
    pass->text_size = n;
    return 0;
}

/* Hashes a file's bytes, and writes them unless fd is below 0. 0 with how many there were. */
static int read_bytes(struct pass *pass, struct restore_entry *entry, EVP_MD_CTX *hash, int fd,
                      int64_t *ret_n)
{
    struct db_backup_pace pace = {.fd = fd};
    ssize_t got;
    int r = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 ? 0 : fail_entry(entry, -ENOMEM);
    while (r == 0 && (got = entry->read(entry, pass->bytes, PART)) != 0) {
        if (got < 0)
            return (int)got;
        if (pass->stop && atomic_load(pass->stop))
            return fail_entry(entry, -ECANCELED);
        if (EVP_DigestUpdate(hash, pass->bytes, (size_t)got) != 1)
            return fail_entry(entry, -ENOMEM);
        r = fd >= 0 ? whole_file_write(fd, pass->bytes, (size_t)got) : 0;
        if (r == 0 && fd >= 0 && pass->paced)
            r = db_backup_pace(&pace);
        if (r < 0)
            return fail_entry(entry, r);
        *ret_n += got;
    }
    return r;
}

static int take_bytes(struct pass *pass, struct restore_entry *entry, int fd, struct backup_file *ret,
                      char text[static BACKUP_HASH_TEXT])
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int64_t n = 0;
    int r = read_bytes(pass, entry, hash, fd, &n);
    if (r == 0 && EVP_DigestFinal_ex(hash, digest, NULL) != 1)
        r = fail_entry(entry, -ENOMEM);
    EVP_MD_CTX_free(hash);
    if (r < 0)
        return r;
    cli_backup_hash_text(digest, text);
    *ret = (struct backup_file){entry->name, n, text};
    return 0;
}

/* ---- the first ---- */

static int check_entry(void *ctx, struct restore_entry *entry)
{
    struct pass *pass = ctx;
    struct backup_file file;
    char text[BACKUP_HASH_TEXT];
    if (strcmp(entry->name, BACKUP_MANIFEST) == 0)
        return read_manifest(pass, entry);
    if (entry->size > pass->room)
        return fail_with(-ENOSPC, entry->err, entry->err_size,
                         "%s: it does not fit: it and what follows need more room than the disk has",
                         entry->name);
    pass->room -= entry->size;
    int r = take_bytes(pass, entry, -1, &file, text);
    if (r == 0 && cli_backup_manifest_add(&pass->found, &file) < 0)
        r = fail_entry(entry, -ENOMEM);
    return r;
}

static int compare(const struct backup_manifest *listed, const struct backup_manifest *found, char *err,
                   size_t err_size)
{
    const char *name;
    json_t *row;
    json_object_foreach(listed->files, name, row) if (!json_object_get(found->files, name)) return fail_with(
        -EBADMSG, err, err_size, "%s: it is missing", name);
    json_object_foreach(found->files, name, row)
    {
        const json_t *as = json_object_get(listed->files, name);
        if (!as)
            return fail_with(-EBADMSG, err, err_size, "%s: " BACKUP_MANIFEST " does not list it", name);
        if (!json_equal(as, row))
            return fail_with(-EBADMSG, err, err_size, "%s: it was altered: it does not have its hash", name);
    }
    return 0;
}

/* What has no list: its files as they were found, and the record's own end. */
static int list_former(const char *from, struct pass *pass, struct backup_manifest *ret, char *err,
                       size_t err_size)
{
    char database[PATH_MAX];
    struct stat st;
    snprintf(database, sizeof database, "%s/papertape.db", from);
    int r = db_backup_moment(database, &pass->found.moment, err, err_size);
    if (r == 0 && stat(from, &st) < 0)
        r = fail_with(-errno, err, err_size, "%s: %s", from, strerror(errno));
    if (r < 0)
        return r;
    pass->found.created_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    *ret = pass->found;
    pass->found.files = NULL;
    return 0;
}

/* Its own list, which all of it must equal. */
static int list_own(const char *from, const struct pass *pass, struct backup_manifest *ret, char *err,
                    size_t err_size)
{
    if (!pass->text)
        return fail_line(-EBADMSG, err, err_size, from, "without " BACKUP_MANIFEST ": it is no whole backup");
    int r = cli_backup_manifest_parse(pass->text, pass->text_size, ret, err, err_size);
    return r == 0 ? compare(ret, &pass->found, err, err_size) : r;
}

int cli_restore_check(const char *from, int64_t room, const atomic_bool *stop, struct backup_manifest *ret,
                      char *err, size_t err_size)
{
    struct pass pass = {.stop = stop, .room = room, .folder = -1, .bytes = malloc(PART)};
    struct backup_manifest manifest = {0};
    int r = pass.bytes && cli_backup_manifest_init(&pass.found) == 0
                ? cli_restore_read(from, check_entry, &pass, err, err_size)
                : fail_with(-ENOMEM, err, err_size, "out of memory");
    if (r == 0)
        r = pass.text || !db_former_is(from) ? list_own(from, &pass, &manifest, err, err_size)
                                             : list_former(from, &pass, &manifest, err, err_size);
    if (r == 0)
        *ret = manifest;
    else
        cli_backup_manifest_finish(&manifest);
    cli_backup_manifest_finish(&pass.found);
    free(pass.text);
    free(pass.bytes);
    return r;
}

/* ---- the second ---- */

static int unpack_entry(void *ctx, struct restore_entry *entry)
{
    struct pass *pass = ctx;
    struct backup_file file, listed;
    char text[BACKUP_HASH_TEXT];
    if (strcmp(entry->name, BACKUP_MANIFEST) == 0)
        return 0;
    if (!cli_backup_manifest_find(pass->manifest, entry->name, &listed) || entry->size != listed.size)
        return fail_with(-EBADMSG, entry->err, entry->err_size, "%s: it was altered meanwhile", entry->name);
    int fd = cli_backup_part_file(pass->folder, entry->name);
    if (fd < 0)
        return fail_entry(entry, fd);
    int r = take_bytes(pass, entry, fd, &file, text);
    if (close(fd) < 0 && r == 0)
        r = fail_entry(entry, -errno);
    if (r == 0 && (file.size != listed.size || strcmp(file.sha256, listed.sha256) != 0))
        r = fail_with(-EBADMSG, entry->err, entry->err_size, "%s: it was altered meanwhile", entry->name);
    pass->files += r == 0;
    return r;
}

int cli_restore_unpack(const char *from, const struct backup_manifest *manifest, int folder, bool paced,
                       const atomic_bool *stop, char *err, size_t err_size)
{
    struct pass pass = {
        .stop = stop, .manifest = manifest, .folder = folder, .paced = paced, .bytes = malloc(PART)};
    int r = pass.bytes ? cli_restore_read(from, unpack_entry, &pass, err, err_size)
                       : fail_with(-ENOMEM, err, err_size, "out of memory");
    free(pass.bytes);
    if (r == 0 && pass.files != json_object_size(manifest->files))
        r = fail_with(-EBADMSG, err, err_size, "%s: it was altered meanwhile", from);
    return r;
}
