/* Scaled-integer decimals against what is written down by hand; decimal_oracle.py does so at random. */
#include "exchange/decimal.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

#define INT128_MAX ((int128_t)(~(uint128_t)0 >> 1))
#define INT128_MIN (-INT128_MAX - 1)
#define UNTOUCHED  INT64_C(-7777)

static void parses(const char *text, int scale, int expected_r, int64_t expected)
{
    int64_t units = UNTOUCHED;
    int128_t wide = UNTOUCHED;
    int r = decimal_parse_str(text, scale, &units);
    if (r != expected_r || units != (r == 0 ? expected : UNTOUCHED))
        printf("\"%s\" at scale %d: %d, %" PRId64 "\n", text, scale, r, units);
    CHECK_INT(r, expected_r);
    CHECK_INT(units, expected_r == 0 ? expected : UNTOUCHED);
    r = decimal_parse128(text, strlen(text), scale, &wide);
    if (expected_r != -ERANGE) {
        CHECK_INT(r, expected_r);
        CHECK_INT(wide, expected_r == 0 ? expected : UNTOUCHED);
    }
}

static void test_parse(void)
{
    parses("61837.63000000", 8, 0, 6183763000000);
    parses("0.000000001", 9, 0, 1);
    parses("0.000000001", 8, -EDOM, 0);
    parses("0.0000000010", 9, 0, 1);
    parses("1.50", 1, 0, 15);
    parses("1.05", 1, -EDOM, 0);
    parses("5", 8, 0, 500000000);
    parses("5.0", 0, 0, 5);
    parses("5.5", 0, -EDOM, 0);
    parses("007.10", 2, 0, 710);
    parses("00000000000000000000000000000000000000000000000000000001", 2, 0, 100);
    parses("1.00000000000000000000000000000000000000000000000000000", 2, 0, 100);
    parses("-0", 8, 0, 0);
    parses("-0.00", 2, 0, 0);
    parses("+1.5", 1, 0, 15);
    parses("-1.5", 1, 0, -15);

    parses("9223372036854775807", 0, 0, INT64_MAX);
    parses("-9223372036854775808", 0, 0, INT64_MIN);
    parses("92233720368.54775807", 8, 0, INT64_MAX);
    parses("-92233720368.54775808", 8, 0, INT64_MIN);
    parses("9223372036854775808", 0, -ERANGE, 0);
    parses("-9223372036854775809", 0, -ERANGE, 0);
    parses("92233720368.54775808", 8, -ERANGE, 0);
    parses("10000000000000", 8, -ERANGE, 0);
    parses("9999999999999999999", 0, -ERANGE, 0);
    parses("99999999999999999999999999999999999999999999", 0, -ERANGE, 0);
    parses("9.223372036854775807", 18, 0, INT64_MAX);

    static const char *const garbage[] = {"",     "-",     "+",
                                          ".",    "-.",    "1.",
                                          ".5",   "1.2.3", "1e5",
                                          "1,5",  " 1",    "1 ",
                                          "0x1",  "NaN",   "inf",
                                          "--1",  "+-1",   "1-",
                                          "1.-5", "1.",    "\t1",
                                          "١",    "1.5e0", "1_0",
                                          "1/2",  "1:2",   "99999999999999999999999999999999999999999999x"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
        for (int scale = 0; scale <= DECIMAL_SCALE_MAX; scale += 9)
            parses(garbage[i], scale, -EINVAL, 0);
    int64_t units;
    CHECK_INT(decimal_parse("1\0002", 3, 0, &units), -EINVAL);
    CHECK_INT(decimal_parse("1", 1, -1, &units), -EINVAL);
    CHECK_INT(decimal_parse("1", 1, DECIMAL_SCALE_MAX + 1, &units), -EINVAL);
    CHECK_INT(decimal_parse("123", 2, 0, &units), 0);
    CHECK_INT(units, 12);
}

static void parses128(const char *text, int scale, int expected_r, int128_t expected)
{
    int128_t wide = 0;
    CHECK_INT(decimal_parse128(text, strlen(text), scale, &wide), expected_r);
    CHECK(wide == expected);
}

static void test_parse128(void)
{
    parses128("10000000000000.00000000", 8, 0, (int128_t)10000000000000 * 100000000);
    parses128("170141183460469231731687303715884105727", 0, 0, INT128_MAX);
    parses128("-170141183460469231731687303715884105728", 0, 0, INT128_MIN);
    parses128("170141183460469231731687303715884105728", 0, -ERANGE, 0);
    parses128("-170141183460469231731687303715884105729", 0, -ERANGE, 0);
    parses128("170141183460469231731.687303715884105727", 18, 0, INT128_MAX);
    parses128("170141183460469231732", 18, -ERANGE, 0);
    parses128("999999999999999999999999999999999999999999", 0, -ERANGE, 0);
}

static void formats(int128_t units, int scale, const char *full, const char *brief)
{
    char buf[DECIMAL_TEXT_MAX];
    size_t n = decimal_format(units, scale, buf);
    CHECK_STR(buf, full);
    CHECK_INT(n, strlen(full));
    n = decimal_format_short(units, scale, buf);
    CHECK_STR(buf, brief);
    CHECK_INT(n, strlen(brief));
}

static void formats_from(int128_t units, int scale, int digits, const char *text)
{
    char buf[DECIMAL_TEXT_MAX];
    size_t n = decimal_format_from(units, scale, digits, buf);
    CHECK_STR(buf, text);
    CHECK_INT(n, strlen(text));
}

static void test_format_from(void)
{
    formats_from(6501210000000, 8, 2, "65012.10");
    formats_from(6501210000000, 8, 1, "65012.1");
    formats_from(6501210000001, 8, 2, "65012.10000001");
    formats_from(6501200000000, 8, 2, "65012.00");
    formats_from(6501200000000, 8, 0, "65012");
    formats_from(-500, 3, 2, "-0.50");
    formats_from(1000, 0, 0, "1000");
    formats_from(1000, 3, 3, "1.000");
}

static void test_format(void)
{
    formats(6183763000000, 8, "61837.63000000", "61837.63");
    formats(0, 8, "0.00000000", "0");
    formats(0, 0, "0", "0");
    formats(100, 0, "100", "100");
    formats(-5, 3, "-0.005", "-0.005");
    formats(-500, 2, "-5.00", "-5");
    formats(1, 18, "0.000000000000000001", "0.000000000000000001");
    formats(INT64_MIN, 0, "-9223372036854775808", "-9223372036854775808");
    formats(INT128_MAX, 0, "170141183460469231731687303715884105727",
            "170141183460469231731687303715884105727");
    formats(INT128_MIN, 18, "-170141183460469231731.687303715884105728",
            "-170141183460469231731.687303715884105728");
}

static void test_rescale(void)
{
    int64_t units = UNTOUCHED;
    CHECK_INT(decimal_rescale(15, 1, 8, &units), 0);
    CHECK_INT(units, 150000000);
    CHECK_INT(decimal_rescale(150000000, 8, 1, &units), 0);
    CHECK_INT(units, 15);
    CHECK_INT(decimal_rescale(150000001, 8, 1, &units), -EDOM);
    CHECK_INT(decimal_rescale(INT64_MAX, 0, 1, &units), -ERANGE);
    CHECK_INT(decimal_rescale(INT64_MIN, 0, 1, &units), -ERANGE);
    CHECK_INT(units, 15);
    CHECK_INT(decimal_rescale(-120, 2, 1, &units), 0);
    CHECK_INT(units, -12);
}

static void test_double(void)
{
    int64_t units = UNTOUCHED;
    CHECK(decimal_to_double(6183763000000, 8) == 61837.63);
    CHECK(decimal_to_double(-1, 18) == -1e-18);
    CHECK_INT(decimal_from_double(61837.63, 8, &units), 0);
    CHECK_INT(units, 6183763000000);
    CHECK_INT(decimal_from_double(-0.5, 0, &units), 0);
    CHECK_INT(units, -1);
    CHECK_INT(decimal_from_double(NAN, 8, &units), -EINVAL);
    CHECK_INT(decimal_from_double(INFINITY, 8, &units), -ERANGE);
    CHECK_INT(decimal_from_double(-1e11, 8, &units), -ERANGE);
    CHECK_INT(units, -1);
}

static void test_round_trips(void)
{
    struct random random = random_seeded("exchange/decimal", 20261121);
    char text[DECIMAL_TEXT_MAX];
    for (int i = 0; i < 200000; i++) {
        int64_t units = (int64_t)(random_next(&random) >> random_between(&random, 0, 63)), back = 0;
        int scale = (int)random_between(&random, 0, DECIMAL_SCALE_MAX);
        units = random_chance(&random, 50) ? -units : units;
        size_t n = decimal_format(units, scale, text);
        CHECK(decimal_parse(text, n, scale, &back) == 0 && back == units);
        n = decimal_format_short(units, scale, text);
        CHECK(decimal_parse(text, n, scale, &back) == 0 && back == units);
        int128_t wide = (int128_t)units * (int64_t)(random_next(&random) >> 1), wide_back = 0;
        n = decimal_format(wide, scale, text);
        CHECK(decimal_parse128(text, n, scale, &wide_back) == 0 && wide_back == wide);
    }
}

int main(void)
{
    test_parse();
    test_parse128();
    test_format();
    test_format_from();
    test_rescale();
    test_double();
    test_round_trips();
    return check_done("exchange/decimal");
}
