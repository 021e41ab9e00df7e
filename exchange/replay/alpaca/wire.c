#include "exchange/replay/alpaca/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/made.h"

static void byte(struct wire *wire, unsigned value)
{
    char c = (char)value;
    text_bytes(wire->out, &c, 1);
}

/* Big-endian. */
static void number(struct wire *wire, uint64_t value, int bytes)
{
    char b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (char)(value >> 8 * (bytes - 1 - i));
    text_bytes(wire->out, b, (size_t)bytes);
}

static void before_value(struct wire *wire)
{
    if (!wire->msgpack && wire->comma)
        text_lit(wire->out, ",");
    wire->comma = true;
}

/* The head of a map or an array: `fix` holds up to 15, `wide` is the code of 16 bits of count. */
static void head(struct wire *wire, size_t n, unsigned fix, unsigned wide)
{
    if (n < 16) {
        byte(wire, fix | (unsigned)n);
    } else if (n <= UINT16_MAX) {
        byte(wire, wide);
        number(wire, n, 2);
    } else {
        byte(wire, wide + 1);
        number(wire, n, 4);
    }
}

static void begin(struct wire *wire, size_t n, const char *bracket, unsigned fix, unsigned wide)
{
    before_value(wire);
    if (wire->msgpack)
        head(wire, n, fix, wide);
    else
        text_str(wire->out, bracket);
    wire->comma = false;
}

static void end(struct wire *wire, const char *bracket)
{
    if (!wire->msgpack)
        text_str(wire->out, bracket);
    wire->comma = true;
}

void replay_wire_map(struct wire *wire, size_t members)
{
    begin(wire, members, "{", 0x80, 0xde);
}

void replay_wire_map_end(struct wire *wire)
{
    end(wire, "}");
}

void replay_wire_array(struct wire *wire, size_t elements)
{
    begin(wire, elements, "[", 0x90, 0xdc);
}

void replay_wire_array_end(struct wire *wire)
{
    end(wire, "]");
}

static void packed_str(struct wire *wire, const char *text, size_t len)
{
    if (len < 32) {
        byte(wire, 0xa0 | (unsigned)len);
    } else if (len <= UINT8_MAX) {
        byte(wire, 0xd9);
        number(wire, len, 1);
    } else {
        byte(wire, 0xda);
        number(wire, len, 2);
    }
    text_bytes(wire->out, text, len);
}

static void quoted(struct text *out, const char *text)
{
    text_lit(out, "\"");
    for (; *text; text++) {
        char escape[8];
        if (*text == '"' || *text == '\\')
            snprintf(escape, sizeof(escape), "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)*text);
        else
            snprintf(escape, sizeof(escape), "%c", *text);
        text_str(out, escape);
    }
    text_lit(out, "\"");
}

void replay_wire_str(struct wire *wire, const char *text)
{
    size_t len = strlen(text);
    before_value(wire);
    if (wire->msgpack)
        packed_str(wire, text, len <= UINT16_MAX ? len : UINT16_MAX);
    else
        quoted(wire->out, text);
}

void replay_wire_key(struct wire *wire, const char *name)
{
    replay_wire_str(wire, name);
    if (!wire->msgpack)
        text_lit(wire->out, ":");
    wire->comma = false;
}

void replay_wire_letter(struct wire *wire, char letter)
{
    replay_wire_str(wire, (char[]){letter, '\0'});
}

static void packed_int(struct wire *wire, int64_t value)
{
    if (value >= 0) {
        int bytes = value < 128           ? 0
                    : value <= UINT8_MAX  ? 1
                    : value <= UINT16_MAX ? 2
                    : value <= UINT32_MAX ? 4
                                          : 8;
        if (bytes == 0)
            byte(wire, (unsigned)value);
        else
            byte(wire, bytes == 1 ? 0xcc : bytes == 2 ? 0xcd : bytes == 4 ? 0xce : 0xcf);
        number(wire, (uint64_t)value, bytes);
    } else if (value >= -32) {
        byte(wire, (unsigned)value & 0xff);
    } else {
        byte(wire, 0xd3);
        number(wire, (uint64_t)value, 8);
    }
}

void replay_wire_int(struct wire *wire, int64_t value)
{
    before_value(wire);
    if (wire->msgpack)
        packed_int(wire, value);
    else
        text_int(wire->out, value);
}

void replay_wire_bool(struct wire *wire, bool value)
{
    before_value(wire);
    if (wire->msgpack)
        byte(wire, value ? 0xc3 : 0xc2);
    else
        text_str(wire->out, value ? "true" : "false");
}

void replay_wire_null(struct wire *wire)
{
    before_value(wire);
    if (wire->msgpack)
        byte(wire, 0xc0);
    else
        text_lit(wire->out, "null");
}

void replay_wire_e9(struct wire *wire, int64_t value)
{
    before_value(wire);
    if (wire->msgpack) {
        /* The quotient of two exact doubles is the nearest one while |value| <= 2^53; above, what is lost is
         * less than the ninth digit's share of a double. */
        double x = (double)value / 1e9;
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        byte(wire, 0xcb);
        number(wire, bits, 8);
    } else {
        char decimal[DECIMAL_TEXT_MAX];
        text_bytes(wire->out, decimal, decimal_format_short(value, MADE_SCALE, decimal));
    }
}

void replay_wire_whole(struct wire *wire, int64_t value)
{
    replay_wire_int(wire, value / MADE_E9);
}

void replay_wire_rfc3339(struct text *out, int64_t ns)
{
    char time[32];
    int64_t s = ns / MADE_SECOND, part = ns % MADE_SECOND;
    if (part < 0) {
        part += MADE_SECOND;
        s--;
    }
    int64_t days = s / EASTERN_DAY_S - (s % EASTERN_DAY_S < 0), of_day = s - days * EASTERN_DAY_S;
    replay_eastern_date_write(out, days);
    int len = snprintf(time, sizeof(time), "T%02d:%02d:%02d.%09d", (int)(of_day / 3600),
                       (int)(of_day / 60 % 60), (int)(of_day % 60), (int)part);
    while (time[len - 1] == '0')
        len--;
    text_bytes(out, time, (size_t)len - (time[len - 1] == '.'));
    text_lit(out, "Z");
}

/* The shortest of msgpack's three timestamps: 32 bits of seconds; 30 of nanoseconds and 34 of seconds; 32 and
 * 64. */
static void packed_time(struct wire *wire, int64_t ns)
{
    int64_t s = ns / MADE_SECOND, part = ns % MADE_SECOND;
    if (part < 0) {
        part += MADE_SECOND;
        s--;
    }
    if (s >= 0 && s <= UINT32_MAX && part == 0) {
        byte(wire, 0xd6);
        byte(wire, 0xff);
        number(wire, (uint64_t)s, 4);
    } else if (s >= 0 && s < (int64_t)1 << 34) {
        byte(wire, 0xd7);
        byte(wire, 0xff);
        number(wire, (uint64_t)part << 34 | (uint64_t)s, 8);
    } else {
        byte(wire, 0xc7);
        byte(wire, 12);
        byte(wire, 0xff);
        number(wire, (uint64_t)part, 4);
        number(wire, (uint64_t)s, 8);
    }
}

void replay_wire_time(struct wire *wire, int64_t ns)
{
    before_value(wire);
    if (wire->msgpack) {
        packed_time(wire, ns);
        return;
    }
    text_lit(wire->out, "\"");
    replay_wire_rfc3339(wire->out, ns);
    text_lit(wire->out, "\"");
}
