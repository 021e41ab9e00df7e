/* Distributions: what is refused, the grid's end, what belongs to one, text and back, what a user sees. */
#include "db/studies/distribution.h"

#include "db/studies/python_json.h"
#include "tests/db/studies/fixture.h"

static void refused(enum distribution_kind kind, double low, double high, double step, bool log,
                    const char *words)
{
    struct distribution distribution = {.low = 7};
    REFUSED(distribution_number(kind, low, high, step, log, &distribution, err), -EINVAL, words);
    CHECK(distribution.low == 7);
}

static void test_refused(void)
{
    struct distribution distribution = {.low = 7};
    refused(DISTRIBUTION_FLOAT, 1, 0, 0, false, "low <= high is needed");
    refused(DISTRIBUTION_FLOAT, NAN, 1, 0, false, "finite");
    refused(DISTRIBUTION_FLOAT, 0, INFINITY, 0, false, "finite");
    refused(DISTRIBUTION_FLOAT, 0, 1, 0, true, "begins above 0");
    refused(DISTRIBUTION_FLOAT, 1, 2, 0.1, true, "has no step");
    refused(DISTRIBUTION_FLOAT, 1, 2, -0.1, false, "a step > 0");
    refused(DISTRIBUTION_INT, 1, 2, 0, false, "a step > 0");
    refused(DISTRIBUTION_INT, 0, 2, 1, true, "begins at 1");
    refused(DISTRIBUTION_INT, 1, 4, 2, true, "has no step");
    refused(DISTRIBUTION_INT, 0.5, 4, 1, false, "whole numbers");
    refused(DISTRIBUTION_INT, 0, 1e300, 1, false, "2^53");
    static const char *const choices[] = {"[]",
                                          "[[1]]",
                                          "[{\"a\": 1}]",
                                          "{}",
                                          "[{\"float\": 16}]",
                                          "[{\"float\": \"NaN\", \"a\": 1}]",
                                          "[{\"float\": \"1\"}]",
                                          "[{\"json\": \"[1\"}]"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        json_t *json = json_loads(choices[i], 0, NULL);
        CHECK_INT(distribution_categories(json, &distribution, err), -EINVAL);
        json_decref(json);
    }
    static const char *const texts[] = {
        "",
        "[]",
        "{",
        "{\"name\": \"FloatDistribution\"}",
        "{\"name\": \"NoDistribution\", \"attributes\": {}}",
        "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 1}}",
        "{\"name\": \"IntDistribution\", \"attributes\": {\"low\": 3, \"high\": 1}}",
        "{\"name\": \"IntDistribution\", \"attributes\": {\"low\": 4611686018427387904, \"high\": 1}}",
        "{\"name\": \"IntDistribution\", \"attributes\": {\"low\": {\"float\": 16}, \"high\": 1}}",
        "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [NaNa]}}",
        "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [{\"a\": 1]}}",
        "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [[1,]]}}",
        "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"\xff\"]}}",
        "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"a]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_INT(distribution_parse(texts[i], &distribution, err), -EINVAL);
    CHECK(distribution.low == 7);
}

static void test_grid(void)
{
    CHECK(number_of(DISTRIBUTION_FLOAT, 0, 1, 0.3, false).high == 0.9);
    CHECK(number_of(DISTRIBUTION_FLOAT, 0, 0.9, 0.3, false).high == 0.9);
    CHECK(number_of(DISTRIBUTION_FLOAT, 0.1, 0.15, 0.1, false).high == 0.1);
    CHECK(number_of(DISTRIBUTION_INT, 1, 10, 4, false).high == 9);
    /* 2^-24 is 5.960464477539063e-08 to Python, of which 16 are more than 2^-20. */
    CHECK(number_of(DISTRIBUTION_FLOAT, 0, 0x1p-20, 0x1p-24, false).high == 8.9406967163085945e-07);
    CHECK(study_decimal_grid_high(-1, 1e300, 1e-300) <= 1e300); /* further apart than any grid */
    struct distribution step = number_of(DISTRIBUTION_FLOAT, 0, 1, 0.1, false);
    CHECK(distribution_contains(&step, 0.1 + 0.2)); /* 0.30000000000000004 */
    CHECK(!distribution_contains(&step, 0.25));
    CHECK(!distribution_contains(&step, 1.1));
    CHECK(!distribution_contains(&step, NAN));
    struct distribution whole = number_of(DISTRIBUTION_INT, 1, 9, 4, false);
    CHECK(distribution_contains(&whole, 5) && !distribution_contains(&whole, 6) &&
          !distribution_contains(&whole, 5.5));
    struct distribution one = number_of(DISTRIBUTION_FLOAT, 0.1, 0.15, 0.1, false);
    CHECK(distribution_single(&one) && !distribution_single(&whole));
}

/* Names of before Optuna 3, and numbers that JSON does not have. */
static void test_old_names(void)
{
    static const struct {
        const char *old, *now;
    } rows[] = {
        {"{\"name\": \"UniformDistribution\", \"attributes\": {\"low\": 0, \"high\": 1}}",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 0.0, \"high\": 1.0, "
         "\"log\": false}}"},
        {"{\"name\": \"LogUniformDistribution\", \"attributes\": {\"low\": 1e-05, \"high\": 0.1}}",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 1e-05, \"high\": 0.1, "
         "\"log\": true}}"},
        {"{\"name\": \"DiscreteUniformDistribution\", \"attributes\": {\"low\": 0, \"high\": 1, \"q\": "
         "0.25}}",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": 0.25, \"low\": 0.0, \"high\": 1.0, "
         "\"log\": false}}"},
        {"{\"name\": \"IntUniformDistribution\", \"attributes\": {\"low\": 1, \"high\": 9, \"step\": 4}}",
         "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 4, \"low\": 1, "
         "\"high\": 9}}"},
        {"{\"name\": \"IntLogUniformDistribution\", \"attributes\": {\"low\": 1, \"high\": 9, \"step\": 1}}",
         "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": true, \"step\": 1, \"low\": 1, \"high\": "
         "9}}"},
        {"{\"name\":\"CategoricalDistribution\",\"attributes\":{\"choices\":[NaN,\"NaN\",-Infinity,1]}}",
         "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [NaN, \"NaN\", -Infinity, "
         "1]}}"},
        {"{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": -Infinity, \"high\": "
         "0.0, \"log\": false}}",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": -Infinity, \"high\": "
         "0.0, \"log\": false}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct distribution distribution = {0};
        OK(distribution_parse(rows[i].old, &distribution, err));
        char *text = distribution_text(&distribution);
        CHECK_STR(text, rows[i].now);
        free(text);
        distribution_finish(&distribution);
    }
}

/* Of json.dumps() itself: what Jansson would write in other words. */
static void test_python(void)
{
    static const char text[] =
        "{\"\\u00e9\": [0.1, 1e-05, 1e+16, 3.0, -0.0, 12345678901234567], \"a/b\": {}, \"c\": "
        "\"\\ud83d\\ude00 \\u007f \\u0001 \\n \\\" \\\\\", \"d\": {\"e\": 0.30000000000000004, \"f\": "
        "-Infinity}, \"g\": [], \"h\": [true, false, null, [64, 1.5]]}";
    size_t at;
    json_t *value = study_python_json_parse(text, &at);
    char *again = study_python_json_text(value);
    CHECK_STR(again, text);
    CHECK(study_python_json_text(NULL) == NULL);
    free(again);
    json_decref(value);
}

/* What Jansson, or float64, has not comes back to the byte. */
static void test_carried(void)
{
    static const char *const texts[] = {
        "CategoricalDistribution\", \"attributes\": {\"choices\": [{\"float\": 16}, {\"float\": \"NaN\"}, "
        "NaN, [64, [1.50, \"a, b: [\"]], {}, []]}}",
        "CategoricalDistribution\", \"attributes\": {\"choices\": [1180591620717411303424, \"\\ud800\", "
        "\"a\\u0000b\", {\"json\": \"[1]\"}, {\"\\udc00\": -Infinity}]}}",
        "IntDistribution\", \"attributes\": {\"log\": false, \"step\": 1, \"low\": 0, \"high\": "
        "9007199254740993}}",
        "IntDistribution\", \"attributes\": {\"log\": false, \"step\": 3, \"low\": -4611686018427387904, "
        "\"high\": 4611686018427387902}}",
        "IntDistribution\", \"attributes\": {\"log\": true, \"step\": 1, \"low\": 1, \"high\": "
        "18446744073709551617}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct distribution distribution = {0}, copy = {0};
        char whole[400];
        snprintf(whole, sizeof whole, "{\"name\": \"%s", texts[i]);
        OK(distribution_parse(whole, &distribution, err));
        CHECK_INT(distribution_copy(&distribution, &copy), 0);
        char *text = distribution_text(&copy);
        CHECK_STR(text, whole);
        CHECK(distribution_equal(&distribution, &copy) && distribution_compatible(&distribution, &copy));
        free(text);
        distribution_finish(&distribution);
        distribution_finish(&copy);
    }
    struct distribution nested = {0}, wide = {0}, wider = {0};
    OK(distribution_parse("{\"type\":\"categorical\",\"choices\":[[ 64,64 ],{\"a\":{\"float\":\"NaN\"}}]}",
                          &nested, err));
    json_t *list = json_pack("[i,i]", 64, 64), *shown = distribution_external(&nested, 1);
    double internal = -1;
    CHECK_INT(distribution_internal(&nested, list, &internal), 0);
    CHECK(internal == 0);
    CHECK_STR(json_string_value(json_object_get(shown, "json")), "{\"a\": {\"float\": \"NaN\"}}");
    CHECK_INT(distribution_internal(&nested, shown, &internal), 0);
    CHECK(internal == 1);
    json_decref(list);
    json_decref(shown);
    OK(distribution_parse("{\"type\":\"int\",\"low\":0,\"high\":9223372036854775807}", &wide, err));
    OK(distribution_parse("{\"type\":\"int\",\"low\":0,\"high\":9223372036854775806}", &wider, err));
    CHECK(!distribution_equal(&wide, &wider) && distribution_compatible(&wide, &wider));
    CHECK(distribution_contains(&wide, 9007199254740994) && !distribution_contains(&wide, 0.5));
    shown = distribution_external(&wide, 0x1p63);
    CHECK(json_is_real(shown) && json_real_value(shown) == 0x1p63);
    json_decref(shown);
    distribution_finish(&nested);
    distribution_finish(&wide);
    distribution_finish(&wider);
}

/* As Python: true is 1 is 1.0, the first of them is found. */
static void test_choices(void)
{
    struct distribution distribution = choices_of("[\"a\", null, 1, true, 2.5, false]"), copy;
    static const struct {
        const char *external;
        double internal; /* -1: none */
    } rows[] = {{"[\"a\"]", 0}, {"[null]", 1}, {"[1]", 2},      {"[true]", 2}, {"[1.0]", 2},
                {"[2.5]", 4},   {"[0]", 5},    {"[\"1\"]", -1}, {"[3]", -1},   {"[[]]", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *json = json_loads(rows[i].external, 0, NULL);
        double internal = -1;
        CHECK_INT(distribution_internal(&distribution, json_array_get(json, 0), &internal),
                  rows[i].internal < 0 ? -EINVAL : 0);
        CHECK(internal == rows[i].internal);
        json_decref(json);
    }
    CHECK(!distribution_external(&distribution, 6));
    CHECK(!distribution_external(&distribution, -1));
    CHECK_INT(distribution_copy(&distribution, &copy), 0);
    CHECK(distribution_equal(&distribution, &copy) && distribution_compatible(&distribution, &copy));
    struct distribution other = choices_of("[\"a\", null, true, true, 2.5, 0]"),
                        fewer = choices_of("[\"a\"]");
    CHECK(distribution_equal(&distribution, &other));
    CHECK(!distribution_compatible(&distribution, &fewer));
    CHECK(distribution_single(&fewer));
    distribution_finish(&distribution);
    distribution_finish(&copy);
    distribution_finish(&other);
    distribution_finish(&fewer);
}

static void test_numbers(void)
{
    struct distribution whole = number_of(DISTRIBUTION_INT, 1, 9, 1, true),
                        wide = number_of(DISTRIBUTION_INT, 1, 99, 1, true);
    struct distribution real = number_of(DISTRIBUTION_FLOAT, 1, 9, 0, true),
                        plain = number_of(DISTRIBUTION_FLOAT, 1, 9, 0, false);
    json_t *seen = distribution_external(&whole, 4), *half = json_real(0.5), *minus = json_integer(-1);
    double internal = 7;
    CHECK(json_is_integer(seen) && json_integer_value(seen) == 4);
    CHECK_INT(distribution_internal(&real, half, &internal), 0);
    CHECK(internal == 0.5); /* whether it is in the range is another question, in Optuna too */
    CHECK_INT(distribution_internal(&real, minus, &internal), -EINVAL);
    CHECK_INT(distribution_internal(&real, NULL, &internal), -EINVAL);
    CHECK(internal == 0.5);
    CHECK(distribution_compatible(&whole, &wide) && !distribution_equal(&whole, &wide));
    CHECK(!distribution_compatible(&whole, &real) && !distribution_compatible(&real, &plain));
    json_decref(seen);
    json_decref(half);
    json_decref(minus);
}

int main(void)
{
    test_refused();
    test_grid();
    test_old_names();
    test_choices();
    test_python();
    test_carried();
    test_numbers();
    return check_done("db/studies/distribution");
}
