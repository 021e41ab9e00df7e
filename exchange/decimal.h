/* Scaled-integer decimals: value = units / 10^scale, exact.
 *
 * Prices, quantities and cash are int64_t units with a scale of their own (see struct symbol);
 * products and sums of volume are int128_t. Nothing here rounds unless its name says so. */
#ifndef EXCHANGE_DECIMAL_H
#define EXCHANGE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __int128 int128_t;
typedef unsigned __int128 uint128_t;

enum {
    DECIMAL_SCALE_MAX = 18,
    DECIMAL_TEXT_MAX = 44, /* sign, 39 digits of an int128, point, leading zero, NUL */
};

/* 10^n for n in 0..18. */
extern const int64_t decimal_powers[DECIMAL_SCALE_MAX + 1];
static inline int64_t decimal_pow10(int n)
{
    return decimal_powers[n];
}

/* Parses the whole of text[0..len): [-+]digits[.digits]. Writes units at `scale` (0..18).
 * Returns 0; -EINVAL when it is not a number (or len is 0); -ERANGE when it does not fit;
 * -EDOM when it has non-zero digits beyond `scale`. *ret is untouched on failure. */
int decimal_parse(const char *text, size_t len, int scale, int64_t *ret);
int decimal_parse128(const char *text, size_t len, int scale, int128_t *ret);

/* The same for a NUL-terminated string. */
int decimal_parse_str(const char *text, int scale, int64_t *ret);

/* Writes units with exactly `scale` digits after the point ("61837.63000000"), as venues do,
 * NUL-terminated, into buf[DECIMAL_TEXT_MAX]. Returns the length. */
size_t decimal_format(int128_t units, int scale, char buf[static DECIMAL_TEXT_MAX]);

/* The same without trailing zeros ("61837.63"), for people. */
size_t decimal_format_short(int128_t units, int scale, char buf[static DECIMAL_TEXT_MAX]);

/* Likewise, with at least `digits` after the point (0..scale): 65012.10000000 with two is "65012.10". */
size_t decimal_format_from(int128_t units, int scale, int digits, char buf[static DECIMAL_TEXT_MAX]);

/* units at scale `from` expressed at scale `to`. 0, -ERANGE, or -EDOM when digits would be lost. */
int decimal_rescale(int64_t units, int from, int to, int64_t *ret);

/* The nearest double while |units| <= 2^53, within two units in the last place above; for indicators and
 * screens; never for money. */
double decimal_to_double(int128_t units, int scale);

/* The nearest unit to x (ties away from zero). 0; -EINVAL for NaN; -ERANGE. */
int decimal_from_double(double x, int scale, int64_t *ret);
int decimal128_from_double(double x, int scale, int128_t *ret);

#endif
