/* Distributions as Optuna's JSON text, to the byte as Python's json.dumps() writes it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/distribution.h"
#include "db/studies/python_float.h"
#include "db/studies/python_json.h"

#define INT_TEXT(number) \
    "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": %s, \"step\": " number ", \"low\": " number \
    ", \"high\": " number "}}"

static const char *bool_word(bool value)
{
    return value ? "true" : "false";
}

char *distribution_text(const struct distribution *distribution)
{
    char *text = NULL, low[PYTHON_FLOAT_MAX], high[PYTHON_FLOAT_MAX], step[PYTHON_FLOAT_MAX];
    int n = -1;
    switch (distribution->kind) {
    case DISTRIBUTION_FLOAT:
        study_python_float_text(distribution->low, low);
        study_python_float_text(distribution->high, high);
        study_python_float_text(distribution->step, step);
        n = asprintf(
            &text,
            "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": %s, \"low\": %s, \"high\": %s, "
            "\"log\": %s}}",
            distribution->step > 0 ? step : "null", low, high, bool_word(distribution->log));
        return n < 0 ? NULL : text;
    case DISTRIBUTION_INT:
        if (distribution->text)
            return strdup(distribution->text);
        n = asprintf(&text, INT_TEXT("%.0f"), bool_word(distribution->log), distribution->step,
                     distribution->low, distribution->high);
        return n < 0 ? NULL : text;
    case DISTRIBUTION_CATEGORICAL:
        break;
    }
    char *choices = study_python_json_text(distribution->choices);
    n = choices
            ? asprintf(&text, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": %s}}",
                       choices)
            : -1;
    free(choices);
    return n < 0 ? NULL : text;
}

/* A number of the attributes, or `missing` where it is absent or null. */
static double number(const json_t *attributes, const char *key, double missing)
{
    const json_t *value = json_object_get(attributes, key);
    const char *text = json_string_value(json_object_get(value, "float"));
    if (text)
        return strtod(text, NULL);
    return json_is_number(value) ? json_number_value(value) : missing;
}

/* 2^53 + 1 is 2^53 as a float64. */
static bool is_beyond(const json_t *attributes, const char *key)
{
    const json_t *value = json_object_get(attributes, key);
    json_int_t whole = json_integer_value(value);
    return json_is_integer(value) ? whole > DISTRIBUTION_WHOLE_MAX || whole < -DISTRIBUTION_WHOLE_MAX
                                  : fabs(number(attributes, key, 0)) > DISTRIBUTION_WHOLE_MAX;
}

/* The text of a whole number; the digits of one that int64 does not hold. For free(). */
static char *digits_of(const json_t *attributes, const char *key, double is)
{
    const json_t *value = json_object_get(attributes, key);
    const char *text = json_string_value(json_object_get(value, "float"));
    char *copy = NULL;
    int n = text                     ? asprintf(&copy, "%s", text)
            : json_is_integer(value) ? asprintf(&copy, "%" JSON_INTEGER_FORMAT, json_integer_value(value))
                                     : asprintf(&copy, "%.0f", is);
    return n < 0 ? NULL : copy;
}

/* Whole numbers that float64 does not distinguish: kept with their text. */
static int parse_beyond(const json_t *attributes, double low, double high, double step, bool log,
                        struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX])
{
    char *lows = digits_of(attributes, "low", low), *highs = digits_of(attributes, "high", high),
         *steps = digits_of(attributes, "step", step), *text = NULL;
    if (!lows || !highs || !steps ||
        asprintf(&text, INT_TEXT("%s"), bool_word(log), steps, lows, highs) < 0) {
        snprintf(err, DISTRIBUTION_ERROR_MAX, "distribution: no memory");
        text = NULL;
    }
    free(lows);
    free(highs);
    free(steps);
    if (!text)
        return -ENOMEM;
    *ret = (struct distribution){
        .kind = DISTRIBUTION_INT, .log = log, .low = low, .high = high, .step = step, .text = text};
    return 0;
}

static int parse_number(enum distribution_kind kind, const json_t *attributes, bool log, double step,
                        struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX])
{
    double low = number(attributes, "low", NAN), high = number(attributes, "high", NAN);
    /* Optuna stores infinite ranges, though it cannot draw from them. */
    if (kind == DISTRIBUTION_FLOAT && step == 0 && !log && low <= high && !isfinite(low - high)) {
        *ret = (struct distribution){.kind = kind, .low = low, .high = high};
        return 0;
    }
    if (kind == DISTRIBUTION_INT && (is_beyond(attributes, "low") || is_beyond(attributes, "high")) &&
        low <= high && isfinite(low) && isfinite(high) && low == trunc(low) && high == trunc(high) &&
        step >= 1 && step == trunc(step) && (!log || (low >= 1 && step == 1)))
        return parse_beyond(attributes, low, high, step, log, ret, err);
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

/* {"type": "float", "low": 0, "high": 1}, which Optuna's command line takes too. */
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
    size_t at;
    json_t *root = study_python_json_parse(json, &at);
    const json_t *attributes = json_object_get(root, "attributes");
    const char *name = json_string_value(json_object_get(root, "name"));
    const char *type = json_string_value(json_object_get(root, "type"));
    int r = -EINVAL;
    if (!root)
        snprintf(err, DISTRIBUTION_ERROR_MAX, "distribution: %.128s: JSON is needed, and is not at byte %zu",
                 json, at);
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
