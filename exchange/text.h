/* A growing text, for URLs, messages and replies. It is not NUL-terminated. Appending to one that ran out
 * of memory does nothing; text_ok() reports it at the end. */
#ifndef EXCHANGE_TEXT_H
#define EXCHANGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"

struct text {
    char *data;
    size_t len, cap;
    bool failed;
};

void text_finish(struct text *text);

/* Forgets the content and keeps the memory. */
void text_clear(struct text *text);

bool text_ok(const struct text *text);

/* Its content, NUL-terminated and to be freed; NULL without memory. The text is empty afterwards. */
char *text_take(struct text *text);

void text_bytes(struct text *text, const char *data, size_t len);
void text_str(struct text *text, const char *str);
void text_int(struct text *text, int64_t value);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Percent-encoded, except what a URL may contain. */
void text_url(struct text *text, const char *str);

/* A URL's beginning, without the slashes it may end in. */
void text_base(struct text *text, const char *url);

/* A quoted decimal of scale 8 with all its digits: "61837.63000000". */
void text_e8(struct text *text, int64_t units);

/* The same of a sum in 128 bits at `scale` 8 or 16; of scale 16 the last eight digits are cut off. */
void text_sum(struct text *text, int128_t units, int scale);

#define text_lit(text, literal) text_bytes(text, literal, sizeof(literal) - 1)

#endif
