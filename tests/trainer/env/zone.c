/* Local time from zone files against the C library's, and where sessions end. */
#include "exchange/zone.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "trainer/env/session.h"

static const char *const zones[] = {
    "America/New_York", "Europe/Berlin", "Europe/London",     "Australia/Sydney", "Asia/Tokyo",
    "Asia/Kolkata",     "Asia/Gaza",     "America/Nuuk",      "America/Santiago", "Pacific/Auckland",
    "Africa/Cairo",     "Asia/Tehran",   "Africa/Casablanca", "Antarctica/Troll", "Etc/GMT+5",
};

static char err[ZONE_ERROR_MAX];

/* The C library's, of the zone that TZ names. */
static int32_t libc_offset(int64_t s)
{
    time_t t = (time_t)s;
    struct tm tm;
    localtime_r(&t, &tm);
    return (int32_t)tm.tm_gmtoff;
}

static bool have_zones(void)
{
    return access("/usr/share/zoneinfo/America/New_York", R_OK) == 0;
}

static void test_zone(const char *name, struct random *random)
{
    struct zone *zone = NULL;
    unsigned long wrong = 0;
    CHECK_INT(zone_open(name, &zone, err), 0);
    if (!zone)
        return;
    setenv("TZ", name, 1);
    tzset();
    for (int i = 0; i < 20000; i++) {
        /* 1900 to 2200: what the file lists, and what its rule says */
        int64_t s = random_between(random, -2208988800, 7258118400);
        wrong += zone_offset(zone, s) != libc_offset(s);
    }
    for (int64_t hour = 1700000000 / 3600; hour < 1900000000 / 3600;
         hour++) /* each change from 2023 to 2030 */
        wrong += zone_offset(zone, hour * 3600 - 1) != libc_offset(hour * 3600 - 1) ||
                 zone_offset(zone, hour * 3600) != libc_offset(hour * 3600);
    if (wrong)
        fprintf(stderr, "%s: %lu times are not the C library's\n", name, wrong);
    CHECK_INT(wrong, 0);
    zone_close(zone);
}

/* Local times back to UTC, each quarter of an hour from 2015 to 2030: of those that come twice the first, of
 * those that are left out the moment behind the change. */
static void test_local(const char *name, unsigned long expected)
{
    struct zone *zone = NULL;
    unsigned long left_out = 0, twice = 0;
    CHECK_INT(zone_open(name, &zone, err), 0);
    for (int64_t s = 1420070400; zone && s < 1893456000; s += 900) {
        int64_t local = s + zone_offset(zone, s), utc = zone_utc(zone, local);
        twice += utc != s;
        CHECK(utc == s || (utc < s && utc + zone_offset(zone, utc) == local));
        int64_t next = s + 900 + zone_offset(zone, s + 900);
        for (int64_t out = local + 900; out < next; out += 900) {
            left_out++;
            CHECK_INT(zone_utc(zone, out), s + (out - local));
        }
    }
    CHECK_INT(left_out, expected);
    CHECK_INT(twice, left_out);
    zone_close(zone);
}

/* Rules alone, against the C library's reading of the same text. */
static void test_rule(const char *text, struct random *random)
{
    struct zone_rule rule;
    unsigned long wrong = 0;
    CHECK(zone_rule_parse(text, &rule));
    setenv("TZ", text, 1);
    tzset();
    for (int i = 0; i < 20000; i++) {
        int64_t s = random_between(random, 0, 7258118400);
        wrong += zone_rule_offset(&rule, s) != libc_offset(s);
    }
    if (wrong)
        fprintf(stderr, "%s: %lu times are not the C library's\n", text, wrong);
    CHECK_INT(wrong, 0);
}

static void test_refused(void)
{
    static const char *const rules[] = {"",
                                        "E5",
                                        "EST",
                                        "EST5EDT",
                                        "EST5EDT,M3.2.0",
                                        "EST5EDT,M13.1.0,M1.1.0",
                                        "EST5EDT,M3.6.0,M11.1.0",
                                        "<+035",
                                        "EST5x",
                                        "EST200",
                                        "EST5EDT,J0,J365",
                                        "EST5EDT,M3.2.0,M11.1.0,"};
    static const char *const names[] = {"",        "Mars/Olympus", "/etc/passwd", "../zoneinfo/UTC",
                                        "America", "zone.tab"};
    struct zone_rule rule;
    struct zone *zone = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        CHECK(!zone_rule_parse(rules[i], &rule));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        err[0] = '\0';
        CHECK(zone_open(names[i], &zone, err) < 0);
        CHECK(err[0] != '\0' && !zone);
    }
    CHECK_INT(zone_open("UTC", &zone, err), 0);
    CHECK_INT(zone_offset(zone, 1234567890), 0);
    zone_close(zone);
}

/* Every way of cutting a zone file off, and bytes changed, is refused or read: never more than that. */
static void test_damaged(struct random *random)
{
    static unsigned char data[8192], bad[8192];
    char folder[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    struct zone *zone;
    FILE *file = fopen("/usr/share/zoneinfo/America/New_York", "re");
    CHECK(file != NULL);
    size_t n = fread(data, 1, sizeof data, file);
    fclose(file);
    scratch_make(folder);
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Bad", folder);
    for (int i = 0; i < 600; i++) {
        size_t size = i < 300 ? (size_t)random_between(random, 0, (int64_t)n - 1) : n;
        memcpy(bad, data, n);
        for (int k = 0; i >= 300 && k < 4; k++)
            bad[random_between(random, 0, k < 2 ? 60 : (int64_t)n - 1)] =
                (unsigned char)random_between(random, 0, 255);
        file = fopen(path, "we");
        fwrite(bad, 1, size, file);
        fclose(file);
        zone = NULL;
        int r = zone_open("Bad", &zone, err);
        CHECK(i >= 300 || r < 0);
        CHECK((r == 0) == (zone != NULL));
        if (zone)
            zone_offset(zone, 1700000000);
        zone_close(zone);
    }
    unsetenv("TZDIR");
}

static int64_t utc(int day, int hour, int minute)
{
    return (((int64_t)day * 24 + hour) * 60 + minute) * 60000000000;
}

/* The session's last bars are those whose end is the close, in each of many days. */
static void test_session(const char *zone_name, int close_s, int64_t interval_s, int64_t first_s, int days)
{
    struct env_params params;
    char why[ENV_ERROR_MAX];
    CHECK_INT(env_params_preset("day-trade", &params, why), 0);
    snprintf(params.session_zone, sizeof params.session_zone, "%s", zone_name);
    params.session_close_s = close_s;
    size_t rows = (size_t)(days * 86400 / interval_s);
    uint8_t *bits = malloc(rows);
    int64_t *times = malloc(rows * sizeof *times);
    CHECK_INT(env_session(&params, NULL, first_s * 1000000000, interval_s * 1000000000, rows, bits, why), 0);
    setenv("TZ", zone_name, 1);
    tzset();
    unsigned long wrong = 0, ends = 0;
    for (size_t r = 0; r < rows; r++) {
        int64_t end = first_s + (int64_t)(r + 1) * interval_s;
        int64_t local = (end + libc_offset(end)) % 86400;
        bool close = local == close_s % 86400;
        wrong += close != ((bits[r] & ENV_ROW_ENDS) != 0);
        wrong += r + 1 < rows && !!(bits[r + 1] & ENV_ROW_ENDS) != !!(bits[r] & ENV_ROW_LEAVES);
        ends += close;
        times[r] = (first_s + (int64_t)r * interval_s) * 1000000000;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(ends, days);
    uint8_t *again = malloc(rows);
    CHECK_INT(env_session(&params, times, 0, interval_s * 1000000000, rows, again, why), 0);
    CHECK(memcmp(again, bits, rows) == 0);
    free(again);
    free(times);
    free(bits);
}

static size_t ends_of(const struct env_params *params, int64_t start_ns, int64_t interval_ns, size_t rows,
                      uint8_t *bits)
{
    char why[ENV_ERROR_MAX];
    size_t n = 0;
    CHECK_INT(env_session(params, NULL, start_ns, interval_ns, rows, bits, why), 0);
    for (size_t r = 0; r < rows; r++)
        n += bits[r] & ENV_ROW_ENDS;
    return n;
}

/* Closes in the hour that does not exist, or exists twice: still one session a day. */
static void test_skipped_hour(void)
{
    struct env_params params;
    char why[ENV_ERROR_MAX];
    static uint8_t bits[96];
    CHECK_INT(env_params_preset("day-trade", &params, why), 0);
    snprintf(params.session_zone, sizeof params.session_zone, "America/New_York");
    params.session_close_s = 2 * 3600 + 1800;
    /* 2025-03-09: 02:00 becomes 03:00 at 07:00 UTC; day 20156. From 05:00 UTC on, 30 hours. */
    CHECK_INT(ends_of(&params, utc(20156, 5, 0), utc(0, 0, 30), 48, bits), 1);
    CHECK(bits[3] & ENV_ROW_ENDS); /* the clock shows 03:00 at the end of 06:30 to 07:00, and 03:30 after */
    params.session_close_s = 1 * 3600 + 1800;
    /* 2025-11-02: 02:00 becomes 01:00 at 06:00 UTC; day 20394. 01:30 is at 05:30 and 06:30 UTC. */
    CHECK_INT(ends_of(&params, utc(20394, 4, 0), utc(0, 0, 30), 48, bits), 1);
    CHECK(bits[2] & ENV_ROW_ENDS);
    CHECK(env_session(&params, NULL, 0, 86400000000000, 1, bits, why) == -EINVAL);
    snprintf(params.session_zone, sizeof params.session_zone, "Mars/Olympus");
    CHECK(env_session(&params, NULL, 0, 60000000000, 1, bits, why) == -EINVAL);
    CHECK(strstr(why, "session_zone: Mars/Olympus") != NULL);
}

/* Rows that leave bars out end a session with the last that there is. */
static void test_gaps(void)
{
    struct env_params params;
    char why[ENV_ERROR_MAX];
    uint8_t bits[4];
    CHECK_INT(env_params_preset("day-trade", &params, why), 0);
    snprintf(params.session_zone, sizeof params.session_zone, "UTC");
    params.session_close_s = 16 * 3600;
    const int64_t times[] = {utc(20000, 15, 40), utc(20000, 15, 45), utc(20000, 16, 10), utc(20000, 16, 15)};
    CHECK_INT(env_session(&params, times, 0, utc(0, 0, 5), 4, bits, why), 0);
    CHECK_INT(bits[0], ENV_ROW_LEAVES);
    CHECK_INT(bits[1], ENV_ROW_ENDS);
    CHECK_INT(bits[2] | bits[3], 0);
}

int main(void)
{
    struct random random = random_seeded("env_zone", 20261122);
    static const char *const rules[] = {"EST5EDT,M3.2.0,M11.1.0",          "<+03>-3",
                                        "CET-1CEST,M3.5.0,M10.5.0/3",      "AEST-10AEDT,M10.1.0,M4.1.0/3",
                                        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "EET-2EEST,M3.4.4/50,M10.4.4/50",
                                        "ABC3:30DEF2:15,J60/1,J300/4",     "ABC-1DEF,59/0,300"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        test_rule(rules[i], &random);
    test_gaps();
    if (!have_zones()) {
        printf("no zone files: package tzdata\n");
        return check_done("env_zone");
    }
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        test_zone(zones[i], &random);
    test_local("America/New_York", 15 * 4);
    test_local("Europe/Berlin", 15 * 4);
    test_local("Australia/Sydney", 15 * 4);
    test_local("Asia/Kolkata", 0);
    test_refused();
    test_damaged(&random);
    test_session("America/New_York", 16 * 3600, 300, 1740000000,
                 40); /* 2025-02-19 on: a change to summer time */
    test_session("Europe/Berlin", 17 * 3600 + 1800, 900, 1761000300, 40); /* 2025-10-20 on: and back */
    test_session("UTC", 86400, 300, 1740000000, 10);
    test_session("Asia/Kolkata", 0, 60, 1740000000, 5);
    test_skipped_hour();
    return check_done("env_zone");
}
