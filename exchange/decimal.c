#include "exchange/decimal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const int64_t decimal_powers[DECIMAL_SCALE_MAX + 1] = {
    1LL,
    10LL,
    100LL,
    1000LL,
    10000LL,
    100000LL,
    1000000LL,
    10000000LL,
    100000000LL,
    1000000000LL,
    10000000000LL,
    100000000000LL,
    1000000000000LL,
    10000000000000LL,
    100000000000000LL,
    1000000000000000LL,
    10000000000000000LL,
    100000000000000000LL,
    1000000000000000000LL,
};

#define INT128_MAX ((int128_t)(~(uint128_t)0 >> 1))

static bool digit_at(const char *p, const char *end)
{
    return p < end && (unsigned char)(*p - '0') <= 9;
}

/* value·10 + digit, or false (and value unchanged) where that is above `most`. */
static bool push_digit(uint128_t *value, char digit, uint128_t most)
{
    unsigned d = (unsigned)(digit - '0');
    if (*value > (most - d) / 10)
        return false;
    *value = *value * 10 + d;
    return true;
}

int decimal_parse128(const char *text, size_t len, int scale, int128_t *ret)
{
    const char *p = text, *end = text + len;
    bool negative = false;
    if (scale < 0 || scale > DECIMAL_SCALE_MAX)
        return -EINVAL;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';

    uint128_t value = 0;
    const uint128_t most = (uint128_t)INT128_MAX + negative;
    const char *start = p;
    bool fits = true;
    while (digit_at(p, end))
        fits &= push_digit(&value, *p++, most);
    if (p == start)
        return -EINVAL;
    int left = scale;
    bool lost = false;
    if (p < end && *p == '.') {
        start = ++p;
        for (; digit_at(p, end); p++) {
            if (left == 0)
                lost |= *p != '0';
            else
                fits &= push_digit(&value, *p, most);
            left -= left > 0;
        }
        if (p == start)
            return -EINVAL;
    }
    if (p != end)
        return -EINVAL;
    for (; left > 0; left--)
        fits &= push_digit(&value, '0', most);
    if (!fits)
        return -ERANGE;
    if (lost)
        return -EDOM;
    *ret = (int128_t)(negative ? -value : value);
    return 0;
}

/* Venues almost always send plain digits, few enough for 18 at the scale: one 64-bit loop, no overflow test
 * inside. Everything else takes the general path. */
int decimal_parse(const char *text, size_t len, int scale, int64_t *ret)
{
    const char *p = text, *end = text + len;
    uint64_t value = 0;
    while (digit_at(p, end))
        value = value * 10 + (unsigned)(*p++ - '0');
    ptrdiff_t whole = p - text, fraction = 0;
    if (whole > 0 && p < end && *p == '.' && digit_at(p + 1, end)) {
        const char *start = ++p;
        while (digit_at(p, end))
            value = value * 10 + (unsigned)(*p++ - '0');
        fraction = p - start;
    }
    if (p == end && whole > 0 && fraction <= scale && whole + scale <= DECIMAL_SCALE_MAX) {
        *ret = (int64_t)value * decimal_powers[scale - fraction];
        return 0;
    }
    int128_t wide;
    int r = decimal_parse128(text, len, scale, &wide);
    if (r < 0)
        return r;
    if (wide > INT64_MAX || wide < INT64_MIN)
        return -ERANGE;
    *ret = (int64_t)wide;
    return 0;
}

int decimal_parse_str(const char *text, int scale, int64_t *ret)
{
    return decimal_parse(text, strlen(text), scale, ret);
}

size_t decimal_format(int128_t units, int scale, char buf[static DECIMAL_TEXT_MAX])
{
    char reversed[DECIMAL_TEXT_MAX];
    size_t n = 0;
    uint128_t rest = units < 0 ? -(uint128_t)units : (uint128_t)units;
    for (int digit = 0; rest > 0 || digit <= scale; digit++) {
        if (digit == scale && scale > 0)
            reversed[n++] = '.';
        reversed[n++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (units < 0)
        reversed[n++] = '-';
    for (size_t i = 0; i < n; i++)
        buf[i] = reversed[n - 1 - i];
    buf[n] = '\0';
    return n;
}

size_t decimal_format_from(int128_t units, int scale, int digits, char buf[static DECIMAL_TEXT_MAX])
{
    size_t n = decimal_format(units, scale, buf);
    for (; scale > digits && buf[n - 1] == '0'; scale--)
        n--;
    if (scale == 0 && buf[n - 1] == '.')
        n--;
    buf[n] = '\0';
    return n;
}

size_t decimal_format_short(int128_t units, int scale, char buf[static DECIMAL_TEXT_MAX])
{
    return decimal_format_from(units, scale, 0, buf);
}

int decimal_rescale(int64_t units, int from, int to, int64_t *ret)
{
    if (to >= from) {
        int128_t wide = (int128_t)units * decimal_powers[to - from];
        if (wide > INT64_MAX || wide < INT64_MIN)
            return -ERANGE;
        *ret = (int64_t)wide;
        return 0;
    }
    int64_t unit = decimal_powers[from - to];
    if (units % unit != 0)
        return -EDOM;
    *ret = units / unit;
    return 0;
}

double decimal_to_double(int128_t units, int scale)
{
    int64_t small = (int64_t)units; /* which one instruction converts, to the same value */
    return (small == units ? (double)small : (double)units) / (double)decimal_powers[scale];
}

int decimal_from_double(double x, int scale, int64_t *ret)
{
    if (isnan(x))
        return -EINVAL;
    double scaled = round(x * (double)decimal_powers[scale]);
    if (!(fabs(scaled) < 9.2e18))
        return -ERANGE;
    *ret = (int64_t)scaled;
    return 0;
}

int decimal128_from_double(double x, int scale, int128_t *ret)
{
    if (isnan(x))
        return -EINVAL;
    double scaled = round(x * (double)decimal_powers[scale]);
    if (!(fabs(scaled) < 1.7e38))
        return -ERANGE;
    *ret = fabs(scaled) < 9.2e18 ? (int64_t)scaled : (int128_t)scaled; /* the first is one instruction */
    return 0;
}
