/* Specifications as text: "macd:12,26,9" and back to column names. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/plugin_rows.h"

enum { NAME_MAX_LEN = 31, NEAREST_MAX = 3, SHOWN_MAX = 32 };

#define PLUGIN_PREFIX "lib:"

/* Edits between two short words in any case: a letter inserted, omitted or replaced, or two exchanged. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_LEN + 1], la = strlen(a), lb = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            char x = (char)tolower((unsigned char)a[i - 1]);
            size_t best = above[j - 1] + (x != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && x == b[j - 2] && tolower((unsigned char)a[i - 2]) == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

/* 0 for a word of the row's summary, as "bollinger". */
static size_t farness(const char *name, const struct indicator *row)
{
    return strlen(name) > 3 && strcasestr(row->summary, name) ? 0 : distance(name, row->name);
}

/* The nearest names, and others that are one edit further: `is "sma"`, `are "sma", "ema" and "hma"`. */
static void nearest(const char *name, char *buf, size_t cap)
{
    const struct indicator *found[NEAREST_MAX] = {NULL};
    size_t far[NEAREST_MAX], n_found = 0, n_rows, len;
    const struct indicator *const *rows = indicator_rows(&n_rows);

    for (size_t i = 0; i < n_rows; i++) {
        size_t d = farness(name, rows[i]), at = n_found;
        while (at > 0 && d < far[at - 1])
            at--;
        if (at == NEAREST_MAX)
            continue;
        n_found += n_found < NEAREST_MAX;
        for (size_t k = n_found - 1; k > at; k--) {
            found[k] = found[k - 1];
            far[k] = far[k - 1];
        }
        found[at] = rows[i];
        far[at] = d;
    }
    while (n_found > 1 && far[n_found - 1] > far[0] + 1)
        n_found--;
    len = (size_t)snprintf(buf, cap, "%s \"%s\"", n_found > 1 ? "are" : "is", found[0]->name);
    for (size_t k = 1; k < n_found && len < cap; k++)
        len += (size_t)snprintf(buf + len, cap - len, "%s \"%s\"", k + 1 < n_found ? "," : " and",
                                found[k]->name);
}

/* The user's word, in so far as it can be shown: a few letters, all of them printable. */
struct shown {
    char text[SHOWN_MAX + 1];
};

static struct shown show(const char *text, size_t len)
{
    struct shown shown = {""};
    for (size_t i = 0; i < len && i < SHOWN_MAX; i++)
        shown.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    return shown;
}

/* Limits of a number's text, so that reading it is one exact division: 10^22 is the largest power of ten that
 * a double holds. */
enum { DIGITS_MAX = 15, DECIMALS_MAX = 22 };

/* A number with a point, whatever the locale, and without an exponent. */
struct decimal_text {
    char text[32];
};

static struct decimal_text decimal(double value)
{
    char local[32];
    struct decimal_text ret = {""};
    size_t len = 0;
    snprintf(local, sizeof(local), "%.*e", DIGITS_MAX - 1, value);
    const char *e = strchr(local, 'e');
    int decimals = e ? DIGITS_MAX - 1 - atoi(e + 1) : -1;
    if (decimals < 0) /* more than any option, or no number */
        snprintf(local, sizeof(local), "%.*g", DIGITS_MAX, value);
    else
        snprintf(local, sizeof(local), "%.*f", decimals < DECIMALS_MAX ? decimals : DECIMALS_MAX, value);

    /* Any character that is neither digit, sign nor letter is the locale's point. */
    bool fraction = false;
    for (const char *p = local; *p; p++)
        if (strchr("0123456789+-einfa", *p)) {
            ret.text[len++] = *p;
        } else if (!fraction) {
            ret.text[len++] = '.';
            fraction = true;
        }
    while (fraction && decimals >= 0 && ret.text[len - 1] == '0')
        ret.text[--len] = '\0';
    if (fraction && ret.text[len - 1] == '.')
        ret.text[--len] = '\0';
    return ret;
}

/* Digits with an optional fraction, in any locale. Leading zeros do not count towards DIGITS_MAX. */
static bool parse_number(const char *text, size_t len, double *ret)
{
    double value = 0.0, power = 1.0;
    size_t digits = 0, decimals = 0;
    bool any = false, fraction = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.' && !fraction && any) {
            fraction = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            return false;
        any = true;
        digits += digits > 0 || text[i] != '0';
        decimals += fraction;
        if (digits > DIGITS_MAX || decimals > DECIMALS_MAX)
            return false;
        value = value * 10.0 + (text[i] - '0');
        if (fraction)
            power *= 10.0;
    }
    if (!any || text[len - 1] == '.')
        return false;
    *ret = value / power;
    return true;
}

static int refuse_surplus(const struct indicator *row, const char *surplus, char *err, size_t err_cap)
{
    char names[128] = "";
    size_t len = 0;
    for (size_t i = 0; i < row->n_options && len < sizeof(names); i++)
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? "," : "", row->options[i].name);
    if (row->n_options == 0)
        snprintf(err, err_cap, "%s: takes no options, \"%s\" is too many", row->name,
                 show(surplus, strlen(surplus)).text);
    else
        snprintf(err, err_cap, "%s: takes %zu option%s (%s), \"%s\" is too many", row->name, row->n_options,
                 row->n_options == 1 ? "" : "s", names, show(surplus, strlen(surplus)).text);
    return -EINVAL;
}

static int parse_options(const char *p, struct indicator_spec *spec, char *err, size_t err_cap)
{
    const struct indicator *row = spec->row;
    for (size_t i = 0;; i++) {
        size_t len = strcspn(p, ",");
        if (i == row->n_options)
            return refuse_surplus(row, p, err, err_cap);
        const struct indicator_option *option = &row->options[i];
        double value;
        if (!parse_number(p, len, &value) || (option->whole && value != floor(value)) ||
            value < option->min || value > option->max)
            return fail_with(-EINVAL, err, err_cap, "%s: %s \"%s\": a%s number from %s to %s is needed",
                             row->name, option->name, show(p, len).text, option->whole ? " whole" : "",
                             decimal(option->min).text, decimal(option->max).text);
        spec->options[i] = value;
        if (p[len] == '\0')
            return 0;
        p += len + 1;
    }
}

static void set_defaults(struct indicator_spec *spec)
{
    for (size_t i = 0; i < spec->row->n_options; i++)
        spec->options[i] = spec->row->options[i].value;
}

/* What follows "lib:". */
static int parse_plugin(const char *text, struct indicator_spec *ret, char *err, size_t err_cap)
{
    struct indicator_spec spec = {.row = NULL};
    const char *options;
    int r = indicator_plugin_find(text, &spec.row, &options, err, err_cap);
    if (r < 0)
        return r;
    set_defaults(&spec);
    if (options)
        r = parse_options(options, &spec, err, err_cap);
    if (r == 0)
        r = indicator_plugin_fits(&spec, err, err_cap);
    if (r == 0)
        *ret = spec;
    return r;
}

int indicator_spec_parse(const char *text, struct indicator_spec *ret, char *err, size_t err_cap)
{
    if (strncmp(text, PLUGIN_PREFIX, strlen(PLUGIN_PREFIX)) == 0)
        return parse_plugin(text + strlen(PLUGIN_PREFIX), ret, err, err_cap);
    size_t len = strcspn(text, ":");
    char name[NAME_MAX_LEN + 1];
    if (len == 0 || len > NAME_MAX_LEN)
        return fail_with(-EINVAL, err, err_cap,
                         "\"%s\" names no indicator: NAME:options is needed, as sma:20",
                         show(text, strlen(text)).text);
    memcpy(name, text, len);
    name[len] = '\0';

    struct indicator_spec spec = {.row = indicator_find(name)};
    if (!spec.row) {
        char names[128];
        nearest(name, names, sizeof(names));
        return fail_with(-EINVAL, err, err_cap, "there is no indicator \"%s\": the nearest %s",
                         show(name, len).text, names);
    }
    set_defaults(&spec);
    if (text[len] == ':') {
        int r = parse_options(text + len + 1, &spec, err, err_cap);
        if (r < 0)
            return r;
    }
    *ret = spec;
    return 0;
}

/* The row's name behind `before`, and every option. */
struct spec_text {
    char text[160 + INDICATOR_PLUGIN_PATH_MAX];
};

static struct spec_text join(const struct indicator_spec *spec, const char *before, char before_first,
                             char between)
{
    struct spec_text ret;
    size_t len =
        (size_t)snprintf(ret.text, sizeof(ret.text), "%s%s%s", before, *before ? ":" : "", spec->row->name);
    for (size_t i = 0; i < spec->row->n_options; i++)
        len += (size_t)snprintf(ret.text + len, sizeof(ret.text) - len, "%c%s", i ? between : before_first,
                                decimal(spec->options[i]).text);
    return ret;
}

size_t indicator_spec_text(const struct indicator_spec *spec, char *buf, size_t cap)
{
    const struct indicator_plugin *plugin = spec->row->plugin;
    return (size_t)snprintf(buf, cap, "%s%s", plugin ? PLUGIN_PREFIX : "",
                            join(spec, plugin ? plugin->file->path : "", ':', ',').text);
}

size_t indicator_spec_name(const struct indicator_spec *spec, size_t output, char *buf, size_t cap)
{
    const char *suffix = spec->row->outputs[output];
    const struct indicator_plugin *plugin = spec->row->plugin;
    return (size_t)snprintf(buf, cap, "%s%s%s", join(spec, plugin ? plugin->label : "", '_', '_').text,
                            *suffix ? "." : "", suffix);
}
