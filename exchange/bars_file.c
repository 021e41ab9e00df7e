#include "exchange/bars_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_gaps.h"
#include "exchange/bars_input.h"
#include "exchange/bars_name.h"
#include "exchange/bars_number.h"
#include "exchange/symbol.h"

enum { FIELDS_MAX = 256, NO_COLUMN = -1 };

enum column { COL_TIME, COL_OPEN, COL_HIGH, COL_LOW, COL_CLOSE, COL_VOLUME, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "open_time or timestamp", "open", "high", "low", "close", "volume"};

/* The first of them that is there is the time; the last ones, what pandas and yfinance make of an index
 * without a name, only as the first column. */
static const char *const time_names[] = {"open_time", "timestamp", "datetime",   "date",
                                         "time",      "",          "unnamed:_0", "price"};
enum { TIME_NAMES = sizeof(time_names) / sizeof(*time_names), OF_FIRST_COLUMN = 5 };

struct field {
    char *data;
    size_t len;
};

struct reader {
    const char *path;
    const struct bars_file_options *options;
    struct bars_input *in;
    bool json;
    unsigned long line;
    char *error;
    char *text; /* the line */
    size_t len;
    struct field fields[FIELDS_MAX];
    int n_fields;
    int where[COLUMNS]; /* field index of each column */
    int n_needed;       /* fields up to the last of them */
    bool more_names;    /* lines of names may follow the header */
    size_t cap;
    int64_t interval_ns; /* by the file's name, or 0 */
    struct bars_file out;
};

__attribute__((format(printf, 4, 5))) static int fail(struct reader *r, int err, const char *what,
                                                      const char *right, ...)
{
    char text[256];
    va_list args;
    va_start(args, right);
    vsnprintf(text, sizeof(text), right, args);
    va_end(args);
    if (r->line > 0 && r->json)
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s: row %lu: %s", what, r->path, r->line, text);
    else if (r->line > 0)
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s:%lu: %s", what, r->path, r->line, text);
    else
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s: %s", what, r->path, text);
    return err;
}

/* The next line that is not blank, or the next row of JSON: 1, 0 at the end, or an error. */
static int read_line(struct reader *r)
{
    int rc = r->json ? bars_input_row(r->in, &r->text, &r->len) : bars_input_line(r->in, &r->text, &r->len);
    r->line = bars_input_number(r->in);
    if (rc == -EINVAL && r->json)
        return fail(r, rc, "bad JSON", "[[time, open, high, low, close, volume], …] to its end (%s)",
                    bars_input_why(r->in));
    if (rc == -EINVAL)
        return fail(r, rc, "bad row", "text lines of less than %d bytes", BARS_LINE_MAX);
    if (rc == -ENOMEM)
        return fail(r, rc, "out of memory", "a smaller file");
    if (rc < 0)
        return fail(r, rc, "cannot read on", "a whole file, plain or gzip (%s)", bars_input_why(r->in));
    return rc;
}

/* Cuts the line at its commas, as far as `most` fields; spaces and one pair of quotes around a field go. */
static int split(struct reader *r, int most)
{
    char *p = r->text, *line_end = p + r->len;
    if (r->line == 1 && !r->json && r->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (r->n_fields = 0; r->n_fields < most; p++) {
        if (r->n_fields == FIELDS_MAX)
            return fail(r, -EINVAL, "bad row", "at most %d columns", FIELDS_MAX);
        char *end = memchr(p, ',', (size_t)(line_end - p));
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
        r->fields[r->n_fields++] = (struct field){start, (size_t)(stop - start)};
        p = end;
        if (p == line_end)
            return 0;
    }
    return 0;
}

static bool name_is(const struct field *field, const char *name)
{
    if (field->len != strlen(name))
        return false;
    for (size_t i = 0; i < field->len; i++) {
        char c = (char)tolower((unsigned char)field->data[i]);
        if (c == ' ')
            c = '_';
        if (c != name[i])
            return false;
    }
    return true;
}

/* The field of the time: by the best of its names that is there. */
static int find_time(const struct reader *r)
{
    for (int name = 0; name < TIME_NAMES; name++)
        for (int i = 0; i < (name < OF_FIRST_COLUMN ? r->n_fields : 1); i++)
            if (name_is(&r->fields[i], time_names[name]))
                return i;
    return NO_COLUMN;
}

static int read_header(struct reader *r)
{
    static const char *const names[COLUMNS] = {"open_time", "open", "high", "low", "close", "volume"};
    for (int c = 0; c < COLUMNS; c++)
        r->where[c] = NO_COLUMN;
    for (int i = 0; i < r->n_fields; i++)
        for (int c = 0; c < COLUMNS; c++) {
            if (!name_is(&r->fields[i], names[c]))
                continue;
            if (r->where[c] != NO_COLUMN)
                return fail(r, -EINVAL, "bad header", "one column %s, not two", names[c]);
            r->where[c] = i;
        }
    r->where[COL_TIME] = find_time(r);
    for (int c = 0; c < COLUMNS; c++)
        if (r->where[c] == NO_COLUMN)
            return fail(r, -EINVAL, "bad header",
                        "a column %s (needed: open_time, timestamp, datetime or date, and open, high, low, "
                        "close, volume)",
                        column_names[c]);
    r->more_names = name_is(&r->fields[0], "price");
    return 0;
}

/* yfinance's second and third line of names: "Ticker,AAPL,…" and "Date,,,,,". */
static bool is_names(struct reader *r)
{
    const struct field *first = &r->fields[0];
    r->more_names =
        r->more_names && (name_is(first, "ticker") || name_is(first, "date") || name_is(first, "datetime"));
    return r->more_names;
}

bool bars_file_grow(struct bars_file *file, size_t *cap)
{
    double **columns[] = {&file->open, &file->high, &file->low, &file->close, &file->volume};
    size_t more = *cap ? *cap * 2 : 4096;
    int64_t *times = reallocarray(file->open_time_ns, more, sizeof(*times));
    if (!times)
        return false;
    file->open_time_ns = times;
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        double *column = reallocarray(*columns[i], more, sizeof(*column));
        if (!column)
            return false;
        *columns[i] = column;
    }
    *cap = more;
    return true;
}

/* What stands in the row, as a time and numbers. */
static int parse_row(struct reader *r, int64_t *ret_ns, double value[static COLUMNS])
{
    struct bars_file *out = &r->out;
    int digits = out->price_digits;
    if (r->n_needed > r->n_fields)
        for (int c = 0; c < COLUMNS; c++)
            if (r->where[c] >= r->n_fields)
                return fail(r, -EINVAL, "bad row", "a column %s; the row has %d columns", column_names[c],
                            r->n_fields);
    const struct field *time = &r->fields[r->where[COL_TIME]];
    if (bars_time_parse(time->data, time->len, ret_ns) != 0)
        return fail(r, -EINVAL, "bad time", "ISO 8601 or an epoch in s, ms, us or ns, not \"%.*s\"",
                    (int)(time->len < 60 ? time->len : 60), time->data);
    for (int c = COL_OPEN; c < COLUMNS; c++) {
        const struct field *field = &r->fields[r->where[c]];
        if (!bars_number(field->data, field->len, &value[c],
                         c == COL_VOLUME ? &out->volume_digits : &out->price_digits))
            return fail(r, -EINVAL, "bad number", "a finite decimal number as %s, not \"%.*s\"",
                        column_names[c], (int)(field->len < 60 ? field->len : 60), field->data);
    }
    if (out->price_digits > digits || out->n == 0)
        out->digits_line = r->line;
    return 0;
}

/* Can it be a bar that follows the one before? */
static int check_row(struct reader *r, int64_t ts_ns, double value[static COLUMNS])
{
    struct bars_file *out = &r->out;
    double high = value[COL_HIGH], low = value[COL_LOW];
    if (high < low)
        return fail(r, -EINVAL, "high is below low", "high >= low, not %.15g < %.15g", high, low);
    if (bars_widen(value[COL_OPEN], &value[COL_HIGH], &value[COL_LOW], value[COL_CLOSE])) {
        bool open = value[COL_OPEN] < low || value[COL_OPEN] > high;
        if (!r->options->repair)
            return fail(r, -EINVAL, open ? "open is outside low to high" : "close is outside low to high",
                        "%.15g to %.15g, not %.15g", low, high, value[open ? COL_OPEN : COL_CLOSE]);
        out->repaired++;
    }
    if (value[COL_VOLUME] < 0)
        return fail(r, -EINVAL, "negative volume", "volume >= 0, not %.15g", value[COL_VOLUME]);
    if (out->n > 0 && ts_ns <= out->open_time_ns[out->n - 1])
        return fail(r, -EINVAL, "time does not rise",
                    "a time after the row before, %" PRId64 " ns, not %" PRId64 " ns",
                    out->open_time_ns[out->n - 1], ts_ns);
    return 0;
}

static int read_row(struct reader *r)
{
    struct bars_file *out = &r->out;
    double value[COLUMNS];
    int64_t ts_ns;
    int rc = parse_row(r, &ts_ns, value);
    if (rc == 0)
        rc = check_row(r, ts_ns, value);
    if (rc < 0)
        return rc;
    if (out->n == r->cap && !bars_file_grow(out, &r->cap))
        return fail(r, -ENOMEM, "out of memory", "a smaller file");
    out->open_time_ns[out->n] = ts_ns;
    out->open[out->n] = value[COL_OPEN];
    out->high[out->n] = value[COL_HIGH];
    out->low[out->n] = value[COL_LOW];
    out->close[out->n] = value[COL_CLOSE];
    out->volume[out->n] = value[COL_VOLUME];
    out->n++;
    return 0;
}

/* Where the columns are, of which `first` is: a header, or an archive's. */
static int find_columns(struct reader *r, bool header)
{
    int rc = header ? read_header(r) : 0;
    if (rc < 0)
        return rc;
    for (int c = 0; c < COLUMNS; c++) {
        if (!header)
            r->where[c] = c;
        if (r->where[c] >= r->n_needed)
            r->n_needed = r->where[c] + 1;
    }
    return 0;
}

static int read_all(struct reader *r)
{
    int rc = bars_input_peek(r->in);
    r->json = rc == '[';
    if (rc >= 0)
        rc = read_line(r);
    else
        return fail(r, rc, "cannot read on", "a whole file, plain or gzip (%s)", bars_input_why(r->in));
    if (rc < 0)
        return rc;
    if (rc == 0)
        return fail(r, -EINVAL, "empty file", "CSV with open_time, open, high, low, close, volume");
    if ((rc = split(r, INT_MAX)) < 0)
        return rc;
    bool header = !r->json && (r->fields[0].len == 0 || !isdigit((unsigned char)r->fields[0].data[0]));
    if ((rc = find_columns(r, header)) < 0 || (!header && (rc = read_row(r)) < 0))
        return rc;
    while ((rc = read_line(r)) > 0) {
        if ((rc = split(r, r->n_needed)) < 0 || (!is_names(r) && (rc = read_row(r)) < 0))
            return rc;
    }
    return rc;
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

/* Whose bars they are, before the file is opened. */
static int take_name(struct reader *r)
{
    const char *given = r->options->symbol;
    struct bars_name name;
    int rc = bars_name_parse(r->path, &name);
    r->interval_ns = name.interval_ns;
    if (!given && name.trades)
        return fail(r, -EINVAL, "no bars",
                    "an archive of bars (klines), as BTCUSDT-5m-2025-04.csv; of trades "
                    "backtest takes --ticks");
    if (given || rc < 0)
        rc = bars_file_symbol(r->path, given, r->out.symbol);
    else
        memcpy(r->out.symbol, name.symbol, sizeof(name.symbol));
    if (rc < 0)
        return fail(r, rc, "no symbol",
                    "a name like BTCUSDT_1m.csv, or --symbol, with 1 to %d letters, not \"%.60s\"",
                    SYMBOL_NAME_MAX - 1, given ? given : name.symbol);
    return 0;
}

int bars_file_read_with(const char *path, const struct bars_file_options *options, struct bars_file *ret,
                        char error[static BARS_FILE_ERROR_MAX])
{
    struct reader *r = calloc(1, sizeof(*r));
    int rc = -ENOMEM;

    if (!r) {
        snprintf(error, BARS_FILE_ERROR_MAX, "out of memory: %.200s: a smaller file", path);
        return rc;
    }
    r->path = path;
    r->options = options;
    r->error = error;
    if ((rc = take_name(r)) < 0)
        goto out;
    rc = bars_input_open(path, options->sha256, &r->in);
    if (rc < 0) {
        fail(r, rc, "cannot open", "a readable bars file (%s)", strerror(-rc));
        goto out;
    }
    rc = read_all(r);
    r->out.bytes = bars_input_bytes(r->in);
    if (rc == 0 && r->out.n >= 2 && (rc = bars_file_set_interval(&r->out, bars_gaps_interval(&r->out))) < 0)
        fail(r, rc, "out of memory", "a smaller file");
    if (rc == 0 && r->out.n == 1)
        r->out.interval_ns = r->interval_ns;
    if (rc == 0)
        *ret = r->out;
out:
    bars_input_close(r->in);
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

void bars_file_finish(struct bars_file *file)
{
    free(file->open_time_ns);
    free(file->open);
    free(file->high);
    free(file->low);
    free(file->close);
    free(file->volume);
    free(file->gaps);
    *file = (struct bars_file){0};
}
