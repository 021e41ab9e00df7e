#include "exchange/calendar_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange/bars_file.h"
#include "exchange/fail.h"

enum { WORDS_MAX = 8, MINUTES_OF_DAY = 24 * 60 };

#define DAY_NS INT64_C(86400000000000)

struct table_reader {
    const char *path;
    unsigned long line;
    unsigned seen; /* a bit for each key that was there */
    struct calendar_table out;
    char *err;
};

/* A line that is not right; `right` says what would be. */
static int bad_line(struct table_reader *r, const char *what, const char *right)
{
    return fail_line(-EINVAL, r->err, CALENDAR_ERROR_MAX, what, "%.300s:%lu: %s", r->path, r->line, right);
}

static bool read_date(const char *text, int32_t *ret)
{
    int64_t ns;
    if (strlen(text) != strlen("2000-01-01") || text[4] != '-' ||
        bars_time_parse(text, strlen(text), &ns) != 0)
        return false;
    *ret = (int32_t)(ns / DAY_NS);
    return true;
}

static bool read_minute(const char *text, int *ret)
{
    static const char form[] = "00:00";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
    *ret = hour * 60 + minute;
    return minute < 60 && *ret <= MINUTES_OF_DAY;
}

/* Four times that rise. */
static bool read_hours(char *const *words, int n, struct calendar_hours *ret)
{
    int at[4];
    for (int i = 0; i < 4; i++)
        if (i == n || !read_minute(words[i], &at[i]))
            return false;
    *ret = (struct calendar_hours){at[0], at[1], at[2], at[3]};
    return at[0] <= at[1] && at[1] < at[2] && at[2] <= at[3];
}

static bool read_name(struct calendar_table *out, char *const *words, int n)
{
    size_t len = n == 1 ? strlen(words[0]) : 0;
    memcpy(out->name, n == 1 ? words[0] : "", len < sizeof out->name ? len : 0);
    return len > 0 && len < sizeof out->name;
}

static bool read_zone(struct calendar_table *out, char *const *words, int n)
{
    return n == 1 && snprintf(out->zone, sizeof out->zone, "%s", words[0]) < (int)sizeof out->zone;
}

static bool read_from(struct calendar_table *out, char *const *words, int n)
{
    return n == 1 && read_date(words[0], &out->from);
}

static bool read_to(struct calendar_table *out, char *const *words, int n)
{
    return n == 1 && read_date(words[0], &out->to);
}

static bool read_week(struct calendar_table *out, char *const *words, int n)
{
    static const char *const names[CALENDAR_WEEK] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    for (int i = 0; i < n; i++) {
        int day = 0;
        while (day < CALENDAR_WEEK && strcasecmp(names[day], words[i]) != 0)
            day++;
        if (day == CALENDAR_WEEK)
            return false;
        out->week[day] = true;
    }
    return n > 0;
}

static bool read_full(struct calendar_table *out, char *const *words, int n)
{
    return n == 4 && read_hours(words, n, &out->hours);
}

static bool read_half(struct calendar_table *out, char *const *words, int n)
{
    return n == 4 && read_hours(words, n, &out->half);
}

enum { KEY_NAME, KEY_ZONE, KEY_FROM, KEY_TO, KEY_WEEK, KEY_HOURS, KEY_HALF, KEYS };
static const struct {
    const char *name;
    bool (*read)(struct calendar_table *, char *const *, int);
    const char *right;
} keys[KEYS] = {
    [KEY_NAME] = {"name", read_name, "name and one word of at most 15 letters"},
    [KEY_ZONE] = {"zone", read_zone, "zone and a name as America/New_York"},
    [KEY_FROM] = {"from", read_from, "from and a date as 2000-01-01"},
    [KEY_TO] = {"to", read_to, "to and a date as 2027-12-31"},
    [KEY_WEEK] = {"week", read_week, "week and days of Mon Tue Wed Thu Fri Sat Sun"},
    [KEY_HOURS] = {"hours", read_full, "hours and four times that rise, as 04:00 09:30 16:00 20:00"},
    [KEY_HALF] = {"half", read_half, "half and four times that rise, as 04:00 09:30 13:00 17:00"},
};

static int read_day(struct table_reader *r, int32_t day, char *const *words, int n)
{
    struct calendar_table *out = &r->out;
    struct calendar_day row = {.day = day, .closed = n > 0 && strcmp(words[0], "closed") == 0};
    bool half = n > 0 && strcmp(words[0], "half") == 0;
    if (half && !(r->seen & 1u << KEY_HALF))
        return bad_line(r, "no hours of a half day", "a line half 04:00 09:30 13:00 17:00 before it");
    row.hours = out->half;
    if (!row.closed && !half && !read_hours(words, n, &row.hours))
        return bad_line(r, "bad day", "a date and closed, half or four times that rise");
    if (out->n > 0 && day <= out->days[out->n - 1].day)
        return bad_line(r, "date does not rise", "one line a day, in the order of dates");
    if (out->n == out->cap) {
        size_t more = out->cap ? out->cap * 2 : 64;
        struct calendar_day *days = reallocarray(out->days, more, sizeof *days);
        if (!days)
            return fail_with(-ENOMEM, r->err, CALENDAR_ERROR_MAX, "out of memory");
        out->days = days;
        out->cap = more;
    }
    out->days[out->n++] = row;
    return 0;
}

/* A line's words; those after the last that is looked at are a note. */
static int read_line(struct table_reader *r, char *line)
{
    char *words[WORDS_MAX + 1], *rest = NULL;
    int n = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word && n <= WORDS_MAX;
         word = strtok_r(NULL, " \t\r", &rest))
        words[n++] = word;
    int32_t day;
    if (n == 0 || words[0][0] == '#')
        return 0;
    if (read_date(words[0], &day))
        return read_day(r, day, words + 1, n - 1);
    for (int key = 0; key < KEYS; key++) {
        if (strcmp(words[0], keys[key].name) != 0)
            continue;
        if (r->seen & 1u << key)
            return bad_line(r, "a key comes twice", keys[key].right);
        r->seen |= 1u << key;
        return keys[key].read(&r->out, words + 1, n - 1) ? 0 : bad_line(r, "bad line", keys[key].right);
    }
    return bad_line(r, "bad line", "name, zone, from, to, week, hours, half, or a date and what is on it");
}

static int check_whole(struct table_reader *r)
{
    const struct calendar_table *out = &r->out;
    for (int key = 0; key < KEY_HALF; key++)
        if (!(r->seen & 1u << key))
            return fail_line(-EINVAL, r->err, CALENDAR_ERROR_MAX, "a line is missing", "%.300s: %s", r->path,
                             keys[key].right);
    if (out->from > out->to ||
        (out->n > 0 && (out->days[0].day < out->from || out->days[out->n - 1].day > out->to)))
        return fail_line(-EINVAL, r->err, CALENDAR_ERROR_MAX, "days beyond the range",
                         "%.300s: from, then every date, then to", r->path);
    return 0;
}

int calendar_table_read(const char *path, char *text, struct calendar_table *ret,
                        char err[static CALENDAR_ERROR_MAX])
{
    struct table_reader r = {.path = path, .err = err};
    int done = 0;
    for (char *line = text, *next; done == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r.line++;
        done = read_line(&r, line);
    }
    if (done == 0)
        done = check_whole(&r);
    if (done < 0)
        calendar_table_finish(&r.out);
    else
        *ret = r.out;
    return done;
}

void calendar_table_finish(struct calendar_table *table)
{
    free(table->days);
    *table = (struct calendar_table){0};
}
