/* `papertape indicators FILE SPEC…`: indicators of a bars file as CSV on stdout; `--list`: the registry. */
#ifndef CLI_INDICATORS_H
#define CLI_INDICATORS_H

#include <stddef.h>

#include "exchange/bars_file.h"

/* Inside the verb. Each returns the exit status, after its line on stderr. */
struct indicator_spec;
int cli_indicators_list_table(void);
int cli_indicators_list_specs(const struct indicator_spec *specs, size_t n);
int cli_indicators_list_json(const struct indicator_spec *specs, size_t n); /* all rows where n is 0 */

/* Which bars of the file are computed on, as the options have it; NULL: not given. */
struct indicators_bars {
    const char *calendar, *session, *zone, *straddle;
    int64_t interval_ns; /* of Parquet; 0: the one that it has */
};

/* Reads the bars of that session, REGULAR where a calendar is given, and notes on stderr what is missing and
 * what its times fit better. `options` gets zone, calendar and session for the while. EXIT_OK with *ret for
 * bars_file_finish(); EXIT_ERROR with its line. */
int cli_indicators_read(const char *path, const struct indicators_bars *bars,
                        struct bars_file_options *options, struct bars_file *ret);

/* Splits a spec at its @, as "ema:9@1h": *ret_interval is the text after it, NULL where there is none, and
 * *ret_seconds that interval's, 0 without one. `spec` takes the text before. EXIT_OK; EXIT_USAGE with its
 * line where it is no interval, or not of whole seconds. */
int cli_indicators_split(const char *text, char *spec, size_t cap, const char **ret_interval,
                         int64_t *ret_seconds);

/* The file's bars as closed ones of that many seconds: feature_timeframe_finish() when done. EXIT_ERROR with
 * its line. */
struct feature_timeframe;
int cli_indicators_frame(const char *path, const struct bars_file *bars, const double *open_time_s,
                         int64_t seconds, struct feature_timeframe *ret);

#endif
