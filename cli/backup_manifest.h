/* What a backup has: the files by name, with sizes and hashes. docs/backup.md has the format. */
#ifndef CLI_BACKUP_MANIFEST_H
#define CLI_BACKUP_MANIFEST_H

#include <jansson.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/backup.h"

#define BACKUP_MANIFEST "manifest.json"
#define BACKUP_CONFIG   "papertaped.ini"
#define BACKUP_SCHEMA   "papertape.backup/1"

enum {
    BACKUP_NAME_MAX = 1024,
    BACKUP_FILES_MAX = 1 << 18,
    BACKUP_MANIFEST_MAX = 64 << 20, /* bytes: of so many files */
    BACKUP_ERROR_MAX = PATH_MAX + 512,
    BACKUP_HASH_TEXT = 65, /* SHA-256 in hexadecimal, and its NUL */
    BACKUP_DIGEST = 32,
};

/* The folders of a state that are backed up as they are, NULL at the end. */
extern const char *const cli_backup_folders[];

/* May a backup have a file of that name, relative to the state? Never one outside of it, and no file of keys,
 * lock or socket. */
bool cli_backup_takes(const char *name);

/* Hashes as they are written: of lower-case digits. */
void cli_backup_hash_text(const uint8_t digest[static BACKUP_DIGEST], char text[static BACKUP_HASH_TEXT]);

/* One file of the list. */
struct backup_file {
    const char *name;
    int64_t size;
    const char *sha256;
};

struct backup_manifest {
    struct db_backup_moment moment;
    uint64_t log_event; /* the newest of the event log's; 0: none */
    int64_t created_ns;
    json_t *files; /* by name: {"size", "sha256"} */
};

int cli_backup_manifest_init(struct backup_manifest *manifest); /* 0 or -ENOMEM */
void cli_backup_manifest_finish(struct backup_manifest *manifest);

/* 0 or -ENOMEM */
int cli_backup_manifest_add(struct backup_manifest *manifest, const struct backup_file *file);
/* False: it does not have that name. */
bool cli_backup_manifest_find(const struct backup_manifest *manifest, const char *name,
                              struct backup_file *ret);

/* For free(); NULL without memory. */
char *cli_backup_manifest_text(const struct backup_manifest *manifest);
/* 0; -EBADMSG, -ENOTSUP for one of a later format, -ENOMEM, with a sentence. */
int cli_backup_manifest_parse(const char *text, size_t n, struct backup_manifest *ret, char *err,
                              size_t err_size);

#endif
