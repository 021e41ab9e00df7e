#include "exchange/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
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
    if (len == 0 || !reserve(text, len)) /* an empty text has no data */
        return;
    memcpy(text->data + text->len, data, len);
    text->len += len;
}

void text_str(struct text *text, const char *str)
{
    text_bytes(text, str, strlen(str));
}

char *text_take(struct text *text)
{
    char *data = NULL;
    text_bytes(text, "", 1);
    if (text_ok(text)) {
        data = text->data;
        text->data = NULL;
    }
    text_finish(text);
    return data;
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0) {
        text->failed = true;
        return;
    }
    if (!reserve(text, (size_t)n + 1))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->len, (size_t)n + 1, format, arguments);
    va_end(arguments);
    text->len += (size_t)n;
}

void text_url(struct text *text, const char *str)
{
    for (; *str; str++) {
        unsigned char c = (unsigned char)*str;
        if (isalnum(c) || strchr("-_.", c))
            text_bytes(text, str, 1);
        else
            text_format(text, "%%%02X", c);
    }
}

void text_base(struct text *text, const char *url)
{
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    text_bytes(text, url, len);
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
