#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/report/internal.h"
#include "exchange/clock.h"

static bool utc(int64_t ns, struct tm *ret)
{
    time_t seconds = (time_t)clock_whole_s(ns);
    return gmtime_r(&seconds, ret) != NULL;
}

const char *db_report_day(int64_t day, char ret[static DB_REPORT_DAY_MAX])
{
    struct tm tm;
    if (!utc(day * REPORT_DAY_NS, &tm) || strftime(ret, DB_REPORT_DAY_MAX, "%Y-%m-%d", &tm) == 0)
        strcpy(ret, "n/a");
    return ret;
}

const char *db_report_time(int64_t ns, char ret[static DB_REPORT_TIME_MAX])
{
    struct tm tm;
    if (!utc(ns, &tm) || strftime(ret, DB_REPORT_TIME_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
        strcpy(ret, "n/a");
    return ret;
}

int db_report_decimals(const struct db_report_account *a)
{
    const int scale = a->account.currency_scale;
    const double equity = a->closing == DB_REPORT_UNKNOWN ? 0 : fabs(decimal_to_double(a->closing, scale));
    return equity > 0 && equity < 100 && scale > 2 ? 6 : 2;
}

/* The zone of the first account whose days are not UTC's. */
static const char *other_zone(const struct db_report *report)
{
    for (size_t i = 0; i < report->n_accounts; i++)
        if (strcmp(report->accounts[i].zone, "UTC") != 0)
            return report->accounts[i].zone;
    return NULL;
}

const char *db_report_title(const struct db_report *report, char ret[static DB_REPORT_TITLE_MAX])
{
    char from[DB_REPORT_TIME_MAX], to[DB_REPORT_TIME_MAX], day[DB_REPORT_DAY_MAX];
    const char *zone = other_zone(report);
    const bool so_far = report->query.by_day && (report->query.day + 1) * REPORT_DAY_NS > report->to_ns;
    if (report->query.by_day)
        snprintf(ret, DB_REPORT_TITLE_MAX, "%s%s, days of %s%.*s", db_report_day(report->query.day, day),
                 so_far ? " so far" : "", zone ? "UTC and " : "UTC", zone ? 63 : 0, zone ? zone : "");
    else
        snprintf(ret, DB_REPORT_TITLE_MAX, "%s to %s UTC", db_report_time(report->from_ns, from),
                 db_report_time(report->to_ns, to));
    return ret;
}

const char *db_report_duration(char ret[static DB_REPORT_DURATION_MAX], int64_t ns)
{
    const int64_t s = ns / 1000000000;
    if (ns < 0)
        return strcpy(ret, "n/a");
    if (s < 120)
        snprintf(ret, DB_REPORT_DURATION_MAX, "%lld s", (long long)s);
    else if (s < 7200)
        snprintf(ret, DB_REPORT_DURATION_MAX, "%lld min", (long long)(s / 60));
    else
        snprintf(ret, DB_REPORT_DURATION_MAX, "%.1f h", (double)s / 3600);
    return ret;
}
