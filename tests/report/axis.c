/* Ticks: enough of them, inside, ascending, apart, at round places, with texts of their own. */
#include <time.h>

#include "report/axis.h"
#include "tests/check.h"
#include "tests/report/draws.h"

#define NS INT64_C(1000000000)

static int64_t second_of(const char *words)
{
    struct tm tm = {0};
    CHECK(strptime(words, "%Y-%m-%d %H:%M:%S", &tm) != NULL);
    return timegm(&tm);
}

/* What holds of every axis; texts of numbers are compared with their places. */
static void check_ticks(const struct report_ticks *ticks, double low, double high, int most)
{
    CHECK(ticks->n >= REPORT_TICKS_LEAST && ticks->n <= most);
    for (int i = 0; i < ticks->n; i++) {
        CHECK(ticks->at[i] >= low && ticks->at[i] <= high);
        CHECK(i == 0 || (ticks->at[i] > ticks->at[i - 1] && strcmp(ticks->label[i], ticks->label[i - 1])));
        CHECK(ticks->label[i][0] && strcmp(ticks->label[i], "-0") != 0);
    }
}

static double number_of(const char *label)
{
    char *end;
    double value = strtod(label, &end);
    const char *unit = strchr("kMG", *end);
    return !*end ? value : value * pow(1000, (double)(unit - "kMG" + 1));
}

static void test_linear(void)
{
    struct random random = random_seeded("report/axis", 0x71c5);
    for (int i = 0; i < 20000; i++) {
        double low = draw_bell(&random) * pow(10, (double)random_between(&random, -8, 8));
        double wide = fabs(low) * pow(10, (double)random_between(&random, -7, 4)) + 1e-12;
        struct report_ticks ticks;
        report_ticks_linear(low, low + wide, &ticks);
        check_ticks(&ticks, low, low + wide, 9);
        double step = ticks.at[1] - ticks.at[0], first = step / pow(10, floor(log10(step) + 1e-7));
        CHECK(fabs(first - 1) < 1e-3 || fabs(first - 2) < 1e-3 || fabs(first - 2.5) < 1e-3 ||
              fabs(first - 5) < 1e-3);
        for (int k = 0; k < ticks.n; k++) {
            CHECK_NEAR(number_of(ticks.label[k]), ticks.at[k], 1e-6 * step);
            CHECK(k < 2 || fabs(ticks.at[k] - ticks.at[k - 1] - step) < 1e-6 * step);
        }
    }
}

static void check_texts(const struct report_ticks *ticks, const char *const *words, int n)
{
    CHECK_INT(ticks->n, n);
    for (int i = 0; i < n && i < ticks->n; i++)
        CHECK_STR(ticks->label[i], words[i]);
}
#define TEXTS(ticks, ...) \
    check_texts(&(ticks), (const char *const[]){__VA_ARGS__}, \
                (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static void test_numbers(void)
{
    struct report_ticks ticks;
    report_ticks_linear(0, 1, &ticks);
    TEXTS(ticks, "0", "0.25", "0.50", "0.75", "1.00");
    report_ticks_linear(-0.0321, 0.0111, &ticks);
    TEXTS(ticks, "-0.03", "-0.02", "-0.01", "0", "0.01");
    report_ticks_linear(9700, 12400, &ticks);
    TEXTS(ticks, "10000", "10500", "11000", "11500", "12000");
    report_ticks_linear(0, 1e6, &ticks);
    TEXTS(ticks, "0", "0.25M", "0.50M", "0.75M", "1.00M");
    report_ticks_linear(0, 2e-5, &ticks);
    TEXTS(ticks, "0", "0.000005", "0.000010", "0.000015", "0.000020");
    report_ticks_count(0, 5.2, &ticks);
    TEXTS(ticks, "0", "1", "2", "3", "4", "5");
    report_ticks_count(0, 2.1, &ticks);
    TEXTS(ticks, "0", "1", "2");
    report_ticks_count(0, 10, &ticks);
    TEXTS(ticks, "0", "2", "4", "6", "8", "10");
}

static void test_log(void)
{
    struct report_ticks ticks;
    struct random random = random_seeded("report/axis", 0x10c);
    report_ticks_log(0.8, 150, &ticks);
    TEXTS(ticks, "1", "3", "10", "30", "100");
    report_ticks_log(900, 1.1e7, &ticks);
    TEXTS(ticks, "1000", "10000", "100k", "1M", "10M");
    report_ticks_log(9000, 110000, &ticks);
    TEXTS(ticks, "10000", "20000", "50000", "100k");
    for (int i = 0; i < 5000; i++) {
        double low = pow(10, draw_unit(&random) * 12 - 6),
               high = low * pow(10, 0.35 + draw_unit(&random) * 60);
        report_ticks_log(low, high, &ticks);
        check_ticks(&ticks, low, high, REPORT_TICKS_MAX);
    }
}

static void test_time(void)
{
    struct report_ticks ticks;
    struct random random = random_seeded("report/axis", 0x71e);
    report_ticks_time(second_of("2023-01-01 00:00:00") * NS, second_of("2023-12-31 23:00:00") * NS, &ticks);
    TEXTS(ticks, "2023-01", "2023-04", "2023-07", "2023-10");
    report_ticks_time(second_of("2019-02-03 00:00:00") * NS, second_of("2024-02-03 00:00:00") * NS, &ticks);
    TEXTS(ticks, "2020", "2021", "2022", "2023", "2024");
    report_ticks_time(second_of("2024-02-27 00:00:00") * NS, second_of("2024-03-30 00:00:00") * NS, &ticks);
    TEXTS(ticks, "2024-03-04", "2024-03-11", "2024-03-18", "2024-03-25"); /* Mondays */
    report_ticks_time(second_of("2024-02-28 22:10:00") * NS, second_of("2024-02-29 02:10:00") * NS, &ticks);
    TEXTS(ticks, "02-28 23:00", "02-29 00:00", "02-29 01:00", "02-29 02:00");
    report_ticks_time(-NS, 3 * NS + 1, &ticks);
    TEXTS(ticks, "23:59:59", "00:00:00", "00:00:01", "00:00:02", "00:00:03");
    report_ticks_time(INT64_MIN, INT64_MAX, &ticks);
    TEXTS(ticks, "1700", "1800", "1900", "2000", "2100", "2200");
    for (int i = 0; i < 20000; i++) {
        int64_t low = (int64_t)(draw_bell(&random) * 1e18);
        int64_t wide = REPORT_TIME_LEAST +
                       (int64_t)(draw_unit(&random) * pow(10, (double)random_between(&random, 9, 18)));
        report_ticks_time(low, low + wide, &ticks);
        check_ticks(&ticks, (double)low, (double)(low + wide), REPORT_TICKS_MAX - 1);
    }
}

static void test_day(void)
{
    struct report_ticks ticks;
    char words[64];
    int64_t low = second_of("2024-02-28 22:10:00") * NS;
    report_ticks_time(low, low + 3600 * NS, &ticks);
    CHECK_STR(report_axis_day(low, &ticks, words), "UTC, from 2024-02-28");
    report_ticks_time(low, low + 900 * 86400 * NS, &ticks);
    CHECK_STR(report_axis_day(low, &ticks, words), "UTC");
}

static void test_ranges(void)
{
    struct report_range range = {INFINITY, -INFINITY};
    CHECK_NEAR(report_range_settle(range).high, 1, 0); /* of nothing */
    report_range_widen(&range, NAN);
    report_range_widen(&range, INFINITY);
    CHECK_NEAR(report_range_settle(range).low, 0, 0);
    report_range_widen(&range, 5);
    CHECK_NEAR(report_range_settle(range).low, 4.5, 1e-12); /* of one number */
    report_range_widen(&range, 10);
    CHECK_NEAR(report_range_settle(range).high, 10.2, 1e-12);
    CHECK_NEAR(report_range_settle((struct report_range){0, 0}).low, -1, 0);
    struct report_range logs = report_range_settle_log((struct report_range){7, 7});
    CHECK(logs.low > 0 && logs.high > 2 * logs.low);
}

int main(void)
{
    test_linear();
    test_numbers();
    test_log();
    test_time();
    test_day();
    test_ranges();
    return check_done("report/axis");
}
