/* When an hour or a day of summaries has ended, at given times. */
#include "daemon/alert_period.h"

#include <stdlib.h>

#include "tests/check.h"

enum { HOUR = 3600, DAY = 24 * HOUR };
#define MIDNIGHT ((time_t)1772323200) /* 2026-03-01T00:00:00Z */

static void test_hourly(void)
{
    const struct notify_config config = {.summary = NOTIFY_SUMMARY_HOURLY, .summary_minute = 480};
    char period[ALERT_PERIOD_MAX] = "";
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 10 * HOUR + 1, period)); /* the start */
    CHECK_STR(period, "2026-03-01T10");
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 11 * HOUR - 1, period));
    CHECK(daemon_alert_period(&config, MIDNIGHT + 11 * HOUR, period));
    CHECK_STR(period, "2026-03-01T11");
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 11 * HOUR, period));
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 12 * HOUR - 1, period));
    CHECK(daemon_alert_period(&config, MIDNIGHT + 15 * HOUR + 7, period)); /* a pause of several: one */
    CHECK_STR(period, "2026-03-01T15");
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 16 * HOUR - 1, period));
    CHECK(daemon_alert_period(&config, MIDNIGHT + DAY, period)); /* over midnight */
    CHECK_STR(period, "2026-03-02T00");
    CHECK(daemon_alert_period(&config, MIDNIGHT + 2 * DAY, period)); /* the same hour of the next day */
    CHECK_STR(period, "2026-03-03T00");
}

static void test_daily(void)
{
    const struct notify_config config = {.summary = NOTIFY_SUMMARY_DAILY, .summary_minute = 8 * 60 + 30};
    const time_t at = MIDNIGHT + 8 * HOUR + 1800;
    char period[ALERT_PERIOD_MAX] = "";
    CHECK(!daemon_alert_period(&config, at - 1, period)); /* still the day before */
    CHECK_STR(period, "2026-02-28");
    CHECK(daemon_alert_period(&config, at, period));
    CHECK_STR(period, "2026-03-01");
    CHECK(!daemon_alert_period(&config, MIDNIGHT + DAY, period)); /* midnight is no edge */
    CHECK(!daemon_alert_period(&config, at + DAY - 1, period));
    CHECK(daemon_alert_period(&config, at + 4 * DAY + HOUR, period)); /* a pause of several: one */
    CHECK_STR(period, "2026-03-05");
    CHECK(!daemon_alert_period(&config, at + 5 * DAY - 1, period));
    CHECK(daemon_alert_period(&config, at + 5 * DAY, period));
}

/* What was of another kind, or off, has not ended. */
static void test_switched(void)
{
    struct notify_config config = {.summary = NOTIFY_SUMMARY_HOURLY};
    char period[ALERT_PERIOD_MAX] = "";
    CHECK(!daemon_alert_period(&config, MIDNIGHT, period));
    config.summary = NOTIFY_SUMMARY_DAILY;
    CHECK(!daemon_alert_period(&config, MIDNIGHT + DAY, period));
    CHECK_STR(period, "2026-03-02");
    config.summary = NOTIFY_SUMMARY_HOURLY;
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 2 * DAY, period));
    config.summary = NOTIFY_SUMMARY_OFF;
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 3 * DAY, period));
    CHECK_STR(period, "");
    config.summary = NOTIFY_SUMMARY_HOURLY;
    CHECK(!daemon_alert_period(&config, MIDNIGHT + 4 * DAY, period));
    CHECK(daemon_alert_period(&config, MIDNIGHT + 4 * DAY + HOUR, period));
}

/* By this machine's clock: half past in UTC is the hour in Delhi. */
static void test_zone(void)
{
    const struct notify_config hourly = {.summary = NOTIFY_SUMMARY_HOURLY},
                               daily = {.summary = NOTIFY_SUMMARY_DAILY};
    char hour[ALERT_PERIOD_MAX] = "", day[ALERT_PERIOD_MAX] = "";
    setenv("TZ", "IST-5:30", 1);
    tzset();
    CHECK(!daemon_alert_period(&hourly, MIDNIGHT + 18 * HOUR, hour));
    CHECK(!daemon_alert_period(&daily, MIDNIGHT + 18 * HOUR, day));
    CHECK(!daemon_alert_period(&hourly, MIDNIGHT + 18 * HOUR + 1799, hour));
    CHECK(!daemon_alert_period(&daily, MIDNIGHT + 18 * HOUR + 1799, day));
    CHECK(daemon_alert_period(&hourly, MIDNIGHT + 18 * HOUR + 1800, hour));
    CHECK(daemon_alert_period(&daily, MIDNIGHT + 18 * HOUR + 1800, day));
    CHECK_STR(hour, "2026-03-02T00");
    CHECK_STR(day, "2026-03-02");
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    tzset();
    test_hourly();
    test_daily();
    test_switched();
    test_zone();
    return check_done("daemon/alert_period");
}
