/* The bars of a file that papertape indicators computes on. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/indicators.h"
#include "cli/lake/bars.h"
#include "cli/stored.h"
#include "exchange/calendar_file.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"

static enum session_choice choice_of(const struct indicators_bars *bars)
{
    for (int s = 0; bars->session && s < SESSION_CHOICES; s++)
        if (strcmp(bars->session, session_choice_names[s]) == 0)
            return (enum session_choice)s;
    return bars->calendar ? SESSION_REGULAR : SESSION_ALL;
}

/* Those from a day's first session to its last. */
static int64_t bars_of_days(const struct trading_calendar *calendar, int64_t interval_ns, int64_t from_ns,
                            int64_t to_ns)
{
    int64_t n = 0;
    for (size_t i = 0; i < calendar->n; i++) {
        int64_t early_ns = calendar->days[i].early_ns, late_ns = calendar->days[i].late_ns;
        early_ns = early_ns > from_ns ? early_ns : from_ns;
        late_ns = late_ns < to_ns ? late_ns : to_ns;
        n += early_ns < late_ns ? (late_ns - early_ns - 1) / interval_ns + 1 : 0;
    }
    return n;
}

/* By a calendar, between the first and the last; from a day on those that a session opens in. */
static int64_t missing_of_sessions(const struct bars_file_options *options, const struct bars_file *bars)
{
    const struct trading_calendar *calendar = options->calendar;
    const int64_t interval_ns = bars->interval_ns, from_ns = bars->open_time_ns[0],
                  last_ns = bars->open_time_ns[bars->n - 1];
    const bool days = interval_ns >= BAR_DAY_NS;
    if (!days && options->session != SESSION_ALL)
        return trading_bars_between(calendar, options->session, interval_ns, from_ns, last_ns + 1) -
               (int64_t)bars->n;
    int64_t n = days ? trading_bars_between(calendar, SESSION_REGULAR, interval_ns, from_ns,
                                            bar_end_time(last_ns, interval_ns))
                     : bars_of_days(calendar, interval_ns, from_ns, last_ns + 1);
    for (size_t i = 0; i < bars->n; i++)
        n -= bars->session[i] != BAR_SESSION_CLOSED;
    return n;
}

/* By the calendar nights are no gaps; without one each is. */
static void report_gaps(const char *path, const struct bars_file_options *options,
                        const struct bars_file *bars)
{
    const struct trading_calendar *calendar = options->calendar;
    int64_t missing = 0;
    for (size_t i = 0; i < bars->n_gaps; i++)
        missing += bars->gaps[i].missing;
    if (missing > 0 && calendar && calendar->n > 0 && bars->session) {
        missing = missing_of_sessions(options, bars);
        if (missing > 0)
            fprintf(stderr,
                    "papertape: note: %s: %" PRId64 " bars of the session are missing: computed across\n",
                    path, missing);
    } else if (bars->n_gaps > 0) {
        fprintf(stderr, "papertape: note: %s: %" PRId64 " bars are missing in %zu gap%s: computed across\n",
                path, missing, bars->n_gaps, bars->n_gaps == 1 ? "" : "s");
    }
    if (bars->repaired > 0)
        fprintf(stderr, "papertape: note: %s: low or high of %zu bars was widened\n", path, bars->repaired);
    if (bars->fits[0])
        fprintf(
            stderr,
            "papertape: note: %s: volume is largest where the calendar has no opening and no close: %s would "
            "fit\n",
            path, bars->fits);
}

/* shown: what it is called; lake: that made it, or NULL. */
static int read_csv(const char *path, const char *shown, struct lake_python *lake,
                    const struct bars_file_options *options, struct bars_file *ret)
{
    char err[BARS_FILE_ERROR_MAX];
    size_t removed;
    int r = bars_file_read_with(path, options, ret, err);
    if (r < 0) {
        if (lake)
            cli_lake_where(lake, path, err, sizeof err);
        fprintf(stderr, "papertape: %s%s\n", err, r == -ERANGE ? ", or --repair" : "");
        return EXIT_ERROR;
    }
    if (bars_file_keep(ret, options->session, &removed) < 0)
        return cli_stored_fail(EXIT_ERROR, "indicators", "", "out of memory");
    if (ret->n == 0)
        return cli_stored_fail(EXIT_ERROR, "indicators", shown, "no bar of that session is in it");
    report_gaps(shown, options, ret);
    return EXIT_OK;
}

/* Of Parquet, by way of a file of bars in a folder. */
static int read_lake(const struct lake_asked *asked, const char *folder,
                     const struct bars_file_options *options, struct bars_file *ret)
{
    struct lake_python *python = NULL;
    json_t *files = NULL;
    int status = cli_lake_bars(asked, folder, &python, &files);
    if (status == EXIT_OK && json_array_size(files) != 1)
        status = cli_stored_fail(EXIT_ERROR, asked->verb, asked->path,
                                 "it has several symbols: --symbol names one");
    if (status == EXIT_OK)
        status = cli_lake_write_bars(python);
    if (status == EXIT_OK) {
        const json_t *file = json_array_get(files, 0);
        struct bars_file_options own = *options;
        own.symbol = json_string_value(json_object_get(file, "symbol"));
        status = read_csv(json_string_value(json_object_get(file, "path")), asked->path, python, &own, ret);
    }
    json_decref(files);
    cli_lake_finish(python);
    return status;
}

static int read_bars(const char *path, const struct indicators_bars *bars,
                     const struct bars_file_options *options, struct bars_file *ret)
{
    const struct lake_asked asked = {"indicators", path, &options->symbol, options->symbol != NULL,
                                     bars->interval_ns};
    char folder[PATH_MAX];
    if (!cli_lake_is(path))
        return bars->interval_ns ? cli_stored_fail(EXIT_USAGE, "indicators", "--interval",
                                                   "it is one of Parquet's: a bars file has one")
                                 : read_csv(path, path, NULL, options, ret);
    int status = cli_lake_folder("indicators", folder);
    if (status != EXIT_OK)
        return status;
    early_stop_catch(); /* so that the folder is removed */
    status = read_lake(&asked, folder, options, ret);
    (void)folder_remove(folder);
    early_stop_release();
    if (status == EXIT_OK && early_stop_asked()) {
        bars_file_finish(ret);
        status = cli_stored_fail(EXIT_ERROR, asked.verb, "", "stopped");
    }
    return status;
}

int cli_indicators_read(const char *path, const struct indicators_bars *bars,
                        struct bars_file_options *options, struct bars_file *ret,
                        struct calendar_file **ret_calendar)
{
    char err[CALENDAR_ERROR_MAX];
    struct calendar_file *calendar = NULL;
    if (bars->calendar && calendar_file_open(bars->calendar, &calendar, err) < 0)
        return cli_stored_fail(EXIT_ERROR, "indicators", "--calendar", err);
    options->zone = bars->zone;
    options->calendar = calendar ? calendar_file_view(calendar) : NULL;
    options->session = choice_of(bars);
    options->keep_straddling = bars->straddle && strcmp(bars->straddle, "keep") == 0;
    int status = read_bars(path, bars, options, ret);
    options->calendar = NULL;
    if (status == EXIT_OK)
        *ret_calendar = calendar;
    else
        calendar_file_close(calendar);
    return status;
}
