#include "db/studies/distribution.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/python_json.h"
#include "exchange/fail.h"

/* Larger whole numbers are not all float64s, and a parameter's value is stored as a float64. */
#define WHOLE_MAX         ((double)DISTRIBUTION_WHOLE_MAX)
#define INT64_END         9223372036854775808.0
#define GRID_TOLERANCE    1e-8 /* of a step, as Optuna has it */

#define invalid(err, ...) fail_with(-EINVAL, err, DISTRIBUTION_ERROR_MAX, __VA_ARGS__)

int distribution_number(enum distribution_kind kind, double low, double high, double step, bool log,
                        struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX])
{
    bool whole = kind == DISTRIBUTION_INT;
    if (!isfinite(low) || !isfinite(high) || !isfinite(step))
        return invalid(err, "range: %g to %g, step %g: finite numbers are needed", low, high, step);
    if (!(low <= high))
        return invalid(err, "range: low %.15g, high %.15g: low <= high is needed", low, high);
    if (log && !(whole ? low >= 1 : low > 0))
        return invalid(err, "range: low %.15g: a logarithmic range %s", low,
                       whole ? "of whole numbers begins at 1 or above" : "begins above 0");
    if (step < 0 || (whole && step == 0))
        return invalid(err, "range: step %.15g: a step > 0 is needed", step);
    if (log && step != (whole ? 1 : 0))
        return invalid(err, "range: step %.15g: a logarithmic range has no step", step);
    if (whole) {
        if (low != trunc(low) || high != trunc(high) || step != trunc(step))
            return invalid(err, "range: %.15g to %.15g, step %.15g: whole numbers are needed", low, high,
                           step);
        if (fabs(low) > WHOLE_MAX || fabs(high) > WHOLE_MAX)
            return invalid(err, "range: %.17g to %.17g: whole numbers of at most 2^53 are needed", low, high);
        high = low + floor((high - low) / step) * step;
    } else if (step > 0) {
        high = study_decimal_grid_high(low, high, step);
    }
    *ret = (struct distribution){.kind = kind, .log = log, .low = low, .high = high, .step = step};
    return 0;
}

int distribution_categories(const json_t *choices, struct distribution *ret,
                            char err[static DISTRIBUTION_ERROR_MAX])
{
    size_t n = json_array_size(choices);
    if (n == 0)
        return invalid(err, "choices: there are none: at least one is needed");
    if (n > INT_MAX)
        return invalid(err, "choices: %zu: at most %d are right", n, INT_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *choice = json_array_get(choices, i);
        if (json_is_array(choice) ||
            (json_is_object(choice) && !study_python_json_word(choice) && !study_python_json_carried(choice)))
            return invalid(err, "choices: number %zu: null, a boolean, a number or a string is needed", i);
    }
    json_t *copy = json_deep_copy(choices);
    if (!copy)
        return -ENOMEM;
    *ret = (struct distribution){
        .kind = DISTRIBUTION_CATEGORICAL, .high = (double)(n - 1), .n_choices = (int)n, .choices = copy};
    return 0;
}

int distribution_copy(const struct distribution *from, struct distribution *ret)
{
    struct distribution copy = *from;
    if (from->choices && !(copy.choices = json_deep_copy(from->choices)))
        return -ENOMEM;
    if (from->text && !(copy.text = strdup(from->text))) {
        json_decref(copy.choices);
        return -ENOMEM;
    }
    *ret = copy;
    return 0;
}

void distribution_finish(struct distribution *distribution)
{
    json_decref(distribution->choices);
    free(distribution->text);
    distribution->choices = NULL;
    distribution->text = NULL;
    distribution->n_choices = 0;
}

/* As Python compares scalars: true is 1 is 1.0, and (for Optuna) a NaN is a NaN. */
static bool same_choice(const json_t *a, const json_t *b)
{
    bool a_number = json_is_number(a) || json_is_boolean(a),
         b_number = json_is_number(b) || json_is_boolean(b);
    if (!a_number || !b_number)
        return json_equal(a, b);
    if (!json_is_real(a) && !json_is_real(b)) {
        json_int_t x = json_is_integer(a) ? json_integer_value(a) : json_is_true(a);
        return x == (json_is_integer(b) ? json_integer_value(b) : json_is_true(b));
    }
    long double x = json_is_integer(a) ? (long double)json_integer_value(a)
                    : json_is_real(a)  ? (long double)json_real_value(a)
                                       : json_is_true(a);
    return x == (json_is_integer(b) ? (long double)json_integer_value(b)
                 : json_is_real(b)  ? (long double)json_real_value(b)
                                    : json_is_true(b));
}

static bool same_choices(const struct distribution *a, const struct distribution *b)
{
    if (a->n_choices != b->n_choices)
        return false;
    for (int i = 0; i < a->n_choices; i++)
        if (!same_choice(json_array_get(a->choices, (size_t)i), json_array_get(b->choices, (size_t)i)))
            return false;
    return true;
}

bool distribution_equal(const struct distribution *a, const struct distribution *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == DISTRIBUTION_CATEGORICAL)
        return same_choices(a, b);
    if ((a->text || b->text) && (!a->text || !b->text || strcmp(a->text, b->text) != 0))
        return false;
    return a->log == b->log && a->low == b->low && a->high == b->high && a->step == b->step;
}

bool distribution_compatible(const struct distribution *a, const struct distribution *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == DISTRIBUTION_CATEGORICAL ? same_choices(a, b) : a->log == b->log;
}

bool distribution_contains(const struct distribution *distribution, double value)
{
    if (distribution->kind == DISTRIBUTION_CATEGORICAL)
        return value > -1 && value < distribution->n_choices;
    if (!(distribution->low <= value && value <= distribution->high))
        return false;
    if (distribution->text) /* the grid is finer than float64 */
        return value == trunc(value);
    if (distribution->kind == DISTRIBUTION_INT)
        return fmod(value - distribution->low, distribution->step) == 0;
    if (distribution->step == 0)
        return true;
    double k = (value - distribution->low) / distribution->step;
    return fabs(k - rint(k)) < GRID_TOLERANCE;
}

bool distribution_single(const struct distribution *distribution)
{
    return distribution->kind == DISTRIBUTION_CATEGORICAL ? distribution->n_choices == 1
                                                          : distribution->low == distribution->high;
}

json_t *distribution_external(const struct distribution *distribution, double value)
{
    if (!distribution_contains(distribution, value))
        return NULL;
    switch (distribution->kind) {
    case DISTRIBUTION_FLOAT:
        return json_real(value);
    case DISTRIBUTION_INT:
        return fabs(value) < INT64_END ? json_integer((json_int_t)value) : json_real(value);
    case DISTRIBUTION_CATEGORICAL:
        break;
    }
    return json_deep_copy(json_array_get(distribution->choices, (size_t)value));
}

static bool carries(const json_t *choice, const json_t *external)
{
    const char *text = study_python_json_carried(choice);
    json_t *carried = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    bool equal = carried && json_equal(carried, external);
    json_decref(carried);
    return equal;
}

int distribution_internal(const struct distribution *distribution, const json_t *external, double *ret)
{
    if (!external)
        return -EINVAL;
    if (distribution->kind == DISTRIBUTION_CATEGORICAL) {
        for (int i = 0; i < distribution->n_choices; i++) {
            const json_t *choice = json_array_get(distribution->choices, (size_t)i);
            if (same_choice(choice, external) || carries(choice, external)) {
                *ret = i;
                return 0;
            }
        }
        return -EINVAL;
    }
    if (!json_is_number(external) && !json_is_boolean(external))
        return -EINVAL;
    double value = json_is_boolean(external) ? json_is_true(external) : json_number_value(external);
    if (distribution->log && !(value > 0))
        return -EINVAL;
    *ret = value;
    return 0;
}
