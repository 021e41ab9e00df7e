/* JSON into msgpack for the tests, as Alpaca's servers write it: whole numbers as integers, others as
 * doubles, the values of "t" as timestamps (of 4, 8 or 12 bytes, by what they need). Independent of what it
 * tests, except for the JSON reader. */
#ifndef TESTS_EXCHANGE_PACKED_H
#define TESTS_EXCHANGE_PACKED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/json.h"

struct packed {
    unsigned char data[1 << 16];
    size_t len;
};

static inline void packed_byte(struct packed *packed, unsigned c)
{
    if (packed->len < sizeof packed->data)
        packed->data[packed->len++] = (unsigned char)c;
}

static inline void packed_big(struct packed *packed, uint64_t value, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        packed_byte(packed, (unsigned)(value >> shift) & 0xff);
}

static inline void packed_text(struct packed *packed, const char *text, size_t len)
{
    if (len < 32) {
        packed_byte(packed, 0xa0 | (unsigned)len);
    } else {
        packed_byte(packed, 0xd9);
        packed_byte(packed, (unsigned)len);
    }
    for (size_t i = 0; i < len; i++)
        packed_byte(packed, (unsigned char)text[i]);
}

static inline void packed_time(struct packed *packed, const char *text)
{
    struct tm tm = {0};
    int year, month, read = 0;
    sscanf(text, "%d-%d-%dT%d:%d:%d%n", &year, &month, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
           &read);
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    uint64_t seconds = (uint64_t)timegm(&tm), ns = 0;
    if (text[read] == '.') {
        uint64_t unit = 100000000;
        for (const char *p = text + read + 1; *p >= '0' && *p <= '9'; p++, unit /= 10)
            ns += (uint64_t)(*p - '0') * unit;
    }
    if (ns == 0) {
        packed_big(packed, 0xd6ff, 2);
        packed_big(packed, seconds, 4);
    } else if (ns % 2 == 0) {
        packed_big(packed, 0xd7ff, 2);
        packed_big(packed, ns << 34 | seconds, 8);
    } else {
        packed_big(packed, 0xc70cff, 3);
        packed_big(packed, ns, 4);
        packed_big(packed, seconds, 8);
    }
}

static inline void packed_value(struct packed *packed, struct json *json, bool time);

static inline void packed_items(struct packed *packed, struct json *json, bool map)
{
    struct json look = *json;
    struct json_text key;
    unsigned n = 0;
    if (map)
        json_enter_object(&look);
    else
        json_enter_array(&look);
    while (map ? json_member(&look, &key) : json_element(&look)) {
        json_skip(&look);
        n++;
    }
    if (n < 16) {
        packed_byte(packed, (map ? 0x80 : 0x90) | n);
    } else {
        packed_byte(packed, map ? 0xde : 0xdc);
        packed_big(packed, n, 2);
    }
    if (map)
        json_enter_object(json);
    else
        json_enter_array(json);
    while (map ? json_member(json, &key) : json_element(json)) {
        if (map)
            packed_text(packed, key.data, key.len);
        packed_value(packed, json, map && json_is(key, "t"));
    }
}

static inline void packed_value(struct packed *packed, struct json *json, bool time)
{
    struct json_text text;
    bool flag;
    char next = json_peek(json);
    if (next == '{' || next == '[') {
        packed_items(packed, json, next == '{');
    } else if (next == '"') {
        json_read_string(json, &text);
        if (time)
            packed_time(packed, text.data);
        else
            packed_text(packed, text.data, text.len);
    } else if (next == '0') {
        const char *start = json->p;
        json_skip(json);
        size_t len = (size_t)(json->p - start);
        if (memchr(start, '.', len) || memchr(start, 'e', len)) {
            double x = strtod(start, NULL);
            uint64_t bits;
            memcpy(&bits, &x, sizeof bits);
            packed_byte(packed, 0xcb);
            packed_big(packed, bits, 8);
        } else if (*start == '-') {
            packed_byte(packed, 0xd3);
            packed_big(packed, (uint64_t)strtoll(start, NULL, 10), 8);
        } else {
            uint64_t value = strtoull(start, NULL, 10);
            if (value < 128) {
                packed_byte(packed, (unsigned)value);
            } else {
                int bytes = value < 1u << 16 ? 2 : value < (uint64_t)1 << 32 ? 4 : 8;
                packed_byte(packed, bytes == 2 ? 0xcd : bytes == 4 ? 0xce : 0xcf);
                packed_big(packed, value, bytes);
            }
        }
    } else if (next == 't') {
        json_bool(json, &flag);
        packed_byte(packed, flag ? 0xc3 : 0xc2);
    } else {
        json_skip(json);
        packed_byte(packed, 0xc0);
    }
}

static inline void packed_from_json(struct packed *packed, const char *text)
{
    struct json json;
    packed->len = 0;
    json_init(&json, text, strlen(text));
    packed_value(packed, &json, false);
}

#endif
