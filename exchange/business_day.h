/* Business days of a market: the days of its calendar. A time belongs to the first day whose late session has
 * not ended. Days are numbers since 1970-01-01: the UTC date of a day's open, which in America and Europe is
 * the exchange's own date.
 *
 * Before the calendar's range, past its last day and without a calendar, Monday to Friday count, by UTC, and
 * begin at midnight.
 *
 * Settlement days are those of them on which banks in America are open: not Columbus Day, the second Monday
 * of October, and not Veterans Day, 11 November or, where that is a Sunday, the Monday after it, though the
 * exchanges trade (FINRA, then NASD, Notices to Members 88-82, 95-77 and 99-83). A trade on such a day
 * settles with those of the day before it where that many settlement days follow both. */
#ifndef EXCHANGE_BUSINESS_DAY_H
#define EXCHANGE_BUSINESS_DAY_H

#include "exchange/trading_calendar.h"

/* The business day that a time belongs to. */
int64_t business_day_of(const struct trading_calendar *calendar, int64_t ns);

/* The business day that is `n` after one (before it: n < 0); and the time at which it begins: its early
 * session's. `day` need not be a business day: then the next one counts as it. */
int64_t business_day_after(const struct trading_calendar *calendar, int64_t day, int n,
                           int64_t *ret_begin_ns);

/* Do exchanges trade on it while banks are closed, whatever day of the week it is? */
bool business_day_without_banks(int64_t day);

/* The settlement day that is `n` > 0 after a trade's business day, and when it begins. */
int64_t business_day_settles(const struct trading_calendar *calendar, int64_t day, int n,
                             int64_t *ret_begin_ns);

/* When it is over: its late session's end. */
int64_t business_day_end(const struct trading_calendar *calendar, int64_t day);

#endif
