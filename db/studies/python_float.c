#include "db/studies/python_float.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_SURE = 15 /* a decimal of so many survives float64 */ };

/* The next decimal of as many digits, further from 0. Of nines alone it becomes 0: the next one has fewer
 * digits, and was tried. */
static void step_out(char *text)
{
    char *at = strchr(text, 'e');
    while (at > text) {
        at--;
        if (*at >= '0' && *at < '9') {
            (*at)++;
            return;
        }
        if (*at == '9')
            *at = '0';
    }
}

/* "d.ddde±x" of the fewest digits that are read as the same number. Below a power of two floats are half as
 * far apart as above, so that the nearest decimal may be another number's, and the one above it still this
 * one's. */
static void shortest(double value, char ret[static PYTHON_FLOAT_MAX])
{
    bool subnormal = fabs(value) < DBL_MIN;
    for (int digits = subnormal ? 1 : DIGITS_SURE; digits <= PYTHON_FLOAT_DIGITS; digits++) {
        snprintf(ret, PYTHON_FLOAT_MAX, "%.*e", digits - 1, value);
        if (strtod(ret, NULL) == value)
            break;
        if (digits < PYTHON_FLOAT_DIGITS) {
            step_out(ret);
            if (strtod(ret, NULL) == value)
                break;
        }
    }
}

/* The digits of such a text without the point and trailing zeros; the value is 0.DIGITS * 10^point. */
static int take_apart(const char *text, char digits[static PYTHON_FLOAT_DIGITS + 1], int *ret_point)
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

int study_python_float_digits(double value, char ret[static PYTHON_FLOAT_DIGITS + 1], int *ret_point)
{
    char text[PYTHON_FLOAT_MAX];
    shortest(value, text);
    return take_apart(text, ret, ret_point);
}

void study_python_float_text(double value, char ret[static PYTHON_FLOAT_MAX])
{
    char digits[PYTHON_FLOAT_DIGITS + 1];
    if (!isfinite(value) || value == 0) {
        const char *word = isnan(value) ? "NaN" : isinf(value) ? "Infinity" : "0.0";
        snprintf(ret, PYTHON_FLOAT_MAX, "%s%s", signbit(value) && !isnan(value) ? "-" : "", word);
        return;
    }
    int point, n = study_python_float_digits(value, digits, &point);
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
