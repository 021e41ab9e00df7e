/* Decimals in JSON: every digit there and back, and what is no number stays as it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal_json.h"
#include "tests/check.h"

static void written(int128_t units, int scale, const char *expected)
{
    char line[96];
    json_t *object = json_pack("{s:o}", "x", decimal_json(units, scale));
    char *text = decimal_json_text(object, 15);
    snprintf(line, sizeof line, "{\"x\":%s}", expected);
    CHECK_STR(text, line);
    CHECK_NEAR(decimal_json_value(json_object_get(object, "x")), strtod(expected, NULL), 0);
    json_t *again = decimal_json_parse(text, strlen(text));
    char *same = decimal_json_text(again, 15);
    CHECK_STR(same, text);
    free(text);
    free(same);
    json_decref(object);
    json_decref(again);
}

/* What a book's amounts may look like: as they were written, to be parsed as decimals. */
static void digits(const char *written, const char *expected)
{
    json_t *array = decimal_json_parse(written, strlen(written));
    char *text = decimal_json_digits(json_array_get(array, 0));
    CHECK_STR(text ? text : "none", expected);
    free(text);
    json_decref(array);
}

static void without_exponents(void)
{
    digits("[0.00005]", "0.00005");
    digits("[0.00000001]", "0.00000001");
    digits("[-0.00000012345]", "-0.00000012345");
    digits("[5e-5]", "0.00005");
    digits("[1e15]", "1000000000000000");
    digits("[59953.89]", "59953.89");
    digits("[0.0001]", "0.0001");
    digits("[7]", "7");
    digits("[0]", "0");
    digits("[1234567890.12345678]", "1234567890.12345678");
    digits("[1e300]", "none");
    digits("[\"text\"]", "none");
    digits("[null]", "none");
    digits("[]", "none");
}

static void round_trips(void)
{
    written(123456789012345678, 8, "1234567890.12345678");
    written(-123456789012345678, 8, "-1234567890.12345678");
    written(999999999999999999, 8, "9999999999.99999999");
    written(1000000000000000001, 8, "10000000000.00000001");
    written(INT64_MAX, 8, "92233720368.54775807");
    written(INT64_MIN, 8, "-92233720368.54775808");
    written(12345678901234567, 8, "123456789.01234567"); /* as a double of 17 digits it reads the same */
    written(1234567812345678, 8, "12345678.12345678");
    written(6183763, 2, "61837.63");
    written(1050, 1, "105.0"); /* an ordinary double */
    written(0, 8, "0.0");
}

/* What a text may have that looks like a number, in any place. */
static void texts_stay(void)
{
    static const char *const lines[] = {"{\"a\":\"1234567890.12345678\",\"b\\\"\":\"\\\\\",\"c\":[1234567890."
                                        "12345678,\"\\\"1234567890.12345678\"]}",
                                        "{\"1234567890.12345678\":-1234567890.12345678}",
                                        "[1723247400000000000,-9223372036854775808,1.5,true,null]"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *json = decimal_json_parse(lines[i], strlen(lines[i]));
        char *text = decimal_json_text(json, 15);
        CHECK_STR(text, lines[i]);
        free(text);
        json_decref(json);
    }
    json_t *marked = json_string("\xef\xb7\x90"
                                 "12,\"x\":1"); /* not one of ours */
    char *text = decimal_json_text(marked, 15);
    CHECK_STR(text, "\"\xef\xb7\x90"
                    "12,\\\"x\\\":1\"");
    free(text);
    json_decref(marked);
}

static void damaged(void)
{
    static const char *const lines[] = {"",
                                        "\"",
                                        "\"\\",
                                        "{\"a\":1234567890.12345678",
                                        "[1234567890.1234.5678]",
                                        "[1234567890123456789012345678901234567890.5]x",
                                        "[12345678901.12345678-]"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(!decimal_json_parse(lines[i], strlen(lines[i])));
    CHECK(!decimal_json_text(NULL, 15));
    CHECK(isnan(decimal_json_value(NULL)));
}

int main(void)
{
    round_trips();
    without_exponents();
    texts_stay();
    damaged();
    return check_done("exchange/decimal_json");
}
