/* A market (engine/market/market.h) from the bars that the database keeps. */
#ifndef DB_MARKET_SOURCE_H
#define DB_MARKET_SOURCE_H

#include "engine/market/market.h"
#include "exchange/bar.h"
#include "exchange/symbol.h"

/* The row of `meta` that says with which bar a symbol began in the engine: older ones were fetched beside it
 * (docs/history.md), and no strategy saw them. */
enum { DB_FIRST_BAR_KEY_MAX = 32 + SYMBOL_NAME_MAX };
void db_market_first_bar_key(const char *symbol, int64_t interval_ns, char ret[static DB_FIRST_BAR_KEY_MAX]);

/* Loads the bars of n symbols at options->interval_ns, built here or the venue's, with the symbols as they
 * are stored, in one snapshot; a daemon may be running. options->from_ns, to_ns and threads are used as
 * well. With options->account_ns a symbol's bars are those that an account has had that the engine made
 * then: from the first of the engine's on, and of those before the account the newest account_bars;
 * load->note says which database does not know. It is not cached: a database is read again each time. `load`
 * may be NULL. Returns as market_store_load_files(): -EINVAL for a symbol that is not there or has no such
 * bars; errors of db_reader_open(); -EBADMSG for a row that cannot be read. */
int db_market_load(const char *path, const char *const *symbols, size_t n, enum bar_source source,
                   const struct market_options *options, struct market **ret, struct market_load *load,
                   char err[static MARKET_ERROR_MAX]);

/* The calendar that all of these symbols trade by, as the venue names it; "": at all times. The market has no
 * such name: its rows are of the calendar in `options`. -EINVAL for a symbol that is not there, or two
 * calendars, whose symbols are named; errors of db_reader_open(). */
int db_market_calendar(const char *path, const char *const *symbols, size_t n,
                       char ret[static CALENDAR_NAME_MAX], char err[static MARKET_ERROR_MAX]);

#endif
