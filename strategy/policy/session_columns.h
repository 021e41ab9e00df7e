/* What an observation shows of a row's time in a market with a calendar: after the features of all symbols,
 * some of these columns, in this order, the same for training, environment and runtime. They are of the row,
 * whether or not a symbol has a bar there. */
#ifndef STRATEGY_POLICY_SESSION_COLUMNS_H
#define STRATEGY_POLICY_SESSION_COLUMNS_H

#include <stddef.h>

#include "exchange/trading_calendar.h"

/* PRE, REGULAR, POST: 1 in that session, else 0. ELAPSED: which part of its session has passed when the row's
 * bar closes, above 0, and 1 in the session's last row. All are 0 in no session: of CLOSED times and beyond
 * the calendar. */
enum session_column {
    SESSION_COLUMN_PRE,
    SESSION_COLUMN_REGULAR,
    SESSION_COLUMN_POST,
    SESSION_COLUMN_ELAPSED,
    SESSION_COLUMNS,
};
enum { SESSION_COLUMNS_TEXT_MAX = 64 };
extern const char
    *const policy_session_column_names[SESSION_COLUMNS]; /* "pre", "regular", "post", "elapsed" */

/* Reads names with commas between, in any order, each once; "" is none. 0 and a bit for each, 1 << column;
 * -EINVAL and a clause "\"word\": what would be right" in `why`. */
int policy_session_columns_parse(const char *text, unsigned *ret, char *why, size_t why_cap);

/* The same as text, in the columns' order. Returns ret. */
const char *policy_session_columns_text(unsigned columns, char ret[static SESSION_COLUMNS_TEXT_MAX]);

/* How many they are. */
size_t policy_session_columns_count(unsigned columns);

/* Their values for the row that opens at open_ns, in order, by a calendar; NULL: it is not known. */
void policy_session_columns_fill(unsigned columns, const struct trading_calendar *calendar,
                                 int64_t interval_ns, int64_t open_ns, float *ret);

#endif
