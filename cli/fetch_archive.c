/* A venue's archive files, read from the disk instead of asked for: SYMBOL-INTERVAL-YYYY-MM.zip and
 * SYMBOL-INTERVAL-YYYY-MM-DD.zip, each with NAME.zip.CHECKSUM beside it, in a folder or below it
 * (docs/history.md). A file that is not what it should be is named and left alone; its bars are asked for. */
#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/fetch.h"
#include "cli/stored.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"

enum {
    COLUMNS = 12,
    LINE_MAX_BYTES = 1024,
    BLOCK = 1 << 16,
    RUN_MAX = 1 << 18, /* bars of a page of the store */
    HASH_HEX = 64,
    OPEN_FILES = 16,
};

#define SECOND_NS 1000000000LL
#define ENDING    ".zip"
#define SUM       ".CHECKSUM"

struct reading {
    const char *path;
    const struct symbol *symbol;
    int64_t interval_ns, from_ns, end_ns; /* the period that its name says */
    struct bar *bars;
    size_t n, room;
    size_t line;
    char err[FETCH_ERROR_MAX];
};

static int refuse(struct reading *reading, const char *what)
{
    return reading->line > 0
               ? fail_with(-EBADMSG, reading->err, sizeof reading->err, "line %zu: %s", reading->line, what)
               : fail_with(-EBADMSG, reading->err, sizeof reading->err, "%s", what);
}

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
static int check_sum(struct reading *reading)
{
    char beside[PATH_MAX + sizeof SUM], hex[HASH_HEX + 1] = "", *said;
    size_t n;
    snprintf(beside, sizeof beside, "%s" SUM, reading->path);
    int r = whole_file_read(beside, LINE_MAX_BYTES, &said, &n);
    if (r < 0)
        return refuse(reading, r == -ENOENT ? "there is no " SUM " file beside it" : strerror(-r));
    r = sum_of(reading->path, hex);
    if (r == 0 && strncasecmp(said, hex, HASH_HEX) != 0)
        r = refuse(reading, "its " SUM " file has another sum: it is damaged, or was replaced");
    else if (r < 0)
        refuse(reading, strerror(-r));
    free(said);
    return r;
}

/* ---- rows ---- */

static bool split(char *line, const char *cells[static COLUMNS], size_t *ret_n)
{
    size_t n = 0;
    for (char *cell = line; cell; n++) {
        char *comma = strchr(cell, ',');
        if (comma)
            *comma++ = '\0';
        if (n < COLUMNS)
            cells[n] = cell;
        cell = comma;
    }
    *ret_n = n;
    return n == COLUMNS;
}

/* In milliseconds, from 2025 on in microseconds. */
static bool parse_time(const char *text, int64_t *ret_ns)
{
    int64_t value;
    if (decimal_parse_str(text, 0, &value) < 0 || value < 0)
        return false;
    bool micro = value >= 100000000000000;
    if (value > INT64_MAX / (micro ? 1000 : 1000000))
        return false;
    *ret_ns = value * (micro ? 1000 : 1000000);
    return true;
}

static int parse_bar(struct reading *reading, const char *const cells[static COLUMNS], struct bar *ret)
{
    const int price = reading->symbol->price_scale, qty = reading->symbol->qty_scale;
    struct bar bar = {.first_trade_id = -1, .last_trade_id = -1};
    if (!parse_time(cells[0], &bar.open_ns))
        return refuse(reading, "its time is no number of milliseconds or microseconds");
    int64_t *const prices[] = {&bar.open, &bar.high, &bar.low, &bar.close};
    for (int i = 0; i < 4; i++)
        if (decimal_parse_str(cells[1 + i], price, prices[i]) < 0)
            return refuse(reading, "a price is no number, or has too many digits");
    if (decimal_parse128(cells[5], strlen(cells[5]), qty, &bar.volume) < 0 ||
        decimal_parse128(cells[7], strlen(cells[7]), price + qty, &bar.quote_volume) < 0 ||
        decimal_parse_str(cells[8], 0, &bar.trades) < 0)
        return refuse(reading, "a volume or the number of trades is no number");
    if (bar.low <= 0 || bar.open < bar.low || bar.close < bar.low || bar.open > bar.high ||
        bar.close > bar.high)
        return refuse(reading, "a price is not above 0, or open or close lie outside low to high");
    if (bar.open_ns < reading->from_ns || bar.open_ns >= reading->end_ns)
        return refuse(reading, "its time is not in the period that the file's name says");
    if (bar_open_time(bar.open_ns, reading->interval_ns) != bar.open_ns ||
        (reading->n > 0 && bar.open_ns <= reading->bars[reading->n - 1].open_ns))
        return refuse(reading, "its time is no bar's, or does not rise");
    *ret = bar;
    return 0;
}

static int take_line(struct reading *reading, char *line)
{
    const char *cells[COLUMNS];
    struct bar bar;
    size_t n;
    line[strcspn(line, "\r")] = '\0';
    reading->line++;
    if (reading->line == 1 && isalpha((unsigned char)line[0]))
        return strncmp(line, "open_time,", 10) == 0
                   ? 0
                   : refuse(reading, "its columns are others than those of bars");
    if (line[0] == '\0')
        return 0;
    if (!split(line, cells, &n))
        return refuse(reading, "bars have twelve columns");
    int r = parse_bar(reading, cells, &bar);
    if (r == 0 && reading->n == reading->room) {
        size_t room = reading->room ? 2 * reading->room : 4096;
        struct bar *more = reallocarray(reading->bars, room, sizeof *more);
        if (!more)
            return fail_with(-ENOMEM, reading->err, sizeof reading->err, "out of memory");
        reading->bars = more;
        reading->room = room;
    }
    if (r == 0)
        reading->bars[reading->n++] = bar;
    return r;
}

/* Lines of the entry, which may be cut between two blocks. */
static int read_lines(struct reading *reading, struct archive *archive)
{
    char block[BLOCK], line[LINE_MAX_BYTES];
    size_t len = 0;
    la_ssize_t n;
    int r = 0;
    while (r == 0 && (n = archive_read_data(archive, block, sizeof block)) != 0) {
        if (n < 0)
            return refuse(reading, "it is damaged or cut off");
        for (la_ssize_t i = 0; i < n && r == 0; i++) {
            if (block[i] != '\n') {
                line[len++] = block[i];
                if (len == sizeof line)
                    r = refuse(reading, "the line is too long");
                continue;
            }
            line[len] = '\0';
            r = take_line(reading, line);
            len = 0;
        }
    }
    line[len < sizeof line ? len : sizeof line - 1] = '\0';
    return r == 0 && len > 0 ? take_line(reading, line) : r;
}

static int read_zip(struct reading *reading)
{
    struct archive_entry *entry;
    struct archive *archive = archive_read_new();
    int r = 0;
    if (!archive || archive_read_support_format_zip(archive) != ARCHIVE_OK)
        r = fail_with(-ENOMEM, reading->err, sizeof reading->err, "out of memory");
    else if (archive_read_open_filename(archive, reading->path, BLOCK) != ARCHIVE_OK ||
             archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        r = refuse(reading, "it is no zip file, or cut off");
    else
        r = read_lines(reading, archive);
    reading->line = 0;
    if (r == 0 && archive_read_next_header(archive, &entry) != ARCHIVE_EOF)
        r = refuse(reading, "it has another file beside the bars, or is cut off");
    archive_read_free(archive);
    return r;
}

/* ---- into the store ---- */

/* Bars without a hole between them: what lies in a hole is asked for, as is what the file has not. */
static int put_runs(struct reading *reading, struct history_store *store, int64_t asked_ns,
                    uint64_t *archived)
{
    int r = 0;
    for (size_t first = 0, end; first < reading->n && r == 0; first = end) {
        end = first + 1;
        while (end < reading->n && end - first < RUN_MAX &&
               reading->bars[end].open_ns == reading->bars[end - 1].open_ns + reading->interval_ns)
            end++;
        r = history_store_add(store, asked_ns, reading->bars[first].open_ns,
                              reading->bars[end - 1].open_ns + reading->interval_ns, &reading->bars[first],
                              end - first, NULL);
        *archived += r == 0 ? end - first : 0;
    }
    return r < 0 ? refuse(reading, strerror(-r)) : 0;
}

/* "BTCUSDT-1m-2025-04.zip": the period, where the name is the series'. */
static bool parse_name(const char *path, const char *symbol, const char *interval, struct reading *ret)
{
    char head[SYMBOL_NAME_MAX + 16], rest[16];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int year, month, day = 0, used = 0, n = snprintf(head, sizeof head, "%s-%s-", symbol, interval);
    if (strncmp(name, head, (size_t)n) != 0)
        return false;
    snprintf(rest, sizeof rest, "%s", name + n);
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

static void read_one(struct fetch *fetch, size_t i, const char *path)
{
    struct history_job *job = &fetch->jobs[i];
    struct reading reading = {.path = path, .symbol = job->symbol, .interval_ns = fetch->interval_ns};
    int64_t from_ns, end_ns;
    if (!parse_name(path, fetch->symbols[i].name, bar_interval_name(fetch->interval_ns), &reading) ||
        reading.end_ns <= fetch->from_ns || reading.from_ns >= job->end_ns ||
        !history_store_lacks(job->store, reading.from_ns, reading.end_ns, &from_ns, &end_ns))
        return;
    int r = check_sum(&reading);
    if (r == 0)
        r = read_zip(&reading);
    if (r == 0)
        r = put_runs(&reading, job->store, fetch->now_ns, &fetch->symbols[i].archived);
    if (r < 0)
        fprintf(stderr, "papertape: fetch: %s: %s; it is left alone, and its bars are asked for\n", path,
                reading.err);
    free(reading.bars);
}

int cli_fetch_archive(struct fetch *fetch)
{
    const char *folder = fetch->asked->archive;
    int r = nftw(folder, on_file, OPEN_FILES, FTW_PHYS);
    if (r != 0)
        r = fail_with(r < 0 ? -errno : -r, fetch->err, sizeof fetch->err, "%s: %s", folder,
                      strerror(r < 0 ? errno : r));
    if (r == 0 && found.n > 0)
        qsort(found.paths, found.n, sizeof *found.paths, compare_paths);
    for (size_t k = 0; k < found.n; k++) {
        for (size_t i = 0; i < fetch->n && r == 0; i++)
            if (!fetch->jobs[i].error)
                read_one(fetch, i, found.paths[k]);
        free(found.paths[k]);
    }
    free(found.paths);
    return r;
}
