/* One file of a lake: its rows are read twice within one snapshot, first for their digest, and only where the
 * lake does not have them yet through the pipe; so memory is bounded here. */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "cli/export.h"
#include "cli/stored.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

enum { BUFFER = 1 << 16 };

/* Where printed rows go: they are hashed, or sent. */
struct sink {
    EVP_MD_CTX *hash;           /* NULL: sent */
    struct lake_python *python; /* NULL: hashed, or it no longer reads */
    uint64_t bytes;
};

static ssize_t take(void *ctx, const char *bytes, size_t n)
{
    struct sink *sink = ctx;
    if (sink->hash && EVP_DigestUpdate(sink->hash, bytes, n) != 1)
        return 0;
    if (sink->python && !cli_lake_send_bytes(sink->python, bytes, n))
        sink->python = NULL; /* its answer says why */
    sink->bytes += n;
    return (ssize_t)n;
}

/* Prints the rows into a sink. 0 or -errno. */
static int print(struct export *export, const struct export_file *file, struct sink *sink, uint64_t *ret_rows)
{
    FILE *out = fopencookie(sink, "w", (cookie_io_functions_t){.write = take});
    int r = out && setvbuf(out, NULL, _IOFBF, BUFFER) == 0 ? 0 : -ENOMEM;
    if (r == 0)
        r = file->rows(export, file->ctx, out, ret_rows);
    if (r == 0 && (fflush(out) != 0 || ferror(out)))
        r = -EIO;
    if (out)
        fclose(out);
    return r;
}

struct printed {
    uint64_t rows, bytes;
    char sha256[2 * LEDGER_HASH_SIZE + 1];
};

/* What the rows are known by. 0 or -errno. */
static int digest(struct export *export, const struct export_file *file, struct printed *ret)
{
    uint8_t hash[LEDGER_HASH_SIZE];
    struct sink sink = {.hash = EVP_MD_CTX_new()};
    int r = sink.hash && EVP_DigestInit_ex(sink.hash, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
    if (r == 0)
        r = print(export, file, &sink, &ret->rows);
    if (r == 0 && EVP_DigestFinal_ex(sink.hash, hash, NULL) != 1)
        r = -ENOMEM;
    EVP_MD_CTX_free(sink.hash);
    if (r == 0)
        cli_stored_hash(ret->sha256, hash);
    ret->bytes = sink.bytes;
    return r;
}

/* Sends a request, where there is one. 0 with *answer; -ECANCELED: its line is printed. */
static int ask(struct export *export, json_t *request, json_t **answer)
{
    export->status = cli_lake_ask(export->python, request, answer);
    return export->status == EXIT_OK ? 0 : -ECANCELED;
}

/* The first answer: what the lake has of these rows, or that it lacks them. */
static int offer(struct export *export, const struct export_file *file, const struct printed *printed,
                 json_t **answer)
{
    char date[CLOCK_TEXT_MAX];
    clock_utc_text(file->day * DB_DAY_NS, date)[sizeof "2024-08-08" - 1] = '\0';
    return ask(export,
               json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "table", cli_export_names[file->table], "name",
                         file->name, "date", date, "rows", (json_int_t)printed->rows, "bytes",
                         (json_int_t)printed->bytes, "sha256", printed->sha256),
               answer);
}

/* The second: what it has once it was sent them. */
static int send_rows(struct export *export, const struct export_file *file, json_t **answer)
{
    struct sink sink = {.python = export->python};
    json_t *keep = NULL;
    uint64_t rows;
    int r = file->keep(export, file->ctx, &keep);
    if (r < 0)
        return r;
    cli_lake_send(export->python, json_pack("{s:o, s:o}", "columns", file->columns(file->ctx), "keep", keep));
    r = print(export, file, &sink, &rows);
    return r < 0 ? r : ask(export, NULL, answer);
}

static void count(struct export_totals *totals, const json_t *answer)
{
    bool written = json_is_true(json_object_get(answer, "written"));
    const char *damaged = json_string_value(json_object_get(answer, "damaged")),
               *why = json_string_value(json_object_get(answer, "why")),
               *aside = json_string_value(json_object_get(answer, "aside"));
    if (damaged && why && aside)
        fprintf(stderr,
                "papertape: export: note: %s: it could not be read (%s): it is written again, of what the "
                "database has, and the damaged file is %s\n",
                damaged, why, aside);
    totals->damaged += damaged != NULL;
    totals->files++;
    totals->written += written;
    totals->unchanged += !written;
    totals->rows += (uint64_t)json_integer_value(json_object_get(answer, "rows"));
    totals->kept += (uint64_t)json_integer_value(json_object_get(answer, "kept"));
}

static int write_rows(struct export *export, const struct export_file *file)
{
    struct printed printed = {0};
    json_t *answer = NULL;
    int r = digest(export, file, &printed);
    if (r < 0 || printed.rows == 0)
        return r;
    r = offer(export, file, &printed, &answer);
    if (r == 0 && json_is_true(json_object_get(answer, "send"))) {
        json_decref(answer);
        answer = NULL;
        r = send_rows(export, file, &answer);
    }
    if (r == 0)
        count(&export->totals[file->table], answer);
    json_decref(answer);
    return r;
}

int cli_export_file(struct export *export, const struct export_file *file)
{
    int r = db_reader_begin(export->reader);
    if (r < 0)
        return r;
    r = write_rows(export, file);
    db_reader_end(export->reader);
    return r;
}
