/* `papertape indicators FILE SPEC…`: indicators of a bars file as CSV on stdout; `--list`: the registry. */
#ifndef CLI_INDICATORS_H
#define CLI_INDICATORS_H

#include <stddef.h>

#include "exchange/bars_file.h"
#include "exchange/trading_calendar.h"

/* Inside the verb. Each returns the exit status, after its line on stderr. `intervals` [n]: of each the text
 * behind its @, or NULL. */
struct indicator_spec;
int cli_indicators_list_table(void);
int cli_indicators_list_specs(const struct indicator_spec *specs, const char *const intervals[], size_t n);
/* All rows where n is 0. */
int cli_indicators_list_json(const struct indicator_spec *specs, const char *const intervals[], size_t n);

/* The name of an output's column: indicator_spec_name(), with "@1h" of an interval. */
void cli_indicators_column(const struct indicator_spec *spec, size_t output, const char *interval, char *buf,
                           size_t cap);

/* Which bars of the file are computed on, as the options have it; NULL: not given. */
struct indicators_bars {
    const char *calendar, *session, *zone, *straddle;
    int64_t interval_ns; /* of Parquet; 0: the one that it has */
};

/* Reads the bars of that session, REGULAR where a calendar is given, and notes on stderr what is missing and
 * what its times fit better. `options` gets zone, calendar and session for the while. EXIT_OK with *ret for
 * bars_file_finish() and *ret_calendar for calendar_file_close(), NULL without one; EXIT_ERROR with its line.
 */
struct calendar_file;
int cli_indicators_read(const char *path, const struct indicators_bars *bars,
                        struct bars_file_options *options, struct bars_file *ret,
                        struct calendar_file **ret_calendar);

/* Splits a spec at its @, as "ema:9@1h": *ret_interval is the text after it, NULL where there is none, and
 * *ret_interval_ns what it says, 0 without one. `spec` takes the text before. EXIT_OK; EXIT_USAGE with its
 * line where it is none of bar_intervals. */
int cli_indicators_split(const char *text, char *spec, size_t cap, const char **ret_interval,
                         int64_t *ret_interval_ns);

/* The file's bars as closed ones of that interval, those that a strategy has (engine/backtest/higher.h), by
 * the sessions of the calendar, or NULL: backtest_higher_finish() when done. EXIT_ERROR with its line. */
struct higher;
int cli_indicators_frame(const char *path, const struct bars_file *bars,
                         const struct trading_calendar *calendar, int64_t interval_ns, struct higher *ret);

#endif
