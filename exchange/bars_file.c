#include "exchange/bars_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "exchange/decimal.h"

enum {
    LINE_MAX_BYTES = 65536,
    FIELDS_MAX = 256,
    NUMBER_MAX = 64,
};

enum column { COL_TIME, COL_OPEN, COL_HIGH, COL_LOW, COL_CLOSE, COL_VOLUME, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "open_time or timestamp", "open", "high", "low", "close", "volume"};

struct field {
    char *data;
    size_t len;
};

struct reader {
    const char *path;
    gzFile in;
    unsigned long line;
    char *error;
    char *buf; /* LINE_MAX_BYTES */
    struct field fields[FIELDS_MAX];
    int n_fields;
    int where[COLUMNS]; /* field index of each column */
    size_t cap;
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
    if (r->line > 0)
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s:%lu: %s", what, r->path, r->line, text);
    else
        snprintf(r->error, BARS_FILE_ERROR_MAX, "%s: %.200s: %s", what, r->path, text);
    return err;
}

/* The next line that is not blank: 1, 0 at the end, or an error. */
static int read_line(struct reader *r)
{
    for (;;) {
        bool got = gzgets(r->in, r->buf, LINE_MAX_BYTES) != NULL;
        size_t len = got ? strlen(r->buf) : 0;
        r->line += got;
        if (len == 0 || r->buf[len - 1] != '\n') { /* the last line, or a stream that broke off */
            int code;
            const char *text = gzerror(r->in, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                return fail(r, -EIO, "cannot read on", "a whole file, plain or gzip (%s)",
                            code == Z_ERRNO ? strerror(errno) : text);
            if (!got)
                return 0;
            if (len == LINE_MAX_BYTES - 1)
                return fail(r, -EINVAL, "bad row", "text lines of less than %d bytes", LINE_MAX_BYTES);
        }
        while (len > 0 && isspace((unsigned char)r->buf[len - 1]))
            r->buf[--len] = '\0';
        if (len > 0)
            return 1;
    }
}

/* Cuts the line at its commas; spaces and one pair of quotes around a field go. */
static int split(struct reader *r)
{
    char *p = r->buf;
    if (r->line == 1 && strncmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (r->n_fields = 0;; p++) {
        if (r->n_fields == FIELDS_MAX)
            return fail(r, -EINVAL, "bad row", "at most %d columns", FIELDS_MAX);
        char *end = strchrnul(p, ',');
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
        if (*p == '\0')
            return 0;
    }
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

static int read_header(struct reader *r)
{
    static const char *const names[] = {"open_time", "open", "high", "low", "close", "volume"};
    int timestamp = -1;
    for (int c = 0; c < COLUMNS; c++)
        r->where[c] = -1;
    for (int i = 0; i < r->n_fields; i++) {
        if (name_is(&r->fields[i], "timestamp"))
            timestamp = i;
        for (int c = 0; c < COLUMNS; c++) {
            if (!name_is(&r->fields[i], names[c]))
                continue;
            if (r->where[c] >= 0)
                return fail(r, -EINVAL, "bad header", "one column %s, not two", names[c]);
            r->where[c] = i;
        }
    }
    if (r->where[COL_TIME] < 0)
        r->where[COL_TIME] = timestamp;
    for (int c = 0; c < COLUMNS; c++)
        if (r->where[c] < 0)
            return fail(r, -EINVAL, "bad header",
                        "a column %s (needed: open_time or timestamp, open, high, low, close, volume)",
                        column_names[c]);
    return 0;
}

/* Reads a finite decimal number and raises *digits to its digits after the point. */
static bool read_number(const struct field *field, double *ret, int *digits)
{
    char text[NUMBER_MAX];
    char *end;
    if (field->len == 0 || field->len >= sizeof(text) || strspn(field->data, "+-.0123456789eE") < field->len)
        return false;
    memcpy(text, field->data, field->len);
    text[field->len] = '\0';
    double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    size_t mantissa = strcspn(text, "eE");
    const char *point = memchr(text, '.', mantissa);
    long after = 0;
    if (point) {
        size_t last = mantissa;
        while (text[last - 1] == '0')
            last--;
        after = &text[last - 1] - point;
    }
    if (text[mantissa] != '\0')
        after -= strtol(&text[mantissa + 1], NULL, 10);
    if (after > DECIMAL_SCALE_MAX)
        after = DECIMAL_SCALE_MAX;
    if (after > *digits)
        *digits = (int)after;
    *ret = value;
    return true;
}

static int grow(struct reader *r)
{
    if (r->out.n < r->cap)
        return 0;
    size_t cap = r->cap ? r->cap * 2 : 4096;
    double **columns[] = {&r->out.open, &r->out.high, &r->out.low, &r->out.close, &r->out.volume};
    int64_t *times = reallocarray(r->out.open_time_ns, cap, sizeof(*times));
    if (!times)
        return fail(r, -ENOMEM, "out of memory", "a smaller file");
    r->out.open_time_ns = times;
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        double *column = reallocarray(*columns[i], cap, sizeof(*column));
        if (!column)
            return fail(r, -ENOMEM, "out of memory", "a smaller file");
        *columns[i] = column;
    }
    r->cap = cap;
    return 0;
}

static int read_row(struct reader *r)
{
    struct bars_file *out = &r->out;
    double value[COLUMNS];
    int64_t ts_ns;

    for (int c = 0; c < COLUMNS; c++)
        if (r->where[c] >= r->n_fields)
            return fail(r, -EINVAL, "bad row", "a column %s; the row has %d columns", column_names[c],
                        r->n_fields);
    const struct field *time = &r->fields[r->where[COL_TIME]];
    if (bars_time_parse(time->data, time->len, &ts_ns) != 0)
        return fail(r, -EINVAL, "bad time", "ISO 8601 or an epoch in s, ms, us or ns, not \"%.*s\"",
                    (int)(time->len < 60 ? time->len : 60), time->data);
    for (int c = COL_OPEN; c < COLUMNS; c++) {
        const struct field *field = &r->fields[r->where[c]];
        if (!read_number(field, &value[c], c == COL_VOLUME ? &out->volume_digits : &out->price_digits))
            return fail(r, -EINVAL, "bad number", "a finite decimal number as %s, not \"%.*s\"",
                        column_names[c], (int)(field->len < 60 ? field->len : 60), field->data);
    }
    if (value[COL_HIGH] < value[COL_LOW])
        return fail(r, -EINVAL, "high is below low", "high >= low, not %.15g < %.15g", value[COL_HIGH],
                    value[COL_LOW]);
    if (value[COL_VOLUME] < 0)
        return fail(r, -EINVAL, "negative volume", "volume >= 0, not %.15g", value[COL_VOLUME]);
    if (out->n > 0 && ts_ns <= out->open_time_ns[out->n - 1])
        return fail(r, -EINVAL, "time does not rise",
                    "a time after the row before, %" PRId64 " ns, not %" PRId64 " ns",
                    out->open_time_ns[out->n - 1], ts_ns);
    int rc = grow(r);
    if (rc < 0)
        return rc;
    out->open_time_ns[out->n] = ts_ns;
    out->open[out->n] = value[COL_OPEN];
    out->high[out->n] = value[COL_HIGH];
    out->low[out->n] = value[COL_LOW];
    out->close[out->n] = value[COL_CLOSE];
    out->volume[out->n] = value[COL_VOLUME];
    out->n++;
    return 0;
}

static int read_all(struct reader *r)
{
    int rc = read_line(r);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return fail(r, -EINVAL, "empty file", "CSV with open_time, open, high, low, close, volume");
    if ((rc = split(r)) < 0)
        return rc;
    if (r->n_fields > 0 && r->fields[0].len > 0 && !isdigit((unsigned char)r->fields[0].data[0])) {
        if ((rc = read_header(r)) < 0)
            return rc;
    } else {
        for (int c = 0; c < COLUMNS; c++)
            r->where[c] = c;
        if ((rc = read_row(r)) < 0)
            return rc;
    }
    while ((rc = read_line(r)) > 0) {
        if ((rc = split(r)) < 0 || (rc = read_row(r)) < 0)
            return rc;
    }
    return rc;
}

/* The difference of more than half of the rows (Boyer and Moore's vote), else the smallest. */
static int64_t find_interval(const struct bars_file *file)
{
    int64_t candidate = 0, smallest = INT64_MAX;
    size_t votes = 0, count = 0;
    if (file->n < 2)
        return 0;
    for (size_t i = 1; i < file->n; i++) {
        int64_t step = file->open_time_ns[i] - file->open_time_ns[i - 1];
        if (step < smallest)
            smallest = step;
        if (votes == 0)
            candidate = step;
        votes += step == candidate ? 1 : (size_t)-1;
    }
    for (size_t i = 1; i < file->n; i++)
        count += file->open_time_ns[i] - file->open_time_ns[i - 1] == candidate;
    return count > (file->n - 1) / 2 ? candidate : smallest;
}

int bars_file_set_interval(struct bars_file *file, int64_t interval_ns)
{
    struct bars_gap *gaps = NULL;
    size_t n = 0, cap = 0;
    if (interval_ns <= 0)
        return -EINVAL;
    for (size_t i = 1; i < file->n; i++) {
        int64_t from = file->open_time_ns[i - 1] + interval_ns, to = file->open_time_ns[i];
        if (to <= from)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 16;
            struct bars_gap *grown = reallocarray(gaps, cap, sizeof(*gaps));
            if (!grown) {
                free(gaps);
                return -ENOMEM;
            }
            gaps = grown;
        }
        gaps[n++] =
            (struct bars_gap){.row = i, .from_ns = from, .to_ns = to, .missing = (to - from) / interval_ns};
    }
    free(file->gaps);
    file->gaps = gaps;
    file->n_gaps = n;
    file->interval_ns = interval_ns;
    return 0;
}

static int set_symbol(struct reader *r, const char *symbol)
{
    const char *name = symbol;
    size_t len;
    if (symbol) {
        len = strlen(symbol);
    } else {
        const char *slash = strrchr(r->path, '/');
        name = slash ? slash + 1 : r->path;
        len = strcspn(name, "_");
        if (name[len] == '\0')
            len = strcspn(name, ".");
    }
    if (len == 0 || len >= SYMBOL_NAME_MAX)
        return fail(r, -EINVAL, "no symbol", "a name like BTCUSDT_1m.csv, or --symbol, with 1 to %d letters",
                    SYMBOL_NAME_MAX - 1);
    memcpy(r->out.symbol, name, len);
    r->out.symbol[len] = '\0';
    return 0;
}

int bars_file_read(const char *path, const char *symbol, struct bars_file *ret,
                   char error[static BARS_FILE_ERROR_MAX])
{
    struct reader *r = calloc(1, sizeof(*r));
    char *buf = malloc(LINE_MAX_BYTES);
    int rc = -ENOMEM;

    if (!r || !buf) {
        snprintf(error, BARS_FILE_ERROR_MAX, "out of memory: %.200s: a smaller file", path);
        goto out;
    }
    r->path = path;
    r->error = error;
    r->buf = buf;
    if ((rc = set_symbol(r, symbol)) < 0)
        goto out;
    errno = 0;
    r->in = gzopen(path, "rbe");
    if (!r->in) {
        rc = errno ? -errno : -ENOMEM;
        fail(r, rc, "cannot open", "a readable bars file (%s)", strerror(-rc));
        goto out;
    }
    gzbuffer(r->in, 1 << 17);
    rc = read_all(r);
    if (rc == 0 && r->out.n >= 2 && (rc = bars_file_set_interval(&r->out, find_interval(&r->out))) < 0)
        fail(r, rc, "out of memory", "a smaller file");
    if (rc == 0)
        *ret = r->out;
out:
    if (r) {
        if (r->in)
            gzclose(r->in);
        if (rc < 0)
            bars_file_finish(&r->out);
    }
    free(buf);
    free(r);
    return rc;
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
