#include "trainer/study/returns.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/bars_file.h"
#include "exchange/bars_number.h"

enum { FIELDS_MAX = 100000 };

enum role { ROLE_VALUE, ROLE_TIMES_NS, ROLE_TIMES }; /* times: some text that may be one */

struct reading {
    const char *path;
    char *err;
    FILE *file;
    char *line;
    size_t line_cap, number;
    char **fields; /* [n_fields] into the line */
    size_t n_fields, fields_cap;
    enum role *roles; /* [header] */
    size_t header, rows_cap;
    bool holes, times_lost, headless;
    bool counts[2]; /* the column of times counts rows from 0, from 1, so far */
    struct csv_columns out;
};

__attribute__((format(printf, 3, 4))) static int say(struct reading *reading, int error, const char *format,
                                                     ...)
{
    int n = reading->number
                ? snprintf(reading->err, RETURNS_ERROR_MAX, "%.200s:%zu: ", reading->path, reading->number)
                : snprintf(reading->err, RETURNS_ERROR_MAX, "%.200s: ", reading->path);
    va_list list;
    va_start(list, format);
    vsnprintf(reading->err + n, RETURNS_ERROR_MAX - (size_t)n, format, list);
    va_end(list);
    return error;
}

static int no_memory(struct reading *reading)
{
    return say(reading, -ENOMEM, "no memory for %zu rows: fewer rows or trials", reading->out.rows);
}

/* Cuts the field that begins at `p` out of the line, without quotes and blanks around; what follows it, NULL
 * at the end. */
static char *cut_field(char *p, char **ret)
{
    p += strspn(p, " \t");
    *ret = p;
    char *to = p, *from = p;
    if (*p == '"') {
        for (from = p + 1; *from && !(from[0] == '"' && from[1] != '"'); from++) {
            from += from[0] == '"';
            *to++ = *from;
        }
        from += *from == '"';
        from += strcspn(from, ",");
    } else {
        from += strcspn(from, ",");
        for (to = from; to > p && strchr(" \t", to[-1]);)
            to--;
    }
    bool more = *from == ',';
    *to = '\0';
    return more ? from + 1 : NULL;
}

/* The next line that is not empty. 1; 0 at end of file; -errno. */
static int next_line(struct reading *reading)
{
    for (;;) {
        errno = 0;
        ssize_t length = getline(&reading->line, &reading->line_cap, reading->file);
        if (length < 0 && (ferror(reading->file) || errno == ENOMEM))
            return say(reading, errno ? -errno : -EIO, "cannot be read: %s", strerror(errno));
        if (length < 0)
            return 0;
        reading->number++;
        if (memchr(reading->line, '\0', (size_t)length))
            return say(reading, -EINVAL, "a byte that is 0: text is right");
        while (length > 0 && strchr("\r\n", reading->line[length - 1]))
            reading->line[--length] = '\0';
        if (length > 0)
            break;
    }
    reading->n_fields = 0;
    bool marked = reading->number == 1 && strncmp(reading->line, "\xef\xbb\xbf", 3) == 0; /* BOM */
    for (char *p = reading->line + (marked ? 3 : 0); p;) {
        if (reading->n_fields == reading->fields_cap) {
            size_t cap = reading->fields_cap ? 2 * reading->fields_cap : 64;
            char **moved =
                cap > 2 * FIELDS_MAX ? NULL : reallocarray(reading->fields, cap, sizeof *reading->fields);
            if (!moved)
                return cap > 2 * FIELDS_MAX
                           ? say(reading, -EINVAL, "too many columns: up to 100000 are right")
                           : no_memory(reading);
            reading->fields = moved;
            reading->fields_cap = cap;
        }
        p = cut_field(p, &reading->fields[reading->n_fields++]);
    }
    return 1;
}

/* pandas names the columns of a frame without names 0, 1, 2 … */
static bool is_its_number(const char *name, size_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    return strcmp(name, number) == 0;
}

/* Columns without names are called by their number. */
static int name_by_number(struct reading *reading)
{
    char number[24];
    for (size_t i = 0; i < reading->header; i++) {
        free(reading->out.names[i]);
        snprintf(number, sizeof number, "%zu", i);
        if (!(reading->out.names[i] = strdup(number)))
            return no_memory(reading);
    }
    reading->headless = true;
    return 0;
}

static int read_header(struct reading *reading)
{
    struct csv_columns *out = &reading->out;
    int r = next_line(reading);
    if (r <= 0)
        return r < 0 ? r : say(reading, -EINVAL, "empty: a header of names, and rows, are right");
    reading->header = reading->n_fields;
    reading->roles = calloc(reading->header, sizeof *reading->roles);
    out->names = calloc(reading->header + 1, sizeof *out->names);
    if (!reading->roles || !out->names)
        return no_memory(reading);
    bool numbers = true, counted = true;
    for (size_t i = 0; i < reading->header; i++) {
        const char *name = reading->fields[i];
        double value;
        int digits = 0;
        bool time = !*name || !strcasecmp(name, "timestamp") || !strcasecmp(name, "date") ||
                    !strcasecmp(name, "time") || !strcasecmp(name, "datetime");
        reading->roles[i] = strcmp(name, "timestamp_ns") == 0 ? ROLE_TIMES_NS
                            : time                            ? ROLE_TIMES
                                                              : ROLE_VALUE;
        numbers = numbers && bars_number(name, strlen(name), &value, &digits);
        counted = counted && is_its_number(name, i);
        json_t *text = json_string(name);
        json_decref(text);
        if (!text)
            return say(reading, -EINVAL, "column %zu: a name in UTF-8 is right", i + 1);
        if (reading->roles[i] == ROLE_VALUE && !(out->names[out->columns++] = strdup(name)))
            return no_memory(reading);
    }
    return !numbers || counted ? 0 : name_by_number(reading);
}

static bool grow(struct reading *reading)
{
    struct csv_columns *out = &reading->out;
    if (out->rows < reading->rows_cap)
        return true;
    size_t cap = reading->rows_cap ? 2 * reading->rows_cap : 1024, width;
    if (__builtin_mul_overflow(out->columns + 1, sizeof(double), &width))
        return false;
    double *values = reallocarray(out->values, cap, width);
    if (values)
        out->values = values;
    int64_t *times = values ? reallocarray(out->open_ns, cap, sizeof *times) : NULL;
    if (!times)
        return false;
    out->open_ns = times;
    reading->rows_cap = cap;
    return true;
}

/* A row's time, of the first column that has one. */
static int read_time(struct reading *reading, size_t i, int64_t *ret)
{
    const char *text = reading->fields[i];
    if (reading->roles[i] == ROLE_TIMES) {
        for (size_t first = 0; first < 2; first++)
            reading->counts[first] = (reading->out.rows == 0 || reading->counts[first]) &&
                                     is_its_number(text, first + reading->out.rows);
        reading->times_lost = reading->times_lost || bars_time_parse(text, strlen(text), ret) < 0;
        return 0;
    }
    char *end;
    errno = 0;
    long long ns = strtoll(text, &end, 10);
    if (*end || end == text || errno != 0)
        return say(reading, -EINVAL,
                   "column %zu \"timestamp_ns\": %.32s: a whole number of nanoseconds is right", i + 1, text);
    *ret = ns;
    return 0;
}

static bool is_hole(const char *text)
{
    return !*text || strcasecmp(text, "nan") == 0;
}

static int read_row(struct reading *reading)
{
    struct csv_columns *out = &reading->out;
    size_t column = 0;
    bool timed = false;
    if (reading->n_fields != reading->header)
        return say(reading, -EINVAL, "%zu columns: %zu are right, as in the header", reading->n_fields,
                   reading->header);
    if (!grow(reading))
        return no_memory(reading);
    for (size_t i = 0; i < reading->header; i++) {
        const char *text = reading->fields[i];
        double *value = out->values + out->rows * out->columns + column;
        int digits = 0, r = 0;
        if (reading->roles[i] != ROLE_VALUE) {
            if (!timed)
                r = read_time(reading, i, &out->open_ns[out->rows]);
            if (r < 0)
                return r;
            timed = true;
            continue;
        }
        if (reading->holes && is_hole(text))
            *value = NAN;
        else if (!bars_number(text, strlen(text), value, &digits))
            return say(reading, -EINVAL, "column %zu \"%.40s\": %.32s: a finite number is right", i + 1,
                       out->names[column], *text ? text : "nothing");
        else if (!reading->holes && *value < -1)
            return say(reading, -EINVAL,
                       "column %zu \"%.40s\": %.32s: a return is a share, -1 at least: 0.01 is 1 %%", i + 1,
                       out->names[column], text);
        column++;
    }
    reading->times_lost = reading->times_lost || !timed;
    out->rows++;
    return 0;
}

void returns_csv_finish(struct csv_columns *columns)
{
    for (size_t i = 0; i < columns->columns; i++)
        free(columns->names[i]);
    free(columns->names);
    free(columns->values);
    free(columns->open_ns);
    *columns = (struct csv_columns){0};
}

/* O_NONBLOCK, so that opening a pipe does not wait. */
static int open_regular(const char *path, FILE **ret)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &is) < 0)
        r = -errno;
    else if (!S_ISREG(is.st_mode))
        r = S_ISDIR(is.st_mode) ? -EISDIR : -EINVAL;
    else if (!(*ret = fdopen(fd, "r")))
        r = -errno;
    if (r < 0)
        close(fd);
    return r;
}

int returns_csv_read(const char *path, bool holes, struct csv_columns *ret,
                     char err[static RETURNS_ERROR_MAX])
{
    struct reading reading = {.path = path, .err = err, .holes = holes};
    int r;
    r = open_regular(path, &reading.file);
    if (r < 0)
        return say(&reading, r, "cannot be read: a CSV of returns is right (%s)",
                   r == -EINVAL ? "it is a pipe or a device" : strerror(-r));
    r = read_header(&reading);
    if (r == 0 && reading.headless)
        r = read_row(&reading);
    while (r == 0 && (r = next_line(&reading)) > 0)
        r = read_row(&reading);
    fclose(reading.file);
    free(reading.line);
    free(reading.fields);
    free(reading.roles);
    if (r < 0) {
        returns_csv_finish(&reading.out);
        return r;
    }
    /* Row numbers are not times: read as seconds they would annualise Sharpe ratios wrongly. */
    if (reading.times_lost || reading.counts[0] || reading.counts[1]) {
        free(reading.out.open_ns);
        reading.out.open_ns = NULL;
    }
    *ret = reading.out;
    return 0;
}
