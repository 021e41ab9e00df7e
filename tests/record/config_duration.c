/* Durations: what is taken, exactly, and that each is printed as it is taken again. */
#include "record/config_duration.h"

#include <string.h>

#include "tests/check.h"

#define S INT64_C(1000000000)

static const struct {
    const char *text;
    int64_t ns;
    const char *printed;
} taken[] = {
    {"1s", S, "1s"},
    {"60s", 60 * S, "1m"},
    {"90s", 90 * S, "90s"},
    {"36h", 36 * 3600 * S, "36h"},
    {"90d", 90 * 86400 * S, "90d"},
    {"2y", 730 * 86400 * S, "2y"},
    {"0.5y", 15768000 * S, "4380h"},
    {"14d", 14 * 86400 * S, "2w"},
    {"1.5s", 3 * S / 2, "1.5s"},
    {"0.5s", S / 2, "0.5s"},
    {"90.5s", 181 * S / 2, "90.5s"},
    {"0.5m", 30 * S, "30s"},
    {"1.5h", 90 * 60 * S, "90m"},
    {"1.50h", 90 * 60 * S, "90m"},
    {"0.001s", S / 1000, "0.001s"},
    {"0.000000001s", 1, "0.000000001s"},
    {"0.000000001w", 604800, "0.0006048s"},
    {"1.000000001m", 60 * S + 60, "60.00000006s"},
    {"3155760000s", 3155760000 * S, "36525d"},
    {"3155759999.999999999s", 3155760000 * S - 1, "3155759999.999999999s"},
};

static void test_taken(void)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        int64_t ns = 0, again = 0;
        char text[CONFIG_DURATION_TEXT_MAX];
        CHECK(config_key_duration_parse(taken[i].text, &ns));
        CHECK_INT(ns, taken[i].ns);
        config_key_duration_text(ns, text);
        CHECK_STR(text, taken[i].printed);
        CHECK(config_key_duration_parse(text, &again));
        CHECK_INT(again, ns);
    }
}

static void test_refused(void)
{
    static const char *const texts[] = {
        "",     "s",    "5",    "1.5",           "0s",   "0.0s",        "-1s",   "+1s",    " 1s",
        "1 s",  "1ss",  "1q",   ".5s",           "1.s",  "1.5.5s",      "1,5s",  "1.-5s",  "1. 5s",
        "1e3s", "0x1s", "nans", "0.0000000001s", "1.5S", "3155760001s", "5219w", "5217.9w"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t ns;
        bool found = config_key_duration_parse(texts[i], &ns);
        CHECK_STR(found ? texts[i] : "", "");
    }
    int64_t ns;
    CHECK(!config_key_duration_parse("9223372036854775808s", &ns));
}

int main(void)
{
    test_taken();
    test_refused();
    return check_done("record/config_duration");
}
