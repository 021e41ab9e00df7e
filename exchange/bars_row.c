/* The rows of a bars file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_number.h"
#include "exchange/bars_reader.h"
#include "exchange/clock.h"

enum { NS_PER_S = 1000000000, TIME_TEXT = CLOCK_TEXT_MAX + 12, FIELD_SHOWN_MAX = 60 };

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
    uint8_t *session = realloc(file->session, more);
    if (!session)
        return false;
    file->session = session;
    *cap = more;
    return true;
}

/* A time of the zone; of one that comes twice, the one that rises. */
static int64_t local_time(const struct bars_reader *r, int64_t local_ns)
{
    const struct bars_file *out = &r->out;
    int64_t s = clock_whole_s(local_ns), rest = local_ns - s * NS_PER_S;
    int64_t ns = zone_utc(r->zone, s) * NS_PER_S + rest;
    if (out->n > 0 && ns <= out->open_time_ns[out->n - 1])
        ns = zone_utc_second(r->zone, s) * NS_PER_S + rest;
    return ns;
}

/* What the session's column says; NONE where there is none, or another word. */
static enum bar_session read_session(const struct bars_reader *r)
{
    if (r->session == BARS_NO_COLUMN || r->session >= r->n_fields)
        return BAR_SESSION_NONE;
    const struct bars_field *field = &r->fields[r->session];
    for (int s = 0; s < BAR_SESSIONS; s++)
        if (strlen(bar_session_names[s]) == field->len &&
            memcmp(bar_session_names[s], field->data, field->len) == 0)
            return (enum bar_session)s;
    return BAR_SESSION_NONE;
}

/* A field that is not as it should be; it is shown where the file is known to be one of bars. */
static int fail_field(struct bars_reader *r, const char *what, const char *right,
                      const struct bars_field *field)
{
    int len = field->len < FIELD_SHOWN_MAX ? (int)field->len : FIELD_SHOWN_MAX;
    return r->known ? bars_fail(r, -EINVAL, what, "%s, not \"%.*s\"", right, len, field->data)
                    : bars_fail(r, -EINVAL, what, "%s", right);
}

/* Parses the row into a time and numbers. */
static int parse_row(struct bars_reader *r, int64_t *ret_ns, double value[static BARS_COLUMNS])
{
    struct bars_file *out = &r->out;
    int digits = out->price_digits;
    if (r->n_needed > r->n_fields)
        for (int c = 0; c < BARS_COLUMNS; c++)
            if (r->where[c] >= r->n_fields)
                return bars_fail(r, -EINVAL, "bad row", "a column %s; the row has %d columns",
                                 bars_column_names[c], r->n_fields);
    const struct bars_field *time = r->time = &r->fields[r->where[COL_TIME]];
    bool local;
    if (bars_time_read(time->data, time->len, ret_ns, &local) != 0)
        return fail_field(r, "bad time", "ISO 8601 or an epoch in s, ms, us or ns", time);
    r->local += local;
    if (local && r->zone)
        *ret_ns = local_time(r, *ret_ns);
    for (int c = COL_OPEN; c < BARS_COLUMNS; c++) {
        const struct bars_field *field = &r->fields[r->where[c]];
        if (!bars_number(field->data, field->len, &value[c],
                         c == COL_VOLUME ? &out->volume_digits : &out->price_digits)) {
            char right[64];
            snprintf(right, sizeof right, "a finite decimal number as %s", bars_column_names[c]);
            return fail_field(r, "bad number", right, field);
        }
    }
    r->known = true;
    if (out->price_digits > digits || out->n == 0)
        out->digits_line = r->line;
    return 0;
}

/* ISO 8601 with as many digits of a second as it has. */
static const char *time_text(int64_t ns, char buf[static TIME_TEXT])
{
    char whole[CLOCK_TEXT_MAX];
    long long rest = ns % NS_PER_S;
    rest = rest < 0 ? rest + NS_PER_S : rest;
    int digits = rest == 0 ? 0 : 9;
    for (; digits > 0 && rest % 10 == 0; digits--)
        rest /= 10;
    size_t len = strlen(clock_utc_text(ns, whole));
    if (digits == 0 || len == 0)
        snprintf(buf, TIME_TEXT, "%s", whole);
    else
        snprintf(buf, TIME_TEXT, "%.*s.%0*lldZ", (int)len - 1, whole, digits, rest);
    return buf;
}

static int fail_order(struct bars_reader *r, int64_t ts_ns, int64_t before_ns)
{
    char text[TIME_TEXT], before[TIME_TEXT];
    int len = (int)(r->time->len < 40 ? r->time->len : 40);
    time_text(ts_ns, text);
    if (ts_ns == before_ns)
        return bars_fail(r, -EINVAL, "time does not rise", "one row a bar, not %s (\"%.*s\") twice", text,
                         len, r->time->data);
    time_text(before_ns, before);
    const char *right = r->out.n == 1
                            ? "rows oldest first: the file is newest first, so turn its rows round, as "
                              "tac does, with the header on top"
                            : "rows in the order of their time";
    return bars_fail(r, -EINVAL, "time does not rise", "%s (\"%.*s\") comes after %s: %s", text, len,
                     r->time->data, before, right);
}

/* Can it be a bar that follows the one before? */
static int check_row(struct bars_reader *r, int64_t ts_ns, double value[static BARS_COLUMNS])
{
    struct bars_file *out = &r->out;
    double high = value[COL_HIGH], low = value[COL_LOW];
    if (r->options->as_is)
        return out->n > 0 && ts_ns <= out->open_time_ns[out->n - 1]
                   ? fail_order(r, ts_ns, out->open_time_ns[out->n - 1])
                   : 0;
    if (!r->options->any_price)
        for (int c = COL_OPEN; c <= COL_CLOSE; c++)
            if (!(value[c] > 0))
                return bars_fail(r, -EINVAL, "price is not above 0", "%s above 0, not %.15g",
                                 bars_column_names[c], value[c]);
    if (high < low)
        return bars_fail(r, -EINVAL, "high is below low", "high >= low, not %.15g < %.15g", high, low);
    if (bars_widen(value[COL_OPEN], &value[COL_HIGH], &value[COL_LOW], value[COL_CLOSE])) {
        bool open = value[COL_OPEN] < low || value[COL_OPEN] > high;
        if (!r->options->repair)
            return bars_fail(r, -ERANGE,
                             open ? "open is outside low to high" : "close is outside low to high",
                             "%.15g to %.15g, not %.15g", low, high, value[open ? COL_OPEN : COL_CLOSE]);
        out->repaired++;
    }
    if (value[COL_VOLUME] < 0)
        return bars_fail(r, -EINVAL, "negative volume", "volume >= 0, not %.15g", value[COL_VOLUME]);
    if (out->n > 0 && ts_ns <= out->open_time_ns[out->n - 1])
        return fail_order(r, ts_ns, out->open_time_ns[out->n - 1]);
    return 0;
}

static bool grow(struct bars_reader *r)
{
    if (!bars_file_grow(&r->out, &r->cap))
        return false;
    uint32_t *lines = r->options->calendar ? reallocarray(r->lines, r->cap, sizeof *lines) : NULL;
    if (lines)
        r->lines = lines;
    return lines || !r->options->calendar;
}

int bars_row_read(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    double value[BARS_COLUMNS];
    int64_t ts_ns;
    int rc = parse_row(r, &ts_ns, value);
    if (rc == 0)
        rc = check_row(r, ts_ns, value);
    if (rc < 0)
        return rc;
    if (out->n == r->cap && !grow(r))
        return bars_fail(r, -ENOMEM, "out of memory", "a smaller file");
    out->open_time_ns[out->n] = ts_ns;
    out->open[out->n] = value[COL_OPEN];
    out->high[out->n] = value[COL_HIGH];
    out->low[out->n] = value[COL_LOW];
    out->close[out->n] = value[COL_CLOSE];
    out->volume[out->n] = value[COL_VOLUME];
    out->session[out->n] = (uint8_t)read_session(r);
    if (r->options->calendar)
        r->lines[out->n] = (uint32_t)r->line;
    out->n++;
    return 0;
}
