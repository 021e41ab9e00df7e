#include "exchange/business_day.h"

#include <time.h>

#define DAY_NS (86400 * INT64_C(1000000000))

static int64_t date_of(int64_t ns)
{
    return ns >= 0 ? ns / DAY_NS : -((DAY_NS - 1 - ns) / DAY_NS);
}

static int64_t date_at(const struct trading_calendar *calendar, size_t at)
{
    return date_of(calendar->days[at].open_ns);
}

/* 1970-01-01 was a Thursday. */
static bool is_weekend(int64_t day)
{
    int64_t weekday = ((day + 3) % 7 + 7) % 7; /* 0: Monday */
    return weekday >= 5;
}

static int64_t weekday_from(int64_t day)
{
    while (is_weekend(day))
        day++;
    return day;
}

/* The first day of the calendar on that date or after it; n when there is none. */
static size_t from_date(const struct trading_calendar *calendar, int64_t day)
{
    size_t low = 0, high = calendar->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (date_at(calendar, middle) < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Do the calendar's days say which one is next from that date on? */
static bool known(const struct trading_calendar *calendar, int64_t day)
{
    return calendar->n > 0 && day >= date_at(calendar, 0) && day <= date_at(calendar, calendar->n - 1);
}

/* The calendar's day on that date; NULL: it has none, or does not know. */
static const struct trading_day *day_on(const struct trading_calendar *calendar, int64_t day)
{
    size_t at = known(calendar, day) ? from_date(calendar, day) : calendar->n;
    return at < calendar->n && date_at(calendar, at) == day ? &calendar->days[at] : NULL;
}

static int64_t next_from(const struct trading_calendar *calendar, int64_t day)
{
    return known(calendar, day) ? date_at(calendar, from_date(calendar, day)) : weekday_from(day);
}

static int64_t before(const struct trading_calendar *calendar, int64_t day)
{
    size_t at = calendar->n > 0 ? from_date(calendar, day) : 0;
    if (at > 0 && day <= date_at(calendar, calendar->n - 1) + 1)
        return date_at(calendar, at - 1);
    do
        day--;
    while (is_weekend(day));
    return day;
}

int64_t business_day_of(const struct trading_calendar *calendar, int64_t ns)
{
    int64_t day = next_from(calendar, date_of(ns) - 1); /* in America its evening is the next day's by UTC */
    while (business_day_end(calendar, day) <= ns)
        day = next_from(calendar, day + 1);
    return day;
}

int64_t business_day_after(const struct trading_calendar *calendar, int64_t day, int n, int64_t *ret_begin_ns)
{
    day = next_from(calendar, day);
    for (; n > 0; n--)
        day = next_from(calendar, day + 1);
    for (; n < 0; n++)
        day = before(calendar, day);
    const struct trading_day *on = day_on(calendar, day);
    *ret_begin_ns = on ? on->early_ns : day * DAY_NS;
    return day;
}

bool business_day_without_banks(int64_t day)
{
    enum { MONDAY = 1, OCTOBER = 9, NOVEMBER = 10 }; /* as of struct tm */
    const time_t midnight = (time_t)day * 86400;
    struct tm date;
    gmtime_r(&midnight, &date);
    bool monday = date.tm_wday == MONDAY;
    bool columbus = monday && date.tm_mon == OCTOBER && date.tm_mday >= 8 && date.tm_mday <= 14;
    return columbus || (date.tm_mon == NOVEMBER && (date.tm_mday == 11 || (monday && date.tm_mday == 12)));
}

int64_t business_day_settles(const struct trading_calendar *calendar, int64_t day, int n,
                             int64_t *ret_begin_ns)
{
    for (; n > 0; n--)
        do
            day = business_day_after(calendar, day, 1, ret_begin_ns);
        while (business_day_without_banks(day));
    return day;
}

int64_t business_day_end(const struct trading_calendar *calendar, int64_t day)
{
    const struct trading_day *on = day_on(calendar, day);
    return on ? on->late_ns : (day + 1) * DAY_NS;
}
