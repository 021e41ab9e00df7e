#include <errno.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/decimal.h"

enum { NS_PER_S = 1000000000 };

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar: years are counted from March, so that
 * the leap day is the last of its year. */
static int64_t days_from_date(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year;
    int m = month <= 2 ? month + 9 : month - 3;
    int64_t leap_days = y / 4 - y / 100 + y / 400;
    return 365LL * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
        return 29;
    return days[month - 1];
}

struct cursor {
    const char *p, *end;
};

/* Exactly `n` digits. */
static bool take_digits(struct cursor *c, int n, int *ret)
{
    int value = 0;
    if (c->end - c->p < n)
        return false;
    for (int i = 0; i < n; i++) {
        char ch = c->p[i];
        if (ch < '0' || ch > '9')
            return false;
        value = value * 10 + (ch - '0');
    }
    c->p += n;
    *ret = value;
    return true;
}

static bool take(struct cursor *c, char ch)
{
    if (c->p == c->end || *c->p != ch)
        return false;
    c->p++;
    return true;
}

/* .fraction of a second, in ns; more than nine digits must be zeros. */
static bool take_fraction(struct cursor *c, int64_t *ret_ns)
{
    int64_t ns = 0, unit = NS_PER_S / 10;
    const char *start = c->p;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
        if (unit == 0 && *c->p != '0')
            return false;
        ns += (*c->p - '0') * unit;
        unit /= 10;
    }
    *ret_ns = ns;
    return c->p > start;
}

/* Z, ±HH, ±HHMM, ±HH:MM, or nothing (local). */
static bool take_zone(struct cursor *c, int *ret_minutes, bool *ret_local)
{
    int sign, hours, minutes = 0;
    *ret_local = c->p == c->end;
    if (c->p == c->end || take(c, 'Z') || take(c, 'z')) {
        *ret_minutes = 0;
        return c->p == c->end;
    }
    if (take(c, '+'))
        sign = 1;
    else if (take(c, '-'))
        sign = -1;
    else
        return false;
    if (!take_digits(c, 2, &hours))
        return false;
    if (c->p < c->end) {
        take(c, ':');
        if (!take_digits(c, 2, &minutes))
            return false;
    }
    if (c->p != c->end || hours > 23 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

static int parse_iso(struct cursor c, int64_t *ret_ns, bool *ret_local)
{
    int year, month, day, hour = 0, minute = 0, second = 0, zone = 0;
    int64_t fraction = 0;
    *ret_local = true;
    if (!take_digits(&c, 4, &year) || !take(&c, '-') || !take_digits(&c, 2, &month) || !take(&c, '-') ||
        !take_digits(&c, 2, &day))
        return -EINVAL;
    if (c.p < c.end) {
        if (!take(&c, 'T') && !take(&c, ' ') && !take(&c, 't'))
            return -EINVAL;
        if (!take_digits(&c, 2, &hour) || !take(&c, ':') || !take_digits(&c, 2, &minute))
            return -EINVAL;
        if (take(&c, ':') && !take_digits(&c, 2, &second))
            return -EINVAL;
        if (take(&c, '.') && !take_fraction(&c, &fraction))
            return -EINVAL;
        if (!take_zone(&c, &zone, ret_local))
            return -EINVAL;
    }
    /* int64 nanoseconds reach from 1677 to 2262. */
    if (year < 1678 || year > 2261 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month) || hour > 23 || minute > 59 || second > 59)
        return -EINVAL;
    int64_t seconds =
        days_from_date(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone * 60;
    *ret_ns = seconds * NS_PER_S + fraction;
    return 0;
}

/* Plain digits that fit, as venues write them. */
static bool whole_number(const char *text, size_t len, int64_t *ret)
{
    int64_t value = 0;
    if (len == 0 || len > DECIMAL_SCALE_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9)
            return false;
        value = value * 10 + (int64_t)digit;
    }
    *ret = value;
    return true;
}

/* The unit follows from the size: 1e11 s is the year 5138, 1e11 ms is 1973, and so on by thousands. */
static int parse_epoch(const char *text, size_t len, int64_t *ret_ns)
{
    const int64_t most = 100000000000;
    int128_t ns, value; /* value: scale 9 */
    int64_t whole;
    if (whole_number(text, len, &whole)) {
        ns = (int128_t)whole * (whole < most             ? NS_PER_S
                                : whole < most * 1000    ? NS_PER_S / 1000
                                : whole < most * 1000000 ? NS_PER_S / 1000000
                                                         : 1);
    } else {
        if (decimal_parse128(text, len, 9, &value) != 0)
            return -EINVAL;
        int128_t size = (value < 0 ? -value : value) / NS_PER_S;
        ns = value / (size < most             ? 1
                      : size < most * 1000    ? 1000
                      : size < most * 1000000 ? 1000000
                                              : NS_PER_S);
    }
    if (ns > INT64_MAX || ns < INT64_MIN)
        return -EINVAL;
    *ret_ns = (int64_t)ns;
    return 0;
}

int bars_time_parse(const char *text, size_t len, int64_t *ret_ns)
{
    bool local;
    return bars_time_read(text, len, ret_ns, &local);
}

int bars_time_read(const char *text, size_t len, int64_t *ret_ns, bool *ret_local)
{
    *ret_local = false;
    if (len >= 10 && text[4] == '-' && text[7] == '-')
        return parse_iso((struct cursor){text, text + len}, ret_ns, ret_local);
    return parse_epoch(text, len, ret_ns);
}
