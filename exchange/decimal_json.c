#include "exchange/decimal_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks the text of a number: a noncharacter, which no text contains. */
#define MARK     "\xef\xb7\x90"
#define MARK_LEN (sizeof MARK - 1)

enum { DIGITS = 15, PLACES = 8 }; /* of every decimal, a double keeps so many; behind the point, of amounts */

/* Has text[0..n) more digits than a double? */
static bool is_wide(const char *text, size_t n)
{
    int digits = 0;
    for (size_t i = 0; i < n; i++)
        digits += text[i] != '.' && text[i] != '-' && (digits > 0 || text[i] != '0');
    return digits > DIGITS;
}

json_t *decimal_json(int128_t units, int scale)
{
    char text[MARK_LEN + DECIMAL_TEXT_MAX] = MARK, of_double[DECIMAL_TEXT_MAX];
    double nearest = decimal_to_double(units, scale);
    size_t n = decimal_format_short(units, scale, text + MARK_LEN);
    snprintf(of_double, sizeof of_double, "%.17g", nearest);
    bool exact = !is_wide(text + MARK_LEN, n) && strcmp(text + MARK_LEN, of_double) == 0;
    return exact ? json_real(nearest) : json_string(text);
}

double decimal_json_value(const json_t *value)
{
    const char *text = json_string_value(value);
    if (text && strncmp(text, MARK, MARK_LEN) == 0)
        return strtod(text + MARK_LEN, NULL);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Behind the end of the text of JSON that begins at `at`. */
static const char *after_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

char *decimal_json_text(const json_t *value, size_t digits)
{
    char *text =
             value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits)) : NULL,
         *to = text;
    const char *end = text ? text + strlen(text) : NULL, *next;
    for (const char *at = text; at < end; at = next) {
        next = *at == '"' ? after_string(at, end) : at + 1;
        size_t n = (size_t)(next - at);
        if (n > MARK_LEN + 2 && memcmp(at + 1, MARK, MARK_LEN) == 0 &&
            strspn(at + 1 + MARK_LEN, "-.0123456789") == n - MARK_LEN - 2)
            at += 1 + MARK_LEN, n -= MARK_LEN + 2;
        memmove(to, at, n);
        to += n;
    }
    if (to)
        *to = '\0';
    return text;
}

char *decimal_json_digits(const json_t *number)
{
    char digits[DECIMAL_TEXT_MAX];
    int128_t units;
    double value = decimal_json_value(number);
    char *text = isnan(value) ? NULL : decimal_json_text(number, DIGITS);
    if (!text || !strchr(text, 'e'))
        return text;
    free(text);
    const int scale = fabs(value) < 1 ? DECIMAL_SCALE_MAX : 0;
    if (decimal128_from_double(value, scale, &units) < 0)
        return NULL;
    decimal_format_short(units, scale, digits);
    return strdup(digits);
}

json_t *decimal_json_parse(const char *text, size_t len)
{
    const char *end = text + len, *next;
    int128_t units;
    char *marked = malloc(len + len / DIGITS * (MARK_LEN + 2) + 1), *to = marked; /* the most there can be */
    for (const char *at = text; marked && at < end; at = next) {
        for (next = at; next < end && strchr("-.0123456789eE+", *next) && *next; next++)
            ;
        size_t n = (size_t)(next - at);
        bool wide = n > DIGITS && decimal_parse128(at, n, PLACES, &units) == 0 && is_wide(at, n) &&
                    memchr(at, '.', n);
        if (wide) {
            memcpy(to, "\"" MARK, MARK_LEN + 1);
            to += MARK_LEN + 1;
        }
        if (n == 0) {
            next = *at == '"' ? after_string(at, end) : at + 1;
            n = (size_t)(next - at);
        }
        memcpy(to, at, n);
        to += n;
        if (wide)
            *to++ = '"';
    }
    json_t *value = marked ? json_loadb(marked, (size_t)(to - marked), JSON_REJECT_DUPLICATES, NULL) : NULL;
    free(marked);
    return value;
}
