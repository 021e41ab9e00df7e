/* Numbers and times as Alpaca writes them: JSON numbers of shortest digits ("0.00001", "1e-7"), the same as
 * IEEE doubles in msgpack, and times of RFC 3339 with nanoseconds. Exact, or refused: nothing is rounded
 * unless the name says so. */
#ifndef EXCHANGE_ALPACA_NUMBER_H
#define EXCHANGE_ALPACA_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"

/* The number in text[0..len) at `scale`; an exponent is fine. 0; -EINVAL; -ERANGE; -EDOM for non-zero digits
 * beyond the scale. */
int alpaca_decimal(const char *text, size_t len, int scale, int128_t *ret);

/* The shortest decimal at `scale` whose nearest double is x: what the sender meant. -EDOM when there is none,
 * -EINVAL for NaN and infinity, -ERANGE. */
int alpaca_decimal_double(double x, int scale, int128_t *ret);

/* The same, but digits beyond the scale are cut off (averages have more than needed). */
int alpaca_decimal_cut(const char *text, size_t len, int scale, int128_t *ret);
int alpaca_decimal_double_cut(double x, int scale, int128_t *ret);

/* "2021-10-13T08:00:00.08960768Z", "…-04:00": nanoseconds UTC of 1970 to 2100. False for anything else. */
bool alpaca_time(const char *text, size_t len, int64_t *ret_ns);

/* "2021-10-13": days since 1970-01-01, to 2100. False for anything else, days that no month has included. */
bool alpaca_date(const char *text, size_t len, int32_t *ret_days);

/* "2021-10-13T08:00:00.089607680Z" (no fraction where it is 0), for requests. NUL-terminated. */
enum { ALPACA_TIME_TEXT_MAX = 32 };
void alpaca_time_text(int64_t ns, char ret[static ALPACA_TIME_TEXT_MAX]);

/* Days since 1970-01-01 and the date, in the Gregorian calendar. */
int32_t alpaca_days(int year, int month, int day);
void alpaca_civil(int32_t days, int *ret_year, int *ret_month, int *ret_day);

#endif
