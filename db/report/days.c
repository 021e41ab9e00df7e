/* Days, by the clock of UTC or of an exchange. */
#include <stdio.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/bars_file.h"

bool db_report_day_parse(const char *word, int64_t now_ns, int64_t *ret)
{
    int64_t ns, today = now_ns / REPORT_DAY_NS;
    int year, month, day, end = 0;
    if (strcmp(word, "today") == 0)
        *ret = today;
    else if (strcmp(word, "yesterday") == 0)
        *ret = today - 1;
    else if (sscanf(word, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 && end == 10 && word[10] == '\0' &&
             bars_time_parse(word, 10, &ns) == 0)
        *ret = ns / REPORT_DAY_NS;
    else
        return false;
    return true;
}

int64_t db_report_midnight(const struct zone *zone, int64_t day)
{
    return (zone ? zone_utc(zone, day * 86400) : day * 86400) * 1000000000;
}

int db_report_calendar_of(struct db_reader *reader, int account, char ret[static CALENDAR_NAME_MAX])
{
    int64_t n = 0, calendars = 0;
    char name[CALENDAR_NAME_MAX] = "";
    int r = db_query_first(
        reader,
        "SELECT count(*), count(DISTINCT s.calendar), max(s.calendar) FROM positions AS p JOIN symbols "
        "AS s ON s.id = p.symbol WHERE p.account = ?1",
        RECORD_PARAMS(account), RECORD_INTO(&n, &calendars, record_into_chars(name, sizeof name)));
    memcpy(ret, n > 0 && calendars == 1 ? name : (char[CALENDAR_NAME_MAX]){0}, CALENDAR_NAME_MAX);
    return r < 0 ? r : 0;
}

int db_report_days_open(struct db_reader *reader, const char *calendar, struct report_days *days)
{
    char err[ZONE_ERROR_MAX];
    if (strcmp(calendar, days->calendar) == 0 && days->name[0])
        return 0;
    zone_close(days->zone);
    *days = (struct report_days){.name = "UTC"};
    snprintf(days->calendar, sizeof days->calendar, "%s", calendar);
    char zone[CALENDAR_ZONE_MAX];
    if (!calendar[0] || !calendar_file_zone(calendar, zone))
        return 0;
    snprintf(days->name, sizeof days->name, "%s", zone);
    int r = zone_open(zone, &days->zone, err);
    if (r < 0)
        snprintf(reader->error, sizeof reader->error, "%s", err);
    return r;
}
