#include "exchange/bars_number.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

enum {
    NUMBER_MAX = 64,
    EXACT_POWERS = 22, /* 10^22 is the largest power of ten that a double holds */
    PLAIN_DIGITS = 15, /* a decimal of so many digits is the only one of as many that its double stands for */
    MOST_DIGITS = 17,  /* that distinguish all doubles */
};

static const double powers[EXACT_POWERS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits with a point or without, up to 19 of them, into a whole number and how many of its digits stand
 * behind the point; false for anything else. */
static bool read_plain(const char *p, const char *end, uint64_t *ret, int *ret_after)
{
    uint64_t value = 0;
    const char *start = p, *point = NULL;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (digit <= 9)
            value = value * 10 + digit;
        else if (*p == '.' && !point)
            point = p;
        else
            return false;
    }
    ptrdiff_t digits = p - start - (point != NULL);
    if (digits == 0 || digits > 19)
        return false;
    *ret = value;
    *ret_after = point ? (int)(end - point - 1) : 0;
    return true;
}

/* Any decimal number, with a sign, with an exponent. */
static bool read_any(const char *data, size_t len, double *ret, long *ret_after)
{
    char text[NUMBER_MAX];
    char *end;
    if (len == 0 || len >= sizeof(text) || strspn(data, "+-.0123456789eE") < len)
        return false;
    memcpy(text, data, len);
    text[len] = '\0';
    double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    size_t mantissa = strcspn(text, "eE");
    const char *point = memchr(text, '.', mantissa);
    long after = 0;
    if (point) {
        size_t last = mantissa;
        while (text[last - 1] == '0')
            last--;
        after = &text[last - 1] - point;
    }
    if (text[mantissa] != '\0')
        after -= strtol(&text[mantissa + 1], NULL, 10);
    *ret = value;
    *ret_after = after;
    return true;
}

/* A whole number below 2^53 over a power of ten that is a double is rounded once, by the division: the
 * nearest double to the text, as strtod() gives it. */
bool bars_number(const char *data, size_t len, double *ret, int *digits)
{
    const char *p = data, *end = p + len;
    uint64_t whole;
    int plain_after;
    long after;
    /* Zeros at the end of a fraction do not count, and venues write many of them. */
    if (len > 16 && memchr(p, '.', len) && !memchr(p, 'e', len) && !memchr(p, 'E', len))
        while (end[-1] == '0')
            end--;
    if (read_plain(p, end, &whole, &plain_after) && whole <= 1ull << 53) {
        *ret = (double)whole / powers[plain_after];
        after = plain_after;
        while (after > *digits && end[-1] == '0') {
            end--;
            after--;
        }
    } else if (!read_any(data, len, ret, &after)) {
        return false;
    }
    if (after > DECIMAL_SCALE_MAX)
        after = DECIMAL_SCALE_MAX;
    if (after > *digits)
        *digits = (int)after;
    return true;
}

/* One division of whole numbers is rounded once: the quotient is the double of that decimal. */
static bool has_digits(double value, int digits)
{
    double units = value * powers[digits];
    return fabs(units) < powers[PLAIN_DIGITS] && rint(units) / powers[digits] == value;
}

void bars_number_digits(double value, int *digits)
{
    char text[NUMBER_MAX];
    double same;
    if (*digits >= DECIMAL_SCALE_MAX ||
        fabs(value) * powers[*digits] >= powers[MOST_DIGITS - 1]) /* no text has more */
        return;
    for (int d = *digits; d <= PLAIN_DIGITS; d++)
        if (has_digits(value, d)) {
            *digits = d;
            return;
        }
    for (int n = PLAIN_DIGITS; n <= MOST_DIGITS; n++) {
        snprintf(text, sizeof text, "%.*g", n, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)bars_number(text, strlen(text), &same, digits);
}
