#include "trainer/env/key.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/env/refusal.h"

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct env_param *)row)->name);
}

const struct env_param *key_find(const struct env_param *table, size_t n, const char *name)
{
    return bsearch(name, table, n, sizeof *table, compare);
}

const char *key_nearest(const struct env_param *table, size_t n, const char *name)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        nearest_offer(&nearest, name, table[i].name);
    return nearest.best;
}

/* The word's place in a list divided by spaces; -1: not in it. */
static int word_place(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int place = 0;; place++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return place;
        if (!words[n])
            return -1;
        words += n + 1;
    }
}

static int last_place(const char *words)
{
    int places = 0;
    for (; *words; words++)
        places += *words == ' ';
    return places;
}

/* A number that ends at `end` or at the text's. */
static bool read_number(const char *text, const char *end, double *ret)
{
    char copy[64];
    size_t n = end ? (size_t)(end - text) : strlen(text);
    if (n == 0 || n >= sizeof copy || strspn(text, "+-.0123456789eE") < n)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    char *rest;
    *ret = strtod(copy, &rest);
    return *rest == '\0' && isfinite(*ret);
}

static int set_choice(char *field, const struct env_param *param, const char *text,
                      char err[static ENV_ERROR_MAX])
{
    int place = word_place(param->words, text);
    if (place < 0)
        return env_refuse(-EINVAL, err, "%s: %.60s: one of these is right: %s", param->name, text,
                          param->words);
    memcpy(field, &place, sizeof place);
    return 0;
}

static int set_text(char *field, const struct env_param *param, const char *text,
                    char err[static ENV_ERROR_MAX])
{
    size_t n = strlen(text);
    if (n == 0 || n >= param->size)
        return env_refuse(-ERANGE, err, "%s: %.60s: 1 to %zu characters are right", param->name, text,
                          param->size - 1);
    memset(field, 0, param->size);
    memcpy(field, text, n);
    return 0;
}

static bool within(const struct env_param *param, double value)
{
    return value >= param->min && value <= param->max && (!param->whole || value == floor(value));
}

/* Is the double what the text says, of whole numbers? Up to 2^53 each is one; 2^53 itself may be rounded. */
static bool is_exact(const char *text, double value)
{
    const double least_inexact = 0x1p53;
    if (fabs(value) < least_inexact)
        return true;
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    return fabs(value) == least_inexact && *end == '\0' && errno == 0 && whole == (long long)value;
}

static int set_number(char *field, const struct env_param *param, const char *text,
                      char err[static ENV_ERROR_MAX])
{
    bool is_switch = param->whole && param->size == sizeof(bool);
    const char *kind = param->range   ? "a number, or low..high,"
                       : param->whole ? "a whole number"
                                      : "a number";
    struct env_range range;
    const char *dots = param->range ? strstr(text, "..") : NULL;
    if (is_switch && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        range.low = text[0] == 't';
    else if (!read_number(text, dots, &range.low))
        return is_switch ? env_refuse(-EINVAL, err, "%s: %.60s: true or false is right", param->name, text)
                         : env_refuse(-EINVAL, err, "%s: %.60s: %s from %.16g to %.16g is right", param->name,
                                      text, kind, param->min, param->max);
    else if (is_switch && !within(param, range.low))
        return env_refuse(-ERANGE, err, "%s: %.60s: true or false is right", param->name, text);
    range.high = range.low;
    if (dots && !read_number(dots + 2, NULL, &range.high))
        return env_refuse(-EINVAL, err, "%s: %.60s: %s from %.16g to %.16g is right", param->name, text, kind,
                          param->min, param->max);
    if (!within(param, range.low) || !within(param, range.high) ||
        (param->whole && !is_exact(text, range.low)))
        return env_refuse(-ERANGE, err, "%s: %.60s: %s from %.16g to %.16g is right", param->name, text, kind,
                          param->min, param->max);
    if (range.high < range.low)
        return env_refuse(-ERANGE, err, "%s: %.60s: the lower number comes first", param->name, text);

    bool on = range.low != 0;
    int number = param->whole ? (int)range.low : 0;
    int64_t large = param->whole ? (int64_t)range.low : 0;
    const void *from = param->range                     ? (const void *)&range
                       : !param->whole                  ? (const void *)&range.low
                       : is_switch                      ? (const void *)&on
                       : param->size == sizeof(int64_t) ? (const void *)&large
                                                        : (const void *)&number;
    memcpy(field, from, param->size);
    return 0;
}

int key_set(const struct env_param *param, void *params, const char *text, char err[static ENV_ERROR_MAX])
{
    char *field = (char *)params + param->offset;
    if (!param->words)
        return set_number(field, param, text, err);
    return param->words[0] ? set_choice(field, param, text, err) : set_text(field, param, text, err);
}

/* The fewest digits that read back as the same number. */
static int print_number(char *buf, size_t cap, double value)
{
    char text[32];
    int n = 0;
    for (int digits = 6; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (n >= 0 && (size_t)n < cap)
        memcpy(buf, text, (size_t)n + 1);
    return n;
}

static int print_value(const struct env_param *param, const char *field, char *buf, size_t cap)
{
    if (param->words && !param->words[0])
        return snprintf(buf, cap, "%s", field);
    if (param->words) {
        int place;
        memcpy(&place, field, sizeof place);
        const char *word = param->words;
        for (; place > 0; place--)
            word += strcspn(word, " ") + 1;
        return snprintf(buf, cap, "%.*s", (int)strcspn(word, " "), word);
    }
    if (param->whole && param->size == sizeof(bool))
        return snprintf(buf, cap, "%s", *field ? "true" : "false");
    if (param->whole && param->size == sizeof(int64_t)) {
        int64_t value;
        memcpy(&value, field, sizeof value);
        return snprintf(buf, cap, "%lld", (long long)value);
    }
    if (param->whole) {
        int value;
        memcpy(&value, field, sizeof value);
        return snprintf(buf, cap, "%d", value);
    }
    struct env_range range;
    memcpy(&range.low, field, sizeof range.low);
    int n = print_number(buf, cap, range.low);
    if (!param->range || n < 0 || (size_t)n >= cap)
        return n;
    memcpy(&range, field, sizeof range);
    if (range.high == range.low)
        return n;
    int dots = snprintf(buf + n, cap - (size_t)n, "..");
    if ((size_t)(n + dots) >= cap)
        return n + dots;
    return n + dots + print_number(buf + n + dots, cap - (size_t)(n + dots), range.high);
}

bool key_print(const struct env_param *param, const void *params, char *buf, size_t cap)
{
    int n = cap > 0 ? print_value(param, (const char *)params + param->offset, buf, cap) : -1;
    return n >= 0 && (size_t)n < cap;
}

int key_check(const struct env_param *param, const void *params, char err[static ENV_ERROR_MAX])
{
    const char *field = (const char *)params + param->offset;
    if (param->words && !param->words[0]) {
        if (field[0] == '\0' || strnlen(field, param->size) == param->size)
            return env_refuse(-EINVAL, err, "%s: 1 to %zu characters are right", param->name,
                              param->size - 1);
        return 0;
    }
    struct env_range range;
    int number;
    int64_t large;
    double max = param->max;
    if (param->words || (param->whole && param->size == sizeof number)) {
        memcpy(&number, field, sizeof number);
        range.low = range.high = number;
        max = param->words ? last_place(param->words) : max;
    } else if (param->whole && param->size == sizeof large) {
        memcpy(&large, field, sizeof large);
        range.low = range.high = (double)large;
    } else if (param->whole) {
        return 0;
    } else if (param->range) {
        memcpy(&range, field, sizeof range);
    } else {
        memcpy(&range.low, field, sizeof range.low);
        range.high = range.low;
    }
    if (!(range.low >= param->min && range.high <= max && range.low <= range.high))
        return env_refuse(-EINVAL, err, "%s: %.16g: from %.16g to %.16g is right", param->name,
                          range.low >= param->min && range.low <= max ? range.high : range.low, param->min,
                          max);
    return 0;
}

int key_no_preset(const char *const *presets, size_t n, const char *name, char err[static ENV_ERROR_MAX])
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        nearest_offer(&nearest, name, presets[i]);
    return env_refuse(-ENOENT, err, "preset: %.60s: there is none of that name; the nearest is %s", name,
                      nearest.best);
}
