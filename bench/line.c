#include "bench/line.h"

#include <math.h>
#include <stdio.h>

static void text(const char *value)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < ' ')
            printf("\\u%04x", *c);
        else
            putchar(*c);
    putchar('"');
}

void bench_line_begin(const char *bench, const char *name)
{
    fputs("{\"bench\":", stdout);
    text(bench);
    fputs(",\"case\":", stdout);
    text(name);
}

/* A key whose number, if it is one, the caller has written. */
static void number(const char *key, double value, const char *digits)
{
    printf(",\"%s\":%s", key, isfinite(value) ? digits : "null");
}

void bench_line_number(const char *key, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    number(key, value, digits);
}

void bench_line_bytes(const char *key, double value)
{
    char digits[400]; /* of the largest double */
    snprintf(digits, sizeof digits, "%.0f", value);
    number(key, value, digits);
}

void bench_line_text(const char *key, const char *value)
{
    printf(",\"%s\":", key);
    text(value);
}

void bench_line_end(void)
{
    puts("}");
    fflush(stdout);
}

void bench_line_value(const char *bench, const char *name, double value, const char *unit)
{
    bench_line_begin(bench, name);
    bench_line_number("value", value);
    bench_line_text("unit", unit);
}

void bench_line_peer(const char *peer, double peer_value, double ratio)
{
    bench_line_text("peer", peer);
    bench_line_number("peer_value", peer_value);
    bench_line_number("ratio", ratio);
}

void bench_line_figure(const char *bench, const char *name, double value, const char *unit)
{
    bench_line_value(bench, name, value, unit);
    bench_line_end();
}
