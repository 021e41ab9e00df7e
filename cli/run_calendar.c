/* The calendar of run_args.h's options, and the sessions that are traded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_args.h"
#include "cli/stored.h"
#include "db/state.h"
#include "exchange/calendar_file.h"
#include "exchange/exit_status.h"

int cli_run_take_session(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = call->into;
    (void)row;
    args->session_given = true;
    args->terms.session = *value == 'r' ? SESSION_REGULAR : *value == 'e' ? SESSION_EXTENDED : SESSION_ALL;
    return EXIT_OK;
}

int cli_run_take_straddle(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = call->into;
    (void)row;
    args->straddle_given = true;
    args->keep_straddling = *value == 'k';
    return EXIT_OK;
}

/* The option whose rules are those of stocks with sessions, where it is not off; else NULL. */
static const char *stock_rules(const struct run_args *args)
{
    return args->terms.rules.margin != MARGIN_OFF           ? "--margin"
           : args->terms.rules.settlement != SETTLEMENT_OFF ? "--settlement"
                                                            : NULL;
}

int cli_run_calendar_check(const struct run_args *args)
{
    static const char words[] = "it goes with --calendar, which says when the sessions are";
    char database[STATE_PATH_MAX];
    if (args->calendar || args->policy_follows || cli_run_stored(args, database))
        return EXIT_OK;
    if (args->session_given)
        return cli_stored_fail(EXIT_USAGE, args->verb, "--session", words);
    if (args->straddle_given)
        return cli_stored_fail(EXIT_USAGE, args->verb, "--straddle", words);
    if (stock_rules(args))
        return cli_stored_fail(EXIT_USAGE, args->verb, stock_rules(args), words);
    return EXIT_OK;
}

int cli_run_calendar_open(struct run_args *args, const char *name)
{
    char err[CALENDAR_ERROR_MAX];
    if (!name || args->table)
        return EXIT_OK;
    if (calendar_file_open(name, &args->table, err) < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, "--calendar", err);
    args->days = *calendar_file_view(args->table);
    return EXIT_OK;
}

int cli_run_policy_session(struct run_args *args, const struct policy *policy)
{
    char err[POLICY_ERROR_MAX];
    const char *own = policy_calendar_table(policy->calendar);
    args->policy_follows = false;
    if (!own)
        return cli_run_calendar_check(args);
    if (args->session_given && args->terms.session != policy->session) {
        snprintf(err, sizeof err, "%s: the policy was trained on the bars of session %s",
                 session_choice_names[args->terms.session], session_choice_names[policy->session]);
        return cli_stored_fail(EXIT_ERROR, args->verb, "--session", err);
    }
    args->terms.session = policy->session;
    args->calendar = args->calendar ? args->calendar : own;
    return EXIT_OK;
}

/* Sessions that begin and end with the bars that are kept for them. */
static int widen(struct run_args *args, const struct market *market)
{
    const int64_t interval_ns = market->interval_ns;
    args->widened = malloc((args->days.n + 1) * sizeof *args->widened);
    if (!args->widened)
        return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    for (size_t i = 0; i < args->days.n; i++) {
        struct trading_day *day = &args->widened[i];
        *day = args->days.days[i];
        day->open_ns -= ((day->open_ns - market->start_ns) % interval_ns + interval_ns) % interval_ns;
        day->close_ns += ((market->start_ns - day->close_ns) % interval_ns + interval_ns) % interval_ns;
        day->early_ns = day->early_ns < day->open_ns ? day->early_ns : day->open_ns;
        day->late_ns = day->late_ns > day->close_ns ? day->late_ns : day->close_ns;
    }
    args->days.days = args->widened;
    return EXIT_OK;
}

int cli_run_calendar_fit(struct run_args *args, const struct market *market)
{
    if (stock_rules(args) && (args->days.n == 0 || market->interval_ns >= BAR_DAY_NS))
        return cli_stored_fail(EXIT_ERROR, args->verb, stock_rules(args),
                               "its rules are those of sessions: bars shorter than a day, of a calendar, are "
                               "needed");
    bool longer = args->days.n > 0 && args->keep_straddling && args->terms.session == SESSION_REGULAR;
    return longer ? widen(args, market) : EXIT_OK;
}

const struct trading_calendar *cli_run_calendar(const struct run_args *args)
{
    return args->days.n > 0 ? &args->days : NULL;
}

/* The rows that a day has a bar in, of every bar: from its first session to its last; from a day on the one
 * that its session opens in. */
static void day_rows(const struct market *market, const struct trading_day *day, size_t *ret_row,
                     size_t *ret_end)
{
    bool longer = market->interval_ns >= BAR_DAY_NS;
    *ret_row = market_store_row_at(market, longer ? day->open_ns - market->interval_ns + 1 : day->early_ns);
    *ret_end = market_store_row_at(market, longer ? day->open_ns + 1 : day->late_ns);
}

/* Of these rows those without one. At other times there need be none. */
static size_t missing_by_day(const struct trading_calendar *calendar, const struct market *market,
                             const struct market_series *series)
{
    size_t n = 0, row, end, next = series->first;
    for (size_t i = 0; i < calendar->n; i++) {
        day_rows(market, &calendar->days[i], &row, &end);
        for (row = row > next ? row : next; row < end && row < series->last; row++)
            n += !market_present(series, row);
        next = row > next ? row : next;
    }
    return n;
}

size_t cli_run_missing(const struct run_args *args, const struct market *market, int symbol)
{
    const struct market_series *series = &market->series[symbol];
    int64_t first_ns = market_open_ns(market, series->first),
            end_ns = market_open_ns(market, series->last + 1);
    size_t there = series->last - series->first + 1 - series->missing;
    if (args->days.n == 0 || market_session(series, series->first) == BAR_SESSION_NONE)
        return series->missing;
    if (args->terms.session == SESSION_ALL || market->interval_ns >= BAR_DAY_NS)
        return missing_by_day(&args->days, market, series);
    int64_t rows =
        trading_bars_between(&args->days, args->terms.session, market->interval_ns, first_ns, end_ns);
    return rows > (int64_t)there ? (size_t)rows - there : 0;
}

void cli_run_calendar_finish(struct run_args *args)
{
    calendar_file_close(args->table);
    free(args->widened);
}
