#include "exchange/bars_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_gaps.h"
#include "exchange/bars_name.h"
#include "exchange/bars_reader.h"
#include "exchange/bars_session.h"
#include "exchange/fail.h"

static int fail_list(struct bars_reader *r, int err, const char *what, const char *right, va_list args)
{
    char text[280];
    vsnprintf(text, sizeof(text), right, args);
    for (char *c = text; *c; c++) /* it may quote the file */
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    if (r->line > 0 && r->json)
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s: row %lu: %s", what, r->path, r->line, text);
    else if (r->line > 0)
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s:%lu: %s", what, r->path, r->line, text);
    else
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s: %s", what, r->path, text);
    return err;
}

int bars_fail(struct bars_reader *r, int err, const char *what, const char *right, ...)
{
    va_list args;
    va_start(args, right);
    fail_list(r, err, what, right, args);
    va_end(args);
    return err;
}

int bars_fail_at(struct bars_reader *r, size_t row, int err, const char *what, const char *right, ...)
{
    va_list args;
    r->line = r->lines ? r->lines[row] : 0;
    va_start(args, right);
    fail_list(r, err, what, right, args);
    va_end(args);
    return err;
}

/* The next line that is not blank, or the next row of JSON: 1, 0 at the end, or an error. */
static int read_line(struct bars_reader *r)
{
    int rc = r->json ? bars_input_row(r->in, &r->text, &r->len) : bars_input_line(r->in, &r->text, &r->len);
    r->line = bars_input_number(r->in);
    if (rc == -EINVAL && r->json)
        return bars_fail(r, rc, "bad JSON", "[[time, open, high, low, close, volume], …] to its end (%s)",
                         bars_input_why(r->in));
    if (rc == -EINVAL)
        return bars_fail(r, rc, "bad row", "text lines of less than %d bytes", BARS_LINE_MAX);
    if (rc == -ENOMEM)
        return bars_fail(r, rc, "out of memory", "a smaller file");
    if (rc < 0)
        return bars_fail(r, rc, "cannot read on", "a whole file, plain or gzip (%s)", bars_input_why(r->in));
    return rc;
}

/* Splits the line at its separators, into `most` fields; strips spaces and one pair of quotes around a
 * field. */
static int split(struct bars_reader *r, int most)
{
    char *p = r->text, *line_end = p + r->len;
    if (r->line == 1 && !r->json && r->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (r->n_fields = 0; r->n_fields < most; p++) {
        if (r->n_fields == BARS_FIELDS_MAX)
            return bars_fail(r, -EINVAL, "bad row", "at most %d columns", BARS_FIELDS_MAX);
        char *end = memchr(p, r->separator, (size_t)(line_end - p));
        if (!end)
            end = line_end;
        char *start = p, *stop = end;
        while (start < stop && isspace((unsigned char)*start))
            start++;
        while (stop > start && isspace((unsigned char)stop[-1]))
            stop--;
        if (stop - start >= 2 && *start == '"' && stop[-1] == '"') {
            start++;
            stop--;
        }
        r->fields[r->n_fields++] = (struct bars_field){start, (size_t)(stop - start)};
        p = end;
        if (p == line_end)
            return 0;
    }
    return 0;
}

static int fail_reading(struct bars_reader *r, int err)
{
    return bars_fail(r, err, "cannot read on", "a whole file, plain or gzip (%s)", bars_input_why(r->in));
}

/* Is it text of bars, and of which form? */
static int find_form(struct bars_reader *r)
{
    const char *first;
    size_t n;
    int rc = bars_input_first(r->in, BARS_KIND_BYTES, &first, &n);
    if (rc < 0)
        return fail_reading(r, rc);
    const struct bars_kind *kind = bars_kind_find(first, n);
    if (kind)
        return bars_fail(r, -EINVAL, kind->what, "%s", kind->right);
    rc = bars_input_peek(r->in);
    if (rc < 0)
        return fail_reading(r, rc);
    r->json = rc == '[';
    return 0;
}

/* The first line, split into its fields. A line that names the file's source may be above it. */
static int read_first(struct bars_reader *r)
{
    int rc;
    do {
        if ((rc = read_line(r)) <= 0)
            return rc;
        r->separator = r->json || memchr(r->text, ',', r->len) ? ','
                       : memchr(r->text, ';', r->len)          ? ';'
                       : memchr(r->text, '\t', r->len)         ? '\t'
                                                               : ',';
        if ((rc = split(r, INT_MAX)) < 0)
            return rc;
    } while (r->line == 1 && r->n_fields == 1 && r->fields[0].len > 4 &&
             memcmp(r->fields[0].data, "http", 4) == 0);
    return 1;
}

static int fail_empty(struct bars_reader *r, bool header)
{
    r->line = 0; /* of all of the file */
    return bars_fail(r, -EINVAL, "no bars", "at least one row%s", header ? " below the header" : "");
}

static int read_all(struct bars_reader *r)
{
    int rc = find_form(r);
    if (rc == 0)
        rc = read_first(r);
    if (rc < 0)
        return rc;
    if (rc == 0 && r->json)
        return fail_empty(r, false);
    if (rc == 0)
        return bars_fail(r, -EINVAL, "empty file", "CSV with open_time, open, high, low, close, volume");
    bool header = !r->json && (r->fields[0].len == 0 || !isdigit((unsigned char)r->fields[0].data[0]));
    if ((rc = bars_columns_find(r, header)) < 0 || (!header && (rc = bars_row_read(r)) < 0))
        return rc;
    while ((rc = read_line(r)) > 0) {
        if ((rc = split(r, r->n_needed)) < 0 || (!bars_columns_more(r) && (rc = bars_row_read(r)) < 0))
            return rc;
    }
    return rc == 0 && r->out.n == 0 ? fail_empty(r, header) : rc;
}

int bars_file_symbol(const char *path, const char *symbol, char ret[static SYMBOL_NAME_MAX])
{
    struct bars_name name;
    size_t len = symbol ? strlen(symbol) : 0;
    if (symbol && (len == 0 || len >= SYMBOL_NAME_MAX))
        return -EINVAL;
    if (!symbol && bars_name_parse(path, &name) < 0)
        return -EINVAL;
    if (symbol)
        memcpy(ret, symbol, len + 1);
    else
        memcpy(ret, name.symbol, SYMBOL_NAME_MAX);
    return 0;
}

/* Finds the symbol, before the file is opened. */
static int take_name(struct bars_reader *r)
{
    const char *given = r->options->symbol;
    struct bars_name name;
    int rc = bars_name_parse(r->path, &name);
    r->interval_ns = name.interval_ns;
    if (!given && name.trades)
        return bars_fail(r, -EINVAL, "no bars",
                         "an archive of bars (klines), as BTCUSDT-5m-2025-04.csv; of trades "
                         "backtest takes --ticks");
    if (given || rc < 0)
        rc = bars_file_symbol(r->path, given, r->out.symbol);
    else
        memcpy(r->out.symbol, name.symbol, sizeof(name.symbol));
    if (rc < 0)
        return bars_fail(r, rc, "no symbol",
                         "a name like BTCUSDT_1m.csv, or --symbol, with 1 to %d letters, not \"%.60s\"",
                         SYMBOL_NAME_MAX - 1, given ? given : name.symbol);
    return 0;
}

static int open_zone(struct bars_reader *r)
{
    char why[ZONE_ERROR_MAX];
    const char *name = r->options->zone;
    int rc = name ? zone_open(name, &r->zone, why) : 0;
    return rc < 0 ? fail_with(rc, r->error, BARS_FILE_ERROR_MAX, "--zone: %s", why) : 0;
}

/* Once all rows are there: intervals, gaps and sessions. */
static int complete(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    out->bytes = bars_input_bytes(r->in);
    bars_session_dates(r);
    if (out->n == 1)
        out->interval_ns = r->interval_ns;
    else if (bars_file_set_interval(out, bars_gaps_interval(out)) < 0)
        return bars_fail(r, -ENOMEM, "out of memory", "a smaller file");
    return bars_session_find(r);
}

int bars_file_read_with(const char *path, const struct bars_file_options *options, struct bars_file *ret,
                        char error[static BARS_FILE_ERROR_MAX])
{
    struct bars_reader *r = calloc(1, sizeof(*r));
    int rc = -ENOMEM;

    if (!r) {
        snprintf(error, BARS_FILE_ERROR_MAX, "out of memory: %.200s: a smaller file", path);
        return rc;
    }
    r->path = path;
    r->options = options;
    r->error = error;
    if ((rc = take_name(r)) < 0 || (rc = open_zone(r)) < 0)
        goto out;
    rc = bars_input_open(path, options->sha256, &r->in);
    if (rc < 0) {
        bars_fail(r, rc, "cannot open", "a readable bars file (%s)", strerror(-rc));
        goto out;
    }
    rc = read_all(r);
    if (rc == 0)
        rc = complete(r);
    if (rc == 0)
        *ret = r->out;
out:
    bars_input_close(r->in);
    zone_close(r->zone);
    free(r->lines);
    if (rc < 0)
        bars_file_finish(&r->out);
    free(r);
    return rc;
}

int bars_file_read(const char *path, const char *symbol, struct bars_file *ret,
                   char error[static BARS_FILE_ERROR_MAX])
{
    const struct bars_file_options options = {.symbol = symbol};
    return bars_file_read_with(path, &options, ret, error);
}

size_t bars_row_at(const int64_t *open_time_ns, size_t n, int64_t ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (open_time_ns[middle] < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void bars_file_finish(struct bars_file *file)
{
    free(file->open_time_ns);
    free(file->open);
    free(file->high);
    free(file->low);
    free(file->close);
    free(file->volume);
    free(file->session);
    free(file->gaps);
    *file = (struct bars_file){0};
}
