/* Reads files of external columns. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/backtest/external.h"
#include "engine/column.h"
#include "exchange/bars_file.h"
#include "exchange/bars_input.h"
#include "exchange/bars_number.h"
#include "exchange/fail.h"

enum { FIELDS_MAX = 256 };
enum { NAMED_TIMESTAMP, NAMED_PUBLISHED, NAMED_SYMBOL, NAMED_KINDS };

static const char *const named[NAMED_KINDS] = {
    [NAMED_TIMESTAMP] = "timestamp", [NAMED_PUBLISHED] = "published", [NAMED_SYMBOL] = "symbol"};

struct field {
    char *data; /* a '\0' follows it */
    size_t len;
};

struct reading {
    const char *path;
    struct bars_input *in;
    struct external_columns *to;
    size_t first; /* of this file's columns: one of an earlier file is refused */
    struct field fields[FIELDS_MAX];
    int n_fields;
    int where[NAMED_KINDS]; /* -1: no such field */
    char names[FIELDS_MAX][COLUMN_NAME_MAX];
    int n_names; /* fields of the header */
    char *err;
};

static int refuse(const struct reading *reading, const char *why)
{
    char where[320];
    snprintf(where, sizeof where, "%.256s: line %lu", reading->path, bars_input_number(reading->in));
    fail_put_line(reading->err, EXTERNAL_ERROR_MAX, where, "%s", why);
    return -EINVAL;
}

/* Its fields, without blanks around them. */
static int split(struct reading *reading, char *line)
{
    reading->n_fields = 0;
    while (line) {
        if (reading->n_fields == FIELDS_MAX)
            return refuse(reading, "more than 256 fields: several files are needed");
        char *word = strsep(&line, ",");
        while (isspace((unsigned char)*word))
            word++;
        size_t len = strlen(word);
        while (len > 0 && isspace((unsigned char)word[len - 1]))
            word[--len] = '\0';
        reading->fields[reading->n_fields++] = (struct field){word, len};
    }
    return 0;
}

/* ---- the header ---- */

static int name_field(struct reading *reading, int field)
{
    char why[160];
    const char *text = reading->fields[field].data;
    for (int k = NAMED_TIMESTAMP; k < NAMED_KINDS; k++)
        if (strcasecmp(text, named[k]) == 0) {
            if (reading->where[k] >= 0)
                return refuse(reading, "two columns of the header have one name: each needs its own");
            reading->where[k] = field;
            return 0;
        }
    if (!strategy_column_name(text)) {
        snprintf(why, sizeof why,
                 "\"%.40s\": a column's name is a letter, then letters, digits and _, at most %d", text,
                 COLUMN_NAME_MAX - 1);
        return refuse(reading, why);
    }
    for (int i = 0; i < field; i++)
        if (strcmp(reading->names[i], text) == 0)
            return refuse(reading, "two columns of the header have one name: each needs its own");
    for (size_t i = 0; i < reading->first; i++)
        if (strcmp(reading->to->columns[i].name, text) == 0) {
            snprintf(why, sizeof why, "column %s is in an earlier file: one file for each column", text);
            return refuse(reading, why);
        }
    snprintf(reading->names[field], sizeof reading->names[field], "%s", text);
    return 0;
}

static int read_header(struct reading *reading)
{
    int r = 0, n_values = 0;
    for (int k = 0; k < NAMED_KINDS; k++)
        reading->where[k] = -1;
    for (int i = 0; i < reading->n_fields && r == 0; i++) {
        r = name_field(reading, i);
        n_values += reading->names[i][0] != '\0';
    }
    reading->n_names = reading->n_fields;
    if (r == 0 &&
        (reading->where[NAMED_TIMESTAMP] < 0 || reading->where[NAMED_PUBLISHED] < 0 || n_values == 0))
        return refuse(reading, "a header timestamp,published,NAME… is needed");
    return r;
}

/* ---- rows ---- */

static struct external_column *column_of(struct reading *reading, const char *name, const char *symbol)
{
    struct external_columns *to = reading->to;
    for (size_t i = reading->first; i < to->n; i++)
        if (strcmp(to->columns[i].name, name) == 0 && strcasecmp(to->columns[i].symbol, symbol) == 0)
            return &to->columns[i];
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 8;
        struct external_column *moved = reallocarray(to->columns, cap, sizeof *moved);
        if (!moved)
            return NULL;
        to->columns = moved;
        to->cap = cap;
    }
    struct external_column *column = &to->columns[to->n++];
    *column = (struct external_column){0};
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->symbol, sizeof column->symbol, "%s", symbol);
    return column;
}

static int no_memory(const struct reading *reading)
{
    return fail_with(-ENOMEM, reading->err, EXTERNAL_ERROR_MAX, "out of memory");
}

static int add(struct reading *reading, int field, const char *symbol, const struct column_value *value)
{
    char why[COLUMN_ERROR_MAX], said[COLUMN_ERROR_MAX + COLUMN_NAME_MAX + 8];
    struct external_column *column = column_of(reading, reading->names[field], symbol);
    if (!column)
        return no_memory(reading);
    if (engine_column_sound(value, why) < 0 ||
        (column->n > 0 && engine_column_follows(&column->values[column->n - 1], value, why) < 0)) {
        snprintf(said, sizeof said, "%s: %s", column->name, why);
        return refuse(reading, said);
    }
    if (column->n == column->cap) {
        size_t cap = column->cap ? 2 * column->cap : 64;
        struct column_value *moved = reallocarray(column->values, cap, sizeof *moved);
        if (!moved)
            return no_memory(reading);
        column->values = moved;
        column->cap = cap;
    }
    column->values[column->n++] = *value;
    return 0;
}

static int read_time(struct reading *reading, int kind, int64_t *ret_ns)
{
    char why[200];
    const struct field *field = &reading->fields[reading->where[kind]];
    if (bars_time_parse(field->data, field->len, ret_ns) == 0)
        return 0;
    snprintf(
        why, sizeof why,
        "%s \"%.40s\" is no time: ISO 8601, or seconds, milliseconds, microseconds or nanoseconds since 1970, "
        "is needed",
        named[kind], field->data);
    return refuse(reading, why);
}

static int read_cell(struct reading *reading, int field, const char *symbol, struct column_value value)
{
    char why[160];
    int digits = 0;
    const struct field *cell = &reading->fields[field];
    if (cell->len == 0)
        return 0;
    if (bars_number(cell->data, cell->len, &value.value, &digits))
        return add(reading, field, symbol, &value);
    snprintf(why, sizeof why, "%s \"%.40s\" is no number: a finite one, or nothing, is needed",
             reading->names[field], cell->data);
    return refuse(reading, why);
}

static int read_row(struct reading *reading)
{
    struct column_value value = {0};
    char symbol[SYMBOL_NAME_MAX] = "", why[96];
    if (reading->n_fields != reading->n_names) {
        snprintf(why, sizeof why, "%d fields: the header has %d", reading->n_fields, reading->n_names);
        return refuse(reading, why);
    }
    if (reading->where[NAMED_SYMBOL] >= 0) {
        const struct field *field = &reading->fields[reading->where[NAMED_SYMBOL]];
        if (field->len >= sizeof symbol)
            return refuse(reading, "the symbol is longer than one can be");
        memcpy(symbol, field->data, field->len + 1);
    }
    int r = read_time(reading, NAMED_TIMESTAMP, &value.timestamp_ns);
    if (r == 0)
        r = read_time(reading, NAMED_PUBLISHED, &value.published_ns);
    for (int i = 0; i < reading->n_fields && r == 0; i++)
        if (reading->names[i][0])
            r = read_cell(reading, i, symbol, value);
    return r;
}

static int read_lines(struct reading *reading)
{
    char *line, why[192];
    size_t len;
    bool header = true;
    for (int r; (r = bars_input_line(reading->in, &line, &len)) != 0; header = false) {
        if (r < 0) {
            snprintf(why, sizeof why, "a whole text of CSV, plain or gzip, is needed (%.100s)",
                     r == -EIO ? bars_input_why(reading->in) : strerror(-r));
            return refuse(reading, why);
        }
        r = split(reading, line);
        if (r == 0)
            r = header ? read_header(reading) : read_row(reading);
        if (r < 0)
            return r;
    }
    return reading->to->n > reading->first ? 0 : refuse(reading, "there is no value in it: rows are needed");
}

int backtest_external_read(const char *path, struct external_columns *to, char err[static EXTERNAL_ERROR_MAX])
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return fail_with(-ENOMEM, err, EXTERNAL_ERROR_MAX, "out of memory");
    *reading = (struct reading){.path = path, .to = to, .first = to->n, .err = err};
    int r = bars_input_open(path, NULL, &reading->in);
    if (r < 0) {
        fail_put_line(err, EXTERNAL_ERROR_MAX, path, "cannot read it: %s: a file of columns is needed",
                      strerror(-r));
    } else {
        bars_input_peek(reading->in); /* past a byte order mark */
        r = read_lines(reading);
    }
    bars_input_close(reading->in);
    free(reading);
    return r;
}
