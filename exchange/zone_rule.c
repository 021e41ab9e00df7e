#include "exchange/zone.h"

#include <string.h>

enum { DAY_S = 86400, HOUR_S = 3600, HOURS_MAX = 167 };

/* ---- Reading. ---- */

static bool take(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool take_int(const char **p, int min, int max, int *ret)
{
    const char *start = *p;
    int value = 0;
    for (; **p >= '0' && **p <= '9' && value <= max; (*p)++)
        value = value * 10 + (**p - '0');
    *ret = value;
    return *p > start && value >= min && value <= max;
}

/* EST, or <+03>. */
static bool take_name(const char **p)
{
    const char *start = *p;
    if (take(p, '<')) {
        *p += strcspn(*p, ">");
        return take(p, '>');
    }
    while ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z'))
        (*p)++;
    return *p - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(const char **p, int32_t *ret_s)
{
    int hours, minutes = 0, seconds = 0;
    bool negative = take(p, '-');
    if (!negative)
        take(p, '+');
    if (!take_int(p, 0, HOURS_MAX, &hours))
        return false;
    if (take(p, ':') && !take_int(p, 0, 59, &minutes))
        return false;
    if (minutes >= 0 && take(p, ':') && !take_int(p, 0, 59, &seconds))
        return false;
    int32_t s = hours * HOUR_S + minutes * 60 + seconds;
    *ret_s = negative ? -s : s;
    return true;
}

static bool take_change(const char **p, struct zone_change *ret)
{
    bool good;
    if (!take(p, ','))
        return false;
    if (take(p, 'M')) {
        ret->kind = ZONE_WEEKDAY;
        good = take_int(p, 1, 12, &ret->month) && take(p, '.') && take_int(p, 1, 5, &ret->week) &&
               take(p, '.') && take_int(p, 0, 6, &ret->weekday);
    } else if (take(p, 'J')) {
        ret->kind = ZONE_DAY_JULIAN;
        good = take_int(p, 1, 365, &ret->day);
    } else {
        ret->kind = ZONE_DAY_OF_YEAR;
        good = take_int(p, 0, 365, &ret->day);
    }
    ret->time_s = 2 * HOUR_S;
    return good && (!take(p, '/') || take_time(p, &ret->time_s));
}

bool zone_rule_parse(const char *text, struct zone_rule *ret)
{
    struct zone_rule rule = {0};
    const char *p = text;
    int32_t west;
    if (!take_name(&p) || !take_time(&p, &west))
        return false;
    rule.standard_s = rule.summer_s = -west;
    if (*p) {
        rule.changes = true;
        rule.summer_s += HOUR_S;
        if (!take_name(&p))
            return false;
        if (*p != ',') {
            if (!take_time(&p, &west))
                return false;
            rule.summer_s = -west;
        }
        if (!take_change(&p, &rule.begins) || !take_change(&p, &rule.ends) || *p)
            return false;
    }
    *ret = rule;
    return true;
}

/* ---- The calendar. ---- */

static bool leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to the year's first. */
static int64_t year_begins(int64_t year)
{
    int64_t y = year - 1;
    int64_t leaps = y / 4 - y / 100 + y / 400; /* years above 0 */
    return y * 365 + leaps - 719162;
}

static int64_t year_of(int64_t day)
{
    int64_t year = 1970 + day / 366;
    while (year_begins(year + 1) <= day)
        year++;
    while (year_begins(year) > day)
        year--;
    return year;
}

/* Days before a month. */
static int month_begins(int month, bool is_leap)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    return before[month - 1] + (is_leap && month > 2 ? 1 : 0);
}

/* The local second, counted from 1970, at which the change of a year happens. */
static int64_t change_at(const struct zone_change *change, int64_t year)
{
    bool is_leap = leap(year);
    int64_t first = year_begins(year), day = change->day;
    if (change->kind == ZONE_DAY_JULIAN) {
        day = day - 1 + (is_leap && day > 59 ? 1 : 0);
    } else if (change->kind == ZONE_WEEKDAY) {
        int begins = month_begins(change->month, is_leap);
        int end = change->month == 12 ? (is_leap ? 366 : 365) : month_begins(change->month + 1, is_leap);
        int weekday = (int)(((first + begins + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
        day = begins + (change->weekday - weekday + 7) % 7 + (change->week - 1) * 7;
        if (day >= end)
            day -= 7;
    }
    return (first + day) * DAY_S + change->time_s;
}

int32_t zone_rule_offset(const struct zone_rule *rule, int64_t s)
{
    if (!rule->changes)
        return rule->standard_s;
    int64_t local = s + rule->standard_s, day = local / DAY_S - (local % DAY_S < 0);
    int64_t year = year_of(day);
    int64_t begins = change_at(&rule->begins, year) - rule->standard_s;
    int64_t ends = change_at(&rule->ends, year) - rule->summer_s;
    bool summer = begins < ends ? s >= begins && s < ends : !(s >= ends && s < begins);
    return summer ? rule->summer_s : rule->standard_s;
}
