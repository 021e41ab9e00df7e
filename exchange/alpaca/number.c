#include "exchange/alpaca/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPONENT_MAX = 60,
    TEXT_MAX = 64,
    YEAR_MIN = 1970,
    YEAR_MAX = 2100,
    DAY_S = 86400,
};

#define SECOND_NS   1000000000LL
#define DOUBLE_SURE 1e15 /* fewer digits than these: no two decimals of them have the same double */

/* Parses the exponent at the end of text[0..*len) and cuts it off. */
static int take_exponent(const char *text, size_t *len, int *ret)
{
    const char *e = memchr(text, 'e', *len);
    if (!e)
        e = memchr(text, 'E', *len);
    *ret = 0;
    if (!e)
        return 0;
    const char *p = e + 1, *end = text + *len;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return -EINVAL;
    int exponent = 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return -EINVAL;
        if (exponent <= EXPONENT_MAX)
            exponent = exponent * 10 + (*p - '0');
    }
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    *ret = minus ? -exponent : exponent;
    *len = (size_t)(e - text);
    return 0;
}

int alpaca_decimal(const char *text, size_t len, int scale, int128_t *ret)
{
    int exponent;
    int r = take_exponent(text, &len, &exponent);
    if (r < 0)
        return r;
    if (exponent == 0)
        return decimal_parse128(text, len, scale, ret);
    int at = scale + exponent;
    int128_t value;
    r = decimal_parse128(text, len, at < 0 ? 0 : at > DECIMAL_SCALE_MAX ? DECIMAL_SCALE_MAX : at, &value);
    if (r < 0)
        return r;
    for (; at > DECIMAL_SCALE_MAX && value != 0; at--)
        if (__builtin_mul_overflow(value, (int128_t)10, &value))
            return -ERANGE;
    for (; at < 0 && value != 0; at++) {
        if (value % 10 != 0)
            return -EDOM;
        value /= 10;
    }
    *ret = value;
    return 0;
}

int alpaca_decimal_double(double x, int scale, int128_t *ret)
{
    if (!isfinite(x))
        return -EINVAL;
    double power = (double)decimal_pow10(scale), units = nearbyint(x * power);
    if (fabs(units) < DOUBLE_SURE && scale <= 15) { /* both exact, so the quotient is the nearest double */
        if (units / power != x)
            return -EDOM;
        *ret = (int128_t)units;
        return 0;
    }
    char text[TEXT_MAX];
    for (int digits = 15; digits <= 17; digits++) {
        int len = snprintf(text, sizeof(text), "%.*g", digits, x);
        char *end;
        if (strtod(text, &end) != x)
            continue;
        return alpaca_decimal(text, (size_t)len, scale, ret);
    }
    return -EDOM;
}

int alpaca_decimal_cut(const char *text, size_t len, int scale, int128_t *ret)
{
    int exponent;
    size_t mantissa = len;
    int r = take_exponent(text, &mantissa, &exponent);
    if (r < 0)
        return r;
    const char *point = memchr(text, '.', mantissa);
    size_t digits = point ? mantissa - (size_t)(point - text) - 1 : 0;
    int at = scale + exponent;
    if (at < 0) { /* less than a unit */
        *ret = 0;
        return decimal_parse128(text, mantissa < 3 ? mantissa : 1, 0, &(int128_t){0});
    }
    if (digits > (size_t)at)
        mantissa -= digits - (size_t)at + (at == 0);
    if (exponent == 0)
        return decimal_parse128(text, mantissa, scale, ret);
    char cut[TEXT_MAX];
    int n = mantissa < 40 ? snprintf(cut, sizeof(cut), "%.*se%d", (int)mantissa, text, exponent) : -1;
    return n < 0 ? -EINVAL : alpaca_decimal(cut, (size_t)n, scale, ret);
}

int alpaca_decimal_double_cut(double x, int scale, int128_t *ret)
{
    if (!isfinite(x))
        return -EINVAL;
    double units = trunc(x * (double)decimal_pow10(scale));
    if (fabs(units) >= 1e38)
        return -ERANGE;
    *ret = (int128_t)units;
    return 0;
}

/* Howard Hinnant's days_from_civil and civil_from_days (public domain formulas). */
int32_t alpaca_days(int year, int month, int day)
{
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400;
    int year_of_era = year - era * 400;
    int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

void alpaca_civil(int32_t days, int *ret_year, int *ret_month, int *ret_day)
{
    days += 719468;
    int era = (days >= 0 ? days : days - 146096) / 146097;
    int day_of_era = days - era * 146097;
    int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int month = (5 * day_of_year + 2) / 153;
    *ret_day = day_of_year - (153 * month + 2) / 5 + 1;
    *ret_month = month < 10 ? month + 3 : month - 9;
    *ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

static bool two(const char *p, int low, int high, int *ret)
{
    if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
        return false;
    *ret = (p[0] - '0') * 10 + (p[1] - '0');
    return *ret >= low && *ret <= high;
}

bool alpaca_date(const char *text, size_t len, int32_t *ret_days)
{
    int century, year, month, day;
    if (len != 10 || text[4] != '-' || text[7] != '-' || !two(text, 19, 21, &century) ||
        !two(text + 2, 0, 99, &year) || !two(text + 5, 1, 12, &month) || !two(text + 8, 1, 31, &day))
        return false;
    year += century * 100;
    if (year < YEAR_MIN || year >= YEAR_MAX)
        return false;
    int32_t days = alpaca_days(year, month, day);
    int y, m, d;
    alpaca_civil(days, &y, &m, &d);
    if (d != day)
        return false;
    *ret_days = days;
    return true;
}

bool alpaca_time(const char *text, size_t len, int64_t *ret_ns)
{
    int32_t days;
    int hour, minute, second, offset_s = 0;
    if (len < 20 || !alpaca_date(text, 10, &days) || (text[10] != 'T' && text[10] != 't') ||
        text[13] != ':' || text[16] != ':' || !two(text + 11, 0, 23, &hour) ||
        !two(text + 14, 0, 59, &minute) || !two(text + 17, 0, 59, &second))
        return false;
    const char *p = text + 19, *end = text + len;
    int64_t fraction = 0;
    if (*p == '.') {
        int64_t unit = SECOND_NS;
        for (p++; p < end && *p >= '0' && *p <= '9'; p++) {
            if (unit == 1 && *p != '0')
                return false;
            if (unit > 1) {
                unit /= 10;
                fraction += (*p - '0') * unit;
            }
        }
        if (p[-1] == '.')
            return false;
    }
    if (end - p == 6 && (*p == '+' || *p == '-') && p[3] == ':') {
        int hours, minutes;
        if (!two(p + 1, 0, 14, &hours) || !two(p + 4, 0, 59, &minutes))
            return false;
        offset_s = (hours * 3600 + minutes * 60) * (*p == '-' ? -1 : 1);
    } else if (end - p != 1 || (*p != 'Z' && *p != 'z')) {
        return false;
    }
    int64_t seconds = (int64_t)days * DAY_S + hour * 3600 + minute * 60 + second - offset_s;
    if (seconds < 0)
        return false;
    *ret_ns = seconds * SECOND_NS + fraction;
    return true;
}

void alpaca_time_text(int64_t ns, char ret[static ALPACA_TIME_TEXT_MAX])
{
    int64_t seconds = ns / SECOND_NS, fraction = ns % SECOND_NS;
    if (fraction < 0) {
        seconds--;
        fraction += SECOND_NS;
    }
    int64_t days = seconds / DAY_S, rest = seconds % DAY_S;
    if (rest < 0) {
        days--;
        rest += DAY_S;
    }
    int year, month, day;
    alpaca_civil((int32_t)days, &year, &month, &day);
    int n = snprintf(ret, ALPACA_TIME_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", year % 10000, month, day,
                     (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
    if (fraction > 0)
        n += snprintf(ret + n, ALPACA_TIME_TEXT_MAX - (size_t)n, ".%09d", (int)fraction);
    ret[n] = 'Z';
    ret[n + 1] = '\0';
}
