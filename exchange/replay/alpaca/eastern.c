#include "exchange/replay/alpaca/eastern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000LL

enum { HOUR_S = 3600, SUNDAY = 0, STANDARD_S = -5 * HOUR_S, DAYLIGHT_S = -4 * HOUR_S };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years begin in March here, so that the leap day is the last of its year. */
int64_t replay_eastern_days(int year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void replay_eastern_civil(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t z = days + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    *ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year + era * 400 + (*ret_month <= 2));
}

int replay_eastern_weekday(int64_t days)
{
    int64_t weekday = (days + 4) % 7; /* 1970-01-01 was a Thursday */
    return (int)(weekday < 0 ? weekday + 7 : weekday);
}

/* The nth Sunday of a month; n = 0: the last. */
static int64_t sunday(int year, int month, int n)
{
    if (n == 0) {
        int64_t last = replay_eastern_days(year, month, 31);
        return last - replay_eastern_weekday(last);
    }
    int64_t first = replay_eastern_days(year, month, 1);
    return first + (7 - replay_eastern_weekday(first)) % 7 + 7 * (n - 1);
}

int replay_eastern_offset_s(int64_t utc_s)
{
    int year, month, day;
    replay_eastern_civil(floor_div(utc_s + STANDARD_S, EASTERN_DAY_S), &year, &month, &day);
    bool since_2007 = year >= 2007;
    int64_t begin = since_2007 ? sunday(year, 3, 2) : sunday(year, 4, 1);
    int64_t end = since_2007 ? sunday(year, 11, 1) : sunday(year, 10, 0);
    bool daylight = utc_s >= begin * EASTERN_DAY_S + 2 * HOUR_S - STANDARD_S &&
                    utc_s < end * EASTERN_DAY_S + 2 * HOUR_S - DAYLIGHT_S;
    return daylight ? DAYLIGHT_S : STANDARD_S;
}

int64_t replay_eastern_utc_s(int64_t days, int second_of_day)
{
    int64_t local = days * EASTERN_DAY_S + second_of_day, daylight = local - DAYLIGHT_S;
    return replay_eastern_offset_s(daylight) == DAYLIGHT_S ? daylight : local - STANDARD_S;
}

int64_t replay_eastern_date(int64_t utc_ns)
{
    int64_t s = floor_div(utc_ns, NS_PER_S);
    return floor_div(s + replay_eastern_offset_s(s), EASTERN_DAY_S);
}

static bool two_digits(const char *text, int *ret)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
        return false;
    *ret = (text[0] - '0') * 10 + text[1] - '0';
    return true;
}

int replay_eastern_date_parse(const char *text, int64_t *ret_days)
{
    int century, year, month, day, y, m, d;
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' || !two_digits(text, &century) ||
        !two_digits(text + 2, &year) || !two_digits(text + 5, &month) || !two_digits(text + 8, &day) ||
        month < 1 || month > 12 || day < 1)
        return -EINVAL;
    int64_t days = replay_eastern_days(century * 100 + year, month, day);
    replay_eastern_civil(days, &y, &m, &d);
    if (d != day)
        return -EINVAL;
    *ret_days = days;
    return 0;
}

void replay_eastern_date_write(struct text *out, int64_t days)
{
    char date[40];
    int year, month, day;
    replay_eastern_civil(days, &year, &month, &day);
    snprintf(date, sizeof(date), "%04d-%02d-%02d", year, month, day);
    text_str(out, date);
}
