/* US Eastern time by rule, without a zone file, and the exchanges' days from Alpaca's calendar. */
#ifndef EXCHANGE_ALPACA_CALENDAR_H
#define EXCHANGE_ALPACA_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/trading_day.h"
#include "exchange/zone.h"

#define ALPACA_CALENDAR "us-equity" /* of stocks, as in struct symbol */

enum {
    ALPACA_EARLY_MINUTE = 4 * 60, /* extended hours: 04:00 to 20:00, where the reply does not say */
    ALPACA_LATE_MINUTE = 20 * 60,
};

/* New York since 2007: daylight time is from the second Sunday of March, 02:00, to the first of November,
 * 02:00 (Energy Policy Act of 2005). */
extern const struct zone_rule alpaca_eastern;

/* The moment of a wall time in New York: days since 1970-01-01 (alpaca_days()), minutes since midnight. Until
 * 2006 daylight time is from the first Sunday of April to the last of October. A time that comes twice is the
 * first of the two; one that is left out is an hour later. */
int64_t alpaca_eastern_ns(int32_t day, int minute);

/* The date in New York at a moment. */
int32_t alpaca_eastern_day(int64_t ns);

/* The reply of /v2/calendar, as days in order: [{"date":"2022-11-25","open":"09:30","close":"13:00",
 * "session_open":"0400","session_close":"1700"}]. Writes at most `cap`. 0; -EBADMSG, also for days that
 * contradict each other; -E2BIG. */
int alpaca_parse_calendar(const char *text, size_t len, struct trading_day *days, size_t cap, size_t *ret_n);

#endif
