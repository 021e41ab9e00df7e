#include "db/studies/decimal_grid.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_SURE = 15 /* a decimal of so many survives float64 */, DIGITS_MAX = 17, INT128_DIGITS = 37 };

/* "d.ddde±x" of the fewest digits that are read as the same number. */
static void shortest(double value, char ret[static DECIMAL_TEXT_MAX])
{
    bool subnormal = fabs(value) < DBL_MIN;
    for (int digits = subnormal ? 1 : DIGITS_SURE; digits <= DIGITS_MAX; digits++) {
        snprintf(ret, DECIMAL_TEXT_MAX, "%.*e", digits - 1, value);
        if (strtod(ret, NULL) == value)
            break;
    }
}

/* The digits of such a text without the point and trailing zeros; the value is 0.DIGITS * 10^point. */
static int take_apart(const char *text, char digits[static DIGITS_MAX + 1], int *ret_point)
{
    int n = 0;
    const char *at = text + (*text == '-');
    for (; *at && *at != 'e'; at++)
        if (*at != '.')
            digits[n++] = *at;
    *ret_point = atoi(at + 1) + 1;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return n;
}

void decimal_text(double value, char ret[static DECIMAL_TEXT_MAX])
{
    char text[DECIMAL_TEXT_MAX], digits[DIGITS_MAX + 1];
    if (!isfinite(value) || value == 0) {
        const char *word = isnan(value) ? "NaN" : isinf(value) ? "Infinity" : "0.0";
        snprintf(ret, DECIMAL_TEXT_MAX, "%s%s", signbit(value) && !isnan(value) ? "-" : "", word);
        return;
    }
    shortest(value, text);
    int point, n = take_apart(text, digits, &point);
    char *at = ret;
    if (value < 0)
        *at++ = '-';
    if (point < -3 || point > 16) { /* Python's limits of the plain form */
        *at++ = digits[0];
        if (n > 1) {
            *at++ = '.';
            at = stpcpy(at, digits + 1);
        }
        sprintf(at, "e%c%02d", point <= 0 ? '-' : '+', abs(point - 1));
        return;
    }
    if (point <= 0) {
        at = stpcpy(at, "0.");
        for (int i = point; i < 0; i++)
            *at++ = '0';
        strcpy(at, digits);
        return;
    }
    for (int i = 0; i < point; i++)
        *at++ = i < n ? digits[i] : '0';
    *at++ = '.';
    strcpy(at, n > point ? digits + point : "0");
}

/* value = mantissa * 10^exponent, exactly as its shortest text says. */
static void parts(double value, __int128 *ret_mantissa, int *ret_exponent, int *ret_digits)
{
    char text[DECIMAL_TEXT_MAX], digits[DIGITS_MAX + 1];
    int point;
    if (value == 0) {
        *ret_mantissa = 0;
        *ret_exponent = *ret_digits = 0;
        return;
    }
    shortest(value, text);
    int n = take_apart(text, digits, &point);
    long long whole = strtoll(digits, NULL, 10);
    *ret_mantissa = value < 0 ? -whole : whole;
    *ret_exponent = point - n;
    *ret_digits = n;
}

static double read_back(__int128 mantissa, int exponent)
{
    char text[INT128_DIGITS + 16], *at = text + INT128_DIGITS + 4;
    bool negative = mantissa < 0;
    unsigned __int128 rest = negative ? -(unsigned __int128)mantissa : (unsigned __int128)mantissa;
    sprintf(at, "e%d", exponent);
    do {
        *--at = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (negative)
        *--at = '-';
    return strtod(at, NULL);
}

double decimal_grid_high(double low, double high, double step)
{
    const double of[] = {low, high, step};
    __int128 mantissas[3];
    int exponents[3], digits[3], least = 0;
    bool first = true;
    for (int i = 0; i < 3; i++) {
        parts(of[i], &mantissas[i], &exponents[i], &digits[i]);
        if (mantissas[i] != 0 && (first || exponents[i] < least)) {
            least = exponents[i];
            first = false;
        }
    }
    for (int i = 0; i < 3; i++) {
        if (mantissas[i] != 0 && exponents[i] - least + digits[i] > INT128_DIGITS) {
            double k = floor((high - low) / step);
            return low + k * step > high ? high : low + k * step;
        }
        for (int e = mantissas[i] != 0 ? exponents[i] : least; e > least; e--)
            mantissas[i] *= 10;
    }
    __int128 range = mantissas[1] - mantissas[0];
    if (range % mantissas[2] == 0)
        return high;
    return read_back(range / mantissas[2] * mantissas[2] + mantissas[0], least);
}
