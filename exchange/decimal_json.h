/* Decimals as JSON's numbers, with every digit. What no double is exactly is, until it is written, a text
 * with a mark, which json_dumps() of jansson would put in quotes. */
#ifndef EXCHANGE_DECIMAL_JSON_H
#define EXCHANGE_DECIMAL_JSON_H

#include <jansson.h>

#include "exchange/decimal.h"

/* units / 10^scale. The caller's; NULL without memory. */
json_t *decimal_json(int128_t units, int scale);

/* What such a number, or any other one, is nearest to; NaN for what is none. */
double decimal_json_value(const json_t *value);

/* As json_dumps() writes it, compact and with `digits` of a double, and decimals whole. The caller's; NULL
 * without memory or for a NULL value. */
char *decimal_json_text(const json_t *value, size_t digits);

/* The other way, of text[0..len): numbers of more than 15 digits, at most 8 of them behind the point, stay as
 * they are. NULL for what is no JSON. */
json_t *decimal_json_parse(const char *text, size_t len);

#endif
