#include "record/config_key.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/nearest.h"

enum { WHY = CONFIG_WHY_MAX, NUMBER_MAX = 64, WORD_MAX = 64, VALUE_MAX = 128 };
#define EXACT_MAX 0x1p53 /* whole numbers up to here are doubles */

int config_key_refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    for (char *c = why; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return -EINVAL;
}

/* ---- words ---- */

/* The next word of a list into `word`; false at its end. */
static bool next_word(const char **at, char word[static WORD_MAX])
{
    *at += strspn(*at, " ");
    size_t n = strcspn(*at, " ");
    snprintf(word, WORD_MAX, "%.*s", (int)n, *at);
    *at += n;
    return n > 0;
}

int config_key_word(const char *text, const char *words, char why[static WHY])
{
    char word[WORD_MAX];
    struct nearest nearest = {0};
    const char *at = words;
    for (int place = 0; next_word(&at, word); place++) {
        if (strcmp(word, text) == 0)
            return place;
        nearest_offer(&nearest, text, word);
    }
    bool meant = nearest_meant(&nearest, text);
    return config_key_refuse(why, WHY, meant ? "\"%.60s\"%s (%s)" : "\"%.60s\"%s", text,
                             NEAREST_HINT(&nearest, text), nearest.all);
}

static void print_word(const char *words, int place, FILE *to)
{
    char word[WORD_MAX] = ""; /* beyond the last: still "" */
    while (place-- >= 0)
        (void)next_word(&words, word);
    fputs(word, to);
}

/* ---- numbers ---- */

void config_key_right(const struct config_key *key, char *buf, size_t size)
{
    bool whole = key->kind == CONFIG_WHOLE && key->scale == 0, span = key->kind == CONFIG_SPAN;
    snprintf(buf, size, "%s", key->words ? key->words : "");
    if (key->kind <= CONFIG_SPAN)
        snprintf(buf, size, "a %snumber%s from %.16g to %.16g%s%s%s%s", whole ? "whole " : "",
                 span ? ", or low..high," : "", key->min, key->max, key->share ? ", or percent," : "",
                 !key->none   ? ""
                 : key->share ? " or "
                              : ", or ",
                 key->none ? key->none : "", key->none ? "," : "");
}

static int refuse_number(const struct config_key *key, const char *text, char *why)
{
    char right[128];
    config_key_right(key, right, sizeof right);
    return config_key_refuse(why, WHY, "\"%.60s\": %s is needed", text, right);
}

/* text[0..n) as a finite double; "5%" as 0.05, to the digit. */
static bool parse_double(const char *text, size_t n, bool share, double *ret)
{
    char copy[NUMBER_MAX], *end;
    bool percent = share && n > 0 && text[n - 1] == '%';
    if (n == 0 || n + 3 >= sizeof copy || strspn(text, "+-.0123456789eE") < n - percent)
        return false;
    bool exponent = percent && memchr(text, 'e', n);
    snprintf(copy, sizeof copy, "%.*s%s", (int)(n - percent), text, percent && !exponent ? "e-2" : "");
    double value = strtod(copy, &end);
    if (end == copy || *end || exponent || !isfinite(value))
        return false;
    *ret = value + 0.0; /* -0 becomes 0 */
    return true;
}

/* Also 1e6, where that is whole. */
static int parse_units(const struct config_key *key, const char *text, int64_t *ret)
{
    size_t n = strlen(text);
    bool percent = key->share && n > 0 && text[n - 1] == '%';
    double value;
    int e = decimal_parse(text, n - percent, key->scale - (percent ? 2 : 0), ret);
    if (e == -EINVAL && key->scale == 0 && parse_double(text, n, false, &value) && value == floor(value) &&
        fabs(value) < EXACT_MAX) {
        *ret = (int64_t)value;
        return 0;
    }
    return e;
}

static int read_whole(const struct config_key *key, const char *text, void *field, char *why)
{
    const double one = (double)decimal_pow10(key->scale);
    bool none = key->none && strcmp(text, key->none) == 0;
    int64_t units = -1;
    int e = none ? 0 : parse_units(key, text, &units);
    if (e == -EINVAL && key->scale > 0 && parse_double(text, strlen(text), false, &(double){0}))
        return config_key_refuse(why, WHY, "\"%.60s\": a plain decimal, without an exponent, is needed",
                                 text);
    if (e == -EDOM && key->scale > 0)
        return config_key_refuse(why, WHY, "\"%.60s\": at most %d digits after the point", text, key->scale);
    if (!none && (e < 0 || units < llround(key->min * one) || units > llround(key->max * one)))
        return refuse_number(key, text, why);
    int32_t small = (int32_t)units;
    memcpy(field, key->size == sizeof small ? (const void *)&small : (const void *)&units, key->size);
    return 0;
}

static bool within(const struct config_key *key, double value)
{
    return value >= key->min && value <= key->max;
}

static int read_span(const struct config_key *key, const char *text, void *field, char *why)
{
    double ends[2] = {NAN, NAN};
    bool none = key->none && strcmp(text, key->none) == 0;
    const char *dots = key->kind == CONFIG_SPAN ? strstr(text, "..") : NULL;
    bool good = none || parse_double(text, dots ? (size_t)(dots - text) : strlen(text), key->share, &ends[0]);
    ends[1] = ends[0];
    if (good && dots)
        good = parse_double(dots + 2, strlen(dots + 2), key->share, &ends[1]);
    if (!none && (!good || !within(key, ends[0]) || !within(key, ends[1])))
        return refuse_number(key, text, why);
    if (ends[1] < ends[0])
        return config_key_refuse(why, WHY, "\"%.60s\": the lower number first is needed", text);
    memcpy(field, ends, key->size);
    return 0;
}

/* With six digits, or as many more as are needed to read the same number again. */
static void print_number(const struct config_key *key, double value, FILE *to)
{
    char text[NUMBER_MAX];
    if (isnan(value) && key->none) {
        fputs(key->none, to);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, to);
}

static void print_units(const struct config_key *key, const void *field, FILE *to)
{
    char text[DECIMAL_TEXT_MAX];
    int32_t small;
    int64_t units;
    if (key->size == sizeof small) {
        memcpy(&small, field, sizeof small);
        units = small;
    } else {
        memcpy(&units, field, sizeof units);
    }
    decimal_format_short(units, key->scale, text);
    fputs(units == -1 && key->none ? key->none : text, to);
}

/* ---- text ---- */

/* Would a file return it unchanged: one line without blanks at its ends, and without a comment? */
static bool is_line(const char *text)
{
    bool blank = true;
    for (const char *c = text; *c; c++) {
        if (iscntrl((unsigned char)*c) || (blank && (c == text || *c == ';') && strchr("; ", *c)))
            return false;
        blank = *c == ' ';
    }
    return !*text || !blank;
}

static bool is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
            return false;
    return *text && *text != '.';
}

static int read_text(const struct config_key *key, const char *text, void *field, char *why)
{
    size_t n = strlen(text);
    if (key->words && config_key_word(text, key->words, why) < 0)
        return -EINVAL;
    if (key->kind == CONFIG_NAME && !is_name(text))
        return config_key_refuse(why, WHY, "\"%.60s\": letters, digits, - _ and . are needed", text);
    if (!is_line(text))
        return config_key_refuse(why, WHY,
                                 "\"%.60s\": one line without \" ;\" and blanks at its ends is needed", text);
    if (n >= key->size || (double)n < key->min)
        return config_key_refuse(why, WHY, "\"%.60s%s\": %.0f to %zu characters are needed", text,
                                 n > 60 ? "…" : "", key->min, key->size - 1);
    memset(field, 0, key->size);
    memcpy(field, text, n);
    return 0;
}

/* ---- all kinds ---- */

static int read_word(const struct config_key *key, const char *text, void *field, char *why)
{
    double number;
    bool digit = key->kind == CONFIG_SWITCH && strcmp(key->words, "false true") == 0 &&
                 parse_double(text, strlen(text), false, &number) && (number == 0 || number == 1);
    int place = digit ? number == 1 : config_key_word(text, key->words, why);
    if (place < 0)
        return place;
    bool on = place == 1;
    memcpy(field, key->kind == CONFIG_SWITCH ? (const void *)&on : (const void *)&place,
           key->kind == CONFIG_SWITCH ? sizeof on : sizeof place);
    return 0;
}

int config_key_read(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    void *field = (char *)base + key->offset;
    switch (key->kind) {
    case CONFIG_WHOLE:
        return read_whole(key, text, field, why);
    case CONFIG_NUMBER:
    case CONFIG_SPAN:
        return read_span(key, text, field, why);
    case CONFIG_SWITCH:
    case CONFIG_WORD:
        return read_word(key, text, field, why);
    case CONFIG_TEXT:
    case CONFIG_NAME:
        return read_text(key, text, field, why);
    default:
        return key->read(key, text, base, why);
    }
}

void config_key_print(const struct config_key *key, const void *base, FILE *to)
{
    const void *field = (const char *)base + key->offset;
    double ends[2];
    int place;
    switch (key->kind) {
    case CONFIG_WHOLE:
        print_units(key, field, to);
        break;
    case CONFIG_NUMBER:
    case CONFIG_SPAN:
        memcpy(ends, field, key->size);
        print_number(key, ends[0], to);
        if (key->kind == CONFIG_SPAN && ends[1] != ends[0]) {
            fputs("..", to);
            print_number(key, ends[1], to);
        }
        break;
    case CONFIG_SWITCH:
        print_word(key->words, *(const bool *)field, to);
        break;
    case CONFIG_WORD:
        memcpy(&place, field, sizeof place);
        print_word(key->words, place, to);
        break;
    default:
        if (key->print)
            key->print(key, base, to);
        else
            fprintf(to, "%.*s", (int)key->size, (const char *)field);
    }
}

bool config_key_text(const struct config_key *key, const void *base, char *buf, size_t cap)
{
    FILE *to = cap > 0 ? fmemopen(buf, cap, "w") : NULL;
    if (!to)
        return false;
    setbuf(to, NULL);
    config_key_print(key, base, to);
    long n = ftell(to);
    bool whole = !ferror(to) && n >= 0 && (size_t)n < cap;
    fclose(to);
    if (whole)
        buf[n] = '\0';
    return whole;
}

int config_key_try(const struct config_key *key, const char *text, char why[static WHY])
{
    char value[VALUE_MAX];
    struct config_key row = *key;
    row.offset = 0;
    if (key->size > sizeof value)
        return config_key_refuse(why, WHY, "its value is too large to be tried");
    return config_key_read(&row, text, value, why);
}

int config_key_check(const struct config_key *key, const void *base, char why[static WHY])
{
    char text[VALUE_MAX];
    if (key->kind == CONFIG_SWITCH || key->size > VALUE_MAX)
        return 0;
    if (config_key_text(key, base, text, sizeof text))
        return config_key_try(key, text, why);
    return config_key_refuse(why, WHY, "its value cannot be shown");
}

const struct config_key *config_key_find(const struct config_key *keys, size_t n, const char *section,
                                         const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0 && (!section || strcmp(keys[i].section, section) == 0))
            return &keys[i];
    return NULL;
}

int config_key_unknown_near(const struct nearest *nearest, const char *name, char why[static WHY])
{
    return config_key_refuse(why, WHY, "unknown key%s", NEAREST_HINT(nearest, name));
}

int config_key_unknown(const struct config_key *keys, size_t n, const char *section, const char *name,
                       char why[static WHY])
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        if (!section || strcmp(keys[i].section, section) == 0)
            nearest_offer(&nearest, name, keys[i].name);
    return config_key_unknown_near(&nearest, name, why);
}

void config_key_defaults(const struct config_key *keys, size_t n, const char *section, void *base)
{
    char why[WHY];
    for (size_t i = 0; i < n; i++)
        if (keys[i].fallback && strcmp(keys[i].section, section) == 0)
            (void)config_key_read(&keys[i], keys[i].fallback, base, why); /* a test reads all of them */
}

void config_key_print_section(const struct config_key *keys, size_t n, const char *section, const void *base,
                              FILE *to)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(keys[i].section, section) != 0)
            continue;
        fprintf(to, "# %s\n%s = ", keys[i].about, keys[i].name);
        config_key_print(&keys[i], base, to);
        fputc('\n', to);
    }
}
