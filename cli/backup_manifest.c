#include "cli/backup_manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "record/json.h"

static const char schema_prefix[] = "papertape.backup/";

const char *const cli_backup_folders[] = {"policies", "checkpoints", "trainings", "studies", NULL};

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n > m && strcmp(text + n - m, with) == 0;
}

/* Each part is a plain name: not empty, not "." or "..", of printable ASCII. */
static bool is_plain(const char *name)
{
    if (strlen(name) >= BACKUP_NAME_MAX)
        return false;
    for (const char *part = name;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || n > 255 || (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.'))))
            return false;
        for (size_t i = 0; i < n; i++)
            if (part[i] < ' ' || part[i] > '~' || part[i] == '\\')
                return false;
        part += n;
        if (!*part)
            return true;
    }
}

static bool is_secret(const char *base)
{
    static const char *const endings[] = {".lock", ".sock", ".key", ".keys", ".pem"};
    bool is = strcmp(base, "keys") == 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is |= ends(base, endings[i]);
    return is;
}

bool cli_backup_takes(const char *name)
{
    const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
    if (!is_plain(name) || is_secret(last ? last + 1 : name))
        return false;
    if (!slash)
        return strcmp(name, BACKUP_CONFIG) == 0 || ends(name, ".db");
    if (strncmp(name, "events/", strlen("events/")) == 0)
        return slash == last && ends(name, ".journal");
    for (size_t i = 0; cli_backup_folders[i]; i++)
        if (strlen(cli_backup_folders[i]) == (size_t)(slash - name) &&
            strncmp(name, cli_backup_folders[i], (size_t)(slash - name)) == 0)
            return true;
    return false;
}

void cli_backup_hash_text(const uint8_t digest[static BACKUP_DIGEST], char text[static BACKUP_HASH_TEXT])
{
    for (int i = 0; i < BACKUP_DIGEST; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* ---- the list ---- */

int cli_backup_manifest_init(struct backup_manifest *manifest)
{
    *manifest = (struct backup_manifest){.files = json_object()};
    return manifest->files ? 0 : -ENOMEM;
}

void cli_backup_manifest_finish(struct backup_manifest *manifest)
{
    json_decref(manifest->files);
    manifest->files = NULL;
}

int cli_backup_manifest_add(struct backup_manifest *manifest, const struct backup_file *file)
{
    json_t *row = json_pack("{s:I, s:s}", "size", (json_int_t)file->size, "sha256", file->sha256);
    return json_object_set_new(manifest->files, file->name, row) < 0 ? -ENOMEM : 0;
}

bool cli_backup_manifest_find(const struct backup_manifest *manifest, const char *name,
                              struct backup_file *ret)
{
    const json_t *row = json_object_get(manifest->files, name);
    if (!row)
        return false;
    *ret = (struct backup_file){name, json_integer_value(json_object_get(row, "size")),
                                json_string_value(json_object_get(row, "sha256"))};
    return true;
}

char *cli_backup_manifest_text(const struct backup_manifest *manifest)
{
    char hash[BACKUP_HASH_TEXT];
    const struct db_backup_moment *moment = &manifest->moment;
    cli_backup_hash_text(moment->ledger_hash, hash);
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:i, s:I, s:s, s:O}", "schema", BACKUP_SCHEMA, "version",
        PAPERTAPE_VERSION, "created_ns", (json_int_t)manifest->created_ns, "event", (json_int_t)moment->event,
        "log_event", (json_int_t)manifest->log_event, "database_schema", moment->schema, "ledger_rows",
        (json_int_t)moment->ledger_rows, "ledger_hash", hash, "files", manifest->files);
    char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
    json_decref(object);
    return text;
}

/* ---- read again ---- */

static bool is_hash(const char *text)
{
    return text && strlen(text) == BACKUP_HASH_TEXT - 1 &&
           strspn(text, "0123456789abcdef") == BACKUP_HASH_TEXT - 1;
}

static void take_hash(const char *text, uint8_t digest[static BACKUP_DIGEST])
{
    for (int i = 0; i < BACKUP_DIGEST; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        digest[i] = (uint8_t)byte;
    }
}

static int check_files(const json_t *files, char *err, size_t err_size)
{
    const char *name;
    json_t *row;
    if (!json_is_object(files) || !json_object_get(files, "papertape.db") ||
        json_object_size(files) > BACKUP_FILES_MAX)
        return fail_with(-EBADMSG, err, err_size, BACKUP_MANIFEST ": it does not list papertape.db");
    json_object_foreach((json_t *)(uintptr_t)files, name, row)
    {
        const json_t *size = json_object_get(row, "size");
        if (!cli_backup_takes(name) || !json_is_integer(size) || json_integer_value(size) < 0 ||
            !is_hash(json_string_value(json_object_get(row, "sha256"))))
            return fail_line(-EBADMSG, err, err_size, BACKUP_MANIFEST, "\"%.200s\": no file of a state",
                             name);
    }
    return 0;
}

static int take(const json_t *object, struct backup_manifest *ret, char *err, size_t err_size)
{
    static const char *const numbers[] = {"created_ns", "event", "log_event", "database_schema",
                                          "ledger_rows"};
    const char *schema = json_string_value(json_object_get(object, "schema")),
               *hash = json_string_value(json_object_get(object, "ledger_hash"));
    if (!schema || strncmp(schema, schema_prefix, sizeof schema_prefix - 1) != 0)
        return fail_with(-EBADMSG, err, err_size,
                         BACKUP_MANIFEST ": not of `papertape backup`: \"schema\": \"" BACKUP_SCHEMA
                                         "\" is right");
    if (strcmp(schema, BACKUP_SCHEMA) != 0)
        return fail_line(-ENOTSUP, err, err_size, BACKUP_MANIFEST,
                         "%.40s: another papertape wrote it; this one reads " BACKUP_SCHEMA, schema);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!json_is_integer(json_object_get(object, numbers[i])))
            return fail_with(-EBADMSG, err, err_size, BACKUP_MANIFEST ": \"%s\": a number is right",
                             numbers[i]);
    if (!is_hash(hash))
        return fail_with(-EBADMSG, err, err_size, BACKUP_MANIFEST ": \"ledger_hash\": 64 digits are right");
    int r = check_files(json_object_get(object, "files"), err, err_size);
    if (r < 0)
        return r;
    *ret = (struct backup_manifest){
        .created_ns = json_integer_value(json_object_get(object, "created_ns")),
        .log_event = (uint64_t)json_integer_value(json_object_get(object, "log_event")),
        .moment = {.event = (uint64_t)json_integer_value(json_object_get(object, "event")),
                   .schema = (int)json_integer_value(json_object_get(object, "database_schema")),
                   .ledger_rows = (uint64_t)json_integer_value(json_object_get(object, "ledger_rows"))},
        .files = json_incref(json_object_get(object, "files"))};
    take_hash(hash, ret->moment.ledger_hash);
    return 0;
}

int cli_backup_manifest_parse(const char *text, size_t n, struct backup_manifest *ret, char *err,
                              size_t err_size)
{
    json_error_t error;
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return fail_line(-EBADMSG, err, err_size, BACKUP_MANIFEST, "line %d: %s", error.line, error.text);
    int r = take(object, ret, err, err_size);
    json_decref(object);
    return r;
}
