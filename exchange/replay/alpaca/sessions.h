/* When US stocks trade: in the range of a table (exchange/calendar_file.h), which knows the days of mourning
 * and of storms, by it; beyond by the rules of the New York Stock Exchange, so that any year from 1998 on
 * works: 9:30 to 16:00 on weekdays, extended from 4:00 to 20:00; closed on New Year's Day, Martin Luther
 * King's, Washington's, Good Friday, Memorial Day, Juneteenth (from 2022), Independence Day, Labor Day,
 * Thanksgiving and Christmas (one that falls on Sunday is kept on Monday, on Saturday on Friday, except New
 * Year's, which is not); until 13:00, extended until 17:00, on the day after Thanksgiving, on 3 July and on
 * 24 December where those are weekdays and no holidays. */
#ifndef EXCHANGE_REPLAY_ALPACA_SESSIONS_H
#define EXCHANGE_REPLAY_ALPACA_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/trading_calendar.h"

/* The table that comes before the rules, for all that follows in this process; it lives as long. NULL: none.
 */
void replay_sessions_use(const struct trading_calendar *table);

enum sessions_kind { SESSIONS_CLOSED, SESSIONS_HALF, SESSIONS_FULL };

/* Of a date as eastern.h counts it; *ret_day is written unless CLOSED; it may be NULL. */
enum sessions_kind replay_sessions_on(int64_t date, struct trading_day *ret_day);

/* The first date with a session at or after (step 1), or at or before (step -1) `date`. */
int64_t replay_sessions_next(int64_t date, int step);

/* Is `ns` in the session, or in extended hours? */
enum market_phase replay_sessions_phase(int64_t ns);

#endif
