/* The JSON reader on texts whose verdict is known, cut and mutated at every byte. Under AddressSanitizer
 * every text stands at the end of its own allocation, so that a step past it is seen. */
#include "exchange/json.h"

#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"

static bool accepts(const char *text, size_t len)
{
    char *own = malloc(len ? len : 1);
    memcpy(own, text, len);
    struct json json;
    json_init(&json, own, len);
    bool skipped = json_skip(&json), done = json_done(&json);
    CHECK(skipped || !done);
    free(own);
    return done;
}

static void test_verdicts(void)
{
    static const char *const valid[] = {
        "{}",
        "[]",
        "0",
        "-0",
        "1.5",
        "-1.5e+10",
        "1E5",
        "10",
        "\"\"",
        "\"a\\u00e9\\n\\\\\\\"\\/\"",
        "true",
        "false",
        "null",
        " [ 1 , 2 ] ",
        "\t{\r\n\"a\" : [ ] }\n",
        "[[[]],{},{\"a\":{\"b\":[null]}}]",
        "{\"a\":1,\"a\":2}",
        "[1,[2,[3,[4]]],5]",
        "\"\\ud83d\\ude00\"",
        "{\"\":\"\"}",
        "123456789012345678901234567890",
    };
    static const char *const invalid[] = {
        "",          " ",         "{",       "}",        "[",          "]",           "[1,]",
        "[,1]",      "[1 2]",     "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",       "{,}",
        "[1}",       "{\"a\":1]", "01",      "-",        "+1",         ".5",          "1.",
        "1e",        "1e+",       "-a",      "0x1",      "tru",        "truee",       "nul",
        "nulL",      "False",     "\"",      "\"\\\"",   "\"\\x\"",    "\"\\u12g4\"", "\"\\u123\"",
        "\"\n\"",    "\"\t\"",    "1 2",     "{} {}",    "[]]",        "'a'",         "NaN",
        "Infinity",  "-Infinity", "// c",    "[1]//",    "{\"a\" 1}",  "{1:2}",       "[\"a\":1]",
        "{\"a\",1}", "\v1",       "1\f",     "nullnull", "--1",        "[1,,2]",      "{\"a\":1,,\"b\":2}",
    };
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (!accepts(valid[i], strlen(valid[i])))
            CHECK(!"accepted"), printf("%s\n", valid[i]);
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        if (accepts(invalid[i], strlen(invalid[i])))
            CHECK(!"refused"), printf("%s\n", invalid[i]);
    CHECK(!accepts("[1\0]", 4));
    CHECK(!accepts("1\0", 2));
    CHECK(!accepts("\"a\0b\"", 5));
}

static void test_depth(void)
{
    char text[2 * JSON_DEPTH_MAX + 4];
    for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK_INT(accepts(text, 2 * (size_t)depth), depth <= JSON_DEPTH_MAX);
    }
}

static const char frame[] =
    "{\"stream\":\"btcusdt@depth\",\"data\":{\"e\":\"depthUpdate\",\"E\":1723161255208,\"U\":-5,\"u\":0.5e-7,"
    "\"b\":[[\"61737.63\",\"0\"],[1,2.5,null]],\"a\":[],\"m\":true,\"x\":{\"\\u0041\\n\":false}}} ";

static void test_cut_and_mutated(void)
{
    size_t len = sizeof frame - 1;
    CHECK(accepts(frame, len));
    for (size_t cut = 0; cut < len - 1; cut++)
        CHECK(!accepts(frame, cut));
    char mutated[sizeof frame];
    for (size_t i = 0; i < len; i++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(mutated, frame, sizeof frame);
            mutated[i] = (char)byte;
            accepts(mutated, len); /* json_oracle.py knows the verdicts */
        }
    struct random random = random_seeded("exchange/json", 7);
    for (int round = 0; round < 20000; round++) {
        memcpy(mutated, frame, sizeof frame);
        for (int i = 0; i < 4; i++)
            mutated[random_between(&random, 0, (int64_t)len - 1)] =
                "{}[]\",:0123456789.eE+-\\tfn u"[random_between(&random, 0, 27)];
        accepts(mutated, len);
    }
}

static struct json reading(const char *text)
{
    struct json json;
    json_init(&json, text, strlen(text));
    return json;
}

static void test_values(void)
{
    struct json json = reading(" {\"a\":[1,-2,\"3.50\",4.25,true,false,null,{\"b\":[]}],\"c\\n\":\"d\"} ");
    struct json_text key, text;
    int64_t n = 0;
    bool flag = false;
    CHECK_INT(json_peek(&json), '{');
    CHECK(json_enter_object(&json) && json_member(&json, &key) && json_is(key, "a"));
    CHECK_INT(json_peek(&json), '[');
    CHECK(json_enter_array(&json) && json_element(&json) && json_int(&json, &n) && n == 1);
    CHECK(json_element(&json) && json_int(&json, &n) && n == -2);
    CHECK(json_element(&json) && json_decimal(&json, 2, &n) && n == 350);
    CHECK(json_element(&json) && json_decimal(&json, 3, &n) && n == 4250);
    CHECK(json_element(&json) && json_bool(&json, &flag) && flag);
    CHECK(json_element(&json) && json_bool(&json, &flag) && !flag);
    CHECK(json_element(&json) && json_peek(&json) == 'n' && json_skip(&json));
    CHECK(json_element(&json) && json_skip(&json));
    CHECK(!json_element(&json));
    CHECK(!json_done(&json));
    CHECK(json_member(&json, &key) && json_is(key, "c\\n"));
    CHECK(json_read_string(&json, &text) && json_is(text, "d"));
    CHECK(!json_member(&json, &key));
    CHECK(json_done(&json));

    static const char *const no_int[] = {"1.0",  "1e2", "\"1\"", "9223372036854775808",
                                         "true", "[1]", "",      "-"};
    for (size_t i = 0; i < sizeof no_int / sizeof *no_int; i++) {
        json = reading(no_int[i]);
        n = 77;
        CHECK(!json_int(&json, &n) && n == 77 && !json_done(&json));
    }
    static const char *const no_decimal[] = {"\"\"", "\"1e2\"", "\"1.\"", "\"0.001\"",
                                             "null", "\" 1\"",  "1e2"};
    for (size_t i = 0; i < sizeof no_decimal / sizeof *no_decimal; i++) {
        json = reading(no_decimal[i]);
        CHECK(!json_decimal(&json, 2, &n) && !json_done(&json));
    }
    /* After an error, the reader stays failed. */
    json = reading("[1}");
    CHECK(json_enter_array(&json) && json_element(&json) && json_int(&json, &n) && !json_element(&json));
    CHECK(!json_element(&json) && !json_member(&json, &key) && !json_skip(&json) &&
          !json_read_string(&json, &text) && !json_enter_object(&json) && json_peek(&json) == '\0' &&
          !json_done(&json));
}

/* Whatever stands between quotes: json_decimal() reads what decimal_parse() reads, and nothing else. */
static void test_decimals(void)
{
    struct random random = random_seeded("exchange/json, decimals", 60312);
    uint64_t good = 0;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        size_t len = 0, digits = (size_t)random_between(&random, 0, random_chance(&random, 90) ? 10 : 20);
        text[len++] = '"';
        if (random_chance(&random, 3))
            text[len++] = random_chance(&random, 50) ? '-' : '+';
        for (size_t k = 0; k < digits; k++)
            text[len++] = (char)('0' + random_between(&random, 0, random_chance(&random, 50) ? 0 : 9));
        if (random_chance(&random, 85))
            text[len++] = '.';
        digits = (size_t)(random_chance(&random, 50) ? 8 : random_between(&random, 0, 14));
        for (size_t k = 0; k < digits; k++)
            text[len++] = (char)('0' + random_between(&random, 0, 9));
        if (random_chance(&random, 5))
            text[1 + random_between(&random, 0, (int64_t)len - 1)] =
                ":/ .e-\"\\\x01\xb3"[random_between(&random, 0, 9)];
        text[len++] = '"';
        int scale = random_chance(&random, 50) ? 8 : (int)random_between(&random, 0, 18);
        char *own = malloc(len);
        memcpy(own, text, len);
        struct json json;
        struct json_text inside;
        int64_t value = -7, wanted = -7;
        json_init(&json, own, len);
        bool is =
            json_read_string(&json, &inside) && decimal_parse(inside.data, inside.len, scale, &wanted) == 0;
        json_init(&json, own, len);
        CHECK(json_decimal(&json, scale, &value) == is);
        CHECK_INT(value, wanted);
        good += is;
        free(own);
    }
    printf("exchange/json: %ju decimals read\n", (uintmax_t)good);
    CHECK(good > 50000 && good < 190000);
}

int main(void)
{
    test_verdicts();
    test_decimals();
    test_depth();
    test_cut_and_mutated();
    test_values();
    return check_done("exchange/json");
}
