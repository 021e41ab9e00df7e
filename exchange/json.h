/* A JSON reader for venue messages: one pass over the text, no tree, no allocation.
 *
 * The caller walks the value in the order of the text; members are distinguished by key, so no order of
 * keys is assumed. Any syntax error makes the reader fail for good: every later call returns false or an
 * empty string, and json_done() returns false. Strings are returned as they are in the text, escapes
 * included (venues' names and numbers have none). */
#ifndef EXCHANGE_JSON_H
#define EXCHANGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exchange/decimal.h"

enum { JSON_DEPTH_MAX = 64 };

struct json {
    const char *p, *end;
    int depth; /* containers open around p */
    bool failed;
    bool first; /* p stands just after an opening bracket */
};

struct json_text {
    const char *data;
    size_t len;
};

/* Reads text[0..len). The text must outlive the reader. */
void json_init(struct json *json, const char *text, size_t len);

/* Enters an object or array that comes next. */
bool json_enter_object(struct json *json);
bool json_enter_array(struct json *json);

/* In an object: moves to the next member and gives its key; false at the closing brace, which is passed.
 * The value must then be read or skipped. */
bool json_member(struct json *json, struct json_text *ret_key);

/* In an array: true when another element comes next; false at the closing bracket, which is passed. */
bool json_element(struct json *json);

/* Values. Each fails the reader when another kind comes next. */
bool json_read_string(struct json *json, struct json_text *ret);
bool json_int(struct json *json, int64_t *ret); /* no fraction, no exponent */
bool json_bool(struct json *json, bool *ret);
bool json_double(struct json *json, double *ret); /* the nearest; one that is too large for any fails */

/* A string or a number that holds a decimal, at `scale`; digits beyond it fail. */
bool json_decimal(struct json *json, int scale, int64_t *ret);
/* The same, not below 0: a price, a quantity. The second is of a string alone, for sums over many. */
static inline bool json_amount(struct json *json, int scale, int64_t *ret)
{
    return json_decimal(json, scale, ret) && *ret >= 0;
}
bool json_amount_wide(struct json *json, int scale, int128_t *ret);

/* Skips the value that comes next. */
bool json_skip(struct json *json);

/* The kind of the next value: one of { [ " t n 0 (any number), or '\0' at the end or after a failure. */
char json_peek(struct json *json);

/* True when the whole text was read without an error. */
bool json_done(struct json *json);

/* Is it that word? */
static inline bool json_text_is(struct json_text text, const char *word)
{
    return strlen(word) == text.len && memcmp(word, text.data, text.len) == 0;
}

/* Its number among n words, of which some may be NULL; n: it is none of them. */
static inline unsigned json_text_among(struct json_text text, const char *const *words, unsigned n)
{
    unsigned i = 0;
    while (i < n && !(words[i] && json_text_is(text, words[i])))
        i++;
    return i;
}

/* With a NUL. False, and nothing: it is longer. */
static inline bool json_text_copy(struct json_text text, char *ret, size_t size)
{
    if (text.len >= size)
        return false;
    memcpy(ret, text.data, text.len);
    ret[text.len] = '\0';
    return true;
}

/* With a NUL; what does not fit is cut off. */
static inline void json_text_cut(struct json_text text, char *ret, size_t size)
{
    text.len = text.len < size ? text.len : size - 1;
    json_text_copy(text, ret, size);
}

#define json_is(text, literal) \
    ((text).len == sizeof(literal) - 1 && memcmp((text).data, literal, sizeof(literal) - 1) == 0)

#endif
