#include "exchange/replay/text.h"

#include <stdlib.h>
#include <string.h>

enum { E8 = 100000000 };

void text_finish(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->len = 0;
    text->failed = false;
}

bool text_ok(const struct text *text)
{
    return !text->failed;
}

static bool reserve(struct text *text, size_t more)
{
    if (text->cap - text->len >= more)
        return true;
    size_t cap = text->cap ? text->cap * 2 : 1024;
    while (cap - text->len < more)
        cap *= 2;
    char *data = text->failed ? NULL : realloc(text->data, cap);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->cap = cap;
    return true;
}

void text_bytes(struct text *text, const char *data, size_t len)
{
    if (!reserve(text, len))
        return;
    memcpy(text->data + text->len, data, len);
    text->len += len;
}

void text_str(struct text *text, const char *str)
{
    text_bytes(text, str, strlen(str));
}

/* Digits of `value`, ending before `end`; returns their start. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void text_int(struct text *text, int64_t value)
{
    char buf[24];
    char *end = buf + sizeof(buf);
    char *p = digits_before(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--p = '-';
    text_bytes(text, p, (size_t)(end - p));
}

void text_e8(struct text *text, int64_t units)
{
    char buf[32];
    char *end = buf + sizeof(buf), *p = end;
    uint64_t size = units < 0 ? -(uint64_t)units : (uint64_t)units;
    uint64_t whole = size / E8;
    uint32_t part = (uint32_t)(size % E8);
    *--p = '"';
    for (int i = 0; i < 8; i++) {
        *--p = (char)('0' + part % 10);
        part /= 10;
    }
    *--p = '.';
    p = digits_before(p, whole);
    if (units < 0)
        *--p = '-';
    *--p = '"';
    text_bytes(text, p, (size_t)(end - p));
}

void text_sum(struct text *text, int128_t units, int scale)
{
    if (scale == 16)
        units /= E8;
    if (units >= INT64_MIN && units <= INT64_MAX) {
        text_e8(text, (int64_t)units);
        return;
    }
    char buf[DECIMAL_TEXT_MAX];
    size_t len = decimal_format(units, 8, buf);
    text_lit(text, "\"");
    text_bytes(text, buf, len);
    text_lit(text, "\"");
}
