/* New York's time by the rules of the law, so that any year works: standard time is UTC-5, daylight time
 * UTC-4; from 2007 it begins on the second Sunday of March and ends on the first one of November, from 1987
 * to 2006 on the first Sunday of April and the last of October, both at 2:00 local time. Earlier years are
 * read by the rule of 1987. */
#ifndef EXCHANGE_REPLAY_ALPACA_EASTERN_H
#define EXCHANGE_REPLAY_ALPACA_EASTERN_H

#include <stdint.h>

#include "exchange/text.h"

enum { EASTERN_DAY_S = 86400 };

/* A day of the (proleptic Gregorian) calendar, as the count of days since 1970-01-01. */
int64_t replay_eastern_days(int year, int month, int day);
void replay_eastern_civil(int64_t days, int *ret_year, int *ret_month, int *ret_day);
/* 0 Sunday … 6 Saturday. */
int replay_eastern_weekday(int64_t days);

/* Seconds to add to UTC, at that moment of UTC. */
int replay_eastern_offset_s(int64_t utc_s);

/* The moment, in seconds UTC, of a local wall time; one that does not exist is read in standard time, one
 * that comes twice means the first. */
int64_t replay_eastern_utc_s(int64_t days, int second_of_day);

/* The local date at a moment, in nanoseconds UTC. */
int64_t replay_eastern_date(int64_t utc_ns);

/* "2026-01-15" to days; -EINVAL for anything else, or a day that the month has not. */
int replay_eastern_date_parse(const char *text, int64_t *ret_days);
/* Writes "2026-01-15". */
void replay_eastern_date_write(struct text *out, int64_t days);

#endif
