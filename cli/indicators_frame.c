/* Indicators of a longer interval's closed bars: ema:9@1h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/indicators.h"
#include "cli/stored.h"
#include "engine/backtest/columns.h"
#include "exchange/bar.h"
#include "exchange/book_measure.h"
#include "exchange/exit_status.h"

int cli_indicators_split(const char *text, char *spec, size_t cap, const char **ret_interval,
                         int64_t *ret_interval_ns)
{
    const char *at = strrchr(text, '@');
    int64_t interval_ns = 0;
    size_t n = at ? (size_t)(at - text) : strlen(text);
    if (at && book_measure_find(at + 1) >= 0)
        return cli_stored_fail(EXIT_USAGE, "indicators", text, "bars in a file have no order book");
    if (at && bar_interval_parse(at + 1, &interval_ns) < 0)
        return cli_stored_fail(EXIT_USAGE, "indicators", text,
                               "behind @ an interval is needed, as ema:9@1h: one of " BAR_INTERVAL_NAMES);
    if (n >= cap)
        return cli_stored_fail(EXIT_USAGE, "indicators", text, "too long for an indicator");
    memcpy(spec, text, n);
    spec[n] = '\0';
    *ret_interval = at ? at + 1 : NULL;
    *ret_interval_ns = interval_ns;
    return EXIT_OK;
}

/* As a backtest has them (backtest_run_calendar()): sessions cut bars of less than a day. */
static const struct trading_calendar *calendar_of(const struct bars_file *bars,
                                                  const struct trading_calendar *calendar)
{
    return calendar && calendar->n > 0 && bars->interval_ns < BAR_DAY_NS ? calendar : NULL;
}

static int fail_interval(const char *path, const struct bars_file *bars, int64_t interval_ns)
{
    const char *own = bar_interval_name(bars->interval_ns);
    char why[160];
    snprintf(why, sizeof why, "@%s: the bars are of %s: that or a multiple of it is needed",
             bar_interval_name(interval_ns), own ? own : "another interval");
    return cli_stored_fail(EXIT_ERROR, "indicators", path, why);
}

int cli_indicators_frame(const char *path, const struct bars_file *bars,
                         const struct trading_calendar *calendar, int64_t interval_ns, struct higher *ret)
{
    const struct columns_bars from = {
        .n = bars->n,
        .interval_ns = bars->interval_ns,
        .open_ns = bars->open_time_ns,
        .open = bars->open,
        .high = bars->high,
        .low = bars->low,
        .close = bars->close,
        .volume = bars->volume,
        .calendar = calendar_of(bars, calendar),
    };
    if (interval_ns % bars->interval_ns != 0)
        return fail_interval(path, bars, interval_ns);
    int r = backtest_higher_build(&from, interval_ns, true, ret);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "indicators", path, strerror(-r)) : EXIT_OK;
}
