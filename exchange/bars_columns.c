/* Finds which column of a bars file is which. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "exchange/bars_reader.h"

enum { NO_COLUMN = BARS_NO_COLUMN, HEADER_SHOWN_MAX = 120, HEADER_COLUMNS_LEAST = 2 };

const char *const bars_column_names[BARS_COLUMNS] = {
    "open_time or timestamp", "open", "high", "low", "close", "volume"};

/* The first of them that is there is the time; the last ones, which pandas and yfinance write for an index
 * without a name, only as the first column. */
static const char *const time_names[] = {"open_time", "open_time_ms", "timestamp", "unix",       "datetime",
                                         "date",      "time",         "",          "unnamed:_0", "price"};
enum { TIME_NAMES = sizeof(time_names) / sizeof(*time_names), OF_FIRST_COLUMN = 7 };

static bool name_begins(const struct bars_field *field, const char *name)
{
    size_t len = strlen(name);
    if (field->len < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = (char)tolower((unsigned char)field->data[i]);
        if (c == ' ')
            c = '_';
        if (c != name[i])
            return false;
    }
    return true;
}

static bool name_is(const struct bars_field *field, const char *name)
{
    return field->len == strlen(name) && name_begins(field, name);
}

/* The field of the time: the first of its names that is there. */
static int find_time(const struct bars_reader *r)
{
    for (int name = 0; name < TIME_NAMES; name++)
        for (int i = 0; i < (name < OF_FIRST_COLUMN ? r->n_fields : 1); i++)
            if (name_is(&r->fields[i], time_names[name]))
                return i;
    return NO_COLUMN;
}

static int find_session(const struct bars_reader *r)
{
    for (int i = 0; i < r->n_fields; i++)
        if (name_is(&r->fields[i], "session"))
            return i;
    return NO_COLUMN;
}

/* "Volume BTC", before the one that counts the quote asset. */
static int find_volume(const struct bars_reader *r)
{
    for (int i = 0; i < r->n_fields; i++)
        if (name_begins(&r->fields[i], "volume_"))
            return i;
    return NO_COLUMN;
}

/* Reports what is missing, and what the header has instead, unless the file may be one of anything. */
static int fail_header(struct bars_reader *r, const char *column)
{
    int found = 0;
    for (int c = 0; c < BARS_COLUMNS; c++)
        found += r->where[c] != NO_COLUMN;
    bool shown = found >= HEADER_COLUMNS_LEAST;
    return bars_fail(
        r, -EINVAL, "bad header",
        "column %s is missing; needed are a time (open_time, timestamp, datetime or date), open, "
        "high, low, close and volume%s%.*s%s",
        column, shown ? ", not \"" : "",
        !shown                      ? 0
        : r->len < HEADER_SHOWN_MAX ? (int)r->len
                                    : HEADER_SHOWN_MAX,
        r->text, shown ? "\"" : "");
}

static int read_header(struct bars_reader *r)
{
    static const char *const names[BARS_COLUMNS] = {"open_time", "open", "high", "low", "close", "volume"};
    for (int c = 0; c < BARS_COLUMNS; c++)
        r->where[c] = NO_COLUMN;
    for (int i = 0; i < r->n_fields; i++)
        for (int c = 0; c < BARS_COLUMNS; c++) {
            if (!name_is(&r->fields[i], names[c]))
                continue;
            if (r->where[c] != NO_COLUMN)
                return bars_fail(r, -EINVAL, "bad header", "one column %s, not two", names[c]);
            r->where[c] = i;
        }
    r->where[COL_TIME] = find_time(r);
    r->session = find_session(r);
    if (r->where[COL_VOLUME] == NO_COLUMN)
        r->where[COL_VOLUME] = find_volume(r);
    for (int c = 0; c < BARS_COLUMNS; c++)
        if (r->where[c] == NO_COLUMN)
            return fail_header(r, bars_column_names[c]);
    r->more_names = name_is(&r->fields[0], "price");
    r->known = true;
    return 0;
}

bool bars_columns_more(struct bars_reader *r)
{
    const struct bars_field *first = &r->fields[0];
    r->more_names =
        r->more_names && (name_is(first, "ticker") || name_is(first, "date") || name_is(first, "datetime"));
    return r->more_names;
}

int bars_columns_find(struct bars_reader *r, bool header)
{
    r->session = NO_COLUMN;
    int rc = header ? read_header(r) : 0;
    if (rc < 0)
        return rc;
    if (r->session >= r->n_needed)
        r->n_needed = r->session + 1;
    for (int c = 0; c < BARS_COLUMNS; c++) {
        if (!header)
            r->where[c] = c;
        if (r->where[c] >= r->n_needed)
            r->n_needed = r->where[c] + 1;
    }
    return 0;
}
