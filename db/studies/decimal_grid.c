#include "db/studies/distribution.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/studies/python_float.h"

enum { INT128_DIGITS = 37 };

/* value = mantissa * 10^exponent, exactly as in its shortest text. */
static void parts(double value, __int128 *ret_mantissa, int *ret_exponent, int *ret_digits)
{
    char digits[PYTHON_FLOAT_DIGITS + 1];
    int point;
    if (value == 0) {
        *ret_mantissa = 0;
        *ret_exponent = *ret_digits = 0;
        return;
    }
    int n = study_python_float_digits(value, digits, &point);
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

double study_decimal_grid_high(double low, double high, double step)
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
