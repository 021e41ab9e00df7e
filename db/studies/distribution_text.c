/* Distributions as Optuna's JSON text, to the byte as Python's json.dumps() writes it. JSON of Python has
 * NaN, Infinity and -Infinity besides, which Jansson has not: they are read as {"float": "NaN"}. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/decimal_grid.h"
#include "db/studies/distribution.h"

static const char *bool_word(bool value)
{
    return value ? "true" : "false";
}

/* Python escapes all that is not ASCII, in small letters. */
static void write_string(FILE *out, const char *text, size_t n)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    putc('"', out);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i++];
        const char *special = c ? strchr(plain, c) : NULL;
        if (special) {
            fprintf(out, "\\%c", letters[special - plain]);
        } else if (c >= 0x20 && c < 0x7f) {
            putc(c, out);
        } else if (c < 0x80) {
            fprintf(out, "\\u%04x", c);
        } else {
            int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            unsigned code = c & (0x3fu >> more);
            for (; more > 0 && i < n; more--)
                code = code << 6 | ((unsigned char)text[i++] & 0x3fu);
            if (code >= 0x10000)
                fprintf(out, "\\u%04x\\u%04x", 0xd800u + ((code - 0x10000) >> 10),
                        0xdc00u + ((code - 0x10000) & 0x3ffu));
            else
                fprintf(out, "\\u%04x", code);
        }
    }
    putc('"', out);
}

static void write_choice(FILE *out, const json_t *choice)
{
    char text[DECIMAL_TEXT_MAX];
    switch (json_typeof(choice)) {
    case JSON_STRING:
        write_string(out, json_string_value(choice), json_string_length(choice));
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(choice));
        break;
    case JSON_REAL:
        decimal_text(json_real_value(choice), text);
        fputs(text, out);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        fputs(bool_word(json_is_true(choice)), out);
        break;
    case JSON_OBJECT:
        fputs(json_string_value(json_object_get(choice, "float")), out);
        break;
    case JSON_NULL:
    case JSON_ARRAY:
        fputs("null", out);
        break;
    }
}

char *distribution_text(const struct distribution *distribution)
{
    char *text = NULL, low[DECIMAL_TEXT_MAX], high[DECIMAL_TEXT_MAX], step[DECIMAL_TEXT_MAX];
    size_t size;
    int n = -1;
    switch (distribution->kind) {
    case DISTRIBUTION_FLOAT:
        decimal_text(distribution->low, low);
        decimal_text(distribution->high, high);
        decimal_text(distribution->step, step);
        n = asprintf(
            &text,
            "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": %s, \"low\": %s, \"high\": %s, "
            "\"log\": %s}}",
            distribution->step > 0 ? step : "null", low, high, bool_word(distribution->log));
        return n < 0 ? NULL : text;
    case DISTRIBUTION_INT:
        n = asprintf(
            &text,
            "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": %s, \"step\": %.0f, \"low\": %.0f, "
            "\"high\": %.0f}}",
            bool_word(distribution->log), distribution->step, distribution->low, distribution->high);
        return n < 0 ? NULL : text;
    case DISTRIBUTION_CATEGORICAL:
        break;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [", out);
    for (int i = 0; i < distribution->n_choices; i++) {
        fputs(i ? ", " : "", out);
        write_choice(out, json_array_get(distribution->choices, (size_t)i));
    }
    fputs("]}}", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}

/* The text with {"float": "WORD"} for each of Python's three words outside of strings; NULL: it has none, or
 * there is no memory. */
static char *without_words(const char *json)
{
    static const char *const words[] = {"NaN", "-Infinity", "Infinity"};
    if (!strstr(json, "NaN") && !strstr(json, "Infinity"))
        return NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool quoted = false;
    while (*json) {
        size_t n = 0;
        for (size_t i = 0; !quoted && n == 0 && i < sizeof words / sizeof *words; i++)
            if (strncmp(json, words[i], strlen(words[i])) == 0)
                n = strlen(words[i]);
        if (n) {
            fprintf(out, "{\"float\": \"%.*s\"}", (int)n, json);
            json += n;
            continue;
        }
        if (quoted && *json == '\\' && json[1])
            putc(*json++, out);
        else if (*json == '"')
            quoted = !quoted;
        putc(*json++, out);
    }
    return fclose(out) == 0 ? text : (free(text), NULL);
}

/* A number of the attributes, or `missing` where there is none, or null. */
static double number(const json_t *attributes, const char *key, double missing)
{
    const json_t *value = json_object_get(attributes, key), *word = json_object_get(value, "float");
    if (word)
        return strtod(json_string_value(word), NULL);
    return json_is_number(value) ? json_number_value(value) : missing;
}

static int parse_number(enum distribution_kind kind, const json_t *attributes, bool log, double step,
                        struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX])
{
    double low = number(attributes, "low", NAN), high = number(attributes, "high", NAN);
    /* Optuna stores ranges without an end, though it cannot draw from them. */
    if (kind == DISTRIBUTION_FLOAT && step == 0 && !log && low <= high && !isfinite(low - high)) {
        *ret = (struct distribution){.kind = kind, .low = low, .high = high};
        return 0;
    }
    return distribution_number(kind, low, high, step, log, ret, err);
}

static int parse_named(const char *name, const json_t *attributes, struct distribution *ret,
                       char err[static DISTRIBUTION_ERROR_MAX])
{
    static const struct {
        const char *name;
        enum distribution_kind kind;
        bool log, log_said;
        const char *step;
    } kinds[] = {
        {"FloatDistribution", DISTRIBUTION_FLOAT, false, true, "step"},
        {"IntDistribution", DISTRIBUTION_INT, false, true, "step"},
        {"UniformDistribution", DISTRIBUTION_FLOAT, false, false, NULL},
        {"LogUniformDistribution", DISTRIBUTION_FLOAT, true, false, NULL},
        {"DiscreteUniformDistribution", DISTRIBUTION_FLOAT, false, false, "q"},
        {"IntUniformDistribution", DISTRIBUTION_INT, false, false, "step"},
        {"IntLogUniformDistribution", DISTRIBUTION_INT, true, false, NULL},
    };
    if (strcmp(name, "CategoricalDistribution") == 0)
        return distribution_categories(json_object_get(attributes, "choices"), ret, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name, kinds[i].name) != 0)
            continue;
        bool log = kinds[i].log_said ? json_is_true(json_object_get(attributes, "log")) : kinds[i].log;
        double missing = kinds[i].kind == DISTRIBUTION_INT ? 1 : 0;
        double step = kinds[i].step ? number(attributes, kinds[i].step, missing) : missing;
        return parse_number(kinds[i].kind, attributes, log, step, ret, err);
    }
    snprintf(
        err, DISTRIBUTION_ERROR_MAX,
        "distribution: \"%.64s\": FloatDistribution, IntDistribution or CategoricalDistribution is needed",
        name);
    return -EINVAL;
}

/* {"type": "float", "low": 0, "high": 1}, as Optuna's command line takes it too. */
static int parse_short(const char *type, const json_t *root, struct distribution *ret,
                       char err[static DISTRIBUTION_ERROR_MAX])
{
    if (strcmp(type, "categorical") == 0)
        return parse_named("CategoricalDistribution", root, ret, err);
    return parse_named(strcmp(type, "float") == 0 ? "FloatDistribution"
                       : strcmp(type, "int") == 0 ? "IntDistribution"
                                                  : type,
                       root, ret, err);
}

int distribution_parse(const char *json, struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX])
{
    char *changed = without_words(json);
    json_error_t error;
    json_t *root = json_loads(changed ? changed : json, 0, &error);
    free(changed);
    const json_t *attributes = json_object_get(root, "attributes");
    const char *name = json_string_value(json_object_get(root, "name"));
    const char *type = json_string_value(json_object_get(root, "type"));
    int r = -EINVAL;
    if (!root)
        snprintf(err, DISTRIBUTION_ERROR_MAX, "distribution: %.128s: JSON is needed", error.text);
    else if (name && json_is_object(attributes))
        r = parse_named(name, attributes, ret, err);
    else if (type)
        r = parse_short(type, root, ret, err);
    else
        snprintf(err, DISTRIBUTION_ERROR_MAX,
                 "distribution: an object with \"name\" and \"attributes\" is needed");
    json_decref(root);
    return r;
}
