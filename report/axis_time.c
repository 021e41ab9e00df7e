#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/axis.h"

#define NS_PER_S INT64_C(1000000000)
enum { MINUTE = 60, HOUR = 3600, DAY = 86400, MONDAY = 4 * DAY /* 1970-01-05 */ };

/* From coarse to fine, none more than 2.5 times the next, so that no step gives more than 12 ticks. */
static const int months[] = {1200, 600, 240, 120, 60, 24, 12, 6, 3, 2, 1};
static const int seconds[] = {14 * DAY,    7 * DAY,    4 * DAY,    2 * DAY, DAY,         12 * HOUR,
                              6 * HOUR,    3 * HOUR,   2 * HOUR,   HOUR,    30 * MINUTE, 15 * MINUTE,
                              10 * MINUTE, 5 * MINUTE, 2 * MINUTE, MINUTE,  30,          15,
                              10,          5,          2,          1};

enum precision { YEARS, MONTHS, DAYS, MINUTES, SECONDS };

static size_t print(char ret[static REPORT_LABEL_MAX], const struct tm *tm, enum precision precision)
{
    switch (precision) {
    case YEARS:
        return strftime(ret, REPORT_LABEL_MAX, "%Y", tm);
    case MONTHS:
        return strftime(ret, REPORT_LABEL_MAX, "%Y-%m", tm);
    case DAYS:
        return strftime(ret, REPORT_LABEL_MAX, "%Y-%m-%d", tm);
    case MINUTES:
        return strftime(ret, REPORT_LABEL_MAX, "%m-%d %H:%M", tm);
    case SECONDS:
        return strftime(ret, REPORT_LABEL_MAX, "%H:%M:%S", tm);
    }
    return 0;
}

static void append(struct report_ticks *ret, int64_t second, enum precision precision)
{
    struct tm tm;
    time_t at = (time_t)second;
    if (ret->n == REPORT_TICKS_MAX || !gmtime_r(&at, &tm))
        return;
    ret->at[ret->n] = (double)second * (double)NS_PER_S;
    if (print(ret->label[ret->n], &tm, precision) > 0)
        ret->n++;
}

static int64_t up(int64_t x, int64_t to)
{
    int64_t rest = x % to;
    return rest == 0 ? x : x - rest + (rest > 0 ? to : 0);
}

static void place_months(int64_t low, int64_t high, int every, struct report_ticks *ret)
{
    struct tm tm;
    time_t at = (time_t)low;
    *ret = (struct report_ticks){0};
    if (!gmtime_r(&at, &tm))
        return;
    for (int month = (int)up((tm.tm_year + 1900) * 12 + tm.tm_mon, every); ret->n < REPORT_TICKS_MAX;
         month += every) {
        struct tm first = {.tm_year = month / 12 - 1900, .tm_mon = month % 12, .tm_mday = 1};
        int64_t second = timegm(&first);
        if (second > high)
            return;
        if (second >= low) /* else low is in this month, and not its first second */
            append(ret, second, every % 12 == 0 ? YEARS : MONTHS);
    }
}

static void place_seconds(int64_t low, int64_t high, int every, struct report_ticks *ret)
{
    int64_t from = every % (7 * DAY) == 0 ? MONDAY : 0;
    enum precision precision = every >= DAY ? DAYS : every >= MINUTE ? MINUTES : SECONDS;
    *ret = (struct report_ticks){0};
    for (int64_t at = up(low - from, every) + from; at <= high && ret->n < REPORT_TICKS_MAX; at += every)
        append(ret, at, precision);
}

void report_ticks_time(int64_t low_ns, int64_t high_ns, struct report_ticks *ret)
{
    int64_t low = low_ns / NS_PER_S + (low_ns % NS_PER_S > 0), high = high_ns / NS_PER_S;
    high -= high_ns % NS_PER_S < 0;
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        place_months(low, high, months[i], ret);
        if (ret->n >= REPORT_TICKS_LEAST)
            return;
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        place_seconds(low, high, seconds[i], ret);
        if (ret->n >= REPORT_TICKS_LEAST)
            return;
    }
}

const char *report_axis_day(int64_t low_ns, const struct report_ticks *ticks, char ret[static 64])
{
    struct tm tm;
    time_t low = (time_t)(low_ns / NS_PER_S);
    bool days = ticks->n > 0 && strchr(ticks->label[0], ':') == NULL;
    if (days || !gmtime_r(&low, &tm) || strftime(ret, 64, "UTC, from %Y-%m-%d", &tm) == 0)
        snprintf(ret, 64, "UTC");
    return ret;
}
