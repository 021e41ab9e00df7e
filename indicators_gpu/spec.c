/* Specifications as text: "macd:12,26,9" and back to column names. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "indicators_gpu/indicators.h"

enum { NAME_MAX_LEN = 31 };

/* Edits (insert, delete, replace, exchange two neighbours) between two short words in any case. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_LEN + 1], la = strlen(a), lb = strlen(b);
    size_t *two_above = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= lb; j++)
        above[j] = j;
    for (size_t i = 1; i <= la; i++) {
        int letter = tolower((unsigned char)a[i - 1]);
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = above[j - 1] + (letter != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && letter == b[j - 2] && tolower((unsigned char)a[i - 2]) == b[j - 1] &&
                two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            row[j] = best;
        }
        size_t *oldest = two_above;
        two_above = above;
        above = row;
        row = oldest;
    }
    return above[lb];
}

static const char *nearest(const char *name)
{
    size_t n, best = SIZE_MAX;
    const struct indicator *const *rows = indicator_rows(&n);
    const char *ret = rows[0]->name;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, rows[i]->name);
        if (d < best) {
            best = d;
            ret = rows[i]->name;
        }
    }
    return ret;
}

/* Digits with an optional fraction, in any locale; up to 15 digits, so that one division rounds correctly. */
static bool parse_number(const char *text, size_t len, double *ret)
{
    double value = 0.0, power = 1.0;
    size_t digits = 0;
    bool fraction = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.' && !fraction && digits > 0) {
            fraction = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || ++digits > 15)
            return false;
        value = value * 10.0 + (text[i] - '0');
        if (fraction)
            power *= 10.0;
    }
    if (digits == 0 || text[len - 1] == '.')
        return false;
    *ret = value / power;
    return true;
}

static int parse_options(const char *name, const char *p, struct indicator_spec *spec, char *err,
                         size_t err_cap)
{
    const struct indicator *row = spec->row;
    for (size_t i = 0;; i++) {
        size_t len = strcspn(p, ",");
        if (i == row->n_options) {
            snprintf(err, err_cap, "%s takes %zu option%s, no \"%.32s\"", name, row->n_options,
                     row->n_options == 1 ? "" : "s", p);
            return -EINVAL;
        }
        const struct indicator_option *option = &row->options[i];
        double value;
        if (!parse_number(p, len, &value) || (option->whole && value != floor(value)) ||
            value < option->min || value > option->max) {
            snprintf(err, err_cap, "%s: %s \"%.*s\": a%s number from %.15g to %.15g is needed", name,
                     option->name, len > 32 ? 32 : (int)len, p, option->whole ? " whole" : "", option->min,
                     option->max);
            return -EINVAL;
        }
        spec->options[i] = value;
        if (p[len] == '\0')
            return 0;
        p += len + 1;
    }
}

int indicator_spec_parse(const char *text, struct indicator_spec *ret, char *err, size_t err_cap)
{
    size_t len = strcspn(text, ":");
    char name[NAME_MAX_LEN + 1];
    if (len == 0 || len > NAME_MAX_LEN) {
        snprintf(err, err_cap, "\"%.40s\" names no indicator: NAME:options is needed, as sma:20", text);
        return -EINVAL;
    }
    memcpy(name, text, len);
    name[len] = '\0';

    struct indicator_spec spec = {.row = indicator_find(name)};
    if (!spec.row) {
        snprintf(err, err_cap, "there is no indicator \"%s\": the nearest is \"%s\"", name, nearest(name));
        return -EINVAL;
    }
    for (size_t i = 0; i < spec.row->n_options; i++)
        spec.options[i] = spec.row->options[i].value;
    if (text[len] == ':') {
        int r = parse_options(spec.row->name, text + len + 1, &spec, err, err_cap);
        if (r < 0)
            return r;
    }
    *ret = spec;
    return 0;
}

size_t indicator_spec_text(const struct indicator_spec *spec, char *buf, size_t cap)
{
    char text[160];
    int len = snprintf(text, sizeof(text), "%s", spec->row->name);
    for (size_t i = 0; i < spec->row->n_options; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%c%.15g", i ? ',' : ':', spec->options[i]);
    return (size_t)snprintf(buf, cap, "%s", text);
}

size_t indicator_spec_name(const struct indicator_spec *spec, size_t output, char *buf, size_t cap)
{
    char name[160];
    int len = snprintf(name, sizeof(name), "%s", spec->row->name);
    for (size_t i = 0; i < spec->row->n_options; i++)
        len += snprintf(name + len, sizeof(name) - (size_t)len, "_%.15g", spec->options[i]);
    const char *suffix = spec->row->outputs[output];
    return (size_t)snprintf(buf, cap, "%s%s%s", name, *suffix ? "." : "", suffix);
}
