#include "db/list_time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t second_ns = 1000000000;
enum { DAY_S = 86400, YEAR_MAX = 2261 /* the last whole year of int64_t's ns */ };

/* Reads digits, `least` to `most`. -1: there are fewer. */
static int digits(const char **text, int least, int most)
{
    int n = 0, number = 0;

    for (; n < most && isdigit((unsigned char)**text); n++, (*text)++)
        number = number * 10 + **text - '0';
    return n < least ? -1 : number;
}

static bool skip(const char **text, const char *any)
{
    const bool found = **text && strchr(any, **text);

    *text += found;
    return found;
}

/* "09:30", "09:30:15", with `alone` "09" too: its parts and how many there are; 0: it is none. */
static int parse_clock(const char **text, bool alone, int part[static 3])
{
    int n = 0;

    do
        if ((part[n] = digits(text, n ? 2 : 1, 2)) < 0)
            return 0;
    while (++n < 3 && skip(text, ":"));
    return (n == 1 && !alone) || part[0] > 23 || (n > 1 && part[1] > 59) || (n > 2 && part[2] > 59) ? 0 : n;
}

static bool has_day(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

static int64_t seconds_of(struct tm tm, bool local)
{
    tm.tm_isdst = -1;
    return local ? mktime(&tm) : timegm(&tm);
}

/* "2026", "2026-11", "2026-11-20", and a clock after that. */
static bool parse_date(const char *text, bool local, struct db_list_time *ret)
{
    struct tm from = {.tm_mday = 1}, to;
    int part[3] = {0}, year = digits(&text, 4, 4), month = 0, day = 0, n = 0;

    if (year < 1970 || year > YEAR_MAX)
        return false;
    if (skip(&text, "-") && ((month = digits(&text, 2, 2)) < 1 || month > 12))
        return false;
    if (month && skip(&text, "-") && !has_day(year, month, day = digits(&text, 2, 2)))
        return false;
    if (day && skip(&text, " T") && (n = parse_clock(&text, true, part)) == 0)
        return false;
    if (*text)
        return false;
    from.tm_year = year - 1900;
    from.tm_mon = month ? month - 1 : 0;
    from.tm_mday = day ? day : 1;
    from.tm_hour = part[0];
    from.tm_min = n > 1 ? part[1] : 0;
    from.tm_sec = n > 2 ? part[2] : 0;
    to = from;
    to.tm_year += !month;
    to.tm_mon += month && !day;
    to.tm_mday += day && !n;
    to.tm_hour += n == 1;
    to.tm_min += n == 2;
    to.tm_sec += n == 3;
    *ret =
        (struct db_list_time){false, seconds_of(from, local) * second_ns, seconds_of(to, local) * second_ns};
    return true;
}

bool db_list_time_parse(const char *text, bool local, struct db_list_time *ret)
{
    static const int units[] = {0, 3600, 60, 1};
    int part[3] = {0};
    const char *end = text;
    const int n = parse_clock(&end, false, part);

    if (n == 0 || *end)
        return parse_date(text, local, ret);
    const int64_t from = part[0] * 3600 + part[1] * 60 + (n > 2 ? part[2] : 0);
    *ret = (struct db_list_time){true, from, from + units[n]};
    return true;
}

bool db_list_time_part(const char *text)
{
    bool any = false, digit = false;

    for (; *text; text++) {
        if (!isdigit((unsigned char)*text) && !strchr(":- ", *text))
            return false;
        any |= *text == ':' || *text == '-';
        digit |= isdigit((unsigned char)*text) != 0;
    }
    return any && digit;
}

static bool compares(const struct db_list_time *time, char op, bool equal, int64_t at)
{
    return op == '='   ? at >= time->from && at < time->to
           : op == '>' ? at >= (equal ? time->from : time->to)
                       : at < (equal ? time->to : time->from);
}

bool db_list_time_matches(const struct db_list_time *time, char op, bool equal, bool local, int64_t ts_ns)
{
    time_t seconds = ts_ns / second_ns;
    struct tm tm;

    if (!time->of_day)
        return compares(time, op, equal, ts_ns);
    if (!(local ? localtime_r(&seconds, &tm) : gmtime_r(&seconds, &tm)))
        return false;
    return compares(time, op, equal, tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
}

void db_list_time_put(const struct db_list_time *time, char op, bool equal, bool local, const char *ns,
                      char *sql, size_t size)
{
    const long long from = time->from, to = time->to;
    char at[160];

    if (!time->of_day)
        snprintf(at, sizeof(at), "%s", ns);
    else if (local)
        snprintf(at, sizeof(at),
                 "CAST(strftime('%%s', %s / 1000000000, 'unixepoch', 'localtime') AS INTEGER) %% %d", ns,
                 DAY_S);
    else
        snprintf(at, sizeof(at), "%s / 1000000000 %% %d", ns, DAY_S);
    if (op == '=')
        snprintf(sql, size, "%s BETWEEN %lld AND %lld", at, from, to - 1);
    else
        snprintf(sql, size, "%s %s %lld", at, op == '>' ? ">=" : "<", (op == '<') == equal ? to : from);
}
