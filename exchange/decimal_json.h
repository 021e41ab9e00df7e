/* Decimals as JSON's numbers, with every digit. A decimal that no double represents is kept as a marked
 * text until it is written, which json_dumps() of jansson would put in quotes. */
#ifndef EXCHANGE_DECIMAL_JSON_H
#define EXCHANGE_DECIMAL_JSON_H

#include <jansson.h>

#include "exchange/decimal.h"

/* units / 10^scale. The caller's; NULL without memory. */
json_t *decimal_json(int128_t units, int scale);

/* The nearest double to such a number, or to any other one; NaN for anything else. */
double decimal_json_value(const json_t *value);

/* As json_dumps() writes it, compact and with `digits` of a double, and decimals whole. The caller's; NULL
 * without memory or for a NULL value. */
char *decimal_json_text(const json_t *value, size_t digits);

/* The digits of a number, without the exponent that JSON may have ("0.00005", not 5e-05): what
 * decimal_parse() takes. The caller's; NULL without memory and for anything else, or what 128 bits do not
 * hold. */
char *decimal_json_digits(const json_t *number);

/* Parses text[0..len): numbers of more than 15 digits, at most 8 of them after the point, are kept in full.
 * NULL for text that is not JSON. */
json_t *decimal_json_parse(const char *text, size_t len);

#endif
