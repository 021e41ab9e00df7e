/* A venue's archive files, read from the disk instead of asked for: SYMBOL-INTERVAL-YYYY-MM.zip and
 * SYMBOL-INTERVAL-YYYY-MM-DD.zip, of trades SYMBOL-aggTrades-…, each with NAME.zip.CHECKSUM beside it, in a
 * folder or below it (docs/history.md). A file that is not what it should be is named and left alone; its
 * rows are asked for. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/fetch_archive.h"
#include "cli/stored.h"
#include "cli/unzip.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"

enum {
    LINE_MAX_BYTES = 1024,
    BLOCK = 1 << 16,
    HASH_HEX = 64,
    OPEN_FILES = 16,
};

#define SECOND_NS 1000000000LL
#define ENDING    ".zip"
#define SUM       ".CHECKSUM"

/* ---- the sum ---- */

static int sum_of(const char *path, char hex[static HASH_HEX + 1])
{
    uint8_t block[BLOCK], digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : !hash || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1 ? -ENOMEM : 0;
    ssize_t n = 1;
    while (r == 0 && (n = read(fd, block, sizeof block)) > 0)
        r = EVP_DigestUpdate(hash, block, (size_t)n) == 1 ? 0 : -ENOMEM;
    if (n < 0)
        r = -errno;
    if (r == 0 && EVP_DigestFinal_ex(hash, digest, NULL) != 1)
        r = -ENOMEM;
    for (int i = 0; i < HASH_HEX / 2 && r == 0; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    EVP_MD_CTX_free(hash);
    if (fd >= 0)
        close(fd);
    return r;
}

/* As sha256sum writes it: the sum, two blanks, the name. */
static int check_sum(struct archive_reading *reading)
{
    char beside[PATH_MAX + sizeof SUM], hex[HASH_HEX + 1] = "", *said;
    size_t n;
    snprintf(beside, sizeof beside, "%s" SUM, reading->path);
    int r = whole_file_read(beside, LINE_MAX_BYTES, &said, &n);
    if (r < 0)
        return cli_archive_refuse(reading,
                                  r == -ENOENT ? "there is no " SUM " file beside it" : strerror(-r));
    r = sum_of(reading->path, hex);
    if (r == 0 && strncasecmp(said, hex, HASH_HEX) != 0)
        r = cli_archive_refuse(reading, "its " SUM " file has another sum: it is damaged, or was replaced");
    else if (r < 0)
        cli_archive_refuse(reading, strerror(-r));
    free(said);
    return r;
}

/* ---- the file ---- */

/* Lines of the entry, which may be cut between two blocks. */
static int read_lines(struct archive_reading *reading, struct unzip *unzip)
{
    const char *why;
    char block[BLOCK], line[LINE_MAX_BYTES];
    size_t len = 0;
    ssize_t n;
    int r = 0;
    while (r == 0 && (n = cli_unzip_read(unzip, block, sizeof block, &why)) != 0) {
        if (n < 0) {
            reading->line = 0;
            return cli_archive_refuse(reading, why);
        }
        for (ssize_t i = 0; i < n && r == 0; i++) {
            if (block[i] != '\n') {
                line[len++] = block[i];
                if (len == sizeof line)
                    r = cli_archive_refuse(reading, "the line is too long");
                continue;
            }
            line[len] = '\0';
            r = cli_archive_line(reading, line);
            len = 0;
        }
    }
    line[len < sizeof line ? len : sizeof line - 1] = '\0';
    return r == 0 && len > 0 ? cli_archive_line(reading, line) : r;
}

/* "BTCUSDT-1m-": what its name, and that of the file in it, begin with. */
static void put_head(const struct fetch *fetch, const char *symbol, char *ret, size_t size)
{
    snprintf(ret, size, "%s-%s-", symbol, fetch->trades ? "aggTrades" : cli_fetch_rows(fetch));
}

static int read_zip(struct archive_reading *reading, const char *head)
{
    struct unzip *unzip;
    const char *name, *why;
    if (cli_unzip_open(reading->path, &unzip, &name, &why) < 0)
        return cli_archive_refuse(reading, why);
    int r = strncmp(name, head, strlen(head)) == 0
                ? read_lines(reading, unzip)
                : cli_archive_refuse(reading, "the file in it is of another symbol or interval");
    reading->line = 0;
    cli_unzip_close(unzip);
    return r;
}

/* "BTCUSDT-1m-2025-04.zip": the period, where the name is the series'. */
static bool parse_name(const char *path, const char *head, struct archive_reading *ret)
{
    char rest[16];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int year, month, day = 0, used = 0;
    if (strncmp(name, head, strlen(head)) != 0)
        return false;
    snprintf(rest, sizeof rest, "%s", name + strlen(head));
    if (!(sscanf(rest, "%4d-%2d%n", &year, &month, &used) == 2 && strcmp(rest + used, ENDING) == 0) &&
        !(sscanf(rest, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && strcmp(rest + used, ENDING) == 0))
        return false;
    if (month < 1 || month > 12 || day < 0 || day > 31 || year < 1970)
        return false;
    struct tm begin = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day ? day : 1};
    struct tm end = {.tm_year = year - 1900, .tm_mon = month - (day > 0), .tm_mday = day + 1};
    ret->from_ns = (int64_t)timegm(&begin) * SECOND_NS;
    ret->end_ns = (int64_t)timegm(&end) * SECOND_NS;
    return true;
}

/* ---- the folder ---- */

/* nftw() has no context. */
static struct {
    char **paths;
    size_t n, room;
} found;

static int on_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    size_t len = strlen(path);
    (void)st, (void)ftw;
    if (kind != FTW_F || len < sizeof ENDING || strcmp(path + len - (sizeof ENDING - 1), ENDING) != 0)
        return 0;
    if (found.n == found.room) {
        size_t room = found.room ? 2 * found.room : 256;
        char **more = reallocarray(found.paths, room, sizeof *more);
        if (!more)
            return ENOMEM;
        found.paths = more;
        found.room = room;
    }
    found.paths[found.n] = strdup(path);
    return found.paths[found.n++] ? 0 : ENOMEM;
}

/* Longer names last: days, which a month has too, and which then are there already. */
static int compare_paths(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t n = strlen(strrchr(x, '/')), m = strlen(strrchr(y, '/'));
    return n != m ? (n > m) - (n < m) : strcmp(strrchr(x, '/'), strrchr(y, '/'));
}

/* Of trades, which may be too many to hold: once to see whether it is good, then into the store. */
static int read_file(struct archive_reading *reading, const char *head, struct history_store *store)
{
    int r = check_sum(reading);
    if (r == 0 && reading->interval_ns == 0 && (r = read_zip(reading, head)) == 0)
        reading->any = false;
    reading->store = store;
    reading->page_ns = reading->from_ns;
    if (r == 0)
        r = read_zip(reading, head);
    return r == 0 ? cli_archive_end(reading) : r;
}

/* Is it a file of the symbol's, and the range's? */
static bool read_one(struct fetch *fetch, size_t i, const char *path)
{
    struct history_job *job = &fetch->jobs[i];
    struct archive_reading reading = {
        .path = path, .symbol = job->symbol, .interval_ns = fetch->interval_ns, .asked_ns = fetch->now_ns};
    char head[SYMBOL_NAME_MAX + 16];
    int64_t from_ns, end_ns;
    put_head(fetch, fetch->symbols[i].name, head, sizeof head);
    if (!parse_name(path, head, &reading) || reading.end_ns <= fetch->from_ns ||
        reading.from_ns >= job->end_ns)
        return false;
    if (!history_store_lacks(job->store, reading.from_ns, reading.end_ns, &from_ns, &end_ns))
        return true;
    if (read_file(&reading, head, job->store) < 0)
        fprintf(stderr, "papertape: %s: %s: %s; it is left alone, and its %ss are asked for\n",
                fetch->asked->verb, path, reading.err, cli_fetch_row(fetch));
    fetch->symbols[i].archived += reading.put;
    cli_archive_finish(&reading);
    return true;
}

int cli_fetch_archive(struct fetch *fetch)
{
    const char *folder = fetch->asked->archive;
    bool any = false;
    int r = nftw(folder, on_file, OPEN_FILES, FTW_PHYS);
    if (r != 0)
        r = fail_with(r < 0 ? -errno : -r, fetch->err, sizeof fetch->err, "%s: %s", folder,
                      strerror(r < 0 ? errno : r));
    if (r == 0 && found.n > 0)
        qsort(found.paths, found.n, sizeof *found.paths, compare_paths);
    for (size_t k = 0; k < found.n; k++) {
        for (size_t i = 0; i < fetch->n && r == 0; i++)
            if (!fetch->jobs[i].error)
                any |= read_one(fetch, i, found.paths[k]);
        free(found.paths[k]);
    }
    free(found.paths);
    if (r == 0 && !any)
        fprintf(stderr, "papertape: %s: --archive %s: no file there is of these symbols, %s and time\n",
                fetch->asked->verb, folder, fetch->trades ? "trades" : "interval");
    return r;
}
