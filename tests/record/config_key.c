/* Each kind of key: values that it takes, what it prints of them, and the words in which it refuses others.
 */
#include "record/config_key.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

struct values {
    int32_t small;
    int64_t large;
    double number, span[2];
    bool on;
    int word;
    char text[12], name[12];
    uint64_t bytes;
};

static const struct config_key keys[] = {
    {"a", "small", "s", "7", KEY_WHOLE(-5, 4096), KEY_AT(struct values, small)},
    {"a", "large", "l", "1.5", KEY_SCALED(0, 2592000, 9), KEY_AT(struct values, large)},
    {"a", "number", "n", "0.25", KEY_SHARE(1), KEY_AT(struct values, number)},
    {"a", "span", "r", "1..2", KEY_SPAN(0, 10), KEY_AT(struct values, span)},
    {"b", "on", "o", "on", KEY_SWITCH("off on"), KEY_AT(struct values, on)},
    {"b", "truth", "o", NULL, KEY_SWITCH("false true"), KEY_AT(struct values, on)},
    {"b", "word", "w", "quote", KEY_WORDS("book quote bar"), KEY_AT(struct values, word)},
    {"b", "text", "t", "", KEY_TEXT, KEY_AT(struct values, text)},
    {"b", "name", "t", "x", .kind = CONFIG_NAME, KEY_AT(struct values, name)},
    {"c", "size", "s", "", .kind = CONFIG_OWN, .min = 1024, .max = 0x1p46, .read = config_key_read_size,
     .print = config_key_print_size, KEY_AT(struct values, bytes)},
    {"c", "limit", "s", "", .kind = CONFIG_OWN, .min = 1024, .max = 0x1p46, .none = "off",
     .read = config_key_read_size, .print = config_key_print_size, KEY_AT(struct values, bytes)},
};
enum { N = sizeof keys / sizeof *keys };

static struct values values;
static char why[CONFIG_WHY_MAX];

static void takes(const char *name, const char *text, const char *printed)
{
    char buf[64] = "";
    const struct config_key *key = config_key_find(keys, N, NULL, name);
    CHECK_INT(config_key_read(key, text, &values, why), 0);
    CHECK(config_key_text(key, &values, buf, sizeof buf));
    CHECK_STR(buf, printed);
    CHECK_INT(config_key_check(key, &values, why), 0);
}

static void refuses(const char *name, const char *text, const char *words)
{
    struct values before = values;
    CHECK_INT(config_key_read(config_key_find(keys, N, NULL, name), text, &values, why), -EINVAL);
    CHECK_STR(why, words);
    CHECK(memcmp(&before, &values, sizeof values) == 0);
}

static void test_numbers(void)
{
    takes("small", "4096", "4096");
    takes("small", "-5", "-5");
    takes("small", "1e3", "1000");
    takes("small", "+2.0", "2");
    refuses("small", "4097", "\"4097\": a whole number from -5 to 4096 is needed");
    refuses("small", "1.5", "\"1.5\": a whole number from -5 to 4096 is needed");
    refuses("small", "", "\"\": a whole number from -5 to 4096 is needed");
    refuses("small", "1\x1b", "\"1?\": a whole number from -5 to 4096 is needed");
    refuses("small", "9223372036854775808",
            "\"9223372036854775808\": a whole number from -5 to 4096 is needed");
    takes("large", "0.000000001", "0.000000001");
    CHECK_INT(values.large, 1);
    takes("large", "2592000", "2592000");
    refuses("large", "2592000.000000001", "\"2592000.000000001\": a number from 0 to 2592000 is needed");
    refuses("large", "0.0000000001", "\"0.0000000001\": at most 9 digits after the point");
    refuses("large", "1e-3", "\"1e-3\": a plain decimal, without an exponent, is needed");
    refuses("large", "e", "\"e\": a number from 0 to 2592000 is needed");
    takes("number", "0.1%", "0.001");
    CHECK(values.number == 0.001);
    takes("number", "-0", "0");
    CHECK(!signbit(values.number));
    takes("number", "1e-3", "0.001");
    static const char *const none[] = {"nan", "inf", "0x1",  "",      "%",    "1e",
                                       "1 ",  " 1",  "101%", "1e-3%", "1..1", "-0.1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char words[96];
        snprintf(words, sizeof words, "\"%s\": a number from 0 to 1, or percent, is needed", none[i]);
        refuses("number", none[i], words);
    }
    takes("span", "0.5..1.5", "0.5..1.5");
    takes("span", "3", "3");
    CHECK(values.span[1] == 3);
    refuses("span", "2..1", "\"2..1\": the lower number first is needed");
    refuses("span", "2..11", "\"2..11\": a number, or low..high, from 0 to 10 is needed");
    values.number = NAN;
    CHECK_INT(config_key_check(config_key_find(keys, N, "a", "number"), &values, why), -EINVAL);
    values.small = 5000;
    CHECK_INT(config_key_check(&keys[0], &values, why), -EINVAL);
    values.word = 3;
    CHECK_INT(config_key_check(config_key_find(keys, N, "b", "word"), &values, why), -EINVAL);
}

/* The shortest text of at least six digits reads back to the same number. */
static void test_random_numbers(void)
{
    srandom(20261123);
    for (int i = 0; i < 2000; i++) {
        char buf[64];
        double value = (double)random() / 0x7fffffff / (1 + (double)(random() % 1000));
        values.number = value;
        CHECK(config_key_text(&keys[2], &values, buf, sizeof buf));
        CHECK_INT(config_key_read(&keys[2], buf, &values, why), 0);
        CHECK(values.number == value);
    }
}

static void test_texts(void)
{
    takes("on", "off", "off");
    refuses("on", "onn", "\"onn\": did you mean on? (off, on)");
    refuses("on", "1", "\"1\": one of off, on is needed");
    takes("truth", "1", "true");
    takes("word", "bar", "bar");
    CHECK_INT(values.word, 2);
    refuses("word", "boo", "\"boo\": did you mean book? (book, quote, bar)");
    takes("text", "a b;c", "a b;c");
    takes("text", "", "");
    static const char *const none[] = {" a", "a ", ";a", "a ;b", "a\nb"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_INT(config_key_read(config_key_find(keys, N, NULL, "text"), none[i], &values, why), -EINVAL);
    refuses("text", "123456789012", "\"123456789012\": 0 to 11 characters are needed");
    takes("name", "a-b_c.1", "a-b_c.1");
    refuses("name", ".a", "\".a\": letters, digits, - _ and . are needed");
    char buf[4];
    CHECK(!config_key_text(config_key_find(keys, N, NULL, "name"), &values, buf, sizeof buf));
    CHECK_INT(config_key_unknown(keys, N, "b", "wrd", why), -EINVAL);
    CHECK_STR(why, "unknown key: did you mean word?");
    CHECK_INT(config_key_unknown(keys, N, "b", "risk", why), -EINVAL);
    CHECK_STR(why, "unknown key: one of on, truth, word, text, name is needed");
    /* What has more room than a value to try. */
    struct config_key wide = {.kind = CONFIG_TEXT, .size = 4096};
    CHECK_INT(config_key_try(&wide, "a", why), -EINVAL);
    CHECK_INT(config_key_try(&keys[0], "5", why), 0);
}

static void size_is(const char *text, uint64_t bytes, const char *printed)
{
    values.bytes = 0;
    takes("size", text, printed);
    CHECK_INT(values.bytes, bytes);
}

static void test_sizes(void)
{
    const uint64_t k = 1024, m = k * k, g = m * k;
    size_is("12GiB", 12 * g, "12GiB");
    size_is("12G", 12 * g, "12GiB");
    size_is("12 gib", 12 * g, "12GiB");
    size_is("500MiB", 500 * m, "500MiB");
    size_is("1.5GiB", 3 * g / 2, "1536MiB");
    size_is("0.000977M", 1024, "1KiB");
    size_is("1536", 1536, "1536");
    size_is("1536B", 1536, "1536");
    size_is("1536 bytes", 1536, "1536");
    size_is("2048", 2048, "2KiB");
    size_is("12GB", UINT64_C(12000000000), "11718750KiB");
    size_is("24gb", UINT64_C(24000000000), "23437500KiB");
    size_is("1.024kB", 1024, "1KiB");
    size_is("64TiB", 64 * g * k, "64TiB");
    static const char *const none[] = {
        "",  "G",    "12X", "12GiBs", "-1G", "+1G", "1e9", "1..5", "1.2.3",      "12 Gi",
        "0", "1023", "65T", "1,5G",   " 1G", "1G ", "nan", "0x10", "1.0000001G", "9999999999999999999999T"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char words[128];
        snprintf(words, sizeof words,
                 "\"%s\": a size from 1KiB to 64TiB is needed, as 12GiB, 500MiB or bytes", none[i]);
        refuses("size", none[i], words);
    }
    values.bytes = 7;
    takes("limit", "off", "off");
    CHECK_INT(values.bytes, 0);
    takes("limit", "0", "off");
    takes("limit", "64MiB", "64MiB");
    refuses("limit", "1023",
            "\"1023\": a size from 1KiB to 64TiB is needed, as 12GiB, 500MiB or bytes, or off");
    refuses("size", "off", "\"off\": a size from 1KiB to 64TiB is needed, as 12GiB, 500MiB or bytes");
}

static void test_section(void)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    values = (struct values){0};
    config_key_defaults(keys, N, "a", &values);
    CHECK(values.small == 7 && values.large == 1500000000 && values.number == 0.25 && values.span[1] == 2);
    CHECK(!values.on && !values.word);
    config_key_print_section(keys, N, "a", &values, to);
    fclose(to);
    CHECK_STR(text, "# s\nsmall = 7\n# l\nlarge = 1.5\n# n\nnumber = 0.25\n# r\nspan = 1..2\n");
    free(text);
}

int main(void)
{
    test_numbers();
    test_random_numbers();
    test_texts();
    test_sizes();
    test_section();
    return check_done("record/config_key");
}
