/* A backup that someone else made, whatever its bytes. One that begins with '{' is a list of files: it is
 * refused, or taken, and then what is written of it is read as the same. Any other is an archive, whose tar
 * headers get the sums that they should have, unless it is compressed: what is refused writes nothing, and
 * what is taken is unpacked. So is an archive whose list is what it holds, else no change of a file's bytes
 * would ever pass its hash. Whatever happens, each refusal is one line, and all that was written is plain
 * files in the folder that they were to be put in, no more bytes than there was room. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/backup_part.h"
#include "cli/restore.h"
#include "cli/restore_source.h"
#include "tests/fuzz/fuzz.h"
#include "tests/scratch.h"

enum { ROOM = 1 << 19, BLOCK = 512, SUM_AT = 148, SUM_SIZE = 8, SIZE_AT = 124, SIZE_DIGITS = 11 };

static char within[SCRATCH_MAX], target[SCRATCH_MAX + 16];

static void is_line(const char *err)
{
    size_t n = strlen(err);
    fail_unless(n > 0 && n < BACKUP_ERROR_MAX);
    for (size_t i = 0; i < n; i++)
        fail_unless((unsigned char)err[i] >= ' ' && err[i] != 127);
}

/* ---- what was written ---- */

static int64_t written;

static int see_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    size_t n = strlen(target);
    bool below = strncmp(path, target, n) == 0 && (path[n] == '/' || path[n] == '\0');
    fail_unless(kind == FTW_D || kind == FTW_F);
    fail_unless((st->st_mode & (S_ISUID | S_ISGID | S_ISVTX | S_IWOTH)) == 0);
    fail_unless(walk->level < 2 || below);
    if (kind == FTW_F) {
        fail_unless(below && path[n] == '/' && cli_backup_takes(path + n + 1));
        fail_unless(st->st_nlink == 1 && (st->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0);
        written += st->st_size;
    }
    return 0;
}

/* How many bytes lie in the folder: below it alone there are any. */
static int64_t look(void)
{
    written = 0;
    fail_unless(nftw(scratch_root(), see_one, 16, FTW_PHYS) == 0);
    return written;
}

static void unpack(const char *path, const struct backup_manifest *manifest)
{
    char err[BACKUP_ERROR_MAX] = "";
    fail_unless(mkdir(target, 0700) == 0);
    int folder = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fail_unless(folder >= 0);
    if (cli_restore_unpack(path, manifest, folder, false, NULL, err, sizeof err) < 0)
        is_line(err);
    close(folder);
    fail_unless(look() <= ROOM);
    scratch_remove(target);
}

/* ---- an archive ---- */

/* The headers' sums, as far as they follow one another. */
static void seal(uint8_t *tar, size_t size)
{
    for (size_t at = 0; at + BLOCK <= size;) {
        uint8_t *header = tar + at;
        char digits[SIZE_DIGITS + 1] = "", sum_text[SUM_SIZE];
        unsigned sum = 0;
        memset(header + SUM_AT, ' ', SUM_SIZE);
        for (int i = 0; i < BLOCK; i++)
            sum += header[i];
        snprintf(sum_text, sizeof sum_text, "%06o", sum);
        memcpy(header + SUM_AT, sum_text, SUM_SIZE - 1);
        memcpy(digits, header + SIZE_AT, SIZE_DIGITS);
        unsigned long long length = strtoull(digits, NULL, 8);
        if (length > size - at)
            return;
        at += BLOCK + (size_t)(length + BLOCK - 1) / BLOCK * BLOCK;
    }
}

struct held {
    struct backup_manifest manifest;
    int64_t room;
};

/* Lists an entry as it is. */
static int hold(void *ctx, struct restore_entry *entry)
{
    struct held *held = ctx;
    uint8_t bytes[4096], digest[EVP_MAX_MD_SIZE];
    char text[BACKUP_HASH_TEXT];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int64_t n = 0;
    ssize_t got = 0;
    fail_unless(entry->size >= 0 && hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1);
    bool fits = entry->size <= held->room;
    held->room -= fits ? entry->size : 0;
    while (fits && (got = entry->read(entry, bytes, sizeof bytes)) > 0) {
        fail_unless((n += got) <= entry->size);
        fail_unless(EVP_DigestUpdate(hash, bytes, (size_t)got) == 1);
    }
    fail_unless(EVP_DigestFinal_ex(hash, digest, NULL) == 1);
    EVP_MD_CTX_free(hash);
    cli_backup_hash_text(digest, text);
    if (got < 0 || !fits)
        return got < 0 ? (int)got : (snprintf(entry->err, entry->err_size, "no room"), -ENOSPC);
    if (strcmp(entry->name, BACKUP_MANIFEST) == 0)
        return 0;
    fail_unless(cli_backup_takes(entry->name) &&
                !cli_backup_manifest_find(&held->manifest, entry->name, &(struct backup_file){0}));
    fail_unless(cli_backup_manifest_add(&held->manifest, &(struct backup_file){entry->name, n, text}) == 0);
    return 0;
}

static void take_archive(const uint8_t *data, size_t size)
{
    char path[32], err[BACKUP_ERROR_MAX] = "";
    struct backup_manifest manifest = {0};
    struct held held = {.room = ROOM};
    int fd = memory_file(data, size, path);
    if (cli_restore_check(path, ROOM, NULL, &manifest, err, sizeof err) < 0) {
        is_line(err);
        fail_unless(!manifest.files);
    } else {
        unpack(path, &manifest);
        cli_backup_manifest_finish(&manifest);
    }
    err[0] = '\0';
    fail_unless(cli_backup_manifest_init(&held.manifest) == 0);
    if (cli_restore_read(path, hold, &held, err, sizeof err) < 0)
        is_line(err);
    unpack(path, &held.manifest); /* of one that breaks off, as far as it can be read */
    cli_backup_manifest_finish(&held.manifest);
    close(fd);
}

/* ---- a list ---- */

static void take_list(const uint8_t *data, size_t size)
{
    char err[BACKUP_ERROR_MAX] = "";
    struct backup_manifest list = {0}, again = {0};
    const char *name;
    json_t *row;
    if (cli_backup_manifest_parse((const char *)data, size, &list, err, sizeof err) < 0) {
        is_line(err);
        return;
    }
    json_object_foreach(list.files, name, row)
    {
        struct backup_file file;
        fail_unless(cli_backup_takes(name) && name[0] != '/' && !strstr(name, "../") && !strstr(name, "/.."));
        fail_unless(cli_backup_manifest_find(&list, name, &file) && file.size >= 0);
    }
    char *text = cli_backup_manifest_text(&list);
    fail_unless(text && cli_backup_manifest_parse(text, strlen(text), &again, err, sizeof err) == 0);
    fail_unless(json_equal(list.files, again.files) && list.created_ns == again.created_ns &&
                list.log_event == again.log_event && list.moment.event == again.moment.event &&
                list.moment.schema == again.moment.schema &&
                memcmp(list.moment.ledger_hash, again.moment.ledger_hash, BACKUP_DIGEST) == 0);
    free(text);
    cli_backup_manifest_finish(&list);
    cli_backup_manifest_finish(&again);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    scratch_in_memory();
    scratch_make(within);
    snprintf(target, sizeof target, "%s/state", within);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size > 0 && data[0] == '{') {
        take_list(data, size);
    } else if (size >= sizeof zstd && memcmp(data, zstd, sizeof zstd) == 0) {
        take_archive(data, size);
    } else {
        uint8_t *sealed = malloc(size + 1);
        fail_unless(sealed);
        memcpy(sealed, data, size);
        seal(sealed, size);
        take_archive(sealed, size);
        free(sealed);
    }
    fail_unless(look() == 0);
    return 0;
}
