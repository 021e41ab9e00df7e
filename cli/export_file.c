/* One file of a lake: its rows are read twice within one snapshot, first for their digest, and only where the
 * lake does not have them yet through the pipe; so memory is bounded here. */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <time.h>

#include "cli/export.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"

const char *const cli_export_names[EXPORT_TABLES] = {"bars", "fills", "orders", "ledger", "equity"};

enum { DIGEST = 32, BUFFER = 1 << 16 };

/* Where printed rows go: they are counted and hashed, and sent where there is a process. */
struct sink {
    EVP_MD_CTX *hash;
    struct lake_python *python;
    uint64_t bytes;
    bool failed;
};

static ssize_t take(void *ctx, const char *bytes, size_t n)
{
    struct sink *sink = ctx;
    sink->failed |= EVP_DigestUpdate(sink->hash, bytes, n) != 1;
    if (sink->python && !sink->failed && !cli_lake_send_bytes(sink->python, bytes, n))
        sink->failed = true;
    sink->bytes += n;
    return (ssize_t)n;
}

struct printed {
    uint64_t rows, bytes;
    char sha256[2 * DIGEST + 1];
    bool failed;
};

/* Prints the rows. 0 or -errno; where the process no longer reads, printed->failed. */
static int print(struct export *export, const struct export_file *file, struct lake_python *python,
                 struct printed *ret)
{
    unsigned char digest[DIGEST];
    struct sink sink = {.hash = EVP_MD_CTX_new(), .python = python};
    FILE *out = NULL;
    int r = -ENOMEM;
    if (sink.hash && EVP_DigestInit_ex(sink.hash, EVP_sha256(), NULL) == 1)
        out = fopencookie(&sink, "w", (cookie_io_functions_t){.write = take});
    if (out && setvbuf(out, NULL, _IOFBF, BUFFER) == 0) {
        r = file->rows(export, file->ctx, out, &ret->rows);
        sink.failed |= fflush(out) != 0;
    }
    if (out)
        fclose(out);
    if (r == 0 && EVP_DigestFinal_ex(sink.hash, digest, NULL) != 1)
        r = -ENOMEM;
    EVP_MD_CTX_free(sink.hash);
    for (int i = 0; r == 0 && i < DIGEST; i++)
        snprintf(ret->sha256 + 2 * i, 3, "%02x", digest[i]);
    ret->bytes = sink.bytes;
    ret->failed = sink.failed;
    return r;
}

static const char *date_of(int64_t day, char date[static 16])
{
    time_t seconds = (time_t)(day * 86400);
    struct tm clock;
    gmtime_r(&seconds, &clock);
    strftime(date, 16, "%Y-%m-%d", &clock);
    return date;
}

/* The line of an error is printed already. */
static int refused(struct export *export)
{
    export->status = EXIT_ERROR;
    return -ECANCELED;
}

static int next_answer(struct export *export, json_t **ret)
{
    return cli_lake_answer(export->python, ret) == EXIT_OK ? 0 : refused(export);
}

/* Does the lake lack these rows? 1, 0, or -errno. */
static int offer(struct export *export, const struct export_file *file, const struct printed *printed)
{
    char date[16];
    json_t *answer = NULL;
    cli_lake_send(export->python,
                  json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "table", cli_export_names[file->table], "name",
                            file->name, "date", date_of(file->day, date), "rows", (json_int_t)printed->rows,
                            "bytes", (json_int_t)printed->bytes, "sha256", printed->sha256));
    int r = next_answer(export, &answer);
    bool lacks = r == 0 && json_is_true(json_object_get(answer, "send"));
    json_decref(answer);
    return r < 0 ? r : lacks;
}

static int send_rows(struct export *export, const struct export_file *file)
{
    struct printed printed = {0};
    json_t *keep = NULL;
    int r = file->keep(export, file->ctx, &keep);
    if (r < 0)
        return r;
    cli_lake_send(export->python, json_pack("{s:o, s:o}", "columns", file->columns(file->ctx), "keep", keep));
    return print(export, file, export->python, &printed);
}

static int count(struct export *export, const struct export_file *file)
{
    struct export_totals *totals = &export->totals[file->table];
    json_t *answer = NULL;
    int r = next_answer(export, &answer);
    if (r < 0)
        return r;
    if (json_is_true(json_object_get(answer, "written")))
        totals->written++;
    else
        totals->unchanged++;
    totals->rows += (uint64_t)json_integer_value(json_object_get(answer, "rows"));
    totals->kept += (uint64_t)json_integer_value(json_object_get(answer, "kept"));
    json_decref(answer);
    return 0;
}

int cli_export_file(struct export *export, const struct export_file *file)
{
    struct printed printed = {0};
    int lacks = 0, r = db_reader_begin(export->reader);
    if (r < 0)
        return r;
    r = print(export, file, NULL, &printed);
    if (r == 0 && printed.rows > 0)
        r = lacks = offer(export, file, &printed);
    if (lacks > 0)
        r = send_rows(export, file);
    db_reader_end(export->reader);
    if (r < 0 || printed.rows == 0)
        return r;
    export->totals[file->table].files++;
    if (lacks > 0)
        return count(export, file);
    export->totals[file->table].unchanged++;
    export->totals[file->table].rows += printed.rows;
    return 0;
}

void cli_export_column(json_t *columns, const char *name, const char *type)
{
    size_t n = strlen(name);
    if (strcmp(type, "time") == 0 && n > 3 && strcmp(name + n - 3, "_ns") == 0)
        n -= 3;
    json_array_append_new(columns, json_pack("[o, s]", json_stringn(name, n), type));
}

void cli_export_progress(struct export *export, int64_t first, int64_t day, int64_t last)
{
    cli_progress_show(&export->progress, (double)(day - first) / (double)(last - first + 1));
}
